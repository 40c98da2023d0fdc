//! `steadystate` as fio tells it: by its own rule, from the seconds that the record has. What plimsoll says of the same
//! seconds is the verdict.

use super::{entry::Entry, seconds::Second};
use crate::fio::settings::{SteadyQuantity, SteadyState};

/// What was asked of an entry's last seconds, and whether they are so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Steadiness {
    pub(super) asked: SteadyState,
    /// In seconds.
    pub(super) duration: u64,
    pub(super) is_attained: bool,
    /// What was compared with the limit.
    pub(super) criterion: f64,
    /// The greatest distance from the mean.
    pub(super) deviation: f64,
    /// Per second.
    pub(super) slope: f64,
    pub(super) bytes: Vec<u64>,
    pub(super) operations: Vec<u64>,
    /// Means, where latency is watched.
    pub(super) latencies_ns: Vec<u64>,
}

impl Steadiness {
    /// Of an entry whose job asks for it.
    pub(super) fn of(entry: &Entry<'_>) -> Option<Self> {
        let course = &entry.job.settings.course;
        let (asked, duration) = (course.steady_state?, course.steady_state_duration?.ns / 1_000_000_000);
        let seconds: Vec<&Second> = entry.seconds.iter().filter(|second| second.is_whole()).collect();
        let count = usize::try_from(duration).unwrap_or(usize::MAX).min(seconds.len());
        let last = &seconds[seconds.len() - count..];
        let of = |of: fn(&Second) -> f64| last.iter().map(|second| of(second) as u64).collect::<Vec<_>>();
        let bytes = of(|second| second.read.plus(second.write).bytes);
        let operations = of(|second| second.read.plus(second.write).operations);
        let latencies_ns = of(|second| second.read_latencies.plus(second.write_latencies).mean_ns());
        let watched = match asked.quantity {
            SteadyQuantity::Operations => &operations,
            SteadyQuantity::Bandwidth => &bytes,
            SteadyQuantity::Latency => &latencies_ns,
        };
        let (mean, deviation, slope) = (mean(watched), deviation(watched), slope(watched));
        let distance = if asked.is_slope { slope.abs() } else { deviation };
        let criterion = match (asked.is_percent, mean > 0.0) {
            (true, true) => distance / mean * 100.0,
            (true, false) => 0.0,
            (false, _) => distance,
        };
        let is_whole = count > 0 && count as u64 == duration;
        let is_attained = is_whole && mean > 0.0 && criterion < asked.limit;
        let latencies_ns = if asked.quantity == SteadyQuantity::Latency { latencies_ns } else { Vec::new() };
        Some(Self { asked, duration, is_attained, criterion, deviation, slope, bytes, operations, latencies_ns })
    }

    /// `iops_slope:0.100000%`.
    pub(super) fn rule(&self) -> String {
        let slope = if self.asked.is_slope { "_slope" } else { "" };
        format!("{}{slope}:{:.6}{}", self.quantity(), self.asked.limit, self.percent_sign())
    }

    /// `iops`, `bw` or `lat`.
    pub(super) const fn quantity(&self) -> &'static str {
        match self.asked.quantity {
            SteadyQuantity::Operations => "iops",
            SteadyQuantity::Bandwidth => "bw",
            SteadyQuantity::Latency => "lat",
        }
    }

    pub(super) const fn percent_sign(&self) -> &'static str {
        if self.asked.is_percent { "%" } else { "" }
    }
}

pub(super) fn mean(samples: &[u64]) -> f64 {
    let sum: f64 = samples.iter().map(|sample| *sample as f64).sum();
    if samples.is_empty() { 0.0 } else { sum / samples.len() as f64 }
}

fn deviation(samples: &[u64]) -> f64 {
    let mean = mean(samples);
    samples.iter().map(|sample| (*sample as f64 - mean).abs()).fold(0.0, f64::max)
}

/// Of the least squares.
fn slope(samples: &[u64]) -> f64 {
    let (mean, middle) = (mean(samples), (samples.len() as f64 - 1.0) / 2.0);
    let distances = || samples.iter().enumerate().map(|(at, sample)| (at as f64 - middle, *sample as f64 - mean));
    let squares: f64 = distances().map(|(at, _)| at * at).sum();
    if squares > 0.0 { distances().map(|(at, sample)| at * sample).sum::<f64>() / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_that_of_the_line_through_the_samples() {
        assert!((slope(&[10, 12, 14, 16]) - 2.0).abs() < 1e-12);
        assert!((slope(&[16, 14, 12, 10]) + 2.0).abs() < 1e-12);
        assert_eq!([slope(&[]), slope(&[7]), slope(&[7, 7])].map(|slope| slope as i64), [0, 0, 0]);
        assert!((deviation(&[90, 100, 110]) - 10.0).abs() < 1e-12);
    }
}
