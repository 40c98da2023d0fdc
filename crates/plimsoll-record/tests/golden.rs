//! The golden record of schema `plimsoll/1`: a small run told event by event, folded as it happens, and compared with
//! the record in `fixtures/records`, which every later version must read.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use std::{collections::BTreeMap, fs, path::Path};

use plimsoll_measure::{
    latency::{CompactHistogram, LatencyHistogram},
    verdict::Verdict,
};
use plimsoll_record::{
    builder::RecordBuilder,
    cache::{CacheActivity, CacheResidency, ForeignActivity, RepeatedReads},
    client::{ClientActivity, ProcessorActivity},
    environment::{DeviceEnvironment, Environment, MachineEnvironment, MountEnvironment, TargetEnvironment},
    event::{RunEvent, RunStarted, SlotDirection, SlotPurpose, SlotResult},
    judgement::{Judgement, RateEstimate},
    record::{Asked, Outcome, Record, Tool, Window},
    results::{
        CpuCost, DeviceActivity, ErrorCount, Finding, Interval, JobDirection, JobResult, LatencySummary, Severity,
    },
    upgrade,
};
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    plan::Plan,
    settings::{Effort, EngineChoice, ReadWrite},
    target_facts::{TargetFacts, TargetKind},
    units::Span,
    workload::Workload,
};

const SECOND_NS: u64 = 1_000_000_000;

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records").join(name)
}

/// Random reads, and random writes with a sync after every hundredth, two seconds each in two slots.
fn workloads() -> Vec<Workload> {
    let both = Workload {
        block_size: Some("4KiB".parse().unwrap()),
        queue_depth: Some("4".parse().unwrap()),
        size: Some("64MiB".parse().unwrap()),
        duration: Some(Span::from_seconds(2)),
        ..Workload::default()
    };
    vec![
        Workload { rw: Some(ReadWrite::RandRead), ..both.clone() },
        Workload {
            rw: Some(ReadWrite::RandWrite),
            name: Some("writes, \"synced\"".to_owned()),
            fdatasync: Some(100),
            ..both
        },
    ]
}

fn environment() -> Environment {
    Environment {
        machine: MachineEnvironment {
            hostname: Some("harbour".to_owned()),
            kernel_release: Some("6.12.0".to_owned()),
            architecture: Some("x86_64".to_owned()),
            processors_online: Some(8),
            memory_bytes: Some(32 << 30),
            ..MachineEnvironment::default()
        },
        targets: vec![TargetEnvironment {
            name: "/mnt/data".to_owned(),
            path: Some("/mnt/data".to_owned()),
            mount: Some(MountEnvironment {
                point: "/mnt/data".to_owned(),
                file_system: "ext4".to_owned(),
                source: "/dev/sdc".to_owned(),
                options: "rw,relatime".to_owned(),
            }),
            free_bytes: Some(100 << 30),
            direct_alignment_bytes: Some(512),
            device: Some(DeviceEnvironment {
                name: "sdc".to_owned(),
                size_bytes: Some(128 << 30),
                rotational: Some(false),
                ..DeviceEnvironment::default()
            }),
            ..TargetEnvironment::default()
        }],
        clock_cost_ns: Some(21.3),
        ..Environment::default()
    }
}

fn started() -> RunStarted {
    let target = TargetFacts {
        name: "/mnt/data".to_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(100 << 30),
        direct_alignment_bytes: Some(512),
    };
    let mut plan = Plan::resolve(&[target], &workloads(), &Certainty::of(Effort::Quick), 42).unwrap();
    for cell in &mut plan.cells {
        // Two slots of a second each, whatever the scheduling of a plan becomes.
        cell.stopping = StoppingRule::Fixed { slots: 2, discarded: 0 };
        let plan = cell.work.blocks_mut().unwrap();
        plan.ramp_ns = 0;
        plan.slot_ns = Some(SECOND_NS);
    }
    RunStarted {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
        started: "2025-10-08T09:30:00Z".parse().unwrap(),
        tool: Tool { version: "0.1.0".to_owned(), commit: Some("0123abc".to_owned()), profile: "release".to_owned() },
        name: Some("golden".to_owned()),
        tags: BTreeMap::from([("disk".to_owned(), "P30".to_owned()), ("zone".to_owned(), "1".to_owned())]),
        asked: Asked {
            targets: vec!["/mnt/data".to_owned()],
            workloads: workloads(),
            ..Asked::of(Certainty::of(Effort::Quick))
        },
        plan,
        environment: environment(),
    }
}

/// So many operations of 4 KiB: all take `latency_ns`, but the slowest hundredth ten times as long.
fn direction(operations: u64, latency_ns: u64) -> SlotDirection {
    let mut histogram = LatencyHistogram::fine();
    histogram.record_many(latency_ns, operations - operations / 100);
    histogram.record_many(latency_ns * 10, operations / 100);
    SlotDirection { operations, bytes: operations * 4096, histogram }
}

/// So many reads in a second.
fn second(operations: u64) -> CompactHistogram {
    let mut histogram = LatencyHistogram::coarse();
    histogram.record_many(800_000, operations - operations / 100);
    histogram.record_many(8_000_000, operations / 100);
    CompactHistogram::from(histogram)
}

fn interval(t_ns: u64, round: u32, reads: u64, writes: u64) -> Interval {
    Interval {
        t_ns,
        length_ns: SECOND_NS,
        round,
        measured: true,
        stalled: false,
        read_operations: reads,
        read_bytes: reads * 4096,
        write_operations: writes,
        write_bytes: writes * 4096,
        sync_operations: writes / 100,
        p50_ns: Some(if reads > 0 { 800_000 } else { 1_600_000 }),
        p99_ns: Some(if reads > 0 { 8_000_000 } else { 16_000_000 }),
        max_ns: Some(if reads > 0 { 8_000_000 } else { 16_000_000 }),
        read_mean_ns: (reads > 0).then_some(872_000),
        write_mean_ns: (writes > 0).then_some(1_744_000),
        tick_operations: vec![(reads + writes) / 10; 10],
    }
}

fn slot(cell: usize, round: u32, from_ns: u64, reads: u64, writes: u64) -> SlotResult {
    SlotResult {
        cell,
        round,
        from_ns,
        elapsed_ns: SECOND_NS,
        read: (reads > 0).then(|| direction(reads, 800_000)),
        write: (writes > 0).then(|| direction(writes, 1_600_000)),
        sync: (writes > 0).then(|| SlotDirection { bytes: 0, ..direction(writes / 100, 3_000_000) }),
        cpu: CpuCost { user_ns: 5_000_000, system_ns: 20_000_000, steal_ns: Some(1_000_000), ..CpuCost::default() },
        cpu_operations: reads + writes,
        device: Some(DeviceActivity {
            name: "sdc".to_owned(),
            read_operations: reads,
            read_bytes: reads * 4096,
            write_operations: writes,
            write_bytes: writes * 4096,
            flush_operations: writes / 100,
            busy_ns: 990_000_000,
            queue_ns: 3_900_000_000,
            read_merges: reads / 50,
            write_merges: writes / 50,
            read_queue_ns: 900_000_000,
            write_queue_ns: 3_000_000_000,
            members: Vec::new(),
        }),
        foreign: Some(ForeignActivity { read_bytes: Some(0), write_bytes: Some(512), ..ForeignActivity::default() }),
        client: Some(client()),
        cache: Some(CacheActivity {
            requested_read_bytes: reads * 4096,
            requested_write_bytes: writes * 4096,
            storage_read_bytes: Some(reads * 4096),
            storage_write_bytes: None,
            storage_reason: Some("an example".to_owned()),
            residency: Some(CacheResidency {
                method: "cachestat".to_owned(),
                total_bytes: 64 << 20,
                before_bytes: 4096 * u64::from(round),
                ..CacheResidency::default()
            }),
            residency_reason: None,
            repeats: (round == 0 && reads > 0).then_some(RepeatedReads {
                pairs: 8,
                fresh_iops: 4_900.0,
                repeat_iops: 60_000.0,
                ratio_lowest: 11.0,
                elapsed_ns: 1_500_000_000,
            }),
        }),
        worker_operations: vec![reads + writes],
        job_results: [reads / 2, reads - reads / 2].map(|reads| job(reads, writes / 2)).into(),
        // A dozen instead of one, because percentiles have intervals from two dozen on.
        seconds: vec![second(reads / 12); if reads > 0 { 12 } else { 0 }],
        ..SlotResult::default()
    }
}

/// One of two jobs that share the work.
fn job(reads: u64, writes: u64) -> JobResult {
    let of = |direction: SlotDirection| JobDirection::of(direction.operations, direction.bytes, &direction.histogram);
    JobResult {
        read: (reads > 0).then(|| of(direction(reads, 800_000))),
        write: (writes > 0).then(|| of(direction(writes, 1_600_000))),
    }
}

/// A second of a machine with eight processors, of which two were busy.
fn client() -> ClientActivity {
    let mut hiccups = LatencyHistogram::coarse();
    hiccups.record_many(60_000, 198);
    hiccups.record_many(1_500_000, 2);
    ClientActivity {
        span_ns: SECOND_NS,
        busiest_worker_ns: Some(300_000_000),
        busiest_worker_share_max: Some(0.3),
        worker_run_delay_ns: Some(10_000_000),
        worker_run_delay_share_max: Some(0.01),
        process_ns: 400_000_000,
        machine_busy_ns: Some(2 * SECOND_NS),
        machine_total_ns: Some(8 * SECOND_NS),
        processors: vec![ProcessorActivity { number: 3, busy_ns: SECOND_NS, user_ns: SECOND_NS / 4 }],
        steal_ns: Some(1_000_000),
        voluntary_switches: 5000,
        device_queue_ns: Some(3_900_000_000),
        hiccup_ns: LatencySummary::of(&hiccups),
        hiccups: Some(hiccups),
        null_operations_per_second: Some(20e6),
        ..ClientActivity::default()
    }
}

/// The whole run: cells take turns, the second slot of the writes meets three errors.
fn events() -> Vec<RunEvent> {
    let mut events = vec![
        RunEvent::Started(Box::new(started())),
        RunEvent::LayoutFinished { target: "/mnt/data".to_owned(), written_bytes: 64 << 20, elapsed_ns: 200_000_000 },
    ];
    for cell in 0..2 {
        let reason = "the kernel offers it".to_owned();
        events.push(RunEvent::EngineSelected { cell, engine: EngineChoice::IoUring, reason });
    }
    for (turn, (cell, round, reads, writes)) in
        [(0, 0, 5000, 0), (1, 0, 0, 2500), (1, 1, 0, 2300), (0, 1, 5200, 0)].into_iter().enumerate()
    {
        let from_ns = SECOND_NS + turn as u64 * SECOND_NS;
        let mut slot = slot(cell, round, from_ns, reads, writes);
        if turn == 2 {
            let error = "EIO (Input/output error)".to_owned();
            slot.errors = vec![ErrorCount {
                operation: "write".to_owned(),
                error,
                count: 3,
                first_offset: 8192,
                first_file: None,
            }];
        }
        let (ramp_ns, measured_ns, purpose) = (0, Some(SECOND_NS), SlotPurpose::Measured);
        events.push(RunEvent::SlotStarted { cell, round, t_ns: from_ns, ramp_ns, measured_ns, purpose });
        events.push(RunEvent::Interval { cell, interval: interval(from_ns, round, reads, writes) });
        events.push(RunEvent::SlotFinished(Box::new(slot)));
    }
    let evidence = serde_json::json!({ "errors": 3, "first_offset": 8192 });
    events.push(RunEvent::Found {
        cell: 1,
        finding: Finding {
            code: "io-errors".to_owned(),
            severity: Severity::Error,
            text: "3 writes failed".to_owned(),
            evidence: evidence.as_object().cloned().unwrap_or_default(),
        },
    });
    events.push(RunEvent::Warning { text: "the processor's governor is powersave".to_owned() });
    for (cell, from_ns, to_ns) in [(0, SECOND_NS, 5 * SECOND_NS), (1, 2 * SECOND_NS, 4 * SECOND_NS)] {
        let window = Some(Window { from_ns, to_ns });
        let rates = (5_100.0, Some(5_050.0), Some(5_150.0));
        let judgement = Judgement {
            verdict: Verdict::Short,
            window,
            estimate: (cell == 0).then_some(RateEstimate { iops: rates.0, iops_low: rates.1, iops_high: rates.2 }),
            stability: None,
            burst: None,
            moved: None,
            period_ns: Some(20 * SECOND_NS),
        };
        events.push(RunEvent::CellProgress {
            cell,
            precision: Some(0.03),
            precision_wanted: None,
            is_done: true,
            run_remaining_ns: SECOND_NS,
            run_remaining_max_ns: 2 * SECOND_NS,
        });
        events.push(RunEvent::CellFinished { cell, judgement: Box::new(judgement) });
    }
    events.push(RunEvent::Finished { elapsed_ns: 5_250_000_000, outcome: Outcome::Failed });
    events
}

fn fold(events: &[RunEvent]) -> Record {
    let Some(RunEvent::Started(started)) = events.first() else { panic!("a run begins with its start") };
    let mut builder = RecordBuilder::new((**started).clone());
    events.iter().for_each(|event| builder.apply(event));
    builder.finish()
}

/// Compares a text with a fixture. A text that differs is left beside the test's other output, to be looked at and,
/// when the change is meant, to be copied over the fixture by hand.
fn assert_golden(name: &str, text: &str) {
    let path = fixture(name);
    if fs::read_to_string(&path).ok().as_deref() == Some(text) {
        return;
    }
    let candidate = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&candidate, text).unwrap();
    panic!(
        "{} is not what this version writes: when that is meant, copy {} over it",
        path.display(),
        candidate.display()
    );
}

#[test]
fn the_record_that_this_version_writes_is_the_golden_one() {
    let record = fold(&events());
    assert_golden("plimsoll-1.json", &(serde_json::to_string_pretty(&record).unwrap() + "\n"));
}

#[test]
fn the_events_that_this_version_writes_are_the_golden_ones() {
    let lines: Vec<_> = events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert_golden("plimsoll-1.events.ndjson", &lines.concat());
}

#[test]
fn events_that_were_written_down_fold_to_the_same_record() {
    let text = fs::read_to_string(fixture("plimsoll-1.events.ndjson")).unwrap();
    let events: Vec<RunEvent> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let golden = upgrade::read(&fs::read_to_string(fixture("plimsoll-1.json")).unwrap()).unwrap();
    let folded = fold(&events);
    // Both as text first: the difference of two records is readable, the records are not.
    assert_eq!(serde_json::to_string_pretty(&folded).unwrap(), serde_json::to_string_pretty(&golden).unwrap());
    assert!(folded == golden);
    // What a cell does was called its blocks when there was nothing else.
    let before = text.replace("\"work\":", "\"blocks\":");
    assert_ne!(before, text);
    let events_before: Vec<RunEvent> = before.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events_before == events);
}

/// Every figure here is worked out by hand from the events above, not copied from the record.
#[test]
fn the_golden_record_says_what_its_events_said() {
    let record = upgrade::read(&fs::read_to_string(fixture("plimsoll-1.json")).unwrap()).unwrap();
    assert_eq!(record.id.to_string(), "0199c0de-7a3e-7000-8000-0000000000a1");
    assert_eq!(record.started.to_string(), "2025-10-08T09:30:00Z");
    assert_eq!((record.elapsed_ns, record.outcome), (5_250_000_000, Outcome::Failed));
    assert_eq!(record.tags["disk"], "P30");
    assert_eq!(record.warnings, ["the processor's governor is powersave"]);
    assert!(record.has_io_errors());
    let [reads, writes] = &record.cells[..] else { panic!("two cells") };

    let read = reads.read.as_ref().unwrap();
    assert_eq!((read.operations, read.bytes, read.elapsed_ns), (10_200, 10_200 * 4096, 2 * SECOND_NS));
    assert!((read.iops - 5100.0).abs() < 1e-9);
    assert!((read.bytes_per_second - 5100.0 * 4096.0).abs() < 1e-3);
    assert_eq!((read.iops_low, read.iops_high, &read.interval_reason), (Some(5050.0), Some(5150.0), &None));
    let write = writes.write.as_ref().unwrap();
    assert_eq!((write.iops_low, write.interval_reason.is_some()), (None, true));
    // 99 % take 800 us, 1 % take 8 ms: the mean is 0.99 * 800 + 0.01 * 8000 = 872 us.
    assert!((read.latency_ns.mean.unwrap() - 872_000.0).abs() < 1e-6);
    assert_eq!((read.latency_ns.min, read.latency_ns.max), (Some(800_000), Some(8_000_000)));
    assert_eq!(read.histogram.count(), 10_200);
    assert_eq!(read.latency_ns.p99_99, None);
    assert_eq!(read.latency_ns.unsupported["p99_99"], "needs 100000 operations, had 10200");
    let ends = |name: &str| read.latency_interval(name).map(|interval| (interval.low_ns, interval.high_ns)).unwrap();
    // The bucket of 800 us has two digits in seconds: from 798,720 to 802,815 ns.
    assert_eq!(ends("p50"), (800_000, Some(802_815)));
    assert_eq!((ends("p99_9").1, read.latency_interval("p99").unwrap().exceedances), (None, 102));
    assert!(read.latency_interval("p99_9").unwrap().needed_seconds.unwrap() > 2.0);
    assert!(read.latency_interval("p99_99").is_none());
    // The 102 slow reads take 7 ms more than a millisecond each, of 10,200 times 872 us.
    let exposed = reads.exposed[0];
    assert!(exposed.limit_ns == 1_000_000 && (exposed.share - 102.0 * 7.0 / 8_894.4).abs() < 1e-4);
    assert_eq!((reads.write.is_none(), reads.sync.is_none()), (true, true));
    assert_eq!((reads.stopping.slots(), reads.rounds_done, reads.engine), (Some(2), 2, EngineChoice::IoUring));
    assert_eq!(reads.workload, "randread 4KiB QD4");
    assert_eq!(reads.series.len(), 2);
    assert_eq!(reads.device.as_ref().unwrap().read_operations, 10_200);
    assert_eq!(reads.cpu.user_ns, 10_000_000);
    let client = reads.client.as_ref().unwrap();
    assert_eq!((client.span_ns, client.hiccups.as_ref().unwrap().count()), (2 * SECOND_NS, 400));
    assert!((client.busiest_worker_share().unwrap() - 0.3).abs() < 1e-9);
    assert!((client.worker_run_delay_share().unwrap() - 0.01).abs() < 1e-9);
    assert!((client.machine_share().unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(client.device_queue_ns, Some(7_800_000_000));
    assert_eq!((client.swapped_in_bytes, client.null_operations_per_second), (None, Some(20e6)));
    let cache = reads.cache.as_ref().unwrap();
    assert_eq!((cache.storage_read_bytes, cache.storage_write_bytes), (Some(cache.requested_read_bytes), None));
    assert_eq!(cache.repeats.as_ref().unwrap().pairs, 8);
    assert_eq!(reads.foreign.as_ref().unwrap().write_bytes, Some(1024));
    assert_eq!(reads.worker_operations, [10_200]);
    assert_eq!(client.processors[0].busy_ns, 2 * SECOND_NS);
    let jobs: Vec<_> = reads.job_results.iter().map(|job| job.read.as_ref().unwrap()).collect();
    assert_eq!(jobs.iter().map(|job| job.operations).sum::<u64>(), 10_200);
    assert!(jobs.iter().all(|job| (job.latency_mean_ns - 872_000.0).abs() < 1.0 && job.timed == job.operations));
    assert_eq!(reads.window, Some(Window { from_ns: SECOND_NS, to_ns: 5 * SECOND_NS }));

    let (write, sync) = (writes.write.as_ref().unwrap(), writes.sync.as_ref().unwrap());
    assert_eq!((write.operations, sync.operations), (4800, 48));
    assert!((write.iops - 2400.0).abs() < 1e-9);
    assert_eq!(sync.latency_ns.p90, None);
    assert_eq!((writes.errors, writes.error_kinds[0].first_offset), (3, 8192));
    assert_eq!(writes.findings[0].evidence["errors"], 3);
    assert_eq!(writes.blocks().unwrap().fdatasync_every, 100);
}

#[test]
fn a_record_of_another_schema_is_refused_with_a_way_out() {
    let text = fs::read_to_string(fixture("plimsoll-1.json")).unwrap();
    let newer = text.replacen("plimsoll/1", "plimsoll/99", 1);
    assert!(upgrade::read(&newer).unwrap_err().to_string().contains("use a newer plimsoll"));
    assert!(upgrade::read("{}").is_err());
}

/// What this version adds to cells was not there in the records of earlier ones.
#[test]
fn a_record_of_the_first_weeks_is_read() {
    let text = fs::read_to_string(fixture("plimsoll-1.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for cell in value["cells"].as_array_mut().unwrap() {
        let cell = cell.as_object_mut().unwrap();
        assert_eq!(cell.shift_remove("stopping").unwrap()["slots"], 2);
        cell.insert("rounds".to_owned(), 2.into());
        for added in ["slots", "estimate", "stability", "burst", "moved", "period_ns"] {
            assert!(cell.shift_remove(added).is_some(), "{added}");
        }
        for name in ["read", "write", "sync"] {
            if let Some(direction) = cell[name].as_object_mut() {
                let count = direction.len();
                direction.retain(|key, _| !key.starts_with("latency_interval"));
                assert_eq!(direction.len(), count - 1, "either the intervals or a reason");
            }
        }
        for second in cell["series"].as_array_mut().unwrap() {
            for added in ["read_mean_ns", "write_mean_ns"] {
                assert!(second.as_object_mut().unwrap().shift_remove(added).is_some(), "{added}");
            }
        }
        for added in ["foreign", "client", "cache", "worker_operations", "job_results", "exposed"] {
            assert!(cell.shift_remove(added).is_some(), "{added}");
        }
        for added in ["queue_ns", "read_merges", "write_merges", "read_queue_ns", "write_queue_ns"] {
            assert!(cell["device"].as_object_mut().unwrap().shift_remove(added).is_some(), "{added}");
        }
    }
    let record = upgrade::read(&value.to_string()).unwrap();
    assert!(record.cells.iter().all(|cell| cell.client.is_none() && cell.worker_operations.is_empty()));
    assert!(record.cells.iter().all(|cell| cell.stopping.slots() == Some(2)));
}

#[test]
fn a_record_that_was_cut_off_is_never_read() {
    let whole = upgrade::read(&fs::read_to_string(fixture("plimsoll-1.json")).unwrap()).unwrap();
    let text = serde_json::to_string(&whole).unwrap();
    for length in (0..text.len()).rev().step_by(3) {
        assert!(upgrade::read(&text[..length]).is_err(), "cut off after {length} bytes");
    }
}

#[test]
fn a_record_with_a_flipped_bit_is_refused_or_whole() {
    let golden = fs::read_to_string(fixture("plimsoll-1.json")).unwrap();
    let whole = upgrade::read(&golden).unwrap();
    let mut bytes = serde_json::to_vec(&whole).unwrap();
    // One of the lower seven bits of every third byte, in turns: all of them would take minutes and find no more.
    for at in (0..bytes.len()).step_by(3) {
        let flipped = bytes[at] ^ (1 << (at % 7));
        let original = std::mem::replace(&mut bytes[at], flipped);
        if let Ok(Ok(record)) = std::str::from_utf8(&bytes).map(upgrade::read) {
            assert_eq!(record.cells.len(), whole.cells.len(), "byte {at}");
        }
        bytes[at] = original;
    }
}
