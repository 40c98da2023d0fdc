//! Student's t distribution: how far the mean of a few values may lie from the truth.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Degrees of freedom that the table of [`quantile_975`] holds; above, the normal distribution's 1.96 stands in.
const TABLE_DEGREES: usize = 200;

static TABLE: LazyLock<[f64; TABLE_DEGREES + 1]> = LazyLock::new(|| {
    // There is no zeroth entry: no degrees of freedom are read as one.
    std::array::from_fn(|degrees| quantile(0.975, degrees.max(1) as f64))
});

/// The 97.5 % quantile for whole degrees of freedom, rounded down: the factor of a two-sided 95 % interval.
pub fn quantile_975(degrees: f64) -> f64 {
    let degrees = degrees.floor();
    if degrees > TABLE_DEGREES as f64 { 1.96 } else { TABLE[degrees.max(1.0) as usize] }
}

/// The value below which t lies with this probability.
pub fn quantile(probability: f64, degrees: f64) -> f64 {
    distribution(degrees).inverse_cdf(probability)
}

/// The probability of a t at least this far from zero, in either direction.
pub fn two_sided_p(t: f64, degrees: f64) -> f64 {
    if t.is_nan() { 1.0 } else { (2.0 * distribution(degrees).cdf(-t.abs())).min(1.0) }
}

/// The value below which a normal deviate lies with this probability.
pub fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

fn distribution(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees.max(1.0)).expect("the scale is one and the degrees are at least one")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-6 * right.abs()
    }

    #[test]
    fn quantiles_agree_with_printed_tables() {
        // To the digits that tables of the distribution print.
        for (degrees, expected) in [(1.0, 12.706_205), (2.0, 4.302_653), (9.0, 2.262_157), (30.0, 2.042_272)] {
            assert!(close(quantile_975(degrees), expected), "{degrees}: {}", quantile_975(degrees));
        }
        assert!(close(quantile_975(200.0), 1.971_896));
        assert!(close(quantile(0.80, 11.0), 0.875_530));
        assert!(close(normal_quantile(0.975), 1.959_964));
    }

    #[test]
    fn degrees_are_rounded_down_and_held_within_the_table() {
        assert!(close(quantile_975(9.9), quantile_975(9.0)));
        assert!(close(quantile_975(-3.0), quantile_975(1.0)));
        assert!(close(quantile_975(200.9), quantile_975(200.0)));
        assert!(close(quantile_975(1e9), 1.96));
    }

    proptest! {
        #[test]
        fn a_quantile_and_its_probability_belong_together(probability in 0.0005..0.4_f64, degrees in 1..200_u32) {
            let t = quantile(1.0 - probability / 2.0, f64::from(degrees));
            prop_assert!((two_sided_p(t, f64::from(degrees)) - probability).abs() < 1e-9);
        }

        #[test]
        fn more_degrees_make_shorter_intervals(degrees in 1..=200_u32) {
            prop_assert!(quantile_975(f64::from(degrees)) > quantile_975(f64::from(degrees) + 1.0));
        }
    }
}
