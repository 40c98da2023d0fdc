//! Results that other programs told, one a row.

use crate::{
    grid::{Column, Grid, Side},
    table::WIDTH_MIN,
    wrapping,
};

/// A result that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// Its lines.
    pub lines: String,
    /// Which kind of result it is.
    pub kind: String,
    /// What was measured.
    pub target: String,
    /// With which load.
    pub workload: String,
    /// What it says, in a line.
    pub figures: String,
}

/// A sentence about results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundNote {
    /// Where they stand.
    pub lines: String,
    /// What is to be said of them.
    pub sentence: String,
}

/// The results of a text, and what is to be said of them.
pub fn found(rows: &[FoundRow], notes: &[FoundNote], width: usize) -> String {
    let text = |value: fn(&FoundRow) -> &String| rows.iter().map(|row| value(row).clone()).collect::<Vec<_>>();
    let columns = vec![
        Column::new("lines", Side::Right, 0, text(|row| &row.lines)),
        Column::new("kind", Side::Left, 2, text(|row| &row.kind)),
        Column::new("target", Side::Left, 1, text(|row| &row.target)),
        Column::new("workload", Side::Left, 0, text(|row| &row.workload)),
        Column::new("says", Side::Left, 0, text(|row| &row.figures)),
    ];
    let width = width.max(WIDTH_MIN);
    let mut out = Grid::breaking(4, columns).fit(width).text();
    if !notes.is_empty() {
        out.push('\n');
    }
    for FoundNote { lines, sentence } in notes {
        out += &wrapping::labelled(&format!("lines {lines}: "), sentence, width);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_stays_when_there_is_little_room() {
        let row = FoundRow {
            lines: "308".to_owned(),
            kind: "fio status line".to_owned(),
            target: "a heading that is quite long".to_owned(),
            workload: "randread".to_owned(),
            figures: "read 55,287 IOPS, 864 MiB/s".to_owned(),
        };
        let sentence = "two words that do not agree with each other in any way".to_owned();
        let note = FoundNote { lines: "308".to_owned(), sentence };
        let wide = found(std::slice::from_ref(&row), std::slice::from_ref(&note), 120);
        assert!(wide.contains("a heading") && wide.contains("fio status line"), "{wide}");
        let narrow = found(&[row], &[note], 44);
        assert!(narrow.lines().all(|line| line.chars().count() <= 44), "{narrow}");
        assert!(narrow.contains("308") && narrow.contains("IOPS") && !narrow.contains("a heading"), "{narrow}");
    }
}
