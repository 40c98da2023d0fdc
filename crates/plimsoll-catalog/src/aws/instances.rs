//! Types of EC2 instances: what each lets through to EBS volumes.

use std::sync::LazyLock;

use plimsoll_workload::limit::{Limit, RateLimit};
use serde::Deserialize;

use crate::{
    ceiling::{Ceiling, Limits, MB, Part, Tolerance},
    source::Source,
    table::{self, Named},
};

/// The highest rate lasts for half an hour, at least once a day.
const BURST_SECONDS: f64 = 1800.0;

const INFERRED: &str = "the size of its burst bucket is inferred from \"30 minutes at least once every 24 hours\"";

/// A type of instance.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Instance {
    pub(crate) name: String,
    pub(crate) vcpus: u32,
    pub(crate) mbps: Option<f64>,
    pub(crate) burst_mbps: Option<f64>,
    pub(crate) iops: Option<f64>,
    pub(crate) burst_iops: Option<f64>,
    pub(crate) max_attachments: Option<u32>,
    pub(crate) store_disks: Option<u32>,
    pub(crate) store_gb: Option<f64>,
    pub(crate) source: String,
}

static INSTANCES: LazyLock<Vec<Instance>> = LazyLock::new(|| table::rows(include_str!("../../data/aws_instances.csv")));

impl Named for Instance {
    fn name(&self) -> &str {
        &self.name
    }
}

/// All types.
pub(crate) fn instances() -> &'static [Instance] {
    &INSTANCES
}

/// The type of this name.
pub(crate) fn instance(name: &str) -> Option<&'static Instance> {
    table::find(&INSTANCES, name.trim())
}

/// A rate that is reached for half an hour.
pub(crate) fn bursting(base: f64, most: Option<f64>) -> RateLimit {
    match most.filter(|most| *most > base) {
        Some(most) => RateLimit { sustained: base, burst: Some(most), bucket: Some((most - base) * BURST_SECONDS) },
        None => RateLimit::lasting(base),
    }
}

impl Instance {
    /// What it lets through to volumes.
    pub(crate) fn ceiling(&self) -> Ceiling {
        let limit = Limit {
            operations: self.iops.map(|iops| bursting(iops, self.burst_iops)),
            bytes: self.mbps.map(|mbps| bursting(mbps * MB, self.burst_mbps.map(|mbps| mbps * MB))),
            io_size: None,
        };
        let bursts = self.burst_iops > self.iops || self.burst_mbps > self.mbps;
        Ceiling {
            part: Part::Vm,
            name: self.name.clone(),
            limits: Limits::Shared(limit),
            tolerance: Tolerance::USUAL,
            sources: vec![Source::of(&self.source), Source::of("aws-ebs-optimized")],
            notes: if bursts { vec![INFERRED.to_owned()] } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_the_highest_rate_is_never_below_the_lasting_one() {
        assert_eq!(INSTANCES.len(), 1354);
        for instance in INSTANCES.iter() {
            assert!(Source::is_known(&instance.source) && instance.vcpus > 0, "{}", instance.name);
            assert!(instance.burst_iops >= instance.iops && instance.burst_mbps >= instance.mbps, "{}", instance.name);
        }
    }
}
