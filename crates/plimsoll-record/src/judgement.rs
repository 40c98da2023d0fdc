//! What may be said of a cell's numbers, and what that rests on.

use plimsoll_measure::{
    allowance::{Allowance, Unit},
    effort::{self, Rules},
    session::{
        ROUNDS_JUDGED_MIN,
        answer::{self, Answer},
    },
    stability::{self, Grade},
    verdict::Verdict,
};
use plimsoll_workload::{
    certainty::StoppingRule,
    limit::{Limit, RateLimit},
    plan::{CellPlan, Plan},
    settings::Effort,
};
use serde::{Deserialize, Serialize};

use crate::record::Window;

/// The word about a cell, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The word.
    pub verdict: Verdict,
    /// The stretch of the run that it speaks of.
    pub window: Option<Window>,
    /// The rate of reads and writes together in that stretch.
    pub estimate: Option<RateEstimate>,
    /// How even the seconds of the stretch are.
    pub stability: Option<Stability>,
    /// The burst allowance that was seen, or is predicted.
    pub burst: Option<Burst>,
    /// A later visit that found another rate.
    pub moved: Option<Moved>,
    /// Time from dip to dip, when they are regular.
    pub period_ns: Option<u64>,
}

/// A rate, and how far it may be from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateEstimate {
    /// Reads and writes per second.
    pub iops: f64,
    /// Lower end of its 95 % interval; null when there is too little data for one.
    pub iops_low: Option<f64>,
    /// Upper end.
    pub iops_high: Option<f64>,
}

/// How even a cell's seconds are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stability {
    /// A to F by spread; null below a minute of seconds.
    pub grade: Option<Grade>,
    /// The rate that 95 % of the seconds stay below, over the one that 5 % stay below.
    pub spread: f64,
    /// No single number describes the seconds: see `iops_min` and `iops_max`.
    pub wide: bool,
    /// The slowest second.
    pub iops_min: f64,
    /// The median second.
    pub iops_median: f64,
    /// The fastest second.
    pub iops_max: f64,
    /// Share of the seconds below half of the median.
    pub slow_share: f64,
    /// Share of the seconds below a tenth of the median.
    pub stalled_share: f64,
}

/// A burst allowance: a high rate while it lasts, the sustained one afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Burst {
    /// Reads and writes per second while it lasts.
    pub burst_iops: f64,
    /// Reads and writes per second when it is used up.
    pub sustained_iops: f64,
    /// The last moment of the run known to be before the cliff; of a prediction, the predicted moment.
    pub cliff_after_ns: Option<u64>,
    /// The first moment known to be after it.
    pub cliff_before_ns: Option<u64>,
    /// Operations above the sustained rate that the allowance holds.
    pub bucket_operations: Option<f64>,
    /// Whether the end of the burst follows from what was said of the storage, and was not seen.
    pub predicted: bool,
}

/// A claim that a later visit did not confirm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moved {
    /// The rate that was claimed.
    pub was_iops: f64,
    /// When that was.
    pub was_in: Window,
    /// The rate of the later visit.
    pub is_iops: f64,
    /// When that was.
    pub is_in: Window,
}

/// The rules that an effort stands for.
pub const fn effort(effort: Effort) -> effort::Effort {
    match effort {
        Effort::Quick => effort::Effort::Quick,
        Effort::Standard => effort::Effort::Standard,
        Effort::Thorough => effort::Effort::Thorough,
    }
}

/// The burst allowances of what a cell is expected to get, in operations of its kind; none where no bucket is known.
pub fn allowances(cell: &CellPlan) -> Vec<Allowance> {
    let Some(plan) = cell.blocks() else { return Vec::new() };
    let limit = cell.expected.as_ref().map(|expected| expected.limit.for_operations_of(plan.operation_bytes()));
    limit.as_ref().map(allowances_of).unwrap_or_default()
}

/// The burst allowances of a limit.
pub fn allowances_of(limit: &Limit) -> Vec<Allowance> {
    let of = |unit: Unit, limit| {
        let RateLimit { sustained, burst, bucket } = limit?;
        Some(Allowance { unit, sustained, burst, bucket: bucket? })
    };
    [of(Unit::Operations, limit.operations), of(Unit::Bytes, limit.bytes)].into_iter().flatten().collect()
}

/// The rules for the cells of a plan that have no end of their own; `None` when there are no such cells.
pub fn rules(plan: &Plan) -> Option<Rules> {
    let left_to_rules = plan.cells.iter().any(|cell| cell.stopping == StoppingRule::Sure);
    left_to_rules.then(|| Rules::new(effort(plan.effort), plan.precision, plan.cells.len()))
}

/// Whether the seconds of a cell and not its slots tell how sure its percentiles are: slots that follow each other
/// resemble each other, and few slots say little.
pub fn is_in_one_piece(plan: &Plan, cell: usize) -> bool {
    plan.cells.len() == 1
        || match plan.cells[cell].stopping {
            StoppingRule::Fixed { slots, discarded } => slots.saturating_sub(discarded) < ROUNDS_JUDGED_MIN,
            StoppingRule::Sure => false,
        }
}

impl Judgement {
    /// What the rules answered.
    pub fn of(answer: &Answer) -> Self {
        Self {
            verdict: answer.verdict,
            window: answer.window.map(Window::from),
            estimate: answer.estimate.as_ref().map(|estimate| RateEstimate {
                iops: estimate.rate,
                iops_low: estimate.low(),
                iops_high: estimate.high(),
            }),
            stability: answer.stability.map(Stability::from),
            burst: answer.burst.map(Burst::from),
            moved: answer.moved.map(Moved::from),
            period_ns: answer.period_seconds.map(|seconds| seconds as u64 * 1_000_000_000),
        }
    }
}

impl Stability {
    /// Whether the range is the headline, because the mean would mislead.
    pub fn is_erratic(&self) -> bool {
        self.wide || self.spread > stability::ERRATIC_SPREAD_MIN
    }
}

impl RateEstimate {
    /// The interval's ends as shares of the rate.
    pub fn relative(&self) -> Option<(f64, f64)> {
        let (low, high) = (self.iops_low?, self.iops_high?);
        (self.iops > 0.0).then(|| (low / self.iops, high / self.iops))
    }
}

impl From<stability::Stability> for Stability {
    fn from(of: stability::Stability) -> Self {
        Self {
            grade: of.grade,
            spread: of.spread,
            wide: of.wide,
            iops_min: of.lowest,
            iops_median: of.median,
            iops_max: of.highest,
            slow_share: of.low_share,
            stalled_share: of.stalled_share,
        }
    }
}

impl From<answer::Burst> for Burst {
    fn from(burst: answer::Burst) -> Self {
        Self {
            burst_iops: burst.burst_rate,
            sustained_iops: burst.sustained_rate,
            cliff_after_ns: burst.cliff_after_ns,
            cliff_before_ns: burst.cliff_before_ns,
            bucket_operations: burst.tokens,
            predicted: burst.predicted,
        }
    }
}

impl From<answer::Moved> for Moved {
    fn from(moved: answer::Moved) -> Self {
        Self { was_iops: moved.was, was_in: moved.was_in.into(), is_iops: moved.is, is_in: moved.is_in.into() }
    }
}

impl From<answer::Window> for Window {
    fn from(window: answer::Window) -> Self {
        Self { from_ns: window.from_ns, to_ns: window.to_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_limit_with_a_bucket_is_an_allowance() {
        let units = |text: &str| -> Vec<_> {
            let limit = text.parse().unwrap_or_else(|error| panic!("{error}"));
            allowances_of(&limit).iter().map(|allowance| (allowance.unit, allowance.bucket as u64)).collect()
        };
        assert_eq!(units("iops=300"), []);
        assert_eq!(units("iops=300,burst-iops=3k,bucket=5.4M,bandwidth=1GB"), [(Unit::Operations, 5_400_000)]);
        let both = [(Unit::Operations, 7), (Unit::Bytes, 1024)];
        assert_eq!(units("bandwidth=1MB,bucket=1KiB,iops=3,bucket=7"), both);
    }
}
