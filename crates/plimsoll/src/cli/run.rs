//! Arguments of `plimsoll run`.

use std::{path::PathBuf, str::FromStr};

use clap::{
    Args, Command, Id,
    builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser},
};
use plimsoll_measure::effort::Rules;
use plimsoll_record::judgement;
use plimsoll_run::machine::cloud::{ServiceAddress, USUAL_ADDRESS};
use plimsoll_workload::{
    block_sizes::BlockSizes,
    certainty::Precision,
    distribution::Distribution,
    file_mix::FileMix,
    file_set::{CacheState, FilePhases, FileSync, PhaseEnd},
    file_sizes::FileSizes,
    file_space::FileOrder,
    limit::Limit,
    need::Need,
    payload::Payload,
    pinning::Pinning,
    settings::{Arrival, Effort, EngineChoice, FileSharing, Layout, RateScope, ReadWrite, SyncMode},
    sweep::Sweep,
    units::{ByteCount, Extent, Percent, Rate, Span},
    workload::{ThinkTime, Workload},
};

use super::provisioned::ProvisionedArguments;

/// A parser for a closed vocabulary, so that help and completion list the words.
macro_rules! words {
    ($name:ty) => {
        PossibleValuesParser::new(<$name>::WORDS).try_map(|word| word.parse::<$name>())
    };
}

/// A parser for efforts that says what they mean.
pub(super) fn efforts() -> impl TypedValueParser<Value = Effort> {
    let value = |word: &&'static str| {
        let effort = word.parse().expect("an effort's word names it");
        // Six cells are those of the preset that runs when nothing else is asked for.
        let rules = Rules::new(judgement::effort(effort), None, 6);
        let visit_s = rules.visit_ns() as f64 / 1e9;
        let minutes = |rounds: u32| f64::from(rounds) * visit_s / 60.0;
        PossibleValue::new(*word).help(if rules.claims {
            format!(
                "until each rate is known to {} %: from {:.1} to {:.1} minutes of load for each cell of six",
                rules.demand.precision * 100.0,
                minutes(rules.rounds_sure()),
                minutes(rules.rounds_max)
            )
        } else {
            format!("a first look: {} slots of {visit_s} s for each cell, never called steady", rules.rounds_max)
        })
    };
    PossibleValuesParser::new(Effort::WORDS.iter().map(value)).try_map(|word| word.parse::<Effort>())
}

const WORKLOAD: &str = "Workload";
const FILES: &str = "Sets of files, and applications";
const TIMING: &str = "Timing";
const ENGINE: &str = "Engine";
const SAFETY: &str = "Target and safety";
/// The heading of flags about what is shown and kept.
pub(super) const OUTPUT: &str = "Output and history";

/// The arguments that say what to do: a run that goes on has decided that before.
fn planned() -> impl Iterator<Item = Id> {
    let workload = WorkloadArguments::augment_args(Command::new(""));
    let workload: Vec<Id> = workload.get_arguments().map(|argument| argument.get_id().clone()).collect();
    let others = ["targets", "preset", "plan", "effort", "precision", "max_time", "bookend", "passes", "discard_first"];
    let beside = ["limit", "need", "parallel", "background", "detect_cloud", "name", "tags"];
    let provisioned = ProvisionedArguments::augment_args(Command::new(""));
    let provisioned: Vec<Id> = provisioned.get_arguments().map(|argument| argument.get_id().clone()).collect();
    workload.into_iter().chain(provisioned).chain(others.map(Id::from)).chain(beside.map(Id::from))
}

/// Arguments of `plimsoll run`. Headings appear in the order in which their first flags stand here.
#[derive(Args, Debug, Default)]
#[command(
    override_usage = "plimsoll run [OPTIONS] [TARGET]...",
    after_help = "Without --rw, --phases, --command, --preset and --plan, the preset `canonical` runs: latency, IOPS and throughput, read and \
                  write. Flags override presets and plans, but for what `--help` names.",
    after_long_help = "Without --rw, --phases, --command, --preset and --plan, the preset `canonical` runs: latency, IOPS and \
                       throughput, read and write. Flags override presets and plans, but for --rw, --read-percent, \
                       --phases and --mix, and for --command beside a plan."
)]
pub struct RunArguments {
    /// Directories, files or block devices to measure; a file is made where there is none when --size is given
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// What to measure, and how sure to be.
    #[command(flatten)]
    pub measuring: MeasuringArguments,

    /// What was bought.
    #[command(flatten)]
    pub provisioned: ProvisionedArguments,

    /// Time the command on all targets at once, with processors of their own that they swap [default: in turns]
    #[arg(long, help_heading = FILES, hide_short_help = true)]
    pub parallel: bool,

    /// Load the machine with this shell command while it is measured; it is ended with the run
    ///
    /// Its output is discarded, and so is its input. The run shows how much tasks had to wait for processors, I/O and
    /// memory meanwhile. Runs with different commands, or without, are not compared unless that is wished.
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = TIMING, hide_short_help = true)]
    pub background: Option<String>,

    /// Permit writing to this device; its content is lost; may be repeated
    ///
    /// A device with a file system, partition table or other signature that plimsoll knows is refused all the same.
    /// Data without one cannot be seen.
    #[arg(long, value_name = "DEVICE", help_heading = SAFETY)]
    pub destroy: Vec<PathBuf>,
    /// Go on with a run that was interrupted: the beginning of its id, its name, or `latest`
    ///
    /// Only the slots that are missing are done, as they were planned, in the same places. A device that is written to
    /// has to be named by --destroy again.
    #[arg(long, value_name = "RUN", conflicts_with_all = planned(), help_heading = TIMING, hide_short_help = true)]
    pub resume: Option<String>,
    /// Leave the files of the run in place; `plimsoll doctor --clean DIRECTORY` removes them
    #[arg(long, help_heading = SAFETY)]
    pub keep_files: bool,
    /// Refuse targets that lie on the root file system because a mount is missing
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub expect_mount: bool,
    /// Ask the instance metadata service of Azure, AWS or Google Cloud what this machine is, for the record
    ///
    /// Type, region, zone and disks are kept, and no ids, keys or user data. Without this flag nobody is asked. The run
    /// goes on when nobody answers within two seconds; URL is who to ask instead of http://169.254.169.254.
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = USUAL_ADDRESS, help_heading = OUTPUT, hide_short_help = true)]
    pub detect_cloud: Option<ServiceAddress>,
    /// Print the record as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Show all cells, their rates and the last seconds on the whole terminal meanwhile
    ///
    /// `q` stops the run as Ctrl-C does, `d` or Esc goes on with bars, `j`, `k` or arrows choose the cell whose seconds
    /// are drawn, `f` follows the one that is measured, and Ctrl-L draws all anew. Ctrl-Z is off; who stops the process
    /// otherwise has the terminal meanwhile. Where the terminal cannot show it there are bars, and lines where standard
    /// error is no terminal. The result is printed afterwards as always.
    #[arg(long, conflicts_with = "quiet", help_heading = OUTPUT, hide_short_help = true)]
    pub dashboard: bool,
    /// Show the exact plan before measuring
    #[arg(long, short, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub verbose: bool,
    /// A name for the run, shown in the history
    #[arg(long, help_heading = OUTPUT)]
    pub name: Option<String>,
    /// A pair to find the run by; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag, help_heading = OUTPUT, hide_short_help = true)]
    pub tags: Vec<(String, String)>,
}

/// The flags that say what is measured and when that is enough, wherever it is.
#[derive(Args, Clone, Debug, Default)]
pub struct MeasuringArguments {
    /// Workloads by name, as a,b: see `plimsoll presets`; or Iometer's .icf
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = WORKLOAD)]
    pub preset: Vec<String>,
    /// Read targets and workloads from this file (TOML); flags override it
    ///
    /// Standard input is `-`. What flags say of workloads, a plan can say under their names with underscores; what was
    /// bought stands in [provisioned.defaults], or in [provisioned.targets."NAME"], `presets` is a list, and tags stand
    /// in [tags]. Targets of both are measured. `plimsoll presets NAME` prints one to start from; several workloads are
    /// several tables [[workload]], and what they have in common stands in [defaults].
    #[arg(long, value_name = "FILE", help_heading = WORKLOAD)]
    pub plan: Option<PathBuf>,

    /// The workload.
    #[command(flatten)]
    pub workload: WorkloadArguments,

    /// How long to measure when --duration is not given [default: standard]
    #[arg(long, value_parser = efforts(), help_heading = TIMING)]
    pub effort: Option<Effort>,
    /// How far a steady rate may be from the truth [default: 2% or 1%, by the effort]
    #[arg(long, value_name = "PERCENT", help_heading = TIMING)]
    pub precision: Option<Precision>,
    /// Begin no slot that would end after this time
    ///
    /// Cells that have not measured enough by then are called short. The last slot may end later all the same: what is
    /// tried before the first one of a cell takes some seconds, and what ends by itself, as a command or an amount, is
    /// expected to take as long as the time before.
    #[arg(long, value_name = "TIME", help_heading = TIMING)]
    pub max_time: Option<Span>,
    /// Visit every target once more, half an hour after the start, and withdraw claims that no longer hold
    #[arg(long, help_heading = TIMING, hide_short_help = true)]
    pub bookend: bool,
    /// Visit each cell exactly N times, each time for --duration [default: 5s]
    #[arg(long, value_name = "N", help_heading = TIMING, hide_short_help = true)]
    pub passes: Option<u32>,
    /// Keep the first K of --passes in the record but out of the numbers
    #[arg(long, value_name = "K", help_heading = TIMING, hide_short_help = true)]
    pub discard_first: Option<u32>,
    /// What each target is said to deliver: iops=300,burst-iops=3000,bucket=5.4M, or bandwidth=, burst-bandwidth=
    ///
    /// A rate above what lasts is then called a burst, and one above what is possible at all cached; the table shows
    /// rates as shares of the limit. bucket= is what a burst has above the lasting rate, in operations or bytes;
    /// io-size=256KiB beside iops= says how large an operation may be to count as one.
    #[arg(long, value_name = "LIMIT", help_heading = TIMING, hide_short_help = true)]
    pub limit: Option<Limit>,

    /// What is needed: iops=3000,latency_p99=5ms,bandwidth=200MB,size=1Ti; the run ends with whether it is there
    ///
    /// Rates are at least what is written, latencies (latency_mean, latency_p50, _p90, _p95, _p99, _p99_9) at most;
    /// read_ or write_ before a name says which operations it is about. Below the table stand whether each target has
    /// it, and the cheapest entry of the catalog that has it by the prices of limits.toml, without prices the smallest.
    /// The exit code is 1 when a steady cell shows for certain that a target does not have it.
    #[arg(long, value_name = "NEED", help_heading = TIMING, hide_short_help = true)]
    pub need: Option<Need>,
}

/// The flags that make up a workload; each has a field of the same name in a plan file. Those whose values have a
/// grammar take hyphens too: what is wrong with `--duration -1s` is better said by the grammar.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = WORKLOAD)]
pub struct WorkloadArguments {
    /// Access pattern
    #[arg(long, value_parser = words!(ReadWrite))]
    pub rw: Option<ReadWrite>,
    /// Share of reads of rw and randrw [default: 50]; a list sweeps
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT")]
    pub read_percent: Option<Sweep<Percent>>,
    /// Share of operations at a random offset; the others continue where the last one ended
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", hide_short_help = true)]
    pub random_percent: Option<Percent>,
    /// Bytes of an operation: 4k, a range 4k-64k, a split 4k/60:64k/40; a list sweeps [default: 4k]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    pub block_size: Option<Sweep<BlockSizes>>,
    /// Bytes of a write, when they differ from those of a read
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", hide_short_help = true)]
    pub write_block_size: Option<BlockSizes>,
    /// Operations each job keeps in flight; a list sweeps [default: 1]
    #[arg(long, allow_hyphen_values = true, value_name = "N")]
    pub queue_depth: Option<Sweep<u32>>,
    /// Jobs that run at once; a list sweeps [default: 1]
    #[arg(long, allow_hyphen_values = true, value_name = "N")]
    pub jobs: Option<Sweep<u32>>,
    /// The region to touch, in bytes or percent of the default [default: whole device or file; in a directory 1GiB,
    /// in quick runs 512MiB]
    ///
    /// Where a quarter of what is free is less than that, it is a quarter.
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    pub size: Option<Extent>,
    /// Where the region begins, in bytes or percent [default: 0]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", hide_short_help = true)]
    pub offset: Option<Extent>,
    /// Distance between the regions of jobs that share a file, 0 for the same region [default: parts of it, where jobs
    /// would repeat each other]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", hide_short_help = true)]
    pub offset_increment: Option<ByteCount>,
    /// Distance from one sequential operation to the next
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", hide_short_help = true)]
    pub stride: Option<ByteCount>,
    /// Whether jobs share a file [default: shared]
    #[arg(long, value_parser = words!(FileSharing), hide_short_help = true)]
    pub files: Option<FileSharing>,
    /// Files of each job, or of all where they share, over which the region is spread [default: 1; to be created,
    /// statted or deleted, and with --phases: 1000]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", hide_short_help = true)]
    pub file_count: Option<u32>,
    /// In which order several files are used: turns, turns:N for N operations in each, sequential [default: turns]
    #[arg(long, value_name = "ORDER", hide_short_help = true)]
    pub file_order: Option<FileOrder>,
    /// What is in new files before the first slot [default: written]
    #[arg(long, value_parser = words!(Layout), hide_short_help = true)]
    pub layout: Option<Layout>,
    /// Which blocks random operations choose: uniform, exact-once, zipf:THETA, pareto:H, normal:PERCENT,
    /// hot-cold:ACCESS/SIZE, zoned:ACCESS/SIZE:... [default: uniform, with --verify exact-once]
    #[arg(long, hide_short_help = true)]
    pub distribution: Option<Distribution>,
    /// Issue at this rate whatever the storage answers (open loop): 5000 or 5k operations, 200MB bytes a second
    #[arg(long, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// Whether --rate is for all jobs together or for each [default: total]
    #[arg(long, value_parser = words!(RateScope), hide_short_help = true)]
    pub rate_per: Option<RateScope>,
    /// When the operations of an open loop arrive [default: fixed]
    #[arg(long, value_parser = words!(Arrival), hide_short_help = true)]
    pub arrival: Option<Arrival>,
    /// Pause after each operation of a job (10ms), or after several (10ms/8)
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", hide_short_help = true)]
    pub think_time: Option<ThinkTime>,
    /// Go through the page cache; sets of files do unless =false
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, value_name = "BOOL")]
    pub buffered: Option<bool>,
    /// Make each write durable: --sync (O_SYNC) or --sync=dsync (O_DSYNC)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "sync", value_parser = words!(SyncMode))]
    pub sync: Option<SyncMode>,
    /// Call fsync after every N writes of a job
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u64>, value_name = "N", hide_short_help = true)]
    pub fsync: Option<u64>,
    /// Call fdatasync after every N writes of a job
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u64>, value_name = "N", hide_short_help = true)]
    pub fdatasync: Option<u64>,
    /// Call fsync at the end of each slot, as part of the measured time
    #[arg(long, hide_short_help = true)]
    pub end_fsync: bool,
    /// What writes and new files contain: random, zero, pattern:0xHEX, compressible:PERCENT, duplicate:PERCENT
    /// [default: random]
    #[arg(long, hide_short_help = true)]
    pub payload: Option<Payload>,
    /// Give every block a header and checksum, read all back, and check
    #[arg(long)]
    pub verify: bool,
    /// Where all randomness comes from
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u64>, value_name = "N", hide_short_help = true)]
    pub seed: Option<u64>,
    /// Work on a set of files, in phases: write,read,delete
    ///
    /// create, write and write_read make the files: empty, with content, or with content that is read again at once.
    /// append, overwrite, read, stat, open, list, list_long, find, rename, rename_cross, link, symlink, set_xattr,
    /// get_xattr, truncate and delete work on them; mkdir and rmdir make and remove as many directories. What a phase
    /// needs is made before it, untimed. --jobs share the files, --block-size is the most that is read or written at
    /// once, and --duration limits each phase.
    #[arg(long, value_name = "PHASES", help_heading = FILES)]
    pub phases: Option<FilePhases>,
    /// Sizes of the files: 10k, a range 1k-64k, a split 4k/60:64k/40, gamma:MEAN[:SHAPE], exponential:MEAN[:MAX],
    /// lognormal:MEDIAN:SIGMA [default: 4k]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZES", help_heading = FILES, hide_short_help = true)]
    pub file_size: Option<FileSizes>,
    /// Files of each directory [default: all in one]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", help_heading = FILES, hide_short_help = true)]
    pub files_per_directory: Option<u32>,
    /// How files are made durable [default: none]
    #[arg(long, value_parser = words!(FileSync), help_heading = FILES, hide_short_help = true)]
    pub file_sync: Option<FileSync>,
    /// What the page cache holds of the files before they are read [default: as-is]
    #[arg(long, value_parser = words!(CacheState), help_heading = FILES, hide_short_help = true)]
    pub cache: Option<CacheState>,
    /// When a phase of several jobs ends: all have done their files, or the first has (stonewall) [default: all]
    #[arg(long, value_parser = words!(PhaseEnd), help_heading = FILES, hide_short_help = true)]
    pub phase_end: Option<PhaseEnd>,
    /// What each job of the phase `mix` repeats, with files drawn at random: delete,write,read_append:16k,read*2
    ///
    /// write makes a new file; append, read_append and log (a file that all jobs share) append a block, or as much as
    /// is said; alternatives are drawn at random (read|append:512). One fifth of the files is missing at the beginning,
    /// where files are made. The mix ends after --duration [60s, with --effort quick 10s].
    #[arg(long, value_name = "STEPS", help_heading = FILES, hide_short_help = true)]
    pub mix: Option<FileMix>,
    /// How often the phases are repeated, or the command is timed [default: 10, of a command 5; with --effort quick 3,
    /// with thorough 30 and 10]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", help_heading = FILES, hide_short_help = true)]
    pub iterations: Option<u32>,
    /// Time this shell command on each target in turns, --iterations times
    ///
    /// It works in a directory of its own on the target, $TARGET_DIR, which is removed with all that is in it.
    /// Elsewhere there are $RUN_DIR for sockets and logs and $DATASET for what all targets read; $TARGET_NAME,
    /// $ITERATION, $SEED and $THREADS (--jobs) are set. Figures of its own are lines that it writes to $FIGURES:
    /// tps 131.5 /s. Servers that it starts are counted and end with the run. Beside --preset it is one more workload.
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES)]
    pub command: Option<String>,
    /// Before the first iteration on a target, untimed: start a server, make what is read
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub setup: Option<String>,
    /// After the setup, repeated until it succeeds
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub ready: Option<String>,
    /// Before each iteration, untimed
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub prepare: Option<String>,
    /// After each iteration, which counts only if this succeeds
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub verify_command: Option<String>,
    /// At the end of each iteration, untimed, even if it failed
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub conclude: Option<String>,
    /// After the last iteration on a target, however the run ends
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub cleanup: Option<String>,
    /// Iterations to do before those that count [default: 0]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", help_heading = FILES, hide_short_help = true)]
    pub warmup: Option<u32>,
    /// How long each command may take [default: as long as it wants]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = FILES, hide_short_help = true)]
    pub timeout: Option<Span>,
    /// How long to wait before each iteration until the disk is at rest, 0 for not at all [default: 60s]
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = FILES, hide_short_help = true)]
    pub settle: Option<Span>,
    /// Whose rights commands have when plimsoll has those of root: databases refuse to be root
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = FILES, hide_short_help = true)]
    pub user: Option<String>,
    /// Measured time of each cell, ramps excluded; of --phases each
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = TIMING)]
    pub duration: Option<Span>,
    /// Load before measurement begins, in each slot
    ///
    /// By default 2s, in quick runs 200ms; with --duration or --passes a quarter of the slot, at most 1s; with an
    /// amount none.
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = TIMING)]
    pub ramp: Option<Span>,
    /// Wait before the first operation of a cell
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", help_heading = TIMING, hide_short_help = true)]
    pub start_delay: Option<Span>,
    /// Stop after so many operations, over all jobs
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u64>, value_name = "N", help_heading = TIMING, hide_short_help = true)]
    pub operations: Option<u64>,
    /// Stop after transferring this much, over all jobs
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", help_heading = TIMING, hide_short_help = true)]
    pub io_size: Option<ByteCount>,
    /// Stop after so many passes over the region
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u64>, value_name = "N", help_heading = TIMING, hide_short_help = true)]
    pub loops: Option<u64>,
    /// Run all cells at the same time; in a plan, the workloads of the same phase [default: cells take turns]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", help_heading = TIMING, hide_short_help = true)]
    pub phase: Option<u32>,
    /// How I/O reaches the kernel [default: auto]
    ///
    /// Each operation of filecreate, filestat and filedelete is about the next of --file-count files, which are made or
    /// removed before each slot as needed. Files are created and deleted once in a slot (--passes repeats that), and
    /// statted for as long as any other cell runs. Those to stat or delete have --size bytes together, else none;
    /// filecreate makes empty ones.
    #[arg(long, value_parser = words!(EngineChoice), help_heading = ENGINE)]
    pub engine: Option<EngineChoice>,
    /// Wait for so many completions at once [default: whatever is ready]
    #[arg(long, allow_hyphen_values = true, value_parser = whole_number::<u32>, value_name = "N", help_heading = ENGINE, hide_short_help = true)]
    pub batch: Option<u32>,
    /// Poll for completions (io_uring)
    #[arg(long, help_heading = ENGINE, hide_short_help = true)]
    pub iopoll: bool,
    /// Let a kernel thread submit (io_uring)
    #[arg(long, help_heading = ENGINE, hide_short_help = true)]
    pub sqpoll: bool,
    /// Run workers on processors of their own: none, auto, or a list as 0-3 [default: none]
    #[arg(long, value_name = "CPUS", help_heading = ENGINE, hide_short_help = true)]
    pub pin: Option<Pinning>,
    /// Count I/O errors and go on
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub keep_going: bool,
}

impl WorkloadArguments {
    /// The workload that these flags ask for.
    pub fn workload(&self) -> Workload {
        // Every field is named, so that a new flag does not compile until it is handled.
        let Self {
            rw,
            read_percent,
            random_percent,
            block_size,
            write_block_size,
            queue_depth,
            jobs,
            size,
            offset,
            io_size,
            stride,
            offset_increment,
            files,
            file_count,
            file_order,
            phases,
            mix,
            file_size,
            files_per_directory,
            file_sync,
            cache,
            phase_end,
            iterations,
            command,
            setup,
            ready,
            prepare,
            verify_command,
            conclude,
            cleanup,
            warmup,
            timeout,
            settle,
            user,
            layout,
            distribution,
            duration,
            ramp,
            start_delay,
            operations,
            loops,
            rate,
            rate_per,
            arrival,
            think_time,
            buffered,
            sync,
            fsync,
            fdatasync,
            end_fsync,
            payload,
            verify,
            seed,
            engine,
            batch,
            iopoll,
            sqpoll,
            pin,
            keep_going,
            phase,
        } = self;
        Workload {
            name: None,
            target: None,
            rw: *rw,
            read_percent: read_percent.clone(),
            random_percent: *random_percent,
            block_size: block_size.clone(),
            write_block_size: write_block_size.clone(),
            queue_depth: queue_depth.clone(),
            jobs: jobs.clone(),
            size: *size,
            offset: *offset,
            io_size: *io_size,
            stride: *stride,
            offset_increment: *offset_increment,
            files: *files,
            file_count: *file_count,
            file_order: *file_order,
            file_names: None,
            file_size: file_size.clone(),
            phases: phases.clone(),
            mix: mix.clone(),
            files_per_directory: *files_per_directory,
            file_sync: *file_sync,
            cache: *cache,
            phase_end: *phase_end,
            iterations: *iterations,
            command: command.clone(),
            setup: setup.clone(),
            ready: ready.clone(),
            prepare: prepare.clone(),
            verify_command: verify_command.clone(),
            conclude: conclude.clone(),
            cleanup: cleanup.clone(),
            warmup: *warmup,
            parallel: None,
            timeout: *timeout,
            settle: *settle,
            user: user.clone(),
            layout: *layout,
            distribution: distribution.clone(),
            buffered: *buffered,
            sync: *sync,
            fsync: *fsync,
            fdatasync: *fdatasync,
            end_fsync: end_fsync.then_some(true),
            think_time: *think_time,
            rate: *rate,
            rate_per: *rate_per,
            arrival: *arrival,
            start_delay: *start_delay,
            ramp: *ramp,
            duration: *duration,
            operations: *operations,
            loops: *loops,
            payload: payload.clone(),
            verify: verify.then_some(true),
            seed: *seed,
            engine: *engine,
            batch: *batch,
            submit: None,
            drop_cache: None,
            access_hint: None,
            iopoll: iopoll.then_some(true),
            sqpoll: sqpoll.then_some(true),
            pin: pin.clone(),
            keep_going: keep_going.then_some(true),
            ends_phase: None,
            phase: *phase,
        }
    }
}

/// A number that is no more than a number. The range is the plan's to check.
fn whole_number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a whole number, or too large a one: write it in digits"))
}

pub(super) fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write a tag as KEY=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests;
