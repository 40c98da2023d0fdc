//! Writing an archive to a file, which is there whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use thiserror::Error;

/// How much is written before anybody is asked whether to go on.
const CHUNK_BYTES: usize = 1 << 20;

/// Why an archive was not written.
#[derive(Debug, Error)]
pub enum SaveError {
    /// Something has that name.
    #[error("{} is there: --force replaces it, -o chooses another name", .0.display())]
    IsThere(PathBuf),
    /// Something that is not to be replaced has that name.
    #[error("{} is there and is no regular file: choose another name with -o", .0.display())]
    NoFile(PathBuf),
    /// Somebody said stop.
    #[error("interrupted before {} was whole", .0.display())]
    Interrupted(PathBuf),
    /// The file system said no.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Writes beside and renames. `replace` permits to replace a file that is there; what is no regular file stays.
///
/// # Errors
/// When something is there, when `stop` is set meanwhile, and when the file system does not take it: then nothing is
/// left.
pub fn save(archive: &[u8], path: &Path, replace: bool, stop: &AtomicBool) -> Result<(), SaveError> {
    check(path, replace)?;
    let failed = |source: io::Error| SaveError::Write { path: path.to_owned(), source };
    let Some(name) = path.file_name() else { return Err(SaveError::NoFile(path.to_owned())) };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.unfinished", std::process::id()));
    let unfinished = path.with_file_name(hidden);
    let mut file = File::create_new(&unfinished).map_err(failed)?;
    let mut write = || -> Result<(), SaveError> {
        for chunk in archive.chunks(CHUNK_BYTES) {
            if stop.load(Ordering::Relaxed) {
                return Err(SaveError::Interrupted(path.to_owned()));
            }
            file.write_all(chunk).map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        if replace {
            return fs::rename(&unfinished, path).map_err(failed);
        }
        match rename_to_nothing(&unfinished, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(SaveError::IsThere(path.to_owned())),
            ended => ended.map_err(failed),
        }
    };
    let ended = write();
    if ended.is_err() {
        // The reason is told; there is no more to do about the rest.
        let _ = fs::remove_file(&unfinished);
    }
    ended
}

/// Whether a file may be written there, as far as can be told before.
///
/// # Errors
/// When something is there that is not to be replaced.
pub fn check(path: &Path, replace: bool) -> Result<(), SaveError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(SaveError::NoFile(path.to_owned())),
        Ok(_) if !replace => Err(SaveError::IsThere(path.to_owned())),
        _ => Ok(()),
    }
}

/// Renames unless something has the new name.
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Network file systems know no such renaming, but links.
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => renamed.map_err(io::Error::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_came_meanwhile_stays() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "precious").unwrap();
        assert_eq!(rename_to_nothing(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&to).unwrap(), "precious");
    }

    #[test]
    fn who_is_told_to_stop_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("archive");
        assert!(matches!(save(b"much", &path, false, &AtomicBool::new(true)), Err(SaveError::Interrupted(_))));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        save(b"much", &path, false, &AtomicBool::new(false)).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
