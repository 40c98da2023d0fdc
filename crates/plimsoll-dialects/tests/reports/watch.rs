//! What is told of a run while it goes on.

use plimsoll_dialects::fio::report::{Reported, Rest, Watch};
use plimsoll_record::{
    event::{RunEvent, RunStarted, SlotDirection, SlotPurpose, SlotResult},
    record::{Asked, Record},
    results::Interval,
};
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    plan::{CellPlan, Plan, Work},
    settings::Effort,
};

use crate::made_up::{BLOCK_BYTES, Run, SECOND_NS, latencies};

/// Reads of two clones, and after them writes.
fn jobs(options: &[&str]) -> Run {
    let reads = ["--name=reads", "--ioengine=null", "--rw=randread", "--size=1g", "--numjobs=2", "--group_reporting=1"];
    let writes = ["--name=writes", "--ioengine=null", "--rw=write", "--size=1g", "--stonewall=1"];
    Run::of(&[&reads[..], options, &writes, options].concat())
}

/// The beginning of a run of those jobs.
fn started(run: &Run) -> RunEvent {
    let Record { id, started, tool, environment, .. } = run.record.clone();
    let cells = run.record.cells.iter().map(|cell| {
        let mut blocks = cell.blocks().cloned().unwrap();
        (blocks.ramp_ns, blocks.slot_ns, blocks.start_delay_ns) = (SECOND_NS, Some(4 * SECOND_NS), 0);
        (blocks.file_count, blocks.random_percent) = (1, if blocks.reads() { 100 } else { 0 });
        CellPlan {
            target: cell.target.clone(),
            workload: cell.workload.clone(),
            stopping: StoppingRule::Fixed { slots: 1, discarded: 0 },
            phase: cell.phase,
            expected: None,
            work: Work::Blocks(blocks),
        }
    });
    let plan = Plan {
        seed: 1,
        effort: Effort::Standard,
        precision: None,
        max_time_ns: None,
        bookend_ns: None,
        turn: None,
        cells: cells.collect(),
    };
    let certainty = Certainty::of(Effort::Standard);
    let asked = Asked::of(certainty);
    RunEvent::Started(Box::new(RunStarted {
        id,
        started,
        tool,
        name: None,
        tags: Default::default(),
        asked,
        plan,
        environment,
    }))
}

fn slot_started(cell: usize, second: u64) -> RunEvent {
    RunEvent::SlotStarted {
        cell,
        round: 0,
        t_ns: second * SECOND_NS,
        ramp_ns: SECOND_NS,
        measured_ns: Some(4 * SECOND_NS),
        purpose: SlotPurpose::Measured,
    }
}

/// A second of 2,000 operations, of which the first is the ramp.
fn interval(cell: usize, second: u64) -> RunEvent {
    let mut interval = Interval {
        t_ns: second * SECOND_NS,
        length_ns: SECOND_NS,
        measured: !second.is_multiple_of(5),
        ..Interval::default()
    };
    let (operations, bytes) = if cell == 0 {
        (&mut interval.read_operations, &mut interval.read_bytes)
    } else {
        (&mut interval.write_operations, &mut interval.write_bytes)
    };
    (*operations, *bytes) = (2000, 2000 * BLOCK_BYTES);
    RunEvent::Interval { cell, interval }
}

fn slot_finished(cell: usize) -> RunEvent {
    let read = SlotDirection { operations: 8000, bytes: 8000 * BLOCK_BYTES, histogram: latencies(8000) };
    RunEvent::SlotFinished(Box::new(SlotResult {
        cell,
        from_ns: SECOND_NS,
        elapsed_ns: 4 * SECOND_NS,
        read: Some(read),
        ..SlotResult::default()
    }))
}

fn watch<'a>(run: &'a Run, events: &[RunEvent]) -> Watch<'a> {
    let mut watch = Watch::new(&run.jobs, &run.cells);
    watch.event(&started(run));
    events.iter().for_each(|event| watch.event(event));
    watch
}

#[test]
fn the_line_of_progress_is_that_of_fio() {
    let run = jobs(&[]);
    let line = |events: &[RunEvent]| watch(&run, events).line();
    let events = [slot_started(0, 0), interval(0, 0), interval(0, 1), interval(0, 2)];
    assert_eq!(line(&[]), "Jobs: 0 (f=0)");
    assert_eq!(line(&events[..1]), "Jobs: 2 (f=2): [/(2),P(1)][-.-%][eta 00m:10s]");
    assert_eq!(line(&events[..3]), "Jobs: 2 (f=2): [r(2),P(1)][20.0%][r=8000KiB/s][r=2000 IOPS][eta 00m:08s]");
    let later = [slot_finished(0), slot_started(1, 5), interval(1, 5), interval(1, 6), interval(1, 7)];
    let line = line(&[&events[..], &later].concat());
    assert_eq!(line, "Jobs: 1 (f=1): [_(2),W(1)][80.0%][w=8000KiB/s][w=2000 IOPS][eta 00m:02s]");
}

#[test]
fn a_report_meanwhile_has_what_was_done_until_then_and_no_error_for_what_is_to_come() {
    let run = jobs(&[]);
    let watch = watch(&run, &[slot_started(0, 0), interval(0, 0), interval(0, 1), interval(0, 2)]);
    assert_eq!((watch.time_ns(), watch.left_ns()), (3 * SECOND_NS, Some(7 * SECOND_NS)));
    let record = watch.record().unwrap();
    let reported = Reported { record: &record, rest: Some(Rest { left_ns: watch.left_ns() }), ..run.reported() };
    let report: serde_json::Value = serde_json::from_str(&reported.json(false)).unwrap();
    let [reads, writes] = [&report["jobs"][0], &report["jobs"][1]];
    assert_eq!((&reads["read"]["total_ios"], &reads["read"]["runtime"]), (&4000.into(), &2000.into()));
    assert_eq!((&reads["read"]["iops"], &reads["read"]["iops_samples"]), (&2000.0.into(), &2.into()));
    assert_eq!((&reads["eta"], &reads["elapsed"], &reads["error"]), (&7.into(), &3.into(), &0.into()));
    assert_eq!((&writes["error"], &writes["write"]["total_ios"]), (&0.into(), &0.into()));
    assert!(report["plimsoll"]["outcome"].is_null());
    let said = report["plimsoll"]["notes"].to_string();
    assert!(said.contains("latencies of what goes on"), "{said}");
    assert!(!reported.normal().contains("plimsoll: record"));
}

#[test]
fn how_long_a_size_will_take_is_told_by_how_much_of_it_is_done() {
    let run = jobs(&[]);
    let RunEvent::Started(mut start) = started(&run) else { unreachable!() };
    for cell in &mut start.plan.cells {
        let blocks = cell.work.blocks_mut().unwrap();
        (blocks.slot_ns, blocks.amount_bytes) = (None, Some(8000 * BLOCK_BYTES));
    }
    let mut watch = Watch::new(&run.jobs, &run.cells);
    watch.event(&RunEvent::Started(start));
    let mut slot = slot_started(0, 0);
    if let RunEvent::SlotStarted { measured_ns, .. } = &mut slot {
        *measured_ns = None;
    }
    [slot, interval(0, 0)].iter().for_each(|event| watch.event(event));
    // The second job will take nobody knows how long.
    assert_eq!((watch.left_ns(), watch.line()), (None, "Jobs: 2 (f=2)".to_owned()));
    watch.event(&slot_finished(0));
    let mut slot = slot_started(1, 5);
    if let RunEvent::SlotStarted { measured_ns, .. } = &mut slot {
        *measured_ns = None;
    }
    [slot, interval(1, 5)].iter().for_each(|event| watch.event(event));
    assert_eq!(watch.left_ns(), Some(3 * SECOND_NS));
}
