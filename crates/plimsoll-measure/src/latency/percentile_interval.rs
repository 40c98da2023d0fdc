//! How far a percentile may be off: Woodruff's interval with slots or seconds as clusters.
//!
//! Operations are not independent: a stall hits all that are in flight. So the error comes from how the share of slow
//! operations differs between slots, and from nothing finer.

use super::{CompactHistogram, LatencyHistogram};
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

/// How clusters follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clustering {
    /// With other things in between: they are independent.
    Spaced,
    /// Directly: neighbours resemble each other.
    Contiguous,
}

/// There are not enough clusters to tell how they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewClusters {
    /// Clusters there would have to be.
    pub needed: usize,
    /// Clusters there are.
    pub have: usize,
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
    /// Half of the interval of the share of operations that the percentile divides off.
    pub half_width: f64,
}

impl PercentileInterval {
    /// How long the measured time would have to be for an upper limit, when it was this long; `None` when there is one.
    ///
    /// The interval of the share narrows with the root of the time. There is an upper limit once an operation lies
    /// beyond it, so the factor sought is the square of `x` in `exceeding * x^2 - half_width * x = 1 / count`.
    pub fn needed_seconds(&self, measured_seconds: f64) -> Option<f64> {
        let exceeding = 1.0 - self.quantile;
        let root = self.half_width.mul_add(self.half_width, 4.0 * exceeding / self.count as f64).sqrt();
        let factor = (self.half_width + root) / (2.0 * exceeding);
        self.high_ns.is_none().then_some(measured_seconds * factor * factor)
    }
}

/// The distribution of a run, and those of its clusters.
#[derive(Clone, Debug)]
pub struct Clusters<'a> {
    all: &'a LatencyHistogram,
    parts: &'a [&'a CompactHistogram],
    clustering: Clustering,
}

impl<'a> Clusters<'a> {
    /// A distribution and what it is the sum of, in the order of time. The parts may be coarser, and need not hold each
    /// and every operation.
    pub fn new(
        all: &'a LatencyHistogram,
        parts: &'a [&'a CompactHistogram],
        clustering: Clustering,
    ) -> Result<Self, TooFewClusters> {
        let needed = match clustering {
            Clustering::Spaced => SPACED_MIN,
            Clustering::Contiguous => CONTIGUOUS_MIN,
        };
        if parts.len() < needed {
            return Err(TooFewClusters { needed, have: parts.len() });
        }
        Ok(Self { all, parts, clustering })
    }

    /// A percentile and its interval; `None` when nothing was counted.
    pub fn percentile(&self, quantile: f64) -> Option<PercentileInterval> {
        let count = self.all.count() as f64;
        let point_ns = self.all.quantile_ns(quantile)?;
        let exceeding = 1.0 - quantile;
        // Many operations may share the bucket of the percentile. Both sides of it are looked at.
        let above = self.half_width(point_ns)?;
        let from = self.half_width(self.bounds(point_ns).0.saturating_sub(1))?;
        let independent = (exceeding.max(1.0 / count) * quantile / count).sqrt() * 1.96;
        let half_width = above.max(from).max(independent);
        let at = |share: f64| self.all.quantile_ns(share.clamp(0.0, 1.0));
        let has_upper_limit = (exceeding - half_width) * count >= 1.0;
        let (min_ns, max_ns) = (self.all.min_ns()?, self.all.max_ns()?);
        Some(PercentileInterval {
            quantile,
            // What parts do not tell apart, the interval does not claim to.
            low_ns: self.bounds(at(quantile - half_width)?).0.max(min_ns),
            point_ns,
            high_ns: match at(quantile + half_width) {
                Some(high_ns) if has_upper_limit => Some(self.bounds(high_ns).1.min(max_ns)),
                _ => None,
            },
            exceedances: self.all.count_above(point_ns),
            design_effect: (half_width / independent).powi(2),
            count: self.all.count(),
            half_width,
        })
    }

    /// The lowest and the highest latency that the parts do not tell from this one.
    fn bounds(&self, latency_ns: u64) -> (u64, u64) {
        self.parts.first().map_or((latency_ns, latency_ns), |part| part.bounds(latency_ns))
    }

    /// Half of the interval of the share of operations that take longer than this; `None` when the parts have none.
    fn half_width(&self, latency_ns: u64) -> Option<f64> {
        let exceeding: Vec<f64> = self.parts.iter().map(|part| part.count_above(latency_ns) as f64).collect();
        let total: f64 = self.parts.iter().map(|part| part.count() as f64).sum();
        let share = exceeding.iter().sum::<f64>() / total;
        let residual = |(part, exceeding): (&&CompactHistogram, &f64)| exceeding - share * part.count() as f64;
        let residuals: Vec<f64> = self.parts.iter().zip(&exceeding).map(residual).collect();
        let clusters = residuals.len() as f64;
        let of_mean = match self.clustering {
            Clustering::Spaced => quantile_975(clusters - 1.0) * (variance(&residuals) / clusters).sqrt(),
            Clustering::Contiguous => multi_scale(&residuals, BATCHES_MIN),
        };
        (total > 0.0).then_some(of_mean * clusters / total)
    }
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

    fn clustered(slots: &[LatencyHistogram], clustering: Clustering, quantile: f64) -> Option<PercentileInterval> {
        let mut all = LatencyHistogram::fine();
        slots.iter().for_each(|slot| all.merge(slot));
        let parts: Vec<CompactHistogram> = slots.iter().map(CompactHistogram::from).collect();
        let parts: Vec<&CompactHistogram> = parts.iter().collect();
        Clusters::new(&all, &parts, clustering).ok()?.percentile(quantile)
    }

    fn interval(slots: &[LatencyHistogram], quantile: f64) -> PercentileInterval {
        clustered(slots, Clustering::Spaced, quantile).unwrap()
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_promise() {
        let mut random = Random::new(1);
        let many = slots(&mut random, 3000);
        let quantiles = [0.5, 0.9, 0.99, 0.999, 0.9999];
        let truths = quantiles.map(|quantile| interval(&many, quantile).point_ns);
        for (quantile, truth) in quantiles.into_iter().zip(truths) {
            let covers = |found: &PercentileInterval| {
                found.low_ns <= truth && found.high_ns.is_none_or(|high_ns| truth <= high_ns)
            };
            let runs: Vec<PercentileInterval> = (0..150).map(|_| interval(&slots(&mut random, 12), quantile)).collect();
            let covered = runs.iter().filter(|found| covers(found)).count();
            assert!(covered >= 135, "p{}: {covered} of 150", 100.0 * quantile);
            let finite = runs.iter().filter(|found| found.high_ns.is_some()).count();
            assert!(quantile > 0.95 || finite >= 135, "p{}: {finite} of 150", 100.0 * quantile);
        }
    }

    #[test]
    fn one_stall_makes_no_upper_limit_of_a_far_percentile() {
        let found = interval(&slots(&mut Random::new(2), 12), 0.9999);
        assert_eq!(found.high_ns, None);
        assert!(found.needed_seconds(60.0).unwrap() > 60.0);
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
        assert_eq!(clustered(&slots[..2], Clustering::Spaced, 0.5), None);
        assert_eq!(clustered(&slots, Clustering::Contiguous, 0.5), None);
        let refused = Clusters::new(&slots[0], &[], Clustering::Contiguous).unwrap_err();
        assert_eq!(refused, TooFewClusters { needed: 24, have: 0 });
    }

    /// Seconds keep two digits, and miss what was in flight at the end; a run keeps three, and misses nothing.
    #[test]
    fn seconds_that_know_less_than_the_run_widen_its_interval() {
        let mut random = Random::new(4);
        let mut all = LatencyHistogram::fine();
        let seconds: Vec<CompactHistogram> = (0..60)
            .map(|_| {
                let mut second = LatencyHistogram::coarse();
                for _ in 0..500 {
                    let latency_ns = (1e6 * (0.3 * normal(&mut random)).exp()) as u64;
                    all.record_many(latency_ns, 1);
                    second.record_many(latency_ns, 1);
                }
                CompactHistogram::from(&second)
            })
            .collect();
        let seconds: Vec<&CompactHistogram> = seconds.iter().collect();
        let interval = |all: &LatencyHistogram| {
            Clusters::new(all, &seconds, Clustering::Contiguous).unwrap().percentile(0.5).unwrap()
        };
        let whole = interval(&all);
        assert!(whole.low_ns < 1_000_000 && whole.high_ns.is_some_and(|high_ns| high_ns > 1_000_000), "{whole:?}");
        all.record_many(1_000_000_000, 1);
        assert_eq!(interval(&all).exceedances, whole.exceedances + 1);
    }

    #[test]
    fn a_stall_in_one_slot_of_many_widens_the_interval() {
        let mut slots: Vec<LatencyHistogram> = (0..12).map(|_| LatencyHistogram::fine()).collect();
        for slot in &mut slots {
            (0..5000).for_each(|step| slot.record_many(1_000_000 + 100 * step, 1));
        }
        let calm = interval(&slots, 0.999);
        slots[7].record_many(400_000_000, 64);
        let stalled = interval(&slots, 0.999);
        assert!(calm.high_ns.is_some() && calm.needed_seconds(60.0).is_none());
        assert_eq!(stalled.high_ns, None);
        assert!(stalled.low_ns < stalled.point_ns);
        assert!(stalled.design_effect > 10.0 * calm.design_effect);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn limits_enclose_the_percentile(seed: u64, quantile in 0.01..0.9999_f64, count in 3..20_usize) {
            let found = interval(&slots(&mut Random::new(seed), count), quantile);
            prop_assert!(found.low_ns <= found.point_ns);
            prop_assert!(found.high_ns.is_none_or(|high_ns| found.point_ns <= high_ns));
            prop_assert!(found.design_effect >= 1.0 - 1e-9);
            let needed = found.needed_seconds(60.0);
            prop_assert_eq!(needed.is_some(), found.high_ns.is_none());
            prop_assert!(needed.is_none_or(|needed| needed > 60.0));
        }

        #[test]
        fn more_of_the_same_narrows_the_interval(seed: u64, count in 3..12_usize) {
            let few = slots(&mut Random::new(seed), count);
            let many = [few.clone(), few.clone(), few.clone(), few.clone()].concat();
            let (few, many) = (interval(&few, 0.9), interval(&many, 0.9));
            prop_assert_eq!(few.point_ns, many.point_ns);
            prop_assert!(few.low_ns <= many.low_ns);
            prop_assert!(many.high_ns.is_some_and(|high_ns| few.high_ns.is_none_or(|wide_ns| high_ns <= wide_ns)));
        }

        #[test]
        fn the_order_of_slots_changes_nothing(seed: u64, quantile in 0.01..0.9999_f64, count in 3..20_usize) {
            let mut slots = slots(&mut Random::new(seed), count);
            let limits = |slots: &[LatencyHistogram]| {
                let found = interval(slots, quantile);
                (found.point_ns, found.low_ns, found.high_ns)
            };
            let found = limits(&slots);
            slots.reverse();
            prop_assert_eq!(found, limits(&slots));
        }
    }
}
