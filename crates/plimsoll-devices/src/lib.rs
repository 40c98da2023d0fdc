//! Storage that is made for a measurement and taken down after it.
//!
//! Whatever is made is written down before it is, so that it can be taken down however its maker ended.

pub mod emulation;
pub mod error;
pub mod loops;
mod marks;
mod notes;
pub mod stripe;
pub mod throttle;
mod tool;
