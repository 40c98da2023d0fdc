//! What keys mean.

/// A wish of who sits at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Stop the run, as Ctrl-C does.
    Stop,
    /// Go on without the dashboard.
    Leave,
    /// Show the cell above.
    Up,
    /// Show the cell below.
    Down,
    /// Show the cell that is measured.
    Follow,
}

/// Whether a key may have more bytes that have not come yet.
pub(super) fn is_begun(bytes: &[u8]) -> bool {
    matches!(bytes, [.., 0x1b] | [.., 0x1b, b'[' | b'O'])
}

/// The keys of what a terminal sent. What means nothing is passed over, sequences of other keys as a whole.
pub(super) fn keys(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((first, rest)) = bytes.split_first() {
        bytes = rest;
        let key = match (first, rest) {
            (0x1b, [b'[' | b'O', sequence @ ..]) => {
                // Parameters, and then the one byte that says which.
                let length = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte));
                bytes = length.map_or(&[], |length| &sequence[length + 1..]);
                match sequence.first() {
                    Some(b'A') => Some(Key::Up),
                    Some(b'B') => Some(Key::Down),
                    _ => None,
                }
            }
            (0x1b, [] | [0x1b, ..]) | (b'd' | b'D', _) => Some(Key::Leave),
            // Alt with a key is another key.
            (0x1b, [_, others @ ..]) => {
                bytes = others;
                None
            }
            // Ctrl-C is a signal, unless somebody turned those off.
            (b'q' | b'Q' | 0x03, _) => Some(Key::Stop),
            (b'k', _) => Some(Key::Up),
            (b'j', _) => Some(Key::Down),
            (b'f', _) => Some(Key::Follow),
            _ => None,
        };
        keys.extend(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_arrows_and_escape_are_told_apart_and_other_keys_do_nothing() {
        assert_eq!(keys(b"q"), [Key::Stop]);
        assert_eq!(keys(b"\x03"), [Key::Stop]);
        assert_eq!(keys(b"jjkf"), [Key::Down, Key::Down, Key::Up, Key::Follow]);
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[1;5B"), [Key::Up, Key::Down]);
        assert_eq!(keys(b"\x1b"), [Key::Leave]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Leave, Key::Leave]);
        assert_eq!(keys(b"\x1bq\x1b[15~\x1b[200~"), []);
        assert_eq!(keys("ä\r\n \u{7f}".as_bytes()), []);
    }

    #[test]
    fn an_escape_may_be_the_beginning_of_an_arrow() {
        assert!(is_begun(b"\x1b") && is_begun(b"j\x1b["));
        assert!(!is_begun(b"\x1b[A") && !is_begun(b"q"));
    }
}
