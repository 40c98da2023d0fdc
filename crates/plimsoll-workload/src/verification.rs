//! Blocks that can tell where they belong: a header, content that can be produced again, and the check of both.
//!
//! A verified block begins with a header of [`HEADER_BYTES`] bytes, little endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `PLIMSOLL` |
//! | 8..12 | version of this layout, 1 |
//! | 12..16 | length of the block |
//! | 16..24 | seed |
//! | 24..32 | offset in the file or device |
//! | 32..36 | generation: how many times the block was written since the layout |
//! | 36..40 | CRC-32C of the content |
//! | 40..60 | zero |
//! | 60..64 | CRC-32C of bytes 0 to 60 |
//!
//! The rest is the random content that [`ContentSource`] gives for seed, offset and generation. The file or
//! device of each cell has a seed of its own, [`seed_of`], and so have the files of each job where jobs share none:
//! otherwise a write into the wrong one could not be noticed. So has each process that does a plan, or goes on with
//! one: otherwise a lost write could not be noticed where another run with the same seed, or the same run before it was
//! interrupted, had written that block. No process looks for what another one wrote.

use std::{
    fmt,
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use thiserror::Error;

use crate::{
    content::ContentSource,
    payload::Payload,
    plan::{BlockPlan, Region},
    random::{Purpose, derive_seed},
    settings::FileSharing,
};

/// Bytes of a block that are not content.
pub const HEADER_BYTES: usize = 64;

const MAGIC: [u8; 8] = *b"PLIMSOLL";
const VERSION: u32 = 1;

/// Which block should be found at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The seed of the file or device.
    pub seed: u64,
    /// Where the block lies.
    pub offset: u64,
    /// The generation that was written last.
    pub generation: u32,
}

impl Expected {
    /// Whether it is known what the block must be: one that was never written has a header only if it was laid out.
    pub const fn is_known(&self, is_laid_out: bool) -> bool {
        self.generation > 0 || is_laid_out
    }
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MismatchKind {
    /// Some bytes are not those that were written.
    Corrupt,
    /// A whole block that belongs to another place.
    Misdirected,
    /// An older generation of the block, what an earlier run left there, or nothing of plimsoll's: a write that was
    /// acknowledged left no trace.
    LostWrite,
    /// A whole block of another run's or file's other place, or of another block size.
    Foreign,
    /// A generation that had not been acknowledged when the read began.
    Premature,
}

impl MismatchKind {
    /// The word for this kind in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Corrupt => "corrupt",
            Self::Misdirected => "misdirected",
            Self::LostWrite => "lost-write",
            Self::Foreign => "foreign",
            Self::Premature => "premature",
        }
    }
}

impl fmt::Display for MismatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A block that is not the one that was written.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{kind} at offset {offset}: {detail}")]
pub struct Mismatch {
    /// What is wrong.
    pub kind: MismatchKind,
    /// The first wrong byte, counted from the start of the file or device; of a block that is wrong as a whole, its
    /// start.
    pub offset: u64,
    /// What was found instead.
    pub detail: String,
}

/// The seed of the file or device that a job of a cell verifies, by the cell's number in the plan of the run, and by a
/// number that only the process has that writes.
pub const fn seed_of(writer: u64, plan: &BlockPlan, cell: usize, job: u32) -> u64 {
    let job = match plan.files {
        FileSharing::Shared => 0,
        FileSharing::PerJob => job,
    };
    let of_writer = derive_seed(plan.seed, Purpose::VerifiedFile, writer);
    derive_seed(derive_seed(of_writer, Purpose::VerifiedFile, cell as u64), Purpose::VerifiedFile, job as u64)
}

/// Makes a buffer a verified block. The buffer holds more than a header.
pub fn stamp(buffer: &mut [u8], seed: u64, offset: u64, generation: u32) {
    let length = u32::try_from(buffer.len()).expect("a block has at most 1 GiB");
    let (head, content) = split(buffer);
    content_source(seed).fill(content, offset, u64::from(generation));
    Header { length, seed, offset, generation, content_crc: crc32c::crc32c(content) }.write(head);
}

/// Checks that a buffer is the block that should be there.
pub fn check(buffer: &[u8], expected: Expected) -> Result<(), Mismatch> {
    let (head, content) = buffer.split_first_chunk().expect("a verified block holds more than a header");
    let Some(header) = Header::read(head) else { return Err(without_header(buffer, expected)) };
    if header.content_crc != crc32c::crc32c(content) {
        return Err(wrong_content(buffer, header, expected));
    }
    if header.names(expected, buffer.len()) { Ok(()) } else { Err(wrong_block(buffer, header, expected)) }
}

/// Fields of a header that has been read, or will be written.
#[derive(Clone, Copy)]
struct Header {
    length: u32,
    seed: u64,
    offset: u64,
    generation: u32,
    content_crc: u32,
}

impl Header {
    fn write(self, head: &mut [u8; HEADER_BYTES]) {
        head.fill(0);
        head[0..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..16].copy_from_slice(&self.length.to_le_bytes());
        head[16..24].copy_from_slice(&self.seed.to_le_bytes());
        head[24..32].copy_from_slice(&self.offset.to_le_bytes());
        head[32..36].copy_from_slice(&self.generation.to_le_bytes());
        head[36..40].copy_from_slice(&self.content_crc.to_le_bytes());
        let crc = crc32c::crc32c(&head[..60]);
        head[60..64].copy_from_slice(&crc.to_le_bytes());
    }

    /// `None` unless every bit is as some header was written.
    fn read(head: &[u8; HEADER_BYTES]) -> Option<Self> {
        let long = |at: usize| head[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        let short = |at: usize| head[at..].first_chunk().copied().map_or(0, u32::from_le_bytes);
        let intact = head.starts_with(&MAGIC) && short(8) == VERSION && short(60) == crc32c::crc32c(&head[..60]);
        intact.then(|| Self {
            length: short(12),
            seed: long(16),
            offset: long(24),
            generation: short(32),
            content_crc: short(36),
        })
    }

    fn names(self, expected: Expected, length: usize) -> bool {
        (self.seed, self.offset, self.generation) == (expected.seed, expected.offset, expected.generation)
            && self.length as usize == length
    }
}

fn split(buffer: &mut [u8]) -> (&mut [u8; HEADER_BYTES], &mut [u8]) {
    buffer.split_first_chunk_mut().expect("a verified block holds more than a header")
}

fn content_source(seed: u64) -> ContentSource {
    ContentSource::new(&Payload::default(), seed)
}

/// A block as it was written. Made only to explain a mismatch.
fn block(length: usize, seed: u64, offset: u64, generation: u32) -> Vec<u8> {
    let mut block = vec![0; length];
    stamp(&mut block, seed, offset, generation);
    block
}

fn first_difference(found: &[u8], written: &[u8]) -> Option<usize> {
    found.iter().zip(written).position(|(found, written)| found != written)
}

fn equal_bytes(found: &[u8], written: &[u8]) -> usize {
    found.iter().zip(written).filter(|(found, written)| found == written).count()
}

/// The header is damaged or was never there.
fn without_header(buffer: &[u8], expected: Expected) -> Mismatch {
    let written = block(buffer.len(), expected.seed, expected.offset, expected.generation);
    let content = HEADER_BYTES..buffer.len();
    // Unrelated bytes agree once in 256 times, so half of them is no accident.
    let is_ours = 2 * equal_bytes(&buffer[content.clone()], &written[content]) >= buffer.len() - HEADER_BYTES
        || buffer.starts_with(&MAGIC);
    if is_ours {
        return corrupt(buffer, &written, expected.offset, "");
    }
    let found = if buffer.iter().all(|byte| *byte == 0) { "only zeros" } else { "bytes without a header" };
    Mismatch {
        kind: MismatchKind::LostWrite,
        offset: expected.offset,
        detail: format!("{found} where generation {} should be", expected.generation),
    }
}

/// The header is whole, the content is not the one it was written for.
fn wrong_content(buffer: &[u8], header: Header, expected: Expected) -> Mismatch {
    let written = block(buffer.len(), header.seed, header.offset, header.generation);
    let note = if header.names(expected, buffer.len()) {
        String::new()
    } else {
        format!(
            ", in a block whose header says offset {}, generation {}, not generation {}",
            header.offset, header.generation, expected.generation
        )
    };
    corrupt(buffer, &written, expected.offset, &note)
}

fn corrupt(buffer: &[u8], written: &[u8], block_offset: u64, note: &str) -> Mismatch {
    let at = first_difference(buffer, written).unwrap_or(0);
    let wrong = buffer.len() - equal_bytes(buffer, written);
    Mismatch {
        kind: MismatchKind::Corrupt,
        offset: block_offset + at as u64,
        detail: format!(
            "byte {at} of the block at {block_offset} is {:#04x} instead of {:#04x}, and {wrong} of {} bytes are \
             wrong{note}",
            buffer[at],
            written[at],
            buffer.len()
        ),
    }
}

/// Header and content are whole and belong together, but not here and now.
fn wrong_block(buffer: &[u8], header: Header, expected: Expected) -> Mismatch {
    let (kind, detail) = if header.offset != expected.offset {
        let detail = format!("the block that belongs at {}, of generation {}", header.offset, header.generation);
        // The seed says whether it came from here, or from another file or an earlier run.
        if header.seed == expected.seed {
            (MismatchKind::Misdirected, detail)
        } else {
            (MismatchKind::Foreign, format!("{detail} and seed {:#x}", header.seed))
        }
    } else if header.seed != expected.seed {
        let detail = format!("what a run or file with seed {:#x} wrote there", header.seed);
        (MismatchKind::LostWrite, detail)
    } else if header.length as usize != buffer.len() {
        let detail = format!("a block of {} bytes where {} are expected", header.length, buffer.len());
        (MismatchKind::Foreign, detail)
    } else if header.generation < expected.generation {
        let detail = format!("generation {} where {} was written", header.generation, expected.generation);
        (MismatchKind::LostWrite, detail)
    } else {
        let detail = format!("generation {} where {} is the last acknowledged", header.generation, expected.generation);
        (MismatchKind::Premature, detail)
    };
    Mismatch { kind, offset: expected.offset, detail }
}

/// Set in an entry beside the generation when the write of that generation failed, so that the block may be anything.
const UNKNOWN: u32 = 1 << 31;

/// How many blocks have their entries in one piece of memory: a page of it.
const AT_ONCE: usize = 1024;

/// Which generation of each block of a region was written last; 0 is what the layout wrote. Four bytes a block, for
/// those that were written and those around them.
///
/// Threads of a job may share it: entries of different blocks do not disturb each other, and passes keep two
/// operations on the same block apart.
#[derive(Debug)]
pub struct GenerationMap {
    seed: u64,
    region: Region,
    block_bytes: u64,
    blocks: u64,
    pages: Box<[OnceLock<Page>]>,
}

/// The entries of as many blocks.
type Page = Box<[AtomicU32; AT_ONCE]>;

impl GenerationMap {
    /// A map of a job's region, all of it as the layout left it, in a file with a seed.
    pub fn new(seed: u64, region: Region, block_bytes: u32) -> Self {
        let block_bytes = u64::from(block_bytes);
        let blocks = region.length / block_bytes;
        let pages = (0..blocks.div_ceil(AT_ONCE as u64)).map(|_| OnceLock::new()).collect();
        Self { seed, region, block_bytes, blocks, pages }
    }

    /// What it takes when all blocks of a region are written, or so many wherever they lie, where that is less.
    pub fn memory_bytes(region: Region, block_bytes: u32, writes: u64) -> u64 {
        const ENTRY_BYTES: u64 = size_of::<AtomicU32>() as u64;
        const PAGE_BYTES: u64 = AT_ONCE as u64 * ENTRY_BYTES;
        let blocks = region.length / u64::from(block_bytes);
        let places_bytes = blocks.div_ceil(AT_ONCE as u64) * size_of::<OnceLock<Page>>() as u64;
        (blocks * ENTRY_BYTES).min(writes.saturating_mul(PAGE_BYTES).saturating_add(places_bytes))
    }

    /// What should be read at an offset that the job's stream gave; `None` where a write failed.
    pub fn expected(&self, offset: u64) -> Option<Expected> {
        let (page, entry) = self.place(offset);
        let generation = page.get().map_or(0, |page| page[entry].load(Ordering::Acquire));
        (generation & UNKNOWN == 0).then_some(Expected { seed: self.seed, offset, generation })
    }

    /// Makes a buffer the next generation of the block at an offset that the job's stream gave.
    pub fn stamp_next(&self, buffer: &mut [u8], offset: u64) {
        let entry = self.entry(offset);
        // Nobody else writes to the block at the moment.
        let generation = (entry.load(Ordering::Acquire) & !UNKNOWN) + 1;
        entry.store(generation, Ordering::Release);
        stamp(buffer, self.seed, offset, generation);
    }

    /// Notes that the write of a block failed: until it is written again, nobody knows what it is.
    pub fn forget(&self, offset: u64) {
        self.entry(offset).fetch_or(UNKNOWN, Ordering::AcqRel);
    }

    /// Every block of which is known what it is, because it was written, or laid out with a header: where it lies and
    /// what should be there.
    pub fn known_blocks(&self, is_laid_out: bool) -> impl Iterator<Item = Expected> {
        self.known_pages(is_laid_out)
            .flatten()
            .filter_map(move |block| self.expected(self.region.offset + block * self.block_bytes))
            .filter(move |expected| expected.is_known(is_laid_out))
    }

    /// The blocks of the pages in which some are known. Of a large device that is not laid out these are few.
    fn known_pages(&self, is_laid_out: bool) -> impl Iterator<Item = Range<u64>> {
        let pages = (0..self.blocks).step_by(AT_ONCE).zip(&self.pages);
        let known = pages.filter(move |(_, page)| is_laid_out || page.get().is_some());
        known.map(|(first, _)| first..self.blocks.min(first + AT_ONCE as u64))
    }

    /// The entry of a block that is written.
    fn entry(&self, offset: u64) -> &AtomicU32 {
        let (page, entry) = self.place(offset);
        &page.get_or_init(|| Box::new([const { AtomicU32::new(0) }; AT_ONCE]))[entry]
    }

    fn place(&self, offset: u64) -> (&OnceLock<Box<[AtomicU32; AT_ONCE]>>, usize) {
        let block = ((offset - self.region.offset) / self.block_bytes) as usize;
        (&self.pages[block / AT_ONCE], block % AT_ONCE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HERE: Expected = Expected { seed: 0x5eed, offset: 81_920, generation: 3 };

    fn written(length: usize, at: Expected) -> Vec<u8> {
        block(length, at.seed, at.offset, at.generation)
    }

    fn mismatch(buffer: &[u8]) -> Mismatch {
        check(buffer, HERE).unwrap_err()
    }

    #[test]
    fn any_single_flipped_bit_is_found_and_named() {
        let good = written(512, HERE);
        for bit in 0..512 * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let mismatch = mismatch(&bad);
            assert_eq!(mismatch.kind, MismatchKind::Corrupt, "bit {bit}");
            assert_eq!(mismatch.offset, HERE.offset + bit as u64 / 8, "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn flipped_bits_are_found_in_blocks_of_any_size(
            seed: u64,
            offset in 0..u64::MAX / 2,
            generation: u32,
            length in 512_usize..70_000,
            bits in prop::collection::vec(any::<usize>(), 1..4),
        ) {
            let expected = Expected { seed, offset, generation };
            let mut buffer = written(length, expected);
            prop_assert_eq!(check(&buffer, expected), Ok(()));
            let mut bits: Vec<usize> = bits.into_iter().map(|bit| bit % (length * 8)).collect();
            bits.sort_unstable();
            bits.dedup();
            bits.iter().for_each(|bit| buffer[bit / 8] ^= 1 << (bit % 8));
            let mismatch = check(&buffer, expected).unwrap_err();
            prop_assert_eq!(mismatch.kind, MismatchKind::Corrupt);
            prop_assert_eq!(mismatch.offset, offset + bits[0] as u64 / 8);
        }

        #[test]
        fn whole_blocks_in_the_wrong_place_or_time_are_named(
            offset in 0_u64..1 << 50,
            generation in 0_u32..9,
            seed in 0x5eec_u64..0x5eef,
        ) {
            let other = Expected { seed, offset: if offset % 2 == 0 { HERE.offset } else { offset }, generation };
            let kind = check(&written(4096, other), HERE).map_err(|mismatch| mismatch.kind);
            let due = if other.offset != HERE.offset {
                Err(if seed == HERE.seed { MismatchKind::Misdirected } else { MismatchKind::Foreign })
            } else if seed != HERE.seed || generation < 3 {
                Err(MismatchKind::LostWrite)
            } else if generation > 3 {
                Err(MismatchKind::Premature)
            } else {
                Ok(())
            };
            prop_assert_eq!(kind, due);
        }
    }

    #[test]
    fn a_place_that_was_never_written_is_a_lost_write() {
        for content in [vec![0; 4096], vec![0xff; 4096], (0..4096).map(|at| at as u8).collect()] {
            assert_eq!(mismatch(&content).kind, MismatchKind::LostWrite);
        }
    }

    #[test]
    fn a_torn_write_is_corrupt_from_where_the_old_content_begins() {
        let old = written(4096, Expected { generation: 2, ..HERE });
        let mut torn = written(4096, HERE);
        torn[1024..].copy_from_slice(&old[1024..]);
        let mismatch = mismatch(&torn);
        assert_eq!(mismatch.kind, MismatchKind::Corrupt);
        assert!((1024..1028).contains(&(mismatch.offset - HERE.offset)), "{mismatch}");
    }

    #[test]
    fn a_block_whose_head_is_gone_is_corrupt_from_its_start() {
        let mut bad = written(4096, HERE);
        bad[..1024].fill(0);
        let mismatch = mismatch(&bad);
        assert_eq!((mismatch.kind, mismatch.offset), (MismatchKind::Corrupt, HERE.offset));
    }

    #[test]
    fn a_mismatch_is_told_in_one_sentence() {
        let mut bad = written(4096, HERE);
        bad[100] ^= 1;
        let told = mismatch(&bad).to_string();
        assert!(told.starts_with("corrupt at offset 82020: byte 100 of the block at 81920 is 0x"), "{told}");
        assert!(told.ends_with("1 of 4096 bytes are wrong"), "{told}");
        let lost = mismatch(&written(4096, Expected { generation: 1, ..HERE }));
        assert_eq!(lost.to_string(), "lost-write at offset 81920: generation 1 where 3 was written");
    }

    #[test]
    fn a_map_takes_memory_for_what_is_written_and_around_it() {
        let region = Region { offset: 0, length: 8 << 40 };
        let memory_bytes = |writes| GenerationMap::memory_bytes(region, 4096, writes);
        assert_eq!([memory_bytes(u64::MAX), memory_bytes(1000)], [8 << 30, (32 << 20) + 4096 * 1000]);
        let map = GenerationMap::new(7, region, 4096);
        let taken = || map.pages.iter().filter(|page| page.get().is_some()).count();
        let last = region.length - 4096;
        assert_eq!((map.expected(last).map(|expected| expected.generation), taken()), (Some(0), 0));
        let mut buffer = vec![0; 4096];
        for offset in [0, 4096, last, last] {
            map.stamp_next(&mut buffer, offset);
        }
        assert_eq!((map.expected(last).map(|expected| expected.generation), taken()), (Some(2), 2));
        // Nobody looks at all the blocks between.
        assert_eq!(map.known_pages(false).map(|blocks| blocks.end - blocks.start).sum::<u64>(), 2048);
        let known = map.known_blocks(false).map(|expected| expected.offset);
        assert_eq!(known.collect::<Vec<_>>(), [0, 4096, last]);
        assert_eq!(map.known_pages(true).count(), map.pages.len());
    }

    #[test]
    fn a_map_follows_every_block_of_its_region() {
        let map = GenerationMap::new(7, Region { offset: 1 << 20, length: 10 * 12_288 + 5 }, 12_288);
        let third = (1 << 20) + 2 * 12_288;
        assert_eq!(map.expected(third), Some(Expected { seed: 7, offset: third, generation: 0 }));
        let mut buffer = vec![0; 12_288];
        (0..2).for_each(|_| map.stamp_next(&mut buffer, third));
        assert_eq!(check(&buffer, map.expected(third).unwrap()), Ok(()));
        let generations: Vec<u32> = map.known_blocks(true).map(|expected| expected.generation).collect();
        assert_eq!(generations, [0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(map.known_blocks(true).enumerate().all(|(at, block)| block.offset == (1 << 20) + at as u64 * 12_288));
        // A write that failed may have left anything, until the next one.
        map.forget(third);
        assert_eq!((map.expected(third), map.known_blocks(true).count()), (None, 9));
        map.stamp_next(&mut buffer, third);
        assert_eq!(map.expected(third), Some(Expected { seed: 7, offset: third, generation: 3 }));
    }
}
