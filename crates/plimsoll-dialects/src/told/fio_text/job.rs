//! What fio's normal report says of one job: from `NAME: (groupid=0, jobs=1): err= 0: pid=1: DATE` to `latency   :`.

use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Percentile, Source, Transfers, doubt, mismatch, note},
};

use super::{
    super::{
        OF_SEVERAL, OTHER_SIZES, ROUNDING, is_of_block,
        numbers::{bytes, bytes_of_fio_2, differs, moment, nanoseconds_in, with_carry, with_unit},
        passage::Passage,
        result,
    },
    FIO_2_UNITS, Job, Loads, rate, said,
};

/// A job's report has fewer lines.
const LINES_MAX: usize = 200;

/// What a part of the report is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// Reads and writes as one.
    Mixed,
    Trim,
}

/// What is told of one kind of operation.
struct Part<'a> {
    kind: Kind,
    direction: Direction,
    /// How its IOPS are written.
    iops_text: &'a str,
    elapsed_ns: u64,
    completion: Latencies,
    /// From the moment that an operation was begun.
    whole: Latencies,
}

impl<'a> Part<'a> {
    fn new(kind: Kind, direction: Direction, iops_text: &'a str, elapsed_ms: u64) -> Self {
        let (completion, whole) = Default::default();
        Self { kind, direction, iops_text, elapsed_ns: elapsed_ms * 1_000_000, completion, whole }
    }
}

/// What is told of one kind of latency.
#[derive(Default)]
struct Latencies {
    mean_ns: Option<f64>,
    stddev_ns: Option<f64>,
    shortest_ns: Option<f64>,
    longest_ns: Option<f64>,
    percentiles: Vec<Percentile>,
}

/// What stands below the line with a job's name.
struct Body<'a> {
    parts: Vec<Part<'a>>,
    /// `total=1000,500,0,0`, in fio 2 `total=r=1000/w=500/d=0`.
    counts: Option<&'a str>,
    last: usize,
    is_fio_2: bool,
    syncs: Latencies,
}

/// Reads the report of a job that begins in a line; its last line.
pub(super) fn find(passage: &Passage<'_>, first: usize, loads: &Loads<'_>) -> Option<(Job, usize)> {
    let line = said(passage.line(first));
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(", jobs=")?;
    let (jobs, rest) = rest.split_once("): err=")?;
    let error: i64 = rest.trim_start().split([':', ' ', '(']).next()?.parse().ok()?;
    let (group, jobs) = (group.parse().ok()?, jobs.parse().ok().filter(|jobs: &u64| *jobs > 0));
    let load = loads.of(name, group, jobs > Some(1));
    let mut findings = Vec::new();
    if load.is_none() {
        findings.push(doubt(OF_SEVERAL));
    }
    let mut transfers = Transfers { jobs, ..load.unwrap_or_default() };
    let in_flight = transfers.queue_depth.unwrap_or(1).saturating_mul(jobs.unwrap_or(1));
    if error != 0 {
        findings.push(doubt(format!("the job ended with error {error}")));
    }
    let Body { parts, counts, last, is_fio_2, syncs } = body(passage, first);
    let counts: Vec<Option<u64>> = counts.map_or_else(Vec::new, |counts| {
        let counts = counts.split([',', ' ', '/']);
        counts.map(|count| count.trim_start_matches(['r', 'w', '=']).parse().ok()).collect()
    });
    let count = |index: usize| counts.get(index).copied().flatten();
    for Part { kind, mut direction, iops_text, elapsed_ns, completion, whole } in parts {
        let count = match kind {
            Kind::Read => count(0),
            Kind::Write => count(1),
            Kind::Mixed => count(0).zip(count(1)).map(|(reads, writes)| reads.saturating_add(writes)),
            Kind::Trim => continue,
        };
        // Latencies of completions where they are, and whole ones where not, as fio's users read them.
        let are_whole =
            completion.percentiles.is_empty() && (completion.mean_ns.is_none() || !whole.percentiles.is_empty());
        (if are_whole { whole } else { completion }).tell(&mut direction);
        transfers.elapsed_ns = transfers.elapsed_ns.max(Some(elapsed_ns));
        if let (Some(told), Some(count)) = (direction.iops, count) {
            direction.iops = Some(with_carry(told, iops_text, count as f64 * 1e9 / elapsed_ns as f64));
        }
        let load = (transfers.block_size_bytes, in_flight, elapsed_ns);
        transfers.block_size_bytes = finish(&mut direction, count, load, &mut findings);
        *(match kind {
            Kind::Read => &mut transfers.read,
            Kind::Write => &mut transfers.write,
            Kind::Mixed | Kind::Trim => &mut transfers.total,
        }) = Some(direction);
    }
    if transfers.read.is_none() && transfers.write.is_none() && transfers.total.is_none() {
        return None;
    }
    if syncs.mean_ns.is_some() {
        // Of `fdatasync` fio counts none.
        let operations = count(3).filter(|count| *count > 0);
        let elapsed_ns = transfers.elapsed_ns.filter(|ns| *ns > 0);
        let iops = operations.zip(elapsed_ns).map(|(count, ns)| count as f64 * 1e9 / ns as f64);
        let mut direction = Direction { operations, iops, ..Direction::default() };
        syncs.tell(&mut direction);
        // There are no more of them than reads and writes.
        let most = count(0).zip(count(1)).map(|(reads, writes)| reads.saturating_add(writes));
        if operations.is_some() && operations < most {
            findings
                .push(note("fio counts syncs of fsync and none of fdatasync: where both were asked, there were more"));
        }
        if let (None, Some(most)) = (operations, most)
            && let Some(first) = (Direction { operations: Some(most), ..direction.clone() }).first_unsupported()
        {
            direction.percentiles.retain(|of| of.percent < first.percent || of.percent >= 100.0);
            findings.push(note("percentiles of syncs are left out that so many reads and writes could not support"));
        }
        transfers.sync = Some(direction);
    }
    findings.dedup();
    if is_fio_2 {
        findings.push(note(FIO_2_UNITS));
    }
    // The date is that of the end.
    let end = rest.split_once("pid=").and_then(|(_, rest)| moment(rest.split_once(": ")?.1, "%a %b %d %H:%M:%S %Y"));
    let elapsed = i64::try_from(transfers.elapsed_ns.unwrap_or(0)).unwrap_or(i64::MAX);
    let started = end.and_then(|end| end.checked_sub(jiff::SignedDuration::from_nanos(elapsed)).ok());
    if started.is_some() {
        findings.push(note("fio tells its time without a zone: it is taken for UTC"));
    }
    let found = result(passage, Source::FioText, first..=last, Measured::Transfers(Box::new(transfers)), findings);
    let process = rest.split_once("pid=").and_then(|(_, rest)| rest.split(':').next()).unwrap_or_default();
    let job = Job {
        group,
        identity: format!("{name} {process}"),
        found: FoundResult { workload: Some(name.to_owned()), started, ..found },
    };
    Some((job, last))
}

fn body<'a>(passage: &Passage<'a>, first: usize) -> Body<'a> {
    let syncs = Latencies::default();
    let mut body = Body { parts: Vec::new(), counts: None, last: first, is_fio_2: false, syncs };
    let mut current: Option<Part<'_>> = None;
    let mut index = first + 1;
    while index < passage.lines.len() && index < first + LINES_MAX {
        let line = passage.line(index);
        if line.contains(": (groupid=") || line.contains("Run status group") {
            break;
        }
        if let Some(part) = totals(line) {
            body.parts.extend(current.replace(part));
            body.is_fio_2 |= line.contains(" runt=");
            body.last = index;
        } else if line.contains(": IOPS=") {
            // Of a direction that has no rate, as fio 3.33 tells of reads and writes as one, latencies are nobody's.
            body.parts.extend(current.take());
        }
        let behind = |name| behind_word(line, name);
        let of_all = behind("lat");
        let latencies = match (behind("sync"), behind("clat"), of_all, &mut current) {
            (Some(rest), ..) => Some((rest, &mut body.syncs)),
            (None, Some(rest), _, Some(part)) => Some((rest, &mut part.completion)),
            (None, None, Some(rest), Some(part)) => Some((rest, &mut part.whole)),
            _ => None,
        };
        if let Some((rest, latencies)) = latencies {
            if rest.starts_with("percentiles (") {
                let behind = latencies.read_percentiles(passage, index);
                body.last = body.last.max(behind - 1);
                index = behind.max(index + 1);
                continue;
            }
            if rest.contains("avg=") {
                latencies.read(rest);
                body.last = index;
            }
        }
        if line.contains(": usr=") || of_all.is_some_and(|rest| !rest.contains("avg=")) {
            body.parts.extend(current.take());
        }
        if let Some((_, counts)) = line.split_once("issued ").filter(|(_, counts)| counts.contains("total=")) {
            body.counts = counts.split_once("total=").map(|(_, counts)| counts);
            body.last = index;
        }
        index += 1;
    }
    body.parts.extend(current);
    body
}

/// What stands behind a latency's name, whatever a log puts before it: `(usec): min=1, ...` or `percentiles (usec):`.
fn behind_word<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let is_name = |(at, _): &(usize, &str)| {
        let rest = &line[at + name.len()..];
        let before = &line[..*at];
        let is_word = !before.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        // As in `high prio (50.00%) clat percentiles (usec):`, which is about a part of the operations.
        let is_of_some = before.trim_end().ends_with(')') && before.contains(" prio (");
        is_word && !is_of_some && (rest.starts_with(" (") || rest.starts_with(" percentiles ("))
    };
    let (at, _) = line.match_indices(name).find(is_name)?;
    Some(&line[at + name.len() + 1..])
}

/// What the line says that begins a direction: `  read: IOPS=1234, BW=4936KiB/s (5054kB/s)(48.2MiB/10001msec)`.
fn totals(line: &str) -> Option<Part<'_>> {
    let Some((before, rest)) = line.split_once(": IOPS=") else { return totals_of_fio_2(line) };
    let kind = kind(before)?;
    let (iops_text, rest) = rest.split_once(", BW=")?;
    let (value, unit, _) = with_unit(iops_text)?;
    let factor = match unit {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        _ => return None,
    };
    let (amount_text, time) = rest.rsplit_once('(')?.1.split_once('/')?;
    let elapsed_ms: u64 = time.split("msec").next()?.parse().ok().filter(|ms| *ms < 1 << 40)?;
    let (amount, seconds) = (bytes(amount_text)?, elapsed_ms as f64 / 1000.0);
    let (rate, amount) = match rate(rest) {
        Some((rate, _)) => (rate, with_carry(amount, amount_text, rate * seconds)),
        // A client tells the rate of the sum without a unit: `BW=621Mi (651M)`.
        None => (Some(amount / seconds).filter(|rate| rate.is_normal())?, amount),
    };
    let direction = Direction {
        bytes: Some(amount as u64),
        bytes_per_second: Some(rate),
        iops: Some(value * factor),
        ..Direction::default()
    };
    Some(Part::new(kind, direction, iops_text, elapsed_ms))
}

fn kind(before: &str) -> Option<Kind> {
    match before.trim_end().rsplit([' ', '\t']).next()? {
        "read" => Some(Kind::Read),
        "write" => Some(Kind::Write),
        "mixed" => Some(Kind::Mixed),
        "trim" => Some(Kind::Trim),
        _ => None,
    }
}

/// The same of fio 2: `  read : io=328445KB, bw=2423.6KB/s, iops=783 , runt=135550msec`.
fn totals_of_fio_2(line: &str) -> Option<Part<'_>> {
    let (before, rest) = line.split_once(": io=")?;
    let kind = kind(before)?;
    let value = |name: &str| rest.split(',').find_map(|part| part.trim().strip_prefix(name));
    let elapsed_ms: u64 =
        value("runt=")?.trim().strip_suffix("msec")?.trim().parse().ok().filter(|ms| *ms < 1 << 40)?;
    let direction = Direction {
        bytes: Some(bytes_of_fio_2(rest.split(',').next()?)? as u64),
        bytes_per_second: Some(bytes_of_fio_2(value("bw=")?.trim().strip_suffix("/s")?)?),
        iops: value("iops=")?.trim().parse().ok().filter(|iops: &f64| iops.is_finite()),
        ..Direction::default()
    };
    Some(Part::new(kind, direction, "", elapsed_ms))
}

impl Latencies {
    /// `lat (usec): min=50, max=2000, avg=800.12, stdev=100.11`
    fn read(&mut self, text: &str) -> Option<()> {
        let (unit, rest) = text.split_once('(')?.1.split_once("):")?;
        let unit_ns = nanoseconds_in(unit)?;
        let value = |name: &str| {
            let text = rest.split(',').find_map(|part| part.trim().strip_prefix(name))?.trim();
            let (value, factor) = match text.as_bytes().last()? {
                b'k' | b'K' => (&text[..text.len() - 1], 1e3),
                b'M' => (&text[..text.len() - 1], 1e6),
                _ => (text, 1.0),
            };
            let value = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
            value.map(|value| value * factor * unit_ns)
        };
        (self.mean_ns, self.stddev_ns) = (value("avg="), value("stdev="));
        (self.shortest_ns, self.longest_ns) = (value("min="), value("max="));
        Some(())
    }

    /// The lines below `lat percentiles (usec):`, as `|  1.00th=[  400],  5.00th=[  412], ...`; the line behind them.
    fn read_percentiles(&mut self, passage: &Passage<'_>, head: usize) -> usize {
        let line = passage.line(head);
        let unit = line.split_once("percentiles (").and_then(|(_, rest)| rest.split(')').next());
        let Some(unit_ns) = unit.and_then(nanoseconds_in) else { return head };
        let mut index = head + 1;
        while let Some((_, row)) = passage.line(index).rsplit_once('|').filter(|(_, row)| row.contains("th=[")) {
            for part in row.split("],") {
                let Some((percent, value)) = part.split_once("th=[") else { continue };
                let number = |text: &str| text.trim().trim_end_matches(']').trim().parse::<f64>().ok();
                if let (Some(percent), Some(value)) = (number(percent), number(value))
                    && percent > 0.0
                    && percent < 100.0
                    && value.is_finite()
                {
                    self.percentiles.push(Percentile { percent, latency_ns: value * unit_ns });
                }
            }
            index += 1;
        }
        index
    }

    fn tell(self, direction: &mut Direction) {
        let end = |percent, latency_ns: Option<f64>| latency_ns.map(|latency_ns| Percentile { percent, latency_ns });
        let (shortest, longest) = (end(0.0, self.shortest_ns), end(100.0, self.longest_ns));
        direction.percentiles = shortest.into_iter().chain(self.percentiles).chain(longest).collect();
        direction.percentiles.sort_by(|one, other| one.percent.total_cmp(&other.percent));
        (direction.latency_mean_ns, direction.latency_stddev_ns) = (self.mean_ns, self.stddev_ns);
    }
}

/// Operations are counted exactly, while sizes and rates are rounded: those that the count makes, unless they do not
/// agree. The size of blocks, if it is that of these operations: fio does not tell of a ramp here, at whose end some
/// may be in flight that have bytes and no count.
fn finish(
    direction: &mut Direction,
    count: Option<u64>,
    (block, in_flight, elapsed_ns): (Option<u64>, u64, u64),
    findings: &mut Vec<Finding>,
) -> Option<u64> {
    direction.operations = count;
    let made = block.zip(count).and_then(|(block, count)| block.checked_mul(count)).zip(direction.bytes);
    let is_of_block = block.zip(count).is_none_or(|load| is_of_block(load, in_flight, direction.bytes));
    let mut are_counted = false;
    match made {
        Some((made, told)) if !differs(made as f64, told as f64, ROUNDING) => {
            direction.bytes = Some(made);
            are_counted = true;
        }
        Some(_) if !is_of_block => findings.push(note(OTHER_SIZES)),
        _ => {}
    }
    let seconds = elapsed_ns as f64 / 1e9;
    if seconds <= 0.0 {
        return block.filter(|_| is_of_block);
    }
    if let (Some(told), Some(count)) = (direction.iops, count) {
        let made = count as f64 / seconds;
        if differs(made, told, ROUNDING) && (made - told).abs() > 1.0 {
            findings.push(mismatch(format!("{count} operations in {seconds} s are not {told} IOPS")));
        } else {
            direction.iops = Some(made);
        }
    }
    if let (Some(told), Some(bytes)) = (direction.bytes_per_second, direction.bytes) {
        let made = bytes as f64 / seconds;
        if differs(made, told, ROUNDING) {
            findings.push(mismatch(format!("{bytes} bytes in {seconds} s are not {told:.0} bytes per second")));
        } else if are_counted {
            direction.bytes_per_second = Some(made);
        }
    }
    block.filter(|_| is_of_block)
}
