//! What fits into the time that there is, and how much of it is left.

use super::*;

#[test]
fn the_shortest_visit_is_what_fits() {
    for count in [1, 3] {
        let needed_ns = Session::new(plan(cells(count))).shortest_visit_ns();
        let fits = |time_max_ns| {
            let mut session = Session::new(SessionPlan { time_max_ns: Some(time_max_ns), ..plan(cells(count)) });
            !drive(&mut session, &[&level(100.0)]).is_empty()
        };
        assert!(!fits(needed_ns - 1));
        assert!(count > 1 || fits(needed_ns));
    }
}

/// Visits that end by themselves, each after so many seconds, in a session of so many.
fn visits_that_end_by_themselves(cell: CellPlan, rounds: u32, each: u64, time_max: u64) -> usize {
    let fixed = Some(FixedVisits { rounds, measured_ns: None });
    let cells = vec![CellPlan { fixed, ramp_ns: Some(0), ..cell }];
    let mut session = Session::new(SessionPlan { time_max_ns: Some(time_max * SECOND), ..plan(cells) });
    let (mut now_ns, mut visits) = (0, 0);
    while let Step::Visit(slot) = session.next_step(now_ns) {
        let from_ns = now_ns + if visits == 0 { cell.start_delay_ns } else { 0 };
        let seconds = vec![Sample { count: 1.0, elapsed_ns: each * SECOND }];
        session.observe(&slot, Visit { from_ns, ramp: Sample::default(), seconds });
        (now_ns, visits) = (from_ns + each * SECOND, visits + 1);
    }
    visits
}

#[test]
fn time_runs_out_for_visits_that_end_by_themselves_too() {
    let visits = |rounds, each, time_max| visits_that_end_by_themselves(CellPlan::default(), rounds, each, time_max);
    assert_eq!(visits(10, 2, 5), 2, "a third would end after it");
    assert_eq!(visits(10, 2, 6), 3);
    assert_eq!(visits(10, 2, 1), 1, "nobody knows before the first");
    // Nobody can shorten them, also where few are judged as one piece.
    assert_eq!(visits(3, 20, 55), 2);
}

#[test]
fn the_delay_of_a_cell_is_part_of_the_time() {
    let delayed = CellPlan { start_delay_ns: 4 * SECOND, ..CellPlan::default() };
    assert_eq!(visits_that_end_by_themselves(delayed, 10, 2, 8), 2);
    assert_eq!(visits_that_end_by_themselves(delayed, 10, 2, 3), 0);
    let session = Session::new(plan(vec![CellPlan { ramp_ns: Some(SECOND), ..delayed }]));
    assert!(session.shortest_visit_ns() > 5 * SECOND);
}

#[test]
fn the_delay_of_a_cell_is_part_of_the_time_left_until_it_is_over() {
    let delayed = CellPlan { start_delay_ns: 3 * SECOND, ramp_ns: Some(0), ..CellPlan::default() };
    let fixed = Some(FixedVisits { rounds: 2, measured_ns: Some(2 * SECOND) });
    let mut session = Session::new(plan(vec![CellPlan { fixed, ..delayed }]));
    assert_eq!(session.remaining_ns(0), (7 * SECOND, 7 * SECOND));
    let Step::Visit(slot) = session.next_step(0) else { panic!("the first visit is due") };
    session.observe(&slot, visit(&level(5000.0), &slot, 3 * SECOND));
    assert_eq!(session.remaining_ns(5 * SECOND), (2 * SECOND, 2 * SECOND));
    let left_ns = |cell| Session::new(plan(vec![cell])).remaining_ns(0);
    let (alone, at_once) = (left_ns(delayed), left_ns(CellPlan { start_delay_ns: 0, ..delayed }));
    assert_eq!(alone, (at_once.0 + 3 * SECOND, at_once.1 + 3 * SECOND));
}

#[test]
fn a_phase_that_does_not_fit_is_refused_whatever_the_seed() {
    let cell = |seconds: u64| CellPlan {
        workload: seconds as usize,
        ramp_ns: Some(0),
        fixed: Some(FixedVisits { rounds: 1, measured_ns: Some(seconds * SECOND) }),
        phase: Some(1),
        ..CellPlan::default()
    };
    for seed in 0..16 {
        let session = |cells: Vec<CellPlan>, time_s: u64| {
            Session::new(SessionPlan { seed, time_max_ns: Some(time_s * SECOND), ..plan(cells) })
        };
        let mut both = session(vec![cell(30), cell(2)], 14);
        assert_eq!((both.next_step(0), both.shortest_visit_ns()), (Step::Done, 30 * SECOND));
        assert!(matches!(session(vec![cell(30), cell(2)], 30).next_step(0), Step::Visit(_)));
        // Without company it is shortened, as it would be without a phase.
        let mut one = session(vec![cell(30)], 14);
        assert_eq!(one.shortest_visit_ns(), 10 * SECOND);
        assert!(matches!(one.next_step(0), Step::Visit(Slot { measured_ns, .. }) if measured_ns == Some(14 * SECOND)));
    }
}

#[test]
fn a_cell_that_has_no_time_does_not_keep_others_from_it_whatever_the_seed() {
    let cell = |seconds: u64| CellPlan {
        workload: seconds as usize,
        ramp_ns: Some(0),
        fixed: Some(FixedVisits { rounds: 6, measured_ns: Some(seconds * SECOND) }),
        ..CellPlan::default()
    };
    for seed in 0..16 {
        let visited = |time_s: u64| {
            let plan = SessionPlan { seed, time_max_ns: Some(time_s * SECOND), ..plan(vec![cell(6), cell(1)]) };
            let slots = drive(&mut Session::new(plan), &[&level(100.0)]);
            [0, 1].map(|cell| rounds_of(&slots, cell).len())
        };
        assert_eq!(visited(5), [0, 1], "{seed}: one that is a visit behind gets none before the other has caught up");
        assert_eq!(visited(8), [1, 2], "{seed}");
        assert_eq!(visited(14), [2, 2], "{seed}");
    }
}

#[test]
fn the_time_left_has_the_rest_between_passes_and_what_is_discarded() {
    let restless: Vec<f64> = (0..7200).map(|t| if t / 37 % 2 == 0 { 1000.0 } else { 600.0 }).collect();
    let even = level(5000.0);
    let mut session = Session::new(plan(cells(6)));
    let (mut now_ns, mut said) = (0, Vec::new());
    loop {
        said.push((now_ns, session.remaining_ns(now_ns)));
        match session.next_step(now_ns) {
            Step::Visit(slot) => {
                let visit = visit(if slot.cell == 0 { &restless } else { &even }, &slot, now_ns);
                now_ns = visit.to_ns();
                session.observe(&slot, visit);
            }
            Step::WaitUntil(until_ns) => now_ns = until_ns,
            Step::Done => break,
        }
    }
    let pass_ns = session.rules().pass_ns();
    assert!(said.iter().all(|(at_ns, (_, most_ns))| now_ns - at_ns <= most_ns + pass_ns), "{now_ns} {said:?}");
    let fixed = Some(FixedVisits { rounds: 4, measured_ns: Some(10 * SECOND) });
    let discarding = CellPlan { fixed, discard_first: 2, ramp_ns: Some(0), ..CellPlan::default() };
    assert_eq!(Session::new(plan(vec![discarding])).remaining_ns(0), (40 * SECOND, 40 * SECOND));
}
