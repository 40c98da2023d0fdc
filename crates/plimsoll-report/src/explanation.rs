//! What storage should have delivered beside what it did, why, and what to change.
//!
//! An [`Explanation`] is a value that text and JSON are made from. It looks at records and the catalog alone, so that
//! runs of plimsoll, imports and results that others published are explained by the same rules.

pub(crate) mod behind;
pub mod bought;
mod causes;
pub(crate) mod did;
mod pairs;
mod published;
pub(crate) mod show;
pub mod standing;
#[cfg(test)]
mod tests;
pub mod text;

use plimsoll_catalog::{
    catalog::Catalog,
    ceiling::{Load, Tolerance},
    detection,
    error::CatalogError,
    expectation::Expectation,
};
use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    figures::Operation,
    limit::CellLimit,
    record::{Cell, Kind, Record},
};
use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::{Provisioned, Provisioning},
    settings::EngineChoice,
};
use serde::Serialize;
use uuid::Uuid;

use self::{
    behind::Behind,
    causes::Scene,
    did::{CellLoad, Did},
    standing::{Judged, Standing, Unit},
};
pub use self::{causes::Cause, pairs::Pair, published::Slip};

/// The schema of an explanation as JSON.
pub const SCHEMA: &str = "plimsoll-explanation/1";

/// Records explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// `plimsoll-explanation/1`.
    pub schema: &'static str,
    /// The records.
    pub runs: Vec<ExplainedRun>,
    /// The same workloads on different storage, and whether what was bought explains the difference.
    pub pairs: Vec<Pair>,
}

/// A record explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedRun {
    /// Its id.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: Uuid,
    /// What it is called: its name or the file that it was read from.
    pub name: String,
    /// Its cells.
    pub cells: Vec<ExplainedCell>,
}

/// A cell explained.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainedCell {
    /// Its target.
    pub target: String,
    /// Its workload.
    pub workload: String,
    /// What that is. Of an application the requests of its disk are judged.
    pub kind: Kind,
    /// What was bought for it, as far as it is known.
    pub bought: Option<String>,
    /// What a reader has to know of that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its rates beside what was to be expected.
    pub judged: Vec<Judged>,
    /// Why they are what they are, the most telling first.
    pub causes: Vec<Cause>,
    /// Numbers that the text states and a slip of units explains.
    pub slips: Vec<Slip>,
    /// What the record itself says of the numbers, as sentences.
    pub findings: Vec<String>,
}

impl Explanation {
    /// Explains records. What was said with them is completed by what is said of each now.
    pub fn of(records: &[(&Record, &Provisioning)], catalog: &Catalog) -> Result<Self, CatalogError> {
        let mut runs = Vec::new();
        let mut subjects = Vec::new();
        for (record, said) in records {
            let mut cells = Vec::new();
            for cell in &record.cells {
                let (explained, subject) = explain(record, cell, said, catalog)?;
                cells.push(explained);
                subjects.push(subject);
            }
            runs.push(ExplainedRun { id: record.id, name: name(record), cells });
        }
        Ok(Self { schema: SCHEMA, runs, pairs: pairs::of(&subjects) })
    }

    /// Whether it is known of any cell what was to be expected.
    pub fn expects_anything(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.cells).any(|cell| cell.bought.is_some())
    }
}

/// What a record is called: its name, or the file that it was read from, or its id.
pub(crate) fn name(record: &Record) -> String {
    let file = record.import.as_ref().map(|import| import.file.clone());
    record.name.clone().or(file).unwrap_or_else(|| record.id.to_string())
}

fn explain<'a>(
    record: &'a Record,
    cell: &'a Cell,
    said: &Provisioning,
    catalog: &Catalog,
) -> Result<(ExplainedCell, pairs::Subject<'a>), CatalogError> {
    let provisioned = provisioned(record, cell, said, catalog);
    let expectation = Expectation::of(&provisioned, catalog)?;
    let load = CellLoad::of(cell);
    let behind = Behind::of(cell);
    // The memory engine touches no storage.
    let expectation = expectation.filter(|_| cell.engine != EngineChoice::Memory);
    let judged = expectation.as_ref().map_or_else(Vec::new, |expectation| match Behind::is_behind(cell) {
        true => behind.iter().filter_map(|behind| behind.judge(expectation)).collect(),
        false => judge(cell, &load, expectation),
    });
    // No cache answers what the disk itself counted.
    let is_cached = cell.verdict == Some(Verdict::Cached) && !Behind::is_behind(cell);
    let judged: Vec<Judged> =
        judged.into_iter().map(|judged| if is_cached { judged.of_cached() } else { judged }).collect();
    let scene = Scene {
        cell,
        load: &load,
        is_shared: cell.shared_its_target(&record.cells),
        behind: &behind,
        provisioned: &provisioned,
        expectation: expectation.as_ref(),
        judged: &judged,
        catalog,
    };
    let causes = causes::of(&scene);
    let parts = expectation.as_ref().map(|expectation| expectation.for_load(load.load()).source);
    let notes = expectation.as_ref().map_or_else(Vec::new, |expectation| {
        let of_parts = expectation.parts.iter().flat_map(|part| &part.notes);
        let unknown = detection::unknown_machine(&provisioned, &record.environment);
        of_parts.chain(&expectation.notes).cloned().chain(unknown).collect()
    });
    let explained = ExplainedCell {
        target: cell.target.clone(),
        workload: cell.workload.clone(),
        kind: cell.kind,
        bought: parts,
        notes,
        judged: judged.clone(),
        causes,
        slips: published::slips(record, cell),
        findings: cell.findings.iter().filter(|finding| is_telling(finding)).map(|found| found.text.clone()).collect(),
    };
    Ok((explained, pairs::Subject { record, cell, judged, expectation, load }))
}

/// Notes about how a text was read are for whoever imports it.
fn is_telling(finding: &plimsoll_record::results::Finding) -> bool {
    finding.severity != plimsoll_record::results::Severity::Info || finding.code == "told-unsupported-percentile"
}

/// What was bought for a cell: what is said now, what was said with the run, and what the machine told of itself; or
/// else the limit that its run was given.
pub(crate) fn provisioned(record: &Record, cell: &Cell, said: &Provisioning, catalog: &Catalog) -> Provisioned {
    let with_run = record.asked.provisioned.of(&cell.target);
    let said = said.of_cell(&cell.target, &cell.workload).or(&with_run);
    let mut provisioned = detection::complete(said, &record.environment, &cell.target, catalog);
    if provisioned.sku.is_none() && provisioned.limit.is_none() && provisioned.vm.is_none() {
        provisioned.limit = record.asked.certainty.limit.or_else(|| cell.limit.as_ref().and_then(limit_of));
        // Those are of all its disks.
        provisioned.disks = None;
    }
    provisioned
}

/// A limit as a record has it.
fn limit_of(limit: &CellLimit) -> Option<Limit> {
    let rate = |sustained: Option<f64>, burst, bucket| {
        let limit = RateLimit { sustained: sustained?, burst, bucket };
        limit.is_plausible().then_some(limit)
    };
    let limit = Limit {
        operations: rate(limit.iops, limit.burst_iops, limit.bucket_operations),
        bytes: rate(limit.bytes_per_second, limit.burst_bytes_per_second, limit.bucket_bytes),
        io_size: None,
    };
    limit.operations.or(limit.bytes).map(|_| limit)
}

/// A cell's rates beside what was to be expected. Of a mix it is both directions together, unless writes alone are at
/// the limit or together they are more than is possible: a cache answers reads then, and writes set the pace.
fn judge(cell: &Cell, load: &CellLoad<'_>, expectation: &Expectation) -> Vec<Judged> {
    let tolerance = |part| expectation.tolerance(part);
    // Cells that take turns leave the buckets of their targets time to fill, so that only a load in one piece is
    // predicted. Of files nobody tells how long they took.
    let elapsed_s = load.elapsed_s.filter(|_| cell.told.is_some());
    let of = |did: &Did, alone: bool| {
        let mut load = load.load();
        if alone {
            load.read_share = if did.operation == Operation::Write { 0.0 } else { 1.0 };
        }
        let bytes = Some(load.operation_bytes);
        let parts: Vec<Limit> = expectation.parts.iter().map(|part| part.limits.of(load)).collect();
        standing::judge(did, &expectation.for_load(load), bytes, elapsed_s, &parts, tolerance)
    };
    if load.files.is_some() {
        return judge_files(load, expectation);
    }
    let Some(total) = load.total else {
        return load.directions.iter().filter_map(|did| of(did, true)).collect();
    };
    let together = of(&total, false);
    let alone: Vec<Judged> = load.directions.iter().filter_map(|did| of(did, true)).collect();
    let write = alone.iter().find(|judged| judged.operation == Operation::Write);
    let writes_set_the_pace = write.is_some_and(|write| {
        write.standing == Standing::Within
            || together.as_ref().is_some_and(|together| together.standing == Standing::Impossible)
    });
    if writes_set_the_pace && together.as_ref().is_some_and(|together| together.standing != Standing::Within) {
        return alone;
    }
    together.into_iter().collect()
}

/// How exactly files per second follow from operations.
const FILES: Tolerance = Tolerance { under: 0.1, over: 0.1 };

/// The rates of a file set. A file that is written and synced costs several operations of the device; what follows from
/// that is known to a tenth.
fn judge_files(load: &CellLoad<'_>, expectation: &Expectation) -> Vec<Judged> {
    let of = |did: &Did| {
        let is_write = did.operation == Operation::Write;
        let load = Load { read_share: if is_write { 0.0 } else { 1.0 }, operation_bytes: 1.0, is_sequential: true };
        let mut expected = expectation.for_load(load);
        if is_write {
            let a_file = 1.0 / causes::DEVICE_WRITES_A_FILE;
            expected.limit.operations = expected.limit.operations.map(|limit| limit.times(a_file));
        }
        let judged = standing::judge(did, &expected, None, None, &[], |_| FILES)?;
        let unit = if judged.unit == Unit::Iops { Unit::FilesPerSecond } else { judged.unit };
        Some(Judged { unit, ..judged })
    };
    load.directions.iter().filter_map(of).collect()
}
