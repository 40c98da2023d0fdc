//! Why a slot ends before its time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The reasons for a slot to end before its time. They are told apart, so that a failing cell does not look like an
/// interrupted run, and one that was over with another is complete.
#[derive(Clone, Copy)]
pub struct Stops<'a> {
    /// Set from outside, when the run is interrupted.
    pub asked: &'a AtomicBool,
    /// Set by a worker that meets an error.
    pub halt: &'a AtomicBool,
    /// Set when a slot of the same phase has ended that ends the others.
    pub over: &'a AtomicBool,
    /// When a worker first saw one of them; `u64::MAX` before that.
    pub seen_ns: &'a AtomicU64,
}

impl Stops<'_> {
    /// Whether what is done is incomplete.
    #[inline]
    pub fn is_set(self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }

    /// Tells that a worker sees one of them now, and when the first one did: others may have waited in an operation.
    pub fn see(self, now: u64) -> u64 {
        self.seen_ns.fetch_min(now, Ordering::Relaxed).min(now)
    }
}
