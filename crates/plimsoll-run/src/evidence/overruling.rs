//! Whether numbers are about the storage at all.

use plimsoll_measure::{
    detect::{cache, client},
    session::Overruling,
};
use plimsoll_record::{
    environment::Environment,
    record::{Cell, Kind},
};
use plimsoll_workload::settings::EngineChoice;

use super::{cache::cache_numbers, client::client_limits};

fn is_of_names(cell: &Cell) -> bool {
    cell.blocks().is_some_and(|plan| plan.name_operation().is_some())
}

/// Whether a cell's numbers are about something else than the storage. A cache is named before the machine: what a
/// cache answers is limited by the machine, of course.
pub fn overruling(cell: &Cell, environment: &Environment) -> Option<Overruling> {
    // What creates, stats and deletes files is the kernel, in memory and on our processors: that is what is measured.
    if cell.engine == EngineChoice::Memory || is_of_names(cell) || cell.kind == Kind::Files {
        return None;
    }
    if !cache::signs(&cache_numbers(cell)).is_empty() {
        return Some(Overruling::Cached);
    }
    client::is_client_limited(&client_limits(cell, environment)).then_some(Overruling::ClientLimited)
}
