//! Sentences about a cell that the plan or a slot alone can justify.

use std::path::Path;

use plimsoll_record::results::{Finding, OpenLoopResult, Severity};
use plimsoll_workload::{plan::CellPlan, settings::EngineChoice, target_facts::TargetKind};
use serde_json::{Map, Value, json};

use crate::slot::SlotOutcome;

fn finding(code: &str, severity: Severity, text: impl Into<String>, evidence: &[(&str, Value)]) -> Finding {
    let evidence: Map<String, Value> = evidence.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Finding { code: code.to_owned(), severity, text: text.into(), evidence }
}

/// What is known before the first operation.
pub fn of_plan(cell: &CellPlan, kind: TargetKind) -> Vec<Finding> {
    let plan = &cell.blocks;
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
    if plan.buffered {
        findings.push(finding(
            "page-cache",
            Severity::Warning,
            "buffered I/O: the page cache answered part of this, so the numbers are not the storage's alone",
            &[],
        ));
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
    findings
}

/// What is to be known of a file target that an earlier run made and kept.
pub fn of_kept_file(path: &Path) -> Finding {
    let text =
        "the file is one that an earlier run kept: its content was written anew, and it stays after this run too";
    finding("kept-file-reused", Severity::Info, text, &[("path", json!(path.to_string_lossy()))])
}

/// What a slot showed by itself.
pub fn of_slot(outcome: &SlotOutcome) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !outcome.notes.is_empty() {
        findings.push(finding("engine-note", Severity::Info, outcome.notes.join("; "), &[]));
    }
    let tally = &outcome.tally;
    if tally.read.operations + tally.write.operations + tally.sync.operations == 0 && tally.errors.is_empty() {
        findings.push(finding(
            "nothing-measured",
            Severity::Warning,
            "a slot ended before any operation completed in its measured time: raise --duration",
            &[("elapsed_ns", json!(outcome.elapsed_ns))],
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

/// What all slots of an open loop so far showed together.
pub fn of_open_loop(open_loop: &OpenLoopResult) -> Option<Finding> {
    if open_loop.late == 0 && open_loop.never_issued == 0 {
        return None;
    }
    Some(finding(
        "open-loop-late",
        Severity::Warning,
        format!(
            "the storage could not keep the asked rate at this queue depth: of {} operations {} were issued late and {} \
             never",
            open_loop.intended, open_loop.late, open_loop.never_issued
        ),
        &[
            ("intended", json!(open_loop.intended)),
            ("late", json!(open_loop.late)),
            ("never_issued", json!(open_loop.never_issued)),
        ],
    ))
}
