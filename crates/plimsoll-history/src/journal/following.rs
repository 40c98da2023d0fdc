//! Reading journals of runs that are going on, while others write them.

use std::{
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use plimsoll_record::{
    event::{RunEvent, RunStarted},
    record::Record,
};
use uuid::Uuid;

use super::{Beginning, EXTENSION, Folded, Line, decode, fold, journals};
use crate::location::RUNS_DIRECTORY;

/// As much of a journal as is read at once.
const PIECE_BYTES: usize = 1 << 20;

/// The journals that there are, of living runs and of dead ones.
pub fn all(state_directory: &Path) -> Vec<PathBuf> {
    journals(state_directory)
}

/// The record of a run as far as its journal tells; `None` when there is none, or it tells nothing yet. Until
/// the run has told its end, its outcome is `lost`.
///
/// # Errors
/// When the journal cannot be read.
pub fn so_far(state_directory: &Path, run: Uuid) -> io::Result<Option<Record>> {
    let path = state_directory.join(RUNS_DIRECTORY).join(run.to_string()).with_extension(EXTENSION);
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(match fold(&bytes) {
        Folded::Record { record, .. } => Some(*record),
        Folded::Nothing | Folded::Damaged | Folded::OfAnotherVersion { .. } => None,
    })
}

/// A journal that is read while it grows.
#[derive(Debug)]
pub struct Follower {
    file: File,
    checksum: u32,
    /// Where the first line begins that was not read yet.
    offset: u64,
    /// Whether a line was not as it was written, or not understood, so that nothing after it counts.
    is_over: bool,
}

impl Follower {
    /// Begins to read; `None` when the first line is not whole yet, or never will be.
    ///
    /// # Errors
    /// When the journal cannot be opened or read.
    pub fn begin(path: &Path) -> io::Result<Option<(Self, RunStarted)>> {
        let mut follower = Self { file: File::open(path)?, checksum: 0, offset: 0, is_over: false };
        // The first line has the plan, which may be long.
        let mut bytes = Vec::new();
        loop {
            let more = follower.read_at(bytes.len() as u64)?;
            let end = more.iter().position(|byte| *byte == b'\n');
            bytes.extend_from_slice(&more[..end.unwrap_or(more.len())]);
            if end.is_some() {
                break;
            }
            if more.is_empty() {
                return Ok(None);
            }
        }
        let Ok(Line { event: beginning, checksum, .. }) = decode::<Beginning>(0, &bytes) else { return Ok(None) };
        follower.checksum = checksum;
        follower.offset = bytes.len() as u64 + 1;
        Ok(Some((follower, *beginning.started)))
    }

    /// What was written since it was asked the last time.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn events(&mut self) -> io::Result<Vec<RunEvent>> {
        let mut events = Vec::new();
        let mut line = Vec::new();
        let mut offset = self.offset;
        while !self.is_over {
            let piece = self.read_at(offset)?;
            if piece.is_empty() {
                // What has no end is still being written, and read the next time.
                break;
            }
            offset += piece.len() as u64;
            for part in piece.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                let Some(whole) = line.strip_suffix(b"\n") else { continue };
                let Ok(Line { event, checksum, .. }) = decode::<RunEvent>(self.checksum, whole) else {
                    self.is_over = true;
                    break;
                };
                events.push(event);
                self.checksum = checksum;
                self.offset += line.len() as u64;
                line.clear();
            }
        }
        Ok(events)
    }

    /// Whether the process that writes it is still there. To know that, the journal is locked for a moment, so that
    /// nobody else recovers it in this moment.
    pub fn is_written(&self) -> bool {
        match self.file.try_lock_shared() {
            Ok(()) => {
                let _ = self.file.unlock();
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(_)) => false,
        }
    }

    fn read_at(&self, offset: u64) -> io::Result<Vec<u8>> {
        let mut piece = vec![0; PIECE_BYTES];
        let length = self.file.read_at(&mut piece, offset)?;
        piece.truncate(length);
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use plimsoll_record::record::Outcome;

    use super::*;
    use crate::{journal::Journal, test_records};

    #[test]
    fn a_journal_is_followed_event_by_event_and_its_writer_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let (started, events) = test_records::events(1);
        let mut journal = Journal::create(directory.path(), &directory.path().join("history.db"), &started).unwrap();
        let path = all(directory.path()).pop().unwrap();
        assert_eq!(path, journal.path());
        let (mut follower, read) = Follower::begin(&path).unwrap().unwrap();
        assert_eq!(read, started);
        assert!(follower.is_written() && follower.events().unwrap().is_empty());
        let mut followed = Vec::new();
        for (number, event) in events.iter().enumerate() {
            journal.append(event).unwrap();
            if number % 3 == 0 {
                followed.extend(follower.events().unwrap());
            }
        }
        followed.extend(follower.events().unwrap());
        let record = so_far(directory.path(), started.id).unwrap().unwrap();
        assert_eq!((record.id, record.outcome), (started.id, Outcome::Failed));
        let kept = |event: &&RunEvent| followed.contains(event);
        assert!(followed.len() <= events.len() && events.iter().filter(kept).count() == followed.len());
        assert!(followed.len() > 10 && matches!(followed.last(), Some(RunEvent::Finished { .. })));
        drop(journal);
        assert!(!follower.is_written());
        assert!(so_far(directory.path(), test_records::id(2)).unwrap().is_none());
    }

    #[test]
    fn half_a_line_is_waited_for_and_a_wrong_one_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let (started, events) = test_records::events(1);
        let mut journal = Journal::create(directory.path(), &directory.path().join("history.db"), &started).unwrap();
        journal.append(&events[0]).unwrap();
        let whole = fs::read(journal.path()).unwrap();
        let copy = directory.path().join("copy");
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        fs::write(&copy, &whole[..first - 1]).unwrap();
        assert!(Follower::begin(&copy).unwrap().is_none());
        fs::write(&copy, &whole[..first + 20]).unwrap();
        let (mut follower, _) = Follower::begin(&copy).unwrap().unwrap();
        assert!(follower.events().unwrap().is_empty());
        let mut file = fs::OpenOptions::new().append(true).open(&copy).unwrap();
        file.write_all(&whole[first + 20..]).unwrap();
        assert_eq!(follower.events().unwrap(), [events[0].clone()]);
        file.write_all(b"{}\n").unwrap();
        file.write_all(&whole[first..]).unwrap();
        assert!(follower.events().unwrap().is_empty() && follower.events().unwrap().is_empty());
    }
}
