//! One visit to a cell: starts its workers together, gathers their seconds while they run, and adds up what they say.

use std::{
    collections::VecDeque,
    io,
    os::fd::BorrowedFd,
    sync::{
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use plimsoll_io::{
    block_device::BackingDevice,
    clock::{Clock, MonotonicClock, make_timers_precise},
    cpu,
    engine::{
        Engine, EngineSetup, io_uring::IoUringEngine, linux_aio::LinuxAioEngine, memory::MemoryEngine,
        psync::PsyncEngine,
    },
    page_cache,
    probe::{EngineKind, EngineUnavailable},
};
use plimsoll_measure::latency::{CompactHistogram, Percentile};
use plimsoll_record::{
    client::ClientActivity,
    results::{Interval, JobDirection, JobResult},
    verification::VerificationResult,
};
use plimsoll_workload::{
    limits,
    pinning::Pinning,
    plan::{BlockPlan, Pacing},
    verification::GenerationMap,
};
use thiserror::Error;

use self::crew::Crew;
use crate::{
    checker::Checker,
    client::{self, WorkerUse},
    gate::{Gate, Pass},
    kept_seconds::KeptSeconds,
    names::NamedFiles,
    still_measuring::{Measures, SlotLeft, StillMeasuring},
    stops::Stops,
    tally::{DirectionTally, INTERVAL_NS, IntervalTally, SlotTally},
    timing::{Second, Timing},
    worker::{Wires, Worker},
};

mod crew;

/// Time between the last worker being ready and the first operation.
const HEAD_START_NS: u64 = 1_000_000;
/// Empty seconds that are made for each worker before the start, so that it need not make any: one more than the
/// gathering thread may have in its hands.
const SPARE_SECONDS: usize = 4;
/// How many seconds the gathering thread may be behind before any is lost: whoever is told of intervals may write to a
/// terminal or disk that hangs.
const SECONDS_BEHIND: usize = 120;

/// Why a slot could not be done.
#[derive(Debug, Error)]
pub enum SlotError {
    /// The engine cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineUnavailable),
    /// The kernel no longer takes or hands out operations.
    #[error("the {engine} engine failed")]
    Io {
        /// Which engine.
        engine: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("{workers} threads cannot be started: lower --jobs or --queue-depth, or raise the limit of processes")]
    Threads {
        /// How many were needed.
        workers: u32,
        /// What the kernel says.
        source: io::Error,
    },
    /// A worker panicked: a bug.
    #[error("a worker panicked")]
    Panicked,
}

/// What is needed to visit a cell.
pub struct SlotSetup<'a> {
    /// Workers of slots that are done at the same time and come before this one.
    pub first_worker: u32,
    /// The cell's parameters.
    pub plan: &'a BlockPlan,
    /// The engine chosen for it.
    pub engine: EngineKind,
    /// Whether the memory engine takes its place, on as many threads.
    pub in_memory: bool,
    /// The files of one job after the other; of one for all when they share.
    pub files: &'a [BorrowedFd<'a>],
    /// The files instead, where operations are about their names.
    pub names: Option<&'a NamedFiles>,
    /// The disks below the target.
    pub devices: &'a [BackingDevice],
    /// Which visit this is.
    pub round: u32,
    /// It does not begin before this moment of the monotonic clock.
    pub not_before_ns: u64,
    /// Pause before the first operation.
    pub delay_ns: u64,
    /// Load before the measured time.
    pub ramp_ns: u64,
    /// Measured time; `None` when an amount ends it.
    pub measured_ns: Option<u64>,
    /// Where the randomness of this slot comes from.
    pub seed: u64,
    /// What each job knows of its blocks, when the plan verifies; empty otherwise.
    pub generations: &'a [GenerationMap],
    /// Whether blocks that no slot has written carry a header too.
    pub laid_out: bool,
    /// Whether the latencies of each measured second are wanted.
    pub keeps_seconds: bool,
    /// The start of the run on the monotonic clock: intervals count from there.
    pub run_started_ns: u64,
    /// Set by whoever wants the slot to end now.
    pub stop: &'a AtomicBool,
    /// Set when a slot of the same phase has ended that ends the others.
    pub over: Option<&'a AtomicBool>,
}

impl SlotSetup<'_> {
    /// How many workers do it.
    pub(crate) fn workers(&self) -> u32 {
        Crew::workers_of(self.plan, self.engine)
    }
}

/// What a visit measured.
pub struct SlotOutcome {
    /// What all workers counted together.
    pub tally: SlotTally,
    /// Start of the measured window on the monotonic clock.
    pub from_ns: u64,
    /// Length of the measured time.
    pub elapsed_ns: u64,
    /// Latencies of the reads and writes that completed in each measured second, when they are wanted.
    pub seconds: Vec<CompactHistogram>,
    /// What verification found.
    pub verification: Option<VerificationResult>,
    /// What the machine did in the measured time; `None` when the slot ended before it.
    pub client: Option<ClientActivity>,
    /// Reads and writes that each worker completed in the measured time.
    pub worker_operations: Vec<u64>,
    /// What each job did in the measured time, where there are several.
    pub job_results: Vec<JobResult>,
    /// Processor time of all workers in the measured time.
    pub worker_cpu_ns: u64,
    /// What engines could not have as asked.
    pub notes: Vec<String>,
}

/// What a worker's thread hands back.
struct WorkerReport {
    tally: SlotTally,
    processor: Option<WorkerUse>,
    ended_ns: u64,
    verification: Option<VerificationResult>,
    notes: Vec<String>,
}

/// Visits a cell that nothing else runs beside. `on_interval` is called once for each second of load.
pub fn visit(setup: &SlotSetup<'_>, on_interval: &mut dyn FnMut(Interval)) -> Result<SlotOutcome, SlotError> {
    let start = || Some(soon().max(setup.not_before_ns));
    let outcome = visit_from(setup, &StillMeasuring::default(), || Some(setup.workers()), start, on_interval)?;
    Ok(outcome.expect("it has a start"))
}

/// Visits a cell from the moment that `start` gives when every worker is ready; `None` without such a moment. `queued`
/// gives before how many workers there are at the same time, when all of them have their queues. What is done after the
/// measuring begins when nobody measures any more.
pub(crate) fn visit_from(
    setup: &SlotSetup<'_>,
    measuring: &StillMeasuring,
    queued: impl FnOnce() -> Option<u32>,
    start: impl FnOnce() -> Option<u64>,
    on_interval: &mut dyn FnMut(Interval),
) -> Result<Option<SlotOutcome>, SlotError> {
    let crew = Crew::new(setup.plan, setup.engine, setup.seed);
    let workers = crew.workers();
    if workers > limits::THREADS_MAX {
        let source = io::Error::other(format!("at most {} are allowed", limits::THREADS_MAX));
        return Err(SlotError::Threads { workers, source });
    }
    // The watch comes with the workers.
    let (queues, gate) = (Gate::new(workers), Gate::new(workers + 1));
    let halt = AtomicBool::new(false);
    let (is_done, never) = (AtomicBool::new(false), AtomicBool::new(false));
    let seen_ns = AtomicU64::new(u64::MAX);
    let stops = Stops { asked: setup.stop, halt: &halt, over: setup.over.unwrap_or(&never), seen_ns: &seen_ns };
    let slot = SlotLeft { left: AtomicU32::new(workers), over: setup.over.filter(|_| setup.plan.ends_phase) };
    let (full, seconds) = sync_channel(workers as usize * SECONDS_BEHIND);
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(workers as usize);
        let mut returns: Vec<SyncSender<Box<IntervalTally>>> = Vec::with_capacity(workers as usize);
        let (pass, watch_is_done) = (gate.pass(), &is_done);
        let watch = thread::Builder::new()
            .name("watch".to_owned())
            .stack_size(256 * 1024)
            .spawn_scoped(scope, move || client::watch(pass.arrive()?, watch_is_done, stops, setup.devices))
            .map_err(|source| SlotError::Threads { workers: workers + 1, source })?;
        let mut unstarted = None;
        for worker in 0..workers {
            let (returned, empty) = sync_channel(SPARE_SECONDS);
            for _ in 0..SPARE_SECONDS {
                returned.send(Box::new(IntervalTally::new())).expect("its receiver is in scope, and has room");
            }
            returns.push(returned);
            let wires = WorkerWires { full: full.clone(), empty };
            let (crew, passes, measures) = (&crew, (queues.pass(), gate.pass()), measuring.begin(&slot));
            let thread = thread::Builder::new()
                .name(format!("worker-{worker}"))
                .stack_size(256 * 1024)
                .spawn_scoped(scope, move || work(worker, crew, setup, passes, measures, stops, wires));
            match thread {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    // The passes went with the thread, so the gates are shut and those who wait there go home.
                    unstarted = Some(SlotError::Threads { workers, source });
                    break;
                }
            }
        }
        drop(full);
        queues.open(queued);
        let timing = gate.open(|| Some(timing(setup, start()?)));
        let mut seconds_kept = Vec::new();
        if let Some(timing) = timing {
            let mut gathering = Gathering::new(workers as usize, setup, timing);
            gathering.run(&seconds, &returns, on_interval);
            seconds_kept = gathering.kept.map(KeptSeconds::into_stretches).unwrap_or_default();
        }
        is_done.store(true, Ordering::Relaxed);
        // All are waited for before any error is told: a panic that nobody joined would end the program.
        let client = watch.join().map_err(|_| SlotError::Panicked);
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join().map_err(|_| SlotError::Panicked)).collect();
        let reports: Vec<_> =
            ends.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().collect::<Result<Vec<_>, _>>()?;
        let client = client?;
        match (unstarted, timing) {
            (Some(error), _) => Err(error),
            (None, Some(timing)) => {
                let reports: Vec<_> = reports.into_iter().flatten().collect();
                Ok(Some(SlotOutcome { seconds: seconds_kept, ..add_up(timing, crew.lanes, reports, client) }))
            }
            // A thread that failed has told why.
            (None, None) => Ok(None),
        }
    })
}

/// The moment at which slots begin whose workers and engines are ready now.
pub fn soon() -> u64 {
    MonotonicClock.now_ns() + HEAD_START_NS
}

/// The moments of a slot.
fn timing(setup: &SlotSetup<'_>, start_ns: u64) -> Timing {
    let start_ns = start_ns.saturating_add(setup.delay_ns);
    let from_ns = start_ns.saturating_add(setup.ramp_ns);
    Timing { start_ns, from_ns, until_ns: setup.measured_ns.map(|measured| from_ns.saturating_add(measured)) }
}

fn add_up(timing: Timing, lanes: u32, reports: Vec<WorkerReport>, mut client: Option<ClientActivity>) -> SlotOutcome {
    let processors: Vec<WorkerUse> = reports.iter().filter_map(|report| report.processor).collect();
    if let Some(client) = &mut client {
        client::add_workers(client, &processors);
    }
    let done = |report: &WorkerReport| report.tally.read.operations + report.tally.write.operations;
    let worker_operations = reports.iter().map(done).collect();
    let job_results = if reports.len() > lanes as usize { job_results(&reports, lanes) } else { Vec::new() };
    let worker_cpu_ns = processors.iter().map(|worker| worker.cpu_ns).sum();
    let mut tally = SlotTally::new();
    let mut verification: Option<VerificationResult> = None;
    let mut notes: Vec<String> = Vec::new();
    let mut ended_ns = 0;
    for report in reports {
        ended_ns = ended_ns.max(report.ended_ns);
        tally.merge(&report.tally);
        if let Some(found) = report.verification {
            verification.get_or_insert_default().add_beside(&found);
        }
        notes.extend(report.notes.into_iter().filter(|note| !notes.contains(note)).collect::<Vec<_>>());
    }
    // A final sync lengthens the window.
    let end_ns = ended_ns.max(tally.last_completion_ns).max(timing.from_ns);
    SlotOutcome {
        tally,
        from_ns: timing.from_ns,
        elapsed_ns: end_ns - timing.from_ns,
        seconds: Vec::new(),
        verification,
        client,
        worker_operations,
        job_results,
        worker_cpu_ns,
        notes,
    }
}

/// What the workers of each job did together.
fn job_results(reports: &[WorkerReport], lanes: u32) -> Vec<JobResult> {
    let direction = |tally: &DirectionTally| {
        let is_there = tally.operations > 0 || tally.histogram.count() > 0;
        is_there.then(|| JobDirection::of(tally.operations, tally.bytes, &tally.histogram))
    };
    let of_worker = |report: &WorkerReport| JobResult {
        read: direction(&report.tally.read),
        write: direction(&report.tally.write),
    };
    let of_job = |workers: &[WorkerReport]| {
        workers.iter().map(of_worker).fold(JobResult::default(), |mut sum, worker| {
            sum.add(&worker);
            sum
        })
    };
    reports.chunks(lanes.max(1) as usize).map(of_job).collect()
}

/// A worker's ends of the channels.
struct WorkerWires {
    full: SyncSender<(usize, Second, Box<IntervalTally>)>,
    empty: Receiver<Box<IntervalTally>>,
}

/// The life of a worker's thread: engine, gates, slot, read-back. `None` when a gate was shut by another one.
fn work(
    worker: u32,
    crew: &Crew,
    setup: &SlotSetup<'_>,
    passes: (Pass<'_, u32>, Pass<'_, Timing>),
    measures: Measures<'_>,
    stops: Stops<'_>,
    wires: WorkerWires,
) -> Result<Option<WorkerReport>, SlotError> {
    // Whoever named processors of a cell gets them in their order.
    let first = if crew.plan.pin == Pinning::Auto { setup.first_worker } else { 0 };
    let processors = cpu::pin_worker(&crew.plan.pin, first + worker);
    if matches!(crew.plan.pacing, Pacing::Open { .. }) || crew.plan.think_time_ns > 0 {
        make_timers_precise();
    }
    let station = Station { worker, crew, setup, passes, measures, stops, wires };
    if let Some(names) = setup.names.filter(|_| !setup.in_memory) {
        return station.serve(names.engine(worker / crew.lanes, crew.tags), &[]);
    }
    let mut files = setup.files.chunks_exact(crew.plan.file_count as usize);
    let share = worker as usize * files.len() / crew.workers() as usize;
    let files = files.nth(share).expect("every job has files");
    if let Some(hint) = crew.plan.access_hint {
        files.iter().for_each(|file| page_cache::expect(*file, hint));
    }
    let engine_setup = EngineSetup {
        files,
        queue_depth: crew.tags,
        buffer_bytes: crew.plan.block_size_bytes_max,
        iopoll: crew.plan.iopoll,
        sqpoll: crew.plan.sqpoll,
        processors,
    };
    match if setup.in_memory { EngineKind::Memory } else { setup.engine } {
        EngineKind::IoUring => station.serve(IoUringEngine::new(&engine_setup), files),
        EngineKind::Libaio => station.serve(LinuxAioEngine::new(&engine_setup), files),
        EngineKind::Psync => station.serve(PsyncEngine::new(&engine_setup), files),
        EngineKind::FileCreate | EngineKind::FileStat | EngineKind::FileDelete => {
            unreachable!("operations on names have names")
        }
        EngineKind::Memory => station.serve(MemoryEngine::instant(crew.tags, crew.plan.block_size_bytes_max), &[]),
    }
}

/// A worker's place, before its engine is known.
struct Station<'a> {
    worker: u32,
    crew: &'a Crew,
    setup: &'a SlotSetup<'a>,
    /// To where all have their queues, and to the start.
    passes: (Pass<'a, u32>, Pass<'a, Timing>),
    measures: Measures<'a>,
    stops: Stops<'a>,
    wires: WorkerWires,
}

impl Station<'_> {
    fn serve<E: Engine>(
        self,
        engine: Result<E, EngineUnavailable>,
        files: &[BorrowedFd<'_>],
    ) -> Result<Option<WorkerReport>, SlotError> {
        let Self { worker, crew, setup, passes: (queues, pass), measures, stops, wires } = self;
        let mut engine = engine?;
        let Some(engines) = queues.arrive() else { return Ok(None) };
        engine.register(engines);
        let Some(timing) = pass.arrive() else { return Ok(None) };
        let mut notes = engine.notes().to_vec();
        if crew.plan.verify && setup.engine == EngineKind::Psync && crew.plan.queue_depth > 1 {
            notes.push("psync verifies with one operation in flight a job".to_owned());
        }
        let wires = Wires { stops, full: wires.full, empty: wires.empty, index: worker as usize };
        let failed = |source| SlotError::Io { engine: setup.engine.as_str(), source };
        let mut outcome = Worker::new(engine, MonotonicClock, crew.assignment(worker, setup, files, timing), wires)
            .run()
            .inspect_err(|_| stops.halt.store(true, Ordering::Relaxed))
            .map_err(failed)?;
        let measuring = measures.end();
        let verification = match outcome.checker {
            Some(checker) if crew.plan.writes() => {
                // Reading back is load as well, and not what others measure.
                measuring.wait_for_all(stops);
                if crew.plan.buffered && !stops.is_set() {
                    checker.leave_page_cache(files, &mut outcome.tally);
                }
                let result = checker.read_back(&mut outcome.engine, &MonotonicClock, crew.tags, stops);
                Some(result.map_err(failed)?)
            }
            checker => checker.map(Checker::into_result),
        };
        Ok(Some(WorkerReport {
            tally: outcome.tally,
            processor: outcome.processor,
            ended_ns: outcome.ended_ns,
            verification,
            notes,
        }))
    }
}

/// Puts the seconds of all workers together.
struct Gathering {
    run_started_ns: u64,
    round: u32,
    timing: Timing,
    /// How many intervals each worker has handed in.
    progress: Vec<usize>,
    /// Intervals not yet handed on, oldest first, with the end that workers gave them, and the index of the oldest.
    pending: VecDeque<(Second, Option<u64>, IntervalTally)>,
    oldest: usize,
    /// The interval after the newest of these: what was handed on before does not matter to it.
    upcoming: Second,
    kept: Option<KeptSeconds>,
}

impl Gathering {
    fn new(workers: usize, setup: &SlotSetup<'_>, timing: Timing) -> Self {
        Self {
            run_started_ns: setup.run_started_ns,
            round: setup.round,
            timing,
            progress: vec![0; workers],
            pending: VecDeque::new(),
            oldest: 0,
            upcoming: timing.first_second(),
            kept: setup.keeps_seconds.then(KeptSeconds::default),
        }
    }

    /// Until every worker has ended.
    fn run(
        &mut self,
        seconds: &Receiver<(usize, Second, Box<IntervalTally>)>,
        returns: &[SyncSender<Box<IntervalTally>>],
        on_interval: &mut dyn FnMut(Interval),
    ) {
        for (worker, second, mut tally) in seconds {
            self.take(worker, second, &tally);
            tally.clear();
            // One too many: the worker had to make its own while this thread was behind.
            let _ = returns[worker].try_send(tally);
            let complete = self.progress.iter().copied().min().unwrap_or(0);
            self.hand_on(complete, on_interval);
        }
        self.hand_on(usize::MAX, on_interval);
    }

    fn take(&mut self, worker: usize, second: Second, tally: &IntervalTally) {
        // Nobody waits for those who have come to their end.
        self.progress[worker] = if tally.is_last { usize::MAX } else { second.index + 1 };
        while self.upcoming.index <= second.index {
            self.pending.push_back((self.upcoming, None, IntervalTally::new()));
            self.upcoming = self.timing.next_second(self.upcoming);
        }
        // What was handed on had been handed in by every worker.
        let newest = second.index - self.oldest;
        for (alike, until_ns, sum) in self.pending.range_mut(newest - tally.alike_before..newest) {
            *until_ns = (*until_ns).max(Some(alike.until_ns));
            sum.stalled |= tally.stalled;
        }
        let (_, until_ns, sum) = &mut self.pending[newest];
        *until_ns = (*until_ns).max(Some(second.until_ns));
        sum.merge(tally);
    }

    fn hand_on(&mut self, until: usize, on_interval: &mut dyn FnMut(Interval)) {
        while self.oldest < until
            && let Some((mut second, until_ns, tally)) = self.pending.pop_front()
        {
            self.oldest += 1;
            // A second that every worker lost is missing; the last one may be short, or nothing at all.
            let is_something = |until_ns: &u64| *until_ns > second.from_ns || tally.operations() > 0;
            let Some(until_ns) = until_ns.filter(is_something) else { continue };
            second.until_ns = until_ns;
            if let Some(kept) = self.kept.as_mut().filter(|_| second.measured) {
                kept.add(&tally.latency);
            }
            on_interval(self.interval(second, &tally));
        }
    }

    fn interval(&self, second: Second, tally: &IntervalTally) -> Interval {
        let percentile = |quantile| match tally.latency.percentile(quantile) {
            Percentile::Supported(latency_ns) => Some(latency_ns),
            Percentile::Unsupported { .. } => None,
        };
        let is_whole = second.until_ns - second.from_ns >= INTERVAL_NS;
        Interval {
            t_ns: second.from_ns.saturating_sub(self.run_started_ns),
            length_ns: second.until_ns - second.from_ns,
            round: self.round,
            measured: second.measured,
            stalled: second.measured && is_whole && tally.is_stalled(),
            read_operations: tally.read_operations,
            read_bytes: tally.read_bytes,
            write_operations: tally.write_operations,
            write_bytes: tally.write_bytes,
            sync_operations: tally.sync_operations,
            p50_ns: percentile(0.5),
            p99_ns: percentile(0.99),
            max_ns: tally.latency.max_ns(),
            read_mean_ns: tally.read_latency_sum_ns.checked_div(tally.read_operations),
            write_mean_ns: tally.write_latency_sum_ns.checked_div(tally.write_operations),
            tick_operations: tally.ticks.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests;
