//! What the names of figures in a clause stand for, and what comes out of it.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use plimsoll_measure::series::moments::{mean, median, variance};
use plimsoll_record::figures::Operation;

use super::{
    Expectation, Expectations,
    figures::{self, Asked, Derived, Of, Source, Values},
    number::Number,
    selection, show,
    statement::{Clause, Expression, Operator, Phrase, Relation},
    unit::{Dimension, Kind},
    words::{Aggregate, Direction, Expected, Figure},
};

/// What statements are evaluated on.
pub(super) struct Data<'a> {
    sources: &'a [Source<'a>],
    expectations: &'a dyn Expectations,
    /// What names were found to mean: one that is said of every workload is looked up for each.
    meant: RefCell<BTreeMap<String, Meant<'a>>>,
}

/// A cell that a name means, and its values.
type Answer<'a> = (Source<'a>, Figure, Values);
/// What a name means, or why it means nothing.
type Meant<'a> = Rc<Result<Vec<Answer<'a>>, String>>;

/// A value with what it rests on.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    pub(super) number: f64,
    pub(super) dimension: Dimension,
    /// What stands for it within a calculation.
    pub(super) shown: String,
    /// Whether that is a calculation itself.
    is_calculated: bool,
    /// How it came about, when that is more than being read.
    pub(super) working: Option<String>,
    /// Whether less is faster.
    pub(super) is_time: bool,
    /// Repeated values that it is the mean of.
    pub(super) sample: Vec<f64>,
    /// The one cell it is a figure of.
    pub(super) origin: Option<Origin<'a>>,
    pub(super) derived: Option<Derived>,
}

impl Value<'_> {
    /// What stands for it beside an operator.
    pub(super) fn operand(&self) -> String {
        if self.is_calculated { format!("({})", self.shown) } else { self.shown.clone() }
    }
}

/// The one figure of one cell that a value is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) source: Source<'a>,
    pub(super) figure: Figure,
    pub(super) operation: Operation,
}

/// What is not said in one name of a clause and is taken from the others, and which workload it is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    figure: Option<Figure>,
    pub(super) direction: Option<Direction>,
    aggregate: Option<Aggregate>,
    selection: Vec<Vec<String>>,
    dimension: Option<Dimension>,
    /// The workload that every name has to be about.
    workload: Option<String>,
    /// The workload that a name is about which would mean several.
    narrow: Option<String>,
}

impl Scope {
    pub(super) fn of(clause: &Clause) -> Self {
        let phrases = clause.phrases();
        let mut scope = Self {
            figure: only(phrases.iter().filter_map(|phrase| phrase.figure)),
            direction: only(phrases.iter().filter_map(|phrase| phrase.direction)),
            aggregate: None,
            selection: only(phrases.iter().map(|phrase| phrase.selection.clone()).filter(|words| !words.is_empty()))
                .unwrap_or_default(),
            dimension: dimension_of(&clause.relation),
            workload: None,
            narrow: None,
        };
        if let (Expression::Phrase(subject), Some(Expression::Phrase(other))) =
            (&clause.subject, other(&clause.relation))
        {
            scope.aggregate = only([subject.aggregate, other.aggregate].into_iter().flatten());
        }
        scope
    }

    pub(super) fn of_direction(mut self, direction: Option<Direction>) -> Self {
        self.direction = direction;
        self
    }

    pub(super) fn of_workload(mut self, workload: String) -> Self {
        self.workload = Some(workload);
        self
    }

    /// The same, where a name that means several workloads means the one that the other names are about.
    pub(super) fn narrowed(mut self, clause: &Clause, data: &Data<'_>) -> Self {
        let found = clause.phrases().into_iter().filter_map(|phrase| data.cells(phrase, &self).ok());
        let single = found.filter(|cells| cells.len() == 1).map(|cells| cells[0].0.cell.workload.clone());
        self.narrow = only(single);
        self
    }
}

/// The one value that all are; `None` when there are none or several.
fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

/// What a subject is set beside.
const fn other(relation: &Relation) -> Option<&Expression> {
    match relation {
        Relation::Amount(_, other)
        | Relation::Ratio { than: other, .. }
        | Relation::Compare(_, other)
        | Relation::Consistent { than: other, .. }
        | Relation::Same(_, other) => Some(other),
        Relation::Within(..) | Relation::Extreme(..) => None,
    }
}

/// What kind of quantity is claimed.
fn dimension_of(relation: &Relation) -> Option<Dimension> {
    match relation {
        Relation::Amount(_, Expression::Number(number)) | Relation::Within(Expression::Number(number), _) => {
            Some(number.unit.dimension).filter(|dimension| *dimension != Dimension::PLAIN)
        }
        _ => None,
    }
}

impl<'a> Data<'a> {
    pub(super) const fn new(sources: &'a [Source<'a>], expectations: &'a dyn Expectations) -> Self {
        Self { sources, expectations, meant: RefCell::new(BTreeMap::new()) }
    }

    /// The cells that a name means, with their values.
    pub(super) fn cells(&self, phrase: &Phrase, scope: &Scope) -> Result<Vec<Answer<'a>>, String> {
        let phrase = scope.complete(phrase);
        let known = format!("{phrase} {:?}", scope.dimension);
        let found = self.meant.borrow().get(&known).cloned();
        let meant = found.unwrap_or_else(|| {
            let meant = Rc::new(self.meant(&phrase, scope.dimension));
            self.meant.borrow_mut().insert(known, Rc::clone(&meant));
            meant
        });
        let is_within =
            |answer: &&Answer<'a>| scope.workload.as_ref().is_none_or(|workload| *workload == answer.0.cell.workload);
        let meant = meant.as_ref().as_ref().map_err(Clone::clone)?;
        Ok(meant.iter().filter(is_within).cloned().collect())
    }

    fn meant(&self, phrase: &Phrase, dimension: Option<Dimension>) -> Result<Vec<Answer<'a>>, String> {
        let answer = |source: &Source<'a>| {
            let figure = phrase.figure.or_else(|| Figure::of_dimension(dimension?, source));
            let figure = figure.unwrap_or_else(|| Figure::usual(source));
            let asked = Asked {
                figure,
                direction: phrase.direction,
                threads: phrase.threads,
                is_assumed: phrase.expected.is_some_and(Expected::is_assumed),
            };
            (figure, figures::values(source, &asked))
        };
        // What does not have the figure is not meant.
        let answers = self.sources.iter().filter_map(|source| {
            let (figure, values) = answer(source);
            Some((*source, figure, values.ok()?))
        });
        let mut answers: Vec<Answer<'a>> = answers.collect();
        let answering: Vec<Source<'a>> = answers.iter().map(|(source, ..)| *source).collect();
        let Ok(selected) = selection::select(phrase, &answering) else {
            let meant = selection::select(phrase, self.sources)?;
            let why = answer(&meant[0]).1.err().unwrap_or_else(|| "it does not answer".to_owned());
            return Err(format!("{}: {why}", meant[0].name()));
        };
        let mut selected = selected.iter().peekable();
        answers.retain(|(source, ..)| selected.next_if(|one| one.is(source)).is_some());
        // A figure in a comment may be of reads: what is known to be is meant rather.
        let is_known = |values: &Values| matches!(values.operation, Operation::Read | Operation::Write);
        if matches!(phrase.direction, Some(Direction::Read | Direction::Write))
            && answers.iter().any(|(_, _, values)| is_known(values))
        {
            answers.retain(|(_, _, values)| is_known(values));
        }
        Ok(answers)
    }

    /// The value of an expression.
    pub(super) fn value(&self, expression: &Expression, scope: &Scope) -> Result<Value<'a>, String> {
        match expression {
            Expression::Number(number) => Ok(literal(number)),
            Expression::Phrase(phrase) => self.named(phrase, scope),
            Expression::Negative(inner) => {
                let inner = self.value(inner, scope)?;
                Ok(calculated(-inner.number, inner.dimension, format!("-{}", inner.shown)))
            }
            Expression::Binary(left, operator, right) => {
                let (one, other) = (self.value(left, scope)?, self.value(right, scope)?);
                let text = format!("{} {} {}", one.operand(), operator.sign(), other.operand());
                binary(&one, *operator, &other, text)
            }
        }
    }

    fn named(&self, phrase: &Phrase, scope: &Scope) -> Result<Value<'a>, String> {
        let mut cells = self.cells(phrase, scope)?;
        let phrase = scope.complete(phrase);
        if cells.len() > 1
            && phrase.aggregate.is_none()
            && let Some(workload) = &scope.narrow
        {
            cells.retain(|(source, ..)| source.cell.workload == *workload);
        }
        if let Some(Expected::Catalog(level)) = phrase.expected {
            let [(source, figure, values)] = cells.as_slice() else { return Err(ambiguous(&phrase, &cells)) };
            let asked = Expectation {
                record: source.record,
                cell: source.cell,
                figure: *figure,
                operation: values.operation,
                level,
            };
            let expected = self.expectations.expected(&asked);
            let name = figure.name();
            let expected =
                expected.ok_or_else(|| format!("what {name} to expect of {} is not known", source.name()))?;
            let shown = show::quantity(expected, figure.dimension());
            return Ok(Value { is_time: figure.is_time(), ..calculated(expected, figure.dimension(), shown) });
        }
        match cells.as_slice() {
            [] => Err(format!("no result of {} has that workload", phrase.selected())),
            [(source, figure, values)] => one_cell(source, *figure, values, phrase.aggregate),
            several => several_cells(several, &phrase),
        }
    }
}

impl Scope {
    /// A name with what it does not say itself.
    fn complete(&self, phrase: &Phrase) -> Phrase {
        let direction = phrase.direction.or(self.direction);
        Phrase {
            figure: phrase.figure.or(self.figure),
            // What is said of each is evaluated for one after the other.
            direction: if phrase.direction == Some(Direction::Each) { self.direction } else { direction },
            aggregate: phrase.aggregate.or(self.aggregate),
            selection: if phrase.selection.is_empty() { self.selection.clone() } else { phrase.selection.clone() },
            ..phrase.clone()
        }
    }
}

fn literal<'a>(number: &Number) -> Value<'a> {
    let value = if number.unit.kind == Kind::Orders { 10_f64.powf(number.value) } else { number.value };
    calculated(value, number.unit.dimension, number.to_string())
}

fn calculated<'a>(number: f64, dimension: Dimension, shown: String) -> Value<'a> {
    Value {
        number,
        dimension,
        working: Some(shown.clone()),
        shown,
        is_calculated: false,
        is_time: dimension == Dimension::SECONDS,
        sample: Vec::new(),
        origin: None,
        derived: None,
    }
}

fn binary<'a>(one: &Value<'_>, operator: Operator, other: &Value<'_>, text: String) -> Result<Value<'a>, String> {
    let (left, right) = (one.number, other.number);
    let (number, dimension) = match operator {
        Operator::Multiply => (left * right, one.dimension.times(other.dimension)),
        Operator::Divide => (left / right, one.dimension.per(other.dimension)),
        Operator::Add | Operator::Subtract if one.dimension != other.dimension => {
            return Err(format!("{} and {} do not add up", one.dimension.name(), other.dimension.name()));
        }
        Operator::Add => (left + right, one.dimension),
        Operator::Subtract => (left - right, one.dimension),
    };
    if number.is_finite() {
        Ok(Value { is_calculated: true, ..calculated(number, dimension, text) })
    } else {
        Err(format!("{text} is no number"))
    }
}

/// A figure of one cell: its value, or an aggregate of its runs or threads.
pub(super) fn one_cell<'a>(
    source: &Source<'a>,
    figure: Figure,
    values: &Values,
    aggregate: Option<Aggregate>,
) -> Result<Value<'a>, String> {
    // So many of something are a plain number, also where it is one.
    let dimension = if aggregate == Some(Aggregate::Count) { Dimension::PLAIN } else { figure.dimension() };
    let origin = Some(Origin { source: *source, figure, operation: values.operation });
    let of = match values.of {
        Of::Runs => "runs",
        Of::Threads => "threads",
        Of::One => {
            // Latencies scatter within one cell, and that is told.
            let within = within_cell(source, figure, values, aggregate)?;
            let (number, name) = within.map_or((values.values[0], None), |(number, name)| (number, Some(name)));
            let shown = match values.derived.filter(|_| figure == Figure::Bytes) {
                Some(derived) => show::bytes(derived.bytes as f64),
                None => show::quantity(number, dimension),
            };
            let working = match (values.derived, name) {
                (_, Some(name)) => Some(name),
                (Some(Derived { bytes, block_size: Some(size), elapsed_ns: Some(ns) }), None) => {
                    Some(format!("{} / {} / {}", show::bytes(bytes as f64), show::bytes(size as f64), seconds(ns)))
                }
                _ => None,
            };
            let derived = values.derived;
            return Ok(Value {
                shown,
                working,
                is_time: figure.is_time(),
                origin,
                derived,
                ..calculated(number, dimension, String::new())
            });
        }
    };
    if values.of == Of::Threads && aggregate.is_none() {
        return Err(format!("{} threads: write highest, lowest, average, sum or spread", values.values.len()));
    }
    let mut value = aggregated(&values.values, aggregate.unwrap_or(Aggregate::Mean), figure, of)?;
    if matches!(aggregate, None | Some(Aggregate::Mean)) && values.of == Of::Runs {
        (value.sample, value.origin) = (values.values.clone(), origin);
    }
    Ok(value)
}

fn seconds(ns: u64) -> String {
    plimsoll_record::numbers::decimal(ns as f64 / 1e9, if ns.is_multiple_of(1_000_000_000) { 0 } else { 3 }) + " s"
}

/// The extremes and the scatter of latencies, which are told as such.
fn within_cell(
    source: &Source<'_>,
    figure: Figure,
    values: &Values,
    aggregate: Option<Aggregate>,
) -> Result<Option<(f64, String)>, String> {
    let Some(aggregate) = aggregate else { return Ok(None) };
    let percentile = |percent: f64| {
        let direction = match values.operation {
            Operation::Read => Some(Direction::Read),
            Operation::Write => Some(Direction::Write),
            Operation::Sync | Operation::All | Operation::Phase(_) => None,
        };
        let asked = Asked { figure: Figure::Percentile(percent), direction, threads: None, is_assumed: false };
        figures::values(source, &asked).ok().map(|values| values.values[0])
    };
    let found = match (figure, aggregate) {
        (Figure::Latency, Aggregate::Lowest | Aggregate::Fastest) => percentile(0.0),
        (Figure::Latency, Aggregate::Highest | Aggregate::Slowest) => percentile(100.0),
        (Figure::Latency, Aggregate::Median) => percentile(50.0),
        (Figure::Latency, Aggregate::Deviation) => figures::latency_deviation(source.cell, values.operation),
        (_, Aggregate::Deviation | Aggregate::Spread | Aggregate::Range) => None,
        (_, Aggregate::Count) => Some(1.0),
        _ => return Ok(None),
    };
    let name = format!("{} {}", aggregate.name(), figure.name());
    found.map(|value| Some((value, name))).ok_or_else(|| format!("{}: it tells one {}", source.name(), figure.name()))
}

fn several_cells<'a>(cells: &[Answer<'a>], phrase: &Phrase) -> Result<Value<'a>, String> {
    let Some(aggregate) = phrase.aggregate else { return Err(ambiguous(phrase, cells)) };
    if cells.iter().any(|(_, _, values)| values.of != Of::One) {
        return Err(ambiguous(phrase, cells));
    }
    let figure = cells[0].1;
    if cells.iter().any(|(_, other, _)| *other != figure) {
        return Err("results of different kinds are meant: name a figure".to_owned());
    }
    let values: Vec<f64> = cells.iter().map(|(_, _, values)| values.values[0]).collect();
    aggregated(&values, aggregate, figure, "results")
}

fn ambiguous(phrase: &Phrase, cells: &[Answer<'_>]) -> String {
    let sources: Vec<Source<'_>> = cells.iter().map(|(source, ..)| *source).collect();
    let words = if phrase.selection.is_empty() { "it".to_owned() } else { phrase.selected() };
    format!("{words} may be any of {} results{}", cells.len(), selection::called(&sources))
}

/// One number of several.
fn aggregated<'a>(values: &[f64], aggregate: Aggregate, figure: Figure, of: &str) -> Result<Value<'a>, String> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)));
    let few = values.len() < 2;
    let aggregate_of = match aggregate {
        Aggregate::Fastest if figure.is_time() => Aggregate::Lowest,
        Aggregate::Fastest => Aggregate::Highest,
        Aggregate::Slowest if figure.is_time() => Aggregate::Highest,
        Aggregate::Slowest => Aggregate::Lowest,
        other => other,
    };
    let (number, dimension) = match aggregate_of {
        Aggregate::Mean => (mean(values), figure.dimension()),
        Aggregate::Median => (median(values), figure.dimension()),
        Aggregate::Lowest => (low, figure.dimension()),
        Aggregate::Sum => (values.iter().sum(), figure.dimension()),
        Aggregate::Count => (values.len() as f64, Dimension::PLAIN),
        Aggregate::Deviation | Aggregate::Spread | Aggregate::Range if few => {
            return Err(format!("one value has no {}", aggregate.name()));
        }
        Aggregate::Deviation => (variance(values).sqrt(), figure.dimension()),
        Aggregate::Spread => (variance(values).sqrt() / mean(values), Dimension::PLAIN),
        Aggregate::Range => (high - low, figure.dimension()),
        Aggregate::Highest | Aggregate::Fastest | Aggregate::Slowest => (high, figure.dimension()),
    };
    if !number.is_finite() {
        return Err(format!("the {} is no number", aggregate.name()));
    }
    let working = format!("{} of {} {of}", aggregate.name(), values.len());
    let shown = show::quantity(number, dimension);
    Ok(Value { working: Some(working), is_time: figure.is_time(), ..calculated(number, dimension, shown) })
}
