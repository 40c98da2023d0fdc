//! How sure the percentiles of a record are, told by the slots and seconds of its run.

use plimsoll_measure::latency::CompactHistogram;
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    limit::Expected,
    plan::Plan,
    settings::{Effort, ReadWrite},
    target_facts::{TargetFacts, TargetKind},
    units::{Rate, Span},
    workload::Workload,
};

use super::*;
use crate::{
    environment::Environment,
    limit::Hit,
    record::{Asked, Tool},
    verification::VerificationResult,
};

const SECOND_NS: u64 = 1_000_000_000;

fn workload(rw: ReadWrite) -> Workload {
    Workload {
        rw: Some(rw),
        size: Some("64MiB".parse().unwrap()),
        duration: Some(Span::from_seconds(12)),
        ..Workload::default()
    }
}

/// A run of these workloads, each in so many slots.
fn builder(workloads: &[Workload], slots: u32) -> RecordBuilder {
    let target = TargetFacts {
        name: "/mnt/data".to_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(100 << 30),
        direct_alignment_bytes: Some(512),
    };
    let certainty = Certainty::of(Effort::Quick);
    let mut plan = Plan::resolve(&[target], workloads, &certainty, 42).unwrap();
    plan.cells.iter_mut().for_each(|cell| cell.stopping = StoppingRule::Fixed { slots, discarded: 0 });
    RecordBuilder::new(RunStarted {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
        started: "2025-10-08T09:30:00Z".parse().unwrap(),
        tool: Tool { version: String::new(), commit: None, profile: String::new() },
        name: None,
        tags: std::collections::BTreeMap::new(),
        asked: Asked::of(certainty),
        plan,
        environment: Environment::default(),
    })
}

/// Operations around a millisecond, and as many that took 400 ms as a stall met.
fn latencies(stalled: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::fine();
    (0..4000).for_each(|step| histogram.record_many(800_000 + 100 * step, 1));
    if stalled > 0 {
        histogram.record_many(400_000_000, stalled);
    }
    histogram
}

fn slot(round: u32, histogram: LatencyHistogram) -> SlotResult {
    let operations = histogram.count();
    SlotResult {
        round,
        from_ns: u64::from(round) * 10 * SECOND_NS,
        elapsed_ns: 4 * SECOND_NS,
        read: Some(SlotDirection { operations, bytes: operations * 4096, histogram }),
        ..SlotResult::default()
    }
}

fn judged(builder: &mut RecordBuilder, window: Option<Window>) {
    judged_to_burst(builder, window, None, None);
}

fn judged_to_burst(
    builder: &mut RecordBuilder,
    window: Option<Window>,
    estimate: Option<RateEstimate>,
    burst: Option<Burst>,
) {
    let judgement =
        Judgement { verdict: Verdict::Short, window, estimate, stability: None, burst, moved: None, period_ns: None };
    builder.apply(&RunEvent::CellFinished { cell: 0, judgement: Box::new(judgement) });
}

/// The first of two cells in twelve slots, of which the eighth met a stall.
fn in_turns(stalled: u64, window: Option<Window>) -> Cell {
    let mut builder = builder(&[workload(ReadWrite::RandRead), workload(ReadWrite::RandWrite)], 12);
    for round in 0..12 {
        let histogram = latencies(if round == 7 { stalled } else { 0 });
        builder.apply(&RunEvent::SlotFinished(Box::new(slot(round, histogram))));
    }
    if window.is_some() {
        judged(&mut builder, window);
    }
    builder.finish().cells.remove(0)
}

#[test]
fn a_stalled_slot_widens_the_interval_and_exposes_time() {
    let (calm, stalled) = (in_turns(0, None), in_turns(64, None));
    let interval = |cell: &Cell, name: &str| cell.read.as_ref().unwrap().latency_interval(name).cloned().unwrap();
    let calm_far = interval(&calm, "p99_9");
    assert!(calm_far.high_ns.is_some_and(|high_ns| high_ns < 1_300_000), "{calm_far:?}");
    assert_eq!(calm_far.needed_seconds, None);
    let stalled_far = interval(&stalled, "p99_9");
    assert_eq!((stalled_far.high_ns, stalled_far.exceedances), (None, 0));
    // 64 of 48,064 operations stalled, all at once: a handful of such stalls would have to be seen.
    let needed_seconds = stalled_far.needed_seconds.unwrap();
    assert!((100.0..2000.0).contains(&needed_seconds), "{needed_seconds}");
    assert!(stalled_far.design_effect > 10.0, "{stalled_far:?}");
    assert!(stalled_far.low_ns < 1_300_000);
    assert!(interval(&stalled, "p50").high_ns.is_some());

    let share = |cell: &Cell, limit_ns: u64| cell.exposed.iter().find(|of| of.limit_ns == limit_ns).unwrap().share;
    // 64 times 300 ms beyond the limit, over 64 times 400 ms and 48,000 times a millisecond.
    assert!((share(&stalled, 100_000_000) - 64.0 * 0.3 / (64.0 * 0.4 + 48.0)).abs() < 1e-3);
    assert!(share(&calm, 100_000_000) < f64::MIN_POSITIVE && share(&stalled, SECOND_NS) < f64::MIN_POSITIVE);
}

#[test]
fn only_slots_that_count_tell_how_sure_percentiles_are() {
    let from_ns = 80 * SECOND_NS;
    let after_the_stall = in_turns(64, Some(Window { from_ns, to_ns: 114 * SECOND_NS }));
    let read = after_the_stall.read.as_ref().unwrap();
    assert_eq!((read.operations, read.histogram.count(), read.elapsed_ns), (16_000, 16_000, 16 * SECOND_NS));
    assert!(read.latency_interval("p99").unwrap().high_ns.is_some());
    let two = in_turns(0, Some(Window { from_ns: 100 * SECOND_NS, to_ns: 114 * SECOND_NS })).read.unwrap();
    assert_eq!(
        (two.latency_intervals.len(), two.latency_interval_reason.as_deref()),
        (0, Some("needs 3 slots, had 2"))
    );
}

#[test]
fn the_time_that_a_percentile_needs_is_told_by_whole_slots_as_its_latencies_are() {
    let needed_seconds = |from_ns| {
        let cell = in_turns(64, Some(Window { from_ns, to_ns: 114 * SECOND_NS }));
        let read = cell.read.unwrap();
        (read.elapsed_ns, read.latency_interval("p99_9").unwrap().needed_seconds.unwrap())
    };
    let ((whole_ns, whole), (part_ns, part)) = (needed_seconds(0), needed_seconds(2 * SECOND_NS));
    assert!(part_ns < whole_ns && (part - whole).abs() < 1e-9, "{part} {whole}");
}

#[test]
fn the_interval_of_what_is_left_after_a_burst_is_not_that_of_the_burst() {
    let read = |predicted| {
        let mut builder = builder(&[workload(ReadWrite::RandRead)], 1);
        builder.apply(&RunEvent::SlotFinished(Box::new(slot(0, latencies(0)))));
        let burst = Burst {
            burst_iops: 1000.0,
            sustained_iops: 500.0,
            cliff_after_ns: None,
            cliff_before_ns: None,
            bucket_operations: None,
            predicted,
        };
        let estimate = RateEstimate { iops: 500.0, iops_low: Some(425.0), iops_high: Some(575.0) };
        let window = Window { from_ns: 0, to_ns: 4 * SECOND_NS };
        judged_to_burst(&mut builder, Some(window), Some(estimate), Some(burst));
        builder.finish().cells.remove(0).read.unwrap()
    };
    let predicted = read(true);
    assert_eq!((predicted.iops, predicted.iops_low, predicted.iops_high), (1000.0, None, None));
    assert!(predicted.interval_reason.unwrap().contains("burst that is predicted to end"));
    assert_eq!(read(false).iops_low, Some(850.0));
}

#[test]
fn a_part_of_what_cells_had_at_the_same_time_shows_no_limit() {
    let hits = |later_ns: u64| {
        let mut builder = builder(&[workload(ReadWrite::RandRead), workload(ReadWrite::RandRead)], 1);
        for index in 0..2 {
            let cell = &mut builder.record.cells[index];
            cell.phase = Some(1);
            cell.limit = Some(CellLimit::of(&Expected::given("iops=2000".parse().unwrap()), 4096.0));
            let slot = SlotResult { cell: index, from_ns: later_ns * index as u64, ..slot(0, latencies(0)) };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
        let judgement = Judgement {
            verdict: Verdict::Steady,
            window: None,
            estimate: None,
            stability: None,
            burst: None,
            moved: None,
            period_ns: None,
        };
        for cell in 0..2 {
            builder.apply(&RunEvent::CellFinished { cell, judgement: Box::new(judgement.clone()) });
        }
        builder.finish().cells.iter().map(|cell| cell.limit.as_ref().unwrap().hit).collect::<Vec<_>>()
    };
    assert_eq!(hits(0), [Hit::Unknown; 2]);
    assert_eq!(hits(4 * SECOND_NS), [Hit::None; 2]);
}

#[test]
fn an_open_loop_tells_how_it_kept_its_times_in_slots_that_count() {
    let rate = Some("1000".parse::<Rate>().unwrap());
    let mut builder = builder(&[Workload { rate, ..workload(ReadWrite::RandRead) }], 3);
    for (round, purpose) in (0..).zip([SlotPurpose::Discarded, SlotPurpose::Measured, SlotPurpose::Bookend]) {
        let late = if purpose == SlotPurpose::Measured { 0 } else { 700 };
        let open_loop = Some(OpenLoopResult { intended: 4000, late, ..OpenLoopResult::default() });
        let slot = SlotResult { purpose, open_loop, ..slot(round, latencies(0)) };
        builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
    }
    let open_loop = builder.finish().cells.remove(0).open_loop.unwrap();
    assert_eq!((open_loop.intended, open_loop.late), (4000, 0));
}

#[test]
fn what_the_machine_did_in_a_discarded_slot_is_kept_out_of_the_numbers() {
    let slot = |round, purpose| {
        let (held_back_ns, operations) = if purpose == SlotPurpose::Discarded { (SECOND_NS, 7) } else { (3, 5) };
        Box::new(SlotResult {
            purpose,
            client: Some(ClientActivity { throttled_ns: Some(held_back_ns), ..ClientActivity::default() }),
            cpu_operations: operations,
            worker_operations: vec![operations],
            ..slot(round, latencies(0))
        })
    };
    let mut builder = builder(&[workload(ReadWrite::RandRead)], 3);
    builder.apply(&RunEvent::SlotFinished(slot(0, SlotPurpose::Discarded)));
    for round in 1..3 {
        builder.apply(&RunEvent::SlotFinished(slot(round, SlotPurpose::Measured)));
    }
    let cell = builder.finish().cells.remove(0);
    assert_eq!((cell.client.unwrap().throttled_ns, cell.worker_operations, cell.slots.len()), (Some(6), vec![10], 3));
}

#[test]
fn a_cell_of_discarded_slots_alone_has_no_verdict() {
    for (outcome, why) in [(Outcome::Interrupted, "kept out of the numbers"), (Outcome::Failed, "ended well")] {
        let mut builder = builder(&[workload(ReadWrite::RandRead)], 3);
        let discarded = SlotResult { purpose: SlotPurpose::Discarded, ..slot(0, latencies(0)) };
        builder.apply(&RunEvent::SlotFinished(Box::new(discarded)));
        judged(&mut builder, None);
        builder.apply(&RunEvent::Finished { elapsed_ns: SECOND_NS, outcome });
        let cell = builder.finish().cells.remove(0);
        assert_eq!((cell.verdict, cell.read.is_none(), cell.rounds_done), (None, true, 1));
        assert!(cell.verdict_reason.unwrap().contains(why));
    }
}

#[test]
fn a_cell_that_was_interrupted_before_its_measured_time_was_not_run() {
    let mut builder = builder(&[workload(ReadWrite::RandRead)], 6);
    let (operation, error) = ("read".to_owned(), "EIO".to_owned());
    let error = ErrorCount { operation, error, count: 1, first_offset: 0, first_file: None };
    let cut = SlotResult { is_cut: true, from_ns: SECOND_NS, errors: vec![error], ..SlotResult::default() };
    builder.apply(&RunEvent::SlotFinished(Box::new(cut)));
    judged(&mut builder, None);
    builder.apply(&RunEvent::Finished { elapsed_ns: 2 * SECOND_NS, outcome: Outcome::Interrupted });
    let record = builder.finish();
    let cell = &record.cells[0];
    assert_eq!((cell.rounds_done, cell.slots.len(), cell.window), (0, 0, None));
    assert_eq!(cell.why_not_run(), Some("the run was interrupted before its first slot was done"));
    assert_eq!(cell.errors, 1, "it is told what failed");
}

#[test]
fn a_slot_that_was_cut_off_counts_in_the_numbers_and_not_among_those_that_are_done() {
    let mut builder = builder(&[workload(ReadWrite::RandRead)], 3);
    builder.apply(&RunEvent::SlotFinished(Box::new(slot(0, latencies(0)))));
    let whole = builder.record().cells[0].read.as_ref().unwrap().operations;
    let cut = SlotResult { is_cut: true, ..slot(1, latencies(0)) };
    builder.apply(&RunEvent::SlotFinished(Box::new(cut)));
    let cell = builder.finish().cells.remove(0);
    assert_eq!((cell.rounds_done, cell.slots.len(), cell.read.unwrap().operations), (1, 2, 2 * whole));
}

#[test]
fn a_percentile_without_support_has_no_interval() {
    let cell = in_turns(0, None);
    let read = cell.read.unwrap();
    let known: Vec<&str> = read.latency_intervals.iter().map(|interval| interval.percentile.as_str()).collect();
    assert_eq!(known, ["p50", "p90", "p95", "p99", "p99_9"]);
    assert!(read.latency_ns.p99_99.is_none() && read.latency_ns.unsupported.contains_key("p99_99"));
}

/// A cell alone in one slot, with or without the latencies of its thirty seconds.
fn alone(rw: ReadWrite, has_seconds: bool) -> DirectionResult {
    let mut builder = builder(&[workload(rw)], 1);
    let histogram = latencies(0);
    let mut second = LatencyHistogram::coarse();
    (0..40).for_each(|step| second.record_many(800_000 + 10_000 * step, 100));
    let seconds = vec![CompactHistogram::from(second); if has_seconds { 30 } else { 0 }];
    builder.apply(&RunEvent::SlotFinished(Box::new(SlotResult { seconds, ..slot(0, histogram) })));
    judged(&mut builder, None);
    builder.finish().cells.remove(0).read.unwrap()
}

#[test]
fn one_piece_is_as_sure_as_its_seconds_say() {
    let read = alone(ReadWrite::RandRead, true);
    let median = read.latency_interval("p50").unwrap();
    assert!(median.low_ns <= 1_000_000 && median.high_ns.is_some_and(|high_ns| high_ns >= 1_000_000), "{median:?}");
    let reason = |rw, has_seconds| alone(rw, has_seconds).latency_interval_reason.unwrap();
    assert_eq!(reason(ReadWrite::RandRead, false), "needs 24 measured seconds, had 0");
    assert!(reason(ReadWrite::RandRw, true).contains("reads and writes apart"));
}

#[test]
fn latencies_of_one_piece_are_of_the_window_that_its_rate_is_of() {
    // A burst of ten seconds, which the window leaves out, did nine tenths of all operations.
    const SECONDS: u64 = 40;
    for (stretch, has_own_end) in [(1, false), (2, false), (4, false), (1, true)] {
        let mut builder = builder(&[workload(ReadWrite::RandRead)], 1);
        if let (false, Some(Work::Blocks(plan))) = (has_own_end, &mut builder.record.cells[0].plan) {
            plan.slot_ns = None;
        }
        let of = |index: u64| if index < 10 { (9000, 50_000) } else { (300, 26_000_000) };
        let (mut all, mut parts) = (LatencyHistogram::fine(), Vec::new());
        for index in 0..SECONDS {
            let (count, latency_ns) = of(index);
            all.record_many(latency_ns, count);
            if index % stretch == 0 {
                parts.push(LatencyHistogram::coarse());
            }
            parts.last_mut().unwrap().record_many(latency_ns, count);
            let (t_ns, read_operations) = (index * SECOND_NS, count);
            let interval = crate::results::Interval {
                t_ns,
                length_ns: SECOND_NS,
                measured: true,
                read_operations,
                ..Default::default()
            };
            builder.apply(&RunEvent::Interval { cell: 0, interval });
        }
        let seconds = parts.into_iter().map(CompactHistogram::from).collect();
        let slot = SlotResult { seconds, elapsed_ns: SECONDS * SECOND_NS, ..slot(0, all) };
        builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        judged(&mut builder, Some(Window { from_ns: 10 * SECOND_NS, to_ns: SECONDS * SECOND_NS }));
        let cell = builder.finish().cells.remove(0);
        let read = cell.read.unwrap();
        if has_own_end {
            assert_eq!(read.histogram.count(), 99_000, "all that was asked for is told");
            continue;
        }
        let mean_ns = read.histogram.mean_ns().unwrap();
        assert!((read.iops - 300.0).abs() < 1e-9 && (mean_ns - 26e6).abs() < 1.0, "{stretch}: {mean_ns}");
        assert_eq!(read.histogram.count_above(1_000_000), read.histogram.count(), "{stretch}");
        if stretch == 1 {
            assert!(read.latency_interval("p50").unwrap().low_ns > 25_000_000);
        }
    }
}

#[test]
fn an_open_loop_exposes_nothing_because_it_hides_nothing() {
    let rate = Some("1000".parse::<Rate>().unwrap());
    let mut builder = builder(&[Workload { rate, ..workload(ReadWrite::RandRead) }], 6);
    builder.apply(&RunEvent::SlotFinished(Box::new(slot(0, latencies(64)))));
    assert_eq!(builder.finish().cells[0].exposed, []);
}

#[test]
fn what_one_slot_does_not_know_of_the_processors_is_not_known_of_the_cell() {
    let cost = |slots: &[Option<u64>]| {
        let mut builder = builder(&[workload(ReadWrite::RandRead)], 2);
        for (round, steal_ns) in (0..).zip(slots) {
            let cpu = CpuCost { user_ns: 50, throttled_ns: Some(3), steal_ns: *steal_ns, ..CpuCost::default() };
            let slot = SlotResult { cpu, cpu_operations: 10, ..slot(round, latencies(0)) };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
        builder.finish().cells.remove(0).cpu
    };
    let both = cost(&[Some(4), Some(5)]);
    assert_eq!((both.operations, both.steal_ns, both.throttled_ns), (20, Some(9), Some(6)));
    assert_eq!(both.user_ns_per_operation, Some(5.0));
    assert_eq!(cost(&[Some(4)]).steal_ns, Some(4));
    assert_eq!((cost(&[Some(4), None]).steal_ns, cost(&[None, Some(4)]).steal_ns), (None, None));
}

#[test]
fn slots_read_back_one_after_the_other() {
    let mut builder = builder(&[workload(ReadWrite::RandWrite)], 2);
    for (round, read_back_ns) in [(0, 7), (1, 9)] {
        // The first is found by both.
        let examples = (0..15).map(|block| format!("lost write at offset {}", block * read_back_ns)).collect();
        let verification =
            Some(VerificationResult { mismatches: 15, examples, read_back_ns, ..VerificationResult::default() });
        let slot = SlotResult { verification, ..slot(round, latencies(0)) };
        builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
    }
    let sum = builder.finish().cells.remove(0).verification.unwrap();
    assert_eq!((sum.read_back_ns, sum.mismatches, sum.examples.len()), (16, 30, 20));
    assert_eq!(sum.examples.iter().filter(|example| example.ends_with(" 0")).count(), 1);
}

#[test]
fn what_other_programs_tell_is_about_whole_slots() {
    let mut builder = builder(&[workload(ReadWrite::RandRead)], 1);
    let second = |index: u64| crate::results::Interval {
        t_ns: index * SECOND_NS,
        length_ns: SECOND_NS,
        measured: true,
        read_operations: 1000,
        read_bytes: 1000 * 4096,
        ..Default::default()
    };
    let slot = SlotResult { worker_operations: vec![3000, 1000], ..slot(0, latencies(0)) };
    (0..4).for_each(|index| builder.apply(&RunEvent::Interval { cell: 0, interval: second(index) }));
    builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
    judged(&mut builder, Some(Window { from_ns: SECOND_NS, to_ns: 4 * SECOND_NS }));
    let record = builder.finish();
    let numbers = |record: &Record| {
        let read = record.cells[0].read.clone().unwrap();
        (read.operations, read.bytes, read.elapsed_ns, read.iops)
    };
    assert_eq!(numbers(&record), (3000, 3000 * 4096, 3 * SECOND_NS, 1000.0));
    assert_eq!(numbers(&record.of_whole_slots()), (4000, 4000 * 4096, 4 * SECOND_NS, 1000.0));
    assert_eq!(record.of_whole_slots().of_whole_slots(), record.of_whole_slots());
    assert_eq!(record.cells[0].worker_iops(), [750.0, 250.0], "they add up to the rate that is told");
}
