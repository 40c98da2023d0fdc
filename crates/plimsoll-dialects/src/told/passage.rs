//! A text as lines that readers look at: what a comment, a quotation or a log puts before them is left to the reader.

/// Lines, from 0, and the headings above them.
pub(super) struct Passage<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    headings: Vec<(usize, &'a str)>,
}

impl<'a> Passage<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().map(last_of_line).collect();
        let mut headings = Vec::new();
        // What looks like a heading in a block of code is a comment.
        let mut fence: Option<&str> = None;
        for (index, line) in lines.iter().enumerate() {
            match (fence, fence_of(line)) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (None, None) if !is_in_comment(&lines, index) => {
                    headings.extend(heading(line).map(|text| (index, text)));
                }
                _ => {}
            }
        }
        Self { text, lines, headings }
    }

    pub(super) fn line(&self, index: usize) -> &'a str {
        self.lines.get(index).copied().unwrap_or_default()
    }

    /// Lines with their index.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.lines.iter().copied().enumerate()
    }

    /// The nearest heading above a line.
    pub(super) fn heading(&self, index: usize) -> Option<&'a str> {
        let above = self.headings.partition_point(|(heading, _)| *heading < index);
        self.headings[..above].last().map(|(_, text)| *text)
    }
}

/// What a line ends as, where a program wrote over what it had written.
fn last_of_line(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

/// What begins or ends a block of code.
fn fence_of(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// Whether a line has a neighbour that begins with the same number of signs: headings do not stand so.
fn is_in_comment(lines: &[&str], index: usize) -> bool {
    let signs = |line: &str| line.len() - line.trim_start_matches('#').len();
    let own = signs(lines[index]);
    let neighbours = [index.checked_sub(1), Some(index + 1)];
    own > 0 && neighbours.into_iter().flatten().filter_map(|index| lines.get(index)).any(|line| signs(line) == own)
}

/// The text of a heading in Markdown.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ') && !text.trim().is_empty()).then(|| text.trim())
}

/// What may stand before a line that was quoted or commented out.
pub(super) fn without_marks(line: &str) -> &str {
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || "#>*|;".contains(letter));
        // A single slash begins a name.
        match ["//", "/*"].iter().find_map(|mark| rest.strip_prefix(mark)) {
            Some(behind) => rest = behind.trim_start_matches('/'),
            None => return rest,
        }
    }
}

/// A line without marks, and without what a log puts before it: a time, and the stream that it came from.
pub(super) fn content(line: &str) -> &str {
    let mut rest = without_marks(line);
    while let Some((word, behind)) = rest.split_once(' ') {
        let is_time = word.len() >= 8
            && word.starts_with(|first: char| first.is_ascii_digit())
            && word.contains(':')
            && word.chars().all(|letter| letter.is_ascii_digit() || "-:.,TZ+".contains(letter));
        let is_date = word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
        if !(is_time
            || (is_date && word.starts_with(|first: char| first.is_ascii_digit()))
            || matches!(word, "stdout" | "stderr" | "F" | "P"))
        {
            break;
        }
        rest = without_marks(behind);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_from_comments() {
        let text = "# A\ntext\n## B\n# one comment\n# and another\n```\n# code\n```\ntext\n# C\n\nlast";
        let passage = Passage::of(text);
        let above = |index: usize| passage.heading(index);
        assert_eq!(
            [above(0), above(1), above(5), above(8), above(11)],
            [None, Some("A"), Some("B"), Some("B"), Some("C")]
        );
    }

    #[test]
    fn what_a_log_puts_before_a_line_is_no_content() {
        for line in [
            "a job: (g=0)",
            "  # a job: (g=0)",
            "// a job: (g=0)",
            "/// a job: (g=0)",
            "/** a job: (g=0)",
            "2024-05-01T10:00:00.123Z a job: (g=0)",
            "2024-05-01T10:00:00Z stdout F a job: (g=0)",
            "2024-05-01 10:00:00,5 a job: (g=0)",
        ] {
            assert_eq!(content(line), "a job: (g=0)", "{line}");
        }
        assert_eq!(content("4 KiB reads"), "4 KiB reads");
        assert_eq!(content("> /dev/sda: (g=0)"), "/dev/sda: (g=0)");
        assert_eq!(Passage::of("1 s\r2 s\r3 s\r\nnext").lines, ["3 s", "next"]);
    }
}
