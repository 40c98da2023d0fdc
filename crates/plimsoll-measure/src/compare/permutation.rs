//! What chance would do to a few values: every way of dealing them out to two sides, and how their scatters compare.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::series::moments::{mean, variance};

/// Values of both sides together up to which all divisions are counted: 184,756 at most.
const VALUES_MAX: usize = 20;
/// How much of the difference found may be missing by rounding.
const SAME: f64 = 1.0 - 1e-9;

/// The share of all divisions of the values into sides of these sizes whose means are at least as far apart: the exact
/// probability of as large a difference between equals. `None` when a side is empty or the values are too many.
pub fn two_sided_p(first: &[f64], second: &[f64]) -> Option<f64> {
    let all = [first, second].concat();
    if first.is_empty() || second.is_empty() || all.len() > VALUES_MAX || all.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (size, rest, total) = (first.len() as f64, second.len() as f64, all.iter().sum::<f64>());
    let found = (mean(first) - mean(second)).abs();
    let (mut divisions, mut as_far) = (0_u32, 0_u32);
    for chosen in 0..1_u32 << all.len() {
        if chosen.count_ones() as usize == first.len() {
            let sum: f64 = all.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, value)| value).sum();
            divisions += 1;
            as_far += u32::from((sum / size - (total - sum) / rest).abs() >= found * SAME);
        }
    }
    Some(f64::from(as_far) / f64::from(divisions))
}

/// The probability of variances at least as different between equals, by the F test: it takes values for normally
/// distributed. `None` below three values or without any scatter.
pub fn variances_p(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len() < 3 || second.len() < 3 {
        return None;
    }
    let ratio = variance(first) / variance(second);
    let test = FisherSnedecor::new(first.len() as f64 - 1.0, second.len() as f64 - 1.0).ok()?;
    (ratio.is_finite() && ratio > 0.0).then(|| (2.0 * test.cdf(ratio).min(test.sf(ratio))).min(1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sides_that_do_not_overlap_are_as_unlikely_as_dealing_can_make_them() {
        // Two of the twenty divisions of six values are as far apart: this one and its mirror image.
        assert_eq!(two_sided_p(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0]), Some(0.1));
        assert_eq!(two_sided_p(&[1.0, 2.0], &[1.0, 2.0]), Some(1.0));
        assert_eq!(two_sided_p(&[1.0; 11], &[2.0; 10]), None);
        assert_eq!(two_sided_p(&[], &[2.0]), None);
    }

    #[test]
    fn scatters_are_compared_as_tables_of_the_f_distribution_do() {
        // The 97.5 % quantile of F with 4 and 4 degrees is 9.60.
        let first: Vec<f64> = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|value: f64| value * 9.6045_f64.sqrt()).to_vec();
        let p = variances_p(&first, &[-1.0, -0.5, 0.0, 0.5, 1.0]).unwrap();
        assert!((p - 0.05).abs() < 1e-4, "{p}");
        assert_eq!(variances_p(&[1.0; 3], &[1.0; 3]), None);
        assert_eq!(variances_p(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
    }

    proptest! {
        #[test]
        fn sides_may_be_swapped(
            first in proptest::collection::vec(1.0..9.0_f64, 3..6),
            second in proptest::collection::vec(1.0..9.0_f64, 3..6),
        ) {
            let (one, other) = (two_sided_p(&first, &second).unwrap(), two_sided_p(&second, &first).unwrap());
            prop_assert!((one - other).abs() < 1e-12 && one > 0.0 && one <= 1.0);
            let (one, other) = (variances_p(&first, &second).unwrap(), variances_p(&second, &first).unwrap());
            prop_assert!((one - other).abs() < 1e-9);
        }
    }
}
