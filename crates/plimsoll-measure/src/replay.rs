//! A storage that exists only as a trace of rates, measured in virtual time by the same machine as a real one.

pub mod trace;

use std::cmp::Ordering;

use crate::{
    allowance::Allowance,
    compare::{
        paired::{self, PairedComparison, Side},
        ratio::Ratio,
    },
    effort::{Effort, Rules},
    random::Random,
    session::{
        CellPlan, FixedVisits, Session, SessionPlan, Slot, Step,
        answer::Answer,
        visit::{Sample, Visit},
    },
};

const SECOND_NS: u64 = 1_000_000_000;

/// How a trace is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayPlan {
    /// Cells that share the storage and its time. With one, it is measured alone; with more, the others are loads that
    /// never end before the first one, whose answer is told.
    pub cells: usize,
    /// How much trouble to take.
    pub effort: Effort,
    /// Another precision than the effort's.
    pub precision: Option<f64>,
    /// Decides orders and lengths.
    pub seed: u64,
    /// Visit the cell again at the end, but not before this time.
    pub bookend_ns: Option<u64>,
    /// What a catalog says of the storage.
    pub allowances: Vec<Allowance>,
}

/// Measures a trace: operations completed in each successive second.
pub fn replay(trace: &[f64], plan: &ReplayPlan) -> Answer {
    let cells = plan.cells.max(1);
    let rounds_max = Rules::new(plan.effort, plan.precision, cells).rounds_max;
    let others = FixedVisits { rounds: rounds_max, measured_ns: None };
    let cell = |workload: usize| CellPlan { workload, fixed: (workload > 0).then_some(others), ..CellPlan::default() };
    let mut session = Session::new(SessionPlan {
        cells: (0..cells).map(cell).collect(),
        effort: plan.effort,
        precision: plan.precision,
        seed: plan.seed,
        turn: 0,
        // The last second of a trace may be cut short.
        time_max_ns: Some((trace.len() as u64).saturating_sub(1) * SECOND_NS),
        bookend_ns: plan.bookend_ns,
        allowances: vec![plan.allowances.clone(); plan.cells],
    });
    let mut now_ns = 0;
    loop {
        if session.is_closed(0) {
            (1..cells).for_each(|other| session.abandon(other));
        }
        match session.next_step(now_ns) {
            Step::Visit(slot) => {
                let measured_ns = slot.measured_ns.unwrap_or_else(|| {
                    // Visits of the other loads are dithered like those of the first: all lengths together decide
                    // when it is visited.
                    let lengths = session.rules().measured_ns;
                    let place = [slot.cell as u64, u64::from(slot.round)];
                    lengths[Random::at(plan.seed, &place).below(lengths.len() as u64) as usize]
                });
                let visit = visit(trace, &Slot { measured_ns: Some(measured_ns), ..slot }, now_ns);
                now_ns = visit.to_ns();
                session.observe(&slot, visit);
            }
            Step::WaitUntil(until_ns) => now_ns = until_ns,
            Step::Done => break,
        }
    }
    session.answer(0)
}

/// What the comparison of two traces amounts to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairAnswer {
    /// How many times as fast the second is.
    pub ratio: Ratio,
    /// Blocks of four visits.
    pub blocks: usize,
    /// Blocks that the wanted precision takes: more than there are when they would be too many, or the traces end.
    pub blocks_wanted: usize,
    /// Load that all visits took, ramps included.
    pub load_ns: u64,
}

/// Why two traces are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompared {
    /// They end before two blocks are measured.
    TooShort,
    /// There is a block in which one completes nothing, or both. Tells of each whether it does.
    NothingCompletes([bool; 2]),
}

/// Compares two traces that share a machine and its time.
///
/// Which of them begins follows from the seed and the traces, not from which is named first: naming them the other way
/// round inverts the ratio exactly.
pub fn replay_pair(first: &[f64], second: &[f64], seed: u64) -> Result<PairAnswer, NotCompared> {
    if first.partial_cmp(second).is_some_and(Ordering::is_gt) {
        return match replay_in_order(second, first, seed) {
            Ok(swapped) => Ok(PairAnswer { ratio: swapped.ratio.inverted(), ..swapped }),
            Err(NotCompared::NothingCompletes([first, second])) => Err(NotCompared::NothingCompletes([second, first])),
            Err(error) => Err(error),
        };
    }
    replay_in_order(first, second, seed)
}

fn replay_in_order(first: &[f64], second: &[f64], seed: u64) -> Result<PairAnswer, NotCompared> {
    let end_ns = first.len().min(second.len()) as u64 * SECOND_NS;
    let mut comparison = PairedComparison::new(seed);
    let mut rates: [Vec<f64>; 2] = Default::default();
    let mut now_ns = 0;
    while let Some(side) = comparison.next_side() {
        let from_ns = now_ns + paired::RAMP_NS;
        let to_ns = from_ns + paired::MEASURED_NS;
        if to_ns > end_ns {
            break;
        }
        let (trace, rates) = if side == Side::First { (first, &mut rates[0]) } else { (second, &mut rates[1]) };
        let rate = sample(trace, from_ns, to_ns).rate();
        rates.push(rate);
        comparison.observe(side, rate);
        now_ns = to_ns;
    }
    let Some(ratio) = comparison.ratio(0.95) else {
        let blocks = rates.each_ref().map(|rates| rates.chunks_exact(paired::VISITS));
        let is_idle = |block: &[f64]| block.iter().sum::<f64>() <= 0.0;
        let idle = blocks.map(|mut blocks| blocks.any(is_idle));
        return Err(if idle.contains(&true) { NotCompared::NothingCompletes(idle) } else { NotCompared::TooShort });
    };
    let (blocks, blocks_wanted) = (comparison.logs().len(), comparison.blocks_wanted());
    Ok(PairAnswer { ratio, blocks, blocks_wanted, load_ns: now_ns })
}

/// What a visit to a trace measures when it begins now; one that ends by itself does so at once.
pub fn visit(trace: &[f64], slot: &Slot, now_ns: u64) -> Visit {
    let from_ns = now_ns + slot.ramp_ns;
    let to_ns = from_ns + slot.measured_ns.unwrap_or_default();
    let starts = (from_ns..to_ns).step_by(SECOND_NS as usize);
    Visit {
        from_ns,
        ramp: sample(trace, now_ns, from_ns),
        seconds: starts.map(|start_ns| sample(trace, start_ns, to_ns.min(start_ns + SECOND_NS))).collect(),
    }
}

/// What a trace completes between two times, evenly within each of its seconds.
fn sample(trace: &[f64], from_ns: u64, to_ns: u64) -> Sample {
    let mut count = 0.0;
    let mut t_ns = from_ns;
    while t_ns < to_ns {
        let second = t_ns / SECOND_NS;
        let end_ns = to_ns.min((second + 1) * SECOND_NS);
        let rate = trace.get(second as usize).copied().unwrap_or_default();
        count += rate * (end_ns - t_ns) as f64 / SECOND_NS as f64;
        t_ns = end_ns;
    }
    Sample { count, elapsed_ns: to_ns - from_ns }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise;

    #[test]
    fn a_trace_completes_evenly_within_its_seconds() {
        let trace = [100.0, 200.0];
        let half = sample(&trace, SECOND_NS / 2, SECOND_NS * 3 / 2);
        assert!((half.count - 150.0).abs() < 1e-9 && half.elapsed_ns == SECOND_NS);
        assert!(sample(&trace, 3 * SECOND_NS, 4 * SECOND_NS).count < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_trace_that_is_too_short_has_a_short_answer() {
        let answer = replay(&[5.0; 30], &ReplayPlan { cells: 12, ..ReplayPlan::default() });
        assert_eq!(answer.verdict.as_str(), "short");
        assert_eq!(replay(&[], &ReplayPlan::default()).estimate, None);
        assert_eq!(replay_pair(&[5.0; 30], &[5.0; 30], 1), Err(NotCompared::TooShort));
        let brief = replay_pair(&[5.0; 60], &[5.0; 60], 1).unwrap();
        assert_eq!((brief.blocks, brief.blocks_wanted), (3, 12));
    }

    #[test]
    fn a_trace_that_completes_nothing_is_named_as_the_cause() {
        let (level, idle) = (vec![5.0; 3600], vec![0.0; 3600]);
        assert_eq!(replay_pair(&level, &idle, 1), Err(NotCompared::NothingCompletes([false, true])));
        assert_eq!(replay_pair(&idle, &level, 1), Err(NotCompared::NothingCompletes([true, false])));
        assert_eq!(replay_pair(&idle, &idle, 1), Err(NotCompared::NothingCompletes([true, true])));
        // What is left without the blocks in which it stops would say that they are equal.
        let stopping: Vec<f64> = (0..3600).map(|t| if t % 400 < 200 { 5.0 } else { 0.0 }).collect();
        assert_eq!(replay_pair(&level, &stopping, 1), Err(NotCompared::NothingCompletes([false, true])));
        assert_eq!(replay_pair(&stopping, &level, 1), Err(NotCompared::NothingCompletes([true, false])));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn naming_a_pair_the_other_way_round_inverts_the_ratio(seed: u64, level in 500.0..2000.0_f64) {
            let first = test_noise::rates(1000.0, 0.03, 0.7, 3600, seed);
            let second = test_noise::rates(level, 0.03, 0.7, 3600, seed ^ 1);
            let (one, other) = (replay_pair(&first, &second, 3).unwrap(), replay_pair(&second, &first, 3).unwrap());
            prop_assert!((one.ratio.ratio * other.ratio.ratio - 1.0).abs() < 1e-12);
            prop_assert_eq!((one.blocks, one.ratio.differs()), (other.blocks, other.ratio.differs()));
            prop_assert!((one.ratio.ratio / (level / 1000.0) - 1.0).abs() < 0.05);
        }

        #[test]
        fn the_unit_of_a_pair_changes_nothing(seed: u64, level in 500.0..2000.0_f64) {
            let first = test_noise::rates(1000.0, 0.03, 0.7, 3600, seed);
            let second = test_noise::rates(level, 0.03, 0.7, 3600, seed ^ 1);
            let sevenfold = |trace: &[f64]| trace.iter().map(|rate| 7.0 * rate).collect::<Vec<f64>>();
            let one = replay_pair(&first, &second, 3).unwrap();
            let seven = replay_pair(&sevenfold(&first), &sevenfold(&second), 3).unwrap();
            prop_assert_eq!((one.blocks, one.load_ns), (seven.blocks, seven.load_ns));
            for (one, seven) in [
                (one.ratio.ratio, seven.ratio.ratio),
                (one.ratio.low, seven.ratio.low),
                (one.ratio.high, seven.ratio.high),
            ] {
                prop_assert!((one / seven - 1.0).abs() < 1e-12);
            }
        }
    }
}
