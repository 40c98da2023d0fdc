//! The numbers of a cell as readers see them, whether plimsoll measured them or another program told them.

use std::borrow::Cow;

use plimsoll_workload::file_set::FilePhase;
use serde::{Serialize, Serializer};

use crate::{
    application::{OwnFigure, RateSpread},
    record::Cell,
    results::{DirectionResult, LatencySummary, SlotRate, SlotSummary},
    told,
};

/// What kind of operation a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// `fsync` and `fdatasync`.
    Sync,
    /// What was counted or timed as a whole.
    All,
    /// A phase of a set of files.
    Phase(FilePhase),
}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::All => "all",
            Self::Phase(phase) => phase.as_str(),
        })
    }
}

impl Operation {
    /// Those of blocks, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Sync, Self::All];

    /// The word for several.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Sync => "syncs",
            Self::All => "all",
            Self::Phase(phase) => phase.as_str(),
        }
    }

    /// What plimsoll measured of it in a cell.
    pub fn result_of(self, cell: &Cell) -> Option<&DirectionResult> {
        match self {
            Self::Read => cell.read.as_ref(),
            Self::Write => cell.write.as_ref(),
            Self::Sync => cell.sync.as_ref(),
            Self::All => None,
            Self::Phase(phase) => cell.phase_result(phase),
        }
    }

    /// What plimsoll measured of it in a visit.
    pub const fn rate_of(self, slot: &SlotSummary) -> Option<&SlotRate> {
        match self {
            Self::Read => slot.read.as_ref(),
            Self::Write => slot.write.as_ref(),
            Self::Sync => slot.sync.as_ref(),
            Self::All | Self::Phase(_) => None,
        }
    }
}

/// Numbers of one kind of operation; what is not known is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures<'a> {
    /// How many.
    pub operations: Option<u64>,
    /// Bytes they transferred.
    pub bytes: Option<u64>,
    /// Measured time.
    pub elapsed_ns: Option<u64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// Latencies.
    pub latency_ns: Cow<'a, LatencySummary>,
    /// How plimsoll measured them, with intervals; absent where another program did.
    pub measured: Option<&'a DirectionResult>,
}

impl<'a> Figures<'a> {
    /// Numbers that plimsoll measured.
    pub const fn of(result: &'a DirectionResult) -> Self {
        Self {
            operations: Some(result.operations),
            bytes: Some(result.bytes),
            elapsed_ns: Some(result.elapsed_ns),
            iops: Some(result.iops),
            bytes_per_second: Some(result.bytes_per_second),
            latency_ns: Cow::Borrowed(&result.latency_ns),
            measured: Some(result),
        }
    }
}

impl Cell {
    /// The numbers of one kind of operation.
    pub fn figures(&self, operation: Operation) -> Option<Figures<'_>> {
        match &self.told {
            Some(told) => told.figures(operation),
            None if operation == Operation::All => {
                let application = self.application.as_ref().filter(|application| application.elapsed_ns.is_some())?;
                let rate = application.rate.as_ref().map(RateSpread::mean);
                Some(Figures {
                    iops: rate.as_ref().and_then(OwnFigure::operations_per_second),
                    bytes_per_second: rate.as_ref().and_then(OwnFigure::bytes_per_second),
                    ..told::of_durations(&self.durations())
                })
            }
            None => operation.result_of(self).map(Figures::of),
        }
    }
}
