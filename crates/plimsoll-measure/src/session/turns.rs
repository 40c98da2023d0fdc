//! Whose turn it is, when, and for how long.

use super::{Purpose, Session, Slot, Step, Turn, order};

/// A cell alone is visited for at least this long when time runs out.
const LAST_VISIT_MIN_NS: u64 = 10_000_000_000;

impl Session {
    /// The next cell to visit: of those that are not done, one with the fewest visits.
    pub(super) fn next_turn(&mut self, now_ns: u64) -> Option<Turn> {
        let cells = &self.cells;
        self.pass.retain(|turn| !cells[turn.cell].closed);
        if self.pass.is_empty() {
            let open = (0..cells.len()).filter(|cell| !cells[*cell].closed);
            let phase = open.clone().map(|cell| cells[cell].plan.phase).min()?;
            let open = open.filter(|cell| cells[*cell].plan.phase == phase);
            let pass = open.clone().map(|cell| cells[cell].rounds_done()).min()?;
            let behind: Vec<usize> = open.filter(|cell| cells[*cell].rounds_done() == pass).collect();
            let order = order::of_pass(&self.plan.cells, &behind, self.plan.seed, self.plan.turn, pass);
            let adaptive = order.iter().any(|cell| cells[*cell].plan.fixed.is_none() && !cells[*cell].alone);
            let length_ns = if adaptive { self.rules.pass_ns() } else { 0 };
            let from_ns = self.pass_from_ns.map_or(now_ns, |before_ns| now_ns.max(before_ns + length_ns));
            self.pass_from_ns = Some(from_ns);
            let delays = order::delays_ns(length_ns, order.len(), self.rules.visit_ns(), self.plan.seed, pass);
            let turns = order.into_iter().zip(delays);
            self.pass = turns.map(|(cell, delay_ns)| Turn { cell, not_before_ns: from_ns + delay_ns }).collect();
        }
        self.pass.front().copied()
    }

    /// The slots to be done at the same time as the one that was handed out last: those of its phase.
    pub fn company(&mut self, slot: &Slot) -> Vec<Slot> {
        if self.cells[slot.cell].plan.phase.is_none() || slot.purpose == Purpose::Bookend {
            return Vec::new();
        }
        let turns = std::mem::take(&mut self.pass);
        turns.iter().map(|turn| self.slot(turn.cell)).collect()
    }

    /// Rests until then, unless time is up before.
    pub(super) fn wait(&self, until_ns: u64) -> Step {
        let in_time = self.plan.time_max_ns.is_none_or(|end_ns| until_ns < end_ns);
        if in_time { Step::WaitUntil(until_ns) } else { Step::Done }
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
    fn until_measured_ns(&self, slot: &Slot) -> u64 {
        let delay_ns = if slot.round == 0 { self.cells[slot.cell].plan.start_delay_ns } else { 0 };
        delay_ns.saturating_add(slot.ramp_ns)
    }

    /// What the measured part of a slot will take. How long one will be that ends by itself, the one before it tells.
    fn expected_ns(&self, slot: &Slot) -> u64 {
        let latest_ns = || self.cells[slot.cell].all_visits().last().map(|visit| visit.total().elapsed_ns);
        slot.measured_ns.or_else(latest_ns).unwrap_or_default()
    }

    /// Holds a slot to the time that is left. What is too short to be worth a visit ends the session, and so does a
    /// phase of which not all cells have the time.
    pub(super) fn fit(&self, slot: Slot, now_ns: u64) -> Step {
        let Some(end_ns) = self.plan.time_max_ns else { return Step::Visit(slot) };
        let left_ns = end_ns.saturating_sub(now_ns);
        let fits =
            |slot: &Slot| left_ns > 0 && self.until_measured_ns(slot).saturating_add(self.expected_ns(slot)) <= left_ns;
        let has_company = self.cells[slot.cell].plan.phase.is_some() && !self.pass.is_empty();
        if fits(&slot) && (!has_company || self.pass.iter().all(|turn| fits(&self.slot(turn.cell)))) {
            return Step::Visit(slot);
        }
        let shorter_ns = left_ns.saturating_sub(self.until_measured_ns(&slot)) / 1_000_000_000 * 1_000_000_000;
        let may_be_shorter = self.cells[slot.cell].alone && slot.measured_ns.is_some() && !has_company;
        if may_be_shorter && shorter_ns >= LAST_VISIT_MIN_NS {
            return Step::Visit(Slot { measured_ns: Some(shorter_ns), ..slot });
        }
        Step::Done
    }
}
