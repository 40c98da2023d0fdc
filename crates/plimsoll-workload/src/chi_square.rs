//! Pearson's test, for the tests of everything that draws. Seeds are fixed, so that a test always gives the same
//! answer.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// A right generator fails a check once in a thousand seeds; with fixed seeds it was looked at once.
const PROBABILITY_MIN: f64 = 0.0005;

/// Cells with fewer expected draws are joined with their neighbours.
const EXPECTED_MIN: f64 = 10.0;

/// The probability that draws with these expectations deviate from them at least as much as the observed ones.
/// `restrictions` are the sums that observed and expected share.
pub(crate) fn probability(observed: &[u64], expected: &[f64], restrictions: usize) -> f64 {
    assert_eq!(observed.len(), expected.len());
    let mut cells = Vec::new();
    let (mut seen, mut due) = (0.0, 0.0);
    for (&count, &expectation) in observed.iter().zip(expected) {
        seen += count as f64;
        due += expectation;
        if due >= EXPECTED_MIN {
            cells.push((std::mem::take(&mut seen), std::mem::take(&mut due)));
        }
    }
    if let Some(last) = cells.last_mut() {
        last.0 += seen;
        last.1 += due;
    }
    assert!(cells.len() > restrictions, "too few draws for a test");
    let statistic: f64 = cells.iter().map(|(seen, due)| (seen - due).powi(2) / due).sum();
    1.0 - ChiSquared::new((cells.len() - restrictions) as f64).expect("there is a degree of freedom").cdf(statistic)
}

/// Fails unless the counts are credible for these shares, which add up to one.
#[track_caller]
pub(crate) fn assert_fits(observed: &[u64], shares: &[f64], what: &str) {
    let total: u64 = observed.iter().sum();
    let sum: f64 = shares.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{what}: the shares add up to {sum}");
    let expected: Vec<f64> = shares.iter().map(|share| share * total as f64).collect();
    let probability = probability(observed, &expected, 1);
    assert!(probability > PROBABILITY_MIN, "{what}: probability {probability}");
}

/// Fails unless the counts are credible for equal shares, or when they are too equal to be random.
#[track_caller]
pub(crate) fn assert_uniform(observed: &[u64], what: &str) {
    let total: u64 = observed.iter().sum();
    let expected = vec![total as f64 / observed.len() as f64; observed.len()];
    let probability = probability(observed, &expected, 1);
    assert!((PROBABILITY_MIN..1.0 - PROBABILITY_MIN).contains(&probability), "{what}: probability {probability}");
}

#[test]
fn a_loaded_die_is_found() {
    let fair = [10_120, 9_950, 10_010, 9_890, 10_080, 9_950];
    assert_uniform(&fair, "a fair die");
    let loaded = [10_500, 9_900, 9_900, 9_900, 9_900, 9_900];
    assert!(probability(&loaded, &[10_000.0; 6], 1) < 0.0001);
}
