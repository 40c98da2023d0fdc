//! Whether the jobs of a cell got equal shares.

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
    /// Jain's index: 1 when all are equal, 1/n when one has everything.
    pub jain_index: f64,
}

/// Compares the operations that each job completed in the same time.
pub fn unfairness(operations: &[u64]) -> Option<Unfairness> {
    if operations.len() < 2 {
        return None;
    }
    let jobs = operations.len() as f64;
    let sum: f64 = operations.iter().map(|count| *count as f64).sum();
    let squares: f64 = operations.iter().map(|count| (*count as f64).powi(2)).sum();
    let average = sum / jobs;
    let (slowest, fastest) = (operations.iter().min()?, operations.iter().max()?);
    let unfair = average >= OPERATIONS_MIN && (*slowest as f64) < (1.0 - LAG_MIN) * average;
    unfair.then(|| Unfairness {
        slowest_share: *slowest as f64 / average,
        fastest_share: *fastest as f64 / average,
        jain_index: sum * sum / (jobs * squares),
    })
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
