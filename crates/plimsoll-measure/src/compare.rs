//! Two systems side by side: how much faster one is, how sure that is, and the words for it.
//!
//! All of it works on logarithms of rates or durations, where a ratio is a difference. Rounds, blocks and runs are the
//! values. The seconds of what was measured in one piece are none: they make one mean, whose error knows how much a
//! second resembles the next.

pub mod conclusion;
pub mod multiplicity;
pub mod paired;
pub mod permutation;
pub mod ratio;
pub mod signed_rank;
pub mod unpaired;
