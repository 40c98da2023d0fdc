//! Removing one test object: a directory or a file that its marker says plimsoll made.
//!
//! Only names that plimsoll gives are unlinked, one by one, below a directory that was opened without following
//! symbolic links, in sets of files too (`trees`), and everything in the directories that commands worked in
//! (`works`), whose servers are ended before. Whatever else lies there stays, and so does what holds it.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::File,
    io,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
    path::PathBuf,
};

use plimsoll_applications::leftovers::{PROCESSES, end_noted, end_processes_of};
use plimsoll_io::signatures;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, ftruncate, openat, statat, unlinkat},
    io::Errno,
    process::{Pid, geteuid, test_kill_process},
};
use uuid::Uuid;

use super::marked_file::{FoundFile, MarkedFile};
use super::marker::{
    MARKER_NAME, Marker, MarkerFile, Opened, Owner, Unfinished, User, is_file_name, is_tree_name, is_user_name,
    is_work_name, run_of_directory_name, sidecar_name, unfinished_name,
};
use super::{
    trees::remove_tree,
    works::{WorkOf, remove_work},
};

/// How much of a large file is freed at once.
const PIECE_BYTES: u64 = 1 << 30;

/// Why a test object, or something that looks like one, was left where it is.
#[derive(Debug, thiserror::Error)]
pub enum LeftReason {
    /// Its owner lives.
    #[error("in use by {0}")]
    InUse(User),
    /// The run was asked to keep its files.
    #[error("kept on purpose (--keep-files): plimsoll doctor --clean removes it")]
    Kept,
    /// Locks of another machine may be invisible here.
    #[error("made on another machine, {host}: plimsoll doctor --clean removes it")]
    OtherMachine {
        /// That machine.
        host: String,
    },
    /// The file system has no locks, and the owner may live.
    #[error("process {pid} may still use it: end that process, then use plimsoll doctor --clean")]
    OwnerUnknown {
        /// The owner, in its own namespace.
        pid: u32,
    },
    /// There are things in it, or in its place, that plimsoll did not make.
    #[error("holds what plimsoll did not make: look at it and remove it by hand")]
    Foreign,
    /// The file system that it is on does not answer, as a network mount whose server is gone.
    #[error("the file system that it is on does not answer: the next command tries again")]
    Silent,
    /// The system said no.
    #[error("it could not be removed ({0})")]
    Failed(#[from] io::Error),
}

/// How much right to remove a caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authority {
    /// What dead runs of this machine left behind.
    Leftovers,
    /// The same, and the owner `run` is known to be dead.
    LeftoversOf(Uuid),
    /// Kept objects and those of other machines too: somebody named them.
    Explicit,
}

/// What became of an object.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There is no such object.
    Absent,
    /// It is gone now.
    Removed { run: Uuid, bytes: u64 },
    /// It is still there.
    Left(LeftReason),
    /// It is a directory that is still there, because it holds what plimsoll did not make; these files in it are gone.
    Emptied { run: Uuid, files: Vec<(OsString, u64)> },
}

impl Outcome {
    pub(crate) fn or_failed(result: io::Result<Self>) -> Self {
        result.unwrap_or_else(|error| Self::Left(LeftReason::Failed(error)))
    }
}

/// Removes the test directory `name` when its owner is gone.
pub(crate) fn remove_directory(parent: BorrowedFd<'_>, name: &OsStr, authority: Authority, here: &Owner) -> Outcome {
    Outcome::or_failed(try_remove_directory(parent, name, authority, here))
}

fn try_remove_directory(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    authority: Authority,
    here: &Owner,
) -> io::Result<Outcome> {
    let Some(run) = run_of_directory_name(name) else {
        return Ok(Outcome::Left(LeftReason::Foreign));
    };
    let directory = match open_directory(parent, name) {
        Err(Errno::NOENT) => return Ok(Outcome::Absent),
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Outcome::Left(LeftReason::Foreign)),
        directory => directory?,
    };
    match MarkerFile::open(directory.as_fd(), OsStr::new(MARKER_NAME))? {
        Opened::Missing => remove_empty(parent, name, run, 0),
        Opened::Foreign => Ok(Outcome::Left(LeftReason::Foreign)),
        Opened::Unfinished(lock) => {
            if entries(directory.as_fd())?.len() > 1 {
                return Ok(Outcome::Left(LeftReason::Foreign));
            }
            unlink(directory.as_fd(), OsStr::new(MARKER_NAME))?;
            drop(lock);
            remove_empty(parent, name, run, 0)
        }
        Opened::Owned(marker) => Ok(Outcome::Left(in_use(marker))),
        Opened::Abandoned(file) | Opened::Unlockable(file) => {
            if file.marker().run != run {
                return Ok(Outcome::Left(LeftReason::Foreign));
            }
            if let Some(reason) = objection(file.marker(), authority, here) {
                return Ok(Outcome::Left(reason));
            }
            if work_of(&file)? == WorkOf::ThisUser {
                end_leftover_processes(directory.as_fd(), run)?;
            }
            empty_and_remove_directory(parent, name, directory.as_fd(), file)
        }
    }
}

fn work_of(marker: &MarkerFile) -> io::Result<WorkOf> {
    Ok(if marker.user()? == geteuid().as_raw() { WorkOf::ThisUser } else { WorkOf::Another })
}

/// Ends what commands of a dead run of this user have left running.
fn end_leftover_processes(directory: BorrowedFd<'_>, run: Uuid) -> io::Result<()> {
    let works: Vec<OsString> = entries(directory)?.into_iter().filter(|entry| is_work_name(entry)).collect();
    let directory = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    for work in &works {
        // Only one of them has such a file.
        let _ = end_noted(&directory.join(work).join(PROCESSES));
    }
    if !works.is_empty() {
        // By the path that the kernel tells of those who work there too.
        end_processes_of(run, Some(&directory.read_link()?));
    }
    Ok(())
}

/// Removes the files of a test directory that we own, its marker, which we hold, and the directory itself.
pub(crate) fn empty_and_remove_directory(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    directory: BorrowedFd<'_>,
    marker: MarkerFile,
) -> io::Result<Outcome> {
    let run = marker.marker().run;
    let mut files = Vec::new();
    let mut foreign = false;
    for entry in entries(directory)? {
        let freed = if is_file_name(&entry) || is_user_name(&entry) {
            remove_regular(directory, &entry)?
        } else if is_tree_name(&entry) {
            remove_tree(directory, &entry)?
        } else if is_work_name(&entry) {
            match remove_work(directory, &entry, work_of(&marker)?)? {
                // The marker stays with it, so that it can be tried again.
                None => return Ok(Outcome::Emptied { run, files }),
                freed => freed,
            }
        } else if entry == MARKER_NAME {
            continue;
        } else {
            None
        };
        match freed {
            Some(bytes) => files.push((entry, bytes)),
            None => foreign = true,
        }
    }
    unlink(directory, OsStr::new(MARKER_NAME))?;
    // Clients of NFS, and libfuse, keep what is open under another name, and a directory that holds that is not empty.
    drop(marker);
    if foreign {
        return Ok(Outcome::Emptied { run, files });
    }
    let bytes = files.iter().map(|(_, bytes)| bytes).sum();
    match remove_empty(parent, name, run, bytes)? {
        // A sweep of another process was faster with the empty directory.
        Outcome::Absent => Ok(Outcome::Removed { run, bytes }),
        outcome => Ok(outcome),
    }
}

fn remove_empty(parent: BorrowedFd<'_>, name: &OsStr, run: Uuid, bytes: u64) -> io::Result<Outcome> {
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(Outcome::Removed { run, bytes }),
        Err(Errno::NOENT) => Ok(Outcome::Absent),
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(Outcome::Left(LeftReason::Foreign)),
        Err(error) => Err(error.into()),
    }
}

/// Removes the test file `name` and its marker when its owner is gone.
pub(crate) fn remove_file(parent: BorrowedFd<'_>, name: &OsStr, authority: Authority, here: &Owner) -> Outcome {
    Outcome::or_failed(try_remove_file(parent, name, authority, here))
}

fn try_remove_file(parent: BorrowedFd<'_>, name: &OsStr, authority: Authority, here: &Owner) -> io::Result<Outcome> {
    match MarkerFile::open(parent, &sidecar_name(name))? {
        // An empty file of this name is not ours: our markers get their name when they are finished.
        Opened::Missing | Opened::Unfinished(_) | Opened::Foreign => Ok(Outcome::Absent),
        Opened::Owned(marker) => Ok(Outcome::Left(in_use(marker))),
        Opened::Abandoned(mut file) | Opened::Unlockable(mut file) => match objection(file.marker(), authority, here) {
            Some(reason) => Ok(Outcome::Left(reason)),
            None => {
                let found = left_file_of(parent, name, &file)?;
                remove_found(parent, name, found, &mut file)
            }
        },
    }
}

/// Removes a test file of this run and its marker. A file that took the name of ours stays.
pub(crate) fn remove_own_file(parent: BorrowedFd<'_>, name: &OsStr, marker: &mut MarkerFile) -> io::Result<Outcome> {
    let found = file_of(parent, name, marker)?;
    remove_found(parent, name, found, marker)
}

/// Removes what was found to be the test file of a marker, which we hold, and the marker.
pub(crate) fn remove_found(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    found: Option<FoundFile>,
    marker: &mut MarkerFile,
) -> io::Result<Outcome> {
    let run = marker.marker().run;
    let mut bytes = 0;
    let is_foreign = found.is_none() && size(parent, name)?.is_some();
    if let Some(found) = found {
        if found.bytes > PIECE_BYTES {
            // It becomes shorter before it goes, and is ours all the same should this end there.
            let _ = marker.change(|marker| marker.file = marker.file.map(MarkedFile::or_shorter));
        }
        bytes += remove_regular(parent, name)?.unwrap_or(0);
    }
    bytes += remove_regular(parent, &unfinished_name(name, run, Unfinished::Data))?.unwrap_or(0);
    unlink(parent, &sidecar_name(name))?;
    Ok(if is_foreign { Outcome::Left(LeftReason::Foreign) } else { Outcome::Removed { run, bytes } })
}

/// The file `name`, when it is the very one that `marker` was written for, and as long as plimsoll made it. One who may
/// write a marker into a directory must not have us remove the file of another user there, so both must have the same
/// owner.
pub(crate) fn file_of(parent: BorrowedFd<'_>, name: &OsStr, marker: &MarkerFile) -> io::Result<Option<FoundFile>> {
    let (Some(wanted), Some(found)) = (marker.marker().file, FoundFile::of(parent, name)?) else {
        return Ok(None);
    };
    Ok((wanted.is(&found) && marker.user()? == found.user).then_some(found))
}

/// The file `name` that a run left, when it is that and nobody put something else into it: where it is not known when
/// it was changed last, because the run wrote to it until it was killed, it must not bear a known signature.
pub(crate) fn left_file_of(parent: BorrowedFd<'_>, name: &OsStr, marker: &MarkerFile) -> io::Result<Option<FoundFile>> {
    let Some(found) = file_of(parent, name, marker)? else { return Ok(None) };
    let is_as_left = match marker.marker().file.and_then(|wanted| wanted.is_as_left(&found)) {
        Some(is_as_left) => is_as_left,
        None => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = File::from(openat(parent, name, flags, Mode::empty())?);
            signatures::find(&file, found.bytes)?.is_empty()
        }
    };
    Ok(is_as_left.then_some(found))
}

/// Removes a part of a test file that never got its own name.
pub(crate) fn remove_unfinished(parent: BorrowedFd<'_>, file: &OsStr, run: Uuid, part: Unfinished) -> Outcome {
    let name = unfinished_name(file, run, part);
    let remove = || {
        let _lock = match part {
            Unfinished::Marker => match MarkerFile::open(parent, &name)? {
                Opened::Missing => return Ok(Outcome::Absent),
                Opened::Owned(marker) => return Ok(Outcome::Left(in_use(marker))),
                Opened::Foreign => return Ok(Outcome::Left(LeftReason::Foreign)),
                opened => Some(opened),
            },
            // Data is empty until it has its own name. An owner that lives starts over.
            Unfinished::Data => match size(parent, &name)? {
                None => return Ok(Outcome::Absent),
                Some(0) => None,
                Some(_) => return Ok(Outcome::Left(LeftReason::Foreign)),
            },
        };
        Ok(match remove_regular(parent, &name)? {
            Some(bytes) => Outcome::Removed { run, bytes },
            None => Outcome::Left(LeftReason::Foreign),
        })
    };
    Outcome::or_failed(remove())
}

pub(crate) fn in_use(marker: Option<Marker>) -> LeftReason {
    LeftReason::InUse(User::of(marker))
}

/// Why an object whose lock we hold, or which has none, must stay all the same.
pub(crate) fn objection(marker: &Marker, authority: Authority, here: &Owner) -> Option<LeftReason> {
    let explicit = authority == Authority::Explicit;
    if marker.kept && !explicit {
        return Some(LeftReason::Kept);
    }
    if !explicit && !marker.is_of_machine(here) {
        return Some(LeftReason::OtherMachine { host: marker.host.clone() });
    }
    let known_dead = marker.locked
        || marker.kept
        || authority == Authority::LeftoversOf(marker.run)
        || (marker.host == here.host && marker.boot_id != here.boot_id)
        || (explicit && !(marker.is_of_machine(here) && process_exists(marker.pid)));
    (!known_dead).then_some(LeftReason::OwnerUnknown { pid: marker.pid })
}

pub(crate) fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// Opens a directory for working below it, without following a symbolic link in its place.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// The names in a directory.
pub(crate) fn entries(directory: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
    }
    Ok(names)
}

/// The size of what has this name; `None` when nothing has.
fn size(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<u64>> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(facts) => Ok(Some(facts.st_size.unsigned_abs())),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Unlinks a regular file and tells its size, zero when it is gone already; `None` when it is something else.
pub(crate) fn remove_regular(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<u64>> {
    let facts = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Some(0)),
        facts => facts?,
    };
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    shrink(directory, name, &facts);
    unlink(directory, name)?;
    Ok(Some(facts.st_size.unsigned_abs()))
}

/// Frees a large file piece by piece. To unlink one takes seconds in which no signal reaches the process, and a second
/// Ctrl-C is to end it at once. Whatever is in the way is ignored: the name is removed next in any case.
fn shrink(directory: BorrowedFd<'_>, name: &OsStr, facts: &Stat) {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut left_bytes = facts.st_size.unsigned_abs();
    if left_bytes <= PIECE_BYTES {
        return;
    }
    let Ok(file) = openat(directory, name, flags, Mode::empty()) else { return };
    // A file that has another name belongs to somebody under that one.
    let is_ours_alone =
        |opened: Stat| (opened.st_dev, opened.st_ino, opened.st_nlink) == (facts.st_dev, facts.st_ino, 1);
    if !fstat(&file).is_ok_and(is_ours_alone) {
        return;
    }
    while left_bytes > PIECE_BYTES {
        left_bytes -= PIECE_BYTES;
        if ftruncate(&file, left_bytes).is_err() {
            return;
        }
    }
}

/// Unlinks a name; one that is gone already is fine.
pub(crate) fn unlink(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => {
            let error = io::Error::from(error);
            Err(io::Error::new(error.kind(), format!("{}: {error}", name.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::objects::TestObjects;

    #[test]
    fn a_large_file_whose_removal_is_interrupted_is_still_ours() {
        const BYTES: u64 = 2 * PIECE_BYTES + 1;
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let path = root.join("made.img");
        let set_length = |bytes| fs::File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
        let mut objects = TestObjects::new(Owner::this_process(Uuid::from_u128(1)), None);
        objects.create_file(&path, BYTES).unwrap();
        set_length(BYTES);
        objects.note_layout(&path, true);
        assert!(objects.keep().1.is_ok());
        drop(objects);
        // With another name each is still there when its name is gone.
        let names = ["made.img", "made.img.plimsoll"].map(|name| (root.join(name), root.join(format!("{name}-2"))));
        for (name, other) in &names {
            fs::hard_link(name, other).unwrap();
        }
        let parent = fs::File::open(&root).unwrap();
        let here = Owner::this_process(Uuid::nil());
        let remove = || remove_file(parent.as_fd(), OsStr::new("made.img"), Authority::Explicit, &here);
        assert!(matches!(remove(), Outcome::Removed { bytes: BYTES, .. }));
        for (name, other) in &names {
            fs::rename(other, name).unwrap();
        }
        set_length(PIECE_BYTES);
        assert!(matches!(remove(), Outcome::Removed { bytes: PIECE_BYTES, .. }));
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }
}
