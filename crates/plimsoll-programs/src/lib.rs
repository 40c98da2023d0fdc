//! Programs that plimsoll brings along to be timed as applications, where nothing is to be installed: an SQLite
//! database, the log of a message broker, the store of a metrics server.
//!
//! Each does its work in files that it has made, refuses those of others, and tells figures. That it is timed, and
//! what it waits for, is the business of whoever starts it.

#![forbid(unsafe_code)]

pub mod commit_log;
mod files;
pub mod lucene;
mod pages;
pub mod sqlite;
pub mod tsdb;

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use plimsoll_io::clock::{Clock as _, MonotonicClock};
use plimsoll_measure::latency::{LatencyHistogram, Percentile};
use plimsoll_workload::units::{ByteCount, Span};
use thiserror::Error;

/// Why a program could not do its work.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The system refused something.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    File {
        /// Of which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite refused something.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// Of which database.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// What was written is not what is read.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// In which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There are no threads for it.
    #[error("start threads: {0}: ask for fewer partitions")]
    Threads(io::Error),
    /// What is asked for cannot be.
    #[error("{0}")]
    Setting(&'static str),
}

/// What helps against some refusals.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AlreadyExists => ": remove what an earlier time left, or name another place",
        io::ErrorKind::NotFound => ": make the directory, or check the spelling",
        _ => "",
    }
}

impl ProgramError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

/// Something that a program tells of what it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// How much.
    pub value: f64,
    /// In what.
    pub unit: &'static str,
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.name, self.value, self.unit)
    }
}

impl Figure {
    fn rate(name: &'static str, count: u64, seconds: f64) -> Self {
        Self { name, value: count as f64 / seconds, unit: "/s" }
    }

    fn bandwidth(name: &'static str, bytes: u64, seconds: f64) -> Self {
        Self { name, value: bytes as f64 / 1e6 / seconds, unit: "MB/s" }
    }

    /// A high percentile, where there were enough operations for one.
    fn p99(name: &'static str, latencies: &LatencyHistogram) -> Option<Self> {
        match latencies.percentile(0.99) {
            Percentile::Supported(ns) => Some(Self { name, value: ns as f64 / 1e6, unit: "ms" }),
            Percentile::Unsupported { .. } => None,
        }
    }
}

/// How much a program does: what is reached first ends it.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Bytes that are written by the program, whatever its files make of them.
    pub bytes: ByteCount,
    /// Time after which nothing new is begun.
    pub time: Span,
}

/// Time since something began.
struct Stretch {
    began_ns: u64,
}

impl Stretch {
    fn begin() -> Self {
        Self { began_ns: MonotonicClock.now_ns() }
    }

    fn ns(&self) -> u64 {
        MonotonicClock.now_ns() - self.began_ns
    }

    fn seconds(&self) -> f64 {
        self.ns().max(1) as f64 / 1e9
    }

    fn is_past(&self, time: Span) -> bool {
        self.ns() >= time.ns
    }
}

/// Does something and counts how long it took.
fn timed<T>(latencies: &mut LatencyHistogram, action: impl FnOnce() -> T) -> T {
    let stretch = Stretch::begin();
    let outcome = action();
    latencies.record_many(stretch.ns(), 1);
    outcome
}
