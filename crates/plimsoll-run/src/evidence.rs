//! What a cell's numbers show beside its rate: whether they are about the storage at all, and sentences about them.
//!
//! Pure functions of the record, so that a run, a pod and a record read back say the same. The session alone knows of
//! a hidden burst, which it hands in.

use plimsoll_measure::detect::hidden_burst::HiddenBurst;
use plimsoll_record::{
    record::{Cell, Record},
    results::{DirectionResult, Finding},
};
use plimsoll_workload::settings::EngineChoice;

use self::{
    asked::{blocks_in_libaio, depth_not_reached, no_sync_due},
    burst::{burst, hidden_burst, moved},
    cache::cached,
    client::{client_limits, client_sentence},
    latency::exposed,
    open_loop::lateness,
    operations::{foreign, modes, unfair},
    seconds::{dips, stalled, stood_still, uneven},
};

mod applications;
mod asked;
mod burst;
mod cache;
mod client;
mod file_sets;
mod latency;
mod open_loop;
mod operations;
mod overruling;
mod seconds;
mod striping;
mod sweep;

pub use self::{overruling::overruling, striping::of_arrays, sweep::of_sweeps};

/// The sentences about a cell that its slots so far are enough for, so that they can be told while it is measured.
pub fn so_far(cell: &Cell) -> Vec<Finding> {
    lateness(cell).chain(stood_still(cell)).collect()
}

/// The sentences about a cell of a record, which has its verdict.
pub fn of_cell(cell: &Cell, record: &Record, hidden: Option<HiddenBurst>) -> Vec<Finding> {
    if let (Some(plan), Some(files)) = (cell.file_plan(), &cell.files) {
        return file_sets::of(cell, plan, files);
    }
    if let Some(application) = &cell.application {
        return applications::of(application);
    }
    let Some(plan) = cell.blocks().filter(|_| cell.verdict.is_some() && cell.engine != EngineChoice::Memory) else {
        return so_far(cell);
    };
    let mut findings: Vec<Finding> = lateness(cell).collect();
    if plan.name_operation().is_none() {
        findings.extend(cached(cell, plan));
    }
    findings.extend(client_limits(cell, &record.environment).iter().map(client_sentence));
    let blocks = blocks_in_libaio(cell, plan);
    findings.extend(blocks.or_else(|| depth_not_reached(cell, plan)));
    findings.extend(no_sync_due(cell, plan));
    findings.extend(burst(cell));
    findings.extend(moved(cell));
    findings.extend(uneven(cell));
    findings.extend(dips(cell));
    findings.extend(stalled(cell, plan).or_else(|| stood_still(cell)));
    findings.extend(exposed(cell));
    findings.extend(modes(cell));
    findings.extend(unfair(cell));
    findings.extend(striping::unbalanced(cell, record));
    findings.extend(foreign(cell, record.asked.background.is_some()));
    findings.extend(hidden_burst(cell, hidden));
    findings
}

/// Reads and writes per second.
fn rate(cell: &Cell) -> Option<f64> {
    let rates: Vec<f64> = [&cell.read, &cell.write].into_iter().flatten().map(|result| result.iops).collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

/// The direction that did most.
fn main_direction(cell: &Cell) -> Option<&DirectionResult> {
    [&cell.read, &cell.write].into_iter().flatten().max_by_key(|result| result.operations)
}

fn mean_latency(cell: &Cell) -> Option<f64> {
    main_direction(cell)?.latency_ns.mean
}
