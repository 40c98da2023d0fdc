//! One job of a phase: its files, one after the other.

mod content;
mod entries;
pub mod mix;

use std::{fmt::Write as _, io, mem, sync::atomic::Ordering};

use plimsoll_io::{buffer_pool::BufferPool, cpu, engine::Tag};
use plimsoll_workload::{
    file_mix::FileMix,
    file_set::{FilePhase, FileSync},
    settings::SyncMode,
};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{
        AtFlags, Mode, OFlags, XattrFlags, fdatasync, fgetxattr, fsetxattr, fsync, ftruncate, linkat, mkdirat, openat,
        renameat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

use crate::{
    calls::{Call, Times},
    job::mix::Part,
    phase::{Crew, FileErrors, Task, add_error, operations_of},
    set::{FileSet, MOVED, open_directory},
};

/// The extended attribute that is set and read, and what is in it.
const XATTR: &str = "user.plimsoll";
const XATTR_VALUE: [u8; 32] = *b"0123456789abcdef0123456789abcdef";

/// The only buffer of a job.
const BUFFER: Tag = Tag(0);

/// What a job did.
pub(crate) struct JobReport {
    /// When it had done all.
    pub(crate) end_ns: u64,
    /// How many of its files had their turn.
    pub(crate) turns: u32,
    /// How many of those succeeded.
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) checked_blocks: u64,
    /// Time of the sync of its files at the end.
    pub(crate) sync_ns: u64,
    pub(crate) times: Times,
    /// Of a mix, what each of its steps did.
    pub(crate) parts: Vec<Part>,
    pub(crate) errors: Vec<FileErrors>,
    /// Whether its time was over before it had done all.
    pub(crate) is_over_time: bool,
}

/// How much of a file is read.
#[derive(Clone, Copy)]
enum Due {
    /// So much has to be there.
    Bytes(u64),
    /// Whatever there is.
    ToTheEnd,
}

/// Why an operation did not come to its end.
enum Failure {
    /// The run is to stop.
    Interrupted,
    /// A call failed.
    Failed {
        /// The call, or `verify`.
        operation: &'static str,
        /// As the kernel says it.
        error: String,
        /// What is particular about this one.
        example: Option<String>,
    },
}

impl Failure {
    fn of(call: Call, errno: Errno) -> Self {
        Self::failed(call.as_str(), io::Error::from(errno).to_string())
    }

    const fn failed(operation: &'static str, error: String) -> Self {
        Self::Failed { operation, error, example: None }
    }

    fn wrong(operation: &'static str, error: &str, example: String) -> Self {
        Self::Failed { operation, error: error.to_owned(), example: Some(example) }
    }

    /// Whether there was nothing to open.
    fn is_of_absence(&self) -> bool {
        let absent = || io::Error::from(Errno::NOENT).to_string();
        matches!(self, Self::Failed { operation, error, .. } if *operation == Call::Open.as_str() && *error == absent())
    }
}

/// A job at work.
pub(crate) struct Job<'a> {
    crew: &'a Crew<'a>,
    number: u32,
    phase: FilePhase,
    is_undone: bool,
    buffer: BufferPool,
    /// What a file that is read should contain.
    expected: Vec<u8>,
    /// Whether the buffer has what all writes have in common.
    is_ready: bool,
    at: Place,
    /// The file that all jobs append to, where one is.
    log: Option<OwnedFd>,
    /// How much is appended at once; a block without this.
    append_bytes: Option<u64>,
    report: JobReport,
}

/// The file at hand.
struct Place {
    /// The directory that it is in, and its number.
    directory: Option<(Option<u32>, OwnedFd)>,
    /// Where it is moved to.
    moved: Option<OwnedFd>,
    name: String,
    /// Its second or new name, in phases that give it one.
    other: String,
}

impl Place {
    fn directory(&self) -> &OwnedFd {
        let (_, directory) = self.directory.as_ref().expect("a file's directory is opened first");
        directory
    }
}

impl<'a> Job<'a> {
    /// A job that waits for the beginning.
    pub(crate) fn new(crew: &'a Crew<'a>, number: u32) -> io::Result<Self> {
        let plan = &crew.set.plan;
        let (phase, is_undone) = match crew.task {
            Task::Phase(phase) => (phase, false),
            Task::Undo(phase) => (phase, true),
            Task::Thin => (FilePhase::Delete, false),
        };
        cpu::pin_worker(&plan.pin, number);
        let transfers = phase.reads() || phase.writes();
        let largest = plan.file_size.max().max(1).min(plan.block_size_bytes.into()) as u32;
        let appends = matches!(phase, FilePhase::Append | FilePhase::ReadAppend | FilePhase::Log);
        let bytes = if !transfers {
            1
        } else if crew.set.appended > 0 || appends {
            plan.block_size_bytes
        } else if let Some(mix) = plan.mix.as_ref().filter(|_| phase == FilePhase::Mix) {
            let appended = mix.append_max().min(plan.block_size_bytes.into()) as u32;
            // Files grow by what is appended to them.
            largest.max(appended).max(plan.block_size_bytes.min(64 << 10))
        } else {
            largest
        };
        let moved = match phase {
            FilePhase::RenameCross => Some(open_directory(crew.set.root.as_fd(), MOVED)?),
            _ => None,
        };
        Ok(Self {
            crew,
            number,
            phase,
            is_undone,
            buffer: BufferPool::new(1, bytes)?,
            expected: if plan.verify && phase.reads() { vec![0; bytes as usize] } else { Vec::new() },
            is_ready: false,
            // What is not appended to is not there: it would be one file more in the checksum of the set.
            log: match phase {
                FilePhase::Log => Some(crew.set.open_log()?),
                FilePhase::Mix if plan.mix.as_ref().is_some_and(FileMix::logs) => Some(crew.set.open_log()?),
                _ => None,
            },
            append_bytes: None,
            at: Place { directory: None, moved, name: String::new(), other: String::new() },
            report: JobReport {
                end_ns: 0,
                turns: 0,
                operations: 0,
                bytes: 0,
                checked_blocks: 0,
                sync_ns: 0,
                times: Times::new(),
                parts: Vec::new(),
                errors: Vec::new(),
                is_over_time: false,
            },
        })
    }

    /// Does the phase. An `Err` is about what comes before any file.
    pub(crate) fn run(mut self) -> io::Result<JobReport> {
        let Some(start_ns) = self.crew.wait() else { return Ok(self.report) };
        let deadline_ns = self.crew.limits.limit_ns.map_or(u64::MAX, |limit_ns| start_ns.saturating_add(limit_ns));
        let count = operations_of(self.crew.set, self.crew.task, self.number);
        self.report.times.resume();
        match self.phase {
            FilePhase::Mix => {
                let set = self.set();
                set.plan.mix.as_ref().map_or(Ok(()), |mix| self.repeat(mix, deadline_ns))?;
            }
            FilePhase::List => self.list_directories(deadline_ns),
            FilePhase::ListLong | FilePhase::Find => self.look_at_entries(count, deadline_ns)?,
            _ => self.each_file(count as u32, deadline_ns)?,
        }
        let plan = &self.crew.set.plan;
        let syncs = self.crew.limits.is_measured && plan.file_sync == FileSync::Reverse && self.phase.changes();
        let has_them_there =
            !matches!(self.phase, FilePhase::Delete | FilePhase::Mkdir | FilePhase::Rmdir | FilePhase::RenameCross);
        if syncs && has_them_there {
            self.sync_in_reverse()?;
        }
        self.report.end_ns = self.report.times.now_ns();
        let has_part = count > 0 || self.crew.task == Task::Phase(FilePhase::Mix);
        if has_part && u64::from(self.report.turns) >= count {
            self.crew.note_done(self.report.end_ns);
        }
        Ok(self.report)
    }

    fn set(&self) -> &'a FileSet {
        self.crew.set
    }

    /// Whether to go on with another operation.
    fn goes_on(&mut self, deadline_ns: u64) -> bool {
        if self.crew.is_over() {
            return false;
        }
        self.report.is_over_time = self.report.times.now_ns() >= deadline_ns;
        !self.report.is_over_time
    }

    /// The first of the files or directories that are there, or are to be made.
    fn first(&self) -> u32 {
        let (first, _) = self.set().plan.files_of(self.number);
        let present = self.set().present[self.number as usize];
        match self.phase {
            FilePhase::Create | FilePhase::Write | FilePhase::WriteRead | FilePhase::Mkdir => first,
            FilePhase::Rmdir => first + present.directories.from,
            _ if self.crew.task == Task::Thin => first + present.files.to - present.files.count() / 5,
            _ => first + present.files.from,
        }
    }

    fn each_file(&mut self, count: u32, deadline_ns: u64) -> io::Result<()> {
        let first = self.first();
        for turn in 0..count {
            if !self.goes_on(deadline_ns) {
                break;
            }
            self.enter(first + turn)?;
            let done = self.one(first + turn);
            self.note(first + turn, done);
        }
        Ok(())
    }

    /// Takes note of what became of an operation.
    fn note(&mut self, file: u32, done: Result<u64, Failure>) {
        match done {
            Ok(bytes) => {
                self.report.turns += 1;
                self.report.times.finish();
                self.report.operations += 1;
                self.report.bytes += bytes;
                self.crew.done[self.number as usize].0.store(self.report.operations, Ordering::Relaxed);
            }
            Err(failure) => {
                self.report.turns += u32::from(!matches!(failure, Failure::Interrupted));
                self.report.times.discard();
                self.note_failure(file, failure);
            }
        }
    }

    fn note_failure(&mut self, file: u32, failure: Failure) {
        let Failure::Failed { operation, error, example } = failure else { return };
        let operation = operation.to_owned();
        add_error(
            &mut self.report.errors,
            &FileErrors { operation, error, count: 1, first_file: file.into(), example },
        );
        if !(self.set().plan.keep_going && self.crew.limits.is_measured) {
            self.crew.over.store(true, Ordering::Relaxed);
        }
    }

    /// Opens the directory of a file, when it is another one than before, and makes the file's names.
    fn enter(&mut self, file: u32) -> io::Result<()> {
        let directory = self.set().plan.directory_of(file);
        if self.at.directory.as_ref().is_none_or(|(open, _)| *open != directory) {
            self.at.directory = Some((directory, self.set().open_directory(directory)?));
            self.report.times.resume();
        }
        let letter = if matches!(self.phase, FilePhase::Mkdir | FilePhase::Rmdir) { 'e' } else { 'f' };
        let other = match self.phase {
            FilePhase::Rename => Some('r'),
            FilePhase::Link => Some('l'),
            FilePhase::Symlink => Some('s'),
            _ => None,
        };
        let name = |room: &mut String, letter: char| {
            room.clear();
            let _ = write!(room, "{letter}{file}");
        };
        name(&mut self.at.name, letter);
        // Only where a call asks for it: of a stat from memory, making it is some percent.
        if let Some(letter) = other {
            name(&mut self.at.other, letter);
        }
        Ok(())
    }

    /// One operation of the phase on one file. Gives the bytes that it transferred.
    fn one(&mut self, file: u32) -> Result<u64, Failure> {
        match self.phase {
            FilePhase::Create => self.write_file(file, Some(0), OFlags::CREATE | OFlags::TRUNC, 0),
            FilePhase::Write => self.write_file(file, None, OFlags::CREATE | OFlags::TRUNC, 0),
            FilePhase::Overwrite => self.write_file(file, None, OFlags::empty(), 0),
            FilePhase::Append => {
                let at = self.set().length(file);
                self.write_file(file, Some(self.bytes_to_append()), OFlags::APPEND, at)
            }
            FilePhase::ReadAppend => self.read_and_append(file),
            FilePhase::Log => self.append_to_log(),
            FilePhase::WriteRead => {
                let bytes = self.write_file(file, None, OFlags::CREATE | OFlags::TRUNC, 0)?;
                self.read_file(file, Due::Bytes(bytes))?;
                Ok(bytes)
            }
            FilePhase::Read => {
                let due = match self.crew.task {
                    Task::Phase(FilePhase::Mix) => Due::ToTheEnd,
                    _ if self.set().is_filled => Due::Bytes(self.set().length(file)),
                    _ => Due::Bytes(0),
                };
                self.read_file(file, due)
            }
            FilePhase::Stat => self.in_directory(Call::Stat, |directory, name, _| {
                statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map(drop)
            }),
            FilePhase::Open => self.with_open(OFlags::RDONLY, |_, _| Ok(0)),
            FilePhase::Truncate => self.with_open(OFlags::WRONLY, |job, file| {
                job.call(Call::Truncate, || ftruncate(file, 0))?;
                job.sync_file(file)?;
                Ok(0)
            }),
            FilePhase::SetXattr => self.with_open(OFlags::WRONLY, |job, file| {
                job.call(Call::SetXattr, || fsetxattr(file, XATTR, &XATTR_VALUE, XattrFlags::empty()))?;
                job.sync_file(file)?;
                Ok(0)
            }),
            FilePhase::GetXattr => self.with_open(OFlags::RDONLY, |job, file| {
                let mut value = [0_u8; XATTR_VALUE.len()];
                // One that was never set is answered too.
                job.call(Call::GetXattr, || match fgetxattr(file, XATTR, &mut value[..]) {
                    Err(Errno::NODATA) => Ok(0),
                    answer => answer,
                })?;
                Ok(0)
            }),
            FilePhase::Rename if self.is_undone => {
                self.in_directory(Call::Rename, |directory, name, other| renameat(directory, other, directory, name))
            }
            FilePhase::Rename => {
                self.in_directory(Call::Rename, |directory, name, other| renameat(directory, name, directory, other))
            }
            FilePhase::RenameCross => self.move_file(),
            FilePhase::Link | FilePhase::Symlink if self.is_undone => {
                self.in_directory(Call::Unlink, |directory, _, other| unlinkat(directory, other, AtFlags::empty()))
            }
            FilePhase::Link => self.in_directory(Call::Link, |directory, name, other| {
                linkat(directory, name, directory, other, AtFlags::empty())
            }),
            FilePhase::Symlink => {
                self.in_directory(Call::Symlink, |directory, name, other| symlinkat(name, directory, other))
            }
            FilePhase::Delete => {
                self.in_directory(Call::Unlink, |directory, name, _| unlinkat(directory, name, AtFlags::empty()))
            }
            FilePhase::Mkdir => {
                self.in_directory(Call::Mkdir, |directory, name, _| mkdirat(directory, name, Mode::RWXU))
            }
            FilePhase::Rmdir => {
                self.in_directory(Call::Rmdir, |directory, name, _| unlinkat(directory, name, AtFlags::REMOVEDIR))
            }
            FilePhase::List | FilePhase::ListLong | FilePhase::Find | FilePhase::Mix => {
                unreachable!("these are no operations on one file")
            }
        }
    }

    fn call<T>(&mut self, call: Call, does: impl FnOnce() -> rustix::io::Result<T>) -> Result<T, Failure> {
        self.report.times.time(call, does).map_err(|errno| Failure::of(call, errno))
    }

    /// A call about the names of the file at hand, and what makes it durable.
    fn in_directory(
        &mut self,
        call: Call,
        does: impl FnOnce(&OwnedFd, &str, &str) -> rustix::io::Result<()>,
    ) -> Result<u64, Failure> {
        let Self { at, report, .. } = self;
        match report.times.time(call, || does(at.directory(), &at.name, &at.other)) {
            Ok(()) => {}
            // What is to be gone is gone.
            Err(Errno::NOENT) if !self.crew.limits.is_measured => {}
            Err(errno) => return Err(Failure::of(call, errno)),
        }
        if self.phase.changes_names() {
            self.sync_directory()?;
        }
        Ok(0)
    }

    fn move_file(&mut self) -> Result<u64, Failure> {
        let Self { at, report, .. } = self;
        let moved = at.moved.as_ref().expect("it is opened for this phase");
        let (from, to) = if self.is_undone { (moved, at.directory()) } else { (at.directory(), moved) };
        match report.times.time(Call::Rename, || renameat(from, &*at.name, to, &*at.name)) {
            Ok(()) => {}
            // What failed before is not there.
            Err(Errno::NOENT) if !self.crew.limits.is_measured => {}
            Err(errno) => return Err(Failure::of(Call::Rename, errno)),
        }
        self.sync_directory()?;
        Ok(0)
    }

    /// Opens the file at hand, does something with it, and closes it.
    fn with_open(
        &mut self,
        flags: OFlags,
        does: impl FnOnce(&mut Self, &OwnedFd) -> Result<u64, Failure>,
    ) -> Result<u64, Failure> {
        let file = self.open(flags)?;
        let bytes = does(self, &file)?;
        self.report.times.time(Call::Close, || drop(file));
        Ok(bytes)
    }

    fn open(&mut self, flags: OFlags) -> Result<OwnedFd, Failure> {
        let plan = &self.set().plan;
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
        let durable = match plan.sync {
            SyncMode::DataSync if writes && self.crew.limits.is_measured => OFlags::DSYNC,
            SyncMode::Sync if writes && self.crew.limits.is_measured => OFlags::SYNC,
            _ => OFlags::empty(),
        };
        let transfers = self.phase.reads() || self.phase.writes();
        let direct = if plan.buffered || !transfers { OFlags::empty() } else { OFlags::DIRECT };
        let flags = flags | durable | direct | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Self { at, report, .. } = self;
        let opens = || openat(at.directory(), &*at.name, flags, Mode::RUSR | Mode::WUSR);
        report.times.time(Call::Open, opens).map_err(|errno| Failure::of(Call::Open, errno))
    }

    /// Makes a file durable before it is closed, as the plan says.
    fn sync_file(&mut self, file: &OwnedFd) -> Result<(), Failure> {
        if !self.crew.limits.is_measured {
            return Ok(());
        }
        match self.set().plan.file_sync {
            FileSync::File | FileSync::Directory => self.call(Call::Fsync, || fsync(file)),
            FileSync::Data => self.call(Call::Fdatasync, || fdatasync(file)),
            FileSync::None | FileSync::Reverse | FileSync::Phase => Ok(()),
        }
    }

    /// Makes a changed name durable, as the plan says.
    fn sync_directory(&mut self) -> Result<(), Failure> {
        if !self.crew.limits.is_measured || self.set().plan.file_sync != FileSync::Directory {
            return Ok(());
        }
        let Self { at, report, .. } = self;
        let mut done = report.times.time(Call::FsyncDirectory, || fsync(at.directory()));
        if let Some(moved) = &at.moved {
            done = done.and_then(|()| report.times.time(Call::FsyncDirectory, || fsync(moved)));
        }
        done.map_err(|errno| Failure::of(Call::FsyncDirectory, errno))
    }

    /// `fsync` of all files that had their turn, the last one first. What it takes is no part of any operation.
    fn sync_in_reverse(&mut self) -> io::Result<()> {
        let began_ns = self.report.times.now_ns();
        let times = mem::take(&mut self.report.times);
        self.report.times.resume();
        let done = self.sync_all();
        self.report.sync_ns += self.report.times.now_ns() - began_ns;
        self.report.times = times;
        self.report.times.resume();
        done
    }

    fn sync_all(&mut self) -> io::Result<()> {
        if let Some(log) = &self.log {
            return Ok(fsync(log)?);
        }
        let first = self.first();
        for turn in (0..self.report.turns).rev() {
            if self.crew.limits.stop.load(Ordering::Relaxed) {
                break;
            }
            self.enter(first + turn)?;
            if self.phase == FilePhase::Rename {
                mem::swap(&mut self.at.name, &mut self.at.other);
            }
            let synced = self.with_open(OFlags::RDONLY, |job, file| {
                job.call(Call::Fsync, || fsync(file))?;
                Ok(0)
            });
            let Err(failure) = synced else { continue };
            // That there is no such file was told when it was not made.
            if failure.is_of_absence() {
                continue;
            }
            self.note_failure(first + turn, failure);
            if self.crew.is_over() {
                break;
            }
        }
        Ok(())
    }
}
