//! Marks on devices: whose they are, and how they are erased.

use std::{collections::BTreeSet, fs, io, os::unix::fs::FileExt, path::Path};

use plimsoll_io::{
    block_device::{self, DeviceNumber},
    signatures::{self, Signature},
    write_guard,
};
use rustix::fs::{FallocateFlags, fallocate};

use crate::{error::DeviceError, tool};

/// What is erased at once: the block that a mark is in.
const BLOCK_BYTES: u64 = 4096;
/// Where btrfs keeps copies of its superblock, which nothing looks at but its own tools.
const BTRFS_COPIES: [u64; 2] = [64 << 20, 256 << 30];
/// Erasing one mark may show another, below it.
const ROUNDS: u32 = 8;
/// How often a device is asked for that a program may still write to whose starter is gone: ten seconds.
const OUTLIVED: u32 = 100;

/// The identities of what is on a device, as its own structures tell them: of a file system, of a member of something
/// larger, of a table of partitions.
pub(crate) fn identities(device: &Path) -> Result<BTreeSet<String>, DeviceError> {
    let name = device.to_string_lossy();
    // Nothing known is no error, and is told by an exit code of its own.
    let told = tool::run_or("blkid", &["--probe", "--output", "export", &name], &[2])?;
    let value = |line: &str| {
        let (key, value) = line.split_once('=')?;
        matches!(key, "UUID" | "PTUUID").then(|| value.to_owned())
    };
    Ok(told.lines().filter_map(value).collect())
}

/// The marks on a device, whoever uses it.
pub(crate) fn find_in_use(device: &Path) -> Result<Vec<Signature>, DeviceError> {
    let failed = |error| DeviceError::file("read", device)(error);
    let file = fs::File::open(device).map_err(failed)?;
    let size_bytes =
        DeviceNumber::of_special_file(device).and_then(block_device::facts).map_or(0, |own| own.size_bytes);
    signatures::find(&file, size_bytes).map_err(failed)
}

/// The marks on a device that nothing else uses.
pub(crate) fn find(device: &Path) -> Result<Vec<Signature>, DeviceError> {
    let guard = write_guard::take_own(device, OUTLIVED)?;
    signatures::find(guard.file(), guard.facts().size_bytes).map_err(DeviceError::file("read", device))
}

/// Erases the marks on a device, until there is none.
pub(crate) fn erase(device: &Path) -> Result<(), DeviceError> {
    let guard = write_guard::take_own(device, OUTLIVED)?;
    let (file, size_bytes) = (guard.file(), guard.facts().size_bytes);
    let not_taken = |source| DeviceError::NotTaken { device: device.to_owned(), source };
    for round in 0..ROUNDS {
        let found = signatures::find(file, size_bytes).map_err(DeviceError::file("read", device))?;
        if found.is_empty() {
            // What is not running has nothing to sync, and says that it cannot. What others wrote, and what was lost of
            // it, is told once.
            return if round > 0 { file.sync_all().or_else(|_| file.sync_all()).map_err(not_taken) } else { Ok(()) };
        }
        for mark in found {
            let copies = if mark.name.starts_with("btrfs") { &BTRFS_COPIES[..] } else { &[] };
            for place in copies.iter().copied().filter(|copy| *copy < size_bytes).chain([mark.offset]) {
                let start = place / BLOCK_BYTES * BLOCK_BYTES;
                let length = BLOCK_BYTES.min(size_bytes - start) as usize;
                blank(file, start, length).map_err(not_taken)?;
            }
        }
    }
    let mark = signatures::find(file, size_bytes).map_err(DeviceError::file("read", device))?.into_iter().next();
    match mark {
        None => Ok(()),
        Some(mark) => Err(DeviceError::NotClean { device: device.to_owned(), found: mark.name.to_owned() }),
    }
}

/// Makes a stretch of a device read as zeros. What is asked to forget it needs no room for zeros, which a file on a
/// full file system has not.
fn blank(file: &fs::File, start: u64, length: usize) -> io::Result<()> {
    match fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, start, length as u64) {
        Ok(()) => Ok(()),
        Err(_) => file.write_all_at(&vec![0; length], start),
    }
}
