//! The Hodges-Lehmann estimate of paired differences and its exact interval: what a t interval says when one block is
//! far off.

use crate::{series::moments::median_of_sorted, student::normal_quantile};

/// Differences above which the exact distribution gives way to the normal one.
const EXACT_MAX: usize = 60;

/// A shift with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The estimate.
    pub estimate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The median of all Walsh averages (means of two differences, or of one with itself), and the interval that the signed
/// ranks give. `None` when there are too few differences for an interval of this confidence; for 95 % that is below
/// six.
pub fn shift(differences: &[f64], confidence: f64) -> Option<Shift> {
    let rank = interval_rank(differences.len(), confidence)?;
    let mut averages: Vec<f64> = (0..differences.len())
        .flat_map(|left| (left..differences.len()).map(move |right| (left, right)))
        .map(|(left, right)| f64::midpoint(differences[left], differences[right]))
        .collect();
    averages.sort_by(f64::total_cmp);
    Some(Shift {
        estimate: median_of_sorted(&averages),
        low: averages[rank - 1],
        high: averages[averages.len() - rank],
    })
}

/// Which Walsh average, counted from 1 from either end, bounds the interval.
pub fn interval_rank(count: usize, confidence: f64) -> Option<usize> {
    let tail = f64::midpoint(1.0, -confidence);
    if count > EXACT_MAX {
        let n = count as f64;
        let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        return Some((n * (n + 1.0) / 4.0 + normal_quantile(tail) * deviation).floor().max(1.0) as usize);
    }
    let mut cumulated = 0.0;
    let rank = probabilities(count).into_iter().take_while(|probability| {
        cumulated += *probability;
        cumulated <= tail
    });
    match rank.count() {
        0 => None,
        rank => Some(rank),
    }
}

/// The probability of each sum of signed ranks: how many subsets of 1..n have that sum, over all subsets.
fn probabilities(count: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; count * (count + 1) / 2 + 1];
    probabilities[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..probabilities.len()).rev() {
            let with = if sum >= rank { probabilities[sum - rank] } else { 0.0 };
            probabilities[sum] = f64::midpoint(probabilities[sum], with);
        }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_agree_with_the_printed_table() {
        let table = [
            (6, 1),
            (7, 3),
            (8, 4),
            (9, 6),
            (10, 9),
            (11, 11),
            (12, 14),
            (13, 18),
            (14, 22),
            (15, 26),
            (16, 30),
            (18, 41),
            (20, 53),
            (24, 82),
            (30, 138),
        ];
        for (count, rank) in table {
            assert_eq!(interval_rank(count, 0.95), Some(rank), "{count}");
        }
    }

    #[test]
    fn five_pairs_have_no_interval() {
        assert!((0..6).all(|count| interval_rank(count, 0.95).is_none()));
        assert_eq!(shift(&[1.0; 5], 0.95), None);
    }

    #[test]
    fn the_normal_approximation_continues_the_exact_ranks() {
        let exact = interval_rank(60, 0.95).unwrap();
        let approximate = interval_rank(61, 0.95).unwrap();
        assert!(approximate > exact && approximate - exact < 40, "{exact} {approximate}");
    }

    #[test]
    fn one_outlier_moves_the_estimate_little() {
        let mut differences: Vec<f64> = (0..20).map(|i| 1.0 + 0.01 * f64::from(i % 5)).collect();
        differences[7] = 1e6;
        let found = shift(&differences, 0.95).unwrap();
        assert!((found.estimate - 1.02).abs() < 0.02 && found.high < 1.1);
    }

    proptest! {
        #[test]
        fn signs_and_units_carry_over(
            differences in proptest::collection::vec(-9.0..9.0_f64, 6..70),
            unit in 0.1..9.0_f64,
        ) {
            let one = shift(&differences, 0.95).unwrap();
            prop_assert!(one.low <= one.estimate && one.estimate <= one.high);
            let negative: Vec<f64> = differences.iter().map(|difference| -unit * difference).collect();
            let other = shift(&negative, 0.95).unwrap();
            prop_assert!((other.estimate + unit * one.estimate).abs() < 1e-9);
            prop_assert!((other.low + unit * one.high).abs() < 1e-9);
        }
    }
}
