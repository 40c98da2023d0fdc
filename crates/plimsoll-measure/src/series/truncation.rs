//! Where a window stops warming up: MSER-5, the truncation that minimises the standard error of the mean.
//!
//! White's rule with Spratt's batches of five. It is a first cut only: a quiet end after a dip makes it drop too much,
//! and it does not see a burst allowance. Where a rate is capped, most batches are equal, and the rule by itself would
//! drop all that comes before the last of a few small dips; so batches are believed to have some noise at least.

use super::moments::{batch_means, mean, median};

/// Values in a batch.
const BATCH: usize = 5;
/// Fewer batches than this are not cut.
const BATCHES_MIN: usize = 6;
/// Batches that remain after the latest cut that is tried.
const BATCHES_KEPT_MIN: usize = 5;
/// Deviations below this share of the level are rounding, not noise.
const ROUNDING: f64 = 1e-9;

/// The first value to keep, or `None` while the minimum lies in the second half: the window still moves. No batch is
/// believed to be quieter than `noise`, a share of the level.
pub fn mser5(values: &[f64], noise: f64) -> Option<usize> {
    let mut batches = batch_means(values, BATCH);
    let count = batches.len();
    if count < BATCHES_MIN {
        return Some(0);
    }
    // Centred, so that the running sums below lose no digits to a large level.
    let level = mean(&batches);
    let least = (noise * median(&batches)).powi(2);
    for batch in &mut batches {
        *batch -= level;
        if batch.abs() < ROUNDING * level.abs() {
            *batch = 0.0;
        }
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut errors = vec![f64::INFINITY; count];
    for cut in (0..count).rev() {
        sum += batches[cut];
        squares += batches[cut] * batches[cut];
        let kept = (count - cut) as f64;
        if count - cut >= BATCHES_KEPT_MIN {
            errors[cut] = ((squares - sum * sum / kept).max(0.0) / kept + least) / kept;
        }
    }
    let mut best = 0;
    for cut in 1..=count - BATCHES_KEPT_MIN {
        // The first of equal minima, whatever rounding does to them.
        if errors[cut] < errors[best] * (1.0 - 1e-12) {
            best = cut;
        }
    }
    let front = values.len() % BATCH;
    match best {
        0 => Some(0),
        cut if cut > count / 2 => None,
        cut => Some(front + BATCH * cut),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_level_without_noise_is_kept_whole() {
        assert_eq!(mser5(&[0.1; 200], 0.0), Some(0));
    }

    #[test]
    fn a_ramp_to_the_end_is_undecided() {
        let ramp: Vec<f64> = (0..120).map(f64::from).collect();
        assert_eq!(mser5(&ramp, 0.005), None);
    }

    #[test]
    fn a_step_near_the_start_is_cut_off() {
        let step: Vec<f64> = (0..120).map(|i| if i < 20 { 50.0 } else { 10.0 } + f64::from(i % 3)).collect();
        assert_eq!(mser5(&step, 0.005), Some(20));
    }

    #[test]
    fn a_small_dip_of_a_rate_that_is_capped_is_no_warm_up() {
        for (dip, at) in [(297.0, 90), (270.0, 70)] {
            let capped: Vec<f64> = (0..120).map(|i| if i == at { dip } else { 300.0 }).collect();
            assert_eq!((mser5(&capped, 0.0), mser5(&capped, 0.005)), (None, Some(0)), "{dip} at {at}");
        }
        let burst: Vec<f64> = (0..120).map(|i| if i < 40 { 3000.0 } else { 300.0 }).collect();
        assert_eq!(mser5(&burst, 0.005), Some(40));
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(values in proptest::collection::vec(1.0..1e5_f64, 30..200)) {
            let scaled: Vec<f64> = values.iter().map(|value| value * 7.0).collect();
            prop_assert_eq!(mser5(&values, 0.005), mser5(&scaled, 0.005));
        }

        #[test]
        fn a_cut_leaves_at_least_half(values in proptest::collection::vec(1.0..1e5_f64, 0..200)) {
            prop_assert!(mser5(&values, 0.0).unwrap_or(0) <= values.len().div_ceil(2) + BATCH);
        }
    }
}
