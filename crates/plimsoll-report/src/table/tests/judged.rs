//! What the rules said of a run, as readers see it.

use plimsoll_measure::{stability::Grade, verdict::Verdict};
use plimsoll_record::{
    event::{SlotPurpose, SlotResult},
    judgement::{RateEstimate, Stability},
    record::Window,
    word::Word,
};

use super::*;
use crate::grid::{Column, Side};

/// A run that the rules judged: a cell that is steady, and a mixed one that no single number describes.
fn judged() -> Record {
    let mixed = Workload { name: Some("wild".into()), rw: Some(ReadWrite::RandRw), ..Workload::default() };
    let steady = Workload { name: Some("level".into()), rw: Some(ReadWrite::RandRead), ..Workload::default() };
    let mut story = Story::new(&["/mnt/data"], &[steady, mixed]);
    for cell in 0..2 {
        let cut = story.slot(cell, 6, 0, 1);
        story.measure(cell, 5_000, 200_000);
        story.tell(&RunEvent::SlotFinished(Box::new(SlotResult { purpose: SlotPurpose::Bookend, ..cut })));
    }
    let mut record = story.end(2_100_000_000_000, Outcome::Complete);
    let stability = |wide, [iops_min, iops_max]: [f64; 2]| Stability {
        grade: Some(if wide { Grade::F } else { Grade::A }),
        spread: iops_max / iops_min,
        wide,
        iops_min,
        iops_median: 5_000.0,
        iops_max,
        slow_share: 0.0,
        stalled_share: 0.0,
    };
    let window = Some(Window { from_ns: 14_000_000_000, to_ns: 908_000_000_000 });
    let estimate = Some(RateEstimate { iops: 5_000.0, iops_low: Some(4_990.0), iops_high: Some(5_010.0) });
    for (cell, (verdict, stability)) in record.cells.iter_mut().zip([
        (Verdict::Steady, stability(false, [4_900.0, 5_100.0])),
        (Verdict::Unstable, stability(true, [100.0, 20_000.0])),
    ]) {
        (cell.verdict, cell.stability) = (Some(verdict), Some(stability));
        (cell.window, cell.estimate) = (window, estimate);
        for result in [&mut cell.read, &mut cell.write].into_iter().flatten() {
            (result.iops_low, result.iops_high) = (Some(result.iops * 0.998), Some(result.iops * 1.002));
        }
    }
    record
}

#[test]
fn steady_stands_beside_its_window_and_a_mean_that_misleads_gives_way_to_the_range() {
    insta::assert_snapshot!(record(&judged(), 100, PLAIN), @r"
    target   /mnt/data: directory on ext4, nvme1n1p1 (Amazon Elastic Block Store, 100 GiB), 80 GiB free
    load     working set 1 GiB, direct I/O, each workload measured 7.20 s in 6 slots (besides 1 left
             out, 2.00 s left out)
    engine   io_uring
    machine  kernel 6.12.0 x86_64, 4 processors, 16 GiB memory, Amazon EC2 m7i.xlarge
    run      0199c0de-7a3e, 2025-10-08 09:30 UTC, took 35m 00s, plimsoll 0.1.0

    workload  op              IOPS     +-           MB/s    mean     p99  window           verdict
    ───────────────────────────────────────────────────────────────────────────────────────────────
    level     read           5,000  0.2 %           20.5  204 us  200 us  14 s to 15m 08s  steady
    wild      read   50.0 to 10.0k      -  0.205 to 41.0  204 us  200 us  14 s to 15m 08s  unstable
              write  50.0 to 10.0k      -  0.205 to 41.0  204 us  200 us

    note: steady = the rate was level in its window and is known to the asked precision
    note: unstable = the rate fluctuated too much for a single number
    ");
    // However narrow it is.
    let narrow = record(&judged(), 60, PLAIN);
    let row = narrow.lines().find(|line| line.starts_with("level")).unwrap();
    assert!(row.ends_with("14 s to 15m 08s  steady"), "{narrow}");
}

#[test]
fn a_word_is_coloured_because_it_is_a_verdict_and_not_because_it_looks_like_one() {
    let names = || Column::new("workload", Side::Left, 0, vec!["a long name".to_owned(), "b".to_owned()]);
    let shown = |last: Column| {
        let mut out = String::new();
        push_grid(&mut out, &Grid::new(vec![names(), last]), COLOUR);
        out.lines().skip(2).map(|line| line.replace('\u{1b}', "^")).collect::<Vec<_>>()
    };
    let told = Column::new("state", Side::Left, 0, vec!["waiting".to_owned(), "not run".to_owned()]);
    assert_eq!(shown(told), ["a long name  waiting", "b            not run"]);
    let verdicts = rows::verdicts(&[Some(Word::Verdict(Verdict::Cached)), None]);
    assert_eq!(shown(verdicts), ["a long name  ^[33mcached^[0m", "b"]);
}

#[test]
fn a_window_that_begins_after_other_measured_time_is_shown_of_what_is_short_too() {
    let text = |from_ns: u64| {
        let load = Workload { rw: Some(ReadWrite::RandRead), ..Workload::default() };
        let mut story = Story::new(&["/mnt/data"], &[load]);
        let slot = SlotResult { elapsed_ns: 100_000_000_000, ..story.slot(0, 0, 1_000, 200_000) };
        story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        let mut record = story.end(100_000_000_000, Outcome::Complete);
        record.cells[0].window = Some(Window { from_ns, to_ns: 100_000_000_000 });
        super::record(&record, 140, PLAIN)
    };
    let late = text(50_000_000_000);
    assert!(late.contains("in 1 slot (besides 50 s left out)") && late.contains("50 s to 1m 40s  short"), "{late}");
    let whole = text(20_000_000);
    assert!(!whole.contains("left out") && !whole.contains("window"), "{whole}");
}
