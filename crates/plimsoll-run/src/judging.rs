//! Between a plan and the rules that judge it: what the rules are told of the cells, and of each visit.

use plimsoll_measure::session::{
    self, CellPlan, FixedVisits, SessionPlan,
    visit::{Sample, Visit},
};
use plimsoll_record::{
    event::{SlotPurpose, SlotResult},
    files::SlotPhase,
    judgement,
    results::Interval,
};
use plimsoll_workload::{
    certainty::StoppingRule,
    plan::{BlockPlan, Plan, Work},
    random::{Purpose, derive_seed},
    settings::Effort,
};

/// Rest that reads wait for after a write to the same storage.
const SETTLE_NS: u64 = 2_000_000_000;

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
        CellPlan {
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
    let allowances = plan.cells.iter().map(judgement::allowances).collect();
    SessionPlan {
        cells: cells.collect(),
        effort: judgement::effort(plan.effort),
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

/// What a slot is for, in the words of the record.
pub const fn purpose(purpose: session::Purpose) -> SlotPurpose {
    match purpose {
        session::Purpose::Measure | session::Purpose::Continue => SlotPurpose::Measured,
        session::Purpose::Discard => SlotPurpose::Discarded,
        session::Purpose::Bookend => SlotPurpose::Bookend,
    }
}

/// Whether a cell may be visited again after a slot. Errors end it unless it keeps going, and so do files that do not
/// hold what they should.
pub fn may_go_on(work: &Work, slot: &SlotResult) -> bool {
    let mismatches = slot.verification.as_ref().is_some_and(|checked| checked.mismatches > 0);
    work.keeps_going() || (slot.errors.is_empty() && !(work.files().is_some() && mismatches))
}

/// Whether the latencies of a cell's seconds are worth keeping: where they tell how sure its percentiles are, and are
/// not those of reads and writes in one.
pub fn keeps_seconds(plan: &Plan, cell: usize) -> bool {
    let has_both = |blocks: &BlockPlan| blocks.reads() && blocks.writes();
    judgement::is_in_one_piece(plan, cell) && !plan.cells[cell].blocks().is_some_and(has_both)
}

/// A visit as the rules see it: what completed, second by second. The phases of a set of files are one piece,
/// and so is an iteration of an application.
pub fn visit<'a>(slot: &SlotResult, intervals: impl Iterator<Item = &'a Interval>) -> Visit {
    let mut visit = Visit { from_ns: slot.from_ns, ..Visit::default() };
    if !slot.phases.is_empty() {
        let sum = |of: fn(&SlotPhase) -> u64| slot.phases.iter().filter(|phase| !phase.is_part).map(of).sum::<u64>();
        let count = sum(|phase| phase.operations) as f64;
        visit.seconds.push(Sample { count, elapsed_ns: sum(|phase| phase.elapsed_ns) });
    }
    if let Some(iteration) = slot.application.as_ref().filter(|iteration| iteration.invalid.is_none()) {
        visit.seconds.push(Sample { count: 1.0, elapsed_ns: iteration.elapsed_ns });
    }
    for interval in intervals {
        let count = (interval.read_operations + interval.write_operations) as f64;
        let sample = Sample { count, elapsed_ns: interval.length_ns };
        if interval.measured {
            visit.seconds.push(sample);
        } else {
            visit.ramp.count += sample.count;
            visit.ramp.elapsed_ns += sample.elapsed_ns;
        }
    }
    visit
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

    #[test]
    fn a_ramp_is_told_apart_from_the_seconds_that_count() {
        let interval = |measured, operations, length_ns| Interval {
            measured,
            read_operations: operations,
            write_operations: 1,
            length_ns,
            ..Interval::default()
        };
        let intervals =
            [interval(false, 9, 500), interval(false, 5, 100), interval(true, 99, 1000), interval(true, 3, 50)];
        let visit = visit(&SlotResult { from_ns: 7, ..SlotResult::default() }, intervals.iter());
        assert_eq!(visit.ramp, Sample { count: 16.0, elapsed_ns: 600 });
        assert_eq!(visit.seconds, [Sample { count: 100.0, elapsed_ns: 1000 }, Sample { count: 4.0, elapsed_ns: 50 }]);
        assert_eq!(visit.from_ns, 7);
    }
}
