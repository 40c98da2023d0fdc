//! `plimsoll import`: what other programs told, found in any text, as records of the history.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use plimsoll_dialects::told::{self, ColumnMap};
use plimsoll_history::{history::History, location::HistoryLocation};
use plimsoll_record::{
    numbers,
    record::Record,
    told::{Import, Reading},
};
use plimsoll_report::found::found;
use uuid::Uuid;

use super::{dialect, run};
use crate::{cli::import::ImportArguments, exit::Exit, printer::Printer};

/// Reads texts, keeps what is in them, and tells it. A text without results is an error, and the others are told all
/// the same.
pub fn import(
    arguments: &ImportArguments,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<(String, Exit)> {
    arguments.name.iter().try_for_each(|name| run::check_one_line("--name", name))?;
    arguments.target.iter().try_for_each(|target| run::check_one_line("--target", target))?;
    let columns = arguments.columns();
    let (mut records, mut exit) = (Vec::new(), Exit::Success);
    for path in &arguments.files {
        match read(path, reading(arguments), columns.as_ref()) {
            Ok(record) => records.push(record),
            Err(error) => {
                printer.error(&error);
                exit = Exit::Usage;
            }
        }
    }
    let ids = match location {
        HistoryLocation::File(path) if !records.is_empty() => keep(path, &records)?,
        _ => Vec::new(),
    };
    let text = match records.as_slice() {
        [one] if arguments.json && arguments.files.len() == 1 => serde_json::to_string_pretty(one)? + "\n",
        several if arguments.json && !several.is_empty() => serde_json::to_string_pretty(several)? + "\n",
        several => several.iter().enumerate().fold(String::new(), |mut text, (index, record)| {
            text += if index == 0 { "" } else { "\n" };
            text += &found(record, printer.width());
            if let Some(id) = ids.get(index) {
                let _ = write!(
                    text,
                    "\nkept as run {id}: \"plimsoll show {id}\" shows it, \"plimsoll compare\" takes it\n"
                );
            }
            text
        }),
    };
    Ok((text, exit))
}

/// Puts records into the history; what each is called there.
fn keep(path: &Path, records: &[Record]) -> anyhow::Result<Vec<String>> {
    let mut history = History::open(path)?;
    records.iter().try_for_each(|record| history.save(record))?;
    let short = history.short_ids(&records.iter().map(|record| record.id).collect::<Vec<_>>())?;
    let longer = |(short, record): (&String, &Record)| {
        let id = record.id.to_string();
        let usual = numbers::id_prefix(&id).to_owned();
        if usual.len() > short.len() { usual } else { short.clone() }
    };
    Ok(short.iter().zip(records).map(longer).collect())
}

fn reading(arguments: &ImportArguments) -> Reading {
    Reading {
        id: Uuid::now_v7(),
        tool: run::tool(),
        name: arguments.name.clone(),
        tags: arguments.tags.iter().cloned().collect(),
        target: arguments.target.clone(),
    }
}

/// The record of what a file of another program tells, which is not kept.
pub(super) fn foreign(path: &Path, bytes: &[u8]) -> anyhow::Result<Record> {
    let reading = Reading { id: Uuid::now_v7(), tool: run::tool(), name: None, tags: BTreeMap::new(), target: None };
    of_bytes(&path.display().to_string(), bytes, reading, None)
}

fn read(path: &Path, reading: Reading, columns: Option<&ColumnMap>) -> anyhow::Result<Record> {
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = dialect::read_file(name, told::BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    of_bytes(name, &bytes, reading, columns)
}

fn of_bytes(name: &str, bytes: &[u8], reading: Reading, columns: Option<&ColumnMap>) -> anyhow::Result<Record> {
    if bytes.len() > told::BYTES_MAX {
        bail!("{name} is longer than {} MiB: cut out the part with the results", told::BYTES_MAX >> 20);
    }
    let text = decoded(bytes);
    let found = match columns {
        Some(columns) => told::rows(&text, columns).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))?,
        None => told::find(&text),
    };
    if found.len() > told::RESULTS_MAX {
        bail!("{name} has more than {} results: split it", numbers::count(told::RESULTS_MAX as u64));
    }
    if found.is_empty() {
        let hint = told::hint(&text).unwrap_or("see plimsoll import --help for those that are");
        bail!("{name} has no results that are known: {hint}");
    }
    let import = Import { file: name.to_owned(), at: Timestamp::now(), text };
    Ok(Record::of_import(reading, import, found))
}

/// Whether bytes begin with the mark of UTF-16.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}

/// Text of UTF-8, or of UTF-16 with a mark, which a shell of Windows writes. What is neither is not lost.
pub(super) fn decoded(bytes: &[u8]) -> String {
    let units = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}
