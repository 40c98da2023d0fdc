//! The report for people, with the words in fio's places, which scripts search for. Lines of our own begin with
//! `plimsoll`.

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{numbers, record::Cell, results::Severity};
use plimsoll_workload::units::ByteCount;

use super::{
    Reported,
    disks::{self, Disk},
    entry::{Direction, Entry},
    groups::{Group, GroupDirection, groups},
    json::{classes, idle_percent, time_text},
    latency,
    steady::{self, Steadiness},
    words::{self, Prefixes, Unit, short},
};
use crate::fio::{
    job::{Job, Jobs},
    lists::Range,
    settings::{ContinueOn, Report, UnifiedReporting},
    switches::IdleProfile,
    value::KilobyteBase,
};

/// What fio prints before it begins: a line for each job, the version, and how many threads or processes there are.
pub fn header(jobs: &Jobs, version: &str) -> String {
    let mut text = String::new();
    let (mut threads, mut processes) = (0, 0);
    for job in &jobs.jobs {
        text += &job_line(job);
        if job.settings.course.clones > 1 {
            text += "...\n";
        }
        let count = if job.settings.course.is_thread { &mut threads } else { &mut processes };
        *count += job.settings.course.clones;
    }
    let threads = (threads > 0).then(|| format!("{threads} thread{}", if threads > 1 { "s" } else { "" }));
    let processes = (processes > 0).then(|| format!("{processes} process{}", if processes > 1 { "es" } else { "" }));
    let started: Vec<String> = [threads, processes].into_iter().flatten().collect();
    text + &format!("{version}\nStarting {}\n", started.join(" and "))
}

fn job_line(job: &Job) -> String {
    let (pattern, notation) = (&job.settings.pattern, Notation::of(&job.settings.report));
    let bounds = pattern.block_bounds();
    let range = |range: Range<ByteCount>| format!("{}-{}", notation.bytes(range.low.0), notation.bytes(range.high.0));
    let (read, write, trim) = (range(bounds.read), range(bounds.write), range(bounds.trim));
    let last = if pattern.is_size_by_order { "bs_is_seq_rand".to_owned() } else { format!("(T) {trim}") };
    let direction = match (pattern.direction.reads, pattern.direction.writes) {
        (true, true) => "rw",
        (false, true) => "write",
        _ => "read",
    };
    format!(
        "{}: (g={}): rw={}{direction}, bs=(R) {read}, (W) {write}, {last}, ioengine={}, iodepth={}\n",
        job.name,
        job.group,
        if pattern.direction.is_random { "rand" } else { "" },
        job.settings.engine.name(),
        job.settings.submission.depth,
    )
}

/// The report of a run that is over.
pub(super) fn report(reported: &Reported<'_>, entries: &[Entry<'_>]) -> String {
    let groups = groups(entries);
    let mut text = "\n".to_owned();
    for entry in entries {
        text += &job_block(reported, entry, &groups[&entry.job.group]);
    }
    for (number, group) in &groups {
        text += &format!("\nRun status group {number} (all jobs):\n");
        text += &group_lines(group);
    }
    let disks = disks::disks(reported);
    if !disks.is_empty() {
        text += "\nDisk stats (read/write):\n";
        text.extend(disks.iter().map(disk_line));
    }
    if let Some(idle) = idle_percent(reported) {
        text += &format!("\nCPU idleness:\n  system: {idle:3.2}%\n");
        if reported.jobs.switches.idle_profile == Some(IdleProfile::PerProcessor) {
            let each: Vec<_> = reported.idle_percents.iter().map(|idle| format!("{idle:3.2}%")).collect();
            text += &format!("  percpu: {}\n", each.join(", "));
        }
    }
    if reported.rest.is_some() {
        // What is to be said of the run is said at its end.
        return text;
    }
    text += &format!("\nplimsoll: {}{}\n", kept_as(reported), outcome(reported));
    text.extend(reported.record.warnings.iter().map(|warning| format!("plimsoll: warning: {warning}\n")));
    text.extend(reported.notes().iter().map(|note| format!("plimsoll: note: {note}\n")));
    text
}

/// Where to find the run again.
fn kept_as(reported: &Reported<'_>) -> String {
    if reported.is_kept { format!("record {}, ", reported.record.id) } else { String::new() }
}

fn outcome(reported: &Reported<'_>) -> String {
    format!("{:?}", reported.record.outcome).to_lowercase()
}

/// How a job wants its numbers.
#[derive(Clone, Copy)]
pub(super) struct Notation {
    digits: usize,
    prefixes: Prefixes,
    base: f64,
    is_in_bits: bool,
}

impl Notation {
    pub(super) fn of(report: &Report) -> Self {
        let is_binary = report.kilobyte_base == KilobyteBase::K1024;
        Self {
            digits: report.significant_figures.into(),
            prefixes: if is_binary { Prefixes::Binary } else { Prefixes::Decimal },
            base: report.kilobyte_base.get() as f64,
            is_in_bits: report.is_in_bits,
        }
    }

    fn bytes(self, bytes: u64) -> String {
        short(bytes, self.digits, self.prefixes, Unit::Bytes)
    }

    fn other_bytes(self, bytes: u64) -> String {
        short(bytes, self.digits, self.prefixes.other(), Unit::Bytes)
    }

    pub(super) fn rate(self, bytes_per_second: u64) -> String {
        short(bytes_per_second, self.digits, self.prefixes, self.rate_unit())
    }

    fn other_rate(self, bytes_per_second: u64) -> String {
        short(bytes_per_second, self.digits, self.prefixes.other(), self.rate_unit())
    }

    fn operations(self, operations: f64) -> String {
        short(operations as u64, self.digits, Prefixes::Decimal, Unit::None)
    }

    const fn rate_unit(self) -> Unit {
        if self.is_in_bits { Unit::BitsPerSecond } else { Unit::BytesPerSecond }
    }

    /// Samples of bandwidth: their unit, and what it is in KiB; larger from a mean of a thousand.
    const fn samples(self, mean: f64) -> (&'static str, f64) {
        let factor = if self.is_in_bits { 8.0 } else { 1.0 };
        let is_large = mean * factor > self.base * self.base;
        let unit = match (self.is_in_bits, self.prefixes, is_large) {
            (true, _, true) => "Mibit",
            (false, _, true) => "MiB",
            (true, Prefixes::Binary, false) => "Kibit",
            (true, Prefixes::Decimal, false) => "kbit",
            (false, Prefixes::Binary, false) => "KiB",
            (false, Prefixes::Decimal, false) => "kB",
        };
        (unit, if is_large { factor / self.base } else { factor })
    }
}

fn job_block(reported: &Reported<'_>, entry: &Entry<'_>, group: &Group<'_>) -> String {
    let failure = &entry.failure;
    let error = if failure.number == 0 { String::new() } else { format!(" ({})", failure.text) };
    let mut text = format!(
        "{}: (groupid={}, jobs={}): err={:2}{error}: pid={}: {}\n",
        entry.job.name,
        entry.job.group,
        entry.members,
        failure.number,
        reported.process,
        time_text(&reported.ended)
    );
    if let Some(description) = entry.job.settings.description.as_deref().filter(|text| !text.is_empty()) {
        text += &format!("  Description  : [{description}]\n");
    }
    if !entry.is_empty() || entry.sync.operations > 0 {
        text += &numbers_of(entry, group);
    }
    text + &own_lines(reported, entry)
}

fn numbers_of(entry: &Entry<'_>, group: &Group<'_>) -> String {
    let job = entry.job;
    let mut text = String::new();
    for (name, direction) in entry.directions() {
        text += &direction_lines(name, &direction, job, group);
    }
    if let Some(both) = entry.both() {
        text += &direction_lines("mixed", both, job, group);
    }
    let classes = classes(entry);
    text += &class_lines("nsec", &latency::CLASSES, &classes.nanoseconds);
    text += &class_lines("usec", &latency::CLASSES, &classes.microseconds);
    text += &class_lines("msec", &latency::MILLISECOND_CLASSES, &classes.milliseconds);
    let report = &job.settings.report;
    if let Some(histogram) = entry.sync.latencies.as_deref().filter(|_| !report.is_without_completion_latency) {
        text += "  fsync/fdatasync/sync_file_range/syncfs:\n";
        text += &latency_line("sync", histogram);
        text += &percentile_lines("sync", histogram, &report.percentiles);
    }
    let cpu = &entry.processor;
    text += &format!(
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf=0\n",
        cpu.user_percent(),
        cpu.system_percent(),
        cpu.switches(),
        cpu.major_faults()
    );
    text += &level_line("  IO depths    : ", &["1", "2", "4", "8", "16", "32", ">=64"], &entry.depths);
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    text += &level_line("     submit    : ", &batches, &entry.batches);
    text += &level_line("     complete  : ", &batches, &entry.batches);
    let (reads, writes) = match &entry.mixed {
        Some(mixed) if report.unified == UnifiedReporting::Mixed => (mixed.operations, 0),
        _ => (entry.read.operations, entry.write.operations),
    };
    text += &format!(
        "     issued rwts: total={reads},{writes},0,{} short=0,0,0,0 dropped=0,0,0,0\n",
        entry.sync.operations
    );
    if job.settings.course.continues_on != ContinueOn::default() {
        let failure = &entry.failure;
        let name = if failure.number == 0 { "Success" } else { &failure.text };
        text += &format!("     errors    : total={}, first_error={}/<{name}>\n", failure.total, failure.number);
    }
    let rate = &job.settings.rate;
    text += &format!(
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}\n",
        words::span(rate.latency_target.map_or(0, |span| span.ns)),
        words::span(rate.latency_window.ns),
        rate.latency_percentile,
        entry.depth.unwrap_or(job.settings.submission.depth)
    );
    text + &Steadiness::of(entry).map(|steadiness| steady_line(&steadiness, job)).unwrap_or_default()
}

fn direction_lines(name: &str, direction: &Direction<'_>, job: &Job, group: &Group<'_>) -> String {
    if direction.is_empty() {
        return String::new();
    }
    let (report, notation) = (&job.settings.report, Notation::of(&job.settings.report));
    let rate = direction.bytes_per_second();
    let mut text = format!(
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}\n",
        notation.operations(direction.operations_per_second()),
        notation.rate(rate),
        notation.other_rate(rate),
        notation.bytes(direction.bytes),
        direction.runtime_ms(),
        // Drives with zones are not reset here, and scripts look for the words all the same.
        if name == "write" { "; 0 zone resets" } else { "" }
    );
    if let Some(histogram) = direction.latencies.as_deref() {
        let (has_completion, has_total) = (!report.is_without_completion_latency, !report.is_without_total_latency);
        if has_completion {
            text += &latency_line("clat", histogram);
        }
        if has_total {
            text += &latency_line(" lat", histogram);
        }
        if has_completion && report.has_completion_percentiles {
            text += &percentile_lines("clat", histogram, &report.percentiles);
        }
        if has_total && report.has_total_percentiles {
            text += &percentile_lines("lat", histogram, &report.percentiles);
        }
    }
    text + &sample_lines(name, direction, notation, group)
}

fn sample_lines(name: &str, direction: &Direction<'_>, notation: Notation, group: &Group<'_>) -> String {
    let (bandwidth, rate) = (&direction.bandwidth, &direction.rate);
    if bandwidth.samples == 0 {
        return String::new();
    }
    let (unit, factor) = notation.samples(bandwidth.mean);
    format!(
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n   \
         iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
        (bandwidth.min as f64 * factor) as u64,
        (bandwidth.max as f64 * factor) as u64,
        group.direction(name).share(bandwidth.mean),
        bandwidth.mean * factor,
        bandwidth.deviation * factor,
        bandwidth.samples,
        rate.min,
        rate.max,
        rate.mean,
        rate.deviation,
        rate.samples
    )
}

fn latency_line(name: &str, histogram: &LatencyHistogram) -> String {
    let (min, max) = (histogram.min_ns().unwrap_or(0), histogram.max_ns().unwrap_or(0));
    let (mean, deviation) = (histogram.mean_ns().unwrap_or(0.0), histogram.stddev_ns().unwrap_or(0.0));
    let (unit, divisor) = words::latency_unit(min, max, deviation);
    let whole = |ns: u64| short(ns / divisor, 6, Prefixes::Decimal, Unit::None);
    let exact = |ns: f64| ns / divisor as f64;
    format!(
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        whole(min),
        whole(max),
        exact(mean),
        exact(deviation)
    )
}

fn percentile_lines(name: &str, histogram: &LatencyHistogram, percentages: &[f64]) -> String {
    /// Room for percentages and latencies in a line.
    const WIDTH: usize = 73;
    let told = latency::percentiles(histogram, percentages);
    let (Some((_, least)), Some((_, most))) = (told.first(), told.last()) else { return String::new() };
    let (unit, divisor) = match (*least, *most) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2001.., 100_000..) => ("usec", 1000),
        _ => ("nsec", 1),
    };
    let decimals = words::decimals(percentages);
    let digits = (most / divisor).to_string().len().max(5);
    let per_line = (WIDTH / (decimals + 10 + digits)).max(1);
    let mut text = format!("    {name} percentiles ({unit}):\n");
    for line in told.chunks(per_line) {
        let shown = line.iter().map(|(percent, ns)| {
            format!(" {percent:>width$.decimals$}th=[{:digits$}]", ns.div_ceil(divisor), width = decimals + 3)
        });
        text += &format!("     |{},\n", shown.collect::<Vec<_>>().join(","));
    }
    // After the last one there is no comma.
    text.truncate(text.len() - 2);
    text + "\n"
}

fn class_lines(unit: &str, names: &[&str], shares: &[f64]) -> String {
    let some = names.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let shown: Vec<_> = some.map(|(name, share)| format!("{name}={share:3.2}%")).collect();
    shown.chunks(5).map(|line| format!("  lat ({unit})   : {}\n", line.join(", "))).collect()
}

fn level_line(title: &str, names: &[&str], counts: &[f64]) -> String {
    let total = counts.iter().sum();
    let levels = names.iter().zip(counts);
    let shown: Vec<_> =
        levels.map(|(name, count)| format!("{name}={:3.1}%", latency::percent(*count, total, 0.1))).collect();
    format!("{title}{}\n", shown.join(", "))
}

fn steady_line(steadiness: &Steadiness, job: &Job) -> String {
    let notation = Notation::of(&job.settings.report);
    let mean = steady::mean(&steadiness.bytes) as u64;
    format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}, {}{}={:.3}{}\n",
        if steadiness.is_attained { "yes" } else { "no" },
        notation.rate(mean),
        notation.other_rate(mean),
        notation.operations(steady::mean(&steadiness.operations)),
        steadiness.quantity(),
        if steadiness.asked.is_slope { " slope" } else { " mean dev" },
        steadiness.criterion,
        steadiness.percent_sign()
    )
}

/// What plimsoll says of a job: of each of its cells a verdict, and what was found.
fn own_lines(reported: &Reported<'_>, entry: &Entry<'_>) -> String {
    let cells: Vec<&Cell> = entry.cells.iter().map(|cell| &reported.record.cells[*cell]).collect();
    let mut lines: Vec<String> = Vec::new();
    for cell in &cells {
        let name = if cells.len() > 1 { format!("{}: ", cell.workload) } else { String::new() };
        lines.push(format!("{name}{}", verdict(cell)));
        for finding in &cell.findings {
            let severity = match finding.severity {
                Severity::Info => "info",
                Severity::Warning => "warning",
                Severity::Error => "error",
            };
            let line = format!("{severity}: {}", finding.text);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if cells.is_empty() {
        lines.push("not run".to_owned());
    }
    lines.iter().map(|line| format!("  plimsoll     : {line}\n")).collect()
}

fn verdict(cell: &Cell) -> String {
    let Some(verdict) = cell.verdict else {
        return format!("no verdict: {}", cell.verdict_reason.as_deref().unwrap_or("nothing was measured"));
    };
    let rate = cell.estimate.map_or_else(String::new, |estimate| {
        let interval = estimate
            .iops_low
            .zip(estimate.iops_high)
            .map_or_else(String::new, |(low, high)| format!(" ({})", numbers::range(low, high, numbers::iops)));
        format!(", {} operations per second{interval}", numbers::iops(estimate.iops))
    });
    let window = cell.window.map_or_else(String::new, |window| {
        let length_ns = window.to_ns.saturating_sub(window.from_ns);
        format!(", in {} from {}", numbers::duration(length_ns), numbers::duration(window.from_ns))
    });
    format!("{}{rate}{window}", verdict.as_str())
}

fn group_lines(group: &Group<'_>) -> String {
    let notation = Notation::of(&group.job.settings.report);
    let directions: &[(&str, &GroupDirection)] = match group.unified {
        UnifiedReporting::None => &[("   READ", &group.read), ("  WRITE", &group.write)],
        UnifiedReporting::Mixed => &[("  MIXED", &group.mixed)],
        UnifiedReporting::Both => &[("   READ", &group.read), ("  WRITE", &group.write), ("  MIXED", &group.mixed)],
    };
    let done = directions.iter().filter(|(_, direction)| direction.runtime_max_ms > 0);
    done.map(|(name, of)| {
        format!(
            "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
            notation.rate(of.rate()),
            notation.other_rate(of.rate()),
            notation.rate(of.rate_min),
            notation.rate(of.rate_max),
            notation.other_rate(of.rate_min),
            notation.other_rate(of.rate_max),
            notation.bytes(of.bytes),
            notation.other_bytes(of.bytes),
            of.runtime_min_ms,
            of.runtime_max_ms
        )
    })
    .collect()
}

fn disk_line(disk: &Disk) -> String {
    format!(
        "  {}: ios={}/{}, sectors={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%\n",
        disk.name,
        disk.read_ios,
        disk.write_ios,
        disk.read_sectors,
        disk.write_sectors,
        disk.read_merges,
        disk.write_merges,
        disk.read_ticks,
        disk.write_ticks,
        disk.in_queue,
        disk.util
    )
}
