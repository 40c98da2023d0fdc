//! fio's JSON, also where a log surrounds it: one result for each job. What is told of jobs while they go on gives way
//! to what is told later.

use std::{collections::HashMap, ops::RangeInclusive};

use jiff::Timestamp;
use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, doubt, mismatch, note},
};
use serde_json::Value;

use crate::fio::value::{KilobyteBase, Reading};

use super::{
    OF_SEVERAL, OTHER_SIZES, RESULTS_MAX, ROUNDING, clones,
    fio_text::DIFFERENT_TIMES,
    is_of_block,
    passage::{Passage, content},
    result,
};
use asked::Asked;
use progress::Progress;

mod asked;
mod progress;

/// What tells a report of fio from any other text.
const SIGN: &str = "\"fio version\"";
/// What is said where one section would have jobs that ended early.
const PERHAPS_OF_SEVERAL: &str = "it may sum up jobs of several sections: what was asked of them is left out";
/// A report has fewer bytes.
const OBJECT_MAX: usize = 16 << 20;
/// All that is read in vain may be so many times the text.
const COST_MAX: usize = 8;

/// So much of what has no result is named.
const MISSING_MAX: usize = 10;

/// What has no result: a report that is no valid JSON or has no jobs, or a job that is not about reads and writes.
pub(super) struct Missing {
    /// The line that its report begins in, from 1.
    pub(super) line: usize,
    /// What it is, and why.
    pub(super) text: String,
    /// What to do when nothing else was found.
    pub(super) remedy: &'static str,
}

/// A report: how far it is, its results, and what has none.
type Report = (Progress, Vec<FoundResult>, Vec<Missing>);

/// What reports say, and what of them has no result.
pub(super) fn find(passage: &Passage<'_>) -> (Vec<FoundResult>, Vec<Missing>) {
    let text = passage.text;
    let mut reports: Vec<Report> = Vec::new();
    let mut latest: HashMap<String, usize> = HashMap::new();
    let (mut torn, mut count, mut from, mut cost) = (Vec::new(), 0, 0, 0);
    let mut counter = LineCounter { text, byte: 0, line: 0 };
    while count <= RESULTS_MAX && cost <= COST_MAX * text.len() {
        let Some(sign) = find_sign(&text[from..]).map(|sign| from + sign) else { break };
        let (start, looked_at) = beginning(text, from, sign);
        cost += looked_at;
        from = sign + SIGN.len();
        let Some(start) = start else { continue };
        let first = counter.line_of(start);
        let (report, end) = match read(&text[start..]) {
            Ok((report, length)) => (report, start + length),
            Err((looked_at, why)) => {
                cost += looked_at;
                let Some((report, lines, looked_at)) = read_marked(passage, first, counter.line_of(sign)) else {
                    if torn.len() < MISSING_MAX {
                        let is_cut = why.is_eof() && text.len() - start > OBJECT_MAX;
                        torn.push(if is_cut { Missing::too_long(first) } else { Missing::torn(first, &why) });
                    }
                    continue;
                };
                cost += looked_at;
                (report, counter.start_of(first + lines).unwrap_or(text.len()))
            }
        };
        let lines = first..=counter.line_of(end.saturating_sub(1));
        let found = results(passage, &lines, &report);
        from = end.max(from);
        count += found.len();
        let without = without_result(first, &report);
        let (identity, mut progress) = Progress::of(&report);
        match latest.get(&identity).map(|index| &mut reports[*index]).filter(|(before, ..)| progress.follows(before)) {
            Some(report) => {
                progress.take_over();
                count -= report.1.len();
                *report = (progress, found, without);
            }
            None => {
                latest.insert(identity, reports.len());
                reports.push((progress, found, without));
            }
        }
    }
    let mut missing = torn;
    let mut all = Vec::new();
    for (_, found, without) in reports {
        all.extend(found);
        missing.extend(without.into_iter().take(MISSING_MAX.saturating_sub(missing.len())));
    }
    (all, missing)
}

/// Where a report says whose it is.
pub(super) fn find_sign(text: &str) -> Option<usize> {
    let is_key = |sign: &usize| text[sign + SIGN.len()..].trim_ascii_start().starts_with(':');
    text.match_indices(SIGN).map(|(sign, _)| sign).find(is_key)
}

impl Missing {
    /// A report that begins in a line, from 0.
    fn too_long(first: usize) -> Self {
        let (line, mib) = (first + 1, OBJECT_MAX >> 20);
        let text = format!("fio's JSON that begins in line {line} is longer than the {mib} MiB that are read");
        Self { line, text, remedy: "--output-format=json without a plus leaves the buckets of latencies out" }
    }

    /// A report that begins in a line, from 0.
    fn torn(first: usize, why: &serde_json::Error) -> Self {
        let line = first + 1;
        let reason = why.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let place = first + why.line().max(1);
        let text = format!("fio's JSON that begins in line {line} is not valid in line {place}: {reason}");
        Self { line, text, remedy: "give all that fio wrote" }
    }
}

/// The jobs that only trimmed, each once, of a report that begins in a line, from 0; or that it has no jobs of clients.
fn without_result(first: usize, report: &Value) -> Vec<Missing> {
    let has_clients = report["client_stats"].as_array().is_some_and(|clients| !clients.is_empty());
    if has_clients && jobs(report).next().is_none() {
        let text = format!("fio's JSON that begins in line {} only sums up all clients", first + 1);
        return vec![Missing { line: first + 1, text, remedy: "give what it tells of the jobs of each as well" }];
    }
    let did = |job: &Value, name: &str| job[name]["total_ios"].as_u64().is_some_and(|count| count > 0);
    let only_trimmed = |job: &&Value| did(job, "trim") && !["read", "write", "mixed"].iter().any(|name| did(job, name));
    let mut names: Vec<&str> = jobs(report).filter(only_trimmed).filter_map(|job| job["jobname"].as_str()).collect();
    names.dedup();
    let missing = |name| Missing {
        line: first + 1,
        text: format!("job {name:?} of fio's JSON only trimmed"),
        remedy: "results are those of reads and writes",
    };
    names.into_iter().take(MISSING_MAX).map(missing).collect()
}

/// The jobs of a report. A client tells of those of all servers, and of their sum, which is none.
fn jobs(report: &Value) -> impl Iterator<Item = &Value> {
    let jobs = report["jobs"].as_array().or_else(|| report["client_stats"].as_array()).into_iter().flatten();
    jobs.filter(|job| job["jobname"] != "All clients")
}

/// Reads an object; how long it is, or how much was read in vain, and why.
fn read(text: &str) -> Result<(Value, usize), (usize, serde_json::Error)> {
    // As a tree it takes many times the memory.
    let end = (0..4).map(|less| OBJECT_MAX - less).find(|end| text.is_char_boundary(*end));
    let text = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(report)) => Ok((report, values.byte_offset())),
        Some(Err(error)) => Err((text.split_inclusive('\n').take(error.line()).map(str::len).sum(), error)),
        None => Err((0, serde::de::Error::custom("there is nothing"))),
    }
}

/// Reads an object of which each line was commented out, quoted or logged; how many lines it has, and how much was
/// read. A line inside tells whether there is anything before the lines.
fn read_marked(passage: &Passage<'_>, first: usize, inside: usize) -> Option<(Value, usize, usize)> {
    let line = passage.line(inside);
    if content(line).len() == line.trim_start().len() {
        return None;
    }
    let text: Vec<&str> = passage.lines[first..].iter().map(|line| content(line)).collect();
    let text = text.join("\n");
    let (report, length) = read(&text[text.find('{')?..]).ok()?;
    Some((report, text[..length].matches('\n').count() + 1, text.len()))
}

/// Where the object begins that a sign is in, not before another place; and how much was looked at.
fn beginning(text: &str, from: usize, sign: usize) -> (Option<usize>, usize) {
    let mut depth = 0;
    for (index, byte) in text.as_bytes()[from..sign].iter().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            b'{' if depth == 0 => return (Some(from + index), sign - from - index),
            b'{' => depth -= 1,
            _ => {}
        }
    }
    (None, sign - from)
}

/// Counts lines on the way through a text.
struct LineCounter<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line that a byte is in, from 0. It is not before the last one that was asked for, or that is counted again.
    fn line_of(&mut self, byte: usize) -> usize {
        let bytes = self.text.as_bytes();
        let feeds = |range: std::ops::Range<usize>| bytes[range].iter().filter(|byte| **byte == b'\n').count();
        if byte < self.byte {
            self.line -= feeds(byte..self.byte);
        } else {
            self.line += feeds(self.byte..byte);
        }
        self.byte = byte;
        self.line
    }

    /// Where a line begins.
    fn start_of(&mut self, line: usize) -> Option<usize> {
        if line <= self.line {
            return Some(self.byte);
        }
        let more = line - self.line;
        let (feed, _) = self.text[self.byte..].match_indices('\n').nth(more - 1)?;
        Some(self.byte + feed + 1)
    }
}

/// The jobs of a report, of which clones are one.
fn results(passage: &Passage<'_>, lines: &RangeInclusive<usize>, report: &Value) -> Vec<FoundResult> {
    let all: Vec<&Value> = jobs(report).collect();
    let are_clones =
        |pair: &[&Value]| ["jobname", "groupid", "hostname", "port"].iter().all(|name| pair[0][name] == pair[1][name]);
    let follows: Vec<bool> = std::iter::once(false).chain(all.windows(2).map(are_clones)).chain([false]).collect();
    let started = started(report);
    let result = |(job, beside): (&&Value, &[bool])| {
        let asked = Asked::of(report, job, beside.contains(&true));
        let found = job_result(passage, lines, job, &asked)?;
        Some((job["groupid"].as_u64(), FoundResult { started, ..found }))
    };
    let results = all.iter().zip(follows.windows(2)).filter_map(result).collect();
    let are_of_servers = report["jobs"].is_null();
    let merged = if are_of_servers { clones::merge_of_servers(results) } else { clones::merge_groups(results) };
    merged.into_iter().map(|(_, result)| result).collect()
}

fn job_result(
    passage: &Passage<'_>,
    lines: &RangeInclusive<usize>,
    job: &Value,
    asked: &Asked<'_>,
) -> Option<FoundResult> {
    // Several sizes, as in `4k,64k` or `4k-64k`, are none that is understood.
    let kilobyte_base =
        if asked.option(&["kb_base"]) == Some("1000") { KilobyteBase::K1000 } else { KilobyteBase::K1024 };
    let reading = || Reading { kilobyte_base, ..Reading::default() };
    let size = |size: &str| reading().number(size).ok().filter(|bytes| *bytes > 0);
    let mut block = asked.option(&["bs", "blocksize"]).and_then(size);
    let mut findings = Vec::new();
    let [read, write, total] = ["read", "write", "mixed"].map(|name| direction(&job[name], &mut findings));
    if read.is_none() && write.is_none() && total.is_none() {
        return None;
    }
    // Behind a ramp the operations that were in flight at its end have bytes and no count.
    let depth = asked.option(&["iodepth"]).and_then(|depth| depth.parse().ok()).unwrap_or(1_u64);
    let has_ramp = asked.option(&["ramp_time"]).is_some_and(|ramp| ramp != "0");
    let in_flight = if has_ramp { depth.saturating_mul(asked.jobs.unwrap_or(1)) } else { 0 };
    let has_blocks =
        |of: &Direction| block.zip(of.operations).is_none_or(|load| is_of_block(load, in_flight, of.bytes));
    if ![&read, &write, &total].into_iter().flatten().all(has_blocks) {
        findings.push(note(OTHER_SIZES));
        block = None;
    }
    if let Some(error) = job["error"].as_i64().filter(|error| *error != 0) {
        findings.push(doubt(format!("the job ended with error {error}")));
    }
    if asked.is_of_several {
        findings.push(doubt(if asked.is_uneven { PERHAPS_OF_SEVERAL } else { OF_SEVERAL }));
    }
    if asked.is_uneven {
        findings.push(doubt(DIFFERENT_TIMES));
    }
    // Jobs that have a file of their own each touch so much more.
    let files = if asked.option(&["filename"]).is_some() { 1 } else { asked.clones().unwrap_or(1) };
    let working_set = asked.of_all(&["size", "filesize"]).and_then(size).and_then(|bytes| bytes.checked_mul(files));
    let pace = |name| asked.option(&[name]).filter(|value| *value != "0").map(|value| format!("{name}={value}"));
    let pattern = asked.of_all(&["rw", "readwrite"]);
    findings.dedup();
    let elapsed_ns = runtime_ms(job).and_then(|ms| ms.checked_mul(1_000_000));
    let measured = Measured::Transfers(Box::new(Transfers {
        pattern: pattern.map(str::to_owned),
        read_percent: pattern.and_then(|pattern| asked.read_percent(pattern)),
        block_size_bytes: block,
        queue_depth: asked.of_all(&["iodepth"]).and_then(|depth| depth.parse().ok()),
        jobs: asked.jobs,
        working_set_bytes: working_set,
        is_direct: asked.option(&["direct"]).map(|direct| direct == "1"),
        pace: ["rate", "rate_iops", "thinktime"].into_iter().find_map(pace),
        elapsed_ns,
        read,
        write,
        engine: asked.option(&["ioengine"]).map(str::to_owned),
        errors: job["total_err"].as_u64().filter(|errors| *errors > 0),
        total,
        sync: syncs(&job["sync"], elapsed_ns),
    }));
    let found = result(passage, Source::FioJson, lines.clone(), measured, findings);
    Some(FoundResult {
        target: asked.of_all(&["filename", "directory"]).map(str::to_owned),
        workload: job["jobname"].as_str().map(str::to_owned),
        ..found
    })
}

/// When the first job of a report began. The time of a report is that of its end; where groups of jobs ran one after
/// another, it began as long before as fio had been running.
fn started(report: &Value) -> Option<Timestamp> {
    if let Some(ms) = jobs(report).filter_map(|job| job["job_start"].as_i64().filter(|ms| *ms > 0)).min() {
        return Timestamp::from_millisecond(ms).ok();
    }
    let seconds = report["timestamp"].as_i64().and_then(|seconds| seconds.checked_mul(1000));
    let end_ms = report["timestamp_ms"].as_i64().or(seconds)?;
    let first = jobs(report).next().map(|job| &job["groupid"]);
    let has_groups = jobs(report).any(|job| Some(&job["groupid"]) != first);
    let running_ms = jobs(report).filter_map(|job| job["elapsed"].as_i64()?.checked_mul(1000)).max();
    let longest_ms = jobs(report).filter_map(runtime_ms).max().and_then(|ms| i64::try_from(ms).ok());
    let ran_ms = running_ms.filter(|_| has_groups).or(longest_ms).unwrap_or(0);
    Timestamp::from_millisecond(end_ms.checked_sub(ran_ms)?).ok()
}

/// How long a job read and wrote.
fn runtime_ms(job: &Value) -> Option<u64> {
    ["read", "write", "mixed"].into_iter().filter_map(|name| job[name]["runtime"].as_u64()).max()
}

fn direction(of: &Value, findings: &mut Vec<Finding>) -> Option<Direction> {
    let operations = of["total_ios"].as_u64()?;
    if operations == 0 {
        return None;
    }
    // fio 2 counted KiB, and had no io_kbytes.
    let is_old = of.get("io_kbytes").is_none();
    if is_old {
        findings.push(note("io_bytes are KiB, as in fio 2, which has no io_kbytes"));
    }
    let transferred = of["io_bytes"].as_u64()?.checked_mul(if is_old { 1024 } else { 1 })?;
    let rate = positive(&of["bw_bytes"]).or_else(|| positive(&of["bw"]).map(|kib| kib * 1024.0));
    let iops = positive(&of["iops"]);
    if let Some(ms) = of["runtime"].as_f64().filter(|ms| *ms > 0.0) {
        let (made, made_bytes) = (operations as f64 * 1000.0 / ms, transferred as f64 * 1000.0 / ms);
        if let Some(iops) = iops.filter(|iops| (made - iops).abs() > ROUNDING * made) {
            findings.push(mismatch(format!("{operations} operations in {ms} ms are not {iops:.1} IOPS")));
        }
        // Rates of fio 2 are whole KiB.
        if let Some(rate) = rate.filter(|rate| (made_bytes - rate).abs() > ROUNDING * made_bytes + 1024.0) {
            findings.push(mismatch(format!("{transferred} bytes in {ms} ms are not {rate:.0} bytes per second")));
        }
    }
    let (latency_mean_ns, latency_stddev_ns, percentiles) = latencies(of);
    Some(Direction {
        bytes: Some(transferred),
        operations: Some(operations),
        bytes_per_second: rate,
        iops,
        latency_mean_ns,
        latency_stddev_ns,
        percentiles,
        threads: Vec::new(),
    })
}

/// What is told of syncs. Of `fdatasync` fio counts no operations, but latencies.
fn syncs(of: &Value, elapsed_ns: Option<u64>) -> Option<Direction> {
    let (latency_mean_ns, latency_stddev_ns, percentiles) = latencies(of);
    latency_mean_ns?;
    let counts = [&of["lat_ns"]["N"], &of["total_ios"]];
    let operations = counts.into_iter().find_map(|count| count.as_u64().filter(|count| *count > 0));
    let per_second = |count: u64| Some(count as f64 * 1e9 / elapsed_ns.filter(|ns| *ns > 0)? as f64);
    let iops = operations.and_then(per_second);
    Some(Direction { operations, iops, latency_mean_ns, latency_stddev_ns, percentiles, ..Direction::default() })
}

fn positive(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| *value >= 0.0 && *value < 1e18)
}

/// The mean, the standard deviation and the percentiles of one latency: of that with percentiles, as `lat_percentiles`
/// chooses it, and of completions where both have them or none has.
fn latencies(of: &Value) -> (Option<f64>, Option<f64>, Vec<Percentile>) {
    // Times are in nanoseconds, in fio 2 in microseconds.
    let known = [("clat_ns", 1.0), ("lat_ns", 1.0), ("clat", 1000.0), ("lat", 1000.0)];
    let told = known.map(|(name, factor)| (&of[name], factor, told_percentiles(&of[name], factor)));
    let is_measured = |latency: &Value| latency["mean"].as_f64().is_some_and(|mean| mean > 0.0);
    let with_percentiles = told.iter().find(|(.., percentiles)| !percentiles.is_empty());
    let Some((latency, factor, inside)) =
        with_percentiles.or_else(|| told.iter().find(|(latency, ..)| is_measured(latency)))
    else {
        return (None, None, Vec::new());
    };
    let number = |name: &str| positive(&latency[name]).map(|value| value * factor).filter(|_| is_measured(latency));
    let end = |name: &str, percent| number(name).map(|latency_ns| Percentile { percent, latency_ns });
    let percentiles = end("min", 0.0).into_iter().chain(inside.iter().copied()).chain(end("max", 100.0));
    (number("mean"), number("stddev"), percentiles.collect())
}

/// The percentiles of a latency in their order, without its ends.
fn told_percentiles(latency: &Value, factor: f64) -> Vec<Percentile> {
    let told = latency["percentile"].as_object().into_iter().flatten();
    let told = told.filter_map(|(name, value)| Some((name.parse::<f64>().ok()?, positive(value)?)));
    // Up to 3.1 fio filled its list up with "0.00".
    let inside = told.filter(|(percent, _)| *percent > 0.0 && *percent < 100.0);
    let mut percentiles: Vec<Percentile> =
        inside.map(|(percent, value)| Percentile { percent, latency_ns: value * factor }).collect();
    percentiles.sort_by(|one, other| one.percent.total_cmp(&other.percent));
    percentiles
}
