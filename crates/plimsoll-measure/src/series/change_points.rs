//! Shifts of the level: binary segmentation with a statistic that knows about slow noise.

use super::{long_run_variance::long_run_variance, moments::mean};

/// What counts as a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftRule {
    /// Values that a segment has at least.
    pub segment_min: usize,
    /// The standardised difference that a shift exceeds.
    pub critical: f64,
    /// The share of the lower level that a shift exceeds; also how close two levels are that count as the same.
    pub difference_min: f64,
}

impl ShiftRule {
    /// The rule for rates of successive seconds.
    pub const SECONDS: Self = Self { segment_min: 8, critical: 4.5, difference_min: 0.05 };
}

/// Boundaries beyond which no further shifts are looked for: more than these are not shifts but noise.
const BOUNDARIES_MAX: usize = 60;

/// No level is believed to be quieter than this share of itself.
const NOISE_MIN: f64 = 0.001;

/// The likeliest single shift of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The first value after the shift.
    pub at: usize,
    /// The difference of the means in units of its standard error.
    pub statistic: f64,
    /// The mean before.
    pub left: f64,
    /// The mean after.
    pub right: f64,
}

/// The split with the largest standardised difference of means. Its error comes from the residuals of both means, so
/// that the shift itself does not inflate it. `None` when the window is shorter than two segments.
pub fn best_split(values: &[f64], segment_min: usize) -> Option<Split> {
    let count = values.len();
    let segment_min = segment_min.max(1);
    if count < 2 * segment_min {
        return None;
    }
    let total: f64 = values.iter().sum();
    let (mut sum, mut best, mut at) = (0.0, -1.0, segment_min);
    for (index, value) in values.iter().enumerate() {
        sum += value;
        let (before, after) = (index + 1, count - index - 1);
        if before < segment_min || after < segment_min {
            continue;
        }
        let (k, rest) = (before as f64, after as f64);
        let difference = (sum / k - (total - sum) / rest).abs() * (k * rest / count as f64).sqrt();
        if difference > best {
            (best, at) = (difference, before);
        }
    }
    let (left, right) = (mean(&values[..at]), mean(&values[at..]));
    let residuals: Vec<f64> =
        values.iter().enumerate().map(|(index, value)| value - if index < at { left } else { right }).collect();
    let floor = (NOISE_MIN * left.abs().max(right.abs())).powi(2);
    let variance = long_run_variance(&residuals).max(floor);
    let statistic = if variance > 0.0 { best / variance.sqrt() } else { 0.0 };
    Some(Split { at, statistic, left, right })
}

/// Boundaries of the segments, from 0 to the length of the window.
pub fn change_points(values: &[f64], rule: &ShiftRule) -> Vec<usize> {
    let mut boundaries = vec![0, values.len()];
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        let Some(split) = best_split(&values[from..to], rule.segment_min) else { continue };
        let lower = split.left.min(split.right).max(1e-12);
        let shifted = (split.left - split.right).abs() > rule.difference_min * lower;
        if split.statistic > rule.critical && shifted && boundaries.len() < BOUNDARIES_MAX {
            let at = from + split.at;
            boundaries.insert(boundaries.partition_point(|boundary| *boundary <= at), at);
            open.push((from, at));
            open.push((at, to));
        }
    }
    boundaries
}

/// The first value to keep: a leading segment is dropped only if its level is never seen again. A burst goes; a level
/// that comes back stays, so that it widens the interval instead of being edited away.
pub fn kept_from(values: &[f64], boundaries: &[usize], difference_min: f64) -> usize {
    let levels: Vec<f64> = boundaries.windows(2).map(|edges| mean(&values[edges[0]..edges[1]])).collect();
    for (segment, level) in levels.iter().enumerate() {
        let later = &levels[segment + 1..];
        let lowest = later.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = later.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let revisited = *level >= lowest * (1.0 - difference_min) && *level <= highest * (1.0 + difference_min);
        if later.is_empty() || revisited {
            return boundaries[segment];
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise::level;

    fn levels(parts: &[(usize, f64)]) -> Vec<f64> {
        parts.iter().flat_map(|(length, value)| level(*value, *length)).collect()
    }

    fn boundaries(values: &[f64]) -> Vec<usize> {
        change_points(values, &ShiftRule::SECONDS)
    }

    #[test]
    fn shifts_are_found_where_they_are() {
        let values = levels(&[(40, 1000.0), (30, 400.0), (50, 200.0)]);
        assert_eq!(boundaries(&values), [0, 40, 70, 120]);
    }

    #[test]
    fn a_level_that_never_returns_is_dropped_and_one_that_does_is_kept() {
        let burst = levels(&[(40, 1000.0), (80, 100.0)]);
        assert_eq!(kept_from(&burst, &boundaries(&burst), 0.05), 40);
        let neighbour = levels(&[(40, 100.0), (40, 70.0), (40, 100.0)]);
        assert_eq!(kept_from(&neighbour, &boundaries(&neighbour), 0.05), 0);
    }

    #[test]
    fn shifts_below_five_percent_are_none() {
        assert_eq!(boundaries(&levels(&[(60, 100.0), (60, 104.0)])), [0, 120]);
    }

    #[test]
    fn zeros_and_short_windows_have_no_shifts() {
        assert_eq!(boundaries(&[0.0; 100]), [0, 100]);
        assert_eq!(boundaries(&[1.0, 9.0]), [0, 2]);
        assert_eq!(boundaries(&[]), [0, 0]);
    }

    proptest! {
        #[test]
        fn segments_tile_the_window(values in proptest::collection::vec(1.0..1e5_f64, 0..300)) {
            let edges = boundaries(&values);
            prop_assert_eq!((edges[0], *edges.last().unwrap()), (0, values.len()));
            prop_assert!(values.is_empty() || edges.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(edges.contains(&kept_from(&values, &edges, 0.05)));
        }

        #[test]
        fn the_unit_does_not_matter(values in proptest::collection::vec(1.0..1e5_f64, 16..200)) {
            let scaled: Vec<f64> = values.iter().map(|value| value * 8.0).collect();
            prop_assert_eq!(boundaries(&values), boundaries(&scaled));
        }
    }
}
