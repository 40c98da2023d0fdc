//! The lines that end fio's report: `READ: bw=864MiB/s (906MB/s), ..., io=3037GiB (3261GB), run=3600001-3600002msec`,
//! and the line about the job above them, where it is there.

use super::{
    Direction, FoundResult, Measured, Source, Transfers,
    numbers::{bytes, bytes_per_second},
    passage::Passage,
};

/// So far above may the line about a job stand.
const FAR: usize = 400;

/// What a status line says.
struct Status {
    is_read: bool,
    bytes: f64,
    bytes_per_second: f64,
    elapsed_ns: u64,
    findings: Vec<String>,
}

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let mut found: Vec<FoundResult> = Vec::new();
    let mut index = 0;
    while index < passage.lines.len() {
        let first = index;
        index += 1;
        let Some(one) = status(passage.line(first)) else { continue };
        // Reads and writes of a group stand together.
        let other = status(passage.line(index)).filter(|other| one.is_read && !other.is_read);
        index += usize::from(other.is_some());
        found.push(result(passage, first, [Some(one), other]));
    }
    found
}

fn result(passage: &Passage<'_>, first: usize, statuses: [Option<Status>; 2]) -> FoundResult {
    let mut transfers = job(passage, first);
    let mut findings = Vec::new();
    let last = first + statuses.iter().flatten().count() - 1;
    for status in statuses.into_iter().flatten() {
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
        *(if status.is_read { &mut transfers.read } else { &mut transfers.write }) = Some(direction);
    }
    findings.dedup();
    let measured = Measured::Transfers(Box::new(transfers));
    FoundResult::new(passage, Source::FioStatus, first..=last, measured).with(findings)
}

fn status(line: &str) -> Option<Status> {
    let (is_read, rest) = match (line.split_once("READ: bw="), line.split_once("WRITE: bw=")) {
        (Some((_, rest)), _) => (true, rest),
        (_, Some((_, rest))) => (false, rest),
        _ => return None,
    };
    let rate_text = rest.split([' ', ',']).next()?;
    let amount_text = after(line, "io=")?.split([' ', ',']).next()?;
    let times = after(line, "run=")?.split("msec").next()?;
    let (shortest, longest) = times.split_once('-').unwrap_or((times, times));
    let milliseconds = |text: &str| text.parse::<u64>().ok().filter(|ms| *ms < 1 << 40);
    let (shortest, longest) = (milliseconds(shortest)?, milliseconds(longest)?);
    let (rate, amount) = (bytes_per_second(rate_text)?, bytes(amount_text)?);
    let mut findings = Vec::new();
    let decimal = after(line, "io=").and_then(|rest| rest.split_once('(')?.1.split(')').next());
    if let Some(decimal) = decimal.and_then(bytes)
        && differs(amount, decimal, rounding(amount_text) + 0.01)
    {
        findings.push(format!("io={amount_text} is not the size in brackets behind it"));
    }
    let seconds = longest as f64 / 1000.0;
    if seconds > 0.0 && differs(amount / seconds, rate, rounding(amount_text) + rounding(rate_text) + 0.01) {
        findings.push(format!("io={amount_text} in {seconds} s is not bw={rate_text}"));
    }
    if longest - shortest.min(longest) > longest / 100 {
        findings.push("jobs ran for different times, so the rate holds for a part of them".to_owned());
    }
    Some(Status { is_read, bytes: amount, bytes_per_second: rate, elapsed_ns: longest * 1_000_000, findings })
}

/// Half of the last digit that is told, as a share.
fn rounding(text: &str) -> f64 {
    let digits: String = text.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    0.5 * 0.1_f64.powi(decimals) / digits.parse::<f64>().unwrap_or(1.0).max(f64::MIN_POSITIVE)
}

fn differs(one: f64, other: f64, tolerance: f64) -> bool {
    (one - other).abs() > tolerance * one.abs().max(other.abs())
}

fn after<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    Some(line.split_once(&format!(" {name}"))?.1)
}

/// What the line about the job says: `NAME: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, ..., ioengine=libaio,
/// iodepth=16`.
fn job(passage: &Passage<'_>, below: usize) -> Transfers {
    let above = (below.saturating_sub(FAR)..below).rev();
    let mut transfers = Transfers::default();
    for index in above {
        let line = passage.line(index);
        // What is above another result is about that one.
        if status(line).is_some() {
            break;
        }
        if let Some(jobs) = line.trim_start().strip_prefix("Starting ") {
            let count = jobs.split(' ').next().and_then(|count| count.parse().ok());
            transfers.jobs = transfers.jobs.or(count.filter(|_| jobs.contains("process") || jobs.contains("thread")));
        }
        if line.contains("(g=") && line.contains(" rw=") {
            transfers.pattern = after(line, "rw=").and_then(|rest| rest.split(',').next()).map(str::to_owned);
            transfers.queue_depth = after(line, "iodepth=").and_then(|rest| rest.trim().parse().ok());
            transfers.block_size_bytes = after(line, "bs=").and_then(block_size);
            break;
        }
    }
    transfers
}

/// The size of blocks, when it is one: `(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, ...`.
fn block_size(text: &str) -> Option<u64> {
    let sizes = text.split(", ioengine").next()?;
    let range = sizes.split(',').next()?.trim_start_matches("(R)").trim();
    let (low, high) = range.split_once('-')?;
    let (low, high) = (bytes(low)?, bytes(high.trim_end_matches("/s"))?);
    ((low - high).abs() < 0.5 && low >= 1.0).then_some(low as u64)
}
