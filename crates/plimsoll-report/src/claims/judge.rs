//! What a clause says, set beside what the data say.

use plimsoll_measure::compare::{conclusion::MARGIN, permutation};
use plimsoll_measure::series::moments::variance;
use plimsoll_record::{figures::Operation, numbers};

use super::{
    Verdict,
    chance::{self, LEVEL, Test, p},
    evaluate::{Data, Scope, Value, one_cell},
    figures::Of,
    number::Number,
    rule, show, slip,
    statement::{Bound, Claim, Clause, Comparator, Expression, Operator, Phrase, Relation, Sense, Statement},
    unit::{Dimension, Kind},
    words::{Aggregate, Direction},
};

/// A verdict and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) verdict: Verdict,
    pub(super) text: String,
    /// Whether a difference was seen that was measured once.
    pub(super) is_single: bool,
}

impl Part {
    pub(super) const fn new(verdict: Verdict, text: String) -> Self {
        Self { verdict, text, is_single: false }
    }
}

type Judged = Result<Part, String>;

/// Judges a statement: the clauses in their order, each for every workload and direction that it is said of.
pub(super) fn statement(statement: &Statement, data: &Data<'_>) -> Vec<Part> {
    statement.clauses.iter().flat_map(|clause| parts(clause, data)).collect()
}

fn parts(clause: &Clause, data: &Data<'_>) -> Vec<Part> {
    let scope = Scope::of(clause);
    let is_each = |phrase: &&Phrase| phrase.direction == Some(Direction::Each);
    let directions = if clause.phrases().iter().any(is_each) {
        vec![Some(Direction::Read), Some(Direction::Write)]
    } else {
        vec![scope.direction]
    };
    let mut parts = Vec::new();
    for direction in &directions {
        let scope = scope.clone().of_direction(*direction);
        let label = direction.filter(|_| directions.len() > 1).map(|direction| direction.name().to_owned());
        if clause.each {
            parts.extend(every_workload(clause, &scope, label.as_deref(), data));
        } else {
            parts.push(part(clause, &scope.narrowed(clause, data), label.as_deref(), data));
        }
    }
    parts
}

/// A clause that is said of every workload that all of its names have.
fn every_workload(clause: &Clause, scope: &Scope, label: Option<&str>, data: &Data<'_>) -> Vec<Part> {
    let mut workloads: Option<Vec<String>> = None;
    for phrase in clause.phrases() {
        let cells = match data.cells(phrase, scope) {
            Ok(cells) => cells,
            Err(why) => return vec![no_data(label, why)],
        };
        let has = |workload: &String| cells.iter().any(|(source, ..)| source.cell.workload == *workload);
        workloads = Some(match workloads {
            Some(workloads) => workloads.into_iter().filter(has).collect(),
            None => cells.iter().fold(Vec::new(), |mut seen, (source, ..)| {
                if !seen.contains(&source.cell.workload) {
                    seen.push(source.cell.workload.clone());
                }
                seen
            }),
        });
    }
    let workloads = workloads.unwrap_or_default();
    if workloads.is_empty() {
        return vec![no_data(label, "no workload is told of all that are named".to_owned())];
    }
    let one = |workload: String| {
        let label = [label.unwrap_or_default(), &workload].join(" ").trim().to_owned();
        part(clause, &scope.clone().of_workload(workload), Some(&label), data)
    };
    workloads.into_iter().map(one).collect()
}

fn part(clause: &Clause, scope: &Scope, label: Option<&str>, data: &Data<'_>) -> Part {
    match relation(clause, scope, data) {
        Ok(part) => labelled(label, part),
        Err(why) => no_data(label, why),
    }
}

fn no_data(label: Option<&str>, text: String) -> Part {
    labelled(label, Part::new(Verdict::NoData, text))
}

fn labelled(label: Option<&str>, part: Part) -> Part {
    match label {
        Some(label) => Part { text: format!("{label}: {}", part.text), ..part },
        None => part,
    }
}

fn relation(clause: &Clause, scope: &Scope, data: &Data<'_>) -> Judged {
    if let (Expression::Number(number), Relation::Amount(bound, other @ Expression::Phrase(_))) =
        (&clause.subject, &clause.relation)
    {
        return amount(&data.value(other, scope)?, mirrored(*bound), number);
    }
    let subject = data.value(&clause.subject, scope)?;
    match &clause.relation {
        Relation::Amount(bound, Expression::Number(number)) => amount(&subject, *bound, number),
        // "is 4 times B", "is 40 % of B".
        Relation::Amount(bound, Expression::Binary(number, Operator::Multiply, of)) if share_of(number).is_some() => {
            let claim = Claim::One(*bound, share_of(number).expect("it was seen").clone());
            ratio(&subject, &claim, Comparator { direction: Sense::Higher, is_share: true }, &data.value(of, scope)?)
        }
        Relation::Amount(bound, other) => beside(&subject, *bound, &data.value(other, scope)?),
        Relation::Within(Expression::Number(low), Expression::Number(high)) => within(&subject, low, high),
        Relation::Within(low, high) => {
            let (low, high) = (data.value(low, scope)?, data.value(high, scope)?);
            let (above, below) = (beside(&subject, Bound::AtLeast, &low)?, beside(&subject, Bound::AtMost, &high)?);
            Ok(Part::new(above.verdict.max(below.verdict), format!("{}; {}", above.text, below.text)))
        }
        Relation::Ratio { claim, comparator, than } => ratio(&subject, claim, *comparator, &data.value(than, scope)?),
        Relation::Compare(comparator, than) => compare(&subject, comparator.direction, &data.value(than, scope)?),
        Relation::Consistent { is_more, than } => consistent(&subject, *is_more, &data.value(than, scope)?),
        Relation::Same(is_same, other) => same(&subject, *is_same, &data.value(other, scope)?),
        Relation::Extreme(extreme, of) => extreme_of(&clause.subject, &subject, *extreme, of.as_ref(), data),
    }
}

/// The number of "4 times" and of "40 % of".
fn share_of(expression: &Expression) -> Option<&Number> {
    match expression {
        Expression::Number(number) if matches!(number.unit.kind, Kind::Times | Kind::Percent) => Some(number),
        _ => None,
    }
}

const fn mirrored(bound: Bound) -> Bound {
    match bound {
        Bound::More => Bound::Less,
        Bound::AtLeast => Bound::AtMost,
        Bound::Less => Bound::More,
        Bound::AtMost => Bound::AtLeast,
        Bound::Exactly | Bound::About => bound,
    }
}

/// How a value came about, and what it is.
fn recomputed(value: &Value<'_>, shown: &str) -> String {
    match &value.working {
        Some(working) if working != shown => format!("{working} = {shown}"),
        _ => shown.to_owned(),
    }
}

fn amount(value: &Value<'_>, bound: Bound, claim: &Number) -> Judged {
    fits(value, claim)?;
    let verdict = rule::bounded(bound, claim, value.number);
    let shown = show::beside(value.number, value.dimension, claim);
    let text = format!("{}, claimed: {}{claim}", recomputed(value, &shown), bound.words());
    Ok(Part::new(verdict, text + &explanation(verdict, bound, claim, value)))
}

/// Whether a claim is one of such a quantity.
fn fits(value: &Value<'_>, claim: &Number) -> Result<(), String> {
    let dimension = claim.unit.dimension;
    let is_bare = dimension == Dimension::PLAIN && claim.unit.kind != Kind::Percent;
    match value.dimension {
        found if found == dimension => Ok(()),
        Dimension::RATE if is_bare => Ok(()),
        found @ (Dimension::BYTES | Dimension::BYTE_RATE | Dimension::SECONDS) if is_bare => {
            Err(format!("{claim} has no unit, and {} needs one", found.name()))
        }
        found => Err(format!("{claim} is {}, and {} is {}", dimension.name(), value.shown, found.name())),
    }
}

/// How far a claim is off, and what may have happened.
fn explanation(verdict: Verdict, bound: Bound, claim: &Number, value: &Value<'_>) -> String {
    if verdict != Verdict::DoesNotFollow {
        return String::new();
    }
    let mut text = match bound {
        Bound::Exactly | Bound::About => format!(" ({})", show::excess(claim.value, value.number)),
        _ => String::new(),
    };
    if bound == Bound::Exactly
        && let Some(slip) = slip::slip(claim, value)
    {
        text += "; ";
        text += &slip;
    }
    if let Some(other) = claim.otherwise {
        let read = claim.read_as(other);
        let digits = if other > claim.value { 0 } else { 3 };
        let shown = numbers::decimal(other / claim.unit.factor, digits);
        if rule::bounded(bound, &read, value.number) != Verdict::DoesNotFollow {
            text += &format!("; read as {shown} it would");
        } else if let Some(slip) = slip::slip(&read, value).filter(|_| bound == Bound::Exactly) {
            text += &format!("; read as {shown}: {slip}");
        }
    }
    text
}

fn beside(one: &Value<'_>, bound: Bound, other: &Value<'_>) -> Judged {
    comparable(one, other)?;
    let verdict = rule::compared(bound, one.number, other.number);
    let [left, right] = [one, other].map(|value| recomputed(value, &show::quantity(value.number, value.dimension)));
    let off = if verdict == Verdict::DoesNotFollow && matches!(bound, Bound::Exactly | Bound::About) {
        format!(" ({})", show::excess(other.number, one.number))
    } else {
        String::new()
    };
    Ok(Part::new(verdict, format!("{left}, claimed: {}{right}{off}", bound.words())))
}

fn comparable(one: &Value<'_>, other: &Value<'_>) -> Result<(), String> {
    if one.dimension == other.dimension {
        return Ok(());
    }
    Err(format!("{} and {} cannot be compared", one.dimension.name(), other.dimension.name()))
}

fn within(value: &Value<'_>, low: &Number, high: &Number) -> Judged {
    fits(value, low)?;
    fits(value, high)?;
    let shown = show::beside(value.number, value.dimension, high);
    let text = format!("{}, claimed: between {low} and {high}", recomputed(value, &shown));
    Ok(Part::new(rule::between(low, high, value.number), text))
}

/// Whether a sense is that of a larger number.
const fn is_larger(sense: Sense, value: &Value<'_>) -> bool {
    match sense {
        Sense::Higher => true,
        Sense::Lower => false,
        Sense::Faster => !value.is_time,
        Sense::Slower => value.is_time,
    }
}

fn ratio(one: &Value<'_>, claim: &Claim, comparator: Comparator, other: &Value<'_>) -> Judged {
    comparable(one, other)?;
    let larger = is_larger(comparator.direction, one);
    let (dividend, divisor) = if larger { (one, other) } else { (other, one) };
    let of = |unit: Kind| match (unit, comparator.is_share) {
        (Kind::Percent, false) if larger => one.number / other.number - 1.0,
        (Kind::Percent, false) => 1.0 - one.number / other.number,
        (Kind::Orders, _) => (dividend.number / divisor.number).log10(),
        _ => dividend.number / divisor.number,
    };
    let (verdict, value, like) = match claim {
        Claim::One(bound, number) => {
            let value = of(number.unit.kind);
            (rule::bounded(*bound, number, value), value, number)
        }
        Claim::Between(low, high) => (rule::between(low, high, of(high.unit.kind)), of(high.unit.kind), high),
    };
    if !value.is_finite() {
        return Err(format!("{} and {} have no ratio", one.shown, other.shown));
    }
    let quotient = if like.unit.kind == Kind::Percent && !comparator.is_share {
        let sign = if value < 0.0 { "" } else { "+" };
        let change = numbers::decimal((one.number / other.number - 1.0) * 100.0, like.decimals() + 1);
        let sign = if larger { sign } else { if one.number > other.number { "+" } else { "" } };
        format!("{} against {}: {sign}{change} %", one.shown, other.shown)
    } else {
        format!("{} / {} = {}", dividend.operand(), divisor.operand(), show::beside(value, Dimension::PLAIN, like))
    };
    let claimed = comparator.to_string();
    let claimed = claimed.trim_end_matches(" than").trim_end_matches(" as");
    let off = match (verdict, claim) {
        (Verdict::DoesNotFollow, Claim::One(Bound::Exactly | Bound::About, number)) if value > 0.0 => {
            format!(" ({})", show::excess(number.value, value))
        }
        _ => String::new(),
    };
    let chance = chance::test(one, other).map_or_else(String::new, |test| format!("; {}", test.text));
    Ok(Part::new(verdict, format!("{quotient}, claimed: {claim} {claimed}{off}{chance}")))
}

/// Two values and by how much the first is more.
fn difference(one: &Value<'_>, other: &Value<'_>) -> String {
    let change = (one.number / other.number - 1.0) * 100.0;
    let digits = if change.abs() < 10.0 { 2 } else { usize::from(change.abs() < 100.0) };
    let sign = if change < 0.0 { "" } else { "+" };
    format!("{} against {}: {sign}{} %", one.shown, other.shown, numbers::decimal(change, digits))
}

fn compare(one: &Value<'_>, sense: Sense, other: &Value<'_>) -> Judged {
    comparable(one, other)?;
    let holds = if is_larger(sense, one) { one.number > other.number } else { one.number < other.number };
    Ok(beyond_chance(one, other, holds, difference(one, other)))
}

/// What follows of two sides that differ as it is said: only what is beyond chance.
fn beyond_chance(one: &Value<'_>, other: &Value<'_>, holds: bool, text: String) -> Part {
    let (found, how) = match chance::test(one, other) {
        Some(Test { p_value, text }) if p_value < LEVEL => (holds, text),
        Some(Test { text, .. }) => (false, format!("no difference found, {text}")),
        None => (holds, String::new()),
    };
    let verdict = if found { Verdict::Follows } else { Verdict::DoesNotFollow };
    differing(verdict, text, &how)
}

/// A difference, and how it is known not to be chance; nothing of what was measured once.
fn differing(verdict: Verdict, text: String, how: &str) -> Part {
    if how.is_empty() {
        return Part { is_single: true, ..Part::new(verdict, text) };
    }
    Part::new(verdict, format!("{text}; {how}"))
}

fn same(one: &Value<'_>, is_same: bool, other: &Value<'_>) -> Judged {
    comparable(one, other)?;
    let (differs, how) = match chance::test(one, other) {
        Some(Test { p_value, text }) if p_value < LEVEL => (true, format!("a difference, {text}")),
        Some(Test { text, .. }) => (false, format!("no difference found, {text}")),
        None => {
            let ratio = one.number / other.number;
            (!(1.0 / (1.0 + MARGIN)..=1.0 + MARGIN).contains(&ratio), String::new())
        }
    };
    let verdict = if differs == is_same { Verdict::DoesNotFollow } else { Verdict::Follows };
    Ok(differing(verdict, difference(one, other), &how))
}

/// Whether one side scatters less, beyond chance.
fn consistent(one: &Value<'_>, is_more: bool, other: &Value<'_>) -> Judged {
    comparable(one, other)?;
    if one.sample.len() < 3 || other.sample.len() < 3 {
        return Err("how consistent something is takes at least three runs of each".to_owned());
    }
    let deviations = [one, other].map(|value| variance(&value.sample).sqrt());
    let p_value = permutation::variances_p(&one.sample, &other.sample);
    let holds = (deviations[0] < deviations[1]) == is_more && p_value.is_some_and(|p_value| p_value < LEVEL);
    let [first, second] = deviations.map(|deviation| show::quantity(deviation, one.dimension));
    let how = p_value.map_or_else(|| "no scatter to compare".to_owned(), |value| format!("F test p = {}", p(value)));
    let found = if p_value.is_some_and(|p_value| p_value < LEVEL) { "" } else { "no difference found, " };
    let verdict = if holds { Verdict::Follows } else { Verdict::DoesNotFollow };
    let text = format!(
        "standard deviations of {} and {} runs: {first} against {second}; {found}{how}",
        one.sample.len(),
        other.sample.len()
    );
    Ok(Part::new(verdict, text))
}

/// Whether a cell is the most or the least of those with its workload, or of those that are named.
fn extreme_of(
    subject: &Expression,
    value: &Value<'_>,
    extreme: Aggregate,
    of: Option<&Phrase>,
    data: &Data<'_>,
) -> Judged {
    let (Expression::Phrase(phrase), Some(origin)) = (subject, value.origin) else {
        return Err("only a figure of one result can be the most or the least".to_owned());
    };
    let workload = origin.source.cell.workload.clone();
    let everything = Phrase { selection: Vec::new(), aggregate: None, ..phrase.clone() };
    let (others, scope) = match of {
        Some(of) => (of.clone(), Scope::default()),
        None => (everything, Scope::default().of_workload(workload)),
    };
    let others = Phrase {
        figure: Some(origin.figure),
        direction: others.direction.or(phrase.direction).or(direction_of(origin.operation)),
        aggregate: None,
        ..others
    };
    let cells = data.cells(&others, &scope)?;
    let larger = match extreme {
        Aggregate::Fastest => !value.is_time,
        Aggregate::Slowest => value.is_time,
        Aggregate::Highest => true,
        _ => false,
    };
    // Runs are set beside runs by their averages; of threads each is a rival.
    let rival = |(source, figure, values)| {
        one_cell(&source, figure, &values, (values.of == Of::Threads).then_some(extreme))
            .ok()
            .map(|rival| (source, rival))
    };
    let rivals = cells.into_iter().filter(|(source, ..)| !source.is(&origin.source)).filter_map(rival);
    let ahead = |one: &Value<'_>, other: &Value<'_>| {
        if larger { one.number > other.number } else { one.number < other.number }
    };
    let best = rivals.reduce(|best, rival| if ahead(&rival.1, &best.1) { rival } else { best });
    let Some((source, best)) = best else { return Err("there is nothing else to compare with".to_owned()) };
    let text = format!("{} against {} of {}", value.shown, best.shown, source.name());
    Ok(beyond_chance(value, &best, ahead(value, &best), text))
}

const fn direction_of(operation: Operation) -> Option<Direction> {
    match operation {
        Operation::Read => Some(Direction::Read),
        Operation::Write => Some(Direction::Write),
        Operation::Sync | Operation::All | Operation::Phase(_) => None,
    }
}
