//! Noise for tests: the same everywhere, without a period.

use crate::random::Random;

/// Rates of a level with uniform noise of this share to either side; with `memory`, neighbours resemble each other.
pub(crate) fn rates(level: f64, share: f64, memory: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut value = 0.0;
    (0..count)
        .map(|_| {
            value = memory * value + 2.0 * random.unit() - 1.0;
            level * (1.0 + share * value)
        })
        .collect()
}

/// A level with 1 % of noise.
pub(crate) fn level(level: f64, count: usize) -> Vec<f64> {
    rates(level, 0.01, 0.0, count, 1)
}
