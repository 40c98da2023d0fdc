//! A table of cells: one row a cell, names and units in the header, and nothing where nothing was measured.

use std::io::{self, Write};

use plimsoll_record::{
    figures::{Figures, Operation},
    record::{Cell, Kind, Record},
    told::Told,
};

use super::inert;
use crate::summary::word;

/// What a row begins with.
const CELL_COLUMNS: &[&str] = &[
    "id",
    "started",
    "name",
    "outcome",
    "version",
    "tags",
    "target",
    "workload",
    "verdict",
    "engine",
    "pattern",
    "read_percent",
    "read_block_size",
    "write_block_size",
    "jobs",
    "queue_depth",
    "region_bytes",
    "buffered",
    "sync",
    "distribution",
    "offered_operations_per_second",
    "offered_bytes_per_second",
    "rounds_done",
    "errors",
    "mismatches",
    "cpu_user_ns_per_operation",
    "cpu_system_ns_per_operation",
];

/// What follows for each of [`DIRECTIONS`], with its name in front.
const DIRECTION_COLUMNS: &[&str] = &[
    "operations",
    "bytes",
    "elapsed_ns",
    "operations_per_second",
    "operations_per_second_low",
    "operations_per_second_high",
    "bytes_per_second",
    "latency_min_ns",
    "latency_mean_ns",
    "latency_stddev_ns",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p95_ns",
    "latency_p99_ns",
    "latency_p99_9_ns",
    "latency_p99_99_ns",
    "latency_max_ns",
];

const DIRECTIONS: &[&str] = &["read", "write", "sync", "all"];

/// Writes the first line.
pub(super) fn header(out: &mut dyn Write) -> io::Result<()> {
    let mut names: Vec<String> = CELL_COLUMNS.iter().map(ToString::to_string).collect();
    for direction in DIRECTIONS {
        names.extend(DIRECTION_COLUMNS.iter().map(|column| format!("{direction}_{column}")));
    }
    line(&names, out)
}

/// Writes a line for each cell of a record.
pub(super) fn rows(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    for cell in &record.cells {
        let mut values = cell_values(record, cell);
        for operation in Operation::ALL {
            match cell.figures(operation) {
                Some(figures) => values.extend(direction_values(&figures)),
                None => values.extend(DIRECTION_COLUMNS.iter().map(|_| String::new())),
            }
        }
        line(&values, out)?;
    }
    Ok(())
}

fn cell_values(record: &Record, cell: &Cell) -> Vec<String> {
    let tags: Vec<_> = record.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut values = vec![
        record.id.to_string(),
        record.started.to_string(),
        record.name.clone().unwrap_or_default(),
        word(record.outcome),
        record.tool.version.clone(),
        tags.join(" "),
        cell.target.clone(),
        cell.workload.clone(),
        cell.word_of_numbers().map_or(String::new(), |word| word.to_string()),
        match &cell.told {
            Some(told) => told.source.teller().to_owned(),
            None if cell.kind == Kind::Application => String::new(),
            None => cell.engine.to_string(),
        },
    ];
    values.extend(load(cell));
    values.extend([
        cell.rounds_done.to_string(),
        cell.errors.to_string(),
        text(cell.verification.as_ref().map(|verified| verified.mismatches)),
        text(cell.cpu.user_ns_per_operation),
        text(cell.cpu.system_ns_per_operation),
    ]);
    debug_assert_eq!(values.len(), CELL_COLUMNS.len());
    values
}

/// Pattern, percentage of reads, block sizes, jobs, queue depth, size of the region, whether it was buffered or synced,
/// which blocks were chosen, and the rates of an open loop; of what another program measured as far as it told.
fn load(cell: &Cell) -> [String; 12] {
    let nothing = String::new;
    match (cell.blocks(), cell.told.as_ref().and_then(Told::transfers)) {
        (Some(plan), _) => {
            let [operations, bytes] = plan.pacing.offered_per_second(plan.jobs).map(text);
            [
                plan.rw.to_string(),
                plan.read_percent.to_string(),
                plan.read_block_sizes.to_string(),
                plan.write_block_sizes.to_string(),
                plan.jobs.to_string(),
                plan.queue_depth.to_string(),
                plan.size_bytes.to_string(),
                plan.buffered.to_string(),
                word(plan.sync),
                plan.distribution.to_string(),
                operations,
                bytes,
            ]
        }
        (None, Some(transfers)) => [
            text(transfers.pattern.as_ref()),
            text(transfers.read_percent),
            text(transfers.block_size()),
            text(transfers.block_size()),
            text(transfers.jobs),
            text(transfers.queue_depth),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
        ],
        (None, None) => [(); 12].map(|()| nothing()),
    }
}

fn direction_values(figures: &Figures<'_>) -> Vec<String> {
    let latency = &figures.latency_ns;
    let values = vec![
        text(figures.operations),
        text(figures.bytes),
        text(figures.elapsed_ns),
        text(figures.iops),
        text(figures.measured.and_then(|result| result.iops_low)),
        text(figures.measured.and_then(|result| result.iops_high)),
        text(figures.bytes_per_second),
        text(latency.min),
        text(latency.mean),
        text(latency.stddev),
        text(latency.p50),
        text(latency.p90),
        text(latency.p95),
        text(latency.p99),
        text(latency.p99_9),
        text(latency.p99_99),
        text(latency.max),
    ];
    debug_assert_eq!(values.len(), DIRECTION_COLUMNS.len());
    values
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line(values: &[String], out: &mut dyn Write) -> io::Result<()> {
    let quoted: Vec<_> = values.iter().map(|value| quote(&inert(value))).collect();
    writeln!(out, "{}", quoted.join(","))
}

/// Quotes as RFC 4180 says, where it must.
fn quote(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
