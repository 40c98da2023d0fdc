//! Decides whether a device may be written to, and keeps it for this process when it may.
//!
//! The guard itself never writes. Only a device that the user named with `--destroy`, that nothing uses, that bears no
//! known mark and that is large enough passes. Data without a mark that it knows, it cannot tell from nothing.
//! Everything is asked twice: before the device is opened for writing, and again when nothing else can take it.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};

pub use self::refusal::Refusal;
use crate::{
    block_device::{DeviceFacts, DeviceNumber, Sysfs},
    mounts,
    signatures::{self, SignatureKind},
    target::{self, OpenFor, Sharing, TargetError},
};

mod occupation;
mod refusal;

/// A device that passed every check. As long as this lives, nothing else can mount it, swap to it or build on it.
#[derive(Debug)]
pub struct GuardedDevice {
    file: File,
    path: PathBuf,
    facts: DeviceFacts,
}

impl GuardedDevice {
    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the kernel told about the device when it was checked.
    pub const fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The device, open for reading and writing.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Opens the device once more, for an engine. Such descriptors must not outlive the guard: once it is gone,
    /// something else may take the device.
    ///
    /// # Errors
    /// When the kernel refuses, or the path stands for another device by now.
    pub fn open(&self, purpose: OpenFor) -> Result<OwnedFd, TargetError> {
        let descriptor = target::open_with(&self.path, purpose, Sharing::Shared)?;
        let is_same = fstat(&descriptor).is_ok_and(|facts| DeviceNumber::from_raw(facts.st_rdev) == self.facts.number);
        if is_same { Ok(descriptor) } else { Err(TargetError::Replaced(self.path.clone())) }
    }
}

impl AsFd for GuardedDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// How often and how long to wait for programs that look at every new device and let go of it again.
const PATIENCE: (u32, Duration) = (6, Duration::from_millis(100));

/// Checks that the device at a path may be written to, up to `needed_bytes` from its start, and takes it. `destroy`
/// names the devices whose content the user gave up; symbolic links count as what they lead to.
///
/// # Errors
/// When anything speaks against it.
pub fn check(path: &Path, destroy: &[PathBuf], needed_bytes: u64) -> Result<GuardedDevice, Refusal> {
    let (attempts, pause) = PATIENCE;
    for _ in 1..attempts {
        match check_now(path, destroy, needed_bytes) {
            Err(Refusal::Busy { .. }) => thread::sleep(pause),
            decided => return decided,
        }
    }
    check_now(path, destroy, needed_bytes)
}

fn check_now(path: &Path, destroy: &[PathBuf], needed_bytes: u64) -> Result<GuardedDevice, Refusal> {
    let sysfs = Sysfs::default();
    let number = device_at(path)?;
    let facts = sysfs.facts(number).ok_or_else(|| Refusal::NotADevice(path.to_owned()))?;
    // What is in use is told first: somebody who is asked to add --destroy to the disk of the running system may do it.
    refuse_use(path, number, &sysfs)?;
    if !destroy.iter().any(|named| DeviceNumber::of_special_file(named) == Some(number)) {
        return Err(Refusal::NotNamed(path.to_owned()));
    }
    if facts.read_only {
        return Err(Refusal::ReadOnly(path.to_owned()));
    }
    let size_bytes = facts.size_bytes;
    if size_bytes == 0 || size_bytes < needed_bytes {
        return Err(Refusal::TooSmall { path: path.to_owned(), size_bytes, needed_bytes });
    }
    // Only the kernel knows of a mount in another container, and of file systems on several devices: asked for itself
    // alone, such a device is in use, and nobody is told how to erase what is mounted.
    refuse_content(path, &facts, &open_as(path, OFlags::RDONLY | OFlags::EXCL)?)?;

    let file = open_as(path, OFlags::RDWR | OFlags::EXCL)?;
    let opened = fstat(&file).map_err(|error| Refusal::inaccessible(path, error.into()))?;
    let facts = sysfs.facts(number).filter(|now| now.size_bytes == size_bytes);
    let facts = facts.filter(|_| DeviceNumber::from_raw(opened.st_rdev) == number);
    let facts = facts.ok_or_else(|| Refusal::Changed(path.to_owned()))?;
    refuse_use(path, number, &sysfs)?;
    refuse_content(path, &facts, &file)?;
    Ok(GuardedDevice { file, path: path.to_owned(), facts })
}

/// Takes a device whose content the caller knows to be plimsoll's own, whatever is on it. Somebody who has it opened is
/// waited for, as many times: a program that makes a file system outlives the one that started it.
///
/// # Errors
/// When anything uses it.
pub fn take_own(path: &Path, attempts: u32) -> Result<GuardedDevice, Refusal> {
    let (_, pause) = PATIENCE;
    for _ in 1..attempts {
        match take_own_now(path) {
            Err(Refusal::Busy { .. }) => thread::sleep(pause),
            decided => return decided,
        }
    }
    take_own_now(path)
}

/// Whether nobody uses a device in any way, also without wanting it for himself alone, before it is taken away.
/// Programs that look at it for a moment are waited for, as many times.
///
/// # Errors
/// When anything uses it.
pub fn check_unused(path: &Path, attempts: u32) -> Result<(), Refusal> {
    let (_, pause) = PATIENCE;
    drop(take_own(path, attempts)?);
    let opener = || device_at(path).ok().and_then(occupation::any_opener);
    for _ in 1..attempts {
        if opener().is_none() {
            return Ok(());
        }
        thread::sleep(pause);
    }
    opener().map_or(Ok(()), |user| Err(Refusal::Busy { path: path.to_owned(), user: Some(user) }))
}

fn take_own_now(path: &Path) -> Result<GuardedDevice, Refusal> {
    let sysfs = Sysfs::default();
    let number = device_at(path)?;
    refuse_use(path, number, &sysfs)?;
    let file = open_as(path, OFlags::RDWR | OFlags::EXCL)?;
    let facts = sysfs.facts(number).ok_or_else(|| Refusal::Changed(path.to_owned()))?;
    Ok(GuardedDevice { file, path: path.to_owned(), facts })
}

/// Refuses a file that exists and that plimsoll did not make, which `is_ours` knows from its marker. A path at which
/// nothing exists is fine; whoever makes a file there must insist on making it (`create_new`).
///
/// # Errors
/// When there is a file, or anything else, that is not ours, or that cannot be told.
pub fn foreign_file(path: &Path, is_ours: impl FnOnce(&Path) -> bool) -> Result<(), Refusal> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Refusal::inaccessible(path, error)),
        // A link is not followed: plimsoll makes none, and what it leads to may be anything.
        Ok(metadata) if metadata.is_file() && is_ours(path) => Ok(()),
        Ok(_) => Err(Refusal::ForeignFile(path.to_owned())),
    }
}

fn device_at(path: &Path) -> Result<DeviceNumber, Refusal> {
    let metadata = path.metadata().map_err(|error| Refusal::inaccessible(path, error))?;
    if metadata.file_type().is_block_device() {
        Ok(DeviceNumber::from_raw(metadata.rdev()))
    } else {
        Err(Refusal::NotADevice(path.to_owned()))
    }
}

fn open_as(path: &Path, flags: OFlags) -> Result<File, Refusal> {
    match open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty()) {
        Ok(descriptor) => Ok(File::from(descriptor)),
        Err(Errno::BUSY) => {
            Err(Refusal::Busy { path: path.to_owned(), user: device_at(path).ok().and_then(occupation::any_opener) })
        }
        Err(Errno::ROFS) => Err(Refusal::ReadOnly(path.to_owned())),
        Err(error) => Err(Refusal::inaccessible(path, error.into())),
    }
}

/// Refuses a device that anything uses. Opens nothing.
fn refuse_use(path: &Path, number: DeviceNumber, sysfs: &Sysfs) -> Result<(), Refusal> {
    let surroundings = occupation::Surroundings {
        sysfs,
        mounts: &mounts::mounts().map_err(Refusal::CannotTell)?,
        swap_areas: &mounts::swap_areas().map_err(Refusal::CannotTell)?,
        root: sysfs.device_of(Path::new("/")).map(|backing| backing.device),
    };
    surroundings.refuse_use(path, number)?;
    match occupation::other_writer(&sysfs.above(number)) {
        Some(user) => Err(Refusal::Busy { path: path.to_owned(), user: Some(user) }),
        None => Ok(()),
    }
}

/// Refuses a device on which anything is known to be: partitions, a table of them, a mark.
fn refuse_content(path: &Path, facts: &DeviceFacts, file: &File) -> Result<(), Refusal> {
    let found = signatures::find(file, facts.size_bytes)
        .map_err(|source| Refusal::Unreadable { path: path.to_owned(), source })?;
    let table = found.iter().find(|signature| signature.kind == SignatureKind::PartitionTable);
    if table.is_some() || !facts.partitions.is_empty() {
        let partitions = facts.partitions.iter().map(|partition| refusal::Partition::read(partition, file)).collect();
        return Err(Refusal::Partitioned { path: path.to_owned(), table: table.cloned(), partitions });
    }
    match found.into_iter().next() {
        Some(signature) => Err(Refusal::Signed { path: path.to_owned(), signature }),
        None => Ok(()),
    }
}
