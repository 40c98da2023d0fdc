//! The test objects that plimsoll makes in a target, and how they vanish.
//!
//! In a directory `D` a run makes `D/plimsoll-<run>/` with a marker file in it; for a file `F` that does not exist it
//! makes a marker `F.plimsoll` beside it, then `F`; for many files with names of their own in a directory, one marker
//! for all of them (`name_set`). The marker is there before any data, and locked as long as the process lives. A list
//! in the state directory names each object before it is made. So whatever moment a run is killed at, the next command
//! that tidies up finds what is left ([`leftovers::sweep`]), and so does the next run in the same place
//! ([`leftovers::sweep_directory`]); what is not marked as ours is never written or removed. Files of earlier runs that
//! are only read are shared with others who read them ([`TestObjects::share_file`]), and nothing is made for it.

mod error;
pub mod in_common;
mod keeping;
pub mod leftovers;
mod marked_file;
mod marker;
mod name_set;
mod registry;
mod removal;
mod replaced;
mod trees;
mod works;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use plimsoll_applications::user;
use plimsoll_io::clock::{self, Clock, MonotonicClock, Precision};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{
        AtFlags, Mode, OFlags, RenameFlags, StatVfsMountFlags, chownat, fchmod, fstatvfs, linkat, mkdirat, openat,
        renameat_with,
    },
    io::Errno,
};

pub use self::{
    error::ObjectError,
    marker::{Owner, User, directory_name},
    name_set::{WantedNames, Warrant},
};
use self::{
    leftovers::{LeftReason, Sweep, open},
    marked_file::{FoundFile, MarkedFile},
    marker::{
        FILE_PREFIX, MARKER_NAME, MODE_FOR_READERS, MarkerFile, Opened, Unfinished, sidecar_name, unfinished_name,
    },
    name_set::OwnedNames,
    registry::{ObjectKind, Registry},
    removal::{
        Authority, Outcome, empty_and_remove_directory, left_file_of, open_directory, remove_file, remove_own_file,
        unlink,
    },
    trees::TREE_PREFIX,
    works::WORK_PREFIX,
};

/// How often making an object is tried again when sweeps of other processes take its unfinished beginnings away.
const ATTEMPTS: u32 = 100;

/// How often, and after what pause, a marker that is in use is looked at again.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS_NS: u64 = 10_000_000;

/// What becomes of test files when their run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesAfter {
    /// What the run made is removed; what an earlier one made and kept is kept again.
    AsBefore,
    /// All stay.
    Kept,
    /// What plimsoll made is removed, by whichever run.
    Removed,
}

/// All test objects of a run. They are removed when this is dropped, unless they are to be kept.
#[derive(Debug)]
pub struct TestObjects {
    owner: Owner,
    registry: Option<Registry>,
    warnings: Vec<String>,
    directories: Vec<OwnedDirectory>,
    files: Vec<OwnedFile>,
    names: Vec<OwnedNames>,
}

#[derive(Debug)]
struct OwnedDirectory {
    path: PathBuf,
    name: OsString,
    parent: OwnedFd,
    directory: OwnedFd,
    marker: MarkerFile,
}

#[derive(Debug)]
struct OwnedFile {
    path: PathBuf,
    name: OsString,
    /// Files of one directory have this in common, because there may be thousands.
    parent: Arc<OwnedFd>,
    marker: MarkerFile,
    /// Whether others may have it too, because it is only read. It stays, whatever its marker says.
    is_shared: bool,
    /// Whether a cell of this run writes to it, by whatever name.
    is_written_to: bool,
}

/// Where a file is, or is to be.
struct Spot {
    path: PathBuf,
    name: OsString,
    parent: Arc<OwnedFd>,
}

impl OwnedFile {
    fn new(spot: Spot, marker: MarkerFile, is_shared: bool) -> Self {
        let Spot { path, name, parent } = spot;
        Self { path, name, parent, marker, is_shared, is_written_to: false }
    }
}

/// A directory of our own inside of a directory target.
#[derive(Debug)]
pub struct TestDirectory {
    path: PathBuf,
    directory: OwnedFd,
}

/// A file target.
#[derive(Debug)]
pub struct TestFile {
    /// Where it is, without symbolic links on the way to it.
    pub path: PathBuf,
    /// Whose it is.
    pub provenance: Provenance,
}

/// Whose a file is, and so what may be done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// This run made it: it is empty, and will be removed.
    Created,
    /// An earlier run made it and kept it: it may be written, and is kept again.
    Kept,
    /// It was there before, or cannot be told from what was: it may be read, nothing else.
    Foreign,
}

impl TestObjects {
    /// Starts a run that has no objects yet. Without a state directory leftovers are only found by looking where they
    /// are; so too when it cannot be written to, and [`Self::warnings`] says so then.
    pub fn new(owner: Owner, state_directory: Option<&Path>) -> Self {
        let mut warnings = Vec::new();
        let registry = state_directory.and_then(|state| match Registry::create(state, &owner) {
            Ok(registry) => Some(registry),
            Err(error) => {
                warnings.push(unlisted(state, &error));
                None
            }
        });
        Self { owner, registry, warnings, directories: Vec::new(), files: Vec::new(), names: Vec::new() }
    }

    /// What did not go as it should, without keeping the run from going on.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes a directory of our own in `target`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create_directory(&mut self, target: &Path) -> Result<TestDirectory, ObjectError> {
        let failed = |source| ObjectError::Create { path: target.to_owned(), source };
        let target = target.canonicalize().map_err(failed)?;
        let parent = open(&target).map_err(failed)?;
        for index in 0..ATTEMPTS {
            let name = OsString::from(directory_name(self.owner.run, index));
            let path = target.join(&name);
            // A target may be given twice, so a name of our own run may be taken.
            if self.directories.iter().any(|made| made.path == path) {
                continue;
            }
            self.list(ObjectKind::Directory, &path);
            if let Some((directory, marker)) = make_directory(parent.as_fd(), &name, &self.owner).map_err(failed)? {
                let handle = TestDirectory { path: path.clone(), directory: directory.try_clone().map_err(failed)? };
                self.directories.push(OwnedDirectory { path, name, parent, directory, marker });
                return Ok(handle);
            }
        }
        Err(failed(Errno::EXIST.into()))
    }

    /// Makes the file `path`, which is to have so many bytes, when it does not exist, takes it over when an earlier run
    /// kept it, and leaves it alone when it is somebody's, or somebody wrote to it since it was kept.
    ///
    /// # Errors
    /// When the system refuses, or another run uses the file.
    pub fn create_file(&mut self, path: &Path, bytes: u64) -> Result<TestFile, ObjectError> {
        let failed = |source| ObjectError::Create { path: path.to_owned(), source };
        let Spot { path, name, parent } = self.locate(path)?;
        if let Some(index) = self.index_of(&path) {
            let made = &mut self.files[index];
            if !made.is_shared {
                made.change(|file| file.or_longer(bytes)).map_err(failed)?;
                let kept = made.marker.marker().kept;
                return Ok(TestFile { path, provenance: if kept { Provenance::Kept } else { Provenance::Created } });
            }
            // It is wanted alone now.
            self.files.remove(index);
        }
        for attempt in 0..ATTEMPTS {
            let exists = path.symlink_metadata().is_ok();
            match MarkerFile::open(parent.as_fd(), &sidecar_name(&name)).map_err(failed)? {
                Opened::Missing | Opened::Foreign | Opened::Unfinished(_) if exists => {
                    return Ok(TestFile { path, provenance: Provenance::Foreign });
                }
                Opened::Missing => {}
                Opened::Foreign | Opened::Unfinished(_) => {
                    let marker = path.with_file_name(sidecar_name(&name));
                    return Err(ObjectError::MarkerInTheWay { path, marker });
                }
                Opened::Owned(_) if attempt < LOOKS => {
                    pause();
                    continue;
                }
                Opened::Owned(marker) => return Err(ObjectError::InUse { path, user: User::of(marker) }),
                Opened::Abandoned(mut marker)
                    if marker.marker().kept
                        && let Some(found) = left_file_of(parent.as_fd(), &name, &marker).map_err(failed)? =>
                {
                    let file = Some(MarkedFile::to_become(&found, bytes));
                    marker.change(|marker| marker.file = file).map_err(failed)?;
                    let spot = Spot { path: path.clone(), name, parent };
                    self.files.push(OwnedFile::new(spot, marker, false));
                    return Ok(TestFile { path, provenance: Provenance::Kept });
                }
                Opened::Abandoned(marker) | Opened::Unlockable(marker) => {
                    // A marker without its file keeps nothing.
                    let authority = if marker.marker().kept { Authority::Explicit } else { Authority::Leftovers };
                    drop(marker);
                    // What is not ours has lost its marker, and so it is somebody's.
                    if let Outcome::Left(reason) = remove_file(parent.as_fd(), &name, authority, &self.owner)
                        && !matches!(reason, LeftReason::Foreign)
                    {
                        let source = io::Error::new(io::ErrorKind::AlreadyExists, reason);
                        return Err(ObjectError::Create { path, source });
                    }
                    continue;
                }
            }
            self.list(ObjectKind::File, &path);
            if let Some(marker) = make_file(parent.as_fd(), &name, &self.owner, bytes).map_err(failed)? {
                let spot = Spot { path: path.clone(), name, parent };
                self.files.push(OwnedFile::new(spot, marker, false));
                return Ok(TestFile { path, provenance: Provenance::Created });
            }
        }
        Err(failed(Errno::EXIST.into()))
    }

    /// Takes a file that is there and has at least so many bytes as it is, to be read beside others who only read it.
    /// Nothing is written, so that the file system may be read-only. `None` where that is not enough, and the file is
    /// one for [`Self::create_file`].
    ///
    /// # Errors
    /// When somebody writes, fills or removes the file.
    pub fn share_file(&mut self, path: &Path, bytes: u64) -> Result<Option<TestFile>, ObjectError> {
        let Spot { path, name, parent } = self.locate(path)?;
        if let Some(made) = self.index_of(&path).map(|index| &self.files[index]) {
            let provenance = if made.marker.marker().kept { Provenance::Kept } else { Provenance::Foreign };
            return Ok(made.is_shared.then_some(TestFile { path, provenance }));
        }
        let is_read_only = fstatvfs(&parent).is_ok_and(|facts| facts.f_flag.contains(StatVfsMountFlags::RDONLY));
        // Which file it is, when it is long enough.
        let found = || {
            let facts = path.metadata().ok().filter(|facts| facts.is_file() && facts.len() >= bytes);
            // The number of a file that is gone may be that of the next one.
            facts.map(|facts| (facts.dev(), facts.ino(), facts.ctime(), facts.ctime_nsec()))
        };
        for attempt in 0.. {
            let Some(before) = found() else { return Ok(None) };
            match MarkerFile::share(parent.as_fd(), &sidecar_name(&name)) {
                Ok(Opened::Missing | Opened::Foreign | Opened::Unfinished(_)) => {
                    // Before a marker goes its file does, and before a file comes its marker does.
                    let is_same = found() == Some(before);
                    return Ok(is_same.then_some(TestFile { path, provenance: Provenance::Foreign }));
                }
                Ok(Opened::Owned(_)) if attempt < LOOKS => pause(),
                Ok(Opened::Owned(marker)) => return Err(ObjectError::InUse { path, user: User::of(marker) }),
                Ok(Opened::Abandoned(marker) | Opened::Unlockable(marker)) => {
                    let is_kept = marker.marker().kept
                        && left_file_of(parent.as_fd(), &name, &marker).is_ok_and(|found| found.is_some());
                    let provenance = match (is_kept, is_read_only) {
                        (true, _) => Provenance::Kept,
                        // What a dead run left cannot be removed there.
                        (false, true) => Provenance::Foreign,
                        (false, false) => return Ok(None),
                    };
                    // It may have been filled anew until it was locked.
                    if found().is_none() {
                        return Ok(None);
                    }
                    let spot = Spot { path: path.clone(), name, parent };
                    self.files.push(OwnedFile::new(spot, marker, true));
                    return Ok(Some(TestFile { path, provenance }));
                }
                // Another user's marker that only that one may read says that the file is somebody else's.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Ok(Some(TestFile { path, provenance: Provenance::Foreign }));
                }
                // Whose it is cannot be told, and does not matter where nothing can be written.
                Err(_) => return Ok(is_read_only.then_some(TestFile { path, provenance: Provenance::Foreign })),
            }
        }
        unreachable!("the last attempt decides")
    }

    fn locate(&self, path: &Path) -> Result<Spot, ObjectError> {
        let failed = |source| ObjectError::Create { path: path.to_owned(), source };
        let name = path.file_name().ok_or_else(|| ObjectError::NoFileName { path: path.to_owned() })?.to_owned();
        let parent_path = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent_path = parent_path.canonicalize().map_err(failed)?;
        let known = self.files.last().filter(|made| made.path.parent() == Some(&parent_path));
        let parent = match known {
            Some(made) => Arc::clone(&made.parent),
            None => Arc::new(open(&parent_path).map_err(failed)?),
        };
        Ok(Spot { path: parent_path.join(&name), name, parent })
    }

    /// Which of the files of this run has this path.
    fn index_of(&self, path: &Path) -> Option<usize> {
        // As text, which is compared far faster than the parts of a path.
        self.files.iter().position(|made| made.path.as_os_str() == path.as_os_str())
    }

    /// Removes all objects that are not to be kept, and tells what became of them. Dropping does the same silently.
    pub fn remove(mut self) -> Sweep {
        self.remove_all()
    }

    fn remove_all(&mut self) -> Sweep {
        let mut sweep = Sweep::default();
        for made in self.directories.drain(..).filter(|made| !made.marker.marker().kept) {
            let OwnedDirectory { path, name, parent, directory, marker } = made;
            let outcome = empty_and_remove_directory(parent.as_fd(), &name, directory.as_fd(), marker);
            sweep.note(path, Outcome::or_failed(outcome));
        }
        for mut made in self.files.drain(..).filter(|made| !made.is_shared) {
            if made.marker.marker().kept {
                // What is not noted is known by its length alone.
                let _ = made.keep();
                continue;
            }
            let outcome = remove_own_file(made.parent.as_fd(), &made.name, &mut made.marker);
            sweep.note(made.path, outcome.unwrap_or_else(|error| Outcome::Left(LeftReason::Failed(error))));
        }
        for (path, outcome) in self.names.drain(..).filter_map(OwnedNames::remove) {
            sweep.note(path, outcome);
        }
        // What could not be removed is tried again by the next command, by the list.
        let failed = sweep.left.iter().any(|left| matches!(left.reason, LeftReason::Failed(_)));
        if let Some(registry) = self.registry.take().filter(|_| !failed) {
            // A list that stays is removed by the next command: its run is dead and nothing of it is left.
            let _ = registry.remove();
        }
        sweep
    }

    /// Names an object in the list before it is made.
    fn list(&mut self, kind: ObjectKind, path: &Path) {
        if let Some(registry) = &mut self.registry
            && let Err(error) = registry.add(kind, path)
        {
            self.warnings.push(unlisted(path, &error));
        }
    }
}

impl Drop for TestObjects {
    fn drop(&mut self) {
        self.remove_all();
    }
}

/// Whether a path leads to a file that plimsoll did not make. Nothing is changed; when nobody can tell, it is not said.
pub fn is_foreign_file(path: &Path) -> bool {
    let (Some(name), true) = (path.file_name(), path.is_file()) else { return false };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(parent) = open(parent) else { return false };
    match MarkerFile::share(parent.as_fd(), &sidecar_name(name)) {
        Ok(Opened::Missing | Opened::Foreign | Opened::Unfinished(_)) => true,
        Ok(Opened::Abandoned(marker) | Opened::Unlockable(marker)) => {
            matches!(left_file_of(parent.as_fd(), name, &marker), Ok(None))
        }
        Ok(Opened::Owned(_)) | Err(_) => false,
    }
}

/// A sweep of another process may be looking at a marker, which takes a moment.
fn pause() {
    clock::sleep_until_ns(MonotonicClock.now_ns() + BETWEEN_LOOKS_NS, Precision::Sleep);
}

fn unlisted(path: &Path, error: &io::Error) -> String {
    format!(
        "test files cannot be listed for {path:?} ({error}): should this run be killed, the next run in the same \
         directory or plimsoll doctor --clean removes what is left"
    )
}

impl TestDirectory {
    /// Where it is, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file of this number is, or will be.
    pub fn file_path(&self, index: u32) -> PathBuf {
        self.path.join(format!("{FILE_PREFIX}{index}"))
    }

    /// Makes the file of this number, empty.
    ///
    /// # Errors
    /// When there is one already, or the system refuses.
    pub fn create_file(&self, index: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, format!("{FILE_PREFIX}{index}"), flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(file))
    }

    /// Makes the directory of this number for a set of files, and opens it.
    ///
    /// # Errors
    /// When there is one already, or the system refuses.
    pub fn create_tree(&self, index: u32) -> io::Result<OwnedFd> {
        let name = format!("{TREE_PREFIX}{index}");
        mkdirat(&self.directory, &*name, Mode::RWXU)?;
        Ok(open_directory(self.directory.as_fd(), OsStr::new(&name))?)
    }

    /// Makes the directory of this number for commands to work in, which belongs to this user, if there is one.
    ///
    /// # Errors
    /// When there is one already, or the system refuses.
    pub fn create_work(&self, index: usize, user: Option<user::User>) -> io::Result<PathBuf> {
        let name = format!("{WORK_PREFIX}{index}");
        mkdirat(&self.directory, &*name, Mode::RWXU)?;
        if let Some(user) = user {
            fchmod(&self.directory, Mode::RWXU | Mode::XGRP | Mode::XOTH)?;
            // Not by its path: the way to it may belong to somebody who has it lead elsewhere.
            chownat(&self.directory, &*name, Some(user.id), Some(user.group), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Ok(self.path.join(name))
    }
}

/// Makes a directory and its marker. `None` when a sweep of another process removed the unfinished directory, or the
/// name is taken.
fn make_directory(parent: BorrowedFd<'_>, name: &OsStr, owner: &Owner) -> io::Result<Option<(OwnedFd, MarkerFile)>> {
    for _ in 0..ATTEMPTS {
        match mkdirat(parent, name, Mode::RWXU) {
            Err(Errno::EXIST) => return Ok(None),
            made => made?,
        }
        let directory = match open_directory(parent, name) {
            Err(Errno::NOENT) => continue,
            directory => directory?,
        };
        match MarkerFile::create(directory.as_fd(), OsStr::new(MARKER_NAME), owner) {
            Ok(Some(marker)) => return Ok(Some((directory, marker))),
            Ok(None) => {}
            Err(error) => {
                // No space for a marker, say: then there must be no directory either.
                let _ = unlink(directory.as_fd(), OsStr::new(MARKER_NAME));
                let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
                return Err(error);
            }
        }
    }
    Ok(None)
}

/// Makes a file and its marker. `None` when somebody took the name of either, or a sweep of another process removed
/// an unfinished part.
fn make_file(parent: BorrowedFd<'_>, name: &OsStr, owner: &Owner, bytes: u64) -> io::Result<Option<MarkerFile>> {
    let marker_name = unfinished_name(name, owner.run, Unfinished::Marker);
    let made = match MarkerFile::create_readable(parent, &marker_name, owner) {
        Ok(Some(mut marker)) => match rename_new(parent, &marker_name, &sidecar_name(name)) {
            Ok(true) => match make_marked_file(parent, name, owner, &mut marker, bytes) {
                Ok(true) => return Ok(Some(marker)),
                other => {
                    remove_own_file(parent, name, &mut marker)?;
                    other.map(|_| None)
                }
            },
            other => other.map(|_| None),
        },
        other => other,
    };
    unlink(parent, &marker_name)?;
    made
}

/// Makes the file under a name that can be nobody's, notes in the marker which file it is, and only then gives it its
/// name: so a file that has the name is ours if and only if the marker says so.
fn make_marked_file(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    owner: &Owner,
    marker: &mut MarkerFile,
    bytes: u64,
) -> io::Result<bool> {
    let data_name = unfinished_name(name, owner.run, Unfinished::Data);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, &data_name, flags, MODE_FOR_READERS)?;
    let Some(found) = FoundFile::of(parent, &data_name)? else {
        return Ok(false);
    };
    marker.change(|marker| marker.file = Some(MarkedFile::to_become(&found, bytes)))?;
    rename_new(parent, &data_name, name)
}

/// Renames without replacing; false when the new name is taken or the old one is gone.
fn rename_new(parent: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> io::Result<bool> {
    match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(true),
        Err(Errno::EXIST | Errno::NOENT) => return Ok(false),
        // Network file systems do not know the flag; a link never replaces.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        Err(error) => return Err(error.into()),
    }
    match linkat(parent, from, parent, to, AtFlags::empty()) {
        Ok(()) => unlink(parent, from).map(|()| true),
        Err(Errno::EXIST | Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
