//! What writes contain: bytes that can be produced again from where and when they were written.
//!
//! Random content comes from eight xorshift generators side by side, which compilers turn into vector instructions.
//! It has to be incompressible and different for every block, and nothing more; it is not meant for secrets.

use crate::{
    payload::{Fill, Payload},
    random::{Draws, Purpose, derive_seed},
};

/// Storage compresses and deduplicates in chunks of about this size, so that each has its share of zeros.
const CHUNK_BYTES: usize = 4096;

/// How many different blocks of a size the repeated content consists of. They are the same of all sources: how much of
/// what several workers write, in several slots, is there only once must not depend on how many they are.
const DUPLICATE_POOL: u64 = 16;

/// What the repeated content is derived from.
const DUPLICATE_SEED: u64 = 0;

/// Independent generators; each gives eight bytes in turn.
const LANES: usize = 8;

/// Fills the buffers of writes.
#[derive(Clone, Debug)]
pub struct ContentSource {
    payload: Payload,
    seed: u64,
}

impl ContentSource {
    /// The content that this payload describes, in the variant that the seed names.
    pub fn new(payload: &Payload, seed: u64) -> Self {
        Self { payload: payload.clone(), seed: derive_seed(seed, Purpose::Content, 0) }
    }

    /// Whether every write of the same length has the same content, so that a buffer has to be filled only once.
    pub const fn is_constant(&self) -> bool {
        !matches!(self.payload.fill, Fill::Random)
    }

    /// Fills a buffer with the content of the write number `generation` at `offset`: always the same for the same
    /// numbers, and another one when either differs.
    pub fn fill(&self, buffer: &mut [u8], offset: u64, generation: u64) {
        match &self.payload.fill {
            Fill::Zero => buffer.fill(0),
            Fill::Pattern(pattern) => repeat(pattern, buffer),
            Fill::Random => {
                let seed = self.block_seed(offset, generation);
                match self.payload.compressible.get() {
                    0 => fill_random(buffer, seed),
                    percent => fill_compressible(buffer, seed, usize::from(percent)),
                }
            }
        }
    }

    fn block_seed(&self, offset: u64, generation: u64) -> u64 {
        let mut draws = Draws::new(derive_seed(self.seed, Purpose::Content, generation), offset);
        let duplicate = self.payload.duplicate.get();
        if duplicate > 0 && draws.percent(duplicate) {
            return derive_seed(DUPLICATE_SEED, Purpose::Content, draws.below(DUPLICATE_POOL));
        }
        draws.bits()
    }
}

/// Repeats the pattern from the start of the buffer, doubling what is there.
fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    let mut filled = pattern.len().min(buffer.len());
    buffer[..filled].copy_from_slice(&pattern[..filled]);
    while filled > 0 && filled < buffer.len() {
        let more = filled.min(buffer.len() - filled);
        buffer.copy_within(..more, filled);
        filled += more;
    }
}

/// Random bytes at the start of each chunk and zeros at its end.
fn fill_compressible(buffer: &mut [u8], seed: u64, percent: usize) {
    for (number, chunk) in buffer.chunks_mut(CHUNK_BYTES).enumerate() {
        let random = chunk.len() - chunk.len() * percent / 100;
        fill_random(&mut chunk[..random], derive_seed(seed, Purpose::Content, number as u64));
        chunk[random..].fill(0);
    }
}

/// Random bytes, from lanes that start at unrelated places.
fn fill_random(buffer: &mut [u8], seed: u64) {
    let mut draws = Draws::new(seed, 0);
    // A xorshift generator never leaves zero.
    let mut lanes: [u64; LANES] = std::array::from_fn(|_| draws.bits() | 1);
    let (groups, rest) = buffer.as_chunks_mut::<{ LANES * 8 }>();
    for group in groups {
        step(&mut lanes);
        for (word, lane) in group.as_chunks_mut::<8>().0.iter_mut().zip(&lanes) {
            *word = lane.to_le_bytes();
        }
    }
    if !rest.is_empty() {
        step(&mut lanes);
        let mut group = [0; LANES * 8];
        for (word, lane) in group.as_chunks_mut::<8>().0.iter_mut().zip(&lanes) {
            *word = lane.to_le_bytes();
        }
        let length = rest.len();
        rest.copy_from_slice(&group[..length]);
    }
}

/// One step of each lane (Marsaglia 2003, the shifts of his first example).
#[inline(always)]
fn step(lanes: &mut [u64; LANES]) {
    for lane in lanes {
        *lane ^= *lane << 13;
        *lane ^= *lane >> 7;
        *lane ^= *lane << 17;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;
    use crate::chi_square::assert_uniform;

    fn source(payload: &str) -> ContentSource {
        ContentSource::new(&payload.parse().unwrap(), 21)
    }

    fn block(source: &ContentSource, length: usize, offset: u64, generation: u64) -> Vec<u8> {
        let mut buffer = vec![0xee; length];
        source.fill(&mut buffer, offset, generation);
        buffer
    }

    #[test]
    fn random_bytes_are_uniform() {
        let mut counts = [0_u64; 256];
        for byte in block(&source("random"), 1 << 20, 0, 1) {
            counts[usize::from(byte)] += 1;
        }
        assert_uniform(&counts, "bytes");
    }

    #[test]
    fn no_two_words_of_several_blocks_are_equal() {
        let random = source("random");
        let mut seen = HashSet::new();
        for number in 0..64 {
            let block = block(&random, 64 << 10, number << 24, number % 3);
            assert!(block.as_chunks::<8>().0.iter().all(|word| seen.insert(u64::from_le_bytes(*word))));
        }
    }

    proptest! {
        #[test]
        fn content_depends_on_seed_offset_and_generation_alone(
            length in 64_usize..20_000, offset: u64, generation in 0_u64..1 << 32, other in 1_u64..1 << 32,
        ) {
            for payload in ["random", "random,compressible:30"] {
                let source = source(payload);
                let content = block(&source, length, offset, generation);
                prop_assert_eq!(&content, &block(&source.clone(), length, offset, generation));
                prop_assert_ne!(&content, &block(&source, length, offset ^ other, generation));
                prop_assert_ne!(&content, &block(&source, length, offset, generation ^ other));
                let stranger = ContentSource::new(&payload.parse().unwrap(), 22);
                prop_assert_ne!(&content, &block(&stranger, length, offset, generation));
            }
        }
    }

    #[test]
    fn zeros_and_patterns_fill_any_length() {
        assert!(block(&source("zero"), 999, 5, 5).iter().all(|byte| *byte == 0));
        for length in [0, 1, 2, 3, 4, 7, 4096] {
            let filled = block(&source("pattern:0xabcdef"), length, 5, 5);
            assert!(filled.iter().eq([0xab, 0xcd, 0xef].iter().cycle().take(length)), "{length}");
        }
    }

    #[test]
    fn the_compressible_share_of_every_chunk_is_zeros() {
        for percent in [1, 25, 50, 99, 100] {
            let content = block(&source(&format!("random,compressible:{percent}")), 10 * 4096 + 1000, 0, 1);
            for chunk in content.chunks(4096) {
                // Random bytes may be zero too, so count the run at the end.
                let zeros = chunk.iter().rev().take_while(|byte| **byte == 0).count();
                let due = chunk.len() * percent / 100;
                assert!((due..due + 4).contains(&zeros), "{zeros} zeros at {percent} %");
            }
        }
    }

    #[test]
    fn the_duplicate_share_of_blocks_repeats() {
        for percent in [10_u64, 50, 90] {
            // Of several workers, or slots.
            let payload = format!("random,duplicate:{percent}").parse().unwrap();
            let sources = [1, 2, 3].map(|seed| ContentSource::new(&payload, seed));
            let mut times: HashMap<Vec<u8>, u64> = HashMap::new();
            for number in 0..10_000_u64 {
                let source = &sources[number as usize % sources.len()];
                *times.entry(block(source, 512, number * 512, number % 5)).or_default() += 1;
            }
            let repeated: u64 = times.values().filter(|times| **times > 1).sum();
            assert!(repeated.abs_diff(percent * 100) < 200, "{repeated} of 10000 at {percent} %");
            assert_eq!(times.values().filter(|times| **times > 1).count() as u64, DUPLICATE_POOL);
        }
    }
}
