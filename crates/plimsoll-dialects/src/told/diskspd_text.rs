//! diskspd's text report, whole or in parts: tables of threads, the table of percentiles, and the parameters above
//! them.

use std::collections::BTreeSet;

use jiff::Timestamp;
use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, mismatch},
};
use plimsoll_workload::settings::ReadWrite;

use super::{
    RESULTS_MAX, agreed,
    numbers::{bytes, moment, number},
    passage::{Passage, content},
    result,
};

/// So far below a table may the next one stand.
const APART: usize = 12;
/// So far below tables may that of all percentiles stand.
const BELOW: usize = 5000;
/// So many targets are named one by one.
const PATHS_NAMED: usize = 3;
/// Threads of a table.
const THREADS_MAX: usize = 100_000;

/// Which table it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Total,
    Read,
    Write,
}

/// A table of threads.
struct Table {
    section: Section,
    first: usize,
    last: usize,
    direction: Direction,
    seconds: Option<f64>,
    findings: Vec<Finding>,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let (mut found, mut asked) = (Vec::new(), Asked::default());
    let mut index = 0;
    while index < passage.lines.len() && found.len() <= RESULTS_MAX {
        let Some(first) = table(passage, index) else {
            asked.read(content(passage.line(index)));
            index += 1;
            continue;
        };
        // The three tables of a report stand below each other, the one about both first.
        let mut group = vec![first];
        let last = |group: &[Table]| group[group.len() - 1].last;
        let mut next = last(&group) + 1;
        while next <= last(&group) + APART {
            match table(passage, next) {
                Some(table) if belongs(&group, &table) => {
                    next = table.last + 1;
                    group.push(table);
                }
                Some(_) => break,
                None => next += 1,
            }
        }
        let result = report(passage, group, &asked);
        index = result.told.lines.1;
        found.push(result);
        asked.end_of_results();
    }
    found
}

fn belongs(group: &[Table], next: &Table) -> bool {
    group.iter().all(|table| table.section != next.section) && next.section != Section::Total
}

fn report(passage: &Passage<'_>, group: Vec<Table>, asked: &Asked<'_>) -> FoundResult {
    let (first, mut last) = (group[0].first, group[group.len() - 1].last);
    let (mut transfers, paths) = asked.load();
    let mut findings = Vec::new();
    for table in group {
        transfers.jobs = transfers.jobs.or(Some(table.direction.threads.len() as u64));
        if let (None, Some(seconds)) = (transfers.elapsed_ns, table.seconds) {
            transfers.elapsed_ns = Some((seconds * 1e9).round() as u64);
        }
        findings.extend(table.findings);
        *(match table.section {
            Section::Total => &mut transfers.total,
            Section::Read => &mut transfers.read,
            Section::Write => &mut transfers.write,
        }) = Some(table.direction);
    }
    if let (Some(total), Some(read), Some(write)) = (&transfers.total, &transfers.read, &transfers.write)
        && total.operations != read.operations.zip(write.operations).map(|(read, write)| read.saturating_add(write))
    {
        findings.push(mismatch("reads and writes together are not the total"));
    }
    if let Some(end) = percentiles(passage, last, &mut transfers) {
        last = end;
    }
    let measured = Measured::Transfers(Box::new(transfers));
    let found = result(passage, Source::DiskspdText, first..=last, measured, findings);
    // A heading says more of a disk than the name of a file, which is the same one on all of them.
    let target = several(&paths).filter(|_| found.heading.is_none());
    FoundResult { target, started: asked.started, ..found }
}

/// The table whose title is this line.
fn table(passage: &Passage<'_>, index: usize) -> Option<Table> {
    let (title, header) = (passage.line(index), index + 1);
    let head = passage.line(header);
    // What stands before the header, as in a comment, stands before each row.
    let at = head.find("thread |")?;
    let section = match title.get(at..)?.trim() {
        "Total IO" => Section::Total,
        "Read IO" => Section::Read,
        "Write IO" => Section::Write,
        _ => return None,
    };
    let columns: Vec<&str> = head[at..].split('|').map(str::trim).collect();
    let mut direction = Direction::default();
    for (last, line) in passage.each().skip(header + 1).take(THREADS_MAX) {
        let row = line.get(at..).unwrap_or_default();
        if row.trim_start().starts_with('-') {
            continue;
        }
        if let Some(total) = row.trim_start().strip_prefix("total:") {
            let cells: Vec<&str> = std::iter::once("total").chain(total.split('|')).map(str::trim).collect();
            let threads = std::mem::take(&mut direction.threads);
            direction = Direction { threads, ..cells_of(&columns, &cells)? };
            let findings = mismatches(&direction);
            let seconds = direction.operations.zip(direction.iops).map(|(count, iops)| count as f64 / iops);
            let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e9);
            return Some(Table { section, first: index, last, direction, seconds, findings });
        }
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        cells[0].parse::<u32>().ok()?;
        direction.threads.push(cells_of(&columns, &cells)?);
    }
    None
}

/// A row, by the names of its columns.
fn cells_of(columns: &[&str], cells: &[&str]) -> Option<Direction> {
    let text = |name: &str| cells.get(columns.iter().position(|column| *column == name)?).copied();
    let cell = |name: &str| text(name).and_then(number);
    let whole = |name: &str| text(name).and_then(|digits| digits.parse::<u64>().ok());
    let nanoseconds = |name: &str| cell(name).map(|milliseconds| milliseconds * 1e6);
    Some(Direction {
        bytes: Some(whole("bytes")?),
        operations: Some(whole("I/Os")?),
        // The first versions of diskspd write MB/s, and mean the same.
        bytes_per_second: cell("MiB/s").or_else(|| cell("MB/s")).map(|rate| rate * 1_048_576.0),
        iops: cell("I/O per s"),
        latency_mean_ns: nanoseconds("AvgLat"),
        latency_stddev_ns: nanoseconds("LatStdDev"),
        ..Direction::default()
    })
}

/// Where threads do not add up to what is told in total.
fn mismatches(total: &Direction) -> Vec<Finding> {
    let sum = |of: fn(&Direction) -> Option<u64>| total.threads.iter().filter_map(of).fold(0_u64, u64::saturating_add);
    let mut findings = Vec::new();
    let (bytes, operations) = (sum(|thread| thread.bytes), sum(|thread| thread.operations));
    if !total.threads.is_empty() && total.bytes != Some(bytes) {
        let told = total.bytes.unwrap_or(0);
        findings.push(mismatch(format!("threads transferred {bytes} bytes, and {told} are told in total")));
    }
    if !total.threads.is_empty() && total.operations != Some(operations) {
        let told = total.operations.unwrap_or(0);
        findings.push(mismatch(format!("threads did {operations} operations, and {told} are told in total")));
    }
    findings
}

/// What a report says above its tables of what was asked.
#[derive(Default)]
struct Asked<'a> {
    started: Option<Timestamp>,
    /// The targets of each time span.
    spans: Vec<Vec<Target<'a>>>,
    /// Of which of them results are told.
    span: usize,
    elapsed_ns: Option<u64>,
    threads: Option<u64>,
}

/// What is asked of a target.
#[derive(Default)]
struct Target<'a> {
    path: &'a str,
    block_size_bytes: Option<u64>,
    queue_depth: Option<u64>,
    read_percent: Option<u8>,
    is_random: Option<bool>,
}

impl<'a> Asked<'a> {
    /// Takes in a line.
    fn read(&mut self, line: &'a str) {
        let value = |name: &str| line.strip_prefix(name).map(str::trim);
        if line.starts_with("Command Line:") {
            *self = Self::default();
        } else if line.starts_with("timespan:") {
            self.spans.push(Vec::new());
        } else if let Some(number) = value("Results for timespan").and_then(|rest| rest.split(':').next()) {
            self.span = number.trim().parse::<usize>().unwrap_or(1).saturating_sub(1);
        } else if let Some(text) = value("start time:") {
            self.started = moment(text, "%Y/%m/%d %H:%M:%S");
        } else if let Some(path) = value("path:") {
            if self.spans.is_empty() {
                self.spans.push(Vec::new());
            }
            let path = path.trim_matches('\'');
            self.spans.last_mut().into_iter().for_each(|span| span.push(Target { path, ..Target::default() }));
        } else if let Some(seconds) = value("actual test time:").and_then(|text| number(text.trim_end_matches('s'))) {
            self.elapsed_ns = Some((seconds * 1e9) as u64).filter(|ns| *ns > 0);
        } else if let Some(count) = value("thread count:") {
            self.threads = count.parse().ok();
        } else if let Some(target) = self.spans.last_mut().and_then(|span| span.last_mut()) {
            target.read(line);
        }
    }

    /// What all targets of the time span have, and their paths.
    fn load(&self) -> (Transfers, BTreeSet<&'a str>) {
        let targets = self.spans.get(self.span).map(Vec::as_slice).unwrap_or_default();
        let read_percent = agreed(targets.iter().map(|target| target.read_percent));
        let is_random = agreed(targets.iter().map(|target| target.is_random));
        let transfers = Transfers {
            pattern: read_percent.zip(is_random).map(|(reads, random)| ReadWrite::of(reads, random).to_string()),
            read_percent,
            block_size_bytes: agreed(targets.iter().map(|target| target.block_size_bytes)),
            queue_depth: agreed(targets.iter().map(|target| target.queue_depth)),
            jobs: self.threads,
            elapsed_ns: self.elapsed_ns,
            ..Transfers::default()
        };
        (transfers, targets.iter().map(|target| target.path).collect())
    }

    /// What was asked is not about what follows, unless there are results of another time span to come.
    fn end_of_results(&mut self) {
        if self.span + 1 >= self.spans.len() {
            *self = Self::default();
        }
        (self.elapsed_ns, self.threads) = (None, None);
    }
}

impl Target<'_> {
    fn read(&mut self, line: &str) {
        if let Some(size) = line.strip_prefix("block size:").map(str::trim) {
            self.block_size_bytes = size.parse().ok().or_else(|| bytes(size).map(|bytes| bytes as u64));
        } else if let Some((_, depth)) = line.split_once("outstanding I/O operations") {
            self.queue_depth = depth.rsplit(' ').next().and_then(|depth| depth.parse().ok());
        } else if line.starts_with("using random I/O") {
            self.is_random = Some(true);
        } else if line.starts_with("using") && line.contains(" sequential I/O") {
            self.is_random = Some(false);
        } else if let Some(kind) = line.strip_prefix("performing ") {
            self.read_percent = reads(kind);
        }
    }
}

/// Share of reads in `mix test (read/write ratio: 70/30)`. Old versions wrote `(write/read ratio: 30/100)`, whose first
/// number is that of writes.
fn reads(kind: &str) -> Option<u8> {
    match kind {
        "read test" => Some(100),
        "write test" => Some(0),
        _ => {
            let (ratio, percents) = kind.split_once(" ratio: ")?;
            let first: u8 = percents.split('/').next()?.parse().ok().filter(|percent| *percent <= 100)?;
            Some(if ratio.ends_with("write/read") { 100 - first } else { first })
        }
    }
}

/// Targets that were measured together, by their paths.
pub(super) fn several(paths: &BTreeSet<&str>) -> Option<String> {
    match paths.len() {
        0 => None,
        1..=PATHS_NAMED => Some(paths.iter().copied().collect::<Vec<_>>().join(", ")),
        several => Some(format!("{several} targets")),
    }
}

/// Reads the table of percentiles below the tables of threads; its last line.
fn percentiles(passage: &Passage<'_>, above: usize, transfers: &mut Transfers) -> Option<usize> {
    // Each of several targets has a table of its own, and below them there is one about all.
    let below = (above + 1..above + BELOW).take_while(|index| !passage.line(*index).contains("thread |"));
    let of_all = below.clone().find(|index| passage.line(*index).contains("otal latency distribution"));
    let from = of_all.unwrap_or(above + 1);
    let head = (from..from + APART).find(|index| passage.line(*index).contains("%-ile |"))?;
    let at = passage.line(head).find('%')?.saturating_sub(2);
    let mut last = None;
    for index in head + 1..head + 24 {
        let row = passage.line(index).get(at..).unwrap_or_default();
        if row.trim_start().starts_with('-') {
            continue;
        }
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (Some(percent), 4) = (percent(cells[0]), cells.len()) else { break };
        let directions = [&mut transfers.read, &mut transfers.write, &mut transfers.total];
        for (direction, cell) in directions.into_iter().zip(&cells[1..]) {
            if let (Some(direction), Some(milliseconds)) = (direction, number(cell)) {
                direction.percentiles.push(Percentile { percent, latency_ns: milliseconds * 1e6 });
            }
        }
        last = Some(index);
    }
    last
}

fn percent(name: &str) -> Option<f64> {
    match name {
        "min" => return Some(0.0),
        "max" => return Some(100.0),
        _ => {}
    }
    if let Some(nines) = name.strip_suffix("-nines") {
        let nines: i32 = nines.parse().ok().filter(|nines| (1..=12).contains(nines))?;
        return Some(100.0 - 100.0 * 0.1_f64.powi(nines));
    }
    name.strip_suffix("th")?.parse().ok()
}
