//! Means, variances and order statistics, computed so that large levels do not swallow small noise.

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The sum of squared deviations from `center`.
pub fn squared_deviations(values: &[f64], center: f64) -> f64 {
    values.iter().map(|value| (value - center) * (value - center)).sum()
}

/// The sample variance (n-1), in two passes; 0 below two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    squared_deviations(values, mean(values)) / (values.len() - 1) as f64
}

/// The means of successive batches of `length` values. What does not fill a batch is dropped at the front, where a
/// window is least settled.
pub fn batch_means(values: &[f64], length: usize) -> Vec<f64> {
    values[values.len() % length..].chunks_exact(length).map(mean).collect()
}

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    median_of_sorted(&sorted(values))
}

/// The median of values in ascending order; 0 of nothing.
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_noise_on_a_large_level_is_not_lost() {
        let values: Vec<f64> = (0..1000).map(|i| 1e12 + f64::from(i % 2)).collect();
        assert!((variance(&values) - 0.25 * 1000.0 / 999.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_a_mean_a_median_and_a_variance_of_zero() {
        assert!(mean(&[]) + median(&[]) + variance(&[]) + variance(&[5.0]) < f64::MIN_POSITIVE);
    }

    #[test]
    fn batches_drop_the_remainder_at_the_front() {
        assert_eq!(batch_means(&[9.0, 1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
    }

    proptest! {
        #[test]
        fn the_median_halves_the_values(values in proptest::collection::vec(0.0..1e6_f64, 1..60)) {
            let median = median(&values);
            let below = values.iter().filter(|value| **value < median).count();
            let above = values.iter().filter(|value| **value > median).count();
            prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
        }
    }
}
