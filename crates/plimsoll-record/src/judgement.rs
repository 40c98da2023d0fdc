//! What may be said of a cell's numbers, and what that rests on.

use plimsoll_measure::{
    allowance::{Allowance, Unit},
    effort,
    session::{
        self, FixedVisits, ROUNDS_JUDGED_MIN, SessionPlan,
        answer::{self, Answer},
    },
    stability::{self, Grade},
    verdict::Verdict,
};
use plimsoll_workload::{
    certainty::StoppingRule,
    limit::{Limit, RateLimit},
    plan::{BlockPlan, CellPlan, Plan},
    random::{Purpose, derive_seed},
    settings::Effort,
};
use serde::{Deserialize, Serialize};

use crate::record::Window;

/// Rest that reads wait for after a write to the same storage.
const SETTLE_NS: u64 = 2_000_000_000;

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

/// What the rules are to know of a plan.
pub fn session_plan(plan: &Plan) -> SessionPlan {
    let targets = places(plan.cells.iter().map(|cell| cell.target.as_str()));
    let workloads = places(plan.cells.iter().map(|cell| cell.workload.as_str()));
    let cells = plan.cells.iter().zip(targets.iter().zip(&workloads)).map(|(cell, (target, workload))| {
        let (fixed, discard_first) = match cell.stopping {
            StoppingRule::Fixed { slots, discarded } => {
                (Some(FixedVisits { rounds: slots, measured_ns: cell.work.slot_ns() }), discarded)
            }
            StoppingRule::Sure => (None, 0),
        };
        let settles = fixed.is_none() && plan.effort != Effort::Quick;
        session::CellPlan {
            target: *target,
            workload: *workload,
            writes: cell.work.writes(),
            // What a set of files spends of an allowance is not known.
            bytes_per_operation: cell.blocks().map_or(0.0, BlockPlan::operation_bytes),
            start_delay_ns: cell.work.start_delay_ns(),
            ramp_ns: Some(cell.work.ramp_ns()),
            settle_ns: if settles { SETTLE_NS } else { 0 },
            fixed,
            discard_first,
            // Its servers are started anew.
            discard_after_pause: if cell.application().is_some() { discard_first } else { 0 },
            phase: cell.phase,
        }
    });
    let allowances = plan.cells.iter().map(allowances).collect();
    SessionPlan {
        cells: cells.collect(),
        effort: effort(plan.effort),
        precision: plan.precision,
        seed: derive_seed(plan.seed, Purpose::Schedule, 0),
        turn: plan.turn.map_or(0, |turn| turn as usize),
        time_max_ns: plan.max_time_ns,
        bookend_ns: plan.bookend_ns,
        allowances,
    }
}

/// For each name the number of its first appearance.
fn places<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut known: Vec<&str> = Vec::new();
    names
        .map(|name| {
            known.iter().position(|other| *other == name).unwrap_or_else(|| {
                known.push(name);
                known.len() - 1
            })
        })
        .collect()
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
    use plimsoll_workload::{
        certainty::Certainty,
        target_facts::{TargetFacts, TargetKind},
        workload::Workload,
    };

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

    #[test]
    fn names_that_come_again_keep_their_number() {
        assert_eq!(places(["a", "b", "a", "c", "b"].into_iter()), [0, 1, 0, 2, 1]);
    }

    #[test]
    fn each_cell_knows_the_bucket_of_its_target() {
        let target = |name: &str| TargetFacts {
            name: name.to_owned(),
            kind: TargetKind::Device,
            size_bytes: Some(1 << 30),
            free_bytes: None,
            direct_alignment_bytes: Some(512),
        };
        let workloads = ["a", "b"].map(|name| Workload { name: Some(name.to_owned()), ..Workload::default() });
        let certainty = Certainty {
            limit: "iops=300,burst-iops=3000,bucket=5.4M,bandwidth=1GB".parse().ok(),
            ..Certainty::of(Effort::Standard)
        };
        let plan = Plan::resolve(&[target("one"), target("two")], &workloads, &certainty, 42).unwrap();
        let plan = session_plan(&plan);
        let buckets: Vec<Vec<f64>> =
            plan.allowances.iter().map(|of| of.iter().map(|allowance| allowance.bucket).collect()).collect();
        assert_eq!(buckets, [[5.4e6], [5.4e6], [5.4e6], [5.4e6]]);
    }
}
