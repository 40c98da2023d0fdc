//! What other programs told of storage, found in any text: a report, a log, a blog post, Markdown, comments of a shell.
//!
//! Each reader knows one kind of result by its own words, wherever on a line they begin. What is found is plain data
//! with the lines that it stands in; totals are added up again, and what does not agree is said.

mod commented_commands;
mod dd;
mod diskspd_text;
mod diskspd_xml;
mod file_rows;
mod fio_json;
mod fio_status;
mod kubestr;
mod numbers;
mod passage;
mod shell_time;

use std::{fmt, ops::RangeInclusive};

use serde::Serialize;

use self::passage::Passage;

/// Bytes of a text that is looked through.
pub const BYTES_MAX: usize = 64 << 20;
/// Results of a text.
const RESULTS_MAX: usize = 100_000;

/// Which words a result was told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// fio's JSON.
    FioJson,
    /// The lines of a run status group of fio.
    FioStatus,
    /// What kubestr prints of fio.
    Kubestr,
    /// diskspd's text report, or parts of it.
    DiskspdText,
    /// diskspd's XML results.
    DiskspdXml,
    /// What `time` of a shell prints.
    ShellTime,
    /// Rows of a benchmark that writes and reads files.
    FileRows,
    /// Figures in comments behind commands.
    CommentedCommand,
    /// What `dd` says at its end.
    Dd,
}

impl Source {
    /// How a person calls one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FioJson => "fio job in JSON",
            Self::FioStatus => "fio status line",
            Self::Kubestr => "kubestr job",
            Self::DiskspdText => "diskspd report",
            Self::DiskspdXml => "diskspd result in XML",
            Self::ShellTime => "time of a command",
            Self::FileRows => "file benchmark row",
            Self::CommentedCommand => "figure behind a command",
            Self::Dd => "dd summary",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A result that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundResult {
    /// Which words it was told in.
    pub source: Source,
    /// Its lines in the text, from 1.
    pub lines: (usize, usize),
    /// What it is of: what the text itself says, or else the heading that it stands below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What was told.
    pub measured: Measured,
    /// What does not agree in it, or may be read in two ways.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// What a result says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Reads and writes.
    Transfers(Box<Transfers>),
    /// How long a command took.
    Duration(Durations),
    /// How fast files were written and read.
    Files(Files),
    /// A single figure.
    Figure(Figure),
}

/// Reads and writes of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Transfers {
    /// The access pattern, in fio's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Bytes of an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Operations that each job kept in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u64>,
    /// Jobs or threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// Measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ns: Option<u64>,
    /// Reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Direction>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Direction>,
    /// Both together, where they are told together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Direction>,
}

/// What one direction did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Direction {
    /// Bytes transferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Operations per second: as told, or else from what was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Mean latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// Standard deviation of latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_stddev_ns: Option<f64>,
    /// Percentiles in their order; 0 is the shortest latency and 100 the longest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
    /// Each thread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<Self>,
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Percentile {
    /// How many of a hundred operations take at most so long.
    pub percent: f64,
    /// How long.
    pub latency_ns: f64,
}

/// How long a command took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Durations {
    /// By the clock.
    pub elapsed_ns: u64,
    /// Processor time of its programs.
    pub user_ns: u64,
    /// Processor time of the kernel for it.
    pub system_ns: u64,
}

/// How fast files were written and read.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Files {
    /// How many there were.
    pub count: u64,
    /// Bytes of each.
    pub size_bytes: u64,
    /// How often they were written and read.
    pub iterations: u64,
    /// Bytes per second while writing.
    pub write_bytes_per_second: f64,
    /// Bytes per second while reading.
    pub read_bytes_per_second: f64,
    /// Bytes per second while writing and then reading each.
    pub write_read_bytes_per_second: f64,
}

/// A single figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// The command that it stands behind.
    pub command: String,
    /// The figure, or the lower end of a range.
    pub low: f64,
    /// The upper end of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Its unit, as written.
    pub unit: String,
    /// What somebody expected, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// What stands behind the figure.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remark: String,
}

/// Everything that is told in a text, in its order.
pub fn find(text: &str) -> Vec<FoundResult> {
    let passage = Passage::of(text);
    let readers = [
        fio_json::find,
        fio_status::find,
        kubestr::find,
        diskspd_text::find,
        diskspd_xml::find,
        shell_time::find,
        file_rows::find,
        commented_commands::find,
        dd::find,
    ];
    let mut found: Vec<FoundResult> = readers.into_iter().flat_map(|find| find(&passage)).collect();
    found.sort_by_key(|result| (result.lines, result.source));
    found.truncate(RESULTS_MAX);
    found
}

impl FoundResult {
    fn new(passage: &Passage<'_>, source: Source, lines: RangeInclusive<usize>, measured: Measured) -> Self {
        let subject = passage.heading(*lines.start()).map(str::to_owned);
        Self { source, lines: (lines.start() + 1, lines.end() + 1), subject, measured, findings: Vec::new() }
    }

    /// The same, of what the text itself names.
    fn of(self, subject: Option<impl Into<String>>) -> Self {
        Self { subject: subject.map(Into::into).or(self.subject), ..self }
    }

    /// The same, with what was found in it.
    fn with(self, findings: Vec<String>) -> Self {
        Self { findings, ..self }
    }
}

#[cfg(test)]
mod tests;
