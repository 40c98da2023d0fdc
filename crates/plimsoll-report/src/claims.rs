//! What people say about numbers, checked against the numbers: "A is 4 times faster than B", "the average is 3h 14m".
//!
//! A [`Statement`] is read by a grammar of its own (`docs/claims.md`), evaluated on records by rule alone, and gets one
//! of four words, always with the recomputation. Read [`Claims::read`] first, then [`Claims::judge`].

use std::fmt;

use plimsoll_record::{
    figures::Operation,
    record::{Cell, Record},
};
use serde::Serialize;
use thiserror::Error;

pub(crate) mod chance;
mod evaluate;
mod figures;
mod file;
mod grammar;
mod judge;
mod number;
mod rule;
mod selection;
mod show;
mod slip;
mod statement;
#[cfg(test)]
mod tests;
pub mod text;
mod token;
pub(crate) mod unit;
mod words;

use self::{
    evaluate::Data,
    figures::Source,
    file::{Field, place, rows},
    judge::Part,
};
pub use self::{
    number::Thousands,
    statement::Statement,
    words::{Figure, Level},
};

/// The schema of judged claims as JSON.
pub const SCHEMA: &str = "plimsoll-claims/1";

/// What becomes of a claim. In the order in which parts decide the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The data say so.
    Follows,
    /// They do but for rounding.
    Rounding,
    /// The data do not say.
    NoData,
    /// They say something else.
    DoesNotFollow,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Follows, Self::Rounding, Self::DoesNotFollow, Self::NoData];

    /// The words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Follows => "follows",
            Self::Rounding => "rounding",
            Self::NoData => "no data",
            Self::DoesNotFollow => "does not follow",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is wrong in a text, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ParseError {
    /// The byte at which reading stopped.
    pub at: usize,
    /// What is wrong, and what to write.
    pub message: String,
}

/// Where something stands in a file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

/// Why a file of claims cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {}, column {}: {message}", place.line, place.column)]
pub struct FileError {
    /// Where.
    pub place: Place,
    /// What is wrong, and what to write.
    pub message: String,
}

/// A figure that nobody measured, asked of whoever knows what the storage is sold as.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// The record of the result that it belongs to.
    pub record: &'a Record,
    /// The result.
    pub cell: &'a Cell,
    /// Which figure.
    pub figure: Figure,
    /// Of which operations.
    pub operation: Operation,
    /// Which limit.
    pub level: Level,
}

/// Whoever knows what to expect.
pub trait Expectations {
    /// The figure in operations, bytes and seconds; `None` when it is not known.
    fn expected(&self, asked: &Expectation<'_>) -> Option<f64>;
}

/// Nobody knows what to expect.
#[derive(Clone, Copy, Debug)]
pub struct NothingExpected;

impl Expectations for NothingExpected {
    fn expected(&self, _: &Expectation<'_>) -> Option<f64> {
        None
    }
}

impl Statement {
    /// Reads a statement.
    pub fn parse(text: &str, thousands: Thousands) -> Result<Self, ParseError> {
        grammar::statement(text, thousands)
    }
}

/// Claims as somebody wrote them down.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    claims: Vec<WrittenClaim>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
struct WrittenClaim {
    line: usize,
    id: Option<String>,
    claim: String,
    check: Option<String>,
    /// What it says; or why it cannot be read, which only matters when it is evaluated.
    statement: Result<Statement, String>,
}

/// Claims with their verdicts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedClaims {
    /// The schema: [`SCHEMA`].
    pub schema: &'static str,
    /// In the order of the file.
    pub claims: Vec<JudgedClaim>,
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedClaim {
    /// Where it stands in its file.
    pub line: usize,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its wording.
    pub claim: String,
    /// What was evaluated instead of the wording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The verdict: that of the worst part.
    pub verdict: Verdict,
    /// The recomputation, or why there is none.
    pub recomputation: String,
    /// What was evaluated one by one.
    pub parts: Vec<JudgedPart>,
}

/// One thing that a claim says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedPart {
    /// The verdict.
    pub verdict: Verdict,
    /// The recomputation.
    pub recomputation: String,
}

impl Claims {
    /// Reads comma-separated values with a header: `claim`, and perhaps `id`, `check` and `thousands`. A claim that is
    /// no statement is read all the same; a check has to be one.
    pub fn read(file: &str, thousands: Thousands) -> Result<Self, FileError> {
        let problem = |error: ParseError| FileError { place: place(file, error.at), message: error.message };
        let rows = rows(file).map_err(problem)?;
        let Some((header, rows)) = rows.split_first() else {
            let message = "there are no claims: write a header with the column claim, and a line for each".to_owned();
            return Err(FileError { place: Place { line: 1, column: 1 }, message });
        };
        let column = |name: &str| header.iter().position(|field| field.text.eq_ignore_ascii_case(name));
        let Some(claim) = column("claim") else {
            let names: Vec<&str> = header.iter().map(|field| field.text.as_str()).collect();
            let message = format!("the header has no column claim: it has {}", names.join(", "));
            return Err(FileError { place: header[0].place(0, file), message });
        };
        let columns = Columns { claim, id: column("id"), check: column("check"), thousands: column("thousands") };
        let read = |row: &Vec<Field>| {
            if row.len() != header.len() {
                let (has, wants) = (row.len(), header.len());
                let message = format!("{has} cells below a header of {wants}: quote cells that have commas in them");
                return Err(FileError { place: row[0].place(0, file), message });
            }
            columns.claim(row, file, thousands)
        };
        Ok(Self { claims: rows.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Judges every claim by what the records say.
    pub fn judge(&self, records: &[&Record], expectations: &dyn Expectations) -> JudgedClaims {
        let of = |record: &&'_ Record| record.cells.len();
        let mut sources: Vec<Source<'_>> = Vec::with_capacity(records.iter().map(of).sum());
        for &record in records {
            sources.extend(record.cells.iter().map(|cell| Source { record, cell }));
        }
        let data = Data::new(&sources, expectations);
        JudgedClaims { schema: SCHEMA, claims: self.claims.iter().map(|claim| claim.judge(&data)).collect() }
    }
}

/// Where in a row what stands.
struct Columns {
    claim: usize,
    id: Option<usize>,
    check: Option<usize>,
    thousands: Option<usize>,
}

impl Columns {
    fn claim(&self, row: &[Field], file: &str, thousands: Thousands) -> Result<WrittenClaim, FileError> {
        let filled =
            |column: Option<usize>| column.map(|column| &row[column]).filter(|field| !field.text.trim().is_empty());
        let at = |field: &Field, offset, message| FileError { place: field.place(offset, file), message };
        let thousands = match self.thousands.map(|column| &row[column]).filter(|field| !field.text.is_empty()) {
            Some(field) => field.text.parse().map_err(|message| at(field, 0, message))?,
            None => thousands,
        };
        let (claim, check) = (&row[self.claim], filled(self.check));
        let statement = match check {
            Some(check) => match Statement::parse(&check.text, thousands) {
                Ok(statement) => Ok(statement),
                Err(error) => return Err(at(check, error.at, error.message)),
            },
            None if claim.text.trim().is_empty() => {
                return Err(at(claim, 0, "a row without a claim: write one, or leave the line out".to_owned()));
            }
            None => Statement::parse(&claim.text, thousands).map_err(|error| {
                if grammar::names_a_figure(&claim.text, thousands) {
                    format!("no statement that can be evaluated: {}", error.message)
                } else {
                    "no figure of the data is named".to_owned()
                }
            }),
        };
        Ok(WrittenClaim {
            line: claim.place(0, file).line,
            id: filled(self.id).map(|field| field.text.clone()),
            claim: claim.text.clone(),
            check: check.map(|check| check.text.clone()),
            statement,
        })
    }
}

impl WrittenClaim {
    fn judge(&self, data: &Data<'_>) -> JudgedClaim {
        let parts = match &self.statement {
            Ok(statement) => judge::statement(statement, data),
            Err(why) => {
                vec![Part::new(Verdict::NoData, why.clone())]
            }
        };
        let verdict = parts.iter().map(|part| part.verdict).max().unwrap_or(Verdict::NoData);
        JudgedClaim {
            line: self.line,
            id: self.id.clone(),
            claim: self.claim.clone(),
            check: self.check.clone(),
            verdict,
            recomputation: summary(&parts, verdict),
            parts: parts
                .into_iter()
                .map(|part| JudgedPart { verdict: part.verdict, recomputation: part.text })
                .collect(),
        }
    }
}

/// What is to be said of a difference between numbers that were measured once.
const ONCE: &str = "; single values: nothing says whether it is chance";

/// The parts that decide, a few of them.
fn summary(parts: &[Part], verdict: Verdict) -> String {
    const SHOWN_MAX: usize = 8;
    let deciding: Vec<&Part> = parts.iter().filter(|part| part.verdict == verdict).collect();
    let mut texts: Vec<&str> = deciding.iter().map(|part| part.text.as_str()).collect();
    let more = texts.len().saturating_sub(SHOWN_MAX);
    texts.truncate(SHOWN_MAX);
    let count = match (parts.len(), deciding.len()) {
        (all, deciding) if all == deciding => String::new(),
        (all, deciding) => format!("{deciding} of {all}: "),
    };
    let more = if more > 0 { format!(" | and {more} more") } else { String::new() };
    // What holds for several parts is said once.
    let once = if deciding.iter().any(|part| part.is_single) { ONCE } else { "" };
    format!("{count}{}{more}{once}", texts.join(" | "))
}

impl JudgedClaims {
    /// Whether any claim does not follow.
    pub fn any_does_not_follow(&self) -> bool {
        self.claims.iter().any(|claim| claim.verdict == Verdict::DoesNotFollow)
    }
}
