//! When the operations of an open loop should start, whatever the storage answers.
//!
//! Times are intentions, in nanoseconds since the slot's start. Fixed arrivals are multiples of the gap and not sums
//! of rounded gaps, so that the rate is exact over any length of run. Where a rate counts bytes, an operation arrives
//! once the bytes that it transfers have been earned.

use crate::{
    plan::Pacing,
    random::{Draws, Purpose, derive_seed},
    settings::Arrival,
};

const NS_PER_SECOND: f64 = 1e9;

/// The intended start times of a job's operations.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// What an operation costs.
    unit: Unit,
    ns_per_unit: f64,
    arrivals: Arrivals,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    Operation,
    Byte,
}

#[derive(Clone, Debug)]
enum Arrivals {
    /// `earned` operations or bytes after the phase.
    Fixed { phase: f64, first: Option<u64>, earned: u64 },
    /// The time of the last arrival, in whole nanoseconds and the rest: a single float would lose the rest after
    /// hours.
    Poisson { seed: u64, number: u64, whole_ns: u64, rest_ns: f64 },
}

impl Pacing {
    /// Operations and bytes per second that the jobs of an open loop are to do together, whichever was asked for.
    pub fn offered_per_second(&self, jobs: u32) -> [Option<f64>; 2] {
        let Self::Open { operations_per_second_per_job, bytes_per_second_per_job, .. } = self else {
            return [None, None];
        };
        [operations_per_second_per_job, bytes_per_second_per_job].map(|rate| rate.map(|rate| rate * f64::from(jobs)))
    }
}

impl Pacer {
    /// The arrivals of a job; `None` for a closed loop, whose operations start when earlier ones complete. Jobs with
    /// different seeds start at different phases of the gap, so that they do not all issue at once.
    pub fn new(pacing: &Pacing, job_seed: u64) -> Option<Self> {
        let Pacing::Open { arrival, operations_per_second_per_job, bytes_per_second_per_job } = pacing else {
            return None;
        };
        let (unit, per_second) = match (operations_per_second_per_job, bytes_per_second_per_job) {
            (Some(rate), _) => (Unit::Operation, *rate),
            (None, Some(rate)) => (Unit::Byte, *rate),
            (None, None) => return None,
        };
        let seed = derive_seed(job_seed, Purpose::Arrivals, 0);
        let arrivals = match arrival {
            Arrival::Fixed => Arrivals::Fixed { phase: Draws::new(seed, 0).unit(), first: None, earned: 0 },
            Arrival::Poisson => Arrivals::Poisson { seed, number: 0, whole_ns: 0, rest_ns: 0.0 },
        };
        Some(Self { unit, ns_per_unit: NS_PER_SECOND / per_second, arrivals })
    }

    /// The same arrivals from the very start on: those of a job that is alone need not keep out of others' way.
    #[must_use]
    pub const fn beginning_at_once(mut self) -> Self {
        if let Arrivals::Fixed { phase, .. } = &mut self.arrivals {
            *phase = 0.0;
        }
        self
    }

    /// When the next operation, of this many bytes, should start. Never earlier than the one before.
    #[inline]
    pub fn next_intended_ns(&mut self, operation_bytes: u32) -> u64 {
        let cost = self.cost(operation_bytes);
        match &mut self.arrivals {
            Arrivals::Fixed { phase, first, earned } => {
                let first = match first {
                    Some(first) => {
                        *earned += cost;
                        *first
                    }
                    None => *first.insert(cost),
                };
                // Both factors are exact to 53 bits: below a nanosecond for a hundred days.
                (phase.mul_add(first as f64, *earned as f64) * self.ns_per_unit) as u64
            }
            Arrivals::Poisson { seed, number, whole_ns, rest_ns } => {
                let mean_ns = cost as f64 * self.ns_per_unit;
                let gap_ns = Draws::new(*seed, *number).exponential() * mean_ns + *rest_ns;
                *number += 1;
                let whole = gap_ns as u64;
                *whole_ns = whole_ns.saturating_add(whole);
                *rest_ns = gap_ns - whole as f64;
                *whole_ns
            }
        }
    }

    /// Passes over so many operations, of this many bytes each. Returns when the last of them should start; random
    /// arrivals take as long as on the average.
    pub fn pass_over(&mut self, operations: u64, operation_bytes: u32) -> u64 {
        let cost = self.cost(operation_bytes).saturating_mul(operations);
        match &mut self.arrivals {
            Arrivals::Fixed { phase, first, earned } => {
                *earned = earned.saturating_add(cost);
                (phase.mul_add(first.unwrap_or(0) as f64, *earned as f64) * self.ns_per_unit) as u64
            }
            Arrivals::Poisson { whole_ns, .. } => {
                *whole_ns = whole_ns.saturating_add((cost as f64 * self.ns_per_unit) as u64);
                *whole_ns
            }
        }
    }

    fn cost(&self, operation_bytes: u32) -> u64 {
        match self.unit {
            Unit::Operation => 1,
            Unit::Byte => u64::from(operation_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Exp};

    use super::*;
    use crate::chi_square::assert_uniform;

    const ARRIVALS: usize = 1_000_000;

    fn operations(arrival: Arrival, rate: f64) -> Pacing {
        Pacing::Open { arrival, operations_per_second_per_job: Some(rate), bytes_per_second_per_job: None }
    }

    fn bytes(arrival: Arrival, rate: f64) -> Pacing {
        Pacing::Open { arrival, operations_per_second_per_job: None, bytes_per_second_per_job: Some(rate) }
    }

    fn times(pacing: &Pacing, count: usize) -> Vec<u64> {
        let mut pacer = Pacer::new(pacing, 77).unwrap();
        (0..count).map(|_| pacer.next_intended_ns(4096)).collect()
    }

    #[test]
    fn arrivals_hold_the_rate_over_a_million_operations() {
        for arrival in [Arrival::Fixed, Arrival::Poisson] {
            for rate in [1_000.0, 100_000.0, 500_000.0] {
                for pacing in [operations(arrival, rate), bytes(arrival, rate * 4096.0)] {
                    let times = times(&pacing, ARRIVALS);
                    let elapsed_ns = times[ARRIVALS - 1] as f64;
                    let error = ARRIVALS as f64 * 1e9 / elapsed_ns / rate - 1.0;
                    assert!(error.abs() < 0.005, "{pacing:?} is off by {error}");
                    assert!(times.is_sorted());
                }
            }
        }
    }

    #[test]
    fn a_job_that_is_alone_begins_at_once() {
        let pacing = operations(Arrival::Fixed, 2.0);
        let mut alone = Pacer::new(&pacing, 77).unwrap().beginning_at_once();
        assert_eq!([(); 3].map(|()| alone.next_intended_ns(4096)), [0, 500_000_000, 1_000_000_000]);
        let mut among_others = Pacer::new(&pacing, 77).unwrap();
        assert!((1..500_000_000).contains(&among_others.next_intended_ns(4096)));
    }

    #[test]
    fn fixed_arrivals_do_not_drift() {
        // 333,333 per second have a gap of no whole number of nanoseconds, nor of any short fraction of one.
        let times = times(&operations(Arrival::Fixed, 333_333.0), ARRIVALS);
        for (number, time) in times.iter().enumerate() {
            let exact = number as u128 * 1_000_000_000 / 333_333;
            let late = u128::from(*time - times[0]).abs_diff(exact);
            assert!(late <= 1, "operation {number} is {late} ns off");
        }
    }

    #[test]
    fn fixed_arrivals_are_exact_after_a_week() {
        let mut pacer = Pacer::new(&operations(Arrival::Fixed, 500_000.0), 77).unwrap();
        let first = pacer.next_intended_ns(4096);
        let week = 500_000 * 86_400 * 7;
        let Arrivals::Fixed { earned, .. } = &mut pacer.arrivals else { panic!("not fixed") };
        *earned = week - 1;
        assert!((pacer.next_intended_ns(4096) - first).abs_diff(week * 2_000) <= 1);
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        for rate in [1_000.0, 100_000.0, 500_000.0] {
            let times = times(&operations(Arrival::Poisson, rate), ARRIVALS);
            let exponential = Exp::new(rate / 1e9).unwrap();
            let mut gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
            gaps.sort_unstable();
            let distances = gaps
                .iter()
                .enumerate()
                .map(|(index, gap)| (index as f64 / gaps.len() as f64 - exponential.cdf(*gap as f64)).abs());
            let distance = distances.fold(0.0, f64::max);
            // Kolmogorov and Smirnov at one in a thousand, and the nanosecond to which times are rounded.
            let bound = 1.95 / (gaps.len() as f64).sqrt() + rate / 1e9;
            assert!(distance < bound, "{distance} at {rate}");
        }
    }

    #[test]
    fn poisson_gaps_do_not_depend_on_the_gap_before() {
        // At this rate the rounding to nanoseconds is far below what the test can see.
        let times = times(&operations(Arrival::Poisson, 1_000.0), ARRIVALS);
        let exponential = Exp::new(1e-6).unwrap();
        let mut pairs = [0_u64; 400];
        let mut last = 0;
        for pair in times.windows(2) {
            let bin = (exponential.cdf((pair[1] - pair[0]) as f64) * 20.0) as usize;
            pairs[last * 20 + bin] += 1;
            last = bin;
        }
        assert_uniform(&pairs, "pairs of gaps");
    }

    #[test]
    fn a_rate_of_bytes_spaces_operations_by_their_size() {
        let mut pacer = Pacer::new(&bytes(Arrival::Fixed, 1e6), 77).unwrap();
        let start = pacer.next_intended_ns(1000);
        assert!(start < 1_000_000);
        assert!((pacer.next_intended_ns(64_000) - start).abs_diff(64_000_000) <= 1);
        assert!((pacer.next_intended_ns(1000) - start).abs_diff(65_000_000) <= 1);
    }

    #[test]
    fn what_is_passed_over_takes_the_time_of_its_operations() {
        for pacing in [operations(Arrival::Fixed, 333_333.0), bytes(Arrival::Fixed, 1e9)] {
            let all = times(&pacing, 2000);
            let mut pacer = Pacer::new(&pacing, 77).unwrap();
            assert_eq!(pacer.next_intended_ns(4096), all[0]);
            assert_eq!(pacer.pass_over(1998, 4096), all[1998]);
            assert_eq!(pacer.next_intended_ns(4096), all[1999], "{pacing:?}");
        }
        let mut pacer = Pacer::new(&operations(Arrival::Poisson, 1e6), 77).unwrap();
        let first = pacer.next_intended_ns(4096);
        assert_eq!(pacer.pass_over(1_000_000, 4096), first + 1_000_000_000);
        let gap_ns = pacer.next_intended_ns(4096) - first - 1_000_000_000;
        assert!(gap_ns < 20_000, "{gap_ns}");
    }

    #[test]
    fn jobs_start_at_different_phases_of_the_gap() {
        let pacing = operations(Arrival::Fixed, 1.0);
        let mut bins = [0_u64; 10];
        for seed in 0..10_000 {
            let start = Pacer::new(&pacing, seed).unwrap().next_intended_ns(4096);
            bins[(start / 100_000_000) as usize] += 1;
        }
        assert_uniform(&bins, "phases");
    }

    #[test]
    fn a_closed_loop_has_no_pacer() {
        assert!(Pacer::new(&Pacing::Closed, 1).is_none());
    }
}
