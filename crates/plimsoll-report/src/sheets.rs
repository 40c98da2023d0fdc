//! What was found in a cluster: tables with a title and with sentences below them, and checks with how they ended.

use crate::{
    grid::{Column, Grid, Side},
    table::WIDTH_MIN,
    wrapping,
};

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What stands above it.
    pub name: &'static str,
    /// Whether its values are numbers, which stand at its right side.
    pub is_number: bool,
    /// How dispensable it is where there is no room: 0 is not.
    pub rank: u8,
}

/// A table with a title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// Its columns; the first has names.
    pub heads: Vec<Head>,
    /// Its rows, each with a value for each column.
    pub rows: Vec<Vec<String>>,
    /// What is to be said of single rows or of all: a label, which may be empty, and a sentence.
    pub lines: Vec<(String, String)>,
}

/// A check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow<'a> {
    /// How it ended, in a word.
    pub state: &'a str,
    /// What it is about.
    pub about: &'a str,
    /// What was found, and what to do.
    pub text: &'a str,
}

/// A column of text.
pub const fn text(name: &'static str, rank: u8) -> Head {
    Head { name, is_number: false, rank }
}

/// A column of numbers.
pub const fn number(name: &'static str, rank: u8) -> Head {
    Head { name, is_number: true, rank }
}

/// Tables one below the other.
pub fn sheets(sheets: &[Sheet], width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    sheets.iter().map(|sheet| one(sheet, width)).collect::<Vec<_>>().join("\n")
}

fn one(sheet: &Sheet, width: usize) -> String {
    let mut out = wrapping::labelled("", &sheet.title, width);
    if !sheet.rows.is_empty() {
        let column = |(index, head): (usize, &Head)| {
            let side = if head.is_number { Side::Right } else { Side::Left };
            Column::new(head.name, side, head.rank, sheet.rows.iter().map(|row| row[index].clone()).collect())
        };
        // A column that has nothing to say takes room from those that have.
        let is_said = |(index, _): &(usize, &Head)| *index == 0 || sheet.rows.iter().any(|row| !row[*index].is_empty());
        let columns = sheet.heads.iter().enumerate().filter(is_said).map(column).collect();
        out += &Grid::new(columns).fit(width).text();
    }
    for (label, sentence) in &sheet.lines {
        let label = if label.is_empty() { String::new() } else { format!("{label}: ") };
        out += &wrapping::labelled("  ", &format!("{label}{sentence}"), width);
    }
    out
}

/// Checks, one below the other, and what follows from them.
pub fn checks(rows: &[CheckRow<'_>], conclusion: &str, width: usize) -> String {
    let widest = |of: fn(&CheckRow<'_>) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let state_width = widest(|row| wrapping::width(row.state)) + 2;
    let about_width = widest(|row| wrapping::width(row.about)) + 2;
    let line = |CheckRow { state, about, text }: &CheckRow<'_>| {
        wrapping::labelled(&format!("{state:<state_width$}{about:<about_width$}"), text, width.max(WIDTH_MIN))
    };
    let lines: String = rows.iter().map(line).collect();
    format!("{lines}\n{}", wrapping::labelled("", conclusion, width.max(WIDTH_MIN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_its_sentences_below_its_rows() {
        let sheet = Sheet {
            title: "2 classes".to_owned(),
            heads: vec![text("class", 0), number("IOPS", 0), text("zone", 0), text("driver", 1)],
            rows: vec![
                vec!["fast (default)".to_owned(), "5,000".to_owned(), String::new(), "disk.csi.example.org".to_owned()],
                vec!["slow".to_owned(), "500".to_owned(), String::new(), "disk.csi.example.org".to_owned()],
            ],
            lines: vec![("slow".to_owned(), "volumes stay when their claims are gone".to_owned())],
        };
        insta::assert_snapshot!(sheets(&[sheet], 60), @r#"
        2 classes
        class            IOPS  driver
        ───────────────────────────────────────────
        fast (default)  5,000  disk.csi.example.org
        slow              500  disk.csi.example.org
          slow: volumes stay when their claims are gone
        "#);
    }

    #[test]
    fn checks_are_aligned_and_wrapped() {
        let rows = [
            CheckRow { state: "ok", about: "permissions", text: "all that a run needs is permitted" },
            CheckRow {
                state: "FAILS",
                about: "quota",
                text: "requests.storage: 16Gi are asked for, and 10Gi are left",
            },
        ];
        insta::assert_snapshot!(checks(&rows, "A run would not work.", 60), @r#"
        ok     permissions  all that a run needs is permitted
        FAILS  quota        requests.storage: 16Gi are asked for,
                            and 10Gi are left

        A run would not work.
        "#);
    }
}
