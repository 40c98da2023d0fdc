//! What a document promises: nothing is hidden by being shortened, and what is shown is what was measured.

use plimsoll_catalog::{catalog::Catalog, limits_file::LimitsFile};
use plimsoll_record::{
    lifecycle::{Happening, Moment, Phases, VolumeLifecycle},
    record::{Outcome, Record, Window},
    results::{ErrorCount, Interval, Severity},
    verification::VerificationResult,
};
use plimsoll_workload::{provisioned::Provisioning, workload::Workload};
use proptest::prelude::*;
use uuid::Uuid;

use super::{
    Contents, Document, StretchPart, TargetPrice, detail::Detail, fairness, junit, latencies, lives, markdown, rates,
    rates::Resolution,
};
use crate::{
    comparison::Wishes,
    test_records::{self, Story},
};

mod bought;

pub(super) fn document(records: &[&Record]) -> Document {
    let nothing = Provisioning::default();
    let subjects: Vec<(&Record, &Provisioning)> = records.iter().map(|record| (*record, &nothing)).collect();
    document_of(&subjects, &Catalog::default())
}

fn document_of(subjects: &[(&Record, &Provisioning)], catalog: &Catalog) -> Document {
    Document::of(contents(subjects, catalog, Wishes::default())).unwrap()
}

fn contents<'a>(subjects: &'a [(&'a Record, &'a Provisioning)], catalog: &'a Catalog, wishes: Wishes) -> Contents<'a> {
    Contents {
        title: None,
        subjects,
        wishes,
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
    let shown = latencies::of(&record.cells[0], Detail::first(&[&record])).unwrap();
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
    let mut idle = |operations: &[u64]| {
        cell.worker_operations = operations.to_vec();
        fairness::of(cell).unwrap().title
    };
    assert!(idle(&[4_100, 0, 2_000, 0]).ends_with(": 2 of 4 workers did nothing"));
    assert!(idle(&[4_100, 0, 2_000]).ends_with(": one of 3 workers did nothing"));
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

/// A run of a sweep of 24 cells, each with so many seconds.
fn sweep(number: u128, seconds: u64) -> Record {
    let asked = "rw = 'randread'\nblock_size = ['4k', '16k', '64k', '256k']\nqueue_depth = [1, 2, 4, 8, 16, 32]";
    let workloads = toml::from_str::<Workload>(asked).unwrap().expand();
    assert_eq!(workloads.len(), 24);
    let mut story = Story::new(&["/mnt/data"], &workloads);
    (0..24).for_each(|cell| story.measure(cell, 1_000 + cell as u64 * 37 + number as u64, 600_000));
    let mut record = again(&story.end(54_000_000_000, Outcome::Complete), number);
    for (cell, index) in record.cells.iter_mut().zip(0..) {
        cell.series = (0..seconds).map(|at| second(at, 1_000 + at * index + number as u64)).collect();
        if let Some(read) = &mut cell.read {
            (read.iops_low, read.iops_high) = (Some(read.iops * 0.987_654), Some(read.iops * 1.012_345));
        }
    }
    record
}

/// What the page of the day has room for beside itself.
const ROOM: usize = 1_050_000;

#[test]
fn a_hundred_sweeps_can_be_sent_and_what_is_left_out_is_told() {
    let records: Vec<Record> = (0..100).map(|number| sweep(number, 8)).collect();
    let records: Vec<&Record> = records.iter().collect();
    let shown = document(&records).for_page(&records, ROOM);
    let bytes = serde_json::to_string(&shown).unwrap().len();
    assert!(bytes <= ROOM, "{bytes}");
    let said = &shown.findings.last().unwrap().text;
    assert!(said.contains("less is shown") && said.contains("rates over time"), "{said}");
    // Each rate is told all the same, and where it was the least and the most.
    assert_eq!((shown.trends.len(), shown.sweeps.len()), (24, 100));
    assert!(shown.trends.iter().all(|trend| trend.points.len() == 100));
}

#[test]
fn of_each_load_the_slowest_and_the_fastest_second_stay_as_long_as_there_is_room() {
    let records: Vec<Record> = (0..30).map(|number| sweep(number, 60)).collect();
    let records: Vec<&Record> = records.iter().collect();
    let shown = document(&records).for_page(&records, ROOM);
    assert!(serde_json::to_string(&shown).unwrap().len() <= ROOM);
    let rates = shown.runs[29].cells[23].rates.as_ref().unwrap();
    let ends = rates.stretches[0].extremes.iter().flatten();
    let (least, most) =
        ends.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), rate| (least.min(*rate), most.max(*rate)));
    assert_eq!((least, most), (1_029.0, 2_386.0));
}

#[test]
fn what_fits_is_shown_whole() {
    let records: Vec<Record> = (0..3).map(|number| sweep(number, 8)).collect();
    let records: Vec<&Record> = records.iter().collect();
    let whole = document(&records);
    assert!(whole == whole.clone().for_page(&records, ROOM));
}

#[test]
fn why_nothing_is_compared_is_told_with_what_the_letters_are() {
    let mut shallow = again(&test_records::canonical(), 1);
    shallow.cells.truncate(1);
    let mut deep = again(&shallow, 1);
    deep.name = Some("deep".to_owned());
    deep.cells[0].plan.as_mut().unwrap().blocks_mut().unwrap().queue_depth = 8;
    let reason = document(&[&shallow, &deep]).not_compared.unwrap();
    assert!(reason.contains("queue depth (A 1, B 8)") && reason.ends_with("A is again 1, B is deep"), "{reason}");
    assert!(!reason.contains("nothing can be compared"), "the page says so before it: {reason}");
}

#[test]
fn a_reference_is_one_of_the_sides_even_where_nothing_is_compared() {
    let record = test_records::canonical();
    let nothing = Provisioning::default();
    let with = |count: u128, reference: &str| {
        let records: Vec<Record> = (0..count).map(|number| again(&record, number)).collect();
        let subjects: Vec<(&Record, &Provisioning)> = records.iter().map(|record| (record, &nothing)).collect();
        let wishes = Wishes { reference: Some(reference.to_owned()), ..Wishes::default() };
        Document::of(contents(&subjects, &Catalog::default(), wishes))
    };
    for count in [1, 2, 40] {
        let error = with(count, "nonsense").unwrap_err().to_string();
        assert!(error.contains("\"nonsense\" is not one of the sides A (/mnt/data)"), "{error}");
        assert!(with(count, "A").is_ok());
    }
}

#[test]
fn a_title_of_nothing_is_no_title() {
    let record = test_records::canonical();
    let nothing = Provisioning::default();
    let subjects = [(&record, &nothing)];
    let catalog = Catalog::default();
    let contents = contents(&subjects, &catalog, Wishes::default());
    let shown = Document::of(Contents { title: Some(" ".to_owned()), ..contents }).unwrap();
    assert_eq!(shown.title, "plimsoll: /mnt/data");
}

#[test]
fn in_markdown_what_was_measured_stands_below_its_heading() {
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &test_records::workloads("canonical")[2..3]);
    story.measure(0, 16_012, 15_900_000);
    story.measure(1, 9_004, 15_980_000);
    let record = story.end(54_000_000_000, Outcome::Complete);
    let said: Provisioning = toml::from_str("[defaults]\nlimit = 'iops=16000'").unwrap();
    let shown = document_of(&[(&record, &said)], &Catalog::default());
    let text = markdown::report(&shown, &[&record]);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in {text}"));
    assert!(at("## Expected and measured") < at("## What was measured"), "{text}");
    assert!(text.contains("## What was measured\n\n- **A** /mnt/a"), "{text}");
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
        first_file: None,
    }];
    let shown = document(&[&record]);
    assert_eq!(shown.findings[0].severity, Severity::Error, "{:?}", shown.findings);
    let xml = junit::report(&shown, &[&record]);
    assert!(xml.contains("failures=\"1\"") && xml.contains("3 operations failed: EIO"), "{xml}");
    let text = markdown::report(&shown, &[&record]);
    assert!(text.contains("error: ") && text.contains("| latency-write | write |"), "{text}");
}

#[test]
fn neither_wrong_data_nor_a_run_without_its_end_passes_a_test() {
    let mut record = test_records::canonical();
    let verified = VerificationResult { blocks_checked: 900, mismatches: 7, ..VerificationResult::default() };
    record.cells[1].verification = Some(verified);
    let xml = junit::report(&document(&[&record]), &[&record]);
    assert!(
        xml.contains("failures=\"1\"") && xml.contains("7 of 900 checks found a block that was not as written"),
        "{xml}"
    );
    record.cells[1].verification = None;
    for (outcome, counts, word) in [
        (Outcome::Interrupted, "failures=\"0\" errors=\"0\" skipped=\"1\"", "INTERRUPTED after"),
        (Outcome::Lost, "failures=\"0\" errors=\"0\" skipped=\"1\"", "LOST after"),
        (Outcome::Failed, "failures=\"1\" errors=\"0\" skipped=\"0\"", "FAILED after"),
    ] {
        record.outcome = outcome;
        let xml = junit::report(&document(&[&record]), &[&record]);
        assert!(xml.contains(counts) && xml.contains("name=\"run\"") && xml.contains(word), "{xml}");
    }
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
        ..contents(&[(&record, &nothing), (&other, &nothing)], &Catalog::default(), Wishes::default())
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
