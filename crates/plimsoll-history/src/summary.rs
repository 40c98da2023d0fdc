//! What a list of runs shows of each: small, and stored beside the whole record so that listing reads no records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_record::{record::Cell, results::DirectionResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Identity of the run.
    pub id: Uuid,
    /// When it began.
    pub started: Timestamp,
    /// How long it took in all.
    pub elapsed_ns: u64,
    /// How it ended, as the word in its record: a later version may have written one that is not known here.
    pub outcome: String,
    /// The name given with `--name`.
    pub name: Option<String>,
    /// The pairs given with `--tag`.
    pub tags: BTreeMap<String, String>,
    /// The targets' paths.
    pub targets: Vec<String>,
    /// The version of plimsoll that measured.
    pub version: String,
    /// One entry for each cell.
    pub cells: Vec<CellSummary>,
}

/// A cell in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// The target's path.
    pub target: String,
    /// The workload's name.
    pub workload: String,
    /// Reads per second; `None` when it did not read.
    pub read_iops: Option<f64>,
    /// Writes per second; `None` when it did not write.
    pub write_iops: Option<f64>,
    /// Bytes per second, reads and writes together; `None` when nothing was measured.
    pub bytes_per_second: Option<f64>,
    /// Mean latency of the direction that did more operations.
    pub latency_mean_ns: Option<f64>,
    /// 99th percentile of the same direction, where it has the support.
    pub latency_p99_ns: Option<u64>,
    /// One word about the numbers, as in the record; `None` when there are none.
    pub verdict: Option<String>,
}

impl CellSummary {
    /// The summary of a cell.
    pub fn of(cell: &Cell) -> Self {
        let directions = [cell.read.as_ref(), cell.write.as_ref()];
        let measured = || directions.into_iter().flatten();
        let busier: Option<&DirectionResult> = measured().rev().max_by_key(|direction| direction.operations);
        Self {
            target: cell.target.clone(),
            workload: cell.workload.clone(),
            read_iops: cell.read.as_ref().map(|read| read.iops),
            write_iops: cell.write.as_ref().map(|write| write.iops),
            bytes_per_second: measured().map(|direction| direction.bytes_per_second).reduce(|a, b| a + b),
            latency_mean_ns: busier.and_then(|direction| direction.latency_ns.mean),
            latency_p99_ns: busier.and_then(|direction| direction.latency_ns.p99),
            verdict: cell.verdict.map(word),
        }
    }

    /// Operations per second, reads and writes together; `None` when nothing was measured.
    pub fn iops(&self) -> Option<f64> {
        [self.read_iops, self.write_iops].into_iter().flatten().reduce(|a, b| a + b)
    }
}

/// Which runs to list. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only runs with a target whose path contains this.
    pub target: Option<String>,
    /// Only runs that have each of these tags.
    pub tags: Vec<(String, String)>,
    /// Only runs that began then or later.
    pub since: Option<Timestamp>,
    /// Only so many, the latest.
    pub limit: Option<usize>,
}

/// The word that a value of a closed vocabulary is in a record.
pub(crate) fn word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => unreachable!("a vocabulary serializes to words, not to {other:?}"),
    }
}
