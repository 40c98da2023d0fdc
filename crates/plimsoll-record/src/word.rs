//! The one word that stands beside the numbers of a cell.

use std::fmt;

use plimsoll_measure::verdict::Verdict;

use crate::{application::BoundBy, record::NOT_RUN};

/// What is said of a cell in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// What may be said of its numbers.
    Verdict(Verdict),
    /// What kept a command from being faster.
    Bound(BoundBy),
    /// Another program measured.
    Told,
    /// It has no numbers.
    NotRun,
}

impl Word {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verdict(verdict) => verdict.as_str(),
            Self::Bound(bound_by) => bound_by.as_str(),
            Self::Told => "told",
            Self::NotRun => NOT_RUN,
        }
    }

    /// Whether the numbers are perhaps not what they look like: those of a cache, of the machine, or of a moment.
    pub const fn is_doubtful(self) -> bool {
        match self {
            Self::Verdict(
                Verdict::Burst | Verdict::Drifting | Verdict::Unstable | Verdict::Cached | Verdict::ClientLimited,
            ) => true,
            Self::Verdict(Verdict::Steady | Verdict::Short) | Self::Bound(_) | Self::Told | Self::NotRun => false,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_claim_is_doubtful_by_being_short_or_told_or_about_a_command() {
        let doubtful = ["burst", "drifting", "unstable", "cached", "client-limited"];
        let verdicts = [
            Verdict::Steady,
            Verdict::Burst,
            Verdict::Drifting,
            Verdict::Unstable,
            Verdict::Cached,
            Verdict::ClientLimited,
            Verdict::Short,
        ];
        let bounds = [BoundBy::Cpu, BoundBy::Io, BoundBy::Waiting].map(Word::Bound);
        let words = verdicts.map(Word::Verdict).into_iter().chain(bounds).chain([Word::Told, Word::NotRun]);
        let found: Vec<&str> = words.filter(|word| word.is_doubtful()).map(Word::as_str).collect();
        assert_eq!(found, doubtful);
    }
}
