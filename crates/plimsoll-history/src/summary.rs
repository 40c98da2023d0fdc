//! What a list of runs shows of each: small, and stored beside the whole record so that listing reads no records.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_record::{
    figures::{Figures, Operation},
    record::{Cell, Kind},
    word::Word,
};
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

impl RunSummary {
    /// Whether another program measured.
    pub fn is_imported(&self) -> bool {
        self.cells.iter().any(|cell| cell.verdict.as_deref() == Some(Word::Told.as_str()))
    }
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
    /// Operations per second of those that are only known together, as another program told them.
    pub all_iops: Option<f64>,
    /// Bytes per second, reads and writes together; `None` when nothing was measured.
    pub bytes_per_second: Option<f64>,
    /// Mean latency of the direction that did more operations.
    pub latency_mean_ns: Option<f64>,
    /// 99th percentile of the same direction, where it has the support.
    pub latency_p99_ns: Option<u64>,
    /// One word about the numbers, as in the record, or `told` where another program measured; `None` when there are
    /// none.
    pub verdict: Option<String>,
}

impl CellSummary {
    /// The summary of a cell.
    pub fn of(cell: &Cell) -> Self {
        let [read, write, all] =
            [Operation::Read, Operation::Write, Operation::All].map(|operation| cell.figures(operation));
        // Files are written and read one after the other, so that no rate of theirs adds to another.
        let [read, write] = [read, write].map(|figures| figures.filter(|_| cell.kind != Kind::Files));
        // What is told of both together beside each of them says nothing new.
        let all = all.filter(|_| cell.told.as_ref().is_some_and(|told| !told.is_told_apart()));
        let measured = || [&all, &read, &write].into_iter().flatten();
        let busier: Option<&Figures<'_>> = measured().rev().max_by_key(|figures| figures.operations);
        let iops = |figures: &Option<Figures<'_>>| figures.as_ref().and_then(|figures| figures.iops);
        Self {
            target: cell.target.clone(),
            workload: cell.workload.clone(),
            read_iops: iops(&read),
            write_iops: iops(&write),
            all_iops: iops(&all),
            bytes_per_second: measured().filter_map(|figures| figures.bytes_per_second).reduce(|a, b| a + b),
            latency_mean_ns: busier.and_then(|figures| figures.latency_ns.mean),
            latency_p99_ns: busier.and_then(|figures| figures.latency_ns.p99),
            verdict: cell.word_of_numbers().map(|word| word.to_string()),
        }
    }

    /// Operations per second of all kinds together; `None` when nothing was measured.
    pub fn iops(&self) -> Option<f64> {
        [self.read_iops, self.write_iops, self.all_iops].into_iter().flatten().reduce(|a, b| a + b)
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
    /// Only runs with this in their name, in a target or in a workload, in capitals or not; or at the beginning of
    /// their id.
    pub text: Option<String>,
    /// Without so many of the latest.
    pub offset: usize,
    /// Only so many, the latest.
    pub limit: Option<usize>,
}

/// Some of the runs that pass a filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// How many pass it, whatever its limit and offset.
    pub total: usize,
    /// Those that were asked for, the latest first.
    pub runs: Vec<RunSummary>,
}

/// The latest run that has numbers of a target and a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestCell {
    /// The target's path.
    pub target: String,
    /// The workload's name.
    pub workload: String,
    /// The run.
    pub run: Uuid,
    /// How long the run took in all: a run that goes on gets another record under the same id, and takes longer.
    pub elapsed_ns: u64,
}

/// The word that a value of a closed vocabulary is in a record.
pub(crate) fn word<T: Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => unreachable!("a vocabulary serializes to words, not to {other:?}"),
    }
}
