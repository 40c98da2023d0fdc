//! A keyed order of `0..count` in which every number stands once: exact-once coverage without a bitmap.
//!
//! The number is mixed as a word of just enough bits, by steps that can each be undone (exclusive or, multiplication
//! by an odd number, folding the upper half onto the lower). Where the count is not a power of two, results outside
//! of it are mixed again until they fall inside (cycle walking, Black and Rogaway 2002), which takes fewer than two
//! tries on average.

use crate::random::Draws;

/// Four rounds place every number equally often at every index, from about 200 numbers on. Below that some orders are
/// likelier than others, which no storage notices.
const ROUNDS: usize = 4;

/// A bijection of `0..count`.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    mask: u64,
    /// At least half of the bits, so that folding undoes itself.
    shift: u32,
    addends: [u64; ROUNDS],
    last_addend: u64,
    multipliers: [u64; ROUNDS],
}

impl Permutation {
    /// The order of `0..count` that `key` names.
    pub fn new(count: u64, key: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let mut draws = Draws::new(key, count);
        Self {
            count,
            mask,
            shift: bits.div_ceil(2).max(1),
            addends: std::array::from_fn(|_| draws.bits() & mask),
            last_addend: draws.bits() & mask,
            multipliers: std::array::from_fn(|_| draws.bits() & mask | 1),
        }
    }

    /// How many numbers there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The number at `index`, which must be below the count.
    #[inline]
    pub fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mut value = index;
        loop {
            for (addend, multiplier) in self.addends.iter().zip(&self.multipliers) {
                value = (value ^ addend).wrapping_mul(*multiplier) & self.mask;
                value ^= value >> self.shift;
            }
            value ^= self.last_addend;
            if value < self.count {
                return value;
            }
        }
    }

    /// The index at which `number` stands, which must be below the count.
    pub fn invert(&self, number: u64) -> u64 {
        debug_assert!(number < self.count);
        let mut value = number;
        loop {
            value ^= self.last_addend;
            for (addend, multiplier) in self.addends.iter().zip(&self.multipliers).rev() {
                value ^= value >> self.shift;
                value = value.wrapping_mul(odd_inverse(*multiplier)) & self.mask ^ addend;
            }
            if value < self.count {
                return value;
            }
        }
    }
}

/// The number that an odd number multiplied by gives 1, modulo 2^64. Newton's iteration doubles the right bits each
/// time.
const fn odd_inverse(odd: u64) -> u64 {
    let mut inverse = odd; // Right in the lowest three bits.
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chi_square::{assert_uniform, probability};

    #[test]
    fn every_number_stands_once_for_every_count_up_to_4100() {
        for count in 1..=4100 {
            let permutation = Permutation::new(count, 9);
            let mut seen = vec![false; count as usize];
            for index in 0..count {
                let number = permutation.apply(index);
                assert!(!std::mem::replace(&mut seen[number as usize], true), "{number} stands twice in {count}");
                assert_eq!(permutation.invert(number), index);
            }
        }
    }

    proptest! {
        #[test]
        fn inverting_leads_back(count in 1_u64..=1 << 60, key: u64, at: u64) {
            let permutation = Permutation::new(count, key);
            let index = at % count;
            prop_assert!(permutation.apply(index) < count);
            prop_assert_eq!(permutation.invert(permutation.apply(index)), index);
        }
    }

    #[test]
    fn each_number_is_as_likely_at_each_index_whatever_the_key() {
        for count in [8_u64, 32, 200, 300, 600] {
            let mut cells = vec![0_u64; (count * count) as usize];
            for key in 0..20_000 {
                let permutation = Permutation::new(count, key);
                (0..count).for_each(|index| cells[(index * count + permutation.apply(index)) as usize] += 1);
            }
            // Every row and every column adds up to the number of keys.
            let expected = vec![20_000.0 / count as f64; cells.len()];
            let probability = probability(&cells, &expected, 2 * count as usize - 1);
            assert!(probability > 0.0005, "{count}: {probability}");
        }
    }

    #[test]
    fn distances_between_successive_numbers_are_those_of_a_random_order() {
        for (count, key) in [(1 << 18, 1_u64), (51_200, 2), (1 << 20, 3), (262_143, 4), (7_864_320, 5)] {
            let permutation = Permutation::new(count, key);
            let mut bins = vec![0_u64; 512];
            let steps = count.min(1_000_000) - 1;
            let mut adjacent = 0;
            for index in 0..steps {
                let (here, next) = (permutation.apply(index), permutation.apply(index + 1));
                let distance = (next + count - here) % count;
                bins[(u128::from(distance) * 512 / u128::from(count)) as usize] += 1;
                adjacent += u32::from(distance == 1);
            }
            assert_uniform(&bins, &format!("distances in {count}"));
            assert!(adjacent < 20, "{count}: {adjacent} sequential pairs");
        }
    }
}
