//! A set of files: what there is of it, and how what a phase needs comes to be.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_workload::{
    content::ContentSource,
    file_mix::FileMix,
    file_set::{FilePhase, FilePlan, FileSync, Precondition},
    file_sizes::SizeSampler,
    settings::SyncMode,
};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Mode, OFlags, mkdirat, openat, syncfs, unlinkat},
    io::Errno,
};
use thiserror::Error;

use crate::{
    cached::{self, Cached},
    phase::{self, FileErrors, Limits, PhaseOutcome, Task},
    tree,
};

/// The directory that files are moved to by `rename_cross`.
pub(crate) const MOVED: &str = "moved";
/// The file that all jobs append to.
const LOG: &str = "g0";

/// Why a phase could not be done at all.
#[derive(Debug, Error)]
pub enum SetError {
    /// What it needs could not be made.
    #[error("make the files that phase {phase} needs: {operation} failed: {error}")]
    Preparation {
        /// The phase.
        phase: FilePhase,
        /// What failed.
        operation: String,
        /// As the kernel says it.
        error: String,
    },
    /// The system said no.
    #[error("{what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("start {jobs} threads: lower --jobs")]
    Threads {
        /// How many there were to be.
        jobs: u32,
        /// Why not.
        source: io::Error,
    },
    /// A job panicked.
    #[error("a job panicked")]
    Panicked,
}

/// What there is of what a job makes and removes. It does both in the order of their numbers, so it is a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first one, counted from the job's first.
    pub(crate) from: u32,
    /// The one after the last.
    pub(crate) to: u32,
}

impl Stretch {
    pub(crate) const fn count(self) -> u32 {
        self.to - self.from
    }

    /// So many more have been removed.
    pub(crate) const fn remove(&mut self, count: u32) {
        self.from += count;
        if self.from >= self.to {
            *self = Self { from: 0, to: 0 };
        }
    }
}

/// What there is of a job's part of the set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Present {
    /// Its files.
    pub(crate) files: Stretch,
    /// Its directories.
    pub(crate) directories: Stretch,
}

/// A set of files in a directory.
#[derive(Debug)]
pub struct FileSet {
    pub(crate) root: OwnedFd,
    pub(crate) plan: FilePlan,
    pub(crate) sizes: SizeSampler,
    pub(crate) content: ContentSource,
    pub(crate) present: Vec<Present>,
    /// Whether the files have their content.
    pub(crate) is_filled: bool,
    /// How often something was appended to the files.
    pub(crate) appended: u32,
}

impl FileSet {
    /// A set in an empty directory, of which nothing is there yet but directories.
    ///
    /// # Errors
    /// When directories cannot be made.
    pub fn new(root: OwnedFd, plan: &FilePlan) -> Result<Self, SetError> {
        let make = |path: &str| match mkdirat(&root, path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => {
                Err(SetError::System { what: "make the directories of a set of files", source: errno.into() })
            }
        };
        plan.directories_above().try_for_each(|path| make(&path))?;
        (0..plan.directory_count()).try_for_each(|directory| make(&plan.directory_path(directory)))?;
        if plan.phases.as_slice().contains(&FilePhase::RenameCross) {
            make(MOVED)?;
        }
        Ok(Self {
            root,
            sizes: plan.sizes(),
            content: ContentSource::new(&plan.payload, plan.seed),
            present: vec![Present::default(); plan.jobs as usize],
            is_filled: false,
            appended: 0,
            plan: plan.clone(),
        })
    }

    /// Makes what a phase needs to be there, or removes what it makes. Nothing of it is part of what is measured, and
    /// nothing of it is still on its way to the storage afterwards.
    ///
    /// # Errors
    /// When that fails.
    pub fn prepare(&mut self, phase: FilePhase, stop: &AtomicBool) -> Result<(), SetError> {
        self.remove_log()?;
        let (files, directories) = (self.has(|present| present.files), self.has(|present| present.directories));
        let task = match phase.precondition() {
            Precondition::Absent if files => Task::Phase(FilePhase::Delete),
            Precondition::Present if !files => Task::Phase(FilePhase::Write),
            Precondition::Filled if !files || !self.is_filled => Task::Phase(FilePhase::Write),
            Precondition::NoDirectories if directories => Task::Phase(FilePhase::Rmdir),
            Precondition::Directories if !directories => Task::Phase(FilePhase::Mkdir),
            _ => return self.thin(phase, stop),
        };
        self.do_settled(phase, task, stop)?;
        self.thin(phase, stop)
    }

    /// Makes room for new files before a mix that makes some.
    fn thin(&mut self, phase: FilePhase, stop: &AtomicBool) -> Result<(), SetError> {
        let makes_files = self.plan.mix.as_ref().is_some_and(FileMix::makes_files);
        if phase == FilePhase::Mix && makes_files { self.do_settled(phase, Task::Thin, stop) } else { Ok(()) }
    }

    /// Takes back what a phase changed that the others do not expect: second names, links and new names.
    ///
    /// # Errors
    /// When that fails.
    pub fn restore(&mut self, phase: FilePhase, done: &PhaseOutcome, stop: &AtomicBool) -> Result<(), SetError> {
        let changes_back = [FilePhase::Rename, FilePhase::RenameCross, FilePhase::Link, FilePhase::Symlink];
        if !changes_back.contains(&phase) {
            return Ok(());
        }
        let all: Vec<Present> = self.present.clone();
        for (present, turns) in self.present.iter_mut().zip(&done.job_turns) {
            present.files.to = present.files.from + turns;
        }
        // Where nothing is durable, much else is on its way to the storage too.
        let result = match self.plan.file_sync {
            FileSync::None => self.do_unmeasured(phase, Task::Undo(phase), stop),
            _ => self.do_settled(phase, Task::Undo(phase), stop),
        };
        self.present = all;
        result
    }

    /// Removes the files, unless the phases of another iteration would make the same again.
    ///
    /// # Errors
    /// When that fails.
    pub fn finish(&mut self, stop: &AtomicBool) -> Result<(), SetError> {
        self.remove_log()?;
        if !self.plan.stays() && self.has(|present| present.files) {
            self.do_settled(FilePhase::Delete, Task::Phase(FilePhase::Delete), stop)?;
        }
        if self.has(|present| present.directories) {
            self.do_settled(FilePhase::Rmdir, Task::Phase(FilePhase::Rmdir), stop)?;
        }
        Ok(())
    }

    fn has(&self, of: fn(&Present) -> Stretch) -> bool {
        self.present.iter().any(|present| of(present).count() > 0)
    }

    /// Does something that is not measured, and has it written to the storage before anything that is.
    fn do_settled(&mut self, phase: FilePhase, task: Task, stop: &AtomicBool) -> Result<(), SetError> {
        self.do_unmeasured(phase, task, stop)?;
        if stop.load(Ordering::Relaxed) { Ok(()) } else { self.sync() }
    }

    fn do_unmeasured(&mut self, phase: FilePhase, task: Task, stop: &AtomicBool) -> Result<(), SetError> {
        let limits = Limits { stop, limit_ns: None, is_measured: false };
        let outcome = phase::run(self, task, limits, &mut |_| {})?;
        match outcome.errors.into_iter().next() {
            Some(FileErrors { operation, error, .. }) => Err(SetError::Preparation { phase, operation, error }),
            None => Ok(()),
        }
    }

    /// Has all of the file system written to the storage.
    fn sync(&self) -> Result<(), SetError> {
        syncfs(&self.root).map_err(|errno| SetError::System { what: "sync the file system", source: errno.into() })
    }

    /// Brings the page cache into the state that the plan asks for, and looks what it holds of the files then.
    ///
    /// # Errors
    /// When files cannot be opened.
    pub fn make_cached(&mut self, stop: &AtomicBool) -> Result<Cached, SetError> {
        cached::make(self, stop)
    }

    /// Does a phase, which has to be prepared. `on_progress` is told now and then how many operations are done.
    ///
    /// # Errors
    /// When it cannot be begun; errors of operations are in the outcome.
    pub fn run(
        &mut self,
        phase: FilePhase,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<PhaseOutcome, SetError> {
        let limits = Limits { stop, limit_ns: self.plan.phase_limit_ns, is_measured: true };
        phase::run(self, Task::Phase(phase), limits, on_progress)
    }

    /// Operations of a phase with what there is.
    pub fn operations(&self, phase: FilePhase) -> u64 {
        phase::operations(self, Task::Phase(phase))
    }

    /// SHA-256 of the list of all files, as `sha256sum` prints it; `None` when not all of them are there, or the run is
    /// to stop.
    ///
    /// # Errors
    /// When files cannot be read.
    pub fn checksum(&self, stop: &AtomicBool) -> Result<Option<String>, SetError> {
        let files: u64 = self.present.iter().map(|present| u64::from(present.files.count())).sum();
        if files < u64::from(self.plan.file_count) || !self.is_filled {
            return Ok(None);
        }
        let sum = tree::checksum(self.root.as_fd(), stop);
        sum.map_err(|source| SetError::System { what: "read the set of files", source })
    }

    fn remove_log(&self) -> Result<(), SetError> {
        match unlinkat(&self.root, LOG, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(SetError::System { what: "remove the log of a set of files", source: errno.into() }),
        }
    }

    /// Opens the file that jobs append to together, and makes it.
    pub(crate) fn open_log(&self) -> io::Result<OwnedFd> {
        let durable = match self.plan.sync {
            SyncMode::None => OFlags::empty(),
            SyncMode::DataSync => OFlags::DSYNC,
            SyncMode::Sync => OFlags::SYNC,
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC | durable;
        Ok(openat(&self.root, LOG, flags, Mode::RUSR | Mode::WUSR)?)
    }

    /// Opens a directory of the set; `None` is that of the set itself.
    pub(crate) fn open_directory(&self, directory: Option<u32>) -> io::Result<OwnedFd> {
        let path = directory.map_or_else(|| ".".to_owned(), |directory| self.plan.directory_path(directory));
        open_directory(self.root.as_fd(), &path)
    }

    /// How long a file is.
    pub(crate) fn length(&self, file: u32) -> u64 {
        self.sizes.size(file.into()) + u64::from(self.appended) * u64::from(self.plan.block_size_bytes)
    }
}

pub(crate) fn open_directory(root: BorrowedFd<'_>, path: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(root, path, flags, Mode::empty())?)
}
