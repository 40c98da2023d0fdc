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

/// One of the seconds a slot is cut into. Cuts lie at the end of the ramp and at whole seconds from there, so that no
/// interval is half ramp and half measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
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
    pub fn first_cut(&self) -> Cut {
        self.cut(0, self.start_ns)
    }

    /// The interval after this one.
    pub fn next_cut(&self, cut: Cut) -> Cut {
        self.cut(cut.index + 1, cut.until_ns)
    }

    fn cut(&self, index: usize, from_ns: u64) -> Cut {
        let measured = from_ns >= self.from_ns;
        let end = from_ns.saturating_add(INTERVAL_NS);
        let until_ns = if measured { end } else { end.min(self.from_ns) };
        // After the window nothing is counted any more, so its end needs no cut.
        let until_ns = match self.until_ns {
            Some(until) if from_ns < until => until_ns.min(until),
            _ => until_ns,
        };
        Cut { index, from_ns, until_ns, measured }
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
        let mut cuts = vec![timing.first_cut()];
        while cuts.last().unwrap().until_ns < 3_700_000_100 {
            cuts.push(timing.next_cut(*cuts.last().unwrap()));
        }
        let lengths: Vec<_> = cuts.iter().map(|cut| (cut.measured, (cut.until_ns - cut.from_ns) / 1_000_000)).collect();
        assert_eq!(lengths, [(false, 1000), (false, 500), (true, 1000), (true, 1000), (true, 200)]);
    }
}
