//! What was needed beside what was measured, and what to buy for it.
//!
//! [`Needs`] is a value that text and JSON are made from. What was measured comes from records alone, what is sold from
//! the catalog alone: neither fills what the other does not know.

mod advice;
mod held;
mod measured;
#[cfg(test)]
mod tests;
pub mod text;

use plimsoll_catalog::{
    catalog::Catalog,
    need::{Advice, Market},
    product::Provider,
};
use plimsoll_record::{
    environment::CloudProvider,
    record::{Cell, Record},
};
use plimsoll_workload::{need::Need, provisioned::Provisioning};
use serde::Serialize;

pub(crate) use self::measured::doubt;
pub use self::measured::{Answer, Standing};
use crate::explanation;

/// A need, whether targets have what it asks for, and what else is sold that has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// What is needed.
    pub need: Need,
    /// Whether it is there, target by target.
    pub targets: Vec<TargetNeeds>,
    /// What to buy for it; absent when it asks for nothing that is in a catalog.
    pub advice: Option<Advice>,
    /// Why there is no advice.
    pub no_advice: Option<String>,
}

/// What a target has of a need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetNeeds {
    /// What the run is called, where there are several.
    pub run: Option<String>,
    /// The target.
    pub target: String,
    /// For each thing that is needed, whether it is there.
    pub answers: Vec<Answer>,
    /// What is to be said of all of them.
    pub note: Option<String>,
}

impl Needs {
    /// Holds records against a need. What was said with them is completed by what is said now.
    pub fn of(need: &Need, records: &[(&Record, &Provisioning)], catalog: &Catalog) -> Self {
        let mut targets: Vec<TargetNeeds> = Vec::new();
        let mut market = Market::default();
        for (record, said) in records {
            let run = (records.len() > 1).then(|| explanation::name(record));
            let mut names: Vec<&str> = record.cells.iter().map(|cell| cell.target.as_str()).collect();
            names.sort_by_key(|name| record.cells.iter().position(|cell| cell.target == *name));
            names.dedup();
            for name in names {
                let cells: Vec<&Cell> = record.cells.iter().filter(|cell| cell.target == name).collect();
                let (mut answers, note) = measured::answers(need, &cells);
                if let (Some(size), Some(cell)) = (need.size, cells.first()) {
                    let target = record.environment.targets.iter().find(|target| target.name == name);
                    answers.push(held::answer(size, &explanation::provisioned(record, cell, said, catalog), target));
                }
                targets.push(TargetNeeds { run: run.clone(), target: name.to_owned(), answers, note });
            }
            for cell in &record.cells {
                market.add(&explanation::provisioned(record, cell, said, catalog), catalog);
            }
        }
        if market.providers.is_empty() {
            records.iter().for_each(|(record, _)| market.sold_by(seller(record)));
        }
        let (advice, no_advice) = match Advice::of(need, &market, catalog) {
            Ok(advice) => (advice, None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { need: need.clone(), targets, advice, no_advice }
    }

    /// Whether it is certain of anything that is needed that a target does not have it.
    pub fn is_broken(&self) -> bool {
        self.targets.iter().flat_map(|target| &target.answers).any(|answer| answer.standing == Standing::NotMet)
    }
}

/// Who sells the machine that a record was made on.
fn seller(record: &Record) -> Option<Provider> {
    match record.environment.cloud.as_ref()?.provider {
        CloudProvider::Azure => Some(Provider::Azure),
        CloudProvider::Aws => Some(Provider::Aws),
        CloudProvider::Gcp => Some(Provider::Gcp),
        CloudProvider::Other => None,
    }
}
