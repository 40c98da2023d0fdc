//! Going on with a run that was interrupted: what its events so far tell whoever does the rest.

use jiff::Timestamp;
use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_measure::session::{Purpose, Session};
use plimsoll_record::{
    event::{RunEvent, SlotPurpose, SlotResult},
    record::Resumption,
    results::Interval,
};
use plimsoll_workload::{plan::Plan, settings::EngineChoice};

use crate::judging;

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

/// Hands the session what was measured before. Returns whether any cell had to be given up.
pub(crate) fn restore(plan: &Plan, events: &[RunEvent], session: &mut Session) -> bool {
    let mut failed = false;
    // For each cell, when its slot was handed out, and the seconds of it.
    let mut slots: Vec<(u64, Vec<&Interval>)> = vec![(0, Vec::new()); plan.cells.len()];
    for event in events {
        match event {
            RunEvent::Resumed(Resumption { t_ns, paused_ns, .. }) => {
                session.pause(t_ns.saturating_sub(*paused_ns), *t_ns);
            }
            RunEvent::SlotStarted { cell, t_ns, .. } => {
                if let Some(slot) = slots.get_mut(*cell) {
                    *slot = (*t_ns, Vec::new());
                }
            }
            RunEvent::Interval { cell, interval } => {
                if let Some((_, seconds)) = slots.get_mut(*cell) {
                    seconds.push(interval);
                }
            }
            RunEvent::SlotFinished(slot) => {
                if let Some((at_ns, seconds)) = slots.get(slot.cell) {
                    failed |= !restore_slot(plan, slot, *at_ns, seconds, session);
                }
            }
            _ => {}
        }
    }
    failed
}

/// Returns whether its cell may be visited again.
fn restore_slot(plan: &Plan, slot: &SlotResult, at_ns: u64, seconds: &[&Interval], session: &mut Session) -> bool {
    let purpose = match slot.purpose {
        SlotPurpose::Measured => Purpose::Measure,
        SlotPurpose::Discarded => Purpose::Discard,
        SlotPurpose::Bookend => Purpose::Bookend,
    };
    // One that was cut off is done again.
    if !slot.is_cut {
        session.resume(slot.cell, purpose, at_ns, judging::visit(slot, seconds.iter().copied()));
    }
    let may_go_on = judging::may_go_on(&plan.cells[slot.cell].work, slot);
    if !may_go_on {
        session.abandon(slot.cell);
    }
    may_go_on
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::session::Step;
    use plimsoll_record::{judgement, results::ErrorCount, verification::VerificationResult};

    use super::*;
    use crate::test_plans::{plan_of_run, plan_on_directory};

    const SECOND_NS: u64 = 1_000_000_000;

    /// Two cells of one phase, each visited once.
    fn side_by_side() -> Plan {
        let workload = "rw = 'randread'\nphase = 1\nduration = '60s'";
        plan_of_run(&["a", "b"].map(|name| format!("name = '{name}'\n{workload}")).each_ref().map(String::as_str))
    }

    #[test]
    fn slots_that_were_done_at_the_same_time_have_their_own_seconds() {
        let plan = side_by_side();
        let interval = |cell: usize, second: u64| RunEvent::Interval {
            cell,
            interval: Interval {
                t_ns: second * SECOND_NS,
                length_ns: SECOND_NS,
                measured: true,
                read_operations: [5000, 100][cell],
                ..Interval::default()
            },
        };
        let started = |cell| RunEvent::SlotStarted {
            cell,
            round: 0,
            t_ns: 0,
            ramp_ns: 0,
            measured_ns: Some(60 * SECOND_NS),
            purpose: SlotPurpose::Measured,
        };
        let finished = |cell| {
            let elapsed_ns = 60 * SECOND_NS;
            RunEvent::SlotFinished(Box::new(SlotResult { cell, elapsed_ns, ..SlotResult::default() }))
        };
        let seconds = (0..60).flat_map(|second| [interval(0, second), interval(1, second)]);
        let events: Vec<_> = [0, 1].map(started).into_iter().chain(seconds).chain([0, 1].map(finished)).collect();
        let mut session = Session::new(judgement::session_plan(&plan));
        assert!(!restore(&plan, &events, &mut session));
        assert_eq!(session.next_step(60 * SECOND_NS), Step::Done);
        for (cell, rate) in [5000.0, 100.0].into_iter().enumerate() {
            let found = session.answer(cell).estimate.unwrap().rate;
            assert!((found - rate).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn a_slot_that_was_cut_off_is_done_again_unless_it_met_errors() {
        let restored = |workload: &str, errors: Vec<ErrorCount>| {
            let plan = plan_on_directory(&format!("rw = 'randread'\n{workload}"));
            let mut session = Session::new(judgement::session_plan(&plan));
            let slot = SlotResult { is_cut: true, errors, ..SlotResult::default() };
            let failed = restore(&plan, &[RunEvent::SlotFinished(Box::new(slot))], &mut session);
            (failed, matches!(session.next_step(0), Step::Visit(slot) if slot.round == 0))
        };
        let (operation, error) = ("read".to_owned(), "EIO".to_owned());
        let error = ErrorCount { operation, error, count: 1, first_offset: 0, first_file: None };
        assert_eq!(restored("", Vec::new()), (false, true));
        assert_eq!(restored("", vec![error.clone()]), (true, false));
        assert_eq!(restored("keep_going = true", vec![error]), (false, true));
    }

    #[test]
    fn files_that_did_not_hold_what_they_should_are_not_gone_on_with() {
        let is_given_up = |workload: &str, mismatches| {
            let plan = plan_on_directory(workload);
            let verification = Some(VerificationResult { mismatches, ..VerificationResult::default() });
            let slot = SlotResult { verification, ..SlotResult::default() };
            let mut session = Session::new(judgement::session_plan(&plan));
            let events = [RunEvent::SlotFinished(Box::new(slot))];
            let failed = restore(&plan, &events, &mut session);
            assert_eq!(failed, session.is_closed(0));
            failed
        };
        let files = "phases = 'create,read'\nverify = true\niterations = 3";
        assert!(is_given_up(files, 1) && !is_given_up(files, 0));
        assert!(!is_given_up(&format!("{files}\nkeep_going = true"), 1));
        assert!(!is_given_up("rw = 'randwrite'\nverify = true", 1), "blocks are told of");
    }

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
