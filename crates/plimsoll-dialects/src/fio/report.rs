//! What fio would have printed about a run: its JSON, normal and terse reports and its logs, made from a record.
//!
//! Names, order and types are those that programs read which were written for fio. Where numbers mean something else
//! than fio's, it is because fio's mislead: a second in which nothing was done is one of the samples, percentiles do
//! not end at 17 seconds, and JSON is JSON whatever happened. Submission is not timed by itself, so `slat` is zero,
//! and `clat` and `lat` are the same latency.

mod disks;
mod entry;
mod groups;
mod json;
mod json_text;
mod latency;
mod logs;
mod normal;
mod seconds;
mod steady;
mod terse;
mod watch;
mod words;

use jiff::Zoned;
use plimsoll_record::record::Record;

pub use self::{
    logs::{LogFile, LogFiles},
    normal::header,
    watch::Watch,
};
use super::{job::Jobs, lowering::CellOf};

/// What is reported.
#[derive(Clone, Debug)]
pub struct Reported<'a> {
    /// What was asked.
    pub jobs: &'a Jobs,
    /// What happened. It may have no cells, when nothing could be done.
    pub record: &'a Record,
    /// One for each cell of the record, in its order.
    pub cells: &'a [CellOf],
    /// What was not taken literally, beside the notes of the jobs.
    pub notes: &'a [String],
    /// When the run ended, in the time zone that reports are to have.
    pub ended: Zoned,
    /// What stands for the version of fio.
    pub version: &'a str,
    /// The number of the process that measured.
    pub process: u32,
    /// Whether the record is in the history.
    pub is_kept: bool,
    /// Why nothing was done at all, when that is so.
    pub failure: Option<NotBegun>,
    /// What is left of a run that goes on; none of one that is over.
    pub rest: Option<Rest>,
    /// How idle each processor was; none where nobody asked.
    pub idle_percents: &'a [f64],
}

/// Why a run did not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBegun {
    /// The kernel's number of the error that each job has.
    pub error_number: i32,
    /// In a few words.
    pub reason: String,
}

/// What is left of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// How long it will go on; none when that cannot be told.
    pub left_ns: Option<u64>,
}

impl Rest {
    /// As fio tells it: what is not known is the largest number there is.
    const fn seconds(self) -> u64 {
        match self.left_ns {
            Some(left_ns) => left_ns.div_ceil(1_000_000_000),
            None => i32::MAX as u64,
        }
    }
}

impl Reported<'_> {
    /// The report in the formats that the command line asks for. What goes before the normal one is [`header`].
    pub fn text(&self) -> String {
        let (formats, entries) = (self.jobs.switches.formats, entry::entries(self));
        let mut text = String::new();
        if formats.terse {
            text += &terse::report(self, &entries, self.jobs.switches.terse_version);
        }
        if formats.json {
            text += &json::report(self, &entries, formats.json_plus);
        }
        if formats.normal {
            text += &normal::report(self, &entries);
        }
        text
    }

    /// What jobs failed of, also of being slower than they were allowed to be; empty when none did. Errors that a job
    /// was to go on after are no failure.
    pub fn failures(&self) -> Vec<String> {
        entry::failures(self)
    }

    /// The report as JSON; with the buckets of each distribution it is fio's `json+`.
    pub fn json(&self, has_buckets: bool) -> String {
        json::report(self, &entry::entries(self), has_buckets)
    }

    /// The report for people, without what [`header`] says.
    pub fn normal(&self) -> String {
        normal::report(self, &entry::entries(self))
    }

    /// The report with semicolons, in a version from 2 to 5.
    pub fn terse(&self, version: u8) -> String {
        terse::report(self, &entry::entries(self), version)
    }

    /// The log files that jobs ask for.
    pub fn logs(&self) -> LogFiles {
        logs::logs(self)
    }

    /// All that was not taken literally, each once.
    fn notes(&self) -> Vec<String> {
        let unfinished = self.rest.map(|_| "latencies of what goes on are told when it is over".to_owned());
        let mut notes: Vec<String> = Vec::new();
        for note in self.jobs.notes.iter().map(ToString::to_string).chain(self.notes.iter().cloned()).chain(unfinished)
        {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
