//! A region in pieces of several sizes, each visited once a pass in random order.
//!
//! The region is cut into stretches, and each stretch into pieces. Where stretches can be made of whole pieces of each
//! size, one has pieces of one kind and size, of that which is furthest behind its share of the operations. Elsewhere
//! sizes are drawn until the stretch is full, and the last piece is as long as what is left.
//!
//! A pass goes through the stretches in random order, keeps the pieces of some of them at hand, and draws from these.
//! So it needs the same memory and time for an operation whatever the size of the region; a region of up to
//! [`AT_HAND`] pieces is shuffled as a whole.

use crate::{
    operation::OperationKind,
    random::{Draws, Purpose, derive_seed},
    sampler::{Coverage, PassOrder},
};

/// How many pieces are drawn from: those of thousands of stretches, which lie anywhere in the region.
const AT_HAND: usize = 1 << 14;

/// The passes over a region.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    seed: u64,
    region_bytes: u64,
    stretch_bytes: u64,
    stretches: Coverage,
    /// The number, from 0, of the pass that the pieces at hand are of.
    pass: u64,
    at_hand: Vec<Piece>,
    /// What stretches are made of; empty when pieces are drawn.
    tiles: Vec<Tile>,
}

/// Pieces of one kind and size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) kind: OperationKind,
    pub(super) length: u32,
    /// Its share of the operations.
    pub(super) share: f64,
    /// How many there were.
    pub(super) count: u64,
}

/// An operation that visits a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: OperationKind,
    pub(super) length: u32,
    /// Bytes from the start of the region.
    pub(super) place: u64,
}

impl Pieces {
    /// Passes over a region, of which what is left beyond multiples of `granule_bytes` is not touched. Stretches are as
    /// long as the largest size at least, and all sizes are multiples of the granule.
    pub(super) fn new(
        region_bytes: u64,
        (stretch_bytes, tiles): (u64, Vec<Tile>),
        granule_bytes: u64,
        seed: u64,
        order: PassOrder,
    ) -> Self {
        let region_bytes = region_bytes / granule_bytes * granule_bytes;
        let stretches = Coverage::new(region_bytes.div_ceil(stretch_bytes), seed, order);
        Self { seed, region_bytes, stretch_bytes, stretches, pass: 0, at_hand: Vec::new(), tiles }
    }

    /// The next piece, of the kinds and sizes that `draw` draws, and the number of its pass.
    pub(super) fn next(
        &mut self,
        draws: &mut Draws,
        draw: impl Fn(&mut Draws) -> (OperationKind, u32),
    ) -> (Piece, u64) {
        if self.at_hand.is_empty() {
            self.pass = self.stretches.pass();
        }
        while self.at_hand.len() < AT_HAND && self.stretches.pass() == self.pass {
            self.cut(self.stretches.block() * self.stretch_bytes, &draw);
            self.stretches.advance(1);
        }
        let index = draws.below(self.at_hand.len() as u64) as usize;
        (self.at_hand.swap_remove(index), self.pass)
    }

    /// Cuts the stretch that begins at a place.
    fn cut(&mut self, begin: u64, draw: impl Fn(&mut Draws) -> (OperationKind, u32)) {
        let end = (begin + self.stretch_bytes).min(self.region_bytes);
        if !self.tiles.is_empty() {
            return self.tile(begin, end);
        }
        let mut draws = Draws::new(derive_seed(self.seed, Purpose::Pieces, self.pass), begin);
        let mut place = begin;
        while place < end {
            let (kind, length) = draw(&mut draws);
            let length = u64::from(length).min(end - place);
            self.at_hand.push(Piece { kind, place, length: length as u32 });
            place += length;
        }
    }

    /// Makes a stretch of whole pieces, as far as any fit.
    fn tile(&mut self, begin: u64, end: u64) {
        let mut place = begin;
        while place < end {
            let left = end - place;
            let fits = |tile: &&mut Tile| u64::from(tile.length) <= left;
            // With half of what it would add, so that shares are kept to half a stretch.
            let done = |tile: &Tile| (tile.count as f64 + (left / u64::from(tile.length)) as f64 / 2.0) / tile.share;
            let behind = |one: &&mut Tile, other: &&mut Tile| done(one).total_cmp(&done(other));
            let Some(tile) = self.tiles.iter_mut().filter(fits).min_by(behind) else {
                // At the end of the region.
                self.at_hand.push(Piece { kind: self.tiles[0].kind, place, length: left as u32 });
                return;
            };
            let length = u64::from(tile.length);
            let count = left / length;
            tile.count += count;
            let Tile { kind, length: bytes, .. } = *tile;
            self.at_hand.extend((0..count).map(|index| Piece { kind, place: place + index * length, length: bytes }));
            place += count * length;
        }
    }
}
