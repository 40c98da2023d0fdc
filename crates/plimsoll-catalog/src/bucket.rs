//! Token buckets: what a storage with burst credits serves over time, exactly, without time steps.
//!
//! A bucket holds credits. While it has any, the limit is the burst rate; then it is the lasting one. What is served
//! above the lasting rate is spent, what is left of it unused comes back, up to the size of the bucket.

use plimsoll_workload::limit::RateLimit;

/// Credits below this are none.
const NONE: f64 = 1e-9;

/// A stretch of time at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// How long.
    pub seconds: f64,
    /// What was served a second.
    pub rate: f64,
}

/// A limit with the credits that it has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    limit: RateLimit,
    credits: f64,
}

impl Bucket {
    /// A full one.
    pub fn full(limit: RateLimit) -> Self {
        Self { limit, credits: limit.bucket.unwrap_or(0.0) }
    }

    /// An empty one.
    pub const fn empty(limit: RateLimit) -> Self {
        Self { limit, credits: 0.0 }
    }

    /// The credits that it has.
    pub const fn credits(&self) -> f64 {
        self.credits
    }

    /// The most that it lets through now.
    fn allows(&self) -> f64 {
        match self.limit.bucket {
            Some(_) if self.credits > NONE => self.limit.burst.unwrap_or(f64::INFINITY),
            _ => self.limit.sustained,
        }
    }

    /// How long the credits last at a rate.
    fn lasts(&self, rate: f64) -> f64 {
        let spent = rate - self.limit.sustained;
        if self.limit.bucket.is_some() && self.credits > NONE && spent > 0.0 {
            self.credits / spent
        } else {
            f64::INFINITY
        }
    }

    fn pass(&mut self, rate: f64, seconds: f64) {
        let Some(bucket) = self.limit.bucket else { return };
        let credits = (self.limit.sustained - rate).mul_add(seconds, self.credits).clamp(0.0, bucket);
        self.credits = if credits <= NONE { 0.0 } else { credits };
    }
}

/// Serves a constant demand through limits that all apply, and says at which rates for how long.
pub fn serve(buckets: &mut [Bucket], demand: f64, seconds: f64) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut left = seconds;
    while left > 0.0 {
        let rate = buckets.iter().map(Bucket::allows).fold(demand, f64::min);
        let seconds = buckets.iter().map(|bucket| bucket.lasts(rate)).fold(left, f64::min);
        buckets.iter_mut().for_each(|bucket| bucket.pass(rate, seconds));
        left -= seconds;
        stretches.push(Stretch { seconds, rate });
    }
    stretches
}

/// The mean rate of stretches.
pub fn mean(stretches: &[Stretch]) -> f64 {
    let seconds: f64 = stretches.iter().map(|stretch| stretch.seconds).sum();
    let served: f64 = stretches.iter().map(|stretch| stretch.rate * stretch.seconds).sum();
    if seconds > 0.0 { served / seconds } else { 0.0 }
}

/// How long a full bucket lasts at a rate; `None` when it never ends.
pub fn burst_seconds(limit: RateLimit, rate: f64) -> Option<f64> {
    let bucket = Bucket::full(limit);
    let seconds = bucket.lasts(rate.min(bucket.allows()));
    seconds.is_finite().then_some(seconds)
}

/// How long an empty bucket takes to be full when nothing is done; `None` when there is none.
pub fn refill_seconds(limit: RateLimit) -> Option<f64> {
    limit.bucket.map(|bucket| bucket / limit.sustained)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(sustained: f64, burst: f64, bucket: f64) -> RateLimit {
        RateLimit { sustained, burst: Some(burst), bucket: Some(bucket) }
    }

    #[test]
    fn an_hour_of_a_small_premium_disk_is_half_an_hour_of_burst_and_half_an_hour_of_base() {
        let disk = limit(120.0, 3500.0, (3500.0 - 120.0) * 1800.0);
        let stretches = serve(&mut [Bucket::full(disk)], 50_000.0, 3600.0);
        assert_eq!(stretches, [Stretch { seconds: 1800.0, rate: 3500.0 }, Stretch { seconds: 1800.0, rate: 120.0 }]);
        assert!((mean(&stretches) - 1810.0).abs() < 1e-9);
        assert!((refill_seconds(disk).unwrap() / 3600.0 - 14.083).abs() < 0.001);
    }

    #[test]
    fn a_burst_behind_a_lower_limit_lasts_longer() {
        let disk = limit(500.0, 3500.0, 3000.0 * 1800.0);
        let machine = RateLimit::lasting(2000.0);
        let stretches = serve(&mut [Bucket::full(disk), Bucket::full(machine)], 1e6, 7200.0);
        assert_eq!(stretches[0], Stretch { seconds: 3600.0, rate: 2000.0 });
        assert_eq!(stretches[1].rate, 500.0);
    }

    #[test]
    fn a_load_below_the_lasting_rate_fills_the_bucket_again() {
        let disk = limit(100.0, 3000.0, 5.4e6);
        let mut bucket = [Bucket::empty(disk)];
        serve(&mut bucket, 40.0, 1000.0);
        assert!((bucket[0].credits() - 60_000.0).abs() < 1e-6);
        serve(&mut bucket, 0.0, 1e9);
        assert!((bucket[0].credits() - 5.4e6).abs() < 1e-6, "never more than it holds");
    }

    proptest! {
        /// The same load in small steps, as the model is written down.
        #[test]
        fn exact_stretches_serve_what_small_steps_do(
            base in 1.0..100.0_f64,
            above in 1.0..100.0_f64,
            bucket in 0.0..5000.0_f64,
            other in 1.0..200.0_f64,
            demand in 0.0..250.0_f64,
        ) {
            let disk = limit(base, base + above, bucket);
            let machine = RateLimit::lasting(other);
            let exact = mean(&serve(&mut [Bucket::full(disk), Bucket::full(machine)], demand, 100.0)) * 100.0;
            let (mut credits, mut served) = (bucket, 0.0);
            let step = 0.01;
            for _ in 0..10_000 {
                let allowed = if credits > 0.0 { base + above } else { base };
                let rate = demand.min(allowed).min(other);
                credits = (credits + (base - rate) * step).clamp(0.0, bucket);
                served += rate * step;
            }
            prop_assert!((exact - served).abs() <= above * step * 2.0 + 1e-6, "{exact} and {served}");
        }
    }
}
