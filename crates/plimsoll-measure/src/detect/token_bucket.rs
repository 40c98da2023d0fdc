//! A burst that ended: the level before, the level after, and when it changed.
//!
//! The fall of a token bucket is abrupt, the plateau after it is flat, and the burst does not come back. A neighbour
//! that arrived and has not left yet looks the same; only rest and a second burst tell them apart.

use crate::series::{
    change_points::{ShiftRule, change_points},
    moments::{mean, median, sorted},
};

/// The fall of the level, as a factor, at least.
const FALL_MIN: f64 = 1.2;
/// Seconds after the fall at least.
const AFTER_MIN: usize = 30;
/// The fall is looked for this close to the shift.
const REFINE: usize = 10;
/// The abruptness is judged this close to the fall.
const NEARBY: usize = 15;
/// Visits wholly before the fall, where a cell was not measured in one piece: two equal levels and then another one
/// are no exponential warm-up.
const VISITS_BEFORE_MIN: usize = 2;
/// Share of the fall from which a second is of neither level.
const MIXED: f64 = 0.1;
/// How close those visits have to be to the burst rate.
const VISIT_DIFFERENCE_MAX: f64 = 0.05;

/// Rates of successive seconds without a gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch<'a> {
    /// When the first second began, in nanoseconds since load began.
    pub from_ns: u64,
    /// Rates of the seconds.
    pub rates: &'a [f64],
}

/// A burst and its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    /// Operations a second before.
    pub burst_rate: f64,
    /// Operations a second after.
    pub sustained_rate: f64,
    /// The end of the last second wholly at the burst rate, in nanoseconds since load began.
    pub cliff_after_ns: u64,
    /// The start of the first second wholly below, in nanoseconds since load began. Between the two nothing was
    /// measured, or a second that has some of both.
    pub cliff_before_ns: u64,
    /// Operations above the sustained rate until then: the size of the bucket. Known only without a gap before.
    pub tokens: Option<f64>,
}

/// Looks for a burst that ended. Stretches are in the order of time.
pub fn token_bucket(stretches: &[Stretch<'_>]) -> Option<TokenBucket> {
    let rates: Vec<f64> = stretches.iter().flat_map(|stretch| stretch.rates).copied().collect();
    let (segment, shift) = steepest_fall(&rates)?;
    if rates.len() - shift < AFTER_MIN {
        return None;
    }
    let sustained = median(&rates[shift..]);
    // The fall of a short burst lies before the shift, which has some seconds to each side.
    let middle = f64::midpoint(median(&rates[segment..shift]), sustained);
    let nearby = shift.saturating_sub(REFINE)..(shift + REFINE).min(rates.len());
    let cliff = nearby.into_iter().find(|second| rates[*second] < middle).filter(|cliff| *cliff > segment)?;
    let burst = median(&rates[segment..cliff]);
    let is_bucket = share(&rates[segment..cliff], |rate| rate < middle) <= 0.02
        && is_abrupt(&rates, cliff, burst, sustained)
        && is_plateau(&rates[cliff + 1..], middle, sustained)
        && was_level(stretches, segment, cliff, burst);
    is_bucket.then(|| {
        let margin = MIXED * (burst - sustained);
        // The second that the cliff is in belongs to either side, by what most of it was.
        let first_mixed = if rates[cliff - 1] < burst - margin { cliff - 1 } else { cliff };
        let first_below = if rates[cliff] > sustained + margin { cliff + 1 } else { cliff };
        let cliff_after_ns = times(stretches, first_mixed).0;
        let cliff_before_ns = times(stretches, first_below).1;
        let above = || rates[..cliff].iter().map(|rate| rate - sustained).sum();
        let tokens = (cliff < stretches[0].rates.len()).then(above);
        TokenBucket { burst_rate: burst, sustained_rate: sustained, cliff_after_ns, cliff_before_ns, tokens }
    })
}

/// The start of the segment before the steepest fall between adjacent segments, and the shift after it.
fn steepest_fall(rates: &[f64]) -> Option<(usize, usize)> {
    let boundaries = change_points(rates, &ShiftRule::SECONDS);
    let levels: Vec<f64> = boundaries.windows(2).map(|edges| median(&rates[edges[0]..edges[1]])).collect();
    if levels.iter().any(|level| *level <= 0.0) {
        return None;
    }
    let fall = |segment: &usize| levels[*segment] / levels[segment + 1];
    let steepest = (0..levels.len().saturating_sub(1)).max_by(|left, right| fall(left).total_cmp(&fall(right)))?;
    (fall(&steepest) > FALL_MIN).then(|| (boundaries[steepest], boundaries[steepest + 1]))
}

fn share(rates: &[f64], is: impl Fn(f64) -> bool) -> f64 {
    rates.iter().filter(|rate| is(**rate)).count() as f64 / rates.len().max(1) as f64
}

/// Few seconds lie between the levels: caches and warm-ups take longer.
fn is_abrupt(rates: &[f64], cliff: usize, burst: f64, sustained: f64) -> bool {
    let margin = 0.2 * (burst - sustained);
    let nearby = &rates[cliff.saturating_sub(NEARBY)..(cliff + NEARBY).min(rates.len())];
    nearby.iter().filter(|rate| **rate > sustained + margin && **rate < burst - margin).count() <= 3
}

/// A throttle is flat, and the burst does not come back.
fn is_plateau(after: &[f64], middle: f64, sustained: f64) -> bool {
    let ascending = sorted(after);
    let quantile = |share: f64| ascending[(share * (ascending.len() - 1) as f64) as usize];
    let (early, late) = after.split_at(after.len() / 2);
    let (early, late) = (median(early), median(late));
    share(after, |rate| rate > middle) <= 0.01
        && quantile(0.75) - quantile(0.25) <= 0.10 * sustained
        && (early - late).abs() <= 0.05 * late
}

/// A cell that was visited now and then had the burst rate on two visits at least, unless one visit saw all of it: the
/// level before, the fall, and enough after it to tell that it was abrupt.
fn was_level(stretches: &[Stretch<'_>], segment: usize, cliff: usize, burst: f64) -> bool {
    if stretches.len() == 1 {
        return true;
    }
    let mut start = 0;
    let mut level_visits = 0;
    for stretch in stretches {
        let end = start + stretch.rates.len();
        if start <= segment && cliff + NEARBY <= end {
            return true;
        }
        let close = (mean(stretch.rates) - burst).abs() <= VISIT_DIFFERENCE_MAX * burst;
        level_visits += usize::from(start >= segment && end <= cliff && close);
        start = end;
    }
    level_visits >= VISITS_BEFORE_MIN
}

/// The end of the second before the fall and the start of the first one after it.
fn times(stretches: &[Stretch<'_>], cliff: usize) -> (u64, u64) {
    let mut start = 0;
    let mut last_end_ns = 0;
    for stretch in stretches {
        let end = start + stretch.rates.len();
        if cliff < end {
            let second_ns = stretch.from_ns + (cliff - start) as u64 * 1_000_000_000;
            return (if cliff == start { last_end_ns } else { second_ns }, second_ns);
        }
        last_end_ns = stretch.from_ns + stretch.rates.len() as u64 * 1_000_000_000;
        start = end;
    }
    (last_end_ns, last_end_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_noise::level;

    const SECOND: u64 = 1_000_000_000;

    fn once(rates: &[f64]) -> Option<TokenBucket> {
        token_bucket(&[Stretch { from_ns: 2 * SECOND, rates }])
    }

    #[test]
    fn a_burst_of_any_length_is_measured() {
        for length in [6, 8, 60, 400] {
            let found = once(&[level(3500.0, length), level(120.0, 120)].concat()).unwrap();
            assert!((found.burst_rate - 3500.0).abs() < 35.0 && (found.sustained_rate - 120.0).abs() < 1.2);
            assert_eq!(found.cliff_before_ns, (2 + length as u64) * SECOND);
            let tokens = 3380.0 * length as f64;
            assert!((found.tokens.unwrap() - tokens).abs() < 0.02 * tokens);
        }
    }

    #[test]
    fn a_cliff_within_a_second_lies_between_its_start_and_its_end() {
        for (length, share) in [4, 5, 8].into_iter().flat_map(|length| [0.15, 0.45, 0.75].map(|share| (length, share)))
        {
            let mixed = vec![3500.0 * share + 120.0 * (1.0 - share)];
            let found = once(&[level(3500.0, length), mixed, level(120.0, 120)].concat()).unwrap();
            let after_ns = (2 + length as u64) * SECOND;
            assert_eq!(
                (found.cliff_after_ns, found.cliff_before_ns),
                (after_ns, after_ns + SECOND),
                "{length} {share}"
            );
            assert!((found.burst_rate - 3500.0).abs() < 35.0, "{length} {share}: {found:?}");
        }
    }

    #[test]
    fn what_comes_back_decays_or_varies_is_no_bucket() {
        assert_eq!(once(&level(1000.0, 300)), None);
        let neighbour = [level(1000.0, 60), level(700.0, 60), level(1000.0, 60)].concat();
        assert_eq!(once(&neighbour), None);
        let warm_up: Vec<f64> = (0..300).map(|t| 1000.0 * (1.0 + (-f64::from(t) / 30.0).exp())).collect();
        assert_eq!(once(&warm_up), None);
        let wild: Vec<f64> = (0..300).map(|t| if t < 100 { 5000.0 } else { 100.0 + f64::from(t * 37 % 400) }).collect();
        assert_eq!(once(&wild), None);
        let rising = [level(120.0, 100), level(3500.0, 100)].concat();
        assert_eq!(once(&rising), None);
    }

    #[test]
    fn visits_bracket_the_cliff() {
        let rates: Vec<Vec<f64>> = (0..12).map(|visit| level(if visit < 3 { 3000.0 } else { 300.0 }, 5)).collect();
        let stretches = |from: usize| -> Vec<Stretch<'_>> {
            let visits = rates.iter().enumerate().skip(from);
            visits.map(|(visit, rates)| Stretch { from_ns: visit as u64 * 84 * SECOND, rates }).collect()
        };
        let found = token_bucket(&stretches(0)).unwrap();
        assert_eq!((found.cliff_after_ns, found.cliff_before_ns), ((2 * 84 + 5) * SECOND, 3 * 84 * SECOND));
        assert_eq!(found.tokens, None);
        // One visit before the fall may have been any warm-up.
        assert_eq!(token_bucket(&stretches(2)), None);
    }

    #[test]
    fn a_pause_after_the_cliff_hides_nothing() {
        let rates = [level(3500.0, 60), level(120.0, 140)].concat();
        let whole = once(&rates).unwrap();
        for pause_at in [75, 100, 199] {
            let (before, after) = rates.split_at(pause_at);
            let resumed = Stretch { from_ns: 5000 * SECOND, rates: after };
            let found = token_bucket(&[Stretch { from_ns: 2 * SECOND, rates: before }, resumed]);
            assert_eq!(found, Some(whole), "{pause_at}");
        }
        // What changed during the pause is no cliff, and so soon after it no abrupt one.
        for pause_at in [60, 70] {
            let (before, after) = rates.split_at(pause_at);
            let resumed = Stretch { from_ns: 5000 * SECOND, rates: after };
            assert_eq!(token_bucket(&[Stretch { from_ns: 2 * SECOND, rates: before }, resumed]), None, "{pause_at}");
        }
    }
}
