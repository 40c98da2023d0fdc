//! What is said first: of whom it is, and that there is more.

use plimsoll_record::{record::Outcome, results::ErrorCount};
use uuid::Uuid;

use crate::{
    document::{Document, tests::document},
    test_records::{self, Story, workloads},
};

use super::*;

/// A run of two targets, of which the first had so many errors.
fn two_targets(number: u128, name: &str, errors: u64) -> Record {
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads("canonical")[..2]);
    (0..4).for_each(|cell| story.measure(cell, 1000 + 100 * cell as u64, 600_000));
    let mut record = story.end(54_000_000_000, Outcome::Complete);
    (record.id, record.name) = (Uuid::from_u128(number), Some(name.to_owned()));
    failed(&mut record, 0, errors);
    record
}

fn failed(record: &mut Record, cell: usize, errors: u64) {
    record.cells[cell].errors = errors;
    let kind = |count| ErrorCount {
        operation: "read".to_owned(),
        error: "EIO (Input/output error)".to_owned(),
        count,
        first_offset: 0,
        first_file: None,
    };
    record.cells[cell].error_kinds = (errors > 0).then(|| kind(errors)).into_iter().collect();
}

fn named(number: u128, name: &str) -> Record {
    Record { id: Uuid::from_u128(number), name: Some(name.to_owned()), ..test_records::canonical() }
}

fn texts(document: &Document) -> Vec<&str> {
    document.findings.iter().map(|note| note.text.as_str()).collect()
}

#[test]
fn of_several_runs_each_finding_names_its_run_and_its_target() {
    let (one, sweep) = (named(1, "one"), two_targets(2, "sweep", 3));
    let shown = document(&[&one, &sweep]);
    let texts = texts(&shown);
    let begin = "sweep: /mnt/a latency-read: 3 read operations failed with EIO";
    assert!(texts[0].starts_with(begin), "{texts:?}");
    assert!(texts.contains(&"A is one, B is /mnt/a of sweep, C is /mnt/b of sweep"), "{texts:?}");
}

#[test]
fn what_several_runs_have_in_common_is_said_once_with_how_many_have_it() {
    let runs: Vec<Record> = (1..=4).map(|number| two_targets(number, &format!("r{number}"), 3)).collect();
    let [one, two, ..] = &runs[..] else { panic!() };
    assert!(texts(&document(&[one, two]))[0].starts_with("r1 and r2: /mnt/a latency-read: 3 read"));
    let shown = document(&runs.iter().collect::<Vec<_>>());
    assert!(texts(&shown)[0].starts_with("r1 and 3 other runs: /mnt/a latency-read: 3 read"), "{shown:?}");
}

#[test]
fn runs_without_names_on_the_same_targets_are_told_apart() {
    let mut runs = [named(1, ""), named(2, "")];
    runs.iter_mut().for_each(|run| run.name = None);
    runs[1].started = "2025-10-09T09:30:00Z".parse().unwrap();
    let shown = document(&[&runs[0], &runs[1]]);
    let letters = "A is /mnt/data (2025-10-08 09:30 UTC), B is /mnt/data (2025-10-09 09:30 UTC)";
    assert!(texts(&shown).contains(&letters), "{:?}", texts(&shown));
}

#[test]
fn what_is_left_out_is_counted() {
    let mut runs: Vec<Record> = (1..=3).map(|number| named(number, &format!("r{number}"))).collect();
    (0..6).for_each(|cell| failed(&mut runs[2], cell, cell as u64 + 1));
    let shown = document(&runs.iter().collect::<Vec<_>>());
    let texts = texts(&shown);
    // Six errors, the letters, and six sentences for each of two pairs.
    assert!(texts[0].starts_with("r3: ") && texts[4].starts_with("A is r1"), "{texts:?}");
    assert_eq!((texts.len(), *texts.last().unwrap()), (12, "... and 8 more"), "{texts:?}");
    let few = document(&[&runs[0], &runs[1]]);
    assert_eq!(few.findings.len(), 7, "the letters and six sentences are all: {:?}", few.findings);
}

#[test]
fn sure_differences_come_before_what_may_be_chance() {
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads("canonical")[..2]);
    [1000, 1000, 1000, 250].into_iter().enumerate().for_each(|(cell, rate)| story.measure(cell, rate, 600_000));
    let record = story.end(54_000_000_000, Outcome::Complete);
    let shown = document(&[&record]);
    let texts = texts(&shown);
    assert!(texts[1].starts_with("B against A, latency-write: "), "{texts:?}");
    assert!(texts[2].starts_with("B against A, latency-read: "), "{texts:?}");
}
