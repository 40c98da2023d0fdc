//! To be written.

pub mod environment;
