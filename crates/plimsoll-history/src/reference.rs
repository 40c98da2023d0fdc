//! How people name a run: a piece of its id, `latest`, a baseline, or its name.

use uuid::Uuid;

use crate::error::HistoryError;

/// The word for the run that began last.
pub(crate) const LATEST: &str = "latest";

/// Fewer digits of an id are more likely a slip than a choice.
const DIGITS_MIN: usize = 4;

/// The digits of an id that a text spells, hyphens left out; `None` when it spells none.
pub(crate) fn id_digits(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|character| *character != '-').collect();
    let is_id = text.starts_with(|first: char| first.is_ascii_hexdigit())
        && digits.len() <= 32
        && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| digits.to_ascii_lowercase())
}

/// Whether there are enough digits to look for.
pub(crate) const fn is_long_enough(digits: &str) -> bool {
    digits.len() >= DIGITS_MIN
}

/// The id as the history stores it.
pub(crate) fn stored_id(id: Uuid) -> String {
    id.simple().to_string()
}

/// An id cut to its first `digits` hexadecimal digits, with the hyphens of the whole.
pub(crate) fn short_id(id: Uuid, digits: usize) -> String {
    let text = id.to_string();
    let mut left = digits;
    let keep = text.chars().take_while(|character| {
        let is_kept = left > 0;
        left -= usize::from(is_kept && *character != '-');
        is_kept
    });
    keep.collect()
}

/// Refuses names that could mean something else, or that a shell or a file system would stumble over.
pub(crate) fn check_baseline_name(name: &str) -> Result<(), HistoryError> {
    let is_fine = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
        && name.len() <= 64
        && name != LATEST
        && id_digits(name).is_none_or(|digits| !is_long_enough(&digits));
    if is_fine { Ok(()) } else { Err(HistoryError::BaselineName(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_with_or_without_hyphens_and_in_capitals() {
        assert_eq!(id_digits("0199C0DE-7a3e").as_deref(), Some("0199c0de7a3e"));
        assert_eq!(id_digits("0199c0de7a3e").as_deref(), Some("0199c0de7a3e"));
        for text in ["", "-", "--0199", "0199x", "latest", "before upgrade", &"0".repeat(33)] {
            assert_eq!(id_digits(text), None, "{text}");
        }
    }

    #[test]
    fn a_short_id_keeps_the_hyphens_inside() {
        let id: Uuid = "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap();
        for (digits, text) in
            [(8, "0199c0de"), (9, "0199c0de-7"), (12, "0199c0de-7a3e"), (13, "0199c0de-7a3e-7"), (32, &id.to_string())]
        {
            assert_eq!(short_id(id, digits), text);
        }
    }

    #[test]
    fn a_baseline_is_never_mistaken_for_an_id() {
        for name in ["before-upgrade", "v1.2", "release_3", "g0", "b1", "bad"] {
            assert!(check_baseline_name(name).is_ok(), "{name}");
        }
        for name in ["latest", "cafe", "dead-beef", "", "1st", "-x", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(check_baseline_name(name).is_err(), "{name}");
        }
    }
}
