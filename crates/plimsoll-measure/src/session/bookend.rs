//! A last visit to one cell of each target, which tells whether what was claimed still holds.

use std::collections::VecDeque;

use super::{
    Purpose, Session, Slot, Step,
    answer::{Moved, Window},
    visit::Visit,
};

/// The least change that takes a claim back.
const MOVED_MIN: f64 = 0.10;
/// The change that takes a claim back, in half-widths of its interval.
const MOVED_HALF_WIDTHS: f64 = 3.0;

impl Session {
    /// The next target to look at again, when everything else is done.
    pub(super) fn next_bookend(&mut self, now_ns: u64) -> Step {
        let Some(not_before_ns) = self.plan.bookend_ns else { return Step::Done };
        let Some(cell) = self.open_bookends().front().copied() else { return Step::Done };
        let ramp_ns = self.cells[cell].plan.ramp_ns.unwrap_or(self.rules.ramp_ns);
        let lengths = self.rules.measured_ns;
        let slot = Slot {
            cell,
            round: self.cells[cell].rounds_done(),
            judged: self.cells[cell].visits.len() as u32,
            ramp_ns,
            measured_ns: Some(lengths[lengths.len() / 2]),
            purpose: Purpose::Bookend,
        };
        let from_ns = now_ns.max(not_before_ns);
        match self.fit(slot, from_ns) {
            Some(_) if from_ns > now_ns => Step::WaitUntil(from_ns),
            Some(slot) => {
                self.open_bookends().pop_front();
                Step::Visit(slot)
            }
            None => Step::Done,
        }
    }

    /// One cell of each target that is still to be looked at again: the first that claims something.
    pub(super) fn open_bookends(&mut self) -> &mut VecDeque<usize> {
        let cells = &self.cells;
        self.bookends.get_or_insert_with(|| {
            let mut targets = Vec::new();
            let claims = (0..cells.len()).filter(|cell| cells[*cell].claimed);
            claims.filter(|cell| note_new(&mut targets, cells[*cell].plan.target)).collect()
        })
    }

    /// Takes back all claims about a target when a later visit does not confirm one of them.
    pub(super) fn compare_bookend(&mut self, index: usize, visit: &Visit) {
        let Some(look) = self.cells[index].last_look().filter(|_| visit.total().elapsed_ns > 0) else { return };
        let is = visit.total().rate();
        let tolerance = MOVED_MIN.max(MOVED_HALF_WIDTHS * look.half_width / look.mean);
        if (is / look.mean - 1.0).abs() <= tolerance {
            return;
        }
        let is_in = Window { from_ns: visit.from_ns, to_ns: visit.to_ns() };
        let moved = Moved { was: look.mean, was_in: look.window, is, is_in };
        let target = self.cells[index].plan.target;
        for (cell, withdrawn) in self.cells.iter().zip(&mut self.moved) {
            if cell.plan.target == target && cell.claimed {
                *withdrawn = Some(moved);
            }
        }
    }
}

/// Notes a target; `false` if it was noted before.
fn note_new(targets: &mut Vec<usize>, target: usize) -> bool {
    let new = !targets.contains(&target);
    targets.push(target);
    new
}
