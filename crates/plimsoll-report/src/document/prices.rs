//! What the sides of a comparison cost. Prices are the reader's own: the catalog has none.

use plimsoll_catalog::{catalog::Catalog, need::Cost};
use plimsoll_record::record::Record;
use plimsoll_workload::provisioned::Provisioning;

use super::{Price, TargetPrice};
use crate::{comparison::Comparison, explanation::provisioned};

/// What each target of each side costs, where a row of the reader's file is about it.
pub(super) fn of(
    comparison: &Comparison,
    subjects: &[(&Record, &Provisioning)],
    catalog: &Catalog,
) -> Vec<TargetPrice> {
    let mut prices = Vec::new();
    for side in &comparison.sides {
        let Some((record, said)) = subjects.iter().find(|(record, _)| record.id == side.run) else { continue };
        for target in &side.targets {
            let cells = record.cells.iter().filter(|cell| cell.target == *target);
            let mut costs = cells.map(|cell| Cost::of(&provisioned(record, cell, said, catalog), catalog));
            let Some(first) = costs.next() else { continue };
            let cost = match costs.all(|other| other == first) {
                true => first,
                false => Err("its loads ran on storage of different prices".to_owned()),
            };
            let (price, unknown) = match cost {
                Ok(None) => continue,
                Ok(Some(cost)) => (Some(Price::from(cost)), None),
                Err(why) => (None, Some(why)),
            };
            prices.push(TargetPrice { side: side.letter.clone(), target: target.clone(), price, unknown });
        }
    }
    prices
}

impl From<Cost> for Price {
    fn from(cost: Cost) -> Self {
        let Cost { per_month, currency, date, row } = cost;
        Self { per_month, currency, date, row }
    }
}
