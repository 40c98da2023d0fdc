//! What several pods measured at the same time, apart: the cells of the record are what they did together.

use plimsoll_measure::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::{record::Cell, results::DirectionResult};

/// Visits whose pods measured together for less than this share of the time stay out of the numbers.
pub const OVERLAP_MIN: f64 = 0.8;

/// A run of several pods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pods {
    /// How they agreed when to begin; null where that is not known, as of logs that were put together.
    pub start: Option<Start>,
    /// Whether they took turns: each measured another target than the others at the same time, and a cell has the
    /// visits of all of them, one after the other. Otherwise a cell is what all did together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub take_turns: bool,
    /// Whether all of them used the same files; null where that is not known.
    pub shared_files: Option<bool>,
    /// One entry for each pod whose results arrived.
    pub pods: Vec<Pod>,
    /// One entry for each visit that all of them made; none where they took turns.
    pub visits: Vec<SharedVisit>,
}

/// How pods agree when to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// They watch an object of the cluster, which says it when all are ready.
    Watched,
    /// It was said when they were made.
    Time,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Where it was.
    pub node: Option<String>,
    /// What it did, in the order of the record's cells.
    pub cells: Vec<PodCell>,
}

/// What a pod did in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PodCell {
    /// Reads.
    pub read: Option<PodDirection>,
    /// Writes.
    pub write: Option<PodDirection>,
    /// Failed operations.
    pub errors: u64,
    /// One word about its numbers.
    pub verdict: Option<Verdict>,
}

/// What one direction did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PodDirection {
    /// Operations that completed in the measured time.
    pub operations: u64,
    /// Operations that were timed: those that started in the measured time.
    pub timed: u64,
    /// Operations per second of measured time.
    pub iops: f64,
    /// Bytes per second of measured time.
    pub bytes_per_second: f64,
    /// Median latency.
    pub p50_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
}

/// A visit to a cell that all pods made at the same time, as far as they did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedVisit {
    /// Which cell.
    pub cell: usize,
    /// Which visit of it.
    pub round: u32,
    /// From the first pod's start to the last one's, by the clocks of their nodes.
    pub start_skew_ns: u64,
    /// The time in which all measured, as a share of the longest that one did.
    pub overlap: f64,
}

impl PodCell {
    /// The numbers of a cell.
    pub fn of(cell: &Cell) -> Self {
        let direction = |result: &DirectionResult| PodDirection {
            operations: result.operations,
            timed: result.histogram.count(),
            iops: result.iops,
            bytes_per_second: result.bytes_per_second,
            p50_ns: result.latency_ns.p50,
            p99_ns: result.latency_ns.p99,
        };
        Self {
            read: cell.read.as_ref().map(direction),
            write: cell.write.as_ref().map(direction),
            errors: cell.errors,
            verdict: cell.verdict,
        }
    }

    /// Reads and writes per second; `None` of a pod without any.
    pub fn iops(&self) -> Option<f64> {
        let rates = || [&self.read, &self.write].into_iter().flatten().map(|direction| direction.iops);
        rates().next()?;
        Some(rates().sum())
    }
}

impl SharedVisit {
    /// Whether the pods measured together for long enough to be added up.
    pub fn is_common(&self) -> bool {
        self.overlap >= OVERLAP_MIN
    }
}
