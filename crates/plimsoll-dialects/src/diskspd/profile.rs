//! What diskspd calls a profile: everything that a command line or an XML file says. The names are those of its flags,
//! the defaults are diskspd's.

/// The default of `-b`.
pub const BLOCK_SIZE: u32 = 64 << 10;

/// Everything that is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// `-P`: a dot after so many operations; 0 is none.
    pub progress: u32,
    /// `-R`: how results are told.
    pub format: ResultFormat,
    /// `-v`.
    pub is_verbose: bool,
    /// `-vs`.
    pub has_verbose_statistics: bool,
    /// `-:`, a mask.
    pub experiments: u32,
    /// What is done, one after the other.
    pub spans: Vec<TimeSpan>,
}

/// How results are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Xml,
}

/// Targets that are loaded at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    /// `-x`.
    pub uses_completion_routines: bool,
    /// `-L`.
    pub measures_latency: bool,
    /// `-D`.
    pub measures_deviation: bool,
    /// `-n`.
    pub is_affinity_off: bool,
    /// `-d`.
    pub duration_s: u32,
    /// `-W`.
    pub warmup_s: u32,
    /// `-C`.
    pub cooldown_s: u32,
    /// `-F`: threads in all; 0 when each target has its own.
    pub threads: u32,
    /// `-O`: operations in flight of each of those threads; 0 when each target has its own number.
    pub depth: u32,
    /// `-D`: length of a bucket.
    pub bucket_ms: u32,
    /// `-z`.
    pub seed: u32,
    /// `-Zr`.
    pub writes_random_data: bool,
    /// `-a`.
    pub affinity: Vec<Processor>,
    /// The targets.
    pub targets: Vec<Target>,
}

impl Default for TimeSpan {
    fn default() -> Self {
        Self {
            uses_completion_routines: false,
            measures_latency: false,
            measures_deviation: false,
            is_affinity_off: false,
            duration_s: 10,
            warmup_s: 5,
            cooldown_s: 0,
            threads: 0,
            depth: 0,
            bucket_ms: 1000,
            seed: 0,
            writes_random_data: false,
            affinity: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// A processor that threads are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Its group.
    pub group: u16,
    /// Its number in the group.
    pub number: u8,
}

/// What is loaded, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A file or device; `*1` stands for the first one of the command line.
    pub path: String,
    /// `-b`.
    pub block_size: u32,
    /// `-B`: where operations begin.
    pub base_offset: u64,
    /// `-f`, `-B`: behind the last byte that operations touch; 0 is the end of the target.
    pub max_offset: u64,
    /// `-fs`.
    pub hints_sequential: bool,
    /// `-fr`.
    pub hints_random: bool,
    /// `-ft`.
    pub hints_temporary: bool,
    /// `-l`.
    pub uses_large_pages: bool,
    /// `-S`: caches.
    pub cache: Cache,
    /// `-Sw`.
    pub writes_through: bool,
    /// `-Sm`.
    pub is_mapped: bool,
    /// `-N`.
    pub flush: Option<Flush>,
    /// `-Z`.
    pub content: Content,
    /// `-p`.
    pub is_parallel: bool,
    /// `-i`.
    pub burst: Option<u32>,
    /// `-j`.
    pub think_time_ms: Option<u32>,
    /// `-c`: a file of that size is made.
    pub file_size: Option<u64>,
    /// Where operations go.
    pub access: Access,
    /// `-T`.
    pub thread_stride: u64,
    /// `-o`.
    pub depth: u32,
    /// `-w`.
    pub write_percent: u8,
    /// `-g`.
    pub rate: Option<Rate>,
    /// `-t`.
    pub threads: u32,
    /// `-I`.
    pub priority: Priority,
    /// Its share of what `-O` keeps in flight; XML alone says it.
    pub weight: u32,
    /// The threads of `-F` that use it; all when there are none. XML alone says it.
    pub thread_targets: Vec<ThreadTarget>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            path: String::new(),
            block_size: BLOCK_SIZE,
            base_offset: 0,
            max_offset: 0,
            hints_sequential: false,
            hints_random: false,
            hints_temporary: false,
            uses_large_pages: false,
            cache: Cache::default(),
            writes_through: false,
            is_mapped: false,
            flush: None,
            content: Content::default(),
            is_parallel: false,
            burst: None,
            think_time_ms: None,
            file_size: None,
            access: Access::default(),
            thread_stride: 0,
            depth: 2,
            write_percent: 0,
            rate: None,
            threads: 1,
            priority: Priority::default(),
            weight: 1,
            thread_targets: Vec::new(),
        }
    }
}

impl Target {
    /// Bytes that offsets are multiples of, or that lie between two of a sequence.
    pub fn alignment(&self) -> u64 {
        let given = match &self.access {
            Access::Sequential { stride, .. } => *stride,
            Access::Random { alignment, .. } => *alignment,
        };
        given.unwrap_or(u64::from(self.block_size))
    }

    /// How many of a hundred operations go to a random offset.
    pub fn random_percent(&self) -> u8 {
        match &self.access {
            Access::Sequential { .. } => 0,
            Access::Random { percent, .. } => *percent,
        }
    }

    /// Whether the path stands for one of the command line.
    pub fn is_template(&self) -> bool {
        self.path.starts_with('*')
    }
}

/// Where operations go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// `-s`: one after the other.
    Sequential {
        /// From the beginning of one to that of the next; a block when it is not given.
        stride: Option<u64>,
        /// `-si`: all threads take turns in one sequence.
        is_interlocked: bool,
    },
    /// `-r`: anywhere.
    Random {
        /// What offsets are multiples of; a block when it is not given.
        alignment: Option<u64>,
        /// `-rs`: how many of a hundred; the others follow one another.
        percent: u8,
        /// `-rd`.
        distribution: Option<Distribution>,
    },
}

impl Default for Access {
    fn default() -> Self {
        Self::Sequential { stride: None, is_interlocked: false }
    }
}

/// Ranges of a target that get shares of the operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// What sizes are in.
    pub unit: RangeUnit,
    /// From the beginning of the target.
    pub ranges: Vec<Range>,
}

impl Distribution {
    /// Ranges as they are given: operations that they leave go to the rest of the target.
    pub fn of(unit: RangeUnit, mut ranges: Vec<Range>) -> Self {
        let operations: u64 = ranges.iter().map(|range| u64::from(range.io_percent)).sum();
        let size = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.size));
        let rest = match unit {
            RangeUnit::Percent => 100_u64.checked_sub(size).filter(|rest| *rest > 0),
            RangeUnit::Bytes => Some(0),
        };
        if let (Some(io_percent @ 1..), Some(size)) = (100_u64.checked_sub(operations), rest) {
            ranges.push(Range { io_percent: io_percent as u32, size });
        }
        Self { unit, ranges }
    }
}

/// What sizes of ranges are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeUnit {
    /// Hundredths of the target.
    Percent,
    /// Bytes.
    Bytes,
}

/// A range of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// How many of a hundred operations go there; 0 is a hole.
    pub io_percent: u32,
    /// Its size; 0 bytes are the rest of the target.
    pub size: u64,
}

/// Which caches are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cache {
    /// `-Sb`: all.
    #[default]
    All,
    /// `-Sr`: not that of this machine.
    NotLocal,
    /// `-Su`: none of the system.
    None,
}

/// How mapped memory is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// `-Nv`: pages to the file.
    View,
    /// `-Nn`: caches to persistent memory.
    Memory,
    /// `-Ni`: the same, without waiting.
    MemoryNoDrain,
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// The bytes 0 to 255, repeated.
    #[default]
    Counting,
    /// `-Z`.
    Zero,
    /// `-Z<size>[,<file>]`: parts of a buffer.
    Buffer {
        /// Its size.
        size: u64,
        /// The file that it is filled from; random bytes without one.
        file: Option<String>,
    },
}

/// What a thread does at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Bytes each millisecond.
    BytesPerMillisecond(u32),
    /// Operations each second.
    Iops(u32),
}

/// How urgent operations are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// `-I1`.
    VeryLow,
    /// `-I2`.
    Low,
    /// `-I3`.
    #[default]
    Normal,
}

/// A thread that uses a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadTarget {
    /// Its number.
    pub thread: u32,
    /// The share of the target in what the thread does; 0 is that of the target.
    pub weight: u32,
}
