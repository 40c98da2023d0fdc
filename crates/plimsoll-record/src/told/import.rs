//! The record of what a text told.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_workload::{
    certainty::{Certainty, StoppingRule},
    settings::Effort,
    units::ByteCount,
};
use uuid::Uuid;

use super::{Files, Import, Measured, Told, Transfers};
use crate::{
    builder::empty_cell,
    environment::Environment,
    numbers,
    record::{Asked, Cell, Kind, Outcome, Record, SCHEMA, Tool},
    results::{Finding, Severity},
};

/// A result that was found in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundResult {
    /// What was told, and where.
    pub told: Told,
    /// What was measured: what the text itself names.
    pub target: Option<String>,
    /// What the text calls the load.
    pub workload: Option<String>,
    /// The heading that it stands below.
    pub heading: Option<String>,
    /// When it was measured.
    pub started: Option<Timestamp>,
    /// What does not agree in it, or may be read in two ways.
    pub findings: Vec<Finding>,
}

/// What is told twice and does not agree.
pub fn mismatch(text: impl Into<String>) -> Finding {
    finding("told-mismatch", Severity::Warning, text)
}

/// What readers have to know of what is told.
pub fn note(text: impl Into<String>) -> Finding {
    finding("told-note", Severity::Info, text)
}

fn finding(code: &str, severity: Severity, text: impl Into<String>) -> Finding {
    Finding { code: code.to_owned(), severity, text: text.into(), evidence: serde_json::Map::new() }
}

/// What of a record of an import does not stand in its text.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Identity of the record.
    pub id: Uuid,
    /// Who read it.
    pub tool: Tool,
    /// The name given with `--name`.
    pub name: Option<String>,
    /// The pairs given with `--tag`.
    pub tags: BTreeMap<String, String>,
    /// What was measured, whatever the text calls it.
    pub target: Option<String>,
}

impl Record {
    /// The record of what a text told.
    pub fn of_import(reading: Reading, import: Import, found: Vec<FoundResult>) -> Self {
        let Reading { id, tool, name, tags, target } = reading;
        let started = found.iter().filter_map(|result| result.started).min();
        let mut warnings = Vec::new();
        if started.is_none() {
            warnings.push("when it was measured is not told: the time is that of the import".to_owned());
        }
        let cells: Vec<Cell> = found.into_iter().map(|result| cell(result, target.as_deref(), &import.file)).collect();
        let elapsed_ns = cells.iter().filter_map(|cell| cell.told.as_ref()?.elapsed_ns()).fold(0, u64::saturating_add);
        let mut targets: Vec<String> = Vec::new();
        for cell in &cells {
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
        }
        Self {
            schema: SCHEMA.to_owned(),
            id,
            started: started.unwrap_or(import.at),
            elapsed_ns,
            resumed: Vec::new(),
            outcome: Outcome::Complete,
            tool,
            name,
            tags,
            asked: Asked {
                targets,
                workloads: Vec::new(),
                background: None,
                certainty: Certainty::of(Effort::Standard),
            },
            seed: 0,
            environment: Environment::default(),
            layouts: Vec::new(),
            import: Some(import),
            cells,
            warnings,
        }
    }
}

fn cell(result: FoundResult, target: Option<&str>, file: &str) -> Cell {
    let FoundResult { told, target: own, workload, heading, started: _, mut findings } = result;
    let target = target.map(str::to_owned).or(own).or(heading).unwrap_or_else(|| file.to_owned());
    let workload = workload.unwrap_or_else(|| told.describe());
    findings.extend(unsupported(&told));
    let visits = u32::try_from(told.durations().len().max(1)).unwrap_or(u32::MAX);
    let errors = told.transfers().and_then(|transfers| transfers.errors).unwrap_or(0);
    let kind = match told.measured {
        Measured::Transfers(_) | Measured::Figure(_) => Kind::Blocks,
        Measured::Durations(_) => Kind::Application,
        Measured::Files(_) => Kind::Files,
    };
    let reason = format!("told by {}, so nothing was judged", told.source.teller());
    Cell {
        kind,
        rounds_done: visits,
        verdict_reason: Some(reason),
        engine_reason: "another program measured".to_owned(),
        errors,
        findings,
        told: Some(told),
        ..empty_cell(target, workload, StoppingRule::Fixed { slots: visits, discarded: 0 })
    }
}

/// That percentiles were told which so few operations do not support.
fn unsupported(told: &Told) -> Option<Finding> {
    let transfers = told.transfers()?;
    let directions = [&transfers.read, &transfers.write, &transfers.total].into_iter().flatten();
    let first = directions.filter_map(|direction| Some((direction.first_unsupported()?, direction.operations?)));
    let (percentile, operations) = first.min_by(|one, other| one.0.percent.total_cmp(&other.0.percent))?;
    let text = format!(
        "percentiles from {} % on rest on fewer than ten operations beyond them ({} in all)",
        percentile.percent,
        numbers::count(operations)
    );
    Some(finding("told-unsupported-percentile", Severity::Info, text))
}

impl Told {
    /// Measured time.
    fn elapsed_ns(&self) -> Option<u64> {
        match &self.measured {
            Measured::Transfers(transfers) => transfers.elapsed_ns,
            Measured::Durations(durations) => {
                Some(durations.iter().fold(0, |sum: u64, duration| sum.saturating_add(duration.elapsed_ns)))
            }
            Measured::Files(_) | Measured::Figure(_) => None,
        }
    }

    /// A name for a load that has none, in the words of a plan: `randread 16KiB QD16 x8`.
    fn describe(&self) -> String {
        match &self.measured {
            Measured::Transfers(transfers) => transfers.describe(),
            Measured::Durations(_) => "command".to_owned(),
            Measured::Files(files) => files.describe(),
            Measured::Figure(figure) => figure.command.clone(),
        }
    }
}

impl Transfers {
    /// Bytes of an operation, as they are written.
    pub fn block_size(&self) -> Option<ByteCount> {
        self.block_size_bytes.map(ByteCount)
    }

    fn describe(&self) -> String {
        let pattern = self.pattern.clone().unwrap_or_else(|| {
            let word = match (&self.read, &self.write) {
                (Some(_), None) => "reads",
                (None, Some(_)) => "writes",
                _ => "transfers",
            };
            word.to_owned()
        });
        let parts = [
            Some(pattern),
            self.read_percent.filter(|percent| (1..100).contains(percent)).map(|percent| format!("{percent}% read")),
            self.block_size().map(|size| size.to_string()),
            self.queue_depth.map(|depth| format!("QD{depth}")),
            self.jobs.filter(|jobs| *jobs > 1).map(|jobs| format!("x{jobs}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl Files {
    /// How many files of which size: `100 files of 100KiB`.
    pub fn describe(&self) -> String {
        format!("{} files of {}", self.count, ByteCount(self.size_bytes))
    }
}
