//! A table of sets of files with the columns of exp-k8s-iospeed, so that spreadsheets made for it go on working.
//!
//! Its rates are bytes over the time that operations took, in MiB/s although the head says Mb/s, and what is written
//! and read again counts once. Nothing is rounded, where that program loses up to 0.7 % by whole megabytes.

use std::io::{self, Write};

use plimsoll_record::record::{Cell, Record};

use super::line;

const COLUMNS: [&str; 8] =
    ["Run name", "Date", "File count", "File size", "Iterations", "Write (Mb/s)", "Read (Mb/s)", "Write/Read (Mb/s)"];

/// Writes the first line.
pub(super) fn header(out: &mut dyn Write) -> io::Result<()> {
    line(&COLUMNS.map(str::to_owned), out)
}

/// Writes a line for each set of files of a record.
pub(super) fn rows(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let has_targets = record.cells.iter().any(|cell| cell.target != record.cells[0].target);
    for cell in &record.cells {
        let (Some(plan), Some(files)) = (cell.file_plan(), &cell.files) else { continue };
        let name = match &record.name {
            Some(name) if has_targets => format!("{name} {}", cell.target),
            Some(name) => name.clone(),
            None => cell.target.clone(),
        };
        let iterations = files.phases.iter().map(|phase| phase.iterations).max().unwrap_or(0);
        let [write, read, both] = ["write", "read", "write_read"].map(|phase| rate(cell, phase));
        let date = record.started.to_string();
        let count = plan.file_count.to_string();
        let size = plan.file_size.one().map_or_else(|| plan.file_size.to_string(), size);
        line(&[name, date, count, size, iterations.to_string(), write, read, both], out)?;
    }
    Ok(())
}

/// Mebibytes over the time that operations took.
fn rate(cell: &Cell, phase: &str) -> String {
    let phases = cell.files.iter().flat_map(|files| &files.phases);
    let found =
        phases.filter(|result| result.phase.as_str() == phase).map(|result| result.operation_time_bytes_per_second);
    found.map(|rate| format!("{:.6}", rate / f64::from(1 << 20))).next().unwrap_or_default()
}

/// A size as that program takes it: `10kb`, `1Mb`.
fn size(bytes: u64) -> String {
    match bytes {
        1.. if bytes.is_multiple_of(1 << 20) => format!("{}Mb", bytes >> 20),
        1.. if bytes.is_multiple_of(1 << 10) => format!("{}kb", bytes >> 10),
        _ => format!("{bytes}b"),
    }
}
