//! The latencies of each measured second of a slot, for the intervals of percentiles.

use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram};

/// Stretches that are kept of a slot: a longer slot keeps longer ones, so that a day takes no more memory than minutes.
const STRETCHES_MAX: usize = 1024;

/// Stretches of a second each; of two, four, ... when there would be too many.
#[derive(Debug)]
pub(crate) struct KeptSeconds {
    stretches: Vec<CompactHistogram>,
    /// Seconds of a stretch.
    length: u32,
    /// The stretch that is not over yet, and its seconds so far.
    unfinished: LatencyHistogram,
    seconds: u32,
}

impl Default for KeptSeconds {
    fn default() -> Self {
        Self { stretches: Vec::new(), length: 1, unfinished: LatencyHistogram::coarse(), seconds: 0 }
    }
}

impl KeptSeconds {
    /// Takes in the next second.
    pub(crate) fn add(&mut self, second: &LatencyHistogram) {
        self.unfinished.merge(second);
        self.seconds += 1;
        if self.seconds == self.length {
            self.finish();
        }
        if self.stretches.len() == STRETCHES_MAX {
            self.stretches = self.stretches.chunks(2).map(joined).collect();
            self.length *= 2;
        }
    }

    fn finish(&mut self) {
        self.stretches.push(CompactHistogram::from(&self.unfinished));
        self.unfinished.clear();
        self.seconds = 0;
    }

    /// All stretches; the last one may be shorter.
    pub(crate) fn into_stretches(mut self) -> Vec<CompactHistogram> {
        if self.seconds > 0 {
            self.finish();
        }
        self.stretches
    }
}

fn joined(neighbours: &[CompactHistogram]) -> CompactHistogram {
    let mut sum = LatencyHistogram::coarse();
    neighbours.iter().for_each(|part| sum.merge_compact(part));
    CompactHistogram::from(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(seconds: u64) -> Vec<u64> {
        let mut kept = KeptSeconds::default();
        for second in 0..seconds {
            let mut latencies = LatencyHistogram::coarse();
            latencies.record_many(1000 + second, second + 1);
            kept.add(&latencies);
        }
        kept.into_stretches().iter().map(CompactHistogram::count).collect()
    }

    #[test]
    fn a_long_slot_keeps_longer_stretches_and_loses_none() {
        assert_eq!(kept(3), [1, 2, 3]);
        let of_an_hour = kept(3601);
        assert!(of_an_hour.len() < STRETCHES_MAX, "{}", of_an_hour.len());
        assert_eq!(of_an_hour.iter().sum::<u64>(), 3601 * 3602 / 2);
        // Four seconds each: 900 of them fit.
        assert_eq!(of_an_hour[0], (1..=4).sum::<u64>());
    }
}
