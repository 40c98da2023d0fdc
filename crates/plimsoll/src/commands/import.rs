//! `plimsoll import`: what other programs told, found in any text, as records of the history.

use std::{fmt::Write as _, path::Path};

use anyhow::Context as _;
use plimsoll_dialects::told::{self, ColumnMap};
use plimsoll_history::{history::History, location::HistoryLocation};
use plimsoll_record::{numbers, record::Record, told::Reading};
use plimsoll_report::found::found;
use uuid::Uuid;

use super::{input_file, record_file, run};
use crate::{cli::import::ImportArguments, exit::Exit, printer::Printer};

/// Reads texts, keeps what is in them, and tells it. A text without results is an error, and the others are told all
/// the same.
pub fn import(
    arguments: &ImportArguments,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<(String, Exit)> {
    arguments.name.iter().try_for_each(|name| run::check_name(name))?;
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

fn read(path: &Path, reading: Reading, columns: Option<&ColumnMap>) -> anyhow::Result<Record> {
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = input_file::bytes(name, told::BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    record_file::foreign(name, &bytes, reading, columns)
}
