//! What a run says while it happens. Progress, pages, pod logs and the record are consumers of this one stream.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram};
use plimsoll_workload::{application::Stage, file_set::FilePhase, plan::Plan, settings::EngineChoice};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    application::Iteration,
    cache::{CacheActivity, ForeignActivity},
    client::ClientActivity,
    environment::Environment,
    files::SlotPhase,
    judgement::Judgement,
    record::{Asked, Outcome, Resumption, Tool},
    results::{CpuCost, DeviceActivity, ErrorCount, Finding, Interval, JobResult, OpenLoopResult},
    verification::VerificationResult,
};

/// Something that happened in a run. `cell` is an index into the plan's cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run began.
    Started(Box<RunStarted>),
    /// A run that had been interrupted goes on.
    Resumed(Resumption),
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
        /// Load before the measured time.
        #[serde(default)]
        ramp_ns: u64,
        /// Measured time; absent when an amount ends it.
        #[serde(default)]
        measured_ns: Option<u64>,
        /// What it is for.
        #[serde(default)]
        purpose: SlotPurpose,
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
    /// So far is a phase of a set of files.
    PhaseProgress {
        /// Which cell.
        cell: usize,
        /// Which phase.
        phase: FilePhase,
        /// Operations done.
        done: u64,
        /// Operations to do.
        total: u64,
    },
    /// A stage of an application began, or still lasts.
    StageProgress {
        /// Which cell.
        cell: usize,
        /// Which stage.
        stage: Stage,
    },
    /// Nothing is measured: the next slot has to wait.
    Waiting {
        /// For so long from now.
        left_ns: u64,
    },
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
    /// How far a cell is after a visit.
    CellProgress {
        /// Which cell.
        cell: usize,
        /// Half of the 95 % interval reached, as a share of the rate; absent while there is no interval.
        precision: Option<f64>,
        /// The same that is wanted; absent when the cell ends otherwise.
        precision_wanted: Option<f64>,
        /// Whether the cell gets no more visits.
        is_done: bool,
        /// Time that the rest of the run is expected to take.
        run_remaining_ns: u64,
        /// Time that it can take at most.
        run_remaining_max_ns: u64,
    },
    /// A cell has its verdict.
    CellFinished {
        /// Which cell.
        cell: usize,
        /// What may be said of it.
        judgement: Box<Judgement>,
    },
    /// The run ended.
    Finished {
        /// How long it took.
        elapsed_ns: u64,
        /// How it ended.
        outcome: Outcome,
    },
}

impl RunEvent {
    /// Whether it tells what is being done just now, of which nothing is kept.
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::PhaseProgress { .. } | Self::StageProgress { .. } | Self::Waiting { .. })
    }

    /// The cell that it is about.
    pub fn cell(&self) -> Option<usize> {
        match self {
            Self::EngineSelected { cell, .. }
            | Self::SlotStarted { cell, .. }
            | Self::Interval { cell, .. }
            | Self::Found { cell, .. }
            | Self::PhaseProgress { cell, .. }
            | Self::StageProgress { cell, .. }
            | Self::CellProgress { cell, .. }
            | Self::CellFinished { cell, .. } => Some(*cell),
            Self::SlotFinished(slot) => Some(slot.cell),
            Self::Started(_)
            | Self::Resumed(_)
            | Self::LayoutProgress { .. }
            | Self::LayoutFinished { .. }
            | Self::Waiting { .. }
            | Self::Warning { .. }
            | Self::Finished { .. } => None,
        }
    }
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

/// What a visit to a cell is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SlotPurpose {
    /// It counts.
    #[default]
    Measured,
    /// It was asked to stay out of the numbers.
    Discarded,
    /// It tells whether what was said of the target still holds, and stays out of the numbers.
    Bookend,
}

/// What one visit to a cell measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlotResult {
    /// Which cell.
    pub cell: usize,
    /// Which visit.
    pub round: u32,
    /// What it was for.
    #[serde(default)]
    pub purpose: SlotPurpose,
    /// Load before the measured time.
    #[serde(default)]
    pub ramp_ns: u64,
    /// Start of the measured time, since the start of the run.
    pub from_ns: u64,
    /// Length of the measured time.
    pub elapsed_ns: u64,
    /// Whether an interruption ended it before its time, so that a run which goes on does it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
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
    /// What of that was not asked by the workload.
    #[serde(default)]
    pub foreign: Option<ForeignActivity>,
    /// What the machine did in the measured time; `None` when the slot ended before it.
    #[serde(default)]
    pub client: Option<ClientActivity>,
    /// What reached the storage, ramp included; `None` for the memory engine.
    #[serde(default)]
    pub cache: Option<CacheActivity>,
    /// Reads and writes that each worker completed in the measured time.
    #[serde(default)]
    pub worker_operations: Vec<u64>,
    /// What each job did in the measured time, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_results: Vec<JobResult>,
    /// Latencies of the reads and writes that completed in each measured second, kept where the seconds and not the
    /// slots tell how sure percentiles are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<CompactHistogram>,
    /// How an open loop kept its times.
    pub open_loop: Option<OpenLoopResult>,
    /// Latencies from the moment of issue, of an open loop.
    pub service: Option<LatencyHistogram>,
    /// What the phases of a set of files did; nothing else of what was measured is there then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<SlotPhase>,
    /// SHA-256 over the set of files, where it was looked through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_sha256: Option<String>,
    /// What an iteration of an application did; nothing else of what was measured is there then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Box<Iteration>>,
    /// What verification found.
    pub verification: Option<VerificationResult>,
    /// Failed operations by kind.
    pub errors: Vec<ErrorCount>,
}
