//! Burst allowances: what a catalog says of a volume that is fast until its tokens are spent.
//!
//! A bucket holds tokens and is refilled at the sustained rate. While it holds any, the volume follows its load.

/// A rate this much above the sustained one cannot be the sustained one. Above the error of a catalog entry.
pub(crate) const ABOVE: f64 = 1.155;
/// Seconds count as spending when they exceed the sustained rate by this factor.
const SPENDING: f64 = 1.10;
/// The tokens that must be spent before the allowance counts as gone, as a share of the bucket.
const GONE: f64 = 1.1;

/// What a token pays for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// One operation.
    #[default]
    Operations,
    /// One byte.
    Bytes,
}

/// A burst allowance of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// What a token pays for.
    pub unit: Unit,
    /// Tokens a second that are there for ever.
    pub sustained: f64,
    /// Tokens a second while the bucket holds any, if known.
    pub burst: Option<f64>,
    /// Tokens that the full bucket holds.
    pub bucket: f64,
}

impl Allowance {
    /// Tokens that one operation of this size costs.
    pub const fn price(&self, bytes_per_operation: f64) -> f64 {
        match self.unit {
            Unit::Operations => 1.0,
            Unit::Bytes => bytes_per_operation,
        }
    }

    /// Tokens that a stretch of this rate took out of the bucket.
    pub fn spent(&self, tokens_per_second: f64, seconds: f64) -> f64 {
        (tokens_per_second - SPENDING * self.sustained).max(0.0) * seconds
    }

    /// Whether a rate may be a burst: above what is sustained, and not enough spent to be sure that tokens are gone.
    pub fn may_be_burst(&self, tokens_per_second: f64, spent: f64) -> bool {
        tokens_per_second > ABOVE * self.sustained && !self.is_gone(spent)
    }

    /// Whether enough is spent to be sure that tokens are gone.
    pub fn is_gone(&self, spent: f64) -> bool {
        spent >= GONE * self.bucket
    }

    /// Seconds until the bucket is empty at this rate; `None` when it never is.
    pub fn seconds_left(&self, tokens_per_second: f64, spent: f64) -> Option<f64> {
        let drain = tokens_per_second - self.sustained;
        (drain > 0.0).then(|| (self.bucket - spent).max(0.0) / drain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL_DISK: Allowance =
        Allowance { unit: Unit::Operations, sustained: 300.0, burst: Some(3000.0), bucket: 5_400_000.0 };

    #[test]
    fn a_fresh_disk_of_this_kind_bursts_for_two_thousand_seconds() {
        assert!((SMALL_DISK.seconds_left(3000.0, 0.0).unwrap() - 2000.0).abs() < 1e-9);
        assert_eq!(SMALL_DISK.seconds_left(300.0, 0.0), None);
    }

    #[test]
    fn a_high_rate_is_a_burst_until_all_tokens_are_spent_for_certain() {
        assert!(SMALL_DISK.may_be_burst(3000.0, 5_400_000.0));
        assert!(!SMALL_DISK.may_be_burst(3000.0, 6_000_000.0));
        assert!(!SMALL_DISK.may_be_burst(330.0, 0.0));
    }

    #[test]
    fn tokens_may_be_bytes() {
        let allowance = Allowance { unit: Unit::Bytes, ..SMALL_DISK };
        assert!((allowance.price(4096.0) - 4096.0).abs() < f64::EPSILON);
        assert!((SMALL_DISK.price(4096.0) - 1.0).abs() < f64::EPSILON);
    }
}
