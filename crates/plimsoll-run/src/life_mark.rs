//! What tells the volume of one life from every other: a block that the first pod of a volume writes, and that each
//! later one has to find, also in what was made from the volume.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::FileExt as _,
    path::Path,
};

use plimsoll_io::{
    buffer_pool::BufferPool,
    engine::Tag,
    target::{OpenFor, TargetError, open},
    write_guard::{self, Refusal},
};
use plimsoll_workload::settings::SyncMode;
use thiserror::Error;

use crate::first_io::advice;

/// The smallest that every storage takes.
const BYTES: usize = 4096;

/// The file that has it in a file system.
const NAME: &str = ".plimsoll-life";

/// What it begins with.
const BEGINNING: &str = "plimsoll life ";

/// A volume does not take the mark, or does not have it.
#[derive(Debug, Error)]
pub enum LifeMarkError {
    /// It could not be written or read.
    #[error("{doing} the mark of {target}{}", advice(source))]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The target as given.
        target: String,
        /// Why not.
        source: io::Error,
    },
    /// The device is not what was expected.
    #[error(transparent)]
    Guard(#[from] Refusal),
    /// The device cannot be opened.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Another mark, or none.
    #[error(
        "{target} has {found} instead of the mark of this life, which was durable: it is another volume, or lost it"
    )]
    Wrong {
        /// The target as given.
        target: String,
        /// What it has instead.
        found: String,
    },
}

/// The mark of a life.
#[derive(Clone, Debug)]
pub struct LifeMark {
    text: String,
}

impl LifeMark {
    /// By what tells the life from every other: few characters of ASCII.
    pub fn new(life: &str) -> Self {
        Self { text: life.chars().filter(char::is_ascii_graphic).take(BYTES / 2).collect() }
    }

    /// Writes it to a new volume, and makes it durable.
    pub fn write(&self, target: &Path) -> Result<(), LifeMarkError> {
        let failed = |source| LifeMarkError::Io { doing: "write", target: target.display().to_string(), source };
        let block = self.block();
        if target.is_dir() {
            let mut file = OpenOptions::new().write(true).create_new(true).open(target.join(NAME)).map_err(failed)?;
            return file.write_all(&block).and_then(|()| file.sync_all()).map_err(failed);
        }
        let device = write_guard::check(target, &[target.to_owned()], BYTES as u64)?;
        let purpose = OpenFor { read: false, write: true, create_new: false, direct: true, sync: SyncMode::DataSync };
        let file = File::from(device.open(purpose)?);
        let mut buffer = BufferPool::new(1, BYTES as u32).map_err(failed)?;
        buffer.slice(Tag(0)).copy_from_slice(&block);
        file.write_all_at(buffer.slice(Tag(0)), 0).map_err(failed)
    }

    /// Makes sure that a volume has it.
    pub fn find(&self, target: &Path) -> Result<(), LifeMarkError> {
        let name = || target.display().to_string();
        let failed = |source| LifeMarkError::Io { doing: "read", target: name(), source };
        let mut found = Vec::new();
        if target.is_dir() {
            match File::open(target.join(NAME)) {
                Ok(file) => drop(file.take(BYTES as u64 + 1).read_to_end(&mut found).map_err(failed)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        } else {
            let purpose = OpenFor { read: true, write: false, create_new: false, direct: true, sync: SyncMode::None };
            let file = File::from(open(target, purpose)?);
            let mut buffer = BufferPool::new(1, BYTES as u32).map_err(failed)?;
            file.read_exact_at(buffer.slice(Tag(0)), 0).map_err(failed)?;
            found.extend_from_slice(buffer.slice(Tag(0)));
        }
        if found == self.block() {
            return Ok(());
        }
        let first_line = found.split(|byte| *byte == b'\n').next().and_then(|line| str::from_utf8(line).ok());
        let found = match first_line.and_then(|line| line.strip_prefix(BEGINNING)) {
            Some(other) if *other != self.text => format!("the mark of life {other}"),
            _ => "no whole mark".to_owned(),
        };
        Err(LifeMarkError::Wrong { target: name(), found })
    }

    fn block(&self) -> Vec<u8> {
        let line = format!("{BEGINNING}{}\n", self.text);
        line.bytes().cycle().take(BYTES).collect()
    }
}

/// How large a volume is: its file system with what files do not get, or its device.
pub fn size_bytes(target: &Path) -> io::Result<u64> {
    if target.is_dir() {
        let space = rustix::fs::statvfs(target)?;
        return Ok(space.f_blocks.saturating_mul(space.f_frsize));
    }
    File::open(target)?.seek(SeekFrom::End(0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_volume_is_known_by_its_mark_and_others_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let (mine, other) = (LifeMark::new("1-2"), LifeMark::new("1-3"));
        let empty = mine.find(directory.path()).unwrap_err().to_string();
        assert!(empty.contains("no whole mark"), "{empty}");
        mine.write(directory.path()).unwrap();
        mine.find(directory.path()).unwrap();
        let wrong = other.find(directory.path()).unwrap_err().to_string();
        assert!(wrong.contains("the mark of life 1-2"), "{wrong}");
        assert!(other.write(directory.path()).is_err(), "a volume that is somebody's is not written to");
    }

    #[test]
    fn half_a_mark_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let mark = LifeMark::new("1-2");
        mark.write(directory.path()).unwrap();
        let file = OpenOptions::new().write(true).open(directory.path().join(NAME)).unwrap();
        file.set_len(BYTES as u64 / 2).unwrap();
        assert!(mark.find(directory.path()).unwrap_err().to_string().contains("no whole mark"));
        fs::write(directory.path().join(NAME), [0; BYTES]).unwrap();
        assert!(mark.find(directory.path()).is_err());
    }
}
