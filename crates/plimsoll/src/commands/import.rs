//! `plimsoll import`: what other programs told, found in any text, as records of the history; and records of plimsoll's
//! own, as they are.

use std::{fmt::Write as _, path::Path};

use anyhow::{Context as _, anyhow, bail};
use plimsoll_dialects::told::ColumnMap;
use plimsoll_history::{
    history::{History, Kept},
    location::HistoryLocation,
};
use plimsoll_record::{numbers, record::Record, told::Reading};
use plimsoll_report::{found::found, printable};
use plimsoll_serve::importing;
use uuid::Uuid;

use super::{history, input_file, record_file, run};
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
        match read(path, arguments, columns.as_ref()) {
            Ok(read) => records.extend(read),
            Err(error) => {
                printer.error(&error);
                exit = Exit::Usage;
            }
        }
    }
    let (texts, records): (Vec<Option<String>>, Vec<Record>) = records.into_iter().unzip();
    let kept = match location {
        HistoryLocation::File(path) if !records.is_empty() => keep(path, &records)?,
        _ => Vec::new(),
    };
    let text = match records.as_slice() {
        [one] if arguments.json && arguments.files.len() == 1 => serde_json::to_string_pretty(one)? + "\n",
        several if arguments.json && !several.is_empty() => serde_json::to_string_pretty(several)? + "\n",
        several => several.iter().enumerate().fold(String::new(), |mut text, (index, record)| {
            text += if index == 0 { "" } else { "\n" };
            text += &texts[index].clone().unwrap_or_else(|| found(record, printer.width()));
            if let Some((id, kept)) = kept.get(index) {
                let how = match kept {
                    Kept::This => format!("kept as run {id}"),
                    Kept::Former => format!("run {id} is there already, and stays as it is"),
                };
                let _ = write!(text, "\n{how}: \"plimsoll show {id}\" shows it, \"plimsoll compare\" takes it\n");
            }
            text
        }),
    };
    Ok((text, exit))
}

/// Puts records into the history, but those that are there; what each is called, and which is there now.
fn keep(path: &Path, records: &[Record]) -> anyhow::Result<Vec<(String, Kept)>> {
    let mut history = History::open(path)?;
    let kept = records.iter().map(|record| history.save_unless_known(record)).collect::<Result<Vec<_>, _>>()?;
    let short = history.short_ids(&records.iter().map(|record| record.id).collect::<Vec<_>>())?;
    let longer = |(short, record): (&String, &Record)| {
        let id = record.id.to_string();
        let usual = numbers::id_prefix(&id).to_owned();
        if usual.len() > short.len() { usual } else { short.clone() }
    };
    Ok(short.iter().zip(records).map(longer).zip(kept).collect())
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

/// The records in a file, those of plimsoll's own with what is said of them.
fn read(
    path: &Path,
    arguments: &ImportArguments,
    columns: Option<&ColumnMap>,
) -> anyhow::Result<Vec<(Option<String>, Record)>> {
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = input_file::bytes(name, record_file::BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    let Some(own) = record_file::own_of(name, &bytes).filter(|_| columns.is_none()) else {
        return Ok(vec![(None, record_file::foreign(name, &bytes, reading(arguments), columns)?)]);
    };
    if arguments.name.is_some() || arguments.target.is_some() || !arguments.tags.is_empty() {
        bail!("{name} has records of plimsoll's own, which stay as they are: leave --name, --target and --tag out");
    }
    let own = own?;
    importing::check_begun(name, &own, history::now()?).map_err(|sentence| anyhow!(sentence))?;
    let said = |record: &Record| {
        let run = record.name.as_ref().map_or_else(String::new, |run| format!(" \"{run}\""));
        format!("{}\n", printable::line(&format!("{name}: run{run} of plimsoll, which began on {}", record.started)))
    };
    Ok(own.into_iter().map(|record| (Some(said(&record)), record)).collect())
}
