//! What the numbers mean: when to stop, how sure they are, what limited them, and how two systems compare.
//!
//! This crate does not know what I/O is: it sees nanoseconds, bytes and counts, no clock and no file. Read
//! [`session::Session`] first: it hands out visits to cells, takes in what they measured, and words the verdicts. It
//! rests on the rules in [`stopping`], and those on the primitives in [`series`]. [`detect`] finds what stands out,
//! [`latency`] keeps distributions and the intervals of their percentiles, [`compare`] sets systems side by side, and
//! [`replay`] drives all of it through a trace instead of a storage.

#![forbid(unsafe_code)]

pub mod allowance;
pub mod compare;
pub mod detect;
pub mod effort;
pub mod latency;
pub mod random;
pub mod replay;
pub mod series;
pub mod session;
pub mod stability;
pub mod stopping;
pub mod student;
pub mod verdict;

#[cfg(test)]
mod test_noise;
