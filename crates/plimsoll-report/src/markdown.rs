//! A record in Markdown.

use plimsoll_record::record::Record;

use crate::{
    comparison::{self, Comparison},
    details, facts,
    grid::escaped,
    notes, rows, side_by_side, table,
};

/// A record in Markdown: what it has, and the answers that follow.
pub(crate) fn record(record: &Record) -> String {
    let comparison = Comparison::of_targets(record);
    let answers = comparison.as_ref().map(answers).filter(|answers| !answers.is_empty());
    content(record) + &answers.map_or_else(String::new, |answers| format!("\n{answers}"))
}

/// The answers of a comparison, a paragraph for each of its pairs that have any.
pub(crate) fn answers(comparison: &Comparison) -> String {
    let pairs = comparison.pairs.iter().filter(|pair| !pair.cells.is_empty());
    pairs.map(comparison::text::answers_in_markdown).collect::<Vec<_>>().join("\n")
}

/// What a record has: bold when it did not end as planned, facts as a list, tables, sentences as a list.
pub(crate) fn content(record: &Record) -> String {
    let mut out = String::new();
    if let Some((word, sentence)) = facts::outcome(record) {
        out += &format!("**{word}** {}\n\n", escaped(&sentence));
    }
    for fact in facts::of(record) {
        out += &format!("- **{}** {}\n", escaped(&fact.label), escaped(&fact.text));
    }
    for grid in side_by_side::grids(record, usize::MAX) {
        out += &format!("\n{}", grid.markdown());
    }
    let targets = facts::targets(record);
    for (index, target) in targets.iter().enumerate() {
        out.push('\n');
        if targets.len() > 1 {
            out += &format!("**{}** {}\n\n", facts::letter(index), escaped(target));
        }
        out += &rows::grid(&table::rows_of(record, target)).markdown();
    }
    for detail in details::of(record) {
        if detail.needs_title {
            out += &format!("\n**{}**\n", escaped(&detail.title));
        }
        out += &format!("\n{}", detail.grid.markdown());
    }
    let notes = notes::of(record);
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out += &format!("- {}\n", escaped(&format!("{}: {}", note.word(), note.text(record))));
    }
    out
}
