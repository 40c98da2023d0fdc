//! What the numbers mean: latency distributions, the schedule of slots, and verdicts.
//!
//! This crate does not know what I/O is: it sees nanoseconds and counts. Read [`schedule::Schedule`] and
//! [`latency::LatencyHistogram`] first.

#![forbid(unsafe_code)]

pub mod latency;
pub mod schedule;
pub mod verdict;
