//! Whatever a record says, reports are whole.

use plimsoll_dialects::fio::lowering::CellOf;
use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    record::{Cell, NOT_RUN, Outcome, Window},
    results::{DirectionResult, ErrorCount, Interval},
    verification::VerificationResult,
};
use plimsoll_workload::plan::Work;
use proptest::prelude::*;
use serde_json::Value;

use crate::made_up::Run;

/// Options of a job that change its report.
fn options() -> impl Strategy<Value = Vec<String>> {
    let one = prop::sample::select(vec![
        "--rw=randrw",
        "--rw=write",
        "--numjobs=3",
        "--group_reporting=1",
        "--unified_rw_reporting=mixed",
        "--unified_rw_reporting=both",
        "--gtod_reduce=1",
        "--disable_clat=1",
        "--clat_percentiles=0",
        "--percentile_list=100:0.0001",
        "--continue_on_error=all",
        "--write_bw_log=y",
        "--write_lat_log=x",
        "--write_hist_log=x",
        "--per_job_logs=0",
        "--log_avg_msec=60000",
        "--significant_figures=1",
        "--unit_base=1",
        "--kb_base=1000",
        "--fsync=1",
        "--stats=0",
        "--stonewall=1",
        "--disk_util=0",
    ]);
    prop::collection::vec(one.prop_map(str::to_owned), 0..6)
}

/// Two jobs with any names and a description.
fn any_run() -> impl Strategy<Value = Run> {
    let name = "[^\0]{1,12}";
    (name, name, name, options(), options(), 0..2_u8).prop_map(|(first, second, description, own, others, total)| {
        // What fio wants to be the same in a group.
        let percentiles = format!("--lat_percentiles={total}");
        let fixed = ["--ioengine=null".to_owned(), "--size=1g".to_owned(), "--time_based".to_owned(), percentiles];
        let steady = ["--runtime=9", "--steadystate=lat:5%", "--steadystate_duration=2"].map(str::to_owned);
        let (first, second) = (format!("--name=a{first}"), format!("--name=b{second}"));
        let runtime = ["--runtime=9".to_owned(), format!("--description=c{description}")];
        let parts = [&[first][..], &fixed, &steady, &own, &[second][..], &fixed, &runtime, &others];
        let words = parts.concat();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Run::of(&words)
    })
}

/// Numbers of all magnitudes.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

fn result() -> impl Strategy<Value = Option<DirectionResult>> {
    let latencies = prop::collection::vec((0..1_u64 << 44, 0..1_u64 << 30), 0..5);
    let parts = (number(), number(), number(), any::<bool>(), latencies);
    prop::option::of(parts.prop_map(|(operations, bytes, elapsed_ns, is_fine, latencies)| {
        let mut histogram = if is_fine { LatencyHistogram::fine() } else { LatencyHistogram::coarse() };
        latencies.into_iter().for_each(|(ns, count)| histogram.record_many(ns, count));
        DirectionResult::new(operations, bytes, elapsed_ns, histogram)
    }))
}

fn interval() -> impl Strategy<Value = Interval> {
    (number(), prop_oneof![Just(1_000_000_000), number()], any::<bool>(), number(), number()).prop_map(
        |(t_ns, length_ns, measured, read_operations, write_bytes)| Interval {
            t_ns,
            length_ns,
            measured,
            read_operations,
            write_bytes,
            p50_ns: Some(read_operations),
            read_mean_ns: Some(write_bytes),
            write_mean_ns: Some(t_ns),
            ..Interval::default()
        },
    )
}

/// What is done to a cell.
fn change() -> impl Strategy<Value = Change> {
    let parts = (
        (result(), result(), result()),
        prop::collection::vec(interval(), 0..6),
        (any::<u32>(), any::<u32>(), any::<u32>(), prop::option::of(0..2_u32)),
        (number(), number(), number(), number()),
        (".*", number(), any::<bool>(), any::<bool>()),
    );
    parts.prop_map(|(results, series, plan, numbers, (text, count, has_slots, has_verdict))| Change {
        results,
        series,
        plan,
        numbers,
        text,
        count,
        has_slots,
        has_verdict,
    })
}

type Results = (Option<DirectionResult>, Option<DirectionResult>, Option<DirectionResult>);

#[derive(Clone, Debug)]
struct Change {
    results: Results,
    series: Vec<Interval>,
    plan: (u32, u32, u32, Option<u32>),
    numbers: (u64, u64, u64, u64),
    text: String,
    count: u64,
    has_slots: bool,
    has_verdict: bool,
}

impl Change {
    fn apply(&self, cell: &mut Cell) {
        (cell.read, cell.write, cell.sync) = self.results.clone();
        cell.series.clone_from(&self.series);
        let plan = cell.plan.as_mut().and_then(Work::blocks_mut).unwrap();
        (plan.jobs, plan.queue_depth, plan.batch, cell.phase) = self.plan;
        let (user_ns, busy_ns, queue_ns, from_ns) = self.numbers;
        cell.cpu.user_ns = user_ns;
        if let Some(device) = &mut cell.device {
            (device.busy_ns, device.queue_ns, device.read_operations) = (busy_ns, queue_ns, queue_ns);
            device.name.clone_from(&self.text);
        }
        cell.window = self.has_slots.then_some(Window { from_ns, to_ns: busy_ns });
        cell.slots
            .iter_mut()
            .for_each(|slot| (slot.from_ns, slot.elapsed_ns, slot.ramp_ns) = (from_ns, user_ns, busy_ns));
        if !self.has_slots {
            cell.slots.clear();
        }
        if !self.has_verdict {
            (cell.verdict, cell.estimate) = (None, None);
            cell.verdict_reason = Some(format!("{NOT_RUN}: {}", self.text));
        }
        let error = ErrorCount {
            operation: "read".to_owned(),
            error: self.text.clone(),
            count: self.count,
            first_offset: 0,
            first_file: None,
        };
        cell.error_kinds = vec![error.clone(), error];
        cell.verification = Some(VerificationResult {
            mismatches: self.count,
            blocks_read_back: self.count,
            read_back_ns: self.count,
            read_back_histogram: cell.read.as_ref().map(|result| result.histogram.clone()),
            ..VerificationResult::default()
        });
    }
}

/// Whether text is JSON, with all objects that readers follow.
fn is_whole(text: &str) -> bool {
    let report: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let is_told = |job: &Value| job["plimsoll"].is_object() && (job["read"].is_object() || job["mixed"].is_object());
    report["jobs"].as_array().unwrap().iter().all(is_told)
}

/// How many fields the terse line of each job has, by what its JSON has.
fn terse_fields(report: &Value, version: u8) -> Vec<usize> {
    let of_direction = if version == 5 { 47 } else { 41 };
    let disks = report["disk_util"].as_array().map_or(0, Vec::len);
    let of = |job: &Value| {
        let directions = ["read", "write", "trim", "mixed"].iter().filter(|name| job.get(name).is_some()).count();
        // Version 3 does not know trims.
        let directions = if version == 3 && job.get("trim").is_some() { directions - 1 } else { directions };
        let errors = if job.get("total_err").is_some() { 2 } else { 0 };
        39 + directions * of_direction + disks * 9 + errors + usize::from(job.get("desc").is_some())
    };
    report["jobs"].as_array().unwrap().iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_record_has_whole_reports(
        mut run in any_run(),
        changes in prop::collection::vec(prop::option::of(change()), 8),
        outcome in prop::sample::select(vec![
            Outcome::Complete, Outcome::Interrupted, Outcome::Failed, Outcome::Lost,
        ]),
        lost in 0..4_usize,
        strays in prop::collection::vec((0..4_usize, any::<u32>()), 0..2),
    ) {
        run.record.outcome = outcome;
        for (cell, change) in run.record.cells.iter_mut().zip(&changes) {
            if let Some(change) = change {
                change.apply(cell);
            }
        }
        run.record.cells.truncate(run.record.cells.len().saturating_sub(lost));
        run.cells.extend(strays.into_iter().map(|(job, clone)| CellOf { job, clone: clone >> 1 }));
        prop_assert!(is_whole(&run.reported().json(false)) && is_whole(&run.reported().json(true)));
        let report: Value = serde_json::from_str(&run.reported().json(false)).unwrap();
        for version in [3, 4, 5] {
            let text = run.reported().terse(version);
            let fields: Vec<usize> = text.lines().map(|line| line.split(';').count()).collect();
            prop_assert_eq!(fields, terse_fields(&report, version), "version {}: {}", version, text);
        }
        let normal = run.reported().normal();
        prop_assert!(normal.contains("\nplimsoll: "));
        for file in run.reported().logs().files {
            let is_line = |line: &str| line.split(", ").all(|field| field.parse::<i64>().is_ok() || field.len() > 18);
            prop_assert!(file.text.lines().all(is_line), "{}: {}", file.name, file.text);
        }
    }
}
