//! Iometer's result file: blocks of settings and results, of which each begins with a line of column names behind an
//! apostrophe.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, mismatch, note},
};
use plimsoll_workload::settings::ReadWrite;

use super::{
    RESULTS_MAX,
    numbers::{differs, moment},
    passage::Passage,
    result,
};

const MIB: f64 = 1_048_576.0;
/// The column of the name of a specification.
const SPECIFICATION: usize = 2;
/// So many disks are named one by one.
const DISKS_NAMED: usize = 3;
/// How far sums may be off that are made of rounded numbers.
const ROUNDING: f64 = 0.01;

/// What an access specification says, when it is a single line.
#[derive(Clone, Copy)]
struct Access {
    block_size_bytes: u64,
    read_percent: u8,
    is_random: bool,
}

/// A table of results.
struct Table<'a> {
    columns: HashMap<&'a str, usize>,
    first: usize,
    last: usize,
    rows: Vec<Vec<&'a str>>,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let (mut found, mut accesses, mut started) = (Vec::new(), BTreeMap::new(), None);
    let mut index = 0;
    while index < passage.lines.len() && found.len() <= RESULTS_MAX {
        let line = passage.line(index);
        index += 1;
        if line.starts_with("'Time Stamp") {
            started = moment(passage.line(index), "%Y-%m-%d %H:%M:%S");
        } else if line.starts_with("'Access specification name") {
            access(passage, index, &mut accesses);
        } else if line.starts_with("'Target Type,Target Name,") {
            let table = table(passage, index - 1);
            index = table.last + 1;
            found.extend(results(passage, &table, &accesses, started));
        }
    }
    found
}

/// `NAME,default assignment`, a line of names, and a line for each part of the mix.
fn access<'a>(passage: &Passage<'a>, index: usize, accesses: &mut BTreeMap<&'a str, Access>) {
    // The last comma is that of the assignment. In rows of results a name ends at its first one.
    let name = passage.line(index).split(',').next().unwrap_or_default();
    let lines =
        (index + 2..).map(|index| passage.line(index)).take_while(|line| !line.is_empty() && !line.starts_with('\''));
    let lines: Vec<&str> = lines.take(2).collect();
    let [one] = lines.as_slice() else { return };
    let numbers: Vec<u64> = one.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let [block_size_bytes, 100, reads, random, ..] = *numbers.as_slice() else { return };
    let (Ok(read_percent), 1.., 0 | 100) = (u8::try_from(reads), block_size_bytes, random) else { return };
    if read_percent <= 100 {
        accesses.insert(name, Access { block_size_bytes, read_percent, is_random: random == 100 });
    }
}

fn table<'a>(passage: &Passage<'a>, first: usize) -> Table<'a> {
    let cells = |line: &'a str| line.split(',').map(str::trim).collect::<Vec<_>>();
    let names = cells(passage.line(first));
    let width = names.len();
    let columns = names.iter().enumerate().rev().map(|(index, name)| (name.trim_start_matches('\''), index)).collect();
    let fit = |mut row: Vec<&'a str>| {
        // Names of specifications may have commas, which nothing tells from those between cells.
        let more = row.len().saturating_sub(width);
        if more > 0 && row.len() > SPECIFICATION + more {
            row.drain(SPECIFICATION + 1..=SPECIFICATION + more);
        }
        row
    };
    let rows = (first + 1..passage.lines.len()).map(|index| passage.line(index));
    let rows: Vec<_> =
        rows.take_while(|line| !line.starts_with('\'') && line.contains(',')).map(cells).map(fit).collect();
    Table { columns, first, last: first + rows.len(), rows }
}

impl<'a> Table<'a> {
    fn cell(&self, row: &[&'a str], column: &str) -> Option<&'a str> {
        row.get(*self.columns.get(column)?).copied().filter(|cell| !cell.is_empty())
    }

    fn number(&self, row: &[&'a str], column: &str) -> Option<f64> {
        self.cell(row, column)?.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }

    fn of_type(&self, kind: &str) -> impl Iterator<Item = &Vec<&'a str>> {
        self.rows.iter().filter(move |row| row.first() == Some(&kind))
    }
}

/// One result for each row about everything.
fn results(
    passage: &Passage<'_>,
    table: &Table<'_>,
    accesses: &BTreeMap<&str, Access>,
    started: Option<Timestamp>,
) -> Vec<FoundResult> {
    let disks: BTreeSet<&str> = table.of_type("DISK").filter_map(|row| table.cell(row, "Target Name")).collect();
    let workers: Vec<f64> = table.of_type("WORKER").filter_map(|row| table.number(row, "IOps")).collect();
    let workers = (!workers.is_empty()).then(|| workers.iter().sum());
    let result = |row: &Vec<&str>| {
        let mut findings = Vec::new();
        let name = table.cell(row, "Access Specification Name");
        let access = name.and_then(|name| accesses.get(name));
        let [read, write] = ["Read", "Write"].map(|word| direction(table, row, word, &mut findings));
        // A direction without operations was not asked for.
        let [read, write] = [read, write].map(|of| of.filter(|of| of.iops.is_some_and(|iops| iops > 0.0)));
        if read.is_none() && write.is_none() {
            return None;
        }
        check(table, row, (&[&read, &write], workers), &mut findings);
        let seconds = [&read, &write].into_iter().flatten().find_map(|of| Some(of.operations? as f64 / of.iops?));
        let transfers = Transfers {
            pattern: access.map(|access| ReadWrite::of(access.read_percent, access.is_random).to_string()),
            read_percent: access.map(|access| access.read_percent),
            block_size_bytes: access.map(|access| access.block_size_bytes),
            queue_depth: whole(table.number(row, "Queue Depth")),
            jobs: whole(table.number(row, "# Workers")),
            elapsed_ns: seconds.filter(|seconds| (1e-9..1e9).contains(seconds)).map(|seconds| (seconds * 1e9) as u64),
            errors: whole(table.number(row, "Errors")).filter(|errors| *errors > 0),
            read,
            write,
            ..Transfers::default()
        };
        let target = match disks.len() {
            0 => None,
            1..=DISKS_NAMED => Some(disks.iter().copied().collect::<Vec<_>>().join(", ")),
            several => Some(format!("{several} disks")),
        };
        let found = self::result(
            passage,
            Source::IometerCsv,
            table.first..=table.last,
            Measured::Transfers(Box::new(transfers)),
            findings,
        );
        Some(FoundResult { target, workload: name.map(str::to_owned), started, ..found })
    };
    // One row is about everything.
    table.of_type("ALL").take(1).filter_map(result).collect()
}

fn whole(number: Option<f64>) -> Option<u64> {
    number.filter(|number| *number < 9e15).map(|number| number as u64)
}

fn direction(table: &Table<'_>, row: &[&str], word: &str, findings: &mut Vec<Finding>) -> Option<Direction> {
    let number = |column: String| table.number(row, &column);
    let verb = if word == "Read" { "Bytes Read" } else { "Bytes Written" };
    let (bytes, operations) = (whole(table.number(row, verb)), whole(number(format!("{word} I/Os"))));
    let iops = number(format!("{word} IOps"))?;
    let binary = [format!("{word} MiBps (Binary)"), format!("{word} MBps (Binary)")];
    let binary = binary.into_iter().find_map(number).map(|rate| rate * MIB);
    let decimal = number(format!("{word} MBps (Decimal)")).map(|rate| rate * 1e6);
    // Old versions have MBps alone and do not say which megabytes are meant: what was counted does.
    let made = bytes.zip(operations).filter(|(_, operations)| *operations > 0);
    let made = made.map(|(bytes, operations)| bytes as f64 / operations as f64 * iops);
    let old = || {
        let (rate, made) = (number(format!("{word} MBps"))?, made?);
        let unit = [("MiB/s", MIB), ("MB/s", 1e6)].into_iter().find(|(_, unit)| !differs(rate * unit, made, ROUNDING));
        findings.push(match unit {
            Some((unit, _)) => note(format!("MBps are {unit}, by the bytes that were counted")),
            None => mismatch("MBps are not the bytes that were counted in the time that operations took"),
        });
        Some(made)
    };
    let milliseconds = |column: String| number(column).map(|ms| ms * 1e6);
    let longest = milliseconds(format!("Maximum {word} Response Time"));
    Some(Direction {
        bytes,
        operations,
        bytes_per_second: binary.or(decimal).or_else(old),
        iops: Some(iops),
        latency_mean_ns: milliseconds(format!("Average {word} Response Time")),
        percentiles: longest.map(|latency_ns| Percentile { percent: 100.0, latency_ns }).into_iter().collect(),
        ..Direction::default()
    })
}

/// Adds up what is told twice: of workers and in total, of both directions and of each.
fn check(
    table: &Table<'_>,
    row: &[&str],
    (directions, workers): (&[&Option<Direction>], Option<f64>),
    findings: &mut Vec<Finding>,
) {
    let iops: f64 = directions.iter().filter_map(|of| of.as_ref()?.iops).sum();
    if table.number(row, "IOps").is_some_and(|told| differs(told, iops, ROUNDING)) {
        findings.push(mismatch("reads and writes together are not IOps"));
    }
    if let Some(sum) = workers
        && table.number(row, "IOps").is_some_and(|told| differs(told, sum, ROUNDING))
    {
        findings.push(mismatch(format!("the workers' {sum:.1} IOps are not those of all")));
    }
}
