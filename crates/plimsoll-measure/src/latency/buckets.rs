//! Counters whose width grows with the latency: what a distribution keeps its observations in.
//!
//! The layout is that of HDR histograms: below twice the resolution each value has a counter of its own, and each
//! doubling from there is divided into as many counters as the resolution has steps. It is written out here because
//! recording is part of the hot loop and has to be inlined into it, which the library's does not allow.

/// Which bucket a value falls in, at a fixed resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolution {
    /// Values below two to this power have buckets of their own.
    exact_bits: u32,
}

impl Resolution {
    /// That of two or three significant digits.
    pub(super) const fn new(significant_digits: u8) -> Self {
        // The next power of two above 2 * 10^digits tells apart values that differ in the last digit.
        Self { exact_bits: (2 * 10_u64.pow(significant_digits as u32)).next_power_of_two().ilog2() }
    }

    /// Significant digits that the buckets tell apart.
    pub(super) const fn significant_digits(self) -> u8 {
        ((1_u64 << self.exact_bits) / 2).ilog10() as u8
    }

    /// The bucket of a value.
    #[inline]
    pub(super) const fn index(self, value: u64) -> usize {
        let shift = self.shift(value);
        ((shift as usize) << (self.exact_bits - 1)) + (value >> shift) as usize
    }

    /// How many low bits of a value its bucket does not tell apart.
    #[inline]
    const fn shift(self, value: u64) -> u32 {
        (value | ((1 << self.exact_bits) - 1)).ilog2() + 1 - self.exact_bits
    }

    /// The lowest and the highest value of a bucket.
    pub(super) fn bounds(self, index: usize) -> (u64, u64) {
        let half = 1_usize << (self.exact_bits - 1);
        let shift = (index / half).saturating_sub(1);
        let lowest = ((index - shift * half) as u64) << shift;
        (lowest, lowest + (1 << shift) - 1)
    }
}

/// Counters for values up to a highest one, at a fixed resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    resolution: Resolution,
    counts: Box<[u64]>,
}

impl Buckets {
    /// Room for values up to `highest`.
    pub(super) fn new(resolution: Resolution, highest: u64) -> Self {
        Self { resolution, counts: vec![0; resolution.index(highest) + 1].into() }
    }

    pub(super) const fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Counts `count` times a value that is not above the highest.
    #[inline]
    pub(super) fn add(&mut self, value: u64, count: u64) {
        self.add_at(self.resolution.index(value), count);
    }

    /// Whether there is a bucket of this index.
    pub(super) fn has(&self, index: usize) -> bool {
        index < self.counts.len()
    }

    /// Counts `count` times whatever falls in a bucket.
    #[inline]
    pub(super) fn add_at(&mut self, index: usize, count: u64) {
        let bucket = &mut self.counts[index];
        *bucket = bucket.saturating_add(count);
    }

    /// Adds all counts; those of buckets with other bounds count in the middle of theirs.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.resolution == other.resolution {
            self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        } else {
            other.occupied_indices().for_each(|(index, count)| self.add_of(other.resolution, index, count));
        }
    }

    /// Counts `count` times the middle of a bucket of another resolution.
    pub(super) fn add_of(&mut self, other: Resolution, index: usize, count: u64) {
        let (lowest, highest) = other.bounds(index);
        let own = self.resolution.index(lowest.midpoint(highest));
        // The last bucket of a resolution may reach beyond the highest value.
        self.add_at(own.min(self.counts.len() - 1), count);
    }

    pub(super) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// The lowest value and the count of each bucket that is not empty, in order.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (u64, u64)> {
        self.occupied_bounds().map(|((lowest, _), count)| (lowest, count))
    }

    /// The lowest and highest value and the count of each bucket that is not empty, in order.
    pub(super) fn occupied_bounds(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        self.occupied_indices().map(|(index, count)| (self.resolution.bounds(index), count))
    }

    /// The index and the count of each bucket that is not empty, in order.
    pub(super) fn occupied_indices(&self) -> impl Iterator<Item = (usize, u64)> {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// The observations in buckets above the one of a value that is not above the highest.
    pub(super) fn count_above(&self, value: u64) -> u64 {
        self.counts[self.resolution.index(value) + 1..].iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// The highest value of the bucket that holds the `rank`-th observation, from 1; `None` when there are fewer.
    pub(super) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let mut seen = 0_u64;
        let index = self.counts.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen >= rank
        })?;
        Some(self.resolution.bounds(index).1)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    const HIGHEST: u64 = 3_600_000_000_000;

    /// Values of all magnitudes, not just those near the highest.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((1..=HIGHEST, 0..42_u32).prop_map(|(value, shift)| (value >> shift).max(1)), 1..200)
    }

    #[test]
    fn the_buckets_cover_every_value_once() {
        for digits in [2, 3] {
            let resolution = Resolution::new(digits);
            let buckets = Buckets::new(resolution, HIGHEST);
            assert_eq!(resolution.significant_digits(), digits);
            let mut next = 0;
            for index in 0..buckets.counts.len() {
                let (lowest, highest) = resolution.bounds(index);
                assert_eq!(lowest, next);
                assert_eq!((resolution.index(lowest), resolution.index(highest)), (index, index));
                next = highest + 1;
            }
            assert!(next > HIGHEST);
        }
    }

    proptest! {
        #[test]
        fn values_and_quantiles_are_those_of_an_hdr_histogram(
            values in values(),
            quantile in 0.0001..1.0_f64,
            digits in 2..=3_u8,
        ) {
            let mut buckets = Buckets::new(Resolution::new(digits), HIGHEST);
            let mut library = Histogram::<u64>::new_with_bounds(1, HIGHEST, digits).unwrap();
            for value in &values {
                buckets.add(*value, 2);
                library.record_n(*value, 2).unwrap();
            }
            let steps: Vec<_> = library
                .iter_recorded()
                .map(|step| (library.lowest_equivalent(step.value_iterated_to()), step.count_at_value()))
                .collect();
            prop_assert_eq!(buckets.occupied().collect::<Vec<_>>(), steps);
            let rank = (quantile * library.len() as f64).ceil() as u64;
            prop_assert_eq!(buckets.value_at_rank(rank), Some(library.value_at_quantile(quantile)));
        }
    }
}
