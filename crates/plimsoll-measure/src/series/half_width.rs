//! How far the mean of a window may be off: half of a 95 % interval.

use super::{
    moments::{batch_means, mean, squared_deviations, variance},
    period::period,
};
use crate::student::quantile_975;

/// Batches that the coarsest scale of a window of seconds has at least.
pub const BATCHES_MIN: usize = 12;

/// The half-width under an autoregression of the first order: Kendall's correction of its coefficient, and Student's t
/// with one degree of freedom less than there are independent values.
pub fn autoregressive(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let center = mean(values);
    let squares = squared_deviations(values, center);
    if squares <= 0.0 || values.len() < 2 {
        return 0.0;
    }
    let products: f64 = values.windows(2).map(|pair| (pair[0] - center) * (pair[1] - center)).sum();
    let rho = products / squares;
    let rho = (rho + (1.0 + 3.0 * rho) / count).clamp(0.0, 0.98);
    let inflation = (1.0 + rho) / (1.0 - rho);
    let independent = (count / inflation).max(2.0);
    let variance = squares / (count - 1.0) / (1.0 - inflation / count).max(0.3);
    quantile_975(independent - 1.0) * (variance / independent).sqrt()
}

/// The largest [`autoregressive`] half-width over batches of 1, 2, 4, 8, ... values while `batches_min` of them remain.
/// Fast noise hides slow noise in single values; longer batches uncover it. Infinite below `batches_min` values.
pub fn multi_scale(values: &[f64], batches_min: usize) -> f64 {
    if values.len() < batches_min {
        return f64::INFINITY;
    }
    let lengths = std::iter::successors(Some(1), |length| Some(length * 2));
    lengths
        .take_while(|length| values.len() / length >= batches_min.max(1))
        .map(|length| autoregressive(&batch_means(values, length)))
        .fold(0.0, f64::max)
}

/// The mean of a window and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The mean of the values from `from` on.
    pub mean: f64,
    /// Half of the 95 % interval.
    pub half_width: f64,
    /// The first value that was used; later than 0 when whole cycles do not fill the window.
    pub from: usize,
    /// The period in values, if there is one.
    pub period: Option<usize>,
}

/// The interval of a window of seconds. A window that repeats itself is cut into whole cycles, whose means are much
/// alike; any other is judged at several scales.
pub fn mean_interval(values: &[f64]) -> MeanInterval {
    let count = values.len();
    let period = period(values);
    if let Some(length) = period.filter(|length| count >= 5 * length) {
        let cycles = count / length;
        let cycles_per_batch = (cycles / 20 + usize::from(cycles > 20 && !cycles.is_multiple_of(20))).max(1);
        let batches = batch_means(values, length * cycles_per_batch);
        if batches.len() >= 5 {
            let error = (variance(&batches) / batches.len() as f64).sqrt();
            return MeanInterval {
                mean: mean(&batches),
                half_width: quantile_975((batches.len() - 1) as f64) * error,
                from: count % (length * cycles_per_batch),
                period,
            };
        }
    }
    MeanInterval { mean: mean(values), half_width: multi_scale(values, BATCHES_MIN), from: 0, period: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise::rates;

    fn noise(count: usize, memory: f64) -> Vec<f64> {
        rates(1000.0, 0.01, memory, count, 1)
    }

    #[test]
    fn memory_widens_the_interval() {
        assert!(multi_scale(&noise(300, 0.9), 12) > 3.0 * multi_scale(&noise(300, 0.0), 12));
    }

    #[test]
    fn a_level_without_noise_is_known_exactly() {
        assert!(mean_interval(&[5000.0; 120]).half_width < f64::MIN_POSITIVE);
    }

    #[test]
    fn whole_cycles_are_much_surer_than_seconds() {
        let dips: Vec<f64> =
            noise(400, 0.0).iter().enumerate().map(|(i, v)| if i % 20 < 3 { v / 2.0 } else { *v }).collect();
        let interval = mean_interval(&dips);
        assert_eq!(interval.period, Some(20));
        assert!(interval.half_width * 3.0 < multi_scale(&dips, 12));
    }

    proptest! {
        #[test]
        fn more_scales_never_narrow(values in proptest::collection::vec(1.0..1e5_f64, 12..200)) {
            prop_assert!(multi_scale(&values, 12) >= autoregressive(&values));
        }

        #[test]
        fn the_unit_scales_the_interval(values in proptest::collection::vec(1.0..1e5_f64, 12..200)) {
            let scaled: Vec<f64> = values.iter().map(|value| value * 7.0).collect();
            let (one, seven) = (mean_interval(&values), mean_interval(&scaled));
            prop_assert!((seven.half_width - 7.0 * one.half_width).abs() <= 1e-9 * seven.half_width);
            prop_assert!((seven.mean - 7.0 * one.mean).abs() <= 1e-9 * seven.mean);
        }
    }
}
