//! Two kinds of operations in one latency distribution: those that a cache answered, and those that it did not.

use crate::latency::LatencyHistogram;

/// Bins over a factor of ten: wide enough that chance makes no valleys, narrow enough to tell modes apart.
const BINS_PER_DECADE: f64 = 12.0;
/// The share of operations that a mode has at least.
const SHARE_MIN: f64 = 0.01;
/// How many that are at least: a few that were slow are outliers, and no kind.
const COUNT_MIN: f64 = 30.0;
/// The valley, as a share of the smaller peak, at most.
const VALLEY_MAX: f64 = 0.5;
/// Ashman's D at least: the distance of the modes in units of their width.
const DISTANCE_MIN: f64 = 2.0;
/// The ratio of the typical latencies at least.
const RATIO_MIN: f64 = 4.0;

/// Two modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoModes {
    /// The share of operations below: of reads, about the hit ratio of a cache.
    pub fast_share: f64,
    /// The typical latency below; the geometric mean.
    pub fast_ns: f64,
    /// The typical latency above.
    pub slow_ns: f64,
    /// Ashman's D.
    pub distance: f64,
}

struct Class {
    weight: f64,
    mean: f64,
    variance: f64,
    peak: f64,
}

fn class(bins: &[f64], first: usize) -> Class {
    let weight: f64 = bins.iter().sum();
    let moment = |power: &dyn Fn(f64) -> f64| {
        let sum: f64 = bins.iter().enumerate().map(|(bin, count)| count * power((first + bin) as f64)).sum();
        sum / weight
    };
    let mean = moment(&|bin| bin);
    Class {
        weight,
        mean,
        variance: moment(&|bin| (bin - mean) * (bin - mean)),
        peak: bins.iter().copied().fold(0.0, f64::max),
    }
}

/// Looks for two modes of the logarithm of latency, split where Otsu's rule says.
pub fn two_modes(histogram: &LatencyHistogram) -> Option<TwoModes> {
    let bins = bins(histogram);
    let total: f64 = bins.iter().sum();
    let (fast, slow) = (1..bins.len())
        .map(|split| (class(&bins[..split], 0), class(&bins[split..], split)))
        .filter(|(fast, slow)| fast.weight > 0.0 && slow.weight > 0.0)
        .max_by(|left, right| between(left).total_cmp(&between(right)))?;
    let distance = 2.0_f64.sqrt() * (slow.mean - fast.mean) / (fast.variance + slow.variance).sqrt().max(1e-9);
    let fast_ns = latency_of(fast.mean);
    let slow_ns = latency_of(slow.mean);
    let found = fast.weight.min(slow.weight) >= COUNT_MIN.max(SHARE_MIN * total)
        && valley(&bins, &fast, &slow) <= VALLEY_MAX * fast.peak.min(slow.peak)
        && distance > DISTANCE_MIN
        && slow_ns > RATIO_MIN * fast_ns;
    found.then(|| TwoModes { fast_share: fast.weight / total, fast_ns, slow_ns, distance })
}

/// The variance between the classes, which Otsu's rule maximises.
fn between((fast, slow): &(Class, Class)) -> f64 {
    fast.weight * slow.weight * (slow.mean - fast.mean).powi(2)
}

/// The emptiest bin between the typical latencies.
fn valley(bins: &[f64], fast: &Class, slow: &Class) -> f64 {
    let between = fast.mean.round() as usize..=slow.mean.round() as usize;
    bins[between].iter().copied().fold(f64::INFINITY, f64::min)
}

fn bins(histogram: &LatencyHistogram) -> Vec<f64> {
    let mut bins = Vec::new();
    for (latency_ns, count) in histogram.buckets() {
        let bin = (latency_ns.max(1.0).log10() * BINS_PER_DECADE).round() as usize;
        if bins.len() <= bin {
            bins.resize(bin + 1, 0.0);
        }
        bins[bin] += count as f64;
    }
    bins
}

fn latency_of(bin: f64) -> f64 {
    10.0_f64.powf(bin / BINS_PER_DECADE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Latencies around `typical_ns` with this spread of their logarithm.
    fn add(histogram: &mut LatencyHistogram, typical_ns: f64, spread: f64, count: usize) {
        let mut random = Random::new(count as u64);
        for _ in 0..count {
            let deviate: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            histogram.record_many((typical_ns * (spread * deviate).exp()) as u64, 1);
        }
    }

    #[test]
    fn a_cache_in_front_of_a_disk_makes_two_modes() {
        let mut histogram = LatencyHistogram::fine();
        add(&mut histogram, 1_500.0, 0.2, 3000);
        add(&mut histogram, 90_000.0, 0.3, 7000);
        let modes = two_modes(&histogram).unwrap();
        assert!((modes.fast_share - 0.3).abs() < 0.01);
        assert!((modes.fast_ns / 1_500.0 - 1.0).abs() < 0.1 && (modes.slow_ns / 90_000.0 - 1.0).abs() < 0.1);
    }

    #[test]
    fn one_mode_however_wide_is_not_two() {
        for spread in [0.05, 0.3, 1.0] {
            let mut histogram = LatencyHistogram::fine();
            add(&mut histogram, 90_000.0, spread, 20_000);
            assert_eq!(two_modes(&histogram), None, "{spread}");
        }
        assert_eq!(two_modes(&LatencyHistogram::fine()), None);
    }

    #[test]
    fn close_modes_and_rare_ones_are_not_told() {
        let with = |typical_ns: f64, count: usize| {
            let mut histogram = LatencyHistogram::fine();
            add(&mut histogram, 10_000.0, 0.1, 10_000);
            add(&mut histogram, typical_ns, 0.1, count);
            two_modes(&histogram)
        };
        assert_eq!(with(25_000.0, 5000), None);
        assert_eq!(with(900_000.0, 50), None);
        assert!(with(900_000.0, 500).is_some());

        let of = |count: usize| {
            let mut histogram = LatencyHistogram::fine();
            add(&mut histogram, 10_000.0, 0.1, count);
            add(&mut histogram, 900_000.0, 0.1, count);
            two_modes(&histogram)
        };
        assert_eq!(of(29), None);
        assert!(of(1000).is_some());
    }
}
