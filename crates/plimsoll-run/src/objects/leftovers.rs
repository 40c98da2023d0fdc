//! Finding the test objects that runs left behind: by the lists in the state directory, by looking into a directory,
//! or by the path that somebody names.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, Mode, OFlags, openat},
};
use uuid::Uuid;

use super::{
    marker::{Owner, Unfinished, file_of_sidecar, part_of_unfinished_name, run_of_directory_name},
    name_set::{is_marker_name, remove_names},
    registry::{AbandonedList, Entry, ObjectKind, abandoned_lists},
    removal::{Authority, Outcome, entries, remove_directory, remove_file, remove_unfinished},
};

pub use super::removal::LeftReason;

/// How long a file system may take to open a directory, and how long one may after another one took longer.
const PATIENCE: Duration = Duration::from_secs(2);
const SOON: Duration = Duration::from_millis(100);
/// For how long a list is kept whose objects lie where nothing is mounted now.
const UNREACHABLE_KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(30 * 24);

/// A test object that is gone now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Where it was.
    pub path: PathBuf,
    /// The run that made it.
    pub run: Uuid,
    /// The size of the files in it.
    pub bytes: u64,
}

/// A test object, or what looks like one, that is still there.
#[derive(Debug)]
pub struct Left {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is.
    pub reason: LeftReason,
}

/// What looking for leftovers came to.
#[derive(Debug, Default)]
pub struct Sweep {
    /// What was removed.
    pub removed: Vec<Removed>,
    /// What was found and is still there.
    pub left: Vec<Left>,
}

impl Sweep {
    pub(crate) fn note(&mut self, path: PathBuf, outcome: Outcome) {
        match outcome {
            Outcome::Absent => {}
            Outcome::Removed { run, bytes } => self.removed.push(Removed { path, run, bytes }),
            Outcome::Left(reason) => self.left.push(Left { path, reason }),
            Outcome::Emptied { run, files } => {
                let removed = files.into_iter().map(|(name, bytes)| Removed { path: path.join(name), run, bytes });
                self.removed.extend(removed);
                self.left.push(Left { path, reason: LeftReason::Foreign });
            }
        }
    }
}

/// Removes what dead runs of this machine left behind, by the lists in `state_directory`.
///
/// Cheap when there is nothing to do, so every command can begin with it. Objects that live, are kept or are not ours
/// stay; those that could not be removed are tried again by the next command.
///
/// # Errors
/// When the lists cannot be looked through.
pub fn sweep(state_directory: &Path) -> io::Result<Sweep> {
    let here = Owner::this_process(Uuid::nil());
    let mut sweep = Sweep::default();
    for list in abandoned_lists(state_directory, &here)? {
        let mut done = true;
        for entry in &list.entries {
            done &= sweep_entry(entry, &list, &here, &mut sweep);
        }
        if done {
            list.remove()?;
        }
    }
    Ok(sweep)
}

/// Removes one object of a dead run; tells whether there is nothing more to do about it.
fn sweep_entry(entry: &Entry, list: &AbandonedList, here: &Owner, sweep: &mut Sweep) -> bool {
    let (Some(parent_path), Some(name)) = (entry.path.parent(), entry.path.file_name()) else {
        return true;
    };
    let is_silent = |left: &Left| matches!(left.reason, LeftReason::Silent);
    // One wait is enough to tell of it.
    let patience = if sweep.left.iter().any(is_silent) { SOON } else { PATIENCE };
    let parent = match open_soon(parent_path.to_owned(), patience) {
        Ok(parent) => parent,
        Err(RecvTimeoutError::Timeout) => {
            sweep.note(entry.path.clone(), Outcome::Left(LeftReason::Silent));
            return is_old(list, here);
        }
        Err(RecvTimeoutError::Disconnected) => return is_old(list, here),
    };
    let authority = Authority::LeftoversOf(list.run);
    let outcomes = match entry.kind {
        ObjectKind::Directory => vec![remove_directory(parent.as_fd(), name, authority, here)],
        ObjectKind::Names => vec![remove_names(parent.as_fd(), name, authority, here)],
        ObjectKind::File => vec![
            remove_file(parent.as_fd(), name, authority, here),
            remove_unfinished(parent.as_fd(), name, list.run, Unfinished::Marker),
            remove_unfinished(parent.as_fd(), name, list.run, Unfinished::Data),
        ],
    };
    let absent = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Absent));
    let failed = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Left(LeftReason::Failed(_))));
    for outcome in outcomes {
        // What another run has made there since, or what is kept, is no leftover of this one.
        if !matches!(outcome, Outcome::Left(LeftReason::InUse(_) | LeftReason::Kept)) {
            sweep.note(entry.path.clone(), outcome);
        }
    }
    let unreachable = absent && inode(&parent) != Some(entry.parent_inode);
    !failed && (!unreachable || is_old(list, here))
}

fn is_old(list: &AbandonedList, here: &Owner) -> bool {
    here.started.duration_since(list.started) > UNREACHABLE_KEPT
}

/// Removes what dead runs of this machine left behind in `directory`, for a run that is about to use it.
///
/// # Errors
/// When the directory cannot be read.
pub fn sweep_directory(directory: &Path) -> io::Result<Sweep> {
    let mut sweep = Sweep::default();
    scan(directory, Authority::Leftovers, &mut sweep)?;
    // That other runs use the same directory, or keep files in it, is nothing that this one has to be told.
    sweep.left.retain(|left| !matches!(left.reason, LeftReason::InUse(_) | LeftReason::Kept));
    Ok(sweep)
}

/// What processes that are gone have made for `run` in `directory` and is still there, for the one that goes on with
/// it: what cannot be removed, and what is kept.
///
/// # Errors
/// When the directory cannot be read.
pub(crate) fn left_of_run(directory: &Path, run: Uuid) -> io::Result<Vec<Left>> {
    let (here, mut sweep) = (Owner::this_process(run), Sweep::default());
    let parent = open(directory)?;
    for name in entries(parent.as_fd())?.iter().filter(|name| run_of_directory_name(name) == Some(run)) {
        sweep.note(directory.join(name), remove_directory(parent.as_fd(), name, Authority::LeftoversOf(run), &here));
    }
    Ok(sweep.left)
}

/// Removes the test objects at or in `path`, kept ones and those of other machines too. Those in use stay.
///
/// `path` is a test directory, a test file, or a directory that holds such; subdirectories are not searched.
///
/// # Errors
/// When there is no such path, or it cannot be read.
pub fn clean(path: &Path) -> io::Result<Sweep> {
    let mut sweep = Sweep::default();
    let parent_path = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    if let Some(name) = path.file_name() {
        let parent = open(parent_path)?;
        let here = Owner::this_process(Uuid::nil());
        remove_named(parent.as_fd(), parent_path, name, Authority::Explicit, &here, &mut sweep);
        // Named by itself, not by its marker.
        sweep.note(path.to_owned(), remove_file(parent.as_fd(), name, Authority::Explicit, &here));
    }
    if sweep.removed.is_empty() && sweep.left.is_empty() && path.metadata()?.is_dir() {
        scan(path, Authority::Explicit, &mut sweep)?;
    }
    Ok(sweep)
}

fn scan(directory_path: &Path, authority: Authority, sweep: &mut Sweep) -> io::Result<()> {
    let here = Owner::this_process(Uuid::nil());
    let directory = open(directory_path)?;
    for name in entries(directory.as_fd())? {
        remove_named(directory.as_fd(), directory_path, &name, authority, &here, sweep);
    }
    Ok(())
}

/// Removes the object that `name` is, or is the marker or an unfinished part of.
fn remove_named(
    parent: BorrowedFd<'_>,
    parent_path: &Path,
    name: &OsStr,
    authority: Authority,
    here: &Owner,
    sweep: &mut Sweep,
) {
    if run_of_directory_name(name).is_some() {
        sweep.note(parent_path.join(name), remove_directory(parent, name, authority, here));
    } else if is_marker_name(name) {
        sweep.note(parent_path.join(name), remove_names(parent, name, authority, here));
    } else if let Some((file, run, part)) = part_of_unfinished_name(name) {
        sweep.note(parent_path.join(name), remove_unfinished(parent, file, run, part));
    } else if let Some(file) = file_of_sidecar(name) {
        sweep.note(parent_path.join(file), remove_file(parent, file, authority, here));
    }
}

/// Opens a directory that a list named, unless that takes long: one that does not answer is waited for by a thread that
/// nobody waits for.
fn open_soon(path: PathBuf, patience: Duration) -> Result<OwnedFd, RecvTimeoutError> {
    let (answer, opened) = mpsc::channel();
    let asking = thread::Builder::new().name("leftovers".to_owned()).spawn(move || {
        if let Ok(directory) = open(&path) {
            let _ = answer.send(directory);
        }
    });
    match asking {
        Ok(_) => opened.recv_timeout(patience),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    }
}

/// Opens a directory that a person or a list named.
pub(crate) fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

fn inode(directory: &OwnedFd) -> Option<u64> {
    File::from(directory.try_clone().ok()?).metadata().ok().map(|facts| facts.ino())
}
