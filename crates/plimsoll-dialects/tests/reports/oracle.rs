//! Our reports beside those of fio, of the same jobs: the same keys in the same order with values of the same types,
//! and from the same numbers the same words.

use std::process::Command;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::results::DirectionResult;
use serde_json::Value;

use crate::made_up::{Run, skipped};

/// What fio prints for jobs that touch no storage; none when it is not there.
fn fio(options: &[&str]) -> Option<String> {
    let output = Command::new("fio").args(options).output().ok()?;
    assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The JSON in a text that may have other formats before and after it.
fn json_in(text: &str) -> Value {
    let (begin, end) = (text.find("\n{\n").map_or(0, |at| at + 1), text.find("\n}\n").unwrap() + 2);
    serde_json::from_str(&text[begin..end]).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const JOB: [&str; 6] = ["--name=job", "--ioengine=null", "--size=8m", "--bs=4k", "--rw=randrw", "--norandommap=1"];

/// What is told differently of different jobs.
const VARIANTS: &[&[&str]] = &[
    &[],
    &["--fsync=16"],
    &["--numjobs=2"],
    &["--numjobs=2", "--group_reporting=1"],
    &["--unified_rw_reporting=mixed"],
    &["--unified_rw_reporting=both"],
    &["--gtod_reduce=1"],
    &["--disable_clat=1"],
    &["--disable_lat=1"],
    &["--clat_percentiles=0"],
    &["--lat_percentiles=1"],
    &["--percentile_list=99.99:5:50"],
    &["--description=a \"quoted\" word"],
    &["--continue_on_error=all"],
    &["--time_based=1", "--runtime=3", "--steadystate=iops_slope:5%", "--steadystate_duration=2", "--rate_iops=500"],
    &["--latency_target=10ms", "--latency_window=1s", "--latency_percentile=99.9", "--runtime=1"],
    &["--output-format=json+"],
    &["--name=next", "--ioengine=null", "--size=1m", "--rw=read", "--stonewall=1"],
];

/// What newer versions of fio than the oldest one that is installed somewhere tell as well.
const ADDED: &[&str] = &["job_start", "latency_target_ns", "latency_window_us"];

/// Where two values are not of the same form.
fn differences(theirs: &Value, ours: &Value, path: &str, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            // Buckets have no names in common.
            if path.ends_with("/bins") {
                return;
            }
            let is_known = |key: &&String| !ADDED.contains(&key.as_str()) && key.as_str() != "plimsoll";
            let (left, right): (Vec<_>, Vec<_>) = (theirs.keys().collect(), ours.keys().filter(is_known).collect());
            if left != right {
                found.push(format!("{path}: {left:?} and {right:?}"));
            }
            for (key, value) in theirs {
                if let Some(other) = ours.get(key) {
                    differences(value, other, &format!("{path}/{key}"), found);
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) => {
            let (Some(left), Some(right)) = (theirs.first(), ours.first()) else { return };
            differences(left, right, &format!("{path}/0"), found);
        }
        (Value::Number(left), Value::Number(right)) if left.is_f64() == right.is_f64() => {}
        (Value::String(left), Value::String(right)) => {
            if path.contains(" options/") && left != right {
                found.push(format!("{path}: {left} and {right}"));
            }
        }
        _ => found.push(format!("{path}: {theirs} and {ours}")),
    }
}

#[test]
fn every_object_has_the_keys_of_fio_in_its_order_with_values_of_its_types() {
    for variant in VARIANTS {
        let options = [&["--output-format=json"], &JOB[..], variant].concat();
        let Some(text) = fio(&options) else { return skipped("fio") };
        let mut run = Run::of(&options);
        // Nothing here has a disk.
        run.record.cells.iter_mut().for_each(|cell| cell.device = None);
        let ours = serde_json::from_str(&run.reported().text()).unwrap();
        let mut found = Vec::new();
        differences(&json_in(&text), &ours, "", &mut found);
        assert!(found.is_empty(), "{variant:?}\n{}", found.join("\n"));
    }
}

#[test]
fn json_is_laid_out_line_by_line_as_by_fio() {
    let options = [&["--output-format=json"], &JOB[..]].concat();
    let Some(theirs) = fio(&options) else { return skipped("fio") };
    let mut run = Run::of(&options);
    run.record.cells.iter_mut().for_each(|cell| cell.device = None);
    let ours = run.reported().text();
    let form = |text: &str| -> Vec<String> { text.lines().map(without_values).collect() };
    let (theirs, mut ours) = (form(&theirs), form(&ours).into_iter());
    for line in theirs.iter().filter(|line| line.trim().len() > 2) {
        assert!(ours.any(|other| other.trim_end_matches(',') == line.trim_end_matches(',')), "{line}");
    }
}

/// `"iops" : 248000.000000,` becomes `"iops" : #.######,`.
fn without_values(line: &str) -> String {
    let Some((key, value)) = line.split_once(" : ") else { return line.to_owned() };
    let text = if value.starts_with('"') { "\"\"" } else { "" };
    let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.matches(char::is_numeric).count());
    format!("{key} : {text}{}", if text.is_empty() { decimals } else { 0 })
}

/// Takes what fio measured into our record, so that both reports are about the same numbers.
fn take_over(run: &mut Run, report: &Value) {
    for (cell, job) in run.record.cells.iter_mut().zip(report["jobs"].as_array().unwrap()) {
        for (result, name) in [(&mut cell.read, "read"), (&mut cell.write, "write")] {
            let of = &job[name];
            let number = |value: &Value| value.as_u64().unwrap();
            let mut histogram = LatencyHistogram::fine();
            if let Some(bins) = of["clat_ns"]["bins"].as_object() {
                bins.iter().for_each(|(ns, count)| histogram.record_many(ns.parse().unwrap(), number(count)));
            }
            let elapsed_ns = number(&of["runtime"]) * 1_000_000;
            *result =
                Some(DirectionResult::new(number(&of["total_ios"]), number(&of["io_bytes"]), elapsed_ns, histogram));
        }
        cell.series.clear();
        cell.device = None;
    }
}

/// The lines about which both can agree: not those of percentiles and means, because buckets differ, nor those of
/// processors and depths. Reads and writes together beside each are zeros in fio 3.33, whose group has the least and
/// the most of single directions beside the sum of both.
fn comparable(text: &str) -> Vec<String> {
    let begins = ["  read: ", "  write: ", "   READ: ", "  WRITE: ", "Run status", "Starting"];
    let is_header = |line: &str| line.contains(": (g=") || line == "...";
    let lines = text.lines().filter(|line| is_header(line) || begins.iter().any(|begin| line.starts_with(begin)));
    lines.map(|line| line.split("; ").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_same_numbers_are_the_same_words() {
    let mut compared = 0;
    for (size, block, options) in [
        ("37k", "1k", &["--rw=read"][..]),
        ("1m", "4k", &["--rw=randrw"]),
        ("9999k", "3k,5k", &["--rw=randwrite", "--numjobs=2"]),
        ("10m", "8k", &["--rw=rw", "--kb_base=1000"]),
        ("64m", "64k", &["--rw=randrw", "--unit_base=1", "--iodepth=8"]),
        ("100m", "1m", &["--rw=write", "--significant_figures=6", "--thread=1"]),
        ("333m", "512k-1m", &["--rw=randread", "--numjobs=3", "--group_reporting=1"]),
        ("1g", "1m", &["--rw=randrw", "--unified_rw_reporting=both", "--significant_figures=2"]),
        (
            "2m",
            "4k",
            &["--rw=randrw", "--rate_iops=900", "--name=next", "--ioengine=null", "--size=3m", "--stonewall=1"],
        ),
    ] {
        let block = if block.contains('-') { format!("--bsrange={block}") } else { format!("--bs={block}") };
        let size = format!("--size={size}");
        let first = ["--output-format=normal,json+", "--name=job", "--ioengine=null", &size, &block];
        let options = [&first[..], options].concat();
        let Some(theirs) = fio(&options) else { return skipped("fio") };
        let report = json_in(&theirs);
        let mut run = Run::of(&options);
        take_over(&mut run, &report);
        let version = report["fio version"].as_str().unwrap();
        let ours = plimsoll_dialects::fio::report::header(&run.jobs, version) + &run.reported().normal();
        let (theirs, ours) = (comparable(&theirs), comparable(&ours));
        compared += theirs.len();
        assert_eq!(theirs, ours, "{options:?}");
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn percentiles_are_laid_out_as_by_fio() {
    for options in [&[][..], &["--percentile_list=50:99"], &["--percentile_list=1:99.9999:99.5"]] {
        let first = ["--output-format=normal,json+", "--name=job", "--ioengine=null", "--size=4m", "--bs=4k"];
        let options = [&first[..], options].concat();
        let Some(theirs) = fio(&options) else { return skipped("fio") };
        let mut run = Run::of(&options);
        take_over(&mut run, &json_in(&theirs));
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with("     | ") || line.contains("percentiles ("));
            // The value in brackets is near, and as wide.
            lines.map(blanked).collect()
        };
        assert_eq!(lines(&theirs), lines(&run.reported().normal()), "{options:?}");
    }
}

/// Values in brackets become as many dots.
fn blanked(line: &str) -> String {
    let mut is_inside = false;
    let blank = |c: char| {
        is_inside = (is_inside || c == '[') && c != ']';
        if is_inside && c != '[' { '.' } else { c }
    };
    line.chars().map(blank).collect()
}

#[test]
fn terse_lines_have_the_fields_of_fio() {
    for version in ["2", "3", "4", "5"] {
        for option in ["--bs=4k", "--continue_on_error=all", "--description=words", "--unified_rw_reporting=both"] {
            let terse = ["--output-format=terse", "--terse-version", version];
            let options = [&terse[..], &JOB, &[option]].concat();
            let Some(theirs) = fio(&options) else { return skipped("fio") };
            let mut run = Run::of(&options);
            run.record.cells.iter_mut().for_each(|cell| cell.device = None);
            let ours = run.reported().text();
            let form = |text: &str| -> Vec<String> {
                let fields = text.trim_end().split(';').enumerate();
                fields
                    .map(
                        |(at, field)| {
                            if at < 4 { field.replace("fio-", "").len().min(1).to_string() } else { kind(field) }
                        },
                    )
                    .collect()
            };
            assert_eq!(form(&theirs), form(&ours), "version {version}, {option}");
        }
    }
}

/// What kind of field this is: `50.000000%=7` has a percentage with six decimals before a whole number.
fn kind(field: &str) -> String {
    let mut kind: String = field.chars().map(|c| if c.is_numeric() { '0' } else { c }).collect();
    while kind.contains("000") {
        kind = kind.replace("000", "00");
    }
    // A whole part is as long as its number.
    kind.replace("00.", "0.").replace("=00", "=0").replace("00%", "0%").replace("00", "0")
}
