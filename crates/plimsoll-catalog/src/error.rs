//! Why there is no limit to be told.

use thiserror::Error;

/// What a catalog cannot answer. Each says what is wrong and what to write.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CatalogError {
    /// A name that no catalog has.
    #[error(
        "the catalog has no {kind} \"{name}\"{}: `plimsoll catalog list` shows what it has",
        did_you_mean(suggestions)
    )]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// The name.
        name: String,
        /// Names like it.
        suggestions: Vec<String>,
    },
    /// A name that none of a cluster's volumes and classes has.
    #[error("no volume or class is called \"{name}\": there are {known}")]
    NoObject {
        /// The name.
        name: String,
        /// Names that they have.
        known: String,
    },
    /// A name that several of them have.
    #[error("\"{name}\" may be {meant}: name one of them in full")]
    SeveralObjects {
        /// The name.
        name: String,
        /// What it may be.
        meant: String,
    },
    /// Something that it takes to tell the limit was not said.
    #[error("{product}: {what}")]
    Incomplete {
        /// The product.
        product: String,
        /// What is missing, and how to say it.
        what: String,
    },
    /// What was described cannot be bought.
    #[error("{product}: {why}")]
    Impossible {
        /// The product.
        product: String,
        /// Why not, and what can.
        why: String,
    },
    /// A file of limits of one's own is not understood.
    #[error("{file}: {problem}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong, with the line where it is known.
        problem: String,
    },
}

fn did_you_mean(suggestions: &[String]) -> String {
    match suggestions {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

impl CatalogError {
    /// That a name is not known, with the names that are most like it.
    pub(crate) fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        const LIKENESS_MIN: f64 = 0.8;
        let wanted = name.to_ascii_lowercase();
        let mut like: Vec<(f64, &str)> = known
            .map(|known| (strsim::jaro_winkler(&wanted, &known.to_ascii_lowercase()), known))
            .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
            .collect();
        like.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
        like.dedup_by(|one, other| one.1 == other.1);
        let suggestions = like.into_iter().take(3).map(|(_, name)| name.to_owned()).collect();
        Self::Unknown { kind, name: name.to_owned(), suggestions }
    }
}
