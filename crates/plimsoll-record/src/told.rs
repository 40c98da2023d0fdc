//! What another program told of a storage. Only what stands in its text is known: everything else is absent.

mod import;

use std::{borrow::Cow, collections::BTreeMap, fmt};

use plimsoll_measure::latency::operations_needed;
use serde::{Deserialize, Serialize};

pub use self::import::{FoundResult, Reading, doubt, mismatch, note};
use crate::{
    figures::{Figures, Operation},
    results::{LatencySummary, PERCENTILES},
};

/// The text that a record was made from, as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Import {
    /// Its path as given; `-` is standard input.
    pub file: String,
    /// When it was read, RFC 3339: `started` of the record is when the text says that it was measured, where it does.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: jiff::Timestamp,
    /// The whole text.
    pub text: String,
}

/// Which words a result was told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// fio's JSON.
    FioJson,
    /// fio's normal report: a job, or the lines of a run status group alone.
    FioText,
    /// What kubestr prints of fio.
    Kubestr,
    /// diskspd's text report, or parts of it.
    DiskspdText,
    /// diskspd's XML results.
    DiskspdXml,
    /// Iometer's result file.
    IometerCsv,
    /// What `time` of a shell prints.
    ShellTime,
    /// Rows of a benchmark that writes and reads files.
    FileRows,
    /// Figures in comments behind commands.
    CommentedCommand,
    /// What `dd` says at its end.
    Dd,
    /// Rows of a table whose columns somebody named.
    Csv,
}

impl Source {
    /// How a person calls one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FioJson => "fio job in JSON",
            Self::FioText => "fio job",
            Self::Kubestr => "kubestr job",
            Self::DiskspdText => "diskspd report",
            Self::DiskspdXml => "diskspd result in XML",
            Self::IometerCsv => "Iometer result",
            Self::ShellTime => "time of a command",
            Self::FileRows => "file benchmark row",
            Self::CommentedCommand => "figure behind a command",
            Self::Dd => "dd summary",
            Self::Csv => "row of a table",
        }
    }

    /// Who told it.
    pub const fn teller(self) -> &'static str {
        match self {
            Self::FioJson | Self::FioText => "fio",
            Self::Kubestr => "kubestr",
            Self::DiskspdText | Self::DiskspdXml => "diskspd",
            Self::IometerCsv => "Iometer",
            Self::ShellTime => "time",
            Self::FileRows => "a file benchmark",
            Self::CommentedCommand => "a comment",
            Self::Dd => "dd",
            Self::Csv => "a table",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a text says of one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told {
    /// Which words it was told in.
    pub source: Source,
    /// The first and the last of its lines in the text, from 1.
    pub lines: (usize, usize),
    /// What was told.
    pub measured: Measured,
}

/// What a result says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Reads and writes.
    Transfers(Box<Transfers>),
    /// How long a command took, each time that it ran.
    Durations(Vec<Duration>),
    /// How fast files were written and read.
    Files(Files),
    /// A single figure.
    Figure(Figure),
}

/// Reads and writes of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Transfers {
    /// The access pattern, in fio's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Share of reads in percent, where reads and writes are mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_percent: Option<u8>,
    /// Bytes of an operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Operations that each job kept in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u64>,
    /// Jobs or threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// Bytes that operations choose from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set_bytes: Option<u64>,
    /// Whether I/O went around the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_direct: Option<bool>,
    /// What made the jobs slower than the storage, in the program's own words, as `rate_iops=100`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<String>,
    /// How I/O reached the kernel, in the program's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ns: Option<u64>,
    /// Operations that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Direction>,
    /// Writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Direction>,
    /// Both together, where they are told together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<Direction>,
    /// Syncs, as `fdatasync` after a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Direction>,
}

/// What one direction did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Direction {
    /// Bytes transferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Operations per second: as told, or else from what was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Mean latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_ns: Option<f64>,
    /// Standard deviation of latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_stddev_ns: Option<f64>,
    /// Percentiles in their order; 0 is the shortest latency and 100 the longest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<Percentile>,
    /// Each thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<Self>,
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Percentile {
    /// How many of a hundred operations take at most so long.
    pub percent: f64,
    /// How long.
    pub latency_ns: f64,
}

/// How long a command took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Duration {
    /// By the clock.
    pub elapsed_ns: u64,
    /// Processor time of its programs.
    pub user_ns: u64,
    /// Processor time of the kernel for it.
    pub system_ns: u64,
}

/// How fast files were written and read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// The command that it stands behind.
    pub command: String,
    /// The figure, or the lower end of a range.
    pub low: f64,
    /// The upper end of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Its unit, as written.
    pub unit: String,
    /// The figure in operations per second, bytes per second or nanoseconds.
    pub value: FigureValue,
    /// What somebody expected, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// What stands behind the figure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remark: String,
}

/// A figure in one unit of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureValue {
    /// Operations per second.
    Iops(f64),
    /// Bytes per second.
    BytesPerSecond(f64),
    /// Nanoseconds of an operation.
    LatencyNs(f64),
    /// A range, which is no value.
    Range,
}

impl Told {
    /// The numbers of one kind of operation.
    pub fn figures(&self, operation: Operation) -> Option<Figures<'_>> {
        match &self.measured {
            Measured::Transfers(transfers) => transfers.figures(operation),
            Measured::Durations(durations) if operation == Operation::All => Some(of_durations(durations)),
            Measured::Files(files) => files.figures(operation),
            Measured::Figure(figure) if operation == Operation::All => Some(figure.value.figures()),
            Measured::Durations(_) | Measured::Figure(_) => None,
        }
    }

    /// What is counted or timed as a whole, in a word.
    pub const fn whole(&self) -> &'static str {
        match self.measured {
            Measured::Transfers(_) | Measured::Figure(_) => "all",
            Measured::Durations(_) => "run",
            Measured::Files(_) => "write+read",
        }
    }

    /// How often each command took how long.
    pub fn durations(&self) -> &[Duration] {
        match &self.measured {
            Measured::Durations(durations) => durations,
            _ => &[],
        }
    }

    /// How many results the text has of it.
    pub const fn count(&self) -> usize {
        match &self.measured {
            Measured::Durations(durations) => durations.len(),
            _ => 1,
        }
    }

    /// Whether reads and writes are told by themselves, so that both together say nothing new.
    pub fn is_told_apart(&self) -> bool {
        self.transfers().is_some_and(|transfers| transfers.read.is_some() || transfers.write.is_some())
    }

    /// What is known of reads and writes.
    pub const fn transfers(&self) -> Option<&Transfers> {
        match &self.measured {
            Measured::Transfers(transfers) => Some(transfers),
            _ => None,
        }
    }
}

impl Transfers {
    fn figures(&self, operation: Operation) -> Option<Figures<'_>> {
        let direction = match operation {
            Operation::Read => self.read.as_ref(),
            Operation::Write => self.write.as_ref(),
            Operation::All => self.total.as_ref(),
            Operation::Sync => self.sync.as_ref(),
            Operation::Phase(_) => None,
        }?;
        Some(Figures {
            operations: direction.operations,
            bytes: direction.bytes,
            elapsed_ns: self.elapsed_ns,
            iops: direction.iops,
            bytes_per_second: direction.bytes_per_second,
            latency_ns: Cow::Owned(direction.latency()),
            measured: None,
        })
    }
}

/// How far a percentile that is told may be from one that has a name.
const SAME_PERCENT: f64 = 1e-6;
/// Why a percentile is null that nobody told.
const NOT_TOLD: &str = "not told";

impl Direction {
    /// The latencies in a few numbers. A percentile that so many operations cannot support is null with a reason, even
    /// if it was told.
    fn latency(&self) -> LatencySummary {
        let at = |percent: f64| {
            let is_it = |percentile: &&Percentile| (percentile.percent - percent).abs() < SAME_PERCENT;
            let found = self.percentiles.iter().find(is_it)?;
            Some(found.latency_ns.round() as u64)
        };
        let mut unsupported = BTreeMap::new();
        let [p50, p90, p95, p99, p99_9, p99_99] = PERCENTILES.map(|(name, quantile)| {
            let (told, needed) = (at(quantile * 100.0), operations_needed(quantile));
            let reason = match (told, self.operations) {
                (None, _) => NOT_TOLD.to_owned(),
                (Some(_), Some(have)) if have < needed => format!("needs {needed} operations, had {have}"),
                (Some(_), _) => return told,
            };
            unsupported.insert(name.to_owned(), reason);
            None
        });
        LatencySummary {
            min: at(0.0),
            mean: self.latency_mean_ns,
            stddev: self.latency_stddev_ns,
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max: at(100.0),
            unsupported,
        }
    }

    /// The lowest percentile that is told but not supported by so many operations.
    pub fn first_unsupported(&self) -> Option<Percentile> {
        let have = self.operations?;
        let is_beyond = |percentile: &&Percentile| {
            percentile.percent > 0.0
                && percentile.percent < 100.0
                && have < operations_needed(percentile.percent / 100.0)
        };
        self.percentiles.iter().find(is_beyond).copied()
    }
}

/// Runs of a command as operations, whoever timed them: how long they took stands for latency.
pub(crate) fn of_durations(durations: &[Duration]) -> Figures<'static> {
    let elapsed = || durations.iter().map(|duration| duration.elapsed_ns);
    let sum_ns = elapsed().fold(0, u64::saturating_add);
    let count = durations.len() as f64;
    let mean = sum_ns as f64 / count.max(1.0);
    let squares: f64 = elapsed().map(|ns| (ns as f64 - mean).powi(2)).sum();
    let unsupported = PERCENTILES.map(|(name, _)| (name.to_owned(), "runs are told one by one".to_owned()));
    Figures {
        operations: Some(durations.len() as u64),
        bytes: None,
        elapsed_ns: Some(sum_ns),
        iops: None,
        bytes_per_second: None,
        latency_ns: Cow::Owned(LatencySummary {
            min: elapsed().min(),
            mean: (!durations.is_empty()).then_some(mean),
            stddev: (durations.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            max: elapsed().max(),
            unsupported: unsupported.into(),
            ..LatencySummary::default()
        }),
        measured: None,
    }
}

impl Files {
    /// Files as operations.
    fn figures(&self, operation: Operation) -> Option<Figures<'_>> {
        let rate = match operation {
            Operation::Read => self.read_bytes_per_second,
            Operation::Write => self.write_bytes_per_second,
            Operation::All => self.write_read_bytes_per_second,
            Operation::Sync | Operation::Phase(_) => return None,
        };
        let operations = self.count.checked_mul(self.iterations);
        let bytes = operations.and_then(|operations| operations.checked_mul(self.size_bytes));
        let per_second = (self.size_bytes > 0).then(|| rate / self.size_bytes as f64).filter(|rate| *rate > 0.0);
        Some(Figures {
            operations,
            bytes,
            elapsed_ns: bytes.filter(|_| rate > 0.0).map(|bytes| (bytes as f64 / rate * 1e9) as u64),
            iops: per_second,
            bytes_per_second: Some(rate),
            latency_ns: Cow::Owned(LatencySummary {
                mean: per_second.map(|rate| 1e9 / rate),
                unsupported: PERCENTILES.map(|(name, _)| (name.to_owned(), NOT_TOLD.to_owned())).into(),
                ..LatencySummary::default()
            }),
            measured: None,
        })
    }
}

impl FigureValue {
    fn figures<'a>(self) -> Figures<'a> {
        let unsupported = PERCENTILES.map(|(name, _)| (name.to_owned(), NOT_TOLD.to_owned())).into();
        let none = LatencySummary { unsupported, ..LatencySummary::default() };
        let (mut iops, mut bytes_per_second, mut mean) = (None, None, None);
        match self {
            Self::Iops(value) => iops = Some(value),
            Self::BytesPerSecond(value) => bytes_per_second = Some(value),
            Self::LatencyNs(value) => mean = Some(value),
            Self::Range => {}
        }
        Figures {
            operations: None,
            bytes: None,
            elapsed_ns: None,
            iops,
            bytes_per_second,
            latency_ns: Cow::Owned(LatencySummary { mean, ..none }),
            measured: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_that_was_told_needs_its_operations_all_the_same() {
        let percentile = |percent, latency_ns| Percentile { percent, latency_ns };
        let direction = Direction {
            operations: Some(999),
            percentiles: vec![
                percentile(0.0, 1.0),
                percentile(50.0, 5.4),
                percentile(99.0, 9.0),
                percentile(100.0, 12.0),
            ],
            ..Direction::default()
        };
        let latency = direction.latency();
        assert_eq!((latency.min, latency.p50, latency.p99, latency.max), (Some(1), Some(5), None, Some(12)));
        assert_eq!(latency.unsupported["p99"], "needs 1000 operations, had 999");
        assert_eq!(latency.unsupported["p90"], NOT_TOLD);
        assert_eq!(direction.first_unsupported(), Some(percentile(99.0, 9.0)));
        let more = Direction { operations: Some(1000), ..direction.clone() };
        assert_eq!((more.latency().p99, more.first_unsupported()), (Some(9), None));
        // Who does not say how many there were cannot be doubted.
        assert_eq!(Direction { operations: None, ..direction }.latency().p99, Some(9));
    }

    #[test]
    fn both_directions_together_are_shown_only_where_they_are_not_told_apart() {
        let direction = |iops| Some(Direction { iops: Some(iops), ..Direction::default() });
        let mut transfers = Transfers { total: direction(3.0), ..Transfers::default() };
        assert_eq!(transfers.figures(Operation::All).and_then(|figures| figures.iops), Some(3.0));
        let told = |transfers: Transfers| Told {
            source: Source::DiskspdText,
            lines: (1, 1),
            measured: Measured::Transfers(Box::new(transfers)),
        };
        assert!(!told(transfers.clone()).is_told_apart());
        transfers.read = direction(2.0);
        assert_eq!(transfers.figures(Operation::Read).and_then(|figures| figures.iops), Some(2.0));
        assert!(told(transfers).is_told_apart());
    }

    #[test]
    fn files_and_runs_are_operations_that_take_their_time() {
        let files =
            Files { count: 100, size_bytes: 1000, iterations: 10, write_bytes_per_second: 5000.0, ..Files::default() };
        let write = files.figures(Operation::Write).unwrap();
        assert_eq!((write.operations, write.bytes, write.iops), (Some(1000), Some(1_000_000), Some(5.0)));
        assert_eq!((write.elapsed_ns, write.latency_ns.mean), (Some(200_000_000_000), Some(200e6)));
        let durations = [2, 4].map(|seconds| Duration { elapsed_ns: seconds * 1_000_000_000, ..Duration::default() });
        let told = Told { source: Source::ShellTime, lines: (1, 8), measured: Measured::Durations(durations.into()) };
        let run = told.figures(Operation::All).unwrap();
        assert_eq!(
            (run.operations, run.latency_ns.mean, run.latency_ns.max),
            (Some(2), Some(3e9), Some(4_000_000_000))
        );
        assert_eq!(told.figures(Operation::Read), None);
    }
}
