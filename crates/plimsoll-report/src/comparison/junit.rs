//! A comparison as JUnit XML.
//!
//! Each side with the reference is a suite; each expectation about a number is a test. Without expectations each cell
//! is one, which cannot fail. What could not be judged, or not for certain, is skipped.

use super::{CellPair, Comparison, Difference, Pair, expectation::Standing};
use crate::junit::{self, Ending, Suite, Test};

/// The report.
pub fn junit(comparison: &Comparison) -> String {
    junit::text(&suites(comparison))
}

/// A suite for each side that is not the reference.
pub(crate) fn suites(comparison: &Comparison) -> Vec<Suite> {
    comparison.pairs.iter().map(|pair| suite(comparison, pair)).collect()
}

fn suite(comparison: &Comparison, pair: &Pair) -> Suite {
    let side = comparison.sides.iter().find(|side| side.letter == pair.side);
    let side = side.expect("a pair is made of sides");
    let property = |difference: &Difference| {
        let value = format!("{} {}, {} {}", pair.reference, difference.reference, pair.side, difference.value);
        (format!("confounded {}", difference.name), value)
    };
    let sentences: Vec<String> = pair.cells.iter().map(|cell| format!("{}: {}", cell.label(), cell.sentence)).collect();
    Suite {
        name: format!("plimsoll compare {} against {}", pair.side, pair.reference),
        started: side.started,
        elapsed_ns: side.elapsed_ns,
        hostname: side.hostname.clone(),
        properties: pair.confounded.iter().map(property).collect(),
        tests: tests(comparison, pair),
        text: sentences.join("\n"),
    }
}

fn tests(comparison: &Comparison, pair: &Pair) -> Vec<Test> {
    let class = |cell: &str| format!("plimsoll.{cell}");
    if comparison.expectations.is_empty() {
        let name = format!("{} against {}", pair.side, pair.reference);
        let test = |cell: &CellPair| {
            let is_compared = cell.headline().is_some_and(|metric| metric.compared.is_some());
            let ending = if is_compared { Ending::Passed } else { Ending::Skipped(cell.sentence.clone()) };
            Test { class: class(&cell.label()), name: name.clone(), ending }
        };
        let one_sided = pair.one_sided().map(|(cell, text)| Test {
            class: class(cell),
            name: name.clone(),
            ending: Ending::Skipped(text),
        });
        return pair.cells.iter().map(test).chain(one_sided).collect();
    }
    let judged = comparison.expectations.iter().flat_map(|outcome| {
        outcome.cells.iter().filter(|judged| judged.side == pair.side).map(move |judged| (outcome, judged))
    });
    let tests = judged.map(|(outcome, judged)| Test {
        class: class(&judged.cell),
        name: match judged.operation {
            Some(operation) => format!("{} {}", operation.plural(), outcome.expectation),
            None => outcome.expectation.clone(),
        },
        ending: match judged.result {
            Standing::Held | Standing::PartlyHeld => Ending::Passed,
            Standing::NotJudged => Ending::Skipped(judged.text.clone()),
            Standing::Unsure => Ending::Skipped(format!("{}: {}", judged.result.as_str(), judged.text)),
            Standing::Breached => Ending::Failed(judged.text.clone()),
        },
    });
    tests.collect()
}
