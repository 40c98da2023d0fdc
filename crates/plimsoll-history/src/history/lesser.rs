//! Records of a run that was put together more than once: from a cluster, and from logs.

use plimsoll_record::record::{Outcome, Record};
use rusqlite::{OptionalExtension, Transaction};

use super::{History, HistoryError, contains, insert, tagging, unfinished};
use crate::{reference::stored_id, stored};

/// Which record of a run is in the history now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The one that was to be saved.
    This,
    /// The one that was there.
    Former,
}

impl History {
    /// Puts a record in, unless there is one of the same run, which stays with its tags, its name and all that it takes
    /// to go on with it.
    pub fn save_unless_known(&mut self, record: &Record) -> Result<Kept, HistoryError> {
        let fail = self.failure();
        let bytes = stored::encode(record)?;
        let transaction = self.write()?;
        if contains(&transaction, record.id).map_err(&fail)? {
            return Ok(Kept::Former);
        }
        insert(&transaction, record, &bytes).and_then(|()| transaction.commit()).map_err(fail)?;
        Ok(Kept::This)
    }

    /// Puts a record in, unless one of the same run says more. Of two records the one says more that is of the whole
    /// run; then the one with more pods; then the one with more visits; then the one with the lives of volumes. The
    /// tags that the run has by now stay.
    pub fn save_unless_less(&mut self, record: &Record) -> Result<Kept, HistoryError> {
        let fail = self.failure();
        let transaction = self.write()?;
        if known(&transaction, record).map_err(&fail)?.is_some_and(|known| amount(record) < amount(&known)) {
            return Ok(Kept::Former);
        }
        let record = tagging::as_tagged(&transaction, record).map_err(&fail)?;
        let bytes = stored::encode(&record)?;
        insert(&transaction, &record, &bytes)
            .and_then(|()| unfinished::forget(&transaction, record.id))
            .and_then(|()| transaction.commit())
            .map_err(fail)?;
        Ok(Kept::This)
    }
}

/// What the history has of the same run; `None` also of what nobody can read any more.
fn known(transaction: &Transaction<'_>, record: &Record) -> rusqlite::Result<Option<Record>> {
    let sql = "SELECT record FROM runs WHERE id = ?1";
    let bytes: Option<Vec<u8>> = transaction.query_row(sql, [stored_id(record.id)], |row| row.get(0)).optional()?;
    Ok(bytes.and_then(|bytes| stored::decode(record.id, &bytes).ok()))
}

/// How much a record says of its run: what is more compares as more.
fn amount(record: &Record) -> impl PartialOrd {
    let is_whole = matches!(record.outcome, Outcome::Complete | Outcome::Failed);
    let pods = record.pods.as_ref().map_or(0, |pods| pods.pods.len());
    let visits: usize = record.cells.iter().map(|cell| cell.slots.len()).sum();
    (is_whole, pods, visits, !record.volumes.is_empty())
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{
        lifecycle::VolumeLifecycle,
        pods::{Pod, Pods},
    };

    use super::*;
    use crate::test_records;

    fn with_pods(count: usize) -> Record {
        let pod = |number| Pod { name: format!("pod-{number}"), node: None, cells: Vec::new() };
        let pods = Pods {
            start: None,
            take_turns: false,
            shared_files: None,
            pods: (0..count).map(pod).collect(),
            visits: Vec::new(),
        };
        Record { pods: Some(pods), ..test_records::record(1) }
    }

    #[test]
    fn what_is_known_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let mut history = History::open(&directory.path().join("history.sqlite")).unwrap();
        let record = test_records::record(1);
        assert_eq!(history.save_unless_known(&record).unwrap(), Kept::This);
        assert_eq!(history.save_unless_known(&Record { name: None, ..with_pods(3) }).unwrap(), Kept::Former);
        assert_eq!(history.get(record.id).unwrap(), record);
    }

    #[test]
    fn what_says_less_of_a_run_replaces_nothing_and_what_says_as_much_does() {
        let lost = Record { outcome: Outcome::Lost, ..with_pods(4) };
        let mut cut = test_records::record(1);
        cut.cells[0].slots.pop().unwrap();
        let with_volumes = Record { volumes: vec![VolumeLifecycle::default()], ..with_pods(2) };
        let in_order = [lost, cut, test_records::record(1), with_pods(1), with_pods(2), with_volumes];
        for (index, more) in in_order.iter().enumerate() {
            let directory = tempfile::tempdir().unwrap();
            let mut history = History::open(&directory.path().join("history.sqlite")).unwrap();
            for less in &in_order[..index] {
                assert_eq!(history.save_unless_less(less).unwrap(), Kept::This, "{index}");
            }
            assert_eq!(history.save_unless_less(more).unwrap(), Kept::This, "{index}");
            for less in &in_order[..index] {
                assert_eq!(history.save_unless_less(less).unwrap(), Kept::Former, "{index}");
            }
            assert_eq!(&history.get(more.id).unwrap(), more);
            let again = Record { name: Some("again".to_owned()), ..more.clone() };
            assert_eq!(history.save_unless_less(&again).unwrap(), Kept::This, "{index}");
            assert_eq!(history.get(more.id).unwrap(), again);
        }
    }
}
