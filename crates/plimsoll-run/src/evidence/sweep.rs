//! Cells that differ in depth alone: where more depth stops helping, and what the wait is.

use plimsoll_measure::detect::{
    knee::{DepthPoint, knee},
    queueing::queue_bound,
};
use plimsoll_record::{
    numbers::{iops, percent},
    record::Cell,
    results::{Finding, Severity},
};
use serde_json::json;

use super::{mean_latency, rate};
use crate::findings::finding;

/// Depths that make a sweep in which to look for a knee.
const SWEEP_MIN: usize = 3;

/// Sentences about cells that differ in depth alone: where more depth stops helping, and what the wait is.
pub fn of_sweeps(cells: &[Cell]) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let group: Vec<usize> = (0..cells.len()).filter(|other| is_same_but_depth(cell, &cells[*other])).collect();
        if group.len() < 2 || group[0] != index {
            continue;
        }
        findings.extend(queue_bound_cells(cells, &group));
        if group.len() < SWEEP_MIN {
            continue;
        }
        let points: Vec<DepthPoint> = group.iter().filter_map(|other| depth_point(&cells[*other])).collect();
        let Some(knee) = knee(&points) else { continue };
        let at = group.iter().copied().find(|other| depth(&cells[*other]) == knee.depth).unwrap_or(index);
        let text = if knee.open_ended {
            format!("the rate still grows at depth {}, the deepest of the sweep: {} IOPS", knee.depth, iops(knee.rate))
        } else {
            format!(
                "depth {} is enough: {} IOPS, within 5 % of the sweep's highest ({})",
                knee.depth,
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

/// Cells of a sweep whose latency is mostly waiting, by the latency of the shallowest of them.
fn queue_bound_cells(cells: &[Cell], group: &[usize]) -> Vec<(usize, Finding)> {
    let Some(alone) = group.iter().copied().find(|index| depth(&cells[*index]) == 1) else { return Vec::new() };
    let Some(service_ns) = mean_latency(&cells[alone]) else { return Vec::new() };
    let waits = |index: &usize| {
        let cell = &cells[*index];
        let bound = queue_bound(rate(cell)?, mean_latency(cell)?, service_ns)?;
        let text = format!(
            "{} of the latency is waiting in the queue: depth {:.0} would do for this rate",
            percent(bound.waiting_share),
            bound.depth_needed.ceil()
        );
        let evidence = [
            ("waiting_share", json!(bound.waiting_share)),
            ("service_ns", json!(bound.service_ns)),
            ("depth_needed", json!(bound.depth_needed)),
        ];
        Some((*index, finding("queue-bound-latency", Severity::Info, text, &evidence)))
    };
    group.iter().filter(|index| **index != alone).filter_map(waits).collect()
}

fn is_same_but_depth(left: &Cell, right: &Cell) -> bool {
    let mut plan = right.plan.clone();
    (plan.queue_depth, plan.seed) = (left.plan.queue_depth, left.plan.seed);
    left.target == right.target && plan == left.plan
}

const fn depth(cell: &Cell) -> u32 {
    cell.plan.queue_depth * cell.plan.jobs
}

fn depth_point(cell: &Cell) -> Option<DepthPoint> {
    Some(DepthPoint { depth: depth(cell), rate: rate(cell)? })
}
