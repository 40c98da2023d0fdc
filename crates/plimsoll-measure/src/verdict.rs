//! The one word that a cell's numbers deserve.

use serde::{Deserialize, Serialize};

/// What may be said of a cell. Only `steady` is a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The rate was level over the window and is known to the asked precision.
    Steady,
    /// A burst allowance was used up, or was still in use.
    Burst,
    /// The rate was still moving.
    Drifting,
    /// The rate fluctuated too much for a single number.
    Unstable,
    /// A cache answered instead of the storage.
    Cached,
    /// The machine that measured was the limit.
    ClientLimited,
    /// The measurement was too short to claim anything.
    Short,
}

impl Verdict {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Burst => "burst",
            Self::Drifting => "drifting",
            Self::Unstable => "unstable",
            Self::Cached => "cached",
            Self::ClientLimited => "client-limited",
            Self::Short => "short",
        }
    }
}
