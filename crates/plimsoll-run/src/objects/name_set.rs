//! Many files of a run with names that were chosen for it, in a directory that is somebody's: one marker for all of
//! them, because a marker for each would be as many files again.
//!
//! The marker names the files before any is made, and none of these names was taken then. A file is taken for one of
//! ours if its name is in the set and it was born after the marker and, once the run had kept its files, not later than
//! that; if it belongs to the same user; and if it is empty or as long as ours. Whatever differs stays.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use plimsoll_workload::file_names::FileNames;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, StatxFlags, statx},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    ObjectError, TestObjects,
    leftovers::{LeftReason, open},
    marked_file::FoundFile,
    marker::{MarkerFile, Opened, Owner, User, sidecar_name},
    registry::ObjectKind,
    removal::{Authority, Outcome, entries, in_use, left_file_of, objection, remove_found, remove_regular, unlink},
};

/// What the marker's name begins with; the run's id follows.
const MARKER_PREFIX: &str = "names-";
/// How it ends.
const MARKER_SUFFIX: &str = ".plimsoll";

/// Files that a marker is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameSet {
    names: FileNames,
    /// Lengths that they may have, beside none.
    bytes: Vec<u64>,
    /// Not before this was any of them made.
    from_ns: i64,
    /// And not after this, when they were to be kept.
    until_ns: Option<i64>,
}

/// Files that are wanted in a directory.
#[derive(Clone, Copy, Debug)]
pub struct WantedNames<'a> {
    /// What they are called.
    pub names: &'a FileNames,
    /// How long they will be, beside empty.
    pub bytes: u64,
    /// Whether files that are there are used as they are. Otherwise they have to be ours, and are removed.
    pub takes_what_is_there: bool,
}

/// Tells files of a set from those of others.
#[derive(Clone, Debug)]
pub struct Warrant {
    set: NameSet,
    user: u32,
}

/// A set whose marker this run holds.
#[derive(Debug)]
pub(super) struct OwnedNames {
    path: PathBuf,
    name: OsString,
    parent: OwnedFd,
    marker: MarkerFile,
}

/// A set that an earlier run kept.
struct KeptSet {
    /// The name of its marker.
    marker: OsString,
    warrant: Warrant,
    /// Hashes of the names of its files.
    names: HashSet<u64>,
}

/// What is to be known of a file to tell whose it is.
struct Facts {
    is_regular: bool,
    user: u32,
    bytes: u64,
    /// When it was born, or where the file system does not know, changed last.
    born_ns: i64,
}

impl Facts {
    /// Of what has this name, which is not followed when it is a link; `None` when nothing has.
    fn of(directory: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<Option<Self>> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let facts = match statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, wanted) {
            Err(Errno::NOENT) => return Ok(None),
            facts => facts?,
        };
        let knows_birth = StatxFlags::from_bits_retain(facts.stx_mask).contains(StatxFlags::BTIME);
        let born = if knows_birth { facts.stx_btime } else { facts.stx_ctime };
        Ok(Some(Self {
            is_regular: u32::from(facts.stx_mode) & 0o170_000 == 0o100_000,
            user: facts.stx_uid,
            bytes: facts.stx_size,
            born_ns: born.tv_sec.saturating_mul(1_000_000_000).saturating_add(born.tv_nsec.into()),
        }))
    }
}

impl Warrant {
    /// Whether what has this name in the directory is ours; `None` when nothing has.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn owns(&self, directory: BorrowedFd<'_>, name: impl rustix::path::Arg) -> io::Result<Option<bool>> {
        Ok(Facts::of(directory, name)?.map(|facts| self.is_of(&facts)))
    }

    /// Whether any of the files is there.
    fn has_files(&self, directory: BorrowedFd<'_>) -> bool {
        self.set.names.iter().any(|name| self.owns(directory, name).is_ok_and(|owns| owns == Some(true)))
    }

    fn is_of(&self, facts: &Facts) -> bool {
        let set = &self.set;
        facts.is_regular
            && facts.user == self.user
            && (facts.bytes == 0 || set.bytes.contains(&facts.bytes))
            && facts.born_ns >= set.from_ns
            && set.until_ns.is_none_or(|until_ns| facts.born_ns <= until_ns)
    }

    fn of(marker: &MarkerFile) -> io::Result<Option<Self>> {
        let Some(set) = marker.marker().names.clone() else { return Ok(None) };
        Ok(Some(Self { set, user: marker.user()? }))
    }
}

impl TestObjects {
    /// Announces files with names that were chosen. What is there and is neither ours nor to be used as it is is
    /// refused; what an earlier run kept is removed.
    ///
    /// # Errors
    /// When a file of somebody else is there, another run uses one, or the system refuses.
    pub fn create_names(&mut self, directory: &Path, wanted: &[WantedNames<'_>]) -> Result<Warrant, ObjectError> {
        let failed = |source| ObjectError::Create { path: directory.to_owned(), source };
        let directory = directory.canonicalize().map_err(failed)?;
        let parent = open(&directory).map_err(failed)?;
        let kept = kept_sets(parent.as_fd(), &directory, wanted)?;
        let names = free_names(parent.as_fd(), &directory, wanted, &kept)?;
        let name = marker_name(self.owner.run);
        let path = directory.join(&name);
        self.list(ObjectKind::Names, &path);
        let bytes = wanted.iter().map(|wanted| wanted.bytes).filter(|bytes| *bytes > 0).collect();
        let (marker, warrant) = announce(parent.as_fd(), &name, &self.owner, names, bytes).map_err(|error| {
            // What was there already is another set of this run.
            if error.kind() != io::ErrorKind::AlreadyExists {
                let _ = unlink(parent.as_fd(), &name);
            }
            failed(error)
        })?;
        self.names.push(OwnedNames { path, name, parent, marker });
        Ok(warrant)
    }
}

/// Makes the marker of a set. What an error leaves of it is for the caller to remove.
fn announce(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    owner: &Owner,
    names: FileNames,
    bytes: Vec<u64>,
) -> io::Result<(MarkerFile, Warrant)> {
    let mut marker = MarkerFile::create(parent, name, owner)?.ok_or(Errno::EXIST)?;
    let born = Facts::of(parent, name)?.ok_or(Errno::NOENT)?;
    let set = NameSet { names, bytes, from_ns: born.born_ns, until_ns: None };
    marker.change(|marker| marker.names = Some(set.clone()))?;
    let user = marker.user()?;
    Ok((marker, Warrant { set, user }))
}

impl OwnedNames {
    /// Marks the files as kept, as far as there are any. Tells what to name to have them removed.
    pub(super) fn keep(&mut self) -> Result<Option<PathBuf>, ObjectError> {
        let failed = |source| ObjectError::Create { path: self.path.clone(), source };
        let Some(warrant) = Warrant::of(&self.marker).map_err(failed)? else { return Ok(None) };
        let directory = self.parent.as_fd();
        if !warrant.has_files(directory) {
            return Ok(None);
        }
        // The file system's own clock says when that is.
        self.marker.change(|marker| marker.kept = true).map_err(failed)?;
        let changed = statx(directory, &self.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::CTIME);
        let changed = changed.map_err(|error| failed(error.into()))?.stx_ctime;
        let until_ns = changed.tv_sec.saturating_mul(1_000_000_000).saturating_add(changed.tv_nsec.into());
        let end = |set: &mut NameSet| set.until_ns = Some(until_ns);
        self.marker.change(|marker| marker.names.as_mut().map_or((), end)).map_err(failed)?;
        Ok(Some(self.path.clone()))
    }

    /// Removes the files and their marker, unless they are to be kept.
    pub(super) fn remove(self) -> Option<(PathBuf, Outcome)> {
        if self.marker.marker().kept {
            return None;
        }
        let outcome = remove_set(self.parent.as_fd(), &self.name, &self.marker);
        Some((self.path, Outcome::or_failed(outcome)))
    }
}

/// The name of the marker of a run's set in a directory.
fn marker_name(run: Uuid) -> OsString {
    OsString::from(format!("{MARKER_PREFIX}{run}{MARKER_SUFFIX}"))
}

/// Whether this is the name of a marker of a set.
pub(crate) fn is_marker_name(name: &OsStr) -> bool {
    let id = name.to_str().and_then(|name| name.strip_prefix(MARKER_PREFIX)?.strip_suffix(MARKER_SUFFIX));
    id.and_then(|id| Uuid::parse_str(id).ok()).is_some_and(|run| name == marker_name(run))
}

/// Removes a set whose owner is gone, by the name of its marker.
pub(crate) fn remove_names(parent: BorrowedFd<'_>, name: &OsStr, authority: Authority, here: &Owner) -> Outcome {
    let remove = || match MarkerFile::open(parent, name)? {
        Opened::Missing => Ok(Outcome::Absent),
        Opened::Foreign => Ok(Outcome::Left(LeftReason::Foreign)),
        // Its owner died before it made anything else.
        Opened::Unfinished(_lock) => unlink(parent, name).map(|()| Outcome::Absent),
        Opened::Owned(marker) => Ok(Outcome::Left(in_use(marker))),
        Opened::Abandoned(file) | Opened::Unlockable(file) => match objection(file.marker(), authority, here) {
            Some(reason) => Ok(Outcome::Left(reason)),
            None => remove_set(parent, name, &file),
        },
    };
    Outcome::or_failed(remove())
}

fn remove_set(parent: BorrowedFd<'_>, name: &OsStr, marker: &MarkerFile) -> io::Result<Outcome> {
    let run = marker.marker().run;
    let mut bytes = 0;
    if let Some(warrant) = Warrant::of(marker)? {
        for file in warrant.set.names.iter().filter(|file| !file.contains('/')) {
            if warrant.owns(parent, &file)? == Some(true) {
                bytes += remove_regular(parent, OsStr::new(&file))?.unwrap_or(0);
            }
        }
    }
    unlink(parent, name)?;
    Ok(Outcome::Removed { run, bytes })
}

/// What tells whose files are that earlier runs kept in a directory. No other run may be using one that is wanted.
fn kept_sets(directory: BorrowedFd<'_>, path: &Path, wanted: &[WantedNames<'_>]) -> Result<Vec<KeptSet>, ObjectError> {
    let failed = |source| ObjectError::Create { path: path.to_owned(), source };
    let mut kept = Vec::new();
    for name in entries(directory).map_err(failed)?.into_iter().filter(|name| is_marker_name(name)) {
        match MarkerFile::open(directory, &name).map_err(failed)? {
            Opened::Abandoned(file) if file.marker().kept => {
                if let Some(warrant) = Warrant::of(&file).map_err(failed)? {
                    let names = warrant.set.names.iter().map(|name| hash(name.as_bytes())).collect();
                    kept.push(KeptSet { marker: name, warrant, names });
                }
            }
            Opened::Owned(Some(marker)) => {
                let set = marker.names.iter().flat_map(|set| set.names.iter());
                let names: HashSet<u64> = set.map(|name| hash(name.as_bytes())).collect();
                let all = wanted.iter().flat_map(|wanted| wanted.names.iter());
                if let Some(name) = all.into_iter().find(|name| names.contains(&hash(name.as_bytes()))) {
                    return Err(ObjectError::InUse { path: path.join(name), user: User::of(Some(marker)) });
                }
            }
            _ => {}
        }
    }
    Ok(kept)
}

/// The wanted names that nothing has, after what was ours has been removed.
fn free_names(
    directory: BorrowedFd<'_>,
    path: &Path,
    wanted: &[WantedNames<'_>],
    kept: &[KeptSet],
) -> Result<FileNames, ObjectError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ObjectError::Create { path, source }
    };
    // Nothing is removed before all have been looked at.
    let mut removable = Vec::new();
    let mut taken = HashSet::new();
    for WantedNames { names, takes_what_is_there, .. } in wanted {
        for name in names.iter() {
            let file = path.join(&name);
            let Some(facts) = Facts::of(directory, &name).map_err(failed(&file))? else { continue };
            let hashed = hash(name.as_bytes());
            if *takes_what_is_there {
                taken.insert(hashed);
                continue;
            }
            let is_kept = |set: &KeptSet| set.names.contains(&hashed) && set.warrant.is_of(&facts);
            if !kept.iter().any(is_kept) && kept_alone(directory, OsStr::new(&name)).map_err(failed(&file))?.is_none() {
                return Err(ObjectError::Foreign { path: file });
            }
            removable.push(name);
        }
    }
    let mut removed = HashSet::new();
    for name in removable {
        remove_kept(directory, &name).map_err(failed(&path.join(&name)))?;
        removed.insert(hash(name.as_bytes()));
    }
    taken.retain(|name| !removed.contains(name));
    for KeptSet { marker, .. } in kept.iter().filter(|set| !set.names.is_disjoint(&removed)) {
        remove_emptied(directory, marker).map_err(failed(&path.join(marker)))?;
    }
    // Several workloads may want the same files.
    let all = wanted.iter().flat_map(|wanted| wanted.names.iter());
    Ok(FileNames::of(all.filter(|name| taken.insert(hash(name.as_bytes())))))
}

/// A file with a marker of its own that was kept by an earlier run.
fn kept_alone(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<(FoundFile, MarkerFile)>> {
    match MarkerFile::open(directory, &sidecar_name(name))? {
        Opened::Abandoned(marker) if marker.marker().kept => {
            Ok(left_file_of(directory, name, &marker)?.map(|found| (found, marker)))
        }
        _ => Ok(None),
    }
}

/// Removes a file that an earlier run kept, with its own marker if it has one.
fn remove_kept(directory: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    let name = OsStr::new(name);
    if let Some((found, mut marker)) = kept_alone(directory, name)? {
        return remove_found(directory, name, Some(found), &mut marker).map(drop);
    }
    remove_regular(directory, name).map(drop)
}

/// Removes the marker of a set that was kept, when none of its files is there any more.
fn remove_emptied(directory: BorrowedFd<'_>, marker: &OsStr) -> io::Result<()> {
    let Opened::Abandoned(file) = MarkerFile::open(directory, marker)? else { return Ok(()) };
    match Warrant::of(&file)? {
        Some(warrant) if file.marker().kept && !warrant.has_files(directory) => unlink(directory, marker),
        _ => Ok(()),
    }
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
