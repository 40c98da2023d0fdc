//! Which of the compared sides suits which use, in the words of the comparison: no order is claimed that it does not
//! support.

use plimsoll_measure::{compare::conclusion::Conclusion, verdict::Verdict};
use plimsoll_record::{numbers, word::Word};

use super::{Use, UseTarget};
use crate::{
    comparison::{CellPair, Comparison, Metric, MetricPair, Operation, Pair, Side, words},
    explanation::{
        ExplainedCell, Explanation,
        standing::{Judged, Reached},
    },
    printable,
};

/// The uses of all workloads that at least two sides measured. Where it is known what was bought, a rate that no such
/// storage has is called cached.
pub(crate) fn of(comparison: &Comparison, explanation: Option<&Explanation>) -> Vec<Use> {
    let mut questions: Vec<Question<'_>> = Vec::new();
    for pair in &comparison.pairs {
        for cell in pair.cells.iter().filter(|cell| cell.differs_in.is_empty()) {
            if let Some(metric) = asked(cell) {
                add(&mut questions, comparison, pair, cell, metric);
            }
        }
    }
    for question in &mut questions {
        let (cell, operation) = (question.cell, question.operation);
        for answer in &mut question.answers {
            let side = comparison.sides.iter().find(|side| side.letter == answer.letter);
            let known = explanation.zip(side);
            if known.is_some_and(|(explanation, side)| is_impossible(explanation, side, cell, operation)) {
                answer.word = Word::Verdict(Verdict::Cached);
            }
        }
    }
    questions.iter_mut().filter_map(Question::answer).collect()
}

/// Whether no storage that was bought for a side has its rate. Another run of the same target says nothing of this one.
fn is_impossible(explanation: &Explanation, side: &Side, asked: &CellPair, operation: Operation) -> bool {
    let is_of_side = |cell: &&ExplainedCell| match &asked.target {
        Some(target) => cell.target == *target,
        None => side.targets.contains(&cell.target),
    };
    let cells = explanation.runs.iter().filter(|run| run.id == side.run).flat_map(|run| &run.cells);
    let cells = cells.filter(is_of_side).filter(|cell| cell.workload == asked.workload);
    let judged = cells.flat_map(|cell| &cell.judged);
    let is_of_it = |judged: &Judged| judged.operation == operation || judged.operation == Operation::All;
    judged.filter(|judged| is_of_it(judged)).any(|judged| judged.reached == Reached::Impossible)
}

/// A workload, and how the sides do in it.
struct Question<'a> {
    cell: &'a CellPair,
    operation: Operation,
    metric: Metric,
    answers: Vec<Answer<'a>>,
    /// What was compared: the letters of the reference and of the other side.
    pairs: Vec<([&'a str; 2], &'a MetricPair)>,
}

/// A side in a use.
struct Answer<'a> {
    letter: &'a str,
    target: String,
    value: f64,
    word: Word,
    has_errors: bool,
}

impl Answer<'_> {
    /// Whether its number is that of a cache, and not of the storage.
    fn is_cached(&self) -> bool {
        self.word == Word::Verdict(Verdict::Cached)
    }
}

/// The number of a workload by which sides are put in order: the headline; of files that another program wrote and
/// read, how they were written, because what was just written is read from memory.
fn asked(cell: &CellPair) -> Option<&MetricPair> {
    let of_writes = |pair: &&MetricPair| (pair.metric, pair.operation) == (Metric::Iops, Operation::Write);
    let written = cell.metrics.iter().find(of_writes).filter(|_| cell.is_of_files);
    written.or_else(|| cell.headline())
}

fn add<'a>(
    questions: &mut Vec<Question<'a>>,
    comparison: &'a Comparison,
    pair: &'a Pair,
    cell: &'a CellPair,
    metric: &'a MetricPair,
) {
    let Some((reference, value)) = metric.reference.zip(metric.value) else { return };
    let is_asked = |question: &Question<'_>| {
        (&question.cell.target, &question.cell.workload) == (&cell.target, &cell.workload)
            && (question.metric, question.operation) == (metric.metric, metric.operation)
            // A text may tell of several things that have nothing in common.
            && question.answers.iter().any(|answer| answer.letter == pair.reference)
    };
    let index = questions.iter().position(is_asked).unwrap_or_else(|| {
        let MetricPair { operation, metric, .. } = *metric;
        questions.push(Question { cell, operation, metric, answers: Vec::new(), pairs: Vec::new() });
        questions.len() - 1
    });
    let question = &mut questions[index];
    let sides = [
        (pair.reference.as_str(), reference, cell.word(0), cell.reference_errors),
        (pair.side.as_str(), value, cell.word(1), cell.errors),
    ];
    for (letter, value, word, errors) in sides {
        if question.answers.iter().all(|answer| answer.letter != letter) {
            let target = target(comparison, cell, letter);
            question.answers.push(Answer { letter, target, value, word, has_errors: errors > 0 });
        }
    }
    question.pairs.push(([&pair.reference, &pair.side], metric));
}

fn target(comparison: &Comparison, cell: &CellPair, letter: &str) -> String {
    let of_side = || {
        let side = comparison.sides.iter().find(|side| side.letter == letter);
        side.map_or_else(String::new, |side| side.targets.join(", "))
    };
    printable::line(&cell.target.clone().unwrap_or_else(of_side)).into_owned()
}

/// What may be said of two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The difference is beyond chance.
    Sure,
    /// It may be chance.
    Chance,
    /// There are no intervals, or they say the opposite of the values.
    Unknown,
}

/// Why two sides are in no order whose values, which are made of more than their ratio is, disagree with it.
const AT_ODDS: &str = "their ratio says the opposite of their values";

impl Question<'_> {
    fn answer(&mut self) -> Option<Use> {
        let less_is_better = self.metric.is_latency();
        self.answers.sort_by(|one, other| {
            let order = other.value.total_cmp(&one.value);
            one.is_cached().cmp(&other.is_cached()).then(if less_is_better { order.reverse() } else { order })
        });
        let [best, second, ..] = self.answers.as_slice() else { return None };
        let (unit, scale) = self.unit();
        let is_sure = |one: &Answer<'_>, other: &Answer<'_>| {
            !one.is_cached() && !other.is_cached() && self.order(one, other) == Order::Sure
        };
        let targets = self.answers.iter().enumerate().map(|(place, answer)| UseTarget {
            side: answer.letter.to_owned(),
            target: answer.target.clone(),
            value: answer.value * scale,
            times_worse: self.times_worse(answer),
            is_sure: is_sure(best, if place == 0 { second } else { answer }),
            is_as_good: place > 0 && !answer.is_cached() && self.is_as_good(best, answer),
            is_cached: answer.is_cached(),
        });
        Some(Use { name: self.name(), title: self.title(), unit: unit.to_owned(), targets: targets.collect() })
    }

    /// The unit of values, and what a number of the comparison is multiplied with to be in it.
    fn unit(&self) -> (&'static str, f64) {
        match (self.metric, self.operation) {
            (Metric::Iops, _) if self.cell.is_of_files => ("files/s", 1.0),
            (Metric::Iops, _) if self.cell.is_application => ("operations/s", 1.0),
            (Metric::Iops, _) => (self.metric.head(), 1.0),
            (Metric::Throughput, _) => (numbers::THROUGHPUT_UNIT, 1e-6),
            (Metric::Elapsed, _) => ("s", 1e-9),
            (Metric::P50, _) => ("us (p50)", 1e-3),
            (Metric::P99, _) => ("us (p99)", 1e-3),
            (Metric::P99_9, _) => ("us (p99.9)", 1e-3),
            (Metric::Mean, _) => ("us (mean)", 1e-3),
        }
    }

    /// How many times as good as this one the best is; `None` where this one did nothing, or a cache did it.
    fn times_worse(&self, answer: &Answer<'_>) -> Option<f64> {
        let best = self.answers.first().filter(|_| !answer.is_cached())?;
        let ratio = if self.metric.is_latency() { answer.value / best.value } else { best.value / answer.value };
        ratio.is_finite().then_some(ratio)
    }

    /// `small random reads (randread 4KiB QD32)`, and of several targets the target.
    fn name(&self) -> String {
        // Where both directions were measured, the number is that of one.
        let is_of_other = |pair: &MetricPair| pair.operation != self.operation && pair.metric == self.metric;
        let is_told_apart = matches!(self.operation, Operation::Read | Operation::Write);
        let workload = match self.cell.metrics.iter().any(is_of_other) && is_told_apart {
            true => format!("{}, {}", self.cell.label(), self.operation.plural()),
            false => self.cell.label(),
        };
        let name = match &self.cell.purpose {
            Some(purpose) => format!("{purpose} ({workload})"),
            None => workload,
        };
        printable::line(&name).into_owned()
    }

    /// What the comparison of two sides with each other says.
    fn direct(&self, one: &Answer<'_>, other: &Answer<'_>) -> Option<&MetricPair> {
        let [there, back] = [[one.letter, other.letter], [other.letter, one.letter]];
        self.pairs.iter().find(|(letters, _)| *letters == there || *letters == back).map(|(_, metric)| *metric)
    }

    /// Whether the interval of their ratio leaves no difference that matters.
    fn is_as_good(&self, one: &Answer<'_>, other: &Answer<'_>) -> bool {
        let compared = self.direct(one, other).and_then(|metric| metric.compared);
        compared.is_some_and(|compared| compared.conclusion == Conclusion::Equal)
    }

    /// Whether a surely different ratio says the opposite of the values that it belongs to.
    fn is_at_odds(metric: &MetricPair) -> bool {
        let ratio = metric.compared.filter(|compared| compared.different).map(|compared| compared.ratio.ratio);
        let values = metric.reference.zip(metric.value);
        ratio.zip(values).is_some_and(|(ratio, (reference, value))| (ratio - 1.0) * (value - reference) < 0.0)
    }

    /// Whether one side is better than the other, whose value is no better, beyond chance: as they were compared with
    /// each other; else by their ratios to a third, when these leave no doubt.
    fn order(&self, one: &Answer<'_>, other: &Answer<'_>) -> Order {
        if let Some(metric) = self.direct(one, other) {
            return match metric.compared {
                _ if metric.has_stopped => Order::Sure,
                _ if Self::is_at_odds(metric) => Order::Unknown,
                Some(compared) if compared.different => Order::Sure,
                Some(_) => Order::Chance,
                None => Order::Unknown,
            };
        }
        let ratio = |answer: &Answer<'_>| {
            let (letters, metric) = self.pairs.iter().find(|(letters, _)| letters[1] == answer.letter)?;
            Some((letters[0], metric.compared?.ratio))
        };
        match (ratio(one), ratio(other)) {
            (Some((reference, one)), Some((other_reference, other))) if reference == other_reference => {
                let [more, less] = if self.metric.is_latency() { [other, one] } else { [one, other] };
                if more.low > less.high { Order::Sure } else { Order::Chance }
            }
            _ => Order::Unknown,
        }
    }

    /// `A suits small random reads (randread) best: 2.30x of B, 4.10x of C`.
    fn title(&self) -> String {
        let (Some(best), name) = (self.answers.first(), self.name()) else { return String::new() };
        // Those that may be as good as the best.
        let tied = |answer: &&Answer<'_>| std::ptr::eq(*answer, best) || self.order(best, answer) == Order::Chance;
        let own = self.answers.iter().filter(|answer| !answer.is_cached());
        let (tied, others): (Vec<_>, Vec<_>) = own.partition(tied);
        let is_unknown = |answer: &&Answer<'_>| self.order(best, answer) == Order::Unknown;
        let (unknown, sure): (Vec<_>, Vec<_>) = others.into_iter().partition(is_unknown);
        let letters = |answers: &[&Answer<'_>]| {
            words::list(&answers.iter().map(|answer| answer.letter.to_owned()).collect::<Vec<_>>())
        };
        let mut text = match (tied.len(), sure.first(), unknown.first()) {
            (0, ..) => format!("a cache answered every side in {name}"),
            (1, None, None) => format!("only the storage of {} answered in {name}", best.letter),
            (1, None, Some(next)) => {
                let is_factor = !self.metric.is_latency() && self.times_worse(next).is_some();
                let has = if is_factor { format!("{} has ", best.letter) } else { String::new() };
                format!("no sure order in {name}: {has}{}; {}", self.ahead_of(&unknown), self.why_unknown(best, next))
            }
            (1, Some(_), _) => format!("{} suits {name} best: {}", best.letter, self.ahead_of(&sure)),
            (_, None, _) => format!("no difference found between {} in {name}", letters(&tied)),
            (_, Some(_), _) => format!(
                "{} suit {name} best, without a difference that was found between them: {}",
                letters(&tied),
                self.ahead_of(&sure)
            ),
        };
        let is_said = tied.len() == 1 && sure.is_empty();
        if let Some(first) = unknown.first().filter(|_| !is_said) {
            text += &format!("; no sure order to {}: {}", letters(&unknown), self.why_unknown(best, first));
        }
        let doubts: Vec<String> = self.answers.iter().filter_map(doubt).collect();
        if doubts.is_empty() { text } else { format!("{text} ({})", doubts.join(", ")) }
    }

    /// How far the best is ahead of the next, and of the last: `2.30x of B and 12.0x of F`.
    fn ahead_of(&self, others: &[&Answer<'_>]) -> String {
        let of = |answer: &&Answer<'_>| match self.times_worse(answer) {
            None => format!("{} completes nothing", answer.letter),
            Some(ratio) if self.metric.is_latency() => {
                format!("{} takes {} as long", answer.letter, words::times(ratio))
            }
            Some(ratio) => format!("{} of {}", words::times(ratio), answer.letter),
        };
        let ends = match others {
            [first, .., last] => vec![of(first), of(last)],
            few => few.iter().map(of).collect(),
        };
        words::list(&ends)
    }

    fn why_unknown(&self, one: &Answer<'_>, other: &Answer<'_>) -> &str {
        let direct = self.direct(one, other);
        if direct.is_some_and(Self::is_at_odds) {
            return AT_ODDS;
        }
        let of_both = direct.and_then(|metric| metric.reason.as_deref());
        // Else it is that of the one which lacks a ratio to a third.
        let is_of_one = |letters: &[&str; 2]| letters[1] == one.letter || letters[1] == other.letter;
        let mut of_pairs = self.pairs.iter().filter(|(letters, _)| is_of_one(letters));
        let reason = of_both.or_else(|| of_pairs.find_map(|(_, metric)| metric.reason.as_deref()));
        reason.unwrap_or("they were not compared with each other")
    }
}

/// What makes the number of a side doubtful.
fn doubt(answer: &Answer<'_>) -> Option<String> {
    let errors = answer.has_errors.then_some("with errors");
    let word = Some(answer.word).filter(|word| word.is_doubtful()).map(Word::as_str);
    let words: Vec<&str> = word.into_iter().chain(errors).collect();
    (!words.is_empty()).then(|| format!("{} {}", answer.letter, words.join(" ")))
}

#[cfg(test)]
mod tests;
