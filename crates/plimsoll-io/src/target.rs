//! What a path stands for as a target, and opening it.
//!
//! [`facts`] writes nothing that stays and opens no device. Whether a device may be written to is the question of
//! [`crate::write_guard`].

use std::{
    fs, io,
    os::{
        fd::OwnedFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use plimsoll_workload::{
    settings::SyncMode,
    target_facts::{TargetFacts, TargetKind},
};
use rustix::{
    fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, statfs, statvfs},
    io::Errno,
};
use thiserror::Error;

use crate::{
    block_device::{DeviceNumber, Sysfs},
    mounts::parent_of,
};

mod alignment;

/// Why a target cannot be used. Each message says what to do.
#[derive(Debug, Error)]
pub enum TargetError {
    /// Neither the path nor the directory to make it in exists.
    #[error("\"{}\" does not exist, and no file is made there: check the path, attach or mount what is missing, or create the directory", .0.display())]
    Missing(PathBuf),
    /// A directory that was removed while somebody was in it.
    #[error("\"{}\" was removed, and no file can be made in it any more: go to a directory that is there (cd), or choose another target", .0.display())]
    Removed(PathBuf),
    /// A symbolic link that leads nowhere.
    #[error("\"{}\" is a symbolic link to something that does not exist: check where it should lead", .0.display())]
    DanglingLink(PathBuf),
    /// Symbolic links that lead to each other, or too many of them.
    #[error("\"{}\" leads through symbolic links in a circle, or through too many: check where they lead (namei), or name the place itself", .0.display())]
    LinkCircle(PathBuf),
    /// A file system that has no storage.
    #[error("\"{}\" lies in {file_system}, which the kernel makes up as it is read: choose a directory, file or device of a storage", path.display())]
    NoStorage {
        /// The path as given.
        path: PathBuf,
        /// What the file system is called.
        file_system: &'static str,
    },
    /// A file where a directory should be on the way.
    #[error("\"{}\" leads through something that is not a directory: check the path", .0.display())]
    NotThroughDirectories(PathBuf),
    /// Something that cannot be measured.
    #[error("\"{}\" is {kind}, which cannot be measured: name a directory, a regular file or a block device", path.display())]
    Unsuitable {
        /// The path as given.
        path: PathBuf,
        /// What it is instead, with its article.
        kind: &'static str,
    },
    /// The user lacks a right.
    #[error("no permission to {wish} \"{}\": {}, or choose another target", path.display(), who_may())]
    NoPermission {
        /// The path as given.
        path: PathBuf,
        /// What was to be done.
        wish: &'static str,
    },
    /// The file system or device takes no writes.
    #[error("\"{}\" is read-only: remount it writable (mount -o remount,rw), or choose another target", .0.display())]
    ReadOnly(PathBuf),
    /// The file system has no room for another file, however small.
    #[error("the file system of \"{}\" has no free inodes: delete files there, or choose another target", .0.display())]
    NoInodes(PathBuf),
    /// The user's quota is used up.
    #[error("the quota of this user on the file system of \"{}\" is used up: delete files there, or have it raised", .0.display())]
    NoQuota(PathBuf),
    /// The file system has no room.
    #[error("the file system of \"{}\" is full: delete files there, or choose another target", .0.display())]
    Full(PathBuf),
    /// A drive without a medium, or a device that is not set up.
    #[error("\"{}\" has no medium or is not set up: insert or attach one, or choose another device", .0.display())]
    NoMedium(PathBuf),
    /// Something else has the device for itself.
    #[error("\"{}\" is in use by the kernel or another process: find out with lsof or lsblk, and stop that first", .0.display())]
    Busy(PathBuf),
    /// The path leads to another device than the one that was checked.
    #[error("\"{}\" stands for another device than it did before: try again when nothing attaches or detaches devices", .0.display())]
    Replaced(PathBuf),
    /// A file is in the way of one to be made.
    #[error("\"{}\" exists already, and plimsoll does not overwrite files: remove it, or choose another path", .0.display())]
    Exists(PathBuf),
    /// The file system has no direct I/O.
    #[error("direct I/O is not supported by the file system of \"{}\": add --buffered to go through the page cache", .0.display())]
    DirectUnsupported(PathBuf),
    /// Anything else that the kernel says.
    #[error("{wish} \"{}\": see the cause that follows, then check the storage (dmesg) or choose another target", path.display())]
    Failed {
        /// The path as given.
        path: PathBuf,
        /// What was to be done.
        wish: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Who has a right that is missing.
fn who_may() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "even root may not here, so have the container given it (--device), or root let in by the server"
    } else {
        "run as a user who has it (sudo)"
    }
}

impl TargetError {
    /// The clearest error for what the kernel said.
    fn from_kernel(path: &Path, wish: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match Errno::from_io_error(&source) {
            // Kernels differ in what they say of such a directory.
            Some(Errno::NOENT | Errno::ACCESS | Errno::PERM | Errno::STALE) if is_removed(&path) => Self::Removed(path),
            Some(Errno::NOENT) if path.is_symlink() => Self::DanglingLink(path),
            Some(Errno::NOENT) => Self::Missing(path),
            Some(Errno::LOOP) => Self::LinkCircle(path),
            Some(Errno::NOTDIR) => Self::NotThroughDirectories(path),
            Some(Errno::ACCESS | Errno::PERM) => Self::NoPermission { path, wish },
            Some(Errno::ROFS) => Self::ReadOnly(path),
            Some(Errno::NOSPC) => Self::Full(path),
            Some(Errno::DQUOT) => Self::NoQuota(path),
            Some(Errno::NXIO | Errno::NOMEDIUM) => Self::NoMedium(path),
            Some(Errno::BUSY) => Self::Busy(path),
            Some(Errno::EXIST) => Self::Exists(path),
            _ => Self::Failed { path, wish, source },
        }
    }
}

/// Whether a path leads to a directory that has no name any more.
fn is_removed(path: &Path) -> bool {
    path.is_dir() && path.canonicalize().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// What a target is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFor {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Make the file; it must not exist.
    pub create_new: bool,
    /// Go around the page cache.
    pub direct: bool,
    /// How writes are made durable.
    pub sync: SyncMode,
}

/// Room on a file system for an unprivileged user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes that can be written.
    pub free_bytes: u64,
    /// Files that can be made; `None` where their number has no limit of its own.
    pub free_inodes: Option<u64>,
}

/// The room on the file system of a path.
///
/// # Errors
/// When the path does not exist or may not be looked at.
pub fn space(path: &Path) -> Result<Space, TargetError> {
    let facts = statvfs(path).map_err(|error| TargetError::from_kernel(path, "look at", error.into()))?;
    Ok(Space {
        free_bytes: facts.f_bavail.saturating_mul(facts.f_frsize),
        free_inodes: (facts.f_files > 0).then_some(facts.f_favail),
    })
}

/// What a plan must know about the target at a path: a directory, a regular file, one that is still to be made, or a
/// block device.
///
/// # Errors
/// When the path is none of these or cannot be used.
pub fn facts(path: &Path) -> Result<TargetFacts, TargetError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_makeable(path) => return facts_of_new_file(path),
        Err(error) => return Err(TargetError::from_kernel(path, "look at", error)),
    };
    refuse_made_up(path)?;
    let kind = metadata.file_type();
    let base = TargetFacts {
        name: path.to_string_lossy().into_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: None,
        direct_alignment_bytes: None,
    };
    if kind.is_dir() {
        let free_bytes = Some(room_for_files(path)?);
        Ok(TargetFacts { free_bytes, direct_alignment_bytes: alignment::of_directory(path)?, ..base })
    } else if kind.is_file() {
        require(path, Access::READ_OK, "read")?;
        let direct_alignment_bytes = alignment::of_file(path)?;
        Ok(TargetFacts { kind: TargetKind::File, size_bytes: Some(metadata.len()), direct_alignment_bytes, ..base })
    } else if kind.is_block_device() {
        require(path, Access::READ_OK, "read")?;
        let number = DeviceNumber::from_raw(metadata.rdev());
        let size = Sysfs::default().size_bytes(number).filter(|size| *size > 0);
        let size = size.ok_or_else(|| TargetError::NoMedium(path.to_owned()))?;
        let direct_alignment_bytes = alignment::of_device(path, number);
        Ok(TargetFacts { kind: TargetKind::Device, size_bytes: Some(size), direct_alignment_bytes, ..base })
    } else {
        Err(TargetError::Unsuitable { path: path.to_owned(), kind: describe(kind) })
    }
}

/// What a plan must know about a directory in which it only reads files of these names. Nothing is written to find out,
/// and no room is told, because none is needed; `None` when a file is missing.
///
/// # Errors
/// When a file may not be read, or the path is no directory with storage.
pub fn facts_of_files(
    directory: &Path,
    names: &mut dyn Iterator<Item = String>,
) -> Result<Option<TargetFacts>, TargetError> {
    refuse_made_up(directory)?;
    // Known as soon as there is a file.
    let mut direct_alignment_bytes = None;
    for name in names {
        let path = directory.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        require(&path, Access::READ_OK, "read")?;
        let alignment = alignment::of_file(&path)?;
        direct_alignment_bytes = Some(match direct_alignment_bytes {
            // All of them have to be read in the same way.
            Some(before) => alignment.min(before).and(alignment.max(before)),
            None => alignment,
        });
    }
    Ok(direct_alignment_bytes.map(|direct_alignment_bytes| TargetFacts {
        name: directory.to_string_lossy().into_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: None,
        direct_alignment_bytes,
    }))
}

/// File systems without storage, as `statfs` numbers them.
const MADE_UP: [(i64, &str); 9] = [
    (0x9fa0, "procfs"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroupfs"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6265_6570, "configfs"),
    (0x1cd1, "devpts"),
];

/// What lies in /proc and the like has sizes and permissions that mean nothing.
fn refuse_made_up(path: &Path) -> Result<(), TargetError> {
    let Ok(facts) = statfs(path) else { return Ok(()) };
    match MADE_UP.iter().find(|(number, _)| *number == facts.f_type) {
        Some((_, file_system)) => Err(TargetError::NoStorage { path: path.to_owned(), file_system }),
        None => Ok(()),
    }
}

fn describe(kind: fs::FileType) -> &'static str {
    if kind.is_char_device() {
        "a character device"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "nothing known"
    }
}

/// A path with symbolic links resolved; of a file that is still to be made, that of its directory and its name.
///
/// # Errors
/// When there is neither.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|error| {
        let name = path.file_name().ok_or(error)?;
        Ok(parent_of(path).canonicalize()?.join(name))
    })
}

/// Whether a path that does not exist names a file in a directory that does.
fn is_makeable(path: &Path) -> bool {
    let ends_with_name = path.file_name().is_some() && !path.as_os_str().to_string_lossy().ends_with('/');
    ends_with_name && fs::symlink_metadata(path).is_err() && parent_of(path).is_dir() && !is_reserved(parent_of(path))
}

/// Whether a directory holds mount points and device nodes rather than data. A name that is missing there is a device
/// or a mount that is missing, and a file made in its place would measure something else.
fn is_reserved(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else { return false };
    let holds_mounts = ["/", "/mnt", "/media", "/run"].map(Path::new).contains(&directory.as_path());
    holds_mounts || ["/dev", "/proc", "/sys"].iter().any(|above| directory.starts_with(above))
}

fn facts_of_new_file(path: &Path) -> Result<TargetFacts, TargetError> {
    let parent = parent_of(path);
    Ok(TargetFacts {
        name: path.to_string_lossy().into_owned(),
        kind: TargetKind::File,
        size_bytes: None,
        free_bytes: Some(room_for_files(parent)?),
        direct_alignment_bytes: alignment::of_directory(parent)?,
    })
}

fn require(path: &Path, access: Access, wish: &'static str) -> Result<(), TargetError> {
    accessat(CWD, path, access, AtFlags::EACCESS).map_err(|error| TargetError::from_kernel(path, wish, error.into()))
}

/// Free bytes of a directory in which files can be made.
fn room_for_files(directory: &Path) -> Result<u64, TargetError> {
    require(directory, Access::WRITE_OK | Access::EXEC_OK, "create files in")?;
    let space = space(directory)?;
    if space.free_inodes == Some(0) {
        return Err(TargetError::NoInodes(directory.to_owned()));
    }
    Ok(space.free_bytes)
}

/// Whether an open device is shared with other openers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Whoever asks for a device for themselves must fail while it is open, and the other way round.
    Exclusive,
    /// Another descriptor of this process excludes others already.
    Shared,
}

/// Opens a target. Devices opened for writing are taken for this process alone (`O_EXCL`): while they are open,
/// nothing can mount them, and opening fails when something has. A device that the write guard holds is opened with
/// [`crate::write_guard::GuardedDevice::open`] instead.
///
/// # Errors
/// When the kernel refuses, or the path is no regular file and no block device.
pub fn open(path: &Path, purpose: OpenFor) -> Result<OwnedFd, TargetError> {
    open_with(path, purpose, Sharing::Exclusive)
}

pub(crate) fn open_with(path: &Path, purpose: OpenFor, sharing: Sharing) -> Result<OwnedFd, TargetError> {
    let mut flags = OFlags::CLOEXEC | OFlags::NOCTTY;
    flags |= match (purpose.read, purpose.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    flags |= match purpose.sync {
        SyncMode::None => OFlags::empty(),
        SyncMode::DataSync => OFlags::DSYNC,
        SyncMode::Sync => OFlags::SYNC,
    };
    if purpose.direct {
        flags |= OFlags::DIRECT;
    }
    if purpose.create_new {
        flags |= OFlags::CREATE | OFlags::EXCL;
    } else {
        // Opening a pipe would wait for its other end, so what it is must be known before.
        let failed = |error| TargetError::from_kernel(path, "open", error);
        let kind = fs::metadata(path).map_err(failed)?.file_type();
        if kind.is_block_device() && purpose.write && sharing == Sharing::Exclusive {
            flags |= OFlags::EXCL;
        } else if !kind.is_file() && !kind.is_block_device() {
            let kind = if kind.is_dir() { "a directory" } else { describe(kind) };
            return Err(TargetError::Unsuitable { path: path.to_owned(), kind });
        }
    }
    open_quietly(path, flags).map_err(|error| match error {
        Errno::INVAL if purpose.direct => TargetError::DirectUnsupported(path.to_owned()),
        error => TargetError::from_kernel(path, if purpose.write { "write to" } else { "read" }, error.into()),
    })
}

/// Opens without keeping times of access where that is allowed (to the owner of the file), because a read that is
/// measured must not turn into a write of metadata now and then.
fn open_quietly(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(path, flags | OFlags::NOATIME, mode) {
        Err(Errno::PERM) => rustix::fs::open(path, flags, mode),
        opened => opened,
    }
}
