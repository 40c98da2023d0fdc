//! The `io_uring` engine: operations and results pass through memory shared with the kernel, and one system call both
//! hands over everything queued and waits.
//!
//! Buffers and files are registered, so that the kernel neither pins pages nor counts references for each operation,
//! and so is the ring itself. What a kernel or a limit does not grant is left out and noted.

mod workers;

use std::{
    io::{self, IoSliceMut},
    marker::PhantomData,
    mem,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::atomic::{Ordering, fence},
};

use ::io_uring::{
    IoUring,
    opcode::{Fsync, Read, ReadFixed, Write, WriteFixed},
    squeue,
    types::{CancelBuilder, FsyncFlags},
};
use plimsoll_workload::operation::{Operation, OperationKind};
use rustix::{
    fs::{Mode, OFlags},
    io::{Errno, ReadWriteFlags, preadv2},
    io_uring::IoringEnterFlags,
};

use self::workers::Workers;
use super::{
    Completion, DRAIN_ATTEMPTS, Engine, EngineSetup, Tag, TagsInFlight, checked_length, drain, sync_here,
    wait_for_nothing,
};
use crate::{
    buffer_pool::BufferPool,
    clock::{Clock, MonotonicClock},
    io_uring_abi::{self, Deadline, EntryHead, EntryStart},
    probe::{EngineKind, EngineUnavailable, explain},
    ring::{RingSetup, with_locked_memory},
};

/// The most that one registered buffer may hold (`io_buffer_validate` in the kernel's `io_uring/rsrc.c`).
const REGISTERED_BUFFER_BYTES_MAX: usize = 1 << 30;

/// How long a wait for several results lasts at most before the ring is looked at again.
///
/// Seen once on Linux 6.18, in some hundred million operations handed to worker threads of the kernel: all 128 results
/// pending, the thread asleep in a wait for 16 until a signal came. The likely way: a ring with `DEFER_TASKRUN` wakes
/// its waiter once, when the count kept in the newest request reaches what is waited for (`io_req_local_work_add` in
/// the kernel's `io_uring.c`); if that request ends, is reused and is added again between the reading of its count and
/// the adding of the next request, the count jumps past that point. A wait for one result cannot miss its wake-up this
/// way, because the first request on an empty list always wakes.
///
/// Longer than from one tick to the next (10 ms at 100 Hz): as long as the tick runs, a timer that comes before it has
/// to be programmed into the processor when the wait begins and taken back when it ends. 2 ms cost a fifth more time of
/// the thread that submits (medians of ten turns in a virtual machine at 250 Hz, batches of 32).
const LOST_WAKE_UP_NS: u64 = 12_000_000;

/// Operations on files through an `io_uring`.
///
/// To be built on the thread that uses it: the ring takes operations from no other.
pub struct IoUringEngine {
    // Fields drop in this order: the ring is gone before the buffers it may use.
    ring: IoUring,
    buffers: BufferPool,
    files: Box<[OwnedFd]>,
    tags: TagsInFlight,
    /// Operations in the submission queue that the kernel has not taken.
    queued: u32,
    /// Results of what was performed without the ring.
    performed: Vec<Completion>,
    /// What the ring locks.
    locked_bytes: u64,
    registered_files: bool,
    /// How entries begin, by the kind of operation.
    heads: [EntryHead; 4],
    /// How many low bits of a tag say where in its registered buffer it is: the others say which buffer that is. `None`
    /// when buffers are not registered.
    registered_tag_bits: Option<u32>,
    /// Index of the ring among the registered rings of this thread.
    registered_ring: Option<u32>,
    /// Not when polling, and not before Linux 5.11.
    waits_have_deadlines: bool,
    absolute_deadlines: bool,
    iopoll: bool,
    sqpoll: bool,
    /// Whether a wait for several results can miss its wake-up (see [`LOST_WAKE_UP_NS`]).
    loses_wake_ups: bool,
    /// Where every operation may wait, so that worker threads of the kernel perform them all.
    workers: Option<Workers>,
    notes: Vec<String>,
    /// Neither `Send` nor `Sync`: the ring belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl IoUringEngine {
    /// Sets up a ring with all that the kernel has.
    ///
    /// # Errors
    /// When there is no `io_uring` to be had, with the likely cause.
    pub fn new(setup: &EngineSetup<'_>) -> Result<Self, EngineUnavailable> {
        let unavailable = |call: &str, error: &io::Error| EngineUnavailable {
            kind: EngineKind::IoUring,
            reason: explain(EngineKind::IoUring, call, error),
        };
        let mut notes = Vec::new();
        let ring = RingSetup::of(setup);
        let locked_bytes = ring.locked_bytes();
        let (ring, loses_wake_ups) =
            ring.build(locked_bytes, &mut notes).map_err(|error| unavailable("io_uring_setup", &error))?;
        let buffers = BufferPool::new(setup.queue_depth, setup.buffer_bytes)
            .map_err(|error| unavailable("mmap of the buffers", &error))?;
        let files = setup.own_files().map_err(|error| unavailable("dup of the target", &error))?;
        let absolute_deadlines = io_uring_abi::has_absolute_deadlines(ring.as_raw_fd());
        let waits_have_deadlines = ring.params().is_feature_ext_arg() && !setup.iopoll;
        let registered_ring = io_uring_abi::register_ring(ring.as_raw_fd()).ok();
        // All files of a worker lie on one target: the first stands for all.
        let every_operation_waits = setup.files.first().is_some_and(|file| !takes_nowait(*file));
        let workers = every_operation_waits.then(|| Workers::new(setup.processors));
        if let Some(workers) = &workers {
            let slow = Workers::SLOW_NS / 1000;
            let limit =
                if workers.looks() { format!(", once they end more than {slow} us apart") } else { String::new() };
            notes.push(format!(
                "the target takes no operations that must not wait (RWF_NOWAIT), so worker threads of the kernel \
                 perform those of the ring (every fourth is handed to them at once, by IOSQE_ASYNC, to keep several \
                 at work{limit}); other engines need none of them"
            ));
        }
        Ok(Self {
            ring,
            buffers,
            files,
            tags: TagsInFlight::new(setup.queue_depth),
            queued: 0,
            performed: Vec::with_capacity(setup.queue_depth as usize),
            locked_bytes,
            registered_files: false,
            registered_tag_bits: None,
            heads: heads(false, false),
            registered_ring,
            waits_have_deadlines,
            absolute_deadlines,
            iopoll: setup.iopoll,
            sqpoll: setup.sqpoll,
            loses_wake_ups,
            workers,
            notes,
            thread: PhantomData,
        })
    }

    /// Takes all results that the kernel has posted.
    // A short loop, which gets registers of its own this way. No system call lies between its call and its return.
    #[inline(never)]
    fn reap(&mut self, completions: &mut Vec<Completion>) {
        let entries = self.ring.completion();
        let known = completions.len();
        // Room for all at once: a `push` would look for it each time.
        completions.resize(known + entries.len(), Completion { tag: Tag(0), result: 0 });
        for (completion, entry) in completions[known..].iter_mut().zip(entries) {
            let tag = Tag(entry.user_data() as u16);
            self.tags.end(tag);
            *completion = Completion { tag, result: entry.result() };
        }
        if let Some(workers) = &mut self.workers {
            workers.count(&completions[known..], &MonotonicClock);
        }
    }

    /// Until when the kernel may let this thread sleep.
    #[inline]
    fn deadline(&self, at_least: usize, deadline_ns: Option<u64>) -> Option<Deadline> {
        match (self.loses_wake_ups && at_least > 1, deadline_ns) {
            (false, None) => None,
            (false, Some(at_ns)) if self.absolute_deadlines => Some(Deadline::At(at_ns)),
            (false, Some(at_ns)) => Some(Deadline::In(at_ns.saturating_sub(MonotonicClock.now_ns()))),
            (true, None) => Some(Deadline::In(LOST_WAKE_UP_NS)),
            (true, Some(at_ns)) => {
                Some(Deadline::In(at_ns.saturating_sub(MonotonicClock.now_ns()).min(LOST_WAKE_UP_NS)))
            }
        }
    }

    /// One system call: hands over what is queued and waits for `at_least` unreaped results.
    ///
    /// Always asks for results, since the kernel runs deferred completion work, polls and flushes an overflown
    /// completion queue only then.
    #[inline(always)]
    fn enter(&mut self, at_least: usize, deadline_ns: Option<u64>) -> io::Result<()> {
        let mut flags = IoringEnterFlags::GETEVENTS;
        if self.sqpoll {
            // The fence orders our tail before the reading of the flag, as the kernel orders its flag before the tail.
            fence(Ordering::SeqCst);
            if self.ring.submission().need_wakeup() {
                flags |= IoringEnterFlags::SQ_WAKEUP;
            } else if at_least == 0 && !self.iopoll {
                self.queued = 0;
                return Ok(());
            }
        }
        let (fd, flags) = match self.registered_ring {
            Some(index) => (index as RawFd, flags | IoringEnterFlags::REGISTERED_RING),
            None => (self.ring.as_raw_fd(), flags),
        };
        let deadline = self.deadline(at_least, deadline_ns);
        // SAFETY: the queue holds entries whose buffers are ours, and lie untouched while their tags are in flight.
        let entered = unsafe { io_uring_abi::enter(fd, self.queued, at_least as u32, flags, deadline) };
        match entered {
            Ok(taken) => {
                self.queued -= if self.sqpoll { self.queued } else { taken.min(self.queued) };
                Ok(())
            }
            // ETIME: the deadline passed. EINTR: a signal. EAGAIN, EBUSY: no memory for requests, or results to be
            // reaped first. The caller reaps and looks again.
            Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn register_files(&mut self) {
        let files: Vec<RawFd> = self.files.iter().map(AsRawFd::as_raw_fd).collect();
        match self.ring.submitter().register_files(&files) {
            Ok(()) => self.registered_files = true,
            Err(error) => self.notes.push(format!("the target is not registered with the ring: {error}")),
        }
    }

    /// Those of this engine, which is one of so many.
    fn register_buffers(&mut self, engines: u32) {
        let Some(tag_bits) = tag_bits_of(self.buffers.stride_bytes()) else {
            self.notes.push("the buffers are not registered with the ring: each is longer than 1 GiB".to_owned());
            return;
        };
        let tags_per_buffer = 1 << tag_bits;
        let iovecs: Vec<libc::iovec> = (0..self.buffers.tags())
            .step_by(tags_per_buffer)
            .map(|first| libc::iovec {
                iov_base: self.buffers.pointer(Tag(first as u16)).cast(),
                iov_len: tags_per_buffer.min(self.buffers.tags() - first) * self.buffers.stride_bytes(),
            })
            .collect();
        let locked_bytes = (self.buffers.mapped_bytes() as u64 + self.locked_bytes) * u64::from(engines);
        let submitter = self.ring.submitter();
        // SAFETY: the iovecs cover our own mapping, which outlives the ring (see the order of fields and `drop`).
        let register = || unsafe { submitter.register_buffers(&iovecs) };
        match with_locked_memory(locked_bytes, register) {
            Ok(()) => self.registered_tag_bits = Some(tag_bits),
            Err(error) => self.notes.push(format!(
                "the buffers ({} bytes) are not registered with the ring, which costs time for each operation: {}",
                self.buffers.mapped_bytes(),
                explain(EngineKind::IoUring, "io_uring_register", &error)
            )),
        }
    }
}

impl Engine for IoUringEngine {
    #[inline]
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.tags.buffer(tag, &mut self.buffers)
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        let length = checked_length(operation, &self.buffers);
        let mut head = self.heads[operation.kind as usize];
        if let Some(workers) = &mut self.workers
            && workers.hands_over(self.tags.count)
        {
            head = head.with(squeue::Flags::ASYNC);
        }
        self.tags.start(tag);
        let own_file = || self.files[usize::from(operation.file)].as_fd();
        let file = if self.registered_files { RawFd::from(operation.file) } else { own_file().as_raw_fd() };
        let start = EntryStart { head, file, user_data: u64::from(tag.0) };
        let entry = if operation.kind.is_sync() {
            if self.iopoll {
                // Rings that poll take nothing that cannot be polled for.
                let result = sync_here(own_file(), operation.kind);
                self.performed.push(Completion { tag, result });
                return Ok(());
            }
            let is_data = operation.kind == OperationKind::DataSync;
            start.sync(if is_data { FsyncFlags::DATASYNC } else { FsyncFlags::empty() })
        } else {
            let buffer = self.registered_tag_bits.map_or(0, |bits| registered_buffer(tag, bits));
            start.transfer(operation.offset, self.buffers.pointer(tag), length, buffer)
        };
        // SAFETY: the buffer is that of the tag, which is in flight from here on, and long enough for the operation.
        let mut pushed = unsafe { self.ring.submission().push(&entry) };
        while pushed.is_err() {
            // Only with a submission thread, which frees entries after their results may have been seen.
            self.ring.submitter().squeue_wait()?;
            // SAFETY: as above.
            pushed = unsafe { self.ring.submission().push(&entry) };
        }
        self.queued += 1;
        Ok(())
    }

    #[inline(always)]
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        if self.tags.count == 0 {
            wait_for_nothing(at_least, deadline_ns);
            return Ok(());
        }
        let wanted = completions.len() + at_least.min(self.tags.count);
        for completion in self.performed.drain(..) {
            self.tags.end(completion.tag);
            completions.push(completion);
        }
        if self.queued == 0 && at_least > 0 {
            self.reap(completions);
            if completions.len() >= wanted {
                return Ok(());
            }
        }
        loop {
            let missing = wanted.saturating_sub(completions.len());
            // A ring that does not look at the clock while it waits must not wait until a deadline.
            if deadline_ns.is_some() && !self.waits_have_deadlines {
                self.enter(0, None)?;
            } else {
                self.enter(missing, deadline_ns)?;
            }
            self.reap(completions);
            if completions.len() >= wanted && self.queued == 0 {
                return Ok(());
            }
            if deadline_ns.is_some_and(|deadline_ns| MonotonicClock.now_ns() >= deadline_ns) {
                return Ok(());
            }
        }
    }

    fn register(&mut self, engines: u32) {
        self.register_files();
        self.register_buffers(engines);
        self.heads = heads(self.registered_files, self.registered_tag_bits.is_some());
        if let Some(workers) = &mut self.workers {
            workers.share(engines);
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for IoUringEngine {
    fn drop(&mut self) {
        // What the kernel has not taken never happens. A submission thread may have taken all of it.
        let never_taken = if self.sqpoll { 0 } else { mem::take(&mut self.queued) as usize };
        for _ in 0..DRAIN_ATTEMPTS {
            let in_flight = self.tags.count - never_taken;
            if in_flight == 0 {
                break;
            }
            // Kernels before 6.0 cannot cancel everything; then everything is waited for.
            let _ = self.ring.submitter().register_sync_cancel(None, CancelBuilder::any());
            drain(self, in_flight);
        }
        if self.tags.count > never_taken {
            self.buffers.leak();
        } else {
            // Of a ring that is closed the kernel lets these go some time later. Until then what the files are on stays
            // busy, and the memory of buffers counts as locked, as that of the ring itself does.
            let _ = self.ring.submitter().unregister_files();
            let _ = self.ring.submitter().unregister_buffers();
        }
        if let Some(index) = self.registered_ring {
            io_uring_abi::unregister_ring(self.ring.as_raw_fd(), index);
        }
    }
}

/// How entries of each kind of operation begin, in the order of [`OperationKind`].
fn heads(registered_files: bool, registered_buffers: bool) -> [EntryHead; 4] {
    let [read, write] =
        if registered_buffers { [ReadFixed::CODE, WriteFixed::CODE] } else { [Read::CODE, Write::CODE] };
    let flags = if registered_files { squeue::Flags::FIXED_FILE } else { squeue::Flags::empty() };
    [read, write, Fsync::CODE, Fsync::CODE].map(|opcode| EntryHead::new(opcode, flags))
}

/// How many low bits of a tag say where in its registered buffer it is, where buffers lie so many bytes apart: a power
/// of two of them is registered as one, so that the rest of a tag says which, without a division for each operation.
const fn tag_bits_of(stride_bytes: usize) -> Option<u32> {
    (REGISTERED_BUFFER_BYTES_MAX / stride_bytes).checked_ilog2()
}

/// The number of the registered buffer that a tag is in.
#[inline]
const fn registered_buffer(tag: Tag, tag_bits: u32) -> u16 {
    (tag.0 as u32 >> tag_bits) as u16
}

/// Whether a file takes operations that fail where they would wait; so does a file that cannot be asked.
fn takes_nowait(file: BorrowedFd<'_>) -> bool {
    /// Where no file has anything: nothing is read, and nothing read ahead.
    const BEYOND_ALL: u64 = 1 << 62;
    let refusal = |file: BorrowedFd<'_>| {
        preadv2(file, &mut [IoSliceMut::new(&mut [0])], BEYOND_ALL, ReadWriteFlags::NOWAIT).err()
    };
    let refused = match refusal(file) {
        // Open for writing only: whoever opens the same file to read has the same answer.
        Some(Errno::BADF) => {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let readable = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            readable.ok().and_then(|readable| refusal(readable.as_fd()))
        }
        refused => refused,
    };
    refused != Some(Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_begin_with_what_is_registered() {
        let begin = |opcodes: [u8; 4], flags| opcodes.map(|opcode| EntryHead::new(opcode, flags));
        let (plain, fixed) = (squeue::Flags::empty(), squeue::Flags::FIXED_FILE);
        let of_files = [Read::CODE, Write::CODE, Fsync::CODE, Fsync::CODE];
        let of_buffers = [ReadFixed::CODE, WriteFixed::CODE, Fsync::CODE, Fsync::CODE];
        assert_eq!([heads(false, false), heads(true, false)], [begin(of_files, plain), begin(of_files, fixed)]);
        assert_eq!([heads(false, true), heads(true, true)], [begin(of_buffers, plain), begin(of_buffers, fixed)]);
    }

    #[test]
    fn a_registered_buffer_has_as_many_tags_as_a_gigabyte_takes() {
        let buffers = |stride_bytes, tags: [u16; 3]| {
            let bits = tag_bits_of(stride_bytes)?;
            assert!(stride_bytes << bits <= REGISTERED_BUFFER_BYTES_MAX);
            Some(tags.map(|tag| registered_buffer(Tag(tag), bits)))
        };
        assert_eq!(buffers(4096, [0, 16_383, u16::MAX]), Some([0, 0, 0]));
        assert_eq!(buffers(12 << 20, [63, 64, 128]), Some([0, 1, 2]));
        assert_eq!(buffers(513 << 20, [0, 1, 2]), Some([0, 1, 2]));
        assert_eq!(buffers(1 << 30, [0, 1, 2]), Some([0, 1, 2]));
        assert_eq!(buffers((1 << 30) + 4096, [0, 1, 2]), None);
    }
}
