//! What a run shows on standard error while it happens: bars on a terminal, now and then a line elsewhere, or nothing.
//!
//! All of them are consumers of the events of the run, and none has a thread of its own: something that wakes up to
//! draw would take time from what is being measured.

use std::io::{self, IsTerminal};

use plimsoll_io::clock::MonotonicClock;
use plimsoll_record::event::RunEvent;
use plimsoll_workload::plan::Plan;

use self::{bars::Bars, lines::Lines};

mod bars;
mod lines;
mod state;
#[cfg(test)]
mod test_events;

/// A consumer of events that shows them to a person.
pub(crate) trait Progress {
    /// Takes in an event, and shows what it changes.
    fn event(&mut self, event: &RunEvent);

    /// Leaves standard error as clean as it was found.
    fn finish(&mut self);
}

/// The kind of progress that suits standard error.
pub(crate) fn choose(is_quiet: bool, plan: &Plan) -> Box<dyn Progress> {
    if is_quiet {
        Box::new(Quiet)
    } else if io::stderr().is_terminal() {
        Box::new(Bars::new(plan, MonotonicClock))
    } else {
        Box::new(Lines::new(plan, MonotonicClock, io::stderr()))
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quiet;

impl Progress for Quiet {
    fn event(&mut self, _event: &RunEvent) {}

    fn finish(&mut self) {}
}
