//! Going on with a run that was interrupted: what its events so far tell whoever does the rest.

use jiff::Timestamp;
use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_measure::session::{Purpose, Session};
use plimsoll_record::{
    event::{RunEvent, SlotPurpose, SlotResult},
    record::Resumption,
    results::{Interval, OpenLoopResult},
};
use plimsoll_workload::{plan::Plan, settings::EngineChoice};

use crate::{findings, judging};

/// A run that goes on.
#[derive(Clone, Debug)]
pub struct Resuming {
    /// The time of day.
    pub at: Timestamp,
    /// What happened before, up to the last slot that counts.
    pub events: Vec<RunEvent>,
    /// What differs from then, for the record.
    pub warnings: Vec<String>,
}

impl Resuming {
    /// When the run goes on, if all before ended then. A clock that was set back meanwhile makes no time run backwards.
    pub(crate) fn resumption(&self, started: Timestamp, ended_ns: u64) -> Resumption {
        let since_start = self.at.as_nanosecond() - started.as_nanosecond();
        let t_ns = u64::try_from(since_start).unwrap_or(0).max(ended_ns);
        Resumption { at: self.at, t_ns, paused_ns: t_ns - ended_ns }
    }

    /// The engine that a cell has been measured with, which stays the same.
    pub(crate) fn engine(&self, cell: usize) -> Option<EngineChoice> {
        self.events.iter().find_map(|event| match event {
            RunEvent::EngineSelected { cell: of, engine, .. } if *of == cell => Some(*engine),
            _ => None,
        })
    }
}

/// The time of a run, of which another process may have done the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    /// When this process began to do its part, on the monotonic clock.
    began_ns: u64,
    /// The same since the start of the run.
    t_ns: u64,
}

impl RunClock {
    /// The clock of a run that is at this time now.
    pub(crate) fn from_now(t_ns: u64) -> Self {
        Self { began_ns: MonotonicClock.now_ns(), t_ns }
    }

    /// The time since the start of the run.
    pub(crate) fn now_ns(self) -> u64 {
        self.since_start_ns(MonotonicClock.now_ns())
    }

    /// What a moment of the monotonic clock is since the start of the run.
    pub(crate) const fn since_start_ns(self, monotonic_ns: u64) -> u64 {
        self.t_ns + monotonic_ns.saturating_sub(self.began_ns)
    }

    /// What a time since the start of the run is on the monotonic clock.
    pub(crate) const fn monotonic_ns(self, t_ns: u64) -> u64 {
        self.began_ns + t_ns.saturating_sub(self.t_ns)
    }
}

/// What is added up over all slots of each cell, and what the slots so far amount to.
#[derive(Clone, Debug)]
pub(crate) struct SoFar {
    /// Whether any cell had to be given up.
    pub(crate) failed: bool,
    /// For each cell, how its open loop has kept its times.
    pub(crate) open_loops: Vec<OpenLoopResult>,
    /// For each cell, whole seconds in which nothing completed.
    pub(crate) stalled_seconds: Vec<u64>,
}

impl SoFar {
    /// Of a run that has done nothing yet.
    pub(crate) fn nothing(plan: &Plan) -> Self {
        let count = plan.cells.len();
        Self { failed: false, open_loops: vec![OpenLoopResult::default(); count], stalled_seconds: vec![0; count] }
    }

    /// Adds an open loop's slot to its cell.
    pub(crate) fn add_open_loop(&mut self, cell: usize, slot: &OpenLoopResult) {
        self.open_loops[cell].add(slot);
    }

    /// Takes in what happened before, and hands the session what it has measured.
    pub(crate) fn restore(plan: &Plan, events: &[RunEvent], session: &mut Session) -> Self {
        let mut so_far = Self::nothing(plan);
        let (mut at_ns, mut seconds) = (0, Vec::new());
        for event in events {
            match event {
                RunEvent::Resumed(Resumption { t_ns, paused_ns, .. }) => {
                    session.pause(t_ns.saturating_sub(*paused_ns), *t_ns);
                }
                RunEvent::SlotStarted { t_ns, .. } => {
                    at_ns = *t_ns;
                    seconds.clear();
                }
                RunEvent::Interval { interval, .. } => seconds.push(interval.clone()),
                RunEvent::SlotFinished(slot) if slot.cell < plan.cells.len() => {
                    so_far.restore_slot(plan, slot, at_ns, &seconds, session);
                }
                RunEvent::Found { cell, finding } => {
                    if let (Some(sum), Some(seconds)) =
                        (so_far.stalled_seconds.get_mut(*cell), findings::stalled_seconds(finding))
                    {
                        *sum = seconds;
                    }
                }
                _ => {}
            }
        }
        so_far
    }

    fn restore_slot(
        &mut self,
        plan: &Plan,
        slot: &SlotResult,
        at_ns: u64,
        seconds: &[Interval],
        session: &mut Session,
    ) {
        let purpose = match slot.purpose {
            SlotPurpose::Measured => Purpose::Measure,
            SlotPurpose::Discarded => Purpose::Discard,
            SlotPurpose::Bookend => Purpose::Bookend,
        };
        session.resume(slot.cell, purpose, at_ns, judging::visit(slot, seconds.iter()));
        if let Some(open_loop) = &slot.open_loop {
            self.add_open_loop(slot.cell, open_loop);
        }
        if !slot.errors.is_empty() && !plan.cells[slot.cell].work.keeps_going() {
            session.abandon(slot.cell);
            self.failed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resuming(at: &str) -> Resuming {
        Resuming { at: at.parse().unwrap(), events: Vec::new(), warnings: Vec::new() }
    }

    #[test]
    fn time_goes_on_where_the_clock_on_the_wall_is() {
        let started: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let resumption = resuming("2026-01-01T13:00:00Z").resumption(started, 60_000_000_000);
        assert_eq!((resumption.t_ns, resumption.paused_ns), (3_600_000_000_000, 3_540_000_000_000));
        // The clock was set back meanwhile.
        let resumption = resuming("2026-01-01T11:00:00Z").resumption(started, 60_000_000_000);
        assert_eq!((resumption.t_ns, resumption.paused_ns), (60_000_000_000, 0));
    }

    #[test]
    fn the_clock_of_a_run_goes_on_whenever_its_machine_was_started() {
        let clock = RunClock::from_now(3_600_000_000_000);
        let now_ns = MonotonicClock.now_ns();
        assert!(clock.now_ns() >= 3_600_000_000_000);
        assert_eq!(clock.monotonic_ns(clock.since_start_ns(now_ns)), now_ns);
        assert_eq!(clock.since_start_ns(0), 3_600_000_000_000, "what was before is not of this part");
    }
}
