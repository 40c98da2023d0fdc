//! A table of the iterations of applications, one row for each, whoever timed them.

use std::io::{self, Write};

use plimsoll_record::{
    application::Iteration,
    record::{Cell, Record},
    told::Duration,
};

use super::line;

const COLUMNS: [&str; 22] = [
    "id",
    "started",
    "name",
    "target",
    "workload",
    "iteration",
    "counted",
    "invalid",
    "from_s",
    "real_s",
    "user_s",
    "sys_s",
    "servers_user_s",
    "servers_sys_s",
    "max_resident_bytes",
    "read_bytes",
    "written_bytes",
    "disk_share",
    "settle_s",
    "rate_name",
    "rate",
    "rate_unit",
];

/// Writes the first line.
pub(super) fn header(out: &mut dyn Write) -> io::Result<()> {
    line(&COLUMNS.map(str::to_owned), out)
}

/// Writes a line for each iteration of a record.
pub(super) fn rows(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    for cell in &record.cells {
        let of = |iteration: u32| identity(record, cell, iteration);
        match &cell.application {
            Some(application) => application
                .iterations
                .iter()
                .try_for_each(|iteration| row(&of(iteration.round + 1), &measured(iteration), out))?,
            None => cell
                .durations()
                .iter()
                .zip(1..)
                .try_for_each(|(duration, iteration)| row(&of(iteration), &told(duration), out))?,
        }
    }
    Ok(())
}

fn row(identity: &[String; 6], values: &[String; 16], out: &mut dyn Write) -> io::Result<()> {
    line(&[identity.as_slice(), values].concat(), out)
}

fn identity(record: &Record, cell: &Cell, iteration: u32) -> [String; 6] {
    let name = record.name.clone().unwrap_or_default();
    let (target, workload) = (cell.target.clone(), cell.workload.clone());
    [record.id.to_string(), record.started.to_string(), name, target, workload, iteration.to_string()]
}

fn measured(iteration: &Iteration) -> [String; 16] {
    let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    let rate = iteration.rate();
    [
        iteration.counted.to_string(),
        iteration.invalid.clone().unwrap_or_default(),
        seconds(iteration.from_ns),
        seconds(iteration.elapsed_ns),
        seconds(iteration.user_ns),
        seconds(iteration.system_ns),
        seconds(iteration.server_user_ns),
        seconds(iteration.server_system_ns),
        count(iteration.max_resident_bytes),
        count(iteration.read_bytes),
        count(iteration.written_bytes),
        iteration.disk_share().map(|share| format!("{share:.4}")).unwrap_or_default(),
        seconds(iteration.settle_ns),
        rate.map(|rate| rate.name.clone()).unwrap_or_default(),
        rate.map(|rate| rate.value.to_string()).unwrap_or_default(),
        rate.map(|rate| rate.unit.clone()).unwrap_or_default(),
    ]
}

/// Of what another program told only the three times are known.
fn told(duration: &Duration) -> [String; 16] {
    let mut values: [String; 16] = Default::default();
    "true".clone_into(&mut values[0]);
    for (place, ns) in [(3, duration.elapsed_ns), (4, duration.user_ns), (5, duration.system_ns)] {
        values[place] = seconds(ns);
    }
    values
}

fn seconds(ns: u64) -> String {
    format!("{:.6}", ns as f64 / 1e9)
}
