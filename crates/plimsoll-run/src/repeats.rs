//! Whether something beyond the page cache remembers what was read: random reads, and the same reads again.
//!
//! Before the first slot of a cell, when nothing of it has been read yet, short pieces of load go out in pairs: a fresh
//! one with offsets of its own, and one that repeats a fresh piece of a moment ago. Which of the two comes first takes
//! turns, so that a storage that becomes faster or slower meanwhile favours neither. All pieces are of as many
//! operations as the first one did in its time: a storage with a burst allowance is faster in shorter pieces.
//!
//! What the pieces read is remembered from then on, so they read a small part of the region only. Nothing is found
//! where the cache knew the region before the run, or where both rates end at the same cap.

use plimsoll_measure::detect::cache::REPEAT_PAIRS;
use plimsoll_record::cache::RepeatedReads;
use plimsoll_workload::{
    certainty::StoppingRule,
    distribution::Distribution,
    plan::{BlockPlan, CellPlan, Pacing},
    random::{Purpose, derive_seed},
    settings::Effort,
};

use crate::slot::{self, SlotError, SlotSetup};

/// How long the first piece takes at most.
const FIRST_PIECE_NS: u64 = 150_000_000;
/// How long all pieces may take. Usually they take half of that.
const ALL_PIECES_NS: u64 = 5_000_000_000;
/// All fresh pieces together read this part of the region at most.
const REGION_PART: u64 = 8;
/// Operations of a piece below which the region is too small to try.
const OPERATIONS_MIN: u64 = 64;

/// What a piece did.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    rate: f64,
    elapsed_ns: u64,
}

/// Whether reading again would tell something: reads at even random places around the page cache, in a closed loop, in
/// a cell that the rules judge. Whoever fixes the slots gets those and no others.
pub(crate) fn applies(cell: &CellPlan, effort: Effort) -> bool {
    let Some(plan) = cell.blocks() else { return false };
    cell.stopping == StoppingRule::Sure
        && effort != Effort::Quick
        && !plan.writes()
        && plan.random_percent == 100
        && matches!(plan.distribution, Distribution::Uniform | Distribution::ExactOnce)
        && plan.pacing == Pacing::Closed
        && plan.think_time_ns == 0
        && !plan.buffered
        && !plan.verify
}

/// Reads fresh places and the same again; `None` when the region is too small, a piece failed or was stopped, or they
/// took too long.
pub(crate) fn probe(setup: &SlotSetup<'_>) -> Result<Option<RepeatedReads>, SlotError> {
    let Some(mut operations) = operations_of_piece(setup.plan) else { return Ok(None) };
    let mut pieces: Vec<(u64, Piece)> = Vec::new();
    let mut left_ns = ALL_PIECES_NS;
    for number in order(REPEAT_PAIRS) {
        let is_first = pieces.is_empty();
        let plan = BlockPlan { operations: Some(operations), ..setup.plan.clone() };
        let seed = derive_seed(setup.seed, Purpose::Repeat, number);
        let measured_ns = Some(if is_first { FIRST_PIECE_NS } else { left_ns });
        let outcome = slot::visit(&SlotSetup { plan: &plan, ramp_ns: 0, measured_ns, seed, ..*setup }, &mut |_| {})?;
        let done = outcome.tally.read.operations;
        if !outcome.tally.errors.is_empty() || done == 0 || (done < operations && !is_first) {
            return Ok(None);
        }
        operations = done;
        let elapsed_ns = outcome.elapsed_ns.max(1);
        left_ns = left_ns.saturating_sub(elapsed_ns);
        pieces.push((number, Piece { rate: done as f64 * 1e9 / elapsed_ns as f64, elapsed_ns }));
    }
    Ok(Some(compare(&pieces)))
}

/// Operations of a piece at most; `None` when the region has too few.
fn operations_of_piece(plan: &BlockPlan) -> Option<u64> {
    let blocks = plan.size_bytes / u64::from(plan.block_size_bytes_max).max(1);
    let operations = blocks / REGION_PART / (REPEAT_PAIRS as u64 + 1);
    (operations >= OPERATIONS_MIN).then_some(operations)
}

/// Which offsets each piece reads, by number. The first piece is there to be repeated. A pair is a fresh piece and a
/// repeat of the fresh piece before it.
fn order(pairs: usize) -> impl Iterator<Item = u64> {
    let pair = |pair: u64| if pair.is_multiple_of(2) { [pair, pair + 1] } else { [pair + 1, pair] };
    std::iter::once(0).chain((0..pairs as u64).flat_map(pair))
}

/// The pieces in their order: a number that comes for the second time is a repeat.
fn compare(pieces: &[(u64, Piece)]) -> RepeatedReads {
    let is_repeat = |index: usize| pieces[..index].iter().any(|(number, _)| *number == pieces[index].0);
    let rates = |wanted: bool| -> Vec<f64> {
        (1..pieces.len()).filter(|index| is_repeat(*index) == wanted).map(|index| pieces[index].1.rate).collect()
    };
    let (mut fresh, mut repeat) = (rates(false), rates(true));
    let ratio_lowest = repeat.iter().zip(&fresh).map(|(repeat, fresh)| repeat / fresh).fold(f64::INFINITY, f64::min);
    let pairs = repeat.len() as u32;
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        (rates[(rates.len() - 1) / 2] + rates[rates.len() / 2]) / 2.0
    };
    RepeatedReads {
        pairs,
        fresh_iops: median(&mut fresh),
        repeat_iops: median(&mut repeat),
        ratio_lowest,
        elapsed_ns: pieces.iter().map(|(_, piece)| piece.elapsed_ns).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_repeats_the_fresh_reads_before_and_takes_turns() {
        let order: Vec<u64> = order(4).collect();
        assert_eq!(order, [0, 0, 1, 2, 1, 2, 3, 4, 3]);
    }

    #[test]
    fn the_lowest_pair_decides() {
        let rates = [50.0, 800.0, 100.0, 100.0, 150.0, 900.0, 100.0, 100.0, 700.0];
        let pieces: Vec<(u64, Piece)> =
            order(4).zip(rates).map(|(number, rate)| (number, Piece { rate, elapsed_ns: 10 })).collect();
        let found = compare(&pieces);
        let expected =
            RepeatedReads { pairs: 4, fresh_iops: 100.0, repeat_iops: 750.0, ratio_lowest: 1.5, elapsed_ns: 90 };
        assert_eq!(found, expected);
    }
}
