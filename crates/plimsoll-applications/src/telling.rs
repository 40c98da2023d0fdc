//! Telling that a stage is being done: when it begins, and about once a second while it lasts.

use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_workload::application::Stage;

const EVERY_NS: u64 = 1_000_000_000;

/// Whoever is told of a stage.
pub(crate) struct Telling<'a> {
    pub(crate) stage: Stage,
    tell: &'a mut dyn FnMut(Stage),
    due_ns: u64,
}

impl<'a> Telling<'a> {
    /// Tells that a stage begins.
    pub(crate) fn begin(stage: Stage, tell: &'a mut dyn FnMut(Stage)) -> Self {
        tell(stage);
        Self { stage, tell, due_ns: MonotonicClock.now_ns() + EVERY_NS }
    }

    /// Tells that it goes on, if that was not told just now.
    pub(crate) fn go_on(&mut self) {
        let now_ns = MonotonicClock.now_ns();
        if now_ns >= self.due_ns {
            self.due_ns = now_ns + EVERY_NS;
            (self.tell)(self.stage);
        }
    }
}
