//! `latency_target`: the largest queue depth at which the latency of a job stays below a target. Each depth that is
//! tried runs for a window, and what is reported is one at the depth that was found.

use plimsoll_dialects::fio::settings::RateLimits;
use plimsoll_record::record::{Outcome, Record};
use plimsoll_workload::{
    plan_file::PlanFile,
    sweep::Sweep,
    units::{ByteCount, Span},
    workload::Workload,
};

/// How long a depth is tried when the job does not say.
const WINDOW: Span = Span { ns: 1_000_000_000 };

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LatencyTarget {
    latency: Span,
    window: Span,
    percentile: f64,
    continues: bool,
}

impl LatencyTarget {
    /// What a job asks for; `None` when it asks for nothing.
    pub(super) fn of(rate: &RateLimits) -> Option<Self> {
        Some(Self {
            latency: rate.latency_target?,
            window: if rate.latency_window.ns > 0 { rate.latency_window } else { WINDOW },
            percentile: rate.latency_percentile,
            continues: rate.continues_at_target,
        })
    }

    /// The plan with its one workload at a depth, for a window.
    pub(super) fn trial(self, plan: &PlanFile, depth: u32) -> PlanFile {
        let mut plan = plan.clone();
        for workload in &mut plan.workloads {
            let Workload { queue_depth, duration, ramp, io_size, operations, .. } = workload;
            (*queue_depth, *duration) = (Some(Sweep::one(depth)), Some(self.window));
            (*ramp, *operations, *io_size) = (Some(Span::default()), None, None::<ByteCount>);
        }
        plan
    }

    /// The plan at the depth that was found: for one more window, or with `latency_run` as long as the job says.
    pub(super) fn found(self, plan: &PlanFile, depth: u32) -> PlanFile {
        if !self.continues {
            return self.trial(plan, depth);
        }
        let mut plan = plan.clone();
        plan.workloads.iter_mut().for_each(|workload| workload.queue_depth = Some(Sweep::one(depth)));
        plan
    }

    /// Whether enough operations of a trial were below the target.
    pub(super) fn is_met(self, trial: &Record) -> bool {
        let results = trial.cells.iter().flat_map(|cell| [&cell.read, &cell.write]).flatten();
        let (mut all, mut late) = (0, 0);
        for result in results {
            all += result.histogram.count();
            late += result.histogram.count_above(self.latency.ns);
        }
        let is_complete = trial.outcome == Outcome::Complete;
        is_complete && all > 0 && (all - late) as f64 * 100.0 >= self.percentile * all as f64
    }

    /// What came of the search, in words.
    pub(super) fn words(self, found: Option<u32>) -> String {
        let Self { latency, percentile, .. } = self;
        match found {
            Some(depth) => {
                format!("latency_target: {percentile}% of operations stayed within {latency} at depth {depth}")
            }
            None => {
                format!("latency_target: not even at depth 1 did {percentile}% of operations stay within {latency}")
            }
        }
    }
}

/// The search: depths are doubled until one is too large, and then what lies between is halved.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthSearch {
    /// The largest depth that was small enough; 0 for none so far.
    good: u32,
    /// The smallest depth that is too large.
    bad: u32,
    depth_max: u32,
}

impl DepthSearch {
    pub(super) fn new(depth_max: u32) -> Self {
        Self { good: 0, bad: depth_max.saturating_add(1), depth_max }
    }

    /// The depth to try next; `None` at the end.
    pub(super) fn next(&self) -> Option<u32> {
        if self.good + 1 >= self.bad {
            return None;
        }
        let is_bounded = self.bad <= self.depth_max;
        Some(if is_bounded { self.good.midpoint(self.bad) } else { (self.good * 2).clamp(1, self.depth_max) })
    }

    /// Takes note of how a depth did.
    pub(super) fn note(&mut self, depth: u32, is_met: bool) {
        *(if is_met { &mut self.good } else { &mut self.bad }) = depth;
    }

    /// The largest depth that was small enough.
    pub(super) fn found(&self) -> Option<u32> {
        (self.good > 0).then_some(self.good)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(depth_max: u32, good: u32) -> (Vec<u32>, Option<u32>) {
        let (mut search, mut tried) = (DepthSearch::new(depth_max), Vec::new());
        while let Some(depth) = search.next() {
            tried.push(depth);
            search.note(depth, depth <= good);
        }
        (tried, search.found())
    }

    #[test]
    fn every_depth_is_found_and_none_is_tried_twice() {
        assert_eq!(tried(32, 5), (vec![1, 2, 4, 8, 6, 5], Some(5)));
        for depth_max in 1..70 {
            for good in 0..=depth_max {
                let (mut tried, found) = tried(depth_max, good);
                assert_eq!(found.unwrap_or(0), good, "{depth_max}");
                let count = tried.len();
                tried.sort_unstable();
                tried.dedup();
                assert_eq!((tried.len(), tried.iter().all(|depth| (1..=depth_max).contains(depth))), (count, true));
            }
        }
    }
}
