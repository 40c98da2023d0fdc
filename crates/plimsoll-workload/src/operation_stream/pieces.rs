//! A region in pieces of several sizes, each visited once a pass in random order.
//!
//! The region is cut into stretches, and each stretch into pieces whose sizes are drawn until it is full; the last one
//! is as long as what is left. So the pieces of a stretch are known without those of any other, and nothing has to be
//! remembered: a pass goes through all places where a piece might begin, in random order, and leaves out those where
//! none does.

use crate::{
    operation::OperationKind,
    random::{Draws, Purpose, derive_seed},
    sampler::{Coverage, PassOrder},
};

/// The passes over a region.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    seed: u64,
    /// Bytes that all sizes are multiples of; places and lengths below are counted in them.
    granule: u64,
    stretch: u64,
    region: u64,
    places: Coverage,
}

/// An operation that visits a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: OperationKind,
    /// Bytes from the start of the region.
    pub(super) place: u64,
    pub(super) length: u32,
    /// The number of the pass, from 0.
    pub(super) pass: u64,
}

impl Pieces {
    /// Passes over so many bytes, in stretches of so many; both hold at least one granule.
    pub(super) fn new(region_bytes: u64, stretch_bytes: u64, granule: u64, seed: u64, order: PassOrder) -> Self {
        let region = region_bytes / granule;
        Self { seed, granule, stretch: stretch_bytes / granule, region, places: Coverage::new(region, seed, order) }
    }

    /// The next piece, of the kinds and sizes that `draw` draws.
    pub(super) fn next(&mut self, draw: impl Fn(&mut Draws) -> (OperationKind, u32)) -> Piece {
        loop {
            let (place, pass) = (self.places.block(), self.places.pass());
            self.places.advance(1);
            let begin = place / self.stretch * self.stretch;
            let end = (begin + self.stretch).min(self.region);
            let mut draws = Draws::new(derive_seed(self.seed, Purpose::Pieces, pass), begin);
            let mut at = begin;
            while at <= place {
                let (kind, length) = draw(&mut draws);
                let length = (u64::from(length) / self.granule).min(end - at);
                if at == place {
                    return Piece { kind, place: at * self.granule, length: (length * self.granule) as u32, pass };
                }
                at += length;
            }
        }
    }
}
