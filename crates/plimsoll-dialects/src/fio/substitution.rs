//! `${NAME}` from the environment, and `$pagesize`, `$mb_memory` and `$ncpus`, with arithmetic around them.

use super::expression::{Quantity, evaluate};
use crate::problem::Wrong;

/// The longest text that an option may have after substitution, so that no environment grows without bounds.
const TEXT_MAX: usize = 1 << 16;

/// The values that stand for words of a job file.
pub(super) struct Values<'a> {
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
    pub(super) page_size_bytes: u64,
    pub(super) memory_mib: u64,
    pub(super) processors: u64,
}

/// A text with everything put in its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Substituted {
    pub(super) text: String,
    /// Variables that are not set; each became nothing.
    pub(super) unset: Vec<String>,
}

/// Substitutes in one option, `key=value`.
pub(super) fn substitute(option: &str, values: &Values<'_>) -> Result<Substituted, Wrong> {
    let mut unset = Vec::new();
    let text = environment(option, values, &mut unset);
    let text = keywords(&text, values)?;
    if text.len() > TEXT_MAX {
        return Err(Wrong::new(format!("is {} bytes long with its variables; {TEXT_MAX} are the most", text.len())));
    }
    Ok(Substituted { text, unset })
}

fn environment(option: &str, values: &Values<'_>, unset: &mut Vec<String>) -> String {
    let mut text = String::with_capacity(option.len());
    let mut rest = option;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        text.push_str(&rest[..start]);
        match (values.environment)(name) {
            Some(value) => text.push_str(&value),
            None => unset.push(name.to_owned()),
        }
        rest = &rest[start + length + 1..];
    }
    text + rest
}

fn keywords(option: &str, values: &Values<'_>) -> Result<String, Wrong> {
    let words =
        [("$pagesize", values.page_size_bytes), ("$mb_memory", values.memory_mib), ("$ncpus", values.processors)];
    if !words.iter().any(|(word, _)| option.contains(word)) {
        return Ok(option.to_owned());
    }
    let text = words.iter().fold(option.to_owned(), |text, (word, value)| text.replace(word, &value.to_string()));
    let Some((key, value)) = text.split_once('=') else { return Ok(text) };
    // A path has dashes and slashes too; only what is nothing but arithmetic is calculated.
    let is_arithmetic = value.chars().all(|c| c.is_ascii_digit() || " +-*/%^()".contains(c));
    let has_operator = value.contains(['+', '-', '*', '/', '%', '^']);
    if !is_arithmetic || !has_operator || value.trim_end().ends_with('%') {
        return Ok(text);
    }
    let result = evaluate(value.trim(), Quantity::Bytes)?.value.trunc();
    Ok(format!("{key}={result:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substituted(option: &str) -> String {
        let environment = |name: &str| (name == "DIR").then(|| "/mnt/data".to_owned());
        let values = Values { environment: &environment, page_size_bytes: 4096, memory_mib: 1000, processors: 8 };
        substitute(option, &values).unwrap().text
    }

    #[test]
    fn variables_and_keywords_are_put_in_their_place() {
        for (option, text) in [
            ("directory=${DIR}/x", "directory=/mnt/data/x"),
            ("directory=${DIR}${DIR}", "directory=/mnt/data/mnt/data"),
            ("size=${UNSET}", "size="),
            ("size=${UNCLOSED", "size=${UNCLOSED"),
            ("bs=$pagesize", "bs=4096"),
            ("size=8*$mb_memory", "size=8000"),
            ("numjobs=$ncpus/3", "numjobs=2"),
            ("filename=/tmp/a-$ncpus", "filename=/tmp/a-8"),
            ("size=8*4", "size=8*4"),
            ("filename=$HOME/x", "filename=$HOME/x"),
        ] {
            assert_eq!(substituted(option), text);
        }
    }

    #[test]
    fn variables_that_are_not_set_are_named() {
        let values = Values { environment: &|_| None, page_size_bytes: 1, memory_mib: 1, processors: 1 };
        assert_eq!(substitute("size=${A}${B}", &values).unwrap().unset, ["A", "B"]);
    }

    #[test]
    fn an_environment_does_not_grow_an_option_without_bounds() {
        let long = |_: &str| Some("x".repeat(1 << 12));
        let values = Values { environment: &long, page_size_bytes: 1, memory_mib: 1, processors: 1 };
        assert!(substitute(&format!("a={}", "${A}".repeat(100)), &values).is_err());
    }
}
