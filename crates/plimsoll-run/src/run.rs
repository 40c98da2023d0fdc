//! Doing a plan: targets are opened and laid out, cells visited in the order the schedule says, and everything that
//! happens told as events. The record is the fold of those events.

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::Timestamp;
use plimsoll_applications::application::{Application, StageError};
use plimsoll_files::set::SetError;
use plimsoll_io::{probe::EngineUnavailable, target::TargetError, write_guard::Refusal};
use plimsoll_measure::session::Session;
use plimsoll_record::{
    builder::RecordBuilder,
    event::{RunEvent, RunStarted},
    judgement::{self, Judgement},
    record::{Outcome, Record},
    results::Finding,
};
use plimsoll_workload::{
    error_chain::chain,
    plan::Plan,
    random::{Purpose, derive_seed},
    units::{Span, in_one_unit},
};
use thiserror::Error;
use uuid::Uuid;

use crate::{
    appointment::{Appointments, AskStart},
    background::{Background, BackgroundError},
    doing::{self, Doing},
    engines, evidence,
    headroom::Headroom,
    layout::LayoutError,
    memory,
    objects::{
        FilesAfter, ObjectError,
        in_common::{CommonFiles, CommonFilesError},
    },
    parallel,
    resuming::{Resuming, RunClock, restore},
    room,
    site::{Making, Sites, check_users},
    slot::SlotError,
};

/// What commands that are timed find on the machine.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Where directories are made for what is not to be measured.
    pub temporary_directory: PathBuf,
    /// The variables that commands of another user have, beside those that tell them of the run.
    pub environment: Vec<(OsString, OsString)>,
}

/// Everything a run needs to know.
pub struct RunRequest {
    /// What is told of it when it begins.
    pub started: RunStarted,
    /// Devices that may be overwritten, when they bear no known signature.
    pub destroy: Vec<PathBuf>,
    /// What becomes of test files.
    pub files_after: FilesAfter,
    /// Where to note what test files exist, so that a later command can remove them.
    pub state_directory: Option<PathBuf>,
    /// What commands find.
    pub surroundings: Surroundings,
    /// What was done before, when this goes on with a run that was interrupted.
    pub resuming: Option<Resuming>,
    /// Who says when it begins, when it is done by several at the same time.
    pub start: Option<AskStart>,
    /// Its part in test files that those several have in common.
    pub common: Option<CommonFiles>,
}

impl RunRequest {
    /// A run from its beginning, by this machine alone, that may overwrite no device and leaves nothing behind.
    pub fn new(started: RunStarted) -> Self {
        Self {
            started,
            destroy: Vec::new(),
            files_after: FilesAfter::AsBefore,
            state_directory: None,
            surroundings: Surroundings::default(),
            resuming: None,
            start: None,
            common: None,
        }
    }
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
    /// The same, as was seen only when it was to begin.
    #[error("--max-time {} left too little time for a first slot: allow more", Span { ns: *allowed_ns })]
    TimeOver {
        /// What might be used.
        allowed_ns: u64,
    },
    /// Verification would have to check what nobody knows.
    #[error("\"{target}\" {problem}")]
    Unverifiable {
        /// The path as given.
        target: String,
        /// What is wrong and what to do.
        problem: &'static str,
    },
    /// A file cannot be made in two ways.
    #[error(
        "\"{file}\" is one file for several workloads, and one wants it {}, another {} before the first slot: give them \
         the same layout and payload, or {instead}", wanted[0], wanted[1]
    )]
    TwoLayouts {
        /// The path as given.
        file: String,
        /// What they want.
        wanted: [String; 2],
        /// What else to do.
        instead: &'static str,
    },
    /// A file that plimsoll did not make is too short to be read as asked, and only its owner may lengthen it.
    #[error("{} has {bytes} bytes, and {needed_bytes} are to be read: lower --size, or remove it so that it is made", path.display())]
    TooShort {
        /// The file.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
        /// How long it would have to be.
        needed_bytes: u64,
    },
    /// Applications cannot be timed at the same time on one disk.
    #[error(
        "--parallel: \"{first}\" and \"{second}\" are on the same disk, which both would share: leave --parallel out"
    )]
    SameDisk {
        /// A path as given.
        first: String,
        /// Another.
        second: String,
    },
    /// Nor without a processor for each.
    #[error(
        "--parallel gives each target processors of its own, and there are {processors} for {targets}: leave it out"
    )]
    FewProcessors {
        /// Those that this process may use.
        processors: usize,
        /// Targets that are to be timed at the same time.
        targets: usize,
    },
    /// More files than this process may have open.
    #[error(
        "the files of this run need {needed} open at once and this process may have {limit}: lower --file-count or \
         --jobs, or raise the limit (ulimit -Hn)"
    )]
    OpenFiles {
        /// How many have to be.
        needed: u64,
        /// How many may be.
        limit: u64,
    },
    /// More blocks to verify than can be remembered.
    #[error(
        "--verify remembers what each block should hold, which may take {} of memory here, and this process cannot have \
         so much: verify less of it (--size), or larger blocks (--block-size)", in_one_unit([*needed_bytes]).concat()
    )]
    Memory {
        /// What it takes when all of them are written.
        needed_bytes: u64,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Test files cannot be made.
    #[error(transparent)]
    Objects(ObjectError),
    /// There are no test files in common.
    #[error(transparent)]
    Common(#[from] CommonFilesError),
    /// Test files cannot be filled.
    #[error(transparent)]
    Layout(LayoutError),
    /// No engine can be used.
    #[error(transparent)]
    Engine(#[from] EngineUnavailable),
    /// Nobody says when to begin.
    #[error("{0}")]
    Start(String),
    /// The machine cannot be loaded as asked.
    #[error(transparent)]
    Background(#[from] BackgroundError),
    /// The user whose rights commands are to have is not there.
    #[error(transparent)]
    NoUser(StageError),
    /// An application cannot be made ready.
    #[error(transparent)]
    Application(#[from] StageError),
    /// An application cannot begin on a target.
    #[error("on \"{target}\": {error}")]
    SetUp {
        /// The path as given.
        target: String,
        /// Why not.
        error: StageError,
    },
    /// The engine or the layout failed.
    #[error("the run failed")]
    Io(#[source] io::Error),
    /// A worker panicked.
    #[error("a worker panicked: this is a bug in plimsoll, please report it")]
    Bug(#[source] SlotError),
    /// A job that worked on a set of files panicked.
    #[error("a worker panicked: this is a bug in plimsoll, please report it")]
    FileJob(#[source] SetError),
}

impl From<ObjectError> for RunError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Create { path, source } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                Self::Target(TargetError::ReadOnly(path))
            }
            error => Self::Objects(error),
        }
    }
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

/// Nothing is made that there is no room for.
fn check_room(plan: &Plan, common: Option<CommonFiles>) -> Result<(), RunError> {
    room::check(plan, common.is_none_or(|common| common.makes())).map_err(RunError::Layout)
}

/// A number that no other process has, of this run or another: what it writes is never taken for what was there before.
fn writer(run: Uuid, began: Timestamp) -> u64 {
    let (high, low) = run.as_u64_pair();
    let of_run = derive_seed(high, Purpose::VerifiedFile, low);
    derive_seed(of_run, Purpose::VerifiedFile, began.as_nanosecond() as u64)
}

/// Does a plan. Every event is handed to `on_event` as it happens; setting `stop` ends the run soon, with a partial
/// record. An `Err` means that nothing was measured at all.
pub fn run(request: RunRequest, stop: &AtomicBool, on_event: &mut dyn FnMut(&RunEvent)) -> Result<Record, RunError> {
    let RunRequest { started, destroy, files_after, state_directory, surroundings, resuming, start, common } = request;
    let (id, plan) = (started.id, started.plan.clone());
    let writer = writer(id, resuming.as_ref().map_or(started.started, |resuming| resuming.at));
    // What can refuse does so before anything is created or announced.
    let engines = engines::select(&plan, resuming.as_ref())?;
    let guards = Sites::guard(&plan, &destroy)?;
    check_time(&plan)?;
    check_room(&plan, common)?;
    memory::check(&plan)?;
    check_users(&plan)?;
    let warnings = parallel::check(&plan)?;
    let command = started.asked.background.clone();
    let mut story = Story { builder: RecordBuilder::new(started.clone()), on_event };
    story.tell(&RunEvent::Started(Box::new(started)));
    for text in warnings {
        story.tell(&RunEvent::Warning { text });
    }
    let mut session = Session::new(judgement::session_plan(&plan));
    let (failed, t_ns) = match &resuming {
        Some(resuming) => story.resume(&plan, resuming, &mut session),
        None => (false, 0),
    };
    let clock = RunClock::from_now(t_ns);
    let has_ended = |text: &String| text.starts_with(doing::BACKGROUND_ENDED);
    if resuming.is_some() && story.builder.record().warnings.iter().any(has_ended) {
        let text = format!(
            "the background command was started again {} into the run",
            Span { ns: t_ns / 100_000_000 * 100_000_000 }
        );
        story.tell(&RunEvent::Warning { text });
    }
    let rounds_before = rounds(story.builder.record());
    for (cell, engine) in engines.iter().enumerate() {
        if resuming.as_ref().is_none_or(|resuming| resuming.engine(cell).is_none()) {
            story.tell(&RunEvent::EngineSelected {
                cell,
                engine: engines::choice(engine),
                reason: engine.reason.clone(),
            });
        }
    }
    let mut emit = |event| story.tell(&event);
    let (state_directory, goes_on) = (state_directory.as_deref(), resuming.is_some());
    let making = Making { run: id, goes_on, writer, files_after, state_directory, common };
    let result = Sites::open(&plan, guards, making, stop, &mut emit).and_then(|mut sites| {
        let mut applications = sites.applications(&plan, &surroundings)?;
        if command.is_none() {
            let in_turns = applications.iter_mut().zip(&plan.cells).filter(|(_, cell)| cell.phase.is_none());
            in_turns.filter_map(|(application, _)| application.as_mut()).for_each(Application::be_alone);
        }
        let mut doing = Doing {
            run: id,
            plan: &plan,
            background: command.as_deref().map(Background::start).transpose()?,
            engines: &engines,
            sites: &sites,
            file_sets: sites.file_sets(&plan)?,
            applications,
            generations: doing::generations(&plan, writer),
            failed,
            headroom: Headroom::default(),
            appointments: Appointments::new(start),
            stop,
            clock,
        };
        let done = doing.all(&mut session, &mut emit);
        doing.close_applications(&mut emit);
        drop(doing);
        sites.close(&mut emit);
        done
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
        story.tell(&RunEvent::Warning { text: chain(error) });
    }
    story.tell(&RunEvent::Finished { elapsed_ns: clock.now_ns(), outcome });
    let record = story.builder.finish();
    match result {
        // What was measured before the failure is worth keeping; a run that measured nothing is just an error.
        Err(error) if outcome == Outcome::Failed && rounds(&record) == rounds_before => Err(error),
        Ok(_) if outcome == Outcome::Complete && rounds(&record) == 0 => match plan.max_time_ns {
            Some(allowed_ns) => Err(RunError::TimeOver { allowed_ns }),
            None => Ok(record),
        },
        _ => Ok(record),
    }
}

/// Makes the files of a plan, and measures nothing.
///
/// # Errors
/// When they cannot be made.
pub fn prepare_files(request: RunRequest, stop: &AtomicBool) -> Result<(), RunError> {
    let RunRequest { started, destroy, files_after, state_directory, common, .. } = request;
    let RunStarted { id, plan, started, .. } = started;
    let guards = Sites::guard(&plan, &destroy)?;
    check_room(&plan, common)?;
    let (writer, state_directory) = (writer(id, started), state_directory.as_deref());
    let making = Making { run: id, goes_on: false, writer, files_after, state_directory, common };
    let sites = Sites::open(&plan, guards, making, stop, &mut |_| {})?;
    (0..plan.cells.len()).try_for_each(|cell| sites.make_existing(cell, stop))?;
    sites.close(&mut |_| {});
    Ok(())
}

/// Slots that are done.
fn rounds(record: &Record) -> u32 {
    record.cells.iter().map(|cell| cell.rounds_done).sum()
}

/// The events so far as a record, and who else listens.
pub(crate) struct Story<'a> {
    pub(crate) builder: RecordBuilder,
    pub(crate) on_event: &'a mut dyn FnMut(&RunEvent),
}

impl Story<'_> {
    pub(crate) fn tell(&mut self, event: &RunEvent) {
        self.builder.apply(event);
        (self.on_event)(event);
        if let RunEvent::SlotFinished(slot) = event {
            let cell = &self.builder.record().cells[slot.cell];
            // The numbers behind a sentence that stays the same are told when the run has ended.
            let is_known = |found: &Finding| {
                cell.findings.iter().any(|known| (&known.code, &known.text) == (&found.code, &found.text))
            };
            let found: Vec<Finding> = evidence::so_far(cell).into_iter().filter(|found| !is_known(found)).collect();
            found.into_iter().for_each(|finding| self.find(slot.cell, finding));
        }
    }

    /// Tells a sentence about a cell that the record does not have yet.
    fn find(&mut self, cell: usize, finding: Finding) {
        if !self.builder.record().cells[cell].findings.contains(&finding) {
            self.tell(&RunEvent::Found { cell, finding });
        }
    }

    /// Takes in what happened before, and tells that the run goes on. Returns whether any cell had to be given up, and
    /// the time since the start of the run.
    fn resume(&mut self, plan: &Plan, resuming: &Resuming, session: &mut Session) -> (bool, u64) {
        resuming.events.iter().for_each(|event| self.builder.apply(event));
        let failed = restore(plan, &resuming.events, session);
        let Record { started, elapsed_ns, .. } = self.builder.record();
        let resumption = resuming.resumption(*started, *elapsed_ns);
        session.pause(*elapsed_ns, resumption.t_ns);
        self.tell(&RunEvent::Resumed(resumption));
        for text in &resuming.warnings {
            self.tell(&RunEvent::Warning { text: text.clone() });
        }
        // What is left, before files are written anew.
        (0..plan.cells.len()).for_each(|cell| self.tell(&doing::progress(session, plan, cell, resumption.t_ns)));
        (failed, resumption.t_ns)
    }

    /// What may be said of each cell, now that nothing more is measured.
    pub(crate) fn conclude(&mut self, session: &mut Session) {
        for cell in 0..self.builder.record().cells.len() {
            let record = self.builder.record();
            if let Some(overruling) = evidence::overruling(&record.cells[cell], &record.environment) {
                session.overrule(cell, overruling);
            }
            self.tell(&RunEvent::CellFinished { cell, judgement: Box::new(Judgement::of(&session.answer(cell))) });
            let record = self.builder.record();
            let hidden = session.hidden_burst(cell);
            for finding in evidence::of_cell(&record.cells[cell], record, hidden) {
                self.find(cell, finding);
            }
        }
        let record = self.builder.record();
        let of_several = [evidence::of_sweeps(&record.cells), evidence::of_arrays(record)].concat();
        for (cell, finding) in of_several {
            self.find(cell, finding);
        }
    }
}

/// A first slot fits in the time that may be used.
pub(crate) fn check_time(plan: &Plan) -> Result<(), RunError> {
    let session = Session::new(judgement::session_plan(plan));
    let (Some(allowed_ns), needed_ns) = (plan.max_time_ns, session.shortest_visit_ns()) else { return Ok(()) };
    if allowed_ns < needed_ns { Err(RunError::NoTime { allowed_ns, needed_ns }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use plimsoll_record::{event::SlotResult, results::OpenLoopResult};
    use plimsoll_workload::certainty::StoppingRule;

    use super::*;
    use crate::test_plans::started;

    #[test]
    fn who_goes_on_tells_what_is_left_before_files_are_written() {
        let second_ns = 1_000_000_000;
        let mut begun = started("rw = 'randread'\nramp = '0s'\nduration = '24s'");
        begun.plan.cells[0].stopping = StoppingRule::Fixed { slots: 6, discarded: 0 };
        begun.plan.cells[0].work.blocks_mut().unwrap().slot_ns = Some(4 * second_ns);
        let plan = begun.plan.clone();
        let slot = |round: u32| {
            let from_ns = u64::from(round) * 4 * second_ns;
            SlotResult { round, from_ns, elapsed_ns: 4 * second_ns, ..SlotResult::default() }
        };
        let events = (0..5).map(|round| RunEvent::SlotFinished(Box::new(slot(round)))).collect();
        let resuming = Resuming { at: jiff::Timestamp::UNIX_EPOCH, events, warnings: Vec::new() };
        let mut session = Session::new(judgement::session_plan(&plan));
        let mut left_ns = Vec::new();
        let mut on_event = |event: &RunEvent| {
            if let RunEvent::CellProgress { run_remaining_ns, .. } = event {
                left_ns.push(*run_remaining_ns);
            }
        };
        let mut story = Story { builder: RecordBuilder::new(begun), on_event: &mut on_event };
        story.resume(&plan, &resuming, &mut session);
        assert_eq!(left_ns, [4 * second_ns]);
    }

    #[test]
    fn what_slots_so_far_add_up_to_is_told_after_each_and_once() {
        let begun = started("rw = 'randread'\nduration = '4s'\nrate = 1000");
        let mut session = Session::new(judgement::session_plan(&begun.plan));
        let mut told = Vec::new();
        let mut on_event = |event: &RunEvent| {
            if let RunEvent::Found { finding, .. } = event
                && finding.code == "open-loop-late"
            {
                told.push(finding.evidence["waited"].as_u64().unwrap());
            }
        };
        let mut story = Story { builder: RecordBuilder::new(begun), on_event: &mut on_event };
        for (round, late) in [3, 0, 40].into_iter().enumerate() {
            let open_loop = Some(OpenLoopResult { intended: 4000, late, ..OpenLoopResult::default() });
            let slot = SlotResult { round: round as u32, open_loop, ..SlotResult::default() };
            story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        }
        story.conclude(&mut session);
        assert_eq!(told, [3, 3, 43], "the sentence of the second slot is about more operations");
    }

    #[test]
    fn no_two_processes_write_the_same_verified_blocks() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("kept");
        let workload = "rw = 'randrw'\nverify = true\nengine = 'psync'\nbuffered = true\nsize = '64KiB'\nloops = 2";
        // The seed of the first block after a run that is that many seconds old.
        let seed = |run, resumed_s: Option<i64>| {
            let mut begun = started(workload);
            begun.id = Uuid::from_u128(run);
            begun.plan.cells[0].target = path.to_str().unwrap().to_owned();
            let resuming = resumed_s.map(|at| Resuming {
                at: Timestamp::from_second(at).unwrap(),
                events: Vec::new(),
                warnings: Vec::new(),
            });
            let request = RunRequest { resuming, files_after: FilesAfter::Kept, ..RunRequest::new(begun) };
            let record = super::run(request, &AtomicBool::new(false), &mut |_| {}).unwrap();
            let found = record.cells[0].verification.as_ref().unwrap();
            assert!(found.mismatches == 0 && found.blocks_read_back == 16, "{found:?}");
            fs::read(&path).unwrap()[16..24].to_owned()
        };
        let seeds: BTreeSet<_> =
            [(1, None), (2, None), (2, Some(60)), (2, Some(90))].map(|(run, at)| seed(run, at)).into();
        assert_eq!(seeds.len(), 4, "all of them have the same seed in their plan");
    }
}
