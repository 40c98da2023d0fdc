//! Records in the forms that other programs read: JSON, JSON lines, and tables of cells, sets of files or iterations
//! as CSV.

use std::{
    borrow::Cow,
    fmt,
    io::{self, Write},
    str::FromStr,
};

use plimsoll_record::record::Record;
use uuid::Uuid;

use crate::{
    history::{History, HistoryError},
    summary::Filter,
};

mod csv;
mod file_sets;
mod iterations;

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The record of a single run that was asked for, or an array of records.
    Json,
    /// One row for each cell, with the units in the header.
    Csv,
    /// One record a line.
    Ndjson,
    /// One row for each set of files, with the columns of exp-k8s-iospeed.
    Files,
    /// One row for each iteration of an application.
    Iterations,
}

impl Format {
    /// Every word for a format, in the order help shows them.
    pub const WORDS: &'static [&'static str] = &["json", "csv", "ndjson", "files", "iterations"];

    /// The word for this format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Ndjson => "ndjson",
            Self::Files => "files",
            Self::Iterations => "iterations",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Json, Self::Csv, Self::Ndjson, Self::Files, Self::Iterations]
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| format!("\"{text}\" is not a format: choose one of {}", Self::WORDS.join(", ")))
    }
}

/// Which runs to export.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'a> {
    /// These, in this order.
    These(&'a [Uuid]),
    /// The whole history, the oldest run first.
    All,
}

/// Writes runs. One record is in memory at a time. Of the whole history, records that cannot be read are left out and
/// returned; one that was asked for is an error.
pub fn write(
    history: &History,
    selection: Selection<'_>,
    format: Format,
    out: &mut dyn Write,
) -> Result<Vec<HistoryError>, HistoryError> {
    let all: Vec<Uuid>;
    let (ids, is_array) = match selection {
        Selection::These(ids) => (ids, ids.len() != 1),
        Selection::All => {
            all = history.list(&Filter::default())?.iter().rev().map(|run| run.id).collect();
            (all.as_slice(), true)
        }
    };
    let mut unread = Vec::new();
    let mut records = ids.iter().filter_map(|id| match (history.get(*id), selection) {
        // Somebody has removed it since it was listed.
        (Err(HistoryError::NotFound(_)), Selection::All) => None,
        (Err(error @ (HistoryError::RecordDamaged { .. } | HistoryError::RecordUnreadable { .. })), Selection::All) => {
            unread.push(error);
            None
        }
        (record, _) => Some(record),
    });
    match format {
        Format::Json => json(&mut records, is_array, out),
        Format::Ndjson => lines(&mut records, out),
        Format::Csv => table(csv::header, csv::rows, &mut records, out),
        Format::Files => table(file_sets::header, file_sets::rows, &mut records, out),
        Format::Iterations => table(iterations::header, iterations::rows, &mut records, out),
    }?;
    Ok(unread)
}

fn table(
    header: fn(&mut dyn Write) -> io::Result<()>,
    rows: fn(&Record, &mut dyn Write) -> io::Result<()>,
    records: &mut impl Iterator<Item = Result<Record, HistoryError>>,
    out: &mut dyn Write,
) -> Result<(), HistoryError> {
    header(out).map_err(HistoryError::Export)?;
    records.try_for_each(|record| rows(&record?, out).map_err(HistoryError::Export))
}

fn lines(
    records: &mut impl Iterator<Item = Result<Record, HistoryError>>,
    out: &mut dyn Write,
) -> Result<(), HistoryError> {
    records.try_for_each(|record| {
        serde_json::to_writer(&mut *out, &record?).map_err(|error| HistoryError::Export(error.into()))?;
        out.write_all(b"\n").map_err(HistoryError::Export)
    })
}

fn json(
    records: &mut impl Iterator<Item = Result<Record, HistoryError>>,
    is_array: bool,
    out: &mut dyn Write,
) -> Result<(), HistoryError> {
    let mut write = |text: &[u8]| out.write_all(text).map_err(HistoryError::Export);
    let mut is_first = true;
    if is_array {
        write(b"[")?;
    }
    for record in records {
        let text = serde_json::to_vec_pretty(&record?).map_err(|error| HistoryError::Export(error.into()))?;
        write(match (is_array, is_first) {
            (false, _) => b"",
            (true, true) => b"\n",
            (true, false) => b",\n",
        })?;
        write(&text)?;
        is_first = false;
    }
    write(match (is_array, is_first) {
        (false, _) => b"\n",
        (true, true) => b"]\n",
        (true, false) => b"\n]\n",
    })
}

/// A table of records that need not be in a history: one row for each cell.
pub fn csv(records: &[&Record]) -> Result<String, HistoryError> {
    let mut out = Vec::new();
    csv::header(&mut out).map_err(HistoryError::Export)?;
    for record in records {
        csv::rows(record, &mut out).map_err(HistoryError::Export)?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A line of quoted values.
fn line(values: &[String], out: &mut dyn Write) -> io::Result<()> {
    let quoted = |value: &String| format!("\"{}\"", inert(value).replace('"', "\"\""));
    writeln!(out, "{}", values.iter().map(quoted).collect::<Vec<_>>().join(","))
}

/// A value that no spreadsheet takes for a formula: text that begins as one gets an apostrophe, which they hide.
fn inert(value: &str) -> Cow<'_, str> {
    let is_formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']) && value.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{value}")) } else { Cow::Borrowed(value) }
}

#[cfg(test)]
mod tests;
