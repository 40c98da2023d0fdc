//! To be written.

pub mod layout;
pub mod objects;
