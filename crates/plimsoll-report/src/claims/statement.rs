//! What a statement says, as data, and how it is written back.

use std::fmt::{self, Write as _};

use super::{
    number::Number,
    words::{Aggregate, Direction, Expected, Figure, Threads},
};

/// Clauses that have to hold together.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub(super) clauses: Vec<Clause>,
}

/// One thing that is said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    /// Whether it is said of every workload by itself.
    pub(super) each: bool,
    pub(super) subject: Expression,
    pub(super) relation: Relation,
}

/// What is said of a subject.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Relation {
    /// It is so much.
    Amount(Bound, Expression),
    /// It lies between two amounts.
    Within(Expression, Expression),
    /// It is so many times, or by so many percent, more or less.
    Ratio { claim: Claim, comparator: Comparator, than: Expression },
    /// It is more or less.
    Compare(Comparator, Expression),
    /// It scatters less, or more.
    Consistent { is_more: bool, than: Expression },
    /// It is the most or the least of several.
    Extreme(Aggregate, Option<Phrase>),
    /// Both are the same, or are not.
    Same(bool, Expression),
}

/// How a number is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exactly,
    About,
    More,
    AtLeast,
    Less,
    AtMost,
}

/// A number that is claimed of a ratio.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Claim {
    One(Bound, Number),
    Between(Number, Number),
}

/// In which sense there is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparator {
    pub(super) direction: Sense,
    /// `40 % as fast as` instead of `40 % faster than`.
    pub(super) is_share: bool,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Faster,
    Slower,
    Higher,
    Lower,
}

/// Something that has a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(Number),
    Phrase(Phrase),
    Negative(Box<Self>),
    Binary(Box<Self>, Operator, Box<Self>),
}

/// An operation of arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// The name of a figure: what it is, and of what. What is not said is that of the other side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Phrase {
    pub(super) expected: Option<Expected>,
    pub(super) aggregate: Option<Aggregate>,
    pub(super) direction: Option<Direction>,
    pub(super) figure: Option<Figure>,
    pub(super) threads: Option<Threads>,
    /// Each has to occur, in one of its spellings.
    pub(super) selection: Vec<Vec<String>>,
}

impl Phrase {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Its words, as they select.
    pub(super) fn selected(&self) -> String {
        let words = |spellings: &Vec<String>| {
            spellings.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
        };
        self.selection.iter().map(words).collect::<Vec<_>>().join(" ")
    }
}

impl Expression {
    /// All names of figures in it.
    pub(super) fn phrases<'a>(&'a self, found: &mut Vec<&'a Phrase>) {
        match self {
            Self::Number(_) => {}
            Self::Phrase(phrase) => found.push(phrase),
            Self::Negative(inner) => inner.phrases(found),
            Self::Binary(left, _, right) => {
                left.phrases(found);
                right.phrases(found);
            }
        }
    }

    const fn binds(&self) -> u8 {
        match self {
            Self::Binary(_, Operator::Add | Operator::Subtract, _) => 1,
            Self::Binary(..) => 2,
            Self::Negative(_) => 3,
            Self::Number(_) | Self::Phrase(_) => 4,
        }
    }

    fn within(&self, binds: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.binds() < binds { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl Clause {
    /// All names of figures in it.
    pub(super) fn phrases(&self) -> Vec<&Phrase> {
        let mut found = Vec::new();
        self.subject.phrases(&mut found);
        match &self.relation {
            Relation::Amount(_, other)
            | Relation::Ratio { than: other, .. }
            | Relation::Compare(_, other)
            | Relation::Consistent { than: other, .. }
            | Relation::Same(_, other) => other.phrases(&mut found),
            Relation::Within(low, high) => {
                low.phrases(&mut found);
                high.phrases(&mut found);
            }
            Relation::Extreme(_, of) => found.extend(of),
        }
        found
    }
}

impl Operator {
    pub(super) const fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
        }
    }
}

impl Bound {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Exactly => "",
            Self::About => "about ",
            Self::More => "more than ",
            Self::AtLeast => "at least ",
            Self::Less => "less than ",
            Self::AtMost => "at most ",
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Exactly => "=",
            Self::About => "~",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(bound, number) => write!(f, "{}{number}", bound.words()),
            Self::Between(low, high) => write!(f, "between {low} and {high}"),
        }
    }
}

impl fmt::Display for Comparator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.direction, self.is_share) {
            (Sense::Faster, true) => "as fast as",
            (Sense::Slower, true) => "as slow as",
            (Sense::Higher, true) => "as much as",
            (Sense::Lower, true) => "as little as",
            (Sense::Faster, false) => "faster than",
            (Sense::Slower, false) => "slower than",
            (Sense::Higher, false) => "higher than",
            (Sense::Lower, false) => "lower than",
        })
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, clause) in self.clauses.iter().enumerate() {
            write!(f, "{}{clause}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.subject)?;
        match &self.relation {
            Relation::Amount(bound, amount) => write!(f, "{} {amount}", bound.sign())?,
            Relation::Within(low, high) => write!(f, "is between {low} and {high}")?,
            Relation::Ratio { claim, comparator, than } => write!(f, "is {claim} {comparator} {}", Apart(than))?,
            Relation::Compare(comparator, than) => write!(f, "is {comparator} {}", Apart(than))?,
            Relation::Consistent { is_more, than } => {
                write!(f, "is {} consistent than {}", if *is_more { "more" } else { "less" }, Apart(than))?;
            }
            Relation::Extreme(extreme, None) => write!(f, "is the {}", extreme.name())?,
            Relation::Extreme(extreme, Some(of)) => write!(f, "is the {} of {of}", extreme.name())?,
            Relation::Same(true, other) => write!(f, "is the same as {}", Apart(other))?,
            Relation::Same(false, other) => write!(f, "is different from {}", Apart(other))?,
        }
        if self.each { f.write_str(" in every workload") } else { Ok(()) }
    }
}

/// What stands behind "than": a calculation between parentheses, because "more than 4" says something else.
struct Apart<'a>(&'a Expression);

impl fmt::Display for Apart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self.0, Expression::Phrase(_)) { write!(f, "{}", self.0) } else { write!(f, "({})", self.0) }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Phrase(phrase) => write!(f, "{phrase}"),
            Self::Negative(inner) => {
                f.write_char('-')?;
                inner.within(3, f)
            }
            Self::Binary(left, operator, right) => {
                left.within(self.binds(), f)?;
                write!(f, " {} ", operator.sign())?;
                // What stands behind is evaluated first only between parentheses.
                right.within(self.binds() + 1, f)
            }
        }
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        match self.expected {
            Some(Expected::Catalog(level)) => words.push(format!("expected{}", level.name())),
            Some(Expected::Assumed) => words.push("assumed".to_owned()),
            None => {}
        }
        words.extend(self.aggregate.map(|aggregate| aggregate.name().to_owned()));
        words.extend(self.direction.map(|direction| direction.name().to_owned()));
        words.extend(self.figure.map(Figure::name));
        let threads = match self.threads {
            Some(Threads::All) => Some("of threads".to_owned()),
            Some(Threads::Odd) => Some("of odd threads".to_owned()),
            Some(Threads::Even) => Some("of even threads".to_owned()),
            Some(Threads::One(number)) => Some(format!("of thread {number}")),
            None => None,
        };
        words.extend(threads);
        if !self.selection.is_empty() {
            let of = if words.is_empty() { "" } else { "of " };
            words.push(format!("{of}{}", self.selected()));
        }
        f.write_str(&words.join(" "))
    }
}
