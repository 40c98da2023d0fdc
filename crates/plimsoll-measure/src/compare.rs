//! Two systems side by side: how much faster one is, how sure that is, and the words for it.
//!
//! All of it works on logarithms of rates or durations, where a ratio is a difference. Seconds are never the values
//! that are compared: rounds, blocks and runs are.

pub mod conclusion;
pub mod multiplicity;
pub mod paired;
pub mod ratio;
pub mod signed_rank;
pub mod unpaired;
