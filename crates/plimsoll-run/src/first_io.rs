//! The first operation on a target: that it takes one, and when.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use thiserror::Error;

/// What is read or written: the smallest that every storage takes.
const BYTES: u64 = 4096;

/// The file that is made for it in a directory. It is removed at once, and never one that was there.
const NAME: &str = ".plimsoll-first-io";

/// A target does not take the first operation.
#[derive(Debug, Error)]
#[error("do the first operation on {target}{}", advice(source))]
pub struct FirstIoError {
    /// The target as given.
    target: String,
    source: io::Error,
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            " (it belongs to another user: in a cluster devices often belong to root, for which there is --run-as-root, \
             and directories where fsGroup has no effect to whoever made the volume)"
        }
        _ => "",
    }
}

/// Does one operation that reaches the storage: writes a block into a new file of a directory, and makes it durable; or
/// reads a block in the middle of a file or device, where nobody who looks for signatures has read before.
pub fn first_io(target: &str) -> Result<(), FirstIoError> {
    operate(Path::new(target)).map_err(|source| FirstIoError { target: target.to_owned(), source })
}

fn operate(target: &Path) -> io::Result<()> {
    if target.is_dir() {
        let path = target.join(NAME);
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
        operate(directory.path()).unwrap();
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_that_name_that_was_there_stays() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(NAME), "mine").unwrap();
        assert_eq!(operate(directory.path()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(directory.path().join(NAME)).unwrap(), "mine");
    }

    #[test]
    fn what_is_there_is_only_read_and_what_is_not_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "short").unwrap();
        operate(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "short");
        assert!(operate(&directory.path().join("absent")).is_err());
    }
}
