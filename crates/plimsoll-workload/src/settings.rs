//! The small closed vocabularies of a workload: each a word on the command line, in a plan and in a record.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares an enum of words with one spelling everywhere: `FromStr`, `Display` and serde agree.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident ($what:literal) {
        $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every word, in the order help shows them.
            pub const WORDS: &'static [&'static str] = &[$($word,)*];

            /// The word for this value.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::units::ValueError;

            fn from_str(text: &str) -> Result<Self, crate::units::ValueError> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(crate::units::ValueError::new(format!(
                        "\"{text}\" is not {}: choose one of {}", $what, Self::WORDS.join(", ")
                    ))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Access pattern and direction together, in the field's own six words.
    ReadWrite("an access pattern") {
        /// Sequential reads.
        Read = "read",
        /// Sequential writes.
        Write = "write",
        /// Random reads.
        RandRead = "randread",
        /// Random writes.
        RandWrite = "randwrite",
        /// Sequential reads and writes mixed.
        Rw = "rw",
        /// Random reads and writes mixed.
        RandRw = "randrw",
    }
}

impl ReadWrite {
    /// Whether offsets are random.
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// The pattern of so many reads in a hundred, random or not.
    pub const fn of(read_percent: u8, is_random: bool) -> Self {
        match (read_percent, is_random) {
            (100.., true) => Self::RandRead,
            (100.., false) => Self::Read,
            (0, true) => Self::RandWrite,
            (0, false) => Self::Write,
            (_, true) => Self::RandRw,
            (_, false) => Self::Rw,
        }
    }

    /// The share of reads when the workload does not say.
    pub const fn default_read_percent(self) -> u8 {
        match self {
            Self::Read | Self::RandRead => 100,
            Self::Write | Self::RandWrite => 0,
            Self::Rw | Self::RandRw => 50,
        }
    }

    /// Whether reads and writes are mixed, so that `read_percent` may be given.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::Rw | Self::RandRw)
    }
}

words! {
    /// Whether the jobs of a cell share one file or have one each. Devices are always shared.
    FileSharing("a way to share files") {
        /// One file for all jobs; `size` is its size.
        Shared = "shared",
        /// A file for each job; `size` is the size of each.
        PerJob = "per-job",
    }
}

words! {
    /// What is in the files that a run makes, before its first slot. What holds most comes first.
    #[derive(PartialOrd, Ord)]
    Layout("a layout") {
        /// All of their bytes, written: reads find data, and writes find blocks that storage has given out.
        Written = "written",
        /// Room for them, where the file system can promise it: the first write of a block may take longer.
        Allocated = "allocated",
        /// Nothing: they grow, or have holes.
        Empty = "empty",
    }
}

words! {
    /// How writes are made durable as they are issued.
    SyncMode("a sync mode") {
        /// Not at all: the device may keep them in its cache.
        None = "none",
        /// `O_DSYNC`: data is durable when the write completes.
        DataSync = "dsync",
        /// `O_SYNC`: data and metadata are durable when the write completes.
        Sync = "sync",
    }
}

words! {
    /// When the operations of an open loop arrive.
    Arrival("an arrival process") {
        /// At equal distances.
        Fixed = "fixed",
        /// With exponentially distributed gaps.
        Poisson = "poisson",
    }
}

words! {
    /// What a rate counts for.
    RateScope("a rate scope") {
        /// All jobs together.
        Total = "total",
        /// Each job.
        Job = "job",
    }
}

words! {
    /// The order of reads that the kernel is told to expect (`posix_fadvise`).
    AccessHint("an access hint") {
        /// Any: it does not read ahead.
        Random = "random",
        /// One after the other: it reads further ahead.
        Sequential = "sequential",
    }
}

words! {
    /// How I/O should reach the kernel.
    EngineChoice("an engine") {
        /// The first that works of `io_uring`, `libaio`, `psync`.
        Auto = "auto",
        /// `io_uring` with registered files and buffers.
        IoUring = "io_uring",
        /// Linux native AIO.
        Libaio = "libaio",
        /// One thread for each operation in flight, calling `preadv2` and `pwritev2`.
        Psync = "psync",
        /// No storage at all: operations complete at once. For testing plimsoll itself.
        Memory = "memory",
        /// Each operation creates a file, by `open` and `close`.
        FileCreate = "filecreate",
        /// Each operation asks for the attributes of a file, by `stat`.
        FileStat = "filestat",
        /// Each operation removes a file, by `unlink`.
        FileDelete = "filedelete",
    }
}

/// What an operation does with a file as a whole, where it transfers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameOperation {
    /// Makes it.
    Create,
    /// Asks for its attributes.
    Stat,
    /// Removes it.
    Delete,
}

impl NameOperation {
    /// What it is called where reads are called reads.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Delete => "delete",
        }
    }

    /// Whether each file can be operated on only once.
    pub const fn happens_once(self) -> bool {
        matches!(self, Self::Create | Self::Delete)
    }
}

impl fmt::Display for NameOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl EngineChoice {
    /// What operations do with files, where they are about those and not about what is in them.
    pub const fn name_operation(self) -> Option<NameOperation> {
        match self {
            Self::FileCreate => Some(NameOperation::Create),
            Self::FileStat => Some(NameOperation::Stat),
            Self::FileDelete => Some(NameOperation::Delete),
            _ => None,
        }
    }

    /// Whether an operation blocks the thread that issues it.
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Psync) || self.name_operation().is_some()
    }
}

words! {
    /// How long to measure when nothing else is said.
    Effort("an effort") {
        /// An answer within a minute, never called steady.
        Quick = "quick",
        /// The default.
        Standard = "standard",
        /// For decisions that cost money.
        Thorough = "thorough",
    }
}
