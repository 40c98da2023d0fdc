//! The hot loop on a scripted storage and a virtual clock: exact, and in no time.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use std::{
    io,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, channel, sync_channel},
    },
};

use plimsoll_io::{
    clock::{Clock, VirtualClock},
    engine::{
        Completion, Engine, Tag,
        memory::{ErrorScript, MemoryEngine, MemoryScript, Stall},
    },
};
use plimsoll_measure::latency::{LatencyHistogram, exposure::exposed_share};
use plimsoll_record::{results::OpenLoopResult, verification::VerificationResult};
use plimsoll_run::{
    checker::Checker,
    stops::Stops,
    tally::{IntervalTally, SlotTally},
    timing::{Second, Timing},
    worker::{Arrivals, Assignment, CourseOf, JobEnd, Wires, Worker},
};
use plimsoll_workload::{
    content::ContentSource,
    operation::Operation,
    operation_stream::OperationStream,
    pacer::Pacer,
    plan::{BlockPlan, Plan},
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    verification::GenerationMap,
    workload::Workload,
};

mod ending;
mod verifying;

const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;

fn plan(toml: &str) -> BlockPlan {
    plan_on(TargetKind::File, toml)
}

fn plan_on(kind: TargetKind, toml: &str) -> BlockPlan {
    let workload: Workload = toml::from_str(toml).unwrap();
    let target = TargetFacts {
        name: "memory".into(),
        kind,
        size_bytes: (kind == TargetKind::File).then_some(64 << 20),
        free_bytes: None,
        direct_alignment_bytes: Some(512),
    };
    Plan::resolve(&[target], &[workload], &plimsoll_workload::certainty::Certainty::of(Effort::Quick), 42)
        .unwrap()
        .cells
        .remove(0)
        .work
        .into_blocks()
        .unwrap()
}

type HandedIn = (usize, Second, Box<IntervalTally>);

struct Done {
    tally: SlotTally,
    ended_ns: u64,
    seconds: Vec<HandedIn>,
    verification: Option<VerificationResult>,
    most_at_once: u32,
}

/// An engine that notes how many operations it was given until they went on to the kernel, and that may oversleep.
struct Counting<'a> {
    engine: MemoryEngine,
    queued: u32,
    most: u32,
    clock: VirtualClock,
    /// From when on it does once, and how long.
    oversleeps: Option<Stall>,
    told: &'a [Told],
    stops: Stops<'a>,
}

impl Engine for Counting<'_> {
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.engine.buffer(tag)
    }

    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        self.queued += 1;
        self.most = self.most.max(self.queued);
        self.engine.submit(tag, operation)
    }

    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.queued = 0;
        self.engine.wait(at_least, deadline_ns, completions)?;
        let is_idle = completions.is_empty();
        if let Some(late) = self.oversleeps.take_if(|late| is_idle && self.clock.now_ns() >= late.from_ns) {
            self.clock.advance_to(self.clock.now_ns() + late.length_ns);
        }
        let now = self.clock.now_ns();
        for told in self.told {
            if now >= told.at_ns {
                let told = if told.stops { self.stops.asked } else { self.stops.over };
                told.store(true, Ordering::Relaxed);
            }
            if now >= told.another_sees_ns {
                self.stops.see(told.another_sees_ns);
            }
        }
        Ok(())
    }
}

#[test]
fn no_more_operations_are_handed_over_at_once_than_was_asked_for() {
    let most = |submit: &str| {
        let plan = plan(&format!("rw = 'read'\nqueue_depth = 8\noperations = 100\n{submit}"));
        run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() }).most_at_once
    };
    assert_eq!((most(""), most("submit = 1"), most("submit = 3")), (8, 1, 3));
}

fn run(plan: &BlockPlan, script: MemoryScript) -> Done {
    run_with(plan, script, None, &[])
}

/// A worker is told to end.
#[derive(Clone, Copy)]
struct Told {
    at_ns: u64,
    /// Whether to stop, or because its phase is over.
    stops: bool,
    /// When another has seen that.
    another_sees_ns: u64,
}

/// It may oversleep, and be told to end.
fn run_with(plan: &BlockPlan, script: MemoryScript, oversleeps: Option<Stall>, told: &[Told]) -> Done {
    let (stop, halt, over) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let seen_ns = AtomicU64::new(u64::MAX);
    let stops = Stops { asked: &stop, halt: &halt, over: &over, seen_ns: &seen_ns };
    let clock = VirtualClock::at(0);
    let engine = MemoryEngine::scripted(plan.queue_depth, plan.block_size_bytes_max, clock.clone(), script).unwrap();
    let engine = Counting { engine, queued: 0, most: 0, clock: clock.clone(), oversleeps, told, stops };
    let from_ns = MILLISECOND + plan.ramp_ns;
    let timing = Timing { start_ns: MILLISECOND, from_ns, until_ns: plan.slot_ns.map(|slot| from_ns + slot) };
    let generations = GenerationMap::new(plan.seed, plan.job_region(0), plan.block_size_bytes_max);
    let job_end = JobEnd::of(1);
    let assignment = Assignment {
        plan,
        tags: plan.queue_depth,
        stream: OperationStream::new(plan, 0, 1),
        space: plan.file_space(0),
        arrivals: Pacer::new(&plan.pacing, 1).map(Arrivals::Own),
        course: CourseOf::new(plan),
        job_end: &job_end,
        content: ContentSource::new(&plan.payload, 1),
        checker: plan.verify.then(|| Checker::new(plan, 0, &generations, false)),
        operations_max: plan.operations,
        bytes_max: plan.amount_bytes,
        cold: None,
        timing,
    };
    let (full, seconds): (_, Receiver<HandedIn>) = sync_channel(10_000);
    let (_returned, empty) = channel();
    let wires = Wires { stops, full, empty, index: 0 };
    let mut outcome = Worker::new(engine, clock.clone(), assignment, wires).run().unwrap();
    let read_on = AtomicBool::new(false);
    let stops = Stops { halt: &read_on, ..stops };
    let read_back = |checker: Checker| checker.read_back(&mut outcome.engine, &clock, plan.queue_depth, stops).unwrap();
    let verification = outcome.checker.map(read_back);
    let most_at_once = outcome.engine.most;
    Done {
        most_at_once,
        tally: outcome.tally,
        ended_ns: outcome.ended_ns,
        seconds: seconds.try_iter().collect(),
        verification,
    }
}

fn quantile(histogram: &LatencyHistogram, quantile: f64) -> u64 {
    histogram.quantile_ns(quantile).unwrap()
}

#[test]
fn a_constant_depth_is_kept_and_every_operation_is_timed() {
    let plan = plan("rw = 'randread'\nqueue_depth = 8\nduration = '10s'\nramp = '1s'");
    let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
    // Eight in flight, a millisecond each, for ten seconds; the batch on the edge may fall on either side.
    assert!(done.tally.read.operations.abs_diff(80_000) <= 8, "{}", done.tally.read.operations);
    assert_eq!(done.tally.read.histogram.min_ns(), Some(MILLISECOND));
    assert_eq!(done.tally.read.histogram.max_ns(), Some(MILLISECOND));
    assert_eq!(done.tally.read.bytes, done.tally.read.operations * 4096);
}

#[test]
fn seconds_add_up_to_the_slot_and_ramps_are_told_apart() {
    let plan = plan("rw = 'randread'\nqueue_depth = 4\nduration = '3500ms'\nramp = '1500ms'");
    let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
    let lengths: Vec<_> = done
        .seconds
        .iter()
        .map(|(_, second, _)| (second.measured, (second.until_ns - second.from_ns) / MILLISECOND))
        .collect();
    assert_eq!(lengths, [(false, 1000), (false, 500), (true, 1000), (true, 1000), (true, 1000), (true, 500)]);
    let measured: u64 =
        done.seconds.iter().filter(|(_, second, _)| second.measured).map(|(.., tally)| tally.read_operations).sum();
    assert_eq!(measured, done.tally.read.operations);
    for (_, _, tally) in &done.seconds {
        assert_eq!(tally.ticks.iter().sum::<u64>(), tally.read_operations);
        let latency_ns = tally.read_latency_sum_ns.checked_div(tally.read_operations);
        assert_eq!((latency_ns, tally.write_latency_sum_ns), (Some(MILLISECOND), 0));
    }
}

#[test]
fn a_stall_shows_in_an_open_loop_and_hides_in_a_closed_one() {
    let stall = Stall { from_ns: 5 * SECOND, length_ns: SECOND };
    let script = MemoryScript { latency_ns: 100_000, stalls: vec![stall], ..MemoryScript::default() };
    let open = run(&plan("rw = 'randread'\nrate = 1000\nduration = '10s'\nramp = '0s'"), script.clone());
    let p95 = quantile(&open.tally.read.histogram, 0.95);
    assert!(p95 >= 400 * MILLISECOND, "p95 of the open loop is {p95} ns");
    let OpenLoopResult { late, overslept, .. } = open.tally.open_loop;
    assert!(late > 900 && overslept == 0, "it was the storage: {:?}", open.tally.open_loop);
    assert!(quantile(&open.tally.service, 0.95) < MILLISECOND, "issued late, operations themselves were quick");
    let closed = run(&plan("rw = 'randread'\nthink_time = '900us'\nduration = '10s'\nramp = '0s'"), script);
    assert!(quantile(&closed.tally.read.histogram, 0.95) < MILLISECOND);
    assert!(closed.tally.read.histogram.max_ns().unwrap() >= SECOND);
}

#[test]
fn who_oversleeps_does_not_blame_the_storage() {
    // With many slots it happens while operations are handed over.
    for (depth, latency_ns, waited) in [(1, 100_000, 0..=4), (64, 3 * MILLISECOND, 0..=0)] {
        let plan = plan(&format!("rw = 'randread'\nqueue_depth = {depth}\nrate = 1000\nduration = '10s'\nramp = '0s'"));
        let script = || MemoryScript { latency_ns, ..MemoryScript::default() };
        let late = Stall { from_ns: 5 * SECOND, length_ns: 20 * MILLISECOND };
        let OpenLoopResult { late, overslept, never_issued, .. } =
            run_with(&plan, script(), Some(late), &[]).tally.open_loop;
        assert!((10..=25).contains(&late) && waited.contains(&(late - overslept)), "{late} {overslept}");
        assert_eq!((never_issued, run(&plan, script()).tally.open_loop.late), (0, 0));
    }
}

#[test]
fn what_waits_for_a_pass_that_verifies_has_not_overslept() {
    let verified = "rw = 'randwrite'\nsize = '16KiB'\nverify = true\nrate = 8000\nqueue_depth = 16";
    let plan = plan(&format!("{verified}\nduration = '2s'\nramp = '0s'"));
    let script = MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() };
    let OpenLoopResult { late, overslept, .. } = run(&plan, script).tally.open_loop;
    assert!(late > 1000 && overslept == 0, "{late} {overslept}");
}

#[test]
fn a_closed_loop_exposes_as_much_as_an_open_one_meets() {
    let stall = Stall { from_ns: 5 * SECOND, length_ns: SECOND };
    let script = MemoryScript { latency_ns: 100_000, stalls: vec![stall], ..MemoryScript::default() };
    let limit_ns = 100 * MILLISECOND;
    let share = |histogram: &LatencyHistogram| histogram.count_above(limit_ns) as f64 / histogram.count() as f64;
    let closed = run(&plan("rw = 'randread'\nduration = '10s'\nramp = '0s'"), script.clone());
    let exposed = exposed_share(&[&closed.tally.read.histogram], limit_ns);
    assert!(share(&closed.tally.read.histogram) < 1e-4);
    // A request that comes in the first nine tenths of the second waits for longer than a tenth of one.
    assert!((exposed - 0.09).abs() < 1e-3, "{exposed}");
    // Depth enough to hold all that comes meanwhile: what it meets is the storage.
    let open = run(&plan("rw = 'randread'\nrate = 1000\nqueue_depth = 2000\nduration = '10s'\nramp = '0s'"), script);
    assert!((share(&open.tally.read.histogram) - exposed).abs() < 0.005, "{}", share(&open.tally.read.histogram));
}

/// A storage that stands still from so many seconds on, for five seconds.
fn hanging(from_s: u64) -> MemoryScript {
    let stall = Stall { from_ns: from_s * SECOND, length_ns: 5 * SECOND };
    MemoryScript { latency_ns: MILLISECOND, stalls: vec![stall], ..MemoryScript::default() }
}

/// The measured seconds, counted from 0, in which operations were in flight all the time and none completed.
fn stalled(done: &Done) -> Vec<usize> {
    let stalled = |(_, second, tally): &HandedIn| {
        let before = if tally.is_stalled() { tally.alike_before } else { 0 };
        second.index - before..second.index + usize::from(tally.is_stalled())
    };
    done.seconds.iter().flat_map(stalled).collect()
}

/// How long the seconds are together.
fn measured_ns(done: &Done) -> u64 {
    let length_ns =
        |(_, second, tally): &HandedIn| second.until_ns - second.from_ns + tally.alike_before as u64 * SECOND;
    done.seconds.iter().map(length_ns).sum()
}

#[test]
fn a_storage_that_hangs_until_the_end_of_a_closed_loop_does_not_look_healthy() {
    let done = run(&plan("rw = 'randread'\nqueue_depth = 4\nduration = '10s'\nramp = '0s'"), hanging(8));
    let histogram = &done.tally.read.histogram;
    // The four that hung completed long after the window: rates do not count them, latencies do.
    assert_eq!(histogram.count(), done.tally.read.operations + 4);
    assert!(histogram.max_ns().unwrap() >= 5 * SECOND, "{histogram:?}");
    assert_eq!(stalled(&done), [8, 9]);
    assert_eq!(done.ended_ns, MILLISECOND + 10 * SECOND);
}

#[test]
fn hours_that_an_operation_hangs_are_handed_in_at_once() {
    let stall = Stall { from_ns: 3 * SECOND, length_ns: 7200 * SECOND };
    let script = MemoryScript { latency_ns: MILLISECOND, stalls: vec![stall], ..MemoryScript::default() };
    let plan = plan("rw = 'randread'\nqueue_depth = 4\nduration = '7210s'\nramp = '0s'");
    let done = run_with(&plan, script, Some(stall), &[]);
    assert!(done.seconds.len() < 20, "{}", done.seconds.len());
    assert!(stalled(&done).into_iter().eq(3..7203));
    assert_eq!(measured_ns(&done), 7210 * SECOND);
}

#[test]
fn a_storage_that_hangs_until_the_end_of_an_open_loop_does_not_look_healthy() {
    let done = run(&plan("rw = 'randread'\nrate = 100\nduration = '10s'\nramp = '0s'"), hanging(8));
    let (histogram, open_loop) = (&done.tally.read.histogram, &done.tally.open_loop);
    // A fifth was due in the two seconds of the stall, and only one of these was issued.
    assert!(open_loop.never_issued.abs_diff(199) <= 1, "{open_loop:?}");
    assert_eq!((open_loop.intended, histogram.count()), (1000, 1000));
    let p90 = quantile(histogram, 0.9);
    assert!(p90.abs_diff(SECOND) < 20 * MILLISECOND, "{p90}");
    // The first operation to hang was not yet in flight when the eighth second began.
    assert_eq!(stalled(&done), [9]);
}

#[test]
fn a_storage_that_has_nothing_to_do_is_not_called_stalled() {
    for text in ["rw = 'randread'\nthink_time = '3s'", "rw = 'randread'\nrate = 0.4"] {
        let done = run(&plan(&format!("{text}\nduration = '10s'\nramp = '0s'")), hanging(100));
        assert!(done.seconds.iter().any(|(_, _, tally)| tally.read_operations == 0));
        assert_eq!(stalled(&done), [] as [usize; 0]);
    }
}

#[test]
fn an_amount_that_the_duration_cuts_short_is_measured_over_the_whole_duration() {
    let text = "rw = 'randread'\noperations = 9000\nduration = '10s'";
    let cut_short = run(&plan(text), hanging(8));
    assert!(cut_short.tally.read.operations < 9000);
    assert_eq!(cut_short.ended_ns, MILLISECOND + 10 * SECOND);
    let done = run(&plan(text), hanging(100));
    assert_eq!(done.tally.read.operations, 9000);
    assert_eq!(done.ended_ns, MILLISECOND + 9 * SECOND);
}

#[test]
fn a_ramp_does_not_eat_up_the_amount() {
    let script = MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() };
    for amount in ["operations = 1000", "io_size = '4000KiB'"] {
        let done = run(&plan(&format!("rw = 'randread'\n{amount}\nqueue_depth = 8\nramp = '1s'")), script.clone());
        assert_eq!((done.tally.read.operations, done.tally.completed()), (1000, 1000 + 8 * 1000));
        assert_eq!(done.tally.read.histogram.count(), 1000);
        assert_eq!(done.ended_ns, 1_126 * MILLISECOND);
    }
}

#[test]
fn what_the_final_sync_waits_for_is_counted_with_the_time_it_takes() {
    let script = MemoryScript { latency_ns: 10 * MILLISECOND, ..MemoryScript::default() };
    let text = "rw = 'randwrite'\nqueue_depth = 8\nduration = '1005ms'\nramp = '0s'\nend_fsync = true";
    let done = run(&plan(text), script);
    assert_eq!(done.tally.write.operations, 8 * 101);
    assert_eq!((done.tally.sync.operations, done.tally.completed()), (1, 8 * 101 + 1));
    assert_eq!(done.tally.last_completion_ns, (1 + 101 * 10 + 10) * MILLISECOND);
    // One that takes long is no storage that stands still.
    let stalls = vec![Stall { from_ns: SECOND, length_ns: 5 * SECOND }];
    let script = MemoryScript { latency_ns: 10 * MILLISECOND, stalls, ..MemoryScript::default() };
    let done = run(&plan(text), script);
    assert!(done.seconds.len() >= 6 && stalled(&done).is_empty(), "{:?}", stalled(&done));
}

#[test]
fn open_loops_keep_the_asked_rate() {
    for arrival in ["fixed", "poisson"] {
        for rate in [1_000_u64, 100_000, 500_000] {
            let seconds = (200_000 / rate).max(1);
            let text = format!(
                "rw = 'randread'\nqueue_depth = 64\nrate = {rate}\narrival = '{arrival}'\nduration = '{seconds}s'\nramp = '0s'"
            );
            let done = run(&plan(&text), MemoryScript { latency_ns: 10_000, ..MemoryScript::default() });
            let achieved = done.tally.read.operations as f64 / seconds as f64;
            // 200,000 or more Poisson arrivals spread by a standard deviation of at most 0.23 %.
            let tolerance = if arrival == "fixed" { 0.001 } else { 0.005 };
            assert!((achieved / rate as f64 - 1.0).abs() < tolerance, "{arrival} {rate}: {achieved}");
            assert_eq!(done.tally.open_loop.never_issued, 0);
        }
    }
}

#[test]
fn operations_that_are_due_but_never_issued_are_counted() {
    let plan = plan("rw = 'randread'\nrate = 1000\nduration = '2s'\nramp = '0s'");
    // One at a time, ten milliseconds each: a tenth of the rate.
    let done = run(&plan, MemoryScript { latency_ns: 10 * MILLISECOND, ..MemoryScript::default() });
    let open_loop = &done.tally.open_loop;
    assert_eq!(open_loop.intended, 2000);
    assert!(open_loop.never_issued.abs_diff(1800) <= 2, "{open_loop:?}");
    // What was due in the window has a latency: the last that was issued, although it completed after the window, and
    // what was not issued.
    assert_eq!(done.tally.read.histogram.count(), 2000);
}

#[test]
fn amounts_end_a_slot_exactly() {
    let done = run(
        &plan("rw = 'randwrite'\nqueue_depth = 8\noperations = 1003"),
        MemoryScript { latency_ns: 10_000, ..MemoryScript::default() },
    );
    assert_eq!((done.tally.write.operations, done.tally.read.operations), (1003, 0));
    let done = run(
        &plan("rw = 'write'\nblock_size = '64k'\nqueue_depth = 4\nloops = 2"),
        MemoryScript { latency_ns: 10_000, ..MemoryScript::default() },
    );
    assert_eq!(done.tally.write.bytes, 2 * (64 << 20));
    let done = run(
        &plan("rw = 'randread'\ndistribution = 'exact-once'\nsize = '10KiB'\nloops = 3"),
        MemoryScript { latency_ns: 10_000, ..MemoryScript::default() },
    );
    assert_eq!(done.tally.read.operations, 6, "half a block is none");
}

#[test]
fn what_a_ramp_leaves_in_flight_is_no_part_of_an_amount() {
    let script = MemoryScript { latency_ns: 7 * MILLISECOND, ..MemoryScript::default() };
    for text in
        ["operations = 10", "io_size = '40KiB'", "operations = 10\nduration = '1s'", "operations = 10\nrate = 1000"]
    {
        let done = run(&plan(&format!("rw = 'randread'\nqueue_depth = 32\nramp = '300ms'\n{text}")), script.clone());
        assert_eq!((done.tally.read.operations, done.tally.read.histogram.count()), (10, 10), "{text}");
        let measured = done.seconds.iter().filter(|(_, second, _)| second.measured);
        assert_eq!(measured.map(|(.., tally)| tally.read_operations).sum::<u64>(), 10, "{text}");
    }
}

#[test]
fn syncs_follow_writes_as_asked() {
    let done = run(
        &plan("rw = 'randwrite'\nfdatasync = 4\noperations = 400\nend_fsync = true"),
        MemoryScript { latency_ns: 10_000, ..MemoryScript::default() },
    );
    // A hundred groups of four; the last one's sync would come before the next write, and the final sync takes its
    // place.
    assert_eq!(done.tally.write.operations, 400);
    assert_eq!(done.tally.sync.operations, 100);
    // Both kinds have their turns: after 3, 4, 6, 8, 9 and 12 writes, where one will do.
    let done = run(
        &plan("rw = 'randwrite'\nfsync = 3\nfdatasync = 4\noperations = 13"),
        MemoryScript { latency_ns: 10_000, ..MemoryScript::default() },
    );
    assert_eq!((done.tally.write.operations, done.tally.sync.operations), (13, 6));
}

#[test]
fn thinking_lowers_the_rate_as_defined() {
    let plan = plan("rw = 'randread'\nqueue_depth = 4\nthink_time = '9ms/4'\nduration = '10s'\nramp = '0s'");
    let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
    // Four operations, then nine milliseconds: four in every ten milliseconds.
    assert!(done.tally.read.operations.abs_diff(4000) <= 4, "{}", done.tally.read.operations);
    for (depth, expected) in [(3, 3636), (32, 4000)] {
        // A queue of three takes two milliseconds for four operations; a deeper one takes in no more than four.
        let plan = BlockPlan { queue_depth: depth, ..plan.clone() };
        let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
        assert!(done.tally.read.operations.abs_diff(expected) <= 4, "{depth}: {}", done.tally.read.operations);
    }
}

#[test]
fn an_arrival_past_the_end_of_time_never_comes() {
    let plan = plan("rw = 'randread'\nrate = 0.00000000001\nduration = '1s'\nramp = '0s'");
    let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
    let open_loop = &done.tally.open_loop;
    assert_eq!((open_loop.intended, open_loop.never_issued), (done.tally.read.operations, 0));
    assert!(done.tally.read.operations <= 1 && done.ended_ns == SECOND + MILLISECOND, "{}", done.ended_ns);
}

#[test]
fn nobody_thinks_after_the_last_operation() {
    let plan = plan("rw = 'randread'\noperations = 8\nthink_time = '5s/8'\nramp = '0s'");
    let done = run(&plan, MemoryScript { latency_ns: MILLISECOND, ..MemoryScript::default() });
    assert_eq!((done.tally.read.operations, done.ended_ns, done.seconds.len()), (8, 9 * MILLISECOND, 1));
}

#[test]
fn an_error_ends_the_slot_unless_told_to_keep_going() {
    let script = MemoryScript {
        latency_ns: MILLISECOND,
        errors: Some(ErrorScript { every: 100, errno: 5 }),
        ..MemoryScript::default()
    };
    let ended = run(&plan("rw = 'randread'\noperations = 1000"), script.clone());
    assert_eq!((ended.tally.read.operations, ended.tally.errors.len()), (99, 1));
    let went_on = run(&plan("rw = 'randread'\noperations = 1000\nkeep_going = true"), script);
    assert_eq!((went_on.tally.read.operations, went_on.tally.errors[0].count), (990, 10));
    assert!(went_on.tally.errors[0].error.contains("Input/output error"), "{:?}", went_on.tally.errors);
    // The last one failed, and took its time as well.
    assert_eq!(went_on.ended_ns, 1001 * MILLISECOND);
}

#[test]
fn a_short_transfer_is_an_error() {
    let script = MemoryScript { latency_ns: MILLISECOND, short_every: Some(10), ..MemoryScript::default() };
    // Half of a large one is as long as a small one that ends with it.
    let sizes = "block_size = '4k/50:8k/50'\nqueue_depth = 8\noperations = 800\nkeep_going = true";
    let tally = run(&plan(&format!("rw = 'randread'\n{sizes}")), script).tally;
    let failed: u64 = tally.errors.iter().map(|error| error.count).sum();
    assert_eq!((tally.read.operations, tally.read.histogram.count(), failed), (720, 720, 80));
    assert!(tally.errors.iter().any(|error| error.error.contains("4096 of 8192")), "{:?}", tally.errors);
}

#[test]
fn an_overloaded_open_loop_counts_what_completed_in_its_window() {
    // The ramp leaves a backlog, which is served inside the window and belongs to its rate.
    let plan = plan("rw = 'randread'\nrate = 1000\nduration = '2s'\nramp = '1s'");
    let done = run(&plan, MemoryScript { latency_ns: 10 * MILLISECOND, ..MemoryScript::default() });
    assert!(done.tally.read.operations.abs_diff(200) <= 1, "{}", done.tally.read.operations);
    let measured = done.seconds.iter().filter(|(_, second, _)| second.measured);
    assert_eq!(measured.map(|(.., tally)| tally.read_operations).sum::<u64>(), done.tally.read.operations);
}
