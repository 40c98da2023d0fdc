//! The same workload on different storage: whether what was bought explains the difference.

use plimsoll_catalog::expectation::Expectation;
use plimsoll_measure::compare::{permutation, unpaired::LogMean};
use plimsoll_record::{application::Iteration, figures::Operation, numbers, record::Cell};
use plimsoll_workload::limit::Part;
use serde::Serialize;

use super::{
    behind::Behind,
    did::CellLoad,
    show,
    standing::{Judged, Standing},
};

/// Ratios that are this close explain each other.
const CLOSE: f64 = 0.10;
/// How probable chance has to be before it is the explanation.
const LEVEL: f64 = 0.05;

/// A cell with what was found out about it.
pub(super) struct Subject<'a> {
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
        if has_times(first) != has_times(other) {
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

/// The judged rates of one kind on both sides.
fn of_rates(first: &Subject<'_>, other: &Subject<'_>) -> Vec<Pair> {
    let alike = |one: &Judged| {
        let same = |judged: &&Judged| judged.operation == one.operation && judged.unit == one.unit;
        other.judged.iter().find(same).map(|judged| (one.clone(), judged.clone()))
    };
    first.judged.iter().filter_map(alike).map(|(one, two)| rates(first, &one, other, &two)).collect()
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
            show::ratio(expected)
        );
        (Explained::ByProvisioning, text)
    } else if is_bought_alike {
        let text =
            format!("both were bought to do {}, so that what was bought does not explain it", rate(two, two.expected));
        (Explained::No, text)
    } else {
        let text = format!(
            "what was bought does not explain it: {} beside {} would be {} : 1",
            rate(fast_rate, fast_rate.expected),
            rate(slow_rate, slow_rate.expected),
            show::ratio(expected)
        );
        (Explained::No, text)
    };
    let of = if operation == Operation::All { String::new() } else { format!(", {}", operation.plural()) };
    let text = format!(
        "{}{of}: {} did {} times as much as {} ({} beside {}); {why}",
        fast.cell.workload,
        fast.cell.target,
        show::ratio(measured),
        slow.cell.target,
        rate(fast_rate, fast_rate.measured),
        rate(slow_rate, slow_rate.measured),
    );
    Pair {
        workload: first.cell.workload.clone(),
        targets: [fast.cell.target.clone(), slow.cell.target.clone()],
        operation,
        measured,
        expected: Some(expected).filter(|_| !is_cached),
        p_value: None,
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
    let is_first = if unit.is_some() { mean(&one) >= mean(&two) } else { mean(&one) <= mean(&two) };
    let sides = [(first, one.as_slice()), (other, two.as_slice())];
    let [(fast, faster), (slow, slower)] = if is_first { sides } else { [sides[1], sides[0]] };
    // Of so few the least that can come out is more than that.
    let can_tell = 2.0 < LEVEL * divisions(one.len(), two.len()) as f64;
    let p_value = permutation::two_sided_p(&one, &two).filter(|_| can_tell);
    let explained = if p_value.is_some_and(|p| p >= LEVEL) { Explained::NoDifference } else { Explained::No };
    let p = p_value.map_or_else(
        || "too few or too many to tell chance apart".to_owned(),
        |p| format!("p = {p:.2} by all {} divisions of them", divisions(one.len(), two.len())),
    );
    let found = match explained {
        Explained::NoDifference => "no difference found",
        _ if p_value.is_some() => "more than chance does",
        _ => "a difference",
    };
    let beside = bought_ratio(fast, slow).map_or_else(String::new, |bought| {
        let ratio = bought.max(1.0 / bought);
        let is_alike = ratio < 1.0 + CLOSE;
        let speeds = if unit.is_some() { [slower, faster] } else { [faster, slower] };
        match explained {
            Explained::NoDifference if is_alike => "; what was bought is alike".to_owned(),
            _ if is_alike => "; what was bought is alike, and does not explain it".to_owned(),
            Explained::NoDifference if leaves_out(speeds, bought) => {
                format!("; what was bought differs {} : 1, so it is not bound by these disks", show::ratio(ratio))
            }
            Explained::NoDifference => format!(
                "; what was bought differs {} : 1, and whether it is bound by these disks takes more iterations to say",
                show::ratio(ratio)
            ),
            _ => format!("; what was bought differs {} : 1", show::ratio(ratio)),
        }
    });
    let means = [mean(slower), mean(faster)];
    let ratio = (means[0] / means[1]).max(means[1] / means[0]);
    let [of_slow, of_fast] = means.map(|value| match &unit {
        Some(unit) => format!("{} {unit}", numbers::iops(value)),
        None => numbers::duration((value * 1e9).round() as u64),
    });
    let (one, two) = (&fast.cell.target, &slow.cell.target);
    let how = match &unit {
        Some(_) if ratio < TIMES_FROM => format!("{two} did {:+.2} %", (1.0 / ratio - 1.0) * 100.0),
        Some(_) => format!("{two} did as much in {} times the time", show::ratio(ratio)),
        None if ratio < TIMES_FROM => format!("{two} took {:+.2} %", (ratio - 1.0) * 100.0),
        None => format!("{two} took {} times as long", show::ratio(ratio)),
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

/// Whether the second values are known not to be so many times the first: finding no difference is not enough.
fn leaves_out(sides: [&[f64]; 2], ratio: f64) -> bool {
    let mean = |values: &[f64]| LogMean::of_visits(&values.iter().map(|value| value.ln()).collect::<Vec<f64>>());
    let [one, other] = sides.map(mean);
    one.zip(other).is_some_and(|(one, other)| {
        let measured = LogMean::ratio(&one, &other, 1.0 - LEVEL);
        ratio < measured.low || measured.high < ratio
    })
}

/// How many times as many operations the first of two disks has.
fn bought_ratio(one: &Subject<'_>, other: &Subject<'_>) -> Option<f64> {
    let iops = |subject: &Subject<'_>| {
        let part = subject.expectation.as_ref()?.part(Part::Disk)?;
        part.limits.of(subject.load.load()).operations.map(|limit| limit.sustained)
    };
    Some(iops(one)? / iops(other)?)
}
