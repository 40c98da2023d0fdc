//! What is said of uses.

use plimsoll_catalog::catalog::Catalog;
use plimsoll_measure::{random::Random, verdict::Verdict};
use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record},
    told::{Duration, Files, Measured},
};
use plimsoll_workload::provisioned::Provisioning;

use super::*;
use crate::{
    comparison::Wishes,
    test_records::{self, Story, workloads},
};

/// Twelve visits to two workloads on each target, which is so many times as fast; visits scatter by one percent.
fn run(factors: &[f64]) -> Record {
    let names: Vec<String> = (0..factors.len()).map(|index| format!("/mnt/{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story = Story::new(&names, &workloads("canonical")[..2]);
    for round in 0..12 {
        for (target, factor) in factors.iter().enumerate() {
            for workload in 0..2 {
                let cell = target * 2 + workload;
                let noise: f64 = (0..12).map(|draw| Random::at(cell as u64, &[round, draw]).unit()).sum::<f64>() - 6.0;
                let rate = 5000.0 * factor * 0.01_f64.mul_add(noise, 1.0);
                let slot = story.slot(cell, round as u32, rate as u64, 600_000);
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
        }
    }
    let mut record = story.end(120_000_000_000, Outcome::Complete);
    record.cells.iter_mut().for_each(|cell| cell.verdict = Some(Verdict::Steady));
    record
}

fn uses(record: &Record, reference: Option<&str>) -> Vec<Use> {
    let wishes = Wishes { reference: reference.map(str::to_owned), ..Wishes::default() };
    of(&Comparison::of(&[record], &wishes).unwrap(), None)
}

fn order(of: &Use) -> Vec<(&str, bool)> {
    of.targets.iter().map(|target| (target.side.as_str(), target.is_sure)).collect()
}

#[test]
fn the_best_side_comes_first_with_how_far_it_is_ahead() {
    let uses = uses(&run(&[1.0, 0.25, 2.0]), None);
    assert_eq!(uses.len(), 2);
    let reads = &uses[0];
    assert_eq!(reads.name, "small random reads, one at a time (latency-read)");
    assert_eq!((order(reads), reads.unit.as_str()), (vec![("C", true), ("A", true), ("B", true)], "IOPS"));
    assert_eq!(reads.targets[2].target, "/mnt/1");
    let worse: Vec<f64> = reads.targets.iter().filter_map(|target| target.times_worse).map(f64::round).collect();
    assert_eq!(worse, [1.0, 2.0, 8.0]);
    assert!(
        reads.title.starts_with("C suits small random reads, one at a time (latency-read) best: 2.0"),
        "{}",
        reads.title
    );
    assert!(reads.title.contains("x of A and ") && reads.title.ends_with("x of B"), "{}", reads.title);
}

#[test]
fn what_may_be_chance_is_no_order() {
    let two = &uses(&run(&[1.0, 1.0]), None)[0];
    let text = "no difference found between ";
    assert!(two.title.starts_with(text) && two.title.contains(" in small random reads"), "{}", two.title);
    assert_eq!(two.targets.iter().filter(|target| target.is_sure).count(), 0);
    let three = &uses(&run(&[0.25, 1.0, 1.0]), Some("A"))[0];
    // B and C were not compared with each other, and their ratios to A do not tell them apart.
    assert!(
        three.title.contains("suit small random reads, one at a time (latency-read) best, without"),
        "{}",
        three.title
    );
    assert!(three.title.ends_with("x of A"), "{}", three.title);
    let sure: Vec<bool> = three.targets.iter().map(|target| target.is_sure).collect();
    assert_eq!((sure, three.targets[2].side.as_str()), (vec![false, false, true], "A"));
}

#[test]
fn values_that_say_the_opposite_of_their_ratio_are_no_order() {
    let mut record = run(&[1.0, 1.1, 0.5]);
    // B went on in worse times, so that its whole window has less than A, and visit by visit it has more.
    record.cells[2].read.as_mut().unwrap().iops *= 0.8;
    let reads = &uses(&record, None)[0];
    assert_eq!(order(reads), [("A", false), ("B", false), ("C", true)]);
    let text = "; no sure order to B: their ratio says the opposite of their values";
    assert!(reads.title.starts_with("A suits small") && reads.title.ends_with(text), "{}", reads.title);
    // The same of ratios to a third: to C, B has more than A, and its value is less.
    let to_third = &uses(&record, Some("C"))[0];
    assert_eq!(order(to_third), [("A", false), ("B", false), ("C", true)]);
}

#[test]
fn sides_that_were_not_compared_with_each_other_are_by_their_ratios_to_a_third() {
    let uses = uses(&run(&[1.0, 3.0, 2.0]), Some("A"));
    assert_eq!(order(&uses[0]), [("B", true), ("C", true), ("A", true)]);
}

#[test]
fn a_side_that_does_nothing_is_the_worst_and_a_doubtful_one_is_called_so() {
    let mut record = run(&[1.0, 0.0]);
    record.cells[0].verdict = Some(Verdict::Drifting);
    let uses = uses(&record, None);
    assert_eq!((uses[0].targets[1].times_worse, uses[0].targets[1].is_sure), (None, true));
    assert!(uses[0].title.ends_with("best: B completes nothing (A drifting)"), "{}", uses[0].title);
}

#[test]
fn plans_that_differ_are_no_use_in_common() {
    let mut record = run(&[1.0, 2.0]);
    let plan = record.cells[2].plan.as_mut().and_then(plimsoll_workload::plan::Work::blocks_mut);
    plan.unwrap().queue_depth = 64;
    let names: Vec<String> = uses(&record, None).into_iter().map(|of| of.name).collect();
    assert_eq!(names, ["small random writes, one at a time (latency-write)"]);
}

fn restore(seconds: &[u64]) -> Measured {
    let of = |seconds: &u64| Duration { elapsed_ns: seconds * 1_000_000_000, ..Duration::default() };
    Measured::Durations(seconds.iter().map(of).collect())
}

#[test]
fn of_commands_less_time_is_better() {
    let told =
        [("ACS", "restore", restore(&[100, 101, 102, 100])), ("Azure", "restore", restore(&[300, 301, 303, 300]))];
    let uses = uses(&test_records::told(&told), None);
    assert_eq!((order(&uses[0]), uses[0].unit.as_str()), (vec![("A", true), ("B", true)], "s"));
    assert_eq!(uses[0].title, "A suits restore best: B takes 2.99x as long");
    assert!((uses[0].targets[1].value - 301.0).abs() < 0.01);
}

#[test]
fn what_was_told_without_intervals_is_an_order_and_no_claim() {
    let files = |write: f64, read: f64| {
        Measured::Files(Files {
            count: 1000,
            size_bytes: 10_240,
            iterations: 10,
            write_bytes_per_second: write,
            read_bytes_per_second: read,
            write_read_bytes_per_second: write,
        })
    };
    let workload = "1000 files of 10KiB";
    let told = [("disk", workload, files(400e3, 140e6)), ("share", workload, files(200e3, 70e6))];
    let uses = uses(&test_records::told(&told), None);
    let [write] = uses.as_slice() else { panic!("what was just written is read from memory: {uses:?}") };
    assert_eq!((order(write), write.unit.as_str()), (vec![("A", false), ("B", false)], "files/s"));
    let title =
        "no sure order in many small files (1000 files of 10KiB, writes): A has 2.00x of B; no interval was told";
    assert_eq!(write.title, title);
}

#[test]
fn what_a_cache_answered_is_never_best() {
    let mut record = run(&[1.0, 8.0, 0.5]);
    record.cells[2].verdict = Some(Verdict::Cached);
    let uses = uses(&record, None);
    let reads = &uses[0];
    // B has the most, which is that of a cache, and stands last.
    assert_eq!(order(reads), [("A", true), ("C", true), ("B", false)]);
    assert_eq!(serde_json::to_value(&reads.targets).unwrap()[2]["is_cached"], true);
    assert_eq!(reads.targets[2].times_worse, None);
    assert!(reads.title.starts_with("A suits small random reads"), "{}", reads.title);
    assert!(reads.title.contains("best: 2.0") && reads.title.ends_with("of C (B cached)"), "{}", reads.title);
    record.cells[0].verdict = Some(Verdict::Cached);
    let alone = &self::uses(&record, None)[0];
    assert!(alone.title.starts_with("only the storage of C answered in small random reads"), "{}", alone.title);
    assert!(alone.title.ends_with("(B cached, A cached)"), "{}", alone.title);
    record.cells[4].verdict = Some(Verdict::Cached);
    let none = &self::uses(&record, None)[0];
    assert!(none.title.starts_with("a cache answered every side in small random reads"), "{}", none.title);
    assert!(none.targets.iter().all(|target| target.times_worse.is_none() && !target.is_sure), "{none:?}");
}

#[test]
fn a_rate_that_one_run_cannot_have_had_says_nothing_of_another_run() {
    let (mut first, mut second) = (run(&[1.0]), run(&[8.0]));
    second.id = uuid::Uuid::from_u128(7);
    // A name with what no terminal takes is found all the same.
    for record in [&mut first, &mut second] {
        record.cells.iter_mut().for_each(|cell| cell.target = "/mnt/\u{1b}0".to_owned());
    }
    let said: Provisioning = toml::from_str("[defaults]\nlimit = 'iops=6000'").unwrap();
    let explanation = Explanation::of(&[(&first, &said), (&second, &said)], &Catalog::default()).unwrap();
    let comparison = Comparison::of(&[&first, &second], &Wishes::default()).unwrap();
    let uses = of(&comparison, Some(&explanation));
    let cached: Vec<(&str, bool)> =
        uses[0].targets.iter().map(|target| (target.side.as_str(), target.is_cached)).collect();
    assert_eq!(cached, [("A", false), ("B", true)], "{uses:?}");
}

#[test]
fn a_side_without_an_interval_is_in_no_order() {
    let mut record = run(&[1.0, 0.25, 2.0]);
    for cell in record.cells.iter_mut().filter(|cell| cell.target == "/mnt/1") {
        cell.slots.truncate(2);
        for result in [&mut cell.read, &mut cell.write].into_iter().flatten() {
            (result.iops_low, result.iops_high) = (None, None);
        }
    }
    let title = |record: &Record| uses(record, None)[0].title.clone();
    let one_is_best = title(&record);
    assert!(one_is_best.starts_with("C suits small random reads"), "{one_is_best}");
    let order = "x of A; no sure order to B: measured too briefly to tell how sure it is";
    assert!(one_is_best.ends_with(order) && !one_is_best.contains("of B"), "{one_is_best}");
    let mut tied = run(&[1.0, 0.25, 1.0]);
    tied.cells[2] = record.cells[2].clone();
    let tied = title(&tied);
    assert!(tied.starts_with("no difference found between "), "{tied}");
    assert!(tied.ends_with("; no sure order to B: measured too briefly to tell how sure it is"), "{tied}");
}
