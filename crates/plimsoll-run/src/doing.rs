//! Visiting the cells of a plan, one after another or several at the same time, until the rules have had enough.

use std::{
    os::fd::BorrowedFd,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_applications::{
    application::{Application, StageError},
    leftovers::end_processes_of,
};
use plimsoll_files::set::FileSet;
use plimsoll_io::{
    clock::{Clock, MonotonicClock, Precision, sleep_until_ns},
    probe::{EngineKind, SelectedEngine},
};
use plimsoll_measure::session::{Session, Slot, Step, visit::Visit};
use plimsoll_record::{
    cache::{CacheActivity, RepeatedReads},
    event::{RunEvent, SlotResult},
    results::Interval,
};
use plimsoll_workload::{
    certainty::StoppingRule,
    file_set::FilePlan,
    plan::{BlockPlan, Plan},
    random,
    units::Span,
    verification::{self, GenerationMap},
};
use uuid::Uuid;

use crate::{
    appointment::{Appointed, Appointments},
    background::Background,
    counters::{Counters, SlotCost},
    file_visit::FileVisit,
    findings,
    headroom::Headroom,
    judging, parallel, repeats,
    resuming::RunClock,
    run::RunError,
    site::Sites,
    slot::{SlotOutcome, SlotSetup},
    storage::{self, Held, SlotAccounts},
    together,
};

/// The cells of a plan, being visited.
pub(crate) struct Doing<'a> {
    pub(crate) run: Uuid,
    pub(crate) plan: &'a Plan,
    /// What loads the machine meanwhile; absent also when it has ended and that is told.
    pub(crate) background: Option<Background>,
    pub(crate) engines: &'a [SelectedEngine],
    pub(crate) sites: &'a Sites,
    /// For each cell that works on a set of files, that set.
    pub(crate) file_sets: Vec<Option<FileSet>>,
    /// For each cell that runs commands, that application.
    pub(crate) applications: Vec<Option<Application>>,
    /// For each cell that verifies, what its jobs know of their blocks.
    pub(crate) generations: Vec<Vec<GenerationMap>>,
    /// Whether any cell had to be given up.
    pub(crate) failed: bool,
    pub(crate) headroom: Headroom,
    pub(crate) appointments: Appointments,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) clock: RunClock,
}

/// What is found out about a cell before a slot.
struct Preparation {
    null_rate: Option<f64>,
    repeats: Option<RepeatedReads>,
    held: Option<Result<Held, String>>,
}

/// What there is of a slot when it is over.
struct Measured {
    preparation: Preparation,
    outcome: SlotOutcome,
    cost: SlotCost,
    intervals: Vec<Interval>,
    /// Whether no other slot was done at the same time.
    is_alone: bool,
}

/// A slot that was done: what the rules are to know of it, and whether the cell may be visited again.
struct Done {
    slot: Slot,
    visit: Visit,
    may_go_on: bool,
}

/// Maps for the jobs of every cell that verifies what this process writes.
pub(crate) fn generations(plan: &Plan, writer: u64) -> Vec<Vec<GenerationMap>> {
    let of = |cell: usize, plan: &BlockPlan| -> Vec<GenerationMap> {
        let jobs = if plan.verify { 0..plan.jobs } else { 0..0 };
        let seed = |job| verification::seed_of(writer, plan, cell, job);
        jobs.map(|job| GenerationMap::new(seed(job), plan.job_region(job), plan.block_size_bytes_max)).collect()
    };
    let cells = plan.cells.iter().enumerate();
    cells.map(|(index, cell)| cell.blocks().map(|blocks| of(index, blocks)).unwrap_or_default()).collect()
}

/// How far a cell and the run are.
pub(crate) fn progress(session: &Session, plan: &Plan, cell: usize, now_ns: u64) -> RunEvent {
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

/// How a warning begins that the command in the background has ended before the run.
pub(crate) const BACKGROUND_ENDED: &str = "the background command ended";

impl<'a> Doing<'a> {
    /// Visits cells until the rules have had enough. Returns whether any cell had to be given up.
    pub(crate) fn all(&mut self, session: &mut Session, emit: &mut dyn FnMut(RunEvent)) -> Result<bool, RunError> {
        if !self.set_up_applications(session, emit)? {
            return Ok(false);
        }
        (0..self.plan.cells.len()).for_each(|cell| emit(progress(session, self.plan, cell, self.clock.now_ns())));
        while !self.stop.load(Ordering::Relaxed) {
            match session.next_step(self.clock.now_ns()) {
                Step::Done => break,
                Step::WaitUntil(until_ns) => {
                    self.rest(self.clock.monotonic_ns(until_ns), emit);
                }
                Step::Visit(slot) => {
                    let slots = [vec![slot], session.company(&slot)].concat();
                    if !self.rest(MonotonicClock.now_ns() + self.shortest_delay_ns(&slots), emit) {
                        break;
                    }
                    let done = self.visit(&slots, session, emit)?;
                    for Done { slot, visit, may_go_on } in done {
                        session.observe(&slot, visit);
                        if !may_go_on {
                            session.abandon(slot.cell);
                            self.failed = true;
                        }
                        emit(progress(session, self.plan, slot.cell, self.clock.now_ns()));
                    }
                }
            }
        }
        for (cell, plan) in self.plan.cells.iter().enumerate() {
            for finding in findings::of_plan(plan, self.sites.kind(cell)) {
                emit(RunEvent::Found { cell, finding });
            }
        }
        Ok(self.failed)
    }

    /// Says once that the command in the background has ended before the run. It is said in front of the end of the
    /// slot that was the first without it: it is as true as that slot counts.
    fn tell_early_end(&mut self, emit: &mut dyn FnMut(RunEvent)) {
        let Some(ended) = self.background.as_mut().and_then(Background::ended) else { return };
        let at_ns = self.clock.since_start_ns(ended.at_ns);
        let text = format!(
            "{BACKGROUND_ENDED} {} into the run ({}): what was measured later was measured without it",
            Span { ns: at_ns / 100_000_000 * 100_000_000 },
            ended.how
        );
        self.background = None;
        emit(RunEvent::Warning { text });
    }

    /// The pause that a slot asks for before its first operation.
    fn delay_ns(&self, slot: &Slot) -> u64 {
        if slot.round == 0 { self.plan.cells[slot.cell].work.start_delay_ns() } else { 0 }
    }

    fn shortest_delay_ns(&self, slots: &[Slot]) -> u64 {
        slots.iter().map(|slot| self.delay_ns(slot)).min().unwrap_or_default()
    }

    /// Does slots at the same time; most often it is one.
    fn visit(
        &mut self,
        slots: &[Slot],
        session: &Session,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Vec<Done>, RunError> {
        if slots.iter().any(|slot| self.applications[slot.cell].is_some()) {
            return self.visit_applications(slots, emit);
        }
        if let [slot] = slots
            && let Some(plan) = self.plan.cells[slot.cell].files()
        {
            return self.visit_files(*slot, plan, emit);
        }
        let is_alone = slots.len() == 1;
        for names in slots.iter().filter_map(|slot| self.sites.names(slot.cell)) {
            names.make_ready(self.stop, emit)?;
        }
        let preparations: Vec<Preparation> = slots.iter().map(|slot| self.prepare(slot, is_alone)).collect();
        let Some(not_before_ns) = self.keep_appointment(slots, emit)? else { return Ok(Vec::new()) };
        let (clock, began_ns) = (self.clock, MonotonicClock.now_ns());
        let files: Vec<_> = slots.iter().map(|slot| self.sites.files(slot.cell)).collect();
        let waited_ns = self.shortest_delay_ns(slots);
        let over = AtomicBool::new(false);
        let mut setups: Vec<SlotSetup<'_>> = Vec::with_capacity(slots.len());
        for (slot, files) in slots.iter().zip(&files) {
            let delay_ns = self.delay_ns(slot) - waited_ns;
            let over = Some(&over);
            let run_started_ns = began_ns;
            let first_worker = setups.iter().map(SlotSetup::workers).sum();
            let setup = self.setup(slot, files);
            setups.push(SlotSetup { first_worker, not_before_ns, delay_ns, run_started_ns, over, ..setup });
            emit(RunEvent::SlotStarted {
                cell: slot.cell,
                round: slot.round,
                t_ns: clock.since_start_ns(began_ns),
                ramp_ns: slot.ramp_ns,
                measured_ns: slot.measured_ns,
                purpose: judging::purpose(slot.purpose),
            });
        }
        let counters = |slot: &Slot| Counters::take(self.sites.devices(slot.cell));
        let before: Vec<Counters> = slots.iter().map(counters).collect();
        let mut intervals = vec![Vec::new(); slots.len()];
        let outcomes = together::visit(&setups, &mut |index, mut interval| {
            interval.t_ns = clock.since_start_ns(began_ns + interval.t_ns);
            intervals[index].push(interval.clone());
            emit(RunEvent::Interval { cell: slots[index].cell, interval });
        })?;
        let costs = slots.iter().zip(&before).map(|(slot, before)| counters(slot).since(before)).collect();
        self.tell_early_end(emit);
        let costs = together::share_out(costs, &outcomes);
        let measured = preparations.into_iter().zip(outcomes).zip(costs.into_iter().zip(intervals));
        let mut done = Vec::with_capacity(slots.len());
        for (slot, ((preparation, outcome), (cost, intervals))) in slots.iter().zip(measured) {
            let measured = Measured { preparation, outcome, cost, intervals, is_alone };
            done.push(self.conclude(*slot, measured, session.keeps_parts(slot.cell), emit));
        }
        Ok(done)
    }

    /// Has the phases of a set of files done once.
    fn visit_files(
        &mut self,
        slot: Slot,
        plan: &'a FilePlan,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Vec<Done>, RunError> {
        if self.keep_appointment(&[slot], emit)?.is_none() {
            return Ok(Vec::new());
        }
        let (cell, purpose) = (slot.cell, judging::purpose(slot.purpose));
        let t_ns = self.clock.now_ns();
        emit(RunEvent::SlotStarted { cell, round: slot.round, t_ns, ramp_ns: 0, measured_ns: None, purpose });
        let set = self.file_sets[cell].as_mut().expect("every cell of files has a set");
        let (devices, clock, stop) = (self.sites.devices(cell), self.clock, self.stop);
        let keeps_files = self.sites.keeps_files();
        let result = FileVisit { cell, plan, set, devices, clock, keeps_files, stop }.run(emit)?;
        self.tell_early_end(emit);
        let result = SlotResult { round: slot.round, purpose, ..result };
        let may_go_on = judging::may_go_on(&self.plan.cells[cell].work, &result);
        let visit = judging::visit(&result, [].iter());
        emit(RunEvent::SlotFinished(Box::new(result)));
        Ok(vec![Done { slot, visit, may_go_on }])
    }

    /// Does the setups of all applications that are still to be timed; `false` when the run is to stop instead.
    fn set_up_applications(&mut self, session: &Session, emit: &mut dyn FnMut(RunEvent)) -> Result<bool, RunError> {
        for (cell, application) in self.applications.iter_mut().enumerate() {
            let Some(application) = application.as_mut().filter(|_| !session.is_closed(cell)) else { continue };
            match application.set_up(self.stop, &mut |stage| emit(RunEvent::StageProgress { cell, stage })) {
                Ok(()) => {}
                Err(StageError::Stopped) => return Ok(false),
                Err(error) => {
                    let target = self.plan.cells[cell].target.clone();
                    return Err(RunError::SetUp { target, error });
                }
            }
        }
        Ok(true)
    }

    /// Has an iteration of an application done, or of one on several targets at the same time.
    fn visit_applications(&mut self, slots: &[Slot], emit: &mut dyn FnMut(RunEvent)) -> Result<Vec<Done>, RunError> {
        if self.keep_appointment(slots, emit)?.is_none() {
            return Ok(Vec::new());
        }
        let (plan, clock, stop, sites) = (self.plan, self.clock, self.stop, self.sites);
        for Slot { cell, round, purpose, .. } in slots {
            let (cell, round, purpose) = (*cell, *round, judging::purpose(*purpose));
            emit(RunEvent::SlotStarted { cell, round, t_ns: clock.now_ns(), ramp_ns: 0, measured_ns: None, purpose });
        }
        let applications = self.applications.iter_mut().enumerate();
        let applications = applications.filter_map(|(cell, application)| {
            let slot = slots.iter().find(|slot| slot.cell == cell)?;
            Some((*slot, application.as_mut()?, sites.devices(cell)))
        });
        let results = parallel::visit(plan, applications.collect(), clock, stop, emit)?;
        self.tell_early_end(emit);
        // What was timed beside one that was stopped is done again with it.
        let Some(results) = results.into_iter().map(|(slot, result)| Some((slot, result?))).collect::<Option<Vec<_>>>()
        else {
            return Ok(Vec::new());
        };
        let mut done = Vec::with_capacity(results.len());
        for (slot, result) in results {
            let result = SlotResult { purpose: judging::purpose(slot.purpose), ..result };
            let may_go_on = judging::may_go_on(&plan.cells[slot.cell].work, &result);
            let visit = judging::visit(&result, [].iter());
            emit(RunEvent::SlotFinished(Box::new(result)));
            done.push(Done { slot, visit, may_go_on });
        }
        Ok(done)
    }

    /// Ends all applications, and tells which did not go quietly.
    pub(crate) fn close_applications(&mut self, emit: &mut dyn FnMut(RunEvent)) {
        let is_stopped = self.stop.load(Ordering::Relaxed);
        for (cell, application) in self.applications.iter_mut().enumerate() {
            if let Some(Err(error)) = application.as_mut().map(|application| application.close(is_stopped)) {
                let target = &self.plan.cells[cell].target;
                emit(RunEvent::Warning { text: format!("on {target}: {error}") });
            }
        }
        if self.applications.iter().any(Option::is_some) {
            // What nobody knew to be an application's.
            match end_processes_of(self.run, None) {
                0 => {}
                left => emit(RunEvent::Warning { text: format!("{left} processes of this run did not end") }),
            }
        }
    }

    /// Waits until all who measure at the same time are about to begin, and gives the moment before which they do not;
    /// `None` when the run is to stop instead.
    fn keep_appointment(&mut self, slots: &[Slot], emit: &mut dyn FnMut(RunEvent)) -> Result<Option<u64>, RunError> {
        /// Enough for the workers to be ready.
        const EARLIER_NS: u64 = 300_000_000;
        let length_ns = |slot: &Slot| {
            [self.delay_ns(slot), slot.ramp_ns, slot.measured_ns.unwrap_or(0)].into_iter().fold(0, u64::saturating_add)
        };
        let length_ns = slots.iter().map(length_ns).max().unwrap_or(0);
        Ok(match self.appointments.next(length_ns).map_err(RunError::Start)? {
            Appointed::Now => Some(0),
            Appointed::At(at_ns) => self.rest(at_ns.saturating_sub(EARLIER_NS), emit).then_some(at_ns),
            Appointed::Never => None,
        })
    }

    fn setup<'b>(&'b self, slot: &Slot, files: &'b [BorrowedFd<'b>]) -> SlotSetup<'b> {
        let plan = self.blocks(slot.cell);
        SlotSetup {
            first_worker: 0,
            plan,
            engine: self.engines[slot.cell].kind,
            in_memory: false,
            files,
            names: self.sites.names(slot.cell),
            devices: self.sites.devices(slot.cell),
            round: slot.round,
            not_before_ns: 0,
            delay_ns: 0,
            ramp_ns: slot.ramp_ns,
            measured_ns: slot.measured_ns,
            seed: random::slot_seed(plan.seed, slot.cell as u32, slot.round),
            generations: &self.generations[slot.cell],
            laid_out: self.sites.is_laid_out(slot.cell),
            keeps_seconds: judging::keeps_seconds(self.plan, slot.cell),
            run_started_ns: MonotonicClock.now_ns(),
            stop: self.stop,
            over: None,
        }
    }

    /// What a cell does that does not work on a set of files.
    fn blocks(&self, cell: usize) -> &'a BlockPlan {
        self.plan.cells[cell].blocks().expect("cells of files are visited by a way of their own")
    }

    /// Finds out what is to be known of a cell before a slot.
    fn prepare(&mut self, slot: &Slot, is_alone: bool) -> Preparation {
        let plan = self.blocks(slot.cell);
        let engine = self.engines[slot.cell].kind;
        let touches_storage = engine != EngineKind::Memory && plan.name_operation().is_none();
        let is_first = slot.round == 0 && touches_storage;
        let null_rate = is_first.then(|| self.headroom.null_operations_per_second(plan, engine, self.stop)).flatten();
        let tries_repeats = is_first && is_alone && repeats::applies(&self.plan.cells[slot.cell], self.plan.effort);
        let files = self.sites.files(slot.cell);
        // What fails here fails in the slot as well, which tells it.
        let repeats = tries_repeats.then(|| repeats::probe(&self.setup(slot, &files)).ok().flatten()).flatten();
        let held = touches_storage.then(|| storage::held(plan, &files));
        Preparation { null_rate, repeats, held }
    }

    /// Tells what a slot measured.
    fn conclude(&mut self, slot: Slot, measured: Measured, keeps_parts: bool, emit: &mut dyn FnMut(RunEvent)) -> Done {
        let Measured { preparation, mut outcome, cost, intervals, is_alone } = measured;
        let plan = self.blocks(slot.cell);
        let is_of_names = plan.name_operation().is_some();
        let touches_storage = self.engines[slot.cell].kind != EngineKind::Memory && !is_of_names;
        let asks_again = plan.buffered && preparation.held.is_some();
        let held_after = asks_again.then(|| storage::held(plan, &self.sites.files(slot.cell)));
        if let Some(client) = &mut outcome.client {
            client.null_operations_per_second = preparation.null_rate;
        }
        if let Some(operation) = plan.name_operation() {
            outcome.tally.errors.iter_mut().for_each(|error| error.operation = operation.to_string());
        }
        if let Some(verification) = outcome.verification.as_mut().filter(|_| plan.writes()) {
            let is_laid_out = self.sites.is_laid_out(slot.cell);
            let known = self.generations[slot.cell].iter().flat_map(|map| map.known_blocks(is_laid_out));
            verification.blocks_left = (known.count() as u64).saturating_sub(verification.blocks_read_back);
        }
        for finding in findings::of_slot(&outcome, plan, slot.measured_ns) {
            emit(RunEvent::Found { cell: slot.cell, finding });
        }
        let accounts = SlotAccounts {
            plan,
            target: Path::new(&self.plan.cells[slot.cell].target),
            device: self.sites.device(slot.cell),
            tally: &outcome.tally,
            cost: &cost,
            is_alone,
        };
        let repeats = preparation.repeats;
        let cache = preparation.held.map(|before| CacheActivity { repeats, ..accounts.cache(before, held_after) });
        let foreign = touches_storage.then(|| accounts.foreign());
        let result = SlotResult { cache, foreign, ..self.result(slot, outcome, cost) };
        let visit = judging::visit(&result, intervals.iter());
        let is_whole = !plan.verify && slot.measured_ns.is_some_and(|measured_ns| result.elapsed_ns >= measured_ns);
        let is_part = keeps_parts && !visit.seconds.is_empty();
        let is_cut = self.stop.load(Ordering::Relaxed) && !is_whole && !is_part;
        let result = SlotResult { is_cut, ..result };
        let may_go_on = judging::may_go_on(&self.plan.cells[slot.cell].work, &result);
        emit(RunEvent::SlotFinished(Box::new(result)));
        Done { slot, visit, may_go_on }
    }

    /// What the slot itself and the kernel's counters say.
    fn result(&self, slot: Slot, outcome: SlotOutcome, cost: SlotCost) -> SlotResult {
        let SlotOutcome { tally, from_ns, elapsed_ns, seconds, verification, client, .. } = outcome;
        let SlotOutcome { worker_operations, job_results, .. } = outcome;
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
            job_results,
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

    /// Waits until that moment, and tells of longer waits once a second; `false` when the run is to stop.
    fn rest(&self, end_ns: u64, emit: &mut dyn FnMut(RunEvent)) -> bool {
        const TOLD_EVERY_NS: u64 = 1_000_000_000;
        let began_ns = MonotonicClock.now_ns();
        let is_short = end_ns.saturating_sub(began_ns) < TOLD_EVERY_NS;
        let mut due_ns = if is_short { u64::MAX } else { began_ns };
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let now = MonotonicClock.now_ns();
            if now >= end_ns {
                return true;
            }
            if now >= due_ns {
                due_ns = now + TOLD_EVERY_NS;
                emit(RunEvent::Waiting { left_ns: end_ns - now });
            }
            sleep_until_ns(end_ns.min(now + 50_000_000), Precision::Sleep);
        }
    }
}
