//! A report as JUnit XML.
//!
//! Each run is a suite and each of its cells a test, which fails when operations failed. Of storage of which it is
//! known what was bought, each rate is a test more, which fails when there is less than that. Then each side is a suite
//! with the reference.

use plimsoll_record::record::{Cell, Record};

use super::Document;
use crate::{
    comparison,
    explanation::{
        self, ExplainedRun, show,
        standing::{Judged, Reached},
    },
    facts,
    junit::{self, Ending, Suite, Test},
};

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
    let bought = explained.iter().flat_map(|run| &run.cells).flat_map(|cell| {
        cell.judged.iter().map(|judged| Test {
            class: class(&cell.target, &cell.workload),
            name: format!("what was bought, {}", judged.operation.plural()),
            ending: bought(judged),
        })
    });
    Suite {
        name: format!("plimsoll {}", explanation::name(record)),
        started: record.started,
        elapsed_ns: record.elapsed_ns,
        hostname: record.environment.machine.hostname.clone(),
        properties: facts::of(record).into_iter().map(|fact| (fact.label, fact.text)).collect(),
        tests: measured.chain(bought).collect(),
        text: String::new(),
    }
}

fn class(target: &str, workload: &str) -> String {
    format!("plimsoll.{target} {workload}")
}

fn measured(cell: &Cell) -> Ending {
    let failed = cell.error_kinds.first().map(|kind| format!(": {}", kind.error)).unwrap_or_default();
    match (cell.errors, cell.word_of_numbers()) {
        (0, Some(_)) => Ending::Passed,
        (0, None) => Ending::Skipped(format!("not run: {}", cell.why_not_run().unwrap_or("nothing was measured"))),
        (errors, _) => Ending::Failed(format!("{errors} operations failed{failed}")),
    }
}

fn bought(judged: &Judged) -> Ending {
    let [measured, expected] = [judged.measured, judged.expected].map(|rate| show::rate(judged.unit, rate));
    match judged.reached {
        Reached::Within => Ending::Passed,
        Reached::Under => Ending::Failed(format!("{measured} where {expected} were bought")),
        Reached::Over | Reached::Impossible => Ending::Skipped(format!(
            "{measured} are more than the {expected} that were bought: something else answered"
        )),
    }
}
