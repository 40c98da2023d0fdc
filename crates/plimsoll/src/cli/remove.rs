//! Arguments of `plimsoll remove`.

use clap::Args;

use super::history::Moment;

/// Arguments of `plimsoll remove`.
#[derive(Args, Debug)]
pub struct RemoveArguments {
    /// The runs: beginnings of their ids, or `latest`
    #[arg(value_name = "RUN", required_unless_present = "older_than", conflicts_with = "older_than")]
    pub runs: Vec<String>,
    /// Remove all runs that began longer ago than this (30d, 12h) or before this date (2025-10-08, UTC), save baselines
    #[arg(long, value_name = "WHEN")]
    pub older_than: Option<Moment>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
