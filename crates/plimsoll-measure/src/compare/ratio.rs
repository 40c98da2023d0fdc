//! A ratio with its interval.

use serde::{Deserialize, Serialize};

use crate::student;

/// The probability with which a difference as large as the detectable one is found.
const POWER: f64 = 0.80;

/// How many times as large the second is as the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The probability of as large a difference between equals.
    pub p_value: f64,
    /// The smallest difference, as a share, that is found four times in five.
    pub detectable: f64,
    /// The standard error of the ratio's logarithm.
    pub error: f64,
    /// Degrees of freedom that the error is known with.
    pub degrees: f64,
}

impl Ratio {
    /// The interval of a mean of logarithms with this standard error. `confidence` is that of the interval, as 0.95.
    pub fn of_logs(mean: f64, error: f64, degrees: f64, confidence: f64) -> Self {
        let beyond = student::quantile(f64::midpoint(1.0, confidence), degrees);
        let half_width = beyond * error;
        let detectable = (beyond + student::quantile(POWER, degrees)) * error;
        Self {
            ratio: mean.exp(),
            low: (mean - half_width).exp(),
            high: (mean + half_width).exp(),
            p_value: p_value(mean, error, degrees),
            detectable: detectable.exp_m1(),
            error,
            degrees,
        }
    }

    /// The probability of a ratio as far from this one when this one is the truth.
    pub fn p_value_against(&self, truth: f64) -> f64 {
        p_value((self.ratio / truth).ln(), self.error, self.degrees)
    }

    /// Whether the interval leaves out equality.
    pub fn differs(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The same comparison with the sides swapped.
    pub fn inverted(&self) -> Self {
        Self { ratio: 1.0 / self.ratio, low: 1.0 / self.high, high: 1.0 / self.low, ..*self }
    }
}

/// The probability of a mean at least this far from zero when zero is the truth.
fn p_value(mean: f64, error: f64, degrees: f64) -> f64 {
    match error > 0.0 {
        true => student::two_sided_p(mean / error, degrees),
        // Without any scatter every difference is one.
        false if mean.abs() > 0.0 => 0.0,
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_scatter_is_certainty() {
        assert!(!Ratio::of_logs(0.0, 0.0, 11.0, 0.95).differs());
        let apart = Ratio::of_logs(0.1, 0.0, 11.0, 0.95);
        assert!(apart.differs() && apart.p_value < f64::MIN_POSITIVE);
    }

    proptest! {
        #[test]
        fn the_interval_leaves_out_equality_when_the_probability_is_small(
            mean in -0.5..0.5_f64,
            error in 0.001..0.5_f64,
            degrees in 2..60_u32,
        ) {
            let ratio = Ratio::of_logs(mean, error, f64::from(degrees), 0.95);
            prop_assert!(ratio.low < ratio.ratio && ratio.ratio < ratio.high);
            prop_assert!((ratio.p_value - 0.05).abs() < 1e-6 || ratio.differs() == (ratio.p_value < 0.05));
            prop_assert!((ratio.inverted().inverted().low - ratio.low).abs() < 1e-12);
            // What the ends of the interval are: the truths that the data barely permit.
            prop_assert!([ratio.low, ratio.high].iter().all(|end| (ratio.p_value_against(*end) - 0.05).abs() < 1e-6));
            prop_assert!((ratio.p_value_against(1.0) - ratio.p_value).abs() < 1e-9);
        }
    }
}
