//! How far a session is, and an honest guess of how long it still takes.

use std::collections::BTreeMap;

use super::{Session, cell::Cell};
use crate::stopping::contiguous::LOOK_RATIO;

/// The measured time of a visit when it is not decided yet.
const USUAL_VISIT_NS: u64 = 5_000_000_000;

/// How far a cell is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Visits done.
    pub rounds: u32,
    /// Half of the interval reached, as a share of the rate; absent while there is no interval.
    pub precision: Option<f64>,
    /// Half of the interval wanted.
    pub precision_wanted: f64,
    /// Load that is still expected, with ramps and the rest before the first visit. A guess from the precision so far;
    /// the rule may want more.
    pub remaining_ns: u64,
    /// Load that is still possible.
    pub remaining_max_ns: u64,
}

impl Session {
    /// How far a cell is.
    pub fn progress(&self, cell: usize) -> Progress {
        self.progress_and_rounds(cell).0
    }

    /// The same, with how many visits are still expected, and how many are possible; none of a cell in one piece.
    fn progress_and_rounds(&self, cell: usize) -> (Progress, (u32, u32)) {
        let state = &self.cells[cell];
        let look = state.last_look().filter(|look| look.mean > 0.0 && look.half_width.is_finite());
        let precision = look.map(|look| look.half_width / look.mean);
        let wanted = self.rules.demand.precision;
        // Intervals narrow with the root of the time.
        let factor = precision.map_or(1.0, |reached| (reached / wanted).powi(2));
        let rounds = match state.closed || state.in_one_piece() {
            true => (0, 0),
            false => self.remaining_rounds(state, factor),
        };
        let (remaining_ns, remaining_max_ns) = match state.in_one_piece() {
            true if state.closed => (0, 0),
            true => self.remaining_alone(cell, factor),
            false => (self.load_ns(state, rounds.0), self.load_ns(state, rounds.1)),
        };
        let progress = Progress {
            rounds: state.visits.len() as u32,
            precision,
            precision_wanted: wanted,
            remaining_ns: remaining_ns.min(remaining_max_ns),
            remaining_max_ns,
        };
        (progress, rounds)
    }

    /// How long the session is still expected to take, and how long it may take: the load of all cells, of which those
    /// of a phase run at once, with the rest between passes; a last visit that has its own time, and never more than
    /// the time that is left.
    pub fn remaining_ns(&self, now_ns: u64) -> (u64, u64) {
        let mut phases: BTreeMap<Option<u32>, (u64, u64)> = BTreeMap::new();
        let mut passes: BTreeMap<Option<u32>, (u32, u32)> = BTreeMap::new();
        for (cell, state) in self.cells.iter().enumerate() {
            let (of, rounds) = self.progress_and_rounds(cell);
            if state.plan.fixed.is_none() {
                let (expected, most) = passes.entry(state.plan.phase).or_default();
                *expected = rounds.0.max(*expected);
                *most = rounds.1.max(*most);
            }
            let (expected_ns, longest_ns) = phases.entry(state.plan.phase).or_default();
            if state.plan.phase.is_some() {
                *expected_ns = of.remaining_ns.max(*expected_ns);
                *longest_ns = of.remaining_max_ns.max(*longest_ns);
            } else {
                *expected_ns += of.remaining_ns;
                *longest_ns += of.remaining_max_ns;
            }
        }
        for (phase, (expected, most)) in passes {
            let (expected_ns, longest_ns) = phases.entry(phase).or_default();
            *expected_ns = (u64::from(expected) * self.rules.pass_ns()).max(*expected_ns);
            *longest_ns = (u64::from(most) * self.rules.pass_ns()).max(*longest_ns);
        }
        let expected_ns: u64 = phases.values().map(|(expected_ns, _)| expected_ns).sum();
        let longest_ns: u64 = phases.values().map(|(_, longest_ns)| longest_ns).sum();
        let bookend_ns = self.plan.bookend_ns.map_or(0, |at_ns| at_ns.saturating_sub(now_ns));
        let left_ns = self.plan.time_max_ns.map_or(u64::MAX, |end_ns| end_ns.saturating_sub(now_ns));
        (expected_ns.max(bookend_ns).min(left_ns), longest_ns.max(bookend_ns).min(left_ns))
    }

    fn remaining_alone(&self, cell: usize, factor: f64) -> (u64, u64) {
        let state = &self.cells[cell];
        let done = state.seconds() as f64;
        let slot = self.slot(cell);
        let on_top_ns = self.until_measured_ns(&slot) - self.rules.counted_ramp_ns(slot.ramp_ns);
        let until = |seconds: f64| ((seconds - done).max(0.0) * 1e9) as u64 + on_top_ns;
        // Looks in a row have to pass, of which the next is due then, and each other one 15 % later.
        let more = self.rules.demand.confirmations.saturating_sub(state.passes + 1);
        let next = state.next_look as f64 * LOOK_RATIO.powi(more as i32);
        let needed = (done * factor).max(next);
        (until(needed), until(f64::from(self.rules.seconds_extended())))
    }

    fn remaining_rounds(&self, state: &Cell, factor: f64) -> (u32, u32) {
        let (rules, done) = (&self.rules, state.visits.len() as u32);
        if let Some(fixed) = state.plan.fixed {
            let left = (fixed.rounds + state.more_rounds).saturating_sub(state.rounds_done());
            return (left, left);
        }
        let last_of_first = rules.rounds_sure();
        let needed =
            ((f64::from(done) * factor).ceil() as u32).clamp(last_of_first, rules.rounds_max.max(last_of_first));
        let most = (rules.rounds_max + state.plan.discard_first).saturating_sub(state.rounds_done());
        ((needed.saturating_sub(done) + state.discards_left).min(most), most)
    }

    /// The load of so many visits to a cell, and the rest before it where the first of them is still to come.
    fn load_ns(&self, state: &Cell, rounds: u32) -> u64 {
        let ramp_ns = state.plan.ramp_ns.unwrap_or(self.rules.ramp_ns);
        let middle_ns = self.rules.measured_ns.get(self.rules.measured_ns.len() / 2).copied();
        let measured_ns = state.plan.fixed.map_or(middle_ns, |fixed| fixed.measured_ns).unwrap_or(USUAL_VISIT_NS);
        let delay_ns = if rounds > 0 && state.rounds_done() == 0 { state.plan.start_delay_ns } else { 0 };
        (u64::from(rounds) * (ramp_ns + measured_ns)).saturating_add(delay_ns)
    }
}
