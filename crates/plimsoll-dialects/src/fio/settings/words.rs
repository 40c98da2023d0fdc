//! The choices that settings have.

use plimsoll_workload::settings::AccessHint;

use super::Zones;

/// How I/O reaches the kernel, as fio names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Queued, Linux native.
    Libaio,
    /// Queued, by rings.
    IoUring,
    /// `pread` and `pwrite`; fio's default.
    #[default]
    Psync,
    /// `lseek`, `read` and `write`.
    Sync,
    /// `readv` and `writev` of neighbours.
    Vsync,
    /// `preadv` and `pwritev`.
    Pvsync,
    /// `preadv2` and `pwritev2`.
    Pvsync2,
    /// A mapped file.
    Mmap,
    /// The asynchronous I/O of POSIX.
    Posixaio,
    /// No I/O at all.
    Null,
    /// Creates files.
    FileCreate,
    /// Asks for the attributes of files.
    FileStat,
    /// Removes files.
    FileDelete,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Libaio,
        Self::IoUring,
        Self::Psync,
        Self::Sync,
        Self::Vsync,
        Self::Pvsync,
        Self::Pvsync2,
        Self::Mmap,
        Self::Posixaio,
        Self::Null,
        Self::FileCreate,
        Self::FileStat,
        Self::FileDelete,
    ];

    /// Whether more than one operation can be in flight.
    pub const fn is_queued(self) -> bool {
        matches!(self, Self::Libaio | Self::IoUring | Self::Posixaio)
    }

    /// Whether it works on the names of files instead of their content.
    pub const fn is_of_names(self) -> bool {
        matches!(self, Self::FileCreate | Self::FileStat | Self::FileDelete)
    }

    /// The name that fio has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Libaio => "libaio",
            Self::IoUring => "io_uring",
            Self::Psync => "psync",
            Self::Sync => "sync",
            Self::Vsync => "vsync",
            Self::Pvsync => "pvsync",
            Self::Pvsync2 => "pvsync2",
            Self::Mmap => "mmap",
            Self::Posixaio => "posixaio",
            Self::Null => "null",
            Self::FileCreate => "filecreate",
            Self::FileStat => "filestat",
            Self::FileDelete => "filedelete",
        }
    }
}

/// What is done, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Some operations read.
    pub reads: bool,
    /// Some operations write.
    pub writes: bool,
    /// At places drawn at random, instead of one after the other.
    pub is_random: bool,
}

impl Default for Direction {
    fn default() -> Self {
        Self { reads: true, writes: false, is_random: false }
    }
}

/// The number after the colon of `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is none.
    None,
    /// Bytes that a sequential job adds to its offset after each operation; negative goes back.
    Skip(i64),
    /// Operations of a random job before it draws a new place.
    Operations(u32),
}

/// What a random job does between new places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequencer {
    /// Goes on.
    Sequential,
    /// Stays where it is.
    Identical,
}

/// How places are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// Zipf's law.
    Zipf {
        /// The exponent.
        theta: f64,
        /// Where the most used place is, from 0 to 1; at random without it.
        center: Option<f64>,
    },
    /// Pareto's law.
    Pareto {
        /// The power.
        h: f64,
        /// Where the most used place is.
        center: Option<f64>,
    },
    /// Normal.
    Normal {
        /// The standard deviation in percent.
        deviation: f64,
        /// Where the mean is.
        center: Option<f64>,
    },
    /// By zones of the file.
    Zoned(Zones),
}

/// What draws random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Tausworthe, 32 or 64 bits as needed.
    Tausworthe,
    /// A shift register that visits all blocks without a map.
    Lfsr,
    /// Tausworthe, 64 bits.
    Tausworthe64,
}

/// Which file is next.
#[derive(Clone, Debug, PartialEq)]
pub enum FileService {
    /// In turn, after so many operations.
    RoundRobin {
        /// Operations on a file before the next.
        operations: u32,
    },
    /// At random, after so many operations.
    Random {
        /// Operations on a file before the next.
        operations: u32,
    },
    /// One after the other, each until it is done.
    Sequential,
    /// At random, but not all alike.
    Drawn(Distribution),
}

/// How the space of a file is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preallocation {
    /// Not at all.
    None,
    /// As the system does it best.
    Native,
    /// By `posix_fallocate`.
    Posix,
    /// Without changing the size.
    Keep,
    /// By setting the size.
    Truncate,
}

/// What writes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Nothing.
    None,
    /// Data and metadata (`O_SYNC`).
    Full,
    /// Data (`O_DSYNC`).
    Data,
}

/// How operations arrive under a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At equal distances.
    Linear,
    /// As a Poisson process.
    Poisson,
}

/// What `thinktime_blocks` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkTimeCounts {
    /// Operations that completed.
    Completed,
    /// Operations that were issued.
    Issued,
}

/// Whom the end of a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The jobs of its group.
    Group,
    /// All that run until the next stonewall.
    Stonewall,
    /// All.
    All,
}

/// Errors that do not end a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContinueOn {
    /// Of reads.
    pub read: bool,
    /// Of writes.
    pub write: bool,
    /// Of verification.
    pub verify: bool,
}

/// Errors that are not counted, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredErrors {
    /// Of reads.
    pub read: Vec<i32>,
    /// Of writes.
    pub write: Vec<i32>,
    /// Of verification.
    pub verify: Vec<i32>,
}

/// When a job is steady enough to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// What is watched.
    pub quantity: SteadyQuantity,
    /// The slope instead of the greatest deviation from the mean.
    pub is_slope: bool,
    /// Operations or bytes per second, nanoseconds, or percent of the mean.
    pub limit: f64,
    /// Whether the limit is in percent.
    pub is_percent: bool,
}

/// What a steady state is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyQuantity {
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Bandwidth,
    /// Mean latency.
    Latency,
}

/// How clones share processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorPolicy {
    /// Each may use all.
    Shared,
    /// Each has one.
    Split,
}

/// How blocks are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the checksums")]
pub enum Checksum {
    Md5,
    Crc64,
    Crc32c,
    Crc32,
    Crc16,
    Crc7,
    Xxhash,
    Sha1,
    Sha256,
    Sha512,
    Sha3 {
        bits: u16,
    },
    /// A header with offset, time and number, without a checksum of the content.
    Header,
    /// The content is the pattern, without a header.
    Pattern,
    /// A header, then the pattern.
    PatternWithHeader,
    /// Reads, but checks nothing.
    Null,
}

/// The content of `verify_pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPattern {
    /// The bytes, with zeros where an offset belongs.
    pub bytes: Vec<u8>,
    /// Where `%o` puts the offset of the block, eight bytes each.
    pub offsets: Vec<usize>,
}

/// Which directions a report has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnifiedReporting {
    /// Each by itself.
    None,
    /// All together.
    Mixed,
    /// Each, and all together.
    Both,
}

/// What an entry of a log says about its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogValue {
    /// The mean.
    Average,
    /// The largest.
    Maximum,
    /// Both.
    Both,
}

/// The name of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogName {
    /// As the job.
    OfJob,
    /// Beginning so.
    Given(String),
}

/// The call that the engine filestat measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// `stat`.
    #[default]
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx`.
    Statx,
}

/// What the kernel is told about the order of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Nothing.
    None,
    /// That of `rw`.
    OfPattern,
    /// That, whatever `rw` is.
    Given(AccessHint),
    /// That nothing is read again, which is not told here.
    NoReuse,
}
