//! Names and markers: how a test object says that plimsoll made it, who owns it, and whether it is to stay.
//!
//! The owner holds an exclusive lock on the marker file for its whole life, so "the owner is dead" means that the
//! lock can be taken: that is true across reused process ids and across namespaces, and the kernel lets go of it
//! after `kill -9` too. Of a file that was kept, those who only read it share the lock, and who writes or removes it
//! has it alone.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
};

use plimsoll_io::clock;
use rustix::{
    fd::BorrowedFd,
    fs::{FlockOperation, Mode, OFlags, fdatasync, flock, openat},
    io::Errno,
    system::uname,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{marked_file::MarkedFile, name_set::NameSet, trees::TREE_PREFIX, works::WORK_PREFIX};

/// The marker's name inside of a test directory.
pub(crate) const MARKER_NAME: &str = ".plimsoll";
/// What a test directory's name starts with; the run's id follows.
pub(crate) const DIRECTORY_PREFIX: &str = "plimsoll-";
/// What is appended to a test file's name for the marker beside it.
pub(crate) const SIDECAR_SUFFIX: &str = ".plimsoll";
/// What the names of files in a test directory start with; a number follows.
pub(crate) const FILE_PREFIX: &str = "data-";
/// What the names of files there start with that say which machine uses the others; its number follows.
pub(crate) const USER_PREFIX: &str = "user-";

/// Who may do what with a file whose name was asked for, and with its marker: whoever may come to it may read it, as
/// with fio.
pub(crate) const MODE_FOR_READERS: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

const SCHEMA: &str = "plimsoll-object/1";

/// How every marker begins, whatever changes in it.
const BEGINNING: &[u8] = b"{\n  \"schema\": \"plimsoll-object/1\"";

/// Markers are smaller; whatever is larger is not one. Most take far less than the first of these, but those of many
/// files name them all.
const MARKER_BYTES: usize = 4096;
const MARKER_BYTES_MAX: usize = 16 << 20;

/// The run that owns test objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The id of the run.
    pub run: Uuid,
    /// The machine, as it calls itself.
    pub host: String,
    /// Changes with every boot of the machine; empty when the kernel does not tell.
    pub boot_id: String,
    /// The process, in its own namespace: for people, nothing is decided by it.
    pub pid: u32,
    /// When the run started.
    pub started: jiff::Timestamp,
}

impl Owner {
    /// This process, as the owner of `run`.
    pub fn this_process(run: Uuid) -> Self {
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let started = jiff::Timestamp::from_nanosecond(i128::from(clock::wall_clock_ns())).unwrap_or_default();
        Self {
            run,
            host: uname().nodename().to_string_lossy().into_owned(),
            boot_id: boot_id.trim().to_owned(),
            pid: std::process::id(),
            started,
        }
    }
}

/// The content of a marker file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) schema: String,
    pub(crate) run: Uuid,
    pub(crate) host: String,
    pub(crate) boot_id: String,
    pub(crate) pid: u32,
    pub(crate) started: jiff::Timestamp,
    /// Stays when the run ends; only an explicit clean removes it.
    pub(crate) kept: bool,
    /// Whether the owner could lock its marker: some network file systems have no locks.
    pub(crate) locked: bool,
    /// Which file the marker is for, when it lies beside one. Files in a test directory are known by their names.
    pub(crate) file: Option<MarkedFile>,
    /// Which files the marker is for, when they are many that have names of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<NameSet>,
}

impl Marker {
    pub(crate) fn new(owner: &Owner) -> Self {
        Self {
            schema: SCHEMA.into(),
            run: owner.run,
            host: owner.host.clone(),
            boot_id: owner.boot_id.clone(),
            pid: owner.pid,
            started: owner.started,
            kept: false,
            locked: true,
            file: None,
            names: None,
        }
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(text).ok().filter(|marker| marker.schema == SCHEMA)
    }

    /// Whether the owner ran on the machine that `here` is on. Only where both names differ it did not: a machine
    /// keeps its name over a reboot, and a container has another name than its machine but the same boot.
    pub(crate) fn is_of_machine(&self, here: &Owner) -> bool {
        self.host == here.host || (!self.boot_id.is_empty() && self.boot_id == here.boot_id)
    }
}

/// Who uses an object, as its marker tells: which process it is only where that one wrote the marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User(Option<(u32, String)>);

impl User {
    /// Of an object whose marker somebody holds. One that was kept may be used by others than who made it.
    pub(crate) fn of(marker: Option<Marker>) -> Self {
        Self(marker.filter(|marker| !marker.kept).map(|marker| (marker.pid, marker.host)))
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another plimsoll")?;
        match &self.0 {
            Some((pid, host)) => write!(f, ", process {pid} on {host}"),
            None => Ok(()),
        }
    }
}

/// A marker file that this process has open and, where the file system has locks, locked.
#[derive(Debug)]
pub(crate) struct MarkerFile {
    file: File,
    marker: Marker,
}

/// What opening the marker of a possible leftover came to.
#[derive(Debug)]
pub(crate) enum Opened {
    /// No marker.
    Missing,
    /// No content: its owner died before it wrote any. The lock is held while the file is.
    Unfinished(File),
    /// Something that is no marker of ours.
    Foreign,
    /// Its owner lives.
    Owned(Option<Marker>),
    /// Its owner is gone; we hold the lock now, alone or with others who share it.
    Abandoned(MarkerFile),
    /// There are no locks where it lies, so nobody can tell from it whether its owner lives.
    Unlockable(MarkerFile),
}

impl MarkerFile {
    /// Creates, locks and writes a marker that this user alone can read. `None` when a sweep of another process took
    /// the unfinished marker for a leftover, which it may: the caller starts over.
    pub(crate) fn create(directory: BorrowedFd<'_>, name: &OsStr, owner: &Owner) -> io::Result<Option<Self>> {
        Self::create_with(directory, name, owner, Mode::RUSR | Mode::WUSR)
    }

    /// The same, for a file that others may read, and so share its marker.
    pub(crate) fn create_readable(directory: BorrowedFd<'_>, name: &OsStr, owner: &Owner) -> io::Result<Option<Self>> {
        Self::create_with(directory, name, owner, MODE_FOR_READERS)
    }

    fn create_with(directory: BorrowedFd<'_>, name: &OsStr, owner: &Owner, mode: Mode) -> io::Result<Option<Self>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(directory, name, flags, mode) {
            Err(Errno::NOENT) => return Ok(None),
            file => File::from(file?),
        };
        let mut marker = Marker::new(owner);
        marker.locked = lock(&file, Patience::Wait)? != Lock::Unsupported;
        if rustix::fs::fstat(&file)?.st_nlink == 0 {
            return Ok(None);
        }
        let created = Self { file, marker };
        created.write(&created.marker)?;
        Ok(Some(created))
    }

    /// Opens the marker `name`, to have its object alone, and sees whether its owner lives.
    pub(crate) fn open(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Opened> {
        Self::open_with(directory, name, OFlags::RDWR, FlockOperation::NonBlockingLockExclusive)
    }

    /// The same, to read its object while others may read it too. Such a marker must not be changed, and nothing is
    /// asked of the file system but to read it.
    pub(crate) fn share(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Opened> {
        Self::open_with(directory, name, OFlags::RDONLY, FlockOperation::NonBlockingLockShared)
    }

    fn open_with(
        directory: BorrowedFd<'_>,
        name: &OsStr,
        access: OFlags,
        operation: FlockOperation,
    ) -> io::Result<Opened> {
        // NONBLOCK: somebody may have put a pipe there.
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(directory, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(Opened::Missing),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO | Errno::NODEV) => return Ok(Opened::Foreign),
            file => File::from(file?),
        };
        if !file.metadata()?.is_file() {
            return Ok(Opened::Foreign);
        }
        // Files of others are not even locked: their owners may use locks too.
        let text = read(&file)?;
        if !text.is_empty() && !text.starts_with(BEGINNING) {
            return Ok(Opened::Foreign);
        }
        let lock = lock_as(&file, operation)?;
        if rustix::fs::fstat(&file)?.st_nlink == 0 {
            return Ok(Opened::Missing);
        }
        let text = read(&file)?;
        let marker = Marker::parse(&text);
        Ok(match (lock, marker) {
            (Lock::HeldByOther, marker) => Opened::Owned(marker),
            (_, None) if text.is_empty() => Opened::Unfinished(file),
            (_, None) => Opened::Foreign,
            (Lock::Taken, Some(marker)) if marker.locked => Opened::Abandoned(Self { file, marker }),
            (_, Some(marker)) => Opened::Unlockable(Self { file, marker }),
        })
    }

    pub(crate) fn marker(&self) -> &Marker {
        &self.marker
    }

    /// The user that the marker belongs to.
    pub(crate) fn user(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.file)?.st_uid)
    }

    /// Changes the marker, durably and in one write: it is never half of one and half of the other. One that cannot be
    /// written is as it was before.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Marker)) -> io::Result<()> {
        let mut changed = self.marker.clone();
        change(&mut changed);
        if changed != self.marker {
            self.write(&changed)?;
            self.marker = changed;
        }
        Ok(())
    }

    fn write(&self, marker: &Marker) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(marker)?;
        // Never shorter than before, so that no truncation has to follow; spaces mean nothing in JSON.
        let length_before = self.file.metadata()?.len().min(MARKER_BYTES_MAX as u64) as usize;
        text.resize(text.len().max(length_before.saturating_sub(1)), b' ');
        text.push(b'\n');
        self.file.write_all_at(&text, 0)?;
        // A marker lost in a power failure would orphan its files. Where there is no sync, nothing is lost by that.
        let _ = fdatasync(&self.file);
        Ok(())
    }
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut text = vec![0; MARKER_BYTES];
    let mut length = 0;
    loop {
        match file.read_at(&mut text[length..], length as u64)? {
            0 => break,
            bytes => length += bytes,
        }
        if length == text.len() && text.starts_with(BEGINNING) && length < MARKER_BYTES_MAX {
            text.resize(length * 2, 0);
        }
    }
    text.truncate(length);
    Ok(text)
}

/// Whether to wait for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A sweep may hold it, for a moment.
    Wait,
    /// The owner may hold it, for hours.
    Try,
}

/// What came of an attempt to lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// We hold it now.
    Taken,
    /// Somebody else holds it.
    HeldByOther,
    /// The file system has no locks.
    Unsupported,
}

/// Locks a file exclusively until it is closed.
pub(crate) fn lock(file: &File, patience: Patience) -> io::Result<Lock> {
    lock_as(
        file,
        match patience {
            Patience::Wait => FlockOperation::LockExclusive,
            Patience::Try => FlockOperation::NonBlockingLockExclusive,
        },
    )
}

fn lock_as(file: &File, operation: FlockOperation) -> io::Result<Lock> {
    loop {
        return match flock(file, operation) {
            Ok(()) => Ok(Lock::Taken),
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => Ok(Lock::HeldByOther),
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(Lock::Unsupported),
            Err(error) => Err(error.into()),
        };
    }
}

/// The name of the n-th test directory of a run in one place.
pub fn directory_name(run: Uuid, index: u32) -> String {
    if index == 0 { format!("{DIRECTORY_PREFIX}{run}") } else { format!("{DIRECTORY_PREFIX}{run}-{index}") }
}

/// The run that a directory of this name is of, when the name is one that [`directory_name`] gives.
pub(crate) fn run_of_directory_name(name: &OsStr) -> Option<Uuid> {
    let rest = name.to_str()?.strip_prefix(DIRECTORY_PREFIX)?;
    let (id, index) = rest.split_at_checked(36)?;
    let run = Uuid::parse_str(id).ok()?;
    let index = if index.is_empty() { 0 } else { index.strip_prefix('-')?.parse().ok()? };
    (name == OsStr::new(&directory_name(run, index))).then_some(run)
}

/// Whether a file in a test directory has a name that we give.
pub(crate) fn is_file_name(name: &OsStr) -> bool {
    is_numbered(name, FILE_PREFIX)
}

/// Whether such a file says that a machine uses the others.
pub(crate) fn is_user_name(name: &OsStr) -> bool {
    is_numbered(name, USER_PREFIX)
}

/// Whether a directory in a test directory is that of a set of files.
pub(crate) fn is_tree_name(name: &OsStr) -> bool {
    is_numbered(name, TREE_PREFIX)
}

/// Whether a directory of this name is one that commands work in.
pub(crate) fn is_work_name(name: &OsStr) -> bool {
    is_numbered(name, WORK_PREFIX)
}

fn is_numbered(name: &OsStr, prefix: &str) -> bool {
    name.to_str().and_then(|name| name.strip_prefix(prefix)).is_some_and(|digits| {
        !digits.is_empty() && digits.len() <= 10 && digits.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// The marker's name beside a test file.
pub(crate) fn sidecar_name(file: &OsStr) -> OsString {
    let mut name = file.to_owned();
    name.push(SIDECAR_SUFFIX);
    name
}

/// The test file that a marker of this name lies beside.
pub(crate) fn file_of_sidecar(name: &OsStr) -> Option<&OsStr> {
    let file = name.as_bytes().strip_suffix(SIDECAR_SUFFIX.as_bytes())?;
    (!file.is_empty()).then(|| OsStr::from_bytes(file))
}

/// What a test file or its marker is called until it is finished: a name that can be nobody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The marker.
    Marker,
    /// The file itself.
    Data,
}

/// The name under which the parts of a test file are made before they get their own.
pub(crate) fn unfinished_name(file: &OsStr, run: Uuid, part: Unfinished) -> OsString {
    let mut name = sidecar_name(file);
    name.push(match part {
        Unfinished::Marker => format!("-{run}"),
        Unfinished::Data => format!("-{run}-data"),
    });
    name
}

/// The test file, run and part that a name made by [`unfinished_name`] is of.
pub(crate) fn part_of_unfinished_name(name: &OsStr) -> Option<(&OsStr, Uuid, Unfinished)> {
    let bytes = name.as_bytes();
    let (bytes, part) = match bytes.strip_suffix(b"-data") {
        Some(rest) => (rest, Unfinished::Data),
        None => (bytes, Unfinished::Marker),
    };
    let (rest, id) = bytes.split_at_checked(bytes.len().checked_sub(36)?)?;
    let run = Uuid::try_parse_ascii(id).ok()?;
    let file = file_of_sidecar(OsStr::from_bytes(rest.strip_suffix(b"-")?))?;
    (name == unfinished_name(file, run, part)).then_some((file, run, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> Owner {
        Owner::this_process(Uuid::from_u128(7))
    }

    #[test]
    fn names_are_recognized_only_in_the_form_that_we_give_them() {
        let run = Uuid::from_u128(0x0199_1234_5678_7abc_8def_0123_4567_89ab);
        for index in [0, 1, 12] {
            assert_eq!(run_of_directory_name(OsStr::new(&directory_name(run, index))), Some(run));
        }
        for name in [
            "plimsoll-",
            "plimsoll-notes",
            "plimsoll-01991234-5678-7abc-8def-0123456789ab-",
            "plimsoll-01991234-5678-7abc-8def-0123456789ab-0",
            "plimsoll-01991234-5678-7abc-8def-0123456789ab-x",
            "plimsoll-01991234-5678-7ABC-8DEF-0123456789AB",
            "plimsoll-{01991234-5678-7abc-8def-0123456789}",
        ] {
            assert_eq!(run_of_directory_name(OsStr::new(name)), None, "{name}");
        }
        assert!(is_file_name(OsStr::new("data-0")) && is_user_name(OsStr::new("user-12")));
        assert!(!is_user_name(OsStr::new("user-eve")));
        for name in ["data-", "data-x", "data-1.txt", "data-+1", "mydata-1", "data-00000000000"] {
            assert!(!is_file_name(OsStr::new(name)), "{name}");
        }
        assert_eq!(file_of_sidecar(&sidecar_name(OsStr::new("disk.img"))), Some(OsStr::new("disk.img")));
        assert_eq!(file_of_sidecar(OsStr::new(".plimsoll")), None);
        for part in [Unfinished::Marker, Unfinished::Data] {
            let name = unfinished_name(OsStr::new("disk.img"), run, part);
            assert_eq!(part_of_unfinished_name(&name), Some((OsStr::new("disk.img"), run, part)));
        }
        for name in ["disk.img.plimsoll-", "disk.img.plimsoll", "-data", "01991234-5678-7abc-8def-0123456789ab"] {
            assert_eq!(part_of_unfinished_name(OsStr::new(name)), None, "{name}");
        }
    }

    #[test]
    fn a_marker_of_another_schema_is_not_ours() {
        let mut marker = Marker::new(&owner());
        let text = serde_json::to_vec(&marker).unwrap();
        assert_eq!(Marker::parse(&text), Some(marker.clone()));
        marker.schema = "plimsoll-object/2".into();
        assert_eq!(Marker::parse(&serde_json::to_vec(&marker).unwrap()), None);
        assert_eq!(Marker::parse(&text[..text.len() / 2]), None);
        assert_eq!(Marker::parse(b""), None);
    }

    #[test]
    fn every_marker_begins_in_the_same_way() {
        assert!(serde_json::to_vec_pretty(&Marker::new(&owner())).unwrap().starts_with(BEGINNING));
    }

    #[test]
    fn only_a_marker_of_another_name_and_another_boot_is_of_another_machine() {
        let here = owner();
        let marker =
            |host: &str, boot_id: &str| Marker { host: host.into(), boot_id: boot_id.into(), ..Marker::new(&here) };
        assert!(marker(&here.host, "before the reboot").is_of_machine(&here));
        assert!(marker("container", &here.boot_id).is_of_machine(&here));
        assert!(!marker("elsewhere", "another").is_of_machine(&here));
    }

    #[test]
    fn a_changed_marker_reads_back_whole_and_stays_locked() {
        let directory = tempfile::tempdir().unwrap();
        let at = File::open(directory.path()).unwrap();
        let name = OsStr::new(MARKER_NAME);
        let mut created = MarkerFile::create(as_fd(&at), name, &owner()).unwrap().unwrap();
        created.change(|marker| marker.file = Some(MarkedFile::default())).unwrap();
        created.change(|marker| (marker.file, marker.kept) = (None, true)).unwrap();
        let Opened::Owned(Some(marker)) = MarkerFile::open(as_fd(&at), name).unwrap() else {
            panic!("the marker is locked and readable");
        };
        assert_eq!((&marker, marker.kept), (created.marker(), true));
        drop(created);
        assert!(matches!(MarkerFile::open(as_fd(&at), name).unwrap(), Opened::Abandoned(_)));
    }

    fn as_fd(file: &File) -> BorrowedFd<'_> {
        rustix::fd::AsFd::as_fd(file)
    }
}
