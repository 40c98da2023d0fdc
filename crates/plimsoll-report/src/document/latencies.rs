//! Latency distributions: percentiles as far as the sample supports them, and a histogram of a few classes.

use plimsoll_measure::latency::{LatencyHistogram, Percentile};
use plimsoll_record::{figures::Figures, numbers, record::Cell, results::PERCENTILES, told::Measured};

use super::{Latencies, LatencyCurve, PercentilePoint, detail::Detail, rounded};
use crate::rows;

/// The percentiles of a curve.
const PERCENTS: [f64; 14] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.99, 99.999];

/// The same where there is little room.
const PERCENTS_SHORT: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// The latencies of a cell; `None` where none are known, and of commands, which are no operations.
pub(super) fn of(cell: &Cell, detail: Detail) -> Option<Latencies> {
    let directions = rows::directions(cell);
    let is_timed = cell.durations().is_empty();
    let known = directions.iter().filter(|_| is_timed).filter_map(|(name, figures)| Some((*name, figures.as_ref()?)));
    let curves: Vec<LatencyCurve> = known
        .map(|(operation, figures)| match figures.measured {
            Some(result) => measured(operation, figures, &result.histogram, detail),
            None => told(operation, cell, figures),
        })
        .filter(|curve| !curve.percentiles.is_empty())
        .collect();
    Some(Latencies { title: title(cell, &curves)?, curves })
}

fn measured(operation: &str, figures: &Figures<'_>, histogram: &LatencyHistogram, detail: Detail) -> LatencyCurve {
    let percents = if detail.is_short { &PERCENTS_SHORT[..] } else { &PERCENTS };
    let supported = |percent: &f64| match histogram.percentile(percent / 100.0) {
        Percentile::Supported(latency_ns) => Some((*percent, latency_ns)),
        Percentile::Unsupported { .. } => None,
    };
    let interval = |percent: f64| {
        if detail.is_short {
            return None;
        }
        let (name, _) = PERCENTILES.iter().find(|(_, quantile)| (quantile * 100.0 - percent).abs() < 1e-9)?;
        let interval = figures.measured?.latency_interval(name)?;
        Some((us(interval.low_ns), interval.high_ns.map(us)))
    };
    let percentiles = percents.iter().filter_map(supported).map(|(percent, latency_ns)| PercentilePoint {
        percent,
        latency_us: us(latency_ns),
        interval_us: interval(percent),
    });
    LatencyCurve {
        operation: operation.to_owned(),
        operations: Some(histogram.count()),
        percentiles: percentiles.collect(),
        histogram: classes_of(histogram, detail.classes),
    }
}

/// What another program told: the percentiles that it has.
fn told(operation: &str, cell: &Cell, figures: &Figures<'_>) -> LatencyCurve {
    let direction = cell.told.as_ref().and_then(|told| match &told.measured {
        Measured::Transfers(transfers) => match operation {
            "read" => transfers.read.as_ref(),
            "write" => transfers.write.as_ref(),
            _ => transfers.total.as_ref(),
        },
        _ => None,
    });
    // The shortest and the longest are ends of the sample and no percentiles.
    let is_inside = |percent: f64| percent > 0.0 && percent < 100.0;
    let told = direction.into_iter().flat_map(|direction| &direction.percentiles);
    let percentiles = told.filter(|point| is_inside(point.percent)).map(|point| PercentilePoint {
        percent: point.percent,
        latency_us: rounded(point.latency_ns / 1e3),
        interval_us: None,
    });
    LatencyCurve {
        operation: operation.to_owned(),
        operations: figures.operations,
        percentiles: percentiles.collect(),
        histogram: Vec::new(),
    }
}

/// A histogram of so many classes of equal width on a logarithmic scale, from the shortest to the longest.
fn classes_of(histogram: &LatencyHistogram, classes: usize) -> Vec<(f64, u64)> {
    if classes == 0 {
        return Vec::new();
    }
    let (Some(min_ns), Some(max_ns)) = (histogram.min_ns(), histogram.max_ns()) else { return Vec::new() };
    let (low, high) = ((min_ns.max(1) as f64).ln(), (max_ns.max(1) as f64).ln());
    let width = ((high - low) / classes as f64).max(f64::EPSILON);
    let mut counts = vec![0_u64; classes];
    for (latency_ns, count) in histogram.buckets() {
        let class = ((latency_ns.max(1.0).ln() - low) / width).max(0.0) as usize;
        let last = counts.len() - 1;
        counts[class.min(last)] += count;
    }
    let upper = |class: usize| rounded((low + width * (class + 1) as f64).exp() / 1e3);
    counts.into_iter().enumerate().map(|(class, count)| (upper(class), count)).collect()
}

fn us(latency_ns: u64) -> f64 {
    rounded(latency_ns as f64 / 1e3)
}

/// The finding, of the operations that there are most of.
fn title(cell: &Cell, curves: &[LatencyCurve]) -> Option<String> {
    let curve = curves.iter().max_by_key(|curve| curve.operations.unwrap_or(0))?;
    let at = |percent: f64| curve.percentiles.iter().find(|point| (point.percent - percent).abs() < 1e-9);
    let text = |point: &PercentilePoint| numbers::latency_in_text(point.latency_us * 1e3);
    let plural = if curve.operation == "all" { "operations".to_owned() } else { format!("{}s", curve.operation) };
    let half = at(50.0).map(|point| format!("half of the {plural} take at most {}", text(point)));
    let tail = [99.9, 99.0, 90.0].into_iter().find_map(|percent| Some((percent, at(percent)?)));
    let tail = tail.map(|(percent, point)| format!("{percent} % at most {}", text(point)));
    let parts: Vec<String> = half.into_iter().chain(tail).collect();
    let sentence = if parts.is_empty() { format!("latencies of {plural}") } else { parts.join(", ") };
    Some(format!("{}: {sentence}", cell.workload))
}
