//! Working on a set of files: one phase after the other, by several jobs at once, every system call timed.
//!
//! The set lives in a directory that somebody else made and will remove; nothing outside of it is touched. Read
//! [`set::FileSet`] first, which knows what is there; then [`phase`], which has the jobs do something with it; then
//! [`job`], which is one of them.

#![forbid(unsafe_code)]

pub mod cached;
pub mod calls;
pub mod job;
pub mod phase;
pub mod set;
mod tree;
