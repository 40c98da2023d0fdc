//! What runs are called in sentences.

use plimsoll_record::{numbers, record::Record};

use crate::printable;

/// The name given to a run, or the file that it was read from, or the beginning of its id. Where another run has the
/// same name, it is told with its time.
pub(crate) fn of(record: &Record, all: &[&Record]) -> String {
    let Some(name) = given(record) else {
        return numbers::id_prefix(&record.id.to_string()).to_owned();
    };
    let is_namesake = |other: &&&Record| other.id != record.id && given(other) == Some(name);
    let name = printable::line(name);
    match all.iter().find(is_namesake) {
        Some(_) => format!("{name} ({})", numbers::moment(record.started)),
        None => name.into_owned(),
    }
}

fn given(record: &Record) -> Option<&str> {
    // Where a file was is no business of whoever is sent a report.
    let imported = record.import.as_ref().and_then(|import| import.file.rsplit('/').next());
    record.name.as_deref().or(imported)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::test_records;

    #[test]
    fn runs_of_one_name_are_told_apart_by_their_times() {
        let mut first = test_records::canonical();
        assert_eq!(of(&first, &[&first]), "0199c0de-7a3e");
        first.name = Some("nightly\n".to_owned());
        let mut second = first.clone();
        second.id = Uuid::from_u128(7);
        assert_eq!(of(&first, &[&first]), "nightly ");
        assert_eq!(of(&first, &[&first, &second]), "nightly  (2025-10-08 09:30 UTC)");
    }
}
