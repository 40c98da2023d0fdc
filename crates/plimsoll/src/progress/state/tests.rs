//! Scripted runs, and what is shown of them at each moment.

use plimsoll_workload::workload::Workload;

use super::*;
use crate::progress::test_events::{
    SECOND_NS, ended, finished, interval, laid_out, layout, plan, started, twelve_seconds, two_cells,
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
    events.extend([(7, finished(1, 0, 0)), (7, started(0, 0)), (13, finished(0, 0, 0)), (13, started(0, 1))]);
    assert_eq!(at(&after(&two_cells(), &events), 15).remaining, exactly(10));
    events.extend([(19, finished(0, 1, 0)), (19, started(1, 1)), (25, finished(1, 1, 0))]);
    assert_eq!(at(&after(&two_cells(), &events), 25).remaining, exactly(0));
    events.push((26, ended()));
    assert_eq!(at(&after(&two_cells(), &events), 26).elapsed_ns, 26 * SECOND_NS);
}

#[test]
fn a_cell_that_met_an_error_is_not_waited_for() {
    let events = [(0, laid_out("/mnt/data")), (0, started(0, 0)), (2, finished(0, 0, 3))];
    assert_eq!(at(&after(&two_cells(), &events), 2).remaining, exactly(12));
    let stubborn = |name| Workload { keep_going: Some(true), ..twelve_seconds(name) };
    let stubborn = plan(&["/mnt/data"], &[stubborn("first"), stubborn("second")]);
    assert_eq!(at(&after(&stubborn, &events), 2).remaining, exactly(18));
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
fn a_start_delay_is_waited_for_once() {
    let delayed = Workload { start_delay: Some("3s".parse().unwrap()), ..twelve_seconds("delayed") };
    let plan = plan(&["/mnt/data"], &[delayed, twelve_seconds("second")]);
    let mut events = vec![(0, laid_out("/mnt/data"))];
    assert_eq!(at(&after(&plan, &events), 0).remaining, exactly(27));
    events.push((3, started(0, 0)));
    assert_eq!(at(&after(&plan, &events), 3).remaining, exactly(24));
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
