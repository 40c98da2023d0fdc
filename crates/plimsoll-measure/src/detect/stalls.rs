//! Times in which next to nothing completed.

use super::token_bucket::Stretch;
use crate::series::moments::median;

/// A stall is below this share of the median rate.
const STALLED: f64 = 0.1;

/// Stalls of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stalls {
    /// How many, adjacent seconds counted once.
    pub count: usize,
    /// Seconds of the longest.
    pub longest_seconds: f64,
    /// The share of seconds that were stalled.
    pub share: f64,
}

/// Looks for stalls in stretches of values that are `value_seconds` long each. `None` of nothing.
pub fn stalls(stretches: &[Stretch<'_>], value_seconds: f64) -> Option<Stalls> {
    let all: Vec<f64> = stretches.iter().flat_map(|stretch| stretch.rates).copied().collect();
    if all.is_empty() {
        return None;
    }
    let limit = STALLED * median(&all);
    let is_stall = |rate: &f64| *rate < limit || *rate <= 0.0;
    let runs: Vec<usize> = stretches
        .iter()
        .flat_map(|stretch| stretch.rates.chunk_by(move |left, right| is_stall(left) == is_stall(right)))
        .filter(|run| is_stall(&run[0]))
        .map(<[f64]>::len)
        .collect();
    Some(Stalls {
        count: runs.len(),
        longest_seconds: runs.iter().max().map_or(0.0, |longest| *longest as f64 * value_seconds),
        share: runs.iter().sum::<usize>() as f64 / all.len() as f64,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(rates: &[f64]) -> Stalls {
        stalls(&[Stretch { from_ns: 0, rates }], 1.0).unwrap()
    }

    #[test]
    fn adjacent_stalled_seconds_are_one_stall() {
        let found = of(&[9.0, 0.0, 0.1, 9.0, 9.0, 0.5, 9.0, 9.0, 9.0, 9.0]);
        assert_eq!(found.count, 2);
        assert!((found.longest_seconds - 2.0).abs() < 1e-9 && (found.share - 0.3).abs() < 1e-9);
    }

    #[test]
    fn a_pause_between_visits_joins_nothing() {
        let (early, late) = ([9.0, 9.0, 0.0], [0.0, 9.0, 9.0]);
        let stretches = [Stretch { from_ns: 0, rates: &early }, Stretch { from_ns: 99, rates: &late }];
        assert_eq!(stalls(&stretches, 1.0).unwrap().count, 2);
    }

    #[test]
    fn nothing_at_all_is_one_long_stall() {
        assert_eq!(of(&[0.0; 7]).count, 1);
    }

    proptest! {
        #[test]
        fn shares_and_lengths_fit_together(
            rates in proptest::collection::vec(prop::sample::select(vec![0.0, 9.0]), 1..99),
        ) {
            let found = of(&rates);
            prop_assert!(found.longest_seconds <= found.share * rates.len() as f64 + 1e-9);
            prop_assert_eq!(found.count == 0, rates.iter().all(|rate| *rate > 0.0));
        }
    }
}
