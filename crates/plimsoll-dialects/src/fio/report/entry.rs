//! What is reported as one job: a cell, or with `group_reporting` all cells of a group.

use std::borrow::Cow;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    record::{Cell, Record},
    results::DirectionResult,
    verification::VerificationResult,
};
use plimsoll_workload::plan::BlockPlan;

use super::{
    NotBegun, Reported,
    seconds::{self, Moments, Rate, Second},
};
use crate::fio::{
    error_numbers,
    job::Job,
    lowering::{CellOf, names::Counted},
    settings::UnifiedReporting,
};

/// One direction of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction<'a> {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    /// The longest measured time of its cells.
    pub(super) elapsed_ns: u64,
    /// Latencies, if there were any.
    pub(super) latencies: Option<Cow<'a, LatencyHistogram>>,
    /// KiB per second, second by second.
    pub(super) bandwidth: Moments,
    /// Operations per second, second by second.
    pub(super) rate: Moments,
}

impl<'a> Direction<'a> {
    fn add(&mut self, result: &'a DirectionResult, counted: Option<Counted>) {
        if result.operations == 0 && result.bytes == 0 && result.histogram.count() == 0 {
            return;
        }
        let (operations, bytes) = match counted {
            None => (result.operations, result.bytes),
            Some(counted) => {
                let blocks = counted.blocks(result.operations);
                (blocks, blocks.saturating_mul(counted.block_bytes))
            }
        };
        self.operations = self.operations.saturating_add(operations);
        self.bytes = self.bytes.saturating_add(bytes);
        self.elapsed_ns = self.elapsed_ns.max(result.elapsed_ns);
        self.add_latencies(&result.histogram);
    }

    /// Adds what was read to verify, which is read, as fio counts it.
    fn add_read_back(&mut self, verification: &'a VerificationResult, block_bytes: u32) {
        let blocks = verification.blocks_read_back;
        self.operations = self.operations.saturating_add(blocks);
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(block_bytes.into()));
        self.elapsed_ns = self.elapsed_ns.saturating_add(verification.read_back_ns);
        verification.read_back_histogram.iter().for_each(|histogram| self.add_latencies(histogram));
    }

    fn add_latencies(&mut self, histogram: &'a LatencyHistogram) {
        if histogram.count() > 0 {
            match &mut self.latencies {
                Some(sum) => sum.to_mut().merge(histogram),
                none => *none = Some(Cow::Borrowed(histogram)),
            }
        }
    }

    /// Both directions in one; its samples are left to whoever has the seconds.
    fn with(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.operations = sum.operations.saturating_add(other.operations);
        sum.bytes = sum.bytes.saturating_add(other.bytes);
        sum.elapsed_ns = sum.elapsed_ns.max(other.elapsed_ns);
        if let Some(latencies) = &other.latencies {
            match &mut sum.latencies {
                Some(sum) => sum.to_mut().merge(latencies),
                none => *none = Some(latencies.clone()),
            }
        }
        sum
    }

    fn sample(&mut self, seconds: &[Second], of: impl Fn(&Second) -> Rate) {
        let samples = seconds::samples(seconds).into_iter().map(of);
        let (bandwidth, rate): (Vec<u64>, Vec<u64>) =
            samples.map(|rate| ((rate.bytes / 1024.0) as u64, rate.operations as u64)).unzip();
        self.bandwidth = Moments::of(&bandwidth);
        self.rate = Moments::of(&rate);
    }

    /// Whether anything was done.
    pub(super) const fn is_empty(&self) -> bool {
        self.operations == 0 && self.bytes == 0
    }

    /// The measured time, at least a millisecond if anything was done.
    pub(super) fn runtime_ms(&self) -> u64 {
        if self.is_empty() { 0 } else { milliseconds(self.elapsed_ns).max(1) }
    }

    pub(super) fn bytes_per_second(&self) -> u64 {
        self.per_second(self.bytes) as u64
    }

    pub(super) fn operations_per_second(&self) -> f64 {
        self.per_second(self.operations)
    }

    fn per_second(&self, amount: u64) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { amount as f64 * 1e9 / self.elapsed_ns as f64 }
    }
}

pub(super) const fn milliseconds(ns: u64) -> u64 {
    ns.saturating_add(500_000) / 1_000_000
}

/// What went wrong first, and how often anything did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Failure {
    /// The number of the first error; 0 when there was none.
    pub(super) number: i32,
    pub(super) text: String,
    pub(super) total: u64,
    /// Whether any of it is what the job was not to go on after.
    pub(super) is_fatal: bool,
}

impl Failure {
    fn add(&mut self, number: i32, text: &str, count: u64) {
        self.is_fatal = true;
        self.add_survived(number, text, count);
    }

    /// Adds what the job went on after, as it was to.
    fn add_survived(&mut self, number: i32, text: &str, count: u64) {
        if self.number == 0 {
            (self.number, self.text) = (number, error_words(text).to_owned());
        }
        self.total = self.total.saturating_add(count);
    }
}

/// Processor time of plimsoll, shared out among cells that ran at the same time by how many threads each had.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    user_ns: f64,
    system_ns: f64,
    /// How long threads were there, ramps included.
    thread_ns: f64,
    switches: f64,
    faults: f64,
}

impl Processor {
    pub(super) fn user_percent(&self) -> f64 {
        self.percent(self.user_ns)
    }

    pub(super) fn system_percent(&self) -> f64 {
        self.percent(self.system_ns)
    }

    /// In a job of a millisecond what starts and ends its threads may take longer than they are there.
    fn percent(&self, part_ns: f64) -> f64 {
        let whole_ns = self.thread_ns.max(self.user_ns + self.system_ns);
        if whole_ns > 0.0 { part_ns / whole_ns * 100.0 } else { 0.0 }
    }

    pub(super) const fn switches(&self) -> u64 {
        self.switches as u64
    }

    pub(super) const fn major_faults(&self) -> u64 {
        self.faults as u64
    }
}

/// What is reported as one job.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The first job of the entry, whose name and options it has.
    pub(super) job: &'a Job,
    /// Jobs and clones.
    pub(super) members: u64,
    /// Its cells, by their place in the record.
    pub(super) cells: Vec<usize>,
    /// When the first of them began, since the start of the run.
    pub(super) begin_ns: u64,
    pub(super) read: Direction<'a>,
    pub(super) write: Direction<'a>,
    /// Reads and writes together, when that is asked for.
    pub(super) mixed: Option<Direction<'a>>,
    pub(super) sync: Direction<'a>,
    pub(super) seconds: Vec<Second>,
    /// How files are counted that are created, statted or deleted.
    counted: Option<Counted>,
    pub(super) failure: Failure,
    pub(super) processor: Processor,
    /// Time of all threads together.
    pub(super) runtime_ms: u64,
    /// The longest of the cells of the clone that was added last.
    clone: Longest,
    /// The queue depth of its first clone.
    pub(super) depth: Option<u32>,
    /// Operations by how many were in flight: 1, 2, 4, 8, 16, 32, 64 or more.
    pub(super) depths: [f64; 7],
    /// Operations by how many were awaited at once: 0, up to 4, 8, 16, 32, 64, more.
    pub(super) batches: [f64; 7],
}

/// Where a cell stands among those of its clone.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// How many there are: as many as the files of the clone have targets.
    targets: u32,
    is_first: bool,
}

/// How long cells took that ran side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Longest {
    /// With the ramp.
    span_ns: f64,
    elapsed_ns: u64,
}

/// The entries of a report, in the order of jobs.
pub(super) fn entries<'a>(reported: &Reported<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = Vec::new();
    let mut last_group = None;
    for (index, job) in reported.jobs.jobs.iter().enumerate().filter(|(_, job)| job.settings.report.has_statistics) {
        let mut last_clone = None;
        let cells = cells_of(reported, index);
        let clone_of = |cell: Option<usize>| cell.map(|cell| reported.cells[cell].clone);
        for &cell in &cells {
            // A clone whose files are on several targets has a cell on each.
            let clone = clone_of(cell);
            let continues = clone.is_some() && clone == last_clone;
            let joins = continues || job.settings.report.is_by_group && last_group == Some(job.group);
            // Here fio adds it to a job that is reported alone, and prints an empty entry behind that.
            last_group = job.settings.report.is_by_group.then_some(job.group);
            last_clone = clone;
            if !joins {
                entries.push(Entry::new(job));
            }
            let entry = entries.last_mut().expect("the first cell does not join an entry");
            match cell {
                Some(cell) => {
                    let targets = cells.iter().filter(|other| clone_of(**other) == clone).count() as u32;
                    entry.add(cell, job, reported.record, Part { targets, is_first: !continues });
                }
                None => entry.add_nothing(job, reported.failure.as_ref()),
            }
        }
    }
    entries.iter_mut().for_each(|entry| entry.finish(reported.record));
    entries
}

/// What jobs failed of, those included that are not reported, each once.
pub(super) fn failures(reported: &Reported<'_>) -> Vec<String> {
    let cells = reported.record.cells.iter().zip(reported.cells);
    let jobs = cells.filter_map(|(cell, of)| Some((cell, reported.jobs.jobs.get(of.job)?)));
    let of_cells = jobs.map(|(cell, job)| {
        let mut entry = Entry::new(job);
        entry.add_failures(cell, job);
        entry
    });
    let mut told: Vec<String> = Vec::new();
    for entry in of_cells.chain(entries(reported)).filter(|entry| entry.failure.is_fatal) {
        let text = format!("{}: {}", entry.job.name, entry.failure.text);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// The cells of a job by their clones; one that is none when nothing was planned for it.
fn cells_of(reported: &Reported<'_>, job: usize) -> Vec<Option<usize>> {
    let cells = reported.cells.iter().take(reported.record.cells.len()).enumerate();
    let mut cells: Vec<(u32, usize)> =
        cells.filter(|(_, of)| of.job == job).map(|(index, CellOf { clone, .. })| (*clone, index)).collect();
    cells.sort_unstable();
    if cells.is_empty() { vec![None] } else { cells.into_iter().map(|(_, index)| Some(index)).collect() }
}

impl<'a> Entry<'a> {
    fn new(job: &'a Job) -> Self {
        Self {
            job,
            members: 0,
            cells: Vec::new(),
            begin_ns: u64::MAX,
            read: Direction::default(),
            write: Direction::default(),
            mixed: None,
            sync: Direction::default(),
            seconds: Vec::new(),
            counted: None,
            failure: Failure::default(),
            processor: Processor::default(),
            runtime_ms: 0,
            clone: Longest::default(),
            depth: None,
            depths: [0.0; 7],
            batches: [0.0; 7],
        }
    }

    fn add_nothing(&mut self, job: &Job, failure: Option<&NotBegun>) {
        self.members += u64::from(job.settings.course.clones);
        match failure {
            Some(NotBegun { error_number, reason }) => self.failure.add(*error_number, reason, 0),
            None if job.settings.files.is_creation_only => {}
            None => self.failure.add(error_numbers::ECANCELED, "not run", 0),
        }
    }

    fn add(&mut self, index: usize, job: &Job, record: &'a Record, part: Part) {
        let cell = &record.cells[index];
        let Some(plan) = cell.blocks() else { return };
        let counted = Counted::of(job, plan);
        self.counted = self.counted.or(counted);
        self.cells.push(index);
        if part.is_first {
            self.members += u64::from(plan.jobs);
            self.clone = Longest::default();
        }
        self.begin_ns = self.begin_ns.min(begin_ns(cell));
        for (sum, result) in
            [(&mut self.read, &cell.read), (&mut self.write, &cell.write), (&mut self.sync, &cell.sync)]
        {
            if let Some(result) = result {
                sum.add(result, counted);
            }
        }
        if let Some(verification) = &cell.verification {
            self.read.add_read_back(verification, plan.block_size_bytes_max);
        }
        self.add_failures(cell, job);
        self.add_limits(cell, plan, job);
        self.add_cost(cell, plan, record);
        let operations = [&cell.read, &cell.write].into_iter().flatten();
        let operations = operations.map(|result| result.operations as f64).sum::<f64>();
        self.depth = self.depth.or(Some(plan.queue_depth.saturating_mul(part.targets)));
        self.depths[depth_class(in_flight(cell, plan, operations).saturating_mul(part.targets))] += operations;
        self.batches[batch_class(plan.batch)] += operations;
    }

    fn add_failures(&mut self, cell: &Cell, job: &Job) {
        let add = |goes_on: bool| if goes_on { Failure::add_survived } else { Failure::add };
        let keep_going = cell.blocks().is_some_and(|plan| plan.keep_going);
        for error in &cell.error_kinds {
            let number = error_number(&error.error);
            add(keep_going)(&mut self.failure, number, &error.error, error.count);
        }
        if let Some(wrong) = cell.verification.as_ref().filter(|verification| verification.mismatches > 0) {
            let (add, text) = (add(job.settings.course.continues_on.verify), "blocks are not what was written");
            add(&mut self.failure, error_numbers::EILSEQ, text, wrong.mismatches);
        }
        if let Some(reason) = cell.why_not_run() {
            self.failure.add(error_numbers::ECANCELED, reason, 0);
        }
    }

    /// Limits of the job, which are judged when it is over.
    fn add_limits(&mut self, cell: &Cell, plan: &BlockPlan, job: &Job) {
        let rate = &job.settings.rate;
        if let Some(target) = rate.latency_target.filter(|_| plan.queue_depth == 1) {
            let results = || [&cell.read, &cell.write].into_iter().flatten();
            let all: u64 = results().map(|result| result.histogram.count()).sum();
            let late: u64 = results().map(|result| result.histogram.count_above(target.ns)).sum();
            if ((all - late) as f64) * 100.0 < rate.latency_percentile * all as f64 {
                self.failure.add(error_numbers::ETIMEDOUT, "latency_target: not met at depth 1 either", 0);
            }
        }
        let directions = [
            (&cell.read, rate.latency_max.read, rate.bytes_min.read, rate.operations_min.read),
            (&cell.write, rate.latency_max.write, rate.bytes_min.write, rate.operations_min.write),
        ];
        for (index, (result, latency_max, bytes_min, operations_min)) in directions.into_iter().enumerate() {
            let Some(result) = result else { continue };
            if let (Some(limit), Some(longest)) = (latency_max, result.latency_ns.max)
                && longest > limit.ns
            {
                self.failure.add(error_numbers::ETIMEDOUT, "max_latency: an operation took longer", 0);
            }
            let seconds = seconds::of_cells(&[cell]);
            let whole = seconds.iter().filter(|second| second.is_whole());
            let mut rates = whole.map(|second| if index == 0 { second.read } else { second.write });
            let clones = f64::from(plan.jobs);
            let is_slow = |rate: Rate| {
                bytes_min.is_some_and(|least| rate.bytes < least as f64 * clones)
                    || operations_min.is_some_and(|least| rate.operations < least as f64 * clones)
            };
            if rates.any(is_slow) {
                self.failure.add(error_numbers::EIO, "rate_min: a second had less", 0);
            }
        }
    }

    fn add_cost(&mut self, cell: &Cell, plan: &BlockPlan, record: &Record) {
        let jobs = f64::from(plan.jobs);
        let beside = record.cells.iter().filter(|other| cell.phase.is_some() && other.phase == cell.phase);
        let beside = beside.filter_map(|other| other.blocks());
        let share = jobs / beside.map(|other| f64::from(other.jobs)).sum::<f64>().max(jobs).max(1.0);
        let slots = cell.slots.iter().filter(|slot| slot.counted);
        let read_back_ns = cell.verification.as_ref().map_or(0, |verification| verification.read_back_ns);
        let span_ns = slots.map(|slot| slot.ramp_ns as f64 + slot.elapsed_ns as f64).sum::<f64>() + read_back_ns as f64;
        let cost = &mut self.processor;
        cost.user_ns += cell.cpu.user_ns as f64 * share;
        cost.system_ns += cell.cpu.system_ns as f64 * share;
        // On all its targets a clone is one thread.
        cost.thread_ns += (span_ns - self.clone.span_ns).max(0.0) * jobs;
        self.clone.span_ns = self.clone.span_ns.max(span_ns);
        if let Some(client) = &cell.client {
            cost.switches += (client.voluntary_switches as f64 + client.involuntary_switches as f64) * share;
            cost.faults += client.major_faults as f64 * share;
        }
        let directions = [&cell.read, &cell.write, &cell.sync].into_iter().flatten();
        let elapsed_ns = directions.map(|result| result.elapsed_ns).max().unwrap_or(0);
        let elapsed_ns = elapsed_ns.saturating_add(read_back_ns);
        let longer_ns = elapsed_ns.saturating_sub(self.clone.elapsed_ns);
        self.clone.elapsed_ns += longer_ns;
        let runtime_ms = milliseconds(longer_ns).saturating_mul(plan.jobs.into());
        self.runtime_ms = self.runtime_ms.saturating_add(runtime_ms);
    }

    fn finish(&mut self, record: &Record) {
        let cells: Vec<&Cell> = self.cells.iter().map(|index| &record.cells[*index]).collect();
        self.seconds = seconds::of_cells(&cells);
        seconds::count(&mut self.seconds, self.counted);
        if cells.is_empty() {
            self.begin_ns = 0;
        }
        // What is only read to verify has no samples, in fio neither.
        if !self.read.is_empty() && cells.iter().any(|cell| cell.read.is_some()) {
            self.read.sample(&self.seconds, |second| second.read);
        }
        if !self.write.is_empty() {
            self.write.sample(&self.seconds, |second| second.write);
        }
        if self.job.settings.report.unified != UnifiedReporting::None {
            let mut mixed = self.read.with(&self.write);
            if !mixed.is_empty() {
                mixed.sample(&self.seconds, |second| second.read.plus(second.write));
            }
            self.mixed = Some(mixed);
        }
    }

    /// Reads, writes and trims, or with `unified_rw_reporting=mixed` all of them as one; each with its name.
    pub(super) fn directions(&self) -> Vec<(&'static str, Cow<'_, Direction<'a>>)> {
        match &self.mixed {
            Some(mixed) if self.job.settings.report.unified == UnifiedReporting::Mixed => {
                vec![("mixed", Cow::Borrowed(mixed))]
            }
            _ => vec![
                ("read", Cow::Borrowed(&self.read)),
                ("write", Cow::Borrowed(&self.write)),
                ("trim", Cow::Owned(Direction::default())),
            ],
        }
    }

    /// Reads and writes together beside each, if that is asked for.
    pub(super) fn both(&self) -> Option<&Direction<'a>> {
        self.mixed.as_ref().filter(|_| self.job.settings.report.unified == UnifiedReporting::Both)
    }

    /// Whether nothing was done at all.
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }
}

/// When a cell's load began, since the start of the run.
pub(super) fn begin_ns(cell: &Cell) -> u64 {
    let slots = cell.slots.iter().map(|slot| slot.from_ns.saturating_sub(slot.ramp_ns));
    slots.chain(cell.series.iter().map(|interval| interval.t_ns)).min().unwrap_or(0)
}

/// How many operations of a job there usually were in flight: as many as there can be, unless they came at a rate.
/// Then it is how long they took of the time between them (Little's law).
fn in_flight(cell: &Cell, plan: &BlockPlan, operations: f64) -> u32 {
    if plan.think_time_ns > 0 {
        return plan.queue_depth.min(plan.think_time_operations);
    }
    let service_ns = cell.open_loop.as_ref().and_then(|open_loop| open_loop.service_p50_ns);
    let elapsed_ns = [&cell.read, &cell.write].into_iter().flatten().map(|result| result.elapsed_ns).max();
    match service_ns.zip(elapsed_ns.filter(|elapsed_ns| *elapsed_ns > 0)) {
        Some((service_ns, elapsed_ns)) => {
            let each = operations / f64::from(plan.jobs.max(1));
            ((each * service_ns as f64 / elapsed_ns as f64).ceil() as u32).clamp(1, plan.queue_depth)
        }
        None => plan.queue_depth,
    }
}

const fn depth_class(depth: u32) -> usize {
    match depth {
        0 | 1 => 0,
        64.. => 6,
        depth => depth.ilog2() as usize,
    }
}

const fn batch_class(batch: u32) -> usize {
    match batch {
        0..=4 => 1,
        5..=8 => 2,
        9..=16 => 3,
        17..=32 => 4,
        33..=64 => 5,
        _ => 6,
    }
}

/// The number of an error as a record has it: `Input/output error (os error 5)` or `EIO (Input/output error)`.
/// Everything else that failed is an I/O error.
fn error_number(text: &str) -> i32 {
    let by_number = text.rsplit_once("(os error ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    let by_name = || error_numbers::of(text.split(' ').next().unwrap_or_default());
    by_number.filter(|number| *number != 0).or_else(by_name).unwrap_or(error_numbers::EIO)
}

/// The sentence of an error without its number, which stands beside it.
fn error_words(text: &str) -> &str {
    let named = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
    match named.filter(|(name, _)| error_numbers::of(name).is_some()) {
        Some((_, words)) => words,
        None => text.split(" (os error ").next().unwrap_or(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_as_fio_tells_them() {
        for text in ["No space left on device (os error 28)", "ENOSPC (No space left on device)"] {
            assert_eq!(error_words(text), "No space left on device");
        }
        assert_eq!(error_words("short transfer: 512 of 4096 bytes"), "short transfer: 512 of 4096 bytes");
    }

    #[test]
    fn errors_have_the_numbers_of_the_kernel() {
        for (text, number) in [
            ("No space left on device (os error 28)", 28),
            ("ENOSPC (No space left on device)", 28),
            ("short transfer: 512 of 4096 bytes", 5),
            ("Success (os error 0)", 5),
            ("", 5),
        ] {
            assert_eq!(error_number(text), number, "{text}");
        }
    }

    #[test]
    fn depths_and_batches_are_in_the_classes_of_fio() {
        assert_eq!([1, 2, 3, 4, 16, 31, 32, 63, 64, 4000].map(depth_class), [0, 1, 1, 2, 4, 4, 5, 5, 6, 6]);
        assert_eq!([1, 4, 5, 16, 17, 64, 65].map(batch_class), [1, 1, 2, 3, 4, 5, 6]);
    }
}
