//! `plimsoll export`: runs of the history for other programs.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::Path,
};

use anyhow::{Context, bail};
use plimsoll_history::{
    export::{self, Selection},
    history::History,
    location::HistoryLocation,
};

use super::history;
use crate::cli::export::ExportArguments;

/// Writes runs to a file, or to the answer.
pub fn run(arguments: &ExportArguments, location: &HistoryLocation, out: &mut dyn Write) -> anyhow::Result<()> {
    let history = history::read(location)?;
    // All names are looked up before anything is written.
    let ids = arguments.runs.iter().map(|run| history.find(run)).collect::<Result<Vec<_>, _>>()?;
    let selection = if ids.is_empty() { Selection::All } else { Selection::These(&ids) };
    match &arguments.output {
        None => Ok(export::write(&history, selection, arguments.format, out)?),
        Some(path) => to_file(arguments, &history, selection, path),
    }
}

fn to_file(arguments: &ExportArguments, history: &History, selection: Selection, path: &Path) -> anyhow::Result<()> {
    let file = create(path, arguments.force)?;
    let mut file = BufWriter::new(file);
    let written = export::write(history, selection, arguments.format, &mut file)
        .map_err(anyhow::Error::new)
        .and_then(|()| Ok(file.flush()?))
        .with_context(|| format!("export to {}", path.display()));
    if written.is_err() && !arguments.force {
        // This file was made here and holds a part of what it should: better none.
        let _ = fs::remove_file(path);
    }
    written
}

fn create(path: &Path, is_forced: bool) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    if is_forced {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    match options.open(path) {
        Ok(file) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists: name another file, or overwrite it with --force", path.display())
        }
        Err(error) => Err(error).with_context(|| format!("create {}", path.display())),
    }
}
