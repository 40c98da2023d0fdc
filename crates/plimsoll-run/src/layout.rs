//! Makes the files of a target real before they are measured: every byte is allocated, then written, then durable.
//!
//! A file that was only allocated answers reads from metadata and turns the first write to each place into two; what
//! is measured then is not the storage. So data is really written, past the page cache where that is possible, and
//! nothing stays in the cache.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io,
    ops::ControlFlow,
    os::{
        fd::AsFd,
        unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use plimsoll_io::{
    block_device::DeviceNumber,
    buffer_pool::BufferPool,
    clock::{Clock, MonotonicClock},
    engine::Tag,
    mounts,
};
use plimsoll_workload::{
    plan::room::Room,
    random::{Draws, Purpose, derive_seed},
    units::{ByteCount, in_one_unit},
};
use rustix::{
    fs::{Advice, FallocateFlags, OFlags, StatVfs, fadvise, fallocate, fstatvfs, stat, statfs, statvfs},
    io::Errno,
};

use crate::objects::{ObjectError, TestObjects};

/// Bytes of one write, unless content demands longer ones.
const CHUNK_BYTES: u64 = 1 << 20;
/// The longest write that keeps pieces of odd sizes aligned; above, alignment is given up.
const CHUNK_BYTES_MAX: u64 = 64 << 20;
/// How many writes are on their way at once.
const WRITERS: usize = 4;
/// What lengths and offsets of direct writes are multiples of: no device asks for more.
const ALIGNMENT_BYTES: u64 = 4096;
/// After how many buffered writes of one writer data is made durable, so that the last sync is short.
const CHUNKS_PER_SYNC: u64 = 32;
/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A file to be filled; it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutFile {
    /// Where it is.
    pub path: PathBuf,
    /// How large it shall be at least.
    pub bytes: u64,
}

/// Fills a buffer with what stands in file number `.0` at offset `.1`. All buffers begin at a multiple of a piece
/// (see [`lay_out_in_pieces`]), and all but the last of a file are whole pieces. A buffer still holds what was
/// written before, so all of it is to be filled.
pub type Content<'a> = dyn Fn(usize, u64, &mut [u8]) + Sync + 'a;

/// What laying out came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutReport {
    /// Bytes written.
    pub bytes: u64,
    /// How long that took, until all was durable.
    pub elapsed_ns: u64,
    /// Whether all of it went past the page cache, except for the last incomplete 4 KiB of a file.
    pub direct: bool,
}

/// Why files could not be laid out. The files are then incomplete and to be removed.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The file system is too small, or a quota is.
    #[error(
        "no space for the test files in {path:?}: {} free{}; lower --size, or --file-count, or free some space",
        in_one_unit([*.needed_bytes, *.free_bytes]).join(" needed, "),
        if *.free_bytes > *.needed_bytes { ", and what it lies on takes no more, or a quota" } else { "" }
    )]
    NoSpace {
        /// Where.
        path: PathBuf,
        /// What the files need.
        needed_bytes: u64,
        /// What there is for an unprivileged user.
        free_bytes: u64,
    },
    /// The file system cannot hold so many files.
    #[error(
        "no inodes for the test files in {path:?}: {needed} needed, {free} free, of which a fifth is left to others; use \
         fewer files (--file-count) or remove some"
    )]
    NoInodes {
        /// Where.
        path: PathBuf,
        /// How many files.
        needed: u64,
        /// How many more the file system can hold.
        free: u64,
    },
    /// The system said no.
    #[error("write test file {path:?}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The path of a file leads to another one by now.
    #[error(transparent)]
    Replaced(#[from] ObjectError),
    /// It was asked to stop.
    #[error("stopped after {} of test files were written", ByteCount(*.written_bytes))]
    Stopped {
        /// How far it got.
        written_bytes: u64,
    },
}

/// Random bytes that only the seed, the file and the offset decide.
pub fn random_content(seed: u64) -> impl Fn(usize, u64, &mut [u8]) + Sync {
    move |file, offset, buffer| {
        let mut draws = Draws::new(derive_seed(seed, Purpose::Content, file as u64), offset);
        for word in buffer.chunks_mut(size_of::<u64>()) {
            word.copy_from_slice(&draws.bits().to_le_bytes()[..word.len()]);
        }
    }
}

/// File systems that give each file blocks of its own, by what `statfs` calls them. Others keep small files among their
/// own data, or say how much they like to move at once instead.
const WHOLE_BLOCKS: [i64; 3] = [0xef53, 0x5846_5342, 0x0102_1994];

/// Checks that file systems can hold new sets of files in these directories, and leaves a fifth of the free inodes to
/// others. `room` says what they take in those that share one, where each file takes whole blocks of so many bytes.
///
/// # Errors
/// When one cannot, or does not tell.
pub fn check_room(directories: &[&Path], room: impl Fn(&[&Path], u64) -> Room) -> Result<(), LayoutError> {
    let mut systems: Vec<(DeviceNumber, Vec<&Path>)> = Vec::new();
    let unknown = |directory: &Path, error: Errno| LayoutError::Write { path: directory.into(), source: error.into() };
    for &directory in directories {
        let number = stat(directory).map_err(|error| unknown(directory, error))?.st_dev;
        let system = file_system(directory, number);
        match systems.iter_mut().find(|(known, _)| *known == system) {
            Some((_, sharing)) => sharing.push(directory),
            None => systems.push((system, vec![directory])),
        }
    }
    for (_, sharing) in systems {
        let directory = sharing[0];
        let facts = statvfs(directory).map_err(|error| unknown(directory, error))?;
        let system = statfs(directory).map_err(|error| unknown(directory, error))?.f_type;
        let block_bytes = if WHOLE_BLOCKS.contains(&system) { facts.f_frsize } else { 1 };
        let Room { content_bytes, names: files } = room(&sharing, block_bytes);
        // File systems without a fixed number of inodes report none at all.
        if facts.f_files > 0 && facts.f_favail / 5 * 4 < files {
            return Err(LayoutError::NoInodes { path: directory.to_owned(), needed: files, free: facts.f_favail });
        }
        if content_bytes > free(&facts) {
            let (path, free_bytes) = (directory.to_owned(), free(&facts));
            return Err(LayoutError::NoSpace { path, needed_bytes: content_bytes, free_bytes });
        }
    }
    Ok(())
}

fn free(facts: &StatVfs) -> u64 {
    facts.f_bavail.saturating_mul(facts.f_frsize)
}

/// Writes all of `files`, in pieces of 4 KiB: see [`lay_out_in_pieces`].
///
/// # Errors
/// When there is no space, the system refuses, a file is no longer the one that was made, or it was asked to stop.
pub fn lay_out(
    files: &[LayoutFile],
    objects: &TestObjects,
    content: &Content<'_>,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    stop: &AtomicBool,
) -> Result<LayoutReport, LayoutError> {
    lay_out_in_pieces(files, objects, ALIGNMENT_BYTES as u32, content, progress, stop)
}

/// Reserves room for all of `files` and gives them their length, without writing any of it.
///
/// # Errors
/// When there is no space, the system refuses, a file is no longer the one that was made, or it was asked to stop.
pub fn allocate(files: &[LayoutFile], objects: &TestObjects, stop: &AtomicBool) -> Result<(), LayoutError> {
    check_free(files)?;
    let open = open_all(files, objects)?;
    open.iter().try_for_each(|file| file.allocate(stop))
}

/// Writes all of `files`, which are of `objects`, and makes them durable. Ends soon after `stop` is set or `progress`
/// breaks. Content is asked for in multiples of `piece_bytes`, so that blocks with a header and a checksum are never
/// cut.
///
/// `progress` is told the bytes written and the bytes in total, ten times a second and at the end.
///
/// # Errors
/// When there is no space, the system refuses, a file is no longer the one that was made, or it was asked to stop.
pub fn lay_out_in_pieces(
    files: &[LayoutFile],
    objects: &TestObjects,
    piece_bytes: u32,
    content: &Content<'_>,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    stop: &AtomicBool,
) -> Result<LayoutReport, LayoutError> {
    let start_ns = MonotonicClock.now_ns();
    check_free(files)?;
    let open = open_all(files, objects)?;
    for file in &open {
        file.allocate(stop)?;
    }
    let layout = Layout::new(&open, chunk_bytes(u64::from(piece_bytes)), content, stop);
    layout.write_all(progress)?;
    for file in &open {
        file.finish()?;
    }
    // The work is done; whoever stops now stops what comes next.
    let _ = progress(layout.total_bytes, layout.total_bytes);
    Ok(LayoutReport {
        bytes: layout.total_bytes,
        elapsed_ns: MonotonicClock.now_ns() - start_ns,
        direct: open.iter().all(|file| !file.fell_back.load(Ordering::Relaxed) && file.direct.is_some()),
    })
}

/// Opens all files, and nothing is done to any of them before each is known to be ours.
fn open_all<'a>(files: &'a [LayoutFile], objects: &TestObjects) -> Result<Vec<OpenFile<'a>>, LayoutError> {
    files.iter().map(|file| OpenFile::new(file, objects)).collect()
}

/// A file under way.
struct OpenFile<'a> {
    path: &'a Path,
    bytes: u64,
    buffered: File,
    /// The same file past the page cache, where that is possible.
    direct: Option<File>,
    /// Direct writes were refused after the open that allowed them.
    fell_back: AtomicBool,
}

impl<'a> OpenFile<'a> {
    fn new(file: &'a LayoutFile, objects: &TestObjects) -> Result<Self, LayoutError> {
        let open = |flags: OFlags| {
            let flags = (flags | OFlags::NOFOLLOW).bits().cast_signed();
            OpenOptions::new().write(true).custom_flags(flags).open(&file.path)
        };
        let failed = |source| LayoutError::Write { path: file.path.clone(), source };
        let direct = match open(OFlags::DIRECT) {
            Ok(direct) => Some(direct),
            Err(error) if is_refused(&error) => None,
            Err(error) => return Err(failed(error)),
        };
        let buffered = open(OFlags::empty()).map_err(failed)?;
        // Each was opened by the path, which may have led elsewhere for one of them.
        for opened in direct.iter().chain([&buffered]) {
            objects.check_opened(&file.path, opened.as_fd())?;
        }
        Ok(Self { path: &file.path, bytes: file.bytes, buffered, direct, fell_back: AtomicBool::new(false) })
    }

    fn failed(&self, source: io::Error) -> LayoutError {
        match Errno::from_io_error(&source) {
            Some(Errno::NOSPC | Errno::DQUOT) => LayoutError::NoSpace {
                path: self.path.parent().unwrap_or(self.path).to_owned(),
                needed_bytes: self.bytes,
                free_bytes: fstatvfs(&self.buffered).map_or(0, |facts| free(&facts)),
            },
            _ => LayoutError::Write { path: self.path.to_owned(), source },
        }
    }

    /// Reserves space, so that extents are long and a lack of space shows before anything is written.
    fn allocate(&self, stop: &AtomicBool) -> Result<(), LayoutError> {
        let result = loop {
            match fallocate(&self.buffered, FallocateFlags::empty(), 0, self.bytes) {
                Err(Errno::INTR) if !stop.load(Ordering::Relaxed) => {}
                Err(Errno::INTR) => return Err(LayoutError::Stopped { written_bytes: 0 }),
                result => break result,
            }
        };
        match result {
            // A file system that cannot reserve allocates while it is written to.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(self.failed(error.into())),
        }
        // One that is longer stays so.
        let length = self.buffered.metadata().map(|facts| facts.len());
        let lengthen = |length| if length < self.bytes { self.buffered.set_len(self.bytes) } else { Ok(()) };
        length.and_then(lengthen).map_err(|error| self.failed(error))
    }

    /// Writes a chunk, past the page cache where possible.
    fn write(&self, offset: u64, chunk: &[u8]) -> io::Result<()> {
        let aligned = chunk.len() - (chunk.len() as u64 % ALIGNMENT_BYTES) as usize;
        let (whole, tail) = chunk.split_at(aligned);
        match self.direct.as_ref().filter(|_| !self.fell_back.load(Ordering::Relaxed)) {
            Some(direct) => match direct.write_all_at(whole, offset) {
                Err(error) if is_refused(&error) => {
                    self.fell_back.store(true, Ordering::Relaxed);
                    self.buffered.write_all_at(whole, offset)?;
                }
                result => result?,
            },
            None => self.buffered.write_all_at(whole, offset)?,
        }
        self.buffered.write_all_at(tail, offset + aligned as u64)
    }

    fn is_buffered(&self) -> bool {
        self.direct.is_none() || self.fell_back.load(Ordering::Relaxed)
    }

    /// Makes all of it durable and takes it out of the page cache: reads are to come from the storage.
    fn finish(&self) -> Result<(), LayoutError> {
        self.buffered.sync_data().map_err(|error| self.failed(error))?;
        // Advice: a kernel that does not take it only leaves buffered reads faster than they should be.
        let _ = fadvise(&self.buffered, 0, None, Advice::DontNeed);
        Ok(())
    }
}

/// How long writes are that consist of whole pieces: near to 1 MiB, and aligned for direct I/O where that does not
/// make them huge. Writes that are not aligned go through the page cache.
fn chunk_bytes(piece_bytes: u64) -> u64 {
    let piece_bytes = piece_bytes.clamp(1, CHUNK_BYTES_MAX);
    let common = 1 << piece_bytes.trailing_zeros().min(ALIGNMENT_BYTES.trailing_zeros());
    let aligned = piece_bytes * (ALIGNMENT_BYTES / common);
    let unit = if aligned <= CHUNK_BYTES_MAX { aligned } else { piece_bytes };
    unit * (CHUNK_BYTES / unit).max(1)
}

fn is_refused(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::OPNOTSUPP))
}

/// The file system of a path, whose device has this number; where nothing tells of mounts, that number is all there is.
fn file_system(path: &Path, number: u64) -> DeviceNumber {
    mounts::file_system_of(path).unwrap_or_else(|_| DeviceNumber::from_raw(number))
}

/// Checks that each file system has room for what is not yet allocated of its files.
///
/// # Errors
/// When it has not, or does not tell.
pub fn check_free(files: &[LayoutFile]) -> Result<(), LayoutError> {
    let failed = |file: &LayoutFile, source| LayoutError::Write { path: file.path.clone(), source };
    // One that has two names is there once.
    let mut missing: BTreeMap<(u64, u64), (u64, &LayoutFile)> = BTreeMap::new();
    for file in files {
        let facts = file.path.symlink_metadata().map_err(|error| failed(file, error))?;
        let missing_bytes = file.bytes.saturating_sub(facts.blocks() * 512);
        let known = missing.entry((facts.dev(), facts.ino())).or_insert((missing_bytes, file));
        known.0 = known.0.max(missing_bytes);
    }
    let mut of_numbers: BTreeMap<u64, (u64, &LayoutFile)> = BTreeMap::new();
    for ((number, _), (missing_bytes, file)) in missing {
        of_numbers.entry(number).or_insert((0, file)).0 += missing_bytes;
    }
    let mut needs: BTreeMap<DeviceNumber, (u64, &LayoutFile)> = BTreeMap::new();
    for (number, (missing_bytes, file)) in of_numbers {
        needs.entry(file_system(&file.path, number)).or_insert((0, file)).0 += missing_bytes;
    }
    for (needed_bytes, file) in needs.into_values() {
        let free_bytes = free(&statvfs(&file.path).map_err(|error| failed(file, error.into()))?);
        if free_bytes < needed_bytes {
            let path = file.path.parent().unwrap_or(&file.path).to_owned();
            return Err(LayoutError::NoSpace { path, needed_bytes, free_bytes });
        }
    }
    Ok(())
}

/// The work that the writers share.
struct Layout<'a> {
    files: &'a [OpenFile<'a>],
    chunk_bytes: u64,
    content: &'a Content<'a>,
    /// The number of the first chunk of each file, and of all chunks at the end.
    first_chunks: Vec<u64>,
    total_bytes: u64,
    next_chunk: AtomicU64,
    written_bytes: AtomicU64,
    stop: &'a AtomicBool,
    /// Set by a failure, or by a progress that breaks.
    halt: AtomicBool,
    failure: Mutex<Option<LayoutError>>,
}

impl<'a> Layout<'a> {
    fn new(files: &'a [OpenFile<'a>], chunk_bytes: u64, content: &'a Content<'a>, stop: &'a AtomicBool) -> Self {
        let mut first_chunks = vec![0];
        for file in files {
            let chunks = file.bytes.div_ceil(chunk_bytes);
            first_chunks.push(first_chunks.last().copied().unwrap_or_default() + chunks);
        }
        Self {
            files,
            chunk_bytes,
            content,
            first_chunks,
            total_bytes: files.iter().map(|file| file.bytes).sum(),
            next_chunk: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            stop,
            halt: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    fn write_all(&self, progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<(), LayoutError> {
        thread::scope(|scope| {
            // Nothing is ever sent: the channel closes when the last writer ends.
            let (sender, receiver) = mpsc::channel::<()>();
            let start_writer = |_: &usize| {
                let sender = sender.clone();
                let write = move || {
                    let _open_until_the_end = sender;
                    self.write_chunks();
                };
                thread::Builder::new().spawn_scoped(scope, write).is_ok()
            };
            // Where no more threads are to be had, fewer write, or this one, which then tells no progress.
            if (0..WRITERS).take_while(start_writer).count() == 0 {
                self.write_chunks();
            }
            drop(sender);
            while receiver.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
                if progress(self.written_bytes.load(Ordering::Relaxed), self.total_bytes).is_break() {
                    self.halt.store(true, Ordering::Relaxed);
                }
            }
        });
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let written_bytes = self.written_bytes.load(Ordering::Relaxed);
        match failure {
            Some(failure) => Err(failure),
            None if written_bytes < self.total_bytes => Err(LayoutError::Stopped { written_bytes }),
            None => Ok(()),
        }
    }

    /// What one writer does.
    fn write_chunks(&self) {
        let mut buffers = match BufferPool::new(1, self.chunk_bytes as u32) {
            Ok(buffers) => buffers,
            Err(error) => return self.fail(&self.files[0], error),
        };
        let buffer = buffers.slice(Tag(0));
        let mut written_chunks = 0;
        while !self.stop.load(Ordering::Relaxed) && !self.halt.load(Ordering::Relaxed) {
            let chunk = self.next_chunk.fetch_add(1, Ordering::Relaxed);
            let index = self.first_chunks.partition_point(|first| *first <= chunk) - 1;
            let Some(file) = self.files.get(index) else {
                return;
            };
            let offset = (chunk - self.first_chunks[index]) * self.chunk_bytes;
            let length = (file.bytes - offset).min(self.chunk_bytes);
            let bytes = &mut buffer[..length as usize];
            (self.content)(index, offset, bytes);
            if let Err(error) = file.write(offset, bytes) {
                return self.fail(file, error);
            }
            written_chunks += 1;
            if file.is_buffered()
                && written_chunks % CHUNKS_PER_SYNC == 0
                && let Err(error) = file.buffered.sync_data()
            {
                return self.fail(file, error);
            }
            self.written_bytes.fetch_add(length, Ordering::Relaxed);
        }
    }

    fn fail(&self, file: &OpenFile<'_>, error: io::Error) {
        self.halt.store(true, Ordering::Relaxed);
        // The first failure is the cause; others follow from it.
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| file.failed(error));
    }
}

#[cfg(test)]
mod tests;
