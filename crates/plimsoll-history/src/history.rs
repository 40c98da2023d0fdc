//! The store of records: an SQLite file that several processes may use at once.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use plimsoll_record::record::{Outcome, Record};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};
use uuid::Uuid;

pub use crate::error::{HistoryError, Use};
use crate::{
    reference::{self, stored_id},
    schema::{self, Found},
    stored,
    summary::{CellSummary, word},
};

mod baselines;
mod lesser;
mod listing;
mod tagging;
mod unfinished;

pub use baselines::Baseline;
pub use lesser::Kept;

/// How long to wait for another process that is writing. Saving a record takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// An open history.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    path: PathBuf,
    use_: Use,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// These runs are gone.
    pub runs: Vec<Uuid>,
    /// These are old enough but stay, because they are baselines.
    pub kept: Vec<Baseline>,
}

impl History {
    /// Opens a history to read and write it; makes it, and its directory, when there is none.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        exists(path)?;
        make_directory(path)?;
        Self::open_on(path, None)
    }

    /// Opens a history to read it, where it may not be written too. One that does not exist is empty, and is not made.
    pub fn read(path: &Path) -> Result<Self, HistoryError> {
        if !exists(path)? {
            check_makeable(path)?;
            let fail = |source| HistoryError::of_sqlite(path, Use::Reading, source);
            let mut connection = Connection::open_in_memory().map_err(fail)?;
            schema::migrate(&mut connection).map_err(fail)?;
            return Ok(Self { connection, path: path.to_owned(), use_: Use::Reading });
        }
        match Self::open_on(path, None) {
            Err(HistoryError::Inaccessible { .. }) => Self::open_read_only(path),
            opened => opened,
        }
    }

    /// Opens a history through a certain interface of SQLite to the file system; a test uses one that shares no memory.
    fn open_on(path: &Path, file_system: Option<&str>) -> Result<Self, HistoryError> {
        let fail = |source| HistoryError::of_sqlite(path, Use::Writing, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match file_system {
            Some(file_system) => Connection::open_with_flags_and_vfs(path, flags, file_system),
            None => Connection::open_with_flags(path, flags),
        };
        let mut connection = connection.map_err(fail)?;
        prepare(&connection).map_err(fail)?;
        // Nothing is changed before the file is known to be ours or empty.
        let found = schema::look(&connection).map_err(fail)?;
        refuse(path, found)?;
        choose_journal(&connection, shares_memory(path)).map_err(fail)?;
        if found == Found::Older {
            schema::migrate(&mut connection).map_err(fail)?;
        }
        // A file that may only be read would fail at the first record instead of here.
        if connection.is_readonly("main").map_err(fail)? {
            return Err(fail(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY),
                None,
            )));
        }
        Ok(Self { connection, path: path.to_owned(), use_: Use::Writing })
    }

    /// Opens a history on a file system, or of a person, that lets nobody write.
    fn open_read_only(path: &Path) -> Result<Self, HistoryError> {
        let fail = |source| HistoryError::of_sqlite(path, Use::Reading, source);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let look = |connection: &Connection| prepare(connection).and_then(|()| schema::look(connection));
        let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        let mut found = look(&connection);
        // Without write-ahead log there is nobody writing, and the file is all there is. SQLite would want to make one.
        if found.is_err() && !beside(path, "-wal").exists() {
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            connection = Connection::open_with_flags(immutable_uri(path), flags).map_err(fail)?;
            found = look(&connection);
        }
        let found = found.map_err(fail)?;
        refuse(path, found)?;
        if found == Found::Older {
            // It would have to be brought to this version first, and nobody may.
            return Self::open_on(path, None);
        }
        Ok(Self { connection, path: path.to_owned(), use_: Use::Reading })
    }

    /// Where the history is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn failure(&self) -> impl Fn(rusqlite::Error) -> HistoryError + use<> {
        let (path, use_) = (self.path.clone(), self.use_);
        move |source| HistoryError::of_sqlite(&path, use_, source)
    }

    /// Starts to write. Takes the lock at once, so that nothing read before can be out of date.
    fn write(&mut self) -> Result<Transaction<'_>, HistoryError> {
        let fail = self.failure();
        self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)
    }

    /// Puts a record in, whole or not at all. A record of the same id is replaced, but for its tags; baselines go on to
    /// name it. What was kept of an interrupted run is forgotten when the run has come to an end since.
    pub fn save(&mut self, record: &Record) -> Result<(), HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let record = tagging::as_tagged(&transaction, record).map_err(&fail)?;
        let bytes = stored::encode(&record)?;
        let has_ended = matches!(record.outcome, Outcome::Complete | Outcome::Failed);
        insert(&transaction, &record, &bytes)
            .and_then(|()| if has_ended { unfinished::forget(&transaction, record.id) } else { Ok(()) })
            .and_then(|()| transaction.commit())
            .map_err(fail)
    }

    /// Whether there is a record of a run.
    pub fn contains(&self, id: Uuid) -> Result<bool, HistoryError> {
        contains(&self.connection, id).map_err(self.failure())
    }

    /// The record of a run.
    pub fn get(&self, id: Uuid) -> Result<Record, HistoryError> {
        let bytes: Option<Vec<u8>> = self
            .connection
            .query_row("SELECT record FROM runs WHERE id = ?1", [stored_id(id)], |row| row.get(0))
            .optional()
            .map_err(self.failure())?;
        stored::decode(id, &bytes.ok_or_else(|| HistoryError::NotFound(id.to_string()))?)
    }

    /// The run that a person means by `latest`, by the name of a baseline, by a whole or shortened id, or by its own
    /// name: the latest that has it.
    pub fn find(&self, text: &str) -> Result<Uuid, HistoryError> {
        match self.find_unnamed(text) {
            // A name may look like the beginning of ids too.
            Err(error @ (HistoryError::NotFound(_) | HistoryError::TooShort(_) | HistoryError::Ambiguous { .. })) => {
                self.latest_named(text)?.ok_or(error)
            }
            found => found,
        }
    }

    /// The same without names, which several runs may have: for what cannot be undone.
    pub fn find_unmistakable(&self, text: &str) -> Result<Uuid, HistoryError> {
        match self.find_unnamed(text) {
            Err(error @ (HistoryError::NotFound(_) | HistoryError::TooShort(_))) => match self.latest_named(text)? {
                Some(latest) => Err(HistoryError::IsName { text: text.to_owned(), latest }),
                None => Err(error),
            },
            found => found,
        }
    }

    fn find_unnamed(&self, text: &str) -> Result<Uuid, HistoryError> {
        if text == reference::LATEST {
            return self.latest()?.ok_or(HistoryError::Empty);
        }
        if let Some(run) = self.baseline(text)? {
            return Ok(run);
        }
        let digits = reference::id_digits(text);
        if let Some(digits) = digits.as_deref().filter(|digits| reference::is_long_enough(digits)) {
            let candidates = self.beginning_with(digits)?;
            match candidates.as_slice() {
                [] => {}
                [one] => return Ok(*one),
                _ => return Err(HistoryError::Ambiguous { text: text.to_owned(), candidates }),
            }
        }
        Err(match digits {
            Some(digits) if !reference::is_long_enough(&digits) => HistoryError::TooShort(text.to_owned()),
            _ => HistoryError::NotFound(text.to_owned()),
        })
    }

    /// Removes runs, all or none. A run that is not there, or that is a baseline, is an error.
    pub fn remove(&mut self, ids: &[Uuid]) -> Result<(), HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let baselines = baselines::all(&transaction).map_err(&fail)?;
        for id in ids {
            if let Some(baseline) = baselines.iter().find(|baseline| baseline.run == *id) {
                return Err(HistoryError::IsBaseline { id: *id, name: baseline.name.clone() });
            }
            let removed = transaction.execute("DELETE FROM runs WHERE id = ?1", [stored_id(*id)]).map_err(&fail)?;
            if removed == 0 {
                return Err(HistoryError::NotFound(id.to_string()));
            }
        }
        transaction.commit().map_err(fail)
    }

    /// Removes all runs that began before a moment, except baselines.
    pub fn remove_before(&mut self, moment: Timestamp) -> Result<Removed, HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let old = {
            let mut statement = transaction
                .prepare("SELECT id, (SELECT min(name) FROM baselines WHERE run = id) FROM runs WHERE started_ns < ?1")
                .map_err(&fail)?;
            let rows = statement.query_map([nanoseconds(moment)], |row| Ok((listing::id(row, 0)?, row.get(1)?)));
            rows.and_then(Iterator::collect::<rusqlite::Result<Vec<(Uuid, Option<String>)>>>).map_err(&fail)?
        };
        let mut removed = Removed::default();
        for (run, baseline) in old {
            if let Some(name) = baseline {
                removed.kept.push(Baseline { name, run });
            } else {
                transaction.execute("DELETE FROM runs WHERE id = ?1", [stored_id(run)]).map_err(&fail)?;
                removed.runs.push(run);
            }
        }
        transaction.commit().map_err(fail)?;
        Ok(removed)
    }
}

fn contains(connection: &Connection, id: Uuid) -> rusqlite::Result<bool> {
    let count = "SELECT count(*) FROM runs WHERE id = ?1";
    connection.query_row(count, [stored_id(id)], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// Makes the directory of a history when there is none.
pub(crate) fn make_directory(path: &Path) -> Result<(), HistoryError> {
    let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) else { return Ok(()) };
    let make = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    make.map_err(|source| HistoryError::Directory { path: directory.to_owned(), source })
}

/// Whether there is a file; an error when there is something else, or nobody can tell.
fn exists(path: &Path) -> Result<bool, HistoryError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(HistoryError::NoFile { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(HistoryError::Unreachable { path: path.to_owned(), source }),
    }
}

/// An error unless a history can be written, or made where there is none. Nothing of it is changed.
pub fn check_writable(path: &Path) -> Result<(), HistoryError> {
    if !exists(path)? {
        return check_makeable(path);
    }
    let opened = fs::OpenOptions::new().append(true).open(path);
    // SQLite makes files beside it.
    let written = opened.and_then(|_| try_to_make_beside(path));
    written.map_err(|source| HistoryError::Unwritable { path: path.to_owned(), source })?;
    check_ours(path)
}

/// An error unless a file is empty or a history that this version knows. It is not written, but opened to write: who
/// only reads leaves files beside a write-ahead log.
fn check_ours(path: &Path) -> Result<(), HistoryError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let look = |connection: Connection| {
        connection.busy_timeout(Duration::ZERO)?;
        schema::look(&connection)
    };
    let found = Connection::open_with_flags(path, flags).and_then(look);
    match found.map_err(|source| HistoryError::of_sqlite(path, Use::Writing, source)) {
        // It may have been released when the run has ended.
        Err(HistoryError::Busy { .. }) => Ok(()),
        found => refuse(path, found?),
    }
}

/// An error unless a history can be made at a path where there is none.
fn check_makeable(path: &Path) -> Result<(), HistoryError> {
    try_to_make_beside(path).map_err(|source| HistoryError::Unreachable { path: path.to_owned(), source })
}

/// Permissions tell only half of it (nobody makes files in /proc), so a file is made in the nearest directory that is
/// there, and removed again.
fn try_to_make_beside(path: &Path) -> io::Result<()> {
    let absolute = std::path::absolute(path)?;
    let directory = absolute.ancestors().skip(1).find(|directory| directory.exists()).unwrap_or(Path::new("/"));
    let trial = directory.join(format!(".plimsoll-{}", std::process::id()));
    match fs::File::create_new(&trial) {
        Ok(_) => fs::remove_file(&trial),
        // Another thread of this process tries the same.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "foreign_keys", true)
}

fn refuse(path: &Path, found: Found) -> Result<(), HistoryError> {
    match found {
        Found::Older | Found::Current => Ok(()),
        Found::Newer(found) => Err(HistoryError::Newer { path: path.to_owned(), found, known: schema::VERSION }),
        Found::Foreign => Err(HistoryError::Foreign { path: path.to_owned() }),
    }
}

/// File systems that several machines may use at once, as `statfs` numbers them: NFS, SMB, CIFS, SMB 2, 9P, FUSE (which
/// anything may be behind), Lustre, Ceph, OpenAFS, the kernel's AFS, GPFS, GFS2, OCFS2, BeeGFS.
const OF_SEVERAL_MACHINES: [i64; 14] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x0102_1997,
    0x6573_5546,
    0x0bd0_0bd0,
    0x00c3_6400,
    0x5346_414f,
    0x6b41_4653,
    0x4750_4653,
    0x0116_1970,
    0x7461_636f,
    0x1983_0326,
];

/// SQLite makes room for the memory that it shares by a byte in each of so many. Where blocks are smaller there is none
/// for the rest, and whoever writes to it on a full disk is ended by a signal.
const SHARED_PAGE_BYTES: i64 = 4096;

/// Whether all who use the file can share memory. That SQLite can map a file for it says nothing: on NFS that succeeds,
/// and each machine has memory of its own.
fn shares_memory(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|facts| can_share(facts.f_type, facts.f_bsize))
}

fn can_share(file_system: i64, block_bytes: i64) -> bool {
    block_bytes >= SHARED_PAGE_BYTES && !OF_SEVERAL_MACHINES.contains(&file_system)
}

/// Prefers a write-ahead log, in which readers and a writer do not wait for each other. It needs memory shared between
/// all processes, which those of several machines do not have, and some interfaces to file systems do not offer: there,
/// SQLite's older journal does the same, a little slower.
fn choose_journal(connection: &Connection, shares_memory: bool) -> rusqlite::Result<()> {
    let mode =
        |mode: &str| connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0));
    let current: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let is_wal = current == "wal";
    if is_wal == shares_memory {
        return Ok(());
    }
    match mode(if is_wal { "delete" } else { "wal" }) {
        Ok(_) => Ok(()),
        // Another process has the file at this moment; it, or who opens it next, makes the same choice for all of us.
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
        Err(_) => mode("delete").map(drop),
    }
}

fn insert(transaction: &Transaction<'_>, record: &Record, bytes: &[u8]) -> rusqlite::Result<()> {
    let id = stored_id(record.id);
    let targets = record.environment.targets.iter();
    let paths: serde_json::Value = targets.filter_map(|target| target.path.clone()).collect();
    // An update, not a replacement: that would remove the baselines which name the run.
    transaction.execute(
        "INSERT INTO runs (id, started_ns, elapsed_ns, outcome, name, targets, version, record, paths)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET started_ns = ?2, elapsed_ns = ?3, outcome = ?4, name = ?5, targets = ?6,
         version = ?7, record = ?8, paths = ?9",
        params![
            id,
            nanoseconds(record.started),
            at_most_i64(record.elapsed_ns),
            word(record.outcome),
            record.name,
            serde_json::Value::from(record.asked.targets.clone()).to_string(),
            record.tool.version,
            bytes,
            paths.to_string()
        ],
    )?;
    transaction.execute("DELETE FROM cells WHERE run = ?1", [&id])?;
    transaction.execute("DELETE FROM tags WHERE run = ?1", [&id])?;
    for (position, cell) in record.cells.iter().map(CellSummary::of).enumerate() {
        transaction.execute(
            "INSERT INTO cells (run, position, target, workload, read_iops, write_iops, bytes_per_second,
             latency_mean_ns, latency_p99_ns, verdict, all_iops)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                id,
                position,
                cell.target,
                cell.workload,
                cell.read_iops,
                cell.write_iops,
                cell.bytes_per_second,
                cell.latency_mean_ns,
                cell.latency_p99_ns.map(at_most_i64),
                cell.verdict,
                cell.all_iops
            ],
        )?;
    }
    for (key, value) in &record.tags {
        transaction.execute("INSERT INTO tags (run, key, value) VALUES (?1, ?2, ?3)", params![id, key, value])?;
    }
    Ok(())
}

/// SQLite's integers are signed; three hundred years are enough for a summary, and the record keeps the exact value.
fn at_most_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn nanoseconds(moment: Timestamp) -> i64 {
    let ns = moment.as_nanosecond();
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// The file that SQLite keeps beside a database.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The address of a file that nobody changes, with every byte that could mean something else spelled out.
fn immutable_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests;
