//! How far a percentile may be off: Woodruff's interval with slots or seconds as clusters.
//!
//! Operations are not independent: a stall hits all that are in flight. So the error comes from how the share of slow
//! operations differs between slots, and from nothing finer.

use super::LatencyHistogram;
use crate::{
    series::{half_width::multi_scale, moments::variance},
    student::quantile_975,
};

/// Clusters that an interval needs: visits ...
const SPACED_MIN: usize = 3;
/// ... and seconds in one piece.
const CONTIGUOUS_MIN: usize = 24;
/// Batches that the coarsest scale of seconds in one piece has at least.
const BATCHES_MIN: usize = 12;
/// Exceedances below which a percentile is not worth printing.
pub const EXCEEDANCES_MIN: u64 = 10;

/// How clusters follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// With other things in between: they are independent.
    Spaced,
    /// Directly: neighbours resemble each other.
    Contiguous,
}

/// A percentile with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileInterval {
    /// Which one, as in 0.99.
    pub quantile: f64,
    /// Its lower limit.
    pub low_ns: u64,
    /// The percentile.
    pub point_ns: u64,
    /// Its upper limit; absent when the run is too short to establish one.
    pub high_ns: Option<u64>,
    /// Operations that took longer than the percentile.
    pub exceedances: u64,
    /// How many dependent operations say as much as one independent one.
    pub design_effect: f64,
    /// Operations.
    pub count: u64,
}

impl PercentileInterval {
    /// Whether the percentile is worth printing at all; otherwise the longest latency and the exceedances are.
    pub const fn is_supported(&self) -> bool {
        self.exceedances >= EXCEEDANCES_MIN
    }

    /// How long the measured time would have to be for an upper limit, when it was this long.
    pub fn needed_seconds(&self, measured_seconds: f64) -> f64 {
        let independent = 0.025_f64.ln() / self.quantile.ln();
        measured_seconds * self.design_effect.max(1.0) * independent / self.count as f64
    }
}

/// Distributions of the clusters of a run, and their sum.
#[derive(Clone, Debug)]
pub struct Clusters<'a> {
    parts: &'a [&'a LatencyHistogram],
    clustering: Clustering,
    all: LatencyHistogram,
}

impl<'a> Clusters<'a> {
    /// Clusters of the same resolution, in the order of time; `None` when there are too few, or nothing was counted.
    pub fn new(parts: &'a [&'a LatencyHistogram], clustering: Clustering) -> Option<Self> {
        let needed = match clustering {
            Clustering::Spaced => SPACED_MIN,
            Clustering::Contiguous => CONTIGUOUS_MIN,
        };
        let (first, rest) = parts.split_first().filter(|_| parts.len() >= needed)?;
        let mut all = (*first).clone();
        rest.iter().for_each(|part| all.merge(part));
        (all.count() > 0).then_some(Self { parts, clustering, all })
    }

    /// A percentile and its interval.
    pub fn percentile(&self, quantile: f64) -> Option<PercentileInterval> {
        let count = self.all.count() as f64;
        let point_ns = self.all.quantile_ns(quantile)?;
        let exceeding = 1.0 - quantile;
        // Many operations may share the bucket of the percentile. Both sides of it are looked at.
        let above = self.half_width(&|part| part.count_above(point_ns));
        let from = self.half_width(&|part| part.count_above(point_ns.saturating_sub(bucket_width(point_ns))));
        let independent = (exceeding.max(1.0 / count) * quantile / count).sqrt() * 1.96;
        let half_width = above.max(from).max(independent);
        let at = |share: f64| self.all.quantile_ns(share.clamp(0.0, 1.0));
        let has_upper_limit = (exceeding - half_width) * count >= 1.0;
        Some(PercentileInterval {
            quantile,
            low_ns: at(quantile - half_width)?,
            point_ns,
            high_ns: if has_upper_limit { at(quantile + half_width) } else { None },
            exceedances: self.all.count_above(point_ns),
            design_effect: (half_width / independent).powi(2),
            count: self.all.count(),
        })
    }

    /// Half of the interval of the share of operations that `exceeding` counts.
    fn half_width(&self, exceeding: &dyn Fn(&LatencyHistogram) -> u64) -> f64 {
        let total = self.all.count() as f64;
        let share = exceeding(&self.all) as f64 / total;
        let residual = |part: &&LatencyHistogram| exceeding(part) as f64 - share * part.count() as f64;
        let residuals: Vec<f64> = self.parts.iter().map(residual).collect();
        let clusters = residuals.len() as f64;
        let of_mean = match self.clustering {
            Clustering::Spaced => quantile_975(clusters - 1.0) * (variance(&residuals) / clusters).sqrt(),
            Clustering::Contiguous => multi_scale(&residuals, BATCHES_MIN),
        };
        of_mean * clusters / total
    }
}

/// A little more than the width of a bucket of the finer resolution.
const fn bucket_width(latency_ns: u64) -> u64 {
    latency_ns / 1000 + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
    }

    /// Slots of operations whose level differs from slot to slot, with stalls that hit all sixteen in flight.
    fn slots(random: &mut Random, count: usize) -> Vec<LatencyHistogram> {
        let slot = |random: &mut Random| {
            let mut histogram = LatencyHistogram::fine();
            let level = 1e6 * (0.2 * normal(random)).exp();
            for _ in 0..1000 {
                histogram.record_many((level * (0.3 * normal(random)).exp()) as u64, 1);
            }
            if random.unit() < 0.3 {
                histogram.record_many((2e7 * random.unit().powf(-0.66)) as u64, 16);
            }
            histogram
        };
        (0..count).map(|_| slot(random)).collect()
    }

    fn interval(slots: &[LatencyHistogram], quantile: f64) -> PercentileInterval {
        let parts: Vec<&LatencyHistogram> = slots.iter().collect();
        Clusters::new(&parts, Clustering::Spaced).unwrap().percentile(quantile).unwrap()
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_promise() {
        let mut random = Random::new(1);
        let many = slots(&mut random, 3000);
        let quantiles = [0.5, 0.9, 0.99];
        let truths = quantiles.map(|quantile| interval(&many, quantile).point_ns);
        for (quantile, truth) in quantiles.into_iter().zip(truths) {
            let covers = |found: &PercentileInterval| {
                found.low_ns <= truth && found.high_ns.is_none_or(|high_ns| truth <= high_ns)
            };
            let runs: Vec<PercentileInterval> = (0..150).map(|_| interval(&slots(&mut random, 12), quantile)).collect();
            let covered = runs.iter().filter(|found| covers(found)).count();
            assert!(covered >= 132, "p{}: {covered} of 150", 100.0 * quantile);
            let finite = runs.iter().filter(|found| found.high_ns.is_some()).count();
            assert!(quantile > 0.95 || finite >= 135, "p{}: {finite} of 150", 100.0 * quantile);
        }
    }

    #[test]
    fn one_stall_makes_no_upper_limit_of_a_far_percentile() {
        let found = interval(&slots(&mut Random::new(2), 12), 0.9999);
        assert_eq!(found.high_ns, None);
        assert!(!found.is_supported());
        assert!(found.needed_seconds(60.0) > 60.0);
    }

    #[test]
    fn operations_of_one_latency_have_exact_percentiles() {
        let mut slot = LatencyHistogram::fine();
        slot.record_many(1_000_000, 5000);
        let found = interval(&[slot.clone(), slot.clone(), slot], 0.5);
        assert_eq!((found.low_ns, found.high_ns), (1_000_000, Some(1_000_000)));
    }

    #[test]
    fn few_clusters_have_no_interval() {
        let slots = slots(&mut Random::new(3), 23);
        let parts: Vec<&LatencyHistogram> = slots.iter().collect();
        assert!(Clusters::new(&parts[..2], Clustering::Spaced).is_none());
        assert!(Clusters::new(&parts, Clustering::Contiguous).is_none());
        assert!(Clusters::new(&[], Clustering::Spaced).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn limits_enclose_the_percentile(seed: u64, quantile in 0.01..0.9999_f64, count in 3..20_usize) {
            let found = interval(&slots(&mut Random::new(seed), count), quantile);
            prop_assert!(found.low_ns <= found.point_ns);
            prop_assert!(found.high_ns.is_none_or(|high_ns| found.point_ns <= high_ns));
            prop_assert!(found.design_effect >= 1.0 - 1e-9);
        }
    }
}
