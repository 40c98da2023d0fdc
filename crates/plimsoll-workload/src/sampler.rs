//! Draws blocks according to a [`Distribution`]. Blocks are numbered from 0 within the job's region.
//!
//! [`Sampler`] draws with replacement; [`Coverage`] visits every block once a pass. Skewed distributions say how
//! often the first, second, third most wanted block is chosen; a keyed permutation then says which block that is, so
//! that hot blocks lie anywhere and frequencies stay exact.

use crate::{
    distribution::{Distribution, Zone},
    permutation::Permutation,
    random::{Draws, Purpose, derive_seed},
};

/// Draws one block after another, independently.
#[derive(Clone, Debug)]
pub struct Sampler {
    blocks: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    Zipf { ranks: Zipf, scatter: Permutation },
    Pareto { exponent: f64, scatter: Permutation },
    Normal { centre: f64, deviation: f64, scatter: Option<Permutation> },
    Zoned(Box<[Piece]>),
}

/// One zone as a piece of the inverse of the cumulative distribution.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Share of operations in this zone and all before it.
    share_end: f64,
    share_begin: f64,
    /// The zone's first block, perhaps within a block.
    begin: f64,
    /// Blocks for each share of operations.
    slope: f64,
}

impl Sampler {
    /// A sampler of `blocks` blocks, at least one. `None` for exact-once, which is an order and not a draw: see
    /// [`Coverage`]. The scatter seed decides which blocks a skewed distribution prefers.
    pub fn new(distribution: &Distribution, blocks: u64, scatter_seed: u64) -> Option<Self> {
        assert!(blocks > 0, "a region has at least one block");
        let scatter = || Permutation::new(blocks, scatter_seed);
        let shape = match distribution {
            Distribution::ExactOnce => return None,
            Distribution::Uniform => Shape::Uniform,
            Distribution::Zipf { theta } => Shape::Zipf { ranks: Zipf::new(blocks, *theta), scatter: scatter() },
            // F(x) = x^(ln(1-h)/ln(h)), so F(h) = 1-h; its inverse has the inverse exponent.
            Distribution::Pareto { h } => Shape::Pareto { exponent: h.ln() / (-h).ln_1p(), scatter: scatter() },
            Distribution::Normal { deviation_percent, is_scattered } => Shape::Normal {
                centre: blocks as f64 / 2.0,
                deviation: blocks as f64 * deviation_percent / 100.0,
                scatter: is_scattered.then(scatter),
            },
            Distribution::Zoned(zones) => Shape::Zoned(pieces(zones, blocks)),
        };
        Some(Self { blocks, shape })
    }

    /// How many blocks there are to choose from.
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Whether every block is equally likely.
    pub const fn is_uniform(&self) -> bool {
        matches!(self.shape, Shape::Uniform)
    }

    /// The next block.
    #[inline]
    pub fn draw(&self, draws: &mut Draws) -> u64 {
        match &self.shape {
            Shape::Uniform => draws.below(self.blocks),
            skewed => self.draw_skewed(skewed, draws),
        }
    }

    /// Kept out of the way of the uniform draw, which is what most runs do.
    #[inline(never)]
    fn draw_skewed(&self, shape: &Shape, draws: &mut Draws) -> u64 {
        let last = self.blocks - 1;
        match shape {
            Shape::Uniform => draws.below(self.blocks),
            Shape::Zipf { ranks, scatter } => scatter.apply(ranks.draw(draws) - 1),
            Shape::Pareto { exponent, scatter } => {
                let rank = self.blocks as f64 * draws.unit().powf(*exponent);
                scatter.apply((rank as u64).min(last))
            }
            Shape::Normal { centre, deviation, scatter } => loop {
                // Truncation by drawing again; with a deviation of the whole region, 38 % of draws fall inside.
                let block = centre + deviation * draws.normal();
                if block >= 0.0 && block < self.blocks as f64 {
                    return scatter.as_ref().map_or(block as u64, |scatter| scatter.apply(block as u64));
                }
            },
            Shape::Zoned(pieces) => {
                let share = draws.unit();
                let piece = pieces.iter().find(|piece| share < piece.share_end).or(pieces.last());
                let block = piece.map_or(0.0, |piece| (share - piece.share_begin).mul_add(piece.slope, piece.begin));
                (block as u64).min(last)
            }
        }
    }

    /// How many blocks are wanted more than this one, where the distribution ranks blocks. Where it scatters a bell, it
    /// is the block of that bell.
    pub fn rank_of(&self, block: u64) -> Option<u64> {
        match &self.shape {
            Shape::Zipf { scatter, .. } | Shape::Pareto { scatter, .. } => Some(scatter.invert(block)),
            Shape::Normal { scatter, .. } => Some(scatter.as_ref()?.invert(block)),
            Shape::Uniform | Shape::Zoned(_) => None,
        }
    }
}

/// The zones laid end to end, without those that no operation goes to. Zones end within blocks where percentages say
/// so: such a block gets its part of both.
fn pieces(zones: &[Zone], blocks: u64) -> Box<[Piece]> {
    let (mut share, mut size) = (0.0, 0.0);
    zones
        .iter()
        .filter_map(|zone| {
            let (share_begin, size_begin) = (share, size);
            share += zone.access_percent / 100.0;
            size += zone.size_percent / 100.0;
            (zone.access_percent > 0.0).then(|| Piece {
                share_end: share,
                share_begin,
                begin: size_begin * blocks as f64,
                slope: (size - size_begin) * blocks as f64 / (share - share_begin),
            })
        })
        .collect()
}

/// Beyond this rank k the hat exceeds the probability by less than `theta (theta+1) / 24 k^2` of it, a part in 10^11
/// at most. Looking at the hat would do harm: it is the difference of two integrals that agree in all but a few
/// digits.
const NEVER_REJECTED: f64 = (1_u64 << 20) as f64;

/// Draws ranks from 1 with probability proportional to `rank^-theta`, exactly and in constant time for any number of
/// ranks: rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", 1996). A draw needs 1.1 tries or fewer.
#[derive(Clone, Copy, Debug)]
struct Zipf {
    ranks: f64,
    theta: f64,
    /// The hat's integral at both ends.
    integral_begin: f64,
    integral_end: f64,
    /// Distances up to this from a rank are accepted without looking at the hat.
    squeeze: f64,
}

impl Zipf {
    fn new(ranks: u64, theta: f64) -> Self {
        let mut zipf = Self { ranks: ranks as f64, theta, integral_begin: 0.0, integral_end: 0.0, squeeze: 0.0 };
        zipf.integral_begin = zipf.integral(1.5) - 1.0;
        zipf.integral_end = zipf.integral(zipf.ranks + 0.5);
        zipf.squeeze = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.hat(2.0));
        zipf
    }

    /// `x^-theta`.
    fn hat(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of the hat from 1 to x, `(x^(1-theta) - 1) / (1-theta)`, or `ln x` where theta is 1.
    fn integral(&self, x: f64) -> f64 {
        let logarithm = x.ln();
        let scaled = (1.0 - self.theta) * logarithm;
        // Near zero the quotient loses all digits and the series two terms are exact.
        let quotient = if scaled.abs() < 1e-8 { 1.0 + scaled / 2.0 } else { scaled.exp_m1() / scaled };
        logarithm * quotient
    }

    /// The x that [`Self::integral`] takes to `area`.
    fn integral_inverse(&self, area: f64) -> f64 {
        // Rounding may lead below the end of the logarithm's domain.
        let scaled = (area * (1.0 - self.theta)).max(-1.0);
        let quotient = if scaled.abs() < 1e-8 { 1.0 - scaled / 2.0 } else { scaled.ln_1p() / scaled };
        (area * quotient).exp()
    }

    fn draw(&self, draws: &mut Draws) -> u64 {
        loop {
            let area = draws.unit().mul_add(self.integral_begin - self.integral_end, self.integral_end);
            let x = self.integral_inverse(area);
            let rank = x.round().clamp(1.0, self.ranks);
            if rank - x <= self.squeeze || rank > NEVER_REJECTED || area >= self.integral(rank + 0.5) - self.hat(rank) {
                return rank as u64;
            }
        }
    }
}

/// Whether each pass of a [`Coverage`] has an order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassOrder {
    /// All passes repeat the first: between two visits of a block lie all others, so that visits cannot overtake each
    /// other. Verification needs this.
    Same,
    /// Each pass is shuffled anew.
    New,
}

/// Visits every block once a pass, in random order, without remembering which ones it has visited.
#[derive(Clone, Debug)]
pub struct Coverage {
    seed: u64,
    order: PassOrder,
    permutation: Permutation,
    visited: u64,
    pass: u64,
}

impl Coverage {
    /// The passes over `blocks` blocks, at least one, that `seed` names.
    pub fn new(blocks: u64, seed: u64, order: PassOrder) -> Self {
        assert!(blocks > 0, "a region has at least one block");
        let permutation = Permutation::new(blocks, derive_seed(seed, Purpose::Pass, 0));
        Self { seed, order, permutation, visited: 0, pass: 0 }
    }

    /// The block to visit next.
    #[inline]
    pub fn block(&self) -> u64 {
        self.permutation.apply(self.visited)
    }

    /// The number of the pass that [`Self::block`] belongs to, from 0.
    pub const fn pass(&self) -> u64 {
        self.pass
    }

    /// Goes `count` blocks on.
    #[inline]
    pub fn advance(&mut self, count: u64) {
        self.visited += count;
        if self.visited >= self.permutation.count() {
            self.begin_pass();
        }
    }

    #[cold]
    fn begin_pass(&mut self) {
        let blocks = self.permutation.count();
        self.pass += self.visited / blocks;
        self.visited %= blocks;
        if self.order == PassOrder::New {
            self.permutation = Permutation::new(blocks, derive_seed(self.seed, Purpose::Pass, self.pass));
        }
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;
    use crate::chi_square::{assert_fits, assert_uniform};

    const DRAWS: u64 = 1_000_000;

    fn sampler(text: &str, blocks: u64) -> Sampler {
        Sampler::new(&text.parse().unwrap(), blocks, 11).unwrap()
    }

    /// How often each cell was hit in a million draws.
    fn counts(sampler: &Sampler, cells: u64, cell_of: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut counts = vec![0; cells as usize];
        for number in 0..DRAWS {
            let block = sampler.draw(&mut Draws::new(29, number));
            assert!(block < sampler.blocks());
            counts[cell_of(block) as usize] += 1;
        }
        counts
    }

    fn by_rank(sampler: &Sampler) -> Vec<u64> {
        counts(sampler, sampler.blocks(), |block| sampler.rank_of(block).unwrap())
    }

    #[test]
    fn uniform_draws_hit_every_block_equally() {
        let uniform = sampler("uniform", 4321);
        assert_uniform(&counts(&uniform, 4321, |block| block), "uniform");
    }

    #[test]
    fn zipf_frequencies_are_powers_of_the_rank() {
        for theta in [0.2, 0.5, 0.99, 1.0, 1.000_000_001, 1.2, 2.5] {
            for ranks in [1_u64, 2, 10, 1000, 51_200] {
                let zipf = sampler(&format!("zipf:{theta}"), ranks);
                let total: f64 = (1..=ranks).map(|rank| (rank as f64).powf(-theta)).sum();
                let shares: Vec<f64> = (1..=ranks).map(|rank| (rank as f64).powf(-theta) / total).collect();
                if ranks > 1 {
                    assert_fits(&by_rank(&zipf), &shares, &format!("zipf:{theta} of {ranks}"));
                } else {
                    assert_eq!(by_rank(&zipf), [DRAWS]);
                }
            }
        }
    }

    #[test]
    fn zipf_holds_on_the_largest_of_regions() {
        // Ranks are binned by powers of two; the expectation of a bin is an integral, right to a part in a million.
        let ranks = 1_u64 << 52;
        for theta in [0.5, 1.0, 1.1] {
            let zipf = sampler(&format!("zipf:{theta}"), ranks);
            let area = |from: f64, to: f64| zipf_area(theta, from, to);
            let exact: f64 = (1..1024).map(|rank| f64::from(rank).powf(-theta)).sum();
            let total = exact + area(1023.5, ranks as f64 + 0.5);
            let mut shares = vec![exact / total];
            for power in 10..52 {
                let end = if power == 51 { ranks as f64 + 0.5 } else { 2_f64.powi(power + 1) - 0.5 };
                shares.push(area(2_f64.powi(power) - 0.5, end) / total);
            }
            let bin = |block| {
                let rank: u64 = zipf.rank_of(block).unwrap() + 1;
                u64::from(rank.ilog2().clamp(9, 51) - 9)
            };
            assert_fits(&counts(&zipf, 43, bin), &shares, &format!("zipf:{theta} of 2^52"));
        }
    }

    fn zipf_area(theta: f64, from: f64, to: f64) -> f64 {
        let power = 1.0 - theta;
        if power.abs() < 1e-12 { (to / from).ln() } else { (to.powf(power) - from.powf(power)) / power }
    }

    #[test]
    fn pareto_gives_the_first_share_of_ranks_the_rest_of_operations() {
        for h in [0.05, 0.2, 0.4] {
            let ranks = 10_000_u64;
            let counts = by_rank(&sampler(&format!("pareto:{h}"), ranks));
            let exponent = (1.0_f64 - h).ln() / h.ln();
            let cdf = |rank: u64| (rank as f64 / ranks as f64).powf(exponent);
            let shares: Vec<f64> = (0..ranks).map(|rank| cdf(rank + 1) - cdf(rank)).collect();
            assert_fits(&counts, &shares, &format!("pareto:{h}"));
            let hot: u64 = counts[..(h * ranks as f64).round() as usize].iter().sum();
            assert!((hot as f64 / DRAWS as f64 - (1.0 - h)).abs() < 0.002, "{hot} at {h}");
        }
    }

    #[test]
    fn normal_draws_form_a_bell_in_the_middle_of_the_region() {
        for percent in [0.5, 10.0, 100.0] {
            let blocks = 5001_u64;
            let bell = Normal::new(blocks as f64 / 2.0, blocks as f64 * percent / 100.0).unwrap();
            let inside = bell.cdf(blocks as f64) - bell.cdf(0.0);
            let shares: Vec<f64> =
                (0..blocks).map(|block| (bell.cdf((block + 1) as f64) - bell.cdf(block as f64)) / inside).collect();
            let counts = counts(&sampler(&format!("normal:{percent}"), blocks), blocks, |block| block);
            assert_fits(&counts, &shares, &format!("normal:{percent}"));
            let scattered = sampler(&format!("normal:{percent}:scattered"), blocks);
            assert_fits(&by_rank(&scattered), &shares, &format!("normal:{percent}:scattered"));
        }
    }

    #[test]
    fn zones_get_their_share_and_spread_it_evenly() {
        let blocks = 1013_u64; // Zones end within blocks.
        let counts = counts(&sampler("zoned:60/10:30/20:2/60.5:8/9.5", blocks), blocks, |block| block);
        let ends = [(0.0, 0.0), (0.1, 0.6), (0.3, 0.9), (0.905, 0.92), (1.0, 1.0)];
        let cdf = |block: u64| {
            let at = block as f64 / blocks as f64;
            let pair = ends.windows(2).find(|pair| at <= pair[1].0 + 1e-15).unwrap();
            pair[0].1 + (at - pair[0].0) / (pair[1].0 - pair[0].0) * (pair[1].1 - pair[0].1)
        };
        let shares: Vec<f64> = (0..blocks).map(|block| cdf(block + 1) - cdf(block)).collect();
        assert_fits(&counts, &shares, "zoned");
    }

    #[test]
    fn the_most_wanted_blocks_lie_anywhere_and_stay_the_same() {
        let zipf = sampler("zipf", 1 << 20);
        let hot: Vec<u64> = (0..1 << 20).filter(|block| zipf.rank_of(*block).unwrap() < 8).collect();
        assert_eq!(hot.len(), 8);
        assert!(hot.windows(2).any(|pair| pair[1] - pair[0] > 1 << 16), "{hot:?} lie together");
        let again = sampler("zipf", 1 << 20);
        assert!(hot.iter().all(|block| again.rank_of(*block) == zipf.rank_of(*block)));
    }

    #[test]
    fn coverage_visits_every_block_once_in_each_pass() {
        for (order, changes) in [(PassOrder::Same, false), (PassOrder::New, true)] {
            let mut coverage = Coverage::new(1000, 5, order);
            let mut passes: Vec<Vec<u64>> = Vec::new();
            for pass in 0..3 {
                let mut visits = Vec::new();
                for _ in 0..1000 {
                    assert_eq!(coverage.pass(), pass);
                    visits.push(coverage.block());
                    coverage.advance(1);
                }
                let mut sorted = visits.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..1000));
                passes.push(visits);
            }
            assert_eq!(passes[0] != passes[1] && passes[1] != passes[2], changes);
        }
    }

    #[test]
    fn coverage_advances_over_many_passes_at_once() {
        let mut far = Coverage::new(7, 5, PassOrder::New);
        far.advance(7 * 1000 + 3);
        let mut step = Coverage::new(7, 5, PassOrder::New);
        (0..7003).for_each(|_| step.advance(1));
        assert_eq!((far.block(), far.pass()), (step.block(), step.pass()));
    }
}
