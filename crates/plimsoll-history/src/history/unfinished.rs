//! The events of runs that were interrupted, beside their records.

use std::borrow::Cow;

use plimsoll_record::record::{Outcome, Record};
use rusqlite::{OptionalExtension, Transaction, params};
use uuid::Uuid;

use super::{History, HistoryError, insert, tagging};
use crate::{reference::stored_id, stored, unfinished::Unfinished};

impl History {
    /// Puts the record of a run in that was interrupted, with what it takes to go on with it: both or neither.
    pub fn save_unfinished(&mut self, record: &Record, unfinished: &Unfinished) -> Result<(), HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let record = tagging::as_tagged(&transaction, record).map_err(&fail)?;
        let bytes = stored::encode(&record)?;
        let unwritable = |error| stored::unwritable(record.id, error);
        let text = match &record {
            Cow::Borrowed(_) => Cow::Borrowed(unfinished.text()),
            Cow::Owned(Record { tags, .. }) => {
                let text = tagging::first_line_with_tags(unfinished.text(), tags);
                Cow::Owned(text.map_err(|error| unwritable(error.into()))?)
            }
        };
        let events = stored::pack(&text).map_err(unwritable)?;
        insert(&transaction, &record, &bytes)
            .and_then(|()| {
                let sql = "INSERT OR REPLACE INTO unfinished (run, events) VALUES (?1, ?2)";
                transaction.execute(sql, params![stored_id(record.id), events])
            })
            .and_then(|_| transaction.commit())
            .map_err(fail)
    }

    /// What is kept of a run so that it can go on, if anything.
    pub fn unfinished(&self, id: Uuid) -> Result<Option<Unfinished>, HistoryError> {
        let bytes: Option<Vec<u8>> = self
            .connection
            .query_row("SELECT events FROM unfinished WHERE run = ?1", [stored_id(id)], |row| row.get(0))
            .optional()
            .map_err(self.failure())?;
        let unpack = |bytes: Vec<u8>| stored::unpack(&bytes).map(Unfinished::of_text);
        bytes.map(unpack).transpose().map_err(|source| HistoryError::RecordDamaged { id, source })
    }

    /// What it takes to go on with a run.
    ///
    /// # Errors
    /// When the run was not interrupted, or nothing is kept of it.
    pub fn resumable(&self, id: Uuid) -> Result<Unfinished, HistoryError> {
        let outcome = self.get(id)?.outcome;
        match (outcome, self.unfinished(id)?) {
            (Outcome::Complete, _) => Err(HistoryError::NothingMissing { id }),
            (Outcome::Failed, _) => Err(HistoryError::RunFailed { id }),
            (Outcome::Interrupted | Outcome::Lost, Some(unfinished)) => Ok(unfinished),
            (Outcome::Interrupted | Outcome::Lost, None) => Err(HistoryError::NotKept { id }),
        }
    }
}

/// Forgets what was kept of a run.
pub(super) fn forget(transaction: &Transaction<'_>, id: Uuid) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM unfinished WHERE run = ?1", [stored_id(id)]).map(drop)
}
