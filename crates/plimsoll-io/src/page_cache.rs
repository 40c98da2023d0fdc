//! How much of a file or device the page cache holds: what a read would be answered from without touching the storage.
//!
//! The kernel says so itself since Linux 6.5 (`cachestat(2)`), with what is dirty; before, a mapping can be asked page
//! by page (`mincore(2)`). Neither changes what is cached.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd},
    ptr,
};

use plimsoll_workload::settings::AccessHint;
use rustix::{
    fs::{Access, Advice, AtFlags, CWD, FileType, accessat, fadvise, fstat},
    io::Errno,
    mm::{MapFlags, ProtFlags, mmap, munmap},
    param::page_size,
    process::geteuid,
};
use thiserror::Error;

/// `cachestat`, which has this number on every architecture that plimsoll runs on; libc does not name it everywhere.
const SYS_CACHESTAT: libc::c_long = 451;

/// The longest stretch that is asked about page by page: four million pages, some tenths of a second.
const MINCORE_BYTES_MAX: u64 = 16 << 30;
/// Of that, how much at once: one byte of answer for each page.
const MINCORE_PIECE_BYTES: u64 = 256 << 20;

/// Tells the kernel in which order a file will be read.
pub fn expect(file: BorrowedFd<'_>, hint: AccessHint) {
    let advice = match hint {
        AccessHint::Random => Advice::Random,
        AccessHint::Sequential => Advice::Sequential,
    };
    let _ = fadvise(file, 0, None, advice);
}

/// Takes out of the page cache what is not dirty of a file. What the kernel does not let go stays.
pub fn drop_cached(file: BorrowedFd<'_>) {
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}

/// Who told what is in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidencyMethod {
    /// `cachestat(2)`.
    Cachestat,
    /// `mincore(2)`, which does not know what is dirty.
    Mincore,
}

impl ResidencyMethod {
    /// The name of the system call.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cachestat => "cachestat",
            Self::Mincore => "mincore",
        }
    }
}

/// What the page cache holds of a stretch. Whole pages count as far as they lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Bytes of the stretch, as far as the file reaches.
    pub total_bytes: u64,
    /// Bytes of it that are in the page cache.
    pub resident_bytes: u64,
    /// Bytes of it that are newer than the storage and not yet on their way there. Pages that the kernel keeps together
    /// (large folios) become dirty together, so this may exceed what was written.
    pub dirty_bytes: Option<u64>,
    /// Bytes of it that are on their way to the storage.
    pub writeback_bytes: Option<u64>,
    /// Who told.
    pub method: ResidencyMethod,
}

/// Why it is not known what the page cache holds.
#[derive(Debug, Error)]
pub enum ResidencyError {
    /// Only the owner of a file, or who may write to it, learns what is cached of it.
    #[error("the kernel tells what is cached of a file only to its owner and to those who may write to it")]
    NotPermitted,
    /// Asking page by page would take too long.
    #[error("this kernel has no cachestat (Linux 6.5), and asking page by page takes too long above {} GiB", MINCORE_BYTES_MAX >> 30)]
    TooLong,
    /// The kernel said something else.
    #[error("{call} failed")]
    Kernel {
        /// The system call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl ResidencyError {
    fn of(call: &'static str, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        match Errno::from_io_error(&source) {
            Some(Errno::PERM | Errno::ACCESS) => Self::NotPermitted,
            _ => Self::Kernel { call, source },
        }
    }
}

/// A stretch of an open file or device.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    file: BorrowedFd<'a>,
    offset: u64,
    length: u64,
}

/// What the page cache holds of `length` bytes from `offset`, of a file as far as it reaches.
///
/// # Errors
/// When the kernel does not tell.
pub fn residency(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<Residency, ResidencyError> {
    let stretch = Stretch::clipped(file, offset, length)?;
    // An older kernel, a container profile that forbids what it does not know, or a file that has no page cache of its
    // own: the older call tells these apart.
    stretch.by_cachestat().or_else(|_| stretch.by_mincore())
}

/// `struct cachestat_range` (include/uapi/linux/mman.h).
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat`, all in pages.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

impl<'a> Stretch<'a> {
    fn clipped(file: BorrowedFd<'a>, offset: u64, length: u64) -> Result<Self, ResidencyError> {
        let facts = fstat(file).map_err(|errno| ResidencyError::of("fstat", errno))?;
        let is_regular = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
        let left = if is_regular { (facts.st_size.max(0) as u64).saturating_sub(offset) } else { u64::MAX };
        Ok(Self { file, offset, length: length.min(left) })
    }

    fn residency(&self, pages: Cachestat, method: ResidencyMethod) -> Residency {
        // The first and the last page may lie in the stretch in part only.
        let bytes = |pages: u64| pages.saturating_mul(page_size() as u64).min(self.length);
        let known = |pages| (method == ResidencyMethod::Cachestat).then(|| bytes(pages));
        Residency {
            total_bytes: self.length,
            resident_bytes: bytes(pages.cached),
            dirty_bytes: known(pages.dirty),
            writeback_bytes: known(pages.writeback),
            method,
        }
    }

    fn by_cachestat(self) -> Result<Residency, ResidencyError> {
        let mut pages = Cachestat::default();
        if self.length > 0 {
            // A length of zero would mean all that follows.
            let range = CachestatRange { offset: self.offset, length: self.length };
            let (file, flags) = (self.file.as_raw_fd(), 0_u32);
            // SAFETY: both structures have the kernel's layout and live until the call returns.
            let result = unsafe { libc::syscall(SYS_CACHESTAT, file, &raw const range, &raw mut pages, flags) };
            if result < 0 {
                return Err(ResidencyError::of("cachestat", io::Error::last_os_error()));
            }
        }
        Ok(self.residency(pages, ResidencyMethod::Cachestat))
    }

    fn by_mincore(self) -> Result<Residency, ResidencyError> {
        if self.length > MINCORE_BYTES_MAX {
            return Err(ResidencyError::TooLong);
        }
        if !self.may_ask_mincore() {
            return Err(ResidencyError::NotPermitted);
        }
        let mut cached = 0;
        let first = self.offset - self.offset % page_size() as u64;
        let end = self.offset + self.length;
        for piece in (first..end).step_by(MINCORE_PIECE_BYTES as usize) {
            cached += pages_in_core(self.file, piece, MINCORE_PIECE_BYTES.min(end - piece))?;
        }
        Ok(self.residency(Cachestat { cached, ..Cachestat::default() }, ResidencyMethod::Mincore))
    }

    /// To all others `mincore` says that everything is resident (`can_do_mincore` in the kernel's mm/mincore.c).
    fn may_ask_mincore(&self) -> bool {
        let is_owner = fstat(self.file).is_ok_and(|facts| facts.st_uid == geteuid().as_raw());
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        is_owner || accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    }
}

/// How many pages of a stretch that begins at a page are in the page cache.
fn pages_in_core(file: BorrowedFd<'_>, offset: u64, length: u64) -> Result<u64, ResidencyError> {
    let failed = |errno: Errno| ResidencyError::of("mmap", errno);
    let length = usize::try_from(length).map_err(|_| failed(Errno::OVERFLOW))?;
    // SAFETY: a mapping at an address of the kernel's choice touches no memory in use; nothing in it is ever accessed.
    let mapping = unsafe { mmap(ptr::null_mut(), length, ProtFlags::empty(), MapFlags::SHARED, file, offset) };
    let mapping = mapping.map_err(failed)?;
    let pages = length.div_ceil(page_size());
    let mut answer = vec![0_u8; pages];
    // SAFETY: the mapping is ours and still there, and the answer has a byte for each page of it.
    let result = unsafe { libc::mincore(mapping, length, answer.as_mut_ptr()) };
    let asked = if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: the mapping is ours and nothing points into it.
    let unmapped = unsafe { munmap(mapping, length) };
    unmapped.map_err(|errno| ResidencyError::of("munmap", errno))?;
    asked.map_err(|error| ResidencyError::of("mincore", error))?;
    // Only the lowest bit of each byte has a meaning.
    Ok(answer.iter().map(|byte| u64::from(byte & 1)).sum())
}
