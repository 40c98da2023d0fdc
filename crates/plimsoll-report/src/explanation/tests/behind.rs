//! What is said of applications and sets of files.

use plimsoll_record::{
    application::{Iteration, OwnFigure},
    event::{RunEvent, SlotResult},
    record::Outcome,
    results::DeviceActivity,
};
use plimsoll_workload::workload::Workload;

use super::*;
use crate::{
    need::{self, Needs},
    test_records::Story,
};

const SECOND: u64 = 1_000_000_000;

/// Five iterations of a second each of a command that did so many transactions, with what its disk did.
fn iterations(story: &mut Story, cell: usize, transactions: f64, iteration: &Iteration) {
    for round in 0..5_u32 {
        let from_ns = (2 * u64::from(round) + cell as u64) * SECOND;
        let figures = OwnFigure::parse(&format!("commits {} /s", transactions + f64::from(round))).unwrap();
        let iteration = Iteration {
            round,
            from_ns,
            elapsed_ns: SECOND,
            figures,
            counted: true,
            is_at_rest: true,
            read_bytes: Some(0),
            written_bytes: Some(1 << 30),
            ..iteration.clone()
        };
        let application = Some(Box::new(iteration));
        let slot = SlotResult { cell, round, from_ns, elapsed_ns: SECOND, application, ..SlotResult::default() };
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
    }
}

/// A database on two disks, the first of which does `first` in each second.
fn record(first: &Iteration) -> Record {
    let workload = Workload { command: Some("commits".to_owned()), iterations: Some(5), ..Workload::default() };
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &[workload]);
    iterations(&mut story, 0, 2000.0, first);
    iterations(&mut story, 1, 40.0, &writes(120, 0, 0.5));
    story.end(20 * SECOND, Outcome::Complete)
}

/// An iteration that waited for a disk, which did so many writes and was busy for this share of the time.
fn writes(count: u64, merged: u64, busy: f64) -> Iteration {
    let device = DeviceActivity {
        name: "loop0".to_owned(),
        write_operations: count,
        write_bytes: count * 4096,
        write_merges: merged,
        busy_ns: (busy * 1e9) as u64,
        queue_ns: (busy * 1.3e9) as u64,
        ..DeviceActivity::default()
    };
    Iteration {
        device: Some(device),
        looks: 240,
        disk_wait_share: Some(0.9),
        user_ns: SECOND / 20,
        ..Iteration::default()
    }
}

fn explained(record: &Record, said: &str) -> Explanation {
    let said: Provisioning = toml::from_str(&format!("[defaults]\n{said}")).unwrap();
    Explanation::of(&[(record, &said)], &Catalog::default()).unwrap()
}

fn of_first(first: &Iteration) -> ExplainedCell {
    explained(&record(first), "limit = 'iops=7500'").runs[0].cells[0].clone()
}

#[test]
fn an_application_is_judged_by_what_its_disk_did_and_not_by_its_transactions() {
    let explanation = explained(&record(&writes(6000, 0, 0.7)), "limit = 'iops=7500'");
    let cell = &explanation.runs[0].cells[0];
    assert_eq!((cell.judged[0].measured, cell.judged[0].standing), (6000.0, Standing::Under));
    assert_eq!(codes(cell), ["one-after-another"]);
    assert!(
        cell.causes[0].text.contains("1.3 of them at a time while it had any, and did 6,000 IOPS of the 7,500 IOPS")
    );
    let pair = &explanation.pairs[0].text;
    assert!(
        pair.contains("/mnt/b did as much in 47.7 times the time (42.0 /s beside 2,002 /s of /mnt/a, 5 and 5"),
        "{pair}"
    );
    assert!(pair.ends_with("what was bought is alike, and does not explain it"), "{pair}");
}

#[test]
fn what_holds_requests_back_before_the_disk_has_them_is_told_from_the_disk() {
    let merged = of_first(&writes(5067, 2420, 0.3));
    assert_eq!(codes(&merged), ["before-merging"]);
    assert!(
        merged.causes[0].text.contains("before they are merged, 7,487 IOPS here, and merging left the disk 5,067 IOPS")
    );
    let held_back = of_first(&writes(100, 0, 0.01));
    assert_eq!(codes(&held_back), ["held-back"]);
    assert_eq!(codes(&of_first(&writes(7500, 0, 0.9))), ["provisioned-size"], "the limit is the answer");
    assert_eq!(codes(&of_first(&writes(30_000, 0, 0.9))), ["above-everything"]);
}

#[test]
fn an_application_that_computes_gains_no_more_than_its_wait_for_the_disk() {
    let computes = Iteration { user_ns: SECOND * 9 / 10, disk_wait_share: Some(0.04), ..writes(40, 0, 0.02) };
    let cell = of_first(&computes);
    assert_eq!(codes(&cell), ["cpu-bound"]);
    assert!(cell.causes[0].text.contains("it would take at most 4 % less time"), "{:?}", cell.causes);
    assert!(cell.causes[0].advice.ends_with("another disk hardly does"));
    // What is known without any limit is said without.
    let cells = explained(&record(&computes), "").runs[0].cells.clone();
    assert_eq!(codes(&cells[0]), ["cpu-bound"]);
    assert!(cells[0].judged.is_empty());
}

#[test]
fn transactions_meet_no_need_of_operations() {
    let record = record(&writes(6000, 0, 0.7));
    let needs = Needs::of(&"iops=1000".parse().unwrap(), &[(&record, &Provisioning::default())], &Catalog::default());
    assert_eq!(needs.targets[0].answers[0].standing, need::Standing::NotMeasured, "{:?}", needs.targets);
}
