//! diskspd's text report, whole or in parts: tables of threads, the table of percentiles, and the parameters above
//! them.

use jiff::Timestamp;
use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, mismatch},
};

use super::{
    numbers::{bytes, moment, number},
    passage::Passage,
    result,
};

/// So far above a table may its parameters stand, and below it the next one.
const FAR: usize = 120;
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
    let mut tables: Vec<Table> = Vec::new();
    let mut index = 0;
    while index < passage.lines.len() {
        match table(passage, index) {
            Some(table) => {
                index = table.last + 1;
                tables.push(table);
            }
            None => index += 1,
        }
    }
    // The three tables of a report stand below each other, the one about both first.
    let mut found = Vec::new();
    let mut rest = tables.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut group = vec![first];
        while let Some(next) = rest.next_if(|next| belongs(&group, next)) {
            group.push(next);
        }
        found.push(report(passage, group));
    }
    found
}

fn belongs(group: &[Table], next: &Table) -> bool {
    let last = &group[group.len() - 1];
    next.first - last.last < FAR / 10
        && group.iter().all(|table| table.section != next.section)
        && next.section != Section::Total
}

fn report(passage: &Passage<'_>, group: Vec<Table>) -> FoundResult {
    let (first, mut last) = (group[0].first, group[group.len() - 1].last);
    let Parameters { mut transfers, started, path } = parameters(passage, first);
    let mut findings = Vec::new();
    let told = transfers.elapsed_ns.map(|ns| ns as f64 / 1e9);
    for table in group {
        transfers.jobs = transfers.jobs.or(Some(table.direction.threads.len() as u64));
        if let (None, Some(seconds)) = (transfers.elapsed_ns, table.seconds) {
            transfers.elapsed_ns = Some((seconds * 1e9).round() as u64);
        }
        if let (Some(told), Some(seconds)) = (told, table.seconds)
            && is_other_time(told, seconds, &table.direction)
        {
            findings.push(mismatch(format!("its operations and IOPS make {seconds:.2} s, and {told} s are told")));
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
    // A heading says more of a disk than the name of a file does.
    let target = path.filter(|_| found.heading.is_none()).map(str::to_owned);
    FoundResult { target, started, ..found }
}

/// Whether the time that operations and their rate make is another one than was told: rates have two decimals.
fn is_other_time(told: f64, made: f64, direction: &Direction) -> bool {
    let rounding = 0.005 / direction.iops.unwrap_or(1.0).max(0.005);
    (told / made - 1.0).abs() > 0.01 + rounding
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
        bytes_per_second: cell("MiB/s").map(|rate| rate * 1_048_576.0),
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

/// What stands above a table about what was asked.
struct Parameters<'a> {
    transfers: Transfers,
    started: Option<Timestamp>,
    path: Option<&'a str>,
}

/// Share of reads in `mix test (read/write ratio: 70/30)`.
fn reads(kind: &str) -> Option<u8> {
    match kind {
        "read test" => Some(100),
        "write test" => Some(0),
        _ => kind.split_once("ratio: ")?.1.split('/').next()?.parse().ok().filter(|percent| *percent <= 100),
    }
}

/// Looks above a table for what was asked.
fn parameters<'a>(passage: &Passage<'a>, below: usize) -> Parameters<'a> {
    let (mut started, mut path) = (None, None);
    let mut transfers = Transfers::default();
    let mut is_random = None;
    for index in (below.saturating_sub(FAR)..below).rev() {
        let line = passage.line(index).trim();
        if line.starts_with("total:") {
            break;
        }
        let value = |name: &str| line.strip_prefix(name).map(str::trim);
        if let Some(text) = value("start time:") {
            started = moment(text, "%Y/%m/%d %H:%M:%S");
        } else if let Some(text) = value("path:") {
            path = Some(text.trim_matches('\''));
        } else if let Some(seconds) = value("actual test time:").and_then(|text| number(text.trim_end_matches('s'))) {
            transfers.elapsed_ns = Some((seconds * 1e9) as u64).filter(|ns| *ns > 0);
        } else if let Some(count) = value("thread count:") {
            transfers.jobs = count.parse().ok();
        } else if let Some(size) = value("block size:") {
            transfers.block_size_bytes = size.parse().ok().or_else(|| bytes(size).map(|bytes| bytes as u64));
        } else if let Some((_, depth)) = line.split_once("outstanding I/O operations") {
            let depth = depth.rsplit(' ').next().and_then(|depth| depth.parse().ok());
            transfers.queue_depth = transfers.queue_depth.or(depth);
        } else if line.starts_with("using random I/O") || line.starts_with("using mixed") {
            is_random = Some(true);
        } else if line.starts_with("using") && line.contains("sequential I/O") {
            is_random = Some(false);
        } else if let Some(kind) = line.strip_prefix("performing ") {
            let words = match (kind, is_random.unwrap_or(false)) {
                ("read test", true) => "randread",
                ("read test", false) => "read",
                ("write test", true) => "randwrite",
                ("write test", false) => "write",
                (_, true) => "randrw",
                (_, false) => "rw",
            };
            transfers.pattern = Some(words.to_owned());
            transfers.read_percent = reads(kind);
        }
        if line.starts_with("Command Line:") {
            break;
        }
    }
    Parameters { transfers, started, path }
}

/// Reads the table of percentiles below the tables of threads; its last line.
fn percentiles(passage: &Passage<'_>, above: usize, transfers: &mut Transfers) -> Option<usize> {
    let head = (above + 1..above + 12).find(|index| passage.line(*index).contains("%-ile |"))?;
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
