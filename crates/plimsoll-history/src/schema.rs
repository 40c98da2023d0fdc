//! The tables of the history, and how a file gets from one version of them to the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Marks the file as ours in SQLite's header: "plim".
pub(crate) const APPLICATION_ID: i64 = 0x706c_696d;

/// Each entry takes a file from the version before it to its own; entries are never changed, only added.
pub(crate) const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE runs (
        id TEXT PRIMARY KEY NOT NULL,       -- 32 hexadecimal digits; their order is that of time
        started_ns INTEGER NOT NULL,        -- since 1970
        elapsed_ns INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        name TEXT,
        targets TEXT NOT NULL,              -- a JSON array
        version TEXT NOT NULL,              -- of the plimsoll that measured
        record BLOB NOT NULL                -- the whole record: JSON as gzip, which has a checksum
    ) STRICT;
    CREATE INDEX runs_by_start ON runs (started_ns);
    CREATE TABLE cells (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        target TEXT NOT NULL,
        workload TEXT NOT NULL,
        read_iops REAL,
        write_iops REAL,
        bytes_per_second REAL,
        latency_mean_ns REAL,
        latency_p99_ns INTEGER,
        verdict TEXT NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tags (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (run, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE baselines (
        name TEXT PRIMARY KEY NOT NULL,
        run TEXT NOT NULL REFERENCES runs (id)
    ) STRICT, WITHOUT ROWID;
    ",
    // A cell that was not run has no verdict.
    "
    CREATE TABLE cells_with_optional_verdict (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        target TEXT NOT NULL,
        workload TEXT NOT NULL,
        read_iops REAL,
        write_iops REAL,
        bytes_per_second REAL,
        latency_mean_ns REAL,
        latency_p99_ns INTEGER,
        verdict TEXT,
        PRIMARY KEY (run, position)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO cells_with_optional_verdict SELECT * FROM cells;
    DROP TABLE cells;
    ALTER TABLE cells_with_optional_verdict RENAME TO cells;
    ",
    // Interrupted runs can go on.
    "
    CREATE TABLE unfinished (
        run TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        events BLOB NOT NULL                -- the start of the run and its events, JSON lines as gzip
    ) STRICT;
    ",
    // Other programs tell some rates of reads and writes together.
    "
    ALTER TABLE cells ADD COLUMN all_iops REAL;
    ",
    // Targets are called as they were typed, which may be "." in several places.
    "
    ALTER TABLE runs ADD COLUMN paths TEXT NOT NULL DEFAULT '[]'; -- where the targets are: a JSON array
    ",
];

/// The version that this plimsoll writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// What a file is, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing yet, or a history of an earlier version.
    Older,
    /// A history of this version.
    Current,
    /// A history of this later version.
    Newer(i64),
    /// A database of another program.
    Foreign,
}

/// Looks at a file without changing it.
pub(crate) fn look(connection: &Connection) -> rusqlite::Result<Found> {
    // One transaction, so that a migration of another process is seen whole or not at all.
    let transaction = connection.unchecked_transaction()?;
    let found = look_inside(&transaction)?;
    transaction.finish()?;
    Ok(found)
}

fn look_inside(transaction: &Transaction<'_>) -> rusqlite::Result<Found> {
    let number = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version) {
        (0, 0) if tables == 0 => Found::Older,
        (APPLICATION_ID, VERSION) => Found::Current,
        (APPLICATION_ID, 0..VERSION) => Found::Older,
        (APPLICATION_ID, version) => Found::Newer(version),
        _ => Found::Foreign,
    })
}

/// Brings a file to this version. Safe when several processes try at once: the first one does it.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if look_inside(&transaction)? != Found::Older {
        return transaction.finish();
    }
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
