//! Cells that take turns: when the means of a cell's visits, spread over the session, agree well enough.
//!
//! Spacing is what buys trust. The same seconds of load say much more when minutes lie between them.

use super::Demand;
use crate::{
    series::{
        moments::{mean, squared_deviations},
        slope::{self, Trend},
    },
    stability::{STEADY_SPREAD_MAX, spread},
    student::quantile_975,
};

/// Rounds before and after a shift at least.
const SIDE_MIN: usize = 2;
/// Rounds that a shift is looked for in at least.
const SHIFT_ROUNDS_MIN: usize = 5;
/// The t statistic that a shift exceeds.
const SHIFT_CRITICAL: f64 = 6.0;
/// The share of the lower level that a shift exceeds; also how close a level is that counts as revisited.
const SHIFT_DIFFERENCE_MIN: f64 = 0.05;
/// No level is believed to be quieter from round to round than this share of itself.
const SHIFT_NOISE_MIN: f64 = 0.002;
/// One-way shifts that are taken off at most: burst, warm-up, a cache that fills.
const SHIFTS_MAX: usize = 3;
/// Rounds from which their own correlation is believed.
const CORRELATION_ROUNDS_MIN: usize = 8;
/// Rounds that a claim rests on at least.
pub(crate) const CLAIM_ROUNDS_MIN: usize = 5;
/// Rounds that an interval rests on at least.
const INTERVAL_ROUNDS_MIN: usize = 3;

/// What one look at a cell's rounds finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The first round that the mean is of.
    pub from: usize,
    /// The mean of the round means kept.
    pub mean: f64,
    /// Half of its 95 % interval; infinite below three rounds.
    pub half_width: f64,
    /// The line through the rounds kept.
    pub trend: Option<Trend>,
    /// Whether the mean says what one will get.
    pub even: bool,
    /// Whether all is as a steady cell has it.
    pub passes: bool,
}

/// A shift between two rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The first round after it.
    pub at: usize,
    /// The difference of the means in units of its standard error.
    pub statistic: f64,
}

/// The likeliest shift between rounds, with at least two on each side; `None` when no split has any difference.
pub fn best_shift(rounds: &[f64]) -> Option<Shift> {
    let count = rounds.len();
    let mut best: Option<Shift> = None;
    for at in SIDE_MIN..=count.saturating_sub(SIDE_MIN) {
        let (before, after) = rounds.split_at(at);
        let (left, right) = (mean(before), mean(after));
        let squares = squared_deviations(before, left) + squared_deviations(after, right);
        let floor = (SHIFT_NOISE_MIN * left.max(right)).powi(2);
        let variance = (squares / (count - 2).max(1) as f64).max(floor);
        let error = (variance * (1.0 / at as f64 + 1.0 / (count - at) as f64)).sqrt();
        let statistic = (left - right).abs() / error;
        if statistic > best.map_or(0.0, |shift| shift.statistic) {
            best = Some(Shift { at, statistic });
        }
    }
    best
}

/// The first round after shifts to a level that the rounds before never had.
pub fn settled_from(rounds: &[f64]) -> usize {
    let mut from = 0;
    for _ in 0..SHIFTS_MAX {
        let kept = &rounds[from..];
        if kept.len() < SHIFT_ROUNDS_MIN {
            break;
        }
        let Some(shift) = best_shift(kept).filter(|shift| shift.statistic > SHIFT_CRITICAL) else { break };
        let (before, after) = kept.split_at(shift.at);
        let (left, right) = (mean(before), mean(after));
        let lowest = after.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = after.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let differs = (left - right).abs() > SHIFT_DIFFERENCE_MIN * left.min(right);
        let one_way = left < lowest * (1.0 - SHIFT_DIFFERENCE_MIN) || left > highest * (1.0 + SHIFT_DIFFERENCE_MIN);
        if !(differs && one_way) {
            break;
        }
        from += shift.at;
    }
    from
}

/// Half of the 95 % interval of the mean of rounds: Student's t, widened by what is left of their correlation.
/// Infinite below three rounds.
pub fn half_width(rounds: &[f64]) -> f64 {
    if rounds.len() < INTERVAL_ROUNDS_MIN {
        return f64::INFINITY;
    }
    let count = rounds.len() as f64;
    let center = mean(rounds);
    let squares = squared_deviations(rounds, center);
    let products: f64 = rounds.windows(2).map(|pair| (pair[0] - center) * (pair[1] - center)).sum();
    let rho = (products / squares.max(1e-300) + 1.0 / count).clamp(0.0, 0.8);
    let inflation = if rounds.len() >= CORRELATION_ROUNDS_MIN { ((1.0 + rho) / (1.0 - rho)).sqrt() } else { 1.0 };
    quantile_975(count - 1.0) * (squares / (count - 1.0) / count).sqrt() * inflation
}

/// Judges a cell by the mean rates of its rounds and by the rates of the seconds within each.
pub fn look<S: AsRef<[f64]>>(rounds: &[f64], seconds: &[S], rounds_min: usize, demand: &Demand) -> Look {
    // One or two rounds after a late shift say less than all since the start.
    let from = Some(settled_from(rounds)).filter(|from| rounds.len() - from >= INTERVAL_ROUNDS_MIN).unwrap_or(0);
    let kept = &rounds[from..];
    let center = mean(kept);
    let half_width = half_width(kept);
    let trend = slope::of_rounds(kept, demand.precision);
    let known = center > 0.0 && half_width <= demand.precision * center;
    let even = spread(&pooled(&seconds[from..])) <= STEADY_SPREAD_MAX;
    let passes =
        kept.len() >= CLAIM_ROUNDS_MIN.min(rounds_min) && known && !trend.is_some_and(|trend| trend.matters) && even;
    Look { from, mean: center, half_width, trend, even, passes }
}

fn pooled<S: AsRef<[f64]>>(seconds: &[S]) -> Vec<f64> {
    seconds.iter().flat_map(AsRef::as_ref).copied().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise::level;

    const STANDARD: Demand = Demand { precision: 0.02, confirmations: 2 };

    fn judge(rounds: &[f64]) -> Look {
        let seconds: Vec<[f64; 5]> = rounds.iter().map(|rate| [*rate; 5]).collect();
        look(rounds, &seconds, 10, &STANDARD)
    }

    #[test]
    fn rounds_that_agree_pass() {
        let look = judge(&level(5000.0, 10));
        assert!(look.passes);
        assert!((look.mean - 5000.0).abs() <= look.half_width);
    }

    #[test]
    fn a_burst_that_ended_is_left_out() {
        let look = judge(&[level(3500.0, 4), level(120.0, 8)].concat());
        assert_eq!(look.from, 4);
        assert!(look.passes);
    }

    #[test]
    fn one_or_two_rounds_after_a_late_shift_are_no_answer() {
        for late in 1..4 {
            let look = judge(&[level(1000.0, 12), level(300.0, late)].concat());
            assert_eq!(look.from, if late < 3 { 0 } else { 12 }, "{late}");
            assert!(look.half_width.is_finite() && !look.passes, "{look:?}");
        }
    }

    #[test]
    fn a_level_that_returns_stays_in_and_widens_the_interval() {
        let look = judge(&[level(100.0, 4), level(70.0, 4), level(100.0, 4)].concat());
        assert_eq!(look.from, 0);
        assert!(!look.passes);
    }

    #[test]
    fn equal_rounds_of_unequal_seconds_do_not_pass() {
        let rounds = level(50_050.0, 10);
        let seconds: Vec<[f64; 2]> = rounds.iter().map(|_| [100.0, 100_000.0]).collect();
        assert!(!look(&rounds, &seconds, 10, &STANDARD).passes);
    }

    #[test]
    fn nothing_completed_is_not_steady() {
        assert!(!judge(&[0.0; 12]).passes);
        assert!(!judge(&[]).passes);
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(rounds in proptest::collection::vec(900.0..1100.0_f64, 3..60)) {
            let scaled: Vec<f64> = rounds.iter().map(|rate| rate * 8.0).collect();
            let (one, eight) = (judge(&rounds), judge(&scaled));
            prop_assert_eq!((one.passes, one.from), (eight.passes, eight.from));
        }

        #[test]
        fn a_shift_is_found_where_it_is(before in 2..20_usize, after in 2..20_usize) {
            let rounds = [level(200.0, before), level(100.0, after)].concat();
            prop_assert_eq!(best_shift(&rounds).unwrap().at, before);
        }
    }
}
