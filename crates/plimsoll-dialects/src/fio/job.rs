//! Jobs as they will be done: settings, what was given for the echo in reports, and the group of each.

use super::{settings::Settings, switches::Switches};
use crate::problem::{Note, Place};

/// An option as it was given, for the echo in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOption {
    /// The name of the option; an alias is not repeated.
    pub name: &'static str,
    /// The value as it was typed, variables put in their place; none for a flag alone.
    pub value: Option<String>,
    /// Where.
    pub place: Place,
}

/// A job. Its clones are told apart where it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What reports call it.
    pub name: String,
    /// The name of its section, which its files are named after. When no file is named, and this is the path of a
    /// device, that device is the target.
    pub section: String,
    /// Where it begins.
    pub place: Place,
    /// Its own options; those of global sections are not repeated.
    pub given: Vec<GivenOption>,
    /// Everything that it asks for.
    pub settings: Settings,
    /// The group that reports put it into.
    pub group: u32,
    /// The job that it waits for, as an index.
    pub waits_for: Option<usize>,
    /// Which of the job files it is from; none for the command line.
    pub file_index: Option<usize>,
}

/// All that was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs {
    /// Options that hold for all jobs, of the last job file, as fio echoes them.
    pub global_options: Vec<GivenOption>,
    /// The jobs in the order of reading.
    pub jobs: Vec<Job>,
    /// What was not taken literally.
    pub notes: Vec<Note>,
    /// What the command line asked for beside jobs.
    pub switches: Switches,
    /// With `--showcmd`, each job file as a command line.
    pub command_lines: Vec<String>,
}
