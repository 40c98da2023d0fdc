//! Runs that never happened: records with chosen numbers for jobs that are translated as always.

use std::{fs, path::Path};

use jiff::{Zoned, civil::date, tz::TimeZone};
use plimsoll_dialects::fio::{
    Jobs, Surroundings, job::Job, lowering::CellOf, report::Reported, translate_command_line,
};
use plimsoll_measure::{latency::LatencyHistogram, verdict::Verdict};
use plimsoll_record::{
    event::SlotPurpose,
    judgement::RateEstimate,
    record::{Cell, Record, Window},
    results::{CpuCost, DeviceActivity, DirectionResult, Interval, SlotSummary},
    upgrade,
};
use plimsoll_workload::{plan::Work, settings::ReadWrite};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;
/// Measured seconds of each cell.
pub(crate) const SECONDS: u64 = 4;
pub(crate) const BLOCK_BYTES: u64 = 4096;

/// Says what a test could not have, and fails it where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
#[expect(clippy::print_stderr, reason = "what was skipped is told to whoever runs the tests")]
pub(crate) fn skipped(missing: &str) {
    eprintln!("skipped: {missing}");
    assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: {missing}");
}

pub(crate) fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

/// The jobs of a command line.
pub(crate) fn jobs(arguments: &[&str]) -> Jobs {
    let mut read_file = |name: &str| fs::read(name).map(Some).map_err(|error| error.to_string());
    let mut surroundings = Surroundings {
        environment: &|_| None,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 2,
        read_file: &mut read_file,
    };
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    translate_command_line(&arguments, &mut surroundings).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) jobs: Jobs,
    pub(crate) record: Record,
    pub(crate) cells: Vec<CellOf>,
    pub(crate) notes: Vec<String>,
    pub(crate) ended: Zoned,
    pub(crate) idle_percents: Vec<f64>,
}

impl Run {
    /// A record of the jobs that went well: their groups one after the other, each four and a half seconds long.
    pub(crate) fn of(arguments: &[&str]) -> Self {
        let jobs = jobs(arguments);
        let golden = fs::read_to_string(fixture("records/plimsoll-1.json")).unwrap();
        let mut record = upgrade::read(&golden).unwrap();
        let pattern = record.cells.remove(0);
        (record.cells, record.warnings) = (Vec::new(), Vec::new());
        record.outcome = plimsoll_record::record::Outcome::Complete;
        let mut cells = Vec::new();
        for (index, job) in jobs.jobs.iter().enumerate() {
            let course = &job.settings.course;
            let is_together = job.settings.report.is_by_group;
            for clone in 0..if is_together { 1 } else { course.clones } {
                cells.push(CellOf { job: index, clone });
                let threads = if is_together { course.clones } else { 1 };
                record.cells.push(cell(&pattern, job, threads));
            }
        }
        record.elapsed_ns = record.cells.iter().map(|cell| cell.slots[0].from_ns).max().unwrap_or(0) + 5 * SECOND_NS;
        let ended = date(2025, 10, 8).at(9, 30, 9, 250_000_000).to_zoned(TimeZone::UTC).unwrap();
        Self { jobs, record, cells, notes: Vec::new(), ended, idle_percents: Vec::new() }
    }

    pub(crate) fn reported(&self) -> Reported<'_> {
        Reported {
            jobs: &self.jobs,
            record: &self.record,
            cells: &self.cells,
            notes: &self.notes,
            ended: self.ended.clone(),
            version: "plimsoll-0.1.0",
            process: 4711,
            is_kept: true,
            failure: None,
            rest: None,
            idle_percents: &self.idle_percents,
        }
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.reported().json(false)).unwrap()
    }
}

/// Latencies of which nine of ten take 800 us.
pub(crate) fn latencies(operations: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::fine();
    histogram.record_many(800_000, operations - operations / 10);
    histogram.record_many(2_500_000, operations / 10 - operations / 100);
    histogram.record_many(60_000_000, operations / 100);
    histogram
}

/// Operations in each second of a cell: 1,000 for each thread, of which every fourth second has a tenth less.
fn in_second(second: u64, threads: u32, percent: u8) -> u64 {
    let operations = u64::from(threads) * if second % 4 == 3 { 900 } else { 1000 };
    operations * u64::from(percent) / 100
}

fn cell(pattern: &Cell, job: &Job, threads: u32) -> Cell {
    let direction = job.settings.pattern.direction;
    let (rw, read_percent) = match (direction.reads, direction.writes) {
        (true, true) => (ReadWrite::RandRw, job.settings.pattern.read_percent),
        (false, true) => (ReadWrite::RandWrite, 0),
        _ => (ReadWrite::RandRead, 100),
    };
    let from_ns = SECOND_NS + u64::from(job.group) * 5 * SECOND_NS;
    let elapsed_ns = SECONDS * SECOND_NS + 500 * MILLISECOND_NS;
    let mut cell = Cell {
        workload: job.name.clone(),
        phase: Some(job.group),
        rounds_done: 1,
        foreign: None,
        client: None,
        cache: None,
        errors: 0,
        error_kinds: Vec::new(),
        verdict: Some(Verdict::Steady),
        window: Some(Window { from_ns, to_ns: from_ns + elapsed_ns }),
        estimate: Some(RateEstimate { iops: 970.0, iops_low: Some(950.0), iops_high: Some(990.0) }),
        findings: Vec::new(),
        sync: None,
        ..pattern.clone()
    };
    let plan = cell.plan.as_mut().and_then(Work::blocks_mut).unwrap();
    (plan.rw, plan.read_percent, plan.jobs) = (rw, read_percent, threads);
    (plan.queue_depth, plan.batch) = (job.settings.submission.depth, 1);
    cell.slots = vec![SlotSummary {
        round: 0,
        purpose: SlotPurpose::Measured,
        counted: true,
        ramp_ns: 0,
        from_ns,
        elapsed_ns,
        read: None,
        write: None,
        sync: None,
    }];
    cell.series = (0..=SECONDS).map(|second| interval(second, from_ns, threads, read_percent)).collect();
    let sum = |of: fn(&Interval) -> u64| cell.series.iter().map(of).sum::<u64>();
    let (reads, writes) = (sum(|second| second.read_operations), sum(|second| second.write_operations));
    let result = |operations: u64| {
        let bytes = operations * BLOCK_BYTES;
        (operations > 0).then(|| DirectionResult::new(operations, bytes, elapsed_ns, latencies(operations)))
    };
    (cell.read, cell.write) = (result(reads), result(writes));
    if let Some(every) = job.settings.submission.fsync_every.or(job.settings.submission.fdatasync_every) {
        let syncs = writes / u64::from(every);
        cell.sync = Some(DirectionResult::new(syncs, 0, elapsed_ns, latencies(syncs)));
    }
    cell.cpu = CpuCost { user_ns: 90 * MILLISECOND_NS, system_ns: 450 * MILLISECOND_NS, ..CpuCost::default() };
    cell.device = Some(DeviceActivity {
        name: "sdc".to_owned(),
        read_operations: reads,
        read_bytes: reads * BLOCK_BYTES,
        write_operations: writes,
        write_bytes: writes * BLOCK_BYTES,
        flush_operations: 0,
        busy_ns: elapsed_ns / 2,
        queue_ns: elapsed_ns * 4,
        read_merges: reads / 100,
        write_merges: writes / 50,
        read_queue_ns: elapsed_ns * 3,
        write_queue_ns: elapsed_ns,
        members: Vec::new(),
    });
    cell
}

/// A second; the last one is half a second.
fn interval(second: u64, from_ns: u64, threads: u32, read_percent: u8) -> Interval {
    let is_whole = second < SECONDS;
    let divisor = if is_whole { 1 } else { 2 };
    let reads = in_second(second, threads, read_percent) / divisor;
    let writes = in_second(second, threads, 100 - read_percent) / divisor;
    Interval {
        t_ns: from_ns + second * SECOND_NS,
        length_ns: SECOND_NS / divisor,
        round: 0,
        measured: true,
        read_operations: reads,
        read_bytes: reads * BLOCK_BYTES,
        write_operations: writes,
        write_bytes: writes * BLOCK_BYTES,
        p50_ns: Some(800_000),
        // The mean of `latencies`.
        read_mean_ns: (reads > 0).then_some(1_545_000),
        write_mean_ns: (writes > 0).then_some(1_545_000),
        max_ns: Some(60_000_000),
        ..Interval::default()
    }
}
