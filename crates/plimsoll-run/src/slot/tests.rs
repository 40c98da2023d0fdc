//! What a visit promises whatever happens around it.

use std::{fs::OpenOptions, mem, os::fd::AsFd};

use plimsoll_io::clock::{Precision, sleep_until_ns};
use plimsoll_workload::{operation::OperationKind, operation_stream::OperationStream};

use super::*;
use crate::test_plans::plan;
use crate::worker::Arrivals;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;

/// Visits a cell of the memory engine, which touches no file.
fn visit_memory(plan: &BlockPlan, stop: &AtomicBool, on_interval: &mut dyn FnMut(Interval)) -> SlotOutcome {
    visit_as(EngineKind::Memory, plan, stop, on_interval)
}

/// The same on as many threads as another engine would have.
fn visit_as(
    engine: EngineKind,
    plan: &BlockPlan,
    stop: &AtomicBool,
    on_interval: &mut dyn FnMut(Interval),
) -> SlotOutcome {
    let file = tempfile::tempfile().unwrap();
    let in_memory = true;
    visit(&SlotSetup { in_memory, ..setup(engine, plan, &[file.as_fd()], stop) }, on_interval).unwrap()
}

fn setup<'a>(
    engine: EngineKind,
    plan: &'a BlockPlan,
    files: &'a [BorrowedFd<'a>],
    stop: &'a AtomicBool,
) -> SlotSetup<'a> {
    SlotSetup {
        first_worker: 0,
        plan,
        engine,
        in_memory: false,
        devices: &[],
        files,
        names: None,
        round: 0,
        not_before_ns: 0,
        delay_ns: 0,
        ramp_ns: plan.ramp_ns,
        measured_ns: plan.slot_ns,
        seed: 1,
        generations: &[],
        laid_out: false,
        keeps_seconds: false,
        run_started_ns: 0,
        stop,
        over: None,
    }
}

#[test]
fn workers_see_an_interruption_while_whoever_hears_of_intervals_is_busy() {
    let plan = plan("rw = 'randread'\njobs = 2\nduration = '60s'\nramp = '1ms'");
    let stop = AtomicBool::new(false);
    let outcome = visit_memory(&plan, &stop, &mut |_| {
        if !stop.swap(true, Ordering::Relaxed) {
            sleep_until_ns(MonotonicClock.now_ns() + 500 * MILLISECOND, Precision::Sleep);
        }
    });
    assert!(outcome.elapsed_ns < 400 * MILLISECOND, "{}", outcome.elapsed_ns);
}

#[test]
fn an_amount_of_bytes_is_kept_over_all_jobs() {
    for (jobs, io_size, bytes) in
        [(3, "1MiB", 1 << 20), (7, "64KiB", 64 << 10), (64, "40KiB", 40 << 10), (3, "9KiB", 12 << 10)]
    {
        let plan = plan(&format!("rw = 'randread'\nqueue_depth = 4\njobs = {jobs}\nio_size = '{io_size}'"));
        let outcome = visit_memory(&plan, &AtomicBool::new(false), &mut |_| {});
        assert_eq!(outcome.tally.read.bytes, bytes, "{io_size} in {jobs} jobs");
    }
}

#[test]
fn what_the_storage_did_not_take_from_the_page_cache_is_a_failed_sync_and_read_back_all_the_same() {
    // It takes all writes, knows no sync, and has nothing but zeros.
    let zeros = OpenOptions::new().read(true).write(true).open("/dev/zero").unwrap();
    let stop = AtomicBool::new(false);
    let failed = |buffered: bool| {
        let text = "rw = 'write'\nverify = true\nsize = '64KiB'\nloops = 1\nramp = '0s'";
        let plan = plan(&format!("{text}\nbuffered = {buffered}"));
        let files = [zeros.as_fd()];
        let generations = [GenerationMap::new(1, plan.job_region(0), plan.block_size_bytes_max)];
        let setup = SlotSetup { generations: &generations, ..setup(EngineKind::Psync, &plan, &files, &stop) };
        let SlotOutcome { tally, verification, .. } = visit(&setup, &mut |_| {}).unwrap();
        assert_eq!(verification.unwrap().mismatches, 16);
        tally.errors.into_iter().map(|error| (error.operation, error.count)).collect::<Vec<_>>()
    };
    assert_eq!(failed(true), [("sync".to_owned(), 1)]);
    assert_eq!(failed(false), []);
}

#[test]
fn a_duration_past_the_end_of_time_leaves_it_to_the_amount() {
    let plan = plan("rw = 'randread'\nqueue_depth = 4\noperations = 10\nduration = '18446744073s'\nramp = '0s'");
    let outcome = visit_memory(&plan, &AtomicBool::new(false), &mut |_| {});
    assert_eq!((outcome.tally.read.operations, outcome.tally.read.outside_operations), (10, 0));
}

#[test]
fn lanes_share_what_their_job_would_do_alone() {
    let plan = plan("rw = 'read'\njobs = 3\nqueue_depth = 4\nsize = '68KiB'\nloops = 1");
    let crew = Crew::new(&plan, EngineKind::Psync, 1);
    let of = |job| (0..4).map(|lane| crew.share(17, job, lane)).sum::<u64>() * 4096;
    assert_eq!([0, 1, 2].map(of), [0, 1, 2].map(|job| plan.job_region(job).length));
}

#[test]
fn lanes_visit_every_block_once_also_when_their_operations_have_several_sizes() {
    for rw in ["rw = 'randread'\ndistribution = 'exact-once'", "rw = 'read'"] {
        let plan = plan(&format!(
            "{rw}\nblock_size = '4k/50:64k/50'\njobs = 2\nqueue_depth = 16\nsize = '8M'\nloops = 1\nramp = '0s'"
        ));
        let crew = Crew::new(&plan, EngineKind::Psync, 1);
        let mut visits = vec![0; 2048];
        for (job, lane) in (0..2).flat_map(|job| (0..16).map(move |lane| (job, lane))) {
            let mut stream = OperationStream::lane(&plan, job, lane, 16, 1);
            let mut left = crew.bytes_max(job, lane).unwrap();
            while left > 0 {
                let operation = stream.next_operation();
                let length = u64::from(operation.length).min(left);
                let from = operation.offset / 4096;
                (from..from + length / 4096).for_each(|block| visits[block as usize] += 1);
                left -= length;
            }
        }
        assert!(visits.iter().all(|visits| *visits == 1), "{rw}: {visits:?}");
    }
}

#[test]
fn whichever_thread_is_free_takes_the_next_arrival_of_its_job() {
    let plan = plan("rw = 'randread'\nrate = 1000\nqueue_depth = 2");
    let crew = Crew::new(&plan, EngineKind::Psync, 1);
    let [mut slow, mut quick] = [(); 2].map(|()| crew.arrivals(0).unwrap());
    assert_eq!(slow.next_intended_ns(4096), 0);
    assert_eq!([(); 3].map(|()| quick.next_intended_ns(4096) / 1_000_000), [1, 2, 3]);
    assert_eq!(slow.next_intended_ns(4096) / 1_000_000, 4);
    let alone = Crew::new(&plan, EngineKind::Memory, 1);
    assert!(matches!(alone.arrivals(0), Some(Arrivals::Own(_))), "no lock where nobody shares");
}

#[test]
fn threads_sync_and_think_as_often_as_one_that_queues() {
    let rest = "operations = 16\nramp = '0s'";
    let of = |text: &str| plan(&format!("rw = 'randwrite'\n{text}\n{rest}"));
    for (text, syncs, pauses_ns) in [
        ("queue_depth = 16\nfsync = 1", 15, 0),
        ("queue_depth = 5\nfdatasync = 4", 3, 0),
        ("queue_depth = 16\nthink_time = '20ms/4'", 0, 60 * MILLISECOND),
        ("queue_depth = 8\nthink_time = '20ms/4'\nfsync = 3\nend_fsync = true", 5 + 1, 60 * MILLISECOND),
        ("queue_depth = 8\nend_fsync = true", 1, 0),
        ("queue_depth = 4\njobs = 3\nend_fsync = true", 3, 0),
    ] {
        for engine in [EngineKind::Memory, EngineKind::Psync] {
            let outcome = visit_as(engine, &of(text), &AtomicBool::new(false), &mut |_| {});
            assert_eq!(outcome.tally.write.operations, 16, "{engine:?} {text}");
            assert_eq!(outcome.tally.sync.operations, syncs, "{engine:?} {text}");
            assert!(outcome.elapsed_ns >= pauses_ns, "{engine:?} {text}: {}", outcome.elapsed_ns);
        }
    }
}

/// A gathering for two workers, and the intervals that it hands on.
struct Gathered {
    gathering: Gathering,
    timing: Timing,
    intervals: Vec<Interval>,
    /// Of the next second that is handed in.
    alike_before: usize,
}

impl Gathered {
    fn new() -> Self {
        let timing = Timing { start_ns: 0, from_ns: SECOND / 2, until_ns: Some(6 * SECOND) };
        let gathering = Gathering {
            run_started_ns: 0,
            round: 0,
            timing,
            progress: vec![0; 2],
            pending: VecDeque::new(),
            oldest: 0,
            upcoming: timing.first_second(),
            kept: Some(KeptSeconds::default()),
        };
        Self { gathering, timing, intervals: Vec::new(), alike_before: 0 }
    }

    /// A worker hands in its n-th second, in which so many reads completed.
    fn hand_in(&mut self, worker: usize, index: usize, reads: u64) {
        self.hand_in_and(false, worker, index, reads);
    }

    fn hand_in_and(&mut self, is_last: bool, worker: usize, index: usize, reads: u64) {
        let mut second = self.timing.first_second();
        while second.index < index {
            second = self.timing.next_second(second);
        }
        let mut tally = IntervalTally::new();
        tally.add(OperationKind::Read, 4096, MILLISECOND, reads, 0);
        tally.stalled = reads == 0;
        tally.is_last = is_last;
        tally.alike_before = mem::take(&mut self.alike_before);
        self.gathering.take(worker, second, &tally);
        let complete = self.gathering.progress.iter().copied().min().unwrap();
        self.gathering.hand_on(complete, &mut |interval| self.intervals.push(interval));
    }

    fn seen(&self) -> Vec<(u64, u64, u64)> {
        let row = |interval: &Interval| (interval.t_ns / MILLISECOND, interval.length_ns, interval.read_operations);
        self.intervals.iter().map(row).map(|(t, length, reads)| (t, length / MILLISECOND, reads)).collect()
    }
}

#[test]
fn seconds_that_workers_lost_leave_the_others_where_they_are() {
    let mut gathered = Gathered::new();
    for (worker, index, reads) in [(0, 0, 1), (1, 0, 1), (0, 1, 2), (1, 1, 2)] {
        gathered.hand_in(worker, index, reads);
    }
    // Both lose the next two seconds, when everything before has been handed on.
    for (worker, index, reads) in [(1, 4, 5), (0, 4, 5), (1, 5, 6), (0, 5, 0)] {
        gathered.hand_in(worker, index, reads);
    }
    assert_eq!(gathered.seen(), [(0, 500, 2), (500, 1000, 4), (3500, 1000, 10), (4500, 1000, 6)]);
}

#[test]
fn nobody_waits_for_a_worker_that_has_come_to_its_end() {
    let mut gathered = Gathered::new();
    gathered.hand_in(0, 0, 1);
    gathered.hand_in_and(true, 1, 0, 1);
    (1..4).for_each(|index| gathered.hand_in(0, index, 2));
    assert_eq!(gathered.seen(), [(0, 500, 2), (500, 1000, 2), (1500, 1000, 2), (2500, 1000, 2)]);
}

#[test]
fn the_latencies_of_reads_and_writes_of_all_workers_are_told_apart() {
    let mut gathered = Gathered::new();
    let second = gathered.timing.first_second();
    for (worker, read_ns, reads, write_ns) in [(0, 1000, 30, 50_000), (1, 3000, 10, 70_000)] {
        let mut tally = IntervalTally::new();
        tally.add(OperationKind::Read, 4096, read_ns, reads, 0);
        tally.add(OperationKind::Write, 4096, write_ns, 1, 0);
        tally.add(OperationKind::Sync, 0, SECOND, 1, 0);
        gathered.gathering.take(worker, second, &tally);
        // What is handed back is used for another second.
        tally.clear();
        assert_eq!((tally.read_latency_sum_ns, tally.write_latency_sum_ns), (0, 0));
    }
    let mut intervals = Vec::new();
    gathered.gathering.hand_on(1, &mut |interval| intervals.push(interval));
    assert_eq!((intervals[0].read_mean_ns, intervals[0].write_mean_ns), (Some(1500), Some(60_000)));
    gathered.hand_in(0, 1, 1);
    gathered.hand_in(1, 1, 1);
    assert_eq!((gathered.intervals[0].read_mean_ns, gathered.intervals[0].write_mean_ns), (Some(MILLISECOND), None));
}

#[test]
fn a_second_is_stalled_when_no_worker_had_anything_and_one_waited() {
    let mut gathered = Gathered::new();
    for (index, reads) in [[1, 1], [0, 1], [0, 0], [3, 0]].into_iter().enumerate() {
        gathered.hand_in(0, index, reads[0]);
        gathered.hand_in(1, index, reads[1]);
    }
    let stalled = gathered.intervals.iter().map(|interval| interval.stalled).collect::<Vec<_>>();
    assert_eq!(stalled, [false, false, true, false]);
    // The ramp is no part of what is kept; the stall is.
    let kept = gathered.gathering.kept.unwrap().into_stretches();
    assert_eq!(kept.iter().map(CompactHistogram::count).collect::<Vec<_>>(), [1, 0, 3]);
}

#[test]
fn seconds_in_which_a_worker_waited_come_with_the_one_after_them() {
    let mut gathered = Gathered::new();
    gathered.hand_in(1, 0, 1);
    gathered.hand_in_and(true, 0, 0, 1);
    assert_eq!(gathered.seen(), [(0, 500, 2)]);
    gathered.alike_before = 2;
    gathered.hand_in(1, 3, 0);
    assert_eq!(gathered.seen()[1..], [(500, 1000, 0), (1500, 1000, 0), (2500, 1000, 0)]);
    assert!(gathered.intervals[1..].iter().all(|interval| interval.stalled));
}

#[test]
fn a_second_in_which_no_time_passed_is_none() {
    let mut gathered = Gathered::new();
    let first = gathered.timing.first_second();
    for worker in 0..2 {
        let nothing = IntervalTally { is_last: true, ..IntervalTally::new() };
        gathered.gathering.take(worker, Second { until_ns: first.from_ns, ..first }, &nothing);
    }
    gathered.gathering.hand_on(usize::MAX, &mut |interval| panic!("{interval:?}"));
}

#[test]
fn whoever_waits_for_the_start_hears_that_the_phase_is_over() {
    let plan = plan("rw = 'randread'\nduration = '60s'");
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(true));
    let file = tempfile::tempfile().unwrap();
    let files = [file.as_fd()];
    let setup = setup(EngineKind::Memory, &plan, &files, &stop);
    let setup = SlotSetup { in_memory: true, delay_ns: 3600 * SECOND, over: Some(&over), ..setup };
    let started_ns = MonotonicClock.now_ns();
    let mut intervals = 0;
    let outcome = visit(&setup, &mut |_| intervals += 1).unwrap();
    assert!(MonotonicClock.now_ns() - started_ns < 60 * SECOND);
    assert_eq!((outcome.tally.completed(), outcome.elapsed_ns, intervals), (0, 0, 0));
}

#[test]
fn workers_read_back_at_the_same_time_and_name_no_more_wrong_blocks_than_one() {
    let report = |read_back_ns| {
        let examples = (0..15).map(|block| format!("lost write at offset {read_back_ns}{block}")).collect();
        let verification =
            VerificationResult { mismatches: 15, examples, read_back_ns, ..VerificationResult::default() };
        WorkerReport {
            tally: SlotTally::new(),
            processor: None,
            ended_ns: 0,
            verification: Some(verification),
            notes: Vec::new(),
        }
    };
    let timing = Timing { start_ns: 0, from_ns: 0, until_ns: None };
    let sum = add_up(timing, 1, vec![report(7), report(9)], None).verification.unwrap();
    assert_eq!((sum.read_back_ns, sum.mismatches, sum.examples.len()), (9, 30, 20));
}
