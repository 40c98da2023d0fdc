//! `plimsoll compare`: runs side by side.

use std::{io, path::Path};

use anyhow::{Context, bail};
use plimsoll_history::{
    history::{History, HistoryError},
    location::HistoryLocation,
};
use plimsoll_record::record::Record;
use plimsoll_report::comparison::{Comparison, Wishes, junit, text};

use super::{history, output_file, record_file};
use crate::{cli::compare::CompareArguments, exit::Exit, printer::Printer};

/// Compares runs. The answer, and whether an expectation was broken.
pub fn run(
    arguments: &CompareArguments,
    location: &HistoryLocation,
    printer: Printer,
) -> anyhow::Result<(String, Exit)> {
    let records = records(arguments, location)?;
    let defaults = Wishes::default();
    let wishes = Wishes {
        reference: arguments.reference.clone(),
        margin: arguments.margin.unwrap_or(defaults.margin),
        despite: arguments.despite.clone(),
        expectations: arguments.fail_if.clone(),
    };
    let comparison = Comparison::of(&records.iter().collect::<Vec<_>>(), &wishes)?;
    if let Some(path) = &arguments.junit {
        let read: Vec<&Path> = arguments.runs.iter().map(Path::new).chain(history::path(location).ok()).collect();
        let text = junit::junit(&comparison);
        // Programs that test write over the results of the time before.
        output_file::write(path, true, &read, |file| Ok(file.write_all(text.as_bytes())?))
            .with_context(|| format!("write {}", path.display()))?;
    }
    if let Some(warning) = comparison.warning() {
        printer.warning(warning);
    }
    let answer = if arguments.json {
        serde_json::to_string_pretty(&comparison)? + "\n"
    } else if arguments.markdown {
        text::markdown(&comparison)
    } else {
        text::text(&comparison, printer.width(), printer.style())
    };
    let exit = if comparison.is_breached() { Exit::Failure } else { Exit::Success };
    Ok((answer, exit))
}

/// The records of all sides, the baseline first.
fn records(arguments: &CompareArguments, location: &HistoryLocation) -> anyhow::Result<Vec<Record>> {
    let mut records = Vec::new();
    if let Some(name) = &arguments.baseline {
        let history = history::read(location)?;
        let run = history.baseline(name)?.ok_or_else(|| HistoryError::NoBaseline(name.clone()))?;
        records.push(history.get(run)?);
        if arguments.runs.is_empty() {
            let latest = history.find("latest")?;
            if latest == run {
                bail!(
                    "the latest run is the baseline {name} itself: measure again, or name the run to compare with it"
                );
            }
            records.push(history.get(latest)?);
        }
    }
    for run in &arguments.runs {
        records.extend(resolve(run, location)?);
    }
    Ok(records)
}

/// The records of a run or a file.
pub(super) fn resolve(run: &str, location: &HistoryLocation) -> anyhow::Result<Vec<Record>> {
    if run == "-" {
        return record_file::read_from(io::stdin().lock(), "/dev/stdin");
    }
    if Path::new(run).is_dir() {
        bail!("{run} is a directory: name a file in it, or a run");
    }
    // A run may have a name that looks like a path. A history that cannot be read has not said that it is none.
    let is_run = || -> Result<bool, HistoryError> {
        let HistoryLocation::File(path) = location else { return Ok(false) };
        match History::read(path).and_then(|history| history.find(run)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_usage() => Ok(false),
            Err(error) => Err(error),
        }
    };
    if is_file(run) && (Path::new(run).exists() || !is_run()?) {
        if !Path::new(run).exists() {
            bail!("there is no file {run}, and no run of the history is called so: `plimsoll history` lists runs");
        }
        return record_file::read(run.as_ref());
    }
    // What is no run is more often the name of a file than of a history that is not there.
    let looks_like_file = run.contains('.') || *location == HistoryLocation::None;
    if looks_like_file && !is_run()? {
        bail!("there is no file {run}, and no run of the history is called so: `plimsoll history` lists runs");
    }
    let history = history::read(location)?;
    Ok(vec![history.get(history.find(run)?)?])
}

/// What looks like a path is one, and so is what is there.
fn is_file(run: &str) -> bool {
    run.contains('/') || run.ends_with(".json") || Path::new(run).is_file()
}
