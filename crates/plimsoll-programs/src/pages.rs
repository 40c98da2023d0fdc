//! Pages that say which they are and can be checked when they are read back.

use std::path::Path;

use plimsoll_workload::{
    content::ContentSource,
    payload::Payload,
    random::{Draws, Purpose, derive_seed},
};

use crate::ProgramError;

/// Random bytes that the content of pages is cut from. Every page begins elsewhere in them, so that storage finds
/// nothing to compress, and no two chunks alike.
const POOL_BYTES: usize = 1 << 20;
/// Stream, number and checksum of what follows.
const HEADER_BYTES: usize = 20;

/// Makes pages of one length, and knows them again.
pub(crate) struct Pages {
    pool: Vec<u8>,
    seed: u64,
    bytes: usize,
}

impl Pages {
    /// Pages that are at least as long as what they say of themselves.
    pub(crate) fn new(seed: u64, bytes: usize) -> Result<Self, ProgramError> {
        if bytes <= HEADER_BYTES {
            return Err(ProgramError::Setting("pages of so few bytes have no room for their checksum"));
        }
        let mut pool = vec![0; POOL_BYTES + bytes];
        ContentSource::new(&Payload::default(), seed).fill(&mut pool, 0, 0);
        Ok(Self { pool, seed, bytes })
    }

    /// Room for one.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        vec![0; self.bytes]
    }

    /// Makes the page with a number of a stream.
    pub(crate) fn fill(&self, page: &mut [u8], stream: u64, number: u64) {
        let start =
            Draws::new(derive_seed(self.seed, Purpose::Content, stream), number).below(POOL_BYTES as u64) as usize;
        page[HEADER_BYTES..].copy_from_slice(&self.pool[start..start + self.bytes - HEADER_BYTES]);
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
    fn pages_without_room_for_a_checksum_are_refused() {
        assert!(Pages::new(1, HEADER_BYTES).is_err());
    }
}
