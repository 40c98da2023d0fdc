//! How text may look. Colour repeats what the words say and never says anything alone.

/// How a table may look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether the reader's terminal understands escape sequences for colour.
    pub colour: bool,
}

/// What a piece of text deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Head,
    Good,
    Doubtful,
    Bad,
    Faint,
}

impl Style {
    /// The text, in the colour of its tone when colours may be used.
    pub(crate) fn paint(self, text: &str, tone: Tone) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Head => "1",
            Tone::Good => "32",
            Tone::Doubtful => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}
