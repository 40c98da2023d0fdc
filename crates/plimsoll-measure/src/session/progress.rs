//! How far a session is, and an honest guess of how long it still takes.

use super::{Session, cell::Cell};

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
    /// Load that is still expected, ramps included. A guess from the precision so far; the rule may want more.
    pub remaining_ns: u64,
    /// Load that is still possible.
    pub remaining_max_ns: u64,
}

impl Session {
    /// How far a cell is.
    pub fn progress(&self, cell: usize) -> Progress {
        let state = &self.cells[cell];
        let look = state.last_look().filter(|look| look.mean > 0.0 && look.half_width.is_finite());
        let precision = look.map(|look| look.half_width / look.mean);
        let wanted = self.rules.demand.precision;
        // Intervals narrow with the root of the time.
        let factor = precision.map_or(1.0, |reached| (reached / wanted).powi(2));
        let (remaining_ns, remaining_max_ns) = match state.closed {
            true => (0, 0),
            false if state.alone && state.plan.fixed.is_none() => self.remaining_alone(state, factor),
            false => self.remaining_rounds(state, factor),
        };
        Progress {
            rounds: state.visits.len() as u32,
            precision,
            precision_wanted: wanted,
            remaining_ns: remaining_ns.min(remaining_max_ns),
            remaining_max_ns,
        }
    }

    /// Load that all cells together are still expected to need.
    pub fn remaining_ns(&self) -> u64 {
        (0..self.cells.len()).map(|cell| self.progress(cell).remaining_ns).sum()
    }

    fn remaining_alone(&self, state: &Cell, factor: f64) -> (u64, u64) {
        let done = state.seconds() as f64;
        let until = |seconds: f64| ((seconds - done).max(0.0) * 1e9) as u64;
        // Two looks have to pass, and the next one is 15 % later.
        let needed = (done * factor).max(f64::from(self.rules.seconds_min) * 1.15);
        (until(needed), until(f64::from(self.rules.seconds_extended())))
    }

    fn remaining_rounds(&self, state: &Cell, factor: f64) -> (u64, u64) {
        let ramp_ns = state.plan.ramp_ns.unwrap_or(self.rules.ramp_ns);
        let middle_ns = self.rules.measured_ns.get(self.rules.measured_ns.len() / 2).copied();
        let measured_ns = state.plan.fixed.map_or(middle_ns, |fixed| fixed.measured_ns).unwrap_or(USUAL_VISIT_NS);
        let done = state.visits.len() as u32;
        let rules = &self.rules;
        let needed = match state.plan.fixed {
            Some(fixed) => fixed.rounds.saturating_sub(state.plan.discard_first),
            None => {
                let last_of_first = rules.rounds_min + rules.demand.confirmations - 1;
                ((f64::from(done) * factor).ceil() as u32).clamp(last_of_first, rules.rounds_max.max(last_of_first))
            }
        };
        let limit = state.plan.fixed.map_or(rules.rounds_max, |_| needed);
        let load = |rounds: u32| u64::from(rounds.saturating_sub(done)) * (ramp_ns + measured_ns);
        (load(needed.min(limit)), load(limit))
    }
}
