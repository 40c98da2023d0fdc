//! `plimsoll remove`: takes runs out of the history.

use std::io::Write;

use plimsoll_history::{history::Removed, location::HistoryLocation};
use serde_json::json;

use super::history;
use crate::cli::remove::RemoveArguments;

/// Removes the runs that were named, or all old ones, and says which.
pub fn run(arguments: &RemoveArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut history = history::open(location)?;
    let removed = if let Some(moment) = arguments.older_than {
        history.remove_before(moment.timestamp(history::now()?)?)?
    } else {
        let mut runs =
            arguments.runs.iter().map(|run| history.find_unmistakable(run)).collect::<Result<Vec<_>, _>>()?;
        runs.sort();
        runs.dedup();
        history.remove(&runs)?;
        Removed { runs, kept: Vec::new() }
    };
    if arguments.json {
        let answer = json!({ "removed": removed.runs, "kept": removed.kept });
        writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
        return Ok(());
    }
    for run in &removed.runs {
        writeln!(out, "removed {run}")?;
    }
    for baseline in &removed.kept {
        writeln!(out, "kept {}, which is baseline \"{}\"", baseline.run, baseline.name)?;
    }
    if removed.runs.is_empty() && removed.kept.is_empty() {
        writeln!(out, "no run is that old")?;
    }
    Ok(())
}
