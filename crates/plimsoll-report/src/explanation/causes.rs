//! Why a rate is what it is: each cause with its sentence and the numbers it rests on, the most telling first.

mod behind;
mod caches;
mod credits;
mod depth;
mod expectations;
mod files;
mod limits;
mod threads;

use plimsoll_catalog::{catalog::Catalog, expectation::Expectation};
use plimsoll_record::{figures::Operation, record::Cell};
use plimsoll_workload::{limit::Part, provisioned::Provisioned};
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) use self::files::DEVICE_WRITES_A_FILE;
use super::{behind::Behind, did::CellLoad, standing::Judged};

/// A reason for a rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Stable, for programs.
    pub code: &'static str,
    /// The sentence.
    pub text: String,
    /// What to do about it; empty when nothing is wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// The numbers it rests on.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub evidence: Map<String, Value>,
    /// How much it explains, for the order: 1 is all.
    #[serde(skip)]
    weight: f64,
}

impl Cause {
    fn new(code: &'static str, weight: f64, text: impl Into<String>, evidence: &[(&str, Value)]) -> Self {
        let evidence = evidence.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Self { code, text: text.into(), advice: String::new(), evidence, weight }
    }

    /// Whether it says why a rate is below a limit.
    pub(crate) fn says_why_below(&self) -> bool {
        matches!(self.code, "fsync-cost" | "queue-depth" | "syncs" | "paced")
            || behind::SAY_WHY_BELOW.contains(&self.code)
    }

    fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }
}

/// All that is known where a cause is looked for.
pub(super) struct Scene<'a> {
    pub(super) cell: &'a Cell,
    pub(super) load: &'a CellLoad<'a>,
    /// Whether other cells had a part of what its target delivers.
    pub(super) is_shared: bool,
    /// What the disk did, where the cell's rates are none of it.
    pub(super) behind: &'a [Behind],
    pub(super) provisioned: &'a Provisioned,
    pub(super) expectation: Option<&'a Expectation>,
    pub(super) judged: &'a [Judged],
    pub(super) catalog: &'a Catalog,
}

impl Scene<'_> {
    /// The rates that have reasons of their own: not those of reads that a mix ties to its writes.
    fn telling(&self) -> impl Iterator<Item = &Judged> {
        let is_tied = self.is_tied();
        self.judged.iter().filter(move |judged| !is_tied || judged.operation != Operation::Read)
    }

    /// Whether the reads of a mix go at the pace of its writes: then the writes alone are what was judged.
    fn is_tied(&self) -> bool {
        self.load.total.is_some() && self.load.files.is_none() && self.judged.len() == 2
    }

    /// The name of a part of the way.
    fn name(&self, part: Part) -> &str {
        let ceiling = self.expectation.and_then(|expectation| expectation.part(part));
        ceiling.map_or("the limit", |ceiling| &ceiling.name)
    }
}

/// The causes of what a cell did, the most telling first.
pub(super) fn of(scene: &Scene<'_>) -> Vec<Cause> {
    let mut causes = limits::causes(scene);
    causes.extend(credits::causes(scene));
    causes.extend(caches::causes(scene));
    causes.extend(files::causes(scene));
    causes.extend(behind::causes(scene));
    causes.extend(depth::causes(scene));
    causes.extend(threads::causes(scene));
    causes.extend(expectations::causes(scene));
    // What a cache answered is no limit of another disk.
    if causes.iter().any(|cause| matches!(cause.code, "page-cache" | "host-cache" | "cache")) {
        causes.retain(|cause| cause.code != "above-limit");
    }
    // What is explained is not also "something else".
    if causes.iter().any(Cause::says_why_below) {
        causes.retain(|cause| cause.code != limits::BELOW_CODE);
    }
    causes.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    causes
}
