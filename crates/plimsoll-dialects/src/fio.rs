//! fio's job files and command lines: text in, typed jobs with notes out, or all problems at once; and fio's reports of
//! what became of them.
//!
//! The grammar is fio's, its oddities included, with one exception: what fio accepts and then silently misreads
//! (`size=1.5g` is one byte to it) is refused, with the spelling that says what was meant.

mod checks;
pub mod command_line;
mod error_numbers;
mod expression;
pub mod help;
pub mod job;
pub mod job_file;
pub mod lists;
pub mod lowering;
pub mod options;
pub mod reference;
pub mod report;
pub mod settings;
mod substitution;
pub mod switches;
mod translation;
pub mod value;
mod within;

pub use self::{
    job::{GivenOption, Job, Jobs},
    translation::{Surroundings, translate_command_line, translate_job_files},
};
