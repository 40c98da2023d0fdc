//! Histograms as bytes, as logs of pods have them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_measure::latency::LatencyHistogram;

fuzz_target!(|bytes: &[u8]| {
    let Some(histogram) = LatencyHistogram::from_bytes(bytes) else { return };
    let written = histogram.to_bytes();
    let again = LatencyHistogram::from_bytes(&written).expect("a written histogram reads back");
    assert_eq!(again.to_bytes(), written);
    // Whatever it says of itself, it takes part in sums.
    let mut sum = histogram.clone();
    sum.merge(&again);
    assert!(sum.count() >= histogram.count());
    for share in [0.0, 0.5, 0.999, 1.0] {
        let _ = (sum.quantile_ns(share), sum.percentile(share), sum.stddev_ns());
    }
});
