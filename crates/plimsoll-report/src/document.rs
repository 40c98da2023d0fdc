//! What a page shows: runs, and what follows from them, in a form that holds no more than is drawn.
//!
//! A [`Document`] is what `plimsoll report` writes as JSON and puts into its page. Tables are the same as in text, with
//! finished strings; charts are numbers, each with a title that says what it shows. Series are shortened so that a
//! report of a hundred runs can be sent, and keep their extremes.

mod assembly;
mod detail;
mod excerpt;
mod fairness;
pub(crate) mod files;
mod findings;
mod iterations;
pub mod junit;
mod latencies;
mod lives;
pub mod markdown;
mod prices;
mod rates;
mod run;
pub(crate) mod run_names;
mod short_numbers;
mod sweeps;
#[cfg(test)]
mod tests;
mod trends;
mod uses;

use jiff::Timestamp;
use plimsoll_record::results::Severity;
use serde::Serialize;
use uuid::Uuid;

pub use self::assembly::{Contents, DocumentError};
use crate::{claims::JudgedClaims, comparison::Comparison, explanation::Explanation};

/// The schema of a document as JSON.
pub const SCHEMA: &str = "plimsoll-report/1";

/// Runs, and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document {
    /// `plimsoll-report/1`.
    pub schema: &'static str,
    /// What it is called.
    pub title: String,
    /// When it was made, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub created: Timestamp,
    /// The version of plimsoll that made it.
    pub version: String,
    /// What a reader should know first, the most telling first.
    pub findings: Vec<Note>,
    /// The runs, in the order in which they were named.
    pub runs: Vec<Run>,
    /// The sides of the runs with each other: one comparison for each reference that may be chosen, the first of which
    /// is the one that was asked for.
    pub comparisons: Vec<Comparison>,
    /// Why no other side than that of the first comparison can be chosen as the reference.
    pub fixed_reference: Option<String>,
    /// Why nothing is compared.
    pub not_compared: Option<String>,
    /// What the sides cost, as far as the reader's own prices tell.
    pub prices: Vec<TargetPrice>,
    /// Rates of the same load over runs.
    pub trends: Vec<Trend>,
    /// Loads that differ in block size and queue depth alone.
    pub sweeps: Vec<Sweep>,
    /// What storage should have delivered beside what it did; null when nothing is known of what was bought, and in a
    /// document that was shortened.
    pub explanation: Option<Explanation>,
    /// Sets of files by the length of their files.
    pub files: Vec<FileClass>,
    /// Which target suits which use.
    pub uses: Vec<Use>,
    /// What people say about the numbers; null when no claims were handed in.
    pub claims: Option<JudgedClaims>,
}

/// A sentence and how bad it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// How bad it is.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
}

impl Note {
    /// A sentence about nothing bad.
    pub(crate) const fn info(text: String) -> Self {
        Self { severity: Severity::Info, text }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Its id.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Uuid,
    /// What it is called: its name, the file that it was read from, or its targets.
    pub name: String,
    /// When it began, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started: Timestamp,
    /// How long it took.
    pub elapsed_ns: u64,
    /// How it ended, when it did not end as planned.
    pub ended: Option<Note>,
    /// Whether another program measured.
    pub is_told: bool,
    /// The targets.
    pub targets: Vec<String>,
    /// Labelled lines: what was measured, where and with what.
    pub facts: Vec<Fact>,
    /// What is to be said about its numbers, the worst first.
    pub notes: Vec<Note>,
    /// The numbers: a table for each target, then what else there is.
    pub tables: Vec<Table>,
    /// What charts show of its cells.
    pub cells: Vec<CellView>,
    /// Lives of volumes.
    pub lives: Vec<Life>,
    /// A command that does the same again.
    pub reproduce: Option<String>,
    /// The text that it was made from, or the plan that was asked.
    pub raw: Option<Raw>,
}

/// A labelled line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// The label.
    pub label: String,
    /// The text.
    pub text: String,
}

/// A text as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Raw {
    /// What it is.
    pub title: String,
    /// The text; of a long one the lines that were read, with some around them.
    pub text: String,
    /// How many bytes of it are left out.
    pub omitted_bytes: usize,
}

/// A table of finished strings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// What it is about.
    pub title: String,
    /// Its columns, all of the same length.
    pub columns: Vec<TableColumn>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableColumn {
    /// Its head.
    pub head: String,
    /// Whether its values stand on the right.
    pub is_number: bool,
    /// Its values.
    pub values: Vec<String>,
}

/// What charts show of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellView {
    /// Its target.
    pub target: String,
    /// Its workload.
    pub workload: String,
    /// What charts call it: with its target when the run has several.
    pub label: String,
    /// One word about its numbers.
    pub word: String,
    /// What the word means.
    pub meaning: String,
    /// Its rate over time.
    pub rates: Option<Rates>,
    /// Its latencies.
    pub latencies: Option<Latencies>,
    /// What each of its workers or threads did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// How long a command took, each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Iterations>,
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// What it shows, in a sentence.
    pub title: String,
    /// Stretches of load without a pause, in the order of time.
    pub stretches: Vec<Stretch>,
    /// The stretch of the run that the verdict speaks of, in milliseconds since its start.
    pub window_ms: Option<[u64; 2]>,
    /// Rates that are said to be possible.
    pub limits: Vec<LimitLine>,
    /// How many seconds a point stands for, where there are too many to show each.
    pub seconds_a_point: u32,
}

/// A stretch of load without a pause. All lists have one entry for each point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stretch {
    /// What it was.
    pub part: StretchPart,
    /// When it began, in milliseconds since the start of the run.
    pub begin_ms: u64,
    /// When it ended.
    pub end_ms: u64,
    /// The middle of each point, in milliseconds since the start of the run.
    pub t_ms: Vec<u64>,
    /// Operations per second.
    #[serde(serialize_with = "short_numbers::list")]
    pub iops: Vec<f64>,
    /// The slowest and the fastest second of each point; empty where a point is a second.
    #[serde(serialize_with = "short_numbers::pairs")]
    pub extremes: Vec<[f64; 2]>,
    /// Bytes per second.
    #[serde(serialize_with = "short_numbers::list")]
    pub bytes_per_second: Vec<f64>,
    /// Median latency; of several seconds that of the slowest.
    #[serde(serialize_with = "short_numbers::known")]
    pub p50_us: Vec<Option<f64>>,
    /// The latency that 99 % do not exceed; of several seconds that of the slowest.
    #[serde(serialize_with = "short_numbers::known")]
    pub p99_us: Vec<Option<f64>>,
}

/// What a stretch of load was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StretchPart {
    /// The ramp before the measured time.
    WarmUp,
    /// Measured, and not among the numbers.
    Discarded,
    /// What the numbers are made of.
    #[default]
    Counted,
}

/// A rate that is said to be possible.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitLine {
    /// What it is, and who says so: `lasting (given)`.
    pub name: String,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
}

/// Latency distributions of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    /// What they show, in a sentence.
    pub title: String,
    /// One for each kind of operation.
    pub curves: Vec<LatencyCurve>,
}

/// A latency distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyCurve {
    /// Of which operations.
    pub operation: String,
    /// How many there were; null where another program does not tell.
    pub operations: Option<u64>,
    /// Percentiles that the sample supports, in their order.
    pub percentiles: Vec<PercentilePoint>,
    /// How many operations took how long: the upper ends of classes in microseconds, and counts.
    #[serde(serialize_with = "short_numbers::classes")]
    pub histogram: Vec<(f64, u64)>,
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentilePoint {
    /// How many of a hundred operations take at most so long.
    #[serde(serialize_with = "short_numbers::one")]
    pub percent: f64,
    /// How long, in microseconds.
    #[serde(serialize_with = "short_numbers::one")]
    pub latency_us: f64,
    /// Whether it may be longer than was measured: so many take so long at least.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
    /// The ends of its 95 % interval, where it is known; the upper one may be open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_us: Option<(f64, Option<f64>)>,
}

/// What each of several workers did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fairness {
    /// What it shows, in a sentence.
    pub title: String,
    /// What one of them is called: `worker`, `thread`.
    pub of: String,
    /// What the numbers are: `IOPS`.
    pub unit: String,
    /// The number of each.
    pub values: Vec<f64>,
}

/// How long a command took, each time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Iterations {
    /// What they show, in a sentence.
    pub title: String,
    /// Each time, in its order.
    pub iterations: Vec<IterationView>,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IterationView {
    /// How long it took by the clock.
    pub seconds: f64,
    /// Processor time of programs.
    pub user_seconds: f64,
    /// Processor time of the kernel.
    pub system_seconds: f64,
    /// Whether the numbers are made of it.
    pub is_counted: bool,
}

/// The life of a volume, as bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Life {
    /// The target that it was, and how it came to be used.
    pub label: String,
    /// Its phases.
    pub phases: Vec<LifePhase>,
    /// Why it went no further.
    pub failed: Option<String>,
}

/// A phase of a life.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LifePhase {
    /// Its name.
    pub name: String,
    /// When it began, in milliseconds since the volume was asked for: its claim or its pod was sent, or it was to move.
    pub from_ms: f64,
    /// When it ended.
    pub to_ms: f64,
}

/// A number of the same load over runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// What it shows, in a sentence.
    pub title: String,
    /// The target.
    pub target: String,
    /// The workload.
    pub workload: String,
    /// Of which operations.
    pub operation: String,
    /// What is counted: `IOPS`, `files/s`, `operations/s`.
    pub unit: &'static str,
    /// The runs that have it, the oldest first.
    pub points: Vec<TrendPoint>,
    /// How many of them were compared with others.
    pub compared: usize,
    /// Where it changed beyond chance.
    pub changes: Vec<Change>,
    /// Between which rates the runs since the last change lie.
    pub band: Option<[f64; 2]>,
}

/// A run in a trend.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendPoint {
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub run: Uuid,
    /// When it began, RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started: Timestamp,
    /// Operations per second.
    pub iops: f64,
    /// The ends of its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The latency that 99 % do not exceed, in microseconds.
    pub p99_us: Option<f64>,
    /// One word about its numbers.
    pub word: String,
    /// Which baselines it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<String>,
    /// What differs from the run before: kernel, machine, device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
}

/// A change in a trend.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The point that is other than those before it.
    pub at: usize,
    /// How many times as much it has as the run that it was compared with; null where one of both did nothing.
    pub ratio: Option<f64>,
    /// The ends of the 95 % interval of that.
    pub interval: Option<[f64; 2]>,
    /// In a sentence.
    pub text: String,
}

/// What a target of a side costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetPrice {
    /// The letter of the side.
    pub side: String,
    /// The target.
    pub target: String,
    /// Its price, without that of the machine; null when that cannot be told.
    pub price: Option<Price>,
    /// Why it cannot be told.
    pub unknown: Option<String>,
}

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// For a month.
    pub per_month: f64,
    /// In what.
    pub currency: String,
    /// Of when it is.
    pub date: String,
    /// The row of the reader's file that it follows from.
    pub row: String,
}

/// Loads of one target that differ in block size and queue depth alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sweep {
    /// What it shows, in a sentence.
    pub title: String,
    /// The run.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub run: Uuid,
    /// The target.
    pub target: String,
    /// Reads, writes or both: `randread`.
    pub pattern: String,
    /// The block sizes, ascending.
    pub block_sizes: Vec<u64>,
    /// The operations in flight, ascending: queue depth times jobs.
    pub depths: Vec<u64>,
    /// The cells that were measured.
    pub cells: Vec<SweepCell>,
    /// The block size from which on the limit of throughput is reached before that of operations.
    pub crossover_bytes: Option<f64>,
}

/// A cell of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SweepCell {
    /// The place of its block size.
    pub block_size: usize,
    /// The place of its depth.
    pub depth: usize,
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// The latency that 99 % do not exceed, in microseconds; of a mix that of the slower kind.
    pub p99_us: Option<f64>,
    /// One word about its numbers.
    pub word: String,
    /// Whether it is the shallowest of several of its block size that has 95 % of the most IOPS: what is deeper mostly
    /// waits. None is where the deepest still has more.
    pub is_knee: bool,
}

/// What was done with files of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileClass {
    /// What it shows, in a sentence.
    pub title: String,
    /// Bytes of a file.
    pub size_bytes: u64,
    /// The targets, or what the results are called, in the order in which they were found.
    pub rows: Vec<FileRow>,
}

/// What a target did with files of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileRow {
    /// The target, or what the result is called.
    pub target: String,
    /// How many files there were.
    pub files: u64,
    /// Its phases.
    pub phases: Vec<FilePhaseView>,
}

/// A phase of a set of files.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePhaseView {
    /// Its name: `write`, `read`.
    pub name: String,
    /// Files per second.
    pub files_per_second: f64,
    /// The ends of the 95 % interval of that.
    pub interval: Option<[f64; 2]>,
    /// Bytes per second; null for phases that carry no data.
    pub bytes_per_second: Option<f64>,
    /// The latency that 99 % do not exceed, in microseconds.
    pub p99_us: Option<f64>,
    /// Whether a cache answered, and how that is known.
    pub cached: Option<String>,
}

/// A use of storage, and how the targets do in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Use {
    /// The use: the workload that stands for it.
    pub name: String,
    /// Which target is best, in a sentence.
    pub title: String,
    /// What is counted: `IOPS`, `files/s`, `operations/s`, `MB/s`, of which more is better; `s`, `us (p99)`, of which
    /// less is.
    pub unit: String,
    /// The targets, the best first, and those of caches last.
    pub targets: Vec<UseTarget>,
}

/// How a target does in a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UseTarget {
    /// The letter of the side.
    pub side: String,
    /// The target.
    pub target: String,
    /// The number, in the unit of the use.
    pub value: f64,
    /// How many times as good as this one the best is; null where this one did nothing, or a cache answered.
    pub times_worse: Option<f64>,
    /// Whether the difference to the best is beyond chance; of the best itself, that to the next.
    pub is_sure: bool,
    /// Whether it is surely no other than the best by more than matters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_as_good: bool,
    /// Whether a cache answered instead of the storage: it is never the best, and the last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cached: bool,
}

/// A number with as many digits as a chart can show: a report is sent, and is smaller for it.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
