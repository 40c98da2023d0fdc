//! What follows the question mark: pairs, some of which may be repeated, and none of which may be unknown.

use super::answer::Refusal;

/// The pairs of a query.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The pairs, all of whose names must be known.
    pub(crate) fn read(text: Option<&str>, known: &[&str]) -> Result<Self, Refusal> {
        let pairs: Vec<(String, String)> =
            form_urlencoded::parse(text.unwrap_or_default().as_bytes()).into_owned().collect();
        match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(Refusal::usage(format!(
                "\"{name}\" is nothing that can be asked here: known are {}",
                known.join(", ")
            ))),
            None => Ok(Self(pairs)),
        }
    }

    /// The last value of a name, unless it is empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let values = self.0.iter().rev().filter(|(known, _)| known == name);
        values.map(|(_, value)| value.as_str()).next().filter(|value| !value.is_empty())
    }

    /// Every value of a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Refusal> {
        let read = |text: &str| {
            text.parse().map_err(|_| Refusal::usage(format!("{name}={text} is no whole number: write it in digits")))
        };
        self.text(name).map(read).transpose()
    }
}
