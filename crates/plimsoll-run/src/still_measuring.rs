//! Who still measures, of slots that are done at the same time: whoever is done must not load the storage meanwhile.

use std::{
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::stops::Stops;

/// How long it may take to see that a slot is stopped.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many workers of a visit measure.
#[derive(Debug, Default)]
pub(crate) struct StillMeasuring {
    workers: Mutex<usize>,
    ended: Condvar,
}

/// The workers of one slot that have not ended, and what is set once all have.
#[derive(Debug)]
pub(crate) struct SlotLeft<'a> {
    pub(crate) left: AtomicU32,
    pub(crate) over: Option<&'a AtomicBool>,
}

/// A worker that measures, or is going to. Dropped in whatever way it ends, so that nobody waits for ever.
#[derive(Debug)]
pub(crate) struct Measures<'a> {
    all: &'a StillMeasuring,
    slot: &'a SlotLeft<'a>,
}

impl StillMeasuring {
    /// One more of a slot.
    pub(crate) fn begin<'a>(&'a self, slot: &'a SlotLeft<'a>) -> Measures<'a> {
        *self.workers() += 1;
        Measures { all: self, slot }
    }

    /// Waits until nobody measures, or the slot of whoever waits is stopped.
    pub(crate) fn wait_for_all(&self, stops: Stops<'_>) {
        let mut workers = self.workers();
        while *workers > 0 && !stops.is_set() {
            workers = self.ended.wait_timeout(workers, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic elsewhere leaves a number.
    fn workers(&self) -> MutexGuard<'_, usize> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Measures<'a> {
    /// It has ended. Whoever wants to load the storage further waits for all others.
    pub(crate) fn end(self) -> &'a StillMeasuring {
        self.all
    }
}

impl Drop for Measures<'_> {
    fn drop(&mut self) {
        // Before anyone waits: others may measure until they are told that this slot is over.
        if self.slot.left.fetch_sub(1, Ordering::Relaxed) == 1
            && let Some(over) = self.slot.over
        {
            over.store(true, Ordering::Relaxed);
        }
        *self.all.workers() -= 1;
        self.all.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{atomic::AtomicU64, mpsc},
        thread,
    };

    use super::*;

    #[test]
    fn whoever_has_ended_waits_for_all_others_and_is_told_of_before() {
        let (measuring, over, no) = (StillMeasuring::default(), AtomicBool::new(false), AtomicBool::new(false));
        let first = SlotLeft { left: AtomicU32::new(2), over: Some(&over) };
        let second = SlotLeft { left: AtomicU32::new(1), over: None };
        let (one, two, other) = (measuring.begin(&first), measuring.begin(&first), measuring.begin(&second));
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            drop(one);
            assert!(!over.load(Ordering::Relaxed), "the other worker of it still measures");
            let all = two.end();
            assert!(over.load(Ordering::Relaxed));
            let no = &no;
            scope.spawn(move || {
                all.wait_for_all(Stops { asked: no, halt: no, over: no, seen_ns: &AtomicU64::new(u64::MAX) });
                sender.send(()).unwrap();
            });
            assert!(receiver.recv_timeout(2 * PATIENCE).is_err(), "the other slot still measures");
            drop(other);
            receiver.recv().unwrap();
        });
    }

    #[test]
    fn whoever_is_stopped_does_not_wait() {
        let (measuring, yes, no) = (StillMeasuring::default(), AtomicBool::new(true), AtomicBool::new(false));
        let slot = SlotLeft { left: AtomicU32::new(1), over: None };
        let _measures = measuring.begin(&slot);
        measuring.wait_for_all(Stops { asked: &yes, halt: &no, over: &no, seen_ns: &AtomicU64::new(u64::MAX) });
    }
}
