//! What will be done: every parameter decided, nothing absent.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    block_sizes::BlockSizes,
    certainty::StoppingRule,
    distribution::Distribution,
    limit::Limit,
    payload::Payload,
    pinning::Pinning,
    settings::{Arrival, Effort, EngineChoice, FileSharing, ReadWrite, SyncMode},
};

mod labels;
mod resolve;

/// Everything a run will do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Where all randomness of the run comes from.
    pub seed: u64,
    /// How hard to try where nothing says when a cell is done.
    pub effort: Effort,
    /// How far a steady rate may be from the truth, as a share of it; by the effort when absent.
    pub precision: Option<f64>,
    /// No new slot begins after so much time.
    pub max_time_ns: Option<u64>,
    /// When each target is visited once more, since the start of the run.
    pub bookend_ns: Option<u64>,
    /// What each target is said to deliver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The cells, in the order they are shown.
    pub cells: Vec<CellPlan>,
}

/// One target with one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellPlan {
    /// The target's path as given.
    pub target: String,
    /// The workload's name.
    pub workload: String,
    /// When the cell has been measured enough.
    pub stopping: StoppingRule,
    /// Cells of one phase are visited at the same time, and phases one after another. Cells without one take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u32>,
    /// The parameters of its operations.
    pub blocks: BlockPlan,
}

/// The exact parameters of a `blocks` workload on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockPlan {
    /// The access pattern.
    pub rw: ReadWrite,
    /// Share of reads among reads and writes.
    pub read_percent: u8,
    /// Share of operations at a random offset; the others continue where the job's last one ended.
    pub random_percent: u8,
    /// Sizes of reads.
    pub read_block_sizes: BlockSizes,
    /// Sizes of writes.
    pub write_block_sizes: BlockSizes,
    /// The largest block of either direction, which is the size of a buffer.
    pub block_size_bytes_max: u32,
    /// Offsets and lengths are multiples of this.
    pub alignment_bytes: u32,
    /// Jobs that run at once.
    pub jobs: u32,
    /// Operations each job keeps in flight.
    pub queue_depth: u32,
    /// Start of the region in the file or device.
    pub offset_bytes: u64,
    /// Length of the region; with `files = per-job`, of each.
    pub size_bytes: u64,
    /// Whether jobs share a file.
    pub files: FileSharing,
    /// Distance between sequential operations beyond their length; zero when they touch.
    pub gap_bytes: u64,
    /// Which blocks random operations choose.
    pub distribution: Distribution,
    /// Whether I/O goes through the page cache.
    pub buffered: bool,
    /// Durability of each write.
    pub sync: SyncMode,
    /// `fsync` after so many writes of a job; 0 is never.
    pub fsync_every: u64,
    /// `fdatasync` after so many writes of a job; 0 is never.
    pub fdatasync_every: u64,
    /// `fsync` at the end of each slot, measured.
    pub end_fsync: bool,
    /// Pause of a job, after `think_time_operations` of its operations; 0 is none.
    pub think_time_ns: u64,
    /// See `think_time_ns`.
    pub think_time_operations: u32,
    /// When operations are issued.
    pub pacing: Pacing,
    /// Pause before the first operation of the cell.
    pub start_delay_ns: u64,
    /// Unmeasured load at the start of each slot.
    pub ramp_ns: u64,
    /// Measured time of each slot; `None` when an amount alone ends it, or the rules decide.
    pub slot_ns: Option<u64>,
    /// Operations of the cell over all jobs, when an amount ends it.
    pub operations: Option<u64>,
    /// Bytes of the cell over all jobs, when an amount ends it.
    pub amount_bytes: Option<u64>,
    /// What writes contain.
    pub payload: Payload,
    /// Whether blocks carry headers and are checked.
    pub verify: bool,
    /// Seed of this cell.
    pub seed: u64,
    /// The engine asked for; the record says which one was used.
    pub engine: EngineChoice,
    /// Operations to wait for at once; 1 means whatever is ready.
    pub batch: u32,
    /// Poll for completions.
    pub iopoll: bool,
    /// Let a kernel thread submit.
    pub sqpoll: bool,
    /// Which processors workers run on.
    pub pin: Pinning,
    /// Count errors and go on.
    pub keep_going: bool,
}

/// When a job issues its operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "loop")]
pub enum Pacing {
    /// As soon as an earlier one completes.
    Closed,
    /// At intended times, whatever the storage answers.
    Open {
        /// When operations arrive.
        arrival: Arrival,
        /// Operations per second of each job, when the rate counts operations.
        operations_per_second_per_job: Option<f64>,
        /// Bytes per second of each job, when the rate counts bytes.
        bytes_per_second_per_job: Option<f64>,
    },
}

/// A stretch of a file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// Why a workload cannot be done on a target. Each message says what to change.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PlanError {
    /// Parameters that contradict each other or exceed a limit: bad usage.
    #[error("workload \"{workload}\": {problem}")]
    Contradiction {
        /// The workload's name.
        workload: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Wishes about certainty that contradict each other: bad usage.
    #[error("{0}")]
    Certainty(&'static str),
    /// The target is too small, too full or cannot do what is asked.
    #[error("target {target}: {problem}")]
    Target {
        /// The target's path.
        target: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl BlockPlan {
    /// Whether operations write.
    pub const fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Whether operations read.
    pub const fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Bytes each file must have.
    pub const fn file_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }

    /// How many files the jobs use.
    pub const fn file_count(&self) -> u32 {
        match self.files {
            FileSharing::Shared => 1,
            FileSharing::PerJob => self.jobs,
        }
    }

    /// Whether jobs on a shared file keep to parts of their own: sequential jobs would otherwise repeat each other,
    /// and exact-once coverage needs each block to belong to one job.
    pub fn is_partitioned(&self) -> bool {
        self.files == FileSharing::Shared
            && self.jobs > 1
            && (self.random_percent == 0 || self.distribution == Distribution::ExactOnce)
    }

    /// The stretch of its file that a job touches.
    pub fn job_region(&self, job: u32) -> Region {
        let region = Region { offset: self.offset_bytes, length: self.size_bytes };
        if !self.is_partitioned() {
            return region;
        }
        // Whole blocks; the first jobs get one more where they do not divide evenly.
        let block = u64::from(self.block_size_bytes_max);
        let blocks = self.size_bytes / block;
        let before = blocks / u64::from(self.jobs) * u64::from(job) + u64::from(job).min(blocks % u64::from(self.jobs));
        Region { offset: self.offset_bytes + before * block, length: share(blocks, job, self.jobs) * block }
    }

    /// A name for a workload that has none: `randread 4KiB QD32`. Where several cells of a run would have the same one,
    /// a plan adds what differs.
    pub fn describe(&self) -> String {
        let mut name = self.rw.as_str().to_owned();
        if self.rw.is_mixed() {
            name += &format!(" {}% read", self.read_percent);
        }
        name += &format!(" {}", if self.reads() { &self.read_block_sizes } else { &self.write_block_sizes });
        name += &format!(" QD{}", self.queue_depth);
        if self.jobs > 1 {
            name += &format!(" x{}", self.jobs);
        }
        name
    }
}

/// The share of `total` that part `index` of `parts` gets: all parts differ by at most one and add up to `total`.
pub const fn share(total: u64, index: u32, parts: u32) -> u64 {
    let (index, parts) = (index as u64, parts as u64);
    total / parts + if index < total % parts { 1 } else { 0 }
}

#[cfg(test)]
mod tests;
