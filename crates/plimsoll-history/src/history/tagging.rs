//! Tags that are given to a run later.

use std::{borrow::Cow, collections::BTreeMap};

use plimsoll_record::record::Record;
use rusqlite::{OptionalExtension, Transaction, params};
use serde_json::Value;
use uuid::Uuid;

use super::{History, HistoryError};
use crate::{reference::stored_id, stored};

/// Tags by their keys.
type Tags = BTreeMap<String, String>;

impl History {
    /// Replaces the tags of a run: in its record, beside it, and in what it would go on with. Nothing else of these
    /// changes, nor what a later version has written into them.
    pub fn set_tags(&mut self, id: Uuid, tags: &Tags) -> Result<(), HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        let packed = |sql: &str| transaction.query_row(sql, [stored_id(id)], |row| row.get(0)).optional();
        let record: Option<Vec<u8>> = packed("SELECT record FROM runs WHERE id = ?1").map_err(&fail)?;
        let record = record.ok_or_else(|| HistoryError::NotFound(id.to_string()))?;
        let events: Option<Vec<u8>> = packed("SELECT events FROM unfinished WHERE run = ?1").map_err(&fail)?;
        let record = repacked(id, &record, |text| with_tags(text, tags))?;
        // It has to be read again like any other.
        stored::decode(id, &record)?;
        let events = events.map(|events| repacked(id, &events, |text| first_line_with_tags(text, tags))).transpose()?;
        write(&transaction, id, tags, &record, events.as_deref()).and_then(|()| transaction.commit()).map_err(fail)
    }
}

/// A record with the tags that its run has in the history, where that is: they may have been changed there since the
/// run began.
pub(super) fn as_tagged<'a>(transaction: &Transaction<'_>, record: &'a Record) -> rusqlite::Result<Cow<'a, Record>> {
    let mut statement = transaction
        .prepare("SELECT tags.key, tags.value FROM runs LEFT JOIN tags ON tags.run = runs.id WHERE runs.id = ?1")?;
    let rows = statement.query_map([stored_id(record.id)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // One row without a tag is a run without tags, and no row at all is no run.
    let rows = rows.collect::<rusqlite::Result<Vec<(Option<String>, Option<String>)>>>()?;
    let is_known = !rows.is_empty();
    let tags: Tags = rows.into_iter().filter_map(|(key, value)| key.zip(value)).collect();
    let differs = is_known && tags != record.tags;
    Ok(if differs { Cow::Owned(Record { tags, ..record.clone() }) } else { Cow::Borrowed(record) })
}

fn write(
    transaction: &Transaction<'_>,
    id: Uuid,
    tags: &Tags,
    record: &[u8],
    events: Option<&[u8]>,
) -> rusqlite::Result<()> {
    let id = stored_id(id);
    transaction.execute("UPDATE runs SET record = ?2 WHERE id = ?1", params![id, record])?;
    if let Some(events) = events {
        transaction.execute("UPDATE unfinished SET events = ?2 WHERE run = ?1", params![id, events])?;
    }
    transaction.execute("DELETE FROM tags WHERE run = ?1", [&id])?;
    for (key, value) in tags {
        transaction.execute("INSERT INTO tags (run, key, value) VALUES (?1, ?2, ?3)", params![id, key, value])?;
    }
    Ok(())
}

/// Unpacks a text, changes it and packs it again.
fn repacked(
    id: Uuid,
    bytes: &[u8],
    change: impl FnOnce(&[u8]) -> serde_json::Result<Vec<u8>>,
) -> Result<Vec<u8>, HistoryError> {
    let damaged = |source| HistoryError::RecordDamaged { id, source };
    let text = stored::unpack(bytes).map_err(damaged)?;
    let text = change(&text).map_err(|error| damaged(error.into()))?;
    stored::pack(&text).map_err(|error| stored::unwritable(id, error))
}

/// The JSON of a record with other tags.
fn with_tags(text: &[u8], tags: &Tags) -> serde_json::Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(text)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("tags".to_owned(), serde_json::to_value(tags)?);
    }
    serde_json::to_vec(&value)
}

/// JSON lines of which the first is the start of a run, with other tags.
pub(super) fn first_line_with_tags(text: &[u8], tags: &Tags) -> serde_json::Result<Vec<u8>> {
    let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    Ok([with_tags(first, tags)?, rest.to_vec()].concat())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::record::Outcome;

    use super::*;
    use crate::{history::Kept, summary::Filter, test_records, unfinished::Unfinished};

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn other_tags_are_in_the_record_beside_it_and_in_what_goes_on_and_nothing_else_changes() {
        let directory = tempfile::tempdir().unwrap();
        let mut history = History::open(&directory.path().join("history.db")).unwrap();
        let record = Record { outcome: Outcome::Interrupted, ..test_records::record(1) };
        let (started, events) = test_records::events(1);
        let mut unfinished = Unfinished::new(&started).unwrap();
        events.iter().take(5).for_each(|event| unfinished.push(&serde_json::to_vec(event).unwrap()));
        history.save_unfinished(&record, &unfinished).unwrap();
        history.set_baseline("before", record.id).unwrap();
        let wanted = tags(&[("host", "b"), ("note", "\"quoted\"\n")]);
        history.set_tags(record.id, &wanted).unwrap();
        assert_eq!(history.get(record.id).unwrap(), Record { tags: wanted.clone(), ..record.clone() });
        assert_eq!(history.list(&Filter::default()).unwrap()[0].tags, wanted);
        assert_eq!(history.baseline("before").unwrap(), Some(record.id));
        let beginning = history.resumable(record.id).unwrap().read(record.id).unwrap();
        assert_eq!((beginning.started.tags, beginning.events.len()), (wanted, 5));
        history.set_tags(record.id, &Tags::new()).unwrap();
        assert_eq!(history.get(record.id).unwrap().tags, Tags::new());
    }

    #[test]
    fn a_record_that_is_saved_again_keeps_the_tags_that_its_run_has_by_now() {
        let directory = tempfile::tempdir().unwrap();
        let mut history = History::open(&directory.path().join("history.db")).unwrap();
        let record = Record { outcome: Outcome::Interrupted, ..test_records::record(1) };
        assert!(!record.tags.is_empty());
        let unfinished = Unfinished::new(&test_records::events(1).0).unwrap();
        history.save(&record).unwrap();
        for wanted in [tags(&[("host", "b")]), Tags::new()] {
            history.set_tags(record.id, &wanted).unwrap();
            let again: [&dyn Fn(&mut History); 3] = [
                &|history| history.save(&record).unwrap(),
                &|history| assert_eq!(history.save_unless_less(&record).unwrap(), Kept::This),
                &|history| history.save_unfinished(&record, &unfinished).unwrap(),
            ];
            for save in again {
                save(&mut history);
                assert_eq!(history.get(record.id).unwrap(), Record { tags: wanted.clone(), ..record.clone() });
                assert_eq!(history.list(&Filter::default()).unwrap()[0].tags, wanted);
            }
            let beginning = history.resumable(record.id).unwrap().read(record.id).unwrap();
            assert_eq!(beginning.started.tags, wanted);
        }
    }

    #[test]
    fn what_a_later_version_wrote_into_a_record_stays() {
        let text = with_tags(b"{\"schema\":\"x\",\"tags\":{\"a\":\"b\"},\"moon\":1.10}", &Tags::new()).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "{\"schema\":\"x\",\"tags\":{},\"moon\":1.1}");
    }

    #[test]
    fn a_run_that_is_not_there_has_no_tags() {
        let directory = tempfile::tempdir().unwrap();
        let mut history = History::open(&directory.path().join("history.db")).unwrap();
        let error = history.set_tags(test_records::id(1), &Tags::new()).unwrap_err();
        assert!(matches!(error, HistoryError::NotFound(_)), "{error}");
    }
}
