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
    /// When one of them was first seen; `u64::MAX` before that.
    pub seen_ns: &'a AtomicU64,
}

impl Stops<'_> {
    /// Whether what is done is incomplete.
    #[inline]
    pub fn is_set(self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }

    /// Whether the slot ends before its time.
    #[inline]
    pub fn end_the_slot(self) -> bool {
        self.is_set() || self.over.load(Ordering::Relaxed)
    }

    /// Tells that one of them is seen now, and when one first was: others may have waited in an operation.
    pub fn see(self, now: u64) -> u64 {
        self.seen_ns.fetch_min(now, Ordering::Relaxed).min(now)
    }

    /// When one of them was first seen.
    pub fn seen(self) -> Option<u64> {
        Some(self.seen_ns.load(Ordering::Relaxed)).filter(|seen_ns| *seen_ns != u64::MAX)
    }
}
