//! Burst allowances that are known, and bursts that end under the eyes.

use super::*;
use crate::allowance::{Allowance, Unit};

#[test]
fn a_catalog_turns_a_fast_start_into_a_burst() {
    let allowance = Allowance { unit: Unit::Operations, sustained: 300.0, burst: Some(3000.0), bucket: 5_400_000.0 };
    for count in [1, 12] {
        let predicted =
            replay(&level(3000.0), &ReplayPlan { cells: count, allowances: vec![allowance], ..ReplayPlan::default() });
        assert_eq!(predicted.verdict, Verdict::Burst);
        let burst = predicted.burst.unwrap();
        assert!(
            burst.predicted && (burst.sustained_rate - 300.0).abs() < 1e-9 && (burst.burst_rate - 3000.0).abs() < 15.0
        );
        // 2,000 seconds of this load, those of the session included.
        assert!((burst.cliff_before_ns.unwrap() as f64 / 1e9 - 2000.0).abs() < 40.0, "{burst:?}");
        let slow =
            replay(&level(300.0), &ReplayPlan { cells: count, allowances: vec![allowance], ..ReplayPlan::default() });
        assert_eq!(slow.verdict, Verdict::Steady);
    }
    let small = Allowance { bucket: 2700.0 * 20.0, ..allowance };
    let spent = replay(&level(3000.0), &ReplayPlan { cells: 12, allowances: vec![small], ..ReplayPlan::default() });
    assert_eq!(spent.verdict, Verdict::Steady, "all tokens are gone, so this is no burst");
}

#[test]
fn a_rate_that_cannot_last_is_a_burst_however_short_the_run_was() {
    let allowance = Allowance { unit: Unit::Operations, sustained: 120.0, burst: Some(3500.0), bucket: 6_084_000.0 };
    let answer = |rate: f64, seconds: u64, count: usize| {
        let limited = SessionPlan {
            time_max_ns: Some(seconds * SECOND),
            allowances: vec![vec![allowance]; count],
            ..plan(cells(count))
        };
        let mut session = Session::new(limited);
        drive(&mut session, &[&level(rate)]);
        session.answer(0)
    };
    for (seconds, count) in [(15, 1), (40, 1), (100, 1), (200, 6)] {
        let burst = answer(3500.0, seconds, count);
        assert_eq!(burst.verdict, Verdict::Burst, "{seconds} s");
        assert!((burst.estimate.unwrap().rate - 120.0).abs() < 1e-9);
        assert_eq!(answer(120.0, seconds, count).verdict, Verdict::Short);
    }
    let small = Allowance { bucket: 3380.0 * 30.0, ..allowance };
    let trace: Vec<f64> = (0..7200).map(|t| if t < 30 { 3500.0 } else { 120.0 }).collect();
    for seconds in [20, 40, 58, 100] {
        let limited =
            SessionPlan { time_max_ns: Some(seconds * SECOND), allowances: vec![vec![small]], ..plan(cells(1)) };
        let mut session = Session::new(limited);
        drive(&mut session, &[&trace]);
        assert_eq!(session.answer(0).verdict, Verdict::Burst, "{seconds} s");
        assert!((session.answer(0).estimate.unwrap().rate - 120.0).abs() < 1e-9);
    }
}

#[test]
fn an_allowance_in_bytes_is_priced_by_the_size_of_operations() {
    let allowance = Allowance { unit: Unit::Bytes, sustained: 40.0 * 4096.0, burst: None, bucket: 1e12 };
    let cell = CellPlan { bytes_per_operation: 4096.0, ..CellPlan::default() };
    let mut session = Session::new(SessionPlan { allowances: vec![vec![allowance]], ..plan(vec![cell]) });
    drive(&mut session, &[&level(100.0)]);
    let burst = session.answer(0).burst.unwrap();
    assert!((burst.sustained_rate - 40.0).abs() < 1e-9);
}

#[test]
fn a_burst_that_ends_under_the_eyes_is_a_burst_and_not_steady() {
    let trace = [test_noise::level(3500.0, 8), test_noise::level(120.0, 7192)].concat();
    let answer = replay(&trace, &ReplayPlan { cells: 1, ..ReplayPlan::default() });
    assert_eq!(answer.verdict, Verdict::Burst);
    let burst = answer.burst.unwrap();
    assert!((burst.burst_rate / 3500.0 - 1.0).abs() < 0.03 && (burst.sustained_rate / 120.0 - 1.0).abs() < 0.03);
    assert_eq!(burst.cliff_before_ns, Some(8 * SECOND));
    assert!((burst.tokens.unwrap() / (8.0 * 3380.0) - 1.0).abs() < 0.02);
    assert!((answer.estimate.unwrap().rate / 120.0 - 1.0).abs() < 0.02);
}

#[test]
fn cells_that_run_at_the_same_time_spend_one_bucket_together() {
    let allowance = Allowance { unit: Unit::Operations, sustained: 500.0, burst: Some(3000.0), bucket: 3_750_000.0 };
    let after = |seconds: u64, rate: f64, count: usize, targets: usize, allowance: Allowance| {
        let cell = |workload: usize| CellPlan {
            workload,
            target: workload % targets,
            ramp_ns: Some(0),
            fixed: Some(FixedVisits { rounds: 1, measured_ns: Some(seconds * SECOND) }),
            phase: Some(1),
            ..CellPlan::default()
        };
        let cells = (0..count).map(cell).collect();
        let mut session = Session::new(SessionPlan { allowances: vec![vec![allowance]; count], ..plan(cells) });
        let Step::Visit(slot) = session.next_step(0) else { unreachable!("nothing was measured yet") };
        let company = session.company(&slot);
        for slot in std::iter::once(slot).chain(company) {
            let visit = visit(&level(rate), &slot, 0);
            session.observe(&slot, visit);
        }
        (0..count).map(|cell| session.answer(cell)).collect::<Vec<Answer>>()
    };
    let answers = |count, targets, allowance| after(150, 500.0, count, targets, allowance);
    // 500 each are 3,000 together.
    for answer in answers(6, 1, allowance) {
        assert_eq!(answer.verdict, Verdict::Burst);
        let burst = answer.burst.unwrap();
        assert!(
            (burst.burst_rate - 500.0).abs() < 3.0 && (burst.sustained_rate - 500.0 / 6.0).abs() < 0.5,
            "{burst:?}"
        );
        assert!((burst.cliff_before_ns.unwrap() as f64 / 1e9 - 1500.0).abs() < 60.0, "{burst:?}");
    }
    let is_steady = |answers: Vec<Answer>| answers.iter().all(|answer| answer.verdict == Verdict::Steady);
    assert!(is_steady(answers(6, 6, allowance)), "each has a bucket of its own");
    assert!(is_steady(answers(6, 1, Allowance { bucket: 300_000.0, ..allowance })), "all tokens are gone");
    // So they do before their rates are known well: 3,200 together, of which 500 last, 250 of each.
    for answer in after(4, 1600.0, 2, 1, allowance) {
        let burst = answer.burst.unwrap();
        assert_eq!(answer.verdict, Verdict::Burst);
        assert!((burst.sustained_rate - 250.0).abs() < 3.0, "{burst:?}");
        assert!((burst.cliff_before_ns.unwrap() as f64 / 1e9 - 1389.0).abs() < 30.0, "{burst:?}");
    }
}

#[test]
fn a_rate_that_outlasts_the_bucket_is_no_burst_before_it_is_known_well_either() {
    let allowance = Allowance { unit: Unit::Operations, sustained: 300.0, burst: Some(3000.0), bucket: 2700.0 * 30.0 };
    let verdict = |seconds: u64| {
        let limited =
            SessionPlan { time_max_ns: Some(seconds * SECOND), allowances: vec![vec![allowance]], ..plan(cells(1)) };
        let mut session = Session::new(limited);
        drive(&mut session, &[&level(3000.0)]);
        session.answer(0).verdict
    };
    assert_eq!([verdict(20), verdict(40), verdict(100)], [Verdict::Burst, Verdict::Short, Verdict::Short]);
}

/// What is said of a cell that does 3,000 and after 40 seconds 1,500 for good, with another cell beside it that begins
/// to load a target at that second of the run.
fn fallen_beside(other_from: u64, other_target: usize) -> Answer {
    let of = |target: usize, seconds: u64| CellPlan {
        workload: target,
        target,
        ramp_ns: Some(0),
        fixed: Some(FixedVisits { rounds: 1, measured_ns: Some(seconds * SECOND) }),
        phase: Some(1),
        ..CellPlan::default()
    };
    let mut session = Session::new(plan(vec![of(0, 120), of(other_target, 120 - other_from)]));
    let Step::Visit(slot) = session.next_step(0) else { unreachable!("nothing was measured yet") };
    let company = session.company(&slot);
    let trace = [test_noise::level(3000.0, 40), test_noise::level(1500.0, 80)].concat();
    for slot in std::iter::once(slot).chain(company) {
        let from = if slot.cell == 0 { 0 } else { other_from };
        session.observe(&slot, visit(&trace, &slot, from * SECOND));
    }
    session.answer(0)
}

#[test]
fn a_rate_that_falls_when_another_cell_begins_was_no_burst() {
    for from in [39, 40, 41] {
        let answer = fallen_beside(from, 0);
        assert!(answer.burst.is_none() && answer.verdict != Verdict::Burst, "{from}: {answer:?}");
        assert_eq!(fallen_beside(from, 1).verdict, Verdict::Burst, "{from}: another target's load");
    }
    for from in [0, 20, 60] {
        assert_eq!(fallen_beside(from, 0).verdict, Verdict::Burst, "{from}");
    }
}

#[test]
fn the_size_of_a_bucket_is_told_only_of_a_cell_that_spent_all_of_it() {
    let tokens = |from: u64, target: usize| fallen_beside(from, target).burst.unwrap().tokens;
    assert_eq!([tokens(0, 0), tokens(20, 0)], [None, None]);
    for alone in [tokens(60, 0), tokens(0, 1)] {
        assert!((alone.unwrap() / 60_000.0 - 1.0).abs() < 0.02, "{alone:?}");
    }
    let fixed = FixedVisits { rounds: 2, measured_ns: Some(120 * SECOND) };
    let cell = CellPlan { fixed: Some(fixed), ramp_ns: Some(0), discard_first: 1, ..CellPlan::default() };
    let mut session = Session::new(plan(vec![cell]));
    drive(&mut session, &[&[test_noise::level(3000.0, 160), test_noise::level(1500.0, 80)].concat()]);
    assert_eq!(session.answer(0).burst.unwrap().tokens, None, "what is discarded spends as well");
}
