//! To be written.

pub mod objects;
