//! What a closed loop does not show: how long a request would wait that arrives at any moment.

use super::LatencyHistogram;

/// The share of time in which a request that arrives at a busy slot waits longer than `limit_ns`.
///
/// A closed loop sends nothing while it stalls, so that few operations see a stall that lasts long. Weighing each by
/// the time that it lasts beyond the limit repairs this: the sum of max(0, latency - limit) over the time of all
/// operations in flight together.
pub fn exposed_share(histogram: &LatencyHistogram, limit_ns: u64, in_flight: u32, elapsed_ns: u64) -> f64 {
    let time_ns = f64::from(in_flight.max(1)) * elapsed_ns as f64;
    let limit = limit_ns as f64;
    let beyond: f64 = histogram.buckets().map(|(latency, count)| (latency - limit).max(0.0) * count as f64).sum();
    if time_ns > 0.0 { (beyond / time_ns).min(1.0) } else { 0.0 }
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
        let share = exposed_share(&histogram, 10_000_000, 1, 60_000_000_000);
        assert!((share - 0.99 / 60.0).abs() < 1e-4, "{share}");
        // Of the operations, one in 59,001 took so long.
        assert!(share > 900.0 / 59_001.0);
    }

    proptest! {
        #[test]
        fn a_longer_limit_exposes_less(
            latencies in proptest::collection::vec(1..1_000_000_000_u64, 1..99),
            limit in 0..1_000_000_000_u64,
        ) {
            let mut histogram = LatencyHistogram::fine();
            latencies.iter().for_each(|latency| histogram.record_many(*latency, 1));
            let elapsed_ns = latencies.iter().sum();
            let share = exposed_share(&histogram, limit, 1, elapsed_ns);
            prop_assert!((0.0..=1.0).contains(&share));
            prop_assert!(exposed_share(&histogram, limit * 2, 1, elapsed_ns) <= share);
        }
    }
}
