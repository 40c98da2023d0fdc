//! Which cell gets the next slot, when to stop, and what to call the result: one pure state machine.
//!
//! It sees counts and nanoseconds, never a target or an engine. For now every cell gets a fixed number of slots and
//! the verdict is always [`Verdict::Short`], because nothing has judged the numbers.

use std::collections::VecDeque;

use crate::verdict::Verdict;

/// One visit to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index of the cell.
    pub cell: usize,
    /// Which visit this is, from 0.
    pub round: u32,
}

/// Gives cells their slots: passes over all cells that still need one, each pass in a fresh random order.
#[derive(Clone, Debug)]
pub struct Schedule {
    rounds: Vec<u32>,
    pass: VecDeque<Slot>,
    next_round: u32,
    shuffle_state: u64,
}

impl Schedule {
    /// A schedule of `rounds[i]` slots for cell `i`; `seed` decides the order within each pass.
    pub fn new(rounds: Vec<u32>, seed: u64) -> Self {
        Self { rounds, pass: VecDeque::new(), next_round: 0, shuffle_state: seed }
    }

    /// The next visit, or `None` when every cell has had its slots.
    pub fn next_slot(&mut self) -> Option<Slot> {
        if self.pass.is_empty() {
            let round = self.next_round;
            let mut pass: Vec<Slot> = (0..self.rounds.len())
                .filter(|cell| self.rounds[*cell] > round)
                .map(|cell| Slot { cell, round })
                .collect();
            for last in (1..pass.len()).rev() {
                let other = self.draw_below(last as u64 + 1) as usize;
                pass.swap(last, other);
            }
            self.pass = pass.into();
            self.next_round += 1;
        }
        self.pass.pop_front()
    }

    /// Slots still to come, the one handed out last excluded.
    pub fn remaining(&self) -> usize {
        let later = self.rounds.iter().map(|rounds| rounds.saturating_sub(self.next_round) as usize).sum::<usize>();
        self.pass.len() + later
    }

    /// A cell that failed gets no further slots.
    pub fn abandon(&mut self, cell: usize) {
        self.rounds[cell] = 0;
        self.pass.retain(|slot| slot.cell != cell);
    }

    /// What to call a cell's numbers.
    pub const fn verdict(&self, _cell: usize) -> Verdict {
        Verdict::Short
    }

    /// Splitmix64, multiplied down; a shuffle needs no more.
    fn draw_below(&mut self, bound: u64) -> u64 {
        self.shuffle_state = self.shuffle_state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.shuffle_state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64) -> Vec<Slot> {
        let mut schedule = Schedule::new(vec![3, 1, 2], seed);
        std::iter::from_fn(|| schedule.next_slot()).collect()
    }

    #[test]
    fn every_cell_gets_its_slots_and_rounds_follow_each_other() {
        let slots = order(1);
        assert_eq!(slots.len(), 6);
        for (cell, rounds) in [(0, 3), (1, 1), (2, 2)] {
            let seen: Vec<u32> = slots.iter().filter(|slot| slot.cell == cell).map(|slot| slot.round).collect();
            assert_eq!(seen, (0..rounds).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        assert_eq!(order(1), order(1));
        assert!((2..20).any(|seed| order(seed) != order(1)));
    }

    #[test]
    fn an_abandoned_cell_gets_no_more() {
        let mut schedule = Schedule::new(vec![5, 5], 1);
        schedule.next_slot();
        schedule.abandon(0);
        let rest: Vec<Slot> = std::iter::from_fn(|| schedule.next_slot()).collect();
        assert!(rest.iter().all(|slot| slot.cell == 1));
        assert_eq!(schedule.remaining(), 0);
    }
}
