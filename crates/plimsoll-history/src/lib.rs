//! What was measured before: the store of records, and the journal that keeps a record safe while it grows.
//!
//! A run writes each of its events to a [`journal`]; when it ends, its record goes into the [`history`] and the journal
//! is removed. A journal whose process is gone becomes a record of its own: nothing measured is lost, and no record is
//! ever read in part. Of a run that did not end as planned, what it takes to go on ([`unfinished`]) lies beside its
//! record. This crate takes no time, reads no environment and prints nothing. Read [`history::History`] and
//! [`journal::Journal`] first.

#![forbid(unsafe_code)]

mod error;
pub mod export;
pub mod history;
pub mod journal;
pub mod location;
mod reference;
mod schema;
mod stored;
pub mod summary;
#[cfg(test)]
mod test_records;
pub mod unfinished;
