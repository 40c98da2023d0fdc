//! Systems that took turns: blocks of A B B A or B A A B, and a number of blocks that is decided once.
//!
//! What happens on the machine meanwhile meets both alike and drops out of the difference. The number of blocks follows
//! from the scatter of the first twelve (Stein 1945); nobody peeks, because stopping when it looks significant finds
//! differences between equals.

use super::ratio::Ratio;
use crate::{
    random::Random,
    series::moments::{mean, variance},
    student::quantile,
};

/// Blocks that the scatter is learned from.
const FIRST_BLOCKS: usize = 12;
/// Blocks at most.
const BLOCKS_MAX: usize = 60;
/// Load at the start of a visit that is not measured. Short visits find more in the same time than long ones.
pub const RAMP_NS: u64 = 1_000_000_000;
/// The measured part of a visit.
pub const MEASURED_NS: u64 = 4_000_000_000;
/// Half of the interval to reach, on the logarithmic scale.
const PRECISION: f64 = 0.015;
/// A large difference need not be known better than to this share of itself.
const PRECISION_OF_DIFFERENCE: f64 = 0.05;

/// One of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that is compared with.
    First,
    /// The one whose ratio to the first is told.
    Second,
}

/// The logarithm of how many times as fast the second side was, of each block of visits. `None` if there is a block in
/// which a side has no rate above zero: those that are left would say nothing of it.
pub fn log_ratios(first: &[f64], second: &[f64], visits_per_block: usize) -> Option<Vec<f64>> {
    let visits = visits_per_block.max(1);
    let blocks = first.chunks_exact(visits).zip(second.chunks_exact(visits));
    let means = blocks.map(|(first, second)| (mean(first), mean(second)));
    means.map(|(first, second)| (first > 0.0 && second > 0.0).then(|| (second / first).ln())).collect()
}

/// The ratio from logarithms of the ratios of blocks. `None` below two blocks.
pub fn ratio(logs: &[f64], confidence: f64) -> Option<Ratio> {
    let count = logs.len() as f64;
    let error = (variance(logs) / count).sqrt();
    (logs.len() >= 2).then(|| Ratio::of_logs(mean(logs), error, count - 1.0, confidence))
}

/// The blocks that the precision takes, by the scatter of the first ones: whatever comes after does not matter.
fn blocks_wanted(logs: &[f64]) -> usize {
    let Some(first) = logs.get(..FIRST_BLOCKS) else { return FIRST_BLOCKS };
    let precision = PRECISION.max(PRECISION_OF_DIFFERENCE * mean(first).abs());
    let beyond = quantile(0.975, (FIRST_BLOCKS - 1) as f64);
    let wanted = (beyond * variance(first).sqrt() / precision).powi(2).ceil();
    (wanted as usize).max(FIRST_BLOCKS)
}

/// The ratio from all blocks of a two-stage comparison: its error is that of the first blocks, which decided how many
/// there are, or of all when they scatter more: a neighbour that comes later has no place in the theory. `None` before
/// the first blocks are there.
fn two_stage_ratio(logs: &[f64], confidence: f64) -> Option<Ratio> {
    let first = logs.get(..FIRST_BLOCKS)?;
    let error = (variance(first).max(variance(logs)) / logs.len() as f64).sqrt();
    Some(Ratio::of_logs(mean(logs), error, (FIRST_BLOCKS - 1) as f64, confidence))
}

/// A comparison that is being measured: whose turn it is, and when it is done.
#[derive(Clone, Debug)]
pub struct PairedComparison {
    seed: u64,
    /// Rates of the block that is being measured.
    first: Vec<f64>,
    second: Vec<f64>,
    logs: Vec<f64>,
    /// Whether there was a block in which a side completed nothing.
    has_stopped: bool,
}

/// Visits of a side in a block.
pub(crate) const VISITS: usize = 2;

impl PairedComparison {
    /// A comparison that has measured nothing; the seed decides who begins each block.
    pub const fn new(seed: u64) -> Self {
        Self { seed, first: Vec::new(), second: Vec::new(), logs: Vec::new(), has_stopped: false }
    }

    /// Whose turn it is; `None` when all blocks are done, or one has no ratio.
    pub fn next_side(&self) -> Option<Side> {
        let is_done = self.has_stopped || self.logs.len() >= self.blocks_wanted().min(BLOCKS_MAX);
        let at = self.first.len() + self.second.len();
        let block = self.logs.len() as u64;
        let outer = if Random::at(self.seed, &[block]).below(2) == 0 { Side::First } else { Side::Second };
        (!is_done).then_some(if at == 0 || at == 3 { outer } else { outer.other() })
    }

    /// Takes in the mean rate of a visit to a side.
    pub fn observe(&mut self, side: Side, rate: f64) {
        match side {
            Side::First => self.first.push(rate),
            Side::Second => self.second.push(rate),
        }
        if self.first.len() >= VISITS && self.second.len() >= VISITS {
            match log_ratios(&self.first, &self.second, VISITS) {
                Some(logs) => self.logs.extend(logs),
                None => self.has_stopped = true,
            }
            self.first.clear();
            self.second.clear();
        }
    }

    /// Blocks that the precision takes, as far as is known by now; there may be more than are ever measured.
    pub fn blocks_wanted(&self) -> usize {
        blocks_wanted(&self.logs)
    }

    /// The logarithms of the ratios of blocks.
    pub fn logs(&self) -> &[f64] {
        &self.logs
    }

    /// The ratio by now; with fewer than twelve blocks, from their own scatter. `None` when a block has none.
    pub fn ratio(&self, confidence: f64) -> Option<Ratio> {
        if self.has_stopped {
            return None;
        }
        two_stage_ratio(&self.logs, confidence).or_else(|| ratio(&self.logs, confidence))
    }
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_noise;

    /// Measures two traces that share a machine: one value a visit.
    fn compare(first: &[f64], second: &[f64], seed: u64) -> (PairedComparison, Vec<Side>) {
        let mut comparison = PairedComparison::new(seed);
        let mut sides = Vec::new();
        while let Some(side) = comparison.next_side() {
            let trace = if side == Side::First { first } else { second };
            comparison.observe(side, trace[sides.len() % trace.len()]);
            sides.push(side);
        }
        (comparison, sides)
    }

    fn noise(level: f64, seed: u64) -> Vec<f64> {
        test_noise::rates(level, 0.03, 0.1, 240, seed)
    }

    #[test]
    fn every_block_begins_and_ends_with_the_same_side() {
        let (_, sides) = compare(&noise(100.0, 1), &noise(100.0, 2), 7);
        for block in sides.chunks_exact(4) {
            assert!(block[0] == block[3] && block[1] == block[2] && block[0] != block[1]);
        }
        let begins = sides.iter().step_by(4).filter(|side| **side == Side::First).count();
        assert!(begins > 0 && begins < sides.len() / 4);
    }

    #[test]
    fn a_large_difference_needs_no_more_than_the_first_blocks() {
        let (comparison, sides) = compare(&noise(100.0, 1), &noise(410.0, 2), 7);
        assert_eq!(sides.len(), 4 * FIRST_BLOCKS);
        let ratio = comparison.ratio(0.95).unwrap();
        assert!(ratio.low < 4.1 && 4.1 < ratio.high && ratio.differs());
    }

    #[test]
    fn what_scatters_too_much_ends_at_the_most_blocks_and_says_how_many_it_takes() {
        let wild = |seed| test_noise::rates(100.0, 0.3, 0.1, 240, seed);
        let (comparison, sides) = compare(&wild(1), &wild(2), 7);
        assert_eq!(sides.len(), 4 * BLOCKS_MAX);
        assert!(comparison.blocks_wanted() > BLOCKS_MAX, "{}", comparison.blocks_wanted());
        let (calm, sides) = compare(&noise(100.0, 1), &noise(100.0, 2), 7);
        assert_eq!(sides.len(), 4 * calm.blocks_wanted());
    }

    #[test]
    fn a_block_without_a_ratio_ends_the_comparison_without_one() {
        let mut stalled = noise(100.0, 1);
        stalled[20..24].fill(0.0);
        let (comparison, sides) = compare(&stalled, &noise(410.0, 2), 7);
        assert_eq!((comparison.logs().len(), sides.len(), comparison.ratio(0.95)), (5, 24, None));
    }

    #[test]
    fn equals_differ_as_rarely_as_promised_and_ten_percent_are_always_found() {
        let runs = 400;
        let found = |ratio: f64, seeds: u64| {
            (0..runs)
                .filter(|run| {
                    let (first, second) = (noise(100.0, seeds + 2 * run), noise(100.0 * ratio, seeds + 2 * run + 1));
                    compare(&first, &second, *run).0.ratio(0.95).unwrap().differs()
                })
                .count()
        };
        let false_differences = found(1.0, 10_000);
        assert!((6..=34).contains(&false_differences), "{false_differences} of {runs}");
        assert_eq!(found(1.1, 20_000), runs as usize);
    }

    #[test]
    fn too_little_has_no_ratio() {
        assert_eq!(ratio(&[0.1], 0.95), None);
        assert_eq!(two_stage_ratio(&[0.1; FIRST_BLOCKS - 1], 0.95), None);
        assert_eq!(log_ratios(&[0.0, 1.0], &[1.0, 1.0], 1), None, "a side without a rate has no logarithm");
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_ratio(seed: u64, level in 50.0..500.0_f64) {
            let (first, second) = (noise(100.0, seed), noise(level, seed ^ 1));
            let one = ratio(&log_ratios(&first, &second, 2).unwrap(), 0.95).unwrap();
            let other = ratio(&log_ratios(&second, &first, 2).unwrap(), 0.95).unwrap();
            prop_assert!((one.ratio * other.ratio - 1.0).abs() < 1e-9);
            prop_assert!((one.low * other.high - 1.0).abs() < 1e-9);
            prop_assert!((one.p_value - other.p_value).abs() < 1e-9);
        }

        #[test]
        fn later_blocks_do_not_change_how_many_there_are(logs in proptest::collection::vec(-0.2..0.2_f64, 12..60)) {
            prop_assert_eq!(blocks_wanted(&logs), blocks_wanted(&logs[..FIRST_BLOCKS]));
        }
    }
}
