//! `plimsoll baseline`: names for runs that later ones are compared with.

use std::io::Write;

use plimsoll_history::location::HistoryLocation;

use super::history;
use crate::cli::baseline::{BaselineAction, BaselineArguments};

/// Sets, unsets or lists baselines.
pub fn run(arguments: &BaselineArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    match &arguments.action {
        BaselineAction::Set { name, run } => {
            let mut history = history::open(location)?;
            let run = history.find(run)?;
            match history.set_baseline(name, run)? {
                Some(before) if before != run => writeln!(out, "baseline \"{name}\" is run {run}, it was {before}")?,
                _ => writeln!(out, "baseline \"{name}\" is run {run}")?,
            }
        }
        BaselineAction::Unset { name } => {
            let run = history::open(location)?.unset_baseline(name)?;
            writeln!(out, "run {run} is no longer baseline \"{name}\"")?;
        }
        BaselineAction::List { json } => {
            let baselines = history::read(location)?.baselines()?;
            if *json {
                writeln!(out, "{}", serde_json::to_string_pretty(&baselines)?)?;
            } else if baselines.is_empty() {
                writeln!(out, "no baselines: \"plimsoll baseline set NAME RUN\" makes one")?;
            }
            if !json {
                let width = baselines.iter().map(|baseline| baseline.name.len()).max().unwrap_or(0);
                for baseline in &baselines {
                    writeln!(out, "{:width$}  {}", baseline.name, baseline.run)?;
                }
            }
        }
    }
    Ok(())
}
