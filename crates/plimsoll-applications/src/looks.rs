//! Looking again and again at what the processes of a command do.

use std::time::Duration;

use plimsoll_workload::random::{Draws, Purpose, derive_seed};

use crate::process_table::Doing;

/// Shortest time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// Longest time between two, on machines with so many processes that one look takes long: what lasts longer is seen.
const BETWEEN_LOOKS_MAX: Duration = Duration::from_millis(250);
/// A look takes at most this share of the time, where that does not make pauses longer.
const LOOK_SHARE: u32 = 50;

/// What was seen so far.
#[derive(Debug)]
pub(crate) struct Looks {
    /// How often was looked.
    pub(crate) count: u32,
    /// How often a process waited for a disk.
    waits: u32,
    /// How often one ran, or would have.
    runs: u32,
    /// How long to wait until the next look.
    pub(crate) pause: Duration,
}

impl Looks {
    /// Of an iteration, of which the first is at a random moment: what a program does soon after its start would be
    /// seen each time, or never.
    pub(crate) const fn new(seed: u64, iteration: u32) -> Self {
        let mut draws = Draws::new(derive_seed(seed, Purpose::Looks, iteration as u64), 0);
        let pause = Duration::from_nanos(draws.below(BETWEEN_LOOKS.as_nanos() as u64));
        Self { count: 0, waits: 0, runs: 0, pause }
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
        (self.count > 0).then(|| f64::from(of) / f64::from(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_soon_however_long_one_takes() {
        let pause_after = |took: Duration| {
            let mut looks = Looks::new(1, 1);
            looks.note(Doing::default(), took);
            looks.pause
        };
        assert_eq!(pause_after(Duration::from_micros(100)), Duration::from_millis(20));
        assert_eq!(pause_after(Duration::from_millis(2)), Duration::from_millis(100));
        assert_eq!(pause_after(Duration::from_millis(60)), Duration::from_millis(250));
    }

    #[test]
    fn a_brief_command_is_looked_at_in_all_of_its_parts_in_the_course_of_iterations() {
        let first: Vec<u128> = (0..100).map(|iteration| Looks::new(7, iteration).pause.as_millis()).collect();
        for from in [0, 5, 10, 15] {
            let count = first.iter().filter(|pause| (from..from + 5).contains(*pause)).count();
            assert!((10..50).contains(&count), "{first:?}");
        }
    }
}
