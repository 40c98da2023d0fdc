//! In what that matters two cells were measured differently.

mod applications;
mod files;
mod told;

use std::str::FromStr;

use plimsoll_record::{
    numbers,
    record::{Cell, Kind, Record},
};
use plimsoll_workload::{
    plan::{BlockPlan, Dealt, Pacing, Work},
    settings::{FileSharing, ReadWrite},
};
use serde::Serialize;

use super::Difference;
use crate::facts;

/// Something about a cell's plan without which its numbers mean something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// Reads or writes, sequential or random, and their shares.
    Pattern,
    /// Bytes of an operation.
    BlockSize,
    /// Operations in flight of a job.
    QueueDepth,
    /// Jobs at once.
    Jobs,
    /// Bytes that operations choose from.
    WorkingSet,
    /// Where these begin.
    Offset,
    /// Whether jobs share files, and how many they have.
    FileSharing,
    /// What is in files before they are written to.
    Layout,
    /// The distance between sequential operations.
    Stride,
    /// Which blocks are chosen how often.
    Distribution,
    /// Through the page cache or around it.
    CacheMode,
    /// When writes are made durable.
    Durability,
    /// Pauses of the jobs.
    ThinkTime,
    /// When operations are issued.
    Rate,
    /// What writes contain, and files that are laid out.
    Payload,
    /// Whether blocks are checked.
    Verification,
    /// How I/O reached the kernel.
    Engine,
    /// Polling, and waiting for several completions at once.
    Polling,
    /// Whether other cells ran at the same time.
    Company,
    /// Whether the storage came to rest before the command was timed.
    Settling,
    /// The command that loaded the machine meanwhile.
    Background,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Pattern,
        Self::BlockSize,
        Self::QueueDepth,
        Self::Jobs,
        Self::WorkingSet,
        Self::Offset,
        Self::FileSharing,
        Self::Layout,
        Self::Stride,
        Self::Distribution,
        Self::CacheMode,
        Self::Durability,
        Self::ThinkTime,
        Self::Rate,
        Self::Payload,
        Self::Verification,
        Self::Engine,
        Self::Polling,
        Self::Company,
        Self::Settling,
        Self::Background,
    ];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::BlockSize => "block-size",
            Self::QueueDepth => "queue-depth",
            Self::Jobs => "jobs",
            Self::WorkingSet => "working-set",
            Self::Offset => "offset",
            Self::FileSharing => "file-sharing",
            Self::Layout => "layout",
            Self::Stride => "stride",
            Self::Distribution => "distribution",
            Self::CacheMode => "cache-mode",
            Self::Durability => "durability",
            Self::ThinkTime => "think-time",
            Self::Rate => "rate",
            Self::Payload => "payload",
            Self::Verification => "verification",
            Self::Engine => "engine",
            Self::Polling => "polling",
            Self::Company => "company",
            Self::Settling => "settling",
            Self::Background => "background",
        }
    }

    /// The word in a sentence.
    pub(super) fn name(self) -> String {
        self.word().replace('-', " ")
    }
}

impl FromStr for Aspect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|aspect| aspect.word() == text).ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("\"{text}\" is nothing that plans differ in: choose one of {words}")
        })
    }
}

/// Working sets that differ by less than this factor are taken for equal: volumes of one size differ by a little.
const WORKING_SET_FACTOR: f64 = 1.05;

/// What differs between the plans of two cells of these records.
pub(crate) fn differences(records: [&Record; 2], [first, second]: [&Cell; 2]) -> Vec<(Aspect, Difference)> {
    let (ours, theirs) = (aspects(records[0], first), aspects(records[1], second));
    let known = ours.into_iter().filter_map(|(aspect, one)| {
        let (_, other) = theirs.iter().find(|(theirs, _)| *theirs == aspect)?;
        Some((aspect, one, other.clone()))
    });
    let differing = known.filter(|(aspect, one, other)| match (aspect, first.blocks(), second.blocks()) {
        (Aspect::WorkingSet, Some(first), Some(second)) => {
            !are_close(first.working_set_bytes(), second.working_set_bytes())
        }
        // Where one side writes nothing, the pattern says so already.
        (Aspect::Layout | Aspect::Durability | Aspect::Payload, Some(first), Some(second)) => {
            one != other && first.writes() == second.writes()
        }
        _ => one != other,
    });
    differing.map(|(aspect, one, other)| (aspect, Difference::new(aspect.name(), one, other))).collect()
}

/// Whether two cells are known to do the same.
pub(super) fn are_same(records: [&Record; 2], cells: [&Cell; 2]) -> bool {
    let is_essential =
        |aspect: &Aspect| matches!(aspect, Aspect::Pattern | Aspect::BlockSize | Aspect::QueueDepth | Aspect::Jobs);
    cells[0].kind == cells[1].kind
        && differences(records, cells).is_empty()
        && !untold(records, cells).iter().any(is_essential)
}

/// What another program did not tell of at least one of two cells, so that nobody knows whether it differs.
pub(super) fn untold(records: [&Record; 2], cells: [&Cell; 2]) -> Vec<Aspect> {
    // Nothing of it means anything for a command, or for files as a whole.
    if cells.iter().all(|cell| cell.kind != Kind::Blocks) {
        return Vec::new();
    }
    let known = [0, 1].map(|side: usize| aspects(records[side], cells[side]));
    let is_known = |aspect: Aspect| known.iter().all(|side| side.iter().any(|(known, _)| *known == aspect));
    // These two are not of blocks.
    let of_others = |aspect: &Aspect| matches!(aspect, Aspect::Settling | Aspect::Background);
    let of_cells = Aspect::ALL.into_iter().filter(|aspect| !of_others(aspect));
    of_cells.filter(|aspect| !is_known(*aspect)).collect()
}

/// What differs for all cells of two records.
pub(crate) fn difference_of_records(first: &Record, second: &Record) -> Option<(Aspect, Difference)> {
    let (ours, theirs) = (&first.asked.background, &second.asked.background);
    let text = |command: &Option<String>| command.clone().unwrap_or_else(|| "none".to_owned());
    let difference = || Difference::new(Aspect::Background.name(), text(ours), text(theirs));
    (ours != theirs).then(|| (Aspect::Background, difference()))
}

fn are_close(one: u64, other: u64) -> bool {
    let (less, more) = (one.min(other) as f64, one.max(other) as f64);
    more <= less * WORKING_SET_FACTOR
}

/// What matters of a cell's plan, as text; of what another program measured as far as it told.
fn aspects(record: &Record, cell: &Cell) -> Vec<(Aspect, String)> {
    match (&cell.plan, &cell.told) {
        (Some(Work::Blocks(plan)), _) => planned(record, cell, plan).into(),
        (Some(Work::Files(plan)), _) => files::aspects(plan).into(),
        (Some(Work::Application(plan)), _) => applications::aspects(record, cell, plan).into(),
        (None, Some(told)) => told::aspects(told),
        (None, None) => Vec::new(),
    }
}

/// How many cells ran at the same time as this one, itself among them.
fn company(record: &Record, cell: &Cell) -> String {
    match facts::company(record, cell).count() {
        0 => "none".to_owned(),
        others => format!("one of {} at the same time", others + 1),
    }
}

fn planned(record: &Record, cell: &Cell, plan: &BlockPlan) -> [(Aspect, String); 19] {
    // Every field is named, so that a new parameter does not compile until somebody decides whether it matters.
    let BlockPlan {
        rw,
        read_percent,
        random_percent,
        read_block_sizes,
        write_block_sizes,
        block_size_bytes_max: _,
        alignment_bytes: _,
        jobs,
        queue_depth,
        offset_bytes,
        size_bytes: _,
        offset_increment_bytes,
        files,
        dealt,
        file_count,
        file_order,
        file_names: _,
        file_size_bytes: _,
        layout,
        gap_bytes,
        distribution,
        buffered,
        sync,
        fsync_every,
        fdatasync_every,
        end_fsync,
        think_time_ns,
        think_time_operations,
        pacing,
        start_delay_ns: _,
        ramp_ns: _,
        slot_ns: _,
        operations: _,
        amount_bytes: _,
        payload,
        verify,
        seed: _,
        engine: _,
        batch,
        submit,
        drops_cache,
        access_hint,
        iopoll,
        sqpoll,
        pin: _,
        keep_going: _,
        ends_phase: _,
    } = plan;
    // What is dealt among disks is the same as it would be elsewhere, as long as it came out even.
    let in_flight = u64::from(*jobs) * u64::from(*queue_depth);
    let is_uneven = dealt.is_some_and(|dealt| !dealt.is_exact(*jobs, *queue_depth));
    let Dealt { jobs, queue_depth, files, .. } =
        dealt.unwrap_or(Dealt { disks: 1, jobs: *jobs, queue_depth: *queue_depth, files: *files });
    let queue_depth = if is_uneven { format!("{in_flight} over all jobs") } else { queue_depth.to_string() };
    let is_set = |is_set: bool, text: String| if is_set { text } else { "none".to_owned() };
    let reads = plan.reads().then(|| read_block_sizes.to_string());
    let writes = plan.writes().then(|| write_block_sizes.to_string());
    let block_size = match (reads, writes) {
        (Some(reads), Some(writes)) if reads != writes => format!("{reads} reads, {writes} writes"),
        (reads, writes) => reads.or(writes).unwrap_or_default(),
    };
    let words = |flags: &[(bool, String)]| {
        let set: Vec<&str> = flags.iter().filter(|(set, _)| *set).map(|(_, word)| word.as_str()).collect();
        is_set(!set.is_empty(), set.join(" "))
    };
    let durability = words(&[
        (sync.as_str() != "none", sync.to_string()),
        (*fsync_every > 0, format!("fsync after {fsync_every}")),
        (*fdatasync_every > 0, format!("fdatasync after {fdatasync_every}")),
        (*end_fsync, "fsync at the end".to_owned()),
    ]);
    let think_time = format!("{} after {think_time_operations}", numbers::duration(*think_time_ns));
    let polling = words(&[
        (*iopoll, "iopoll".to_owned()),
        (*sqpoll, "sqpoll".to_owned()),
        (*batch > 1, format!("batches of {batch}")),
        (submit.is_some(), format!("submits {}", submit.unwrap_or_default())),
    ]);
    let mut cache_mode = cache_mode(*buffered).to_owned();
    if *drops_cache {
        cache_mode += ", cold";
    }
    if let Some(hint) = access_hint {
        cache_mode += &format!(", {hint} expected");
    }
    let access = match plan.name_operation() {
        Some(operation) => format!("{operation} {rw}"),
        None => pattern(*rw, *read_percent, *random_percent),
    };
    let sharing = match files {
        FileSharing::PerJob if jobs > 1 => "per job",
        _ => "shared",
    };
    let apart = offset_increment_bytes.filter(|_| jobs > 1).map(|apart| format!("{} apart", numbers::bytes(apart)));
    let several = (*file_count > 1).then(|| format!("{file_count} files, {file_order}"));
    let sharing = [Some(sharing.to_owned()), apart, several].into_iter().flatten().collect::<Vec<_>>().join(", ");
    [
        (Aspect::Pattern, access),
        (Aspect::BlockSize, block_size),
        (Aspect::QueueDepth, queue_depth),
        (Aspect::Jobs, jobs.to_string()),
        (Aspect::WorkingSet, numbers::bytes(plan.working_set_bytes())),
        (Aspect::Offset, numbers::bytes(*offset_bytes)),
        (Aspect::FileSharing, sharing),
        (Aspect::Layout, is_set(plan.writes(), layout.to_string())),
        (Aspect::Stride, numbers::bytes(*gap_bytes)),
        (Aspect::Distribution, is_set(*random_percent > 0, distribution.to_string())),
        (Aspect::CacheMode, cache_mode),
        (Aspect::Durability, is_set(plan.writes(), durability)),
        (Aspect::ThinkTime, is_set(*think_time_ns > 0, think_time)),
        (Aspect::Rate, rate(pacing, plan.jobs)),
        (Aspect::Payload, payload.to_string()),
        (Aspect::Verification, if *verify { "on" } else { "off" }.to_owned()),
        (Aspect::Engine, cell.engine.to_string()),
        (Aspect::Polling, polling),
        (Aspect::Company, company(record, cell)),
    ]
}

const fn cache_mode(is_buffered: bool) -> &'static str {
    if is_buffered { "buffered" } else { "direct" }
}

fn pattern(rw: ReadWrite, read_percent: u8, random_percent: u8) -> String {
    format!("{rw} {read_percent} % read {random_percent} % random")
}

fn rate(pacing: &Pacing, jobs: u32) -> String {
    let Pacing::Open { arrival, operations_per_second_per_job, bytes_per_second_per_job } = pacing else {
        return "closed loop".to_owned();
    };
    let jobs = f64::from(jobs);
    let operations = operations_per_second_per_job.map(|rate| format!("{} IOPS", numbers::iops(rate * jobs)));
    let bytes = || {
        bytes_per_second_per_job
            .map(|rate| format!("{} {}", numbers::throughput(rate * jobs), numbers::THROUGHPUT_UNIT))
    };
    format!("{} {arrival}", operations.or_else(bytes).unwrap_or_default())
}
