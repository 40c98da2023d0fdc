//! What a history says.

use plimsoll_measure::{random::Random, verdict::Verdict};
use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record},
    told::{Direction, Measured, Transfers},
};
use plimsoll_workload::plan::Work;
use uuid::Uuid;

use super::*;
use crate::test_records::{self, Story, workloads};

/// A run number so many, an hour after the one before, with twelve visits to one cell that scatter by 2 %.
fn run(number: u64, iops: f64) -> Record {
    let mut story = Story::new(&["/mnt/data"], &workloads("canonical")[2..3]);
    for round in 0..12 {
        let noise: f64 = (0..12).map(|draw| Random::at(number, &[u64::from(round), draw]).unit()).sum::<f64>() - 6.0;
        let slot = story.slot(0, round, (iops * 0.02_f64.mul_add(noise, 1.0)) as u64, 4_000_000);
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
    }
    let mut record = story.end(120_000_000_000, Outcome::Complete);
    record.cells[0].verdict = Some(Verdict::Steady);
    record.id = Uuid::from_u128(u128::from(number) + 1);
    record.name = Some(format!("r{number}"));
    record.started = jiff::Timestamp::from_second(1_760_000_000 + 3600 * number as i64).unwrap();
    record
}

fn history(rates: &[f64]) -> Vec<Record> {
    rates.iter().enumerate().map(|(number, rate)| run(number as u64, *rate)).collect()
}

fn trends(records: &[Record]) -> Vec<Trend> {
    // The order in which runs are named says nothing.
    of(&records.iter().rev().collect::<Vec<_>>(), &[])
}

#[test]
fn runs_that_differ_by_chance_are_no_change() {
    let trends = trends(&history(&[5000.0; 12]));
    let [trend] = trends.as_slice() else { panic!("{trends:?}") };
    assert_eq!(trend.title, "iops-read on /mnt/data: no change over 12 runs");
    assert_eq!((trend.operation.as_str(), trend.points.len(), trend.changes.len()), ("read", 12, 0));
    assert!(trend.points.is_sorted_by_key(|point| point.started), "the oldest first");
    let [low, high] = trend.band.unwrap();
    assert!(trend.points.iter().all(|point| low <= point.iops && point.iops <= high), "{trend:?}");
    assert!(trend.points[0].word == "steady" && trend.points[0].p99_us.is_some());
}

#[test]
fn hardly_ever_is_chance_a_change() {
    let changes = |seed: u64| {
        let records: Vec<Record> = (0..10).map(|number| run(seed * 100 + number, 5000.0)).collect();
        trends(&records)[0].changes.len()
    };
    let false_alarms = (1..=60).filter(|seed| changes(*seed) > 0).count();
    // Of sixty histories without a change, three at most on average.
    assert!(false_alarms <= 7, "{false_alarms} of 60");
}

#[test]
fn a_rate_that_falls_begins_a_new_stretch() {
    let mut rates = [7600.0; 9];
    rates[5..].fill(3800.0);
    let trends = trends(&history(&rates));
    let [trend] = trends.as_slice() else { panic!("{trends:?}") };
    assert_eq!(trend.title, "iops-read on /mnt/data: fell by half with run r5");
    let [change] = trend.changes.as_slice() else { panic!("{trend:?}") };
    assert_eq!(change.at, 5);
    assert!(change.interval.is_some_and(|[low, high]| low < 0.5 && 0.5 < high), "{change:?}");
    assert!(change.text.contains(" IOPS -> 3,") && change.text.ends_with("] since run r5"), "{}", change.text);
    assert!(trend.band.is_some_and(|[_, high]| high < 4500.0), "of the last stretch alone: {:?}", trend.band);
}

#[test]
fn each_change_is_against_the_stretch_before() {
    let trends = trends(&history(&[5000.0, 5000.0, 6000.0, 6000.0, 5000.0]));
    let found: Vec<usize> = trends[0].changes.iter().map(|change| change.at).collect();
    assert_eq!(found, [2, 4]);
    assert!(
        trends[0].title.contains(": changed 2 times over 5 runs, at last with run r4: fell by 1"),
        "{}",
        trends[0].title
    );
}

#[test]
fn a_storage_that_does_nothing_is_a_change_without_a_ratio() {
    let trends = trends(&history(&[5000.0, 5000.0, 0.0, 0.0, 5000.0]));
    let [stopped, resumed] = trends[0].changes.as_slice() else { panic!("{trends:?}") };
    assert_eq!((stopped.at, stopped.ratio, resumed.at, resumed.ratio), (2, None, 4, None));
    assert!(stopped.text.ends_with(" IOPS -> 0: completed nothing since run r2"), "{}", stopped.text);
}

#[test]
fn a_run_that_measured_another_way_is_no_point() {
    let mut records = history(&[5000.0; 5]);
    records[1].cells[0].plan.as_mut().and_then(Work::blocks_mut).unwrap().queue_depth = 8;
    records[2].asked.background = Some("stress".to_owned());
    let found = trends(&records);
    let [trend] = found.as_slice() else { panic!("{found:?}") };
    let runs: Vec<Uuid> = trend.points.iter().map(|point| point.run).collect();
    assert_eq!(runs, [0, 3, 4].map(|number: usize| records[number].id));
    // Two runs of the other depth are a trend of their own, whose title says so.
    records[3].cells[0].plan.as_mut().and_then(Work::blocks_mut).unwrap().queue_depth = 8;
    let titles: Vec<String> = trends(&records).into_iter().map(|trend| trend.title).collect();
    assert_eq!(titles.len(), 2);
    assert_eq!(titles[1], "iops-read on /mnt/data (queue depth 8): no change over 2 runs");
}

#[test]
fn machines_are_told_apart_where_they_are_known() {
    let mut records = history(&[5000.0; 5]);
    for (record, name) in records.iter_mut().zip([Some("a"), Some("b"), None, Some("a"), Some("b")]) {
        record.environment.machine.hostname = name.map(str::to_owned);
    }
    let runs: Vec<usize> = trends(&records).iter().map(|trend| trend.points.len()).collect();
    assert_eq!(runs, [3, 2]);
}

#[test]
fn what_was_typed_alike_in_two_directories_is_two_targets() {
    let mut records = history(&[5000.0; 5]);
    for (record, path) in records.iter_mut().zip(["/mnt/a", "/mnt/b", "/mnt/a", "/mnt/b", "/mnt/a"]) {
        record.cells[0].target = ".".to_owned();
        let target = &mut record.environment.targets[0];
        (target.name, target.path) = (".".to_owned(), Some(path.to_owned()));
    }
    let found = trends(&records);
    let titles: Vec<&str> = found.iter().map(|trend| trend.title.as_str()).collect();
    let expected = ["iops-read on . (/mnt/a): no change over 3 runs", "iops-read on . (/mnt/b): no change over 2 runs"];
    assert_eq!(titles, expected);
}

#[test]
fn what_else_changed_stands_at_the_run() {
    let mut records = history(&[5000.0; 3]);
    for record in &mut records[1..] {
        record.environment.machine.kernel_release = Some("6.13.0".to_owned());
        record.tool.version = "0.2.0".to_owned();
        record.environment.targets[0].device.as_mut().unwrap().model = Some("Another".to_owned());
    }
    let found = trends(&records);
    let expected =
        ["kernel 6.12.0 -> 6.13.0", "plimsoll 0.1.0 -> 0.2.0", "model Amazon Elastic Block Store -> Another"];
    assert_eq!(found[0].points[1].environment, expected);
    assert!(found[0].points[0].environment.is_empty() && found[0].points[2].environment.is_empty());
}

#[test]
fn a_disk_whose_namespace_is_told_only_by_now_is_no_other_disk() {
    let mut records = history(&[5000.0; 3]);
    let serials = ["nvme_card-pd", "nvme_card-pd, namespace 2", "nvme_card-pd, namespace 3"];
    for (record, serial) in records.iter_mut().zip(serials) {
        record.environment.targets[0].device.as_mut().unwrap().serial = Some(serial.to_owned());
    }
    let found = trends(&records);
    assert_eq!(found[0].points[1].environment, [""; 0]);
    let expected = "serial number nvme_card-pd, namespace 2 -> nvme_card-pd, namespace 3";
    assert_eq!(found[0].points[2].environment, [expected]);
}

#[test]
fn runs_that_say_too_little_are_points_and_no_change() {
    let mut records = history(&[5000.0, 5000.0, 2000.0, 5000.0]);
    records[2].cells[0].slots.truncate(1);
    let result = records[2].cells[0].read.as_mut().unwrap();
    (result.iops_low, result.iops_high) = (None, None);
    let found = trends(&records);
    assert_eq!((found[0].points.len(), found[0].changes.len()), (4, 0));
    assert!(
        found[0].title.contains(": no change over 3 runs; 1 not compared: measured too briefly"),
        "{}",
        found[0].title
    );
}

#[test]
fn what_was_told_is_shown_without_a_claim_and_only_with_its_time() {
    let told = |number: u64, iops| {
        let read = Some(Direction { iops: Some(iops), ..Direction::default() });
        let transfers = Transfers { pattern: Some("randread".to_owned()), read, ..Transfers::default() };
        let mut record = test_records::told(&[("/mnt/data", "job", Measured::Transfers(Box::new(transfers)))]);
        record.id = Uuid::from_u128(u128::from(number));
        record
    };
    let mut records = [told(1, 100.0), told(2, 900.0)];
    assert_eq!(trends(&records), [], "their times are those of the import");
    for (record, second) in records.iter_mut().zip([1_500_000_000, 1_600_000_000]) {
        record.started = jiff::Timestamp::from_second(second).unwrap();
    }
    let found = trends(&records);
    assert_eq!(found[0].title, "job on /mnt/data: 2 runs, not compared: no interval was told");
    assert_eq!((found[0].points[1].iops.round(), found[0].changes.len()), (900.0, 0));
}

#[test]
fn each_trend_says_what_it_counts() {
    let found = trends(&history(&[5000.0; 2]));
    assert_eq!(serde_json::to_value(&found[0]).unwrap()["unit"], "IOPS");
    let files = |number: u64| {
        let workload = toml::from_str("file_count = 100\nphases = 'delete'").unwrap();
        let mut record = Story::new(&["/mnt/data"], &[workload]);
        record.files(0, 0, |phase| test_records::phase(phase, 1000));
        let mut record = record.end(54_000_000_000, Outcome::Complete);
        record.id = Uuid::from_u128(u128::from(number) + 1);
        record
    };
    let found = trends(&[files(1), files(2)]);
    assert_eq!(serde_json::to_value(&found[0]).unwrap()["unit"], "files/s", "{found:?}");
}

#[test]
fn baselines_are_marked_at_their_runs() {
    let records = history(&[5000.0; 3]);
    let baselines = [("before".to_owned(), records[1].id), ("other".to_owned(), Uuid::from_u128(99))];
    let found = of(&records.iter().collect::<Vec<_>>(), &baselines);
    let marked: Vec<_> = found[0].points.iter().map(|point| point.baselines.clone()).collect();
    assert_eq!(marked, [vec![], vec!["before".to_owned()], vec![]]);
}
