//! Scripted runs, and what is shown of them at each moment.

use plimsoll_workload::{certainty::StoppingRule, workload::Workload};

use super::*;
use crate::progress::test_events::{
    SECOND_NS, applications, ended, finished, finished_with, interval, iterated, laid_out, layout, load, plan, started,
    told, twelve_seconds, two_cells,
};

/// Applies events at the seconds given and returns the state after the last of them.
fn after(plan: &Plan, events: &[(u64, RunEvent)]) -> ProgressState {
    let mut state = ProgressState::new(plan, 100 * SECOND_NS);
    for (second, event) in events {
        state.apply(event, (100 + second) * SECOND_NS);
    }
    state
}

fn at(state: &ProgressState, second: u64) -> Shown {
    state.shown((100 + second) * SECOND_NS)
}

fn iops(shown: &Shown) -> u64 {
    shown.rates.unwrap().iops.round() as u64
}

const fn exactly(seconds: u64) -> Remaining {
    Remaining { ns: seconds * SECOND_NS, at_least: false, at_most_ns: None }
}

const fn at_least(seconds: u64) -> Remaining {
    Remaining { ns: seconds * SECOND_NS, at_least: true, at_most_ns: None }
}

#[test]
fn the_remaining_time_is_that_of_the_slots_to_come_and_of_the_running_one() {
    let mut events = vec![(0, laid_out("/mnt/data"))];
    assert_eq!(at(&after(&two_cells(), &events), 0).remaining, exactly(24));
    events.push((1, started(1, 0)));
    assert_eq!(at(&after(&two_cells(), &events), 1).remaining, exactly(24));
    assert_eq!(at(&after(&two_cells(), &events), 4).remaining, exactly(21));
    // A slot that takes longer than planned does not make the others shorter.
    assert_eq!(at(&after(&two_cells(), &events), 60).remaining, exactly(18));
    events.extend([(7, finished(1, 0, 0)), (7, told(1, 18)), (9, started(0, 0))]);
    // What is prepared before a slot takes nothing of the time of the others.
    assert_eq!(at(&after(&two_cells(), &events), 9).remaining, exactly(18));
    events.extend([(15, finished(0, 0, 0)), (15, told(0, 12)), (15, started(0, 1))]);
    assert_eq!(at(&after(&two_cells(), &events), 17).remaining, exactly(10));
    events.extend([(21, finished(0, 1, 0)), (21, told(0, 6)), (21, started(1, 1))]);
    events.extend([(25, finished(1, 1, 0)), (25, told(1, 0))]);
    assert_eq!(at(&after(&two_cells(), &events), 25).remaining, exactly(0));
    events.push((26, ended()));
    assert_eq!(at(&after(&two_cells(), &events), 26).elapsed_ns, 26 * SECOND_NS);
}

#[test]
fn a_slot_that_ended_is_done_before_it_is_told_what_is_left() {
    let mut events = vec![(0, laid_out("/mnt/data")), (1, started(1, 0))];
    // Neither one that took longer counts again, nor the rest of one that an error ended.
    for (second, failures) in [(7, 0), (9, 0), (3, 1)] {
        let ended = [events.clone(), vec![(second, finished(1, 0, failures))]].concat();
        assert_eq!(at(&after(&two_cells(), &ended), second + 1).remaining, exactly(18), "ended at {second} s");
    }
    // Of two at the same time, the first that is told of ends both.
    events.extend([(1, started(0, 0)), (7, finished(1, 0, 0)), (7, finished(0, 0, 0))]);
    assert_eq!(at(&after(&two_cells(), &events), 7).remaining, exactly(18));
}

#[test]
fn a_cell_that_met_an_error_is_not_waited_for() {
    let events = [(0, laid_out("/mnt/data")), (0, started(0, 0)), (2, finished(0, 0, 3))];
    let counted = Workload { operations: Some(1000), ..twelve_seconds("counted") };
    let of = |first| plan(&["/mnt/data"], &[first, counted.clone()]);
    assert_eq!(at(&after(&of(twelve_seconds("first")), &events), 2).remaining, at_least(1));
    let stubborn = Workload { keep_going: Some(true), ..twelve_seconds("first") };
    assert_eq!(at(&after(&of(stubborn), &events), 2).remaining, at_least(6 + 1));
}

#[test]
fn files_being_written_are_estimated_by_the_rate_so_far() {
    let first = [(0, layout(100 << 20, 1000 << 20))];
    assert_eq!(at(&after(&two_cells(), &first), 0).remaining, at_least(24));
    let second = [(0, layout(100 << 20, 1000 << 20)), (3, layout(400 << 20, 1000 << 20))];
    let shown = at(&after(&two_cells(), &second), 3);
    assert_eq!(shown.remaining, exactly(24 + 6));
    assert_eq!(shown.phase, "writing test files in /mnt/data, 400 MiB of 1000 MiB");
    let two_targets = plan(&["/mnt/data", "/mnt/b"], &[twelve_seconds("first")]);
    assert_eq!(at(&after(&two_targets, &second), 3).remaining, at_least(24 + 6));
}

#[test]
fn a_cell_that_an_amount_ends_makes_the_time_a_lower_bound() {
    let counted = Workload { operations: Some(1000), ..twelve_seconds("counted") };
    let plan = plan(&["/mnt/data"], &[twelve_seconds("first"), counted]);
    let events = [(0, laid_out("/mnt/data")), (0, started(1, 0))];
    assert_eq!(at(&after(&plan, &events), 0).remaining, at_least(12 + 1));
    let events = [(0, started(1, 0)), (3, finished(1, 0, 0)), (3, started(0, 0))];
    assert_eq!(at(&after(&plan, &events), 3).remaining, exactly(12));
}

#[test]
fn beside_a_cell_that_ends_by_its_rate_an_amount_makes_the_time_a_lower_bound_too() {
    let counted = Workload { operations: Some(2000), duration: None, ..twelve_seconds("counted") };
    let mut plan = plan(&["/mnt/data"], &[twelve_seconds("first"), counted]);
    plan.cells[0].stopping = StoppingRule::Sure;
    let mut events = vec![(0, laid_out("/mnt/data")), (0, told(0, 9))];
    assert_eq!(at(&after(&plan, &events), 0).remaining, at_least(9));
    events.push((0, started(1, 0)));
    assert_eq!(at(&after(&plan, &events), 20).times(), "20 s in, time left unknown");
    let run_remaining_ns = 4 * SECOND_NS;
    let done = RunEvent::CellProgress {
        cell: 1,
        precision: None,
        precision_wanted: None,
        is_done: true,
        run_remaining_ns,
        run_remaining_max_ns: run_remaining_ns,
    };
    events.extend([(20, finished(1, 0, 0)), (20, done)]);
    assert_eq!(at(&after(&plan, &events), 20).remaining, exactly(4));
}

#[test]
fn a_start_delay_is_waited_for_once() {
    let delayed = Workload { start_delay: Some("3s".parse().unwrap()), ..twelve_seconds("delayed") };
    let plan = plan(&["/mnt/data"], &[delayed, twelve_seconds("second")]);
    let mut events = vec![(0, laid_out("/mnt/data"))];
    assert_eq!(at(&after(&plan, &events), 0).remaining, exactly(27));
    let waiting = |left: u64| RunEvent::Waiting { left_ns: left * SECOND_NS };
    events.extend([(0, waiting(3)), (1, waiting(2))]);
    let state = after(&plan, &events);
    assert_eq!(at(&state, 2).phase, "waiting 1 s before the next slot");
    assert_eq!((at(&state, 1).remaining, at(&state, 2).remaining), (exactly(26), exactly(25)));
    events.push((3, started(0, 0)));
    assert_eq!(at(&after(&plan, &events), 3).remaining, exactly(24));
}

#[test]
fn the_time_left_is_no_longer_than_what_may_be_used() {
    let plan = Plan { max_time_ns: Some(20 * SECOND_NS), ..two_cells() };
    let mut events = vec![(0, laid_out("/mnt/data"))];
    assert_eq!(at(&after(&plan, &events), 0).remaining, exactly(20), "of 24 s");
    events.extend([(1, told(0, 19)), (1, started(0, 0))]);
    assert_eq!(at(&after(&plan, &events), 6).remaining, exactly(14));
}

#[test]
fn the_phase_names_cell_and_round_and_the_target_when_there_are_several() {
    let events = [(0, started(1, 0)), (6, finished(1, 0, 0)), (6, started(1, 1))];
    let state = after(&two_cells(), &events);
    assert_eq!(at(&state, 6).phase, "ramp of second, cell 2 of 2, round 2 of 2");
    assert_eq!(at(&state, 7).phase, "measuring second, cell 2 of 2, round 2 of 2");
    let two_targets = plan(&["/mnt/a", "/mnt/b"], &[twelve_seconds("first")]);
    let state = after(&two_targets, &events);
    assert_eq!(at(&state, 7).phase, "measuring first on /mnt/b, cell 2 of 2, round 2 of 2");
}

#[test]
fn rates_are_those_of_the_current_cell() {
    let mut events = vec![(0, started(0, 0)), (1, interval(0, 9_812))];
    let shown = at(&after(&two_cells(), &events), 1);
    assert_eq!(shown.rates(), "9,812 IOPS, 40.2 MB/s, p99 210 us");
    events.extend([(6, finished(0, 0, 0)), (6, started(1, 0))]);
    assert_eq!(at(&after(&two_cells(), &events), 6).rates(), "");
    events.extend([(12, finished(1, 0, 0)), (12, started(0, 1))]);
    // Until the first second of the new slot is over, the last one of the same cell is what is known.
    assert_eq!(at(&after(&two_cells(), &events), 12).rates(), "9,812 IOPS, 40.2 MB/s, p99 210 us");
}

#[test]
fn a_slot_that_is_over_is_told_by_its_mean() {
    let events = [(0, started(0, 0)), (5, load(0, 0, 40, SECOND_NS / 5, true)), (6, finished_with(0, 0, 5_000))];
    let latest = after(&two_cells(), &events).details().cells[0].latest.unwrap();
    assert_eq!(latest.iops.round() as u64, 1_000);
    let events = [events.as_slice(), &[(6, started(0, 1))]].concat();
    assert_eq!(at(&after(&two_cells(), &events), 6).rates(), "1,000 IOPS, 4.10 MB/s, p99 210 us");
}

/// A phase of a cell of five seconds after a second of ramp, and one whose slot is shorter.
fn long_and_brief() -> Plan {
    let of_phase = |name| Workload { phase: Some(1), ..twelve_seconds(name) };
    let mut plan = plan(&["/mnt/data"], &[of_phase("brief"), of_phase("long")]);
    plan.cells[0].work.blocks_mut().unwrap().slot_ns = Some(SECOND_NS);
    plan
}

fn started_for(cell: usize, seconds: u64) -> RunEvent {
    match started(cell, 0) {
        RunEvent::SlotStarted { cell, round, t_ns, ramp_ns, purpose, .. } => {
            let measured_ns = Some(seconds * SECOND_NS);
            RunEvent::SlotStarted { cell, round, t_ns, ramp_ns, measured_ns, purpose }
        }
        _ => unreachable!("it is that event"),
    }
}

#[test]
fn of_cells_of_a_phase_those_that_are_over_are_left_out() {
    let mut events = vec![(0, started_for(0, 1)), (0, started_for(1, 5)), (2, interval(0, 300)), (2, interval(1, 50))];
    let state = after(&long_and_brief(), &events);
    // Its time is just over.
    assert_eq!(at(&state, 2).phase, "measuring long, cell 2 of 2, round 1 of 2");
    events.truncate(2);
    events.extend([(1, load(0, 0, 300, SECOND_NS, false)), (1, load(1, 0, 50, SECOND_NS, false))]);
    let both = at(&after(&long_and_brief(), &events), 1);
    assert_eq!(both.phase, "measuring brief and 1 more, cell 1 of 2, round 1 of 2");
    assert_eq!(iops(&both), 350);
    events.extend([(2, interval(0, 300)), (3, interval(1, 50)), (3, interval(0, 9))]);
    let state = after(&long_and_brief(), &events);
    let (shown, details) = (at(&state, 3), state.details());
    assert_eq!(iops(&shown), 50, "without what brief did last");
    assert_eq!(details.cells.iter().map(|cell| cell.is_measured).collect::<Vec<_>>(), [false, true]);
    assert_eq!(details.current, 1, "the one that goes on is followed");
    // The last one is told of until its slot is.
    events.extend([(6, interval(1, 60)), (7, interval(1, 70))]);
    assert_eq!(iops(&at(&after(&long_and_brief(), &events), 7)), 70);
}

#[test]
fn a_cell_of_a_phase_that_an_amount_ended_is_missed_when_it_is_silent() {
    let counted = Workload { operations: Some(1000), phase: Some(1), ..twelve_seconds("counted") };
    let long = Workload { phase: Some(1), ..twelve_seconds("long") };
    let plan = plan(&["/mnt/data"], &[counted, long]);
    let mut events = vec![(0, started(0, 0)), (0, started_for(1, 20)), (1, interval(0, 300)), (1, interval(1, 50))];
    events.push((3, interval(1, 50)));
    assert_eq!(iops(&at(&after(&plan, &events), 3)), 350);
    events.push((4, interval(1, 50)));
    assert_eq!(iops(&at(&after(&plan, &events), 4)), 50);
    // It had only stalled.
    events.push((5, interval(0, 10)));
    assert_eq!(iops(&at(&after(&plan, &events), 5)), 60);
}

#[test]
fn where_nothing_is_known_of_the_time_left_no_bar_says_that_all_is_done() {
    let state = after(&applications(), &[(0, laid_out("/mnt/data")), (0, started(0, 0))]);
    let shown = at(&state, 2);
    assert_eq!((shown.done_per_mille(), shown.times().as_str()), (0, "2 s in, time left unknown"));
}

#[test]
fn of_applications_side_by_side_each_is_known_once_it_has_ended() {
    let commands = [Workload { command: Some("sleep 1".to_owned()), ..Workload::default() }];
    let begun = [(0, laid_out("/mnt/data")), (0, started(0, 0)), (0, started(1, 0))];
    let ended = [(3, iterated(0, 0, 3000)), (3, iterated(1, 0, 3000)), (3, started(0, 1)), (3, started(1, 1))];
    let state = after(&plan(&["/mnt/a", "/mnt/b"], &commands), &[&begun[..], &ended[..]].concat());
    assert!(!at(&state, 4).remaining.at_least, "{}", at(&state, 4).times());
}

#[test]
fn work_on_names_moves_no_bytes_rather_than_none_a_second() {
    let rates = Rates { iops: 900.0, bytes_per_second: 0.0, p99_ns: None };
    assert_eq!(rates.throughput(), "-");
    assert_eq!(Rates { iops: 0.0, ..rates }.throughput(), "0");
}

#[test]
fn the_bar_is_full_when_the_run_is_over_and_never_before() {
    let mut events = vec![(0, laid_out("/mnt/data")), (0, started(0, 0))];
    assert_eq!(at(&after(&two_cells(), &events), 0).done_per_mille(), 0);
    assert_eq!(at(&after(&two_cells(), &events), 6).done_per_mille(), 250);
    events.push((30, ended()));
    assert_eq!(at(&after(&two_cells(), &events), 30).done_per_mille(), 1000);
}

#[test]
fn times_say_when_they_are_a_lower_bound() {
    assert_eq!(at(&after(&two_cells(), &[]), 0).times(), "0 s in, at least 24 s left");
    assert_eq!(at(&after(&two_cells(), &[(2, started(0, 0))]), 4).times(), "4 s in, 22 s left");
}

#[test]
fn events_of_cells_that_the_plan_does_not_have_are_ignored() {
    let events = [(0, started(9, 0)), (1, interval(9, 5)), (2, finished(9, 0, 1))];
    assert_eq!(at(&after(&two_cells(), &events), 2).rates(), "");
}
