//! A distribution that is only kept: a run has hundreds, and a dense one takes 270 KiB of which most is empty.

use serde::{Deserialize, Serialize};

use super::{HIGHEST_NS, LatencyHistogram, Totals, buckets::Resolution};

/// The buckets of a distribution that are not empty, in two or three bytes each. It loses nothing; to add to it, merge
/// it into a [`LatencyHistogram`]. Written down it looks like one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "LatencyHistogram", into = "LatencyHistogram")]
pub struct CompactHistogram {
    pub(super) resolution: Resolution,
    pub(super) totals: Totals,
    /// For each bucket that is not empty, how far it is from the one before, and its count. Of these numbers each byte
    /// has seven bits, the lowest first; the eighth says that more follow.
    steps: Box<[u8]>,
}

impl CompactHistogram {
    /// Observations.
    pub const fn count(&self) -> u64 {
        self.totals.count
    }

    /// The buckets as they are kept.
    pub(super) fn steps(&self) -> &[u8] {
        &self.steps
    }

    /// Observations in buckets above the one that this latency falls in.
    pub fn count_above(&self, latency_ns: u64) -> u64 {
        let bucket = self.resolution.index(latency_ns.clamp(1, HIGHEST_NS));
        let above = self.occupied().filter(|(index, _)| *index > bucket);
        above.fold(0, |sum: u64, (_, count)| sum.saturating_add(count))
    }

    /// The lowest and the highest latency that share a bucket with this one.
    pub(super) fn bounds(&self, latency_ns: u64) -> (u64, u64) {
        self.resolution.bounds(self.resolution.index(latency_ns.clamp(1, HIGHEST_NS)))
    }

    /// The index and the count of each bucket that is not empty, in order.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (usize, u64)> {
        let (mut bytes, mut index) = (&*self.steps, 0);
        std::iter::from_fn(move || {
            index += take(&mut bytes)? as usize;
            Some((index, take(&mut bytes)?))
        })
    }
}

impl From<&LatencyHistogram> for CompactHistogram {
    fn from(histogram: &LatencyHistogram) -> Self {
        let (mut steps, mut before) = (Vec::new(), 0);
        for (index, count) in histogram.buckets.occupied_indices() {
            put(&mut steps, (index - before) as u64);
            put(&mut steps, count);
            before = index;
        }
        Self { resolution: histogram.buckets.resolution(), totals: histogram.totals, steps: steps.into() }
    }
}

impl From<LatencyHistogram> for CompactHistogram {
    fn from(histogram: LatencyHistogram) -> Self {
        Self::from(&histogram)
    }
}

impl From<CompactHistogram> for LatencyHistogram {
    fn from(compact: CompactHistogram) -> Self {
        let mut histogram = Self::with(compact.resolution);
        histogram.merge_compact(&compact);
        histogram
    }
}

/// Appends a number.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes the number that the bytes begin with; `None` at their end.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slot_of_three_thousand_buckets_takes_less_than_ten_kilobytes() {
        let mut histogram = LatencyHistogram::fine();
        (0..3000).for_each(|step| histogram.record_many(100_000 + 64 * step, 1 + step % 200));
        let compact = CompactHistogram::from(&histogram);
        assert!(compact.occupied().count() > 1000);
        assert!(compact.steps.len() < 10_000, "{} bytes", compact.steps.len());
    }

    proptest! {
        #[test]
        fn what_is_put_away_comes_back_whole(
            values in proptest::collection::vec((0..HIGHEST_NS * 2, 0..42_u32, 1..u64::MAX / 1000), 0..200),
            limit in 0..HIGHEST_NS * 2,
            is_coarse: bool,
        ) {
            let mut histogram = if is_coarse { LatencyHistogram::coarse() } else { LatencyHistogram::fine() };
            values.iter().for_each(|(value, shift, count)| histogram.record_many(value >> shift, *count));
            let compact = CompactHistogram::from(&histogram);
            prop_assert_eq!(compact.count(), histogram.count());
            prop_assert_eq!(compact.count_above(limit), histogram.count_above(limit));
            let text = serde_json::to_string(&compact).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&histogram).unwrap());
            prop_assert_eq!(&serde_json::from_str::<CompactHistogram>(&text).unwrap(), &compact);
            prop_assert!(LatencyHistogram::from(compact) == histogram);
        }
    }
}
