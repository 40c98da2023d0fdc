//! A text as lines that readers look at: what a comment, a quotation or a log puts before them is left to the reader.

/// Lines, from 0, and the headings above them.
pub(super) struct Passage<'a> {
    pub(super) lines: Vec<&'a str>,
    headings: Vec<(usize, &'a str)>,
}

impl<'a> Passage<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
        let mut headings = Vec::new();
        // What looks like a heading in a block of code is a comment.
        let mut fence: Option<&str> = None;
        for (index, line) in lines.iter().enumerate() {
            match (fence, fence_of(line)) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (None, None) => headings.extend(heading(line).map(|text| (index, text))),
                _ => {}
            }
        }
        Self { lines, headings }
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

/// What begins or ends a block of code.
fn fence_of(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark))
}

/// The text of a heading in Markdown.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ') && !text.trim().is_empty()).then(|| text.trim())
}

/// What may stand before a line that was quoted or commented out.
pub(super) fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|letter: char| {
        letter.is_whitespace() || matches!(letter, '#' | '>' | '*' | '/' | '|' | ';')
    })
}
