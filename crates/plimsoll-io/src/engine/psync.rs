//! The `psync` engine: one system call for each operation, which blocks until it is done.
//!
//! An engine does one operation at a time, so a queue depth of n takes n threads with an engine each. `pread` and
//! `pwrite` are cheaper than their vectored forms, which are used only where a flag has to be passed.

use std::{
    io::{self, IoSlice, IoSliceMut},
    marker::PhantomData,
    os::fd::{AsFd, OwnedFd},
};

use plimsoll_workload::operation::{Operation, OperationKind};
use rustix::{
    io::{ReadWriteFlags, pread, preadv2, pwrite, pwritev2},
    thread::{UnshareFlags, unshare_unsafe},
};

use super::{Completion, Engine, EngineSetup, Tag, TagsInFlight, checked_length, sync_here, wait_for_nothing};
use crate::{
    buffer_pool::BufferPool,
    probe::{EngineKind, EngineUnavailable, explain},
};

/// Operations on files by blocking calls.
///
/// To be built on the thread that uses it, which gets a table of open files of its own.
pub struct PsyncEngine {
    files: Box<[OwnedFd]>,
    buffers: BufferPool,
    tags: TagsInFlight,
    /// Results that [`Engine::wait`] has not handed out.
    performed: Vec<Completion>,
    iopoll: bool,
    /// Neither `Send` nor `Sync`: its files are open on its thread only.
    thread: PhantomData<*const ()>,
}

impl PsyncEngine {
    /// Allocates the buffers and parts this thread from the table of open files that the others share.
    ///
    /// # Errors
    /// When there is no memory for the buffers.
    pub fn new(setup: &EngineSetup<'_>) -> Result<Self, EngineUnavailable> {
        let unavailable = |call: &str, error: &io::Error| EngineUnavailable {
            kind: EngineKind::Psync,
            reason: explain(EngineKind::Psync, call, error),
        };
        own_open_files();
        Ok(Self {
            files: setup.own_files().map_err(|error| unavailable("dup of the target", &error))?,
            buffers: BufferPool::new(setup.queue_depth, setup.buffer_bytes)
                .map_err(|error| unavailable("mmap of the buffers", &error))?,
            tags: TagsInFlight::new(setup.queue_depth),
            performed: Vec::with_capacity(setup.queue_depth as usize),
            iopoll: setup.iopoll,
            thread: PhantomData,
        })
    }

    #[inline(always)]
    fn perform(&mut self, tag: Tag, operation: Operation) -> i32 {
        let length = checked_length(operation, &self.buffers) as usize;
        let (kind, offset) = (operation.kind, operation.offset);
        let file = &self.files[usize::from(operation.file)];
        if kind.is_sync() {
            return sync_here(file.as_fd(), kind);
        }
        let bytes = &mut self.buffers.slice(tag)[..length];
        loop {
            let result = match (kind, self.iopoll) {
                (OperationKind::Read, false) => pread(file, &mut *bytes, offset),
                (_, false) => pwrite(file, bytes, offset),
                (OperationKind::Read, true) => {
                    preadv2(file, &mut [IoSliceMut::new(bytes)], offset, ReadWriteFlags::HIPRI)
                }
                (_, true) => pwritev2(file, &[IoSlice::new(bytes)], offset, ReadWriteFlags::HIPRI),
            };
            return match result {
                Ok(transferred) => transferred as i32,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => -error.raw_os_error(),
            };
        }
    }
}

impl Engine for PsyncEngine {
    #[inline]
    fn buffer(&mut self, tag: Tag) -> &mut [u8] {
        self.tags.buffer(tag, &mut self.buffers)
    }

    #[inline(always)]
    fn submit(&mut self, tag: Tag, operation: Operation) -> io::Result<()> {
        self.tags.start(tag);
        let result = self.perform(tag, operation);
        self.performed.push(Completion { tag, result });
        Ok(())
    }

    #[inline]
    fn wait(&mut self, at_least: usize, deadline_ns: Option<u64>, completions: &mut Vec<Completion>) -> io::Result<()> {
        if self.performed.is_empty() {
            wait_for_nothing(at_least, deadline_ns);
        }
        for completion in &self.performed {
            self.tags.end(completion.tag);
            completions.push(*completion);
        }
        self.performed.clear();
        Ok(())
    }
}

/// Gives this thread a table of open files of its own, a copy of the one it shared.
///
/// In a shared table the kernel counts a reference around every call, because another thread might close the file
/// meanwhile; that is some 15 ns of each operation. Where it is forbidden the calls just stay that much dearer.
pub(super) fn own_open_files() {
    // SAFETY: descriptors that exist now stay valid here, and the engine, which is not `Send`, keeps the only ones
    // that are opened afterwards.
    let _ = unsafe { unshare_unsafe(UnshareFlags::FILES) };
}
