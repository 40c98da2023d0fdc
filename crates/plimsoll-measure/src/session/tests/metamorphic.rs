//! What must not change an answer, and what must change it in a known way: storages are invented, seeds are fixed.

use super::*;
use crate::session::answer::Answer;

const SEEDS: u64 = 40;

/// A storage of each kind, for two hours.
fn families(seed: u64) -> [(&'static str, Vec<f64>); 6] {
    let share = 0.005 + 0.0005 * seed as f64;
    let even = test_noise::rates(1000.0, share, 0.0, 7200, seed);
    let slow_noise = test_noise::rates(1000.0, share, 0.9, 7200, seed);
    let at = |rule: &dyn Fn(usize) -> f64| even.iter().enumerate().map(|(t, rate)| rate * rule(t)).collect();
    let time_constant = 10.0 + 2.0 * seed as f64;
    let period = 10 + seed as usize;
    [
        ("warming up", at(&|t| 1.0 - 0.4 * (-(t as f64) / time_constant).exp())),
        ("dips", at(&|t| if t % period < 2 { 0.4 } else { 1.0 })),
        ("neighbour", at(&|t| if (t / (20 + period)).is_multiple_of(2) { 1.0 } else { 0.7 })),
        ("cliff", at(&|t| if t < 20 * period { 1.0 } else { 0.3 })),
        ("even", even.clone()),
        ("slow noise", slow_noise),
    ]
}

/// Those that have one rate in the long run, 1,000, whatever the seed.
const WELL_BEHAVED: [&str; 3] = ["warming up", "even", "slow noise"];

fn alone_and_in_turns(seed: u64) -> [ReplayPlan; 2] {
    [1, 12].map(|cells| ReplayPlan { cells, seed, ..ReplayPlan::default() })
}

fn rate(answer: &Answer) -> f64 {
    answer.estimate.unwrap().rate
}

/// An answer that was given as if the session had begun so much later.
fn later(answer: &Answer, by_ns: u64) -> Answer {
    let window =
        |window: answer::Window| answer::Window { from_ns: window.from_ns + by_ns, to_ns: window.to_ns + by_ns };
    let burst = |burst: Burst| Burst {
        cliff_after_ns: burst.cliff_after_ns.map(|ns| ns + by_ns),
        cliff_before_ns: burst.cliff_before_ns.map(|ns| ns + by_ns),
        ..burst
    };
    Answer { window: answer.window.map(window), burst: answer.burst.map(burst), ..answer.clone() }
}

#[test]
fn what_is_seen_later_is_said_of_later() {
    let by_ns = 1_234_567_891;
    for (name, trace) in families(3) {
        for count in [1, 3] {
            let mut session = Session::new(plan(cells(count)));
            drive(&mut session, &[&trace]);
            let mut delayed = Session::new(plan(cells(count)));
            let mut now_ns = by_ns;
            loop {
                match delayed.next_step(now_ns) {
                    Step::Visit(slot) => {
                        let mut visit = visit(&trace, &slot, now_ns - by_ns);
                        visit.from_ns += by_ns;
                        now_ns = visit.to_ns();
                        delayed.observe(&slot, visit);
                    }
                    Step::WaitUntil(until_ns) => now_ns = until_ns,
                    Step::Done => break,
                }
            }
            for cell in 0..count {
                assert_eq!(delayed.answer(cell), later(&session.answer(cell), by_ns), "{name}, cell {cell} of {count}");
            }
        }
    }
}

#[test]
fn a_cell_alone_is_judged_by_its_seconds_in_however_many_pieces_they_come() {
    for seed in 0..SEEDS {
        let mut random = crate::random::Random::new(seed);
        for (name, trace) in families(seed) {
            let mut whole = Session::new(plan(cells(1)));
            drive(&mut whole, &[&trace]);
            let mut pieces = Session::new(plan(cells(1)));
            let (mut now_ns, mut count) = (0, 0);
            while let Step::Visit(slot) = pieces.next_step(now_ns) {
                let seconds = slot.measured_ns.unwrap() / SECOND;
                let piece_ns = (1 + random.below(seconds)) * SECOND;
                let visit = visit(&trace, &Slot { measured_ns: Some(piece_ns), ..slot }, now_ns);
                now_ns = visit.to_ns();
                count += 1;
                pieces.observe(&slot, visit);
            }
            assert!(count > 2, "{name} {seed}: {count} pieces");
            assert_eq!(Answer { rounds: whole.answer(0).rounds, ..pieces.answer(0) }, whole.answer(0), "{name} {seed}");
        }
    }
}

#[test]
fn a_clock_that_cuts_seconds_unevenly_changes_no_rate() {
    let mut random = crate::random::Random::new(5);
    for count in [1, 6] {
        let mut session = Session::new(plan(cells(count)));
        let mut now_ns = 0;
        loop {
            let slot = match session.next_step(now_ns) {
                Step::Visit(slot) => slot,
                Step::WaitUntil(until_ns) => {
                    now_ns = until_ns;
                    continue;
                }
                Step::Done => break,
            };
            let seconds = (slot.measured_ns.unwrap() / SECOND) as usize;
            let cut = || Sample { elapsed_ns: 1_050_000_000 - 100_000 * random.below(1000), count: 0.0 };
            let mut seconds: Vec<Sample> = std::iter::repeat_with(cut).take(seconds).collect();
            seconds.iter_mut().for_each(|second| second.count = 4000.0 * second.seconds());
            let visit = Visit { from_ns: now_ns + slot.ramp_ns, ramp: Sample::default(), seconds };
            now_ns = visit.to_ns();
            session.observe(&slot, visit);
        }
        for cell in 0..count {
            let answer = session.answer(cell);
            assert_eq!(answer.verdict, Verdict::Steady);
            assert!((rate(&answer) / 4000.0 - 1.0).abs() < 1e-9, "{answer:?}");
            assert!(answer.stability.unwrap().spread < 1.0 + 1e-9, "{answer:?}");
        }
    }
}

#[test]
fn the_order_in_which_cells_are_named_changes_nothing_that_is_said_of_them() {
    // Level and falling storage: when a visit comes does not matter to the one, and not to the word for the other.
    let levels: Vec<Vec<f64>> = [100.0, 250.0, 4000.0, 90_000.0].map(|level| vec![level; 7200]).to_vec();
    let falling: Vec<f64> = (0..7200).map(|t| 5000.0 - t as f64 / 2.0).collect();
    let traces: Vec<&[f64]> = levels.iter().chain([&falling]).map(Vec::as_slice).collect();
    let answers = |order: &[usize]| {
        let traces: Vec<&[f64]> = order.iter().map(|index| traces[*index]).collect();
        let mut session = Session::new(plan(cells(order.len())));
        drive(&mut session, &traces);
        let mut said = vec![None; order.len()];
        order.iter().enumerate().for_each(|(cell, index)| said[*index] = Some(session.answer(cell)));
        said.into_iter().map(Option::unwrap).collect::<Vec<Answer>>()
    };
    let said = answers(&[0, 1, 2, 3, 4]);
    assert_eq!(said[4].verdict, Verdict::Drifting);
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 4, 3, 0, 2]] {
        for (index, (one, other)) in said.iter().zip(answers(&order)).enumerate() {
            assert_eq!(one.verdict, other.verdict, "{order:?}");
            assert!(index == 4 || (rate(one) / rate(&other) - 1.0).abs() < 1e-12, "{order:?}");
        }
    }
}

#[test]
fn a_minute_of_half_speed_put_before_moves_no_answer_and_makes_no_false_claim() {
    let mut moved = [0, 0];
    let mut count = 0;
    for seed in 0..SEEDS {
        for (name, trace) in families(seed).into_iter().filter(|(name, _)| WELL_BEHAVED.contains(name)) {
            let half: Vec<f64> = trace[..60].iter().map(|rate| rate / 2.0).collect();
            let after = [half, trace.clone()].concat();
            count += 1;
            for (mode, plan) in alone_and_in_turns(seed).iter().enumerate() {
                let (one, other) = (replay(&trace, plan), replay(&after, plan));
                let off = (rate(&other) / 1000.0 - 1.0).abs();
                assert!(other.verdict != Verdict::Steady || off < 0.05, "{name} {seed}: {other:?}");
                moved[mode] += usize::from((rate(&other) / rate(&one) - 1.0).abs() > 0.03);
            }
        }
    }
    // In turns a cell whose noise is slow may be seen at other times.
    assert!(moved[0] == 0 && moved[1] * 40 <= count, "{moved:?} of {count}");
}

#[test]
fn the_unit_and_what_comes_after_the_stop_change_no_word_of_any_family() {
    for seed in 0..SEEDS {
        for (name, trace) in families(seed) {
            for plan in alone_and_in_turns(seed) {
                let said = replay(&trace, &plan);
                let sevenfold: Vec<f64> = trace.iter().map(|rate| rate * 7.0).collect();
                let seven = replay(&sevenfold, &plan);
                assert_eq!((said.verdict, said.load_ns, said.window), (seven.verdict, seven.load_ns, seven.window));
                assert_eq!(said.flags(), seven.flags(), "{name} {seed}");
                assert!((rate(&seven) / rate(&said) / 7.0 - 1.0).abs() < 1e-9, "{name} {seed}");

                let mut changed = trace.clone();
                let stop = said.window.unwrap().to_ns.div_ceil(SECOND) as usize;
                changed[stop..].iter_mut().enumerate().for_each(|(t, rate)| *rate = 50.0 + (t * t % 977) as f64);
                assert_eq!(replay(&changed, &plan), said, "{name} {seed}");
            }
        }
    }
}
