//! The arrivals of an open loop: of one worker, or of the threads of a job.

use std::sync::{Mutex, PoisonError};

use plimsoll_workload::pacer::Pacer;

/// Where a worker gets the times from at which its operations should start.
#[derive(Debug)]
pub enum Arrivals<'a> {
    /// All arrivals of the job are for this worker.
    Own(Pacer),
    /// Threads of which each has one operation in flight: the next arrival is for the one that is free first, so that
    /// no operation waits for a thread whose storage is slow while others have nothing to do.
    Shared(&'a Mutex<Pacer>),
}

impl Arrivals<'_> {
    /// When the next operation, of this many bytes, should start.
    #[inline]
    pub(crate) fn next_intended_ns(&mut self, operation_bytes: u32) -> u64 {
        match self {
            Self::Own(pacer) => pacer.next_intended_ns(operation_bytes),
            Self::Shared(pacer) => {
                pacer.lock().unwrap_or_else(PoisonError::into_inner).next_intended_ns(operation_bytes)
            }
        }
    }

    /// Passes over so many operations, of this many bytes each. Returns when the last of them should start.
    pub(crate) fn pass_over(&mut self, operations: u64, operation_bytes: u32) -> u64 {
        match self {
            Self::Own(pacer) => pacer.pass_over(operations, operation_bytes),
            Self::Shared(pacer) => {
                pacer.lock().unwrap_or_else(PoisonError::into_inner).pass_over(operations, operation_bytes)
            }
        }
    }
}
