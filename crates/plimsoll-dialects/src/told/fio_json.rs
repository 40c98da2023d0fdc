//! fio's JSON, also where a log surrounds it: one result for each job.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, mismatch, note},
};
use serde_json::Value;

use super::{clones, numbers::bytes, passage::Passage, result};

/// Texts are read from so many beginnings only, as each may be read to its end in vain.
const BEGINNINGS_MAX: usize = 1000;
/// All beginnings together may cost so many times the text.
const COST_MAX: usize = 8;

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let text_bytes: usize = passage.lines.iter().map(|line| line.len() + 1).sum();
    let (mut found, mut index, mut cost) = (Vec::new(), 0, 0);
    let mut beginnings = 0;
    while index < passage.lines.len() && beginnings < BEGINNINGS_MAX && cost <= COST_MAX * text_bytes {
        let Some(column) = beginning(passage.line(index)) else {
            index += 1;
            continue;
        };
        beginnings += 1;
        // Lines that end differently are as good as those that end with a line feed.
        let rest = passage.lines[index..].join("\n");
        cost += rest.len();
        let mut values = serde_json::Deserializer::from_str(&rest[column..]).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        let Some(jobs) = value.as_ref().and_then(|value| value["fio version"].as_str().and(value["jobs"].as_array()))
        else {
            index += 1;
            continue;
        };
        let last = index + rest[..column + values.byte_offset()].matches('\n').count();
        let value = value.as_ref().unwrap_or(&Value::Null);
        let jobs = jobs.iter().filter_map(|job| job_result(passage, index..=last, value, job));
        found.extend(clones::merge(jobs.collect()));
        index = last + 1;
    }
    found
}

/// Where on a line a report may begin.
fn beginning(line: &str) -> Option<usize> {
    let column = line.find('{')?;
    let inside = line[column + 1..].trim();
    (inside.is_empty() || inside.starts_with("\"fio version\"")).then_some(column)
}

fn job_result(passage: &Passage<'_>, lines: RangeInclusive<usize>, report: &Value, job: &Value) -> Option<FoundResult> {
    let option = |names: &[&str]| {
        let all = names.iter().flat_map(|name| [&job["job options"][*name], &report["global options"][*name]]);
        all.into_iter().find_map(Value::as_str).map(str::to_owned)
    };
    let block = option(&["bs", "blocksize"]).and_then(|size| bytes(&size.to_ascii_uppercase()).or(size.parse().ok()));
    let mut findings = Vec::new();
    let directions = ["read", "write"].map(|name| direction(&job[name], &mut findings));
    if directions.iter().all(Option::is_none) {
        return None;
    }
    if let Some(error) = job["error"].as_i64().filter(|error| *error != 0) {
        findings.push(mismatch(format!("the job ended with error {error}")));
    }
    let elapsed_ms = ["read", "write"].map(|name| job[name]["runtime"].as_u64()).into_iter().flatten().max();
    let [read, write] = directions;
    findings.dedup();
    let measured = Measured::Transfers(Box::new(Transfers {
        pattern: option(&["rw", "readwrite"]),
        read_percent: option(&["rwmixread"]).and_then(|percent| percent.parse().ok()).filter(|percent| *percent <= 100),
        block_size_bytes: block.map(|bytes| bytes as u64).filter(|bytes| *bytes > 0),
        queue_depth: option(&["iodepth"]).and_then(|depth| depth.parse().ok()),
        jobs: option(&["numjobs"]).and_then(|jobs| jobs.parse().ok()),
        elapsed_ns: elapsed_ms.and_then(|ms| ms.checked_mul(1_000_000)),
        read,
        write,
        engine: option(&["ioengine"]),
        errors: job["total_err"].as_u64().filter(|errors| *errors > 0),
        total: None,
    }));
    let found = result(passage, Source::FioJson, lines, measured, findings);
    Some(FoundResult {
        target: option(&["filename", "directory"]),
        workload: job["jobname"].as_str().map(str::to_owned),
        // The time of the report is that of its end.
        started: started(report, elapsed_ms.unwrap_or(0)),
        ..found
    })
}

fn started(report: &Value, elapsed_ms: u64) -> Option<Timestamp> {
    let seconds = report["timestamp"].as_i64().and_then(|seconds| seconds.checked_mul(1000));
    let end_ms = report["timestamp_ms"].as_i64().or(seconds)?;
    Timestamp::from_millisecond(end_ms.checked_sub(i64::try_from(elapsed_ms).ok()?)?).ok()
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
    let rate = of["bw_bytes"].as_f64().or_else(|| of["bw"].as_f64().map(|kib| kib * 1024.0));
    let iops = of["iops"].as_f64();
    if let (Some(ms), Some(iops)) = (of["runtime"].as_f64().filter(|ms| *ms > 0.0), iops)
        && (operations as f64 * 1000.0 / ms / iops.max(f64::MIN_POSITIVE) - 1.0).abs() > 0.01
    {
        findings.push(mismatch(format!("{operations} operations in {ms} ms are not {iops:.1} IOPS")));
    }
    // Times are in nanoseconds, in fio 2 in microseconds.
    let latencies = [("clat_ns", 1.0), ("lat_ns", 1.0), ("clat", 1000.0), ("lat", 1000.0)];
    let (latency, factor) = latencies.into_iter().find_map(|(name, factor)| {
        of.get(name).filter(|latency| latency["mean"].as_f64().is_some_and(|mean| mean > 0.0)).map(|of| (of, factor))
    })?;
    let number = |name: &str| latency[name].as_f64().map(|value| value * factor);
    let mut percentiles: Vec<Percentile> = Vec::new();
    percentiles.extend(number("min").map(|latency_ns| Percentile { percent: 0.0, latency_ns }));
    for (name, value) in latency["percentile"].as_object().into_iter().flatten() {
        if let (Ok(percent), Some(value)) = (name.parse::<f64>(), value.as_f64())
            && (0.0..100.0).contains(&percent)
        {
            percentiles.push(Percentile { percent, latency_ns: value * factor });
        }
    }
    percentiles.extend(number("max").map(|latency_ns| Percentile { percent: 100.0, latency_ns }));
    percentiles.sort_by(|one, other| one.percent.total_cmp(&other.percent));
    Some(Direction {
        bytes: Some(transferred),
        operations: Some(operations),
        bytes_per_second: rate,
        iops,
        latency_mean_ns: number("mean"),
        latency_stddev_ns: number("stddev"),
        percentiles,
        threads: Vec::new(),
    })
}
