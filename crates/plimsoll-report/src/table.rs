//! A record as text for a terminal, and for pasting wherever fixed-width text goes.

use plimsoll_record::record::{Cell, Record};

pub use crate::style::Style;
use crate::{
    comparison::{self, Comparison},
    details, facts,
    grid::Grid,
    notes, printable,
    rows::{self, Metric, Row},
    side_by_side,
    style::Tone,
    wrapping,
};

/// Labels of the lines above the tables take this many columns.
pub(crate) const LABEL_WIDTH: usize = 9;

/// Narrower than this nothing useful fits.
pub(crate) const WIDTH_MIN: usize = 40;

/// A record as text: how it ended, what was measured where, the tables, and what is to be said about the numbers. Lines
/// are at most `width` columns wide unless a single word is longer.
pub fn record(record: &Record, width: usize, style: Style) -> String {
    let width = width.max(WIDTH_MIN);
    let mut out = String::new();
    if let Some((word, sentence)) = facts::outcome(record) {
        out += &labelled(&format!("{word} "), &sentence, Tone::Bad, width, style);
        out.push('\n');
    }
    for fact in facts::of(record) {
        let label = format!("{:<LABEL_WIDTH$}", fact.label);
        out += &labelled(&label, &fact.text, Tone::Faint, width, style);
    }
    let mut heads: Vec<String> = Vec::new();
    for grid in side_by_side::grids(record, width) {
        out.push('\n');
        heads.extend(grid.columns().iter().map(|column| column.head.clone()));
        push_grid(&mut out, &grid, style);
    }
    let targets = facts::targets(record);
    for (index, target) in targets.iter().enumerate() {
        out.push('\n');
        if targets.len() > 1 {
            let title = format!("{:<LABEL_WIDTH$}{}", facts::letter(index), printable::line(target));
            out += &style.paint(&title, Tone::Head);
            out.push('\n');
        }
        let grid = rows::grid(&rows_of(record, target)).fit(width);
        heads.extend(grid.columns().iter().map(|column| column.head.clone()));
        push_grid(&mut out, &grid, style);
    }
    let mut left_out: Vec<String> = Vec::new();
    for detail in details::of(record) {
        out.push('\n');
        let heads = detail.grid.left_out(width).into_iter();
        left_out.extend(heads.filter(|head| !left_out.contains(head)).collect::<Vec<_>>());
        if detail.needs_title {
            out += &style.paint(&detail.title, Tone::Head);
            out.push('\n');
        }
        push_grid(&mut out, &detail.grid.fit(width), style);
    }
    // Side by side, heads have the letter of a target.
    let is_shown = |metric: &Metric| heads.iter().any(|head| head.split(' ').next() == Some(metric.head()));
    let percentiles: Vec<Metric> = Metric::PERCENTILES.into_iter().filter(is_shown).collect();
    let notes = notes::of_shown(record, &percentiles);
    if !(notes.is_empty() && left_out.is_empty()) {
        out.push('\n');
    }
    if !left_out.is_empty() {
        let text = format!(
            "no room here for {}: a terminal of 200 columns shows all, as does COLUMNS=200",
            left_out.join(", ")
        );
        out += &labelled("note: ", &text, Tone::Head, width, style);
    }
    for note in notes {
        out += &labelled(&format!("{}: ", note.word()), &note.text(record), note.tone(), width, style);
    }
    let comparison = Comparison::of_targets(record);
    let pairs = comparison.iter().flat_map(|comparison| &comparison.pairs);
    for pair in pairs.filter(|pair| !pair.cells.is_empty()) {
        out.push('\n');
        out += &comparison::text::answers(pair, width, style);
    }
    out
}

/// A record in Markdown, for a pull request or an issue. It holds the same as [`record`], with all columns.
pub fn markdown(record: &Record) -> String {
    crate::markdown::record(record)
}

/// The rows of a target.
pub(crate) fn rows_of<'a>(record: &'a Record, target: &str) -> Vec<Row<'a>> {
    record.cells.iter().filter(|cell: &&Cell| cell.target == target).flat_map(rows::of).collect()
}

/// A text behind a label, of which the label is coloured.
pub(crate) fn labelled(label: &str, text: &str, tone: Tone, width: usize, style: Style) -> String {
    let plain = wrapping::labelled(label, text, width);
    match plain.strip_prefix(label.trim_end()) {
        Some(rest) => style.paint(label.trim_end(), tone) + rest,
        None => plain,
    }
}

fn push_grid(out: &mut String, grid: &Grid, style: Style) {
    let (head, rows) = grid.head_and_rows();
    for (line, tone) in head.iter().zip([Tone::Head, Tone::Faint]) {
        *out += &(style.paint(line, tone) + "\n");
    }
    for (lines, (end, tone)) in rows.iter().zip(grid.ends()) {
        for (index, line) in lines.iter().enumerate() {
            match line.strip_suffix(end).filter(|_| index == 0) {
                Some(rest) => *out += &(rest.to_owned() + &style.paint(end, tone) + "\n"),
                None => *out += &format!("{line}\n"),
            }
        }
    }
}

#[cfg(test)]
mod tests;
