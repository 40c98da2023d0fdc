//! How even a rate is: spread, grade, and whether any single number describes it.

use serde::{Deserialize, Serialize};

use crate::series::moments::{median_of_sorted, sorted};

/// Values that a grade needs.
pub const GRADE_VALUES_MIN: usize = 60;

/// The spread above which a window may be summarised but is never called steady.
pub const STEADY_SPREAD_MAX: f64 = 2.0;

/// The spread above which the range of a window says more than its mean.
pub const ERRATIC_SPREAD_MIN: f64 = 5.0;

/// The spread of a window whose 5 % quantile is zero: larger than any other.
const UNBOUNDED_SPREAD: f64 = 1e9;

/// How even the seconds of a window are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Grade {
    /// Rock steady.
    A,
    /// Steady.
    B,
    /// Uneven.
    C,
    /// Unstable: the mean is not what one will get.
    D,
    /// Erratic.
    F,
}

impl Grade {
    /// The letter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        }
    }

    /// What it means.
    pub const fn words(self) -> &'static str {
        match self {
            Self::A => "rock steady",
            Self::B => "steady",
            Self::C => "uneven",
            Self::D => "unstable: the mean is not what you will get",
            Self::F => "erratic",
        }
    }
}

/// The evenness of a window, from the rates of its seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stability {
    /// The 95 % quantile over the 5 % quantile.
    pub spread: f64,
    /// The grade; `None` below [`GRADE_VALUES_MIN`] seconds.
    pub grade: Option<Grade>,
    /// No single number describes the window: it spans a factor of ten, and a twentieth of its seconds are more than
    /// a factor of three away from the median.
    pub wide: bool,
    /// The lowest second.
    pub lowest: f64,
    /// The median second.
    pub median: f64,
    /// The highest second.
    pub highest: f64,
    /// The share of seconds below half of the median.
    pub low_share: f64,
    /// The share of seconds below a tenth of the median.
    pub stalled_share: f64,
}

/// The 95 % quantile of rates over their 5 % quantile; 1 of nothing.
pub fn spread(rates: &[f64]) -> f64 {
    spread_of_sorted(&sorted(rates))
}

fn spread_of_sorted(sorted: &[f64]) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 1.0 };
    let low = sorted[(0.05 * last as f64) as usize];
    let high = sorted[(0.95 * last as f64).ceil() as usize];
    if low <= 0.0 { UNBOUNDED_SPREAD } else { high / low }
}

impl Stability {
    /// Judges the rates of successive or pooled seconds. `None` of nothing.
    pub fn of(rates: &[f64]) -> Option<Self> {
        let sorted = sorted(rates);
        let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
        let median = median_of_sorted(&sorted);
        let share = |count: usize| count as f64 / sorted.len() as f64;
        let below = |limit: f64| share(sorted.partition_point(|rate| *rate < limit));
        let above = |limit: f64| share(sorted.len() - sorted.partition_point(|rate| *rate <= limit));
        let spread = spread_of_sorted(&sorted);
        let low_share = below(0.5 * median);
        let far_share = below(median / 3.0) + above(3.0 * median);
        Some(Self {
            spread,
            grade: (sorted.len() >= GRADE_VALUES_MIN).then(|| grade(spread, low_share)),
            wide: highest > 0.0 && highest >= 10.0 * lowest && far_share >= 0.05,
            lowest,
            median,
            highest,
            low_share,
            stalled_share: below(0.1 * median),
        })
    }

    /// Whether the range is the headline, because the mean would mislead.
    pub fn is_erratic(&self) -> bool {
        self.wide || self.spread > ERRATIC_SPREAD_MIN
    }
}

fn grade(spread: f64, low_share: f64) -> Grade {
    let by_spread = match spread {
        spread if spread <= 1.10 => Grade::A,
        spread if spread <= 1.25 => Grade::B,
        spread if spread <= 2.0 => Grade::C,
        spread if spread <= ERRATIC_SPREAD_MIN => Grade::D,
        _ => Grade::F,
    };
    let best = match low_share {
        share if share > 0.10 => Grade::D,
        share if share > 0.02 => Grade::C,
        share if share > 0.0 => Grade::B,
        _ => Grade::A,
    };
    by_spread.max(best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with_low(level: f64, low: f64, low_count: usize) -> Stability {
        let rates: Vec<f64> = (0..100).map(|i| if i < low_count { low } else { level }).collect();
        Stability::of(&rates).unwrap()
    }

    #[test]
    fn slow_seconds_lower_the_grade_that_the_spread_gives() {
        let grades = [0, 1, 3, 11].map(|low| with_low(1000.0, 400.0, low).grade.unwrap());
        assert_eq!(grades, [Grade::A, Grade::B, Grade::C, Grade::D]);
        assert_eq!(with_low(1000.0, 0.0, 6).grade, Some(Grade::F));
    }

    #[test]
    fn a_rate_between_a_hundred_and_a_hundred_thousand_is_wide_and_erratic() {
        let stability = with_low(100_000.0, 100.0, 50);
        assert!(stability.wide && stability.is_erratic());
        assert_eq!(stability.grade, Some(Grade::F));
        assert!(!with_low(1000.0, 400.0, 50).wide);
    }

    #[test]
    fn a_short_window_has_no_grade() {
        assert_eq!(Stability::of(&[5.0; GRADE_VALUES_MIN - 1]).unwrap().grade, None);
        assert_eq!(Stability::of(&[]), None);
    }

    #[test]
    fn a_window_of_zeros_is_not_even() {
        assert!(with_low(0.0, 0.0, 0).is_erratic());
    }

    proptest! {
        #[test]
        fn order_and_unit_do_not_matter(mut rates in proptest::collection::vec(0.0..1e5_f64, 1..200)) {
            let before = Stability::of(&rates).unwrap();
            rates.reverse();
            rates.iter_mut().for_each(|rate| *rate *= 8.0);
            let after = Stability::of(&rates).unwrap();
            prop_assert_eq!((before.grade, before.wide), (after.grade, after.wide));
        }
    }
}
