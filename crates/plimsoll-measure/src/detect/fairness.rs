//! Whether the jobs of a cell got equal shares.

use crate::series::moments::mean;

/// The slowest job falls behind the average by this share at least before it is worth a sentence.
const LAG_MIN: f64 = 0.2;
/// Operations that a job of an average share has at least.
const OPERATIONS_MIN: f64 = 100.0;

/// Unequal shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unfairness {
    /// The fewest operations of a job, as a share of the average.
    pub slowest_share: f64,
    /// The most operations of a job, as a share of the average.
    pub fastest_share: f64,
    /// See [`jain_index`].
    pub jain_index: f64,
}

/// Compares the operations that each job completed in the same time.
pub fn unfairness(operations: &[u64]) -> Option<Unfairness> {
    if operations.len() < 2 {
        return None;
    }
    let counts: Vec<f64> = operations.iter().map(|count| *count as f64).collect();
    let average = mean(&counts);
    let (slowest, fastest) = (operations.iter().min()?, operations.iter().max()?);
    let unfair = average >= OPERATIONS_MIN && (*slowest as f64) < (1.0 - LAG_MIN) * average;
    let jain_index = jain_index(&counts).filter(|_| unfair)?;
    Some(Unfairness { slowest_share: *slowest as f64 / average, fastest_share: *fastest as f64 / average, jain_index })
}

/// How evenly rates or counts are shared: 1 when all are the same, and the share of those that get anything when few
/// get all (Jain's index). `None` of nothing.
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| values.iter().sum::<f64>().powi(2) / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_job_that_starves_is_found() {
        let found = unfairness(&[1000, 1000, 300, 1100]).unwrap();
        assert!((found.slowest_share - 0.353).abs() < 0.001 && (found.fastest_share - 1.294).abs() < 0.001);
    }

    #[test]
    fn small_differences_and_small_numbers_are_none() {
        assert_eq!(unfairness(&[1000, 900, 1100]), None);
        assert_eq!(unfairness(&[5, 1, 9]), None);
        assert_eq!(unfairness(&[1000]), None);
    }

    #[test]
    fn the_index_is_one_among_equals_and_the_share_of_those_who_get_all() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_job_has_all_and_all_are_equal(
            operations in proptest::collection::vec(0..9999_u64, 2..20),
        ) {
            if let Some(found) = unfairness(&operations) {
                prop_assert!(found.jain_index >= 1.0 / operations.len() as f64 - 1e-9 && found.jain_index < 1.0);
            }
        }
    }
}
