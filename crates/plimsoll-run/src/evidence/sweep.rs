//! Cells that differ in depth alone: where more depth stops helping, and what the wait is.

use plimsoll_measure::{
    detect::{
        knee::{DepthPoint, knee},
        queueing::queue_bound,
    },
    verdict::Verdict,
};
use plimsoll_record::{
    numbers::{iops, percent},
    record::Cell,
    results::{Finding, Severity},
};
use plimsoll_workload::plan::BlockPlan;
use serde_json::json;

use super::{mean_latency, rate};
use crate::findings::finding;

/// Depths that make a sweep in which to look for a knee.
const SWEEP_MIN: usize = 3;
/// The share of a rate below which another is not as much.
const LESS_THAN: f64 = 0.9;

/// Sentences about cells that differ in depth alone: where more depth stops helping, and what the wait is.
pub fn of_sweeps(cells: &[Cell]) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    // What depths had beside each other is no rate of any of them.
    let is_alone = |index: &usize| !cells.iter().any(|other| cells[*index].ran_beside(other));
    let alone: Vec<usize> = (0..cells.len()).filter(is_alone).collect();
    for &index in &alone {
        let is_in = |other: &usize| is_same_but_depth(&cells[index], &cells[*other]);
        let group: Vec<usize> = alone.iter().copied().filter(is_in).collect();
        if group.len() < 2 || group[0] != index {
            continue;
        }
        findings.extend(queue_bound_cells(cells, &group));
        if group.len() < SWEEP_MIN {
            continue;
        }
        // A depth that was not measured may be the knee.
        if !group.iter().all(|other| is_of_storage(&cells[*other])) {
            continue;
        }
        let points: Option<Vec<DepthPoint>> = group.iter().map(|other| depth_point(&cells[*other])).collect();
        let Some((points, knee)) = points.and_then(|points| knee(&points).map(|knee| (points, knee))) else { continue };
        let at = group.iter().copied().find(|other| depth(&cells[*other]) == knee.depth).unwrap_or(index);
        let text = if knee.open_ended {
            format!("the rate still grows at depth {}, the deepest of the sweep: {} IOPS", knee.depth, iops(knee.rate))
        } else {
            let is_certain = points.iter().all(|point| point.interval.is_some());
            format!(
                "depth {} is enough{}: {} IOPS, within 5 % of the sweep's highest ({})",
                knee.depth,
                if is_certain { "" } else { ", as far as so little tells" },
                iops(knee.rate),
                iops(knee.highest_rate)
            )
        };
        let evidence =
            [("depth", json!(knee.depth)), ("iops", json!(knee.rate)), ("iops_highest", json!(knee.highest_rate))];
        findings.push((at, finding("depth-knee", Severity::Info, text, &evidence)));
    }
    findings
}

/// Cells of a sweep whose latency is mostly waiting, by the latency at depth 1.
fn queue_bound_cells(cells: &[Cell], group: &[usize]) -> Vec<(usize, Finding)> {
    let Some(alone) =
        group.iter().copied().find(|index| depth(&cells[*index]) == 1).filter(|index| is_of_storage(&cells[*index]))
    else {
        return Vec::new();
    };
    let Some(service_ns) = mean_latency(&cells[alone]) else { return Vec::new() };
    let waits = |index: &usize| {
        let cell = &cells[*index];
        let bound = queue_bound(rate(cell)?, mean_latency(cell)?, service_ns)?;
        // What was measured at such a depth says more than what follows from a depth of one.
        let did_less = |other: &usize| {
            let depths = bound.depth_needed.ceil()..f64::from(depth(cell));
            depths.contains(&f64::from(depth(&cells[*other])))
                && rate(&cells[*other]).zip(rate(cell)).is_some_and(|(less, rate)| less < rate * LESS_THAN)
        };
        if group.iter().any(did_less) {
            return None;
        }
        let waiting = format!("{} of the latency is waiting in the queue", percent(bound.waiting_share));
        let text = match bound.depth_needed.ceil() {
            needed if needed > 1.0 => format!("{waiting}: this rate needs a depth of at least {needed:.0}"),
            _ => waiting,
        };
        let evidence = [
            ("waiting_share", json!(bound.waiting_share)),
            ("service_ns", json!(bound.service_ns)),
            ("depth_needed", json!(bound.depth_needed)),
        ];
        Some((*index, finding("queue-bound-latency", Severity::Info, text, &evidence)))
    };
    group.iter().filter(|index| **index != alone).filter_map(waits).collect()
}

/// What a cache, the machine or a burst lets through says nothing of the depth that the storage needs.
fn is_of_storage(cell: &Cell) -> bool {
    !matches!(cell.verdict, Some(Verdict::Cached | Verdict::ClientLimited | Verdict::Burst))
}

fn is_same_but_depth(left: &Cell, right: &Cell) -> bool {
    let (Some(left_plan), Some(right_plan)) = (left.blocks(), right.blocks()) else { return false };
    let (queue_depth, seed) = (left_plan.queue_depth, left_plan.seed);
    left.target == right.target && *left_plan == BlockPlan { queue_depth, seed, ..right_plan.clone() }
}

fn depth(cell: &Cell) -> u32 {
    cell.blocks().map_or(0, |plan| plan.queue_depth * plan.jobs)
}

fn depth_point(cell: &Cell) -> Option<DepthPoint> {
    let interval = cell.estimate.and_then(|estimate| estimate.iops_low.zip(estimate.iops_high));
    Some(DepthPoint { depth: depth(cell), rate: rate(cell)?, interval })
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        event::{RunEvent, SlotDirection, SlotResult},
        judgement::RateEstimate,
    };

    use super::*;
    use crate::test_plans::started;

    /// What is said of depths 1, 2, 4 and 8 at these rates.
    fn knees(rates: &[u64]) -> Vec<(usize, String)> {
        let rates: Vec<_> = rates.iter().map(|rate| (*rate, 1_000_000)).collect();
        said("depth-knee", &rates)
    }

    /// The same of these rates and latencies, in one kind of finding.
    fn said(code: &str, rates: &[(u64, u64)]) -> Vec<(usize, String)> {
        texts(code, &measured(rates))
    }

    fn texts(code: &str, cells: &[Cell]) -> Vec<(usize, String)> {
        let found = of_sweeps(cells).into_iter();
        found.filter(|(_, finding)| finding.code == code).map(|(cell, finding)| (cell, finding.text)).collect()
    }

    fn measured(rates: &[(u64, u64)]) -> Vec<Cell> {
        let mut builder = RecordBuilder::new(started("rw = 'randread'\nqueue_depth = [1, 2, 4, 8]"));
        for (cell, (rate, latency_ns)) in rates.iter().enumerate() {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(*latency_ns, *rate);
            let read = Some(SlotDirection { operations: *rate, bytes: 0, histogram });
            let slot = SlotResult { cell, elapsed_ns: 1_000_000_000, read, ..SlotResult::default() };
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
        }
        builder.finish().cells
    }

    #[test]
    fn no_depth_is_called_better_within_the_error_or_by_what_is_no_rate_of_the_storage() {
        let known_to = |error: f64, last: u64| {
            let mut cells = measured(&[(1000, 1_000_000), (2000, 1_000_000), (4000, 1_000_000), (last, 1_800_000)]);
            for cell in &mut cells {
                let iops = rate(cell).unwrap();
                let (low, high) = (iops * (1.0 - error), iops * (1.0 + error));
                cell.estimate = Some(RateEstimate { iops, iops_low: Some(low), iops_high: Some(high) });
            }
            cells
        };
        let [(_, text)] = &texts("depth-knee", &known_to(0.01, 4100))[..] else { panic!("one knee") };
        assert!(text.starts_with("depth 4 is enough: 4,000 IOPS"), "{text}");
        assert_eq!(texts("depth-knee", &known_to(0.01, 4400)).len(), 1);
        assert_eq!(texts("depth-knee", &known_to(0.1, 4400)), []);
        let mut cells = known_to(0.01, 4400);
        cells[1].verdict = Some(Verdict::ClientLimited);
        assert_eq!(texts("depth-knee", &cells), []);
    }

    #[test]
    fn the_lowest_depth_near_the_maximum_is_told_once_all_depths_were_measured() {
        let [(cell, text)] = &knees(&[1000, 1900, 1980, 2000])[..] else { panic!("one knee") };
        assert!(*cell == 1 && text.starts_with("depth 2 is enough, as far as so little tells: 1,900 IOPS"), "{text}");
        let [(cell, text)] = &knees(&[1000, 2000, 4000, 8000])[..] else { panic!("one knee") };
        assert!(*cell == 3 && text.contains("still grows at depth 8"), "{text}");
        // The deepest was not run.
        assert_eq!(knees(&[1000, 2000, 4000]), []);
    }

    #[test]
    fn depths_that_ran_at_the_same_time_are_no_sweep() {
        let cells = |phase: fn(u32) -> u32| {
            let mut cells = measured(&[(1000, 1_000_000), (2900, 1_300_000), (2950, 2_600_000), (3000, 2_600_000)]);
            cells.iter_mut().zip(0..).for_each(|(cell, index)| cell.phase = Some(phase(index)));
            of_sweeps(&cells).len()
        };
        assert!(cells(|index| index) > 1);
        assert_eq!(cells(|_| 1), 0);
    }

    #[test]
    fn a_least_depth_is_told_by_depth_1_of_the_storage_unless_another_was_measured_and_did_less() {
        let rates = |at_four| [(1000, 1_000_000), (1500, 1_300_000), at_four, (3000, 2_600_000)];
        let waits = |at_four| said("queue-bound-latency", &rates(at_four));
        let text = "62 % of the latency is waiting in the queue: this rate needs a depth of at least 3";
        assert_eq!(waits((2900, 1_300_000)), [(3, text.to_owned())]);
        assert_eq!(waits((2000, 2_000_000)), []);
        // Where depth 1 would do, a least depth says nothing.
        let slow = [(1000, 1_000_000), (900, 2_200_000), (900, 4_400_000), (900, 8_800_000)];
        let told = said("queue-bound-latency", &slow);
        assert!(told.len() == 3 && told.iter().all(|(_, text)| text.ends_with(" is waiting in the queue")), "{told:?}");
        for verdict in [Verdict::ClientLimited, Verdict::Cached, Verdict::Burst] {
            let mut cells = measured(&rates((2900, 1_300_000)));
            cells[0].verdict = Some(verdict);
            assert_eq!(texts("queue-bound-latency", &cells), []);
        }
    }
}
