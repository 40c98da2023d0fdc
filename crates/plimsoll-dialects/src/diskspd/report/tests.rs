//! Reports of a run that never happened.

use std::{fs, path::Path};

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{results::JobResult, told::Direction, upgrade};

use super::{
    super::{Asked, Surroundings, lowering::lower, translate},
    *,
};
use crate::{
    found::{Found, FoundKind},
    told, xml_tree,
};

const SECOND_NS: u64 = 1_000_000_000;

fn asked(line: &str) -> Asked {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut none = |_: &str| Ok(None);
    translate(&words, &mut Surroundings { fresh_seed: 5, read_file: &mut none }).unwrap()
}

/// So many operations of a millisecond and some, the same ones each time.
fn latencies(count: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::fine();
    (0..count).for_each(|index| histogram.record_many(1_000_000 + index * 1000, 1));
    histogram
}

/// A run of two seconds that never happened: each thread of each target did a little more than the one before.
fn report(line: &str) -> String {
    let asked = asked(line);
    let look = |path: &str| path.ends_with(".dat").then_some(Found { kind: FoundKind::File, size_bytes: 1 << 30 });
    let lowered = lower(&asked, &look).unwrap_or_else(|problems| panic!("{line}: {problems}"));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
    let mut record = upgrade::read(&fs::read_to_string(fixture).unwrap()).unwrap();
    let mut cell = record.cells.swap_remove(0);
    cell.job_results.clear();
    cell.findings.clear();
    cell.error_kinds.clear();
    cell.verdict = Some(Verdict::Short);
    cell.client = Some(plimsoll_record::client::ClientActivity {
        span_ns: 2 * SECOND_NS,
        processors: (0..2)
            .map(|number| ProcessorActivity { number, busy_ns: SECOND_NS / 2, user_ns: SECOND_NS / 8 })
            .collect(),
        ..Default::default()
    });
    let second = cell.series.first().cloned().unwrap_or_default();
    record.warnings.clear();
    record.environment.machine.hostname = Some("node-1".to_owned());
    record.environment.machine.processors_online = Some(2);
    record.cells.clear();
    for (workload, of) in lowered.plan.workloads.iter().zip(&lowered.cells) {
        let target = &asked.profile.spans[of.span].targets[of.target];
        let block = u64::from(target.block_size);
        let threads = workload.jobs.as_ref().map_or(1, |jobs| jobs.values()[0]);
        let operations = |thread: u64, writes: bool| {
            let share = if writes { target.write_percent } else { 100 - target.write_percent };
            (1000 + thread) * u64::from(share) / 100
        };
        let mut cell = cell.clone();
        let direction = |writes: bool| {
            let count = (0..u64::from(threads)).map(|thread| operations(thread, writes)).sum::<u64>();
            (count > 0).then(|| DirectionResult::new(count, count * block, 2 * SECOND_NS, latencies(count)))
        };
        (cell.read, cell.write) = (direction(false), direction(true));
        let of_thread = |thread: u64, writes: bool| {
            let count = operations(thread, writes);
            (count > 0).then(|| JobDirection::of(count, count * block, &latencies(count)))
        };
        if threads > 1 {
            let job = |thread| JobResult { read: of_thread(thread, false), write: of_thread(thread, true) };
            cell.job_results = (0..u64::from(threads)).map(job).collect();
        }
        let half = |result: &Option<DirectionResult>| result.as_ref().map_or(0, |result| result.operations / 2);
        let second = Interval {
            length_ns: SECOND_NS,
            measured: true,
            read_operations: half(&cell.read),
            write_operations: half(&cell.write),
            ..second.clone()
        };
        cell.series = vec![second.clone(), second];
        cell.target = target.path.clone();
        record.cells.push(cell);
    }
    let command_line = format!("diskspd {line}");
    let notes: Vec<String> = lowered.notes.iter().map(ToString::to_string).collect();
    Reported {
        profile: &asked.profile,
        command_line: &command_line,
        record: &record,
        cells: &lowered.cells,
        notes: &notes,
        is_kept: true,
    }
    .text()
}

#[test]
fn the_text_has_the_lines_of_diskspd() {
    insta::assert_snapshot!(report("-c1G -d2 -r -w50 -t3 -o8 -b4K -Sh -L -D f.dat"));
}

#[test]
fn several_targets_have_rows_and_charts_of_their_own() {
    let text = report("-d2 -r -t2 -Su -L a.dat b.dat");
    for line in ["     3 | ", "Latency distribution: a.dat", "Latency distribution: b.dat", "thread count:\t\t4"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let pool = report("-d2 -r -F2 -O4 -Su a.dat b.dat");
    let rows: Vec<&str> = pool.lines().filter(|line| line.ends_with(".dat (1GiB)")).collect();
    let threads: Vec<&str> = rows.iter().take(4).map(|row| row.split('|').next().unwrap().trim()).collect();
    assert_eq!(threads, ["0", "0", "1", "1"], "{pool}");
    assert!(pool.contains("thread pool with 2 threads") && pool.contains("request count:\t\t4"), "{pool}");
    assert!(!pool.contains("AvgLat"), "{pool}");
}

#[test]
fn the_numbers_of_xml_are_those_of_the_text() {
    let line = "-c1G -d2 -r -w50 -t3 -o8 -b4K -Sh -L -D f.dat";
    let root = xml_tree::parse(&report(&format!("-Rxml {line}"))).unwrap();
    assert_eq!(root.name, "Results");
    let span = root.child("TimeSpan").unwrap();
    let threads: Vec<_> = span.children.iter().filter(|child| child.name == "Thread").collect();
    let number = |thread: &&crate::xml_tree::Element, name: &str| -> u64 {
        thread.child("Target").unwrap().child(name).unwrap().text.parse().unwrap()
    };
    let sum = |name| threads.iter().map(|thread| number(thread, name)).sum::<u64>();
    let text = report(line);
    let total: Vec<&str> = text.lines().find(|line| line.starts_with("total:")).unwrap()[6..].split('|').collect();
    assert_eq!(total[0].trim().parse(), Ok(sum("BytesCount")));
    assert_eq!(total[1].trim().parse(), Ok(sum("IOCount")));
    assert_eq!(sum("IOCount"), sum("ReadCount") + sum("WriteCount"));
    let latency = span.child("Latency").unwrap();
    assert_eq!(latency.child("AverageTotalMilliseconds").unwrap().text.len(), 5);
    assert_eq!(latency.children.iter().filter(|child| child.name == "Bucket").count(), 108);
    assert_eq!(
        span.child("CpuUtilization").unwrap().child("Average").unwrap().child("UsagePercent").unwrap().text,
        "25.00"
    );
    assert_eq!(span.child("Iops").unwrap().child("IopsStdDev").unwrap().text, "0.000");
    let profile = root.child("Profile").unwrap();
    assert!(profile.child("TimeSpans").is_some());
}

#[test]
fn a_report_is_read_back_with_the_same_numbers() {
    let text = report("-c1G -d2 -r -w50 -t3 -o8 -b4K -Sh -L f.dat");
    let found = told::find(&text);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(result.findings, []);
    let load = result.told.transfers().unwrap();
    assert_eq!((load.pattern.as_deref(), load.block_size_bytes), (Some("randrw"), Some(4096)));
    assert_eq!((load.jobs, load.queue_depth, load.elapsed_ns), (Some(3), Some(8), Some(2 * SECOND_NS)));
    let [total, read, write] = [&load.total, &load.read, &load.write].map(|direction| direction.as_ref().unwrap());
    let operations = [total, read, write].map(|direction| direction.operations.unwrap());
    assert_eq!(operations, [3002, 1501, 1501]);
    assert_eq!((total.bytes, total.threads.len(), total.percentiles.len()), (Some(3002 * 4096), 3, 15));
    let xml = told::find(&report("-Rxml -c1G -d2 -r -w50 -t3 -o8 -b4K -Sh -L f.dat"));
    let [result] = xml.as_slice() else { panic!("{xml:?}") };
    assert_eq!(result.findings, []);
    let of_xml = result.told.transfers().unwrap();
    assert_eq!((&of_xml.pattern, of_xml.jobs, of_xml.elapsed_ns), (&load.pattern, load.jobs, load.elapsed_ns));
    for (one, other) in [(&load.total, &of_xml.total), (&load.read, &of_xml.read), (&load.write, &of_xml.write)] {
        let numbers = |of: &Direction| (of.bytes, of.operations, of.percentiles.first().copied());
        assert_eq!(numbers(one.as_ref().unwrap()), numbers(other.as_ref().unwrap()));
    }
}

#[test]
fn a_run_that_was_interrupted_before_it_began_says_so() {
    let asked = asked("-d2 -Su f.dat");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records/plimsoll-1.json");
    let record = upgrade::read(&fs::read_to_string(fixture).unwrap()).unwrap();
    let reported = |profile| {
        Reported { profile, command_line: "", record: &record, cells: &[], notes: &[], is_kept: false }.text()
    };
    assert!(reported(&asked.profile).contains("The test was interrupted before the measurements began."));
    let xml = Profile { format: ResultFormat::Xml, ..asked.profile.clone() };
    assert!(reported(&xml).contains("<Error>The test was interrupted"));
}
