//! Random numbers for orders, dither and coin flips: a function of the seed alone.

/// Splitmix64; shuffles and tests need no more.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A stream that the seed decides.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A stream that the seed and the place of use decide, so that what is drawn for one place does not depend on how
    /// much was drawn for another.
    pub fn at(seed: u64, place: &[u64]) -> Self {
        let mut random = Self::new(seed);
        for step in place {
            random = Self::new(random.next().wrapping_add(*step));
        }
        random
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to just below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts values into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = Random::new(7);
        for _ in 0..6000 {
            let mut values = [0, 1, 2];
            random.shuffle(&mut values);
            *counts.entry(values).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn places_have_streams_of_their_own() {
        let first = |place: &[u64]| Random::at(1, place).next();
        assert_eq!(first(&[2, 3]), first(&[2, 3]));
        let all = [first(&[]), first(&[2]), first(&[3]), first(&[2, 3]), first(&[3, 2])];
        assert!((0..5).all(|i| (0..i).all(|j| all[i] != all[j])));
    }

    #[test]
    fn units_fill_the_range_from_zero_to_one() {
        let mut random = Random::new(3);
        let units: Vec<f64> = (0..1000).map(|_| random.unit()).collect();
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
        assert!((units.iter().sum::<f64>() / 1000.0 - 0.5).abs() < 0.03);
    }
}
