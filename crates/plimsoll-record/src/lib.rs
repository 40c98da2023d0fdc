//! What happened, as data: the versioned record of a run, and the stream of events that it is folded from.
//!
//! Records are the only form results take. This crate does no I/O and takes no time: ids and times are handed in. Read
//! [`event::RunEvent`], [`builder::RecordBuilder`] and [`record::Record`] first.

#![forbid(unsafe_code)]

pub mod application;
pub mod builder;
pub mod cache;
pub mod client;
pub mod cluster;
pub mod environment;
pub mod event;
pub mod figures;
pub mod files;
pub mod judgement;
pub mod latencies;
pub mod lifecycle;
pub mod limit;
pub mod lived;
pub mod numbers;
pub mod pods;
pub mod record;
pub mod results;
pub mod summary;
pub mod told;
pub mod upgrade;
pub mod verification;
pub mod word;
