//! fio's normal report: what it says of each job, and the lines of a run status group that end it, which may stand
//! alone: `READ: bw=864MiB/s (906MB/s), ..., io=3037GiB (3261GB), run=3600001-3600002msec`.

use std::{collections::HashMap, ops::Range};

use plimsoll_record::{
    results::{Finding, Severity},
    told::{Direction, FoundResult, Measured, Source, Transfers, doubt, mismatch, note},
};

use super::{
    RESULTS_MAX, clones,
    numbers::{bytes, bytes_of_fio_2, bytes_per_second, differs, rounding, with_carry},
    passage::{Passage, content},
    result,
};

mod job;

/// What fio's client calls the sum of what its servers did.
const SUM_OF_SERVERS: &str = "All clients";

/// What a status line is about, in the order in which they stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum About {
    Reads,
    Writes,
    /// Reads and writes as one, as `unified_rw_reporting` asks for.
    Both,
}

/// What a status line says.
struct Status {
    about: About,
    bytes: f64,
    bytes_per_second: f64,
    elapsed_ns: u64,
    findings: Vec<Finding>,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    // Results with the numbers of their groups.
    let mut found: Vec<(u32, FoundResult)> = Vec::new();
    // Results of the servers of a client, and where those of the run begin.
    let (mut of_servers, mut begin): (Vec<Range<usize>>, usize) = (Vec::new(), 0);
    // Jobs whose status group is still to come: fio tells of all jobs first, and then of all groups.
    let mut jobs: Vec<Job> = Vec::new();
    let mut told: HashMap<Vec<String>, Range<usize>> = HashMap::new();
    let (mut loads, mut number, mut is_told_of_jobs, mut index) = (Loads::default(), None, false, 0);
    while index < passage.lines.len() && found.len() + jobs.len() <= RESULTS_MAX {
        let first = index;
        index += 1;
        if loads.read(said(passage.line(first))) {
            // Another run begins: jobs of the one before are no clones of its jobs.
            tell_without_groups(std::mem::take(&mut jobs), &mut found);
            (number, is_told_of_jobs, begin) = (None, false, found.len());
        }
        if let Some((_, rest)) = passage.line(first).split_once("Run status group ") {
            number = rest.split(' ').next().and_then(|number| number.parse::<u32>().ok());
        }
        if let Some((job, last)) = job::find(passage, first, &loads) {
            index = last + 1;
            // A client tells of the jobs of each server, and of their sum.
            if !is_told_of_jobs || job.found.workload.as_deref() != Some(SUM_OF_SERVERS) {
                is_told_of_jobs = true;
                jobs.push(job);
            } else {
                of_servers.push(begin..found.len());
                begin = found.len();
            }
            continue;
        }
        let Some(one) = status(passage.line(first)) else { continue };
        // Reads and writes of a group stand together.
        let mut statuses = vec![one];
        while let Some(next) = status(passage.line(index)).filter(|next| next.about > statuses[index - first - 1].about)
        {
            statuses.push(next);
            index += 1;
        }
        let load = loads.take(number);
        let is_of_group = |job: &Job| number.is_none_or(|number| job.group == number);
        let (of_group, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(is_of_group);
        jobs = others;
        if of_group.is_empty() {
            found.push((number.unwrap_or(0), group(passage, first, load, statuses)));
        } else {
            let identities: Vec<String> = of_group.iter().map(|job| job.identity.clone()).collect();
            let number = of_group[0].group;
            let mut of_group: Vec<FoundResult> = of_group.into_iter().map(|job| job.found).collect();
            check(&mut of_group, &statuses);
            let of_group = clones::merge(of_group).into_iter().map(|result| (number, result));
            // What fio tells of jobs while they go on is told again when they are over.
            match told.get(&identities).filter(|places| places.len() == of_group.len()) {
                Some(places) => places.clone().zip(of_group).for_each(|(place, result)| found[place] = result),
                None => {
                    told.insert(identities, found.len()..found.len() + of_group.len());
                    found.extend(of_group);
                }
            }
        }
    }
    tell_without_groups(jobs, &mut found);
    for places in of_servers.into_iter().rev() {
        let joined = clones::merge_of_servers(found.drain(places.clone()).collect());
        found.splice(places.start..places.start, joined);
    }
    found.into_iter().map(|(_, result)| result).collect()
}

/// Jobs of groups that no status line is told of.
fn tell_without_groups(mut jobs: Vec<Job>, found: &mut Vec<(u32, FoundResult)>) {
    while let Some(first) = jobs.first().map(|job| job.group) {
        let (of_group, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.group == first);
        jobs = others;
        let of_group = clones::merge(of_group.into_iter().map(|job| job.found).collect());
        found.extend(of_group.into_iter().map(|result| (first, result)));
    }
}

/// What is said of one job.
struct Job {
    group: u32,
    /// What no other job has: its line up to the number of its process.
    identity: String,
    found: FoundResult,
}

/// A status group without the jobs that it sums up.
fn group(passage: &Passage<'_>, first: usize, mut transfers: Transfers, statuses: Vec<Status>) -> FoundResult {
    let mut findings = Vec::new();
    let last = first + statuses.len() - 1;
    for status in statuses {
        let operations = transfers.block_size_bytes.map(|block| status.bytes / block as f64);
        let seconds = status.elapsed_ns as f64 / 1e9;
        let direction = Direction {
            bytes: Some(status.bytes.round() as u64),
            operations: operations.map(|operations| operations.round() as u64),
            bytes_per_second: Some(status.bytes_per_second),
            iops: operations.filter(|_| seconds > 0.0).map(|operations| operations / seconds),
            ..Direction::default()
        };
        transfers.elapsed_ns = transfers.elapsed_ns.max(Some(status.elapsed_ns));
        findings.extend(status.findings);
        *(match status.about {
            About::Reads => &mut transfers.read,
            About::Writes => &mut transfers.write,
            About::Both => &mut transfers.total,
        }) = Some(direction);
    }
    findings.dedup();
    result(passage, Source::FioText, first..=last, Measured::Transfers(Box::new(transfers)), findings)
}

/// Whether the jobs of a group are what its status lines say.
fn check(jobs: &mut [FoundResult], statuses: &[Status]) {
    for status in statuses {
        let of = |job: &FoundResult| {
            let transfers = job.told.transfers()?;
            let bytes = |direction: &Option<Direction>| direction.as_ref()?.bytes;
            match status.about {
                About::Reads => bytes(&transfers.read),
                About::Writes => bytes(&transfers.write),
                // Beside reads and writes fio 3.33 tells of both without a rate.
                About::Both => bytes(&transfers.total).or_else(|| {
                    Some(bytes(&transfers.read).unwrap_or(0).saturating_add(bytes(&transfers.write).unwrap_or(0)))
                }),
            }
        };
        // What contradicts itself is so for all that it sums up; how long each of them ran, they tell themselves.
        let is_of_all = |finding: &&Finding| finding.severity == Severity::Warning && finding.text != DIFFERENT_TIMES;
        for contradiction in status.findings.iter().filter(is_of_all) {
            let summed_up = jobs.iter_mut().filter(|job| of(job).is_some());
            summed_up.for_each(|job| job.findings.push(contradiction.clone()));
        }
        let sum: f64 = jobs.iter().filter_map(of).map(|bytes| bytes as f64).sum();
        // Sizes have three digits or more.
        if differs(sum, status.bytes, 0.01) {
            let text = format!("the jobs' {sum:.0} bytes are not the {:.0} of their group", status.bytes);
            // Where none of them tells any, a part of each may be lost.
            let tell_none = !jobs.iter().any(|job| of(job).is_some());
            let summed_up = jobs.iter_mut().filter(|job| tell_none || of(job).is_some());
            summed_up.for_each(|job| job.findings.push(mismatch(text.clone())));
        }
    }
}

/// Where the rate of a group is none of its jobs.
pub(super) const DIFFERENT_TIMES: &str = "jobs ran for different times, so the rate holds for a part of them";
/// What is said of the sizes in reports of fio 2.
const FIO_2_UNITS: &str = "KB, MB and GB of fio 2 are powers of 1024";

/// What a line is about that begins as `READ: bw=`, and what stands behind that.
fn about<'a>(line: &'a str, first: &str) -> Option<(About, &'a str)> {
    let names = [("READ: ", About::Reads), ("WRITE: ", About::Writes), ("MIXED: ", About::Both)];
    let rest = |name: &str| line.split_once(name)?.1.strip_prefix(first);
    names.into_iter().find_map(|(name, about)| Some((about, rest(name)?)))
}

/// A rate with the same in other units behind it, as `864MiB/s (906MB/s)`, and the text of the first.
fn rate(text: &str) -> Option<(f64, &str)> {
    let first = text.split([' ', ',', '(']).next()?;
    let rate = bytes_per_second(first)?;
    let second = text[first.len()..].strip_prefix(" (").and_then(|rest| bytes_per_second(rest.split(')').next()?));
    Some((with_carry(rate, first, second.unwrap_or(rate)), first))
}

fn status(line: &str) -> Option<Status> {
    let Some((about, rest)) = about(line, "bw=") else { return status_of_fio_2(line) };
    let (rate, rate_text) = rate(rest)?;
    let amount_text = after(line, "io=")?.split([' ', ',']).next()?;
    let times = after(line, "run=")?.split("msec").next()?;
    let (shortest, longest) = times.split_once('-').unwrap_or((times, times));
    let milliseconds = |text: &str| text.parse::<u64>().ok().filter(|ms| *ms < 1 << 40);
    let (shortest, longest) = (milliseconds(shortest)?, milliseconds(longest)?);
    let seconds = longest as f64 / 1000.0;
    let mut findings = Vec::new();
    let decimal_text = after(line, "io=").and_then(|rest| rest.split_once('(')?.1.split(')').next());
    let decimal = decimal_text.and_then(bytes);
    let amount = with_carry(bytes(amount_text)?, amount_text, decimal.unwrap_or(rate * seconds));
    if let Some(decimal) = decimal.map(|decimal| with_carry(decimal, decimal_text.unwrap_or_default(), amount))
        && differs(amount, decimal, rounding(amount_text) + 0.01)
    {
        findings.push(mismatch(format!("io={amount_text} is not the size in brackets behind it")));
    }
    if seconds > 0.0 && differs(amount / seconds, rate, rounding(amount_text) + rounding(rate_text) + 0.01) {
        findings.push(mismatch(format!("io={amount_text} in {seconds} s is not bw={rate_text}")));
    }
    if longest - shortest.min(longest) > longest / 100 {
        findings.push(doubt(DIFFERENT_TIMES));
    }
    Some(Status { about, bytes: amount, bytes_per_second: rate, elapsed_ns: longest * 1_000_000, findings })
}

/// The same of fio 2: `   READ: io=328445KB, aggrb=2423KB/s, minb=2423KB/s, ..., mint=135550msec, maxt=135550msec`.
fn status_of_fio_2(line: &str) -> Option<Status> {
    let (about, rest) = about(line, "io=")?;
    let (amount_text, rest) = rest.split_once(',')?;
    let value = |name: &str| rest.split(',').find_map(|part| part.trim().strip_prefix(name));
    let rate_text = value("aggrb=")?.strip_suffix("/s")?;
    let milliseconds =
        |name: &str| value(name)?.trim_end().strip_suffix("msec")?.parse::<u64>().ok().filter(|ms| *ms < 1 << 40);
    let (shortest, longest) = (milliseconds("mint=")?, milliseconds("maxt=")?);
    let (bytes, bytes_per_second) = (bytes_of_fio_2(amount_text)?, bytes_of_fio_2(rate_text)?);
    let mut findings = vec![note(FIO_2_UNITS)];
    let seconds = longest as f64 / 1000.0;
    if seconds > 0.0 && differs(bytes / seconds, bytes_per_second, rounding(amount_text) + rounding(rate_text) + 0.01) {
        findings.push(mismatch(format!("io={amount_text} in {seconds} s is not aggrb={rate_text}/s")));
    }
    if longest - shortest.min(longest) > longest / 100 {
        findings.push(doubt(DIFFERENT_TIMES));
    }
    Some(Status { about, bytes, bytes_per_second, elapsed_ns: longest * 1_000_000, findings })
}

/// What a line says, without the server that a client puts before it: `<HOST> NAME: (g=0): rw=randread, ...`.
fn said(line: &str) -> &str {
    let line = content(line);
    line.strip_prefix('<').and_then(|rest| rest.split_once("> ")).map_or(line, |(_, rest)| rest)
}

fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    Some(line.split_once(&format!(" {name}"))?.1)
}

/// What lines say of the loads of a run before its results: `NAME: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, ...,
/// ioengine=libaio, iodepth=16`, `Starting 8 processes`.
#[derive(Default)]
struct Loads<'a> {
    /// By the names and the groups of sections, with the number of the run.
    by_section: HashMap<(&'a str, u32), (usize, Transfers)>,
    /// Of all sections of a group, by the numbers of runs and groups; nothing where they differ.
    of_groups: HashMap<(usize, u32), Option<Transfers>>,
    /// The same, of groups of the run that nothing was told of yet.
    by_group: HashMap<u32, Option<Transfers>>,
    /// How many runs were before.
    runs: usize,
    /// All that were started.
    jobs: Option<u64>,
    /// Whether the next load is that of another run.
    is_complete: bool,
}

impl<'a> Loads<'a> {
    /// Takes in what a line says; whether it stands at the beginning of a run.
    fn read(&mut self, line: &'a str) -> bool {
        if let Some(jobs) = line.strip_prefix("Starting ") {
            let count = jobs.split(' ').next().and_then(|count| count.parse().ok());
            let count = count.filter(|_| jobs.contains("process") || jobs.contains("thread"));
            if count.is_some() {
                self.forget_run_before();
                (self.jobs, self.is_complete) = (count, true);
                return true;
            }
        }
        let load = line.split_once(": (g=").filter(|(_, load)| load.contains(" rw="));
        let Some((name, load)) = load else { return false };
        let pattern = after(load, "rw=").and_then(|rest| rest.split(',').next());
        let transfers = Transfers {
            pattern: pattern.map(str::to_owned),
            queue_depth: after(load, "iodepth=").and_then(|rest| rest.trim().parse().ok()),
            block_size_bytes: after(load, "bs=").and_then(|rest| block_size(rest, pattern)),
            engine: after(load, "ioengine=").and_then(|rest| rest.split(',').next()).map(str::to_owned),
            ..Transfers::default()
        };
        self.forget_run_before();
        if let Some(group) = load.split(')').next().and_then(|group| group.parse().ok()) {
            let of_group = self.of_groups.entry((self.runs, group)).or_insert_with(|| Some(transfers.clone()));
            *of_group = of_group.take().filter(|others| *others == transfers);
            self.by_group.insert(group, of_group.clone());
            self.by_section.insert((name, group), (self.runs, transfers));
        }
        true
    }

    fn forget_run_before(&mut self) {
        if std::mem::take(&mut self.is_complete) {
            self.by_group.clear();
            self.jobs = None;
            self.runs += 1;
        }
    }

    /// Of a job, or of all jobs of its group; nothing where they differ.
    fn of(&self, name: &str, group: u32, is_sum: bool) -> Option<Transfers> {
        let Some((run, load)) = self.by_section.get(&(name, group)) else { return Some(Transfers::default()) };
        if is_sum { self.of_groups.get(&(*run, group)).cloned().flatten() } else { Some(load.clone()) }
    }

    /// Of a group, or of the only one where its number is not told. What is above it is not about what follows.
    fn take(&mut self, number: Option<u32>) -> Transfers {
        self.is_complete = true;
        let is_only_one = self.by_group.len() <= 1;
        let only_one = self.by_group.keys().next().copied().filter(|_| is_only_one);
        let load = number.or(only_one).and_then(|number| self.by_group.remove(&number)).flatten();
        let jobs = self.jobs.take().filter(|_| is_only_one);
        Transfers { jobs, ..load.unwrap_or_default() }
    }
}

/// The size of blocks, when it is one: `(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, ...`, in fio 2 `16K-16K/16K-16K`.
fn block_size(text: &str, pattern: Option<&str>) -> Option<u64> {
    let sizes = text.split(", ioengine").next()?;
    let separator = if sizes.contains("(R)") { ',' } else { '/' };
    let mut ranges =
        sizes.split(separator).map(|range| range.trim().trim_start_matches(['(', 'R', 'W', 'T', ')']).trim());
    let size = |text: &str| bytes(text).or_else(|| text.parse::<f64>().ok());
    let one = |range: &str| {
        let (low, high) = range.split_once('-')?;
        let (low, high) = (size(low)?, size(high)?);
        ((low - high).abs() < 0.5 && low >= 1.0).then_some(low as u64)
    };
    let reads = one(ranges.next()?);
    let writes = ranges.next().map_or(reads, one);
    match pattern {
        Some("read" | "randread") => reads,
        Some("write" | "randwrite") => writes,
        _ => reads.filter(|_| reads == writes),
    }
}
