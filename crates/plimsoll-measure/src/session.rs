//! Which cell is visited next, when a cell is done, and what to call it: one pure state machine.
//!
//! Whoever drives it asks for the [`Step`], does it, and hands back what was measured. It knows no clock: times are
//! handed in, since the session began. A real run, a cluster and the replay of a trace drive the same machine.
//!
//! ```
//! use plimsoll_measure::session::{CellPlan, Session, SessionPlan, Step};
//! use plimsoll_measure::session::visit::{Sample, Visit};
//!
//! let mut session = Session::new(SessionPlan { cells: vec![CellPlan::default()], ..SessionPlan::default() });
//! let mut now_ns = 0;
//! while let Step::Visit(slot) = session.next_step(now_ns) {
//!     let measured_ns = slot.measured_ns.expect("only a plan can leave it out");
//!     let from_ns = now_ns + slot.ramp_ns;
//!     now_ns = from_ns + measured_ns;
//!     let second = Sample { count: 5000.0, elapsed_ns: 1_000_000_000 };
//!     let ramp = Sample { count: 0.0, elapsed_ns: slot.ramp_ns };
//!     session.observe(&slot, Visit { from_ns, ramp, seconds: vec![second; (measured_ns / 1_000_000_000) as usize] });
//! }
//! assert_eq!(session.answer(0).verdict.as_str(), "steady");
//! ```

pub mod answer;
mod bookend;
mod bursts;
mod cell;
mod order;
mod plan;
mod progress;
mod resuming;
#[cfg(test)]
mod tests;
mod turns;
pub mod visit;

use std::collections::VecDeque;

use self::{
    answer::{Answer, Burst, Estimate, Moved},
    cell::{Cell, Look},
    resuming::Pause,
    visit::Visit,
};
use crate::{detect::token_bucket::Stretch, effort::Rules, stability::Stability, verdict::Verdict};

pub use self::{
    cell::ROUNDS_JUDGED_MIN,
    plan::{CellPlan, FixedVisits, SessionPlan},
    progress::Progress,
};

/// The relative error that a rate predicted from a catalog has.
const CATALOG_ERROR: f64 = 0.15;

/// What a visit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is judged.
    Measure,
    /// It is judged as one piece with the visit before: load should not pause in between.
    Continue,
    /// It is kept for the record only.
    Discard,
    /// It tells whether a claim still holds.
    Bookend,
}

/// One visit to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Which cell.
    pub cell: usize,
    /// Which visit of the cell, from 0.
    pub round: u32,
    /// How many earlier ones are judged.
    pub judged: u32,
    /// Load before the measured part.
    pub ramp_ns: u64,
    /// Length of the measured part; absent when it ends by itself.
    pub measured_ns: Option<u64>,
    /// What it is for.
    pub purpose: Purpose,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Visit a cell and hand the result to [`Session::observe`], or give up with [`Session::abandon`].
    Visit(Slot),
    /// Rest until then and ask again.
    WaitUntil(u64),
    /// All is measured, or time is up.
    Done,
}

/// Why numbers do not speak of the storage, however even they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overruling {
    /// A cache answered.
    Cached,
    /// The machine that measured was the limit.
    ClientLimited,
}

/// A cell's turn in a pass.
#[derive(Clone, Copy, Debug)]
struct Turn {
    cell: usize,
    /// The turn does not come earlier.
    not_before_ns: u64,
}

/// The slot that was handed out last.
#[derive(Clone, Copy, Debug)]
struct Latest {
    cell: usize,
    /// Whether the slot before it wrote to the same target; unknown of the first one.
    after_write: Option<bool>,
    /// When it ended; 0 before that.
    ended_ns: u64,
}

/// A session: its plan and all that was measured so far.
#[derive(Clone, Debug)]
pub struct Session {
    plan: SessionPlan,
    rules: Rules,
    cells: Vec<Cell>,
    overruled: Vec<Option<Overruling>>,
    predicted: Vec<Option<Burst>>,
    moved: Vec<Option<Moved>>,
    pass: VecDeque<Turn>,
    /// When the pass began.
    pass_from_ns: Option<u64>,
    latest: Option<Latest>,
    /// Targets whose bookend is still to come; absent until all cells are done.
    bookends: Option<VecDeque<usize>>,
    /// When it was interrupted, in the order of time.
    pauses: Vec<Pause>,
}

impl Session {
    /// A session that has measured nothing yet.
    pub fn new(plan: SessionPlan) -> Self {
        let count = plan.cells.len();
        let rules = Rules::new(plan.effort, plan.precision, count);
        let cells = plan.cells.iter().map(|cell| Cell::new(*cell, rules, count)).collect();
        Self {
            plan,
            rules,
            cells,
            overruled: vec![None; count],
            predicted: vec![None; count],
            moved: vec![None; count],
            pass: VecDeque::new(),
            pass_from_ns: None,
            latest: None,
            bookends: None,
            pauses: Vec::new(),
        }
    }

    /// What the effort and the number of cells amount to.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// What to do next, at this time since the session began.
    pub fn next_step(&mut self, now_ns: u64) -> Step {
        self.draw_pass(now_ns);
        let step = if self.pass.is_empty() { self.next_bookend(now_ns) } else { self.next_turn(now_ns) };
        if let Step::Visit(Slot { cell, .. }) = step {
            self.note_latest(cell);
        }
        step
    }

    /// Notes that a cell's slot was handed out, and what came before it.
    fn note_latest(&mut self, cell: usize) {
        let after_write = self.latest.map(|_| self.follows_write(cell));
        self.latest = Some(Latest { cell, after_write, ended_ns: 0 });
    }

    /// Takes in what a visit measured.
    pub fn observe(&mut self, slot: &Slot, visit: Visit) {
        self.take_in(slot.cell, slot.purpose, visit);
    }

    fn take_in(&mut self, cell: usize, purpose: Purpose, visit: Visit) {
        if let Some(latest) = &mut self.latest {
            latest.ended_ns = visit.to_ns();
        }
        if purpose == Purpose::Bookend {
            self.compare_bookend(cell, &visit);
        } else {
            self.add(cell, purpose, visit);
        }
    }

    /// A cell that failed gets no further visits.
    pub fn abandon(&mut self, cell: usize) {
        self.cells[cell].closed = true;
    }

    /// Says that a cell's numbers do not speak of the storage.
    pub fn overrule(&mut self, cell: usize, overruling: Overruling) {
        self.overruled[cell] = Some(overruling);
    }

    /// Whether a cell needs no more visits.
    pub fn is_closed(&self, cell: usize) -> bool {
        self.cells[cell].closed
    }

    /// What may be said of a cell by now.
    pub fn answer(&self, cell: usize) -> Answer {
        let state = &self.cells[cell];
        let look = state.last_look();
        let seen = self.burst_seen(cell);
        let unclaimed = || look.as_ref().and_then(|look| self.burst_for_certain(cell, look));
        let predicted = match state.plan.fixed {
            // Cells that ran at the same time are known by now.
            Some(_) => look.filter(|look| state.closed && look.passes).and_then(|of| self.burst_predicted(cell, &of)),
            None => self.predicted[cell],
        };
        let burst = predicted.or(seen).or_else(unclaimed);
        let stability = look.and_then(|look| Stability::of(state.rates_of(&look)));
        Answer {
            verdict: self.word(cell, look.as_ref(), burst.is_some()),
            estimate: look.map(|look| estimate(&look, burst.as_ref(), state.claimed)),
            window: look.map(|look| look.window),
            stability,
            period_seconds: look.and_then(|look| look.period_seconds),
            burst,
            moved: self.moved[cell],
            carry_over: state.carry_over,
            rounds: state.visits.len() as u32,
            load_ns: state.load().elapsed_ns,
        }
    }

    /// The rates of a cell's judged seconds, for detectors. A cell alone is one stretch, up to where it was judged.
    pub fn stretches(&self, cell: usize) -> Vec<Stretch<'_>> {
        self.cells[cell].stretches(&self.pauses)
    }

    fn word(&self, cell: usize, look: Option<&Look>, burst: bool) -> Verdict {
        let state = &self.cells[cell];
        match self.overruled[cell] {
            Some(Overruling::ClientLimited) => return Verdict::ClientLimited,
            Some(Overruling::Cached) => return Verdict::Cached,
            None => {}
        }
        // A burst that is predicted or was seen to end is there, however short the session.
        if burst {
            return Verdict::Burst;
        }
        if look.is_none() || !state.has_enough() {
            return Verdict::Short;
        }
        let trends = look.and_then(|look| look.trend).is_some_and(|trend| trend.matters);
        // What jumps wildly has no direction, whatever line fits through it.
        let erratic = look.and_then(|look| Stability::of(state.rates_of(look))).is_some_and(|of| of.is_erratic());
        match self.moved[cell] {
            // Two visits, two numbers.
            Some(_) => Verdict::Unstable,
            _ if state.claimed => Verdict::Steady,
            _ if trends && !erratic => Verdict::Drifting,
            // Nothing speaks against the rate but that time was up, or all visits done, before it was sure.
            _ if (!state.closed || state.plan.fixed.is_some()) && look.is_some_and(|look| look.even) => Verdict::Short,
            _ => Verdict::Unstable,
        }
    }

    fn add(&mut self, index: usize, purpose: Purpose, visit: Visit) {
        let after_write = self.latest.filter(|latest| latest.cell == index).and_then(|latest| latest.after_write);
        let cell = &mut self.cells[index];
        if !cell.closed && cell.add(purpose, visit, after_write) {
            while let Some(look) = self.cells[index].due_look() {
                let burst = if look.passes { self.burst_predicted(index, &look) } else { None };
                self.predicted[index] = burst;
                if !self.cells[index].conclude(&look, burst.is_some()) {
                    break;
                }
            }
        }
        self.cells[index].close_if_exhausted();
    }
}

fn estimate(look: &Look, burst: Option<&Burst>, claimed: bool) -> Estimate {
    match burst {
        Some(burst) if burst.predicted => Estimate::new(burst.sustained_rate, CATALOG_ERROR * burst.sustained_rate),
        // Without a claim the look may mix both levels.
        Some(burst) if !claimed => Estimate { rate: burst.sustained_rate, half_width: None },
        _ => Estimate::new(look.mean, look.half_width),
    }
}
