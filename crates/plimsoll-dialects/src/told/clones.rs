//! Clones of a job, of which each was told by itself, as one load.

use std::{collections::HashMap, hash::Hash};

use plimsoll_record::told::{Direction, FoundResult, Measured, Percentile, Transfers, doubt};

use super::{fio_text::DIFFERENT_TIMES, numbers::differs};

/// Joins results that stand beside each other and are clones of a job: of one name, with one load.
pub(super) fn merge(found: Vec<FoundResult>) -> Vec<FoundResult> {
    let mut merged: Vec<FoundResult> = Vec::new();
    let mut rest = found.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut clones = vec![first];
        while let Some(next) = rest.next_if(|next| is_clone(&clones[0], next)) {
            clones.push(next);
        }
        merged.push(one(clones));
    }
    merged
}

/// The same of results with the groups of their jobs, where each of several servers tells of all its jobs: those of one
/// name and group are put beside each other.
pub(super) fn merge_of_servers<G: Copy + Eq + Hash>(mut found: Vec<(G, FoundResult)>) -> Vec<(G, FoundResult)> {
    let mut order = HashMap::new();
    found.sort_by_cached_key(|(group, result)| {
        let next = order.len();
        *order.entry((*group, result.workload.clone())).or_insert(next)
    });
    merge_groups(found)
}

/// The same of results with the groups of their jobs, which stand beside each other.
pub(super) fn merge_groups<G: Copy + Eq>(found: Vec<(G, FoundResult)>) -> Vec<(G, FoundResult)> {
    let mut merged = Vec::new();
    let mut rest = found.into_iter().peekable();
    while let Some((group, first)) = rest.next() {
        let mut of_group = vec![first];
        while let Some((_, next)) = rest.next_if(|(other, _)| *other == group) {
            of_group.push(next);
        }
        merged.extend(merge(of_group).into_iter().map(|result| (group, result)));
    }
    merged
}

fn is_clone(first: &FoundResult, next: &FoundResult) -> bool {
    let (Some(ours), Some(theirs)) = (first.told.transfers(), next.told.transfers()) else { return false };
    let load = |transfers: &Transfers| Transfers {
        read: None,
        write: None,
        total: None,
        sync: None,
        elapsed_ns: None,
        errors: None,
        ..transfers.clone()
    };
    first.workload.is_some() && first.workload == next.workload && load(ours) == load(theirs)
}

fn one(mut clones: Vec<FoundResult>) -> FoundResult {
    if clones.len() == 1 {
        return clones.swap_remove(0);
    }
    let each: Vec<&Transfers> = clones.iter().filter_map(|clone| clone.told.transfers()).collect();
    let elapsed_ns = each.iter().filter_map(|transfers| transfers.elapsed_ns).max();
    let mut ran_differently = false;
    let mut directions = |of: fn(&Transfers) -> &Option<Direction>| {
        let each: Vec<Direction> = each.iter().filter_map(|transfers| of(transfers).clone()).collect();
        let longest = longest_of_different(&each);
        ran_differently |= longest.is_some();
        sum(each, longest)
    };
    // Hosts may tell of several jobs each.
    let jobs = each.iter().try_fold(0_u64, |sum, transfers| Some(sum.saturating_add(transfers.jobs?)));
    let errors = each.iter().filter_map(|transfers| transfers.errors).reduce(u64::saturating_add);
    let transfers = Transfers {
        jobs: jobs.or(Some(clones.len() as u64)),
        elapsed_ns,
        errors,
        read: directions(|transfers| &transfers.read),
        write: directions(|transfers| &transfers.write),
        total: directions(|transfers| &transfers.total),
        sync: directions(|transfers| &transfers.sync),
        ..each[0].clone()
    };
    let last = clones.iter().map(|clone| clone.told.lines.1).max().unwrap_or_default();
    let started = clones.iter().filter_map(|clone| clone.started).min();
    let mut findings: Vec<_> = clones.iter().flat_map(|clone| clone.findings.clone()).collect();
    findings.dedup();
    if ran_differently {
        findings.push(doubt(DIFFERENT_TIMES));
    }
    let mut first = clones.swap_remove(0);
    first.told.lines.1 = last;
    first.told.measured = Measured::Transfers(Box::new(transfers));
    FoundResult { started, findings, ..first }
}

/// The longest of the times in seconds in which each did what was counted, where they differ: reads that verify take
/// another time than the writes before them.
fn longest_of_different(each: &[Direction]) -> Option<f64> {
    let time = |one: &Direction| Some(one.operations? as f64 / one.iops.filter(|iops| *iops > 0.0)?);
    let times: Vec<f64> = each.iter().filter_map(time).collect();
    let longest = times.iter().copied().fold(0.0, f64::max);
    times.iter().any(|time| differs(*time, longest, 0.01)).then_some(longest)
}

/// What several did together. Of latencies that leaves the mean, the shortest and the longest: percentiles of parts
/// are no percentile of the whole. Where they ran for different times, rates are those of the longest one.
fn sum(each: Vec<Direction>, longest: Option<f64>) -> Option<Direction> {
    if each.is_empty() {
        return None;
    }
    let whole = |of: fn(&Direction) -> Option<u64>| {
        each.iter().map(of).try_fold(0_u64, |sum, value| Some(sum.saturating_add(value?)))
    };
    let rate = |told: fn(&Direction) -> Option<f64>, counted: Option<u64>| match longest {
        Some(seconds) => Some(counted? as f64 / seconds),
        None => each.iter().map(told).sum(),
    };
    let weighted = |one: &Direction| Some(one.latency_mean_ns? * one.operations? as f64);
    let [operations, bytes] = [whole(|one| one.operations), whole(|one| one.bytes)];
    let times = each.iter().map(weighted).sum::<Option<f64>>();
    let at = |percent: f64| {
        let of =
            |one: &Direction| Some(one.percentiles.iter().find(|of| (of.percent - percent).abs() < 1e-9)?.latency_ns);
        each.iter().map(of).collect::<Option<Vec<f64>>>()
    };
    let ends = [
        at(0.0).map(|all| (0.0, all.into_iter().fold(f64::MAX, f64::min))),
        at(100.0).map(|all| (100.0, all.into_iter().fold(0.0, f64::max))),
    ];
    Some(Direction {
        bytes,
        operations,
        bytes_per_second: rate(|one| one.bytes_per_second, bytes),
        iops: rate(|one| one.iops, operations),
        latency_mean_ns: times.zip(operations).filter(|(_, count)| *count > 0).map(|(ns, count)| ns / count as f64),
        latency_stddev_ns: None,
        percentiles: ends
            .into_iter()
            .flatten()
            .map(|(percent, latency_ns)| Percentile { percent, latency_ns })
            .collect(),
        threads: each,
    })
}
