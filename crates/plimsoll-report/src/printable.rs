//! Text of others made fit to be shown: names and paths may hold escape sequences, which a terminal would obey.

use std::borrow::Cow;

/// The text as one line: blanks of any kind are spaces, and characters that a terminal would act on are spelled out.
pub fn line(text: &str) -> Cow<'_, str> {
    written(text, |character| if character.is_whitespace() { Some(' ') } else { None })
}

/// The same for a text whose line ends are meant.
pub fn lines(text: &str) -> Cow<'_, str> {
    written(text, |character| (character == '\n').then_some('\n'))
}

/// A JSON text whose strings are such texts: in JSON the marks stand nowhere else, and control characters not at all.
pub fn json(text: String) -> String {
    if !text.contains(turns) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if turns(character) {
            out.push('\\');
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

fn written(text: &str, blank: fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match blank(character) {
            _ if !acts(character) => out.push(character),
            Some(blank) => out.push(blank),
            None => out.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// Control characters, and those that turn the direction of what follows.
fn acts(character: char) -> bool {
    character.is_control() || turns(character)
}

const fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        assert_eq!(line("a\u{1b}[31mb\u{7}\u{9b}2J"), r"a\u{1b}[31mb\u{7}\u{9b}2J");
        assert_eq!(line("user\u{202e}txt.exe"), r"user\u{202e}txt.exe");
        assert_eq!((line("a\nb\tc"), lines("a\nb\rc")), ("a b c".into(), "a\nb\\u{d}c".into()));
        assert!(matches!(line("größe 4 µs ─ 10 %"), Cow::Borrowed(_)));
    }
}
