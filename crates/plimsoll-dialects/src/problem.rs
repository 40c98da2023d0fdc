//! What is wrong with a file or a command line, or was not taken literally: where, what, and what to write.

use std::{fmt, sync::Arc};

use thiserror::Error;

/// The name of the command line as a place.
pub const COMMAND_LINE: &str = "command line";

/// A place in the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file as it was named, or `command line`.
    pub file: Arc<str>,
    /// The line of a file, from 1; the word of a command line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
}

impl Place {
    /// The same line at another column.
    pub(crate) fn at(&self, column: usize) -> Self {
        Self { column, ..self.clone() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if &*self.file == COMMAND_LINE {
            return write!(f, "{}, word {}", self.file, self.line);
        }
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something that cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to write instead, where that is known.
    pub instead: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)?;
        match &self.instead {
            Some(instead) => write!(f, "; {instead}"),
            None => Ok(()),
        }
    }
}

/// All that is wrong with an input, in the order of reading.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let end = if index + 1 < self.0.len() { "\n" } else { "" };
            write!(f, "{problem}{end}")?;
        }
        Ok(())
    }
}

/// Something that was taken, but not as literally as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// Where.
    pub place: Place,
    /// What was done with it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

/// Why a value was refused; the place is added by whoever knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// What is wrong.
    pub what: String,
    /// What to write instead, where that is known.
    pub instead: Option<String>,
}

impl Wrong {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), instead: None }
    }

    pub(crate) fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }

    pub(crate) fn at(self, place: Place) -> Problem {
        Problem { place, what: self.what, instead: self.instead }
    }
}
