//! Files as careful programs write them: made new, and there with their name once the directory was synced too.

use std::{
    fs::{self, File},
    path::Path,
};

use crate::ProgramError;

/// A new file for writing.
pub(crate) fn create(path: &Path) -> Result<File, ProgramError> {
    File::options().write(true).create_new(true).open(path).map_err(ProgramError::file(path))
}

/// A new directory.
pub(crate) fn make_directory(path: &Path) -> Result<(), ProgramError> {
    fs::create_dir(path).map_err(ProgramError::file(path))
}

/// Makes durable which names a directory has.
pub(crate) fn sync_directory(path: &Path) -> Result<(), ProgramError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(ProgramError::file(path))
}

/// Gives a finished file or directory its name, so that it is there wholly or not at all.
pub(crate) fn publish(unfinished: &Path, finished: &Path) -> Result<(), ProgramError> {
    fs::rename(unfinished, finished).map_err(ProgramError::file(finished))?;
    finished.parent().map_or(Ok(()), sync_directory)
}
