//! Which operations a plan means: the sequence of a job, one operation after another, without end.
//!
//! The sequence is a pure function of the plan, the slot's seed and the job's number. It knows nothing of time and
//! emits no syncs: when an operation is issued, and after how many writes a sync follows, is the worker's business.
//!
//! Random offsets are multiples of the direction's smallest block size, counted from the start of the region. A
//! larger block of a range or split starts at any such multiple at which it fits; where the distribution is not
//! uniform, one that would cross the end is moved back to the last place where it fits. Exact-once touches every
//! byte once a pass: blocks of several sizes begin at multiples of what all sizes are multiples of. They have the sizes
//! that were asked for where those have a small common multiple and the region has room for their shares; elsewhere, as
//! in ranges, one in several blocks is cut to what is left between others.
//!
//! Sequential operations begin at the start of the region when an amount ends the cell or blocks are verified,
//! because then the whole region counts. When time alone ends the slot they begin at a seeded place, another one each
//! slot: short slots would otherwise read the same blocks again, and measure the caches that hold them. Jobs and
//! lanes of a slot keep to the job's region: nothing ever crosses its end.

mod pieces;

use self::pieces::{Pieces, Tile};
use crate::{
    block_sizes::{BlockSizes, WeightedBlockSize, common_divisor},
    distribution::Distribution,
    operation::{Operation, OperationKind},
    plan::{BlockPlan, Region},
    random::{Draws, Purpose, derive_seed, job_seed},
    sampler::{Coverage, PassOrder, Sampler},
};

/// The operations of a job, or of one lane of it.
#[derive(Clone, Debug)]
pub struct OperationStream {
    /// What the operations' draws are derived from.
    seed: u64,
    /// The operation of the job that comes next.
    number: u64,
    /// Operations of the job from one of this stream to the next.
    lanes: u64,
    region: Region,
    mix: DirectionMix,
    /// Of reads and of writes, in the order of [`OperationKind`].
    shapes: [Shape; 2],
    order: Order,
}

/// How the direction of an operation is chosen.
#[derive(Clone, Copy, Debug)]
enum DirectionMix {
    Reads,
    Writes,
    Mixed { read_percent: u8 },
}

/// What follows from what.
#[derive(Clone, Debug)]
enum Order {
    /// One size, each operation after the other: the place is a function of the operation's number.
    Sequential(Positions),
    /// Every operation is drawn by itself.
    Drawn,
    /// So is every one of these, with one direction, one size and all places as likely: only the place is drawn.
    Uniform { kind: OperationKind, size: Size },
    /// One size, every operation visits the next unit of a pass.
    Covering { coverage: Coverage, unit: u64 },
    /// Where an operation lies depends on those before it, so that lanes and skips have to step.
    Chained(Box<Chain>),
}

/// The places of sequential operations of one size: `positions` of them, `stride` apart.
#[derive(Clone, Debug)]
struct Positions {
    stride: u64,
    count: u64,
    position: u64,
    pass: u64,
}

/// A job's sequence in which the place of an operation depends on the one before.
#[derive(Clone, Debug)]
struct Chain {
    /// The operation of the job that is drawn next.
    number: u64,
    random_percent: u8,
    gap: u64,
    /// Where a sequential operation goes next.
    cursor: u64,
    /// Present when random operations touch every byte once.
    pieces: Option<Pieces>,
    wraps: u64,
    /// The operation that the stream hands out next, and the pass it belongs to.
    next: (Operation, u64),
}

/// Sizes and places of the operations of one direction.
#[derive(Clone, Debug)]
struct Shape {
    granularity: u64,
    sizes: Sizes,
    /// Absent when the distribution is exact-once.
    sampler: Option<Sampler>,
}

#[derive(Clone, Debug)]
enum Sizes {
    One(Size),
    /// Multiples of the granularity, from one to `count` of them.
    Range {
        blocks: u64,
        count: u64,
    },
    Split {
        parts: Box<[(u64, Size)]>,
        weights: u64,
    },
}

/// A length and how many places of the region it fits at.
#[derive(Clone, Copy, Debug)]
struct Size {
    length: u32,
    places: u64,
}

impl OperationStream {
    /// The operations of a job in the slot that the seed names.
    pub fn new(plan: &BlockPlan, job: u32, slot_seed: u64) -> Self {
        Self::lane(plan, job, 0, 1, slot_seed)
    }

    /// Every `lanes`-th operation of a job, from number `lane`: all lanes together perform exactly the job's
    /// operations.
    ///
    /// Where places depend on earlier operations (random and sequential access mixed, or sequential access with
    /// several block sizes), each lane steps through the operations of the others.
    pub fn lane(plan: &BlockPlan, job: u32, lane: u32, lanes: u32, slot_seed: u64) -> Self {
        assert!(lane < lanes, "lane {lane} of {lanes}");
        let seed = job_seed(slot_seed, job);
        let region = plan.job_region(job);
        let mix = DirectionMix::of(plan);
        let shapes = [&plan.read_block_sizes, &plan.write_block_sizes].map(|sizes| Shape::new(plan, sizes, region));
        let mut stream = Self {
            seed: derive_seed(seed, Purpose::Operations, 0),
            number: 0,
            lanes: 1,
            region,
            order: Order::new(plan, region, seed, mix, &shapes),
            mix,
            shapes,
        };
        stream.step_chain();
        stream.skip(u64::from(lane));
        stream.lanes = u64::from(lanes);
        stream
    }

    /// The next operation: a read or a write.
    #[inline]
    pub fn next_operation(&mut self) -> Operation {
        let mut draws = Draws::new(self.seed, self.number);
        self.number += self.lanes;
        // The commonest, kept short enough to be inlined.
        if let Order::Uniform { kind, size } = self.order {
            let offset = self.region.offset + draws.below(size.places) * u64::from(size.length);
            return Operation { kind, file: 0, length: size.length, offset };
        }
        self.next_varied(draws)
    }

    #[inline(never)]
    fn next_varied(&mut self, mut draws: Draws) -> Operation {
        let kind = self.mix.draw(&mut draws);
        let shape = &self.shapes[kind as usize & 1];
        let (length, place) = match &mut self.order {
            Order::Drawn | Order::Uniform { .. } => shape.draw(&mut draws),
            Order::Sequential(positions) => {
                let place = positions.position * positions.stride;
                positions.advance(self.lanes);
                (shape.draw_length(&mut draws), place)
            }
            Order::Covering { coverage, unit } => {
                let place = coverage.block() * *unit;
                coverage.advance(self.lanes);
                (shape.draw_length(&mut draws), place)
            }
            Order::Chained(_) => return self.next_chained(),
        };
        Operation { kind, file: 0, length, offset: self.region.offset + place }
    }

    /// Leaves out the next `count` operations. That takes no time unless places depend on earlier operations.
    pub fn skip(&mut self, count: u64) {
        let operations = count.wrapping_mul(self.lanes);
        match &mut self.order {
            Order::Drawn | Order::Uniform { .. } => {}
            Order::Sequential(positions) => positions.advance(operations),
            Order::Covering { coverage, .. } => coverage.advance(operations),
            Order::Chained(_) => {
                for _ in 0..operations {
                    self.step_chain();
                }
            }
        }
        self.number = self.number.wrapping_add(operations);
    }

    /// The number, from 0, of the pass over the job's region that the next operation belongs to. Sequential access
    /// counts returns to the region's start and exact-once access its passes; draws with replacement stay in pass
    /// 0.
    ///
    /// Who verifies waits for all operations of a pass before performing one of the next.
    #[inline]
    pub fn pass(&self) -> u64 {
        match &self.order {
            Order::Drawn | Order::Uniform { .. } => 0,
            Order::Sequential(positions) => positions.pass,
            Order::Covering { coverage, .. } => coverage.pass(),
            Order::Chained(chain) => chain.next.1,
        }
    }

    /// The stretch of the file or device that the operations stay within.
    pub const fn region(&self) -> Region {
        self.region
    }

    #[inline(never)]
    fn next_chained(&mut self) -> Operation {
        let operation = match &self.order {
            Order::Chained(chain) => chain.next.0,
            _ => unreachable!("only chained orders come here"),
        };
        for _ in 0..self.lanes {
            self.step_chain();
        }
        operation
    }

    /// Puts the job's next operation into the chain.
    fn step_chain(&mut self) {
        let Order::Chained(chain) = &mut self.order else { return };
        let mut draws = Draws::new(self.seed, chain.number);
        chain.number += 1;
        chain.step(self.mix, &self.shapes, self.region, &mut draws);
    }
}

impl DirectionMix {
    const fn of(plan: &BlockPlan) -> Self {
        match plan.read_percent {
            0 => Self::Writes,
            100.. => Self::Reads,
            read_percent => Self::Mixed { read_percent },
        }
    }

    #[inline]
    const fn draw(self, draws: &mut Draws) -> OperationKind {
        match self {
            Self::Reads => OperationKind::Read,
            Self::Writes => OperationKind::Write,
            // An index instead of a branch, which nothing could predict.
            Self::Mixed { read_percent } => {
                [OperationKind::Write, OperationKind::Read][draws.percent(read_percent) as usize]
            }
        }
    }
}

/// The largest block among the directions that occur.
fn block_max(plan: &BlockPlan) -> u64 {
    let reads = if plan.reads() { plan.read_block_sizes.max() } else { 0 };
    let writes = if plan.writes() { plan.write_block_sizes.max() } else { 0 };
    u64::from(reads.max(writes))
}

/// What amounts of bytes are multiples of: the shortest operation, or where each byte has its turn in a pass, what all
/// sizes are multiples of, as one of them may be cut to that.
pub fn amount_unit(plan: &BlockPlan) -> u64 {
    match plan.distribution {
        Distribution::ExactOnce => granule(plan),
        _ => u64::from(plan.block_size_bytes_min()),
    }
}

/// What all sizes of the directions that occur are multiples of.
fn granule(plan: &BlockPlan) -> u64 {
    let reads = if plan.reads() { plan.read_block_sizes.granule() } else { 0 };
    let writes = if plan.writes() { plan.write_block_sizes.granule() } else { 0 };
    u64::from(common_divisor(reads, writes))
}

/// Bytes that are cut into pieces by themselves, and what they can be made of. Of several files each has whole blocks,
/// so that one is sure to lie in one file.
fn stretch(plan: &BlockPlan, region_bytes: u64) -> (u64, Vec<Tile>) {
    let block = block_max(plan);
    let (longest, blocks) = if plan.file_count > 1 { (block, 1) } else { (64 * block, 4) };
    // Several blocks, so that few are cut short.
    tiles(plan, longest, region_bytes).unwrap_or_else(|| (blocks * block, Vec::new()))
}

/// A stretch is made of at most so many pieces: those that are at hand are to lie in many stretches.
const TILES_MAX: u64 = 256;

/// Of each kind and size a pass has at least so many stretches: the shares are kept to half of one.
const STRETCHES_MIN: f64 = 8.0;

/// The kinds and sizes of operations, and the shortest stretch that can be made of whole ones of each; `None` when that
/// is too long, or too long for the region to have the shares that were asked for.
fn tiles(plan: &BlockPlan, longest: u64, region_bytes: u64) -> Option<(u64, Vec<Tile>)> {
    let reads = f64::from(plan.read_percent.min(100)) / 100.0;
    let directions = [
        (OperationKind::Read, reads, &plan.read_block_sizes),
        (OperationKind::Write, 1.0 - reads, &plan.write_block_sizes),
    ];
    let mut stretch = 1_u64;
    let mut tiles = Vec::new();
    for (kind, share, sizes) in directions.into_iter().filter(|(_, share, _)| *share > 0.0) {
        let sizes = sizes.weighted();
        let weights: f64 = sizes.iter().map(|part| f64::from(part.weight)).sum();
        for WeightedBlockSize { bytes, weight } in sizes.into_iter().filter(|part| part.weight > 0) {
            let common = common_divisor(bytes, (stretch % u64::from(bytes)) as u32);
            stretch = stretch.saturating_mul(u64::from(bytes / common));
            if stretch > longest {
                return None;
            }
            tiles.push(Tile { kind, length: bytes, share: share * f64::from(weight) / weights, count: 0 });
        }
    }
    let mean_bytes: f64 = tiles.iter().map(|tile| tile.share * f64::from(tile.length)).sum();
    let operations = region_bytes as f64 / mean_bytes;
    let has_room = |tile: &Tile| {
        let pieces = stretch / u64::from(tile.length);
        pieces <= TILES_MAX && pieces as f64 * STRETCHES_MIN <= operations * tile.share
    };
    tiles.iter().all(has_room).then_some((stretch, tiles))
}

/// Whether all operations that occur have one size.
fn is_one_size(plan: &BlockPlan) -> bool {
    let mixed = plan.reads() && plan.writes();
    (!plan.reads() || plan.read_block_sizes.is_one())
        && (!plan.writes() || plan.write_block_sizes.is_one())
        && (!mixed || plan.read_block_sizes == plan.write_block_sizes)
}

impl Order {
    fn new(plan: &BlockPlan, region: Region, seed: u64, mix: DirectionMix, shapes: &[Shape; 2]) -> Self {
        let unit = block_max(plan);
        let order = if plan.verify { PassOrder::Same } else { PassOrder::New };
        let covers = plan.random_percent > 0 && plan.distribution == Distribution::ExactOnce;
        if plan.random_percent >= 100 && !covers {
            let kind = match mix {
                DirectionMix::Reads => OperationKind::Read,
                DirectionMix::Writes => OperationKind::Write,
                DirectionMix::Mixed { .. } => return Self::Drawn,
            };
            return shapes[kind as usize].uniform(kind).unwrap_or(Self::Drawn);
        }
        if plan.random_percent >= 100 && is_one_size(plan) {
            return Self::Covering { coverage: Coverage::new(region.length / unit, seed, order), unit };
        }
        let mut positions = Positions::new(region, unit, plan.gap_bytes);
        let timed = plan.operations.is_none() && plan.amount_bytes.is_none();
        if timed && !plan.verify {
            positions.position = Draws::new(derive_seed(seed, Purpose::Start, 0), 0).below(positions.count);
        }
        if plan.random_percent == 0 && is_one_size(plan) {
            return Self::Sequential(positions);
        }
        let cursor = region.offset + positions.position * positions.stride;
        Self::Chained(Box::new(Chain {
            number: 0,
            random_percent: plan.random_percent,
            gap: plan.gap_bytes,
            cursor,
            pieces: covers
                .then(|| Pieces::new(region.length, stretch(plan, region.length), granule(plan), seed, order)),
            wraps: 0,
            next: (Operation { kind: OperationKind::Read, file: 0, length: 0, offset: cursor }, 0),
        }))
    }
}

impl Positions {
    fn new(region: Region, block: u64, gap: u64) -> Self {
        let stride = block + gap;
        Self { stride, count: (region.length - block) / stride + 1, position: 0, pass: 0 }
    }

    #[inline]
    fn advance(&mut self, count: u64) {
        self.position += count;
        if self.position >= self.count {
            self.wrap();
        }
    }

    /// A division, once a pass.
    #[cold]
    fn wrap(&mut self) {
        self.pass += self.position / self.count;
        self.position %= self.count;
    }
}

impl Chain {
    fn step(&mut self, mix: DirectionMix, shapes: &[Shape; 2], region: Region, draws: &mut Draws) {
        let kind = mix.draw(draws);
        let shape = &shapes[kind as usize & 1];
        let mut visited = 0;
        let mut operation = Operation { kind, file: 0, length: 0, offset: self.cursor };
        if !draws.percent(self.random_percent) {
            operation.length = shape.draw_length(draws);
            let room = (region.offset + region.length).saturating_sub(self.cursor);
            // What is left at the end of a pass is part of it.
            match shape.longest_within(room.min(u64::from(operation.length))) {
                Some(length) => operation.length = length,
                None => {
                    operation.offset = region.offset;
                    self.wraps += 1;
                }
            }
        } else if let Some(pieces) = &mut self.pieces {
            let (piece, pass) = pieces.next(draws, |draws| {
                let kind = mix.draw(draws);
                (kind, shapes[kind as usize & 1].draw_length(draws))
            });
            (operation.kind, operation.length) = (piece.kind, piece.length);
            operation.offset = region.offset + piece.place;
            visited = pass;
        } else {
            let (length, place) = shape.draw(draws);
            (operation.length, operation.offset) = (length, region.offset + place);
        }
        self.cursor = operation.offset + u64::from(operation.length) + self.gap;
        let pass = match self.random_percent {
            0 => self.wraps,
            // With some random jumps a return to the start is not the end of a pass.
            1..100 => 0,
            _ => visited,
        };
        self.next = (operation, pass);
    }
}

impl Shape {
    fn new(plan: &BlockPlan, sizes: &BlockSizes, region: Region) -> Self {
        let granularity = u64::from(sizes.min());
        let size = |length: u32| Size {
            length,
            places: region.length.checked_sub(u64::from(length)).map_or(1, |room| room / granularity + 1),
        };
        let blocks = (region.length / granularity).max(1);
        let sizes = match sizes {
            BlockSizes::One(length) => Sizes::One(size(*length)),
            BlockSizes::Range { min, max } => Sizes::Range { blocks, count: u64::from(max / min) },
            BlockSizes::Split(parts) => {
                let mut weights = 0;
                let parts = parts
                    .iter()
                    .map(|part| {
                        weights += u64::from(part.weight);
                        (weights, size(part.bytes))
                    })
                    .collect();
                Sizes::Split { parts, weights }
            }
        };
        // Which blocks are hot belongs to the cell: all its jobs and slots prefer the same ones.
        let scatter_seed = derive_seed(plan.seed, Purpose::Scatter, 0);
        Self { granularity, sizes, sampler: Sampler::new(&plan.distribution, blocks, scatter_seed) }
    }

    /// The order of operations of one kind, where all are alike but for their places, which are all as likely.
    fn uniform(&self, kind: OperationKind) -> Option<Order> {
        let is_uniform = self.sampler.as_ref().is_none_or(Sampler::is_uniform);
        match self.sizes {
            Sizes::One(size) if is_uniform => Some(Order::Uniform { kind, size }),
            _ => None,
        }
    }

    /// A length, and a place for it counted from the start of the region.
    #[inline]
    fn draw(&self, draws: &mut Draws) -> (u32, u64) {
        let size = self.draw_size(draws);
        let place = match &self.sampler {
            Some(sampler) if !sampler.is_uniform() => sampler.draw(draws).min(size.places - 1),
            _ => draws.below(size.places),
        };
        (size.length, place * self.granularity)
    }

    #[inline]
    fn draw_length(&self, draws: &mut Draws) -> u32 {
        self.draw_size(draws).length
    }

    /// The longest of its lengths that so many bytes have room for.
    fn longest_within(&self, bytes: u64) -> Option<u32> {
        match &self.sizes {
            Sizes::One(size) => Some(size.length).filter(|length| u64::from(*length) <= bytes),
            Sizes::Range { count, .. } => {
                let blocks = (bytes / self.granularity).min(*count);
                (blocks > 0).then_some((blocks * self.granularity) as u32)
            }
            Sizes::Split { parts, .. } => {
                parts.iter().map(|part| part.1.length).filter(|length| u64::from(*length) <= bytes).max()
            }
        }
    }

    #[inline]
    fn draw_size(&self, draws: &mut Draws) -> Size {
        match &self.sizes {
            Sizes::One(size) => *size,
            Sizes::Range { blocks, count } => {
                let extra = draws.below(*count);
                Size { length: (self.granularity * (extra + 1)) as u32, places: blocks.saturating_sub(extra).max(1) }
            }
            Sizes::Split { parts, weights } => {
                let ticket = draws.below(*weights);
                let part = parts.iter().find(|part| ticket < part.0).or(parts.last());
                part.map_or(Size { length: 0, places: 1 }, |part| part.1)
            }
        }
    }
}

#[cfg(test)]
mod tests;
