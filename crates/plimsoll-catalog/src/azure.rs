//! Microsoft Azure.

pub(crate) mod blob;
pub(crate) mod elastic_san;
pub(crate) mod files;
pub(crate) mod machines;
pub(crate) mod managed_disks;
pub(crate) mod netapp;
pub(crate) mod provisioned_disks;
pub(crate) mod temporary_disks;

use plimsoll_workload::limit::RateLimit;

/// What a full bucket of credits lasts for at the highest rate: half an hour.
const BURST_SECONDS: f64 = 1800.0;

/// A limit with a burst of half an hour, where it has one.
fn credit(base: f64, burst: Option<f64>) -> RateLimit {
    match burst.filter(|burst| *burst > base) {
        Some(burst) => RateLimit { sustained: base, burst: Some(burst), bucket: Some((burst - base) * BURST_SECONDS) },
        None => RateLimit::lasting(base),
    }
}
