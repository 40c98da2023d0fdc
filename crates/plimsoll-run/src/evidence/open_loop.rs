//! How an open loop kept its times, and who is to blame where it did not.

use plimsoll_record::{
    numbers::count,
    record::Cell,
    results::{Finding, OpenLoopResult, Severity},
};
use plimsoll_workload::{
    plan::{BlockPlan, Pacing},
    settings::{Arrival, EngineChoice},
};
use serde_json::json;

use crate::findings::finding;

/// What all slots that count showed together.
pub(super) fn lateness(cell: &Cell) -> impl Iterator<Item = Finding> {
    let open_loop = cell.open_loop.as_ref();
    let of_waiting = |open_loop| of_waiting(cell, open_loop);
    open_loop.and_then(of_waiting).into_iter().chain(open_loop.and_then(of_oversleeping))
}

/// Shares of all operations from which on it is worth a word that they were late, and a warning.
const LATE_TOLD: f64 = 0.001;
const LATE_WARNED: f64 = 0.01;

/// Operations that were late for want of a queue slot.
fn waited(open_loop: &OpenLoopResult) -> u64 {
    open_loop.late.saturating_sub(open_loop.overslept)
}

/// Whether all operations but a few had a queue slot when they were due.
pub(super) fn had_slots(open_loop: &OpenLoopResult) -> bool {
    let behind = waited(open_loop) + open_loop.never_issued;
    behind == 0 || (behind as f64) < open_loop.intended as f64 * LATE_WARNED
}

/// Of the operations that were due, those in flight at the end are less than this where the rate was kept.
const IN_FLIGHT_MAX: f64 = 0.1;

/// Whether as much was done as was due, so that operations that waited for a queue slot did so for a while only: no
/// more are left at the end than chance leaves, and slots that end with an amount did not take longer for it.
fn is_rate_kept(cell: &Cell, plan: &BlockPlan, open_loop: &OpenLoopResult) -> bool {
    let Pacing::Open { arrival, .. } = plan.pacing else { return false };
    let (due, done) = (open_loop.intended as f64, completed(cell) as f64);
    let rounds = cell.slots.iter().filter(|slot| slot.counted).count() as f64;
    let chance = match arrival {
        // So much the number of arrivals is off by.
        Arrival::Poisson => due.sqrt(),
        Arrival::Fixed => rounds * f64::from(plan.jobs),
    };
    let is_left = open_loop.never_issued as f64 > chance.min(due * LATE_WARNED);
    if is_left || done < due * (1.0 - IN_FLIGHT_MAX) {
        return false;
    }
    if plan.operations.is_none() && plan.amount_bytes.is_none() {
        return true;
    }
    let results = || [&cell.read, &cell.write].into_iter().flatten();
    // The last one of a slot is due before it is done.
    let last_ns = rounds * open_loop.service_p50_ns.unwrap_or(0) as f64;
    let elapsed_ns = results().map(|result| result.elapsed_ns).max().unwrap_or(0) as f64;
    let bytes = results().map(|result| result.bytes).sum::<u64>() as f64;
    // Each of several machines has the rate.
    let lanes = if cell.engine == EngineChoice::Psync { plan.queue_depth } else { 1 };
    let machines = cell.worker_operations.len() as f64 / f64::from(plan.jobs * lanes);
    let asked = |per_second: f64| per_second * machines.max(1.0) * (elapsed_ns - last_ns) / 1e9;
    let share = match plan.pacing.offered_per_second(plan.jobs) {
        [Some(operations), _] => done / asked(operations),
        [None, Some(per_second)] => bytes / asked(per_second),
        [None, None] => return false,
    };
    share >= 1.0 - LATE_WARNED - 2.0 * chance / due
}

/// Reads and writes that completed in the measured time, whenever they were due.
fn completed(cell: &Cell) -> u64 {
    [&cell.read, &cell.write].into_iter().flatten().map(|result| result.operations).sum()
}

/// Operations that had to wait for a queue slot: the storage was slower than the rate at this depth, for a while or
/// always.
fn of_waiting(cell: &Cell, open_loop: &OpenLoopResult) -> Option<Finding> {
    let OpenLoopResult { intended, never_issued, .. } = *open_loop;
    let (waited, completed) = (waited(open_loop), completed(cell));
    if waited + never_issued == 0 {
        return None;
    }
    let had_slots = had_slots(open_loop);
    let is_kept = had_slots || cell.blocks().is_some_and(|plan| is_rate_kept(cell, plan, open_loop));
    let kept = match is_kept {
        _ if had_slots => "kept the asked rate but for a few operations",
        true => "kept the asked rate",
        false => "could not keep the asked rate",
    };
    let waiting = if is_kept && !had_slots { "; their waiting is in the latencies" } else { "" };
    let bounds =
        "; those never issued count with the time they had waited when the slot ended, so latencies are lower bounds";
    // What completed is not what was due where the backlog is older than the measured time.
    let due_before = completed.saturating_sub(intended - never_issued.min(intended));
    let before = match due_before {
        _ if is_kept || (due_before as f64) < completed as f64 * LATE_WARNED => String::new(),
        all if all == completed => "; what completed had been due before".to_owned(),
        some => format!("; of {} that completed, {} or more had been due before", count(completed), count(some)),
    };
    Some(finding(
        "open-loop-late",
        if is_kept { Severity::Info } else { Severity::Warning },
        format!(
            "the storage {kept} at this queue depth: of {}, {} had to wait for a queue slot for more than 1 ms and {} were \
             never issued{before}{waiting}{}",
            count(intended),
            count(waited),
            count(never_issued),
            if never_issued > 0 { bounds } else { "" }
        ),
        &[
            ("intended", json!(intended)),
            ("waited", json!(waited)),
            ("late", json!(open_loop.late)),
            ("never_issued", json!(never_issued)),
        ],
    ))
}

/// Operations that had a queue slot when they were due, and that were issued late all the same.
fn of_oversleeping(open_loop: &OpenLoopResult) -> Option<Finding> {
    let OpenLoopResult { intended, overslept, .. } = *open_loop;
    let share = overslept as f64 / (intended as f64).max(1.0);
    (share >= LATE_TOLD).then(|| {
        finding(
            "open-loop-overslept",
            if share >= LATE_WARNED { Severity::Warning } else { Severity::Info },
            format!(
                "of {} operations {} were issued more than 1 ms late although a queue slot was free: plimsoll was given no \
                 processor when they were due, or handing over others took so long, and their latencies count that \
                 wait as the storage's",
                count(intended),
                count(overslept)
            ),
            &[("intended", json!(intended)), ("overslept", json!(overslept))],
        )
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        event::{RunEvent, SlotDirection, SlotResult},
    };

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn lateness_is_told_of_whoever_caused_it_and_warned_of_when_it_matters() {
        let of = |late, overslept, never_issued| {
            let open_loop =
                OpenLoopResult { intended: 10_000, late, overslept, never_issued, ..OpenLoopResult::default() };
            let mut cell = RecordBuilder::new(started("rw = 'randread'\nrate = 1000")).finish().cells.remove(0);
            cell.open_loop = Some(open_loop);
            lateness(&cell).map(|finding| (finding.code, finding.severity, finding.text)).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 0, 0), []);
        assert_eq!(of(9, 9, 0), [], "a scheduler is never exact");
        let [(code, severity, text)] = &of(50, 50, 0)[..] else { panic!("one is to blame") };
        assert_eq!((code.as_str(), *severity), ("open-loop-overslept", Severity::Info));
        assert!(
            text.contains("50 were issued more than 1 ms late although a queue slot was free: plimsoll was given no"),
            "{text}"
        );
        assert_eq!(of(500, 500, 0)[0].1, Severity::Warning);
        let [(code, severity, text)] = &of(20, 1, 0)[..] else { panic!("the other is") };
        assert_eq!((code.as_str(), *severity), ("open-loop-late", Severity::Info));
        assert!(
            text.starts_with("the storage kept the asked rate but for") && text.contains("19 had to wait"),
            "{text}"
        );
        assert!(!text.contains("lower bounds"));
        let both = of(800, 300, 100);
        assert_eq!(both.len(), 2);
        assert_eq!(both[0].1, Severity::Warning);
        assert!(both[0].2.starts_with("the storage could not keep the asked rate"), "{}", both[0].2);
        assert!(both[0].2.ends_with("so latencies are lower bounds"));
    }
    #[test]
    fn what_completed_and_had_been_due_before_the_measured_time_is_told() {
        let said = |intended, never_issued, completed: u64| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, completed);
            let read = Some(SlotDirection { operations: completed, bytes: completed << 12, histogram });
            let open_loop = Some(OpenLoopResult { intended, never_issued, ..OpenLoopResult::default() });
            let slot = SlotResult { elapsed_ns: 1_000_000_000, read, open_loop, ..SlotResult::default() };
            let mut builder = RecordBuilder::new(started("rw = 'randread'\nrate = 900000"));
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            let cell = builder.finish().cells.remove(0);
            lateness(&cell).map(|finding| finding.text).collect::<String>()
        };
        let all = said(900_000, 900_000, 4_504);
        assert!(all.contains("of 900,000, 0 had to wait"), "{all}");
        assert!(all.contains("900,000 were never issued; what completed had been due before; those never"), "{all}");
        let some = said(900_000, 896_000, 4_504);
        assert!(some.contains("of 4,504 that completed, 504 or more had been due before"), "{some}");
        assert!(!said(900_000, 895_500, 4_504).contains("due before"), "those in flight at the start are no backlog");
    }

    #[test]
    fn a_rate_that_was_reached_was_kept_however_many_had_to_wait() {
        // Of reads that are done in so many seconds, how many waited and were never issued.
        let said = |workload: &str, seconds: u64, completed, [intended, late, never_issued]: [u64; 3]| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, completed);
            let read = Some(SlotDirection { operations: completed, bytes: completed << 12, histogram });
            let open_loop = Some(OpenLoopResult { intended, late, never_issued, ..OpenLoopResult::default() });
            let slot = SlotResult { elapsed_ns: seconds * 1_000_000_000, read, open_loop, ..SlotResult::default() };
            let mut builder = RecordBuilder::new(started(&format!("rw = 'randread'\n{workload}")));
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            let cell = builder.finish().cells.remove(0);
            let found = lateness(&cell).next().unwrap();
            let is_kept = found.text.starts_with("the storage kept the asked rate at this queue depth: of ");
            assert!(is_kept || found.text.starts_with("the storage could not keep the asked rate"), "{}", found.text);
            assert_eq!(is_kept, found.severity == Severity::Info, "{}", found.text);
            (is_kept, found.text)
        };
        let kept = |workload: &str, seconds, completed, counts| said(workload, seconds, completed, counts).0;
        let poisson = "arrival = 'poisson'\nrate = 500";
        let (is_kept, text) = said(poisson, 3, 1498, [1499, 62, 0]);
        assert!(is_kept && text.contains("of 1,499, 62 had to wait for a queue slot"), "{text}");
        assert!(text.ends_with("0 were never issued; their waiting is in the latencies"), "{text}");
        let (is_kept, text) = said(poisson, 3, 1495, [1499, 162, 3]);
        assert!(is_kept && text.contains("their waiting is in the latencies; those never issued count"), "{text}");
        assert!(!kept(poisson, 3, 1400, [1499, 1300, 98]), "a backlog that grows");
        assert!(!kept(poisson, 3, 1300, [1499, 162, 0]), "what failed was not done");
        assert!(!kept(poisson, 300, 149_000, [150_000, 140_000, 990]), "chance does not add up");
        assert!(kept("rate = 500", 3, 1499, [1500, 162, 1]));
        assert!(!kept("rate = 500", 3, 1490, [1500, 1400, 10]), "nothing of this is chance");
        // All are done in the end, but later than they were due.
        let amount = |rate: &str| format!("{rate}\noperations = 1500");
        for rate in [poisson, "rate = 500", "rate = '2000KiB'"] {
            assert!(kept(&amount(rate), 3, 1500, [1500, 162, 0]), "{rate}");
            assert!(!kept(&amount(rate), 6, 1500, [1500, 1400, 0]), "{rate}");
        }
    }
}
