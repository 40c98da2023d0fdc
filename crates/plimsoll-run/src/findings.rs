//! Sentences about a cell that the plan or a slot alone can justify.

use std::path::Path;

use plimsoll_record::results::{Finding, Severity};
use plimsoll_workload::{
    file_space::FileOrder,
    plan::{BlockPlan, CellPlan, Pacing},
    settings::{EngineChoice, NameOperation},
    target_facts::TargetKind,
};
use serde_json::{Map, Value, json};

use crate::slot::SlotOutcome;

/// The code of what is said of load that is somebody else's.
pub const FOREIGN_IO: &str = "foreign-io";

pub(crate) fn finding(code: &str, severity: Severity, text: impl Into<String>, evidence: &[(&str, Value)]) -> Finding {
    let evidence: Map<String, Value> = evidence.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Finding { code: code.to_owned(), severity, text: text.into(), evidence }
}

/// What is known before the first operation.
pub fn of_plan(cell: &CellPlan, kind: TargetKind) -> Vec<Finding> {
    let Some(plan) = cell.blocks() else { return Vec::new() };
    let mut findings = Vec::new();
    if plan.engine == EngineChoice::Memory {
        findings.push(finding(
            "storage-not-touched",
            Severity::Error,
            "the memory engine touches no storage: this is what plimsoll itself can do, and says nothing about the target",
            &[],
        ));
        return findings;
    }
    if let Some(operation) = plan.name_operation() {
        let text = match operation {
            NameOperation::Stat => {
                "the kernel remembers the files that it has seen, so it may answer without asking the storage"
            }
            NameOperation::Create | NameOperation::Delete => {
                "a file system changes names in memory first and writes them later: this is how fast it takes them, and \
                 most of them are not yet on the storage"
            }
        };
        findings.push(finding("names-in-memory", Severity::Info, text, &[]));
        return findings;
    }
    if kind == TargetKind::Device && plan.reads() && !plan.writes() {
        findings.push(finding(
            "device-not-laid-out",
            Severity::Info,
            "the device was read as it was: blocks never written may be answered without touching the storage",
            &[("size_bytes", json!(plan.size_bytes))],
        ));
    }
    if kind == TargetKind::Device && plan.writes() {
        findings.push(finding(
            "first-write",
            Severity::Info,
            "writes went to blocks that may never have been written, which can be slower or faster than overwriting",
            &[("size_bytes", json!(plan.size_bytes))],
        ));
    }
    if plan.think_time_ns > 0 && plan.queue_depth > plan.think_time_operations {
        let (depth, most) = (plan.queue_depth, plan.think_time_operations);
        findings.push(finding(
            "pauses-bound-depth",
            Severity::Info,
            format!(
                "a job had at most {most} in flight, not {depth}: it pauses after every {most}, until all are done"
            ),
            &[("queue_depth", json!(depth)), ("most", json!(most))],
        ));
    }
    if let FileOrder::Turns(turns) = plan.file_order
        && plan.file_count > 1
        && plan.random_percent < 100
        && plan.read_block_sizes.is_one()
        && plan.read_block_sizes == plan.write_block_sizes
        && !(plan.size_bytes / u64::from(plan.file_count))
            .is_multiple_of(u64::from(turns.get()) * u64::from(plan.block_size_bytes_max))
    {
        findings.push(finding(
            "turns-of-one",
            Severity::Info,
            format!("each file had one operation in turn, not {turns}: files do not consist of whole turns of so many"),
            &[("turns", json!(turns.get()))],
        ));
    }
    if let Some(operations) = plan.operations.filter(|operations| *operations < u64::from(plan.jobs)) {
        findings.push(finding(
            "idle-jobs",
            Severity::Info,
            format!("{operations} operations are for {} jobs, so not every job had one", plan.jobs),
            &[("operations", json!(operations)), ("jobs", json!(plan.jobs))],
        ));
    }
    findings
}

/// What is to be known of a file target that an earlier run made and kept, and that is filled anew or taken as it is.
pub fn of_kept_file(path: &Path, is_filled: bool) -> Finding {
    let content = if is_filled { "was written anew" } else { "is what was left there" };
    let text =
        format!("the file is one that an earlier run kept: its content {content}, and it stays after this run too");
    finding("kept-file-reused", Severity::Info, text, &[("path", json!(path.to_string_lossy()))])
}

/// What a slot showed by itself, which was to be measured for so long.
pub fn of_slot(outcome: &SlotOutcome, plan: &BlockPlan, measured_ns: Option<u64>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !outcome.notes.is_empty() {
        findings.push(finding("engine-note", Severity::Info, outcome.notes.join("; "), &[]));
    }
    let tally = &outcome.tally;
    if tally.read.operations + tally.write.operations + tally.sync.operations == 0 && tally.errors.is_empty() {
        findings.push(finding(
            "nothing-measured",
            Severity::Warning,
            why_nothing(outcome, plan, measured_ns),
            &[("elapsed_ns", json!(outcome.elapsed_ns))],
        ));
    }
    if tally.lost_seconds > 0 {
        findings.push(finding(
            "series-incomplete",
            Severity::Warning,
            format!(
                "{} seconds of single workers are missing in the series of a slot, because what took its seconds in, \
                 as the output of progress, stood still for minutes; totals and latencies are whole",
                tally.lost_seconds
            ),
            &[("seconds", json!(tally.lost_seconds))],
        ));
    }
    let clamped: u64 = [&outcome.tally.read, &outcome.tally.write, &outcome.tally.sync]
        .iter()
        .map(|direction| direction.histogram.clamped())
        .sum();
    if clamped > 0 {
        findings.push(finding(
            "latency-clamped",
            Severity::Warning,
            format!("{clamped} operations took longer than an hour; percentiles count them as an hour"),
            &[("operations", json!(clamped))],
        ));
    }
    findings
}

/// Why a slot has no completed operation, and what would help.
fn why_nothing(outcome: &SlotOutcome, plan: &BlockPlan, measured_ns: Option<u64>) -> &'static str {
    if measured_ns.is_none_or(|measured_ns| outcome.elapsed_ns < measured_ns) {
        return "a slot was stopped before any operation completed in its measured time";
    }
    if plan.pacing != Pacing::Closed && outcome.tally.open_loop.intended == 0 {
        return "no operation was due in the measured time of a slot: raise --rate, or measure longer with --duration";
    }
    if measured_ns.is_some_and(|measured_ns| plan.think_time_ns >= measured_ns) {
        return "no operation completed in the measured time of a slot, because the pause of --think-time is no shorter \
                than that: pause less, or measure longer with --duration";
    }
    "no operation completed in the measured time of a slot, because the storage took longer than that to answer: \
     measure longer with --duration to see how long"
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::plan::Work;

    use super::*;
    use crate::{tally::SlotTally, test_plans::plan};

    #[test]
    fn a_slot_without_operations_says_what_would_help() {
        let nothing = |elapsed_ns, workload: &str| {
            let tally = SlotTally::new();
            let notes = Vec::new();
            let outcome = SlotOutcome {
                tally,
                from_ns: 0,
                elapsed_ns,
                seconds: Vec::new(),
                verification: None,
                client: None,
                worker_operations: Vec::new(),
                job_results: Vec::new(),
                worker_cpu_ns: 0,
                notes,
            };
            of_slot(&outcome, &plan(workload), Some(2_000_000_000)).remove(0).text
        };
        // How long a slot was to be is the rules' to say where the plan does not.
        for duration in ["", "duration = '2s'\n"] {
            assert!(nothing(2_000_000_000, duration).ends_with("--duration to see how long"));
            let told = nothing(2_000_000_000, &format!("{duration}rate = 0.1"));
            assert!(told.ends_with("raise --rate, or measure longer with --duration"), "{told}");
            assert!(nothing(1_000_000_000, duration).starts_with("a slot was stopped"));
            let paused = |pause: &str| nothing(2_000_000_000, &format!("{duration}think_time = '{pause}'"));
            assert!(paused("2s").contains("the pause of --think-time is no shorter"));
            assert!(paused("1s").contains("because the storage took longer"));
        }
    }

    #[test]
    fn what_a_plan_asks_for_and_does_not_get_is_told() {
        let told = |workload: &str| {
            let mut cells = crate::test_plans::started(workload).plan.cells;
            let findings = of_plan(&cells.remove(0), TargetKind::Directory).into_iter();
            findings.map(|finding| finding.code).collect::<Vec<_>>()
        };
        let depth = |pause: &str| told(&format!("rw = 'randread'\nqueue_depth = 8\n{pause}"));
        assert_eq!(depth("think_time = '1ms'"), ["pauses-bound-depth"]);
        assert_eq!(depth("think_time = '1ms/8'"), [""; 0]);
        assert_eq!(depth(""), [""; 0]);
        let jobs = |operations| told(&format!("rw = 'randread'\njobs = 4\noperations = {operations}"));
        assert_eq!((jobs(3), jobs(4)), (vec!["idle-jobs".to_owned()], Vec::new()));
        let turns = |order: &str| {
            let mut cell = crate::test_plans::started("rw = 'read'").plan.cells.remove(0);
            let plan = BlockPlan { file_count: 2, file_order: order.parse().unwrap(), ..plan("rw = 'read'") };
            cell.work = Work::Blocks(BlockPlan { size_bytes: 128 << 10, ..plan });
            of_plan(&cell, TargetKind::Directory).into_iter().map(|finding| finding.code).collect::<Vec<_>>()
        };
        assert_eq!((turns("turns:3"), turns("turns:8")), (vec!["turns-of-one".to_owned()], Vec::new()));
    }
}
