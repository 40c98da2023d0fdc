//! What is compared of a cell: numbers, and where they stand in a record.

use std::str::FromStr;

use plimsoll_record::{
    numbers,
    record::Cell,
    results::{DirectionResult, LatencySummary, SlotRate, SlotSummary},
};
use serde::Serialize;

/// What kind of operation a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// `fsync` and `fdatasync`.
    Sync,
}

impl Operation {
    /// All of them, in the order of tables.
    pub(super) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Sync];

    /// The word for several.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Sync => "syncs",
        }
    }

    /// What a cell did of it.
    pub(super) const fn result_of(self, cell: &Cell) -> Option<&DirectionResult> {
        match self {
            Self::Read => cell.read.as_ref(),
            Self::Write => cell.write.as_ref(),
            Self::Sync => cell.sync.as_ref(),
        }
    }

    /// What a visit did of it.
    const fn rate_of(self, slot: &SlotSummary) -> Option<&SlotRate> {
        match self {
            Self::Read => slot.read.as_ref(),
            Self::Write => slot.write.as_ref(),
            Self::Sync => slot.sync.as_ref(),
        }
    }
}

/// A number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Metric {
    /// Operations per second.
    #[serde(rename = "iops")]
    Iops,
    /// Bytes per second.
    #[serde(rename = "bytes_per_second")]
    Throughput,
    /// The median latency, in nanoseconds.
    #[serde(rename = "latency_p50_ns")]
    P50,
    /// The latency that 99 % do not exceed.
    #[serde(rename = "latency_p99_ns")]
    P99,
    /// The latency that 99.9 % do not exceed.
    #[serde(rename = "latency_p99_9_ns")]
    P99_9,
}

impl Metric {
    /// All of them, in the order of tables.
    pub(super) const ALL: [Self; 5] = [Self::Iops, Self::Throughput, Self::P50, Self::P99, Self::P99_9];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
        }
    }

    /// The word in tables and sentences.
    pub const fn head(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Throughput => numbers::THROUGHPUT_UNIT,
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
        }
    }

    /// Whether it is a duration, of which more is worse.
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::P50 | Self::P99 | Self::P99_9)
    }

    /// The number with its unit, or for a column that says the unit.
    pub(super) fn text(self, value: Option<f64>) -> String {
        numbers::or_absent(value, |value| match self {
            Self::Iops => numbers::iops(value),
            Self::Throughput => numbers::throughput(value),
            Self::P50 | Self::P99 | Self::P99_9 => numbers::latency(value),
        })
    }

    /// The number of a whole cell.
    pub(super) fn of_result(self, result: &DirectionResult) -> Option<f64> {
        match self {
            Self::Iops => Some(result.iops),
            Self::Throughput => (result.bytes > 0).then_some(result.bytes_per_second),
            _ => self.of_latency(&result.latency_ns),
        }
    }

    /// The number of one visit.
    pub(super) fn of_visit(self, slot: &SlotSummary, operation: Operation) -> Option<f64> {
        let rate = operation.rate_of(slot)?;
        let seconds = slot.elapsed_ns as f64 / 1e9;
        match self {
            Self::Iops => (seconds > 0.0).then(|| rate.operations as f64 / seconds),
            Self::Throughput => (seconds > 0.0).then(|| rate.bytes as f64 / seconds),
            _ => self.of_latency(&rate.latency_ns),
        }
    }

    fn of_latency(self, latency_ns: &LatencySummary) -> Option<f64> {
        let latency_ns = match self {
            Self::P50 => latency_ns.p50,
            Self::P99 => latency_ns.p99,
            Self::P99_9 => latency_ns.p99_9,
            Self::Iops | Self::Throughput => None,
        };
        latency_ns.map(|latency_ns| latency_ns as f64)
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let find = |text: &str| {
            let found = Self::ALL.into_iter().find(|metric| metric.word() == text);
            // Clouds sell bandwidth.
            found.or_else(|| (text == "bandwidth").then_some(Self::Throughput))
        };
        find(text).ok_or_else(|| {
            let lower = text.to_ascii_lowercase();
            if find(&lower).is_some() {
                return format!("\"{text}\" is written in lower case: {lower}");
            }
            let words = Self::ALL.map(Self::word).join(", ");
            format!("\"{text}\" cannot be compared: choose one of {words}")
        })
    }
}
