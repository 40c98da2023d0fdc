//! One cell alone, in one piece: when it has settled and is known well enough.
//!
//! Nothing that looks at two minutes in one piece can see a burst allowance that outlasts them, a drift of an hour or a
//! neighbour that stays. The words of a verdict from this rule therefore name the length of the window.

use super::Demand;
use crate::{
    series::{
        change_points::{ShiftRule, change_points, kept_from},
        half_width::mean_interval,
        slope::{self, Trend},
        truncation::mser5,
    },
    stability::{STEADY_SPREAD_MAX, Stability},
};

/// Seconds that are kept at least.
const KEPT_MIN: usize = 30;
/// Kept seconds have to outlast dropped ones by this factor ...
const KEPT_FACTOR: usize = 2;
/// ... but need not exceed this.
const KEPT_ENOUGH: usize = 240;
/// How much later the next look is.
pub const LOOK_RATIO: f64 = 1.15;
/// Seconds between looks at least.
const LOOK_STEP_MIN: usize = 5;
/// No batch of seconds is believed to be quieter than this share of the wanted precision.
const NOISE_SHARE: f64 = 0.25;

/// What one look at a series of seconds finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The first second that the mean is of.
    pub from: usize,
    /// The mean rate of the seconds kept.
    pub mean: f64,
    /// Half of its 95 % interval.
    pub half_width: f64,
    /// Seconds from dip to dip, if they are regular.
    pub period: Option<usize>,
    /// The line through the seconds kept.
    pub trend: Option<Trend>,
    /// Whether the mean says what one will get.
    pub even: bool,
    /// Whether all is as a steady cell has it.
    pub passes: bool,
}

/// The length at which to look after having looked at `seconds`.
pub fn next_look(seconds: usize, seconds_max: usize) -> usize {
    (seconds + LOOK_STEP_MIN).max((seconds as f64 * LOOK_RATIO) as usize).min(seconds_max)
}

/// Judges the rates of successive seconds since the end of the ramp.
pub fn look(rates: &[f64], demand: &Demand) -> Look {
    let cut = mser5(rates, NOISE_SHARE * demand.precision);
    // While the window still moves, its second half is the best there is, but nothing to rely on.
    let settled_from = cut.unwrap_or(rates.len() / 2);
    let settled = &rates[settled_from..];
    let boundaries = change_points(settled, &ShiftRule::SECONDS);
    let dropped = settled_from + kept_from(settled, &boundaries, ShiftRule::SECONDS.difference_min);
    // What was dropped, be it warm-up, burst or a dip that looked like one, has to be outlived by what is kept.
    let outlived = rates.len() - dropped >= (KEPT_FACTOR * dropped).clamp(KEPT_MIN, KEPT_ENOUGH);
    // A few seconds after a late shift say less than all since the start.
    let kept_from = if rates.len() - dropped < KEPT_MIN { settled_from } else { dropped };
    let interval = mean_interval(&rates[kept_from..]);
    let from = kept_from + interval.from;
    let kept = &rates[from..];
    let trend = slope::of_seconds(kept, demand.precision);
    let known = interval.mean > 0.0 && interval.half_width <= demand.precision * interval.mean;
    let even = is_even(kept, interval.period.is_some());
    let passes = cut.is_some() && outlived && known && !trend.is_some_and(|trend| trend.matters) && even;
    Look { from, mean: interval.mean, half_width: interval.half_width, period: interval.period, trend, even, passes }
}

/// Whether a mean says what one will get. Regular dips may be deeper than chance ones, because whole cycles of them
/// are what one gets; but a rate that jumps by a factor of ten has no single number, however regular.
fn is_even(rates: &[f64], periodic: bool) -> bool {
    let Some(stability) = Stability::of(rates) else { return false };
    if periodic { !stability.is_erratic() } else { stability.spread <= STEADY_SPREAD_MAX }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise::level;

    const STANDARD: Demand = Demand { precision: 0.02, confirmations: 2 };

    #[test]
    fn a_level_passes_at_the_first_look() {
        let look = look(&level(5000.0, 118), &STANDARD);
        assert!(look.passes);
        assert!((look.mean - 5000.0).abs() < 25.0);
    }

    #[test]
    fn a_burst_is_dropped_but_has_to_be_outlived() {
        let burst = |after: usize| [level(3500.0, 60), level(120.0, after)].concat();
        assert!(!look(&burst(60), &STANDARD).passes);
        let later = look(&burst(140), &STANDARD);
        assert!(later.passes, "{later:?}");
        assert!((later.mean - 120.0).abs() < 1.0);
    }

    #[test]
    fn regular_jumps_between_a_hundred_and_a_hundred_thousand_are_not_steady() {
        for dwell in 1..12 {
            let rates: Vec<f64> = (0..900).map(|i| if i / dwell % 2 == 0 { 100.0 } else { 100_000.0 }).collect();
            assert!((118..900).all(|count| !look(&rates[..count], &STANDARD).passes), "{dwell}");
        }
    }

    #[test]
    fn looks_come_later_and_later_and_end() {
        let looks: Vec<usize> =
            std::iter::successors(Some(120), |n| Some(next_look(*n, 900))).take_while(|n| *n < 900).collect();
        assert_eq!(&looks[..4], [120, 138, 158, 181]);
        assert_eq!(next_look(880, 900), 900);
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(rates in proptest::collection::vec(900.0..1100.0_f64, 60..200)) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * 8.0).collect();
            let (one, eight) = (look(&rates, &STANDARD), look(&scaled, &STANDARD));
            prop_assert_eq!((one.passes, one.from), (eight.passes, eight.from));
            prop_assert!((eight.mean - 8.0 * one.mean).abs() < 1e-9 * eight.mean);
        }
    }
}
