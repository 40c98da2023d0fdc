//! `plimsoll export`: runs of the history for other programs.

use std::io::Write;

use anyhow::Context;
use plimsoll_history::{
    export::{self, Selection},
    location::HistoryLocation,
};

use super::{history, output_file};
use crate::cli::export::ExportArguments;

/// Writes runs to a file, or to the answer.
pub fn run(arguments: &ExportArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    let history = history::read(location)?;
    // All names are looked up before anything is written.
    let ids = arguments.runs.iter().map(|run| history.find(run)).collect::<Result<Vec<_>, _>>()?;
    let selection = if ids.is_empty() { Selection::All } else { Selection::These(&ids) };
    match &arguments.output {
        None => Ok(export::write(&history, selection, arguments.format, out)?),
        Some(path) => output_file::write(path, arguments.force, &[history::path(location)?], |file| {
            Ok(export::write(&history, selection, arguments.format, file)?)
        })
        .with_context(|| format!("export to {}", path.display())),
    }
}
