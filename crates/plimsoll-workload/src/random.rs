//! The one source of randomness: the counter-based generator `splitmix64`.
//!
//! What operation `n` of a job draws is a pure function of the seed, the job and `n`. Skipping therefore costs
//! nothing, threads can share a job's sequence without talking to each other, and every engine performs the same
//! operations. Nothing here is meant for secrets.

/// The name of this generator in records. A generator that draws differently needs another name.
pub const GENERATOR: &str = "splitmix64";

/// 2^64 divided by the golden ratio, made odd: the step of splitmix64 (Steele, Lea, Flood 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of splitmix64: a bijection whose output bits each depend on all input bits.
#[inline]
pub const fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// What a derived seed is for. Two purposes never draw the same numbers, whatever their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// A cell of a run.
    Cell = 1,
    /// A round of a cell.
    Round,
    /// A job of a slot.
    Job,
    /// The operations of a job.
    Operations,
    /// Where a sequential job starts.
    Start,
    /// Which blocks a skewed distribution prefers.
    Scatter,
    /// The order of a pass that visits every block once.
    Pass,
    /// The times at which operations arrive.
    Arrivals,
    /// The bytes of writes.
    Content,
    /// The order in which cells take turns.
    Schedule,
    /// Reads that are done twice, to see whether something remembers them.
    Repeat,
    /// How a pass cuts a region into pieces of several sizes.
    Pieces,
    /// One of several pods, which do not all touch the same blocks at the same moment.
    Pod,
    /// The sizes of the files of a set.
    FileSizes,
    /// Which files a job of a mix takes.
    FileMix,
    /// When it is looked first at what a command does.
    Looks,
    /// The blocks of one file or device that can tell where they belong.
    VerifiedFile,
}

/// A seed for a purpose, drawn from a wider one.
pub const fn derive_seed(seed: u64, purpose: Purpose, index: u64) -> u64 {
    let purpose = mix((purpose as u64).wrapping_mul(STEP));
    mix(mix(seed ^ purpose).wrapping_add(mix(index.wrapping_add(STEP))).wrapping_add(STEP))
}

/// The seed of one visit to a cell, from the cell's seed in the plan, its number in the plan and the round.
pub const fn slot_seed(seed: u64, cell: u32, round: u32) -> u64 {
    derive_seed(derive_seed(seed, Purpose::Cell, cell as u64), Purpose::Round, round as u64)
}

/// The seed of one job of a slot.
pub const fn job_seed(slot_seed: u64, job: u32) -> u64 {
    derive_seed(slot_seed, Purpose::Job, job as u64)
}

/// The random numbers of one operation: as many as it asks for.
#[derive(Clone, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The numbers of operation `number` of the sequence that `seed` names.
    #[inline]
    pub const fn new(seed: u64, number: u64) -> Self {
        Self { state: mix(seed.wrapping_add(number.wrapping_mul(STEP))) }
    }

    /// 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A whole number below `bound`, by multiplying and taking the upper half (Lemire 2019). The most and the least
    /// likely number differ by at most `bound / 2^64` in relative terms, so there is no rejection. Zero for a bound
    /// of zero.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.bits() as u128 * bound as u128) >> 64) as u64
    }

    /// Whether an event of `percent` percent happened.
    #[inline]
    pub const fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < percent as u64
    }

    /// A number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 * SCALE
    }

    /// An exponentially distributed number with mean 1, by inversion.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A normally distributed number with mean 0 and standard deviation 1 (Box and Muller 1958).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use statrs::distribution::{ContinuousCDF, Exp, Normal};

    use super::*;
    use crate::chi_square::assert_uniform;

    const COUNT: u64 = 1_000_000;

    /// Transforms draws by their own CDF, after which they must be uniform.
    fn assert_follows(cdf: impl Fn(f64) -> f64, draw: impl Fn(&mut Draws) -> f64) {
        let mut bins = [0_u64; 1000];
        for number in 0..COUNT {
            let bin = (cdf(draw(&mut Draws::new(17, number))) * 1000.0) as usize;
            bins[bin.min(999)] += 1;
        }
        assert_uniform(&bins, "bins");
    }

    #[test]
    fn splitmix64_gives_its_published_numbers() {
        // The first outputs of the reference generator for the seed 1234567.
        let mut draws = Draws { state: 1_234_567 };
        assert_eq!(
            [draws.bits(), draws.bits(), draws.bits()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn bounded_numbers_are_uniform_and_below_their_bound() {
        let mut bins = vec![0_u64; 777];
        for number in 0..COUNT {
            bins[Draws::new(3, number).below(777) as usize] += 1;
        }
        assert_uniform(&bins, "bins");
        assert_eq!(Draws::new(3, 3).below(1), 0);
    }

    #[test]
    fn continuous_draws_follow_their_distributions() {
        assert_follows(|x| x, Draws::unit);
        let exponential = Exp::new(1.0).unwrap();
        assert_follows(|x| exponential.cdf(x), Draws::exponential);
        let normal = Normal::new(0.0, 1.0).unwrap();
        assert_follows(|x| normal.cdf(x), Draws::normal);
    }

    #[test]
    fn the_second_draw_of_an_operation_does_not_depend_on_the_first() {
        let mut cells = vec![0_u64; 32 * 32];
        for number in 0..COUNT {
            let mut draws = Draws::new(5, number);
            cells[(draws.below(32) * 32 + draws.below(32)) as usize] += 1;
        }
        assert_uniform(&cells, "cells");
    }

    #[test]
    fn every_purpose_index_and_seed_has_a_seed_of_its_own() {
        let mut seen = HashSet::new();
        for seed in 0..50 {
            for index in 0..200 {
                for purpose in [Purpose::Cell, Purpose::Round, Purpose::Job, Purpose::Operations, Purpose::Start] {
                    assert!(seen.insert(derive_seed(seed, purpose, index)), "{seed} {purpose:?} {index}");
                }
            }
        }
    }
}
