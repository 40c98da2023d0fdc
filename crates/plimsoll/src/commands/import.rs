//! `plimsoll import`: what other programs told, found in any text, as records of the history.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use plimsoll_dialects::told::{self, ColumnMap};
use plimsoll_history::{history::History, location::HistoryLocation};
use plimsoll_record::{
    figures::{Figures, Operation},
    numbers,
    record::{Cell, Record},
    told::{Import, Measured, Reading, Source, Told},
};
use plimsoll_report::found::{FoundNote, FoundRow, found};
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
    let (mut text, mut records, mut exit) = (String::new(), Vec::new(), Exit::Success);
    for path in &arguments.files {
        match read(path, &reading(arguments), columns.as_ref()) {
            Ok(record) => records.push(record),
            Err(error) => {
                printer.error(&error);
                exit = Exit::Usage;
            }
        }
    }
    let mut history = match location {
        HistoryLocation::File(path) if !records.is_empty() => Some(History::open(path)?),
        _ => None,
    };
    for record in &records {
        history.as_mut().map_or(Ok(()), |history| history.save(record))?;
        let between = if text.is_empty() { "" } else { "\n" };
        text += &format!("{between}{}", answer(record, printer.width()));
        if history.is_some() {
            let id = record.id.to_string();
            let id = numbers::id_prefix(&id);
            let _ =
                writeln!(text, "\nkept as run {id}: \"plimsoll show {id}\" shows it, \"plimsoll compare\" takes it");
        }
    }
    if arguments.json {
        text = match records.as_slice() {
            [] => String::new(),
            [one] if arguments.files.len() == 1 => serde_json::to_string_pretty(one)? + "\n",
            several => serde_json::to_string_pretty(several)? + "\n",
        };
    }
    Ok((text, exit))
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
pub(super) fn foreign(path: &Path) -> anyhow::Result<Record> {
    let reading = Reading { id: Uuid::now_v7(), tool: run::tool(), name: None, tags: BTreeMap::new(), target: None };
    read(path, &reading, None)
}

fn read(path: &Path, reading: &Reading, columns: Option<&ColumnMap>) -> anyhow::Result<Record> {
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = dialect::read_file(name, told::BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    if bytes.len() > told::BYTES_MAX {
        bail!("{name} is longer than {} MiB: cut out the part with the results", told::BYTES_MAX >> 20);
    }
    let text = decoded(&bytes);
    let found = match columns {
        Some(columns) => told::rows(&text, columns).map_err(|problem| anyhow::anyhow!("{name}: {problem}"))?,
        None => told::find(&text),
    };
    if found.is_empty() {
        bail!("{name} has no results that are known: see plimsoll import --help for those that are");
    }
    let import = Import { file: name.to_owned(), at: Timestamp::now(), text };
    Ok(Record::of_import(reading.clone(), import, found))
}

/// Text of UTF-8, or of UTF-16 with a mark, which a shell of Windows writes. What is neither is not lost.
fn decoded(bytes: &[u8]) -> String {
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

/// What was found, in the order of the text, and what is to be said about it.
fn answer(record: &Record, width: usize) -> String {
    let told = || record.cells.iter().filter_map(|cell| Some((cell, cell.told.as_ref()?)));
    let mut kinds: BTreeMap<Source, usize> = BTreeMap::new();
    told().for_each(|(_, told)| *kinds.entry(told.source).or_default() += told.count());
    let kinds = kinds.iter().map(|(source, count)| format!("{count} x {source}")).collect::<Vec<_>>();
    let file = record.import.as_ref().map_or("", |import| &import.file);
    let text = format!("{file}: {}\n\n", kinds.join(", "));
    let rows: Vec<FoundRow> = told().map(|(cell, told)| row(cell, told)).collect();
    // What holds for several results is said once.
    let mut findings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cell, told) in told() {
        for finding in &cell.findings {
            findings.entry(&finding.text).or_default().push(lines(told));
        }
    }
    let note = |(sentence, places): (&str, Vec<String>)| {
        let several = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
        FoundNote { lines: format!("{}{several}", places[0]), sentence: sentence.to_owned() }
    };
    text + &found(&rows, &findings.into_iter().map(note).collect::<Vec<_>>(), width)
}

fn lines(told: &Told) -> String {
    let (first, last) = told.lines;
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn row(cell: &Cell, told: &Told) -> FoundRow {
    FoundRow {
        lines: lines(told),
        kind: told.source.to_string(),
        target: cell.target.clone(),
        workload: cell.workload.clone(),
        figures: figures(cell, told),
    }
}

fn figures(cell: &Cell, told: &Told) -> String {
    if let Measured::Figure(figure) = &told.measured {
        let high = figure.high.map_or_else(String::new, |high| format!("-{high}"));
        return format!("{}{high} {}", figure.low, figure.unit);
    }
    if let [first, .., last] = told.durations() {
        let all = cell.figures(Operation::All).and_then(|figures| figures.latency_ns.mean);
        let mean = all.map_or_else(String::new, |mean| format!(", {} on average", numbers::duration(mean as u64)));
        let ends = [first, last].map(|duration| numbers::duration(duration.elapsed_ns));
        return format!("{} runs, {} first and {} last{mean}", told.durations().len(), ends[0], ends[1]);
    }
    let is_shown = |operation: &Operation| *operation != Operation::All || !told.is_told_apart();
    let parts = Operation::ALL.into_iter().filter(is_shown).filter_map(|operation| {
        let word = match operation {
            Operation::Read => "read ",
            Operation::Write => "write ",
            Operation::All if matches!(told.measured, Measured::Files(_)) => "both ",
            Operation::Sync | Operation::All => "",
        };
        Some(format!("{word}{}", figures_of(told, &cell.figures(operation)?)))
    });
    let text = parts.collect::<Vec<_>>().join("; ");
    match told.transfers().and_then(|transfers| transfers.elapsed_ns) {
        Some(ns) => format!("{text}; in {}", numbers::duration(ns)),
        None => text,
    }
}

fn figures_of(told: &Told, figures: &Figures<'_>) -> String {
    if let [one] = told.durations() {
        return numbers::duration(one.elapsed_ns);
    }
    let rate =
        figures.bytes_per_second.map(|rate| format!("{} {}", numbers::throughput(rate), numbers::THROUGHPUT_UNIT));
    if matches!(told.measured, Measured::Files(_)) {
        return rate.unwrap_or_default();
    }
    let parts = [
        figures.iops.map(|iops| format!("{} IOPS", numbers::iops(iops))),
        rate,
        figures.latency_ns.mean.map(|ns| format!("{} on average", numbers::latency_in_text(ns))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
