//! Rows of any table, by what somebody says its columns are.

use std::{fmt, str::FromStr};

use plimsoll_record::told::{Direction, FoundResult, Measured, Percentile, Source, Transfers};
use thiserror::Error;

use super::{
    RESULTS_MAX, checks,
    numbers::{bytes, bytes_in, nanoseconds_in, number, with_unit},
    passage::Passage,
    result,
};

/// What may stand between cells.
const SEPARATORS: [u8; 4] = *b",;\t|";
/// What people write where there is no number.
const NOTHING: [&str; 6] = ["", "-", "n/a", "na", "nan", "none"];
/// Names of columns that are listed when one is not found.
const NAMES_MAX: usize = 50;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Target,
    Workload,
    Pattern,
    ReadPercent,
    BlockSize,
    QueueDepth,
    Jobs,
    Elapsed,
    Errors,
    Number(Operations, Number),
}

impl Field {
    const fn is_number(self) -> bool {
        !matches!(self, Self::Target | Self::Workload | Self::Pattern)
    }
}

/// Which operations a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operations {
    Read,
    Write,
    All,
}

/// Which number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Operations,
    Bytes,
    Iops,
    Throughput,
    Latency,
    /// In millionths of a percent.
    Percentile(u32),
}

const FIELDS: [(&str, Field); 9] = [
    ("target", Field::Target),
    ("workload", Field::Workload),
    ("pattern", Field::Pattern),
    ("read-percent", Field::ReadPercent),
    ("block-size", Field::BlockSize),
    ("queue-depth", Field::QueueDepth),
    ("jobs", Field::Jobs),
    ("elapsed", Field::Elapsed),
    ("errors", Field::Errors),
];

const NUMBERS: [(&str, Number); 12] = [
    ("operations", Number::Operations),
    ("bytes", Number::Bytes),
    ("iops", Number::Iops),
    ("throughput", Number::Throughput),
    ("latency", Number::Latency),
    ("latency-min", Number::Percentile(0)),
    ("latency-p50", Number::Percentile(50_000_000)),
    ("latency-p90", Number::Percentile(90_000_000)),
    ("latency-p95", Number::Percentile(95_000_000)),
    ("latency-p99", Number::Percentile(99_000_000)),
    ("latency-p99.9", Number::Percentile(99_900_000)),
    ("latency-max", Number::Percentile(100_000_000)),
];

/// What is in which column, as `read-throughput[MiB/s]=Read`.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnOf {
    /// What it was said to be, as written.
    word: String,
    field: Field,
    /// What the values are multiplied with, when it was said.
    unit: Option<f64>,
    column: String,
}

impl FromStr for ColumnOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (what, column) = text
            .split_once('=')
            .filter(|(_, column)| !column.trim().is_empty())
            .ok_or_else(|| format!("\"{text}\" names no column: write WHAT=COLUMN, as in read-iops=IOPS"))?;
        let (word, unit_text) = match what.split_once('[') {
            Some((word, rest)) => (word, rest.strip_suffix(']')),
            None => (what, None),
        };
        let field = field(word).ok_or_else(|| {
            let numbers = NUMBERS.map(|(name, _)| name).join(", ");
            let fields = FIELDS.map(|(name, _)| name).join(", ");
            format!("\"{word}\" is nothing that is read: choose one of {fields}; or, alone or behind read- or write-, {numbers}")
        })?;
        let unit = unit_text
            .map(|unit| {
                unit_of(field, unit).ok_or_else(|| format!("\"{unit}\" is no unit of {word}: {}", example(field)))
            })
            .transpose()?;
        Ok(Self { word: word.to_owned(), field, unit, column: column.trim().to_owned() })
    }
}

fn field(word: &str) -> Option<Field> {
    let of = |word: &str| NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    let named = FIELDS.iter().find(|(name, _)| *name == word).map(|(_, field)| *field);
    named
        .or_else(|| of(word.strip_prefix("read-")?).map(|number| Field::Number(Operations::Read, number)))
        .or_else(|| of(word.strip_prefix("write-")?).map(|number| Field::Number(Operations::Write, number)))
        .or_else(|| of(word).map(|number| Field::Number(Operations::All, number)))
}

/// What values of a field are multiplied with in a unit; `None` when it is no unit of the field.
fn unit_of(field: Field, unit: &str) -> Option<f64> {
    match field {
        Field::Number(_, Number::Throughput) => bytes_in(unit.strip_suffix("/s")?),
        Field::Number(_, Number::Latency | Number::Percentile(_)) | Field::Elapsed => nanoseconds_in(unit),
        // Nobody writes blocks of 4,000 bytes.
        Field::BlockSize if unit.eq_ignore_ascii_case("kb") => Some(1024.0),
        Field::Number(_, Number::Bytes) | Field::BlockSize => bytes_in(unit),
        Field::Number(_, Number::Iops | Number::Operations) => match unit {
            "k" | "K" => Some(1e3),
            "M" => Some(1e6),
            _ => None,
        },
        _ => None,
    }
}

const fn example(field: Field) -> &'static str {
    match field {
        Field::Number(_, Number::Throughput) => "write one as in [MiB/s] or [MB/s]",
        Field::Number(_, Number::Latency | Number::Percentile(_)) | Field::Elapsed => "write one as in [ms] or [us]",
        Field::Number(_, Number::Bytes) | Field::BlockSize => "write one as in [KiB] or [MB]",
        _ => "leave it out",
    }
}

/// Whether a number says nothing without a unit.
const fn needs_unit(field: Field) -> bool {
    matches!(field, Field::Number(_, Number::Throughput | Number::Latency | Number::Percentile(_)) | Field::Elapsed)
}

/// What the columns of a table are.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnMap(Vec<ColumnOf>);

impl ColumnMap {
    /// Of columns that somebody named.
    pub const fn new(columns: Vec<ColumnOf>) -> Self {
        Self(columns)
    }
}

/// Why rows cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ColumnProblem {
    /// No line names all columns.
    #[error("no line names {}: {}", Names(missing), Names::seen(best))]
    NoHeader {
        /// Columns that were asked for and are not in the line that names most.
        missing: Vec<String>,
        /// What that line names.
        best: Vec<String>,
    },
    /// A number without a unit.
    #[error("column \"{column}\" does not say its unit: say it, as in {word}[{unit}]={column}")]
    NoUnit {
        /// The column.
        column: String,
        /// What it was said to be.
        word: String,
        /// A unit.
        unit: &'static str,
    },
    /// What is no number.
    #[error("line {line}: \"{value}\" in column \"{column}\" is not a number that is understood")]
    Value {
        /// The line, from 1.
        line: usize,
        /// The column.
        column: String,
        /// What stands there.
        value: String,
    },
    /// A row that is cut off.
    #[error("line {line} has {have} columns, and the line that names them {want}")]
    Ragged {
        /// The line, from 1.
        line: usize,
        /// Its columns.
        have: usize,
        /// Columns that have names.
        want: usize,
    },
    /// Two columns for one thing.
    #[error("{0} is said of two columns: name one")]
    Twice(String),
    /// One name of two columns.
    #[error("several columns are called \"{0}\": rename one")]
    Ambiguous(String),
    /// Nothing that could be shown.
    #[error("no column is a number: name one, as in iops=COLUMN")]
    NoNumber,
}

/// Names in a sentence.
struct Names<'a>(&'a [String]);

impl Names<'_> {
    fn seen(names: &[String]) -> String {
        let seen = if names.is_empty() {
            "no line has columns".to_owned()
        } else {
            format!("the columns are {}", Names(names))
        };
        format!("{seen}; a comma, a semicolon, a tab or | is between two, and blanks are not")
    }
}

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            write!(f, "{}\"{name}\"", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A column that was asked for: its place, and what its values are multiplied with.
struct Place<'a> {
    of: &'a ColumnOf,
    index: usize,
    unit: Option<f64>,
}

/// The rows of a table, by what its columns are.
pub fn rows(text: &str, columns: &ColumnMap) -> Result<Vec<FoundResult>, ColumnProblem> {
    let passage = Passage::of(text);
    if !columns.0.iter().any(|of| matches!(of.field, Field::Number(..))) {
        return Err(ColumnProblem::NoNumber);
    }
    let twice = columns
        .0
        .iter()
        .enumerate()
        .find(|(index, of)| columns.0[..*index].iter().any(|other| other.field == of.field));
    if let Some((_, of)) = twice {
        return Err(ColumnProblem::Twice(of.word.clone()));
    }
    let (header, separator, names) = header(&passage, columns)?;
    let is_named = |of: &&ColumnOf| names.iter().filter(|name| name.eq_ignore_ascii_case(&of.column)).count() > 1;
    if let Some(of) = columns.0.iter().find(is_named) {
        return Err(ColumnProblem::Ambiguous(of.column.clone()));
    }
    let place = |of: &'_ ColumnOf| names.iter().position(|name| name.eq_ignore_ascii_case(&of.column));
    let places = columns.0.iter().filter_map(|of| Some((of, place(of)?)));
    let mut places: Vec<Place<'_>> = places
        .map(|(of, index)| {
            let unit = of.unit.or_else(|| unit_in_name(of.field, &names[index]));
            Place { of, index, unit }
        })
        .collect();
    let table = below(&passage, header, separator).join("\n");
    let decimal = decimal_mark(&table, separator, &places);
    let mut shares = places.iter_mut().filter(|place| place.of.field == Field::ReadPercent);
    if let Some(place) = shares.next().filter(|place| are_shares(&table, separator, place, decimal)) {
        place.unit = Some(100.0);
    }
    let mut found = Vec::new();
    for record in reader(&table, separator).records() {
        let Ok(record) = record else { break };
        if found.len() > RESULTS_MAX {
            break;
        }
        let line = header + 1 + record.position().map_or(0, |position| position.line() as usize - 1);
        let cells: Vec<&str> = record.iter().collect();
        // The line below the names in Markdown.
        if cells.iter().all(|cell| cell.chars().all(|letter| matches!(letter, '-' | ':'))) {
            continue;
        }
        if cells.len() != names.len() {
            return Err(ColumnProblem::Ragged { line: line + 1, have: cells.len(), want: names.len() });
        }
        found.push(row(&passage, line, &cells, (&places, decimal))?);
    }
    Ok(found)
}

/// The lines of a table below its header. Empty ones may stand in it, where what follows has as many cells; text below
/// it has no separator, and does not begin with a number as a row does that was cut off.
fn below<'a, 'b>(passage: &'b Passage<'a>, header: usize, separator: u8) -> &'b [&'a str] {
    let lines = &passage.lines[header + 1..];
    let count = |line: &str| line.bytes().filter(|byte| *byte == separator).count();
    let of_header = count(passage.line(header));
    let is_cut_off = |line: &str| line.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let mut end = 0;
    while let Some(more) = lines[end..].iter().position(|line| !line.trim().is_empty()) {
        let line = lines[end + more];
        let is_row = if more > 0 { count(line) == of_header } else { count(line) > 0 || is_cut_off(line) };
        if !is_row && of_header > 0 {
            break;
        }
        end += more + 1;
    }
    &lines[..end]
}

/// The line that names all columns, what separates them, and their names.
fn header(passage: &Passage<'_>, columns: &ColumnMap) -> Result<(usize, u8, Vec<String>), ColumnProblem> {
    let asked: Vec<String> = columns.0.iter().map(|of| of.column.clone()).collect();
    let missing_in = |names: &[String]| -> Vec<String> {
        let is_missing = |column: &&String| !names.iter().any(|name| name.eq_ignore_ascii_case(column));
        asked.iter().filter(is_missing).cloned().collect()
    };
    let (mut missing, mut best) = (asked.clone(), Vec::new());
    for (index, line) in passage.each() {
        if asked.len() == 1 && line.trim().eq_ignore_ascii_case(&asked[0]) {
            return Ok((index, SEPARATORS[0], vec![line.trim().to_owned()]));
        }
        for separator in SEPARATORS.into_iter().filter(|separator| line.as_bytes().contains(separator)) {
            let names: Vec<String> = line.split(char::from(separator)).map(bare).collect();
            // Names that have a separator in them are in quotes, and then they are read as such.
            let is_quoted = line.contains('"') && asked.iter().all(|column| line.contains(column.as_str()));
            let names = if is_quoted { cells(line, separator) } else { names };
            let not_there = missing_in(&names);
            if not_there.is_empty() {
                return Ok((index, separator, names));
            }
            if not_there.len() < missing.len() || best.is_empty() {
                (missing, best) = (not_there, names);
            }
        }
    }
    best.retain(|name| !name.is_empty());
    best.truncate(NAMES_MAX);
    Err(ColumnProblem::NoHeader { missing, best })
}

fn bare(cell: &str) -> String {
    cell.trim().trim_matches('"').trim().to_owned()
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes())
}

/// The cells of a line.
fn cells(line: &str, separator: u8) -> Vec<String> {
    let record = reader(line, separator).records().next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(str::to_owned).collect()
}

/// The unit that stands in the name of a column, in brackets or at its end: `Read (MiB/s)`, `lat [ms]`, `latency_us`.
/// Counts have none: a letter may mean anything there.
fn unit_in_name(field: Field, name: &str) -> Option<f64> {
    if matches!(field, Field::Number(_, Number::Iops | Number::Operations)) {
        return None;
    }
    let in_brackets = name.split(['(', '[']).skip(1).filter_map(|rest| rest.split([')', ']']).next());
    let at_end = name.rsplit(['_', ' ']).next().filter(|_| name.contains(['_', ' ']));
    in_brackets.chain(at_end).find_map(|unit| unit_of(field, unit.trim()))
}

fn row(
    passage: &Passage<'_>,
    line: usize,
    cells: &[&str],
    (places, decimal): (&[Place<'_>], Option<char>),
) -> Result<FoundResult, ColumnProblem> {
    let mut transfers = Transfers::default();
    let (mut target, mut workload) = (None, None);
    for place in places {
        let cell = cells[place.index];
        if NOTHING.contains(&cell.to_ascii_lowercase().as_str()) {
            continue;
        }
        let wrong = || ColumnProblem::Value { line: line + 1, column: place.of.column.clone(), value: cell.to_owned() };
        let whole = || value(place, cell, decimal)?.ok_or_else(wrong).map(|value| Some(value.round() as u64));
        match place.of.field {
            Field::Target => target = Some(cell.to_owned()),
            Field::Workload => workload = Some(cell.to_owned()),
            Field::Pattern => transfers.pattern = Some(cell.to_ascii_lowercase()),
            Field::ReadPercent => {
                let percent = value(place, cell.trim_end_matches(['%', ' ']), decimal)?;
                let percent = percent.map(f64::round).filter(|percent| *percent <= 100.0);
                transfers.read_percent = Some(percent.ok_or_else(wrong)? as u8);
            }
            Field::BlockSize => {
                let size = bytes(&cell.to_ascii_uppercase()).filter(|_| place.unit.is_none());
                transfers.block_size_bytes = size.map_or_else(whole, |size| Ok(Some(size as u64)))?;
            }
            Field::QueueDepth => transfers.queue_depth = whole()?,
            Field::Jobs => transfers.jobs = whole()?,
            Field::Elapsed => transfers.elapsed_ns = whole()?,
            Field::Errors => transfers.errors = whole()?.filter(|errors| *errors > 0),
            Field::Number(operations, kind) => {
                let value = value(place, cell, decimal)?.ok_or_else(wrong)?;
                let direction = match operations {
                    Operations::Read => &mut transfers.read,
                    Operations::Write => &mut transfers.write,
                    Operations::All => &mut transfers.total,
                };
                set(direction.get_or_insert_default(), kind, value);
            }
        }
    }
    for direction in [&mut transfers.read, &mut transfers.write, &mut transfers.total].into_iter().flatten() {
        direction.percentiles.sort_by(|one, other| one.percent.total_cmp(&other.percent));
    }
    let found = result(passage, Source::Csv, line..=line, Measured::Transfers(Box::new(transfers)), Vec::new());
    let mut found = FoundResult { target, workload, ..found };
    checks::check(&mut found);
    Ok(found)
}

fn set(direction: &mut Direction, kind: Number, value: f64) {
    match kind {
        Number::Operations => direction.operations = Some(value.round() as u64),
        Number::Bytes => direction.bytes = Some(value.round() as u64),
        Number::Iops => direction.iops = Some(value),
        Number::Throughput => direction.bytes_per_second = Some(value),
        Number::Latency => direction.latency_mean_ns = Some(value),
        Number::Percentile(millionths) => {
            let percent = f64::from(millionths) / 1e6;
            direction.percentiles.push(Percentile { percent, latency_ns: value });
        }
    }
}

/// Which sign a table has before decimals: one behind which there are not three digits, in any number of it. What
/// separates cells by commas has points.
fn decimal_mark(table: &str, separator: u8, places: &[Place<'_>]) -> Option<char> {
    if separator == b',' {
        return Some('.');
    }
    for record in reader(table, separator).records().map_while(Result::ok) {
        for place in places.iter().filter(|place| place.of.field.is_number()) {
            let cell = record.get(place.index).unwrap_or_default();
            let is_of_number = |letter: &char| letter.is_ascii_digit() || matches!(letter, ',' | '.');
            let digits: String = cell.chars().take_while(is_of_number).collect();
            let Some(index) = digits.rfind([',', '.']) else { continue };
            let (before, rest) = digits.split_at(index);
            let other = if rest.starts_with(',') { '.' } else { ',' };
            if rest.len() != 4 || before.contains(other) {
                return rest.chars().next();
            }
        }
    }
    None
}

/// Whether the numbers of a column are shares of one: none is larger, and some have decimals.
fn are_shares(table: &str, separator: u8, place: &Place<'_>, decimal: Option<char>) -> bool {
    let (mut are_small, mut have_decimals) = (true, false);
    for record in reader(table, separator).records().map_while(Result::ok) {
        let cell = record.get(place.index).unwrap_or_default();
        if let Ok(Some(value)) = value(place, cell.trim_end_matches(['%', ' ']), decimal) {
            are_small &= value <= 1.0 && !cell.contains('%');
            have_decimals |= cell.contains(['.', ',']);
        }
    }
    are_small && have_decimals
}

/// A number with a point before its decimals, by the sign that the table has there.
fn plain(cell: &str, decimal: Option<char>) -> String {
    match decimal {
        Some('.') => cell.replace(',', ""),
        Some(',') => cell.replace('.', "").replace(',', "."),
        _ => cell.to_owned(),
    }
}

/// A value with its own unit, or that of its column; `None` when it is no number.
fn value(place: &Place<'_>, cell: &str, decimal: Option<char>) -> Result<Option<f64>, ColumnProblem> {
    let plain = plain(cell, decimal);
    let cell = plain.as_str();
    if let Some((value, unit, "")) = with_unit(cell)
        && !unit.is_empty()
    {
        return Ok(unit_of(place.of.field, unit).map(|factor| value * factor));
    }
    match (place.unit, needs_unit(place.of.field)) {
        (None, true) => Err(no_unit(place)),
        (unit, _) => {
            let exponential = || cell.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            let value = number(cell).or_else(exponential);
            Ok(value.map(|value| value * unit.unwrap_or(1.0)).filter(|value| *value < 9e18))
        }
    }
}

fn no_unit(place: &Place<'_>) -> ColumnProblem {
    let unit = match place.of.field {
        Field::Elapsed => "s",
        Field::Number(_, Number::Throughput) => "MiB/s",
        _ => "ms",
    };
    ColumnProblem::NoUnit { column: place.of.column.clone(), word: place.of.word.clone(), unit }
}
