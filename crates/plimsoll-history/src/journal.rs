//! The events of a running run, on disk as they happen, so that a process that dies loses nothing it had measured.
//!
//! A journal is a file of lines in the directory `runs` of the state directory, one event a line, each line with a
//! checksum over it and the line before. The process that writes it holds a lock on it; a journal that can be locked
//! belongs to nobody any more, and [`recover`] makes a record of it. A line counts when it is whole: a torn or damaged
//! one, and what follows it, do not.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use plimsoll_record::{
    builder::RecordBuilder,
    event::{RunEvent, RunStarted},
    record::Record,
};
use uuid::Uuid;

use crate::{error::HistoryError, history::History, location::RUNS_DIRECTORY};

const EXTENSION: &str = "ndjson";

/// A journal that makes no sense from its first line on is set aside under this extension, for a person to look at.
const DAMAGED_EXTENSION: &str = "damaged";

/// After so much time of the run, what is written is forced to the disk: that guards against a machine that dies; for a
/// process that dies, what the kernel holds is enough.
const SYNC_AFTER_NS: u64 = 5_000_000_000;

/// The journal of a run that is going on.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    length_bytes: u64,
    checksum: u32,
    synced_at_ns: u64,
}

impl Journal {
    /// Begins the journal of a run.
    pub fn create(state_directory: &Path, started: &RunStarted) -> Result<Self, HistoryError> {
        let directory = state_directory.join(RUNS_DIRECTORY);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(|source| HistoryError::Directory { path: directory.clone(), source })?;
        let path = directory.join(started.id.to_string()).with_extension(EXTENSION);
        let file = create_locked(&path).map_err(|source| HistoryError::Journal { path: path.clone(), source })?;
        let mut journal = Self { file, path, length_bytes: 0, checksum: 0, synced_at_ns: 0 };
        journal.write(&RunEvent::Started(Box::new(started.clone())))?;
        Ok(journal)
    }

    /// Adds an event. Those that a record does not need are left out, and so is the start, which is there already.
    pub fn append(&mut self, event: &RunEvent) -> Result<(), HistoryError> {
        match event {
            RunEvent::Started(_) | RunEvent::LayoutProgress { .. } => return Ok(()),
            _ => self.write(event)?,
        }
        let now_ns = match event {
            RunEvent::SlotStarted { t_ns, .. } => *t_ns,
            RunEvent::Interval { interval, .. } => interval.t_ns.saturating_add(interval.length_ns),
            RunEvent::Finished { .. } => u64::MAX,
            _ => return Ok(()),
        };
        if now_ns.saturating_sub(self.synced_at_ns) >= SYNC_AFTER_NS {
            self.synced_at_ns = now_ns;
            self.file.sync_data().map_err(|source| self.failure(source))?;
        }
        Ok(())
    }

    /// Ends the journal, when the history has the record. A journal that is dropped without this is recovered.
    pub fn finish(self) -> Result<(), HistoryError> {
        fs::remove_file(&self.path).map_err(|source| self.failure(source))
    }

    /// Where the journal is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, event: &RunEvent) -> Result<(), HistoryError> {
        let (line, checksum) = encode(self.checksum, event).map_err(|error| self.failure(error.into()))?;
        if let Err(source) = self.file.write_all(&line) {
            // Half a line would hide the lines after it. When it cannot be cut off, there will be none either.
            let _ = self.file.set_len(self.length_bytes);
            return Err(self.failure(source));
        }
        self.length_bytes += line.len() as u64;
        self.checksum = checksum;
        Ok(())
    }

    fn failure(&self, source: io::Error) -> HistoryError {
        HistoryError::Journal { path: self.path.clone(), source }
    }
}

/// Creates a file that nobody else can take for abandoned: between its creation and its lock, somebody may remove it.
fn create_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        file.lock()?;
        if file.metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}

const LINE_START: &[u8] = b"{\"crc32\":\"";
const LINE_MIDDLE: &[u8] = b"\",\"event\":";
const LINE_END: &[u8] = b"}";
const CHECKSUM_DIGITS: usize = 8;

/// The CRC-32 of an event's text and of the checksum before it, so that a line that is missing is missed.
fn checksum(before: u32, event: &[u8]) -> u32 {
    let mut checksum = flate2::Crc::new();
    checksum.update(&before.to_le_bytes());
    checksum.update(event);
    checksum.sum()
}

/// A line, and its checksum.
fn encode(before: u32, event: &RunEvent) -> serde_json::Result<(Vec<u8>, u32)> {
    let event = serde_json::to_vec(event)?;
    let checksum = checksum(before, &event);
    let digits = format!("{checksum:08x}");
    Ok(([LINE_START, digits.as_bytes(), LINE_MIDDLE, &event, LINE_END, b"\n"].concat(), checksum))
}

/// The event of a line without its end, and the checksum; `None` when anything about it is not as it was written.
fn decode(before: u32, line: &[u8]) -> Option<(RunEvent, u32)> {
    let (digits, rest) = line.strip_prefix(LINE_START)?.split_at_checked(CHECKSUM_DIGITS)?;
    let event = rest.strip_prefix(LINE_MIDDLE)?.strip_suffix(LINE_END)?;
    let expected = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    if checksum(before, event) != expected {
        return None;
    }
    Some((serde_json::from_slice(event).ok()?, expected))
}

/// What a journal amounts to.
#[derive(Debug)]
enum Folded {
    /// No whole line: the process died as it began.
    Nothing,
    /// Whole lines, but not a start.
    Damaged,
    /// A record of all that happened before the end, or before the first damage.
    Record(Box<Record>),
}

fn fold(bytes: &[u8]) -> Folded {
    // What follows the last line end is a line that was being written.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(&bytes[..0], |end| &bytes[..end]);
    if whole.is_empty() {
        return Folded::Nothing;
    }
    let mut lines = whole.split(|byte| *byte == b'\n');
    let Some((RunEvent::Started(started), mut checksum)) = lines.next().and_then(|line| decode(0, line)) else {
        return Folded::Damaged;
    };
    let mut builder = RecordBuilder::new(*started);
    for (number, line) in (2..).zip(lines) {
        let Some((event, next)) = decode(checksum, line) else {
            let text = format!("the journal of this run is damaged: what it said from line {number} on is missing");
            builder.apply(&RunEvent::Warning { text });
            break;
        };
        builder.apply(&event);
        checksum = next;
    }
    Folded::Record(Box::new(builder.finish()))
}

/// Whether there is any journal, of a living run or a dead one.
pub fn any(state_directory: &Path) -> bool {
    !journals(state_directory).is_empty()
}

fn journals(state_directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(state_directory.join(RUNS_DIRECTORY)) else {
        return Vec::new();
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|name| name == EXTENSION)).collect();
    paths.sort();
    paths
}

/// Puts the runs of processes that are gone into the history: what they had measured, with outcome `lost` unless they
/// had come to an end. Returns the runs that the history did not have.
pub fn recover(state_directory: &Path, history: &mut History) -> Result<Vec<Uuid>, HistoryError> {
    let mut recovered = Vec::new();
    for path in journals(state_directory) {
        // A journal that cannot be opened or locked is somebody else's, or will be there the next time.
        let Ok(Some((file, bytes))) = open_abandoned(&path) else { continue };
        let gone = |source| HistoryError::Journal { path: path.clone(), source };
        match fold(&bytes) {
            Folded::Nothing => fs::remove_file(&path).map_err(gone)?,
            Folded::Damaged => fs::rename(&path, path.with_extension(DAMAGED_EXTENSION)).map_err(gone)?,
            Folded::Record(record) => {
                // A process may die between saving its record and removing its journal; the saved one is better.
                if !history.contains(record.id)? {
                    history.save(&record)?;
                    recovered.push(record.id);
                }
                fs::remove_file(&path).map_err(gone)?;
            }
        }
        drop(file);
    }
    Ok(recovered)
}

/// Opens, locks and reads a journal, when no process holds it and nobody else has just dealt with it.
fn open_abandoned(path: &Path) -> io::Result<Option<(File, Vec<u8>)>> {
    let mut file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if file.metadata()?.nlink() == 0 {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some((file, bytes)))
}

#[cfg(test)]
mod tests;
