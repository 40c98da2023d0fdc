//! The machine as those see it who drive it.

mod bursts;
mod metamorphic;
mod time;

use proptest::prelude::*;

use super::{visit::Sample, *};
use crate::{
    effort::Effort,
    replay::{ReplayPlan, replay, visit},
    test_noise,
};

const SECOND: u64 = 1_000_000_000;

fn plan(cells: Vec<CellPlan>) -> SessionPlan {
    SessionPlan { cells, seed: 3, ..SessionPlan::default() }
}

fn cells(count: usize) -> Vec<CellPlan> {
    (0..count).map(|workload| CellPlan { workload, ..CellPlan::default() }).collect()
}

/// Drives a session to its end on one trace per cell. Returns every slot with its start.
fn drive(session: &mut Session, traces: &[&[f64]]) -> Vec<(u64, Slot)> {
    let mut now_ns = 0;
    let mut slots = Vec::new();
    loop {
        match session.next_step(now_ns) {
            Step::Visit(slot) => {
                slots.push((now_ns, slot));
                let visit = visit(traces[slot.cell % traces.len()], &slot, now_ns);
                now_ns = visit.to_ns();
                session.observe(&slot, visit);
            }
            Step::WaitUntil(until_ns) => now_ns = until_ns,
            Step::Done => return slots,
        }
    }
}

fn rounds_of(slots: &[(u64, Slot)], cell: usize) -> Vec<(u64, Slot)> {
    slots.iter().copied().filter(|(_, slot)| slot.cell == cell).collect()
}

fn level(rate: f64) -> Vec<f64> {
    test_noise::level(rate, 7200)
}

#[test]
fn level_cells_are_steady_after_the_fewest_rounds() {
    let mut session = Session::new(plan(cells(8)));
    let trace = level(5000.0);
    let slots = drive(&mut session, &[&trace]);
    for cell in 0..8 {
        let answer = session.answer(cell);
        assert_eq!(answer.verdict, Verdict::Steady);
        let estimate = answer.estimate.unwrap();
        assert!((estimate.rate - 5000.0).abs() < 25.0 && estimate.precision().unwrap() < 0.02);
        // Eight cells need eleven rounds to span ten minutes, and one more to confirm.
        assert_eq!(rounds_of(&slots, cell).len(), 12);
        assert!(answer.load_ns <= 90 * SECOND);
        let window = answer.window.unwrap();
        assert!(window.to_ns - window.from_ns >= 560 * SECOND);
    }
}

#[test]
fn a_cell_alone_is_one_piece_of_at_most_two_and_a_half_minutes() {
    let mut session = Session::new(plan(cells(1)));
    let slots = drive(&mut session, &[&level(5000.0)]);
    assert_eq!(session.answer(0).verdict, Verdict::Steady);
    assert_eq!(session.answer(0).load_ns, 138 * SECOND);
    assert!(session.answer(0).flags().contains(&"short-span"));
    let pieces: Vec<(u64, Purpose)> = slots.iter().map(|(_, slot)| (slot.ramp_ns, slot.purpose)).collect();
    assert_eq!(pieces, [(2 * SECOND, Purpose::Measure), (0, Purpose::Continue)]);
}

#[test]
fn a_long_ramp_comes_on_top_of_what_is_judged() {
    let alone = |ramp_s: u64| vec![CellPlan { ramp_ns: Some(ramp_s * SECOND), ..CellPlan::default() }];
    for ramp_s in [30, 1200, 5000] {
        let mut session = Session::new(plan(alone(ramp_s)));
        assert_eq!(session.remaining_ns(0).1, (ramp_s + 1798) * SECOND);
        let slots = drive(&mut session, &[&level(5000.0)]);
        let measured: Vec<u64> = slots.iter().map(|(_, slot)| slot.measured_ns.unwrap() / SECOND).collect();
        assert_eq!((measured, session.answer(0).verdict), (vec![118, 18], Verdict::Steady));
        assert_eq!(session.answer(0).load_ns, (ramp_s + 136) * SECOND);
    }
    for rounds in [1, 6] {
        let fixed = Some(FixedVisits { rounds, measured_ns: Some(60 * SECOND / u64::from(rounds)) });
        let cell = CellPlan { fixed, ..alone(120)[0] };
        let mut session = Session::new(plan(vec![cell]));
        drive(&mut session, &[&level(5000.0)]);
        assert_eq!(session.answer(0).verdict, Verdict::Short, "{rounds}");
    }
}

#[test]
fn a_quick_look_is_short_and_claims_nothing() {
    let mut session = Session::new(SessionPlan { effort: Effort::Quick, ..plan(cells(6)) });
    let slots = drive(&mut session, &[&level(5000.0)]);
    assert_eq!(slots.len(), 36);
    assert!(slots.iter().all(|(_, slot)| slot.ramp_ns + slot.measured_ns.unwrap() == SECOND * 7 / 5));
    for cell in 0..6 {
        let answer = session.answer(cell);
        assert_eq!(answer.verdict, Verdict::Short);
        assert!((answer.estimate.unwrap().rate - 5000.0).abs() < 50.0);
    }
}

#[test]
fn fixed_visits_are_done_exactly_and_the_first_can_be_discarded() {
    let fixed = FixedVisits { rounds: 4, measured_ns: Some(300 * SECOND) };
    let cell = CellPlan { fixed: Some(fixed), discard_first: 2, ..CellPlan::default() };
    let mut session = Session::new(plan(vec![cell]));
    // The discarded passes are twice as fast.
    let trace: Vec<f64> = level(1000.0).iter().enumerate().map(|(t, x)| if t < 604 { 2.0 * x } else { *x }).collect();
    let slots = drive(&mut session, &[&trace]);
    let purposes: Vec<Purpose> = slots.iter().map(|(_, slot)| slot.purpose).collect();
    assert_eq!(purposes, [Purpose::Discard, Purpose::Discard, Purpose::Measure, Purpose::Measure]);
    let answer = session.answer(0);
    assert_eq!((answer.verdict, answer.rounds), (Verdict::Steady, 2));
    assert!((answer.estimate.unwrap().rate - 1000.0).abs() < 5.0);
    assert_eq!(answer.load_ns, 4 * 302 * SECOND);
}

#[test]
fn cells_of_a_phase_are_visited_together_and_phases_in_their_order() {
    let cell = |phase: u32, seconds: u64| CellPlan {
        workload: phase as usize,
        ramp_ns: Some(0),
        fixed: Some(FixedVisits { rounds: 2, measured_ns: Some(seconds * SECOND) }),
        phase: Some(phase),
        ..CellPlan::default()
    };
    let cells = vec![cell(2, 5), cell(1, 10), cell(1, 30), cell(3, 7)];
    let mut session = Session::new(SessionPlan { time_max_ns: Some(70 * SECOND), ..plan(cells) });
    assert_eq!(session.remaining_ns(0), (70 * SECOND, 70 * SECOND), "84 s of load and 70 s of time");
    let (mut now_ns, mut together) = (0, Vec::new());
    while let Step::Visit(slot) = session.next_step(now_ns) {
        let mut slots = vec![slot];
        slots.extend(session.company(&slot));
        slots.sort_by_key(|slot| slot.cell);
        let from_ns = now_ns;
        for slot in &slots {
            let seconds =
                vec![Sample { count: 100.0, elapsed_ns: SECOND }; (slot.measured_ns.unwrap() / SECOND) as usize];
            now_ns = now_ns.max(from_ns + slot.measured_ns.unwrap());
            session.observe(slot, Visit { from_ns, ramp: Sample::default(), seconds });
        }
        together.push(slots.iter().map(|slot| slot.cell).collect::<Vec<_>>());
    }
    // There is no time for the last one.
    assert_eq!(together, [vec![1, 2], vec![1, 2], vec![0], vec![0]]);
    assert_eq!((session.answer(2).rounds, session.answer(3).rounds), (2, 0));
}

#[test]
fn too_few_fixed_visits_are_short() {
    let fixed = FixedVisits { rounds: 1, measured_ns: Some(60 * SECOND) };
    let mut session = Session::new(plan(vec![CellPlan { fixed: Some(fixed), ..CellPlan::default() }]));
    drive(&mut session, &[&level(1000.0)]);
    assert_eq!(session.answer(0).verdict, Verdict::Short);
    assert!(session.answer(0).estimate.unwrap().half_width.is_some());
}

#[test]
fn any_number_of_fixed_visits_can_be_steady() {
    for effort in [Effort::Standard, Effort::Thorough] {
        for (counted, discard_first) in (1..=8).flat_map(|counted| [(counted, 0), (counted, 1)]) {
            let fixed =
                FixedVisits { rounds: counted + discard_first, measured_ns: Some(360 / counted as u64 * SECOND) };
            let cell = CellPlan { fixed: Some(fixed), discard_first, ..CellPlan::default() };
            let mut session = Session::new(SessionPlan { effort, ..plan(vec![cell]) });
            drive(&mut session, &[&level(1000.0)]);
            assert_eq!(session.answer(0).verdict, Verdict::Steady, "{effort:?} {counted} {discard_first}");
        }
    }
}

#[test]
fn fixed_visits_are_short_by_their_time_and_not_by_the_number_of_their_values() {
    let verdict = |rounds: u32, elapsed_ms: u64| {
        let fixed = Some(FixedVisits { rounds, measured_ns: None });
        let mut session = Session::new(plan(vec![CellPlan { fixed, ramp_ns: Some(0), ..CellPlan::default() }]));
        let elapsed_ns = elapsed_ms * 1_000_000;
        let mut now_ns = 0;
        for rate in level(1000.0) {
            let Step::Visit(slot) = session.next_step(now_ns) else { break };
            let seconds = vec![Sample { count: rate * elapsed_ns as f64 / 1e9, elapsed_ns }];
            session.observe(&slot, Visit { from_ns: now_ns, ramp: Sample::default(), seconds });
            now_ns += elapsed_ns;
        }
        session.answer(0).verdict
    };
    assert_eq!([verdict(120, 100), verdict(1200, 100)], [Verdict::Short, Verdict::Steady]);
    // Iterations that are one value each; fewer than are judged as such say nothing yet.
    assert_eq!([verdict(10, 11_000), verdict(10, 60_000)], [Verdict::Short, Verdict::Steady]);
    assert_eq!([verdict(5, 60_000), verdict(6, 60_000)], [Verdict::Short, Verdict::Steady]);
}

#[test]
fn time_that_runs_out_ends_the_session() {
    let limited = |cells, seconds| SessionPlan { time_max_ns: Some(seconds * SECOND), ..plan(cells) };
    let mut short = Session::new(limited(cells(6), 200));
    let slots = drive(&mut short, &[&level(5000.0)]);
    let (at_ns, last) = slots.last().unwrap();
    assert!(at_ns + last.ramp_ns + last.measured_ns.unwrap() <= 200 * SECOND);
    assert_eq!(short.answer(0).verdict, Verdict::Short);
    let mut alone = Session::new(limited(cells(1), 60));
    drive(&mut alone, &[&level(5000.0)]);
    assert_eq!((alone.answer(0).verdict, alone.answer(0).load_ns), (Verdict::Short, 60 * SECOND));
}

#[test]
fn the_last_open_cell_is_not_visited_faster_and_faster() {
    let restless: Vec<f64> = (0..7200).map(|t| if t / 37 % 2 == 0 { 1000.0 } else { 600.0 }).collect();
    let even = level(5000.0);
    let mut session = Session::new(plan(cells(6)));
    let slots = drive(&mut session, &[&restless, &even, &even, &even, &even, &even]);
    let visits = rounds_of(&slots, 0);
    assert_eq!(visits.len() as u32, session.rules().rounds_max);
    assert_eq!(session.answer(0).verdict, Verdict::Unstable);
    // Ten minutes over fifteen rounds are forty seconds a pass, whether or not others fill it.
    let pass_ns = (visits[51].0 - visits[20].0) / 31;
    assert!(pass_ns > 38 * SECOND, "{pass_ns}");
    let gaps: Vec<u64> = visits.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let tail = &gaps[20..];
    assert!(tail.iter().max().unwrap() - tail.iter().min().unwrap() > 20 * SECOND, "places in the pass are random");
}

#[test]
fn a_bookend_that_finds_another_rate_takes_all_claims_about_the_target_back() {
    let with_bookend = |trace: &[f64]| {
        let mut session = Session::new(SessionPlan { bookend_ns: Some(1800 * SECOND), ..plan(cells(8)) });
        let slots = drive(&mut session, &[trace]);
        (session, slots)
    };
    let (session, slots) = with_bookend(&level(1000.0));
    assert_eq!(slots.last().unwrap().1.purpose, Purpose::Bookend);
    assert!(slots.last().unwrap().0 >= 1800 * SECOND);
    assert!((0..8).all(|cell| session.answer(cell).verdict == Verdict::Steady));
    let falls: Vec<f64> = level(1000.0).iter().enumerate().map(|(t, x)| if t < 1500 { *x } else { x / 2.0 }).collect();
    let (session, _) = with_bookend(&falls);
    for cell in 0..8 {
        let answer = session.answer(cell);
        assert_eq!(answer.verdict, Verdict::Unstable);
        let moved = answer.moved.unwrap();
        assert!((moved.is / moved.was - 0.5).abs() < 0.02);
    }
}

#[test]
fn no_rhythm_of_the_storage_keeps_step_with_the_visits() {
    for (period, dip) in [(5, 1), (6, 1), (7, 1), (7, 2), (8, 1)] {
        let trace: Vec<f64> = (0..7200).map(|t| if t % period < dip { 200.0 } else { 1000.0 }).collect();
        let truth = 1000.0 - 800.0 * dip as f64 / period as f64;
        for seed in 0..20 {
            let answer = replay(&trace, &ReplayPlan { cells: 12, seed, ..ReplayPlan::default() });
            let rate = answer.estimate.unwrap().rate;
            let is_right = (rate / truth - 1.0).abs() < 0.05;
            assert!(answer.verdict != Verdict::Steady || is_right, "{period} {dip} {seed}: {rate}, not {truth}");
        }
    }
}

#[test]
fn what_no_catalog_excludes_is_told_in_operations() {
    let mut alone = Session::new(plan(cells(1)));
    drive(&mut alone, &[&level(1000.0)]);
    let hidden = alone.hidden_burst(0).unwrap();
    assert_eq!(hidden.span_ns, 138 * SECOND);
    assert!((hidden.operations / (0.5 * 1000.0 * 138.0) - 1.0).abs() < 0.02);
}

#[test]
fn rates_for_detectors_are_those_that_were_judged() {
    let mut session = Session::new(plan(cells(8)));
    drive(&mut session, &[&level(1000.0)]);
    let stretches = session.stretches(0);
    assert_eq!(stretches.len(), 12);
    let means = stretches.iter().map(|stretch| stretch.rates.iter().sum::<f64>() / stretch.rates.len() as f64);
    let mean = means.sum::<f64>() / 12.0;
    assert!((session.answer(0).estimate.unwrap().rate / mean - 1.0).abs() < 1e-3);
}

#[test]
fn what_answered_instead_of_the_storage_has_the_last_word() {
    let mut session = Session::new(plan(cells(1)));
    drive(&mut session, &[&level(5000.0)]);
    session.overrule(0, Overruling::Cached);
    assert_eq!(session.answer(0).verdict, Verdict::Cached);
    session.overrule(0, Overruling::ClientLimited);
    assert_eq!(session.answer(0).verdict, Verdict::ClientLimited);
}

#[test]
fn a_cell_that_failed_is_left_out_and_says_that_it_is_short() {
    let mut session = Session::new(plan(cells(3)));
    session.abandon(1);
    let slots = drive(&mut session, &[&level(100.0)]);
    assert!(rounds_of(&slots, 1).is_empty());
    assert_eq!((session.answer(1).verdict, session.answer(1).estimate), (Verdict::Short, None));
}

#[test]
fn reads_after_writes_settle_first() {
    let cell =
        |workload: usize| CellPlan { workload, writes: workload >= 2, settle_ns: 3 * SECOND, ..CellPlan::default() };
    let mut session = Session::new(plan((0..4).map(cell).collect()));
    let slots = drive(&mut session, &[&level(100.0)]);
    for pair in slots.windows(2) {
        let [(before_ns, before), (at_ns, slot)] = pair else { unreachable!("windows of two") };
        let rest_ns = at_ns - (before_ns + before.ramp_ns + before.measured_ns.unwrap());
        let settles = before.cell >= 2 && slot.cell < 2;
        assert!(rest_ns >= if settles { 3 * SECOND } else { 0 }, "{rest_ns}");
        // Load is not what settles: it would be paid for by each cell.
        assert_eq!(slot.ramp_ns, 2 * SECOND);
    }
    let rests = slots.windows(2).filter(|pair| pair[0].1.cell >= 2 && pair[1].1.cell < 2).count();
    assert!(rests > 5, "{rests}");
}

#[test]
fn visits_that_suffer_from_the_write_before_get_a_longer_ramp() {
    let cell = |workload: usize| CellPlan { workload, writes: workload >= 2, ..CellPlan::default() };
    let mut session = Session::new(plan((0..4).map(cell).collect()));
    let mut now_ns = 0;
    let mut before = 0;
    let mut random = crate::random::Random::new(1);
    for _ in 0..160 {
        let slot = match session.next_step(now_ns) {
            Step::Visit(slot) => slot,
            Step::WaitUntil(until_ns) => {
                now_ns = until_ns;
                continue;
            }
            Step::Done => break,
        };
        let after_write = before >= 2 && slot.cell < 2;
        let rate = 1000.0 * (if after_write { 0.8 } else { 1.0 } + 0.01 * random.unit());
        let from_ns = now_ns + slot.ramp_ns;
        let seconds = vec![Sample { count: rate, elapsed_ns: SECOND }; (slot.measured_ns.unwrap() / SECOND) as usize];
        now_ns = from_ns + slot.measured_ns.unwrap();
        session.observe(&slot, Visit { from_ns, ramp: Sample::default(), seconds });
        before = slot.cell;
    }
    assert!(session.answer(0).carry_over.unwrap() < -3.0);
    assert_eq!(session.answer(3).carry_over, None);
    assert_eq!(session.slot(0).ramp_ns, 4 * SECOND);
}

#[test]
fn a_cell_alone_that_goes_on_is_not_said_to_be_done() {
    let mut session = Session::new(plan(cells(1)));
    let (mut now_ns, mut visits) = (0, 0);
    while let Step::Visit(slot) = session.next_step(now_ns) {
        let left_ns = session.progress(0).remaining_ns;
        assert!(left_ns >= slot.ramp_ns + slot.measured_ns.unwrap() - SECOND, "{visits}: {left_ns}");
        let (from_ns, elapsed_ns) = (now_ns + slot.ramp_ns, slot.measured_ns.unwrap());
        let ramp = Sample { count: 0.0, elapsed_ns: slot.ramp_ns };
        // As even as can be, but two thirds of the first visit are a burst.
        let count = |second: u64| if visits == 0 && second < 80 { 30_000.0 } else { 3000.0 + (second % 2) as f64 };
        let sample = |second| Sample { count: count(second), elapsed_ns: SECOND };
        let seconds = (0..elapsed_ns / SECOND).map(sample).collect();
        now_ns = from_ns + elapsed_ns;
        session.observe(&slot, Visit { from_ns, ramp, seconds });
        visits += 1;
    }
    assert!(visits > 2);
}

#[test]
fn an_honest_guess_of_the_time_left() {
    let mut session = Session::new(plan(cells(8)));
    let (before_ns, _) = session.remaining_ns(0);
    assert_eq!(before_ns, 8 * 12 * 7 * SECOND);
    let slots = drive(&mut session, &[&level(5000.0)]);
    let load_ns: u64 = slots.iter().map(|(_, slot)| slot.ramp_ns + slot.measured_ns.unwrap()).sum();
    assert!(before_ns.abs_diff(load_ns) < 60 * SECOND);
    assert_eq!(session.remaining_ns(0), (0, 0));
    assert!(session.progress(0).precision.unwrap() < 0.02);
}

fn modes() -> impl Strategy<Value = ReplayPlan> {
    (prop::sample::select(vec![1, 2, 6, 12]), any::<u64>()).prop_map(|(cells, seed)| ReplayPlan {
        cells,
        seed,
        ..ReplayPlan::default()
    })
}

/// Two hours of a storage: noise with memory, perhaps a shift.
fn traces() -> impl Strategy<Value = Vec<f64>> {
    (any::<u64>(), 0.001..0.05_f64, 0.0..0.95_f64, 0..2000_usize, 0.3..3.0_f64).prop_map(
        |(seed, share, memory, shift, factor)| {
            let mut trace = test_noise::rates(1000.0, share, memory, 7200, seed);
            trace[shift..].iter_mut().for_each(|rate| *rate = (*rate * factor).max(0.0).round());
            trace
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_unit_changes_nothing_but_the_unit(trace in traces(), plan in modes()) {
        let sevenfold: Vec<f64> = trace.iter().map(|rate| rate * 7.0).collect();
        let (one, seven) = (replay(&trace, &plan), replay(&sevenfold, &plan));
        prop_assert_eq!((one.verdict, one.load_ns, one.window), (seven.verdict, seven.load_ns, seven.window));
        let (one, seven) = (one.estimate.unwrap().rate, seven.estimate.unwrap().rate);
        prop_assert!((seven - 7.0 * one).abs() <= 1e-9 * seven);
    }

    #[test]
    fn what_comes_after_the_stop_changes_nothing(mut trace in traces(), plan in modes(), seed: u64) {
        let before = replay(&trace, &plan);
        let stop = before.window.unwrap().to_ns.div_ceil(SECOND) as usize;
        let noise = test_noise::rates(500.0, 0.9, 0.0, 7200, seed);
        trace[stop..].copy_from_slice(&noise[stop..]);
        prop_assert_eq!(replay(&trace, &plan), before);
    }

    #[test]
    fn a_cap_that_alternates_by_a_factor_of_a_thousand_is_never_steady(plan in modes(), dwell in 1..40_usize) {
        let trace: Vec<f64> = (0..7200).map(|t| if t / dwell % 2 == 0 { 100.0 } else { 100_000.0 }).collect();
        let answer = replay(&trace, &plan);
        prop_assert!(!matches!(answer.verdict, Verdict::Steady | Verdict::Short), "{answer:?}");
    }

    #[test]
    fn a_minute_of_half_speed_before_makes_no_false_claim(seed: u64, plan in modes()) {
        let mut trace = test_noise::rates(1000.0, 0.02, 0.5, 7200, seed);
        trace[..60].iter_mut().for_each(|rate| *rate /= 2.0);
        let answer = replay(&trace, &plan);
        let rate = answer.estimate.unwrap().rate;
        prop_assert!(answer.verdict != Verdict::Steady || (rate / 1000.0 - 1.0).abs() < 0.05, "{answer:?}");
    }
}

#[test]
fn a_cell_alone_that_is_nearly_there_gets_more_time_and_one_that_jumps_about_does_not() {
    let load_s = |trace: &[f64]| {
        let mut session = Session::new(plan(cells(1)));
        drive(&mut session, &[trace]);
        (session.answer(0).verdict, session.answer(0).load_ns / SECOND)
    };
    let loads: Vec<(Verdict, u64)> =
        (0..8).map(|seed| load_s(&test_noise::rates(1000.0, 0.018, 0.97, 7200, seed))).collect();
    assert!(loads.iter().any(|(verdict, load)| *verdict == Verdict::Steady && *load > 900), "{loads:?}");
    assert!(loads.iter().all(|(_, load)| *load <= 1800), "{loads:?}");
    let wild: Vec<f64> = (0..7200).map(|t| if t / 7 % 2 == 0 { 100.0 } else { 100_000.0 }).collect();
    assert_eq!(load_s(&wild), (Verdict::Unstable, 900));
}

#[test]
fn the_time_left_is_no_longer_than_what_may_be_used_and_no_shorter_than_to_the_bookend() {
    let limited = SessionPlan { time_max_ns: Some(20 * SECOND), ..plan(cells(1)) };
    assert_eq!(Session::new(limited).remaining_ns(6 * SECOND), (14 * SECOND, 14 * SECOND));
    let bookend = SessionPlan { bookend_ns: Some(1800 * SECOND), ..plan(cells(2)) };
    assert_eq!(Session::new(bookend).remaining_ns(300 * SECOND).0, 1500 * SECOND);
}

#[test]
fn a_level_cell_that_time_ran_out_on_is_short_and_a_wild_one_unstable() {
    let verdict = |cell_count: usize, seconds: u64, trace: &[f64]| {
        let limited = SessionPlan { time_max_ns: Some(seconds * SECOND), ..plan(cells(cell_count)) };
        let mut session = Session::new(limited);
        drive(&mut session, &[trace]);
        session.answer(0).verdict
    };
    let wild: Vec<f64> = (0..7200).map(|t| if t / 7 % 2 == 0 { 100.0 } else { 100_000.0 }).collect();
    // After the first look and before the second one, which would have made it steady.
    assert_eq!(verdict(1, 132, &level(5000.0)), Verdict::Short);
    assert_eq!(verdict(6, 640, &level(5000.0)), Verdict::Short);
    assert_eq!(verdict(1, 132, &wild), Verdict::Unstable);
    assert_eq!(verdict(6, 700, &wild), Verdict::Unstable);
}

#[test]
fn a_visit_that_measured_nothing_is_done_and_says_nothing_of_the_rate() {
    let fixed = Some(FixedVisits { rounds: 9, measured_ns: Some(20 * SECOND) });
    let mut session = Session::new(plan(vec![CellPlan { fixed, ..CellPlan::default() }]));
    let trace = level(1000.0);
    let mut now_ns = 0;
    while let Step::Visit(slot) = session.next_step(now_ns) {
        let whole = visit(&trace, &slot, now_ns);
        now_ns = whole.to_ns();
        let is_cut = slot.round % 3 == 2;
        session.observe(&slot, if is_cut { Visit { seconds: Vec::new(), ..whole } } else { whole });
    }
    let answer = session.answer(0);
    assert_eq!((answer.verdict, answer.rounds, session.is_closed(0)), (Verdict::Steady, 6, true));
    assert!((answer.estimate.unwrap().rate - 1000.0).abs() < 5.0);
}

#[test]
fn a_bookend_that_measured_nothing_takes_no_claim_back() {
    let mut session = Session::new(SessionPlan { bookend_ns: Some(1800 * SECOND), ..plan(cells(1)) });
    let trace = level(1000.0);
    let mut now_ns = 0;
    loop {
        match session.next_step(now_ns) {
            Step::Visit(slot) => {
                let whole = visit(&trace, &slot, now_ns);
                now_ns = whole.to_ns();
                let is_cut = slot.purpose == Purpose::Bookend;
                session.observe(&slot, if is_cut { Visit { seconds: Vec::new(), ..whole } } else { whole });
            }
            Step::WaitUntil(until_ns) => now_ns = until_ns,
            Step::Done => break,
        }
    }
    assert!(now_ns > 1800 * SECOND);
    assert_eq!(session.answer(0).verdict, Verdict::Steady);
}

#[test]
fn an_even_rate_that_misses_the_precision_in_the_visits_asked_for_is_short() {
    let verdict = |rounds: u32, trace: &[f64]| {
        let fixed = Some(FixedVisits { rounds, measured_ns: Some(120 * SECOND / u64::from(rounds)) });
        let mut session = Session::new(SessionPlan {
            precision: Some(0.002),
            ..plan(vec![CellPlan { fixed, ..CellPlan::default() }])
        });
        drive(&mut session, &[trace]);
        session.answer(0).verdict
    };
    let noisy = test_noise::rates(1000.0, 0.05, 0.5, 7200, 1);
    let wild: Vec<f64> = (0..7200).map(|t| if t / 7 % 2 == 0 { 100.0 } else { 100_000.0 }).collect();
    for rounds in [1, 6] {
        assert_eq!((verdict(rounds, &noisy), verdict(rounds, &wild)), (Verdict::Short, Verdict::Unstable), "{rounds}");
    }
}
