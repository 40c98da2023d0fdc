//! What a closed loop does not show: how long a request would wait that arrives at any moment.

use super::LatencyHistogram;

/// The probability that a request which arrives at any moment at a busy place in the queue waits longer than
/// `limit_ns`; 0 when nothing was measured.
///
/// A closed loop sends nothing while it stalls, so that few operations see a stall that lasts long. Weighing each by
/// the time that it lasts beyond the limit repairs this: the sum of max(0, latency - limit) over the time that all
/// operations took together, which in a closed loop is the places in the queue times the measured time.
pub fn exposed_share(histograms: &[&LatencyHistogram], limit_ns: u64) -> f64 {
    let limit = limit_ns as f64;
    let beyond = |histogram: &&LatencyHistogram| -> f64 {
        histogram.buckets().map(|(latency, count)| (latency - limit).max(0.0) * count as f64).sum()
    };
    let time_ns: f64 = histograms.iter().map(|histogram| histogram.totals.sum_ns as f64).sum();
    let beyond_ns: f64 = histograms.iter().map(beyond).sum();
    if time_ns > 0.0 { (beyond_ns / time_ns).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_stall_of_a_second_in_a_minute_exposes_a_sixtieth() {
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(1_000_000, 59_000);
        histogram.record_many(1_000_000_000, 1);
        let share = exposed_share(&[&histogram], 10_000_000);
        assert!((share - 0.99 / 60.0).abs() < 1e-4, "{share}");
        // Of the operations, one in 59,001 took so long.
        assert!(share > 900.0 / 59_001.0);
        // Sixteen places in the queue that stall together expose as much as one.
        let mut deep = LatencyHistogram::fine();
        deep.record_many(1_000_000, 16 * 59_000);
        deep.record_many(1_000_000_000, 16);
        assert!((exposed_share(&[&deep], 10_000_000) - share).abs() < 1e-9);
        assert!((exposed_share(&[&deep, &histogram], 10_000_000) - share).abs() < 1e-9);
    }

    #[test]
    fn nothing_measured_exposes_nothing() {
        assert!(exposed_share(&[&LatencyHistogram::fine()], 1) < f64::MIN_POSITIVE);
    }

    proptest! {
        #[test]
        fn a_longer_limit_exposes_less(
            latencies in proptest::collection::vec(1..1_000_000_000_u64, 1..99),
            limit in 0..1_000_000_000_u64,
        ) {
            let mut histogram = LatencyHistogram::fine();
            latencies.iter().for_each(|latency| histogram.record_many(*latency, 1));
            let share = exposed_share(&[&histogram], limit);
            prop_assert!((0.0..=1.0).contains(&share));
            prop_assert!(exposed_share(&[&histogram], limit * 2) <= share);
        }
    }
}
