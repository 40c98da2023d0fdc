//! Between a run and the rules that judge it: what the rules are told of each visit.

use plimsoll_measure::session::{
    self,
    visit::{Sample, Visit},
};
use plimsoll_record::{
    event::{SlotPurpose, SlotResult},
    files::SlotPhase,
    judgement,
    results::Interval,
};
use plimsoll_workload::plan::{BlockPlan, Plan, Work};

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
    use super::*;

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
