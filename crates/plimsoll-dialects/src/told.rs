//! What other programs told of storage, found in any text: a report, a log, a blog post, Markdown, comments of a shell.
//!
//! Each reader knows one kind of result by its own words, wherever on a line they begin. What is found is plain data
//! with the lines that it stands in; totals are added up again, and what does not agree is said. The record crate makes
//! a record of it.

mod clones;
mod columns;
mod commands;
mod commented_commands;
mod dd;
mod diskspd_text;
mod diskspd_xml;
mod file_rows;
mod fio_json;
mod fio_text;
mod iometer;
mod kubestr;
mod numbers;
mod passage;
mod shell_time;

use std::ops::RangeInclusive;

use plimsoll_record::{
    results::Finding,
    told::{FoundResult, Measured, Source, Told},
};

pub use self::columns::{ColumnMap, ColumnOf, ColumnProblem, rows};
use self::passage::Passage;

/// Bytes of a text that is looked through.
pub const BYTES_MAX: usize = 64 << 20;
/// Results of a text.
const RESULTS_MAX: usize = 100_000;

/// Everything that is told in a text, in its order.
pub fn find(text: &str) -> Vec<FoundResult> {
    let passage = Passage::of(text);
    let readers = [
        fio_json::find,
        fio_text::find,
        kubestr::find,
        iometer::find,
        diskspd_text::find,
        diskspd_xml::find,
        shell_time::find,
        file_rows::find,
        commented_commands::find,
        dd::find,
    ];
    let mut found: Vec<FoundResult> = readers.into_iter().flat_map(|find| find(&passage)).collect();
    found.sort_by_key(|result| (result.told.lines, result.told.source));
    found.truncate(RESULTS_MAX);
    commands::name(&passage, &mut found);
    found
}

/// A result in these lines, from 0.
fn result(
    passage: &Passage<'_>,
    source: Source,
    lines: RangeInclusive<usize>,
    measured: Measured,
    findings: Vec<Finding>,
) -> FoundResult {
    let heading = passage.heading(*lines.start()).map(str::to_owned);
    let told = Told { source, lines: (lines.start() + 1, lines.end() + 1), measured };
    FoundResult { told, target: None, workload: None, heading, started: None, findings }
}

#[cfg(test)]
mod tests;
