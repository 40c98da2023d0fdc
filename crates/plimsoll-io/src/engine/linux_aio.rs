//! The `libaio` engine: Linux native AIO by its system calls, for kernels and containers without `io_uring`.
//!
//! Everything queued goes down in one `io_submit`; results are taken from the ring the kernel maps into the process,
//! and only waiting for them costs a second system call. Without direct I/O the kernel performs operations inside of
//! `io_submit`: that is what native AIO does, not what this engine chose.

use std::{
    cell::Cell,
    io, mem,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd},
};

use plimsoll_workload::operation::{Operation, OperationKind};
use rustix::io::Errno;

use super::{
    Completion, DRAIN_ATTEMPTS, Engine, EngineSetup, Tag, TagsInFlight, checked_length, drain, sync_here,
    wait_for_nothing,
};
use crate::{
    buffer_pool::BufferPool,
    clock::{Clock, MonotonicClock},
    linux_aio_abi::{AioContext, COMMAND_FDSYNC, COMMAND_FSYNC, COMMAND_READ, COMMAND_WRITE, IoEvent, Iocb},
    probe::{EngineKind, EngineUnavailable, explain},
};

/// Operations on files through an AIO context.
pub struct LinuxAioEngine {
    // Fields drop in this order: the context is gone before the operations and buffers it may use.
    context: Option<AioContext>,
    /// Cells, because the queue points to them while others are filled.
    iocbs: Box<[Cell<Iocb>]>,
    buffers: BufferPool,
    files: Box<[OwnedFd]>,
    tags: TagsInFlight,
    /// Operations that the kernel has not taken, oldest first.
    queue: Vec<*mut Iocb>,
    events: Box<[IoEvent]>,
    /// Results of what the kernel would not take.
    performed: Vec<Completion>,
    notes: Vec<String>,
}

impl LinuxAioEngine {
    /// Makes a context for the queue depth.
    ///
    /// # Errors
    /// When there is no AIO to be had, with the likely cause.
    pub fn new(setup: &EngineSetup<'_>) -> Result<Self, EngineUnavailable> {
        let unavailable = |call: &str, error: &io::Error| EngineUnavailable {
            kind: EngineKind::Libaio,
            reason: explain(EngineKind::Libaio, call, error),
        };
        let depth = setup.queue_depth as usize;
        let context = AioContext::new(setup.queue_depth).map_err(|error| unavailable("io_setup", &error))?;
        let buffers = BufferPool::new(setup.queue_depth, setup.buffer_bytes)
            .map_err(|error| unavailable("mmap of the buffers", &error))?;
        let files = setup.own_files().map_err(|error| unavailable("dup of the target", &error))?;
        let iocb = |tag: usize| {
            let buffer = buffers.pointer(Tag(tag as u16)).expose_provenance() as u64;
            Cell::new(Iocb { data: tag as u64, buffer, ..Iocb::default() })
        };
        let iocbs = (0..depth).map(iocb).collect();
        let without = [
            (setup.iopoll, "native AIO cannot poll for completions"),
            (setup.sqpoll, "native AIO has no thread of the kernel that takes operations"),
        ];
        let notes = without.into_iter().filter(|(asked, _)| *asked).map(|(_, note)| note.to_owned()).collect();
        Ok(Self {
            context: Some(context),
            iocbs,
            buffers,
            files,
            tags: TagsInFlight::new(setup.queue_depth),
            queue: Vec::with_capacity(depth),
            events: vec![IoEvent::default(); depth].into_boxed_slice(),
            performed: Vec::with_capacity(depth),
            notes,
        })
    }

    /// Hands over what is queued: all of it, unless the kernel is out of requests for now.
    fn flush(&mut self) -> io::Result<()> {
        let context = self.context.as_ref().expect("the context is taken only by `drop`");
        let mut taken = 0;
        while taken < self.queue.len() {
            // SAFETY: the operations are in `iocbs` and their tags in flight, so that they and their buffers lie
            // untouched until their results.
            match unsafe { context.submit(&self.queue[taken..]) } {
                Ok(0) => break,
                Ok(count) => taken += count,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(Errno::AGAIN) => break,
                    Some(Errno::INTR) => {}
                    Some(errno @ (Errno::NOSYS | Errno::PERM)) => return Err(errno.into()),
                    errno => {
                        // The first of these is refused, which is its result and not that of the others.
                        let errno = errno.unwrap_or(Errno::IO);
                        // SAFETY: the pointer is to an element of `iocbs`, which nobody changes while it is queued.
                        let iocb = unsafe { self.queue[taken].read() };
                        self.performed.push(refused(&iocb, errno));
                        taken += 1;
                    }
                },
            }
        }
        self.queue.drain(..taken);
        Ok(())
    }

    #[inline]
    fn reap(&mut self, completions: &mut Vec<Completion>) {
        for completion in self.performed.drain(..) {
            self.tags.end(completion.tag);
            completions.push(completion);
        }
        let context = self.context.as_ref().expect("the context is taken only by `drop`");
        let tags = &mut self.tags;
        context.take_ready(|event| completions.push(ended(event, tags)));
    }

    /// Waits in the kernel for so many results, or until the deadline.
    fn sleep(
        &mut self,
        at_least: usize,
        deadline_ns: Option<u64>,
        completions: &mut Vec<Completion>,
    ) -> io::Result<()> {
        let span_ns = deadline_ns.map(|deadline_ns| deadline_ns.saturating_sub(MonotonicClock.now_ns()));
        let context = self.context.as_ref().expect("the context is taken only by `drop`");
        match context.wait(at_least, &mut self.events, span_ns) {
            Ok(ready) => {
                let tags = &mut self.tags;
                completions.extend(self.events[..ready].iter().map(|event| ended(*event, tags)));
                Ok(())
            }
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[inline]
fn ended(event: IoEvent, tags: &mut TagsInFlight) -> Completion {
    let tag = Tag(event.data as u16);
    tags.end(tag);
    Completion { tag, result: event.result as i32 }
}

/// What becomes of an operation that `io_submit` refused: file systems without asynchronous sync are synced here.
fn refused(iocb: &Iocb, errno: Errno) -> Completion {
    // SAFETY: the descriptor is one of the engine's, which are open as long as it is.
    let file = unsafe { BorrowedFd::borrow_raw(iocb.fd as RawFd) };
    let result = match iocb.command {
        COMMAND_FSYNC if errno == Errno::INVAL => sync_here(file, OperationKind::Sync),
        COMMAND_FDSYNC if errno == Errno::INVAL => sync_here(file, OperationKind::DataSync),
        _ => -errno.raw_os_error(),
    };
    Completion { tag: Tag(iocb.data as u16), result }
}

impl Engine for LinuxAioEngine {
    #[inline]
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.tags.buffer(tag, &mut self.buffers)
    }

    #[inline]
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        let length = checked_length(operation, &self.buffers);
        self.tags.start(tag);
        let cell = &self.iocbs[usize::from(tag.0)];
        let mut iocb = cell.get();
        iocb.fd = self.files[usize::from(operation.file)].as_raw_fd() as u32;
        (iocb.command, iocb.length, iocb.offset) = match operation.kind {
            OperationKind::Read => (COMMAND_READ, u64::from(length), operation.offset as i64),
            OperationKind::Write => (COMMAND_WRITE, u64::from(length), operation.offset as i64),
            // The kernel refuses syncs with anything but zeros here.
            OperationKind::Sync => (COMMAND_FSYNC, 0, 0),
            OperationKind::DataSync => (COMMAND_FDSYNC, 0, 0),
        };
        cell.set(iocb);
        self.queue.push(cell.as_ptr());
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        if self.tags.count == 0 {
            wait_for_nothing(at_least, deadline_ns);
            return Ok(());
        }
        let wanted = completions.len() + at_least.min(self.tags.count);
        loop {
            if !self.queue.is_empty() {
                self.flush()?;
            }
            self.reap(completions);
            let missing = wanted.saturating_sub(completions.len());
            if missing == 0 && self.queue.is_empty() {
                return Ok(());
            }
            // What the kernel would not take it takes when something else has ended, so one result is enough then.
            let in_kernel = self.tags.count - self.queue.len();
            let at_least = if self.queue.is_empty() { missing } else { in_kernel.min(1) };
            self.sleep(at_least, deadline_ns, completions)?;
            if deadline_ns.is_some_and(|deadline_ns| MonotonicClock.now_ns() >= deadline_ns) {
                return Ok(());
            }
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for LinuxAioEngine {
    fn drop(&mut self) {
        // What the kernel has not taken never happens.
        for iocb in mem::take(&mut self.queue) {
            // SAFETY: the pointer is to an element of `iocbs`, which nobody changes while it is queued.
            let tag = Tag(unsafe { (*iocb).data } as u16);
            self.tags.end(tag);
        }
        for _ in 0..DRAIN_ATTEMPTS {
            if self.tags.count == 0 {
                break;
            }
            let in_flight = self.tags.count;
            drain(self, in_flight);
        }
        if self.tags.count > 0 {
            // Destroying the context would wait for what never ends.
            self.buffers.leak();
            mem::forget(self.context.take());
        }
    }
}
