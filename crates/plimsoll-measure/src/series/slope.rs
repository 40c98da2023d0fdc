//! Whether a window drifts: a straight line through it, and how sure its slope is.

use super::{
    long_run_variance::long_run_variance,
    moments::{mean, squared_deviations},
};

/// Standard errors that the slope of a window of seconds exceeds when it is called a drift: significant at 1 %.
const SECONDS_CRITICAL: f64 = 2.58;
/// The same for rounds, whose residuals have fewer degrees of freedom.
const ROUNDS_CRITICAL: f64 = 3.5;
/// No series of rounds is believed to be quieter than this share of its mean.
const ROUNDS_NOISE_MIN: f64 = 0.001;

/// A straight line through a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The change over the whole window, as a share of the mean.
    pub change: f64,
    /// The standard error of `change`.
    pub error: f64,
    /// Whether the change is both significant and as large as what the caller cares about.
    pub matters: bool,
}

struct Line {
    slope: f64,
    mean: f64,
    time_squares: f64,
    residuals: Vec<f64>,
}

fn fit(values: &[f64]) -> Option<Line> {
    let count = values.len();
    if count < 3 {
        return None;
    }
    let center = mean(values);
    let middle = (count - 1) as f64 / 2.0;
    let times = (0..count).map(|index| index as f64 - middle);
    let products: f64 = times.clone().zip(values).map(|(time, value)| time * (value - center)).sum();
    let time_squares: f64 = times.clone().map(|time| time * time).sum();
    let slope = products / time_squares;
    let residuals = times.zip(values).map(|(time, value)| value - center - slope * time).collect();
    Some(Line { slope, mean: center, time_squares, residuals })
}

impl Line {
    fn trend(&self, variance: f64, critical: f64, material: f64) -> Trend {
        let count = self.residuals.len() as f64;
        let error = (variance / self.time_squares).sqrt();
        let change = self.slope.abs() * count;
        let matters = change > critical * error * count && change > material * self.mean;
        let share = if self.mean > 0.0 { count / self.mean } else { 0.0 };
        Trend { change: self.slope * share, error: error * share, matters }
    }
}

/// The trend of successive seconds. It matters when it is significant and exceeds `precision` over the window.
/// `None` below three values.
pub fn of_seconds(values: &[f64], precision: f64) -> Option<Trend> {
    let line = fit(values)?;
    Some(line.trend(long_run_variance(&line.residuals), SECONDS_CRITICAL, precision))
}

/// The trend of round means, whose noise is taken as independent. It matters when it is significant and exceeds twice
/// `precision` over the rounds. `None` below three values.
pub fn of_rounds(values: &[f64], precision: f64) -> Option<Trend> {
    let line = fit(values)?;
    let degrees = (values.len() - 2) as f64;
    let variance = squared_deviations(&line.residuals, 0.0) / degrees;
    let floor = (ROUNDS_NOISE_MIN * line.mean).powi(2);
    Some(line.trend(variance.max(floor), ROUNDS_CRITICAL, 2.0 * precision))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ramp(change: f64, count: usize) -> Vec<f64> {
        let noise = |index: usize| ((index * 7919 % 17) as f64 - 8.0) / 8.0;
        (0..count).map(|i| 1000.0 * (1.0 + change * i as f64 / count as f64 + 0.005 * noise(i))).collect()
    }

    #[test]
    fn a_drift_beyond_the_precision_matters_and_a_smaller_one_does_not() {
        assert!(of_seconds(&ramp(0.10, 120), 0.02).unwrap().matters);
        assert!(!of_seconds(&ramp(0.01, 120), 0.02).unwrap().matters);
        assert!(of_rounds(&ramp(-0.30, 20), 0.02).unwrap().matters);
        assert!(!of_rounds(&ramp(0.02, 20), 0.02).unwrap().matters);
    }

    #[test]
    fn nothing_drifts_at_zero() {
        assert!(!of_seconds(&[0.0; 60], 0.02).unwrap().matters);
        assert_eq!(of_seconds(&[1.0, 2.0], 0.02), None);
    }

    proptest! {
        #[test]
        fn reversing_time_turns_the_change(mut values in proptest::collection::vec(1.0..1e4_f64, 3..100)) {
            let forward = of_seconds(&values, 0.02).unwrap();
            values.reverse();
            let backward = of_seconds(&values, 0.02).unwrap();
            prop_assert!((forward.change + backward.change).abs() < 1e-9 * (1.0 + forward.change.abs()));
        }
    }
}
