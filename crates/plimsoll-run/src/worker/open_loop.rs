//! What a worker of an open loop does: operations have times to begin at, which it keeps to or is late for.

use std::io;

use plimsoll_io::{clock::Clock, engine::Engine};
use plimsoll_workload::operation::Operation;

use super::{LATE_NS, Turn, Worker};

/// Of arrivals that were never issued there may be very many, and somebody waits for them to be counted. After so many
/// that were drawn each one stands for itself and the next, then for twice as many and so on.
const DRAWN_ALIKE: u64 = 1 << 20;

impl<E: Engine, C: Clock> Worker<'_, E, C> {
    /// Issues what is due by its intended time, as far as there are free tags.
    #[inline(always)]
    pub(super) fn issue_due(&mut self, mut now: u64) -> io::Result<u64> {
        let freed_ns = now;
        while !self.is_held_up() && !self.is_exhausted() {
            let (operation, intended_ns) = self.peek();
            if intended_ns > now {
                break;
            }
            match self.turn(operation) {
                Turn::Issue => {}
                Turn::Sync(kind, file) => {
                    self.issue_sync(kind, file, now)?;
                    continue;
                }
                Turn::Pause => break,
            }
            self.next = None;
            if self.timing.is_measured(intended_ns) {
                let delay_ns = now - intended_ns;
                self.tally.open_loop.intended += 1;
                let is_late = delay_ns > LATE_NS;
                self.tally.open_loop.late += u64::from(is_late);
                // Others that held it up when it was late already, or had ended when it was due, did not make it late.
                let has_waited = intended_ns <= freed_ns && intended_ns + LATE_NS >= self.held_up_from_ns;
                self.tally.open_loop.overslept += u64::from(is_late && !has_waited);
                self.tally.open_loop.latest_ns = self.tally.open_loop.latest_ns.max(delay_ns);
            }
            now = self.issue(operation, now, Some(intended_ns))?;
        }
        self.held_up_from_ns = if self.is_held_up() { self.held_up_from_ns.min(now) } else { u64::MAX };
        Ok(now)
    }

    /// The next operation of an open loop and when it should start.
    pub(super) fn peek(&mut self) -> (Operation, u64) {
        if let Some(next) = self.next {
            return next;
        }
        let operation = self.stream.next_operation();
        let arrivals = self.arrivals.as_mut().expect("only an open loop looks ahead");
        // Of very low rates the next arrival may be past the end of time.
        let next = (operation, self.timing.start_ns.saturating_add(arrivals.next_intended_ns(operation.length)));
        self.next = Some(next);
        next
    }

    /// Whether an arrival that is due has to wait for operations to end: there is no tag, or a verified pass ends.
    #[inline]
    pub(super) fn is_held_up(&self) -> bool {
        self.free.is_empty() || self.must_drain()
    }

    /// Arrivals of the measured time that found no free tag until its end. Their latency counts as what they had waited
    /// by then: less than it would have been, but not nothing.
    pub(super) fn count_never_issued(&mut self, until_ns: u64) {
        if self.arrivals.is_none() {
            return;
        }
        let mut drawn = 0_u64;
        while !self.is_exhausted() {
            let (operation, intended_ns) = self.peek();
            if intended_ns >= until_ns {
                break;
            }
            self.next = None;
            let mut count = (1 << (drawn / DRAWN_ALIKE).min(32)).min(self.operations_left);
            drawn += 1;
            if let Some(arrivals) = self.arrivals.as_mut().filter(|_| count > 1) {
                let last_ns = self.timing.start_ns.saturating_add(arrivals.pass_over(count - 1, operation.length));
                if last_ns >= until_ns {
                    let [in_time_ns, all_ns] = [until_ns - 1, last_ns].map(|end_ns| u128::from(end_ns - intended_ns));
                    count = 1 + (u128::from(count - 1) * in_time_ns / all_ns) as u64;
                }
            }
            if intended_ns >= self.timing.from_ns {
                self.operations_left -= count;
                self.bytes_left = self.bytes_left.saturating_sub(u64::from(operation.length).saturating_mul(count));
                self.tally.open_loop.intended += count;
                self.tally.open_loop.never_issued += count;
                self.tally.direction(operation.kind).histogram.record_many(until_ns - intended_ns, count);
            }
        }
    }
}
