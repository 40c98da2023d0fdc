//! What became of a profile, in diskspd's own words: a text for people and the programs that read it, and XML.
//!
//! Both tell the same [`Span`]s: what each thread did to each target, put together once from a record.

mod text;
mod xml;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    client::ProcessorActivity,
    record::{Cell, Record},
    results::{DirectionResult, Interval, JobDirection},
};

use super::{
    lowering::CellOf,
    profile::{Profile, ResultFormat, Target, TimeSpan},
};

/// What is reported.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    /// What was asked.
    pub profile: &'a Profile,
    /// In these words.
    pub command_line: &'a str,
    /// What happened.
    pub record: &'a Record,
    /// Where each cell of it is from.
    pub cells: &'a [CellOf],
    /// What is not as diskspd does it.
    pub notes: &'a [String],
    /// Whether the record is in a history.
    pub is_kept: bool,
}

impl Reported<'_> {
    /// The report in the format that was asked for.
    pub fn text(&self) -> String {
        match self.profile.format {
            ResultFormat::Text => text::report(self),
            ResultFormat::Xml => xml::report(self),
        }
    }

    /// The results of each time span.
    fn spans(&self) -> Vec<Span<'_>> {
        let with_index = self.profile.spans.iter().enumerate();
        with_index.map(|(index, span)| Span::of(self, index, span)).collect()
    }
}

/// The input parameters of a profile as the text report tells them.
pub fn profile_text(profile: &Profile, command_line: &str) -> String {
    text::profile(profile, command_line)
}

/// Directions that a section of the report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Total,
    Read,
    Write,
}

impl Section {
    const ALL: [Self; 3] = [Self::Total, Self::Read, Self::Write];

    const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }

    const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// What happened in a time span.
struct Span<'a> {
    asked: &'a TimeSpan,
    /// Measured time; 0 when nothing was measured.
    elapsed_ns: u64,
    threads: u32,
    targets: Vec<TargetResult<'a>>,
    processors: Vec<ProcessorShare>,
}

/// What happened to a target.
struct TargetResult<'a> {
    asked: &'a Target,
    cell: &'a Cell,
    /// Bytes of the file or device.
    size_bytes: u64,
    /// Each thread; one of them where a thread has what several would.
    threads: Vec<ThreadResult>,
}

/// What a thread did to a target.
#[derive(Clone, Debug, Default)]
struct ThreadResult {
    read: JobDirection,
    write: JobDirection,
}

/// What a processor did, in hundredths.
struct ProcessorShare {
    number: u32,
    busy: f64,
    user: f64,
}

impl<'a> Span<'a> {
    fn of(reported: &Reported<'a>, index: usize, asked: &'a TimeSpan) -> Self {
        let cells = reported.cells.iter().zip(&reported.record.cells).filter(|(of, _)| of.span == index);
        let mut cells: Vec<(&CellOf, &Cell)> = cells.collect();
        cells.sort_by_key(|(of, _)| of.target);
        let targets = cells
            .into_iter()
            .filter_map(|(of, cell)| TargetResult::of(asked.targets.get(of.target)?, cell, of.size_bytes));
        let targets: Vec<_> = targets.collect();
        let elapsed_ns = targets.iter().map(TargetResult::elapsed_ns).max().unwrap_or(0);
        let threads = if asked.threads > 0 {
            asked.threads
        } else {
            targets.iter().map(|target| target.threads.len() as u32).sum()
        };
        let client = targets.iter().find_map(|target| target.cell.client.as_ref());
        let share = |processor: &ProcessorActivity, span_ns: u64| {
            let share = |ns: u64| ns as f64 * 100.0 / span_ns.max(1) as f64;
            ProcessorShare { number: processor.number, busy: share(processor.busy_ns), user: share(processor.user_ns) }
        };
        let processors =
            client.map(|client| client.processors.iter().map(|processor| share(processor, client.span_ns)).collect());
        Self { asked, elapsed_ns, threads, targets, processors: processors.unwrap_or_default() }
    }

    fn seconds(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// Each thread of each target, in diskspd's order.
    fn rows(&self) -> Vec<(usize, &TargetResult<'a>, &ThreadResult)> {
        if self.asked.threads > 0 {
            // Each thread works on all targets.
            let threads = self.targets.iter().map(|target| target.threads.len()).max().unwrap_or(0);
            let of_thread = |thread: usize| {
                self.targets.iter().filter_map(move |target| Some((thread, target, target.threads.get(thread)?)))
            };
            return (0..threads).flat_map(of_thread).collect();
        }
        let rows = self.targets.iter().flat_map(|target| target.threads.iter().map(move |thread| (target, thread)));
        rows.enumerate().map(|(index, (target, thread))| (index, target, thread)).collect()
    }

    /// The latencies of all targets.
    fn latencies(&self, section: Section) -> Option<LatencyHistogram> {
        let all = self.targets.iter().filter_map(|target| target.latencies(section));
        all.reduce(|mut sum, other| {
            sum.merge(&other);
            sum
        })
    }

    /// How much the operations of a second deviate from one to the next, for all targets.
    fn iops_deviation(&self, section: Section) -> Option<f64> {
        deviation(&sums(&self.targets, section, self.asked))
    }

    /// How busy a processor was on average, with anything and with programs, in hundredths.
    fn processors_mean(&self) -> (f64, f64) {
        let count = self.processors.len().max(1) as f64;
        let mean = |of: fn(&ProcessorShare) -> f64| self.processors.iter().map(of).sum::<f64>() / count;
        (mean(|processor| processor.busy), mean(|processor| processor.user))
    }
}

impl<'a> TargetResult<'a> {
    fn of(asked: &'a Target, cell: &'a Cell, size_bytes: u64) -> Option<Self> {
        let direction = |result: &Option<DirectionResult>| {
            let of = |result: &DirectionResult| JobDirection::of(result.operations, result.bytes, &result.histogram);
            result.as_ref().map(of).unwrap_or_default()
        };
        let threads = if cell.job_results.is_empty() {
            vec![ThreadResult { read: direction(&cell.read), write: direction(&cell.write) }]
        } else {
            let thread = |job: &plimsoll_record::results::JobResult| ThreadResult {
                read: job.read.clone().unwrap_or_default(),
                write: job.write.clone().unwrap_or_default(),
            };
            cell.job_results.iter().map(thread).collect()
        };
        (cell.read.is_some() || cell.write.is_some()).then_some(Self { asked, cell, size_bytes, threads })
    }

    fn elapsed_ns(&self) -> u64 {
        [&self.cell.read, &self.cell.write].into_iter().flatten().map(|result| result.elapsed_ns).max().unwrap_or(0)
    }

    fn latencies(&self, section: Section) -> Option<LatencyHistogram> {
        let read = self.cell.read.as_ref().filter(|_| section.reads());
        let write = self.cell.write.as_ref().filter(|_| section.writes());
        let all = [read, write].into_iter().flatten().map(|result| result.histogram.clone());
        let sum = all.reduce(|mut sum, other| {
            sum.merge(&other);
            sum
        });
        sum.filter(|sum| sum.count() > 0)
    }

    /// Operations a second in each whole bucket of the measured time.
    fn buckets(&self, section: Section, span: &TimeSpan) -> Vec<f64> {
        let seconds = bucket_seconds(span) as usize;
        let count = |second: &&Interval| {
            let reads = if section.reads() { second.read_operations } else { 0 };
            let writes = if section.writes() { second.write_operations } else { 0 };
            (reads + writes) as f64
        };
        let is_whole = |second: &&Interval| second.measured && second.length_ns >= 999_000_000;
        let counts: Vec<f64> = self.cell.series.iter().filter(is_whole).map(|second| count(&second)).collect();
        counts.chunks_exact(seconds).map(|bucket| bucket.iter().sum::<f64>() / seconds as f64).collect()
    }

    fn iops_deviation(&self, section: Section, span: &TimeSpan) -> Option<f64> {
        deviation(&self.buckets(section, span))
    }
}

/// The length of a bucket of `-D`. A record has whole seconds, so shorter ones are those.
fn bucket_seconds(span: &TimeSpan) -> u32 {
    span.bucket_ms.div_ceil(1000).max(1)
}

/// Operations a second of all these targets in each bucket that all of them have.
fn sums(targets: &[TargetResult<'_>], section: Section, span: &TimeSpan) -> Vec<f64> {
    let counts: Vec<Vec<f64>> = targets.iter().map(|target| target.buckets(section, span)).collect();
    let length = counts.iter().map(Vec::len).min().unwrap_or(0);
    (0..length).map(|at| counts.iter().map(|of| of[at]).sum()).collect()
}

impl ThreadResult {
    fn of(&self, section: Section) -> JobDirection {
        match section {
            Section::Read => self.read.clone(),
            Section::Write => self.write.clone(),
            Section::Total => {
                let mut sum = self.read.clone();
                sum.add(&self.write);
                sum
            }
        }
    }
}

/// The standard deviation of these alone, and not of what they are a sample of, as diskspd has it.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (!values.is_empty()).then(|| (squares / count).sqrt())
}

/// The same of operations that were timed.
fn latency_deviation_ns(of: &JobDirection) -> f64 {
    let timed = of.timed as f64;
    if of.timed > 1 { of.latency_stddev_ns * ((timed - 1.0) / timed).sqrt() } else { 0.0 }
}

/// Nanoseconds as milliseconds.
fn milliseconds(ns: f64) -> f64 {
    ns / 1e6
}

#[cfg(test)]
mod tests;
