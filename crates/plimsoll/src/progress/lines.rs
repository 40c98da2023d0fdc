//! Progress where nobody can redraw: a plain line every few seconds.

use std::io::Write;

use plimsoll_io::clock::Clock;
use plimsoll_record::event::RunEvent;
use plimsoll_workload::plan::Plan;

use super::{Progress, state::ProgressState};

/// Time between two lines.
const EVERY_NS: u64 = 5_000_000_000;

/// Writes a line every five seconds.
#[derive(Debug)]
pub(crate) struct Lines<C, W> {
    state: ProgressState,
    clock: C,
    out: W,
    due_ns: u64,
}

impl<C: Clock, W: Write> Lines<C, W> {
    /// Lines about a run that begins now.
    pub(crate) fn new(plan: &Plan, clock: C, out: W) -> Self {
        let now_ns = clock.now_ns();
        Self { state: ProgressState::new(plan, now_ns), clock, out, due_ns: now_ns + EVERY_NS }
    }
}

impl<C: Clock, W: Write> Progress for Lines<C, W> {
    fn event(&mut self, event: &RunEvent) {
        let now_ns = self.clock.now_ns();
        self.state.apply(event, now_ns);
        if now_ns < self.due_ns {
            return;
        }
        // Counted from when the line was due, so that late events do not add up; what was missed is not made up for.
        self.due_ns += (now_ns - self.due_ns) / EVERY_NS * EVERY_NS + EVERY_NS;
        let shown = self.state.shown(now_ns);
        let rates = shown.rates();
        let rates = if rates.is_empty() { rates } else { format!(": {rates}") };
        // A reader that has gone away is no reason to end a run.
        let _ = writeln!(self.out, "{}: {}{rates}", shown.times(), shown.phase);
    }

    fn finish(&mut self) {
        let _ = self.out.flush();
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_io::clock::VirtualClock;

    use super::*;
    use crate::progress::test_events::{SECOND_NS, ended, finished, interval, laid_out, started, told, two_cells};

    #[test]
    fn a_line_is_written_every_five_seconds_and_says_it_all() {
        let clock = VirtualClock::at(40 * SECOND_NS);
        let mut out = Vec::new();
        let mut lines = Lines::new(&two_cells(), clock.clone(), &mut out);
        let mut events = vec![(0, laid_out("/mnt/data")), (0, started(0, 0))];
        events.extend((1..=6).map(|second| (second, interval(0, 9_000 + second))));
        events.extend([
            (6, finished(0, 0, 0)),
            (6, told(0, 18)),
            (17, started(1, 0)),
            (18, interval(1, 50)),
            (20, ended()),
        ]);
        for (second, event) in events {
            clock.advance_to((40 + second) * SECOND_NS);
            lines.event(&event);
        }
        lines.finish();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
    5 s in, 19 s left: measuring first, cell 1 of 2, round 1 of 2: 9,005 IOPS, 36.9 MB/s, p99 210 us
    17 s in, 18 s left: ramp of second, cell 2 of 2, round 1 of 2
    20 s in, 0 s left: finishing
    "#);
    }
}
