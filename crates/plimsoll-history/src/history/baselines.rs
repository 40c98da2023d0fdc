//! Names for runs that later ones are compared with.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{History, HistoryError, contains, listing};
use crate::reference::{check_baseline_name, stored_id};

/// A run with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The name.
    pub name: String,
    /// The run.
    pub run: Uuid,
}

impl History {
    /// Gives a run a name; takes the name from the run that had it, which is returned.
    pub fn set_baseline(&mut self, name: &str, run: Uuid) -> Result<Option<Uuid>, HistoryError> {
        check_baseline_name(name)?;
        let fail = self.failure();
        let transaction = self.write()?;
        let before = of(&transaction, name).map_err(&fail)?;
        if !contains(&transaction, run).map_err(&fail)? {
            return Err(HistoryError::NotFound(run.to_string()));
        }
        transaction
            .execute(
                "INSERT INTO baselines (name, run) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET run = ?2",
                params![name, stored_id(run)],
            )
            .and_then(|_| transaction.commit())
            .map_err(fail)?;
        Ok(before)
    }

    /// Takes a name away; returns the run that had it, which stays in the history.
    pub fn unset_baseline(&mut self, name: &str) -> Result<Uuid, HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let run = of(&transaction, name).map_err(&fail)?;
        let run = run.ok_or_else(|| HistoryError::NoBaseline(name.to_owned()))?;
        let removed = transaction.execute("DELETE FROM baselines WHERE name = ?1", [name]);
        removed.and_then(|_| transaction.commit()).map_err(fail)?;
        Ok(run)
    }

    /// The run of a baseline.
    pub fn baseline(&self, name: &str) -> Result<Option<Uuid>, HistoryError> {
        of(&self.connection, name).map_err(self.failure())
    }

    /// All baselines, by name.
    pub fn baselines(&self) -> Result<Vec<Baseline>, HistoryError> {
        all(&self.connection).map_err(self.failure())
    }
}

fn of(connection: &Connection, name: &str) -> rusqlite::Result<Option<Uuid>> {
    connection.query_row("SELECT run FROM baselines WHERE name = ?1", [name], |row| listing::id(row, 0)).optional()
}

pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Baseline>> {
    let mut statement = connection.prepare("SELECT name, run FROM baselines ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok(Baseline { name: row.get(0)?, run: listing::id(row, 1)? }))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;
    use crate::test_records;

    #[test]
    fn a_run_that_another_process_removes_just_now_is_not_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let (mut history, mut other) = (History::open(&path).unwrap(), History::open(&path).unwrap());
        let record = test_records::record(1);
        history.save(&record).unwrap();
        let removal = other.write().unwrap();
        removal.execute("DELETE FROM runs WHERE id = ?1", [stored_id(record.id)]).unwrap();
        let waiting = thread::spawn(move || history.set_baseline("before", record.id));
        thread::sleep(Duration::from_millis(100));
        removal.commit().unwrap();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, HistoryError::NotFound(_)), "{error}");
    }
}
