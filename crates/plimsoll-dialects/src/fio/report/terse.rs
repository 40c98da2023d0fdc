//! The report with semicolons: a line for each job, whose fields are told by their places.

use plimsoll_measure::latency::LatencyHistogram;

use super::{
    Reported,
    disks::{self, Disk},
    entry::{Direction, Entry},
    groups::{Group, groups},
    json::classes,
    latency,
};
use crate::fio::{
    job::Job,
    settings::{ContinueOn, Report, UnifiedReporting},
};

/// Fields for percentiles, whether there are so many or not.
const PERCENTILES: usize = 20;

/// The lines in one of the versions 2 to 5.
pub(super) fn report(reported: &Reported<'_>, entries: &[Entry<'_>], version: u8) -> String {
    let groups = groups(entries);
    let disks = disks::disks(reported);
    entries.iter().map(|entry| line(reported, entry, &groups[&entry.job.group], &disks, version)).collect()
}

fn line(reported: &Reported<'_>, entry: &Entry<'_>, group: &Group<'_>, disks: &[Disk], version: u8) -> String {
    let (job, report) = (entry.job, &entry.job.settings.report);
    let mut fields = vec![version.to_string()];
    if version > 2 {
        fields.push(text(reported.version));
    }
    fields.extend([text(&job.name), job.group.to_string(), entry.failure.number.to_string()]);
    let shown = |name: &str| report.unified == UnifiedReporting::Mixed || name != "trim" || version != 3;
    for (name, direction) in entry.directions().iter().filter(|(name, _)| shown(name)) {
        fields.extend(direction_fields(name, direction, job, group, version));
    }
    if let Some(both) = entry.both() {
        fields.extend(direction_fields("mixed", both, job, group, version));
    }
    let cpu = &entry.processor;
    fields.extend([format!("{:.6}%", cpu.user_percent()), format!("{:.6}%", cpu.system_percent())]);
    fields.extend([cpu.switches().to_string(), cpu.major_faults().to_string(), "0".to_owned()]);
    let depths: f64 = entry.depths.iter().sum();
    fields.extend(entry.depths.iter().map(|count| format!("{:.1}%", latency::percent(*count, depths, 0.1))));
    let mut classes = classes(entry);
    // There are no fields for nanoseconds: they are with the first microseconds.
    classes.microseconds[0] += classes.nanoseconds.iter().sum::<f64>();
    fields.extend(classes.microseconds.iter().chain(&classes.milliseconds).map(|share| format!("{share:.2}%")));
    if version > 2 {
        fields.extend(disks.iter().flat_map(disk_fields));
    }
    if job.settings.course.continues_on != ContinueOn::default() {
        fields.extend([entry.failure.total.to_string(), entry.failure.number.to_string()]);
    }
    let description = job.settings.description.as_deref().filter(|description| !description.is_empty());
    let separator = if version == 2 { "\n" } else { "" };
    let description = description.map_or_else(String::new, |description| format!("{separator};{}", text(description)));
    format!("{}{description}\n", fields.join(";"))
}

/// Text that keeps to its field.
fn text(text: &str) -> String {
    text.replace(';', ",").replace(['\n', '\r'], " ")
}

fn direction_fields(name: &str, direction: &Direction<'_>, job: &Job, group: &Group<'_>, version: u8) -> Vec<String> {
    let report = &job.settings.report;
    let mut fields = vec![
        (direction.bytes / 1024).to_string(),
        (direction.bytes_per_second() / 1024).to_string(),
        (direction.operations_per_second() as u64).to_string(),
        direction.runtime_ms().to_string(),
    ];
    fields.extend(latency_fields(None));
    fields.extend(latency_fields(Some(direction).filter(|_| !report.is_without_completion_latency)));
    fields.extend(percentile_fields(direction, report));
    fields.extend(latency_fields(Some(direction).filter(|_| !report.is_without_total_latency)));
    let (bandwidth, rate) = (&direction.bandwidth, &direction.rate);
    let share = if bandwidth.samples > 0 { group.direction(name).share(bandwidth.mean) } else { 0.0 };
    fields.extend([bandwidth.min.to_string(), bandwidth.max.to_string(), format!("{share:.6}%")]);
    fields.extend([format!("{:.6}", bandwidth.mean), format!("{:.6}", bandwidth.deviation)]);
    if version == 5 {
        fields.extend([bandwidth.samples, rate.min, rate.max].map(|number| number.to_string()));
        fields.extend([format!("{:.6}", rate.mean), format!("{:.6}", rate.deviation), rate.samples.to_string()]);
    }
    fields
}

/// Shortest, longest, mean and deviation in microseconds.
fn latency_fields(direction: Option<&Direction<'_>>) -> [String; 4] {
    let histogram = direction.and_then(|direction| direction.latencies.as_deref());
    let whole = |ns: Option<u64>| (ns.unwrap_or(0) / 1000).to_string();
    let exact = |ns: Option<f64>| format!("{:.6}", ns.unwrap_or(0.0) / 1000.0);
    [
        whole(histogram.and_then(LatencyHistogram::min_ns)),
        whole(histogram.and_then(LatencyHistogram::max_ns)),
        exact(histogram.and_then(LatencyHistogram::mean_ns)),
        exact(histogram.and_then(LatencyHistogram::stddev_ns)),
    ]
}

fn percentile_fields(direction: &Direction<'_>, report: &Report) -> Vec<String> {
    let has_total = report.has_total_percentiles && !report.is_without_total_latency;
    let has_completion = report.has_completion_percentiles && !report.is_without_completion_latency;
    let listed: Vec<f64> = report.percentiles.iter().copied().take_while(|percent| *percent > 0.0).collect();
    let is_told = has_total || has_completion;
    let mut fields: Vec<String> = match direction.latencies.as_deref().filter(|_| is_told) {
        Some(histogram) => {
            let told = latency::percentiles(histogram, &listed);
            told.into_iter().map(|(percent, ns)| format!("{percent:.6}%={}", ns / 1000)).collect()
        }
        None if report.has_total_percentiles || report.has_completion_percentiles => {
            listed.iter().map(|percent| format!("{percent:.6}%=0")).collect()
        }
        None => Vec::new(),
    };
    fields.resize(PERCENTILES, "0%=0".to_owned());
    fields
}

fn disk_fields(disk: &Disk) -> Vec<String> {
    let numbers = [
        disk.read_ios,
        disk.write_ios,
        disk.read_merges,
        disk.write_merges,
        disk.read_ticks,
        disk.write_ticks,
        disk.in_queue,
    ];
    let numbers = numbers.iter().map(ToString::to_string);
    std::iter::once(text(&disk.name)).chain(numbers).chain([format!("{:.2}%", disk.util)]).collect()
}
