//! Why nothing is generated.

use plimsoll_catalog::error::CatalogError;
use thiserror::Error;

/// What cannot be made. Each is one sentence that says what to write instead.
#[derive(Debug, Error)]
pub enum GenerateError {
    /// Something that it takes was not said.
    #[error("{place}: {what}")]
    Missing {
        /// The section of the plan.
        place: String,
        /// What is missing, and how to say it.
        what: String,
    },
    /// A text that a name cannot be.
    #[error("{place}: \"{text}\" is no {what}")]
    Word {
        /// The key of the plan.
        place: String,
        /// What stands there.
        text: String,
        /// What should.
        what: &'static str,
    },
    /// What the provider does not sell, or not so.
    #[error("{place}: {why}")]
    Impossible {
        /// The section of the plan.
        place: String,
        /// Why not, and what can be had.
        why: String,
    },
    /// What the catalog refuses.
    #[error("{place}: {source}")]
    Catalog {
        /// The section of the plan.
        place: String,
        /// Why not.
        source: CatalogError,
    },
    /// A plan that cannot be written as TOML.
    #[error("write the plan of the run")]
    Plan(#[from] toml::ser::Error),
    /// A description of what exists that is not understood.
    #[error("{0}")]
    Existing(String),
}

/// That something cannot be had.
pub(crate) fn impossible(place: &str, why: impl Into<String>) -> GenerateError {
    GenerateError::Impossible { place: place.to_owned(), why: why.into() }
}

/// That something was not said.
pub(crate) fn missing(place: &str, what: &str) -> GenerateError {
    GenerateError::Missing { place: place.to_owned(), what: what.to_owned() }
}

/// What the catalog said of a section.
pub(crate) fn of_catalog(place: &str) -> impl Fn(CatalogError) -> GenerateError + '_ {
    move |source| match source {
        CatalogError::Incomplete { product, what } => GenerateError::Catalog {
            place: place.to_owned(),
            source: CatalogError::Incomplete { product, what: in_words_of_plans(&what) },
        },
        source => GenerateError::Catalog { place: place.to_owned(), source },
    }
}

/// A plan has keys where commands have options: `iops = 10000` for `--iops 10000`, `size` for `--disk-size`.
fn in_words_of_plans(what: &str) -> String {
    let what = what.replace("--disk-size ", "--size ");
    let parts = what.split_once("as --").and_then(|(before, rest)| Some((before, rest.split_once(' ')?)));
    match parts {
        Some((before, (key, value))) if value.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{before}as {key} = {value}")
        }
        Some((before, (key, value))) if !value.contains(' ') => format!("{before}as {key} = \"{value}\""),
        _ => what,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn options_become_keys_and_other_words_stay() {
        for (said, told) in [
            ("give them, as --iops 10000", "give them, as iops = 10000"),
            ("give it, as --bandwidth 180MiB", "give it, as bandwidth = \"180MiB\""),
            ("give the provisioned size, as --disk-size 1Ti", "give the provisioned size, as size = \"1Ti\""),
            ("say --sku", "say --sku"),
        ] {
            assert_eq!(super::in_words_of_plans(said), told);
        }
    }
}
