//! Doing a plan: targets opened and laid out, cells visited, operations timed, everything told as events.
//!
//! This crate prints nothing and knows no format but events. Read [`run::run`], [`slot::visit`] and
//! [`worker::Worker`] first, in that order.

#![forbid(unsafe_code)]

mod application_visit;
pub mod appointment;
pub mod background;
pub mod beforehand;
pub mod checker;
pub mod client;
pub mod cold_files;
pub mod counters;
mod doing;
mod engines;
pub mod evidence;
mod file_visit;
pub mod findings;
pub mod first_io;
pub mod gate;
pub mod headroom;
pub mod idleness;
pub mod judging;
mod kept_seconds;
pub mod layout;
pub mod life_mark;
pub mod machine;
mod memory;
pub mod names;
pub mod objects;
mod open_files;
mod parallel;
mod repeats;
pub mod resuming;
mod room;
pub mod run;
pub mod same_place;
pub mod several;
pub mod site;
pub mod slot;
mod still_measuring;
pub mod stops;
pub mod storage;
pub mod tally;
pub mod target_facts;
pub mod timing;
mod together;
pub mod worker;

#[cfg(test)]
mod test_plans;
