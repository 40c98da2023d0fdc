//! diskspd's XML results: one result for each time span.

use std::{collections::BTreeSet, ops::RangeInclusive};

use plimsoll_record::told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, mismatch};
use plimsoll_workload::settings::ReadWrite;

use super::{RESULTS_MAX, agreed, diskspd_text::several, numbers::moment, passage::Passage, result};
use crate::xml_tree::{self, Element};

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let (mut found, mut index) = (Vec::new(), 0);
    while index < passage.lines.len() && found.len() <= RESULTS_MAX {
        let first = index;
        index += 1;
        let Some(column) = passage.line(first).find("<Results>") else { continue };
        let end = (first..passage.lines.len()).find(|line| passage.line(*line).contains("</Results>"));
        let Some(last) = end else { break };
        index = last + 1;
        let text = passage.lines[first..=last].join("\n");
        let text = &text[column..];
        let text = text.find("</Results>").map_or(text, |end| &text[..end + "</Results>".len()]);
        let Ok(root) = xml_tree::parse(text) else { continue };
        let asked = root.child("Profile").and_then(|profile| profile.child("TimeSpans"));
        let asked: Vec<&Element> = asked.map(|spans| spans.children.iter().collect()).unwrap_or_default();
        let spans = root.children.iter().filter(|child| child.name == "TimeSpan");
        for (number, span) in spans.enumerate() {
            found.extend(span_result(passage, first..=last, (&root, span), asked.get(number).copied()));
        }
    }
    found
}

fn text<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    element.child(name).map(|child| child.text.as_str())
}

fn number<T: std::str::FromStr>(element: &Element, name: &str) -> Option<T> {
    text(element, name)?.parse().ok()
}

fn span_result(
    passage: &Passage<'_>,
    lines: RangeInclusive<usize>,
    (root, span): (&Element, &Element),
    asked: Option<&Element>,
) -> Option<FoundResult> {
    let seconds: f64 = number(span, "TestTimeSeconds").filter(|seconds: &f64| (1e-3..1e9).contains(seconds))?;
    let count = |name: &str| asked.and_then(|asked| number::<u64>(asked, name)).filter(|count| *count > 0);
    // With -F and -O threads and operations in flight are those of the time span, and what targets say has no effect.
    let depth_in_all = count("ThreadCount").and(count("RequestCount"));
    let asked = asked.and_then(|asked| asked.child("Targets")).into_iter().flat_map(|targets| &targets.children);
    let asked: Vec<&Element> = asked.filter(|child| child.name == "Target").collect();
    let targets = span.children.iter().filter(|child| child.name == "Thread").flat_map(|thread| &thread.children);
    let threads: Vec<&Element> = targets.filter(|child| child.name == "Target").collect();
    if threads.is_empty() {
        return None;
    }
    let mut findings = Vec::new();
    for thread in &threads {
        let sum = |names: [&str; 2]| {
            let [one, other] = names.map(|name| number::<u64>(thread, name));
            one?.checked_add(other?)
        };
        if number(thread, "BytesCount") != sum(["ReadBytes", "WriteBytes"]) {
            findings.push(mismatch("a thread's bytes read and written together are not its bytes"));
        }
        if number(thread, "IOCount") != sum(["ReadCount", "WriteCount"]) {
            findings.push(mismatch("a thread's reads and writes together are not its operations"));
        }
    }
    findings.dedup();
    let latency = span.child("Latency");
    let reads = |target: &Element| 100 - number(target, "WriteRatio").unwrap_or(0_u8).min(100);
    let is_random = |target: &Element| match number::<u8>(target, "RandomRatio") {
        Some(0) => Some(false),
        // Some of its operations are random.
        Some(1..=99) => None,
        _ => Some(target.child("Random").is_some()),
    };
    let access = |target: &Element| Some(ReadWrite::of(reads(target), is_random(target)?).to_string());
    let direction = |name: &str| direction(&threads, latency, name, seconds);
    let measured = Measured::Transfers(Box::new(Transfers {
        pattern: agreed(asked.iter().map(|target| access(target))),
        read_percent: agreed(asked.iter().map(|target| Some(reads(target)))),
        block_size_bytes: agreed(asked.iter().map(|target| number(target, "BlockSize"))),
        queue_depth: match depth_in_all {
            // Several targets share them.
            Some(depth) => Some(depth).filter(|_| asked.len() == 1),
            None => agreed(asked.iter().map(|target| number(target, "RequestCount"))),
        },
        jobs: number(span, "ThreadCount"),
        elapsed_ns: Some((seconds * 1e9).round() as u64),
        read: direction("Read"),
        write: direction("Write"),
        total: direction("Total"),
        ..Transfers::default()
    }));
    let paths: BTreeSet<&str> = threads.iter().filter_map(|thread| text(thread, "Path")).collect();
    let run_time = root.child("System").and_then(|system| text(system, "RunTime"));
    let found = result(passage, Source::DiskspdXml, lines, measured, findings);
    let started = run_time.and_then(|time| moment(time, "%Y/%m/%d %H:%M:%S"));
    Some(FoundResult { target: several(&paths), started, ..found })
}

/// A direction, or both for the name of the total.
fn direction(threads: &[&Element], latency: Option<&Element>, name: &str, seconds: f64) -> Option<Direction> {
    let (bytes_name, count_name) = match name {
        "Total" => ("BytesCount".to_owned(), "IOCount".to_owned()),
        name => (format!("{name}Bytes"), format!("{name}Count")),
    };
    let of_thread = |thread: &&Element| {
        Some(Direction {
            bytes: Some(number(thread, &bytes_name)?),
            operations: Some(number(thread, &count_name)?),
            ..Direction::default()
        })
    };
    let each: Vec<Direction> = threads.iter().map(of_thread).collect::<Option<_>>()?;
    let sum = |of: fn(&Direction) -> Option<u64>| each.iter().filter_map(of).fold(0_u64, u64::saturating_add);
    let (bytes, operations) = (sum(|thread| thread.bytes), sum(|thread| thread.operations));
    let milliseconds = |element: &Element, name: &str| number::<f64>(element, name).map(|ms| ms * 1e6);
    let bucket = |bucket: &Element| {
        let latency_ns = milliseconds(bucket, &format!("{name}Milliseconds"))?;
        Some(Percentile { percent: number(bucket, "Percentile")?, latency_ns })
    };
    let buckets = latency.into_iter().flat_map(|latency| latency.children.iter().filter(|of| of.name == "Bucket"));
    let deviation = if name == "Total" { "LatencyStdev".to_owned() } else { format!("{name}LatencyStdev") };
    (operations > 0).then(|| Direction {
        bytes: Some(bytes),
        operations: Some(operations),
        bytes_per_second: Some(bytes as f64 / seconds),
        iops: Some(operations as f64 / seconds),
        latency_mean_ns: latency.and_then(|of| milliseconds(of, &format!("Average{name}Milliseconds"))),
        latency_stddev_ns: latency.and_then(|of| milliseconds(of, &deviation)),
        percentiles: buckets.filter_map(bucket).collect(),
        threads: each,
    })
}
