//! Applications: commands of a user's own, and the servers that they start, run and timed on a storage.
//!
//! Read first: [`application::Application`], which does the stages of a plan in one place; [`family::Family`], the
//! processes that an application consists of, by which its cost is known and by which it ends.

#![forbid(unsafe_code)]

pub mod application;
mod end_watch;
pub mod family;
mod guardian;
pub mod leftovers;
mod log;
mod looks;
mod process_table;
mod settling;
mod signals;
mod telling;
pub mod user;
