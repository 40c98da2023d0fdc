//! What a run shows on standard error while it happens: bars on a terminal, now and then a line elsewhere, or nothing;
//! a dashboard for who asks for it.
//!
//! All of them are consumers of the events of the run. Bars and lines have no thread of their own: something that wakes
//! up to draw would take time from what is being measured.

use std::{
    io::{self, IsTerminal},
    sync::{Arc, atomic::AtomicBool},
};

use plimsoll_io::clock::MonotonicClock;
use plimsoll_record::event::RunEvent;
use plimsoll_workload::plan::Plan;

use self::{bars::Bars, dashboard::Dashboard, lines::Lines};
use crate::{environment_variables, printer::Printer};

mod bars;
mod dashboard;
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

    /// Takes in what is set when the run is asked to end.
    fn tell_of_stop(&mut self, _stop: &Arc<AtomicBool>) {}
}

/// The kind of progress that was asked for, as far as standard error can show it.
pub(crate) fn asked(is_dashboard: bool, plan: &Plan, printer: Printer) -> Box<dyn Progress> {
    if is_dashboard && !printer.is_quiet() {
        match dashboard::obstacle() {
            None => return Box::new(Dashboard::new(plan)),
            Some(obstacle) => printer.note(format!("no dashboard: {obstacle}")),
        }
    }
    choose(printer.is_quiet(), plan)
}

/// Gives the terminal back, whoever has it, before the process ends at once.
pub(crate) fn give_terminal_back() {
    dashboard::terminal::give_back();
}

/// The kind of progress that suits standard error.
pub(crate) fn choose(is_quiet: bool, plan: &Plan) -> Box<dyn Progress> {
    if is_quiet {
        Box::new(Quiet)
    } else if io::stderr().is_terminal() && environment_variables::terminal_has_more_than_lines() {
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
