//! A report as JUnit XML.
//!
//! Each run is a suite and each of its cells a test, which fails when operations failed or blocks were not as written.
//! A run that did not come to its end is a test more, which did not pass. Of storage of which it is known what was
//! bought, each rate is a test more, which fails when it is certain that there is less than that. Then each side is a
//! suite with the reference.

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    figures::Operation,
    numbers,
    record::{Cell, Outcome, Record},
    verification::VerificationResult,
};

use super::Document;
use crate::{
    comparison,
    explanation::{
        self, Cause, ExplainedCell, ExplainedRun,
        did::CellLoad,
        show,
        standing::{Judged, Reached, Unit},
    },
    facts,
    junit::{self, Ending, Suite, Test},
    need, rows,
};

/// Larger operations are bound by bytes: clouds count 16 KiB as one operation.
const SMALL_MAX: f64 = 16_384.0;

/// The report.
pub fn report(document: &Document, records: &[&Record]) -> String {
    let explained = |record: &Record| {
        document.explanation.iter().flat_map(|explanation| &explanation.runs).find(|run| run.id == record.id)
    };
    let runs = records.iter().map(|record| suite(record, explained(record)));
    let compared = document.comparisons.first().map(comparison::junit::suites);
    junit::text(&runs.chain(compared.into_iter().flatten()).collect::<Vec<_>>())
}

fn suite(record: &Record, explained: Option<&ExplainedRun>) -> Suite {
    let measured = record.cells.iter().map(|cell| Test {
        class: class(&cell.target, &cell.workload),
        name: "measured".to_owned(),
        ending: measured(cell),
    });
    let outcome = facts::outcome(record).map(|(word, text)| Test {
        class: "plimsoll".to_owned(),
        name: "run".to_owned(),
        ending: match record.outcome {
            Outcome::Failed => Ending::Failed(format!("{word} {text}")),
            _ => Ending::Skipped(format!("{word} {text}")),
        },
    });
    let pairs = explained.iter().flat_map(|run| &run.cells).zip(&record.cells);
    let bought = pairs.flat_map(|(explained, cell)| {
        explained.judged.iter().map(move |judged| Test {
            class: class(&cell.target, &cell.workload),
            name: format!("what was bought, {}", judged.operation.plural()),
            ending: bought(judged, explained, cell, &record.cells),
        })
    });
    Suite {
        name: format!("plimsoll {}", explanation::name(record)),
        started: record.started,
        elapsed_ns: record.elapsed_ns,
        hostname: record.environment.machine.hostname.clone(),
        properties: facts::of(record).into_iter().map(|fact| (fact.label, fact.text)).collect(),
        tests: outcome.into_iter().chain(measured).chain(bought).collect(),
        text: String::new(),
    }
}

fn class(target: &str, workload: &str) -> String {
    format!("plimsoll.{target} {workload}")
}

fn measured(cell: &Cell) -> Ending {
    let failed = cell.error_kinds.first().map(|kind| format!(": {}", kind.error)).unwrap_or_default();
    let wrong = cell.verification.as_ref().filter(|result| result.mismatches > 0);
    if let Some(VerificationResult { mismatches, blocks_checked, .. }) = wrong {
        return Ending::Failed(format!(
            "{mismatches} of {blocks_checked} checks found a block that was not as written"
        ));
    }
    match (cell.errors, cell.word_of_numbers()) {
        (0, Some(_)) => Ending::Passed,
        (0, None) => Ending::Skipped(format!("not run: {}", cell.why_not_run().unwrap_or("nothing was measured"))),
        (errors, _) => Ending::Failed(format!("{errors} operations failed{failed}")),
    }
}

/// A failure is a claim: that there is less than was bought although the load could have reached it. What is not known
/// for certain is skipped.
fn bought(judged: &Judged, explained: &ExplainedCell, cell: &Cell, cells: &[Cell]) -> Ending {
    let rate = |value| show::rate(judged.unit, value);
    let expected = rate(judged.expected);
    let measured = match judged.interval {
        Some([low, high]) => format!("{} [{}, {}]", rate(judged.measured), rate(low), rate(high)),
        None => rate(judged.measured),
    };
    if cell.verdict == Some(Verdict::Cached) {
        let meaning = rows::meaning(Verdict::Cached, cell);
        return Ending::Skipped(format!("{measured} where {expected} were bought: {meaning}"));
    }
    match judged.reached {
        Reached::Within => Ending::Passed,
        Reached::Over => Ending::Skipped(format!(
            "{measured} are more than the {expected} that were bought: the limit may be another one"
        )),
        Reached::Impossible => Ending::Skipped(format!(
            "{measured} are so much more than the {expected} that were bought that something else answered"
        )),
        Reached::Under => match why_unsure(judged, explained, cell, cells) {
            Some(why) => Ending::Skipped(format!("{measured} where {expected} were bought, which is no claim: {why}")),
            None => Ending::Failed(format!("{measured} where {expected} were bought")),
        },
    }
}

/// Why it does not follow from a rate below what was bought that this was not delivered.
fn why_unsure(judged: &Judged, explained: &ExplainedCell, cell: &Cell, cells: &[Cell]) -> Option<String> {
    if cell.shared_its_target(cells) {
        return Some("other workloads used the target at the same time".to_owned());
    }
    let is_tied = explained.judged.len() == 2 && judged.operation == Operation::Read;
    if is_tied && explained.judged[1].operation == Operation::Write {
        return Some("reads of a mix go at the pace of its writes".to_owned());
    }
    if let Some(cause) = explained.causes.iter().find(|cause| Cause::says_why_below(cause)) {
        return Some(cause.text.clone());
    }
    let operation_bytes = CellLoad::of(cell).operation_bytes.filter(|bytes| *bytes > SMALL_MAX);
    if let (Unit::Iops, false, Some(bytes)) = (judged.unit, judged.knows_bytes, operation_bytes) {
        let size = numbers::bytes(bytes as u64);
        return Some(format!("operations of {size} are bound by bytes, and how many were bought is not known"));
    }
    if let Some((_, why)) = need::doubt(cell) {
        return Some(why);
    }
    match judged.interval {
        None => Some("how sure the rate is, nobody knows".to_owned()),
        Some([_, high]) if high >= judged.least() => Some("what was bought is within its error".to_owned()),
        Some(_) => None,
    }
}
