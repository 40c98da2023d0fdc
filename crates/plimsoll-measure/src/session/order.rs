//! In which order the cells of a pass are visited, and for how long.
//!
//! Reading cells come first, so that a write disturbs reads once a pass. Cells of one workload on several targets
//! stand next to each other, and swap in the next pass: what happens on the machine meanwhile meets all targets alike,
//! and every two passes make one block of a paired comparison (A B, then B A).

use super::CellPlan;
use crate::random::Random;

/// What random numbers are drawn for.
const FOR_WORKLOADS: u64 = 1;
const FOR_TARGETS: u64 = 2;
const FOR_LENGTH: u64 = 3;
const FOR_DELAYS: u64 = 4;

/// The cells of `active` in the order in which a pass visits them.
pub(super) fn of_pass(cells: &[CellPlan], active: &[usize], seed: u64, turn: usize, pass: u32) -> Vec<usize> {
    let mut workloads: Vec<(bool, usize)> =
        active.iter().map(|cell| (cells[*cell].writes, cells[*cell].workload)).collect();
    workloads.sort_unstable();
    workloads.dedup();
    Random::at(seed, &[FOR_WORKLOADS, u64::from(pass)]).shuffle(&mut workloads);
    workloads.sort_by_key(|(writes, _)| *writes);
    let mut order = Vec::with_capacity(active.len());
    for (writes, workload) in workloads {
        let belongs = |cell: &usize| cells[*cell].writes == writes && cells[*cell].workload == workload;
        let mut same: Vec<usize> = active.iter().copied().filter(belongs).collect();
        same.sort_by_key(|cell| cells[*cell].target);
        // One coin for two passes; the second one goes backwards.
        Random::at(seed, &[FOR_TARGETS, u64::from(pass / 2), workload as u64]).shuffle(&mut same);
        if pass % 2 == 1 {
            same.reverse();
        }
        let turn = turn % same.len().max(1);
        same.rotate_left(turn);
        order.extend(same);
    }
    order
}

/// How long after the start of its pass each turn comes at the earliest, when a pass takes `length_ns` at least.
///
/// While all cells are open their visits fill the pass. When few are left, their visits would come faster and faster,
/// and the same trouble would be met again and again; so they stay as far apart as before, at random places in the
/// pass, for a regular rhythm might keep step with that of the storage.
pub(super) fn delays_ns(length_ns: u64, turns: usize, visit_ns: u64, seed: u64, pass: u32) -> Vec<u64> {
    let slack_ns = length_ns.saturating_sub(turns as u64 * visit_ns);
    let mut random = Random::at(seed, &[FOR_DELAYS, u64::from(pass)]);
    let mut pauses: Vec<u64> = (0..turns).map(|_| random.below(slack_ns + 1)).collect();
    pauses.sort_unstable();
    let whole_second = |pause_ns: u64| pause_ns / 1_000_000_000 * 1_000_000_000;
    pauses
        .iter()
        .enumerate()
        .map(|(turn, pause_ns)| if slack_ns == 0 { 0 } else { whole_second(*pause_ns) + turn as u64 * visit_ns })
        .collect()
}

/// The measured length of a visit, drawn from those of the rules.
pub(super) fn measured_ns(lengths: &[u64], seed: u64, cell: usize, round: u32) -> u64 {
    let mut random = Random::at(seed, &[FOR_LENGTH, cell as u64, u64::from(round)]);
    lengths[random.below(lengths.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two targets with the same four workloads, of which the last two write.
    fn two_targets() -> Vec<CellPlan> {
        let cell = |target, workload| CellPlan { target, workload, writes: workload >= 2, ..CellPlan::default() };
        (0..8).map(|index| cell(index / 4, index % 4)).collect()
    }

    proptest! {
        #[test]
        fn a_pass_visits_every_active_cell_once_and_reads_first(seed: u64, pass in 0..100_u32, omitted in 0..8_usize) {
            let cells = two_targets();
            let active: Vec<usize> = (0..8).filter(|cell| *cell != omitted).collect();
            let mut order = of_pass(&cells, &active, seed, 0, pass);
            prop_assert!(order.is_sorted_by_key(|cell| cells[*cell].writes));
            order.sort_unstable();
            prop_assert_eq!(order, active);
        }

        #[test]
        fn two_passes_make_a_block_of_a_paired_comparison(seed: u64, block in 0..50_u32) {
            let cells = two_targets();
            let all: Vec<usize> = (0..8).collect();
            let targets = |pass: u32, workload: usize| -> Vec<usize> {
                let order = of_pass(&cells, &all, seed, 0, pass);
                let at: Vec<usize> = (0..8).filter(|at| cells[order[*at]].workload == workload).collect();
                assert_eq!(at[1], at[0] + 1, "targets of a workload are neighbours");
                at.iter().map(|at| cells[order[*at]].target).collect()
            };
            for workload in 0..4 {
                let mut backwards = targets(2 * block + 1, workload);
                backwards.reverse();
                prop_assert_eq!(targets(2 * block, workload), backwards);
            }
        }
    }

    proptest! {
        #[test]
        fn sessions_with_other_turns_meet_on_no_target_and_do_the_same_workload(seed: u64, pass in 0..50_u32) {
            let cells: Vec<CellPlan> = (0..12)
                .map(|index| CellPlan { target: index / 4, workload: index % 4, ..CellPlan::default() })
                .collect();
            let all: Vec<usize> = (0..12).collect();
            let orders = [0, 1, 2].map(|turn| of_pass(&cells, &all, seed, turn, pass));
            for place in 0..12 {
                let [a, b, c] = orders.each_ref().map(|order| cells[order[place]]);
                prop_assert!(a.workload == b.workload && b.workload == c.workload);
                prop_assert!(a.target != b.target && b.target != c.target && a.target != c.target);
            }
        }
    }

    #[test]
    fn a_cell_owns_no_place_in_the_pass() {
        let cells = two_targets();
        let all: Vec<usize> = (0..8).collect();
        let mut counts = [[0; 8]; 8];
        for pass in 0..4000 {
            of_pass(&cells, &all, 1, 0, pass).iter().enumerate().for_each(|(place, cell)| counts[*cell][place] += 1);
        }
        for (cell, places) in counts.iter().enumerate() {
            let own = if cell % 4 < 2 { &places[..4] } else { &places[4..] };
            assert!(own.iter().all(|count| (850..1150).contains(count)), "{cell}: {places:?}");
        }
    }

    #[test]
    fn every_length_is_drawn_equally_often() {
        let lengths = [4, 5, 6];
        let drawn: Vec<u64> = (0..3000).map(|round| measured_ns(&lengths, 9, 0, round)).collect();
        for length in lengths {
            let count = drawn.iter().filter(|drawn| **drawn == length).count();
            assert!((880..1120).contains(&count), "{length}: {count}");
        }
    }
}
