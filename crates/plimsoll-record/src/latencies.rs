//! How sure percentiles are, and what a closed loop's percentiles hide.

use plimsoll_measure::latency::{
    CompactHistogram, LatencyHistogram, Percentile,
    exposure::exposed_share,
    percentile_interval::{Clustering, Clusters, TooFewClusters},
};
use serde::{Deserialize, Serialize};

use crate::{numbers, results::PERCENTILES};

/// The latencies that [`Exposed`] is told for.
const LIMITS_NS: [u64; 4] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// How far a percentile may be off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyInterval {
    /// Which one, by its name in `latency_ns`.
    pub percentile: String,
    /// Lower end of its 95 % interval.
    pub low_ns: u64,
    /// Upper end; null when the run is too short to establish one. The percentile is at least what it is then, and may
    /// be longer.
    pub high_ns: Option<u64>,
    /// Operations in buckets above the percentile's.
    pub exceedances: u64,
    /// How many operations say as much as one that is independent of all others.
    pub design_effect: f64,
    /// About how long the measured time would have to be for an upper end, when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_seconds: Option<f64>,
}

/// What a request meets that arrives at any moment, where a closed loop would not have sent one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exposed {
    /// A latency.
    pub limit_ns: u64,
    /// The probability to wait longer than that at a place in the queue that is taken.
    pub share: f64,
}

/// The intervals of the percentiles that a distribution supports, by how its parts differ; or why there are none.
pub(crate) fn intervals(
    all: &LatencyHistogram,
    parts: &[&CompactHistogram],
    clustering: Clustering,
    elapsed_ns: u64,
) -> Result<Vec<LatencyInterval>, String> {
    let clusters = Clusters::new(all, parts, clustering).map_err(|TooFewClusters { needed, have }| {
        match clustering {
            Clustering::Spaced => format!("needs {needed} slots, had {have}"),
            // The last second may have been a part of one.
            Clustering::Contiguous => {
                let had_ns = elapsed_ns.min(have as u64 * 1_000_000_000);
                let had = if had_ns == 0 { "0".to_owned() } else { numbers::duration(had_ns) };
                format!("needs {needed} measured seconds, had {had}")
            }
        }
    })?;
    let interval = |(name, quantile): (&str, f64)| {
        let found = clusters.percentile(quantile)?;
        matches!(all.percentile(quantile), Percentile::Supported(_)).then(|| LatencyInterval {
            percentile: name.to_owned(),
            low_ns: found.low_ns,
            high_ns: found.high_ns,
            exceedances: found.exceedances,
            design_effect: found.design_effect,
            needed_seconds: found.needed_seconds(elapsed_ns as f64 / 1e9),
        })
    };
    let mut intervals: Vec<LatencyInterval> = PERCENTILES.into_iter().filter_map(interval).collect();
    in_order(&mut intervals);
    if intervals.is_empty() { Err("too few operations for any percentile".to_owned()) } else { Ok(intervals) }
}

/// What is known of a percentile is known of its neighbours: a higher one is not below the lower end of this one, and
/// this one not above the upper end of a higher one.
fn in_order(intervals: &mut [LatencyInterval]) {
    let mut high_ns: Option<u64> = None;
    for interval in intervals.iter_mut().rev() {
        high_ns = [high_ns, interval.high_ns].into_iter().flatten().min();
        interval.high_ns = high_ns;
        if high_ns.is_some() {
            interval.needed_seconds = None;
        }
    }
    let mut low_ns = 0;
    for interval in intervals {
        low_ns = interval.low_ns.max(low_ns);
        interval.low_ns = low_ns;
    }
}

/// What requests meet that arrive at any moment, for each of some latencies; nothing when nothing was measured.
pub(crate) fn exposed(histograms: &[&LatencyHistogram]) -> Vec<Exposed> {
    if histograms.iter().all(|histogram| histogram.count() == 0) {
        return Vec::new();
    }
    LIMITS_NS.map(|limit_ns| Exposed { limit_ns, share: exposed_share(histograms, limit_ns) }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_second_is_not_called_a_second() {
        let mut all = LatencyHistogram::coarse();
        all.record_many(1000, 5);
        let second = CompactHistogram::from(&all);
        let why = |parts: &[&CompactHistogram], elapsed_ns| {
            intervals(&all, parts, Clustering::Contiguous, elapsed_ns).unwrap_err()
        };
        assert_eq!(why(&[&second], 300_000_000), "needs 24 measured seconds, had 300 ms");
        assert_eq!(why(&[&second; 3], 3_000_000_001), "needs 24 measured seconds, had 3.00 s");
        assert_eq!(why(&[], 300_000_000), "needs 24 measured seconds, had 0");
    }

    #[test]
    fn what_has_an_end_by_its_neighbour_needs_no_more_time() {
        let interval = |percentile: &str, high_ns, needed_seconds| LatencyInterval {
            percentile: percentile.to_owned(),
            low_ns: 1,
            high_ns,
            exceedances: 0,
            design_effect: 1.0,
            needed_seconds,
        };
        let mut intervals =
            [interval("p95", None, Some(9.0)), interval("p99", Some(7), None), interval("p99_9", None, Some(90.0))];
        in_order(&mut intervals);
        let ends = intervals.map(|interval| (interval.high_ns, interval.needed_seconds));
        assert_eq!(ends, [(Some(7), None), (Some(7), None), (None, Some(90.0))]);
    }
}
