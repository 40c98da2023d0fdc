//! `plimsoll export`: runs of the history for other programs.

use std::{
    fs::{self, File, Metadata, OpenOptions},
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
    let export = |file: File| -> anyhow::Result<()> {
        let mut file = BufWriter::new(file);
        export::write(history, selection, arguments.format, &mut file)?;
        Ok(file.flush()?)
    };
    // Only a regular file is replaced; a pipe or a terminal is written to.
    let existing = fs::metadata(path).ok().filter(|_| arguments.force);
    let written = match existing {
        Some(metadata) if metadata.is_file() => replace(path, &metadata, export),
        Some(_) => OpenOptions::new().write(true).open(path).map_err(Into::into).and_then(export),
        None => create(path, export),
    };
    written.with_context(|| format!("export to {}", path.display()))
}

/// Writes a new file. One that could not be finished is removed: it holds a part of what it should.
fn create(path: &Path, write: impl FnOnce(File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("it exists: name another file, or overwrite it with --force")
        }
        file => file?,
    };
    write(file).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

/// Writes beside a file and then takes its place, so that whoever reads it finds the old content or the new, whole.
fn replace(path: &Path, existing: &Metadata, write: impl FnOnce(File) -> anyhow::Result<()>) -> anyhow::Result<()> {
    // What symbolic links lead to is replaced, not the link.
    let path = path.canonicalize()?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".plimsoll-{}", std::process::id()));
    let beside = path.with_file_name(name);
    create(&beside, |file| {
        file.set_permissions(existing.permissions())?;
        let kept_open = file.try_clone()?;
        write(file)?;
        kept_open.sync_all()?;
        Ok(fs::rename(&beside, &path)?)
    })
}
