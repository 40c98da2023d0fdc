//! Whether a series repeats itself.

use super::moments::mean;

/// Windows shorter than this are not looked at.
const VALUES_MIN: usize = 24;
/// The autocorrelation that a period exceeds.
const CORRELATION_MIN: f64 = 0.4;
/// A longer period replaces a shorter one only if it is better by this factor.
const PREFERENCE: f64 = 1.1;

/// The dominant period in values, if the window holds at least four cycles of it.
///
/// It is the first strong peak of the sample autocorrelation beyond its first zero.
pub fn period(values: &[f64]) -> Option<usize> {
    let count = values.len();
    if count < VALUES_MIN {
        return None;
    }
    let center = mean(values);
    let centred: Vec<f64> = values.iter().map(|value| value - center).collect();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    if squares <= 0.0 {
        return None;
    }
    let lag_max = count / 4;
    let correlation = |lag: usize| {
        let products: f64 = centred.iter().zip(&centred[lag..]).map(|(early, late)| early * late).sum();
        products / squares * count as f64 / (count - lag) as f64
    };
    let correlations: Vec<f64> = (0..=lag_max).map(correlation).collect();
    let first_zero = (1..=lag_max).find(|lag| correlations[*lag] <= 0.0)?;
    let (mut found, mut threshold) = (None, CORRELATION_MIN);
    for lag in first_zero..lag_max {
        let here = correlations[lag];
        if here > threshold && here >= correlations[lag - 1] && here >= correlations[lag + 1] {
            (found, threshold) = (Some(lag), here * PREFERENCE);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dips(period: usize, count: usize) -> Vec<f64> {
        (0..count).map(|i| if i % period < period.div_ceil(5) { 40.0 } else { 100.0 }).collect()
    }

    #[test]
    fn levels_and_ramps_have_no_period() {
        assert_eq!(period(&[5.0; 120]), None);
        assert_eq!(period(&(0..120).map(f64::from).collect::<Vec<_>>()), None);
    }

    #[test]
    fn fewer_than_four_cycles_are_no_period() {
        assert_eq!(period(&dips(40, 120)), None);
    }

    proptest! {
        #[test]
        fn regular_dips_are_found(length in 5..25_usize) {
            prop_assert_eq!(period(&dips(length, 120)), Some(length));
        }

        #[test]
        fn the_unit_does_not_matter(values in proptest::collection::vec(1.0..1e5_f64, 24..200)) {
            let scaled: Vec<f64> = values.iter().map(|value| value * 8.0).collect();
            prop_assert_eq!(period(&values), period(&scaled));
        }
    }
}
