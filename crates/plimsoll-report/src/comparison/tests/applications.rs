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
}

#[test]
fn what_tells_its_rate_is_compared_by_it_and_not_by_its_time() {
    let record = beside(63.0, 10.0, 0.01, Some("transactions"));
    let comparison = Comparison::of_targets(&record).unwrap();
    let cell = comparison.pairs[0].cells.iter().find(|cell| cell.workload == "./restore.sh").unwrap();
    let metrics: Vec<Metric> = cell.metrics.iter().map(|pair| pair.metric).collect();
    assert!(metrics.contains(&Metric::Iops) && !metrics.contains(&Metric::Elapsed), "{metrics:?}");
    let ratio = cell.headline().unwrap().compared.unwrap().ratio;
    assert!(ratio.low < 10.0 && 10.0 < ratio.high && ratio.high < 11.0, "{ratio:?}");
}

#[test]
fn iterations_are_shown_one_by_one_with_what_they_took() {
    let text = table::record(&beside(63.0, 1.01, 0.002, None), 110, PLAIN);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("application")).collect();
    let table = lines[..lines.iter().position(|line| line.is_empty()).unwrap()].join("\n");
    insta::assert_snapshot!(table);
}
