//! Looking again and again at what the processes of a command do.

use std::time::Duration;

use crate::process_table::Doing;

/// Shortest time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Longest time between two, on machines with so many processes that one look takes long: what lasts longer is seen.
const BETWEEN_LOOKS_MAX: Duration = Duration::from_millis(250);
/// A look takes at most this share of the time, where that does not make pauses longer.
const LOOK_SHARE: u32 = 50;
/// Fewer looks at an iteration say nothing of what was between them; those of all iterations count together.
const LOOKS_MIN: u32 = 2;

/// What was seen so far.
#[derive(Debug)]
pub(crate) struct Looks {
    /// How often was looked.
    count: u32,
    /// How often a process waited for a disk.
    waits: u32,
    /// How often one ran, or would have.
    runs: u32,
    /// How long to wait until the next look.
    pub(crate) pause: Duration,
}

impl Looks {
    pub(crate) const fn new() -> Self {
        Self { count: 0, waits: 0, runs: 0, pause: BETWEEN_LOOKS }
    }

    /// Notes what was seen in a look that took so long.
    pub(crate) fn note(&mut self, doing: Doing, took: Duration) {
        self.count += 1;
        self.waits += u32::from(doing.waits_for_disk);
        self.runs += u32::from(doing.is_runnable);
        self.pause = (took * LOOK_SHARE).clamp(BETWEEN_LOOKS, BETWEEN_LOOKS_MAX);
    }

    /// Share of looks at which a process waited for a disk.
    pub(crate) fn disk_wait_share(&self) -> Option<f64> {
        self.share(self.waits)
    }

    /// Share of looks at which one ran, or would have if it had a processor.
    pub(crate) fn runnable_share(&self) -> Option<f64> {
        self.share(self.runs)
    }

    fn share(&self, of: u32) -> Option<f64> {
        (self.count >= LOOKS_MIN).then(|| f64::from(of) / f64::from(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_soon_however_long_one_takes() {
        let pause_after = |took: Duration| {
            let mut looks = Looks::new();
            looks.note(Doing::default(), took);
            looks.pause
        };
        assert_eq!(pause_after(Duration::from_micros(100)), Duration::from_millis(20));
        assert_eq!(pause_after(Duration::from_millis(2)), Duration::from_millis(100));
        assert_eq!(pause_after(Duration::from_millis(60)), Duration::from_millis(250));
    }
}
