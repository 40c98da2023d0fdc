//! The languages of other programs: what was asked is read into plain data, with what was not honoured and why; what
//! happened is told in the forms that their readers expect.
//!
//! Nothing here opens a file, asks the kernel or reads the environment: texts and values come from the caller, so a
//! dialect is tested and fuzzed as a function. Read [`fio::translate_command_line`] and [`fio::report::Reported`]
//! first.

#![forbid(unsafe_code)]

pub mod diskspd;
pub mod fio;
pub mod found;
pub mod iometer;
pub mod problem;
mod suggestion;
pub mod support;
pub mod told;
mod xml_tree;
