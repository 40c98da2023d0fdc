//! Scripted runs for tests: a plan whose times are easy to add up, and its events.

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    application::Iteration,
    event::{RunEvent, SlotDirection, SlotPurpose, SlotResult},
    files::SlotPhase,
    record::Outcome,
    results::{ErrorCount, Interval},
};
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    file_set::FilePhase,
    plan::Plan,
    settings::{Effort, ReadWrite},
    target_facts::{TargetFacts, TargetKind},
    units::Span,
    workload::Workload,
};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// A workload of which each cell takes two slots of a second of ramp and five seconds of measuring.
pub(crate) fn twelve_seconds(name: &str) -> Workload {
    Workload {
        name: Some(name.to_owned()),
        rw: Some(ReadWrite::RandRead),
        ramp: Some(Span::from_seconds(1)),
        duration: Some(Span::from_seconds(10)),
        ..Workload::default()
    }
}

pub(crate) fn plan(targets: &[&str], workloads: &[Workload]) -> Plan {
    let facts: Vec<TargetFacts> = targets
        .iter()
        .map(|name| TargetFacts {
            name: (*name).to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(100 << 30),
            direct_alignment_bytes: Some(512),
        })
        .collect();
    let mut plan = Plan::resolve(&facts, workloads, &Certainty::of(Effort::Standard), 7).unwrap();
    // Set here, so that these tests are not about how a plan divides its time.
    for cell in plan.cells.iter_mut().filter(|cell| !cell.work.ends_by_amount()) {
        cell.stopping = StoppingRule::Fixed { slots: 2, discarded: 0 };
        cell.work.blocks_mut().unwrap().slot_ns = Some(5 * SECOND_NS);
    }
    plan
}

/// A slot of five seconds of 4 KiB reads that each took 210 us.
pub(crate) fn finished_with(cell: usize, round: u32, reads: u64) -> RunEvent {
    let mut histogram = LatencyHistogram::fine();
    histogram.record_many(210_000, reads);
    let read = Some(SlotDirection { operations: reads, bytes: reads * 4096, histogram });
    RunEvent::SlotFinished(Box::new(SlotResult {
        cell,
        round,
        elapsed_ns: 5 * SECOND_NS,
        read,
        ..SlotResult::default()
    }))
}

/// A plan of one application.
pub(crate) fn applications() -> Plan {
    plan(&["/mnt/data"], &[Workload { command: Some("sleep 1".to_owned()), ..Workload::default() }])
}

/// A plan of one set of files.
pub(crate) fn file_sets() -> Plan {
    let phases = Some("write,read".parse().unwrap());
    plan(&["/mnt/data"], &[Workload { phases, file_count: Some(10), ..Workload::default() }])
}

/// An iteration of an application.
pub(crate) fn iterated(cell: usize, round: u32, milliseconds: u64) -> RunEvent {
    let application = Some(Box::new(Iteration { elapsed_ns: milliseconds * 1_000_000, ..Iteration::default() }));
    RunEvent::SlotFinished(Box::new(SlotResult { cell, round, application, ..SlotResult::default() }))
}

/// A pass over a set of files, with what its phases took.
pub(crate) fn passed(cell: usize, round: u32, milliseconds: &[u64]) -> RunEvent {
    let phase = |elapsed_ns| SlotPhase {
        phase: FilePhase::Write,
        from_ns: 0,
        elapsed_ns,
        operations: 10,
        bytes: 0,
        operation_ns: 0,
        histogram: LatencyHistogram::fine(),
        calls: Vec::new(),
        job_operations: Vec::new(),
        first_done_ns: elapsed_ns,
        first_done_operations: 10,
        sync_ns: 0,
        cached: None,
        device: None,
        user_ns: 0,
        system_ns: 0,
        is_cut: false,
        is_part: false,
    };
    let phases = milliseconds.iter().map(|ms| phase(ms * 1_000_000)).collect();
    RunEvent::SlotFinished(Box::new(SlotResult { cell, round, phases, ..SlotResult::default() }))
}

/// Two cells of two slots of six seconds.
pub(crate) fn two_cells() -> Plan {
    plan(&["/mnt/data"], &[twelve_seconds("first"), twelve_seconds("second")])
}

pub(crate) fn layout(written_bytes: u64, total_bytes: u64) -> RunEvent {
    RunEvent::LayoutProgress { target: "/mnt/data".into(), written_bytes, total_bytes }
}

pub(crate) fn laid_out(target: &str) -> RunEvent {
    RunEvent::LayoutFinished { target: target.into(), written_bytes: 1 << 30, elapsed_ns: SECOND_NS }
}

pub(crate) const fn started(cell: usize, round: u32) -> RunEvent {
    RunEvent::SlotStarted {
        cell,
        round,
        t_ns: 0,
        ramp_ns: SECOND_NS,
        measured_ns: Some(5 * SECOND_NS),
        purpose: SlotPurpose::Measured,
    }
}

/// A second of 4 KiB reads.
pub(crate) fn interval(cell: usize, reads: u64) -> RunEvent {
    load(cell, 0, reads, SECOND_NS, true)
}

/// Some time of the same in a ramp or after it.
pub(crate) fn load(cell: usize, round: u32, reads: u64, length_ns: u64, measured: bool) -> RunEvent {
    let interval = Interval {
        round,
        length_ns,
        measured,
        read_operations: reads,
        read_bytes: reads * 4096,
        p99_ns: Some(210_000),
        ..Interval::default()
    };
    RunEvent::Interval { cell, interval }
}

pub(crate) fn finished(cell: usize, round: u32, failures: u64) -> RunEvent {
    let error =
        |count| ErrorCount { operation: "read".into(), error: "EIO".into(), count, first_offset: 0, first_file: None };
    RunEvent::SlotFinished(Box::new(SlotResult {
        cell,
        round,
        elapsed_ns: 5 * SECOND_NS,
        errors: (failures > 0).then(|| error(failures)).into_iter().collect(),
        ..SlotResult::default()
    }))
}

/// What the session expects of the run after a visit to a cell.
pub(crate) const fn told(cell: usize, left: u64) -> RunEvent {
    RunEvent::CellProgress {
        cell,
        precision: None,
        precision_wanted: None,
        is_done: false,
        run_remaining_ns: left * SECOND_NS,
        run_remaining_max_ns: left * SECOND_NS,
    }
}

pub(crate) const fn ended() -> RunEvent {
    RunEvent::Finished { elapsed_ns: 24 * SECOND_NS, outcome: Outcome::Complete }
}
