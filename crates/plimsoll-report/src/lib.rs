//! Records as text for people. Pure: it is handed records and plans and returns strings; it prints nothing, looks
//! nothing up, and reads neither a clock nor a terminal.
//!
//! Read [`table::record`] first, then [`comparison`]. Numbers become text in [`plimsoll_record::numbers`], but where a
//! reader checks them: [`explanation`] and [`claims`] show more digits. [`printable`] is what names and paths pass on
//! their way into lines and tables.

#![forbid(unsafe_code)]

mod applications;
mod arrays;
pub mod catalog;
pub mod claims;
pub mod cluster;
pub mod comparison;
mod details;
pub mod document;
pub mod emulated;
pub mod explanation;
mod facts;
mod file_sets;
pub mod found;
mod grid;
mod junit;
mod lifecycles;
mod markdown;
pub mod need;
mod notes;
pub mod plan;
mod pods;
pub mod printable;
pub mod replay;
mod rows;
pub mod runs;
pub mod sheets;
mod side_by_side;
pub mod striped;
mod style;
pub mod table;
#[cfg(test)]
mod test_records;
mod wrapping;
