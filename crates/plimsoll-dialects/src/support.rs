//! How far an option of another program is honoured.

use std::fmt;

/// How far an option is honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// As its program does it.
    Exact,
    /// Not quite as its program does it, for a reason.
    Approximate(&'static str),
    /// Taken and echoed, but without effect, for a reason.
    Ignored(&'static str),
    /// Not taken, for a reason.
    Refused(&'static str),
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Approximate(reason) => write!(f, "approximate: {reason}"),
            Self::Ignored(reason) => write!(f, "ignored: {reason}"),
            Self::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}
