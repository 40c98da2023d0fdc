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
    /// Draw everything anew.
    Redraw,
}

/// What a terminal has sent and does not mean anything yet.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The beginning of a key.
    begun: Vec<u8>,
    /// Whether what comes is pasted, which nobody means.
    is_pasted: bool,
}

impl Keys {
    /// Whether a key may have more bytes that have not come yet.
    pub(super) fn has_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Takes in what a terminal sent, and gives the keys that are complete. What means nothing is passed over,
    /// sequences of other keys as a whole.
    pub(super) fn take_in(&mut self, more: &[u8]) -> Vec<Key> {
        self.begun.extend_from_slice(more);
        let bytes = std::mem::take(&mut self.begun);
        let mut rest = bytes.as_slice();
        let mut keys = Vec::new();
        while let Some(first) = rest.first() {
            let (length, key) = match first {
                0x1b => match self.sequence(rest) {
                    Some(found) => found,
                    None => {
                        self.begun = rest.to_vec();
                        break;
                    }
                },
                // Ctrl-C is a signal, unless somebody turned those off.
                b'q' | 0x03 => (1, Some(Key::Stop)),
                b'd' => (1, Some(Key::Leave)),
                b'k' => (1, Some(Key::Up)),
                b'j' => (1, Some(Key::Down)),
                b'f' => (1, Some(Key::Follow)),
                // Ctrl-L.
                0x0c => (1, Some(Key::Redraw)),
                _ => (1, None),
            };
            keys.extend(key.filter(|_| !self.is_pasted));
            rest = &rest[length..];
        }
        keys
    }

    /// No more came in time: an escape was the key of that name.
    pub(super) fn give_up(&mut self) -> Option<Key> {
        let is_escape = std::mem::take(&mut self.begun).iter().all(|byte| *byte == 0x1b);
        (is_escape && !self.is_pasted).then_some(Key::Leave)
    }

    /// The length and the meaning of what begins with an escape; `None` while its end is missing.
    fn sequence(&mut self, bytes: &[u8]) -> Option<(usize, Option<Key>)> {
        // With Alt there is another escape before, and it is another key.
        let escapes = bytes.iter().take_while(|byte| **byte == 0x1b).count();
        let of_key = match bytes.get(escapes)? {
            b'[' | b'O' => &bytes[escapes + 1..],
            _ => return Some((escapes + 1, None)),
        };
        // Parameters, and then the one byte that says which. The console of Linux has a capital letter after that, and
        // none of these is a key here.
        let parameters = of_key.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
        let is_whole = (0x40..=0x7e).contains(of_key.get(parameters)?);
        let length = escapes + 1 + parameters + usize::from(is_whole);
        let key = match (escapes, &bytes[escapes + 1..length]) {
            (1, b"A") => Some(Key::Up),
            (1, b"B") => Some(Key::Down),
            (_, b"200~" | b"201~") => {
                self.is_pasted = of_key.starts_with(b"200");
                None
            }
            _ => None,
        };
        Some((length, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        let mut found = keys.take_in(bytes);
        if keys.has_begun() {
            found.extend(keys.give_up());
        }
        assert!(!keys.has_begun());
        found
    }

    #[test]
    fn letters_arrows_and_escape_are_told_apart_and_other_keys_do_nothing() {
        assert_eq!(keys(b"q"), [Key::Stop]);
        assert_eq!(keys(b"\x03"), [Key::Stop]);
        assert_eq!(keys(b"d\x0c"), [Key::Leave, Key::Redraw]);
        assert_eq!(keys(b"jjkf"), [Key::Down, Key::Down, Key::Up, Key::Follow]);
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[1;5B"), [Key::Up, Key::Down]);
        assert_eq!(keys(b"\x1b"), [Key::Leave]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Leave]);
        assert_eq!(keys(b"\x1bq\x1b[15~\x1bOQ"), []);
        assert_eq!(keys("ä\r\n \u{7f}".as_bytes()), []);
    }

    #[test]
    fn no_other_key_leaves_or_stops() {
        // F1 to F5 of the console of Linux, and arrows with Alt as rxvt sends them.
        for name in b'A'..=b'E' {
            assert_eq!(keys(&[0x1b, b'[', b'[', name]), [], "{name}");
        }
        assert_eq!(keys(b"\x1b\x1b[D\x1b\x1b[A\x1b\x1bOd"), []);
        assert_eq!(keys(b"DQ"), []);
        // A sequence that another one breaks off.
        assert_eq!(keys(b"\x1b[1\x1b[A"), [Key::Up]);
    }

    #[test]
    fn keys_may_come_in_pieces_of_any_length() {
        let sent = b"\x1b[B\x1bOA\x1b[1;5Dj\x1b[[D\x1b\x1b[Ck\x1b[200~qd\x1b[A\x1b[201~\x1b[B";
        let expected = [Key::Down, Key::Up, Key::Down, Key::Up, Key::Down];
        for length in 1..=sent.len() {
            let mut keys = Keys::default();
            let found: Vec<Key> = sent.chunks(length).flat_map(|piece| keys.take_in(piece)).collect();
            assert_eq!(found, expected, "{length}");
            assert!(!keys.has_begun(), "{length}");
        }
    }

    #[test]
    fn what_is_pasted_is_not_meant() {
        assert_eq!(keys(b"\x1b[200~ls -la /quota\x1b[201~j"), [Key::Down]);
        let mut pasting = Keys::default();
        assert_eq!(pasting.take_in(b"\x1b[200~q"), []);
        assert_eq!(pasting.take_in(b"dq\x1b"), []);
        assert_eq!(pasting.give_up(), None);
        assert_eq!(pasting.take_in(b"\x1b[201~q"), [Key::Stop]);
    }

    #[test]
    fn an_escape_may_be_the_beginning_of_an_arrow() {
        let mut keys = Keys::default();
        for begun in [b"\x1b".as_slice(), b"["] {
            assert_eq!(keys.take_in(begun), []);
            assert!(keys.has_begun());
        }
        assert_eq!(keys.take_in(b"B"), [Key::Down]);
        assert!(!keys.has_begun());
    }
}
