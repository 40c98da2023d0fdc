//! What was asked for and did not come to pass, though nothing failed.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    record::Cell,
    results::{Finding, Severity},
};
use plimsoll_workload::{
    plan::{BlockPlan, Pacing},
    settings::EngineChoice,
};
use serde_json::json;

use crate::findings::finding;

/// The kernel does what goes through the page cache while it takes it.
pub(super) fn blocks_in_libaio(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    let depth = plan.queue_depth;
    (cell.engine == EngineChoice::Libaio && plan.buffered && depth > 1).then(|| {
        let text = format!(
            "a job had about one operation in flight, not {depth}: of libaio the kernel does buffered operations one \
             after the other as it takes them, so rate and latencies are not those of that depth: choose --engine \
             io_uring or psync, or leave --buffered out"
        );
        finding("libaio-blocks", Severity::Warning, text, &[("queue_depth", json!(depth))])
    })
}

/// A depth is asked for to load the storage; with so few, what passes between two operations tells nothing.
const DEPTH_MIN: f64 = 8.0;
/// Less of the depth than this was not reached.
const REACHED: f64 = 0.85;

/// Operations that this machine had yet to prepare and submit, as the content of large writes: by Little's law there
/// are as many in flight as complete in the mean time that one takes.
pub(super) fn depth_not_reached(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    let is_always_busy = plan.pacing == Pacing::Closed && plan.think_time_ns == 0 && cell.sync.is_none();
    let depth = f64::from(plan.jobs) * f64::from(plan.queue_depth);
    // Threads of psync may wait for a processor with an operation begun; the others are told of as what they are.
    let is_explained = cell.engine == EngineChoice::Psync
        || cell.burst.is_some()
        || matches!(cell.verdict, Some(Verdict::Cached | Verdict::ClientLimited));
    if !is_always_busy || is_explained || depth < DEPTH_MIN || plan.name_operation().is_some() {
        return None;
    }
    let results = || [&cell.read, &cell.write].into_iter().flatten();
    let in_flight: f64 = results().filter_map(|result| Some(result.iops * result.latency_ns.mean? / 1e9)).sum();
    // As long as an amount begins and ends, fewer are in flight, whoever does it.
    let rounds = cell.slots.iter().filter(|slot| slot.counted).count() as f64;
    let operations = results().map(|result| result.operations).sum::<u64>() as f64;
    let has_amount = plan.operations.is_some() || plan.amount_bytes.is_some();
    if has_amount && operations < rounds * depth / (1.0 - REACHED) {
        return None;
    }
    (in_flight > 0.0 && in_flight < REACHED * depth).then(|| {
        let text = format!(
            "{in_flight:.0} of {depth:.0} operations were in flight on average: this machine was preparing and \
             submitting the others"
        );
        let evidence = [("operations_in_flight", json!(in_flight)), ("queue_depth", json!(depth))];
        finding("depth-not-reached", Severity::Info, text, &evidence)
    })
}

/// Syncs after every so many writes, of which none fell into the measured time.
pub(super) fn no_sync_due(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    let every = [plan.fsync_every, plan.fdatasync_every].into_iter().filter(|every| *every > 0).min()?;
    let writes = cell.write.as_ref().map_or(0, |write| write.operations);
    let syncs = cell.sync.as_ref().map_or(0, |sync| sync.operations);
    (writes > 0 && syncs == 0).then(|| {
        let text = match every {
            1 => "nothing was synced in the measured time: jobs sync before each further write, and there was none: \
                  measure longer, or add --end-fsync"
                .to_owned(),
            _ => format!(
                "nothing was synced in the measured time: jobs sync after every {every} writes, before a further one, and \
                 begin to count anew in each slot, with its ramp: lower --fsync or --fdatasync, or measure longer"
            ),
        };
        finding("sync-never-due", Severity::Warning, text, &[("every", json!(every)), ("writes", json!(writes))])
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

    /// What is said of a cell that wrote a hundred times and synced so often.
    fn said(workload: &str, engine: EngineChoice, syncs: u64) -> Vec<String> {
        let did = |operations: u64| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(1_000_000, operations);
            Some(SlotDirection { operations, bytes: 0, histogram }).filter(|_| operations > 0)
        };
        let mut builder = RecordBuilder::new(started(workload));
        let slot = SlotResult { elapsed_ns: 1_000_000_000, write: did(100), sync: did(syncs), ..SlotResult::default() };
        builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        let cell = Cell { engine, ..builder.finish().cells.remove(0) };
        let plan = cell.blocks().unwrap();
        [blocks_in_libaio(&cell, plan), no_sync_due(&cell, plan)].into_iter().flatten().map(|said| said.code).collect()
    }

    #[test]
    fn a_depth_that_the_kernel_does_not_queue_is_told() {
        let deep = "rw = 'write'\nbuffered = true\nqueue_depth = 32";
        assert_eq!(said(deep, EngineChoice::Libaio, 0), ["libaio-blocks"]);
        assert_eq!(said(deep, EngineChoice::Psync, 0), [""; 0]);
        for queued in ["rw = 'write'\nqueue_depth = 32", "rw = 'write'\nbuffered = true"] {
            assert_eq!(said(queued, EngineChoice::Libaio, 0), [""; 0], "{queued}");
        }
    }

    #[test]
    fn a_depth_that_this_machine_did_not_keep_up_is_told_with_what_was_in_flight() {
        let judged = |workload: &str, operations: u64, verdict: Option<Verdict>| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(10_000_000, operations);
            let write = Some(SlotDirection { operations, bytes: 0, histogram });
            let mut builder = RecordBuilder::new(started(workload));
            let slot = SlotResult { elapsed_ns: 1_000_000_000, write, ..SlotResult::default() };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            let mut cell = builder.finish().cells.remove(0);
            cell.verdict = verdict;
            depth_not_reached(&cell, cell.blocks().unwrap()).map(|found| found.text)
        };
        let said = |workload: &str, operations: u64| judged(workload, operations, None);
        let deep = "rw = 'write'\nqueue_depth = 16\njobs = 2";
        // In the 10 ms that one takes, 24 of 2,400 a second complete.
        assert!(said(deep, 2400).unwrap().starts_with("24 of 32 operations were in flight on average: "));
        assert_eq!(said(deep, 3200), None);
        assert_eq!(judged(deep, 2400, Some(Verdict::ClientLimited)), None);
        assert_eq!(said("rw = 'write'\nqueue_depth = 4", 200), None, "what passes between two is not the storage's");
        // With an amount, the queue has to be full for most of the time that it takes.
        assert_eq!(said("rw = 'write'\nqueue_depth = 64\noperations = 3", 3), None, "there are no others");
        assert_eq!(said("rw = 'write'\nqueue_depth = 64\nio_size = '16KiB'", 4), None);
        assert_eq!(said(&format!("{deep}\noperations = 200"), 200), None);
        assert!(said(&format!("{deep}\noperations = 2400"), 2400).is_some());
        for pausing in ["rate = 2400", "think_time = '1ms'"] {
            assert_eq!(said(&format!("{deep}\n{pausing}"), 2400), None, "{pausing}");
        }
    }

    #[test]
    fn syncs_that_never_fall_due_are_told() {
        for every in ["fsync = 200", "fdatasync = 200"] {
            let workload = format!("rw = 'write'\n{every}");
            assert_eq!(said(&workload, EngineChoice::Psync, 0), ["sync-never-due"]);
            assert_eq!(said(&workload, EngineChoice::Psync, 1), [""; 0]);
        }
        assert_eq!(said("rw = 'write'", EngineChoice::Psync, 0), [""; 0]);
    }
}
