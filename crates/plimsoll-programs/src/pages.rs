//! Pages that say which they are and can be checked when they are read back.

use std::path::Path;

use plimsoll_workload::{content::ContentSource, payload::Payload};

use crate::ProgramError;

/// Stream, number and checksum of what follows.
const HEADER_BYTES: usize = 20;
/// Longer ones are not made.
const BYTES_MAX: u64 = 64 << 20;

/// Makes pages of one length, and knows them again. Each has content of its own.
pub(crate) struct Pages {
    content: ContentSource,
    bytes: usize,
}

impl Pages {
    /// Pages that are longer than what they say of themselves.
    pub(crate) fn new(seed: u64, bytes: u64) -> Result<Self, ProgramError> {
        if bytes <= HEADER_BYTES as u64 || bytes > BYTES_MAX {
            return Err(ProgramError::Setting("--batch is 21 bytes, for its checksum, to 64MiB"));
        }
        Ok(Self { content: ContentSource::new(&Payload::default(), seed), bytes: bytes as usize })
    }

    /// Room for one.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        vec![0; self.bytes]
    }

    /// Makes the page with a number of a stream.
    pub(crate) fn fill(&self, page: &mut [u8], stream: u64, number: u64) {
        self.content.fill(&mut page[HEADER_BYTES..], number, stream);
        page[..8].copy_from_slice(&stream.to_le_bytes());
        page[8..16].copy_from_slice(&number.to_le_bytes());
        let checksum = crc32c::crc32c(&page[HEADER_BYTES..]);
        page[16..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    }

    /// Whether this is that page.
    pub(crate) fn check(page: &[u8], stream: u64, number: u64, path: &Path) -> Result<(), ProgramError> {
        let damaged = |what: String| ProgramError::Damaged { path: path.to_owned(), what };
        if page[..8] != stream.to_le_bytes() || page[8..16] != number.to_le_bytes() {
            return Err(damaged(format!("where page {number} was written stands something else")));
        }
        if page[16..HEADER_BYTES] != crc32c::crc32c(&page[HEADER_BYTES..]).to_le_bytes() {
            return Err(damaged(format!("page {number} has not the content that was written")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_again_and_no_other_one_is_taken_for_it() {
        let pages = Pages::new(7, 4096).unwrap();
        let mut page = pages.buffer();
        pages.fill(&mut page, 1, 2);
        let is_known = |page: &[u8], stream, number| Pages::check(page, stream, number, Path::new("x")).is_ok();
        assert!(is_known(&page, 1, 2));
        assert!(!is_known(&page, 1, 3) && !is_known(&page, 2, 2));
        for byte in [0, 9, 17, 20, 4095] {
            page[byte] ^= 1;
            assert!(!is_known(&page, 1, 2), "byte {byte}");
            page[byte] ^= 1;
        }
        let mut other = pages.buffer();
        pages.fill(&mut other, 1, 3);
        assert_ne!(page[HEADER_BYTES..], other[HEADER_BYTES..]);
    }

    #[test]
    fn pages_without_room_for_a_checksum_and_endless_ones_are_refused() {
        for bytes in [0, 20, (64 << 20) + 1, u64::MAX] {
            assert!(matches!(Pages::new(1, bytes), Err(ProgramError::Setting(_))), "{bytes}");
        }
    }
}
