//! What other programs told of storage, found in any text: a report, a log, a blog post, Markdown, comments of a shell.
//!
//! Each reader knows one kind of result by its own words, wherever on a line they begin. What is found is plain data
//! with the lines that it stands in; totals are added up again, and what does not agree is said. The record crate makes
//! a record of it.

mod checks;
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

use std::{collections::HashSet, ops::RangeInclusive};

use plimsoll_record::{
    results::Finding,
    told::{FoundResult, Measured, Source, Told, note},
};

pub use self::columns::{ColumnMap, ColumnOf, ColumnProblem, rows};
use self::{fio_json::Missing, passage::Passage};

/// Where the size that is told of blocks is not that of operations, as with several sizes or sections.
const OTHER_SIZES: &str = "its operations are not all of the size that is told of blocks";
/// What is said of several sections that are one result.
const OF_SEVERAL: &str = "it sums up jobs of several sections under the name of the first: what was asked of them is \
                          left out";
/// How far numbers of fio may be off what was counted: some are told with three digits.
const ROUNDING: f64 = 0.02;
/// Bytes of a text that is looked through.
pub const BYTES_MAX: usize = 64 << 20;
/// Results of a text; where there is one more, there may be any number.
pub const RESULTS_MAX: usize = 10_000;

/// Everything that is told in a text, in its order.
pub fn find(text: &str) -> Vec<FoundResult> {
    let passage = Passage::of(text);
    let readers = [
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
    let (mut found, missing) = fio_json::find(&passage);
    found.extend(readers.into_iter().flat_map(|find| find(&passage)));
    found.sort_by_key(|result| (result.told.lines, result.told.source));
    drop_what_was_told_before(&mut found);
    name_missing(&missing, &mut found);
    commands::name(&passage, &mut found);
    found.iter_mut().for_each(checks::check);
    found
}

/// Why there may be no results in a text of a program that is known, and what to do.
pub fn hint(text: &str) -> Option<String> {
    if text.contains(";fio-") {
        return Some("fio's terse reports are not read: use --output-format=json".to_owned());
    }
    if fio_json::find_sign(text).is_some() {
        let (_, missing) = fio_json::find(&Passage::of(text));
        return Some(match missing.first() {
            Some(Missing { text, remedy, .. }) => format!("{text}; {remedy}"),
            None => "the jobs of fio's JSON did nothing, or it is not whole; give all that fio wrote".to_owned(),
        });
    }
    let is_table = |line: &str| {
        let is_json = line.trim_start().starts_with(['{', '[']);
        !is_json && [',', ';', '\t', '|'].iter().any(|separator| line.matches(*separator).count() > 1)
    };
    text.lines()
        .next()
        .is_some_and(is_table)
        .then(|| "name the columns of a table with --column, as in --column iops=IOPS".to_owned())
}

/// What has no result is named by the result that stands before it, or by the first one.
fn name_missing(missing: &[Missing], found: &mut [FoundResult]) {
    for missing in missing {
        let before = found.partition_point(|result| result.told.lines.0 <= missing.line).saturating_sub(1);
        if let Some(result) = found.get_mut(before) {
            result.findings.push(note(format!("{}; its results are missing here", missing.text)));
        }
    }
}

/// With `--output-format=json,normal` fio tells everything twice.
fn drop_what_was_told_before(found: &mut Vec<FoundResult>) {
    let identity = |result: &FoundResult, source: Source| {
        let transfers = result.told.transfers().filter(|_| result.told.source == source)?;
        let counts = [&transfers.read, &transfers.write].map(|of| of.as_ref().and_then(|of| of.operations));
        Some((result.workload.clone()?, counts))
    };
    let in_json: HashSet<_> = found.iter().filter_map(|result| identity(result, Source::FioJson)).collect();
    found.retain(|result| identity(result, Source::FioText).is_none_or(|identity| !in_json.contains(&identity)));
}

/// What all of several have; nothing where they differ, or one does not say.
fn agreed<T: PartialEq>(mut values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = values.next()??;
    values.all(|value| value.as_ref() == Some(&first)).then_some(first)
}

/// Whether fio's operations are all of the size of blocks, where so many may have bytes that were not counted.
fn is_of_block((block, count): (u64, u64), in_flight: u64, bytes: Option<u64>) -> bool {
    let made = |count: u64| block.saturating_mul(count) as f64;
    let (least, most) = (made(count), made(count.saturating_add(in_flight)));
    bytes.is_none_or(|bytes| !numbers::differs((bytes as f64).clamp(least, most), bytes as f64, ROUNDING))
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
