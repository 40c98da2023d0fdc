//! What is compared of a cell: numbers, and where they stand in a record.

use std::str::FromStr;

pub use plimsoll_record::figures::Operation;
use plimsoll_record::{
    figures::Figures,
    numbers,
    record::Cell,
    results::{LatencySummary, SlotSummary},
};
use serde::Serialize;

/// A number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The mean latency, of what another program told without percentiles.
    #[serde(rename = "latency_mean_ns")]
    Mean,
    /// How long a command takes.
    #[serde(rename = "elapsed_ns")]
    Elapsed,
}

impl Metric {
    /// All of them, in the order of tables.
    pub(super) const ALL: [Self; 7] =
        [Self::Iops, Self::Throughput, Self::P50, Self::P99, Self::P99_9, Self::Mean, Self::Elapsed];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::Mean => "mean",
            Self::Elapsed => "elapsed",
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
            Self::Mean => "mean",
            Self::Elapsed => "time",
        }
    }

    /// Whether it is a duration, of which more is worse.
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops | Self::Throughput)
    }

    /// The number with its unit, or for a column that says the unit.
    pub(super) fn text(self, value: Option<f64>) -> String {
        numbers::or_absent(value, |value| match self {
            Self::Iops => numbers::iops(value),
            Self::Throughput => numbers::throughput(value),
            Self::Elapsed => numbers::elapsed(value as u64),
            Self::P50 | Self::P99 | Self::P99_9 | Self::Mean => numbers::latency(value),
        })
    }

    /// The number of a whole cell. A mean is for comparisons with what another program told, perhaps without
    /// percentiles, and the time of a command is no latency.
    pub(super) fn of_cell(self, cell: &Cell, figures: &Figures<'_>, with_told: bool) -> Option<f64> {
        let is_command = !cell.durations().is_empty();
        match self {
            Self::Iops => figures.iops,
            Self::Throughput => figures.bytes_per_second.filter(|_| figures.bytes != Some(0)),
            Self::Elapsed => figures.latency_ns.mean.filter(|_| is_command),
            Self::Mean => figures.latency_ns.mean.filter(|_| with_told && !is_command),
            Self::P50 | Self::P99 | Self::P99_9 => self.of_latency(&figures.latency_ns),
        }
    }

    /// Whether the number of a whole cell is a percentile of which no upper end is known.
    pub(super) fn is_at_least(self, figures: &Figures<'_>) -> bool {
        let percentile = match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
            Self::Iops | Self::Throughput | Self::Mean | Self::Elapsed => return false,
        };
        let interval = figures.measured.and_then(|measured| measured.latency_interval(percentile));
        interval.is_some_and(|interval| interval.high_ns.is_none())
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
            Self::Iops | Self::Throughput | Self::Mean | Self::Elapsed => None,
        };
        latency_ns.map(|latency_ns| latency_ns as f64)
    }
}

/// What an expectation may be of.
impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let find = |text: &str| {
            let found = Self::ALL.into_iter().find(|metric| metric.word() == text);
            // Clouds sell bandwidth.
            found.or_else(|| (text == "bandwidth").then_some(Self::Throughput))
        };
        // Means are there where another program told them, and nobody told how sure they are.
        if find(text) == Some(Self::Mean) {
            return Err("a mean is shown and cannot be judged: choose p50, p99 or p99.9".to_owned());
        }
        find(text).ok_or_else(|| {
            let lower = text.to_ascii_lowercase();
            if find(&lower).is_some() {
                return format!("\"{text}\" is written in lower case: {lower}");
            }
            let judged = Self::ALL.into_iter().filter(|metric| *metric != Self::Mean);
            let words = judged.map(Self::word).collect::<Vec<_>>().join(", ");
            format!("\"{text}\" cannot be compared: choose one of {words}")
        })
    }
}
