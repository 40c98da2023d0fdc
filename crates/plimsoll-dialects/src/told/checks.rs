//! What holds for results of whatever source: numbers that are none are dropped, and what is told twice has to agree.

use plimsoll_record::{
    results::Finding,
    told::{Direction, FoundResult, Measured, Source, Transfers, mismatch},
};

/// How far numbers may be off that are told with two or three digits.
const ROUNDING: f64 = 0.02;
/// Rates are told with two decimals.
const LAST_DECIMAL: f64 = 0.01;
/// Rates of bytes are told in MiB, with two decimals.
const LAST_DECIMAL_OF_MIB: f64 = 1_048_576.0 * LAST_DECIMAL;
/// No number that was measured is larger.
const MAX: f64 = 1e18;

/// Checks a result.
pub(super) fn check(result: &mut FoundResult) {
    let source = result.told.source;
    if let Measured::Transfers(transfers) = &mut result.told.measured {
        let directions = [&mut transfers.read, &mut transfers.write, &mut transfers.total, &mut transfers.sync];
        directions.into_iter().flatten().for_each(keep_numbers);
        drop_what_did_nothing(transfers);
        result.findings.extend(disagreements(transfers, source));
    }
    let mut seen: Vec<Finding> = Vec::new();
    for finding in std::mem::take(&mut result.findings) {
        if !seen.contains(&finding) {
            seen.push(finding);
        }
    }
    result.findings = seen;
}

fn is_number(value: &f64) -> bool {
    value.is_finite() && (0.0..MAX).contains(value)
}

fn keep_numbers(direction: &mut Direction) {
    let Direction { bytes_per_second, iops, latency_mean_ns, latency_stddev_ns, .. } = direction;
    for value in [bytes_per_second, iops, latency_mean_ns, latency_stddev_ns] {
        *value = value.filter(is_number);
    }
    direction.percentiles.retain(|of| (0.0..=100.0).contains(&of.percent) && is_number(&of.latency_ns));
    direction.threads.iter_mut().for_each(keep_numbers);
}

/// A direction without operations was not asked for, where another one has some.
fn drop_what_did_nothing(transfers: &mut Transfers) {
    let did_something = |of: &Option<Direction>| of.as_ref().is_some_and(|of| of.operations != Some(0));
    if did_something(&transfers.read) || did_something(&transfers.write) {
        for direction in [&mut transfers.read, &mut transfers.write] {
            *direction = direction.take().filter(|of| of.operations != Some(0));
        }
    }
}

fn disagreements(transfers: &Transfers, source: Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reads_and_writes = [("reads", &transfers.read), ("writes", &transfers.write), ("", &transfers.total)];
    for (name, direction) in reads_and_writes.into_iter().chain([("syncs", &transfers.sync)]) {
        let Some(direction) = direction else { continue };
        latencies(name, direction, &mut findings);
        // Readers of fio know the time of each direction.
        if !matches!(source, Source::FioJson | Source::FioText) {
            rates(name, direction, transfers, &mut findings);
        }
    }
    findings
}

/// Whether two numbers are further apart than by rounding.
fn differ(one: f64, other: f64, last_decimal: f64) -> bool {
    (one - other).abs() > ROUNDING * one.abs().max(other.abs()) + last_decimal
}

fn rates(name: &str, direction: &Direction, transfers: &Transfers, findings: &mut Vec<Finding>) {
    let of = if name.is_empty() { "operations" } else { name };
    let seconds = transfers.elapsed_ns.map(|ns| ns as f64 / 1e9).filter(|seconds| *seconds > 0.0);
    let block = transfers.block_size_bytes.map(|bytes| bytes as f64);
    let [operations, bytes] = [direction.operations, direction.bytes].map(|count| count.map(|count| count as f64));
    if let (Some(operations), Some(seconds), Some(iops)) = (operations, seconds, direction.iops)
        && differ(operations / seconds, iops, LAST_DECIMAL)
    {
        findings.push(mismatch(format!("{operations} {of} in {seconds:.2} s are not {iops} IOPS")));
    }
    if let (Some(bytes), Some(seconds), Some(rate)) = (bytes, seconds, direction.bytes_per_second)
        && differ(bytes / seconds, rate, LAST_DECIMAL_OF_MIB)
    {
        findings.push(mismatch(format!("{bytes} bytes of {of} in {seconds:.2} s are not {rate:.0} bytes per second")));
    }
    let of_block = match (operations.zip(bytes), direction.iops.zip(direction.bytes_per_second)) {
        (Some((operations, bytes)), _) => Some((operations, bytes, 0.0)),
        (None, Some((iops, rate))) => Some((iops, rate, LAST_DECIMAL_OF_MIB)),
        (None, None) => None,
    };
    if let (Some(block), Some((count, bytes, last_decimal))) = (block, of_block)
        && differ(count * block, bytes, last_decimal)
        && count > 0.0
    {
        let mean = bytes / count;
        findings.push(mismatch(format!("{of} are of {mean:.0} bytes on average, and blocks of {block} are told")));
    }
}

fn latencies(name: &str, direction: &Direction, findings: &mut Vec<Finding>) {
    let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
    let ends = [direction.percentiles.first(), direction.percentiles.last()];
    let at =
        |end: usize, percent: f64| ends[end].filter(|of| (of.percent - percent).abs() < 1e-9).map(|of| of.latency_ns);
    let rises =
        direction.percentiles.windows(2).all(|pair| pair[0].latency_ns <= pair[1].latency_ns * (1.0 + ROUNDING));
    if !rises {
        findings.push(mismatch(format!("a higher percentile{of} is shorter than a lower one")));
    }
    let Some(mean) = direction.latency_mean_ns else { return };
    // A millisecond with three decimals may be anything below a microsecond.
    let is_outside = at(0, 0.0).is_some_and(|least| mean < least * (1.0 - ROUNDING) - 1000.0)
        || at(1, 100.0).is_some_and(|most| mean > most * (1.0 + ROUNDING) + 1000.0);
    if is_outside {
        findings.push(mismatch(format!("the mean latency{of} is not between the shortest and the longest")));
    }
}
