//! What stands out in the numbers, as facts with their evidence. Words are made of them elsewhere.

pub mod cache;
pub mod client;
pub mod dips;
pub mod fairness;
pub mod hidden_burst;
pub mod knee;
pub mod modes;
pub mod queueing;
pub mod stalls;
pub mod token_bucket;
