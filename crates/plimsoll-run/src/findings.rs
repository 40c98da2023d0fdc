//! Sentences about a cell that the plan or a slot alone can justify.

use std::path::Path;

use plimsoll_record::results::{Finding, OpenLoopResult, Severity};
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

/// What is to be known of a file target that an earlier run made and kept.
pub fn of_kept_file(path: &Path) -> Finding {
    let text =
        "the file is one that an earlier run kept: its content was written anew, and it stays after this run too";
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
    "no operation completed in the measured time of a slot, because the storage took longer than that to answer: \
     measure longer with --duration to see how long"
}

/// What all slots so far say about seconds in which nothing completed.
pub fn of_stalls(stalled_seconds: u64) -> Option<Finding> {
    (stalled_seconds > 0).then(|| {
        finding(
            "stalled",
            Severity::Warning,
            format!(
                "nothing completed in {stalled_seconds} whole seconds of the measured time although operations were in \
                 flight: the storage stood still, and mean rates hide that"
            ),
            &[("seconds", json!(stalled_seconds))],
        )
    })
}

/// The seconds that a finding of [`of_stalls`] tells; `None` of any other.
pub fn stalled_seconds(finding: &Finding) -> Option<u64> {
    finding.evidence.get("seconds").filter(|_| finding.code == "stalled")?.as_u64()
}

/// What all slots of an open loop so far showed together.
pub fn of_open_loop(open_loop: &OpenLoopResult) -> Vec<Finding> {
    of_waiting(open_loop).into_iter().chain(of_oversleeping(open_loop)).collect()
}

/// Shares of all operations from which on it is worth a word that they were late, and a warning.
const LATE_TOLD: f64 = 0.001;
const LATE_WARNED: f64 = 0.01;

/// Operations that waited for nothing but a queue slot, for more than a millisecond.
fn waited(open_loop: &OpenLoopResult) -> u64 {
    open_loop.late.saturating_sub(open_loop.overslept)
}

/// Whether all operations but a few had a queue slot when they were due.
pub(crate) fn is_rate_kept(open_loop: &OpenLoopResult) -> bool {
    let behind = waited(open_loop) + open_loop.never_issued;
    behind == 0 || (behind as f64) < open_loop.intended as f64 * LATE_WARNED
}

/// Operations that had to wait for a queue slot: the storage was slower than the rate at this depth, for a while or
/// always.
fn of_waiting(open_loop: &OpenLoopResult) -> Option<Finding> {
    let OpenLoopResult { intended, never_issued, .. } = *open_loop;
    let waited = waited(open_loop);
    if waited + never_issued == 0 {
        return None;
    }
    let is_kept = is_rate_kept(open_loop);
    let kept = if is_kept { "kept the asked rate but for a few operations" } else { "could not keep the asked rate" };
    let bounds = "; the latter count with the time they had waited when the slot ended, so latencies are lower bounds";
    Some(finding(
        "open-loop-late",
        if is_kept { Severity::Info } else { Severity::Warning },
        format!(
            "the storage {kept} at this queue depth: of {intended}, {waited} had to wait for a queue slot for more than \
             1 ms and {never_issued} were never issued{}",
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

/// Operations that nothing kept from being issued, and that were issued late all the same.
fn of_oversleeping(open_loop: &OpenLoopResult) -> Option<Finding> {
    let OpenLoopResult { intended, overslept, .. } = *open_loop;
    let share = overslept as f64 / (intended as f64).max(1.0);
    (share >= LATE_TOLD).then(|| {
        finding(
            "open-loop-overslept",
            if share >= LATE_WARNED { Severity::Warning } else { Severity::Info },
            format!(
                "of {intended} operations {overslept} were issued more than 1 ms late although plimsoll waited for \
                 nothing but their time: it was given no processor when it was due, and their latencies count that wait as the storage's"
            ),
            &[("intended", json!(intended)), ("overslept", json!(overslept))],
        )
    })
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
                stalled_seconds: 0,
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

    #[test]
    fn lateness_is_told_of_whoever_caused_it_and_warned_of_when_it_matters() {
        let of = |late, overslept, never_issued| {
            let open_loop =
                OpenLoopResult { intended: 10_000, late, overslept, never_issued, ..OpenLoopResult::default() };
            let told = |finding: Finding| (finding.code, finding.severity, finding.text);
            of_open_loop(&open_loop).into_iter().map(told).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 0, 0), []);
        assert_eq!(of(9, 9, 0), [], "a scheduler is never exact");
        let [(code, severity, text)] = &of(50, 50, 0)[..] else { panic!("one is to blame") };
        assert_eq!((code.as_str(), *severity), ("open-loop-overslept", Severity::Info));
        assert!(
            text.contains("50 were issued more than 1 ms late although plimsoll waited for nothing but their time"),
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
}
