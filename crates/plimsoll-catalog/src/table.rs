//! The data files of this crate: comma-separated values with a header, one struct a row.

use serde::de::DeserializeOwned;

/// The rows of a data file.
pub(crate) fn rows<Row: DeserializeOwned>(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("the data files are read by the tests of this crate")).collect()
}

/// A row that is found by its name.
pub(crate) trait Named {
    /// The name.
    fn name(&self) -> &str;
}

/// The row of a name, in any case.
pub(crate) fn find<'a, Row: Named>(rows: &'a [Row], name: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.name().eq_ignore_ascii_case(name))
}
