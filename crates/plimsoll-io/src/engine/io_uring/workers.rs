//! Which operations of a ring go to worker threads of the kernel at once, where they all end up there.

use crate::{clock::Clock, engine::Completion};

/// Hands operations to the kernel's worker threads without the attempt to perform them at once (`IOSQE_ASYNC`), which
/// some targets refuse every time.
///
/// The kernel lets one more worker run for each of these; for others only while none runs. So a part of them is what
/// spreads the work, as long as an operation takes longer than waking a worker. Of a memory that answers at once, one
/// worker performs more alone where a second one has to share its processor or that of the thread that submits; with
/// more than two processors nobody has measured that. Where the work is spread, an operation that finds nothing in
/// flight is handed over too: whoever waits for a single operation gains the attempt that is saved.
pub(super) struct Workers {
    spreads: bool,
    /// Whether that may change.
    looks: bool,
    /// Rings that share the processors.
    rings: u64,
    /// Operations, to find every fourth.
    number: u8,
    /// Operations that have ended since the last look at how fast they follow each other, and their bytes.
    ended: u64,
    ended_bytes: u64,
    /// When the last look was; 0 before the first one.
    seen_ns: u64,
    /// How many looks in a row spoke for a change, and when one last did not.
    against: u32,
    suited_ns: u64,
}

impl Workers {
    /// The fastest of 1, 2, 3, 4, 8, 16, 32 and 64 with two processors and zram that is full of data.
    const EVERY: u8 = 4;
    /// Bytes from one look to the next, at least: 256 operations of 4 KiB.
    const LOOK_BYTES: u64 = 1 << 20;
    /// From one operation to the next, more than this speaks for more workers. With two processors one worker needed
    /// 3.7 to 4.6 us for 4 KiB of zram that is full of data, and 1.2 to 2.3 us where it is empty.
    pub(super) const SLOW_NS: u64 = 3000;
    /// Less than this speaks against them: several needed 2.0 to 3.0 us where it is full, and 1.5 to 1.8 us where it is
    /// empty. A machine that needs 3.1 us with one and 1.8 us with two goes to and fro.
    const FAST_NS: u64 = 1900;
    /// So many looks in a row, and for so long, bring a change. Workers that were called stay, and take part: that
    /// others had the processors for a while must not call them.
    const LOOKS: u32 = 4;
    const FOR_NS: u64 = 50_000_000;

    pub(super) const fn new(processors: usize) -> Self {
        let looks = processors <= 2;
        Self {
            spreads: !looks,
            looks,
            rings: 1,
            number: 0,
            ended: 0,
            ended_bytes: 0,
            seen_ns: 0,
            against: 0,
            suited_ns: 0,
        }
    }

    /// Whether it depends on how fast operations follow each other.
    pub(super) const fn looks(&self) -> bool {
        self.looks
    }

    /// How many rings do the same beside this one, itself included.
    pub(super) fn share(&mut self, rings: u32) {
        self.rings = u64::from(rings.max(1));
    }

    /// Whether the next operation is handed over.
    #[inline]
    pub(super) const fn hands_over(&mut self, in_flight: usize) -> bool {
        self.number = self.number.wrapping_add(1);
        self.spreads && (self.number.is_multiple_of(Self::EVERY) || in_flight == 0)
    }

    /// Counts what has ended, and now and then looks how fast it did.
    #[inline]
    pub(super) fn count(&mut self, completions: &[Completion], clock: &impl Clock) {
        if !self.looks {
            return;
        }
        self.ended += completions.len() as u64;
        self.ended_bytes +=
            completions.iter().map(|completion| u64::from(completion.result.max(0) as u32)).sum::<u64>();
        if self.ended_bytes >= Self::LOOK_BYTES {
            self.look(clock.now_ns());
        }
    }

    fn look(&mut self, now_ns: u64) {
        let each_ns = (now_ns - self.seen_ns) / (self.ended * self.rings);
        let suits = if self.spreads { each_ns >= Self::FAST_NS } else { each_ns <= Self::SLOW_NS };
        let is_first = self.seen_ns == 0;
        (self.seen_ns, self.ended, self.ended_bytes) = (now_ns, 0, 0);
        if suits || is_first {
            (self.against, self.suited_ns) = (0, now_ns);
            return;
        }
        self.against += 1;
        if self.against >= Self::LOOKS && now_ns - self.suited_ns >= Self::FOR_NS {
            (self.spreads, self.against, self.suited_ns) = (!self.spreads, 0, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::VirtualClock, engine::Tag};

    const SECOND: u64 = 1_000_000_000;
    const MILLISECOND: u64 = 1_000_000;

    /// Lets operations end for so long, one after the other, some at once. Whether the work is spread then.
    fn pass(
        workers: &mut Workers,
        clock: &VirtualClock,
        span_ns: u64,
        each_ns: u64,
        at_once: usize,
        bytes: i32,
    ) -> bool {
        let completions = vec![Completion { tag: Tag(0), result: bytes }; at_once];
        let batch_ns = at_once as u64 * each_ns;
        for _ in 0..span_ns / batch_ns {
            clock.advance_by(batch_ns);
            workers.count(&completions, clock);
        }
        workers.spreads
    }

    #[test]
    fn every_fourth_operation_and_those_that_are_alone_are_handed_over() {
        let handed_over = |processors, in_flight: &[usize]| {
            let mut workers = Workers::new(processors);
            in_flight.iter().map(|in_flight| workers.hands_over(*in_flight)).collect::<Vec<bool>>()
        };
        assert_eq!(handed_over(8, &[5; 8]), [false, false, false, true, false, false, false, true]);
        assert_eq!(handed_over(8, &[0; 3]), [true; 3]);
        assert_eq!(handed_over(2, &[0, 5, 5, 5]), [false; 4], "before anything was seen");
    }

    #[test]
    fn operations_that_end_at_once_wake_no_further_worker() {
        // Milliseconds, and how far apart operations are in them.
        let spreads_with = |processors, paces: &[(u64, u64)]| {
            let (clock, mut workers) = (VirtualClock::at(SECOND), Workers::new(processors));
            let paces =
                paces.iter().map(|(span, each)| pass(&mut workers, &clock, span * MILLISECOND, *each, 16, 4096));
            paces.collect::<Vec<bool>>()
        };
        let paces = [(99, 2900), (49, 9000), (9, 2900), (49, 9000), (9, 9000), (99, 2000), (49, 1800), (9, 1800)];
        assert_eq!(spreads_with(2, &paces), [false, false, false, false, true, true, true, false]);
        assert_eq!(spreads_with(3, &paces), [true; 8]);
    }

    #[test]
    fn how_fast_operations_follow_each_other_does_not_depend_on_how_many_end_at_once() {
        for at_once in [1, 100, 1000, 5000] {
            for (each_ns, spreads) in [(2900, false), (3100, true)] {
                let (clock, mut workers) = (VirtualClock::at(SECOND), Workers::new(2));
                assert_eq!(pass(&mut workers, &clock, 200 * MILLISECOND, each_ns, at_once, 4096), spreads, "{at_once}");
            }
        }
    }

    #[test]
    fn large_operations_are_looked_at_as_soon_as_small_ones() {
        let (clock, mut workers) = (VirtualClock::at(SECOND), Workers::new(2));
        assert!(pass(&mut workers, &clock, 60 * MILLISECOND, 300_000, 1, 1 << 20));
    }

    #[test]
    fn the_time_before_the_first_operations_says_nothing() {
        let (clock, mut workers) = (VirtualClock::at(100 * SECOND), Workers::new(2));
        assert!(!pass(&mut workers, &clock, 49 * MILLISECOND, 9000, 16, 4096));
    }

    #[test]
    fn rings_that_share_the_processors_are_slow_together() {
        let (clock, mut workers) = (VirtualClock::at(SECOND), Workers::new(2));
        workers.share(2);
        assert!(!pass(&mut workers, &clock, SECOND, 5900, 16, 4096));
        assert!(pass(&mut workers, &clock, SECOND, 6100, 16, 4096));
    }
}
