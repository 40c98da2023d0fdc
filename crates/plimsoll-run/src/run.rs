//! Doing a plan: targets are opened and laid out, cells visited in the order the schedule says, and everything that
//! happens told as events. The record is the fold of those events.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::Timestamp;
use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    probe::{self, EngineKind, EngineUnavailable, SelectedEngine},
    target::TargetError,
    write_guard::Refusal,
};
use plimsoll_measure::session::{Session, Slot, Step, visit::Visit};
use plimsoll_record::{
    builder::RecordBuilder,
    cache::CacheActivity,
    environment::Environment,
    event::{RunEvent, RunStarted, SlotResult},
    judgement::Judgement,
    record::{Asked, Outcome, Record, Tool},
};
use plimsoll_workload::{
    certainty::StoppingRule,
    plan::{BlockPlan, Plan},
    random,
    settings::EngineChoice,
    units::Span,
    verification::GenerationMap,
};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    background::{Background, BackgroundError},
    counters::{Counters, SlotCost},
    evidence, findings,
    headroom::Headroom,
    judging,
    layout::LayoutError,
    objects::ObjectError,
    repeats,
    resuming::{Resuming, RunClock, SoFar},
    site::Sites,
    slot::{self, SlotError, SlotOutcome, SlotSetup},
    storage::{self, SlotAccounts},
};

/// Everything a run needs to know.
pub struct RunRequest {
    /// Identity of the run.
    pub id: Uuid,
    /// When it began.
    pub started: Timestamp,
    /// The program that measures.
    pub tool: Tool,
    /// The name given.
    pub name: Option<String>,
    /// The tags given.
    pub tags: BTreeMap<String, String>,
    /// What was asked.
    pub asked: Asked,
    /// What to do.
    pub plan: Plan,
    /// Where it happens.
    pub environment: Environment,
    /// Devices that may be overwritten, when they are blank.
    pub destroy: Vec<PathBuf>,
    /// Whether test files stay.
    pub keep_files: bool,
    /// Where to note what test files exist, so that a later command can remove them.
    pub state_directory: Option<PathBuf>,
    /// What was done before, when this goes on with a run that was interrupted.
    pub resuming: Option<Resuming>,
}

/// Why a run could not begin or go on.
#[derive(Debug, Error)]
pub enum RunError {
    /// The write guard refused a device or file.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The time that may be used is over before a first slot could be.
    #[error("--max-time {} is too short for a single slot, which takes at least {}: allow more", Span { ns: *allowed_ns }, Span { ns: *needed_ns })]
    NoTime {
        /// What may be used.
        allowed_ns: u64,
        /// What one slot takes.
        needed_ns: u64,
    },
    /// Verification would have to check what nobody knows.
    #[error("\"{target}\" {problem}")]
    Unverifiable {
        /// The path as given.
        target: String,
        /// What is wrong and what to do.
        problem: &'static str,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Test files cannot be made.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// Test files cannot be filled.
    #[error(transparent)]
    Layout(LayoutError),
    /// No engine can be used.
    #[error(transparent)]
    Engine(#[from] EngineUnavailable),
    /// The machine cannot be loaded as asked.
    #[error(transparent)]
    Background(#[from] BackgroundError),
    /// The engine or the layout failed.
    #[error("the run failed")]
    Io(#[source] io::Error),
    /// A worker panicked.
    #[error("a worker panicked: this is a bug in plimsoll, please report it")]
    Bug(#[source] SlotError),
}

impl From<SlotError> for RunError {
    fn from(error: SlotError) -> Self {
        match error {
            SlotError::Engine(error) => Self::Engine(error),
            SlotError::Io { .. } | SlotError::Threads { .. } => Self::Io(io::Error::other(error)),
            SlotError::Panicked => Self::Bug(error),
        }
    }
}

/// Does a plan. Every event is handed to `on_event` as it happens; setting `stop` ends the run soon, with a partial
/// record. An `Err` means that nothing was measured at all.
pub fn run(request: RunRequest, stop: &AtomicBool, on_event: &mut dyn FnMut(&RunEvent)) -> Result<Record, RunError> {
    let RunRequest { id, started, tool, name, tags, asked, plan, environment, .. } = request;
    let RunRequest { destroy, keep_files, state_directory, resuming, .. } = request;
    // What can refuse does so before anything is created or announced.
    let engines = select_engines(&plan, resuming.as_ref())?;
    let guards = Sites::guard(&plan, &destroy)?;
    check_time(&plan)?;
    let command = asked.background.clone();
    let start = RunStarted { id, started, tool, name, tags, asked, plan: plan.clone(), environment };
    let mut story = Story { builder: RecordBuilder::new(start.clone()), on_event };
    story.tell(&RunEvent::Started(Box::new(start)));
    let mut session = Session::new(judging::session_plan(&plan));
    let (so_far, t_ns) = match &resuming {
        Some(resuming) => story.resume(&plan, resuming, &mut session),
        None => (SoFar::nothing(&plan), 0),
    };
    let clock = RunClock::from_now(t_ns);
    let rounds_before = rounds(story.builder.record());
    for (cell, engine) in engines.iter().enumerate() {
        if resuming.as_ref().is_none_or(|resuming| resuming.engine(cell).is_none()) {
            story.tell(&RunEvent::EngineSelected { cell, engine: choice(engine), reason: engine.reason.clone() });
        }
    }
    let mut emit = |event| story.tell(&event);
    let result =
        Sites::open(&plan, guards, id, keep_files, state_directory.as_deref(), stop, &mut emit).and_then(|sites| {
            let mut doing = Doing {
                plan: &plan,
                background: command.as_deref().map(Background::start).transpose()?,
                engines: &engines,
                sites: &sites,
                generations: generations(&plan),
                so_far,
                headroom: Headroom::default(),
                stop,
                clock,
            };
            let failed = doing.all(&mut session, &mut emit)?;
            drop(doing);
            sites.close(&mut emit);
            Ok(failed)
        });
    story.conclude(&mut session);
    let outcome = match &result {
        _ if stop.load(Ordering::Relaxed) => Outcome::Interrupted,
        Ok(false) => Outcome::Complete,
        Ok(true) | Err(_) => Outcome::Failed,
    };
    if let Err(error) = &result
        && outcome == Outcome::Failed
    {
        story.tell(&RunEvent::Warning { text: error_chain(error) });
    }
    story.tell(&RunEvent::Finished { elapsed_ns: clock.now_ns(), outcome });
    let record = story.builder.finish();
    match result {
        // What was measured before the failure is worth keeping; a run that measured nothing is just an error.
        Err(error) if outcome == Outcome::Failed && rounds(&record) == rounds_before => Err(error),
        _ => Ok(record),
    }
}

/// Slots that are done.
fn rounds(record: &Record) -> u32 {
    record.cells.iter().map(|cell| cell.rounds_done).sum()
}

/// The events so far as a record, and who else listens.
struct Story<'a> {
    builder: RecordBuilder,
    on_event: &'a mut dyn FnMut(&RunEvent),
}

impl Story<'_> {
    fn tell(&mut self, event: &RunEvent) {
        self.builder.apply(event);
        (self.on_event)(event);
    }

    /// Takes in what happened before, and tells that the run goes on. Returns what the slots so far amount to, and the
    /// time since the start of the run.
    fn resume(&mut self, plan: &Plan, resuming: &Resuming, session: &mut Session) -> (SoFar, u64) {
        resuming.events.iter().for_each(|event| self.builder.apply(event));
        let so_far = SoFar::restore(plan, &resuming.events, session);
        let Record { started, elapsed_ns, .. } = self.builder.record();
        let resumption = resuming.resumption(*started, *elapsed_ns);
        session.pause(*elapsed_ns, resumption.t_ns);
        self.tell(&RunEvent::Resumed(resumption));
        for text in &resuming.warnings {
            self.tell(&RunEvent::Warning { text: text.clone() });
        }
        (so_far, resumption.t_ns)
    }

    /// What may be said of each cell, now that nothing more is measured.
    fn conclude(&mut self, session: &mut Session) {
        for cell in 0..self.builder.record().cells.len() {
            let record = self.builder.record();
            if let Some(overruling) = evidence::overruling(&record.cells[cell], &record.environment) {
                session.overrule(cell, overruling);
            }
            self.tell(&RunEvent::CellFinished { cell, judgement: Box::new(Judgement::of(&session.answer(cell))) });
            let record = self.builder.record();
            let hidden = session.hidden_burst(cell);
            for finding in evidence::of_cell(&record.cells[cell], record, hidden) {
                self.tell(&RunEvent::Found { cell, finding });
            }
        }
        for (cell, finding) in evidence::of_sweeps(&self.builder.record().cells) {
            self.tell(&RunEvent::Found { cell, finding });
        }
    }
}

/// A first slot fits in the time that may be used.
fn check_time(plan: &Plan) -> Result<(), RunError> {
    let session = Session::new(judging::session_plan(plan));
    let (Some(allowed_ns), needed_ns) = (plan.max_time_ns, session.shortest_visit_ns()) else { return Ok(()) };
    if allowed_ns < needed_ns { Err(RunError::NoTime { allowed_ns, needed_ns }) } else { Ok(()) }
}

fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn select_engines(plan: &Plan, resuming: Option<&Resuming>) -> Result<Vec<SelectedEngine>, EngineUnavailable> {
    let mut known: Vec<(EngineChoice, SelectedEngine)> = Vec::new();
    plan.cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let choice = resuming.and_then(|resuming| resuming.engine(index)).unwrap_or(cell.blocks.engine);
            if let Some((_, engine)) = known.iter().find(|(asked, _)| *asked == choice) {
                return Ok(engine.clone());
            }
            let engine = probe::select(choice)?;
            known.push((choice, engine.clone()));
            Ok(engine)
        })
        .collect()
}

const fn choice(engine: &SelectedEngine) -> EngineChoice {
    match engine.kind {
        EngineKind::IoUring => EngineChoice::IoUring,
        EngineKind::Libaio => EngineChoice::Libaio,
        EngineKind::Psync => EngineChoice::Psync,
        EngineKind::Memory => EngineChoice::Memory,
    }
}

/// The cells of a plan, being visited.
struct Doing<'a> {
    plan: &'a Plan,
    /// What loads the machine meanwhile; absent also when it has ended and that is told.
    background: Option<Background>,
    engines: &'a [SelectedEngine],
    sites: &'a Sites,
    /// For each cell that verifies, what its jobs know of their blocks.
    generations: Vec<Vec<GenerationMap>>,
    so_far: SoFar,
    headroom: Headroom,
    stop: &'a AtomicBool,
    clock: RunClock,
}

/// Maps for the jobs of every cell that verifies.
fn generations(plan: &Plan) -> Vec<Vec<GenerationMap>> {
    let of = |plan: &BlockPlan| -> Vec<GenerationMap> {
        let jobs = if plan.verify { 0..plan.jobs } else { 0..0 };
        jobs.map(|job| GenerationMap::new(plan.job_region(job), plan.block_size_bytes_max)).collect()
    };
    plan.cells.iter().map(|cell| of(&cell.blocks)).collect()
}

/// How far a cell and the run are.
fn progress(session: &Session, plan: &Plan, cell: usize, now_ns: u64) -> RunEvent {
    let of = session.progress(cell);
    let (run_remaining_ns, run_remaining_max_ns) = session.remaining_ns(now_ns);
    let judged = plan.cells[cell].stopping == StoppingRule::Sure && session.rules().claims;
    RunEvent::CellProgress {
        cell,
        precision: of.precision,
        precision_wanted: judged.then_some(of.precision_wanted),
        is_done: session.is_closed(cell),
        run_remaining_ns,
        run_remaining_max_ns,
    }
}

impl Doing<'_> {
    /// Visits cells until the rules have had enough. Returns whether any cell had to be given up.
    fn all(&mut self, session: &mut Session, emit: &mut dyn FnMut(RunEvent)) -> Result<bool, RunError> {
        (0..self.plan.cells.len()).for_each(|cell| emit(progress(session, self.plan, cell, self.clock.now_ns())));
        while !self.stop.load(Ordering::Relaxed) {
            match session.next_step(self.clock.now_ns()) {
                Step::Done => break,
                Step::WaitUntil(until_ns) => {
                    self.rest(self.clock.monotonic_ns(until_ns));
                }
                Step::Visit(slot) => {
                    let keeps_parts = session.keeps_parts(slot.cell);
                    let Some((visit, may_go_on)) = self.visit(slot, keeps_parts, emit)? else { break };
                    self.tell_early_end(emit);
                    session.observe(&slot, visit);
                    if !may_go_on {
                        session.abandon(slot.cell);
                        self.so_far.failed = true;
                    }
                    emit(progress(session, self.plan, slot.cell, self.clock.now_ns()));
                }
            }
        }
        for (cell, plan) in self.plan.cells.iter().enumerate() {
            for finding in findings::of_plan(plan, self.sites.kind(cell)) {
                emit(RunEvent::Found { cell, finding });
            }
        }
        Ok(self.so_far.failed)
    }

    /// Says once that the command in the background has ended before the run.
    fn tell_early_end(&mut self, emit: &mut dyn FnMut(RunEvent)) {
        let Some(ended) = self.background.as_mut().and_then(Background::ended) else { return };
        let at_ns = self.clock.since_start_ns(ended.at_ns);
        let text = format!(
            "the background command ended {} into the run ({}): what was measured later was measured without it",
            Span { ns: at_ns / 100_000_000 * 100_000_000 },
            ended.how
        );
        self.background = None;
        emit(RunEvent::Warning { text });
    }

    /// Visits a cell once. Returns what the rules are to know of it and whether it may be visited again; `None` when
    /// the run was told to stop before the visit began.
    fn visit(
        &mut self,
        slot: Slot,
        keeps_parts: bool,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<(Visit, bool)>, RunError> {
        let plan = &self.plan.cells[slot.cell].blocks;
        if slot.round == 0 && !self.rest(MonotonicClock.now_ns() + plan.start_delay_ns) {
            return Ok(None);
        }
        let files = self.sites.files(slot.cell);
        let engine = self.engines[slot.cell].kind;
        let touches_storage = engine != EngineKind::Memory;
        let is_first = slot.round == 0 && touches_storage;
        let null_rate = is_first.then(|| self.headroom.null_operations_per_second(plan, engine, self.stop)).flatten();
        let setup = SlotSetup {
            plan,
            engine,
            in_memory: false,
            files: &files,
            device: self.sites.device(slot.cell),
            round: slot.round,
            ramp_ns: slot.ramp_ns,
            measured_ns: slot.measured_ns,
            seed: random::slot_seed(plan.seed, slot.cell as u32, slot.round),
            generations: &self.generations[slot.cell],
            laid_out: self.sites.is_laid_out(slot.cell),
            keeps_seconds: judging::keeps_seconds(self.plan, slot.cell),
            run_started_ns: MonotonicClock.now_ns(),
            stop: self.stop,
        };
        let tries_repeats = is_first && repeats::applies(&self.plan.cells[slot.cell], self.plan.effort);
        // What fails here fails in the slot as well, which tells it.
        let repeats = tries_repeats.then(|| repeats::probe(&setup).ok().flatten()).flatten();
        let (clock, began_ns) = (self.clock, MonotonicClock.now_ns());
        let setup = SlotSetup { run_started_ns: began_ns, ..setup };
        emit(RunEvent::SlotStarted {
            cell: slot.cell,
            round: slot.round,
            t_ns: clock.since_start_ns(began_ns),
            ramp_ns: slot.ramp_ns,
            measured_ns: slot.measured_ns,
            purpose: judging::purpose(slot.purpose),
        });
        let held_before = touches_storage.then(|| storage::held(plan, &files));
        let before = Counters::take(self.sites.device(slot.cell));
        let mut intervals = Vec::new();
        let mut outcome = slot::visit(&setup, &mut |mut interval| {
            interval.t_ns = clock.since_start_ns(began_ns + interval.t_ns);
            intervals.push(interval.clone());
            emit(RunEvent::Interval { cell: slot.cell, interval });
        })?;
        let cost = Counters::take(self.sites.device(slot.cell)).since(&before);
        let held_after = plan.buffered.then(|| storage::held(plan, &files));
        if let Some(client) = &mut outcome.client {
            client.null_operations_per_second = null_rate;
        }
        let may_go_on = plan.keep_going || outcome.tally.errors.is_empty();
        self.so_far.add_open_loop(slot.cell, &outcome.tally.open_loop);
        self.so_far.stalled_seconds[slot.cell] += outcome.stalled_seconds;
        let so_far = findings::of_open_loop(&self.so_far.open_loops[slot.cell]).into_iter();
        let so_far = so_far.chain(findings::of_stalls(self.so_far.stalled_seconds[slot.cell]));
        for finding in findings::of_slot(&outcome, plan).into_iter().chain(so_far) {
            emit(RunEvent::Found { cell: slot.cell, finding });
        }
        let accounts = SlotAccounts {
            plan,
            target: Path::new(&self.plan.cells[slot.cell].target),
            device: self.sites.device(slot.cell),
            tally: &outcome.tally,
            cost: &cost,
        };
        let cache = held_before.map(|before| CacheActivity { repeats, ..accounts.cache(before, held_after) });
        let foreign = touches_storage.then(|| accounts.foreign());
        let result = SlotResult { cache, foreign, ..self.result(slot, outcome, cost) };
        let visit = judging::visit(result.from_ns, intervals.iter());
        let is_whole = !plan.verify && slot.measured_ns.is_some_and(|measured_ns| result.elapsed_ns >= measured_ns);
        let is_part = keeps_parts && !visit.seconds.is_empty();
        let is_cut = self.stop.load(Ordering::Relaxed) && !is_whole && !is_part;
        let result = SlotResult { is_cut, ..result };
        emit(RunEvent::SlotFinished(Box::new(result)));
        Ok(Some((visit, may_go_on)))
    }

    /// What the slot itself and the kernel's counters say.
    fn result(&self, slot: Slot, outcome: SlotOutcome, cost: SlotCost) -> SlotResult {
        let SlotOutcome { tally, from_ns, elapsed_ns, seconds, verification, client, worker_operations, .. } = outcome;
        let open = tally.open_loop.intended > 0;
        SlotResult {
            cell: slot.cell,
            round: slot.round,
            purpose: judging::purpose(slot.purpose),
            ramp_ns: slot.ramp_ns,
            from_ns: self.clock.since_start_ns(from_ns),
            elapsed_ns,
            cpu_operations: tally.completed(),
            cpu: cost.cpu,
            device: cost.device,
            client,
            worker_operations,
            seconds,
            service: open.then_some(tally.service),
            open_loop: open.then_some(tally.open_loop),
            read: tally.read.into_result(),
            write: tally.write.into_result(),
            sync: tally.sync.into_result(),
            verification,
            errors: tally.errors,
            ..SlotResult::default()
        }
    }

    /// Waits until that moment; `false` when the run is to stop.
    fn rest(&self, end_ns: u64) -> bool {
        use plimsoll_io::clock::{Precision, sleep_until_ns};
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let now = MonotonicClock.now_ns();
            if now >= end_ns {
                return true;
            }
            sleep_until_ns(end_ns.min(now + 50_000_000), Precision::Sleep);
        }
    }
}
