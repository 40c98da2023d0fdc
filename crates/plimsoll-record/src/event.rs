//! What a run says while it happens. Progress, pages, pod logs and the record are consumers of this one stream.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_measure::{latency::LatencyHistogram, verdict::Verdict};
use plimsoll_workload::{plan::Plan, settings::EngineChoice};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    environment::Environment,
    record::{Asked, Outcome, Tool, Window},
    results::{CpuCost, DeviceActivity, ErrorCount, Finding, Interval, OpenLoopResult, VerificationResult},
};

/// Something that happened in a run. `cell` is an index into the plan's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run began.
    Started(Box<RunStarted>),
    /// An engine was chosen for a cell.
    EngineSelected {
        /// Which cell.
        cell: usize,
        /// The engine.
        engine: EngineChoice,
        /// Why that one.
        reason: String,
    },
    /// Files are being written before they can be read.
    LayoutProgress {
        /// The target's path.
        target: String,
        /// Bytes written.
        written_bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
    },
    /// The files of a target are there.
    LayoutFinished {
        /// The target's path.
        target: String,
        /// Bytes written.
        written_bytes: u64,
        /// Time it took.
        elapsed_ns: u64,
    },
    /// A visit to a cell began.
    SlotStarted {
        /// Which cell.
        cell: usize,
        /// Which visit.
        round: u32,
        /// Since the start of the run.
        t_ns: u64,
    },
    /// A second of load went by.
    Interval {
        /// Which cell.
        cell: usize,
        /// The second.
        interval: Interval,
    },
    /// A visit to a cell ended.
    SlotFinished(Box<SlotResult>),
    /// A sentence about a cell.
    Found {
        /// Which cell.
        cell: usize,
        /// The sentence.
        finding: Finding,
    },
    /// A sentence about the run.
    Warning {
        /// The sentence.
        text: String,
    },
    /// A cell has its verdict.
    CellFinished {
        /// Which cell.
        cell: usize,
        /// The word.
        verdict: Verdict,
        /// The stretch it speaks of.
        window: Option<Window>,
    },
    /// The run ended.
    Finished {
        /// How long it took.
        elapsed_ns: u64,
        /// How it ended.
        outcome: Outcome,
    },
}

/// All that is known when a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Identity of the run.
    pub id: Uuid,
    /// When.
    pub started: Timestamp,
    /// What measures.
    pub tool: Tool,
    /// The name given.
    pub name: Option<String>,
    /// The tags given.
    pub tags: BTreeMap<String, String>,
    /// What was asked.
    pub asked: Asked,
    /// What will be done.
    pub plan: Plan,
    /// Where.
    pub environment: Environment,
}

/// What one direction did in the measured time of one slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotDirection {
    /// Operations that completed in the measured time.
    pub operations: u64,
    /// Bytes they transferred.
    pub bytes: u64,
    /// Latencies of the operations that started, or were due, in the measured time, whenever they completed.
    pub histogram: LatencyHistogram,
}

/// What one visit to a cell measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotResult {
    /// Which cell.
    pub cell: usize,
    /// Which visit.
    pub round: u32,
    /// Start of the measured time, since the start of the run.
    pub from_ns: u64,
    /// Length of the measured time.
    pub elapsed_ns: u64,
    /// Reads.
    pub read: Option<SlotDirection>,
    /// Writes.
    pub write: Option<SlotDirection>,
    /// Syncs.
    pub sync: Option<SlotDirection>,
    /// Cost to the machine, ramp included.
    pub cpu: CpuCost,
    /// Operations completed, ramp included: what `cpu` was spent on.
    pub cpu_operations: u64,
    /// What the disk did, ramp included.
    pub device: Option<DeviceActivity>,
    /// How an open loop kept its times.
    pub open_loop: Option<OpenLoopResult>,
    /// Latencies from the moment of issue, of an open loop.
    pub service: Option<LatencyHistogram>,
    /// What verification found.
    pub verification: Option<VerificationResult>,
    /// Failed operations by kind.
    pub errors: Vec<ErrorCount>,
}
