//! What a document promises: nothing is hidden by being shortened, and what is shown is what was measured.

use plimsoll_catalog::{catalog::Catalog, limits_file::LimitsFile};
use plimsoll_record::{
    lifecycle::{Happening, Moment, Phases, VolumeLifecycle},
    record::{Record, Window},
    results::{ErrorCount, Interval, Severity},
};
use plimsoll_workload::provisioned::Provisioning;
use proptest::prelude::*;
use uuid::Uuid;

use super::{
    Contents, Document, StretchPart, TargetPrice, fairness, junit, latencies, lives, markdown, rates, rates::Resolution,
};
use crate::{comparison::Wishes, test_records};

pub(super) fn document(records: &[&Record]) -> Document {
    let nothing = Provisioning::default();
    let subjects: Vec<(&Record, &Provisioning)> = records.iter().map(|record| (*record, &nothing)).collect();
    document_of(&subjects, &Catalog::default())
}

fn document_of(subjects: &[(&Record, &Provisioning)], catalog: &Catalog) -> Document {
    Document::of(contents(subjects, catalog)).unwrap()
}

fn contents<'a>(subjects: &'a [(&'a Record, &'a Provisioning)], catalog: &'a Catalog) -> Contents<'a> {
    Contents {
        title: None,
        subjects,
        wishes: Wishes::default(),
        catalog,
        claims: None,
        baselines: &[],
        created: "2025-10-09T10:00:00Z".parse().unwrap(),
        version: "0.1.0".to_owned(),
    }
}

/// The same run once more, under another id.
fn again(record: &Record, number: u128) -> Record {
    Record {
        id: Uuid::from_u128(record.id.as_u128() + number),
        name: Some(format!("again {number}")),
        ..record.clone()
    }
}

/// A second of load.
fn second(index: u64, operations: u64) -> Interval {
    Interval {
        t_ns: index * 1_000_000_000,
        length_ns: 1_000_000_000,
        measured: true,
        read_operations: operations,
        read_bytes: operations * 4096,
        p50_ns: Some(100_000 + operations),
        p99_ns: Some(900_000 + operations),
        ..Interval::default()
    }
}

proptest! {
    #[test]
    fn shortened_rates_keep_their_extremes_and_their_sum(
        operations in proptest::collection::vec(0_u64..9_999, 1..400),
        points in 1_usize..50,
    ) {
        let mut record = test_records::canonical();
        let seconds = operations.iter().enumerate().map(|(index, operations)| second(index as u64, *operations));
        record.cells[0].series = seconds.collect();
        let resolution = Resolution { points, seconds: operations.len() };
        let shown = rates::of(&record, &record.cells[0], resolution).unwrap();
        let [stretch] = &shown.stretches[..] else { panic!("one stretch without a pause") };
        prop_assert!(stretch.iops.len() <= points);
        let highest = *operations.iter().max().unwrap() as f64;
        let lowest = *operations.iter().min().unwrap() as f64;
        // Where a point is a second, it is its own extreme.
        let all = stretch.iops.iter().copied().chain(stretch.extremes.iter().flatten().copied());
        prop_assert!((all.clone().fold(0.0, f64::max) - highest).abs() < 1e-9);
        prop_assert!((all.fold(f64::INFINITY, f64::min) - lowest).abs() < 1e-9);
        let slowest_us = (900_000 + operations.iter().max().unwrap()) as f64 / 1e3;
        let shown_us = stretch.p99_us.iter().flatten().copied().fold(0.0, f64::max);
        prop_assert!((shown_us / slowest_us - 1.0).abs() < 1e-3);
        prop_assert!(stretch.t_ms.is_sorted());
    }
}

#[test]
fn ramps_and_visits_that_do_not_count_are_stretches_of_their_own() {
    let mut record = test_records::canonical();
    let cell = &mut record.cells[0];
    cell.series = vec![
        Interval { measured: false, ..second(0, 10) },
        second(1, 20),
        second(2, 20),
        Interval { round: 1, ..second(9, 30) },
    ];
    cell.slots[1].counted = false;
    cell.window = Some(Window { from_ns: 1_000_000_000, to_ns: 3_000_000_000 });
    let shown = rates::of(&record, &record.cells[0], Resolution { points: 100, seconds: 4 }).unwrap();
    let parts: Vec<_> = shown.stretches.iter().map(|stretch| (stretch.part, stretch.iops.clone())).collect();
    let expected = [
        (StretchPart::WarmUp, vec![10.0]),
        (StretchPart::Counted, vec![20.0, 20.0]),
        (StretchPart::Discarded, vec![30.0]),
    ];
    assert_eq!(parts, expected);
    assert_eq!(shown.window_ms, Some([1_000, 3_000]));
    assert_eq!(shown.seconds_a_point, 1);
}

#[test]
fn a_curve_ends_where_the_sample_does_and_a_histogram_has_all_of_it() {
    let record = test_records::canonical();
    let shown = latencies::of(&record.cells[0], false).unwrap();
    let curve = &shown.curves[0];
    let count = record.cells[0].read.as_ref().unwrap().histogram.count();
    assert_eq!(curve.operations, Some(count));
    assert_eq!(curve.histogram.len(), 60);
    assert_eq!(curve.histogram.iter().map(|(_, count)| count).sum::<u64>(), count);
    assert!(curve.percentiles.iter().any(|point| point.percent > 99.8));
    // Of twelve thousand operations nobody knows the slowest in a hundred thousand.
    assert!(count < 100_000 && curve.percentiles.iter().all(|point| point.percent < 99.99), "{count}");
    assert!(shown.title.contains("half of the reads take at most 600 us"), "{}", shown.title);
}

#[test]
fn uneven_workers_are_told_with_how_uneven_they_are() {
    let mut record = test_records::canonical();
    let cell = &mut record.cells[0];
    cell.worker_operations = vec![4_100, 1_000, 2_000, 2_000];
    let shown = fairness::of(cell).unwrap();
    assert!(shown.title.ends_with("the busiest of 4 workers did 4.10x of what the slowest did"), "{}", shown.title);
    assert_eq!(shown.values.len(), 4);
    cell.worker_operations = vec![4_100];
    assert_eq!(fairness::of(cell), None);
}

#[test]
fn a_phase_ends_when_its_end_was_seen_and_is_as_long_as_it_was() {
    let moment = |what, seen_ns| Moment { what, seen_ns: Some(seen_ns), told_ns: None };
    let mut record = test_records::canonical();
    record.volumes = vec![VolumeLifecycle {
        target: "fast".to_owned(),
        phases: Phases { attach_ns: Some(2_000_000_000), ready_ns: Some(9_000_000_000), ..Phases::default() },
        moments: vec![moment(Happening::AttachReported, 6_000_000_000), moment(Happening::FirstIo, 9_000_000_000)],
        ..VolumeLifecycle::default()
    }];
    let [life] = &lives::of(&record)[..] else { panic!("one volume, one life") };
    let phases: Vec<_> = life.phases.iter().map(|phase| (phase.name.as_str(), phase.from_ms, phase.to_ms)).collect();
    assert_eq!(phases, [("attach", 4_000.0, 6_000.0)]);
}

#[test]
fn each_side_may_be_the_reference_and_the_one_asked_for_is_first() {
    let record = test_records::canonical();
    let others: Vec<Record> = (1..4).map(|number| again(&record, number)).collect();
    let records: Vec<&Record> = std::iter::once(&record).chain(&others).collect();
    let shown = document(&records);
    let references: Vec<&str> = shown.comparisons.iter().map(|comparison| comparison.reference.as_str()).collect();
    assert_eq!(references, ["A", "B", "C", "D"]);
    assert_eq!(shown.not_compared, None);
    let alone = document(&records[..1]);
    assert_eq!((alone.comparisons.len(), &alone.not_compared), (0, &None));
}

#[test]
fn sides_have_the_price_of_what_was_bought_for_their_targets() {
    let own = "[[price]]\nname='P30'\nper_month=100\ncurrency='EUR'\ndate='2026-10-01'\n\
               [[price]]\nname='gp3'\nper_gib_month=0.1\ncurrency='EUR'\ndate='2026-10-01'";
    let catalog = Catalog::with(LimitsFile::parse("own", own).unwrap());
    let record = test_records::canonical();
    let others: Vec<Record> = (1..3).map(|number| again(&record, number)).collect();
    let said: Vec<Provisioning> = ["sku='P30'\ndisks=2", "sku='gp3'\nsize='1Ti'\niops=5000", "sku='P10'"]
        .map(|bought| toml::from_str(&format!("[defaults]\n{bought}")).unwrap())
        .into();
    let subjects: Vec<_> = std::iter::once(&record).chain(&others).zip(&said).collect();
    let shown = document_of(&subjects, &catalog);
    let told = |price: &TargetPrice| {
        let cost = price.price.as_ref().map(|price| (price.per_month, price.row.clone()));
        (price.side.clone(), cost, price.unknown.clone())
    };
    let expected = [
        ("A".to_owned(), Some((200.0, "P30".to_owned())), None),
        ("B".to_owned(), None, Some("the row gp3 has no per_iops_month".to_owned())),
    ];
    assert_eq!(shown.prices.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(document(&[&record, &others[0]]).prices.is_empty(), "there are no prices in the catalog");
}

#[test]
fn more_runs_than_anybody_reads_side_by_side_are_not_compared_and_why_is_told() {
    let record = test_records::canonical();
    let others: Vec<Record> = (1..40).map(|number| again(&record, number)).collect();
    let shown = document(&others.iter().collect::<Vec<_>>());
    assert!(shown.comparisons.is_empty());
    assert!(shown.not_compared.unwrap().contains("39 runs"));
}

#[test]
fn what_failed_stands_on_top_and_fails_its_test() {
    let mut record = test_records::canonical();
    record.cells[1].errors = 3;
    record.cells[1].error_kinds = vec![ErrorCount {
        operation: "write".to_owned(),
        error: "EIO (Input/output error)".to_owned(),
        count: 3,
        first_offset: 4096,
    }];
    let shown = document(&[&record]);
    assert_eq!(shown.findings[0].severity, Severity::Error, "{:?}", shown.findings);
    let xml = junit::report(&shown, &[&record]);
    assert!(xml.contains("failures=\"1\"") && xml.contains("3 operations failed: EIO"), "{xml}");
    let text = markdown::report(&shown, &[&record]);
    assert!(text.contains("error: ") && text.contains("| latency-write | write |"), "{text}");
}

#[test]
fn any_side_may_be_the_reference_as_long_as_the_report_can_be_sent_and_else_why_not_is_told() {
    let mut record = test_records::canonical();
    let whole: Vec<Record> = (0..9).map(|number| again(&record, number)).collect();
    let shown = document(&whole.iter().collect::<Vec<_>>());
    let bytes: usize = shown.comparisons.iter().map(|one| serde_json::to_string(one).unwrap().len()).sum();
    assert!(bytes < 1_000_000, "{bytes}");
    assert_eq!(shown.comparisons.len(), 1);
    assert!(shown.fixed_reference.is_some_and(|why| why.starts_with("9 sides with") && why.contains("--reference")));
    record.cells.truncate(1);
    let short: Vec<Record> = (0..9).map(|number| again(&record, number)).collect();
    let shown = document(&short.iter().collect::<Vec<_>>());
    assert_eq!((shown.comparisons.len(), shown.fixed_reference), (9, None));
}

#[test]
fn marks_that_turn_the_direction_of_writing_are_spelled_out() {
    let mut record = test_records::canonical();
    let turned = "user\u{202e}txt\u{2066}\u{61c}\u{1b}[31m";
    record.name = Some(turned.to_owned());
    record.warnings.push(turned.to_owned());
    record.environment.machine.hostname = Some(turned.to_owned());
    record.cells.iter_mut().for_each(|cell| {
        (cell.target, cell.workload) = (turned.to_owned(), format!("{} {turned}", cell.workload));
    });
    let other = again(&record, 1);
    let nothing = Provisioning::default();
    let shown = Document::of(Contents {
        title: Some(turned.to_owned()),
        ..contents(&[(&record, &nothing), (&other, &nothing)], &Catalog::default())
    })
    .unwrap();
    let acts = |text: &str| text.contains(['\u{202e}', '\u{2066}', '\u{61c}', '\u{1b}']);
    let json = shown.json().unwrap();
    assert!(json.contains(r"user\\u{202e}txt") && !acts(&json));
    assert_eq!(shown.title, r"user\u{202e}txt\u{2066}\u{61c}\u{1b}[31m");
    let text = markdown::without_scripts(&shown, &[&record, &other]);
    assert!(text.contains(r"user\u{202e}txt") && !acts(&text), "{text}");
    let read: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["title"], shown.title);
    assert_eq!(read["runs"][0]["cells"].as_array().map(Vec::len), Some(record.cells.len()));
}
