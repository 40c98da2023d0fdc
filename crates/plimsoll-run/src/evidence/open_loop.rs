//! How an open loop kept its times, and who is to blame where it did not.

use plimsoll_record::{
    numbers::count,
    record::Cell,
    results::{Finding, OpenLoopResult, Severity},
};
use serde_json::json;

use crate::findings::finding;

/// What all slots that count showed together.
pub(super) fn lateness(cell: &Cell) -> impl Iterator<Item = Finding> {
    let open_loop = cell.open_loop.as_ref();
    let of_waiting = |open_loop| of_waiting(open_loop, completed(cell));
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
pub(super) fn is_rate_kept(open_loop: &OpenLoopResult) -> bool {
    let behind = waited(open_loop) + open_loop.never_issued;
    behind == 0 || (behind as f64) < open_loop.intended as f64 * LATE_WARNED
}

/// Reads and writes that completed in the measured time, whenever they were due.
fn completed(cell: &Cell) -> u64 {
    [&cell.read, &cell.write].into_iter().flatten().map(|result| result.operations).sum()
}

/// Operations that had to wait for a queue slot: the storage was slower than the rate at this depth, for a while or
/// always. So many completed.
fn of_waiting(open_loop: &OpenLoopResult, completed: u64) -> Option<Finding> {
    let OpenLoopResult { intended, never_issued, .. } = *open_loop;
    let waited = waited(open_loop);
    if waited + never_issued == 0 {
        return None;
    }
    let is_kept = is_rate_kept(open_loop);
    let kept = if is_kept { "kept the asked rate but for a few operations" } else { "could not keep the asked rate" };
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
             never issued{before}{}",
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
}
