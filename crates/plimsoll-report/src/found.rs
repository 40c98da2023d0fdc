//! Results that other programs told, one a row.

use crate::grid::{Column, Grid, Side};

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

/// The results of a text.
pub fn found(rows: &[FoundRow], width: usize) -> String {
    let text = |value: fn(&FoundRow) -> &String| rows.iter().map(|row| value(row).clone()).collect::<Vec<_>>();
    let columns = vec![
        Column::new("lines", Side::Right, 0, text(|row| &row.lines)),
        Column::new("kind", Side::Left, 2, text(|row| &row.kind)),
        Column::new("target", Side::Left, 1, text(|row| &row.target)),
        Column::new("workload", Side::Left, 0, text(|row| &row.workload)),
        Column::new("says", Side::Left, 0, text(|row| &row.figures)),
    ];
    Grid::breaking(4, columns).fit(width).text()
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
        let wide = found(std::slice::from_ref(&row), 120);
        assert!(wide.contains("a heading") && wide.contains("fio status line"), "{wide}");
        let narrow = found(&[row], 44);
        assert!(narrow.contains("308") && narrow.contains("IOPS") && !narrow.contains("a heading"), "{narrow}");
    }
}
