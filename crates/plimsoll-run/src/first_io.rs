//! The first operation on a target: that it takes one, and when.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use thiserror::Error;
use uuid::Uuid;

/// What is read or written: the smallest that every storage takes.
const BYTES: u64 = 4096;

/// What the file is called that is made for it in a directory, before the run's id: what a killed run left is in the
/// way of no other. It is removed at once, and never one that was there.
const NAME: &str = ".plimsoll-first-io-";

/// A target does not take the first operation.
#[derive(Debug, Error)]
#[error("do the first operation on {target}{}", advice(source))]
pub struct FirstIoError {
    /// The target as given.
    target: String,
    source: io::Error,
}

impl FirstIoError {
    /// Whether the target is full.
    pub fn is_for_lack_of_room(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

/// What to do about an error of a target that a pod has.
pub fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            " (it belongs to another user: in a cluster devices often belong to root, for which there is --run-as-root; \
             what is in a claim of --pvc to who uses it, whom --run-as-user names, and a new one to root, which \
             --fs-group changes; and directories where fsGroup has no effect to whoever made the volume)"
        }
        _ => "",
    }
}

/// Does one operation that reaches the storage: writes a block into a new file of a directory, and makes it durable; or
/// reads a block in the middle of a file or device, where nobody who looks for signatures has read before.
pub fn first_io(target: &str, run: Uuid) -> Result<(), FirstIoError> {
    operate(Path::new(target), run).map_err(|source| FirstIoError { target: target.to_owned(), source })
}

fn operate(target: &Path, run: Uuid) -> io::Result<()> {
    if target.is_dir() {
        let path = target.join(format!("{NAME}{}", run.simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let written = file.write_all(&[0; BYTES as usize]).and_then(|()| file.sync_data());
        fs::remove_file(&path)?;
        return written;
    }
    let mut file = File::open(target)?;
    let middle = file.seek(SeekFrom::End(0))? / 2 / BYTES * BYTES;
    file.seek(SeekFrom::Start(middle))?;
    file.take(BYTES).read_to_end(&mut Vec::new()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_written_to_and_left_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        operate(directory.path(), Uuid::nil()).unwrap();
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_that_name_that_was_there_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("{NAME}{}", Uuid::nil().simple()));
        fs::write(&path, "mine").unwrap();
        assert_eq!(operate(directory.path(), Uuid::nil()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
        operate(directory.path(), Uuid::max()).expect("another run has another file");
    }

    #[test]
    fn what_is_there_is_only_read_and_what_is_not_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "short").unwrap();
        operate(&file, Uuid::nil()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "short");
        assert!(operate(&directory.path().join("absent"), Uuid::nil()).is_err());
    }
}
