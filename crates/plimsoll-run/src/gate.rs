//! Where the workers of a slot wait for each other, so that all begin at the same moment, or none does.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Opens once everybody who is expected has arrived; shut for good by anyone who cannot come.
#[derive(Debug)]
pub struct Gate<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    missing: u32,
    shut: bool,
    signal: Option<T>,
}

/// The right, and the duty, to arrive at a gate. Dropped without that (its owner failed, panicked or could not be
/// started), it shuts the gate, so that nobody waits for ever.
#[derive(Debug)]
pub struct Pass<'a, T: Copy> {
    gate: &'a Gate<T>,
    arrived: bool,
}

impl<T: Copy> Gate<T> {
    /// A gate that expects so many arrivals.
    pub const fn new(expected: u32) -> Self {
        let state = State { missing: expected, shut: false, signal: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A pass for one of those who are expected.
    pub const fn pass(&self) -> Pass<'_, T> {
        Pass { gate: self, arrived: false }
    }

    /// Waits until everybody has arrived, then lets all go with the signal that is made at that moment. `None` when
    /// the gate was shut, and without a signal it is.
    pub fn open(&self, signal: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.wait_while(|state| state.missing > 0).shut {
            return None;
        }
        // Making it may take a while.
        let signal = signal();
        let mut state = self.state();
        state.signal = signal;
        state.shut = state.signal.is_none();
        self.changed.notify_all();
        state.signal
    }

    /// A panic elsewhere leaves the state as it is: a number and two words.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as the condition holds and the gate is not shut.
    fn wait_while(&self, condition: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        let waiting = |state: &mut State<T>| !state.shut && condition(state);
        self.changed.wait_while(self.state(), waiting).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Copy> Pass<'_, T> {
    /// Arrives, and waits for the signal. `None` when the gate was shut.
    pub fn arrive(mut self) -> Option<T> {
        self.arrived = true;
        self.gate.state().missing -= 1;
        self.gate.changed.notify_all();
        self.gate.wait_while(|state| state.signal.is_none()).signal
    }
}

impl<T: Copy> Drop for Pass<'_, T> {
    fn drop(&mut self) {
        if !self.arrived {
            self.gate.state().shut = true;
            self.gate.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn all_get_the_signal_that_is_made_when_the_last_has_come() {
        let gate = Gate::new(4);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| gate.pass()).map(|pass| scope.spawn(|| pass.arrive())).collect();
            assert_eq!(gate.open(|| Some(7)), Some(7));
            for worker in workers {
                assert_eq!(worker.join().unwrap(), Some(7));
            }
        });
    }

    #[test]
    fn one_that_could_not_be_started_keeps_nobody_waiting() {
        let gate: Gate<u64> = Gate::new(3);
        thread::scope(|scope| {
            let workers: Vec<_> = (0..2).map(|_| gate.pass()).map(|pass| scope.spawn(|| pass.arrive())).collect();
            drop(gate.pass());
            assert_eq!(gate.open(|| Some(7)), None);
            for worker in workers {
                assert_eq!(worker.join().unwrap(), None);
            }
        });
    }

    #[test]
    fn without_a_signal_nobody_goes_and_nobody_waits() {
        let gate: Gate<u64> = Gate::new(1);
        thread::scope(|scope| {
            let pass = gate.pass();
            let worker = scope.spawn(|| pass.arrive());
            assert_eq!(gate.open(|| None), None);
            assert_eq!(worker.join().unwrap(), None);
        });
    }

    #[test]
    fn one_that_panics_on_its_way_keeps_nobody_waiting() {
        let gate: Gate<u64> = Gate::new(2);
        thread::scope(|scope| {
            let (good, bad) = (gate.pass(), gate.pass());
            let good = scope.spawn(|| good.arrive());
            let bad = scope.spawn(move || {
                let _bad = bad;
                panic!("on the way to the gate");
            });
            assert_eq!(gate.open(|| Some(7)), None);
            assert_eq!(good.join().unwrap(), None);
            assert!(bad.join().is_err());
        });
    }
}
