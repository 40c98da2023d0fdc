//! SQLite: rows that are committed one by one, rows that are loaded at once, and a database that is written anew.

use std::path::Path;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_workload::{content::ContentSource, payload::Payload, units::Span};
use rusqlite::{Connection, OpenFlags, params};

use crate::{Figure, ProgramError, Stretch, timed};

/// What databases made here say of themselves: "plim".
const APPLICATION: i32 = 0x706c_696d;
/// Bytes of a row's value.
const VALUE_BYTES: usize = 100;

/// How commits become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// A log that is written ahead, and copied into the database now and then.
    Wal,
    /// A copy of what is changed, which is removed by each commit.
    Delete,
}

impl Journal {
    const fn pragma(self) -> &'static str {
        match self {
            Self::Wal => "wal",
            Self::Delete => "delete",
        }
    }
}

/// A database in one file.
#[derive(Debug)]
pub struct Database<'p> {
    path: &'p Path,
    connection: Connection,
}

impl<'p> Database<'p> {
    /// Makes one with `synchronous = FULL`: a commit is synced before it returns. As with any SQLite, the last ones may
    /// come undone by a loss of power where a rollback journal that was removed comes back.
    ///
    /// # Errors
    /// When there is a file with this name, or the system or SQLite refuses something.
    pub fn create(path: &'p Path, journal: Journal) -> Result<Self, ProgramError> {
        drop(crate::files::create(path)?);
        let database = Self::connect(path)?;
        let pragmas = format!(
            "PRAGMA application_id = {APPLICATION}; PRAGMA journal_mode = {}; PRAGMA synchronous = FULL;",
            journal.pragma()
        );
        database.execute(&pragmas)?;
        database.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, value BLOB NOT NULL)")?;
        Ok(database)
    }

    /// Opens one that was made here.
    ///
    /// # Errors
    /// When there is none, or it is of somebody else.
    pub fn open(path: &'p Path) -> Result<Self, ProgramError> {
        let database = Self::connect(path)?;
        let id = database.connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
        if id.map_err(|source| database.refused(source))? != APPLICATION {
            let what = "it is a database of somebody else, and stays as it is".to_owned();
            return Err(ProgramError::Damaged { path: path.to_owned(), what });
        }
        Ok(database)
    }

    fn connect(path: &'p Path) -> Result<Self, ProgramError> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(|source| ProgramError::Sqlite { path: path.to_owned(), source })?;
        Ok(Self { path, connection })
    }

    /// Commits row after row for some time.
    ///
    /// # Errors
    /// When SQLite refuses something.
    pub fn commit(&self, time: Span, seed: u64) -> Result<Vec<Figure>, ProgramError> {
        let (stretch, mut commits, mut latencies) = (Stretch::begin(), 0, LatencyHistogram::fine());
        loop {
            timed(&mut latencies, || self.insert(commits, seed))?;
            commits += 1;
            if stretch.is_past(time) {
                break;
            }
        }
        let rate = Figure::rate("commits", commits, stretch.seconds());
        Ok([Some(rate), Figure::p99("commit_p99", &latencies)].into_iter().flatten().collect())
    }

    /// Puts so many rows in at once, and an index on them.
    ///
    /// # Errors
    /// When SQLite refuses something.
    pub fn load(&self, rows: u64, seed: u64) -> Result<(), ProgramError> {
        self.execute("BEGIN")?;
        (0..rows).try_for_each(|number| self.insert(number, seed))?;
        self.execute("CREATE INDEX entries_key ON entries (key)")?;
        self.execute("COMMIT")
    }

    /// Writes the database anew.
    ///
    /// # Errors
    /// When SQLite refuses something.
    pub fn vacuum(&self) -> Result<(), ProgramError> {
        self.execute("VACUUM")
    }

    /// Whether the database is whole, has as many rows as are due, and none between others is missing.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, due: Option<u64>) -> Result<(), ProgramError> {
        let damaged = |what| ProgramError::Damaged { path: self.path.to_owned(), what };
        let answer = self.connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        let answer = answer.map_err(|source| self.refused(source))?;
        if answer != "ok" {
            return Err(damaged(answer));
        }
        let count = |what: &str| {
            let question = format!("SELECT {what} FROM entries");
            let count = self.connection.query_row(&question, [], |row| row.get::<_, u64>(0));
            count.map_err(|source| self.refused(source))
        };
        let rows = count("count(*)")?;
        let due = due.map_or_else(|| count("ifnull(max(id) + 1, 1)"), Ok)?;
        if rows == due { Ok(()) } else { Err(damaged(format!("of {due} rows {rows} are there"))) }
    }

    fn insert(&self, number: u64, seed: u64) -> Result<(), ProgramError> {
        let mut value = [0; VALUE_BYTES];
        ContentSource::new(&Payload::default(), seed).fill(&mut value, number, 0);
        let key = i64::from_le_bytes(std::array::from_fn(|byte| value[byte]));
        let insert = self.connection.prepare_cached("INSERT INTO entries VALUES (?1, ?2, ?3)");
        insert
            .and_then(|mut insert| insert.execute(params![number.cast_signed(), key, value.as_slice()]))
            .map(drop)
            .map_err(|source| self.refused(source))
    }

    fn execute(&self, statements: &str) -> Result<(), ProgramError> {
        self.connection.execute_batch(statements).map_err(|source| self.refused(source))
    }

    fn refused(&self, source: rusqlite::Error) -> ProgramError {
        ProgramError::Sqlite { path: self.path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TIME: Span = Span { ns: 1_000_000 };

    #[test]
    fn what_was_committed_is_there_and_what_is_missing_is_told() {
        let directory = tempfile::tempdir().unwrap();
        for journal in [Journal::Wal, Journal::Delete] {
            let path = directory.path().join(journal.pragma());
            let figures = Database::create(&path, journal).unwrap().commit(TIME, 7).unwrap();
            assert_eq!((figures[0].name, figures[0].unit), ("commits", "/s"));
            assert!(figures[0].value > 0.0);
            let database = Database::open(&path).unwrap();
            let mode: String = database.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
            assert_eq!(mode, journal.pragma());
            database.insert(1 << 40, 7).unwrap();
            let told = database.check(None).unwrap_err().to_string();
            assert!(told.contains("of 1099511627777 rows "), "{told}");
            database.execute("DELETE FROM entries WHERE id = 1099511627776").unwrap();
            database.check(None).unwrap();
            database.execute("DELETE FROM entries").unwrap();
            assert!(database.check(None).unwrap_err().to_string().ends_with("of 1 rows 0 are there"));
        }
    }

    #[test]
    fn a_database_is_loaded_and_written_anew_and_damage_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        Database::create(&path, Journal::Delete).unwrap().load(2000, 7).unwrap();
        let database = Database::open(&path).unwrap();
        database.vacuum().unwrap();
        database.check(Some(2000)).unwrap();
        let told = database.check(Some(2001)).unwrap_err().to_string();
        assert!(told.ends_with("of 2001 rows 2000 are there"), "{told}");
        drop(database);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64].fill(0xff);
        fs::write(&path, bytes).unwrap();
        Database::open(&path).unwrap().check(None).unwrap_err();
    }

    #[test]
    fn a_file_that_is_there_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("precious");
        fs::write(&path, "mine").unwrap();
        let told = Database::create(&path, Journal::Wal).unwrap_err().to_string();
        assert!(told.contains("precious") && told.contains("exists"), "{told}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        Database::open(&directory.path().join("absent")).unwrap_err();
        let foreign = directory.path().join("foreign");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE precious (value)").unwrap();
        let told = Database::open(&foreign).unwrap_err().to_string();
        assert!(told.contains("of somebody else"), "{told}");
    }
}
