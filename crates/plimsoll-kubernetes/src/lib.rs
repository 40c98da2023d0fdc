//! Storage of Kubernetes: volumes of every class, from claim to last byte.
//!
//! A [`request::PodRun`] says what to measure, [`manifests`] makes objects of it, and [`run`] creates them, watches,
//! reads what pods tell ([`frames`]) and takes everything away again. Several pods hear when they begin by
//! [`beginning`]. What is known of a volume's life is put together by `timeline` from what watches deliver; `troubles`
//! says in a sentence why a pod does not start. [`lives`] does the same for many volumes that nothing is measured on.

#![forbid(unsafe_code)]

pub mod beginning;
pub mod cluster;
pub mod discover;
pub mod error;
pub mod expecting;
pub mod fitting;
mod following;
pub mod foreign_jobs;
pub mod frames;
mod hearing;
pub mod lives;
pub mod looking;
pub mod manifests;
pub mod merging;
pub mod nodes;
pub mod preflight;
pub mod request;
pub mod rights;
pub mod run;
pub mod runs;
pub mod teardown;
mod timeline;
mod troubles;
mod watching;
