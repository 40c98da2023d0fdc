//! The same workload on different storage: whether what was bought explains the difference.

use plimsoll_catalog::expectation::Expectation;
use plimsoll_measure::compare::{permutation, ratio::Ratio, unpaired::LogMean};
use plimsoll_record::{
    application::Iteration,
    figures::Operation,
    numbers,
    record::{Cell, Record},
};
use plimsoll_workload::limit::Part;
use serde::Serialize;

use super::{
    behind::Behind,
    did::CellLoad,
    show,
    standing::{Judged, Standing, Unit},
};
use crate::{
    claims::chance,
    comparison::{Metric, evidence},
    document::run_names,
};

/// Ratios that are this close explain each other.
const CLOSE: f64 = 0.10;
/// How probable chance has to be before it is the explanation.
const LEVEL: f64 = 0.05;

/// A cell with what was found out about it.
pub(super) struct Subject<'a> {
    pub(super) record: &'a Record,
    pub(super) cell: &'a Cell,
    pub(super) judged: Vec<Judged>,
    pub(super) expectation: Option<Expectation>,
    pub(super) load: CellLoad<'a>,
}

/// What explains a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Explained {
    /// What was bought.
    ByProvisioning,
    /// Caches, which answered instead of the storage.
    ByCaches,
    /// Chance: no difference was found.
    NoDifference,
    /// Nothing that is known.
    No,
}

/// Two cells of one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The workload.
    pub workload: String,
    /// The targets, the faster one first.
    pub targets: [String; 2],
    /// Of which operations.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub operation: Operation,
    /// How many times as fast the first was.
    pub measured: f64,
    /// How many times as fast it should have been.
    pub expected: Option<f64>,
    /// The probability of such a difference between equals.
    pub p_value: Option<f64>,
    /// What explains it.
    pub explained: Explained,
    /// The sentence.
    pub text: String,
}

/// Every cell with the first one of the same workload.
pub(super) fn of(subjects: &[Subject<'_>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (index, other) in subjects.iter().enumerate() {
        let is_partner = |subject: &&Subject<'_>| subject.cell.workload == other.cell.workload;
        let Some(first) = subjects[..index].iter().find(is_partner) else { continue };
        let has_times = |subject: &Subject<'_>| !subject.cell.durations().is_empty();
        // What a text tells again of one target is no other storage; the same path in another run may be.
        let is_again = first.record.id == other.record.id && first.cell.target == other.cell.target;
        if has_times(first) != has_times(other) || is_again {
            continue;
        }
        if has_times(first) {
            pairs.extend(of_commands(first, other));
        } else {
            pairs.extend(of_rates(first, other));
        }
    }
    pairs
}

/// What both are called: their targets, and of the same target in two runs also the runs.
fn called(sides: [&Subject<'_>; 2]) -> [String; 2] {
    let are_namesakes = sides[0].cell.target == sides[1].cell.target;
    let records = sides.map(|side| side.record);
    sides.map(|side| match are_namesakes {
        true => format!("{} of {}", side.cell.target, run_names::of(side.record, &records)),
        false => side.cell.target.clone(),
    })
}

/// The judged rates of one kind on both sides.
fn of_rates(first: &Subject<'_>, other: &Subject<'_>) -> Vec<Pair> {
    // Nothing is so many times what did nothing, and that it did is told where it is judged.
    let did = |judged: &&Judged| judged.measured > 0.0;
    let alike = |one: &Judged| {
        let same = |judged: &&Judged| judged.operation == one.operation && judged.unit == one.unit;
        other.judged.iter().filter(did).find(same).map(|judged| (one.clone(), judged.clone()))
    };
    first.judged.iter().filter(did).filter_map(alike).map(|(one, two)| rates(first, &one, other, &two)).collect()
}

/// How probable such a difference of rates is between equals: as `compare` tells it; else by the intervals of both.
fn chance_of_rates(first: &Subject<'_>, one: &Judged, other: &Subject<'_>, two: &Judged) -> Option<f64> {
    let metric = match one.unit {
        Unit::Iops | Unit::FilesPerSecond => Metric::Iops,
        Unit::BytesPerSecond => Metric::Throughput,
    };
    let in_one_run = first.record.id == other.record.id;
    let compared = evidence::of([first.cell, other.cell], in_one_run, one.operation, metric).ok();
    let mean = |judged: &Judged| {
        let [low, high] = judged.interval?;
        LogMean::of_interval(judged.measured, low, high)
    };
    let by_intervals = || Some(LogMean::ratio(&mean(one)?, &mean(two)?, 1.0 - LEVEL));
    compared.map(|found| found.ratio).or_else(by_intervals).map(|ratio| ratio.p_value)
}

fn rates(first: &Subject<'_>, one: &Judged, other: &Subject<'_>, two: &Judged) -> Pair {
    let (fast, slow, fast_rate, slow_rate) =
        if one.measured >= two.measured { (first, other, one, two) } else { (other, first, two, one) };
    let measured = fast_rate.measured / slow_rate.measured;
    let expected = fast_rate.expected / slow_rate.expected;
    let is_above = [one, two].iter().any(|judged| judged.standing == Standing::Impossible);
    // No cache answers what the disk itself counted.
    let is_cached = is_above && !Behind::is_behind(first.cell);
    let is_at_limit = |judged: &Judged| judged.standing == Standing::Within || judged.is_mean_from_full();
    let is_bought_alike = (expected - 1.0).abs() <= CLOSE;
    let is_explained =
        (measured / expected - 1.0).abs() <= CLOSE && !is_bought_alike && is_at_limit(one) && is_at_limit(two);
    let rate = |judged: &Judged, value: f64| show::rate(judged.unit, value);
    let operation = fast_rate.operation;
    let p_value = chance_of_rates(first, one, other, two);
    // Rates that nobody knows the intervals of are as close as such limits are exact.
    let may_be_chance = p_value.map_or(measured <= 1.0 + one.tolerance.over, |p| p >= LEVEL);
    let (explained, why) = if is_cached {
        let text = "caches answered, so that this says nothing of the disks".to_owned();
        (Explained::ByCaches, text)
    } else if is_above {
        let text = "at least one is other storage than was said, or more of it".to_owned();
        (Explained::No, text)
    } else if is_explained {
        let text = format!(
            "what was bought explains it: {} beside {} are {} : 1",
            rate(fast_rate, fast_rate.expected),
            rate(slow_rate, slow_rate.expected),
            numbers::ratio(expected)
        );
        (Explained::ByProvisioning, text)
    } else if may_be_chance {
        let p = p_value.map_or_else(String::new, |p| format!(" (p = {})", chance::p(p)));
        let bought = match is_bought_alike {
            true => format!("both were bought to do {}", rate(two, two.expected)),
            false => format!(
                "{} beside {} were bought, which would be {} : 1",
                rate(fast_rate, fast_rate.expected),
                rate(slow_rate, slow_rate.expected),
                numbers::ratio(expected)
            ),
        };
        (Explained::NoDifference, format!("no difference found{p}; {bought}"))
    } else if is_bought_alike {
        let text =
            format!("both were bought to do {}, so that what was bought does not explain it", rate(two, two.expected));
        (Explained::No, text)
    } else {
        let text = format!(
            "what was bought does not explain it: {} beside {} would be {} : 1",
            rate(fast_rate, fast_rate.expected),
            rate(slow_rate, slow_rate.expected),
            numbers::ratio(expected)
        );
        (Explained::No, text)
    };
    let of = if operation == Operation::All { String::new() } else { format!(", {}", operation.plural()) };
    let [of_fast, of_slow] = called([fast, slow]);
    let text = format!(
        "{}{of}: {of_fast} did {} times as much as {of_slow} ({} beside {}); {why}",
        fast.cell.workload,
        numbers::ratio(measured),
        rate(fast_rate, fast_rate.measured),
        rate(slow_rate, slow_rate.measured),
    );
    Pair {
        workload: first.cell.workload.clone(),
        targets: [fast.cell.target.clone(), slow.cell.target.clone()],
        operation,
        measured,
        expected: Some(expected).filter(|_| !is_cached),
        p_value,
        explained,
        text,
    }
}

/// What a command did on both sides: whether it differs at all, and whether the storage can be what binds it.
fn of_commands(first: &Subject<'_>, other: &Subject<'_>) -> Option<Pair> {
    let (one, two) = match (own_rates(first), own_rates(other)) {
        (Some(one), Some(two)) if one.0 == two.0 => (Some(one), Some(two)),
        (None, None) => (None, None),
        // What was counted is not the same.
        _ => return None,
    };
    let unit = one.as_ref().map(|(unit, _)| unit.clone());
    let [one, two] =
        [(first, one), (other, two)].map(|(side, rates)| rates.map_or_else(|| seconds(side), |(_, rates)| rates));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    if [&one, &two].iter().any(|values| mean(values) <= 0.0) {
        return None;
    }
    let is_first = if unit.is_some() { mean(&one) >= mean(&two) } else { mean(&one) <= mean(&two) };
    let sides = [(first, one.as_slice()), (other, two.as_slice())];
    let [(fast, faster), (slow, slower)] = if is_first { sides } else { [sides[1], sides[0]] };
    let (p_value, p) = chance_of_times([&one, &two]);
    let explained = if p_value.is_some_and(|p| p >= LEVEL) { Explained::NoDifference } else { Explained::No };
    let found = match explained {
        Explained::NoDifference => "no difference found",
        _ if p_value.is_some() => "more than chance does",
        _ => "not known to differ",
    };
    let beside = bought_ratio(fast, slow).map_or_else(String::new, |bought| {
        let ratio = bought.max(1.0 / bought);
        let is_alike = ratio < 1.0 + CLOSE;
        let speeds = if unit.is_some() { [slower, faster] } else { [faster, slower] };
        match explained {
            Explained::No if is_alike && p_value.is_some() => {
                "; what was bought is alike, and does not explain it".to_owned()
            }
            _ if is_alike => "; what was bought is alike".to_owned(),
            Explained::NoDifference if leaves_out(speeds, bought) => {
                format!("; what was bought differs {} : 1, so it is not bound by these disks", numbers::ratio(ratio))
            }
            Explained::NoDifference => format!(
                "; what was bought differs {} : 1, and whether it is bound by these disks takes more iterations to say",
                numbers::ratio(ratio)
            ),
            _ => format!("; what was bought differs {} : 1", numbers::ratio(ratio)),
        }
    });
    let means = [mean(slower), mean(faster)];
    let ratio = (means[0] / means[1]).max(means[1] / means[0]);
    let [of_slow, of_fast] = means.map(|value| match &unit {
        Some(unit) => format!("{} {unit}", numbers::iops(value)),
        None => numbers::duration((value * 1e9).round() as u64),
    });
    let [one, two] = called([fast, slow]);
    let how = match &unit {
        Some(_) if ratio < TIMES_FROM => format!("{two} did {:+.2} %", (1.0 / ratio - 1.0) * 100.0),
        Some(_) => format!("{two} did as much in {} times the time", numbers::ratio(ratio)),
        None if ratio < TIMES_FROM => format!("{two} took {:+.2} %", (ratio - 1.0) * 100.0),
        None => format!("{two} took {} times as long", numbers::ratio(ratio)),
    };
    let text = format!(
        "{}: {found}, {how} ({of_slow} beside {of_fast} of {one}, {} and {} times; {p}){beside}",
        fast.cell.workload,
        slower.len(),
        faster.len(),
    );
    Some(Pair {
        workload: first.cell.workload.clone(),
        targets: [fast.cell.target.clone(), slow.cell.target.clone()],
        operation: Operation::All,
        measured: ratio,
        expected: None,
        p_value,
        explained,
        text,
    })
}

/// From here on a ratio says more than a difference in percent.
const TIMES_FROM: f64 = 2.0;

/// How long a command took, each time.
fn seconds(subject: &Subject<'_>) -> Vec<f64> {
    subject.cell.durations().iter().map(|duration| duration.elapsed_ns as f64 / 1e9).collect()
}

/// The rate that a command told of itself, each time, with its unit.
fn own_rates(subject: &Subject<'_>) -> Option<(String, Vec<f64>)> {
    let application = subject.cell.application.as_ref()?;
    let rate = application.rate.as_ref()?;
    let values = application.counted().filter_map(Iteration::rate).map(|rate| rate.value).collect();
    Some((rate.unit.clone(), values))
}

/// In how many ways so many times can be dealt out to two sides.
fn divisions(one: usize, other: usize) -> u64 {
    (1..=one as u64).fold(1, |ways: u64, at| ways.saturating_mul(other as u64 + at) / at)
}

/// How probable such a difference is between equals, and how that is known; `None` of too few.
fn chance_of_times(sides: [&[f64]; 2]) -> (Option<f64>, String) {
    let divisions = divisions(sides[0].len(), sides[1].len());
    // Between sides of one size, every division has its mirror image, which is as far out.
    let least = if sides[0].len() == sides[1].len() { 2.0 } else { 1.0 } / divisions as f64;
    let of_too_few = || (None, "too few to tell chance apart".to_owned());
    match permutation::two_sided_p(sides[0], sides[1]) {
        Some(_) if least >= LEVEL => of_too_few(),
        Some(p) => (Some(p), format!("p = {} by all {divisions} divisions of them", chance::p(p))),
        // They are too many to be dealt out in every way.
        None => welch(sides)
            .map_or_else(of_too_few, |ratio| (Some(ratio.p_value), format!("Welch p = {}", chance::p(ratio.p_value)))),
    }
}

/// How many times the first values the second are; `None` of too few.
fn welch(sides: [&[f64]; 2]) -> Option<Ratio> {
    let mean = |values: &[f64]| LogMean::of_visits(&values.iter().map(|value| value.ln()).collect::<Vec<f64>>());
    Some(LogMean::ratio(&mean(sides[0])?, &mean(sides[1])?, 1.0 - LEVEL))
}

/// Whether the second values are known not to be so many times the first: finding no difference is not enough.
fn leaves_out(sides: [&[f64]; 2], ratio: f64) -> bool {
    welch(sides).is_some_and(|measured| ratio < measured.low || measured.high < ratio)
}

/// How many times as many operations the first of two disks has.
fn bought_ratio(one: &Subject<'_>, other: &Subject<'_>) -> Option<f64> {
    let iops = |subject: &Subject<'_>| {
        let part = subject.expectation.as_ref()?.part(Part::Disk)?;
        part.limits.of(subject.load.load()).operations.map(|limit| limit.sustained)
    };
    Some(iops(one)? / iops(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_times_can_tell_is_smaller_where_sides_are_not_of_one_size() {
        let (p, text) = chance_of_times([&[1.0, 2.0, 3.0], &[10.0, 11.0, 12.0, 13.0]]);
        assert!(p.is_some_and(|p| (p - 1.0 / 35.0).abs() < 1e-9), "{text}");
        // 2 of 20 and 1 of 15.
        assert_eq!(chance_of_times([&[1.0, 2.0, 3.0], &[10.0, 11.0, 12.0]]).0, None);
        assert_eq!(chance_of_times([&[1.0, 2.0], &[10.0, 11.0, 12.0, 13.0]]).0, None);
    }
}
