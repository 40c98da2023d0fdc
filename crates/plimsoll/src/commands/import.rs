//! `plimsoll import`: what other programs told, found in any text, with what does not agree in it.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::{Context as _, bail};
use plimsoll_dialects::results::{self, Direction, FoundResult, Measured, Source, Transfers};
use plimsoll_record::numbers;
use plimsoll_report::found::{FoundRow, found};
use serde_json::json;

use super::dialect;
use crate::{cli::import::ImportArguments, exit::Exit, printer::Printer};

/// Reads texts, and tells what is in them. A text without results is an error, and the others are told all the same.
pub fn import(arguments: &ImportArguments, printer: Printer) -> anyhow::Result<(String, Exit)> {
    let (mut text, mut list, mut exit) = (String::new(), Vec::new(), Exit::Success);
    for path in &arguments.files {
        match read(path) {
            Ok(found) if arguments.json => list.push(json!({ "file": path.display().to_string(), "results": found })),
            Ok(found) => {
                let between = if text.is_empty() { "" } else { "\n" };
                text += &format!("{between}{}", told(path, &found, printer.width()));
            }
            Err(error) => {
                printer.error(&error);
                exit = Exit::Usage;
            }
        }
    }
    if arguments.json && !list.is_empty() {
        text = serde_json::to_string_pretty(&list)? + "\n";
    }
    Ok((text, exit))
}

fn read(path: &Path) -> anyhow::Result<Vec<FoundResult>> {
    let name = path.to_str().with_context(|| format!("{} is not valid UTF-8", path.display()))?;
    let bytes = dialect::read_file(name, results::BYTES_MAX)
        .map_err(|error| anyhow::anyhow!("read {name}: {error}"))?
        .with_context(|| format!("there is no file {name}"))?;
    if bytes.len() > results::BYTES_MAX {
        bail!("{name} is longer than {} MiB: cut out the part with the results", results::BYTES_MAX >> 20);
    }
    let found = results::find(&decoded(&bytes));
    if found.is_empty() {
        bail!("{name} has no results that are known: see plimsoll import --help for those that are");
    }
    Ok(found)
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

fn told(path: &Path, results: &[FoundResult], width: usize) -> String {
    let mut kinds: BTreeMap<Source, usize> = BTreeMap::new();
    results.iter().for_each(|result| *kinds.entry(result.source).or_default() += 1);
    let kinds = kinds.iter().map(|(source, count)| format!("{count} x {source}")).collect::<Vec<_>>();
    let mut text = format!("{}: {}\n\n", path.display(), kinds.join(", "));
    let rows: Vec<FoundRow> = results.iter().map(row).collect();
    text += &found(&rows, width);
    // What holds for several results is said once.
    let mut findings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for result in results {
        for finding in &result.findings {
            findings.entry(finding).or_default().push(lines(result));
        }
    }
    if !findings.is_empty() {
        text.push('\n');
    }
    for (finding, places) in findings {
        let several = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
        let _ = writeln!(text, "lines {}{several}: {finding}", places[0]);
    }
    text
}

fn lines(result: &FoundResult) -> String {
    let (first, last) = result.lines;
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn row(result: &FoundResult) -> FoundRow {
    FoundRow {
        lines: lines(result),
        kind: result.source.to_string(),
        subject: result.subject.clone().unwrap_or_default(),
        figures: figures(&result.measured),
    }
}

fn figures(measured: &Measured) -> String {
    let throughput = |rate: f64| format!("{} {}", numbers::throughput(rate), numbers::THROUGHPUT_UNIT);
    match measured {
        Measured::Transfers(transfers) => transferred(transfers),
        Measured::Duration(durations) => format!(
            "{}; processors {} in programs, {} in the kernel",
            numbers::duration(durations.elapsed_ns),
            numbers::duration(durations.user_ns),
            numbers::duration(durations.system_ns)
        ),
        Measured::Files(files) => format!(
            "{} x {} files of {}: write {}, read {}",
            files.iterations,
            files.count,
            numbers::bytes(files.size_bytes),
            throughput(files.write_bytes_per_second),
            throughput(files.read_bytes_per_second)
        ),
        Measured::Figure(figure) => {
            let high = figure.high.map_or_else(String::new, |high| format!("-{high}"));
            let expected = figure.expected.map_or_else(String::new, |value| format!(", expected {value}"));
            format!("{}{high} {}{expected}", figure.low, figure.unit)
        }
    }
}

fn transferred(transfers: &Transfers) -> String {
    let direction = |name: &str, direction: &Option<Direction>| {
        let direction = direction.as_ref()?;
        let iops = direction.iops.map(|iops| format!("{} IOPS", numbers::iops(iops)));
        let rate = direction.bytes_per_second;
        let rate = rate.map(|rate| format!("{} {}", numbers::throughput(rate), numbers::THROUGHPUT_UNIT));
        let mean = direction.latency_mean_ns.map(|ns| format!("{} on average", numbers::latency_in_text(ns)));
        let parts: Vec<String> = [iops, rate, mean].into_iter().flatten().collect();
        Some(format!("{name} {}", parts.join(", ")).trim().to_owned())
    };
    let both = [direction("read", &transfers.read), direction("write", &transfers.write)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    let what = if both.is_empty() { direction("", &transfers.total).unwrap_or_default() } else { both.join("; ") };
    match transfers.elapsed_ns {
        Some(ns) => format!("{what}; in {}", numbers::duration(ns)),
        None => what,
    }
}
