//! Systems that were measured at different times: archives, restores, results of others.

use super::{ratio::Ratio, signed_rank::Shift};
use crate::{
    series::{
        half_width::{BATCHES_MIN, multi_scale},
        moments::{mean, median_of_sorted},
    },
    stopping::rounds,
    student::{normal_quantile, quantile_975},
};

/// Values of both sides together up to which ranks are counted exactly.
const EXACT_MAX: usize = 60;

/// A mean of logarithms of rates or durations, and how far it may be from the truth: one side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogMean {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom that the error is known with.
    pub degrees: f64,
}

/// The degrees of freedom of an error that is as good as known.
const MANY_DEGREES: f64 = 1000.0;

impl LogMean {
    /// Of visits in the order of time, spread over a session: what a visit has in common with the next one widens the
    /// error. `None` below three.
    pub fn of_visits(logs: &[f64]) -> Option<Self> {
        let degrees = logs.len() as f64 - 1.0;
        let half_width = rounds::half_width(logs);
        half_width.is_finite().then(|| Self { mean: mean(logs), error: half_width / quantile_975(degrees), degrees })
    }

    /// Of seconds in one piece, which resemble their neighbours. `None` when there are too few.
    pub fn of_seconds(logs: &[f64]) -> Option<Self> {
        let half_width = multi_scale(logs, BATCHES_MIN);
        let error = half_width / normal_quantile(0.975);
        half_width.is_finite().then(|| Self { mean: mean(logs), error, degrees: MANY_DEGREES })
    }

    /// Of a rate that is known with its 95 % interval. `None` when the interval is none.
    pub fn of_interval(rate: f64, low: f64, high: f64) -> Option<Self> {
        // The lower end may have been cut off at zero, which makes a rate no surer.
        let half_width = (high - rate).max(rate - low);
        let error = half_width / rate / normal_quantile(0.975);
        let is_one = rate > 0.0 && error.is_finite() && error >= 0.0;
        is_one.then(|| Self { mean: rate.ln(), error, degrees: MANY_DEGREES })
    }

    /// How many times as large the second is, by Welch's t interval.
    pub fn ratio(first: &Self, second: &Self, confidence: f64) -> Ratio {
        let [one, other] = [first.error.powi(2), second.error.powi(2)];
        let sum = one + other;
        let spread = one * one / first.degrees + other * other / second.degrees;
        let degrees = if spread > 0.0 { sum * sum / spread } else { first.degrees + second.degrees };
        Ratio::of_logs(second.mean - first.mean, sum.sqrt(), degrees, confidence)
    }
}

/// The Hodges-Lehmann shift from the first to the second side: the median of all differences, and the interval that
/// ranks give. `None` when there are too few values for an interval of this confidence.
pub fn shift(first: &[f64], second: &[f64], confidence: f64) -> Option<Shift> {
    let mut differences: Vec<f64> =
        second.iter().flat_map(|right| first.iter().map(move |left| right - left)).collect();
    differences.sort_by(f64::total_cmp);
    let rank = interval_rank(first.len(), second.len(), confidence)?;
    Some(Shift {
        estimate: median_of_sorted(&differences),
        low: differences[rank - 1],
        high: differences[differences.len() - rank],
    })
}

/// Which difference, counted from 1 from either end, bounds the interval.
fn interval_rank(n: usize, m: usize, confidence: f64) -> Option<usize> {
    if n == 0 || m == 0 {
        return None;
    }
    let tail = f64::midpoint(1.0, -confidence);
    if n + m > EXACT_MAX {
        let pairs = (n * m) as f64;
        let deviation = (pairs * (n + m + 1) as f64 / 12.0).sqrt();
        return Some((pairs / 2.0 + normal_quantile(tail) * deviation).floor().max(1.0) as usize);
    }
    let mut cumulated = 0.0;
    let below = probabilities(n, m).into_iter().take_while(|probability| {
        cumulated += probability;
        cumulated <= tail
    });
    Some(below.count()).filter(|rank| *rank > 0)
}

/// The probability of each Mann-Whitney statistic from 0 to n*m.
fn probabilities(n: usize, m: usize) -> Vec<f64> {
    // Whether the largest of all values is of the first or of the second side, weighed by their numbers.
    let mut table = vec![vec![Vec::new(); m + 1]; n + 1];
    for i in 0..=n {
        for j in 0..=m {
            table[i][j] = if i == 0 || j == 0 {
                vec![1.0]
            } else {
                let (weight_first, weight_second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
                let mut sums = vec![0.0; i * j + 1];
                // A largest value of the second side is above all of the first.
                table[i][j - 1].iter().enumerate().for_each(|(at, p)| sums[at + i] += weight_second * p);
                table[i - 1][j].iter().enumerate().for_each(|(at, p)| sums[at] += weight_first * p);
                sums
            };
        }
    }
    table.swap_remove(n).swap_remove(m)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{series::moments::variance, test_noise};

    /// Of values that have nothing to do with each other, as whole runs.
    fn independent(logs: &[f64]) -> Option<LogMean> {
        let count = logs.len() as f64;
        Some(LogMean { mean: mean(logs), error: (variance(logs) / count).sqrt(), degrees: count - 1.0 })
    }

    /// Two sides of which each value is a run of its own.
    fn of_runs(first: &[f64], second: &[f64]) -> Ratio {
        let [first, second] = [first, second].map(|logs| independent(logs).unwrap());
        LogMean::ratio(&first, &second, 0.95)
    }

    #[test]
    fn three_and_three_runs_have_no_interval_by_ranks() {
        assert_eq!(shift(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95), None);
        assert!(shift(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95).is_some());
        for count in [1, 61] {
            assert_eq!(shift(&[], &vec![1.0; count], 0.95), None);
            assert_eq!(shift(&vec![1.0; count], &[], 0.95), None);
        }
    }

    #[test]
    fn the_ratio_of_runs_agrees_with_a_worked_example_of_welch() {
        // Two sides of five values with variances 2.5 and 10: t = 5/sqrt(2.5), 5.88 degrees.
        let (first, second) = ([1.0, 2.0, 3.0, 4.0, 5.0], [4.0, 6.0, 8.0, 10.0, 12.0]);
        let ratio = of_runs(&first, &second);
        assert!((ratio.ratio.ln() - 5.0).abs() < 1e-9);
        assert!((ratio.p_value - 0.0202).abs() < 0.001, "{}", ratio.p_value);
    }

    #[test]
    fn equals_differ_in_one_of_twenty() {
        let logs = |seed| -> Vec<f64> { test_noise::rates(1.0, 0.05, 0.0, 10, seed).iter().map(|x| x.ln()).collect() };
        let differ = (0..1000).filter(|run| of_runs(&logs(2 * run), &logs(2 * run + 1)).differs()).count();
        assert!((25..80).contains(&differ), "{differ} of 1000");
        let ranks_differ = |run: u64| {
            let shift = shift(&logs(2 * run), &logs(2 * run + 1), 0.95).unwrap();
            shift.low > 0.0 || shift.high < 0.0
        };
        let ranked = (0..1000).filter(|run| ranks_differ(*run)).count();
        assert!((20..75).contains(&ranked), "{ranked} of 1000");
    }

    #[test]
    fn what_neighbours_have_in_common_does_not_look_like_a_difference() {
        let logs = |count, rho, seed| -> Vec<f64> {
            test_noise::rates(1.0, 0.05, rho, count, seed).iter().map(|rate| rate.ln()).collect()
        };
        let differ = |of: fn(&[f64]) -> Option<LogMean>, count, rho| {
            let side = |seed| of(&logs(count, rho, seed)).unwrap();
            (0..400).filter(|run| LogMean::ratio(&side(2 * run), &side(2 * run + 1), 0.95).differs()).count()
        };
        let as_independent = differ(independent, 20, 0.5);
        let visits = differ(LogMean::of_visits, 20, 0.5);
        assert!(as_independent > 60 && visits < 40, "{as_independent} {visits}");
        let seconds = differ(LogMean::of_seconds, 240, 0.7);
        assert!(seconds < 28, "{seconds}");
        assert_eq!(LogMean::of_seconds(&[0.0; 11]), None);
        assert_eq!(LogMean::of_visits(&[0.0; 2]), None);
    }

    #[test]
    fn a_known_interval_is_worth_as_much_as_the_values_it_is_from() {
        let known = LogMean::of_interval(100.0, 98.0, 102.0).unwrap();
        let ratio = LogMean::ratio(&known, &LogMean::of_interval(110.0, 107.8, 112.2).unwrap(), 0.95);
        assert!((ratio.ratio - 1.1).abs() < 1e-9);
        // Two intervals of 2 % make one of 2 % times the root of two.
        assert!(((ratio.high / ratio.low).ln() / 2.0 - 0.02 * 2.0_f64.sqrt()).abs() < 1e-4);
        assert_eq!(LogMean::of_interval(0.0, 0.0, 0.0), None);
        assert_eq!(LogMean::of_interval(5.0, f64::NEG_INFINITY, 9.0), None);
        let cut_off_at_zero = LogMean::of_interval(10.0, 0.0, 25.0);
        assert_eq!(cut_off_at_zero, LogMean::of_interval(10.0, -5.0, 25.0));
    }

    proptest! {
        #[test]
        fn swapping_sides_turns_everything(
            first in proptest::collection::vec(1.0..9.0_f64, 4..40),
            second in proptest::collection::vec(1.0..9.0_f64, 4..40),
        ) {
            let (one, other) = (of_runs(&first, &second), of_runs(&second, &first));
            prop_assert!((one.ratio * other.ratio - 1.0).abs() < 1e-9 && (one.p_value - other.p_value).abs() < 1e-9);
            let (one, other) = (shift(&first, &second, 0.95).unwrap(), shift(&second, &first, 0.95).unwrap());
            prop_assert!((one.estimate + other.estimate).abs() < 1e-9 && (one.low + other.high).abs() < 1e-9);
        }

        #[test]
        fn probabilities_of_ranks_add_up(n in 1..12_usize, m in 1..12_usize) {
            let all = probabilities(n, m);
            prop_assert_eq!(all.len(), n * m + 1);
            prop_assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(all.iter().zip(all.iter().rev()).all(|(left, right)| (left - right).abs() < 1e-12));
        }
    }
}
