//! What a job asks for, typed, with fio's defaults where nothing was given.
//!
//! Sizes that depend on a file stay relative here; whoever has opened it decides. What no option of a job says is
//! `None`.

mod words;

use std::sync::Arc;

use plimsoll_workload::units::{ByteCount, Span};

pub use self::words::*;
use super::{
    lists::{BlockShare, Directional, Range, Zone},
    value::KilobyteBase,
};

/// All settings of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `description`.
    pub description: Option<String>,
    /// `name`: what reports call the job.
    pub name: Option<String>,
    /// `ioengine`.
    pub engine: Engine,
    /// How the engine is asked to work.
    pub engine_options: EngineOptions,
    /// Which files.
    pub files: Files,
    /// Where in them, and in which order.
    pub pattern: Pattern,
    /// How much at once, and how it reaches the storage.
    pub submission: Submission,
    /// How fast.
    pub rate: RateLimits,
    /// How long, when, and beside whom.
    pub course: Course,
    /// What is written, and how it is checked.
    pub content: Content,
    /// What is told about it.
    pub report: Report,
}

/// Options that belong to an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// `hipri`: completions are polled.
    pub polled: bool,
    /// `fixedbufs`.
    pub registered_buffers: bool,
    /// `registerfiles`.
    pub registered_files: bool,
    /// `sqthread_poll`.
    pub submission_thread: bool,
    /// `sqthread_poll_cpu`.
    pub submission_thread_processor: Option<u64>,
    /// `stat_type` of the engine filestat.
    pub stat: StatCall,
}

/// Which files a job uses, and how they come to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Files {
    /// `directory`: clones of the job take them in turn.
    pub directories: Arc<[String]>,
    /// `filename`; none means that names are made with the format.
    pub names: Arc<[String]>,
    /// `filename` was given more than once.
    pub are_names_added: bool,
    /// `filename_format`.
    pub format: String,
    /// `nrfiles`.
    pub count: u32,
    /// `openfiles`; none means all.
    pub open: Option<u32>,
    /// `file_service_type`.
    pub service: FileService,
    /// `size`: the region, and how much is done without a time.
    pub size: Option<Extent>,
    /// `io_size`: how much is done.
    pub io_size: Option<Extent>,
    /// `filesize`.
    pub file_size: Option<Range<ByteCount>>,
    /// `offset`.
    pub offset: Extent,
    /// `offset_increment`: between clones.
    pub offset_increment: Extent,
    /// `offset_align`.
    pub offset_alignment: Option<ByteCount>,
    /// `fill_device`.
    pub fills_device: bool,
    /// `file_append`.
    pub appends: bool,
    /// `fallocate`.
    pub preallocation: Preallocation,
    /// `overwrite`: files are written before the job writes them.
    pub is_laid_out: bool,
    /// `create_on_open`.
    pub is_created_on_open: bool,
    /// `create_only`.
    pub is_creation_only: bool,
    /// `create_serialize`.
    pub is_creation_serial: bool,
    /// `create_fsync`.
    pub is_creation_synced: bool,
    /// `allow_file_create`.
    pub may_create: bool,
    /// `pre_read`.
    pub is_read_before: bool,
    /// `invalidate`.
    pub drops_cache: bool,
    /// `unlink`.
    pub is_removed_after: bool,
    /// `unlink_each_loop`.
    pub is_removed_each_loop: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            directories: Arc::default(),
            names: Arc::default(),
            are_names_added: false,
            format: "$jobname.$jobnum.$filenum".into(),
            count: 1,
            open: None,
            service: FileService::RoundRobin { operations: 1 },
            size: None,
            io_size: None,
            file_size: None,
            offset: Extent::Bytes(ByteCount(0)),
            offset_increment: Extent::Bytes(ByteCount(0)),
            offset_alignment: None,
            fills_device: false,
            appends: false,
            preallocation: Preallocation::Native,
            is_laid_out: false,
            is_created_on_open: false,
            is_creation_only: false,
            is_creation_serial: true,
            is_creation_synced: true,
            may_create: true,
            is_read_before: false,
            drops_cache: true,
            is_removed_after: false,
            is_removed_each_loop: false,
        }
    }
}

/// Where operations fall, and how large they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// `rw`.
    pub direction: Direction,
    /// The number after the colon of `rw`.
    pub step: Step,
    /// `rw_sequencer`.
    pub sequencer: Sequencer,
    /// `rwmixread`, or what `rwmixwrite` leaves.
    pub read_percent: u8,
    /// `bs`.
    pub block_size: Directional<ByteCount>,
    /// `bsrange`, which goes before `bs`.
    pub block_range: Directional<Option<Range<ByteCount>>>,
    /// `bssplit`, which goes before both.
    pub block_split: Directional<Vec<BlockShare>>,
    /// `ba`; none means the smallest block.
    pub alignment: Directional<Option<ByteCount>>,
    /// `bs_is_seq_rand`: the read size is that of sequential operations, the write size that of random ones.
    pub is_size_by_order: bool,
    /// `bs_unaligned`.
    pub is_unaligned: bool,
    /// `percentage_random`.
    pub random_percent: Directional<u8>,
    /// `random_distribution`.
    pub distribution: Distribution,
    /// `random_generator`.
    pub generator: Generator,
    /// `norandommap`: a block may be used again before all others were.
    pub may_repeat_blocks: bool,
    /// `randrepeat`: each run has the same offsets.
    pub is_repeatable: bool,
    /// `randseed`.
    pub seed: Option<u64>,
    /// `number_ios`.
    pub operations: Option<u64>,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            direction: Direction::default(),
            step: Step::None,
            sequencer: Sequencer::Sequential,
            read_percent: 50,
            block_size: Directional::all(ByteCount(4096)),
            block_range: Directional::default(),
            block_split: Directional::default(),
            alignment: Directional::default(),
            is_size_by_order: false,
            is_unaligned: false,
            random_percent: Directional::all(100),
            distribution: Distribution::Uniform,
            generator: Generator::Tausworthe,
            may_repeat_blocks: false,
            is_repeatable: true,
            seed: None,
            operations: None,
        }
    }
}

impl Pattern {
    /// The smallest and the largest block for reads, writes and trims.
    pub fn block_bounds(&self) -> Directional<Range<ByteCount>> {
        let bounds = |size: ByteCount, range: Option<Range<ByteCount>>, split: &[BlockShare]| {
            let sizes = split.iter().map(|share| share.size);
            let of_split = sizes.clone().min().zip(sizes.max()).map(|(low, high)| Range { low, high });
            of_split.or(range).unwrap_or(Range { low: size, high: size })
        };
        Directional {
            read: bounds(self.block_size.read, self.block_range.read, &self.block_split.read),
            write: bounds(self.block_size.write, self.block_range.write, &self.block_split.write),
            trim: bounds(self.block_size.trim, self.block_range.trim, &self.block_split.trim),
        }
    }
}

/// How operations reach the storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// `iodepth`.
    pub depth: u32,
    /// `iodepth_batch`; 0 means as many as the depth.
    pub batch: u32,
    /// `iodepth_batch_complete_min`.
    pub complete_min: u32,
    /// `iodepth_batch_complete_max`; none means the least.
    pub complete_max: Option<u32>,
    /// `iodepth_low`; none means the depth.
    pub low: Option<u32>,
    /// `direct`, or not `buffered`.
    pub is_direct: bool,
    /// `sync`.
    pub sync: Sync,
    /// `fsync`: after so many writes.
    pub fsync_every: Option<u32>,
    /// `fdatasync`: after so many writes.
    pub fdatasync_every: Option<u32>,
    /// `end_fsync`.
    pub is_synced_at_end: bool,
    /// `fsync_on_close`.
    pub is_synced_on_close: bool,
    /// `fadvise_hint`.
    pub hint: Hint,
    /// `serialize_overlap`.
    pub serializes_overlap: bool,
}

impl Default for Submission {
    fn default() -> Self {
        Self {
            depth: 1,
            batch: 1,
            complete_min: 1,
            hint: Hint::OfPattern,
            complete_max: None,
            low: None,
            is_direct: false,
            sync: Sync::None,
            fsync_every: None,
            fdatasync_every: None,
            is_synced_at_end: false,
            is_synced_on_close: false,
            serializes_overlap: false,
        }
    }
}

/// Limits of speed, and think time.
#[derive(Clone, Debug, PartialEq)]
pub struct RateLimits {
    /// `rate`, bytes per second.
    pub bytes: Directional<Option<u64>>,
    /// `rate_iops`.
    pub operations: Directional<Option<u64>>,
    /// `rate_min`: the job ends when it is slower.
    pub bytes_min: Directional<Option<u64>>,
    /// `rate_iops_min`.
    pub operations_min: Directional<Option<u64>>,
    /// `rate_process`.
    pub arrivals: Arrivals,
    /// `rate_cycle`: the span over which the least rate is judged.
    pub cycle: Span,
    /// `rate_ignore_thinktime`.
    pub ignores_think_time: bool,
    /// `thinktime`.
    pub think_time: Span,
    /// `thinktime_spin`: how much of it keeps the processor busy.
    pub think_time_spin: Span,
    /// `thinktime_blocks`.
    pub think_time_blocks: u32,
    /// `thinktime_blocks_type`.
    pub think_time_counts: ThinkTimeCounts,
    /// `thinktime_iotime`.
    pub think_time_after: Option<Span>,
    /// `max_latency`: an operation that takes longer ends the job.
    pub latency_max: Directional<Option<Span>>,
    /// `latency_target`.
    pub latency_target: Option<Span>,
    /// `latency_window`.
    pub latency_window: Span,
    /// `latency_percentile`.
    pub latency_percentile: f64,
    /// `latency_run`.
    pub continues_at_target: bool,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            bytes: Directional::default(),
            operations: Directional::default(),
            bytes_min: Directional::default(),
            operations_min: Directional::default(),
            arrivals: Arrivals::Linear,
            cycle: Span::from_seconds(1),
            ignores_think_time: false,
            think_time: Span::default(),
            think_time_spin: Span::default(),
            think_time_blocks: 1,
            think_time_counts: ThinkTimeCounts::Completed,
            think_time_after: None,
            latency_max: Directional::default(),
            latency_target: None,
            latency_window: Span::default(),
            latency_percentile: 100.0,
            continues_at_target: false,
        }
    }
}

/// When a job runs, how often, and what ends it.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// `numjobs`.
    pub clones: u32,
    /// `loops`.
    pub loops: u32,
    /// `runtime`; none means until the size is done.
    pub runtime: Option<Span>,
    /// `time_based`.
    pub is_time_based: bool,
    /// `ramp_time`.
    pub ramp: Option<Span>,
    /// `startdelay`.
    pub start_delay: Option<Range<Span>>,
    /// `stonewall`: after all jobs before it.
    pub waits_for_all: bool,
    /// `new_group`.
    pub begins_group: bool,
    /// `wait_for`.
    pub waits_for: Option<String>,
    /// `exitall`.
    pub ends_all: bool,
    /// `exit_what`.
    pub ends: Ends,
    /// `exitall_on_error`.
    pub error_ends_all: bool,
    /// `continue_on_error`.
    pub continues_on: ContinueOn,
    /// `ignore_error`.
    pub ignored_errors: IgnoredErrors,
    /// `steadystate`.
    pub steady_state: Option<SteadyState>,
    /// `steadystate_duration`; none means that nothing is watched.
    pub steady_state_duration: Option<Span>,
    /// `steadystate_ramp_time`.
    pub steady_state_ramp: Span,
    /// `steadystate_check_interval`.
    pub steady_state_interval: Span,
    /// `cpus_allowed`, `cpumask`.
    pub processors: Vec<u32>,
    /// `cpus_allowed_policy`.
    pub processor_policy: ProcessorPolicy,
    /// `thread`: accepted; jobs are always threads.
    pub is_thread: bool,
}

impl Default for Course {
    fn default() -> Self {
        Self {
            clones: 1,
            loops: 1,
            runtime: None,
            is_time_based: false,
            ramp: None,
            start_delay: None,
            waits_for_all: false,
            begins_group: false,
            waits_for: None,
            ends_all: false,
            ends: Ends::Group,
            error_ends_all: false,
            continues_on: ContinueOn::default(),
            ignored_errors: IgnoredErrors::default(),
            steady_state: None,
            steady_state_duration: None,
            steady_state_ramp: Span::default(),
            steady_state_interval: Span::from_seconds(1),
            processors: Vec::new(),
            processor_policy: ProcessorPolicy::Shared,
            is_thread: false,
        }
    }
}

/// What is written, and how it is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// `zero_buffers`.
    pub is_zero: bool,
    /// `refill_buffers`; none means as other options imply.
    pub is_refilled: Option<bool>,
    /// `scramble_buffers`.
    pub is_scrambled: bool,
    /// `buffer_pattern`.
    pub pattern: Option<Vec<u8>>,
    /// `buffer_compress_percentage`.
    pub compress_percent: Option<u8>,
    /// `buffer_compress_chunk`.
    pub compress_chunk: ByteCount,
    /// `dedupe_percentage`.
    pub duplicate_percent: Option<u8>,
    /// `verify`.
    pub verify: Option<Checksum>,
    /// `do_verify`.
    pub has_verify_phase: bool,
    /// `verify_fatal`.
    pub verify_error_ends: bool,
    /// `verify_dump`.
    pub dumps_bad_blocks: bool,
    /// `verify_interval`.
    pub verify_interval: Option<ByteCount>,
    /// `verify_pattern`.
    pub verify_pattern: Option<VerifyPattern>,
    /// `verify_backlog`.
    pub verify_backlog: Option<u64>,
    /// `verify_backlog_batch`.
    pub verify_backlog_batch: Option<u64>,
    /// `verify_state_save`.
    pub saves_verify_state: bool,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            is_zero: false,
            is_refilled: None,
            is_scrambled: true,
            pattern: None,
            compress_percent: None,
            compress_chunk: ByteCount(512),
            duplicate_percent: None,
            verify: None,
            has_verify_phase: true,
            verify_error_ends: false,
            dumps_bad_blocks: false,
            verify_interval: None,
            verify_pattern: None,
            verify_backlog: None,
            verify_backlog_batch: None,
            saves_verify_state: true,
        }
    }
}

/// What is told about a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// `group_reporting`.
    pub is_by_group: bool,
    /// `stats`.
    pub has_statistics: bool,
    /// `unified_rw_reporting`.
    pub unified: UnifiedReporting,
    /// `clat_percentiles`.
    pub has_completion_percentiles: bool,
    /// `lat_percentiles`.
    pub has_total_percentiles: bool,
    /// `slat_percentiles`.
    pub has_submission_percentiles: bool,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// `kb_base`.
    pub kilobyte_base: KilobyteBase,
    /// `unit_base`: rates in bits.
    pub is_in_bits: bool,
    /// `significant_figures`.
    pub significant_figures: u8,
    /// `disk_util`.
    pub has_disk_use: bool,
    /// `disable_lat`, also by `gtod_reduce`.
    pub is_without_total_latency: bool,
    /// `disable_clat`, also by `gtod_reduce`.
    pub is_without_completion_latency: bool,
    /// `disable_slat`, also by `gtod_reduce`.
    pub is_without_submission_latency: bool,
    /// `disable_bw_measurement`, also by `gtod_reduce`.
    pub is_without_bandwidth: bool,
    /// `write_bw_log`.
    pub bandwidth_log: Option<LogName>,
    /// `write_lat_log`.
    pub latency_log: Option<LogName>,
    /// `write_iops_log`.
    pub operations_log: Option<LogName>,
    /// `write_hist_log`.
    pub histogram_log: Option<LogName>,
    /// `per_job_logs`.
    pub has_log_per_job: bool,
    /// `log_avg_msec`; none means an entry for each operation.
    pub log_interval: Option<Span>,
    /// `log_hist_msec`.
    pub histogram_interval: Option<Span>,
    /// `bwavgtime`.
    pub bandwidth_interval: Span,
    /// `iopsavgtime`.
    pub operations_interval: Span,
    /// `log_window_value`, `log_max_value`.
    pub log_value: LogValue,
    /// `log_offset`.
    pub has_log_offset: bool,
    /// `log_alternate_epoch`, `log_unix_epoch`.
    pub is_log_time_of_day: bool,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            is_by_group: false,
            has_statistics: true,
            unified: UnifiedReporting::None,
            has_completion_percentiles: true,
            has_total_percentiles: false,
            has_submission_percentiles: false,
            percentiles: vec![
                1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99,
            ],
            kilobyte_base: KilobyteBase::K1024,
            is_in_bits: false,
            significant_figures: 4,
            has_disk_use: true,
            is_without_total_latency: false,
            is_without_completion_latency: false,
            is_without_submission_latency: false,
            is_without_bandwidth: false,
            bandwidth_log: None,
            latency_log: None,
            operations_log: None,
            histogram_log: None,
            has_log_per_job: true,
            log_interval: None,
            histogram_interval: None,
            bandwidth_interval: Span::from_milliseconds(500),
            operations_interval: Span::from_milliseconds(500),
            log_value: LogValue::Average,
            has_log_offset: false,
            is_log_time_of_day: false,
        }
    }
}

/// A place or length in a file; relative to the file where it is a share of it.
pub use plimsoll_workload::units::Extent;

/// The zones of a distribution, by direction.
pub type Zones = Directional<Vec<Zone>>;
