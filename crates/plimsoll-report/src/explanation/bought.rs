//! What claims call `expected`: what the catalog says of what was bought for a result.

use plimsoll_catalog::{catalog::Catalog, expectation::Expectation as Bought};
use plimsoll_record::{figures::Operation, record::Record};
use plimsoll_workload::{
    limit::{Part, RateLimit},
    provisioned::Provisioning,
};

use super::{did::CellLoad, provisioned};
use crate::claims::{Expectation, Expectations, Figure, Level};

/// Records with what is said of each, and the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The records.
    pub subjects: &'a [(&'a Record, &'a Provisioning)],
    /// The catalog.
    pub catalog: &'a Catalog,
}

impl Expectations for Known<'_> {
    fn expected(&self, asked: &Expectation<'_>) -> Option<f64> {
        let (_, said) = self.subjects.iter().find(|(record, _)| std::ptr::eq(*record, asked.record))?;
        let bought = Bought::of(&provisioned(asked.record, asked.cell, said, self.catalog), self.catalog).ok()??;
        let mut load = CellLoad::of(asked.cell).load();
        match asked.operation {
            Operation::Read => load.read_share = 1.0,
            Operation::Write => load.read_share = 0.0,
            Operation::Sync | Operation::All | Operation::Phase(_) => {}
        }
        let limit = match asked.level {
            Level::Sustained | Level::Burst => bought.for_load(load).limit,
            Level::Machine => bought.part(Part::Vm)?.limits.of(load),
            Level::Cached => bought.host_cache.as_ref()?.hits,
        };
        let limit = match asked.figure {
            Figure::Iops => limit.operations,
            Figure::Bandwidth => limit.bytes,
            _ => None,
        }?;
        match asked.level {
            Level::Sustained | Level::Cached => Some(limit.sustained),
            // What a machine permits at most.
            Level::Machine => limit.highest(),
            Level::Burst => limit.burst.filter(|_| has_burst(limit)),
        }
    }
}

const fn has_burst(limit: RateLimit) -> bool {
    limit.bucket.is_some()
}
