//! A report in Markdown, for a pull request, an issue or a wiki.

use plimsoll_record::{numbers, record::Record, results::Severity};

use super::{Document, Note};
use crate::{claims, comparison, explanation, grid::escaped, markdown, printable, style::Style, table};

/// The width of text for readers without scripts.
const TEXT_WIDTH: usize = 100;

/// Runs whose whole text is told to readers without scripts.
const TEXT_RUNS_MAX: usize = 10;

/// The report: what a reader should know first, the comparison, what was to be expected, and each run.
pub fn report(document: &Document, records: &[&Record]) -> String {
    let mut out = format!("# {}\n", escaped(&document.title));
    // Those of a single run stand above and below its tables.
    if records.len() > 1 && !document.findings.is_empty() {
        out.push('\n');
        document.findings.iter().for_each(|note| out += &finding(note));
    }
    match document.comparisons.first() {
        Some(comparison) if records.len() > 1 => {
            out += &format!("\n## Compared\n\n{}", comparison::text::markdown(comparison));
        }
        // The numbers of its targets stand beside each other below.
        Some(comparison) => out += &format!("\n{}", markdown::answers(comparison)),
        None => {}
    }
    if let Some(reason) = &document.not_compared {
        out += &format!("\nNot compared: {}\n", escaped(reason));
    }
    if let Some(explanation) = &document.explanation {
        out += &format!("\n## Expected and measured\n\n{}", explanation::text::markdown(explanation));
    }
    for (run, record) in document.runs.iter().zip(records) {
        if records.len() > 1 {
            out += &format!("\n## {}\n", escaped(&run.name));
        } else if document.explanation.is_some() {
            out += "\n## What was measured\n";
        } else if !document.comparisons.is_empty() {
            out += "\n**What was measured**\n";
        }
        out += &format!("\n{}", markdown::content(record));
    }
    if let Some(judged) = &document.claims {
        let text = claims::text::text(judged, TEXT_WIDTH);
        let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
        out += &format!("\n## Claims\n\n{indented}");
    }
    out += &format!("\nplimsoll {}, {}\n", document.version, numbers::moment(document.created));
    out
}

fn finding(note: &Note) -> String {
    let word = match note.severity {
        Severity::Info => "",
        Severity::Warning => "**warning** ",
        Severity::Error => "**error** ",
    };
    format!("- {word}{}\n", escaped(&note.text))
}

/// What stands in the page for readers whose browser runs no scripts: the same text as in a terminal.
pub fn without_scripts(document: &Document, records: &[&Record]) -> String {
    let style = Style::default();
    let mut parts = vec![format!("{}\n", document.title)];
    parts.extend(document.comparisons.first().map(|comparison| comparison::text::text(comparison, TEXT_WIDTH, style)));
    parts.extend(document.explanation.as_ref().map(|explanation| explanation::text::text(explanation, TEXT_WIDTH)));
    if records.len() <= TEXT_RUNS_MAX {
        parts.extend(records.iter().map(|record| table::record(record, TEXT_WIDTH, style)));
    } else {
        parts.push(format!("The numbers of {} runs are in the data of this file.\n", records.len()));
    }
    printable::lines(&parts.join("\n")).into_owned()
}
