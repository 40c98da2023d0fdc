//! What was asked for and did not come to pass, though nothing failed.

use plimsoll_record::{
    record::Cell,
    results::{Finding, Severity},
};
use plimsoll_workload::{plan::BlockPlan, settings::EngineChoice};
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

/// Syncs after every so many writes, of which none fell into the measured time.
pub(super) fn no_sync_due(cell: &Cell, plan: &BlockPlan) -> Option<Finding> {
    let every = [plan.fsync_every, plan.fdatasync_every].into_iter().filter(|every| *every > 0).min()?;
    let writes = cell.write.as_ref().map_or(0, |write| write.operations);
    let syncs = cell.sync.as_ref().map_or(0, |sync| sync.operations);
    (writes > 0 && syncs == 0).then(|| {
        let text = format!(
            "nothing was synced in the measured time: jobs sync after every {every} writes, and begin to count anew in \
             each slot, with its ramp: lower --fsync or --fdatasync, or measure longer"
        );
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
    fn syncs_that_never_fall_due_are_told() {
        for every in ["fsync = 200", "fdatasync = 200"] {
            let workload = format!("rw = 'write'\n{every}");
            assert_eq!(said(&workload, EngineChoice::Psync, 0), ["sync-never-due"]);
            assert_eq!(said(&workload, EngineChoice::Psync, 1), [""; 0]);
        }
        assert_eq!(said("rw = 'write'", EngineChoice::Psync, 0), [""; 0]);
    }
}
