//! `plimsoll export`: runs of the history for other programs.

use std::{io::Write, path::Path};

use anyhow::Context;
use plimsoll_history::{
    export::{self, Selection},
    location::HistoryLocation,
};
use plimsoll_workload::error_chain::chain;

use super::{history, output_file};
use crate::{cli::export::ExportArguments, exit::Exit, printer::Printer};

/// Writes runs to a file, or to standard output as they are read. What cannot be read is told, and the rest written.
pub fn run(arguments: &ExportArguments, location: &HistoryLocation, printer: Printer) -> anyhow::Result<Exit> {
    let history = history::read(location)?;
    // All names are looked up before anything is written.
    let ids = arguments.runs.iter().map(|run| history.find(run)).collect::<Result<Vec<_>, _>>()?;
    let selection = if ids.is_empty() { Selection::All } else { Selection::These(&ids) };
    let mut unread = Vec::new();
    let write = |out: &mut dyn Write| {
        unread = export::write(&history, selection, arguments.format, out)?;
        Ok(())
    };
    match arguments.output.as_deref().filter(|path| *path != Path::new("-")) {
        None => printer.pour(write)?,
        Some(path) => output_file::write(path, arguments.force, &[history::path(location)?], write)
            .with_context(|| format!("export to {}", path.display()))?,
    }
    let is_whole = unread.is_empty();
    unread.into_iter().for_each(|error| printer.warning(format!("left out: {}", chain(&error))));
    Ok(if is_whole { Exit::Success } else { Exit::History })
}
