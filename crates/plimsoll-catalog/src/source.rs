//! Where a figure stands, and of when that is.

use std::{fmt, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::table::{self, Named};

/// A document or data set that a figure was taken from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Source {
    /// How rows refer to it.
    pub id: String,
    /// Where it is: repository, path and commit, or address.
    pub source: String,
    /// The date that it gives itself; empty when it gives none.
    pub date: String,
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| table::rows(include_str!("../data/sources.csv")));

impl Named for Source {
    fn name(&self) -> &str {
        &self.id
    }
}

impl Source {
    /// The source that a row refers to.
    pub fn of(id: &str) -> &'static Self {
        table::find(&SOURCES, id).expect("the tests look every reference up")
    }

    /// Whether there is one of this name.
    #[cfg(test)]
    pub(crate) fn is_known(id: &str) -> bool {
        table::find(&SOURCES, id).is_some()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.date.as_str() {
            "" => write!(f, "{} (undated)", self.source),
            date => write!(f, "{} ({date})", self.source),
        }
    }
}
