//! Breaking text at spaces: sentences below a table, and names inside one.

use crate::printable;

/// The columns that a text takes on a terminal, counted as characters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The lines of a text, each at most `limit` wide. A word that is longer than a line keeps a line of its own: half a
/// path or half a number helps nobody.
pub(crate) fn lines(text: &str, limit: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in printable::line(text).split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if width(last) + 1 + width(word) <= limit {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The lines of a name in a table, where a word that is longer than a line has to be cut.
pub(crate) fn name_lines(name: &str, limit: usize) -> Vec<String> {
    let cut = |line: String| -> Vec<String> {
        let characters: Vec<char> = line.chars().collect();
        characters.chunks(limit.max(1)).map(|part| part.iter().collect()).collect()
    };
    lines(name, limit).into_iter().flat_map(cut).collect()
}

/// The width of the longest word.
pub(crate) fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width).max().unwrap_or(0)
}

/// A text behind a label, its further lines indented to where it starts.
pub(crate) fn labelled(label: &str, text: &str, limit: usize) -> String {
    let indent = width(label);
    let mut out = String::new();
    for (index, line) in lines(text, limit.saturating_sub(indent)).iter().enumerate() {
        let lead = if index == 0 { label.to_owned() } else { " ".repeat(indent) };
        out.push_str(format!("{lead}{line}").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_keeps_a_line_of_its_own() {
        assert_eq!(lines("see /mnt/a/very/long/path for more", 12), ["see", "/mnt/a/very/long/path", "for more"]);
    }

    #[test]
    fn further_lines_are_indented_to_the_first() {
        assert_eq!(labelled("note: ", "one two three", 14), "note: one two\n      three\n");
    }
}
