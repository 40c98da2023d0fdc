//! The report as JSON: one type for each of fio's objects, whose fields are fio's, in its order. What is ours is in the
//! objects named `plimsoll`.

use jiff::Zoned;
use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    record::{Cell, Outcome, Window},
    results::Severity,
};
use serde::Serialize;

use super::{
    Reported, Rest,
    disks::{self, Disk},
    entry::{Direction, Entry, milliseconds},
    groups::{Group, groups},
    json_text::{self, Pairs},
    latency::{self, Classes},
    steady::{self, Steadiness},
};
use crate::fio::{
    job::{GivenOption, Job},
    settings::ContinueOn,
    switches::IdleProfile,
};

/// The whole report; `plus` has the buckets of each distribution.
pub(super) fn report(reported: &Reported<'_>, entries: &[Entry<'_>], has_buckets: bool) -> String {
    let groups = groups(entries);
    let jobs = entries.iter().map(|entry| {
        let group = &groups[&entry.job.group];
        JobObject::of(reported, entry, group, has_buckets)
    });
    let moment = reported.ended.timestamp();
    let disks = disks::disks(reported);
    json_text::write(&Document {
        version: reported.version,
        timestamp: moment.as_second(),
        timestamp_ms: moment.as_millisecond(),
        time: time_text(&reported.ended),
        global_options: options(&reported.jobs.global_options),
        jobs: jobs.collect(),
        disk_util: (!disks.is_empty()).then_some(disks),
        cpu_idleness: idleness(reported),
        plimsoll: Run {
            record: reported.is_kept.then(|| reported.record.id.to_string()),
            version: &reported.record.tool.version,
            outcome: reported.rest.is_none().then_some(reported.record.outcome),
            notes: reported.notes(),
            warnings: &reported.record.warnings,
        },
    })
}

/// `Sat Nov 21 01:50:03 2026`.
pub(super) fn time_text(moment: &Zoned) -> String {
    moment.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "fio version")]
    version: &'a str,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    #[serde(rename = "global options", skip_serializing_if = "Pairs::is_empty")]
    global_options: Pairs<String>,
    jobs: Vec<JobObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_util: Option<Vec<Disk>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_idleness: Option<Idleness>,
    plimsoll: Run<'a>,
}

/// What plimsoll says of the run.
#[derive(Serialize)]
struct Run<'a> {
    record: Option<String>,
    version: &'a str,
    /// Null while the run goes on.
    outcome: Option<Outcome>,
    notes: Vec<String>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Idleness {
    system: f64,
    #[serde(flatten)]
    processors: Pairs<f64>,
    unit_mean: f64,
    unit_stddev: f64,
}

#[derive(Serialize)]
struct JobObject<'a> {
    jobname: &'a str,
    groupid: u32,
    job_start: i64,
    error: i32,
    eta: u64,
    elapsed: u64,
    #[serde(rename = "job options", skip_serializing_if = "Pairs::is_empty")]
    job_options: Pairs<String>,
    #[serde(flatten)]
    directions: Pairs<DirectionObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<SyncObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mixed: Option<DirectionObject>,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Pairs<f64>,
    iodepth_submit: Pairs<f64>,
    iodepth_complete: Pairs<f64>,
    latency_ns: Pairs<f64>,
    latency_us: Pairs<f64>,
    latency_ms: Pairs<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_err: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<i32>,
    latency_depth: u32,
    latency_target: u64,
    latency_target_ns: u64,
    latency_percentile: f64,
    latency_window: u64,
    latency_window_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<SteadyObject>,
    plimsoll: Judged<'a>,
}

#[derive(Serialize)]
struct DirectionObject {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: LatencyObject,
    clat_ns: LatencyObject,
    lat_ns: LatencyObject,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

#[derive(Serialize)]
struct SyncObject {
    total_ios: u64,
    lat_ns: LatencyObject,
}

#[derive(Default, Serialize)]
struct LatencyObject {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Pairs<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Pairs<u64>>,
}

#[derive(Serialize)]
struct SteadyObject {
    ss: String,
    duration: u64,
    attained: u8,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    data: SteadyData,
}

#[derive(Serialize)]
struct SteadyData {
    bw_mean: u64,
    iops_mean: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat_mean: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lat_ns: Vec<u64>,
    iops: Vec<u64>,
    bw: Vec<u64>,
}

/// What plimsoll says of a job.
#[derive(Serialize)]
struct Judged<'a> {
    /// Where in the record the job's numbers are from.
    cells: &'a [usize],
    /// One word; null when there is none, or when its cells have different ones.
    verdict: Option<&'static str>,
    reason: Option<&'a str>,
    /// The stretch of the run that it is about.
    window: Option<Window>,
    /// Reads and writes per second in it; null when the job has several cells.
    iops: Option<f64>,
    /// The ends of its 95 % interval.
    iops_low: Option<f64>,
    iops_high: Option<f64>,
    findings: Vec<FindingObject<'a>>,
}

#[derive(PartialEq, Eq, Serialize)]
struct FindingObject<'a> {
    code: &'a str,
    severity: Severity,
    text: &'a str,
}

impl<'a> JobObject<'a> {
    fn of(reported: &Reported<'a>, entry: &'a Entry<'a>, group: &Group<'_>, has_buckets: bool) -> Self {
        let (job, record) = (entry.job, reported.record);
        let (report, rate) = (&job.settings.report, &job.settings.rate);
        let direction =
            |name: &str, direction: &Direction<'_>| DirectionObject::of(name, direction, job, group, has_buckets);
        let directions: Vec<_> = entry.directions();
        let is_split = directions.len() > 1;
        let directions = directions.iter().map(|(name, of)| ((*name).to_owned(), direction(name, of))).collect();
        let depths = |counts: &[f64; 7]| {
            let total = counts.iter().sum();
            counts.map(|count| latency::percent(count, total, 0.1))
        };
        let batches = Pairs::of(&["0", "4", "8", "16", "32", "64", ">=64"], depths(&entry.batches));
        let classes = classes(entry);
        let counts_errors = job.settings.course.continues_on != ContinueOn::default();
        let (target_ns, window_us) = (rate.latency_target.map_or(0, |span| span.ns), rate.latency_window.ns / 1000);
        let has_percentiles = report.has_completion_percentiles || report.has_total_percentiles;
        let sync = || SyncObject {
            total_ios: entry.sync.operations,
            lat_ns: if report.is_without_completion_latency {
                LatencyObject::default()
            } else {
                LatencyObject::of(&entry.sync, job, has_percentiles, has_buckets)
            },
        };
        Self {
            jobname: &job.name,
            groupid: job.group,
            job_start: record.started.as_millisecond() + (entry.begin_ns / 1_000_000) as i64,
            error: entry.failure.number,
            eta: reported.rest.map_or(0, Rest::seconds),
            elapsed: record.elapsed_ns.div_ceil(1_000_000_000),
            job_options: options(&job.given),
            directions: Pairs(directions),
            sync: is_split.then(sync),
            mixed: entry.both().map(|both| direction("mixed", both)),
            job_runtime: entry.runtime_ms,
            usr_cpu: entry.processor.user_percent(),
            sys_cpu: entry.processor.system_percent(),
            ctx: entry.processor.switches(),
            majf: entry.processor.major_faults(),
            minf: 0,
            iodepth_level: Pairs::of(&["1", "2", "4", "8", "16", "32", ">=64"], depths(&entry.depths)),
            iodepth_submit: batches.clone(),
            iodepth_complete: batches,
            latency_ns: Pairs::of(&latency::CLASSES, classes.nanoseconds),
            latency_us: Pairs::of(&latency::CLASSES, classes.microseconds),
            latency_ms: Pairs::of(&latency::MILLISECOND_CLASSES, classes.milliseconds),
            total_err: counts_errors.then_some(entry.failure.total),
            first_error: counts_errors.then_some(entry.failure.number),
            latency_depth: entry.depth.unwrap_or(job.settings.submission.depth),
            latency_target: target_ns,
            latency_target_ns: target_ns,
            latency_percentile: rate.latency_percentile,
            latency_window: window_us,
            latency_window_us: window_us,
            desc: job.settings.description.as_deref().filter(|description| !description.is_empty()),
            steadystate: Steadiness::of(entry).as_ref().map(SteadyObject::of),
            plimsoll: Judged::of(reported, entry),
        }
    }
}

/// The classes of an entry's latencies, nothing when the job wants none.
pub(super) fn classes(entry: &Entry<'_>) -> Classes {
    if entry.job.settings.report.is_without_completion_latency {
        return Classes::default();
    }
    Classes::of([&entry.read, &entry.write].into_iter().filter_map(|direction| direction.latencies.as_deref()))
}

impl DirectionObject {
    fn of(name: &str, direction: &Direction<'_>, job: &Job, group: &Group<'_>, has_buckets: bool) -> Self {
        let report = &job.settings.report;
        let latency = |is_without: bool, has_percentiles: bool| {
            if is_without {
                return LatencyObject::default();
            }
            LatencyObject::of(direction, job, has_percentiles, has_buckets)
        };
        let (bandwidth, rate) = (&direction.bandwidth, &direction.rate);
        let share = || group.direction(name).share(bandwidth.mean);
        Self {
            io_bytes: direction.bytes,
            io_kbytes: direction.bytes / 1024,
            bw_bytes: direction.bytes_per_second(),
            bw: direction.bytes_per_second() / 1024,
            iops: direction.operations_per_second(),
            runtime: direction.runtime_ms(),
            total_ios: direction.operations,
            short_ios: 0,
            drop_ios: 0,
            // Submission is not told apart from the rest of a latency.
            slat_ns: LatencyObject::default(),
            clat_ns: latency(report.is_without_completion_latency, report.has_completion_percentiles),
            lat_ns: latency(report.is_without_total_latency, report.has_total_percentiles),
            bw_min: bandwidth.min,
            bw_max: bandwidth.max,
            bw_agg: if bandwidth.samples > 0 { share() } else { 0.0 },
            bw_mean: bandwidth.mean,
            bw_dev: bandwidth.deviation,
            bw_samples: bandwidth.samples,
            iops_min: rate.min,
            iops_max: rate.max,
            iops_mean: rate.mean,
            iops_stddev: rate.deviation,
            iops_samples: rate.samples,
        }
    }
}

impl LatencyObject {
    fn of(direction: &Direction<'_>, job: &Job, has_percentiles: bool, has_buckets: bool) -> Self {
        let Some(histogram) = direction.latencies.as_deref() else { return Self::default() };
        let percentiles = || {
            let told = latency::percentiles(histogram, &job.settings.report.percentiles);
            Pairs(told.into_iter().map(|(percent, ns)| (format!("{percent:.6}"), ns)).collect())
        };
        let buckets = || Pairs(histogram.buckets().map(|(ns, count)| ((ns as u64).to_string(), count)).collect());
        Self {
            min: histogram.min_ns().unwrap_or(0),
            max: histogram.max_ns().unwrap_or(0),
            mean: histogram.mean_ns().unwrap_or(0.0),
            stddev: histogram.stddev_ns().unwrap_or(0.0),
            count: histogram.count(),
            percentile: has_percentiles.then(percentiles),
            bins: (has_percentiles && has_buckets).then(buckets),
        }
    }
}

impl SteadyObject {
    fn of(steadiness: &Steadiness) -> Self {
        let mean = |samples: &[u64]| steady::mean(samples) as u64;
        let latencies = &steadiness.latencies_ns;
        Self {
            ss: steadiness.rule(),
            duration: steadiness.duration,
            attained: steadiness.is_attained.into(),
            criterion: format!("{:.6}{}", steadiness.criterion, steadiness.percent_sign()),
            max_deviation: steadiness.deviation,
            slope: steadiness.slope,
            data: SteadyData {
                bw_mean: mean(&steadiness.bytes),
                iops_mean: mean(&steadiness.operations),
                lat_mean: (!latencies.is_empty()).then(|| mean(latencies)),
                lat_ns: latencies.clone(),
                iops: steadiness.operations.clone(),
                bw: steadiness.bytes.clone(),
            },
        }
    }
}

impl<'a> Judged<'a> {
    fn of(reported: &Reported<'a>, entry: &'a Entry<'a>) -> Self {
        let cells: Vec<&'a Cell> = entry.cells.iter().map(|cell| &reported.record.cells[*cell]).collect();
        let verdicts = || cells.iter().map(|cell| cell.verdict);
        let verdict = verdicts().next().flatten().filter(|first| verdicts().all(|other| other == Some(*first)));
        let reason = match (verdict, cells.as_slice()) {
            (Some(_), _) => None,
            (None, []) => Some("not run"),
            (None, [cell]) => cell.verdict_reason.as_deref(),
            (None, _) => Some("its cells have different verdicts, which the record tells"),
        };
        let estimate = if let [cell] = cells.as_slice() { cell.estimate } else { None };
        let window = |left: Window, right: Window| Window {
            from_ns: left.from_ns.min(right.from_ns),
            to_ns: left.to_ns.max(right.to_ns),
        };
        let mut findings: Vec<FindingObject<'a>> = Vec::new();
        for finding in cells.iter().flat_map(|cell| &cell.findings) {
            let finding = FindingObject { code: &finding.code, severity: finding.severity, text: &finding.text };
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        Self {
            cells: &entry.cells,
            verdict: verdict.map(Verdict::as_str),
            reason,
            window: cells.iter().filter_map(|cell| cell.window).reduce(window),
            iops: estimate.map(|estimate| estimate.iops),
            iops_low: estimate.and_then(|estimate| estimate.iops_low),
            iops_high: estimate.and_then(|estimate| estimate.iops_high),
            findings,
        }
    }
}

/// Options as they were typed; of one that was given twice, the last value.
fn options(given: &[GivenOption]) -> Pairs<String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for option in given {
        let value = option.value.clone().unwrap_or_default();
        match pairs.iter_mut().find(|(name, _)| name == option.name) {
            Some((_, known)) => *known = value,
            None => pairs.push((option.name.to_owned(), value)),
        }
    }
    Pairs(pairs)
}

/// How idle the machine was, if that was asked. There is no unit of work: idle time is what the kernel counts.
fn idleness(reported: &Reported<'_>) -> Option<Idleness> {
    let each = reported.idle_percents.iter().enumerate().map(|(number, idle)| (format!("cpu-{number}"), *idle));
    let is_each_wanted = reported.jobs.switches.idle_profile? == IdleProfile::PerProcessor;
    let processors = Pairs(if is_each_wanted { each.collect() } else { Vec::new() });
    Some(Idleness { system: idle_percent(reported)?, processors, unit_mean: 0.0, unit_stddev: 0.0 })
}

/// How idle the machine was, if that was asked; of all its processors together.
pub(super) fn idle_percent(reported: &Reported<'_>) -> Option<f64> {
    reported.jobs.switches.idle_profile?;
    let each = reported.idle_percents;
    if !each.is_empty() {
        return Some(each.iter().sum::<f64>() / each.len() as f64);
    }
    let clients = reported.record.cells.iter().filter_map(|cell| cell.client.as_ref());
    let times = clients.filter_map(|client| client.machine_busy_ns.zip(client.machine_total_ns));
    let (busy_ns, total_ns) =
        times.fold((0.0, 0.0), |sum, time| (sum.0 + milliseconds(time.0) as f64, sum.1 + milliseconds(time.1) as f64));
    (total_ns > 0.0).then(|| (100.0 - busy_ns / total_ns * 100.0).clamp(0.0, 100.0))
}
