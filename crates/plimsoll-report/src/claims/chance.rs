//! Whether a difference between two sides that were measured repeatedly may be chance.

use plimsoll_measure::compare::{permutation, unpaired::LogMean};
use plimsoll_record::{figures::Operation, numbers};

use super::{
    evaluate::{Origin, Value},
    words::Figure,
};
use crate::comparison::{Metric, evidence};

/// How probable chance has to be before it is the explanation.
pub(super) const LEVEL: f64 = 0.05;
/// The confidence of the interval that goes with it.
const CONFIDENCE: f64 = 0.95;

/// Whether two sides that were measured repeatedly differ.
pub(super) struct Test {
    pub(super) p_value: f64,
    pub(super) text: String,
}

/// The test that `compare` would make. `None` of single values.
pub(super) fn test(one: &Value<'_>, other: &Value<'_>) -> Option<Test> {
    if let Some(test) = of_samples(&one.sample, &other.sample) {
        return Some(test);
    }
    let (first, second) = (one.origin?, other.origin?);
    let cells = [first.source.cell, second.source.cell];
    let in_one_run = first.source.record.id == second.source.record.id;
    let is_same =
        first.figure == second.figure && first.operation == second.operation && !first.source.is(&second.source);
    let found = evidence::of(cells, in_one_run, first.operation, metric(&first).filter(|_| is_same)?).ok()?;
    let p_value = found.ratio.p_value;
    let interval = [found.ratio.low, found.ratio.high].map(|end| numbers::decimal(1.0 / end, 3));
    Some(Test { p_value, text: format!("p = {}, ratio between {} and {}", p(p_value), interval[1], interval[0]) })
}

fn metric(origin: &Origin<'_>) -> Option<Metric> {
    if origin.operation == Operation::All {
        return None;
    }
    match origin.figure {
        Figure::Iops => Some(Metric::Iops),
        Figure::Bandwidth => Some(Metric::Throughput),
        Figure::Latency => Some(Metric::Mean),
        Figure::Percentile(percent) => {
            let named = [(50.0, Metric::P50), (99.0, Metric::P99), (99.9, Metric::P99_9)];
            named.into_iter().find(|(name, _)| (name - percent).abs() < 1e-9).map(|(_, metric)| metric)
        }
        _ => None,
    }
}

fn of_samples(one: &[f64], other: &[f64]) -> Option<Test> {
    let mean = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
        LogMean::of_visits(&logs)
    };
    let p_value = LogMean::ratio(&mean(one)?, &mean(other)?, CONFIDENCE).p_value;
    let exact = permutation::two_sided_p(one, other)
        .map_or_else(String::new, |exact| format!(", exact permutation p = {}", p(exact)));
    Some(Test { p_value, text: format!("{} and {} runs: Welch p = {}{exact}", one.len(), other.len(), p(p_value)) })
}

/// A probability as it is written.
pub(crate) fn p(value: f64) -> String {
    if value < 0.001 { "<0.001".to_owned() } else { numbers::decimal(value, if value < 0.1 { 3 } else { 2 }) }
}
