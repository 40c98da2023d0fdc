//! Latency distributions: fixed bounds, exact merges, clamped values counted.

mod buckets;
mod compact;
pub mod exposure;
mod packed;
pub mod percentile_interval;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use self::buckets::{Buckets, Resolution};

pub use self::compact::CompactHistogram;

/// The longest latency with a bucket of its own: one hour. Longer ones fall in the last bucket and are counted.
pub const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Observations that must lie beyond a percentile before it is published.
pub const SUPPORT: u64 = 10;

/// A distribution of latencies in nanoseconds. Recording never allocates; merging loses nothing.
#[derive(Clone, PartialEq)]
pub struct LatencyHistogram {
    buckets: Buckets,
    totals: Totals,
}

/// What is known of all observations beside their buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Totals {
    count: u64,
    clamped: u64,
    sum_ns: u128,
    sum_of_squares: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Totals {
    const NONE: Self = Self { count: 0, clamped: 0, sum_ns: 0, sum_of_squares: 0.0, min_ns: u64::MAX, max_ns: 0 };

    fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        // A record from elsewhere may say anything.
        self.clamped = self.clamped.saturating_add(other.clamped);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_of_squares += other.sum_of_squares;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// A percentile, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    /// The latency in nanoseconds.
    Supported(u64),
    /// Too few observations lie beyond it.
    Unsupported {
        /// Observations there would have to be.
        needed: u64,
        /// Observations there are.
        have: u64,
    },
}

/// Operations that there have to be to support a percentile.
pub fn operations_needed(quantile: f64) -> u64 {
    // Rounded, so that 1 - 0.99 asks for 1,000 and not 999.
    (SUPPORT as f64 / (1.0 - quantile)).round() as u64
}

impl fmt::Debug for LatencyHistogram {
    /// A summary: thousands of buckets help nobody.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram")
            .field("count", &self.count())
            .field("clamped", &self.clamped())
            .field("min_ns", &self.min_ns())
            .field("mean_ns", &self.mean_ns())
            .field("max_ns", &self.max_ns())
            .finish_non_exhaustive()
    }
}

impl LatencyHistogram {
    /// An empty distribution with three significant digits, for a cell or a slot.
    pub fn fine() -> Self {
        Self::with(Resolution::new(3))
    }

    /// An empty distribution with two significant digits, for one second.
    pub fn coarse() -> Self {
        Self::with(Resolution::new(2))
    }

    fn with(resolution: Resolution) -> Self {
        Self { buckets: Buckets::new(resolution, HIGHEST_NS), totals: Totals::NONE }
    }

    /// Counts `count` operations of the same latency.
    #[inline]
    pub fn record_many(&mut self, latency_ns: u64, count: u64) {
        let totals = &mut self.totals;
        if latency_ns > HIGHEST_NS {
            totals.clamped += count;
        }
        self.buckets.add(latency_ns.clamp(1, HIGHEST_NS), count);
        totals.count += count;
        totals.sum_ns += u128::from(latency_ns) * u128::from(count);
        // Through signed numbers, which the processor converts in one step; nothing here comes near their limit.
        let (latency, times) = (latency_ns as i64 as f64, count as i64 as f64);
        totals.sum_of_squares += latency * latency * times;
        totals.min_ns = totals.min_ns.min(latency_ns);
        totals.max_ns = totals.max_ns.max(latency_ns);
    }

    /// Adds all of another distribution; of one of another resolution each bucket counts as its middle.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        self.totals.merge(&other.totals);
    }

    /// Adds all of a distribution that was put away, as [`Self::merge`] does.
    pub fn merge_compact(&mut self, other: &CompactHistogram) {
        if self.buckets.resolution() == other.resolution {
            other.occupied().for_each(|(index, count)| self.buckets.add_at(index, count));
        } else {
            other.occupied().for_each(|(index, count)| self.buckets.add_of(other.resolution, index, count));
        }
        self.totals.merge(&other.totals);
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        if self.count() > 0 {
            self.buckets.clear();
        }
        self.totals = Totals::NONE;
    }

    /// Observations.
    pub const fn count(&self) -> u64 {
        self.totals.count
    }

    /// Observations above [`HIGHEST_NS`].
    pub const fn clamped(&self) -> u64 {
        self.totals.clamped
    }

    /// The shortest latency; `None` when empty.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.totals.min_ns)
    }

    /// The longest latency; `None` when empty.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.totals.max_ns)
    }

    /// The middle latency and the observations of each bucket that has any, from short to long.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = self.buckets.occupied_bounds();
        bounds.map(|((lowest, highest), count)| (f64::midpoint(lowest as f64, highest as f64), count))
    }

    /// Observations in buckets above the one that this latency falls in.
    pub fn count_above(&self, latency_ns: u64) -> u64 {
        self.buckets.count_above(latency_ns.clamp(1, HIGHEST_NS))
    }

    /// The mean, from the exact sum; `None` when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.totals.sum_ns as f64 / self.count() as f64)
    }

    /// The standard deviation of the observations (n-1); `None` below two.
    pub fn stddev_ns(&self) -> Option<f64> {
        let count = self.count() as f64;
        let mean = self.mean_ns()?;
        (count > 1.0).then(|| ((self.totals.sum_of_squares - count * mean * mean).max(0.0) / (count - 1.0)).sqrt())
    }

    /// The latency below which the share `quantile` of observations lies, whatever the support; `None` when empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let rank = (quantile.min(1.0) * self.count() as f64).ceil() as u64;
        let inside = self.buckets.value_at_rank(rank.min(self.count()).max(1))?;
        Some(inside.clamp(self.totals.min_ns, self.totals.max_ns))
    }

    /// A percentile that may be published: at least [`SUPPORT`] observations lie beyond it.
    pub fn percentile(&self, quantile: f64) -> Percentile {
        let have = self.count();
        let needed = operations_needed(quantile);
        match self.quantile_ns(quantile) {
            Some(latency_ns) if have >= needed => Percentile::Supported(latency_ns),
            _ => Percentile::Unsupported { needed, have },
        }
    }
}

/// The lossless form in a record: the buckets that are not empty.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct HistogramData {
    /// Significant digits that buckets tell apart.
    significant_digits: u8,
    /// Observations above one hour; they lie in the last bucket.
    clamped: u64,
    /// Exact sum of all latencies, as decimal text because it may exceed 64 bits.
    sum_ns: String,
    /// Sum of squared latencies, for the standard deviation.
    sum_of_squares: f64,
    /// Shortest latency.
    min_ns: u64,
    /// Longest latency.
    max_ns: u64,
    /// The lowest latency of each bucket that has observations.
    values_ns: Vec<u64>,
    /// The observations in each of those buckets.
    counts: Vec<u64>,
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (values_ns, counts) = self.buckets.occupied().unzip();
        HistogramData {
            significant_digits: self.buckets.resolution().significant_digits(),
            clamped: self.totals.clamped,
            sum_ns: self.totals.sum_ns.to_string(),
            sum_of_squares: self.totals.sum_of_squares,
            min_ns: self.min_ns().unwrap_or(0),
            max_ns: self.totals.max_ns,
            values_ns,
            counts,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let data = HistogramData::deserialize(deserializer)?;
        if !matches!(data.significant_digits, 2 | 3) || data.values_ns.len() != data.counts.len() {
            return Err(de::Error::custom("a histogram needs two or three digits and as many counts as values"));
        }
        if data.min_ns > data.max_ns {
            return Err(de::Error::custom("a histogram whose shortest latency exceeds its longest"));
        }
        let mut histogram = Self::with(Resolution::new(data.significant_digits));
        let totals = &mut histogram.totals;
        for (value, count) in data.values_ns.iter().zip(&data.counts) {
            histogram.buckets.add((*value).clamp(1, HIGHEST_NS), *count);
            totals.count = totals.count.saturating_add(*count);
        }
        if totals.count > 0 {
            totals.min_ns = data.min_ns;
            totals.max_ns = data.max_ns;
        }
        totals.clamped = data.clamped;
        totals.sum_ns = data.sum_ns.parse().map_err(de::Error::custom)?;
        totals.sum_of_squares = data.sum_of_squares;
        Ok(histogram)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LatencyHistogram {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LatencyHistogram".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        HistogramData::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::fine();
        values.iter().for_each(|value| histogram.record_many(*value, 1));
        histogram
    }

    #[test]
    fn a_percentile_needs_ten_observations_beyond_it() {
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(1000, 999);
        assert_eq!(histogram.percentile(0.99), Percentile::Unsupported { needed: 1000, have: 999 });
        histogram.record_many(1000, 1);
        assert_eq!(histogram.percentile(0.99), Percentile::Supported(1000));
    }

    #[test]
    fn a_distribution_that_contradicts_itself_is_refused() {
        let text = serde_json::to_string(&of(&[5, 9])).unwrap();
        assert!(serde_json::from_str::<LatencyHistogram>(&text).is_ok());
        let inverted = text.replace("\"min_ns\":5", "\"min_ns\":10");
        assert!(serde_json::from_str::<LatencyHistogram>(&inverted).is_err());
    }

    #[test]
    fn latencies_beyond_an_hour_are_counted_as_clamped() {
        let histogram = of(&[1, HIGHEST_NS, HIGHEST_NS + 1, u64::MAX / 4]);
        assert_eq!((histogram.count(), histogram.clamped()), (4, 2));
        assert_eq!(histogram.max_ns(), Some(u64::MAX / 4));
    }

    #[test]
    fn mean_and_deviation_are_exact() {
        let histogram = of(&[1_000_003, 2_000_005, 3_000_007]);
        assert_eq!(histogram.mean_ns(), Some(2_000_005.0));
        assert!((histogram.stddev_ns().unwrap() - 1_000_002.0).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn what_lies_above_a_latency_is_counted_by_buckets(
            values in proptest::collection::vec(1..HIGHEST_NS, 1..200),
            limit in 1..HIGHEST_NS,
        ) {
            let histogram = of(&values);
            let limit_bucket = of(&[limit]).buckets().next().unwrap().0;
            let above: u64 =
                histogram.buckets().filter(|(middle, _)| *middle > limit_bucket).map(|(_, count)| count).sum();
            prop_assert_eq!(histogram.count_above(limit), above);
            prop_assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
        }

        #[test]
        fn a_merge_is_the_histogram_of_all(
            left in proptest::collection::vec(0..HIGHEST_NS, 0..200),
            right in proptest::collection::vec(0..HIGHEST_NS, 0..200),
        ) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let all = of(&[left, right].concat());
            prop_assert_eq!(&merged.buckets, &all.buckets);
            let exact = |one: &LatencyHistogram| (one.totals.sum_ns, one.min_ns(), one.max_ns());
            prop_assert_eq!(exact(&merged), exact(&all));
        }

        #[test]
        fn a_merge_with_another_resolution_keeps_counts_and_nearly_all_of_the_values(
            values in proptest::collection::vec(1..HIGHEST_NS, 1..200),
        ) {
            let mut coarse = LatencyHistogram::coarse();
            values.iter().for_each(|value| coarse.record_many(*value, 1));
            let compact = CompactHistogram::from(&coarse);
            let [mut merged, mut unpacked] = [LatencyHistogram::fine(), LatencyHistogram::fine()];
            merged.merge(&coarse);
            unpacked.merge_compact(&compact);
            prop_assert_eq!(&merged.buckets, &unpacked.buckets);
            prop_assert_eq!(merged.count(), values.len() as u64);
            prop_assert_eq!(merged.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            let [exact, found] = [&of(&values), &merged].map(|one| one.quantile_ns(0.5).unwrap());
            prop_assert!((found as f64 / exact as f64 - 1.0).abs() < 0.01);
        }

        #[test]
        fn the_stored_form_loses_nothing(values in proptest::collection::vec(0..HIGHEST_NS * 2, 0..200)) {
            let histogram = of(&values);
            let text = serde_json::to_string(&histogram).unwrap();
            let back: LatencyHistogram = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back.buckets, &histogram.buckets);
            let exact = |one: &LatencyHistogram| (one.totals.sum_ns, one.min_ns(), one.max_ns());
            prop_assert_eq!(exact(&back), exact(&histogram));
        }
    }
}
