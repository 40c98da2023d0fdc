//! What is kept of a run that was interrupted, so that it can go on: its start and its events up to the last slot that
//! counts, and what later ones found wrong, one a line. It lies beside the record in the history, and goes with it.

use plimsoll_record::event::{RunEvent, RunStarted};
use serde_json::Value;
use uuid::Uuid;

use crate::error::HistoryError;

/// The events of a run that ended before it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    text: Vec<u8>,
}

/// The same, understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Beginning {
    /// All that was known when the run began.
    pub started: RunStarted,
    /// What happened until the end of the last slot that counts, and what slots that are done again found wrong.
    pub events: Vec<RunEvent>,
}

impl Unfinished {
    /// A run that has only begun.
    pub(crate) fn new(started: &RunStarted) -> serde_json::Result<Self> {
        let mut text = serde_json::to_vec(started)?;
        text.push(b'\n');
        Ok(Self { text })
    }

    pub(crate) const fn of_text(text: Vec<u8>) -> Self {
        Self { text }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// How much there is of it.
    pub(crate) const fn length(&self) -> usize {
        self.text.len()
    }

    /// Adds an event as it was written.
    pub(crate) fn push(&mut self, event: &[u8]) {
        self.text.extend_from_slice(event);
        self.text.push(b'\n');
    }

    /// Forgets what came after it was so long.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
    }

    /// The events as they were written, without the start.
    pub(crate) fn event_lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines().skip(1)
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }

    /// Whether this is what another one became when its run had gone on.
    pub(crate) fn continues(&self, earlier: &Self) -> bool {
        let mut lines = self.event_lines();
        earlier.event_lines().all(|line| lines.next() == Some(line)) && lines.next().is_some()
    }

    /// What it says.
    ///
    /// # Errors
    /// When another version wrote it, and said what this one does not know. To leave that out would be another plan.
    pub fn read(&self, id: Uuid) -> Result<Beginning, HistoryError> {
        let unreadable = |source| HistoryError::UnfinishedUnreadable { id, source };
        let mut lines = self.lines();
        let first = lines.next().unwrap_or_default();
        let started: RunStarted = serde_json::from_slice(first).map_err(unreadable)?;
        let (asked, known) = (&serde_json::from_slice::<Value>(first).map_err(unreadable)?["plan"], &started.plan);
        if let Some(name) = unknown(asked, &serde_json::to_value(known).map_err(unreadable)?) {
            return Err(unreadable(serde::de::Error::custom(format!("its plan has \"{name}\""))));
        }
        let events = lines.map(serde_json::from_slice).collect::<Result<_, _>>().map_err(unreadable)?;
        Ok(Beginning { started, events })
    }
}

/// The first name in a value that another one does not have.
fn unknown(value: &Value, known: &Value) -> Option<String> {
    match (value, known) {
        (Value::Object(fields), Value::Object(known)) => {
            fields.iter().find_map(|(name, field)| match known.get(name) {
                Some(known) => unknown(field, known),
                None => Some(name.clone()),
            })
        }
        (Value::Array(items), Value::Array(known)) => {
            items.iter().zip(known).find_map(|(item, known)| unknown(item, known))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records;

    fn unfinished(number: u32, count: usize) -> Unfinished {
        let (started, events) = test_records::events(number);
        let mut unfinished = Unfinished::new(&started).unwrap();
        events[..count].iter().for_each(|event| unfinished.push(&serde_json::to_vec(event).unwrap()));
        unfinished
    }

    #[test]
    fn what_is_kept_says_what_was_written() {
        let (started, events) = test_records::events(1);
        let beginning = unfinished(1, 5).read(started.id).unwrap();
        assert!(beginning == Beginning { started, events: events[..5].to_vec() });
    }

    #[test]
    fn only_what_goes_further_continues() {
        assert!(unfinished(1, 5).continues(&unfinished(1, 4)));
        assert!(!unfinished(1, 4).continues(&unfinished(1, 4)));
        assert!(!unfinished(1, 3).continues(&unfinished(1, 4)));
    }

    #[test]
    fn a_plan_of_another_version_is_refused_and_never_read_in_part() {
        let id = test_records::id(1);
        let text = String::from_utf8(unfinished(1, 5).text).unwrap();
        for (from, to, named) in [
            ("\"queue_depth\":", "\"moon\":\"full\",\"queue_depth\":", "moon"),
            ("\"queue_depth\":", "\"depth\":", "queue_depth"),
            ("\"event\":\"engine_selected\"", "\"event\":\"engine_dreamt_of\"", "engine_dreamt_of"),
        ] {
            let other = text.replacen(from, to, 1);
            assert_ne!(other, text, "{from}");
            let error = Unfinished::of_text(other.into_bytes()).read(id).unwrap_err();
            assert!(error.to_string().contains("another version"), "{error}");
            let source = std::error::Error::source(&error).unwrap().to_string();
            assert!(source.contains(named), "{source}");
        }
    }
}
