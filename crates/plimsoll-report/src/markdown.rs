//! A record in Markdown.

use plimsoll_record::record::Record;

use crate::{
    comparison::{self, Comparison},
    details, facts,
    grid::escaped,
    notes, rows, side_by_side, table,
};

/// A record in Markdown: bold when it did not end as planned, facts as a list, tables, sentences as a list.
pub(crate) fn record(record: &Record) -> String {
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
    for grid in details::grids(record) {
        out += &format!("\n{}", grid.markdown());
    }
    let notes = notes::of(record);
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out += &format!("- {}: {}\n", note.word(), escaped(&note.text(record)));
    }
    let comparison = Comparison::of_targets(record);
    let pairs = comparison.iter().flat_map(|comparison| &comparison.pairs);
    for pair in pairs.filter(|pair| !pair.cells.is_empty()) {
        out.push('\n');
        out += &comparison::text::answers_in_markdown(pair);
    }
    out
}
