//! One phase: all jobs begin together, and what they did is put together.

use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_workload::{
    file_mix::FileMix,
    file_set::{FilePhase, FileSync, PhaseEnd},
    plan::share,
};
use rustix::fs::syncfs;

use crate::{
    calls::Times,
    job::mix::Part,
    job::{Job, JobReport},
    set::{FileSet, Present, SetError, Stretch},
};

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(200);

/// What jobs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// A phase.
    Phase(FilePhase),
    /// The contrary of one.
    Undo(FilePhase),
    /// Removing the last fifth of each job's files, so that there is room for new ones.
    Thin,
}

/// What ends a phase before all is done.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    /// The run is to stop.
    pub(crate) stop: &'a AtomicBool,
    /// The time of the phase is over.
    pub(crate) limit_ns: Option<u64>,
    /// Whether it is done to be measured; if not, nothing is made durable file by file, and no job stops for another.
    pub(crate) is_measured: bool,
}

/// Failed operations of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileErrors {
    /// The system call that failed, or `verify`.
    pub operation: String,
    /// As the kernel says it.
    pub error: String,
    /// How often.
    pub count: u64,
    /// The number of the first file.
    pub first_file: u64,
    /// What is particular about that one.
    pub example: Option<String>,
}

/// What a phase did.
#[derive(Clone, Debug)]
pub struct PhaseOutcome {
    /// When all jobs began.
    pub start_ns: u64,
    /// Until all was done, what makes it durable at the end included.
    pub elapsed_ns: u64,
    /// Until the first job had done its files.
    pub first_done_ns: u64,
    /// What all jobs had done by then.
    pub first_done_operations: u64,
    /// Operations of each job.
    pub job_operations: Vec<u64>,
    /// Of each job, how many had their turn, those that failed included.
    pub job_turns: Vec<u32>,
    /// Bytes transferred.
    pub bytes: u64,
    /// Blocks that were read and checked.
    pub checked_blocks: u64,
    /// Time of the sync at the end, summed over the jobs, all of which wait for it.
    pub sync_ns: u64,
    /// Latencies.
    pub times: Times,
    /// Of a mix, what each of its steps did.
    pub parts: Vec<Part>,
    /// What failed.
    pub errors: Vec<FileErrors>,
    /// Whether files did not have their turn.
    pub is_cut: bool,
    /// Whether that is because the time of the phase was over, and not an error, another job or the end of the run.
    pub is_over_time: bool,
}

impl PhaseOutcome {
    /// Operations of all jobs.
    pub fn operations(&self) -> u64 {
        self.job_operations.iter().sum()
    }
}

/// What a job has done so far, on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Done(pub(crate) AtomicU64);

/// What the jobs of a phase have in common.
pub(crate) struct Crew<'a> {
    pub(crate) set: &'a FileSet,
    pub(crate) task: Task,
    pub(crate) limits: Limits<'a>,
    pub(crate) done: Vec<Done>,
    /// Jobs that are ready, or never will be.
    ready: AtomicU32,
    /// When to begin; `None` when nobody does.
    start: OnceLock<Option<u64>>,
    /// A job has failed, or is the first to be done and all are to end with it.
    pub(crate) over: AtomicBool,
    /// When the first job had done its files, and how much all had done by then.
    first_done: OnceLock<(u64, u64)>,
}

impl Crew<'_> {
    /// Waits until all begin.
    pub(crate) fn wait(&self) -> Option<u64> {
        *self.start.wait()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.limits.stop.load(Ordering::Relaxed)
    }

    /// A job has done its files.
    pub(crate) fn note_done(&self, at_ns: u64) {
        self.first_done.get_or_init(|| (at_ns, self.sum()));
        if self.limits.is_measured && self.set.plan.phase_end == PhaseEnd::Stonewall {
            self.over.store(true, Ordering::Relaxed);
        }
    }

    fn sum(&self) -> u64 {
        self.done.iter().map(|done| done.0.load(Ordering::Relaxed)).sum()
    }
}

/// How many operations a job has to do.
pub(crate) fn operations_of(set: &FileSet, task: Task, job: u32) -> u64 {
    let plan = &set.plan;
    let (first, end) = plan.files_of(job);
    let present = set.present[job as usize];
    match task {
        Task::Phase(FilePhase::Create | FilePhase::Write | FilePhase::WriteRead | FilePhase::Mkdir) => {
            u64::from(end - first)
        }
        Task::Thin => u64::from(present.files.count() / 5),
        // Its end is a moment.
        Task::Phase(FilePhase::Mix) => 0,
        Task::Phase(FilePhase::Rmdir) => present.directories.count().into(),
        Task::Phase(FilePhase::List) => share(directories(set), job, plan.jobs),
        Task::Phase(_) | Task::Undo(_) => present.files.count().into(),
    }
}

/// Directories that have files.
pub(crate) fn directories(set: &FileSet) -> u64 {
    u64::from(set.plan.directory_count().max(1))
}

/// How many operations all jobs have to do.
pub(crate) fn operations(set: &FileSet, task: Task) -> u64 {
    (0..set.plan.jobs).map(|job| operations_of(set, task, job)).sum()
}

/// Has all jobs do a task.
pub(crate) fn run(
    set: &mut FileSet,
    task: Task,
    limits: Limits<'_>,
    on_progress: &mut dyn FnMut(u64),
) -> Result<PhaseOutcome, SetError> {
    let jobs = set.plan.jobs;
    let crew = Crew {
        set,
        task,
        limits,
        done: (0..jobs).map(|_| Done::default()).collect(),
        ready: AtomicU32::new(0),
        start: OnceLock::new(),
        over: AtomicBool::new(false),
        first_done: OnceLock::new(),
    };
    let (reports, start_ns) = work(&crew, on_progress)?;
    let mut sync_ns = reports.iter().map(|report| report.sync_ns).sum::<u64>();
    let mut end_ns = reports.iter().map(|report| report.end_ns).max().unwrap_or(start_ns);
    let is_left = limits.stop.load(Ordering::Relaxed);
    let syncs = matches!(task, Task::Phase(phase) if phase.changes());
    if limits.is_measured && syncs && !is_left && set.plan.file_sync == FileSync::Phase {
        syncfs(&set.root).map_err(|errno| SetError::System { what: "sync the file system", source: errno.into() })?;
        let now_ns = MonotonicClock.now_ns();
        let waiting = reports.iter().filter(|report| report.operations > 0).count() as u64;
        sync_ns += (now_ns - end_ns) * waiting;
        end_ns = now_ns;
    }
    let (first_done_ns, first_done_operations) = crew.first_done.get().copied().unwrap_or_else(|| (end_ns, crew.sum()));
    let due: u64 = operations(set, task);
    let mut outcome = PhaseOutcome {
        start_ns,
        elapsed_ns: end_ns - start_ns,
        first_done_ns: first_done_ns.saturating_sub(start_ns),
        first_done_operations,
        job_turns: reports.iter().map(|report| report.turns).collect(),
        job_operations: reports.iter().map(|report| report.operations).collect(),
        bytes: reports.iter().map(|report| report.bytes).sum(),
        checked_blocks: reports.iter().map(|report| report.checked_blocks).sum(),
        sync_ns,
        times: Times::new(),
        parts: Vec::new(),
        errors: Vec::new(),
        is_cut: false,
        is_over_time: false,
    };
    for report in &reports {
        outcome.times.merge(&report.times);
        for part in &report.parts {
            match outcome.parts.iter_mut().find(|known| known.phase == part.phase) {
                Some(known) => known.merge(part),
                None => outcome.parts.push(part.clone()),
            }
        }
        report.errors.iter().for_each(|error| add_error(&mut outcome.errors, error));
    }
    outcome.is_cut = outcome.job_turns.iter().copied().map(u64::from).sum::<u64>() < due;
    outcome.is_over_time = outcome.is_cut && reports.iter().any(|report| report.is_over_time);
    note_present(set, task, &reports);
    Ok(outcome)
}

fn work(crew: &Crew<'_>, on_progress: &mut dyn FnMut(u64)) -> Result<(Vec<JobReport>, u64), SetError> {
    let jobs = crew.set.plan.jobs;
    thread::scope(|scope| {
        let (ended, ends) = mpsc::channel::<()>();
        let mut threads = Vec::with_capacity(jobs as usize);
        let mut unstarted: Option<io::Error> = None;
        for number in 0..jobs {
            let ended = ended.clone();
            let thread = thread::Builder::new().name(format!("files-{number}")).stack_size(256 * 1024).spawn_scoped(
                scope,
                move || {
                    let job = Job::new(crew, number);
                    crew.ready.fetch_add(1, Ordering::Release);
                    let report = job.and_then(Job::run);
                    if report.is_err() {
                        crew.over.store(true, Ordering::Relaxed);
                    }
                    drop(ended);
                    report
                },
            );
            match thread {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    unstarted = Some(source);
                    break;
                }
            }
        }
        drop(ended);
        // What it takes to begin is not part of what is measured.
        let has_failed = || threads.iter().any(thread::ScopedJoinHandle::is_finished);
        while crew.ready.load(Ordering::Acquire) < threads.len() as u32 && !has_failed() {
            thread::sleep(Duration::from_micros(20));
        }
        let start_ns = MonotonicClock.now_ns();
        let begins = unstarted.is_none().then_some(start_ns);
        let _ = crew.start.set(begins);
        while ends.recv_timeout(PROGRESS) == Err(RecvTimeoutError::Timeout) {
            on_progress(crew.sum());
        }
        // All are waited for before any error is told.
        let reports: Vec<_> = threads.into_iter().map(|thread| thread.join().map_err(|_| SetError::Panicked)).collect();
        if let Some(source) = unstarted {
            return Err(SetError::Threads { jobs, source });
        }
        let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
        let reports = reports.into_iter().collect::<io::Result<Vec<_>>>();
        let what = "begin to work on a set of files";
        Ok((reports.map_err(|source| SetError::System { what, source })?, start_ns))
    })
}

/// What there is of the set after a task.
fn note_present(set: &mut FileSet, task: Task, reports: &[JobReport]) {
    let phase = match task {
        Task::Phase(phase) => phase,
        Task::Undo(_) => return,
        Task::Thin => {
            let removed = set.present.iter_mut().zip(reports);
            removed.for_each(|(present, report)| present.files.to -= report.turns);
            return;
        }
    };
    if phase == FilePhase::Mix && set.plan.mix.as_ref().is_some_and(FileMix::changes) {
        // Which ones are there now nobody knows but the storage.
        for (present, (first, end)) in set.present.iter_mut().zip((0..set.plan.jobs).map(|job| set.plan.files_of(job)))
        {
            present.files = Stretch { from: 0, to: end - first };
        }
        set.is_filled = false;
    }
    for (present, report) in set.present.iter_mut().zip(reports) {
        let Present { files, directories } = present;
        match phase {
            FilePhase::Create | FilePhase::Write | FilePhase::WriteRead => files.to = report.turns.max(files.to),
            FilePhase::Delete => files.remove(report.turns),
            FilePhase::Mkdir => directories.to = report.turns,
            FilePhase::Rmdir => directories.remove(report.turns),
            _ => {}
        }
    }
    match phase {
        FilePhase::Create | FilePhase::Truncate => set.is_filled = false,
        FilePhase::Write | FilePhase::WriteRead | FilePhase::Overwrite => set.is_filled = true,
        FilePhase::Append | FilePhase::ReadAppend => set.appended += 1,
        _ => {}
    }
    if matches!(phase, FilePhase::Create | FilePhase::Write | FilePhase::WriteRead | FilePhase::Truncate) {
        set.appended = 0;
    }
}

pub(crate) fn add_error(errors: &mut Vec<FileErrors>, error: &FileErrors) {
    match errors.iter_mut().find(|known| known.operation == error.operation && known.error == error.error) {
        Some(known) => {
            known.count += error.count;
            if error.first_file < known.first_file {
                known.first_file = error.first_file;
                known.example.clone_from(&error.example);
            }
        }
        None => errors.push(error.clone()),
    }
}
