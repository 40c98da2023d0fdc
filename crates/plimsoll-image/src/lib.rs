//! An image of one program, for clusters that are to run it: written as an archive, read back, pushed to a registry.
//!
//! No container engine is needed, and the same program always gives the same digest.

pub mod credentials;
pub mod image;
pub mod program;
pub mod reading;
pub mod reference;
pub mod registry;
pub mod saving;
