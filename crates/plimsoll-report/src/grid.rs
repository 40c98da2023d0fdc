//! A table on its way to text: columns of finished strings, fitted into a width by leaving columns out and by breaking
//! names, never numbers.

use std::iter;

use comfy_table::{Cell, CellAlignment, LineStyle, Row, Table, TableStyle};

use plimsoll_record::numbers::ABSENT;

use crate::{printable, style::Tone, wrapping};

/// One rule below the heads and nothing else, so that the text survives being pasted.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Blank columns between two columns.
const GAP: usize = 2;

/// Names are broken into lines of this width before a column is left out.
const NAME_WIDTH_MIN: usize = 18;

/// A word of a name that is longer than this is cut rather than paid for with a column.
const NAME_WIDTH_MAX: usize = 30;

/// On which side of its column a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// How dispensable a column is: those of a higher rank are left out first, those of rank 0 only when they are empty.
pub(crate) type Rank = u8;

/// A column of finished strings.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) side: Side,
    pub(crate) rank: Rank,
    pub(crate) values: Vec<String>,
    /// What its values deserve; empty where nothing is said of them.
    tones: Vec<Tone>,
}

impl Column {
    pub(crate) fn new(head: impl Into<String>, side: Side, rank: Rank, values: Vec<String>) -> Self {
        let values = values.into_iter().map(|value| printable::line(&value).into_owned()).collect();
        Self { head: printable::line(&head.into()).into_owned(), side, rank, values, tones: Vec::new() }
    }

    /// The same with what each of its values deserves.
    pub(crate) fn toned(mut self, tones: Vec<Tone>) -> Self {
        self.tones = tones;
        self
    }

    /// Whether it says nothing.
    fn is_empty(&self) -> bool {
        self.values.iter().all(|value| value.is_empty() || value == ABSENT)
    }

    /// Whether it says nothing, and its rank: the greatest is left out first.
    fn dispensable(&self) -> (bool, Rank) {
        (self.is_empty(), self.rank)
    }

    fn width(&self) -> usize {
        let lines = self.values.iter().flat_map(|value| value.split('\n'));
        lines.map(wrapping::width).max().unwrap_or(0).max(wrapping::width(&self.head))
    }
}

/// Columns of equal length; one of them holds names, which may be broken.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    columns: Vec<Column>,
    breakable: usize,
}

impl Grid {
    /// A table with its names in the first column.
    pub(crate) const fn new(columns: Vec<Column>) -> Self {
        Self::breaking(0, columns)
    }

    /// A table with its names in a column of rank 0 elsewhere.
    pub(crate) const fn breaking(breakable: usize, columns: Vec<Column>) -> Self {
        Self { columns, breakable }
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    /// Whether the table fits without leaving out a column or breaking a name.
    pub(crate) fn fits(&self, limit: usize) -> bool {
        self.width() <= limit
    }

    /// The heads of what is left out to fit it into `limit`, as far as there is something below them.
    pub(crate) fn left_out(&self, limit: usize) -> Vec<String> {
        let fit = self.clone().fit(limit);
        let is_shown = |column: &&Column| fit.columns.iter().any(|other| other.head == column.head);
        let left_out = self.columns.iter().filter(|column| !is_shown(column) && !column.is_empty());
        left_out.map(|column| column.head.clone()).collect()
    }

    /// The table with as many of its columns as fit into `limit`.
    pub(crate) fn fit(mut self, limit: usize) -> Self {
        while self.width() > limit {
            let names = &self.columns[self.breakable];
            let room = limit.saturating_sub(self.width() - names.width());
            let word = names.values.iter().map(|name| wrapping::longest_word(name)).max().unwrap_or(0);
            let least = word.clamp(NAME_WIDTH_MIN, NAME_WIDTH_MAX);
            let others = (0..self.columns.len()).filter(|index| *index != self.breakable);
            let dispensable = others.max_by_key(|index| self.columns[*index].dispensable());
            match dispensable.filter(|index| self.columns[*index].dispensable() > (false, 0)) {
                Some(index) if room < least => {
                    self.columns.remove(index);
                    self.breakable -= usize::from(index < self.breakable);
                }
                _ => {
                    self.break_names(room.max(wrapping::width(&names.head)).max(word.clamp(1, 8)));
                    break;
                }
            }
        }
        self
    }

    fn break_names(&mut self, limit: usize) {
        for name in &mut self.columns[self.breakable].values {
            *name = wrapping::name_lines(name, limit).join("\n");
        }
    }

    /// The lines of the head with its rule, and those of each row: for tables with titles between rows.
    pub(crate) fn head_and_rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut lines = self.lines().into_iter();
        let head = lines.by_ref().take(2).collect();
        let count = self.columns.first().map_or(0, |column| column.values.len());
        let height =
            |row: usize| self.columns.iter().map(|column| column.values[row].lines().count()).max().unwrap_or(1);
        (head, (0..count).map(|row| lines.by_ref().take(height(row).max(1)).collect()).collect())
    }

    /// What ends the first line of each row, the value of the last column, and what it deserves.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (&str, Tone)> {
        self.columns.last().into_iter().flat_map(|column| {
            let tones = column.tones.iter().copied().chain(iter::repeat(Tone::Plain));
            column.values.iter().map(String::as_str).zip(tones)
        })
    }

    /// The lines of the table: heads, a rule, the rows.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header(self.columns.iter().map(|column| column.head.clone()).collect::<Vec<_>>());
        let rows = self.columns.first().map_or(0, |column| column.values.len());
        for row in 0..rows {
            table.add_row(Row::from(
                self.columns.iter().map(|column| Cell::new(&column.values[row])).collect::<Vec<_>>(),
            ));
        }
        let last = self.columns.len().saturating_sub(1);
        for (index, (column, shown)) in self.columns.iter().zip(table.column_iter_mut()).enumerate() {
            shown.set_padding((0, if index == last { 0 } else { GAP as u16 }));
            shown.set_cell_alignment(match column.side {
                Side::Left => CellAlignment::Left,
                Side::Right => CellAlignment::Right,
            });
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    /// The lines of the table as one text.
    pub(crate) fn text(&self) -> String {
        self.lines().iter().fold(String::new(), |text, line| text + line + "\n")
    }

    /// The table in Markdown, all columns.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.columns.iter().map(|column| escaped(&column.head)).collect());
        out += &line(
            self.columns
                .iter()
                .map(|column| if column.side == Side::Right { "---:".to_owned() } else { "---".to_owned() })
                .collect(),
        );
        let rows = self.columns.first().map_or(0, |column| column.values.len());
        for row in 0..rows {
            out += &line(self.columns.iter().map(|column| escaped(column.values[row].trim())).collect());
        }
        out
    }
}

/// A blank of no width: after a sign that GitHub or GitLab act on, they no longer do, and it reads as before. They act
/// on what is shown, so that escapes of Markdown would not do.
const NOTHING: &str = "&#8203;";

/// Text that Markdown would take for markup, made harmless; and of what GitHub and GitLab read into text, mentions,
/// references to issues, and addresses.
pub(crate) fn escaped(text: &str) -> String {
    let text = printable::line(text);
    let mut out = String::with_capacity(text.len());
    let mut before: Option<char> = None;
    for (at, character) in text.char_indices() {
        let rest = &text[at + character.len_utf8()..];
        let next = rest.chars().next();
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let is_digit = next.is_some_and(|next| next.is_ascii_digit());
        let begins = out.is_empty();
        match character {
            '|' | '*' | '`' | '[' | ']' | '<' | '\\' | '~' => out.extend(['\\', character]),
            // Within a word it is no markup.
            '_' if !(is_word(before) && is_word(next)) => out.push_str("\\_"),
            '&' if is_digit => out += &format!("\\&{NOTHING}"),
            '&' if is_word(next) || next == Some('#') => out.push_str("\\&"),
            '>' if begins => out.push_str("\\>"),
            // A list begins with a sign and a blank.
            '-' | '+' if begins && next == Some(' ') => out.extend(['\\', character]),
            '.' | ')' if next == Some(' ') && is_number(&out) => out.extend(['\\', character]),
            '#' if is_digit => out += &format!("{}#{NOTHING}", if begins { "\\" } else { "" }),
            '#' if begins => out.push_str("\\#"),
            '@' if is_word(next) => out += &format!("@{NOTHING}"),
            '!' | '$' | '%' if is_digit => out += &format!("{character}{NOTHING}"),
            '-' if is_digit && ends_with_word(&out, "gh") => out += &format!("-{NOTHING}"),
            ':' if rest.starts_with("//") => out += &format!(":{NOTHING}"),
            '.' if ends_with_word(&out, "www") => out += &format!(".{NOTHING}"),
            _ => out.push(character),
        }
        before = Some(character);
    }
    out
}

/// Whether all of a text is the number of a list.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text ends with a word in whatever letters.
fn ends_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.len().checked_sub(word.len()).filter(|start| text.is_char_boundary(*start)) else {
        return false;
    };
    text[start..].eq_ignore_ascii_case(word) && !text[..start].ends_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(names: &[&str]) -> Grid {
        let values = |text: &str| names.iter().map(|_| text.to_owned()).collect::<Vec<_>>();
        Grid::new(vec![
            Column::new("name", Side::Left, 0, names.iter().map(|name| (*name).to_owned()).collect()),
            Column::new("rate", Side::Right, 0, values("12.3k")),
            Column::new("max", Side::Right, 2, values("98.0 us")),
            Column::new("mean", Side::Right, 1, values("2.50 s ")),
        ])
    }

    #[test]
    fn columns_are_left_out_by_rank_and_numbers_stay_whole() {
        let heads =
            |width: usize| grid(&["a workload"]).fit(width).lines()[0].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(heads(80), "name rate max mean");
        assert_eq!(heads(30), "name rate mean");
        assert_eq!(heads(18), "name rate");
        assert!(grid(&["a workload"]).fit(1).lines()[2].contains("12.3k"));
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out_first() {
        let column = |head: &str, rank, value: &str| Column::new(head, Side::Right, rank, vec![value.to_owned()]);
        let columns =
            || vec![column("name", 0, ""), column("rate", 0, "-"), column("p99", 1, ""), column("max", 2, "98.0 us")];
        let heads =
            |width: usize| Grid::new(columns()).fit(width).lines()[0].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(heads(40), "name rate p99 max");
        assert_eq!(heads(20), "name rate max");
        assert_eq!(heads(14), "name max");
        assert_eq!(heads(5), "name", "the names stay");
    }

    #[test]
    fn a_long_name_is_broken_before_a_column_is_left_out() {
        let lines = grid(&["randrw 70% read 4KiB-64KiB QD32 x8"]).fit(50).lines();
        assert!(lines[0].contains("max") && lines[0].contains("mean"), "{lines:#?}");
        assert!(lines.iter().all(|line| wrapping::width(line) <= 50), "{lines:#?}");
    }

    #[test]
    fn a_name_mentions_closes_links_and_formats_nothing() {
        for (name, text) in [
            ("@octocat", "@&#8203;octocat"),
            ("me@example.org", "me@&#8203;example.org"),
            ("fixes #1", "fixes #&#8203;1"),
            ("closes GH-12", "closes GH-&#8203;12"),
            ("fixes https://a.example/x", "fixes https:&#8203;//a.example/x"),
            ("see www.example.org", "see www.&#8203;example.org"),
            ("!7", "!&#8203;7"),
            ("_a_ ~b~ io_uring", "\\_a\\_ \\~b\\~ io_uring"),
            ("&lt;b&gt; &#64;x", "\\&lt;b\\&gt; \\&#&#8203;64;x"),
            ("# a", "\\# a"),
            ("- a", "\\- a"),
            ("1. a", "1\\. a"),
            ("> a", "\\> a"),
            ("p99 @ 5 %, 3.5 MB/s: -1", "p99 @ 5 %, 3.5 MB/s: -1"),
        ] {
            assert_eq!(escaped(name), text);
        }
    }

    #[test]
    fn a_name_cannot_break_out_of_a_markdown_table() {
        let text = grid(&["a | b\n| c"]).markdown();
        assert!(text.contains("| a \\| b \\| c |"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }
}
