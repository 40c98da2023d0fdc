//! Files of claims: comma-separated values with a header, of which every cell knows where it stands.

use super::{ParseError, Place};

/// A cell and where its text begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Field {
    pub(super) text: String,
    /// In bytes of the file: where the text begins, behind a quotation mark if there is one.
    at: usize,
    is_quoted: bool,
}

impl Field {
    /// Where a byte of the text stands in the file.
    pub(super) fn place(&self, offset: usize, file: &str) -> Place {
        let (mut at, mut rest) = (self.at, offset);
        while rest > 0
            && let Some(character) = file[at..].chars().next()
        {
            // Two quotation marks are one.
            let is_doubled = self.is_quoted && file[at..].starts_with("\"\"");
            at += character.len_utf8() + usize::from(is_doubled);
            rest = rest.saturating_sub(character.len_utf8());
        }
        place(file, at)
    }
}

/// Where a byte of a file stands.
pub(super) fn place(file: &str, at: usize) -> Place {
    let before = file.get(..at).unwrap_or(file);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Place { line, column }
}

/// What stands in no text.
const NOTHING: char = '\u{1f}';

/// The rows of a file. Cells are separated by commas, or by semicolons where the header has these only.
pub(super) fn rows(file: &str) -> Result<Vec<Vec<Field>>, ParseError> {
    let header = file.lines().next().unwrap_or_default();
    let separator = match (header.contains(','), header.contains(';')) {
        (true, _) => ',',
        (false, true) => ';',
        // Below a header of one column a comma separates nothing.
        (false, false) => NOTHING,
    };
    let mut rows: Vec<Vec<Field>> = Vec::new();
    let mut at = if file.starts_with('\u{feff}') { 3 } else { 0 };
    while at < file.len() {
        let mut row = Vec::new();
        loop {
            let (field, end) = field(file, at, separator)?;
            row.push(field);
            at = end;
            if !file[at..].starts_with(separator) {
                break;
            }
            at += 1;
        }
        at += usize::from(file[at..].starts_with('\r'));
        at += usize::from(file[at..].starts_with('\n'));
        if row.len() > 1 || !row[0].text.trim().is_empty() {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// A cell and where it ends.
fn field(file: &str, at: usize, separator: char) -> Result<(Field, usize), ParseError> {
    let ends = |character: char| character == separator || character == '\n' || character == '\r';
    if !file[at..].starts_with('"') {
        let length = file[at..].find(ends).unwrap_or(file.len() - at);
        let text = &file[at..at + length];
        let lead = length - text.trim_start().len();
        return Ok((Field { text: text.trim().to_owned(), at: at + lead, is_quoted: false }, at + length));
    }
    let mut text = String::new();
    let mut next = at + 1;
    loop {
        let Some(length) = file[next..].find('"') else {
            return Err(ParseError { at, message: "the quoted cell ends nowhere: write \" behind it".to_owned() });
        };
        text.push_str(&file[next..next + length]);
        next += length + 1;
        if !file[next..].starts_with('"') {
            break;
        }
        text.push('"');
        next += 1;
    }
    if next < file.len() && !file[next..].starts_with(ends) {
        let message = "text behind a quoted cell: end the cell with its mark, and write a mark in it twice".to_owned();
        return Err(ParseError { at: next, message });
    }
    Ok((Field { text, at: at + 1, is_quoted: true }, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<Vec<String>> {
        rows(file).unwrap().into_iter().map(|row| row.into_iter().map(|field| field.text).collect()).collect()
    }

    #[test]
    fn cells_are_quoted_as_everywhere() {
        let file = "\u{feff}id,claim\r\n1,\"a \"\"b\"\", c\nd\"\r\n\n2, e \n3,";
        assert_eq!(texts(file), [["id", "claim"], ["1", "a \"b\", c\nd"], ["2", "e"], ["3", ""]]);
        assert_eq!(texts("a,b\nhe said \"no\",2"), [["a", "b"], ["he said \"no\"", "2"]]);
        assert_eq!(texts("a\n1, 2; 3\n\"4, 5\""), [["a"], ["1, 2; 3"], ["4, 5"]]);
        assert_eq!(texts("a;b\n1,5;2"), [["a", "b"], ["1,5", "2"]]);
    }

    #[test]
    fn every_byte_of_a_cell_has_a_place() {
        let file = "id,claim\n1,\"a \"\"b\"\"\nc\"";
        let cell = rows(file).unwrap().remove(1).remove(1);
        assert_eq!(cell.text, "a \"b\"\nc");
        let at = |offset| {
            let Place { line, column } = cell.place(offset, file);
            (line, column)
        };
        assert_eq!((at(0), at(3), at(6)), ((2, 4), (2, 8), (3, 1)));
    }

    #[test]
    fn what_is_malformed_says_where() {
        for (file, at) in [("a\n\"b", 2), ("a\n\"b\"c", 5)] {
            assert_eq!(rows(file).unwrap_err().at, at, "{file}");
        }
    }
}
