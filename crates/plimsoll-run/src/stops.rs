//! Why a slot ends before its time.

use std::sync::atomic::{AtomicBool, Ordering};

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
}

impl Stops<'_> {
    /// Whether what is done is incomplete.
    #[inline]
    pub fn is_set(self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }
}
