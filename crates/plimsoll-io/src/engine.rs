//! How operations reach the kernel: the one contract that workers are generic over, and what engines share.
//!
//! An engine owns the buffers, moves bytes and says what came of it. It keeps no statistics, knows no rate and no
//! plan, and in [`Engine::submit`] and [`Engine::wait`] makes no allocation, takes no lock and enters the kernel for
//! the I/O only.

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
};

use plimsoll_workload::operation::{Operation, OperationKind};
use rustix::fs::{fdatasync, fsync};

use crate::{
    buffer_pool::BufferPool,
    clock::{Clock, MonotonicClock, Precision, sleep_until_ns},
};

pub mod io_uring;
pub mod linux_aio;
pub mod memory;
pub mod names;
pub mod psync;

/// Names one operation in flight: its buffer, and what the kernel hands back with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u16);

/// What came of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which operation.
    pub tag: Tag,
    /// The bytes transferred (zero for syncs), or a negative error number.
    pub result: i32,
}

/// A way to do I/O on files or devices.
///
/// Most engines must be used on the thread that built them, which is why none of those on a kernel ring is `Send`.
///
/// What leads to a system call for each operation is `inline(always)`: `plimsoll-run`'s `worker.rs` says why.
pub trait Engine {
    /// The buffer of a tag that is not in flight, to be filled before a write and looked at after a read.
    ///
    /// # Panics
    /// When the tag is in flight: the kernel may be using its buffer.
    fn buffer(&mut self, tag: Tag) -> &mut [u8];

    /// Queues an operation with the buffer of `tag`; an engine that cannot queue performs it here.
    ///
    /// # Errors
    /// Only when the operation cannot be queued at all; what the storage says comes as a [`Completion`].
    ///
    /// # Panics
    /// When the tag is in flight or the operation is longer than its buffer.
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()>;

    /// Hands queued operations to the kernel, waits for completions and appends all that are ready.
    ///
    /// Waits for `at_least` of them (for as many as are in flight when those are fewer), but not longer than until
    /// `deadline_ns` of the engine's clock. With nothing in flight it sleeps until the deadline when `at_least` is not
    /// zero, and returns at once when it is or when there is no deadline. Zero `at_least` never waits.
    ///
    /// # Errors
    /// When the kernel refuses to take or hand out any operation; the run cannot go on.
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()>;

    /// Takes what makes operations cheaper and is in short supply. Called when each of so many engines has its queue,
    /// so that none goes without one for it.
    fn register(&mut self, _engines: u32) {}

    /// What the engine could not have as asked, a sentence each: for the record.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// What the engines on a file need to know.
#[derive(Clone, Copy, Debug)]
pub struct EngineSetup<'a> {
    /// What to operate on, at least one file or device; the engine keeps duplicates.
    pub files: &'a [BorrowedFd<'a>],
    /// Most operations in flight: tags are 0 to this, exclusive.
    pub queue_depth: u32,
    /// Longest operation.
    pub buffer_bytes: u32,
    /// Whether completions are polled for instead of interrupting.
    pub iopoll: bool,
    /// Whether a thread of the kernel takes operations from the ring (`io_uring` only).
    pub sqpoll: bool,
    /// Processors that the kernel has for its part of the work: of a thread that is pinned, those before that.
    pub processors: usize,
}

impl EngineSetup<'_> {
    /// Duplicates of the files.
    fn own_files(&self) -> io::Result<Box<[OwnedFd]>> {
        self.files.iter().map(BorrowedFd::try_clone_to_owned).collect()
    }
}

/// How often a dropped engine cancels and waits for what is in flight before it gives the buffers up instead.
const DRAIN_ATTEMPTS: u32 = 60;
/// How long each of these waits lasts at most.
const DRAIN_NS: u64 = 500_000_000;

/// Which tags are in flight: what makes a buffer unreachable while the kernel uses it.
#[derive(Debug)]
struct TagsInFlight {
    in_flight: Box<[bool]>,
    count: usize,
}

impl TagsInFlight {
    fn new(queue_depth: u32) -> Self {
        Self { in_flight: vec![false; queue_depth as usize].into_boxed_slice(), count: 0 }
    }

    #[inline]
    fn start(&mut self, tag: Tag) {
        let slot = &mut self.in_flight[usize::from(tag.0)];
        assert!(!*slot, "the tag is in flight");
        *slot = true;
        self.count += 1;
    }

    #[inline]
    fn end(&mut self, tag: Tag) {
        self.in_flight[usize::from(tag.0)] = false;
        self.count -= 1;
    }

    #[inline]
    fn buffer<'a>(&self, tag: Tag, buffers: &'a mut BufferPool) -> &'a mut [u8] {
        self.assert_free(tag);
        buffers.slice(tag)
    }

    #[inline]
    fn assert_free(&self, tag: Tag) {
        assert!(!self.in_flight[usize::from(tag.0)], "the tag is in flight");
    }
}

/// The length of an operation, checked against the buffer it will use.
#[inline]
fn checked_length(operation: Operation, buffers: &BufferPool) -> u32 {
    assert!(operation.length as usize <= buffers.tag_bytes(), "the operation is longer than its buffer");
    operation.length
}

/// Waits for what is in flight, at most [`DRAIN_NS`].
fn drain(engine: &mut impl Engine, in_flight: usize) {
    let mut completions = Vec::with_capacity(in_flight);
    let deadline_ns = MonotonicClock.now_ns() + DRAIN_NS;
    // An error leaves operations in flight, and the caller looks at those.
    let _ = engine.wait(in_flight, Some(deadline_ns), &mut completions);
}

/// What [`Engine::wait`] does on the real clock when nothing is in flight.
fn wait_for_nothing(at_least: usize, deadline_ns: Option<u64>) {
    if at_least > 0
        && let Some(deadline_ns) = deadline_ns
    {
        sleep_until_ns(deadline_ns, Precision::Sleep);
    }
}

/// Performs a sync here and now, on a ring or context that cannot take it.
#[inline(always)]
fn sync_here(file: BorrowedFd<'_>, kind: OperationKind) -> i32 {
    let result = if kind == OperationKind::DataSync { fdatasync(file) } else { fsync(file) };
    result.map_or_else(|error| -error.raw_os_error(), |()| 0)
}
