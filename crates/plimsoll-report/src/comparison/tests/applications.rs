//! Applications beside synthetic loads.

use plimsoll_record::{
    application::{Iteration, OwnFigure},
    event::SlotResult,
};

use super::*;
use crate::table;

/// Random reads, and a command, on two targets: the second is that many times as fast for each.
fn beside(reads: f64, command: f64, noise_of: f64, figure: Option<&str>) -> Record {
    let mut restore = Workload { command: Some("./restore.sh".to_owned()), ..Workload::default() };
    restore.iterations = Some(6);
    let workloads = [workloads("canonical")[2].clone(), restore];
    let mut story = Story::new(&["/mnt/a", "/mnt/b"], &workloads);
    story.measure(0, 6_000, 600_000);
    story.measure(2, (6_000.0 * reads) as u64, 600_000);
    for (cell, factor) in [(1, 1.0), (3, command)] {
        for round in 0..6_u32 {
            let level = factor * noise(&mut Random::at(7, &[u64::from(round), cell]), noise_of);
            let figures = figure.map(|name| OwnFigure::parse(&format!("{name} {} /s", 100.0 * level)).unwrap());
            let iteration = Iteration {
                round,
                from_ns: u64::from(round) * 20_000_000_000 + cell,
                elapsed_ns: if figure.is_some() { 5_000_000_000 } else { (6_600_000_000.0 / level) as u64 },
                user_ns: 300_000_000,
                server_user_ns: 2_000_000_000,
                looks: 240,
                disk_wait_share: Some(0.5),
                figures: figures.unwrap_or_default(),
                is_at_rest: true,
                ..Iteration::default()
            };
            let slot = SlotResult {
                cell: cell as usize,
                round,
                from_ns: iteration.from_ns,
                elapsed_ns: iteration.elapsed_ns,
                application: Some(Box::new(iteration)),
                ..SlotResult::default()
            };
            story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        }
    }
    story.end(120_000_000_000, Ending::Complete)
}

fn sentence(record: &Record) -> String {
    let comparison = Comparison::of_targets(record).unwrap();
    comparison.pairs[0].beside.iter().map(|beside| beside.sentence.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_application_that_gains_nothing_by_a_faster_disk_is_not_bound_by_it() {
    let record = beside(63.0, 1.01, 0.002, None);
    assert_eq!(sentence(&record), "B against A: iops-read 63.0x, ./restore.sh 1.01x: not bound by this disk");
    // Whichever side is faster, it is told of that one.
    let slower = sentence(&beside(1.0 / 60.0, 0.99, 0.002, None));
    assert!(slower.starts_with("A against B: iops-read 60.0x, ./restore.sh 1.01x: not bound"), "{slower}");
}

#[test]
fn an_application_that_gains_as_much_is_bound_and_one_that_nobody_knows_is_not_judged() {
    let bound = sentence(&beside(63.0, 40.0, 0.01, None));
    assert!(bound.ends_with("40.0x: bound by the disk") || bound.contains("x: bound by the disk"), "{bound}");
    assert!(sentence(&beside(63.0, 3.0, 0.01, None)).ends_with("bound by the disk in part"));
    assert!(sentence(&beside(4.0, 1.6, 0.6, None)).ends_with("takes more iterations to say"));
    assert_eq!(sentence(&beside(1.2, 1.1, 0.01, None)), "", "disks that hardly differ say nothing");
    let mut once = beside(63.0, 40.0, 0.01, None);
    for cell in &mut once.cells {
        cell.slots.retain(|slot| slot.round == 0 || cell.application.is_none());
    }
    assert!(sentence(&once).ends_with("takes more iterations to say"), "a single iteration has no interval");
}

#[test]
fn a_load_that_says_nothing_of_the_storage_says_nothing_of_what_an_application_makes_of_it() {
    let of = |change: fn(&mut Cell)| {
        let mut record = beside(63.0, 1.01, 0.002, None);
        change(&mut record.cells[2]);
        sentence(&record)
    };
    assert!(!of(|_| {}).is_empty());
    assert_eq!(of(|cell| cell.verdict = Some(Verdict::Cached)), "");
    assert_eq!(of(|cell| cell.verdict = Some(Verdict::ClientLimited)), "");
    assert_eq!(of(|cell| cell.errors = 1), "");
    let noisy = |cell: &mut Cell| {
        for (slot, times) in cell.slots.iter_mut().zip([0.0001, 100.0, 0.0001, 100.0, 0.0001, 100.0]) {
            let read = slot.read.as_mut().unwrap();
            read.operations = (read.operations as f64 * times) as u64;
        }
    };
    assert_eq!(of(noisy), "", "it may as well be no difference");
    // Without an interval it takes more.
    let brief = |factor: f64| {
        let mut record = beside(factor, 1.01, 0.002, None);
        for cell in record.cells.iter_mut().filter(|cell| cell.application.is_none()) {
            cell.slots.truncate(2);
            let read = cell.read.as_mut().unwrap();
            (read.iops_low, read.iops_high) = (None, None);
        }
        sentence(&record)
    };
    assert!(!sentence(&beside(2.0, 1.01, 0.002, None)).is_empty());
    assert_eq!(brief(2.0), "");
    assert!(brief(3.0).starts_with("B against A: iops-read 3.00x"), "{}", brief(3.0));
}

#[test]
fn an_application_that_had_a_part_of_the_processors_is_judged_with_these_alone() {
    let mut record = beside(63.0, 1.01, 0.002, None);
    record.cells.iter_mut().filter(|cell| cell.application.is_some()).for_each(|cell| cell.phase = Some(1));
    let found = sentence(&record);
    assert!(found.ends_with("not bound by this disk, with the part of the processors that it had"), "{found}");
}

#[test]
fn what_tells_its_rate_is_compared_by_it_under_its_name_and_its_time_is_judged_too() {
    let mut record = beside(63.0, 10.0, 0.01, Some("transactions"));
    for iteration in &mut record.cells[3].application.as_mut().unwrap().iterations {
        iteration.elapsed_ns *= 3;
    }
    let comparison = Comparison::of(&[&record], &expecting(&["elapsed>+10%", "iops<-10%"])).unwrap();
    let cell = comparison.pairs[0].cells.iter().find(|cell| cell.workload == "./restore.sh").unwrap();
    let headline = cell.headline().unwrap();
    let ratio = headline.compared.unwrap().ratio;
    assert!(ratio.low < 10.0 && 10.0 < ratio.high && ratio.high < 11.0, "{ratio:?}");
    assert_eq!(headline.metric, Metric::Iops);
    assert!(cell.sentence.contains("transactions: B is 10."), "{}", cell.sentence);
    let text = text::text(&comparison, 100, PLAIN);
    let row = |head: &str| text.lines().any(|line| line.trim_start().starts_with(head));
    assert!(row("transactions  ") && row("time  "), "{text}");
    let results: Vec<Standing> = comparison.expectations.iter().map(|outcome| outcome.result).collect();
    assert_eq!(results, [Standing::Breached, Standing::Held]);
    assert!(sentence(&record).contains("./restore.sh 10."), "{}", sentence(&record));
}

#[test]
fn rates_of_few_iterations_lack_an_interval_and_nothing_else() {
    for figure in ["transactions", "MB"] {
        let mut record = beside(63.0, 10.0, 0.01, Some(figure));
        for cell in record.cells.iter_mut().filter(|cell| cell.application.is_some()) {
            cell.slots.truncate(2);
            let application = cell.application.as_mut().unwrap();
            if figure == "MB" {
                application.rate.as_mut().unwrap().unit = "MB/s".to_owned();
            }
        }
        let comparison = Comparison::of_targets(&record).unwrap();
        let cell = comparison.pairs[0].cells.iter().find(|cell| cell.workload == "./restore.sh").unwrap();
        assert!(cell.sentence.contains("fewer than three visits"), "{figure}: {}", cell.sentence);
    }
}

#[test]
fn iterations_are_shown_one_by_one_with_what_they_took() {
    let text = table::record(&beside(63.0, 1.01, 0.002, None), 110, PLAIN);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("application")).collect();
    let table = lines[..lines.iter().position(|line| line.is_empty()).unwrap()].join("\n");
    insta::assert_snapshot!(table);
}

#[test]
fn a_command_that_had_the_machine_for_itself_is_not_compared_with_one_that_shared_it() {
    let alone = beside(63.0, 1.01, 0.002, None);
    let shared_by = |cells: u32| {
        let mut record = alone.clone();
        record.id = Uuid::from_u128(u128::from(cells));
        record.cells.iter_mut().filter(|cell| cell.application.is_some()).for_each(|cell| cell.phase = Some(1));
        for other in 2..cells {
            let workload = format!("./restore-{other}.sh");
            record.cells.push(Cell { workload, ..record.cells[1].clone() });
        }
        record
    };
    let sentence = |one: &Record, other: &Record| {
        let comparison = compare(&[one, other]);
        let cell = comparison.pairs[0].cells.iter().find(|cell| cell.workload == "./restore.sh").unwrap();
        cell.sentence.clone()
    };
    let (two, three) = (shared_by(2), shared_by(3));
    let due = "not compared: company (A none, B one of 2 at the same time) differs";
    assert_eq!(sentence(&alone, &two), due);
    assert!(sentence(&two, &three).contains("company (A one of 2 at the same time, B one of 3"));
}

#[test]
fn a_command_before_which_the_storage_came_to_rest_is_not_compared_with_one_that_did_not_wait() {
    let waited = beside(63.0, 1.01, 0.002, None);
    let with_settling_of = |settle_ns: u64| {
        let mut record = waited.clone();
        record.id = Uuid::from_u128(2);
        for cell in &mut record.cells {
            if let Some(Work::Application(plan)) = &mut cell.plan {
                plan.settle_ns = settle_ns;
            }
        }
        let comparison = compare(&[&waited, &record]);
        let cell = comparison.pairs[0].cells.iter().find(|cell| cell.workload == "./restore.sh").unwrap();
        cell.sentence.clone()
    };
    assert_eq!(with_settling_of(0), "not compared: settling (A waited for, B not waited for) differs");
    assert!(!with_settling_of(30_000_000_000).contains("not compared"));
}
