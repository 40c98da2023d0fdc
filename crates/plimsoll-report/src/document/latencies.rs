//! Latency distributions: percentiles as far as the sample supports them, and a histogram of a few classes.

use std::cmp::Reverse;

use plimsoll_measure::latency::{LatencyHistogram, Percentile, operations_needed};
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
        let (name, _) = PERCENTILES.iter().find(|(_, quantile)| (quantile * 100.0 - percent).abs() < 1e-9)?;
        figures.measured?.latency_interval(name)
    };
    let mut is_at_least = false;
    let percentiles = percents.iter().filter_map(supported).map(|(percent, latency_ns)| {
        let interval = interval(percent);
        // What is beyond a percentile that may be longer may be so too.
        is_at_least |= interval.is_some_and(|interval| interval.high_ns.is_none());
        let ends =
            interval.filter(|_| !detail.is_short).map(|interval| (us(interval.low_ns), interval.high_ns.map(us)));
        PercentilePoint { percent, latency_us: us(latency_ns), is_at_least, interval_us: ends }
    });
    LatencyCurve {
        operation: operation.to_owned(),
        operations: Some(histogram.count()),
        percentiles: percentiles.collect(),
        histogram: classes_of(histogram, detail.classes),
    }
}

/// What another program told: the percentiles that it has, as far as so many operations support them.
fn told(operation: &str, cell: &Cell, figures: &Figures<'_>) -> LatencyCurve {
    let direction = cell.told.as_ref().and_then(|told| match &told.measured {
        Measured::Transfers(transfers) => match operation {
            "read" => transfers.read.as_ref(),
            "write" => transfers.write.as_ref(),
            "sync" => transfers.sync.as_ref(),
            _ => transfers.total.as_ref(),
        },
        _ => None,
    });
    // The shortest and the longest are ends of the sample and no percentiles.
    let is_inside = |percent: f64| percent > 0.0 && percent < 100.0;
    let is_supported = |percent: f64| figures.operations.is_none_or(|have| have >= operations_needed(percent / 100.0));
    let told = direction.into_iter().flat_map(|direction| &direction.percentiles);
    let shown = told.filter(|point| is_inside(point.percent) && is_supported(point.percent));
    let percentiles = shown.map(|point| PercentilePoint {
        percent: point.percent,
        latency_us: point.latency_ns / 1e3,
        is_at_least: false,
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

/// All digits: what is rounded here and then once more for a title is not what a table says.
fn us(latency_ns: u64) -> f64 {
    latency_ns as f64 / 1e3
}

/// The finding, of the operations that there are most of, and of as many of the first.
fn title(cell: &Cell, curves: &[LatencyCurve]) -> Option<String> {
    let curve = curves.iter().min_by_key(|curve| Reverse(curve.operations.unwrap_or(0)))?;
    let at = |percent: f64| curve.percentiles.iter().find(|point| (point.percent - percent).abs() < 1e-9);
    let text = |point: &PercentilePoint| numbers::latency_in_text(point.latency_us * 1e3);
    let plural = if curve.operation == "all" { "operations".to_owned() } else { format!("{}s", curve.operation) };
    let half = at(50.0).map(|point| match point.is_at_least {
        true => format!("the median of the {plural} is at least {}", text(point)),
        false => format!("half of the {plural} take at most {}", text(point)),
    });
    let tail = [99.9, 99.0, 90.0].into_iter().find_map(|percent| Some((percent, at(percent)?)));
    let tail = tail.map(|(percent, point)| match point.is_at_least {
        true => format!("p{percent} at least {}", text(point)),
        false => format!("{percent} % at most {}", text(point)),
    });
    let parts: Vec<String> = half.into_iter().chain(tail).collect();
    let sentence = if parts.is_empty() { format!("latencies of {plural}") } else { parts.join(", ") };
    Some(format!("{}: {sentence}", cell.workload))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        latencies::LatencyInterval,
        told::{Direction, Percentile as ToldPercentile, Transfers},
    };

    use super::*;
    use crate::test_records;

    /// The first cell of a run, whose p99.9 may be longer than was measured.
    fn open_ended() -> Cell {
        let mut cell = test_records::canonical().cells.swap_remove(0);
        let interval = |percentile: &str, high_ns| LatencyInterval {
            percentile: percentile.to_owned(),
            low_ns: 590_000,
            high_ns,
            exceedances: 12,
            design_effect: 1.0,
            needed_seconds: None,
        };
        let read = cell.read.as_mut().unwrap();
        read.latency_intervals = vec![interval("p99", Some(650_000)), interval("p99_9", None)];
        cell
    }

    #[test]
    fn what_may_be_longer_than_was_measured_is_never_called_at_most() {
        let record = test_records::canonical();
        let many = vec![&record; 40];
        for records in [&many[..1], &many] {
            let shown = of(&open_ended(), Detail::first(records)).unwrap();
            assert!(
                shown.title.ends_with("half of the reads take at most 600 us, p99.9 at least 6.00 ms"),
                "{shown:?}"
            );
            let point = |percent: f64| {
                let points = &shown.curves[0].percentiles;
                serde_json::to_value(points.iter().find(|point| (point.percent - percent).abs() < 1e-9)).unwrap()
            };
            assert_eq!(point(99.9)["is_at_least"], true);
            assert_eq!(point(99.0).get("is_at_least"), None);
        }
    }

    #[test]
    fn a_title_and_a_table_have_the_same_number() {
        let mut cell = test_records::canonical().cells.swap_remove(0);
        let mut histogram = LatencyHistogram::fine();
        // A value that is 3.465 with four figures and 3.46 or 3.47 with three, as one rounds.
        histogram.record_many(3_464_900, 20_000);
        let table = histogram.quantile_ns(0.5).unwrap();
        cell.read.as_mut().unwrap().histogram = histogram;
        let shown = of(&cell, Detail::first(&[])).unwrap();
        let text = numbers::latency_in_text(table as f64);
        assert!(shown.title.contains(&format!("at most {text},")), "{} and {text} of {table}", shown.title);
        let point = shown.curves[0].percentiles[0];
        assert!((point.latency_us * 1e3 - table as f64).abs() < 0.01, "{point:?} of {table}");
    }

    fn told(directions: [Option<Direction>; 2]) -> Cell {
        let [read, write] = directions;
        let transfers = Transfers { read, write, ..Transfers::default() };
        test_records::told(&[("disk", "job", Measured::Transfers(Box::new(transfers)))]).cells.swap_remove(0)
    }

    #[test]
    fn of_others_too_a_curve_ends_where_the_sample_does() {
        let percentile = |percent, latency_ns| ToldPercentile { percent, latency_ns };
        let percentiles = vec![percentile(50.0, 1e6), percentile(99.9, 5e6), percentile(99.99, 9e6)];
        let read =
            |operations| Some(Direction { operations, percentiles: percentiles.clone(), ..Direction::default() });
        let ends = |operations| {
            let shown = of(&told([read(operations), None]), Detail::first(&[])).unwrap();
            shown.curves[0].percentiles.iter().map(|point| point.percent).collect::<Vec<_>>()
        };
        assert_eq!(ends(Some(35_072)), [50.0, 99.9]);
        assert_eq!(ends(Some(200_000)), [50.0, 99.9, 99.99]);
        assert_eq!(ends(None), [50.0, 99.9, 99.99], "who does not say how many there were cannot be doubted");
    }

    #[test]
    fn of_as_many_operations_of_each_kind_the_title_is_about_the_first() {
        let of_median = |latency_ns| {
            let percentiles = vec![ToldPercentile { percent: 50.0, latency_ns }];
            Some(Direction { operations: Some(1000), percentiles, ..Direction::default() })
        };
        let shown = of(&told([of_median(4.7e6), of_median(1e6)]), Detail::first(&[])).unwrap();
        assert_eq!(shown.title, "job: half of the reads take at most 4.70 ms");
    }
}
