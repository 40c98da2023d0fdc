//! Reads records of every schema there has been. Old ones are upgraded as they are read, never rewritten in place.

use serde_json::{Value, json};
use thiserror::Error;

use crate::record::{Record, SCHEMA};

/// Why a text is not a record.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Not JSON, or not of the shape its schema demands.
    #[error("not a plimsoll record")]
    Malformed(#[from] serde_json::Error),
    /// JSON without `schema`.
    #[error("not a plimsoll record: it has no \"schema\"")]
    NoSchema,
    /// Written by a version of plimsoll that this one does not know.
    #[error("the record has schema \"{0}\", which this version cannot read: use a newer plimsoll")]
    UnknownSchema(String),
}

/// Reads a record of any known schema.
pub fn read(text: &str) -> Result<Record, ReadError> {
    let value: Value = serde_json::from_str(text)?;
    let schema = value.get("schema").and_then(Value::as_str).ok_or(ReadError::NoSchema)?;
    match schema {
        SCHEMA => {
            let mut value = value;
            name_stopping_rules(&mut value);
            Ok(serde_json::from_value(value)?)
        }
        other => Err(ReadError::UnknownSchema(other.to_owned())),
    }
}

/// The first records of schema 1 say how many slots were planned, but not by which rule.
fn name_stopping_rules(record: &mut Value) {
    let cells = record.get_mut("cells").and_then(Value::as_array_mut).into_iter().flatten();
    for cell in cells.filter_map(Value::as_object_mut) {
        if let (None, Some(rounds)) = (cell.get("stopping"), cell.get("rounds").cloned()) {
            cell.insert("stopping".to_owned(), json!({ "rule": "fixed", "slots": rounds, "discarded": 0 }));
        }
    }
}
