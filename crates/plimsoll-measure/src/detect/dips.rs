//! Dips that come back like clockwork: flushes, checkpoints, refresh cycles.

use crate::series::{
    moments::{mean, median},
    period::period,
};

/// Dips shallower than this share of the rate are not worth a sentence.
const DEPTH_MIN: f64 = 0.05;

/// Regular dips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodicDips {
    /// Seconds from dip to dip.
    pub period_seconds: usize,
    /// Whole cycles that were seen.
    pub cycles: usize,
    /// The usual rate between dips.
    pub usual_rate: f64,
    /// The rate at the bottom of an average dip.
    pub lowest_rate: f64,
    /// The share of time that is closer to the bottom than to the usual rate.
    pub share: f64,
}

/// Looks for a period in successive seconds and folds them into one average cycle.
pub fn periodic_dips(rates: &[f64]) -> Option<PeriodicDips> {
    let period = period(rates)?;
    let phase = |phase: usize| mean(&rates.iter().copied().skip(phase).step_by(period).collect::<Vec<_>>());
    let cycle: Vec<f64> = (0..period).map(phase).collect();
    let usual_rate = median(&cycle);
    let lowest_rate = cycle.iter().copied().fold(f64::INFINITY, f64::min);
    if usual_rate - lowest_rate < DEPTH_MIN * usual_rate {
        return None;
    }
    let middle = f64::midpoint(usual_rate, lowest_rate);
    let share = cycle.iter().filter(|rate| **rate < middle).count() as f64 / period as f64;
    Some(PeriodicDips { period_seconds: period, cycles: rates.len() / period, usual_rate, lowest_rate, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_noise::level;

    #[test]
    fn dips_are_described_by_their_average_cycle() {
        let rates: Vec<f64> = level(1000.0, 240)
            .iter()
            .enumerate()
            .map(|(t, rate)| if t % 20 < 4 { rate * 0.3 } else { *rate })
            .collect();
        let dips = periodic_dips(&rates).unwrap();
        assert_eq!((dips.period_seconds, dips.cycles), (20, 12));
        assert!((dips.usual_rate - 1000.0).abs() < 10.0 && (dips.lowest_rate - 300.0).abs() < 5.0);
        assert!((dips.share - 0.2).abs() < 1e-9);
    }

    #[test]
    fn ripples_and_noise_are_none() {
        let ripples: Vec<f64> = (0..240).map(|t| if t % 20 < 4 { 980.0 } else { 1000.0 }).collect();
        assert_eq!(periodic_dips(&ripples), None);
        assert_eq!(periodic_dips(&level(1000.0, 240)), None);
    }
}
