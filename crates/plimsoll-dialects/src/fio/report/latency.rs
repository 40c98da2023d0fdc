//! Latencies as fio tells them: classes, percentiles, and the buckets of its histograms.

use plimsoll_measure::latency::LatencyHistogram;

/// Upper ends of the classes of nanoseconds and of microseconds.
pub(super) const CLASSES: [&str; 10] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];

/// Upper ends of the classes of milliseconds.
pub(super) const MILLISECOND_CLASSES: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// Where the class of a number begins to be another one.
const ENDS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// Percent of the latencies in each class.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Classes {
    /// Below a microsecond.
    pub(super) nanoseconds: [f64; 10],
    /// Below a millisecond.
    pub(super) microseconds: [f64; 10],
    /// From there.
    pub(super) milliseconds: [f64; 12],
}

impl Classes {
    /// The classes of several distributions together.
    pub(super) fn of<'a>(histograms: impl IntoIterator<Item = &'a LatencyHistogram>) -> Self {
        let (mut classes, mut total) = (Self::default(), 0.0);
        for (middle_ns, count) in histograms.into_iter().flat_map(LatencyHistogram::buckets) {
            let (ns, count) = (middle_ns as u64, count as f64);
            total += count;
            match ns {
                0..1000 => classes.nanoseconds[class(ns)] += count,
                1000..1_000_000 => classes.microseconds[class(ns / 1000)] += count,
                _ => classes.milliseconds[class(ns / 1_000_000)] += count,
            }
        }
        for share in classes.nanoseconds.iter_mut().chain(&mut classes.microseconds).chain(&mut classes.milliseconds) {
            *share = percent(*share, total, 0.01);
        }
        classes
    }
}

fn class(number: u64) -> usize {
    ENDS.iter().position(|end| number < *end).unwrap_or(ENDS.len())
}

/// A part as a percentage, where what is not nothing is shown as at least the least.
pub(super) fn percent(part: f64, whole: f64, least: f64) -> f64 {
    if part > 0.0 && whole > 0.0 { (part / whole * 100.0).max(least) } else { 0.0 }
}

/// The percentages of a list with their latencies, from short to long; as in fio, a zero ends the list.
pub(super) fn percentiles(histogram: &LatencyHistogram, percentages: &[f64]) -> Vec<(f64, u64)> {
    let mut listed: Vec<f64> = percentages.iter().copied().take_while(|percentage| *percentage > 0.0).collect();
    listed.sort_by(f64::total_cmp);
    listed.into_iter().filter_map(|listed| Some((listed, histogram.quantile_ns(listed / 100.0)?))).collect()
}

const BUCKET_BITS: u32 = 6;
/// Buckets of a line of a histogram log.
pub(super) const BUCKETS: usize = 29 << BUCKET_BITS;

/// The counts in the buckets of a histogram log; what is longer than the last one, from 17 seconds, falls in it.
pub(super) fn log_buckets(histogram: &LatencyHistogram) -> Vec<u64> {
    let mut buckets = vec![0_u64; BUCKETS];
    for (middle_ns, count) in histogram.buckets() {
        let bucket = &mut buckets[bucket(middle_ns as u64)];
        *bucket = bucket.saturating_add(count);
    }
    buckets
}

/// Below 128 each number has its bucket, and from there each doubling has 64.
fn bucket(ns: u64) -> usize {
    let dropped = ns.max(1).ilog2().saturating_sub(BUCKET_BITS);
    let index = ((dropped as usize) << BUCKET_BITS) + (ns >> dropped) as usize;
    if index < BUCKETS { index } else { BUCKETS - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u64, u64)]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::fine();
        values.iter().for_each(|(ns, count)| histogram.record_many(*ns, *count));
        histogram
    }

    #[test]
    fn a_class_holds_what_is_below_its_name() {
        let classes = Classes::of([&of(&[(1, 1), (2, 1), (999, 2)]), &of(&[(1000, 2), (1999, 2), (3_000_000_000, 2)])]);
        let whole = |shares: &[f64]| shares.iter().map(|share| share.round() as u64).collect::<Vec<_>>();
        assert_eq!(whole(&classes.nanoseconds), [10, 10, 0, 0, 0, 0, 0, 0, 0, 20]);
        assert_eq!(whole(&[classes.microseconds[0], classes.milliseconds[11]]), [40, 20]);
        assert_eq!(Classes::of([]), Classes::default());
    }

    #[test]
    fn one_in_a_million_is_not_nothing() {
        let classes = Classes::of([&of(&[(15_000, 999_999), (15_000_000, 1)])]);
        assert!((classes.milliseconds[3] - 0.01).abs() < 1e-9, "{classes:?}");
        assert!(percent(0.0, 5.0, 0.1).abs() < 1e-9);
    }

    #[test]
    fn percentiles_beyond_17_seconds_are_told() {
        let histogram = of(&[(1_000_000, 50), (94_400_000_000, 50)]);
        let told = percentiles(&histogram, &[99.0, 50.0]);
        assert_eq!((told[0].0, told[1].0), (50.0, 99.0));
        assert!(told[0].1.abs_diff(1_000_000) < 1000 && told[1].1.abs_diff(94_400_000_000) < 94_400_000, "{told:?}");
    }

    #[test]
    fn a_zero_ends_the_list_of_percentiles() {
        assert_eq!(percentiles(&of(&[(5, 5)]), &[50.0, 0.0, 99.0]), [(50.0, 5)]);
        assert!(percentiles(&of(&[]), &[50.0]).is_empty());
    }

    /// Bucket numbers worked out from the definition in the documentation of fio's histogram logs.
    #[test]
    fn buckets_are_those_of_histogram_logs() {
        for (ns, index) in [(0, 0), (127, 127), (128, 128), (129, 128), (130, 129), (255, 191), (256, 192)] {
            assert_eq!(bucket(ns), index, "{ns}");
        }
        assert_eq!(bucket((1 << 34) - 1), BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(log_buckets(&of(&[(100, 3), (3_600_000_000_000, 2)])).iter().sum::<u64>(), 5);
    }
}
