//! Arguments of `plimsoll replay`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum, value_parser};
use plimsoll_workload::{certainty::Precision, limit::Limit, settings::Effort};

use super::run::efforts;

/// Arguments of `plimsoll replay`.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("source").required(true),
    after_help = "A trace is CSV: the header t_s,ops, then for each second its number and the operations that completed \
                  in it. Nothing is measured and no time goes by: the rules of `plimsoll run` meet the trace as if it \
                  were a storage."
)]
pub struct ReplayArguments {
    /// Judge this trace
    #[arg(long, value_name = "FILE", group = "source")]
    pub trace: Option<PathBuf>,
    /// Judge every *.csv of this directory, each by itself
    #[arg(long, value_name = "DIRECTORY", group = "source")]
    pub traces: Option<PathBuf>,
    /// Tell how many times as fast trace B is as trace A, when both are measured in turns
    #[arg(
        long, num_args = 2, value_names = ["A", "B"], group = "source",
        conflicts_with_all = ["mode", "cells", "effort", "precision", "limit", "limits", "bookend"]
    )]
    pub compare: Vec<PathBuf>,
    /// Whether the trace is measured alone, or takes turns with other cells
    #[arg(long, value_enum, default_value_t = Mode::Matrix)]
    pub mode: Mode,
    /// Cells of a matrix; the trace is the first one, and the others only take up time (unused with --mode single)
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = value_parser!(u16).range(1..=1000))]
    pub cells: u16,
    /// Decides orders and lengths of slots; the same for every trace
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How long to measure
    #[arg(long, value_parser = efforts(), default_value = Effort::Standard.as_str())]
    pub effort: Effort,
    /// How far a steady rate may be from the truth, instead of the effort's own [2% or 1%]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Precision>,
    /// What the storage is said to deliver: iops=300,burst-iops=3000,bucket=5.4M
    #[arg(long, conflicts_with = "limits")]
    pub limit: Option<Limit>,
    /// The same for each trace, from JSON: {"NAME": {"sustained": 300, "burst": 3000, "bucket": 5.4e6}}
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Visit the trace once more, half an hour after the start, and withdraw a claim that no longer holds
    #[arg(long)]
    pub bookend: bool,
    /// Print a line of JSON for each answer
    #[arg(long)]
    pub json: bool,
}

/// How a trace is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Alone, in one piece
    Single,
    /// In turns with other cells, in short slots
    Matrix,
}
