//! Whose turn it is, when, and for how long.

use super::{Purpose, Session, Slot, Step, Turn, order};

/// A cell alone is visited for at least this long when time runs out.
const LAST_VISIT_MIN_NS: u64 = 10_000_000_000;

impl Session {
    /// Leaves the turns of a pass that are still to come: those of cells that are not done, or else a new pass of the
    /// ones with the fewest visits; none when all are done.
    pub(super) fn draw_pass(&mut self, now_ns: u64) {
        let cells = &self.cells;
        self.pass.retain(|turn| !cells[turn.cell].closed);
        let open = (0..cells.len()).filter(|cell| !cells[*cell].closed);
        let first = open.clone().map(|cell| (cells[cell].plan.phase, cells[cell].rounds_done())).min();
        let Some((phase, pass)) = first.filter(|_| self.pass.is_empty()) else { return };
        let behind = open.filter(|cell| (cells[*cell].plan.phase, cells[*cell].rounds_done()) == (phase, pass));
        let behind: Vec<usize> = behind.collect();
        let order = order::of_pass(&self.plan.cells, &behind, self.plan.seed, self.plan.turn, pass);
        let adaptive = order.iter().any(|cell| cells[*cell].plan.fixed.is_none() && !cells[*cell].alone);
        let length_ns = if adaptive { self.rules.pass_ns() } else { 0 };
        let from_ns = self.pass_from_ns.map_or(now_ns, |before_ns| now_ns.max(before_ns + length_ns));
        self.pass_from_ns = Some(from_ns);
        let delays = order::delays_ns(length_ns, order.len(), self.rules.visit_ns(), self.plan.seed, pass);
        let turns = order.into_iter().zip(delays);
        self.pass = turns.map(|(cell, delay_ns)| Turn { cell, not_before_ns: from_ns + delay_ns }).collect();
    }

    /// The first turn of the pass for which there is time, or the rest before it; the session ends when there is none.
    pub(super) fn next_turn(&mut self, now_ns: u64) -> Step {
        let fitting = self.pass.iter().enumerate().find_map(|(at, turn)| {
            let from_ns = now_ns.max(turn.not_before_ns).max(self.settled_ns(turn.cell));
            Some((at, from_ns, self.fit(self.slot(turn.cell), from_ns)?))
        });
        match fitting {
            Some((_, from_ns, _)) if from_ns > now_ns => Step::WaitUntil(from_ns),
            Some((at, _, slot)) => {
                self.pass.drain(..=at);
                Step::Visit(slot)
            }
            None => Step::Done,
        }
    }

    /// The slots to be done at the same time as the one that was handed out last: those of its phase.
    pub fn company(&mut self, slot: &Slot) -> Vec<Slot> {
        if self.cells[slot.cell].plan.phase.is_none() || slot.purpose == Purpose::Bookend {
            return Vec::new();
        }
        let turns = std::mem::take(&mut self.pass);
        turns.iter().map(|turn| self.slot(turn.cell)).collect()
    }

    pub(super) fn slot(&self, index: usize) -> Slot {
        let cell = &self.cells[index];
        let round = cell.rounds_done();
        let discards = cell.discards();
        let in_one_piece = cell.alone && cell.plan.fixed.is_none() && !discards;
        let was_latest = self.latest.is_some_and(|latest| latest.cell == index);
        let continues = in_one_piece && !cell.visits.is_empty() && was_latest;
        let mut ramp_ns = cell.plan.ramp_ns.unwrap_or(self.rules.ramp_ns);
        if cell.carry_over.is_some() {
            ramp_ns *= 2;
        }
        let ramp_ns = if continues { 0 } else { ramp_ns };
        let measured_ns = match cell.plan.fixed {
            Some(fixed) => fixed.measured_ns,
            None if in_one_piece => Some(cell.seconds_to_next_look(ramp_ns) as u64 * 1_000_000_000),
            None => Some(order::measured_ns(self.rules.measured_ns, self.plan.seed, index, round)),
        };
        let purpose = match (discards, continues) {
            (true, _) => Purpose::Discard,
            (_, true) => Purpose::Continue,
            _ => Purpose::Measure,
        };
        Slot { cell: index, round, judged: cell.visits.len() as u32, ramp_ns, measured_ns, purpose }
    }

    /// When a cell may be visited, as far as writes to its target are concerned.
    pub(super) fn settled_ns(&self, index: usize) -> u64 {
        let plan = &self.cells[index].plan;
        let waits = !plan.writes && self.follows_write(index);
        self.latest.filter(|_| waits).map_or(0, |latest| latest.ended_ns + plan.settle_ns)
    }

    pub(super) fn follows_write(&self, cell: usize) -> bool {
        let target = self.plan.cells[cell].target;
        self.latest.is_some_and(|latest| {
            let latest = &self.plan.cells[latest.cell];
            latest.writes && latest.target == target
        })
    }

    /// What the shortest of the first visits takes, with the delay and the ramp before it. Of visits at the same time
    /// it is the longest one.
    pub fn shortest_visit_ns(&self) -> u64 {
        let phase = self.cells.iter().map(|cell| cell.plan.phase).min().flatten();
        let first = (0..self.cells.len()).filter(|cell| self.cells[*cell].plan.phase == phase);
        let has_company = phase.is_some() && first.clone().count() > 1;
        let visit_ns = |index: usize| {
            let slot = self.slot(index);
            let measured_ns = self.expected_ns(&slot);
            let may_be_shorter = self.cells[index].alone && !has_company;
            let least_ns = if may_be_shorter { measured_ns.min(LAST_VISIT_MIN_NS) } else { measured_ns };
            self.until_measured_ns(&slot).saturating_add(least_ns)
        };
        let first = first.map(visit_ns);
        if has_company { first.max() } else { first.min() }.unwrap_or_default()
    }

    /// What comes before the measured part of a slot.
    pub(super) fn until_measured_ns(&self, slot: &Slot) -> u64 {
        let delay_ns = if slot.round == 0 { self.cells[slot.cell].plan.start_delay_ns } else { 0 };
        delay_ns.saturating_add(slot.ramp_ns)
    }

    /// What the measured part of a slot will take. How long one will be that ends by itself, the one before it tells.
    fn expected_ns(&self, slot: &Slot) -> u64 {
        let latest_ns = || self.cells[slot.cell].all_visits().last().map(|visit| visit.total().elapsed_ns);
        slot.measured_ns.or_else(latest_ns).unwrap_or_default()
    }

    /// Holds a slot that begins then to the time that is left. What is too short to be worth a visit is none, nor is a
    /// phase of which not all cells have the time.
    pub(super) fn fit(&self, slot: Slot, from_ns: u64) -> Option<Slot> {
        let Some(end_ns) = self.plan.time_max_ns else { return Some(slot) };
        let left_ns = end_ns.saturating_sub(from_ns);
        let fits =
            |slot: &Slot| left_ns > 0 && self.until_measured_ns(slot).saturating_add(self.expected_ns(slot)) <= left_ns;
        let has_company = self.cells[slot.cell].plan.phase.is_some() && self.pass.len() > 1;
        if fits(&slot) && (!has_company || self.pass.iter().all(|turn| fits(&self.slot(turn.cell)))) {
            return Some(slot);
        }
        let shorter_ns = left_ns.saturating_sub(self.until_measured_ns(&slot)) / 1_000_000_000 * 1_000_000_000;
        let may_be_shorter = self.cells[slot.cell].alone && slot.measured_ns.is_some() && !has_company;
        let is_enough = may_be_shorter && shorter_ns >= LAST_VISIT_MIN_NS;
        is_enough.then_some(Slot { measured_ns: Some(shorter_ns), ..slot })
    }
}
