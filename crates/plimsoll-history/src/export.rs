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

/// Writes runs. One record is in memory at a time.
pub fn write(
    history: &History,
    selection: Selection<'_>,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), HistoryError> {
    let all: Vec<Uuid>;
    let (ids, is_array) = match selection {
        Selection::These(ids) => (ids, ids.len() != 1),
        Selection::All => {
            all = history.list(&Filter::default())?.iter().rev().map(|run| run.id).collect();
            (all.as_slice(), true)
        }
    };
    match format {
        Format::Json => json(history, ids, is_array, out),
        Format::Ndjson => {
            for id in ids {
                let record = history.get(*id)?;
                serde_json::to_writer(&mut *out, &record).map_err(|error| HistoryError::Export(error.into()))?;
                out.write_all(b"\n").map_err(HistoryError::Export)?;
            }
            Ok(())
        }
        Format::Csv => {
            csv::header(out).map_err(HistoryError::Export)?;
            for id in ids {
                csv::rows(&history.get(*id)?, out).map_err(HistoryError::Export)?;
            }
            Ok(())
        }
        Format::Files => {
            file_sets::header(out).map_err(HistoryError::Export)?;
            for id in ids {
                file_sets::rows(&history.get(*id)?, out).map_err(HistoryError::Export)?;
            }
            Ok(())
        }
        Format::Iterations => {
            iterations::header(out).map_err(HistoryError::Export)?;
            for id in ids {
                iterations::rows(&history.get(*id)?, out).map_err(HistoryError::Export)?;
            }
            Ok(())
        }
    }
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

fn json(history: &History, ids: &[Uuid], is_array: bool, out: &mut dyn Write) -> Result<(), HistoryError> {
    if is_array {
        out.write_all(b"[").map_err(HistoryError::Export)?;
    }
    for (index, id) in ids.iter().enumerate() {
        let separator: &[u8] = match (is_array, index) {
            (false, _) => b"",
            (true, 0) => b"\n",
            (true, _) => b",\n",
        };
        out.write_all(separator).map_err(HistoryError::Export)?;
        serde_json::to_writer_pretty(&mut *out, &history.get(*id)?)
            .map_err(|error| HistoryError::Export(error.into()))?;
    }
    let end: &[u8] = match (is_array, ids.is_empty()) {
        (false, _) => b"\n",
        (true, true) => b"]\n",
        (true, false) => b"\n]\n",
    };
    out.write_all(end).map_err(HistoryError::Export)
}

#[cfg(test)]
mod tests;
