//! Files that commands write for people: whole or not at all, and never over another without being told to.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use anyhow::bail;
use plimsoll_history::history::HistoryError;

use crate::exit::FileLost;

/// Writes a file; one that exists only by force, and one of those that were read never: it may be the only copy.
pub(super) fn write(
    path: &Path,
    force: bool,
    read: &[&Path],
    content: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    check_place(path)?;
    if read.iter().any(|read| is_same(path, read)) {
        bail!("it is one of the files that this is made from: name another file");
    }
    let write = |file: File| -> anyhow::Result<()> {
        let mut file = BufWriter::new(file);
        content(&mut file).map_err(lost)?;
        Ok(file.flush().map_err(FileLost)?)
    };
    // Only a regular file is replaced; a pipe or a terminal is written to.
    let existing = fs::metadata(path).ok().filter(|metadata| force || !metadata.is_file());
    match existing {
        // Whoever means a disk has other programs for it.
        Some(metadata) if metadata.file_type().is_block_device() => bail!("it is a block device: name a file"),
        Some(metadata) if metadata.is_dir() => bail!("it is a directory: name a file in it"),
        Some(metadata) if metadata.is_file() => replace(path, &metadata, write),
        Some(_) => write(OpenOptions::new().write(true).open(path)?),
        None => create(path, write),
    }
}

/// An error of writing says that there is no file; all others are the content's.
fn lost(error: anyhow::Error) -> anyhow::Error {
    let error = match error.downcast::<io::Error>() {
        Ok(error) => return FileLost(error).into(),
        Err(error) => error,
    };
    match error.downcast::<HistoryError>() {
        Ok(HistoryError::Export(error)) => FileLost(error).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// Whether two paths lead to one file. What anybody may write to, as a terminal, is none that could be lost.
fn is_same(path: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some((metadata.dev(), metadata.ino()))
    };
    place(path).is_some_and(|one| Some(one) == place(other))
}

/// Refuses a name that no file can have, with what to do.
fn check_place(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        bail!("its name ends with a slash, as those of directories do: name a file");
    }
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) && fs::metadata(path).is_err() {
        let end = fs::read_link(path)?;
        bail!("it is a link to {}, which is not there: remove the link, or name another file", end.display());
    }
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if let Some(missing) = directory.filter(|directory| !directory.exists()) {
        bail!("there is no directory {}: make it, or name a file elsewhere", missing.display());
    }
    Ok(())
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
        kept_open.sync_all().map_err(FileLost)?;
        Ok(fs::rename(&beside, &path)?)
    })
}
