//! Names for runs that later ones are compared with.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{History, HistoryError, listing};
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
        let before = self.baseline(name)?;
        if !self.contains(run)? {
            return Err(HistoryError::NotFound(run.to_string()));
        }
        let transaction = self.write()?;
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
        let run = self.baseline(name)?.ok_or_else(|| HistoryError::NoBaseline(name.to_owned()))?;
        let transaction = self.write()?;
        let removed = transaction.execute("DELETE FROM baselines WHERE name = ?1", [name]);
        removed.and_then(|_| transaction.commit()).map_err(fail)?;
        Ok(run)
    }

    /// The run of a baseline.
    pub fn baseline(&self, name: &str) -> Result<Option<Uuid>, HistoryError> {
        self.connection
            .query_row("SELECT run FROM baselines WHERE name = ?1", [name], |row| listing::id(row, 0))
            .optional()
            .map_err(self.failure())
    }

    /// All baselines, by name.
    pub fn baselines(&self) -> Result<Vec<Baseline>, HistoryError> {
        all(&self.connection).map_err(self.failure())
    }
}

pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Baseline>> {
    let mut statement = connection.prepare("SELECT name, run FROM baselines ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok(Baseline { name: row.get(0)?, run: listing::id(row, 1)? }))?;
    rows.collect()
}
