//! When visits begin that several machines make at the same time. They agree on one moment, the start of the first;
//! every later one follows from it and from lengths that all of them know, so that nobody has to ask again.

use jiff::{SignedDuration, Timestamp};
use plimsoll_io::clock::{Clock, MonotonicClock};

/// What there is between visits, for what is found out about a cell before each.
const GAP_NS: u64 = 3_000_000_000;

/// Says at which time of day the first visit begins, when all is ready for it; `None` when the run is to stop instead.
pub type AskStart = Box<dyn FnOnce() -> Result<Option<Timestamp>, String> + Send>;

/// The times of day at which visits begin.
pub(crate) enum Appointments {
    /// Nobody else measures: as soon as all is ready.
    None,
    /// Nobody was asked so far.
    Unknown(AskStart),
    /// The next one.
    Next(Timestamp),
}

/// What becomes of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appointed {
    /// It begins at once.
    Now,
    /// It begins then, on the monotonic clock.
    At(u64),
    /// It does not begin, because the run is to stop.
    Never,
}

impl Appointments {
    pub(crate) fn new(ask: Option<AskStart>) -> Self {
        ask.map_or(Self::None, Self::Unknown)
    }

    /// When a visit of this length begins that everything is ready for.
    pub(crate) fn next(&mut self, length_ns: u64) -> Result<Appointed, String> {
        let at = match std::mem::replace(self, Self::None) {
            Self::None => return Ok(Appointed::Now),
            Self::Unknown(ask) => match ask()? {
                Some(at) => at,
                None => return Ok(Appointed::Never),
            },
            Self::Next(at) => at,
        };
        let step = SignedDuration::from_nanos(i64::try_from(length_ns.saturating_add(GAP_NS)).unwrap_or(i64::MAX));
        *self = Self::Next(at.checked_add(step).unwrap_or(Timestamp::MAX));
        let ahead_ns = at.duration_since(Timestamp::now()).as_nanos();
        let now_ns = MonotonicClock.now_ns();
        // Who is late begins at once: how much of the time was common is seen from what was measured.
        Ok(Appointed::At(now_ns + u64::try_from(ahead_ns).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_is_enough_for_all_visits() {
        let start = Timestamp::now() + SignedDuration::from_secs(10);
        let mut appointments = Appointments::new(Some(Box::new(move || Ok(Some(start)))));
        let now_ns = MonotonicClock.now_ns();
        let mut seconds_ahead = |length_ns| match appointments.next(length_ns).unwrap() {
            Appointed::At(at_ns) => (at_ns - now_ns) as f64 / 1e9,
            other => panic!("{other:?}"),
        };
        for (length_ns, expected) in [(5_000_000_000, 10.0), (1_000_000_000, 18.0), (0, 22.0)] {
            let ahead = seconds_ahead(length_ns);
            assert!((ahead - expected).abs() < 1.0, "{ahead} {expected}");
        }
    }

    #[test]
    fn whoever_is_late_begins_at_once() {
        let start = Timestamp::now() - SignedDuration::from_secs(10);
        let mut appointments = Appointments::new(Some(Box::new(move || Ok(Some(start)))));
        let Appointed::At(at_ns) = appointments.next(0).unwrap() else { panic!("it begins") };
        assert!(at_ns <= MonotonicClock.now_ns());
    }

    #[test]
    fn who_is_alone_waits_for_nobody_and_who_is_stopped_does_not_begin() {
        assert_eq!(Appointments::new(None).next(1), Ok(Appointed::Now));
        assert_eq!(Appointments::new(Some(Box::new(|| Ok(None)))).next(1), Ok(Appointed::Never));
        assert!(Appointments::new(Some(Box::new(|| Err("no way".to_owned())))).next(1).is_err());
    }
}
