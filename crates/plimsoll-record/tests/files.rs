//! What the slots of a set of files become in a record, and in its JSON.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    builder::RecordBuilder,
    environment::Environment,
    event::{RunEvent, RunStarted, SlotPurpose, SlotResult},
    files::{CachedFiles, PhaseResult, SlotCall, SlotPhase},
    record::{Asked, Kind, Outcome, Record, Tool},
    results::DeviceActivity,
    upgrade,
};
use plimsoll_workload::{
    certainty::Certainty,
    file_set::FilePhase,
    plan::Plan,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};

const SECOND_NS: u64 = 1_000_000_000;

fn histogram(latency_ns: u64, count: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::fine();
    histogram.record_many(latency_ns, count);
    histogram
}

/// 100 files by two jobs, so many of them a second, of which half of the time is spent in `fsync`.
fn phase(phase: FilePhase, per_second: u64) -> SlotPhase {
    let elapsed_ns = 100 * SECOND_NS / per_second;
    let each_ns = 2 * elapsed_ns / 100;
    SlotPhase {
        phase,
        from_ns: SECOND_NS,
        elapsed_ns,
        operations: 100,
        bytes: 100 * 4096,
        operation_ns: 2 * elapsed_ns,
        histogram: histogram(each_ns, 100),
        calls: vec![
            SlotCall { call: "write".to_owned(), histogram: histogram(each_ns / 2, 100) },
            SlotCall { call: "fsync".to_owned(), histogram: histogram(each_ns / 2, 100) },
        ],
        job_operations: vec![60, 40],
        first_done_ns: elapsed_ns / 2,
        first_done_operations: 90,
        sync_ns: 0,
        cached: (phase == FilePhase::Read).then(|| CachedFiles {
            method: Some("cachestat".to_owned()),
            total_bytes: 1000,
            resident_bytes: Some(250),
            reason: None,
        }),
        device: Some(DeviceActivity { write_operations: 300, ..DeviceActivity::default() }),
        user_ns: 1,
        system_ns: 2,
        is_cut: phase == FilePhase::Delete,
        is_part: false,
    }
}

/// Three iterations, each a little faster than the one before, and one that is kept out.
fn record() -> Record {
    let phases = [FilePhase::Write, FilePhase::Read, FilePhase::Delete];
    record_of([10, 100, 101, 102].map(|per_second| phases.map(|of| phase(of, per_second)).into()), 1)
}

/// What a phase is in a record that has it once.
fn only(slot: &SlotPhase) -> PhaseResult {
    record_of([vec![slot.clone()]], 0).cells[0].files.as_ref().unwrap().phases[0].clone()
}

/// Iterations with these phases, of which the first ones are kept out.
fn record_of(iterations: impl IntoIterator<Item = Vec<SlotPhase>>, discarded: usize) -> Record {
    let workload: Workload =
        toml::from_str("phases = 'write,read,delete'\nfile_count = 100\njobs = 2\niterations = 3").unwrap();
    let target = TargetFacts {
        name: "/mnt/data".to_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(1 << 30),
        direct_alignment_bytes: None,
    };
    let certainty = Certainty::of(Effort::Standard);
    let plan = Plan::resolve(&[target], std::slice::from_ref(&workload), &certainty, 42).unwrap();
    assert_eq!(plan.cells[0].stopping.slots(), Some(3));
    let started = RunStarted {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
        started: "2025-10-08T09:30:00Z".parse().unwrap(),
        tool: Tool { version: "0.1.0".to_owned(), commit: None, profile: "release".to_owned() },
        name: None,
        tags: std::collections::BTreeMap::new(),
        asked: Asked { workloads: vec![workload], ..Asked::of(certainty) },
        plan,
        environment: Environment::default(),
    };
    let mut builder = RecordBuilder::new(started);
    for (round, phases) in iterations.into_iter().enumerate() {
        let slot = SlotResult {
            round: round as u32,
            purpose: if round < discarded { SlotPurpose::Discarded } else { SlotPurpose::Measured },
            phases,
            tree_sha256: Some("abc".to_owned()),
            ..SlotResult::default()
        };
        // As it is written into the journal and read again.
        let event = RunEvent::SlotFinished(Box::new(slot));
        let event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        builder.apply(&event);
    }
    builder.apply(&RunEvent::Finished { elapsed_ns: 9 * SECOND_NS, outcome: Outcome::Complete });
    builder.finish()
}

#[test]
fn rates_are_those_of_all_iterations_that_count() {
    let record = record();
    let cell = &record.cells[0];
    assert_eq!((cell.kind, cell.rounds_done), (Kind::Files, 4));
    let files = cell.files.as_ref().unwrap();
    assert_eq!((files.total_bytes, files.tree_sha256.as_deref()), (409_600, Some("abc")));
    let write = cell.write.as_ref().unwrap();
    assert_eq!((write.operations, write.bytes), (300, 300 * 4096));
    // 300 files in 1 s, 1/1.01 s and 1/1.02 s.
    let rate = 300.0 / (1.0 + 1.0 / 1.01 + 1.0 / 1.02);
    assert!((write.iops - rate).abs() < 1e-6 * rate, "{}", write.iops);
    // Student's t for two degrees of freedom, 4.3027, by a deviation of 1 over the root of 3.
    let half = 4.302_653 / 3_f64.sqrt() / 101.0 * rate;
    assert!((write.iops_high.unwrap() - rate - half).abs() < 1e-3, "{:?}", write.iops_high);
    assert!((rate - write.iops_low.unwrap() - half).abs() < 1e-3);
    let deletes = cell.phase_result(FilePhase::Delete).unwrap();
    assert_eq!(deletes.operations, 300);
    assert!(cell.phase_result(FilePhase::Stat).is_none());

    let of_write = &files.phases[0];
    assert_eq!((of_write.phase, of_write.iterations, of_write.cut_iterations), (FilePhase::Write, 3, 0));
    assert_eq!(files.phases[2].cut_iterations, 3);
    // Two jobs that never pause between files see together what goes through.
    assert!((of_write.operation_time_iops - rate).abs() < 1e-6 * rate);
    assert!((of_write.first_done_iops.unwrap() - 1.8 * rate).abs() < 1e-6 * rate);
    // A sync at the end is waited for by both.
    let beside = phase(FilePhase::Delete, 100);
    let sync_ns = 2 * beside.elapsed_ns / 4;
    let deleted = SlotPhase { sync_ns, operation_ns: beside.operation_ns - sync_ns, calls: Vec::new(), ..beside };
    let of_delete = only(&deleted);
    assert!((of_delete.operation_time_iops - 100.0).abs() < 1e-6 && (of_delete.sync_share - 0.25).abs() < 1e-9);
    let large = SlotPhase { first_done_operations: 3, ..deleted };
    assert_eq!(only(&large).first_done_iops, None, "what others have begun is more than that");

    assert!((of_write.sync_share - 0.5).abs() < 0.01, "{}", of_write.sync_share);
    assert_eq!(of_write.device_operations_per_operation, Some(3.0));
    assert_eq!(of_write.job_operations, [180, 120]);
    assert_eq!(files.phases[1].cached.as_ref().unwrap().share(), Some(0.25));
    assert_eq!(of_write.calls.iter().map(|call| call.count).collect::<Vec<_>>(), [300, 300]);
    let rounds: Vec<u32> = of_write.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds, [1, 2, 3]);
}

#[test]
fn phases_are_keys_of_a_cell_and_what_is_unknown_there_is_ignored() {
    let record = record();
    let mut value = serde_json::to_value(&record).unwrap();
    let cell = &mut value["cells"][0];
    for key in ["read", "write", "delete"] {
        assert_eq!(cell[key]["operations"], 300, "{key}");
    }
    assert_eq!(cell["plan"]["phases"], "write,read,delete");
    assert_eq!(upgrade::read(&value.to_string()).unwrap(), record);
    value["cells"][0]["levitate"] = serde_json::json!({ "operations": 7 });
    assert_eq!(upgrade::read(&value.to_string()).unwrap(), record);
}
