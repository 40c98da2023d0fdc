//! What direct I/O asks of offsets and lengths: as the kernel tells since Linux 6.1, otherwise found out by trying.

use std::{
    fs,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use plimsoll_workload::limits::BLOCK_SIZE_MIN;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, fstatfs, open, statx, unlink},
    io::{Errno, pread, pwrite},
};

use super::TargetError;
use crate::block_device::{DeviceNumber, Sysfs};

/// What to take when nothing tells: no disk and no file system asks for more.
const SAFE: u32 = 4096;

/// Alignments to try, smallest first.
const CANDIDATES: [u32; 4] = [512, 1024, 2048, SAFE];

/// File systems in memory, as `statfs` numbers them: tmpfs, ramfs, hugetlbfs. They take the flag for direct I/O since
/// Linux 6.6, but there is nothing else for it to reach than the same memory.
const IN_MEMORY: [i64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

/// Does direct I/O in whole sectors only, takes other requests all the same, and then goes through the page cache.
const BTRFS: i64 = 0x9123_683e;

/// What the kernel says itself.
enum Answer {
    /// The alignment, or that there is no direct I/O.
    Told(Option<u32>),
    /// It does not know.
    Silent,
}

fn ask(descriptor: impl AsFd) -> Answer {
    match statx(descriptor, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        Ok(facts) if facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => {
            let alignment = facts.stx_dio_offset_align;
            Answer::Told((alignment > 0).then_some(alignment.max(BLOCK_SIZE_MIN)))
        }
        _ => Answer::Silent,
    }
}

/// The alignment for a block device. Devices always have direct I/O, and nothing is opened to find out.
pub(super) fn of_device(path: &Path, number: DeviceNumber) -> Option<u32> {
    if let Ok(facts) = statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN)
        && facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0
        && facts.stx_dio_offset_align > 0
    {
        return Some(facts.stx_dio_offset_align.max(BLOCK_SIZE_MIN));
    }
    Some(Sysfs::default().logical_block_bytes(number).unwrap_or(SAFE))
}

/// The alignment for an existing file; `None` when it has no direct I/O.
pub(super) fn of_file(path: &Path) -> Result<Option<u32>, TargetError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file =
        open(path, flags, Mode::empty()).map_err(|error| TargetError::from_kernel(path, "read", error.into()))?;
    let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok(of_descriptor(&file, size, path))
}

/// The alignment for files made in a directory, found with one that has no name; `None` when they have no direct I/O.
pub(super) fn of_directory(directory: &Path) -> Result<Option<u32>, TargetError> {
    let file = match probe_file(directory) {
        Ok(file) => file,
        // Facts of a full directory are wanted all the same: they are how its user learns that it is full.
        Err(Errno::NOSPC | Errno::DQUOT) => return Ok(Some(logical_block_bytes(directory))),
        Err(error) => return Err(TargetError::from_kernel(directory, "create files in", error.into())),
    };
    // An empty file would answer every read with zero bytes, whatever its alignment.
    let content = [0; 2 * SAFE as usize];
    let size = pwrite(&file, &content, 0).unwrap_or(0) as u64;
    Ok(of_descriptor(&file, size, directory))
}

/// A file that disappears when it is closed, even when this process is killed.
fn probe_file(directory: &Path) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    match open(directory, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, mode) {
        // What file systems (and kernels) without such files say.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {}
        result => return result,
    }
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!(".plimsoll-probe-{}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let path: PathBuf = directory.join(name);
    let file = open(&path, OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC, mode)?;
    unlink(&path)?;
    Ok(file)
}

fn of_descriptor(file: &OwnedFd, size: u64, path: &Path) -> Option<u32> {
    let file_system = fstatfs(file).ok();
    let is = |kind: i64| file_system.is_some_and(|facts| facts.f_type == kind);
    if IN_MEMORY.into_iter().any(is) {
        return None;
    }
    if let Answer::Told(alignment) = ask(file) {
        return alignment;
    }
    let sector = file_system.filter(|_| is(BTRFS)).map(|facts| facts.f_bsize as u32);
    by_trying(file, size, path, sector)
}

/// The alignment as reads of the file show it, but at least the `sector` of its file system.
fn by_trying(file: &OwnedFd, size: u64, path: &Path, sector: Option<u32>) -> Option<u32> {
    let flags = fcntl_getfl(file).ok()?;
    if fcntl_setfl(file, flags | OFlags::DIRECT).is_err() {
        return None;
    }
    if size < u64::from(2 * SAFE) {
        return Some(sector.unwrap_or_else(|| logical_block_bytes(path)));
    }
    smallest_that_reads(file).map(|alignment| alignment.max(sector.unwrap_or(0)))
}

/// The smallest alignment at which a read succeeds.
fn smallest_that_reads(file: &OwnedFd) -> Option<u32> {
    let mut memory = vec![0_u8; 2 * SAFE as usize];
    let start = memory.as_ptr().align_offset(SAFE as usize);
    CANDIDATES.into_iter().find(|alignment| {
        let length = *alignment as usize;
        pread(file, &mut memory[start..start + length], u64::from(*alignment)).is_ok()
    })
}

/// The logical block of the device beneath a path.
fn logical_block_bytes(path: &Path) -> u32 {
    let sysfs = Sysfs::default();
    sysfs.device_of(path).and_then(|backing| sysfs.logical_block_bytes(backing.device)).unwrap_or(SAFE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_finds_what_the_kernel_tells() {
        let folder = tempfile::tempdir().unwrap();
        let file = probe_file(folder.path()).unwrap();
        assert_eq!(pwrite(&file, &[1; 2 * SAFE as usize], 0), Ok(2 * SAFE as usize));
        let Answer::Told(Some(told)) = ask(&file) else { return };
        assert_eq!(by_trying(&file, 2 * u64::from(SAFE), folder.path(), None), Some(told));
        assert_eq!(by_trying(&file, 0, folder.path(), None), Some(told), "an empty file takes its disk's word");
        assert_eq!(by_trying(&file, 2 * u64::from(SAFE), folder.path(), Some(SAFE)), Some(SAFE));
    }

    #[test]
    fn the_probe_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let _file = probe_file(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
