//! What was asked: a workload as pure data in which every parameter may be absent.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    block_sizes::BlockSizes,
    distribution::Distribution,
    file_mix::FileMix,
    file_names::FileNames,
    file_set::{CacheState, FilePhases, FileSync, PhaseEnd},
    file_sizes::FileSizes,
    file_space::FileOrder,
    payload::Payload,
    pinning::Pinning,
    settings::{AccessHint, Arrival, EngineChoice, FileSharing, Layout, RateScope, ReadWrite, SyncMode},
    sweep::Sweep,
    units::{ByteCount, Extent, Percent, Rate, Span, ValueError, serde_as_text},
};

/// A pause after every so many operations of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkTime {
    /// How long to pause.
    pub pause: Span,
    /// After how many operations; all of them have completed when the pause begins.
    pub operations: u32,
}

impl FromStr for ThinkTime {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (pause, operations) = text.split_once('/').unwrap_or((text, "1"));
        let operations = operations.trim().parse().ok().filter(|count| *count > 0).ok_or_else(|| {
            ValueError::new(format!("\"{text}\" is not a think time: write PAUSE or PAUSE/OPERATIONS, as in 10ms/8"))
        })?;
        Ok(Self { pause: pause.parse()?, operations })
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operations == 1 { self.pause.fmt(f) } else { write!(f, "{}/{}", self.pause, self.operations) }
    }
}

serde_as_text! { ThinkTime, "a pause after each operation, as \"10ms\", or after several, as \"10ms/8\""; }

/// Declares [`Workload`] once: the fields, and how one workload fills the gaps of another.
macro_rules! workload {
    ($($(#[$meta:meta])* $field:ident: $kind:ty,)*) => {
        /// A workload as asked. Names and meanings are those of the flags of `plimsoll run`.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct Workload {
            $(
                $(#[$meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$kind>,
            )*
        }

        impl Workload {
            /// This workload, with what it leaves open taken from `defaults`.
            #[must_use]
            pub fn or(self, defaults: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| defaults.$field.clone()),)* }
            }

            /// This workload with those of its parameters that are to stay, by the names of their flags.
            #[must_use]
            pub(crate) fn retaining(mut self, stays: impl Fn(&str) -> bool) -> Self {
                $(if !stays(&stringify!($field).replace('_', "-")) {
                    self.$field = None;
                })*
                self
            }

            /// What is asked for each parameter, as text, under the name of its flag: `("queue-depth", "32")`. Those
            /// that are left open have an empty text.
            pub(crate) fn settings(&self) -> Vec<(String, String)> {
                let text = |value: Option<&dyn fmt::Display>| value.map(ToString::to_string).unwrap_or_default();
                vec![$((
                    stringify!($field).replace('_', "-"),
                    text(self.$field.as_ref().map(|value| value as &dyn fmt::Display)),
                ),)*]
            }
        }
    };
}

workload! {
    /// What to call the cells of this workload.
    name: String,
    /// The target that it is for, when it is not for all of them.
    target: String,
    /// Access pattern: read, write, randread, randwrite, rw or randrw. Default: read.
    rw: ReadWrite,
    /// Share of reads of a mixed pattern. A list sweeps.
    read_percent: Sweep<Percent>,
    /// Share of operations that go to a random offset instead of the next one. Default: 0 or 100, by `rw`.
    random_percent: Percent,
    /// Bytes of an operation. A list sweeps. Default: 4 KiB.
    block_size: Sweep<BlockSizes>,
    /// Bytes of a write, when they differ from those of a read.
    write_block_size: BlockSizes,
    /// Operations each job keeps in flight. A list sweeps. Default: 1.
    queue_depth: Sweep<u32>,
    /// Jobs that run at once. A list sweeps. Default: 1.
    jobs: Sweep<u32>,
    /// The region that operations touch. Default: the whole device or file; in a directory 1 GiB, or 512 MiB
    /// with effort quick, or a quarter of what is free where that is less.
    size: Extent,
    /// Where the region begins. Default: 0.
    offset: Extent,
    /// How much data to transfer in all, over all jobs, ramps excluded; the region stays `size`.
    io_size: ByteCount,
    /// Distance from one sequential operation to the next. Default: the block size.
    stride: ByteCount,
    /// Distance between the regions of jobs that share a file; 0 gives all the same region. Default: jobs have parts of
    /// the region of their own where they would otherwise repeat each other.
    offset_increment: ByteCount,
    /// Whether jobs share a file or have one each. Default: shared.
    files: FileSharing,
    /// Files of each job, or of all where they share, over which the region is spread. Default: 1; 1000 with phases,
    /// or an
    /// engine that creates, stats or deletes files.
    file_count: u32,
    /// In which order operations use several files: turns, turns:N or sequential. Default: turns.
    file_order: FileOrder,
    /// Names of the files in the target, of one job after the other. Such files are made in the directory itself.
    /// `data.{0/199}` stands for data.0 to data.199. Default: names of plimsoll's own, in a directory of its own.
    file_names: FileNames,
    /// Bytes of each file, where it is to be longer than what operations touch of it. With `phases` the sizes of the
    /// files, which may differ. Default: as long as needed; with `phases` 4 KiB.
    file_size: FileSizes,
    /// Work on a set of files, in these phases: create, write, write_read, append, overwrite, read, stat, open, list,
    /// list_long, find, rename, rename_cross, link, symlink, set_xattr, get_xattr, truncate, delete, mkdir, rmdir,
    /// read_append, log or mix.
    phases: FilePhases,
    /// What each job of the phase `mix` repeats, with files drawn at random: steps such as
    /// `delete,write,read_append:16k,read*2`, or alternatives as in `read|append:512`.
    mix: FileMix,
    /// How often the phases are repeated, or the command is timed. Default: by the effort.
    iterations: u32,
    /// Files of each directory of a set. Default: all in one.
    files_per_directory: u32,
    /// How the files of a set are made durable: none, file, data, directory, reverse or phase. Default: none.
    file_sync: FileSync,
    /// What the page cache holds of a set before its files are read: as-is, cold or warm. Default: as-is.
    cache: CacheState,
    /// When a phase of several jobs ends: all or stonewall. Default: all.
    phase_end: PhaseEnd,
    /// Time this shell command.
    command: String,
    /// Before the first iteration on a target, a shell command that is not timed.
    setup: String,
    /// After the setup, a command that is repeated until it succeeds.
    ready: String,
    /// Before each iteration, a command that is not timed.
    prepare: String,
    /// After each iteration, a command that has to succeed for it to count.
    verify_command: String,
    /// At the end of each iteration, a command that is not timed.
    conclude: String,
    /// After the last iteration on a target, and however the run ends, a command that is not timed.
    cleanup: String,
    /// Iterations that are done before those that count. Default: 0.
    warmup: u32,
    /// Time the command on all targets at once, each with processors of its own, which they swap with each iteration.
    /// Default: false; targets take turns.
    parallel: bool,
    /// How long each command may take. Default: as long as it wants.
    timeout: Span,
    /// How long the storage may take to come to rest before each iteration; 0 does not wait. Default: 60s.
    settle: Span,
    /// Whose rights commands have, when plimsoll has those of root. Default: those of root.
    user: String,
    /// What is in new files before the first slot: written, allocated or empty. Default: written. Workloads that want
    /// different layouts have different files, and are refused where they name the same. Files that are created are
    /// always empty, and so are those that are only statted or deleted when there is no `size`.
    layout: Layout,
    /// Which blocks random operations choose. Default: uniform; with `verify` exact-once.
    distribution: Distribution,
    /// Go through the page cache instead of around it. Default: false; with `phases` true.
    buffered: bool,
    /// Durability of each write. Default: none.
    sync: SyncMode,
    /// Call `fsync` after every so many writes of a job.
    fsync: u64,
    /// Call `fdatasync` after every so many writes of a job.
    fdatasync: u64,
    /// Call `fsync` at the end of each slot that wrote, as part of the measured time. Default: false.
    end_fsync: bool,
    /// Pause after every so many operations of a job.
    think_time: ThinkTime,
    /// Operations or bytes per second to issue, whatever the storage answers (an open loop).
    rate: Rate,
    /// Whether `rate` is for all jobs together or for each. Default: total.
    rate_per: RateScope,
    /// When the operations of an open loop arrive. Default: fixed.
    arrival: Arrival,
    /// Wait this long before the first operation of a cell.
    start_delay: Span,
    /// Load before measurement begins, in each slot. Default: 2 s, or 0.2 s with effort quick; with `duration` or
    /// passes a quarter of the slot, at most 1 s; none where an amount ends the cell.
    ramp: Span,
    /// Measured time of the cell, ramps excluded. With `phases` the longest time of each phase.
    duration: Span,
    /// Stop after this many operations, over all jobs, ramps excluded.
    operations: u64,
    /// Stop after this many passes over the region.
    loops: u64,
    /// What writes contain, and files that are made for the workload. Default: random. Workloads of different payloads
    /// have different files, and are refused where one file is the target; one that has a name has that of the first.
    payload: Payload,
    /// Give every written block a header and a checksum, read all back, and check reads. Default: false.
    verify: bool,
    /// Where all randomness comes from. Default: drawn for the run, and recorded.
    seed: u64,
    /// How I/O should reach the kernel. Default: auto.
    engine: EngineChoice,
    /// Operations to hand to the kernel and to wait for at once. Default: whatever is ready.
    batch: u32,
    /// Most operations to hand to the kernel by one call. Default: all that are to be issued at that moment.
    submit: u32,
    /// Take the files out of the page cache before each slot and each pass over the region, as far as they are not
    /// dirty. Default: false.
    drop_cache: bool,
    /// The order of reads that the kernel is told to expect: random or sequential. Default: nothing is told.
    access_hint: AccessHint,
    /// Poll for completions instead of waiting for interrupts (`io_uring` only). Default: false.
    iopoll: bool,
    /// Let a kernel thread submit (`io_uring` only). Default: false.
    sqpoll: bool,
    /// Which processors workers run on. Default: none.
    pin: Pinning,
    /// Count I/O errors and go on instead of ending the cell. Default: false.
    keep_going: bool,
    /// End all cells of the phase when this one ends. Default: false.
    ends_phase: bool,
    /// Workloads of the same phase run at the same time, for as long as each of them says, and phases one after
    /// another. Default: none; cells take turns.
    phase: u32,
}

impl Workload {
    /// Whether an amount of operations or data ends the cell.
    pub const fn has_amount(&self) -> bool {
        self.operations.is_some() || self.io_size.is_some() || self.loops.is_some()
    }

    /// The parameters that are asked for, by the names of their flags.
    pub(crate) fn asked(&self) -> impl Iterator<Item = String> {
        self.settings().into_iter().filter(|(_, value)| !value.is_empty()).map(|(flag, _)| flag)
    }

    /// Whether the workload says when its cell ends, which is otherwise decided by what was measured.
    pub const fn has_own_end(&self) -> bool {
        self.duration.is_some() || self.has_amount()
    }

    /// The workloads of the sweep that the lists of this one span: the product of block sizes, queue depths, jobs and
    /// read percentages, each with a single value. Names get the values that vary.
    pub fn expand(&self) -> Vec<Self> {
        let mut cells = vec![self.clone()];
        expand_field(&mut cells, |w| &mut w.block_size, ToString::to_string);
        expand_field(&mut cells, |w| &mut w.read_percent, |percent| format!("{percent} read"));
        expand_field(&mut cells, |w| &mut w.queue_depth, |depth| format!("QD{depth}"));
        expand_field(&mut cells, |w| &mut w.jobs, |jobs| format!("{jobs} jobs"));
        cells
    }
}

/// Replaces each workload by one for each value of a field, where it has several.
fn expand_field<T: Clone>(
    cells: &mut Vec<Workload>,
    field: impl Fn(&mut Workload) -> &mut Option<Sweep<T>>,
    label: impl Fn(&T) -> String,
) {
    *cells = std::mem::take(cells)
        .into_iter()
        .flat_map(|mut cell| {
            let values = field(&mut cell).as_ref().map_or_else(Vec::new, |sweep| sweep.values().to_vec());
            if values.len() < 2 {
                return vec![cell];
            }
            let base = cell.name.clone();
            values
                .into_iter()
                .map(|value| {
                    let mut one = cell.clone();
                    if let Some(base) = &base {
                        one.name = Some(format!("{base} {}", label(&value)));
                    }
                    *field(&mut one) = Some(Sweep::one(value));
                    one
                })
                .collect()
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_expand_to_their_product() {
        let sweep = Workload {
            block_size: Some("4k,64k".parse().unwrap()),
            queue_depth: Some("1,2,4".parse().unwrap()),
            ..Workload::default()
        };
        let cells = sweep.expand();
        assert_eq!(cells.len(), 6);
        assert!(cells.iter().all(|cell| cell.queue_depth.as_ref().unwrap().values().len() == 1));
        for (index, cell) in cells.iter().enumerate() {
            assert!(!cells[..index].contains(cell), "cell {index} stands twice");
        }
    }
}
