//! The languages of other programs, read into plain data: what was asked, what was not honoured, and why.
//!
//! Nothing here opens a file, asks the kernel or reads the environment: texts and values come from the caller, so a
//! dialect is tested and fuzzed as a function. Read [`fio::translate_command_line`] first.

#![forbid(unsafe_code)]

pub mod fio;
