//! What a ratio with its interval lets one say.

use serde::{Deserialize, Serialize};

use super::ratio::Ratio;

/// Differences below this share do not matter in practice, unless another one is asked for.
pub const MARGIN: f64 = 0.02;

/// One sentence about two sides, of which the second is told. Higher means a larger rate; of durations it is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Higher, by more than the margin for certain.
    Higher,
    /// Higher, but perhaps by less than what matters.
    SlightlyHigher,
    /// Equal within the margin for certain.
    Equal,
    /// Lower, but perhaps by less than what matters.
    SlightlyLower,
    /// Lower, by more than the margin for certain.
    Lower,
    /// No difference was found; one of the detectable size would have been, four times in five.
    NoDifference,
}

impl Conclusion {
    /// The sentence that an interval permits.
    pub fn of(ratio: &Ratio, margin: f64) -> Self {
        let (high, low) = (1.0 + margin, 1.0 / (1.0 + margin));
        match ratio {
            Ratio { low: from, .. } if *from > high => Self::Higher,
            Ratio { high: to, .. } if *to < low => Self::Lower,
            Ratio { low: from, high: to, .. } if *from > low && *to < high => Self::Equal,
            Ratio { low: from, .. } if *from > 1.0 => Self::SlightlyHigher,
            Ratio { high: to, .. } if *to < 1.0 => Self::SlightlyLower,
            _ => Self::NoDifference,
        }
    }

    /// The conclusion with the sides swapped.
    pub const fn inverted(self) -> Self {
        match self {
            Self::Higher => Self::Lower,
            Self::SlightlyHigher => Self::SlightlyLower,
            Self::SlightlyLower => Self::SlightlyHigher,
            Self::Lower => Self::Higher,
            other => other,
        }
    }

    /// Whether it says that the sides differ.
    pub const fn is_difference(self) -> bool {
        matches!(self, Self::Higher | Self::SlightlyHigher | Self::SlightlyLower | Self::Lower)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn interval(low: f64, high: f64) -> Ratio {
        let ratio = (low * high).sqrt();
        Ratio { ratio, low, high, p_value: 0.5, detectable: 0.03, error: 0.01, degrees: 11.0 }
    }

    fn of(low: f64, high: f64) -> Conclusion {
        Conclusion::of(&interval(low, high), MARGIN)
    }

    #[test]
    fn every_interval_has_its_words() {
        assert_eq!(of(3.9, 4.3), Conclusion::Higher);
        assert_eq!(of(1.004, 1.032), Conclusion::SlightlyHigher);
        assert_eq!(of(0.99, 1.015), Conclusion::Equal);
        assert_eq!(of(1.004, 1.015), Conclusion::Equal, "a certain difference that cannot matter is none");
        assert_eq!(of(0.97, 1.05), Conclusion::NoDifference);
        assert_eq!(of(0.96, 0.99), Conclusion::SlightlyLower);
        assert_eq!(of(0.2, 0.5), Conclusion::Lower);
    }

    proptest! {
        #[test]
        fn swapped_sides_have_the_swapped_words(low in 0.5..2.0_f64, width in 1.0..1.5_f64) {
            let ratio = interval(low, low * width);
            prop_assert_eq!(Conclusion::of(&ratio.inverted(), MARGIN), Conclusion::of(&ratio, MARGIN).inverted());
        }
    }
}
