//! Arguments of `plimsoll program`, the commands of presets that need nothing to be installed.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use plimsoll_workload::units::{ByteCount, Span};

/// Arguments of `plimsoll program`.
#[derive(Args, Debug)]
pub struct ProgramArguments {
    /// Which one.
    #[command(subcommand)]
    pub program: Program,
    /// Where content is drawn from
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Which time it is done: what it writes differs from other times
    #[arg(long, global = true, default_value_t = 0)]
    pub iteration: u64,
    /// Write what it did to this new file instead of standard output: a name, a value and a unit a line
    #[arg(long, global = true, value_name = "FILE")]
    pub figures: Option<PathBuf>,
}

/// The programs.
#[derive(Debug, Subcommand)]
pub enum Program {
    /// Make an SQLite database and commit row after row
    SqliteCommit {
        /// The file, which must not be there
        database: PathBuf,
        /// How commits become durable
        #[arg(long, value_enum, default_value = "wal")]
        journal: JournalChoice,
        /// For how long
        #[arg(long, default_value = "10s")]
        time: Span,
    },
    /// Make an SQLite database of rows that are put in at once, and index it
    SqliteLoad {
        /// The file, which must not be there
        database: PathBuf,
        /// How many rows
        #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
        rows: u64,
    },
    /// Write an SQLite database anew
    SqliteVacuum {
        /// The file
        database: PathBuf,
    },
    /// Check that an SQLite database of one of these is whole
    SqliteCheck {
        /// The file
        database: PathBuf,
        /// As many rows as it has to have [default: as many as the last one says]
        #[arg(long)]
        rows: Option<u64>,
    },
    /// Append to and read the partitions of a message broker
    Log {
        /// The directory, which must not have partitions
        directory: PathBuf,
        /// Logs beside each other, each with a producer and a consumer
        #[arg(long, default_value_t = 4)]
        partitions: u32,
        /// Length of a segment
        #[arg(long, default_value = "64MiB")]
        segment: ByteCount,
        /// Length of a batch of messages
        #[arg(long, default_value = "16KiB")]
        batch: ByteCount,
        /// Sync after so many batches [default: at the end of a segment]
        #[arg(long, value_name = "BATCHES")]
        flush_every: Option<u32>,
        /// How far consumers are behind
        #[arg(long, default_value = "16MiB")]
        behind: ByteCount,
        /// Bytes after which it ends
        #[arg(long, default_value = "2GiB")]
        amount: ByteCount,
        /// Time after which it ends
        #[arg(long, default_value = "20s")]
        time: Span,
    },
    /// Take in samples as a metrics server does
    Tsdb {
        /// The directory, which must not have a store
        directory: PathBuf,
        /// Length of a segment of the log that is written ahead
        #[arg(long, default_value = "16MiB")]
        segment: ByteCount,
        /// Bytes after which it ends
        #[arg(long, default_value = "1GiB")]
        amount: ByteCount,
        /// Time after which it ends
        #[arg(long, default_value = "20s")]
        time: Span,
    },
}

/// How commits become durable.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum JournalChoice {
    /// By a log that is written ahead.
    Wal,
    /// By a copy of what is changed, which each commit removes.
    Delete,
}
