//! Records side by side: how many times as fast one is as another, how sure that is, and the words for it.
//!
//! A [`Comparison`] is what text, Markdown, JSON (it is serializable) and JUnit are made from. Its ratios always say
//! how many times as much the other side has as the reference. Every interval holds by itself with 95 %. A difference
//! is only claimed when it is also beyond chance among all: the headlines of cells by Holm's rule, the numbers of the
//! matrix by that of Benjamini and Hochberg.

use plimsoll_measure::{
    compare::{conclusion::Conclusion, multiplicity, ratio::Ratio},
    verdict::Verdict,
};
use plimsoll_record::{record::Record, word::Word};
use serde::Serialize;
use thiserror::Error;
use uuid::Uuid;

mod beside;
pub(crate) mod environments;
pub(crate) mod evidence;
pub mod expectation;
pub mod junit;
mod matching;
mod metric;
mod pairing;
pub(crate) mod plans;
mod purpose;
mod side;
#[cfg(test)]
mod tests;
pub mod text;
pub(crate) mod words;

pub use self::{
    beside::Beside,
    evidence::Method,
    expectation::{Expectation, Outcome},
    metric::{Metric, Operation},
    plans::Aspect,
    side::Side,
};
use self::{expectation::Standing, side::Subject};
use crate::{arrays, facts};

/// The schema of a comparison as JSON.
pub const SCHEMA: &str = "plimsoll-comparison/1";

/// The share of differences that may be wrong in a matrix, and the probability of any wrong headline.
pub(crate) const LEVEL: f64 = 0.05;

/// Targets that are set beside each other without being asked for: each has a letter.
pub(crate) const TARGETS_MAX: usize = 26;

/// How records are to be compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Wishes {
    /// The side that others are compared with: its letter, run, name or target. The first by default.
    pub reference: Option<String>,
    /// Differences below this share do not matter.
    pub margin: f64,
    /// What may differ between plans all the same.
    pub despite: Vec<Aspect>,
    /// What must not have changed.
    pub expectations: Vec<Expectation>,
}

impl Default for Wishes {
    fn default() -> Self {
        let margin = plimsoll_measure::compare::conclusion::MARGIN;
        Self { reference: None, margin, despite: Vec::new(), expectations: Vec::new() }
    }
}

/// Why records cannot be compared. Each message says what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ComparisonError {
    /// No record at all.
    #[error("nothing to compare: name two runs, or one that measured several targets")]
    Nothing,
    /// One record with one target.
    #[error("run {0} measured one target only: name a second run to compare it with")]
    Alone(Uuid),
    /// A record without rates.
    #[error(
        "run {0} timed lives of volumes and measured no rates, which is what is compared: `plimsoll show {0}` has its times"
    )]
    OnlyLives(Uuid),
    /// The same record twice.
    #[error("run {0} is named twice: a run equals itself")]
    Twice(Uuid),
    /// No such side, or several.
    #[error("\"{text}\" is not one of the sides {sides}: name one by its letter")]
    Reference {
        /// What was typed.
        text: String,
        /// What there is.
        sides: String,
    },
    /// Different workloads.
    #[error("no workload in common: {reference} has {ours}; {side} has {theirs}")]
    NothingInCommon {
        /// The letter of the reference.
        reference: String,
        /// Its workloads.
        ours: String,
        /// The letter of the other side.
        side: String,
        /// Its workloads.
        theirs: String,
    },
    /// Plans differ in every cell.
    #[error("nothing can be compared: {differences}; --despite {words} compares all the same")]
    NotComparable {
        /// What differs, in a clause.
        differences: String,
        /// The words for that on the command line.
        words: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_of_storage(from_memory: &[bool; 2]) -> bool {
    !from_memory[0] && !from_memory[1]
}

impl ComparisonError {
    /// The reason by itself, to stand after the words that nothing is compared.
    pub(crate) fn reason(&self) -> String {
        let text = self.to_string();
        text.strip_prefix("nothing can be compared: ").map_or(text.clone(), str::to_owned)
    }
}

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// What it is.
    pub name: String,
    /// What the reference has.
    pub reference: String,
    /// What the other side has.
    pub value: String,
}

impl Difference {
    pub(crate) fn new(name: impl Into<String>, reference: String, value: String) -> Self {
        Self { name: name.into(), reference, value }
    }

    /// `block size (A 4KiB, B 8KiB)`
    fn text(&self, letters: [&str; 2]) -> String {
        format!("{} ({} {}, {} {})", self.name, letters[0], self.reference, letters[1], self.value)
    }
}

/// Records side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// `plimsoll-comparison/1`.
    pub schema: &'static str,
    /// The letter of the side that others are compared with.
    pub reference: String,
    /// Differences below this share do not matter.
    pub margin: f64,
    /// What is compared.
    pub sides: Vec<Side>,
    /// Each other side with the reference.
    pub pairs: Vec<Pair>,
    /// What became of the expectations.
    pub expectations: Vec<Outcome>,
}

/// A side and the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The letter of the reference.
    pub reference: String,
    /// The letter of the other side.
    pub side: String,
    /// What they are called besides, where they are arrays.
    #[serde(skip)]
    pub(crate) arrays: [Option<String>; 2],
    /// Whether one run measured both.
    pub in_one_run: bool,
    /// Whether it did so at the same time, and not in turns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_once: bool,
    /// Whether it was done with one before it began with the other, at least of one workload.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_after_another: bool,
    /// Whether another program measured at least one of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_told: bool,
    /// What else differs.
    pub confounded: Vec<Difference>,
    /// What another program did not tell of the plans, so that it may differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<Aspect>,
    /// What both measured.
    pub cells: Vec<CellPair>,
    /// What applications gain by what is faster for synthetic loads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// Workloads that only the reference has.
    pub only_in_reference: Vec<String>,
    /// Workloads that only the other side has.
    pub only_in_side: Vec<String>,
}

impl Pair {
    /// The letters of the reference and the other side.
    fn letters(&self) -> [&str; 2] {
        [&self.reference, &self.side]
    }

    /// The workloads that only one side has, and the words for that.
    fn one_sided(&self) -> impl Iterator<Item = (&str, String)> {
        let lists = [(&self.reference, &self.only_in_reference), (&self.side, &self.only_in_side)];
        lists.into_iter().flat_map(|(letter, cells)| {
            cells.iter().map(move |cell| (cell.as_str(), format!("only {letter} measured it")))
        })
    }
}

/// One workload on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellPair {
    /// The target, when sides have several.
    pub target: Option<String>,
    /// The workload's name.
    pub workload: String,
    /// What people use such a load for, in a phrase; `None` where its name says more.
    #[serde(skip)]
    pub(crate) purpose: Option<String>,
    /// One word about each side: its verdict, or why it has none.
    #[serde(skip)]
    pub(crate) words: [Word; 2],
    /// What commands call the rate that they told.
    #[serde(skip)]
    rate_name: Option<String>,
    /// What its rates count where that are no I/Os: `files/s`, `operations/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_unit: Option<&'static str>,
    /// Whether commands were timed.
    #[serde(skip)]
    pub(crate) is_application: bool,
    /// Whether both worked on sets of files.
    #[serde(skip)]
    pub(crate) is_of_files: bool,
    /// Whether memory answered each side, as far as its phase of a set of files says so; absent where it did neither.
    #[serde(skip_serializing_if = "is_of_storage")]
    pub from_memory: [bool; 2],
    /// Whether these had a part of the processors, because others were timed at the same time.
    #[serde(skip)]
    shared_processors: bool,
    /// The verdict of the reference; absent when it was not run, or another program measured it.
    pub reference_verdict: Option<Verdict>,
    /// Why the reference was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_not_run: Option<String>,
    /// The verdict of the other side.
    pub verdict: Option<Verdict>,
    /// Why the other side was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// Operations of the reference that failed, and blocks that were not as it had written them.
    pub reference_errors: u64,
    /// Operations of the other side that failed, and blocks that were not as it had written them.
    pub errors: u64,
    /// In what the plans differ, when they differ in what matters: nothing is compared then.
    pub differs_in: Vec<Difference>,
    /// The answer in words.
    pub sentence: String,
    /// The numbers.
    pub metrics: Vec<MetricPair>,
    /// Which of them is the headline.
    #[serde(skip)]
    headline: Option<usize>,
    /// Among how many it was chosen because it says most: as many chances to find what is none.
    #[serde(skip)]
    chosen_among: usize,
}

impl CellPair {
    /// The number that the sentence is about.
    pub fn headline(&self) -> Option<&MetricPair> {
        self.metrics.get(self.headline?)
    }

    /// Of which operations the headline is, where there are others too.
    fn direction(&self) -> Option<&'static str> {
        let own = self.headline()?.operation;
        let is_other = |operation| operation != own && matches!(operation, Operation::Read | Operation::Write);
        self.metrics.iter().any(|metric| is_other(metric.operation)).then(|| own.plural())
    }

    /// The word for a number in tables.
    fn head(&self, metric: Metric) -> String {
        match (&self.rate_name, metric) {
            (Some(name), Metric::Iops) => name.clone(),
            (Some(name), Metric::Throughput) => format!("{name} {}", metric.head()),
            _ => metric.head().to_owned(),
        }
    }

    /// Whether a number says what the one before it said: bytes per second where all operations are of one size.
    fn repeats(&self, index: usize) -> bool {
        let metric = &self.metrics[index];
        let before = index.checked_sub(1).and_then(|before| self.metrics[before].compared);
        let are_close = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
        metric.metric == Metric::Throughput
            && metric.compared.zip(before).is_some_and(|(compared, before)| {
                are_close(compared.ratio.low, before.ratio.low) && are_close(compared.ratio.high, before.ratio.high)
            })
    }

    /// The probabilities of all numbers that are comparisons of their own.
    fn p_values(&self) -> impl Iterator<Item = f64> {
        let own = (0..self.metrics.len()).filter(|index| !self.repeats(*index));
        own.filter_map(|index| self.metrics[index].compared).map(|compared| compared.ratio.p_value)
    }

    /// One word about a side: that memory answered, or its verdict, or why it has none.
    pub(crate) const fn word(&self, side: usize) -> Word {
        if self.from_memory[side] { Word::Verdict(Verdict::Cached) } else { self.words[side] }
    }

    /// What it is called.
    pub fn label(&self) -> String {
        label(self.target.as_deref(), &self.workload)
    }
}

fn label(target: Option<&str>, workload: &str) -> String {
    target.map_or_else(|| workload.to_owned(), |target| format!("{target} {workload}"))
}

/// One number of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricPair {
    /// Of which operations.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub operation: Operation,
    /// Which number.
    pub metric: Metric,
    /// The number of the reference, over its whole window.
    pub reference: Option<f64>,
    /// The number of the other side.
    pub value: Option<f64>,
    /// Whether that of the reference may be longer than was measured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reference_is_at_least: bool,
    /// Whether that of the other side may be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
    /// What the comparison says.
    pub compared: Option<Compared>,
    /// Whether it is a rate of which nothing is left: as sure a decline as any, but without a ratio.
    pub has_stopped: bool,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the comparison of a number says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// How many times as much the other side has, with its 95 % interval.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// How it was found.
    pub method: Method,
    /// Blocks, visits or iterations of the reference and of the other side; a cell in one piece is one.
    pub values: [usize; 2],
    /// What the interval alone permits to say.
    pub conclusion: Conclusion,
    /// Whether a difference may be claimed, all comparisons considered.
    pub different: bool,
    /// What ranks alone say, where there are values enough.
    pub ranks: Option<RankRatio>,
}

impl Compared {
    /// What a ratio permits to say when nothing else is compared.
    pub(crate) fn alone(ratio: Ratio, method: Method, values: [usize; 2], margin: f64) -> Self {
        let conclusion = Conclusion::of(&ratio, margin);
        Self { ratio, method, values, conclusion, different: conclusion.is_difference(), ranks: None }
    }

    /// Whether the interval alone says that there is a difference, and all comparisons together that it may be chance.
    const fn may_be_chance(&self) -> bool {
        self.conclusion.is_difference() && !self.different
    }
}

/// The ratio by Hodges and Lehmann with its exact interval, which one value far off does not move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankRatio {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl RankRatio {
    /// Whether the interval leaves out equality.
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

impl Comparison {
    /// Compares records, or the targets of one.
    pub fn of(records: &[&Record], wishes: &Wishes) -> Result<Self, ComparisonError> {
        if let Some(record) = records.iter().find(|record| record.has_only_lives()) {
            return Err(ComparisonError::OnlyLives(record.id));
        }
        let subjects = Subject::all(records)?;
        let sides: Vec<Side> = subjects.iter().enumerate().map(|(index, subject)| subject.side(index)).collect();
        let reference = side::find(&sides, wishes.reference.as_deref())?;
        let others = (0..sides.len()).filter(|index| *index != reference);
        let pair = |first: usize, second: usize| {
            let letters = [&sides[first], &sides[second]].map(|side| side.letter.as_str());
            pairing::pair([&subjects[first], &subjects[second]], letters, wishes)
        };
        let pairs = others
            .map(|index| {
                let with_reference = pair(reference, index);
                // A text may tell of several things: what has nothing in common with the first may have with another.
                let is_in_vain = with_reference.0.cells.is_empty() && wishes.reference.is_none();
                let mut earlier = if is_in_vain { 1..index } else { 0..0 };
                earlier
                    .find_map(|first| Some(pair(first, index)).filter(|(pair, _)| !pair.cells.is_empty()))
                    .unwrap_or(with_reference)
            })
            .collect();
        Self::made_of(sides, reference, pairs, wishes)
    }

    fn made_of(
        sides: Vec<Side>,
        reference: usize,
        pairs: Vec<(Pair, Vec<Aspect>)>,
        wishes: &Wishes,
    ) -> Result<Self, ComparisonError> {
        pairing::refuse_in_vain(&pairs)?;
        let pairs = pairs.into_iter().map(|(pair, _)| pair).collect();
        let mut comparison = Self {
            schema: SCHEMA,
            reference: sides[reference].letter.clone(),
            margin: wishes.margin,
            sides,
            pairs,
            expectations: Vec::new(),
        };
        comparison.control_chance();
        comparison.say();
        comparison.expectations = expectation::judge(&wishes.expectations, &comparison.pairs);
        Ok(comparison)
    }

    /// Refuses a reference that is no side, also where there is nothing to compare with it.
    pub(crate) fn check_reference(records: &[&Record], wishes: &Wishes) -> Result<(), ComparisonError> {
        let reference = wishes.reference.as_deref();
        reference.map_or(Ok(()), |text| side::find(&Subject::sides(records)?, Some(text)).map(drop))
    }

    /// What the letters of sides stand for, where no comparison tells it: `A is one, B is two`.
    pub(crate) fn named_sides(records: &[&Record]) -> Result<String, ComparisonError> {
        let sides = Subject::sides(records)?;
        let named = |side: &Side| {
            let run = side.name.as_deref().filter(|_| records.len() > 1);
            let targets = side.targets.join(", ");
            // A run that is one side needs its targets only where it has no name.
            let targets = Some(targets.as_str()).filter(|_| run.is_none() || sides.len() > records.len());
            let what: Vec<&str> = run.into_iter().chain(targets).collect();
            format!("{} is {}", side.letter, what.join(" "))
        };
        Ok(sides.iter().map(named).collect::<Vec<_>>().join(", "))
    }

    /// The targets of a record with the first of them; `None` when there is but one, too many for anybody to read, or
    /// nothing to compare.
    pub(crate) fn of_targets(record: &Record) -> Option<Self> {
        if facts::targets(record).len() > TARGETS_MAX {
            return None;
        }
        let of_arrays = arrays::pairs(record);
        if of_arrays.is_empty() { Self::of(&[record], &Wishes::default()) } else { Self::of_pairs(record, &of_arrays) }
            .ok()
    }

    /// Targets of a record with that which each is asked about.
    fn of_pairs(record: &Record, targets: &[[&str; 2]]) -> Result<Self, ComparisonError> {
        let (subjects, wishes) = (Subject::all(&[record])?, Wishes::default());
        let sides: Vec<Side> = subjects.iter().enumerate().map(|(index, subject)| subject.side(index)).collect();
        let place = |target: &str| sides.iter().position(|side| side.targets == [target]);
        let pair = |[reference, other]: &[&str; 2]| {
            let (first, second) = (place(reference)?, place(other)?);
            let letters = [&sides[first], &sides[second]].map(|side| side.letter.as_str());
            Some(pairing::pair([&subjects[first], &subjects[second]], letters, &wishes))
        };
        let pairs = targets.iter().filter_map(pair).collect();
        Self::made_of(sides, 0, pairs, &wishes)
    }

    /// Whether an expectation was broken for certain.
    pub fn is_breached(&self) -> bool {
        self.expectations.iter().any(|outcome| outcome.result == Standing::Breached)
    }

    /// What a reader of the exit code has to know, when nothing is broken but not everything was judged.
    pub fn warning(&self) -> Option<String> {
        let is_partly_judged = |outcome: &&Outcome| {
            matches!(outcome.result, Standing::NotJudged) || outcome.with(Standing::NotJudged).next().is_some()
        };
        let expectations: Vec<&str> =
            self.expectations.iter().filter(is_partly_judged).map(|outcome| outcome.expectation.as_str()).collect();
        let is_worth_it = !expectations.is_empty() && !self.is_breached();
        is_worth_it.then(|| {
            format!(
                "not judged everywhere: {}; that nothing failed does not mean that all holds",
                expectations.join(", ")
            )
        })
    }

    /// Claims those differences only that are beyond chance: headlines by the stricter rule, all others by that of the
    /// matrix. A number that repeats the one before is no comparison of its own.
    fn control_chance(&mut self) {
        let cells = || self.pairs.iter().flat_map(|pair| &pair.cells);
        let of_all: Vec<f64> = cells().flat_map(CellPair::p_values).collect();
        let p_value = |cell: &CellPair| {
            let compared = cell.headline()?.compared?;
            Some((compared.ratio.p_value * cell.chosen_among as f64).min(1.0))
        };
        let of_headlines: Vec<f64> = cells().filter_map(p_value).collect();
        let mut all = multiplicity::benjamini_hochberg(&of_all, LEVEL).into_iter();
        let mut headlines = multiplicity::holm(&of_headlines, LEVEL).into_iter();
        for cell in self.pairs.iter_mut().flat_map(|pair| &mut pair.cells) {
            for index in 0..cell.metrics.len() {
                let before = if cell.repeats(index) { cell.metrics[index - 1].compared } else { None };
                let is_headline = cell.headline == Some(index);
                let Some(compared) = &mut cell.metrics[index].compared else { continue };
                compared.different = match before {
                    Some(before) => before.different,
                    None => {
                        let in_matrix = all.next().unwrap_or(false);
                        let is_beyond = if is_headline { headlines.next().unwrap_or(false) } else { in_matrix };
                        is_beyond && compared.conclusion.is_difference()
                    }
                };
            }
        }
    }

    /// Puts everything into words.
    fn say(&mut self) {
        let compared = |cell: &&CellPair| cell.headline().is_some_and(|metric| metric.compared.is_some());
        let cells = self.pairs.iter().flat_map(|pair| &pair.cells).filter(compared);
        let headlines = cells.map(|cell| cell.chosen_among).sum();
        for pair in &mut self.pairs {
            let letters = [pair.reference.as_str(), pair.side.as_str()];
            for cell in &mut pair.cells {
                cell.sentence = words::sentence(cell, letters, self.margin, headlines);
            }
        }
    }
}
