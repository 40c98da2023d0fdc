//! How long a run will still take.

use std::collections::BTreeMap;

use plimsoll_measure::session::Session;
use plimsoll_record::judgement;
use plimsoll_workload::{certainty::StoppingRule, plan::Plan};

use super::{Activity, CellProgress, ProgressState};

/// How long a run will still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remaining {
    /// The time that the plan says, as far as it says any.
    pub(crate) ns: u64,
    /// Whether something is to come whose time nobody knows.
    pub(crate) at_least: bool,
    /// How long it can take, when that depends on what is measured.
    pub(crate) at_most_ns: Option<u64>,
}

/// What the session expects of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) left_ns: u64,
    pub(super) left_max_ns: u64,
    /// The moment from which that passes.
    pub(super) at_ns: u64,
}

impl Expected {
    /// What is expected of a plan before anything is done; `None` where slots end by their amounts and no rate decides.
    pub(super) fn of(plan: &Plan, now_ns: u64) -> Option<Self> {
        let by_rate = plan.cells.iter().any(|cell| cell.stopping == StoppingRule::Sure);
        let by_amount = plan.cells.iter().any(|cell| cell.work.ends_by_amount());
        let (left_ns, left_max_ns) = Session::new(judgement::session_plan(plan)).remaining_ns(0);
        (by_rate || !by_amount).then_some(Self { left_ns, left_max_ns, at_ns: now_ns })
    }
}

impl Remaining {
    /// Whether nothing is known of it.
    pub(super) const fn is_unknown(&self) -> bool {
        self.at_least && self.ns == 0
    }
}

impl CellProgress {
    /// The time of a slot as far as it is known.
    const fn slot_length_ns(&self) -> u64 {
        self.ramp_ns + if let Some(slot_ns) = self.slot_ns { slot_ns } else { 0 }
    }

    /// The time of the slots that have not begun.
    fn left_ns(&self) -> u64 {
        let delay_ns =
            if Some(self.rounds_left) == self.rounds && self.rounds_left > 0 { self.start_delay_ns } else { 0 };
        delay_ns + u64::from(self.rounds_left) * self.slot_length_ns()
    }
}

impl ProgressState {
    /// From the first slot or wait on, the time that is left passes: what was prepared before took nothing of it.
    pub(super) fn let_time_pass(&mut self, now_ns: u64) {
        if let (Some(expected), false) = (&mut self.expected, matches!(self.activity, Activity::Waiting { .. })) {
            expected.at_ns = now_ns;
        }
    }

    /// Slots that run are done, however long they took: nothing of them is left when it is told what is.
    pub(super) fn let_slots_end(&mut self, now_ns: u64) {
        let (Some(expected), Activity::Slots { cells, .. }) = (&mut self.expected, &self.activity) else { return };
        let planned = cells.iter().map(|cell| self.cells[*cell].ends_ns).max().filter(|ends_ns| *ends_ns < u64::MAX);
        let took_ns = planned.unwrap_or(now_ns).saturating_sub(expected.at_ns);
        *expected = Expected {
            left_ns: expected.left_ns.saturating_sub(took_ns),
            left_max_ns: expected.left_max_ns.saturating_sub(took_ns),
            at_ns: now_ns,
        };
    }

    /// The time that is left: that of the slots, and what the rate so far says of the files being written.
    pub(super) fn remaining(&self, now_ns: u64) -> Remaining {
        if matches!(self.activity, Activity::Finished) {
            return Remaining { ns: 0, at_least: false, at_most_ns: None };
        }
        let of_slots = match self.expected {
            Some(expected) => self.remaining_of(expected, now_ns),
            None => self.remaining_by_amounts(now_ns),
        };
        let (files_ns, is_open) = match &self.activity {
            Activity::Preparing | Activity::SettingUp(_) => (0, self.targets_laid_out < self.targets),
            Activity::Layout { written_bytes, total_bytes, from_ns, from_bytes, .. } => {
                let done = written_bytes.saturating_sub(*from_bytes);
                let took_ns = now_ns.saturating_sub(*from_ns);
                let to_do = total_bytes.saturating_sub(*written_bytes);
                let files_ns = (u128::from(to_do) * u128::from(took_ns)).checked_div(u128::from(done));
                (files_ns.unwrap_or_default() as u64, done == 0 || self.targets_laid_out + 1 < self.targets)
            }
            _ => (0, false),
        };
        Remaining {
            ns: of_slots.ns + files_ns,
            at_least: of_slots.at_least || is_open,
            at_most_ns: of_slots.at_most_ns.map(|ns| ns + files_ns),
        }
    }

    /// What the session expects, less what has passed since. A slot that takes longer than planned does not make the
    /// others shorter.
    fn remaining_of(&self, Expected { left_ns, left_max_ns, at_ns }: Expected, now_ns: u64) -> Remaining {
        let until_ns = match &self.activity {
            Activity::Slots { cells, .. } => {
                cells.iter().map(|cell| self.cells[*cell].ends_ns).max().unwrap_or_default().min(now_ns)
            }
            Activity::Waiting { .. } => now_ns,
            _ => at_ns,
        };
        let since = |ns: u64| ns.saturating_sub(until_ns.saturating_sub(at_ns));
        // The session only guesses how long the slots of such cells take.
        let is_open = self.cells.iter().any(|cell| cell.is_open_ended && !cell.is_done);
        let at_most_ns = (left_max_ns > left_ns && !is_open).then(|| since(left_max_ns));
        Remaining { ns: since(left_ns), at_least: is_open, at_most_ns }
    }

    /// What the plan says of the slots to come and of the one that runs, as far as it says any.
    fn remaining_by_amounts(&self, now_ns: u64) -> Remaining {
        let mut ns = self.slots_left_ns();
        let mut at_least = self.cells.iter().any(|cell| cell.rounds_left > 0 && cell.slot_ns.is_none());
        match &self.activity {
            Activity::Slots { cells, from_ns, .. } => {
                let cells = || cells.iter().map(|cell| &self.cells[*cell]);
                let longest_ns = cells().map(CellProgress::slot_length_ns).max().unwrap_or_default();
                ns += longest_ns.saturating_sub(now_ns.saturating_sub(*from_ns));
                at_least |= cells().any(|cell| cell.slot_ns.is_none());
            }
            // What a slot waits for at its start is counted as a part of it.
            Activity::Waiting { from_ns, .. } => ns = ns.saturating_sub(now_ns.saturating_sub(*from_ns)),
            _ => {}
        }
        Remaining { ns, at_least, at_most_ns: None }
    }

    /// The time of the slots that have not begun. Those of one phase begin together.
    fn slots_left_ns(&self) -> u64 {
        let mut phases: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for cell in &self.cells {
            let left_ns = phases.entry(cell.phase).or_default();
            *left_ns = if cell.phase.is_some() { cell.left_ns().max(*left_ns) } else { *left_ns + cell.left_ns() };
        }
        phases.values().sum()
    }
}
