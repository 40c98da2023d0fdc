//! What was done in a time.

use plimsoll_measure::latency::{LatencyHistogram, Percentile};
use plimsoll_record::{event::SlotResult, numbers, results::Interval};

/// What a cell did in a second of load, or in a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Reads and writes per second.
    pub(crate) iops: f64,
    /// Bytes per second.
    pub(crate) bytes_per_second: f64,
    /// 99th percentile of latency, where there are operations enough.
    pub(crate) p99_ns: Option<u64>,
}

/// A measured second of load; the last of a slot may be shorter or longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Second {
    /// The visit that it is of.
    pub(super) round: u32,
    /// Its length.
    pub(crate) length_ns: u64,
    /// What was done.
    pub(crate) rates: Rates,
}

impl Rates {
    /// The rates of cells that run at the same time.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            iops: self.iops + other.iops,
            bytes_per_second: self.bytes_per_second + other.bytes_per_second,
            p99_ns: self.p99_ns.max(other.p99_ns),
        }
    }

    pub(super) fn of(interval: &Interval) -> Option<Self> {
        Some(Self { iops: interval.iops()?, bytes_per_second: interval.bytes_per_second()?, p99_ns: interval.p99_ns })
    }

    /// The mean of the measured time of a slot.
    pub(super) fn of_slot(slot: &SlotResult) -> Option<Self> {
        let directions = [&slot.read, &slot.write].into_iter().flatten();
        let mut histogram: Option<LatencyHistogram> = None;
        let (mut operations, mut bytes) = (0, 0);
        for direction in directions {
            operations += direction.operations;
            bytes += direction.bytes;
            match &mut histogram {
                Some(histogram) => histogram.merge(&direction.histogram),
                None => histogram = Some(direction.histogram.clone()),
            }
        }
        let per_second = |amount: u64| amount as f64 * 1e9 / slot.elapsed_ns as f64;
        histogram.filter(|_| slot.elapsed_ns > 0).map(|histogram| Self {
            iops: per_second(operations),
            bytes_per_second: per_second(bytes),
            p99_ns: match histogram.percentile(0.99) {
                Percentile::Supported(ns) => Some(ns),
                Percentile::Unsupported { .. } => None,
            },
        })
    }

    /// Bytes per second in words; of work on names alone there are none.
    pub(crate) fn throughput(&self) -> String {
        let is_of_bytes = self.bytes_per_second > 0.0 || self.iops == 0.0;
        numbers::or_absent(is_of_bytes.then_some(self.bytes_per_second), numbers::throughput)
    }
}

impl Second {
    /// The same with what was left of its slot.
    pub(super) fn lengthen(&mut self, rest: &Self) {
        let length_ns = self.length_ns + rest.length_ns;
        let mean = |of: fn(&Rates) -> f64| {
            (of(&self.rates) * self.length_ns as f64 + of(&rest.rates) * rest.length_ns as f64) / length_ns as f64
        };
        let (iops, bytes_per_second) = (mean(|rates| rates.iops), mean(|rates| rates.bytes_per_second));
        // The rest is too short for a percentile of its own, most often.
        self.rates = Rates { iops, bytes_per_second, p99_ns: self.rates.p99_ns.max(rest.rates.p99_ns) };
        self.length_ns = length_ns;
    }
}
