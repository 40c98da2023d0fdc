//! Where the cluster of the end-to-end tests is, and its components, which can be stopped and started again.
//!
//! `cargo xtask e2e` makes the cluster with this, and the tests use it.

#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "what waits for processes takes the time")]

pub mod component;
pub mod place;
