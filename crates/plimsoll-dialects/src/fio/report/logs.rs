//! The log files of `write_bw_log` and its kin, from the seconds of the record.
//!
//! An entry is about a span, a second or what `log_avg_msec` says, and stands at its end. Seconds in which nothing
//! happened have entries too: they are what somebody looks for in a log.

use std::fmt::Write as _;

use plimsoll_record::record::Cell;
use plimsoll_workload::plan::BlockPlan;

use super::{
    Reported,
    entry::{begin_ns, milliseconds},
    latency::log_buckets,
    seconds::{self, Second},
};
use crate::fio::{job::Job, lowering::names::Counted, settings::LogName};

const SECOND_NS: u64 = 1_000_000_000;

/// A log file, to be written by whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its name, with the folder that the option had.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// All log files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFiles {
    /// In the order of jobs.
    pub files: Vec<LogFile>,
    /// What they hold less of than fio's would.
    pub notes: Vec<String>,
}

impl LogFiles {
    /// Without `per_job_logs`, those of several jobs are one file.
    fn put(&mut self, name: String, text: &str) {
        match self.files.iter_mut().find(|file| file.name == name) {
            Some(file) => file.text.push_str(text),
            None => self.files.push(LogFile { name, text: text.to_owned() }),
        }
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }
}

/// What a second adds to the mean of a span for a direction: a sum, and of how many it is. Rates are one for each
/// second; of one without operations there is no latency.
type Share = fn(&Second, usize) -> (f64, f64);

/// The logs that jobs ask for.
pub(super) fn logs(reported: &Reported<'_>) -> LogFiles {
    let mut logs = LogFiles::default();
    for (cell, of) in reported.record.cells.iter().zip(reported.cells) {
        let Some(job) = reported.jobs.jobs.get(of.job) else { continue };
        let before: u32 = reported.jobs.jobs[..of.job].iter().map(|job| job.settings.course.clones).sum();
        logs_of_cell(&mut logs, cell, job, before.saturating_add(of.clone).saturating_add(1), reported);
    }
    bandwidth_of_all(&mut logs, reported);
    logs
}

fn logs_of_cell(logs: &mut LogFiles, cell: &Cell, job: &Job, number: u32, reported: &Reported<'_>) {
    let report = &job.settings.report;
    let Some(plan) = cell.blocks() else { return };
    let series: [(&Option<LogName>, &str, bool, Share); 5] = [
        (&report.bandwidth_log, "bw", false, |second, direction| (rates(second)[direction].bytes / 1024.0, 1.0)),
        (&report.operations_log, "iops", false, |second, direction| (rates(second)[direction].operations, 1.0)),
        (&report.latency_log, "lat", report.is_without_total_latency, latencies),
        // Submission is not timed by itself. As in fio the file is there, and empty.
        (&report.latency_log, "slat", report.is_without_submission_latency, |_, _| (0.0, 0.0)),
        (&report.latency_log, "clat", report.is_without_completion_latency, latencies),
    ];
    for (name, kind, is_without, share) in series {
        let Some(name) = name.as_ref().filter(|_| !is_without) else { continue };
        logs.put(file_name(name, job, kind, number), &series_text(cell, plan, job, reported, share));
        if report.log_interval.is_none_or(|interval| interval.ns < SECOND_NS) {
            logs.note("log entries are about a second each: the record does not hold single operations");
        }
        if plan.jobs > 1 {
            logs.note("with group_reporting, the clones of a job have one log together");
        }
    }
    if let Some(name) = &report.histogram_log {
        logs.put(file_name(name, job, "clat_hist", number), &histograms_text(cell, job, reported));
    }
}

const fn rates(second: &Second) -> [seconds::Rate; 2] {
    [second.read, second.write]
}

const fn latencies(second: &Second, direction: usize) -> (f64, f64) {
    let latencies = [second.read_latencies, second.write_latencies][direction];
    (latencies.sum_ns, latencies.operations)
}

fn file_name(name: &LogName, job: &Job, kind: &str, number: u32) -> String {
    let prefix = match name {
        LogName::OfJob => &job.name,
        LogName::Given(name) => name,
    };
    if job.settings.report.has_log_per_job {
        format!("{prefix}_{kind}.{number}.log")
    } else {
        format!("{prefix}_{kind}.log")
    }
}

/// Lines of time, value, direction, and zeros for block size and priority, which a span does not have.
fn series_text(cell: &Cell, plan: &BlockPlan, job: &Job, reported: &Reported<'_>, share: Share) -> String {
    let (mut seconds, zero_ns) = (seconds::of_cells(&[cell]), begin_ns(cell));
    seconds::count(&mut seconds, Counted::of(job, plan));
    let per_entry = job.settings.report.log_interval.map_or(1, |interval| interval.ns.div_ceil(SECOND_NS).max(1));
    let per_entry = usize::try_from(per_entry).unwrap_or(usize::MAX);
    let mut text = String::new();
    for span in seconds.chunks(per_entry) {
        for (direction, is_done) in [plan.reads(), plan.writes()].into_iter().enumerate() {
            let shares = span.iter().map(|second| share(second, direction));
            let (sum, count) = shares.fold((0.0, 0.0), |total, share| (total.0 + share.0, total.1 + share.1));
            if is_done && count > 0.0 {
                let to_ns = span.last().map_or(0, |second| second.to_ns);
                let time = time_ms(to_ns, zero_ns, job, reported);
                writeln!(text, "{time}, {}, {direction}, 0, 0", (sum / count).round() as u64)
                    .expect("a string takes all");
            }
        }
    }
    text
}

/// Since the job's begin, or with `log_unix_epoch` the time of day.
fn time_ms(ns: u64, zero_ns: u64, job: &Job, reported: &Reported<'_>) -> i64 {
    if job.settings.report.is_log_time_of_day {
        reported.record.started.as_millisecond() + milliseconds(ns) as i64
    } else {
        milliseconds(ns.saturating_sub(zero_ns)) as i64
    }
}

fn histograms_text(cell: &Cell, job: &Job, reported: &Reported<'_>) -> String {
    let bounds = job.settings.pattern.block_bounds();
    let end_ns = cell.slots.iter().map(|slot| slot.from_ns.saturating_add(slot.elapsed_ns)).max().unwrap_or(0);
    let time = time_ms(end_ns, begin_ns(cell), job, reported);
    let mut text = String::new();
    for (direction, (result, bounds)) in
        [(&cell.read, bounds.read), (&cell.write, bounds.write)].into_iter().enumerate()
    {
        let Some(result) = result.as_ref().filter(|result| result.histogram.count() > 0) else { continue };
        let counts: Vec<String> = log_buckets(&result.histogram).iter().map(ToString::to_string).collect();
        writeln!(text, "{time}, {direction}, {}, {}", bounds.high.0, counts.join(", ")).expect("a string takes all");
    }
    text
}

/// `--bandwidth-log`: all jobs together.
fn bandwidth_of_all(logs: &mut LogFiles, reported: &Reported<'_>) {
    let Some(prefix) = &reported.jobs.switches.bandwidth_log else { return };
    let cells: Vec<&Cell> = reported.record.cells.iter().collect();
    let seconds = seconds::of_cells(&cells);
    for (direction, name) in ["read", "write"].into_iter().enumerate() {
        let line = |second: &Second| {
            let kibibytes = rates(second)[direction].bytes / 1024.0;
            format!("{}, {}, {direction}, 0, 0\n", milliseconds(second.to_ns), kibibytes.round() as u64)
        };
        logs.put(format!("{prefix}-{name}_bw.log"), &seconds.iter().map(line).collect::<String>());
    }
    logs.put(format!("{prefix}-trim_bw.log"), "");
}
