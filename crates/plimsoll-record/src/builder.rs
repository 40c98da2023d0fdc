//! Folds the events of a run into its record: the same way while it happens and after a crash.

mod joining;
mod kept_slots;
#[cfg(test)]
mod tests;

use plimsoll_measure::{
    latency::{LatencyHistogram, Percentile},
    verdict::Verdict,
};
use plimsoll_workload::{
    certainty::StoppingRule,
    file_set::FilePhase,
    plan::{CellPlan, Work},
    settings::EngineChoice,
};

use self::kept_slots::{KeptSlots, grow};
use crate::{
    application::{ApplicationResult, Iteration},
    cache::{CacheActivity, ForeignActivity},
    client::{ClientActivity, both},
    event::{RunEvent, RunStarted, SlotDirection, SlotPurpose, SlotResult},
    files::{FileSums, FilesResult, Phases},
    judgement::{self, Burst, Judgement, RateEstimate},
    limit::CellLimit,
    record::{Cell, Kind, Layout, NOT_RUN, Outcome, Record, SCHEMA, Window},
    results::{
        CpuCost, DeviceActivity, DirectionResult, ErrorCount, JobResult, LatencySummary, OpenLoopResult, SlotRate,
        SlotSummary,
    },
};

/// A record that grows event by event.
#[derive(Clone, Debug)]
pub struct RecordBuilder {
    record: Record,
    sums: Vec<CellSums>,
}

/// What slots add up to until the record is finished.
#[derive(Clone, Debug, Default)]
struct CellSums {
    elapsed_ns: u64,
    cpu: Option<CpuCost>,
    service: Option<LatencyHistogram>,
    window: Option<Window>,
    slots: KeptSlots,
    files: FileSums,
    judged: bool,
}

impl RecordBuilder {
    /// A record of a run that has just begun. Until told otherwise its outcome is [`Outcome::Lost`].
    pub fn new(started: RunStarted) -> Self {
        let RunStarted { id, started, tool, name, tags, asked, plan, environment } = started;
        let in_one_piece = |cell| KeptSlots::new(judgement::is_in_one_piece(&plan, cell));
        let sums =
            (0..plan.cells.len()).map(|cell| CellSums { slots: in_one_piece(cell), ..CellSums::default() }).collect();
        let record = Record {
            schema: SCHEMA.to_owned(),
            id,
            started,
            elapsed_ns: 0,
            resumed: Vec::new(),
            outcome: Outcome::Lost,
            tool,
            name,
            tags,
            asked,
            seed: plan.seed,
            environment,
            layouts: Vec::new(),
            volumes: Vec::new(),
            pods: None,
            import: None,
            cells: plan.cells.into_iter().map(planned).collect(),
            warnings: Vec::new(),
        };
        Self { record, sums }
    }

    /// Takes in an event. Events of cells that the plan does not have are ignored.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(_)
            | RunEvent::LayoutProgress { .. }
            | RunEvent::PhaseProgress { .. }
            | RunEvent::StageProgress { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::CellProgress { .. } => {}
            RunEvent::Resumed(resumption) => {
                self.record.elapsed_ns = self.record.elapsed_ns.max(resumption.t_ns);
                self.record.resumed.push(*resumption);
            }
            RunEvent::LayoutFinished { target, written_bytes, elapsed_ns } => self.record.layouts.push(Layout {
                target: target.clone(),
                written_bytes: *written_bytes,
                elapsed_ns: *elapsed_ns,
            }),
            RunEvent::SlotStarted { t_ns, .. } => self.record.elapsed_ns = self.record.elapsed_ns.max(*t_ns),
            RunEvent::EngineSelected { cell, engine, reason } => {
                if let Some(cell) = self.record.cells.get_mut(*cell) {
                    cell.engine = *engine;
                    cell.engine_reason.clone_from(reason);
                }
            }
            RunEvent::Interval { cell, interval } => {
                if let Some(cell) = self.record.cells.get_mut(*cell) {
                    self.record.elapsed_ns = self.record.elapsed_ns.max(interval.t_ns + interval.length_ns);
                    cell.series.push(interval.clone());
                }
            }
            RunEvent::SlotFinished(slot) => self.add_slot(slot),
            RunEvent::Found { cell, finding } => {
                if let Some(cell) = self.record.cells.get_mut(*cell) {
                    // What is found again replaces what was found before: the later sentence speaks of more.
                    match cell.findings.iter_mut().find(|known| known.code == finding.code) {
                        Some(known) => known.clone_from(finding),
                        None => cell.findings.push(finding.clone()),
                    }
                }
            }
            // What stays true is warned of again by each who goes on with a run.
            RunEvent::Warning { text } if self.record.warnings.contains(text) => {}
            RunEvent::Warning { text } => self.record.warnings.push(text.clone()),
            RunEvent::CellFinished { cell, judgement } => {
                if let Some(application) = self.record.cells.get_mut(*cell).and_then(|cell| cell.application.as_mut()) {
                    application.summarize();
                }
                // Nothing can be said of a cell without numbers.
                if let (Some(cell), Some(sums)) = (self.record.cells.get_mut(*cell), self.sums.get_mut(*cell))
                    && cell.verdict.is_some()
                {
                    sums.judged = true;
                    judge(cell, &sums.slots, judgement);
                }
                let hit = self.record.cells.get(*cell).map(|judged| judged.limit_hit(&self.record.cells));
                let limit = self.record.cells.get_mut(*cell).and_then(|cell| cell.limit.as_mut());
                if let (Some(hit), Some(limit)) = (hit, limit) {
                    limit.hit = hit;
                }
            }
            RunEvent::Finished { elapsed_ns, outcome } => {
                self.record.elapsed_ns = *elapsed_ns;
                self.record.outcome = *outcome;
                let reason = not_run(*outcome, self.record.asked.certainty.max_time.is_some());
                for cell in self.record.cells.iter_mut().filter(|cell| cell.verdict.is_none()) {
                    cell.verdict_reason = Some(match (cell.rounds_done, *outcome) {
                        (0, _) => reason.clone(),
                        (_, Outcome::Failed) => format!("{NOT_RUN}: {NOTHING_ENDED_WELL}"),
                        _ => format!("{NOT_RUN}: {NOTHING_COUNTS}"),
                    });
                }
            }
        }
    }

    fn add_slot(&mut self, slot: &SlotResult) {
        let (Some(cell), Some(sums)) = (self.record.cells.get_mut(slot.cell), self.sums.get_mut(slot.cell)) else {
            return;
        };
        let to_ns = slot.from_ns + slot.elapsed_ns;
        self.record.elapsed_ns = self.record.elapsed_ns.max(to_ns);
        // What was interrupted before its measured time has done nothing of a slot, but may have met errors.
        if !(slot.is_cut && slot.elapsed_ns == 0) {
            cell.rounds_done += u32::from(!slot.is_cut);
            let is_valid = slot.application.as_ref().is_none_or(|iteration| iteration.invalid.is_none());
            let counted = slot.purpose == SlotPurpose::Measured && is_valid;
            cell.slots.push(summary(slot, counted));
            sums.slots.add(slot);
            if counted {
                count(cell, sums, slot);
            }
            if let (Some(sum), Some(iteration)) = (&mut cell.application, &slot.application) {
                sum.iterations.push(Iteration { counted, ..Iteration::clone(iteration) });
            }
        }
        if let Some(verification) = &slot.verification {
            cell.verification.get_or_insert_default().add_later(verification);
        }
        for error in &slot.errors {
            add_error(&mut cell.error_kinds, error);
            cell.errors += error.count;
        }
    }

    /// The record so far; cells without a judgement do not say how sure their percentiles are before it is finished.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// The record. What was never judged is described by all that counted.
    pub fn finish(mut self) -> Record {
        for (cell, sums) in self.record.cells.iter_mut().zip(&self.sums).filter(|(_, sums)| !sums.judged) {
            sums.slots.describe_latencies(cell);
        }
        // Of a run that was lost nobody told that its cells had ended.
        let applications = self.record.cells.iter_mut().filter_map(|cell| cell.application.as_mut());
        applications.for_each(ApplicationResult::summarize);
        self.record
    }
}

/// Adds a slot to a cell's numbers, and to what the machine and the storage did meanwhile.
fn count(cell: &mut Cell, sums: &mut CellSums, slot: &SlotResult) {
    let to_ns = slot.from_ns + slot.elapsed_ns;
    sums.elapsed_ns += slot.elapsed_ns;
    grow(&mut cell.read, slot.read.as_ref(), sums.elapsed_ns);
    grow(&mut cell.write, slot.write.as_ref(), sums.elapsed_ns);
    grow(&mut cell.sync, slot.sync.as_ref(), sums.elapsed_ns);
    count_phases(cell, &mut sums.files, slot);
    if let Some(service) = &slot.service {
        sums.service.get_or_insert_with(LatencyHistogram::fine).merge(service);
    }
    if let Some(open_loop) = &slot.open_loop {
        add_open_loop(cell.open_loop.get_or_insert_default(), open_loop, sums.service.as_ref());
    }
    let from_ns = sums.window.map_or(slot.from_ns, |window| window.from_ns);
    sums.window = Some(Window { from_ns, to_ns });
    cell.verdict = cell.verdict.or(Some(Verdict::Short));
    cell.verdict_reason = None;
    cell.window = sums.window;
    add(&mut sums.cpu, &CpuCost { operations: slot.cpu_operations, ..slot.cpu.clone() }, CpuCost::add);
    cell.cpu = sums.cpu.clone().map(CpuCost::per_operation).unwrap_or_default();
    if let Some(device) = &slot.device {
        cell.device.get_or_insert_with(DeviceActivity::default).add(device);
    }
    if let Some(foreign) = &slot.foreign {
        add(&mut cell.foreign, foreign, ForeignActivity::add);
    }
    if let Some(client) = &slot.client {
        add(&mut cell.client, client, ClientActivity::add);
    }
    if let Some(cache) = &slot.cache {
        add(&mut cell.cache, cache, CacheActivity::add);
    }
    cell.worker_operations.resize(cell.worker_operations.len().max(slot.worker_operations.len()), 0);
    for (sum, operations) in cell.worker_operations.iter_mut().zip(&slot.worker_operations) {
        *sum += operations;
    }
    cell.job_results.resize(cell.job_results.len().max(slot.job_results.len()), JobResult::default());
    for (sum, job) in cell.job_results.iter_mut().zip(&slot.job_results) {
        sum.add(job);
    }
}

/// The same for the phases of a set of files.
fn count_phases(cell: &mut Cell, sums: &mut FileSums, slot: &SlotResult) {
    let Some(files) = &mut cell.files else { return };
    sums.add(slot.round, &slot.phases);
    files.phases.clear();
    for (direction, result) in sums.results() {
        match result.phase {
            FilePhase::Read => cell.read = Some(direction),
            FilePhase::Write => cell.write = Some(direction),
            phase => cell.phases.set(phase, direction),
        }
        files.phases.push(result);
    }
    files.tree_sha256 = slot.tree_sha256.clone().or_else(|| files.tree_sha256.take());
}

fn planned(plan: CellPlan) -> Cell {
    let CellPlan { target, workload, stopping, phase, expected, work } = plan;
    let (kind, operation_bytes, files) = match &work {
        Work::Blocks(plan) => (Kind::Blocks, plan.operation_bytes(), None),
        Work::Application(_) => (Kind::Application, 0.0, None),
        Work::Files(plan) => {
            let files = FilesResult { total_bytes: plan.total_bytes(), ..FilesResult::default() };
            (Kind::Files, plan.block_size_bytes.into(), Some(files))
        }
    };
    let application = work.application().map(|_| ApplicationResult::default());
    // What a command asks of its storage is not known beforehand.
    let limit = expected.filter(|_| application.is_none()).map(|expected| CellLimit::of(&expected, operation_bytes));
    Cell { kind, plan: Some(work), phase, limit, files, application, ..empty_cell(target, workload, stopping) }
}

/// A cell without any numbers.
pub(crate) fn empty_cell(target: String, workload: String, stopping: StoppingRule) -> Cell {
    Cell {
        target,
        workload,
        kind: Kind::Blocks,
        plan: None,
        told: None,
        stopping,
        phase: None,
        rounds_done: 0,
        engine: EngineChoice::Auto,
        engine_reason: String::new(),
        read: None,
        write: None,
        sync: None,
        phases: Phases::default(),
        files: None,
        application: None,
        slots: Vec::new(),
        series: Vec::new(),
        cpu: CpuCost::default(),
        device: None,
        foreign: None,
        client: None,
        cache: None,
        worker_operations: Vec::new(),
        job_results: Vec::new(),
        exposed: Vec::new(),
        open_loop: None,
        verification: None,
        errors: 0,
        error_kinds: Vec::new(),
        verdict: None,
        verdict_reason: Some(not_run(Outcome::Lost, false)),
        window: None,
        estimate: None,
        stability: None,
        burst: None,
        moved: None,
        period_ns: None,
        limit: None,
        findings: Vec::new(),
    }
}

/// Why a cell that was visited has no numbers.
const NOTHING_COUNTS: &str = "only slots that are kept out of the numbers were done";

/// The same of a run that failed.
const NOTHING_ENDED_WELL: &str = "no slot that counts ended well";

/// Why a cell was never visited.
fn not_run(outcome: Outcome, has_max_time: bool) -> String {
    let why = match outcome {
        Outcome::Complete if has_max_time => "the time given with --max-time was over before its first slot",
        Outcome::Interrupted => "the run was interrupted before its first slot was done",
        Outcome::Failed => "the run failed before its first slot was done",
        Outcome::Complete => "the run ended before its first slot was done",
        Outcome::Lost => "what is known of the run ends before its first slot was done",
    };
    format!("{NOT_RUN}: {why}")
}

fn summary(slot: &SlotResult, counted: bool) -> SlotSummary {
    let rate = |direction: &Option<SlotDirection>| {
        direction.as_ref().map(|direction| SlotRate {
            operations: direction.operations,
            bytes: direction.bytes,
            latency_ns: LatencySummary::of(&direction.histogram),
        })
    };
    SlotSummary {
        round: slot.round,
        purpose: slot.purpose,
        counted,
        ramp_ns: slot.ramp_ns,
        from_ns: slot.from_ns,
        elapsed_ns: slot.elapsed_ns,
        read: rate(&slot.read),
        write: rate(&slot.write),
        sync: rate(&slot.sync),
    }
}

/// Makes a cell's numbers those of the stretch that was judged.
fn judge(cell: &mut Cell, slots: &KeptSlots, judgement: &Judgement) {
    let Judgement { verdict, window, estimate, stability, burst, moved, period_ns } = judgement.clone();
    cell.verdict = Some(verdict);
    (cell.estimate, cell.stability, cell.burst, cell.moved) = (estimate, stability, burst, moved);
    cell.period_ns = period_ns;
    // All iterations of an application or a set of files count, and these have intervals of their own.
    if let Some(window) = window.filter(|_| cell.kind == Kind::Blocks) {
        cell.window = Some(window);
        slots.restrict(cell, window);
        for result in [&mut cell.read, &mut cell.write] {
            *result = result.take().map(|result| with_interval(result, estimate, burst));
        }
    }
    slots.describe_latencies(cell);
}

/// The interval of the whole rate is that of each direction, because the plan fixes their shares. That of a burst which
/// is predicted to end is about the rate afterwards.
fn with_interval(result: DirectionResult, estimate: Option<RateEstimate>, burst: Option<Burst>) -> DirectionResult {
    if burst.is_some_and(|burst| burst.predicted) {
        let reason = "the rate is that of a burst that is predicted to end, and was not measured afterwards";
        return DirectionResult { interval_reason: Some(reason.to_owned()), ..result };
    }
    match estimate.and_then(|estimate| estimate.relative()) {
        Some((low, high)) => DirectionResult {
            iops_low: Some(result.iops * low),
            iops_high: Some(result.iops * high),
            interval_reason: None,
            ..result
        },
        None => result,
    }
}

/// The first slot is the sum; later ones are added to it.
pub(crate) fn add<T: Clone>(sum: &mut Option<T>, slot: &T, add: impl Fn(&mut T, &T)) {
    match sum {
        Some(sum) => add(sum, slot),
        None => *sum = Some(slot.clone()),
    }
}

impl CpuCost {
    /// Adds what another slot or another machine took. What is not known of both is not known.
    fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.throttled_ns = both(self.throttled_ns, other.throttled_ns);
        self.steal_ns = both(self.steal_ns, other.steal_ns);
        self.pressure_cpu_ns = both(self.pressure_cpu_ns, other.pressure_cpu_ns);
        self.pressure_io_ns = both(self.pressure_io_ns, other.pressure_io_ns);
        self.pressure_memory_ns = both(self.pressure_memory_ns, other.pressure_memory_ns);
    }

    /// The same with what each operation took.
    fn per_operation(self) -> Self {
        let of = |ns: u64| (self.operations > 0).then(|| ns as f64 / self.operations as f64);
        let (user, system) = (of(self.user_ns), of(self.system_ns));
        Self { user_ns_per_operation: user, system_ns_per_operation: system, ..self }
    }
}

fn add_open_loop(sum: &mut OpenLoopResult, slot: &OpenLoopResult, service: Option<&LatencyHistogram>) {
    sum.add(slot);
    let at = |quantile| match service?.percentile(quantile) {
        Percentile::Supported(latency_ns) => Some(latency_ns),
        Percentile::Unsupported { .. } => None,
    };
    (sum.service_p50_ns, sum.service_p95_ns, sum.service_p99_ns) = (at(0.5), at(0.95), at(0.99));
}

pub(crate) fn add_error(kinds: &mut Vec<ErrorCount>, error: &ErrorCount) {
    match kinds.iter_mut().find(|kind| kind.operation == error.operation && kind.error == error.error) {
        Some(kind) => kind.count += error.count,
        None => kinds.push(error.clone()),
    }
}
