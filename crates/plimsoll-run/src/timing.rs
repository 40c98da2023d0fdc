//! The moments of a slot: its start, its measured window, and the seconds it is cut into.

use crate::tally::INTERVAL_NS;

/// When a slot starts, and which part of it is measured. All on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// First operation.
    pub start_ns: u64,
    /// End of the ramp: measurement begins.
    pub from_ns: u64,
    /// End of the measurement; `None` when an amount ends it.
    pub until_ns: Option<u64>,
}

/// One of the seconds a slot is cut into, at the end of the ramp and at whole seconds from there: none is half ramp and
/// half measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// Index of the interval in the slot.
    pub index: usize,
    /// First moment.
    pub from_ns: u64,
    /// First moment that no longer belongs to it.
    pub until_ns: u64,
    /// Whether it lies in the measured window.
    pub measured: bool,
}

impl Timing {
    /// The first interval of the slot.
    pub fn first_second(&self) -> Second {
        self.second(0, self.start_ns)
    }

    /// The interval after this one.
    pub fn next_second(&self, second: Second) -> Second {
        self.second(second.index + 1, second.until_ns)
    }

    fn second(&self, index: usize, from_ns: u64) -> Second {
        let measured = from_ns >= self.from_ns;
        let end = from_ns.saturating_add(INTERVAL_NS);
        let until_ns = if measured { end } else { end.min(self.from_ns) };
        // After the window nothing is counted any more, so its end needs no cut.
        let until_ns = match self.until_ns {
            Some(until) if from_ns < until => until_ns.min(until),
            _ => until_ns,
        };
        Second { index, from_ns, until_ns, measured }
    }

    /// Whether a moment lies in the measured window.
    #[inline]
    pub fn is_measured(&self, moment_ns: u64) -> bool {
        moment_ns >= self.from_ns && self.until_ns.is_none_or(|until| moment_ns < until)
    }

    /// Whether the measured window is over.
    #[inline]
    pub fn is_over(&self, moment_ns: u64) -> bool {
        self.until_ns.is_some_and(|until| moment_ns >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_cut_at_the_end_of_the_ramp() {
        let timing = Timing { start_ns: 100, from_ns: 1_500_000_100, until_ns: Some(3_700_000_100) };
        let mut seconds = vec![timing.first_second()];
        while seconds.last().unwrap().until_ns < 3_700_000_100 {
            seconds.push(timing.next_second(*seconds.last().unwrap()));
        }
        let lengths: Vec<_> =
            seconds.iter().map(|second| (second.measured, (second.until_ns - second.from_ns) / 1_000_000)).collect();
        assert_eq!(lengths, [(false, 1000), (false, 500), (true, 1000), (true, 1000), (true, 200)]);
    }
}
