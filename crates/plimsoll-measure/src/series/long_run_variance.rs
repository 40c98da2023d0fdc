//! How much slow noise a series carries: the variance of its mean, times its length.

/// The long-run variance of residuals that are centred already: Bartlett's kernel with the bandwidth that Andrews
/// (1991) derives from an autoregression of the first order.
pub fn long_run_variance(residuals: &[f64]) -> f64 {
    let count = residuals.len() as f64;
    let squares = lagged_products(residuals, 0);
    if squares <= 0.0 {
        return 0.0;
    }
    let rho = (lagged_products(residuals, 1) / squares + 1.0 / count).clamp(-0.97, 0.97);
    let alpha = 4.0 * rho * rho / ((1.0 - rho).powi(2) * (1.0 + rho).powi(2));
    let bandwidth = ((1.1447 * (alpha * count).powf(1.0 / 3.0)) as usize).min(residuals.len() / 4);
    let mut variance = squares / count;
    for lag in 1..=bandwidth {
        let weight = 1.0 - lag as f64 / (bandwidth + 1) as f64;
        variance += 2.0 * weight * lagged_products(residuals, lag) / count;
    }
    variance.max(0.05 * squares / count)
}

/// The sum of products of values `lag` apart.
fn lagged_products(values: &[f64], lag: usize) -> f64 {
    values.iter().zip(values.get(lag..).unwrap_or_default()).map(|(early, late)| early * late).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::series::moments::squared_deviations;

    #[test]
    fn no_noise_has_no_variance() {
        assert!(long_run_variance(&[0.0; 50]) < f64::MIN_POSITIVE);
    }

    #[test]
    fn slow_noise_counts_more_than_fast_noise_of_the_same_size() {
        let fast: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let slow: Vec<f64> = (0..200).map(|i| if i / 20 % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(long_run_variance(&slow) > 5.0 * long_run_variance(&fast));
    }

    proptest! {
        #[test]
        fn the_variance_is_never_below_a_twentieth_of_the_plain_one(
            residuals in proptest::collection::vec(-100.0..100.0_f64, 2..150),
        ) {
            let plain = squared_deviations(&residuals, 0.0) / residuals.len() as f64;
            let variance = long_run_variance(&residuals);
            prop_assert!(variance.is_finite() && variance >= 0.05 * plain - 1e-12);
        }

        #[test]
        fn direction_of_time_does_not_matter(mut values in proptest::collection::vec(-9.0..9.0_f64, 2..150)) {
            let forward = long_run_variance(&values);
            values.reverse();
            prop_assert!((long_run_variance(&values) - forward).abs() < 1e-9 * (1.0 + forward));
        }
    }
}
