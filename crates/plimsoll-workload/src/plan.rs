//! What will be done: every parameter decided, nothing absent.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    application::ApplicationPlan,
    block_sizes::BlockSizes,
    certainty::StoppingRule,
    distribution::Distribution,
    file_names::FileNames,
    file_set::FilePlan,
    file_space::{FileOrder, FileSpace},
    limit::Expected,
    operation_stream,
    payload::Payload,
    pinning::Pinning,
    settings::{AccessHint, Arrival, Effort, EngineChoice, FileSharing, Layout, NameOperation, ReadWrite, SyncMode},
    units::in_one_unit,
};

mod applications;
mod dealt;
mod files;
mod labels;
mod names;
mod resolve;
pub mod room;
pub mod said_of_all;

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
    /// How many targets on it begins with each workload, because others measure at the same time: each another target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
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
    /// What its storage is said to deliver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
    /// What is done, with all parameters.
    #[serde(alias = "blocks")]
    pub work: Work,
}

/// What is done in a cell. In JSON the kinds differ by what they have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Work {
    /// Operations at offsets in files or devices, or about names.
    Blocks(BlockPlan),
    /// Phases of a set of files.
    Files(FilePlan),
    /// Commands.
    Application(ApplicationPlan),
}

impl Work {
    /// The parameters of operations, if that is what is done.
    pub const fn blocks(&self) -> Option<&BlockPlan> {
        match self {
            Self::Blocks(plan) => Some(plan),
            Self::Files(_) | Self::Application(_) => None,
        }
    }

    /// The same, to keep.
    pub fn into_blocks(self) -> Option<BlockPlan> {
        match self {
            Self::Blocks(plan) => Some(plan),
            Self::Files(_) | Self::Application(_) => None,
        }
    }

    /// The same, to change it.
    pub const fn blocks_mut(&mut self) -> Option<&mut BlockPlan> {
        match self {
            Self::Blocks(plan) => Some(plan),
            Self::Files(_) | Self::Application(_) => None,
        }
    }

    /// The set of files, if that is what is worked on.
    pub const fn files(&self) -> Option<&FilePlan> {
        match self {
            Self::Files(plan) => Some(plan),
            Self::Blocks(_) | Self::Application(_) => None,
        }
    }

    /// The application, if commands are what is done.
    pub const fn application(&self) -> Option<&ApplicationPlan> {
        match self {
            Self::Application(plan) => Some(plan),
            Self::Blocks(_) | Self::Files(_) => None,
        }
    }

    /// Whether anything is written.
    pub const fn writes(&self) -> bool {
        match self {
            Self::Blocks(plan) => plan.writes(),
            // Making the files is writing, and nobody knows what a command does.
            Self::Files(_) | Self::Application(_) => true,
        }
    }

    /// Time of each slot, ramps excluded; `None` where an amount alone ends it, or the rules decide.
    pub fn slot_ns(&self) -> Option<u64> {
        match self {
            Self::Blocks(plan) => plan.slot_ns,
            Self::Files(plan) => {
                plan.phase_limit_ns.map(|limit_ns| limit_ns.saturating_mul(plan.phases.as_slice().len() as u64))
            }
            Self::Application(plan) => plan.timeout_ns,
        }
    }

    /// Unmeasured load at the start of each slot.
    pub const fn ramp_ns(&self) -> u64 {
        match self {
            Self::Blocks(plan) => plan.ramp_ns,
            Self::Files(_) | Self::Application(_) => 0,
        }
    }

    /// Pause before the first operation.
    pub const fn start_delay_ns(&self) -> u64 {
        match self {
            Self::Blocks(plan) => plan.start_delay_ns,
            Self::Files(_) | Self::Application(_) => 0,
        }
    }

    /// Whether a slot can end before its time, because all is done.
    pub const fn ends_by_amount(&self) -> bool {
        match self {
            Self::Blocks(plan) => plan.operations.is_some() || plan.amount_bytes.is_some(),
            Self::Files(_) | Self::Application(_) => true,
        }
    }

    /// Whether nothing else ends a slot, so that nobody knows how long it takes.
    pub fn is_open_ended(&self) -> bool {
        self.ends_by_amount() && self.slot_ns().is_none()
    }

    /// Whether errors are counted, and do not end the cell.
    pub const fn keeps_going(&self) -> bool {
        match self {
            Self::Blocks(plan) => plan.keep_going,
            Self::Files(plan) => plan.keep_going,
            Self::Application(plan) => plan.keep_going,
        }
    }

    /// Where its randomness comes from.
    pub const fn seed_mut(&mut self) -> &mut u64 {
        match self {
            Self::Blocks(plan) => &mut plan.seed,
            Self::Files(plan) => &mut plan.seed,
            Self::Application(plan) => &mut plan.seed,
        }
    }

    /// A name for a workload that has none. Where several cells of a run would have the same one, a plan adds what
    /// differs.
    pub fn describe(&self) -> String {
        match self {
            Self::Blocks(plan) => labels::describe(plan),
            Self::Files(plan) => plan.describe(),
            Self::Application(plan) => plan.describe(),
        }
    }
}

impl CellPlan {
    /// The parameters of its operations, if that is what it does.
    pub const fn blocks(&self) -> Option<&BlockPlan> {
        self.work.blocks()
    }

    /// Its set of files, if it has one.
    pub const fn files(&self) -> Option<&FilePlan> {
        self.work.files()
    }

    /// Its commands, if that is what it does.
    pub const fn application(&self) -> Option<&ApplicationPlan> {
        self.work.application()
    }
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
    /// Length of the region over all files of a job; with `files = per-job`, of each job.
    pub size_bytes: u64,
    /// Distance between the regions of jobs that share files. Without one, jobs that would repeat each other have parts
    /// of the region of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset_increment_bytes: Option<u64>,
    /// Whether jobs share their files.
    pub files: FileSharing,
    /// How it came to be dealt among disks, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt: Option<Dealt>,
    /// Files of each job, or of all where they share: the region is spread over them evenly.
    #[serde(default = "one")]
    pub file_count: u32,
    /// In which order operations use the files.
    #[serde(default)]
    pub file_order: FileOrder,
    /// Names of the files in the target; empty when plimsoll chooses them, and a directory for them.
    #[serde(default, skip_serializing_if = "FileNames::is_empty")]
    pub file_names: FileNames,
    /// Bytes of each file, where it is longer than what operations touch of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
    /// What is in new files before the first slot.
    #[serde(default = "written")]
    pub layout: Layout,
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
    /// What writes contain, and files that are laid out.
    pub payload: Payload,
    /// Whether blocks carry headers and are checked.
    pub verify: bool,
    /// Seed of this cell.
    pub seed: u64,
    /// The engine asked for; the record says which one was used.
    pub engine: EngineChoice,
    /// Operations to wait for at once; 1 means whatever is ready.
    pub batch: u32,
    /// Most operations handed to the kernel by one call; `None` is all that are issued at a moment.
    #[serde(default)]
    pub submit: Option<u32>,
    /// Whether files are taken out of the page cache before each pass.
    #[serde(default)]
    pub drops_cache: bool,
    /// The order of reads that the kernel is told to expect.
    #[serde(default)]
    pub access_hint: Option<AccessHint>,
    /// Poll for completions.
    pub iopoll: bool,
    /// Let a kernel thread submit.
    pub sqpoll: bool,
    /// Which processors workers run on.
    pub pin: Pinning,
    /// Count errors and go on.
    pub keep_going: bool,
    /// Whether the end of this cell is that of all cells of its phase.
    #[serde(default)]
    pub ends_phase: bool,
}

/// Disks that jobs are dealt among, each with its files, and what the same workload is on a target that is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dealt {
    /// How many disks: directories of the target called 0, 1 and so on.
    pub disks: u32,
    /// Jobs there.
    pub jobs: u32,
    /// Operations that each of those keeps in flight.
    pub queue_depth: u32,
    /// Whether they share their files.
    pub files: FileSharing,
}

impl Dealt {
    /// What each of so many jobs has of so many bytes for a file.
    pub(crate) fn share_of(self, bytes: u64, jobs: u32) -> u64 {
        let files = if self.files == FileSharing::PerJob { self.jobs } else { 1 };
        bytes.saturating_mul(files.into()) / u64::from(jobs.max(1))
    }

    /// Whether as many operations are in flight as elsewhere.
    pub fn is_exact(self, jobs: u32, queue_depth: u32) -> bool {
        u64::from(self.jobs) * u64::from(self.queue_depth) == u64::from(jobs) * u64::from(queue_depth)
    }
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
    /// A target that no workload is for: bad usage.
    #[error(
        "nothing would be measured on {target}: every workload is for another target; leave it out, or take `target` \
             from a workload of the plan"
    )]
    Idle {
        /// The target's path.
        target: String,
    },
    /// The target is too small or cannot do what is asked.
    #[error("target {target}: {problem}")]
    Target {
        /// The target's path.
        target: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The target has no room for the files.
    #[error("target {target}: {}", no_room([*free_bytes, *needed_bytes]))]
    NoRoom {
        /// The target's path.
        target: String,
        /// What is free.
        free_bytes: u64,
        /// What the files need.
        needed_bytes: u64,
    },
}

fn no_room(sizes: [u64; 2]) -> String {
    let [free, needed] = in_one_unit(sizes);
    format!("{free} is free but the files need {needed}: lower --size")
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

    /// Bytes of an operation on average.
    pub fn operation_bytes(&self) -> f64 {
        let reads = f64::from(self.read_percent) / 100.0;
        self.read_block_sizes.mean().mul_add(reads, self.write_block_sizes.mean() * (1.0 - reads))
    }

    /// Bytes of the shortest operations.
    pub fn block_size_bytes_min(&self) -> u32 {
        let used = [(self.reads(), &self.read_block_sizes), (self.writes(), &self.write_block_sizes)];
        used.iter().filter(|(is_used, _)| *is_used).map(|(_, sizes)| sizes.min()).min().unwrap_or(1)
    }

    /// What operations do with files as a whole, where they transfer nothing. Their offsets are numbers of files then,
    /// from 0 on, and their length is 1.
    pub const fn name_operation(&self) -> Option<NameOperation> {
        self.engine.name_operation()
    }

    /// Bytes each file must have.
    pub fn file_bytes(&self) -> u64 {
        self.region_end().max(self.file_size_bytes.unwrap_or(0))
    }

    /// Behind the last byte of a file that operations touch.
    fn region_end(&self) -> u64 {
        self.job_offset(self.jobs - 1) + self.size_bytes / u64::from(self.file_count)
    }

    /// The stretch of each file that operations of any job touch.
    pub fn file_region(&self) -> Region {
        Region { offset: self.offset_bytes, length: self.region_end() - self.offset_bytes }
    }

    /// How many files all jobs together use.
    pub const fn files_in_all(&self) -> u32 {
        self.file_count * self.jobs_apart()
    }

    /// Bytes that all jobs together choose from.
    pub fn working_set_bytes(&self) -> u64 {
        match self.files {
            FileSharing::PerJob => self.size_bytes.saturating_mul(u64::from(self.jobs)),
            FileSharing::Shared => {
                let apart = self.offset_increment_bytes.unwrap_or(0).min(self.size_bytes);
                self.size_bytes.saturating_add(apart.saturating_mul(u64::from(self.jobs - 1)))
            }
        }
    }

    /// Jobs that have files of their own.
    const fn jobs_apart(&self) -> u32 {
        match self.files {
            FileSharing::Shared => 1,
            FileSharing::PerJob => self.jobs,
        }
    }

    /// Where the region of a job begins in each of its files.
    fn job_offset(&self, job: u32) -> u64 {
        let apart = if self.files == FileSharing::Shared { self.offset_increment_bytes.unwrap_or(0) } else { 0 };
        self.offset_bytes.saturating_add(apart.saturating_mul(u64::from(job)))
    }

    /// The files of a job as one space of offsets.
    pub fn file_space(&self, job: u32) -> FileSpace {
        let one_size = self.read_block_sizes.is_one() && self.read_block_sizes == self.write_block_sizes;
        let stripe = match self.file_order {
            // Blocks of several sizes could lie across two files.
            FileOrder::Turns(operations) if one_size => Some((operations, self.block_size_bytes_max)),
            FileOrder::Turns(_) | FileOrder::Sequential => None,
        };
        if self.name_operation().is_some() {
            return FileSpace::new(0, 1, u64::from(self.file_count), None);
        }
        FileSpace::new(self.job_offset(job), self.file_count, self.size_bytes / u64::from(self.file_count), stripe)
    }

    /// Whether jobs on a shared file keep to parts of their own: sequential jobs would otherwise repeat each other,
    /// and exact-once coverage needs each block to belong to one job.
    pub fn is_partitioned(&self) -> bool {
        self.files == FileSharing::Shared
            && self.jobs > 1
            && self.offset_increment_bytes.is_none()
            && (self.random_percent == 0 || self.distribution == Distribution::ExactOnce)
    }

    /// The stretch that a job touches: of its file, or of the space that several files make.
    pub fn job_region(&self, job: u32) -> Region {
        let length = if self.name_operation().is_some() { u64::from(self.file_count) } else { self.size_bytes };
        let region = Region { offset: self.job_offset(job), length };
        if !self.is_partitioned() {
            return region;
        }
        // Whole blocks; the first jobs get one more where they do not divide evenly.
        let block = u64::from(self.block_size_bytes_max);
        let blocks = length / block;
        let before = blocks / u64::from(self.jobs) * u64::from(job) + u64::from(job).min(blocks % u64::from(self.jobs));
        Region { offset: self.offset_bytes + before * block, length: share(blocks, job, self.jobs) * block }
    }

    /// What all jobs do in one pass over their regions.
    pub(crate) fn pass_bytes(&self) -> u64 {
        let jobs = match (self.files, self.offset_increment_bytes) {
            (FileSharing::Shared, None) => 1,
            (FileSharing::Shared, Some(_)) | (FileSharing::PerJob, _) => u64::from(self.jobs),
        };
        let block = u64::from(self.block_size_bytes_max);
        let unit = operation_stream::amount_unit(self);
        let blocks = |length: u64| (length + self.gap_bytes) / (block + self.gap_bytes);
        // What is left behind the last block is not touched.
        let job = |length: u64| match self.gap_bytes {
            0 => length / unit * unit,
            _ => blocks(length) * block,
        };
        if self.is_partitioned() {
            return (0..self.jobs).map(|number| job(self.job_region(number).length)).sum();
        }
        job(self.size_bytes).saturating_mul(jobs)
    }

    /// The part of the cell's amount that a job does: where jobs keep to parts of the region, as much of the amount as
    /// it has of the region, for whole passes to end at the ends of the parts.
    pub fn job_amount(&self, total: u64, job: u32) -> u64 {
        if !self.is_partitioned() {
            return share(total, job, self.jobs);
        }
        let regions = (0..self.jobs).map(|job| self.job_region(job).length);
        let all: u64 = regions.clone().sum();
        let before: u64 = regions.take(job as usize).sum();
        let up_to = |part: u64| (u128::from(total) * u128::from(part) / u128::from(all.max(1))) as u64;
        up_to(before + self.job_region(job).length) - up_to(before)
    }
}

/// How many files plans knew before they could have several.
const fn one() -> u32 {
    1
}

/// How plans laid files out before they could choose.
const fn written() -> Layout {
    Layout::Written
}

/// The share of `total` that part `index` of `parts` gets: all parts differ by at most one and add up to `total`.
pub const fn share(total: u64, index: u32, parts: u32) -> u64 {
    let (index, parts) = (index as u64, parts as u64);
    total / parts + if index < total % parts { 1 } else { 0 }
}

#[cfg(test)]
mod tests;
