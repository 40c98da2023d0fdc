//! The events of a running run, on disk as they happen, so that a process that dies loses nothing it had measured.
//!
//! A journal is a file of lines in the directory `runs` of the state directory, one event a line, each line with a
//! checksum over it and the line before. The first line also names the history that the run belongs to. The process
//! that writes a journal holds a lock on it; one that can be locked belongs to nobody any more, and [`recover`] makes a
//! record of it and puts it into that history. A line counts when it is whole: a torn or damaged one, and what follows
//! it, do not. A journal with a whole line that this version does not understand is that of another one, and stays.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use plimsoll_record::{
    builder::RecordBuilder,
    event::{RunEvent, RunStarted, SlotResult},
    record::{Outcome, Record},
    verification::VerificationResult,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    error::HistoryError,
    history::{History, make_directory},
    location::RUNS_DIRECTORY,
    unfinished::Unfinished,
};

pub mod following;

const EXTENSION: &str = "ndjson";

/// A journal that makes no sense from its first line on is set aside under this extension, for a person to look at.
const DAMAGED_EXTENSION: &str = "damaged";

/// One that a person gave up because its history cannot be written is set aside under this extension.
const ASIDE_EXTENSION: &str = "aside";

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
    /// How much of the files was written when it was told here the last time.
    layout_percent: Option<u64>,
    /// Whether an event could not be written: what follows it would count for nothing.
    is_broken: bool,
}

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct Beginning {
    /// Where the record belongs; relative to the state directory when it lies in it, so that both may move together.
    history: PathBuf,
    /// Elsewhere, the inode of its directory, which is another one while the file system that has it is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<u64>,
    started: Box<RunStarted>,
}

impl Journal {
    /// Begins the journal of a run that belongs to a history.
    pub fn create(state_directory: &Path, history: &Path, started: &RunStarted) -> Result<Self, HistoryError> {
        let directory = state_directory.join(RUNS_DIRECTORY);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(|source| HistoryError::Directory { path: directory.clone(), source })?;
        let path = directory.join(started.id.to_string()).with_extension(EXTENSION);
        let failed = |source| HistoryError::Journal { path: path.clone(), source };
        // So that a directory which is missing later is one that went away. That it cannot be made is for whoever
        // saves the record to say.
        let _ = make_directory(history);
        let history = relative_to(state_directory, history).map_err(failed)?;
        let directory =
            Some(&history).filter(|history| history.is_absolute()).and_then(|history| directory_of(history));
        let file = create_locked(&path).map_err(failed)?;
        let mut journal =
            Self { file, path, length_bytes: 0, checksum: 0, synced_at_ns: 0, layout_percent: None, is_broken: false };
        journal.write(&Beginning { history, directory, started: Box::new(started.clone()) })?;
        Ok(journal)
    }

    /// Begins the journal of a run that goes on, with all that had happened.
    ///
    /// # Errors
    /// When another process does the same, or the journal cannot be written.
    pub fn resume(
        state_directory: &Path,
        history: &Path,
        started: &RunStarted,
        unfinished: &Unfinished,
    ) -> Result<Self, HistoryError> {
        let mut journal = Self::create(state_directory, history, started).map_err(|error| match error {
            HistoryError::Journal { path, source } if source.kind() == io::ErrorKind::AlreadyExists => {
                HistoryError::GoingOn { id: started.id, journal: path }
            }
            error => error,
        })?;
        for event in unfinished.event_lines() {
            journal.write_line(event)?;
        }
        Ok(journal)
    }

    /// What it takes to go on with the run, should it end here.
    pub fn unfinished(&self) -> Result<Option<Unfinished>, HistoryError> {
        let bytes = fs::read(&self.path).map_err(|source| self.failure(source))?;
        match fold(&bytes) {
            Folded::Record { unfinished, .. } => Ok(unfinished),
            Folded::Nothing | Folded::Damaged | Folded::OfAnotherVersion { .. } => Ok(None),
        }
    }

    /// Adds an event. Those that a record does not need are left out, but for one of each percent of files that are
    /// written, which takes long and others follow; and so is the start, which is there already.
    ///
    /// # Errors
    /// When it cannot be written. Nothing is added any more then, and what is there stays locked: the run goes on, and
    /// nobody is to take it for one that is gone.
    pub fn append(&mut self, event: &RunEvent) -> Result<(), HistoryError> {
        if self.is_broken {
            return Ok(());
        }
        self.try_to_append(event).inspect_err(|_| self.is_broken = true)
    }

    fn try_to_append(&mut self, event: &RunEvent) -> Result<(), HistoryError> {
        match event {
            RunEvent::Started(_) => return Ok(()),
            passing if passing.is_passing() => return Ok(()),
            RunEvent::LayoutProgress { written_bytes, total_bytes, .. } => {
                let percent = (u128::from(*written_bytes) * 100 / u128::from(*total_bytes).max(1)) as u64;
                if self.layout_percent.replace(percent) == Some(percent) {
                    return Ok(());
                }
                self.write(event)?;
            }
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
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failure(error)),
            _ => Ok(()),
        }
    }

    /// Where the journal is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, event: &impl Serialize) -> Result<(), HistoryError> {
        let event = serde_json::to_vec(event).map_err(|error| self.failure(error.into()))?;
        self.write_line(&event)
    }

    fn write_line(&mut self, event: &[u8]) -> Result<(), HistoryError> {
        let (line, checksum) = encode(self.checksum, event);
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

/// A path that means the same wherever it is read: absolute, or relative to the state directory when it leads into it.
fn relative_to(state_directory: &Path, path: &Path) -> io::Result<PathBuf> {
    let (state_directory, path) = (std::path::absolute(state_directory)?, std::path::absolute(path)?);
    Ok(path.strip_prefix(state_directory).unwrap_or(&path).to_owned())
}

/// The inode of the directory that a history is in; `None` when it is not there.
fn directory_of(history: &Path) -> Option<u64> {
    fs::metadata(history.parent()?).ok().filter(Metadata::is_dir).map(|directory| directory.ino())
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
fn encode(before: u32, event: &[u8]) -> (Vec<u8>, u32) {
    let checksum = checksum(before, event);
    let digits = format!("{checksum:08x}");
    ([LINE_START, digits.as_bytes(), LINE_MIDDLE, event, LINE_END, b"\n"].concat(), checksum)
}

/// Why a line tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Untold {
    /// Anything about it is not as it was written.
    Damaged,
    /// It is as it was written, by another version.
    NotUnderstood,
}

/// A line that is as it was written, and understood.
struct Line<'a, T> {
    /// The event as it was written.
    text: &'a [u8],
    event: T,
    checksum: u32,
}

/// Reads a line without its end.
fn decode<T: DeserializeOwned>(before: u32, line: &[u8]) -> Result<Line<'_, T>, Untold> {
    let (text, checksum) = undamaged(before, line).ok_or(Untold::Damaged)?;
    let event = serde_json::from_slice(text).map_err(|_| Untold::NotUnderstood)?;
    Ok(Line { text, event, checksum })
}

/// The event of a line as it was written, and the checksum.
fn undamaged(before: u32, line: &[u8]) -> Option<(&[u8], u32)> {
    let (digits, rest) = line.strip_prefix(LINE_START)?.split_at_checked(CHECKSUM_DIGITS)?;
    let text = rest.strip_prefix(LINE_MIDDLE)?.strip_suffix(LINE_END)?;
    let expected = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (checksum(before, text) == expected).then_some((text, expected))
}

/// What a journal amounts to.
#[derive(Debug)]
enum Folded {
    /// No whole line: the process died as it began.
    Nothing,
    /// Whole lines, but not a start.
    Damaged,
    /// A line says what this version does not understand.
    OfAnotherVersion {
        /// As the first line names it, when that is understood.
        history: Option<PathBuf>,
    },
    /// A record of all that happened before the end, or before the first damage.
    Record {
        /// As the first line names it.
        history: PathBuf,
        /// As the first line tells it.
        directory: Option<u64>,
        record: Box<Record>,
        /// What it takes to go on with it, unless it was done.
        unfinished: Option<Unfinished>,
    },
}

fn fold(bytes: &[u8]) -> Folded {
    // What follows the last line end is a line that was being written.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(&bytes[..0], |end| &bytes[..end]);
    if whole.is_empty() {
        return Folded::Nothing;
    }
    let mut lines = whole.split(|byte| *byte == b'\n');
    let Line { event: beginning, mut checksum, .. } = match decode::<Beginning>(0, lines.next().unwrap_or_default()) {
        Ok(line) => line,
        Err(Untold::Damaged) => return Folded::Damaged,
        Err(Untold::NotUnderstood) => return Folded::OfAnotherVersion { history: None },
    };
    let mut unfinished = Unfinished::new(&beginning.started).expect("what was read can be written");
    let mut counts = unfinished.length();
    // Slots of a phase are each other's load: one that was cut off is done again with all that began beside it.
    let mut begun = BTreeSet::new();
    let mut found = Vec::new();
    let Beginning { history, directory, started } = beginning;
    let mut builder = RecordBuilder::new(*started);
    for (number, line) in (2..).zip(lines) {
        let line = match decode::<RunEvent>(checksum, line) {
            Ok(line) => line,
            Err(Untold::Damaged) => {
                let text = format!("the journal of this run is damaged: what it said from line {number} on is missing");
                builder.apply(&RunEvent::Warning { text });
                break;
            }
            Err(Untold::NotUnderstood) => return Folded::OfAnotherVersion { history: Some(history) },
        };
        builder.apply(&line.event);
        checksum = line.checksum;
        unfinished.push(line.text);
        match &line.event {
            RunEvent::SlotStarted { cell, .. } => {
                begun.insert(*cell);
            }
            RunEvent::SlotFinished(slot) => {
                found.extend(found_wrong(slot));
                begun.retain(|cell| *cell != slot.cell || slot.is_cut);
                if begun.is_empty() && !slot.is_cut {
                    counts = unfinished.length();
                    found.clear();
                }
            }
            _ => {}
        }
    }
    let record = Box::new(builder.finish());
    // A slot that was cut off is done again, what was said of the cells at the end is said anew, and what was warned of
    // since may be true no more: who goes on looks, and tells what still is.
    unfinished.truncate(counts);
    for event in found {
        unfinished.push(&serde_json::to_vec(&event).expect("what was read can be written"));
    }
    // A run in a cluster goes on there, or not at all: its volumes are gone.
    let is_here = record.environment.cluster.is_none();
    let may_go_on = is_here && matches!(record.outcome, Outcome::Interrupted | Outcome::Lost);
    Folded::Record { history, directory, record, unfinished: may_go_on.then_some(unfinished) }
}

/// What a slot that is done again found wrong: its next time need not find that, and it stays true.
fn found_wrong(slot: &SlotResult) -> Option<RunEvent> {
    let mismatches = slot.verification.as_ref().is_some_and(|checked| checked.mismatches > 0);
    (mismatches || !slot.errors.is_empty()).then(|| {
        let SlotResult { cell, round, purpose, .. } = *slot;
        let errors = slot.errors.clone();
        let verification = slot.verification.clone().map(|checked| VerificationResult { blocks_left: 0, ..checked });
        let kept = SlotResult { cell, round, purpose, is_cut: true, verification, errors, ..SlotResult::default() };
        RunEvent::SlotFinished(Box::new(kept))
    })
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

/// A run that a history did not have before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The run.
    pub run: Uuid,
    /// Where it is now.
    pub history: PathBuf,
    /// Whether the journal tells its end: only its history had not taken it.
    pub has_ended: bool,
    /// Where the rest of it may be had.
    pub rest: Rest,
}

/// Where the rest of a run may be had, of which the beginning was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nowhere.
    Nowhere,
    /// It can go on.
    Resumable,
    /// It may have gone on, in a cluster.
    InCluster,
}

/// What recovering came to.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Runs that are in their histories now.
    pub runs: Vec<Recovered>,
    /// Journals that were damaged from their first line on, under the names that they have now.
    pub set_aside: Vec<PathBuf>,
    /// Why others are not, once for each history. Their journals stay.
    pub problems: Vec<HistoryError>,
    /// The journals that stay because their history takes nothing, or nobody here understands them.
    stuck: Vec<PathBuf>,
}

/// Puts the runs of processes that are gone into the histories that they belong to: what they had measured, with
/// outcome `lost` unless they had come to an end. The journal of a history whose directory is not there, or is another
/// one without a history (where a disk is not mounted, say), stays for another time.
pub fn recover(state_directory: &Path) -> Recovery {
    recover_into(state_directory, None)
}

/// The same of one history alone, where one is named.
pub fn recover_into(state_directory: &Path, only: Option<&Path>) -> Recovery {
    let is_meant = |history: &Path| match (only, std::path::absolute(history)) {
        (Some(only), Ok(history)) => std::path::absolute(only).is_ok_and(|only| only == history),
        (Some(_), Err(_)) => false,
        (None, _) => true,
    };
    let mut recovery = Recovery::default();
    let mut histories = BTreeMap::new();
    for path in journals(state_directory) {
        // A journal that cannot be opened or locked is somebody else's, or will be there the next time.
        let Ok(Some((file, bytes))) = open_abandoned(&path) else { continue };
        let done = match fold(&bytes) {
            Folded::Nothing => fs::remove_file(&path),
            Folded::Damaged => {
                let aside = path.with_extension(DAMAGED_EXTENSION);
                fs::rename(&path, &aside).map(|()| recovery.set_aside.push(aside))
            }
            Folded::OfAnotherVersion { history } => {
                let is_meant = match history {
                    Some(history) => is_meant(&state_directory.join(history)),
                    None => only.is_none(),
                };
                if is_meant {
                    recovery.problems.push(HistoryError::JournalOfAnotherVersion { path: path.clone() });
                    recovery.stuck.push(path);
                }
                continue;
            }
            Folded::Record { history, directory, record, unfinished } => {
                let history_path = state_directory.join(history);
                if !is_meant(&history_path) || !is_there(&history_path, directory) {
                    continue;
                }
                // Each history is opened once, and complained about once.
                let problem = |source: HistoryError| HistoryError::Unrecovered {
                    journal: path.clone(),
                    source: Box::new(source),
                };
                let history = histories.entry(history_path.clone()).or_insert_with(|| {
                    History::open(&history_path).map_err(|error| recovery.problems.push(problem(error))).ok()
                });
                let Some(history) = history else {
                    recovery.stuck.push(path);
                    continue;
                };
                match save_new(history, &record, unfinished.as_ref()) {
                    Ok(true) => recovery.runs.push(Recovered {
                        run: record.id,
                        history: history_path,
                        has_ended: record.outcome != Outcome::Lost,
                        rest: match unfinished {
                            Some(_) => Rest::Resumable,
                            None if record.environment.cluster.is_some() => Rest::InCluster,
                            None => Rest::Nowhere,
                        },
                    }),
                    Ok(false) => {}
                    Err(error) => {
                        recovery.problems.push(problem(error));
                        recovery.stuck.push(path);
                        continue;
                    }
                }
                fs::remove_file(&path)
            }
        };
        if let Err(source) = done {
            recovery.problems.push(HistoryError::Journal { path, source });
        }
        drop(file);
    }
    recovery
}

/// Whether a history is there, or can be made because its directory is, which has this inode where that is known.
fn is_there(history: &Path, directory: Option<u64>) -> bool {
    let found = directory_of(history);
    found.is_some() && (directory.is_none() || directory == found || history.exists())
}

/// The histories of abandoned journals that are not there, and how many of them wait for each.
pub fn waiting(state_directory: &Path) -> BTreeMap<PathBuf, usize> {
    let mut waiting = BTreeMap::new();
    for path in journals(state_directory) {
        let Ok(Some((_locked, bytes))) = open_abandoned(&path) else { continue };
        let Folded::Record { history, directory, .. } = fold(&bytes) else { continue };
        let history = state_directory.join(history);
        if !is_there(&history, directory) {
            *waiting.entry(history).or_default() += 1;
        }
    }
    waiting
}

/// Recovers what can be recovered, and sets aside the journals whose histories take nothing and those of other
/// versions, so that nobody is told of them again. Returns where those are now, and why others could not be renamed.
pub fn set_aside(state_directory: &Path) -> (Vec<PathBuf>, Vec<HistoryError>) {
    let (mut aside, mut problems) = (Vec::new(), Vec::new());
    for path in recover(state_directory).stuck {
        let to = path.with_extension(ASIDE_EXTENSION);
        match fs::rename(&path, &to) {
            Ok(()) => aside.push(to),
            Err(source) => problems.push(HistoryError::Journal { path, source }),
        }
    }
    (aside, problems)
}

/// Saves a record unless the history has it: a process may die between saving its record and removing its journal, and
/// the saved one is better. It is not when it is that of an interrupted run which has gone on since.
fn save_new(history: &mut History, record: &Record, unfinished: Option<&Unfinished>) -> Result<bool, HistoryError> {
    let is_new = match (history.unfinished(record.id)?, unfinished) {
        (None, _) => !history.contains(record.id)?,
        (Some(_), None) => true,
        (Some(earlier), Some(later)) => later.continues(&earlier),
    };
    match unfinished.filter(|_| is_new) {
        Some(unfinished) => history.save_unfinished(record, unfinished)?,
        None if is_new => history.save(record)?,
        None => {}
    }
    Ok(is_new)
}

/// Opens, locks and reads a journal, when no process holds it and nobody else has just dealt with it.
fn open_abandoned(path: &Path) -> io::Result<Option<(File, Vec<u8>)>> {
    // Network file systems lock for one alone only what may be written.
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
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
