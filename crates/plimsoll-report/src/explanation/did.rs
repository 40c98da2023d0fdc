//! What a cell did, as far as limits care: rates by direction, and what is known of its load.

use plimsoll_catalog::ceiling::Load;
use plimsoll_record::{
    figures::{Figures, Operation},
    record::Cell,
    told::{FigureValue, Files, Measured},
};
use plimsoll_workload::plan::{BlockPlan, Pacing};

use super::behind::Behind;

/// The rates of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Did {
    /// Which kind.
    pub(crate) operation: Operation,
    /// Operations per second.
    pub(crate) iops: Option<f64>,
    /// Bytes per second.
    pub(crate) bytes_per_second: Option<f64>,
    /// The ends of the 95 % interval of the operations per second.
    pub(crate) iops_interval: Option<[f64; 2]>,
}

impl Did {
    fn of(operation: Operation, figures: &Figures<'_>) -> Self {
        let iops_interval = figures.measured.and_then(|result| ends(result.iops_low, result.iops_high));
        Self { operation, iops: figures.iops, bytes_per_second: figures.bytes_per_second, iops_interval }
    }

    /// Both directions together, of which the cell knows how sure that is.
    fn with(self, other: &Self, cell: &Cell) -> Self {
        let sum = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
        Self {
            operation: Operation::All,
            iops: sum(self.iops, other.iops),
            bytes_per_second: sum(self.bytes_per_second, other.bytes_per_second),
            iops_interval: cell.estimate.and_then(|estimate| ends(estimate.iops_low, estimate.iops_high)),
        }
    }
}

fn ends(low: Option<f64>, high: Option<f64>) -> Option<[f64; 2]> {
    Some([low?, high?])
}

/// Syncs that follow writes. A job does nothing else in the place of the write that one follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Syncs {
    /// How long one takes.
    pub(crate) each_s: f64,
    /// After how many writes of a job there is one.
    pub(crate) every: u64,
    /// What they take of the time of all operations.
    pub(crate) share: f64,
    /// How long an operation takes without them.
    pub(crate) without_s: f64,
}

impl Syncs {
    /// Syncs that take less of the time than this explain no rate.
    const SHARE_MIN: f64 = 0.05;

    /// Whether they take so much of the time that a low rate does not tell of the storage.
    pub(crate) const fn matter(&self) -> bool {
        self.share >= Self::SHARE_MIN
    }

    /// When there is one, in words.
    pub(crate) fn after(&self) -> String {
        match self.every {
            1 => "after each write".to_owned(),
            every => format!("after every {every} writes"),
        }
    }
}

/// Everything about a cell's load that was told or planned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CellLoad<'a> {
    /// Reads, writes, or both where they were told together; each direction by itself.
    pub(crate) directions: Vec<Did>,
    /// Both directions together.
    pub(crate) total: Option<Did>,
    /// Whether the load was told when to issue operations.
    pub(crate) is_paced: bool,
    /// Whether operations follow each other.
    pub(crate) is_sequential: bool,
    /// Bytes of an operation.
    pub(crate) operation_bytes: Option<f64>,
    /// How long one load went on, where it was in one piece.
    pub(crate) elapsed_s: Option<f64>,
    /// Operations in flight, over all jobs.
    pub(crate) in_flight: Option<f64>,
    /// How long an operation took, with the syncs that follow it.
    pub(crate) latency_s: Option<f64>,
    /// Syncs that follow writes.
    pub(crate) syncs: Option<Syncs>,
    /// Whether I/O went around the page cache.
    pub(crate) is_direct: Option<bool>,
    /// Bytes that operations choose from.
    pub(crate) working_set_bytes: Option<u64>,
    /// File sets.
    pub(crate) files: Option<&'a Files>,
    /// What each thread did, in operations per second.
    pub(crate) threads: Vec<f64>,
}

impl<'a> CellLoad<'a> {
    pub(crate) fn of(cell: &'a Cell) -> Self {
        let directions = directions(cell);
        let total = match directions.as_slice() {
            [read, write] => Some(read.with(write, cell)),
            _ => None,
        };
        let (latency_s, syncs) = times(cell);
        let mut load = Self {
            directions,
            total,
            is_paced: false,
            is_sequential: false,
            operation_bytes: None,
            elapsed_s: None,
            in_flight: None,
            latency_s,
            syncs,
            is_direct: None,
            working_set_bytes: None,
            files: None,
            threads: Vec::new(),
        };
        match (cell.blocks(), &cell.told) {
            (Some(plan), _) => {
                load.is_sequential = plan.random_percent == 0;
                load.is_paced = plan.pacing != Pacing::Closed || plan.think_time_ns > 0;
                load.operation_bytes = Some(plan.operation_bytes());
                load.in_flight = Some(f64::from(plan.jobs) * f64::from(plan.queue_depth));
                load.is_direct = Some(!plan.buffered);
                load.working_set_bytes = Some(plan.size_bytes);
                load.threads = cell.worker_iops();
            }
            (None, Some(told)) => match &told.measured {
                Measured::Transfers(transfers) => {
                    // Patterns have fio's names.
                    load.is_sequential = transfers
                        .pattern
                        .as_ref()
                        .is_some_and(|pattern| !pattern.starts_with("rand") && !pattern.is_empty());
                    load.is_paced = transfers.pace.is_some();
                    load.operation_bytes = transfers.block_size_bytes.map(|bytes| bytes as f64);
                    load.elapsed_s = transfers.elapsed_ns.filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e9);
                    let jobs = transfers.jobs.unwrap_or(1);
                    load.in_flight = transfers.queue_depth.map(|depth| depth as f64 * jobs as f64);
                    load.is_direct = transfers.is_direct;
                    load.working_set_bytes = transfers.working_set_bytes;
                    let whole = transfers.total.as_ref().or(transfers.read.as_ref()).or(transfers.write.as_ref());
                    let threads = whole.map_or(&[][..], |whole| &whole.threads);
                    load.threads = threads.iter().filter_map(|thread| thread.iops).collect();
                }
                Measured::Files(files) => {
                    load.files = Some(files);
                    load.working_set_bytes = files.count.checked_mul(files.size_bytes);
                }
                Measured::Figure(_) | Measured::Durations(_) => {}
            },
            (None, None) => {}
        }
        load
    }

    /// As a catalog takes it. Without a known size an operation counts once.
    pub(crate) fn load(&self) -> Load {
        let of = |operation| self.directions.iter().find(|did| did.operation == operation).and_then(|did| did.iops);
        let is_known = |operation| self.directions.iter().any(|did| did.operation == operation);
        let read_share = match (of(Operation::Read), of(Operation::Write)) {
            (Some(reads), Some(writes)) if reads + writes > 0.0 => reads / (reads + writes),
            _ if is_known(Operation::Write) && !is_known(Operation::Read) => 0.0,
            _ => 1.0,
        };
        Load { read_share, operation_bytes: self.operation_bytes.unwrap_or(1.0), is_sequential: self.is_sequential }
    }
}

/// Reads and writes, or what was told of both together.
fn directions(cell: &Cell) -> Vec<Did> {
    let figures = |operation| cell.figures(operation).map(|figures| Did::of(operation, &figures));
    let is_of_time = matches!(cell.told.as_ref().map(|told| &told.measured), Some(Measured::Durations(_)));
    if Behind::is_behind(cell) {
        return Vec::new();
    }
    let directions: Vec<Did> = [Operation::Read, Operation::Write].into_iter().filter_map(figures).collect();
    if !directions.is_empty() || is_of_time {
        return directions;
    }
    let whole = figures(Operation::All);
    whole.filter(|did| did.iops.or(did.bytes_per_second).is_some()).into_iter().collect()
}

/// How long an operation takes with the syncs that follow it, in which nothing else is done in its stead; and those.
fn times(cell: &Cell) -> (Option<f64>, Option<Syncs>) {
    if let Some(Measured::Figure(figure)) = cell.told.as_ref().map(|told| &told.measured) {
        return match figure.value {
            FigureValue::LatencyNs(ns) => (Some(ns / 1e9), None),
            _ => (None, None),
        };
    }
    if cell.told.as_ref().is_some_and(|told| !told.durations().is_empty()) {
        return (None, None);
    }
    let weighted = |operation| {
        let figures = cell.figures(operation)?;
        Some((figures.latency_ns.mean? / 1e9, figures.iops.unwrap_or(1.0)))
    };
    let mut known: Vec<(f64, f64)> = [Operation::Read, Operation::Write].into_iter().filter_map(weighted).collect();
    if known.is_empty() {
        known.extend(weighted(Operation::All));
    }
    let operations: f64 = known.iter().map(|(_, weight)| weight).sum();
    let busy: f64 = known.iter().map(|(mean, weight)| mean * weight).sum();
    if operations <= 0.0 {
        return (None, None);
    }
    // Those at the end of a slot are no part of the load.
    let every =
        |plan: &BlockPlan| [plan.fsync_every, plan.fdatasync_every].into_iter().filter(|every| *every > 0).min();
    let planned = cell.blocks().map(every);
    let figures = cell.figures(Operation::Sync).filter(|_| planned != Some(None));
    let Some((each_ns, rate)) = figures.and_then(|figures| Some((figures.latency_ns.mean?, figures.iops))) else {
        return (Some(busy / operations), None);
    };
    // Of syncs that nobody counted it is not known how much they take.
    let Some(rate) = rate.filter(|rate| *rate > 0.0) else { return (None, None) };
    let each_s = each_ns / 1e9;
    let writes = cell.figures(Operation::Write).and_then(|figures| figures.iops).unwrap_or(operations);
    let every = planned.flatten().unwrap_or_else(|| (writes / rate).round().max(1.0) as u64);
    let of_syncs = each_s * rate;
    let syncs = Syncs { each_s, every, share: of_syncs / (busy + of_syncs), without_s: busy / operations };
    (Some((busy + of_syncs) / operations), Some(syncs))
}
