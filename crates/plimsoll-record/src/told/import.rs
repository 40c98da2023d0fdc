//! The record of what a text told.

use std::collections::{BTreeMap, HashSet};

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

/// Why what is told may not mean what it seems to.
pub fn doubt(text: impl Into<String>) -> Finding {
    finding("told-doubt", Severity::Warning, text)
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
        let told = found.iter().filter_map(|result| result.started).min();
        let started = told.filter(|started| *started <= import.at);
        let mut warnings = Vec::new();
        match (told, started) {
            (None, _) => warnings.push("when it was measured is not told: the time is that of the import".to_owned()),
            (Some(_), None) => warnings.push(
                "the time that is told lies behind that of the import, which stands for it: zones are not told"
                    .to_owned(),
            ),
            _ => {}
        }
        let cells: Vec<Cell> = found.into_iter().map(|result| cell(result, target.as_deref(), &import.file)).collect();
        let elapsed_ns = cells.iter().filter_map(|cell| cell.told.as_ref()?.elapsed_ns()).fold(0, u64::saturating_add);
        let mut seen = HashSet::new();
        let targets = cells.iter().filter(|cell| seen.insert(&cell.target)).map(|cell| cell.target.clone()).collect();
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
            asked: Asked { targets, ..Asked::of(Certainty::of(Effort::Standard)) },
            seed: 0,
            environment: Environment::default(),
            layouts: Vec::new(),
            volumes: Vec::new(),
            pods: None,
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
    let directions = [&transfers.read, &transfers.write, &transfers.total, &transfers.sync].into_iter().flatten();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        figures::Operation,
        told::{Direction, Duration, Percentile, Source},
        upgrade,
        word::Word,
    };

    fn found(measured: Measured) -> FoundResult {
        FoundResult {
            told: Told { source: Source::FioText, lines: (3, 4), measured },
            target: None,
            workload: None,
            heading: None,
            started: None,
            findings: Vec::new(),
        }
    }

    fn transfers(operations: u64) -> Measured {
        Measured::Transfers(Box::new(Transfers {
            pattern: Some("randrw".to_owned()),
            read_percent: Some(70),
            block_size_bytes: Some(16384),
            queue_depth: Some(8),
            jobs: Some(4),
            elapsed_ns: Some(5_000_000_000),
            errors: Some(2),
            read: Some(Direction {
                operations: Some(operations),
                percentiles: vec![Percentile { percent: 99.9, latency_ns: 7.0 }],
                ..Direction::default()
            }),
            ..Transfers::default()
        }))
    }

    fn record(target: Option<&str>, found: Vec<FoundResult>) -> Record {
        let reading = Reading {
            id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().unwrap(),
            tool: Tool { version: "0.1.0".to_owned(), commit: None, profile: "release".to_owned() },
            name: Some("post".to_owned()),
            tags: BTreeMap::new(),
            target: target.map(str::to_owned),
        };
        let at = "2025-10-08T09:30:00Z".parse().unwrap();
        Record::of_import(reading, Import { file: "a.md".to_owned(), at, text: "...".to_owned() }, found)
    }

    #[test]
    fn what_was_measured_is_named_by_whoever_knows_best() {
        let heading = FoundResult { heading: Some("A disk".to_owned()), ..found(transfers(1)) };
        let target = FoundResult { target: Some("/data".to_owned()), ..heading.clone() };
        let all = vec![found(transfers(1)), heading, target];
        let targets = |record: Record| record.cells.into_iter().map(|cell| cell.target).collect::<Vec<_>>();
        assert_eq!(targets(record(None, all.clone())), ["a.md", "A disk", "/data"]);
        assert_eq!(targets(record(Some("P30"), all)), ["P30"; 3]);
        let named = FoundResult { workload: Some("mine".to_owned()), ..found(transfers(1)) };
        let record = record(None, vec![named, found(transfers(1))]);
        let workloads: Vec<&str> = record.cells.iter().map(|cell| cell.workload.as_str()).collect();
        assert_eq!(workloads, ["mine", "randrw 70% read 16KiB QD8 x4"]);
    }

    #[test]
    fn a_record_of_an_import_claims_nothing_and_reads_back() {
        let runs = Measured::Durations(vec![Duration { elapsed_ns: 10, ..Duration::default() }; 3]);
        let record = record(None, vec![found(transfers(500)), found(runs)]);
        assert_eq!(upgrade::read(&serde_json::to_string(&record).unwrap()).unwrap(), record);
        assert_eq!((record.elapsed_ns, &record.asked.targets), (5_000_000_030, &vec!["a.md".to_owned()]));
        assert_eq!(record.warnings, ["when it was measured is not told: the time is that of the import"]);
        let [blocks, command] = record.cells.as_slice() else { panic!() };
        assert_eq!((blocks.word(), blocks.verdict, blocks.why_not_run(), blocks.errors), (Word::Told, None, None, 2));
        assert!(blocks.plan.is_none() && blocks.read.is_none() && record.has_io_errors());
        let codes: Vec<&str> = blocks.findings.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, ["told-unsupported-percentile"]);
        assert_eq!(blocks.figures(Operation::Read).unwrap().latency_ns.p99_9, None);
        assert_eq!((command.kind, command.rounds_done), (Kind::Application, 3));
    }

    #[test]
    fn a_time_that_is_told_is_that_of_the_record() {
        let at = |time: &str| FoundResult { started: Some(time.parse().unwrap()), ..found(transfers(1)) };
        let told = record(None, vec![found(transfers(1)), at("2014-05-27T10:00:00Z"), at("2014-05-26T10:00:00Z")]);
        assert_eq!((told.started.to_string().as_str(), told.warnings.len()), ("2014-05-26T10:00:00Z", 0));
        // What lies ahead was told in another zone, and would be the latest run for hours.
        let ahead = record(None, vec![at("2025-10-08T12:30:00Z")]);
        assert_eq!((ahead.started.to_string().as_str(), ahead.warnings.len()), ("2025-10-08T09:30:00Z", 1));
    }
}
