//! What to do, as pure data: workloads as asked, plans as decided, and the operations a plan consists of.
//!
//! This crate cannot see a file, a clock or a thread. Read [`workload::Workload`] (what was asked), [`plan::Plan`]
//! (what will be done) and [`operation_stream::OperationStream`] (which operations that means) first.

#![forbid(unsafe_code)]

pub mod application;
pub mod array;
pub mod block_sizes;
pub mod certainty;
#[cfg(test)]
mod chi_square;
pub mod cloud;
pub mod content;
pub mod distribution;
pub mod error_chain;
pub mod file_mix;
pub mod file_names;
pub mod file_set;
pub mod file_sizes;
pub mod file_space;
pub mod limit;
pub mod limits;
pub mod need;
pub mod operation;
pub mod operation_stream;
pub mod pacer;
pub mod payload;
pub mod permutation;
pub mod pinning;
pub mod plan;
pub mod plan_file;
pub mod preset;
pub mod provisioned;
pub mod random;
pub mod sampler;
pub mod serial_number;
pub mod settings;
pub mod shell_word;
pub mod sweep;
pub mod target_facts;
pub mod units;
pub mod verification;
pub mod workload;
