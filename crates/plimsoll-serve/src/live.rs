//! A run that is going on, as far as its journal tells: a fold of its events. Pure.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use plimsoll_record::event::{RunEvent, RunStarted, SlotPurpose};
use plimsoll_workload::plan::CellPlan;
use serde::Serialize;
use uuid::Uuid;

/// Seconds of load that are told with a run: those of all cells together, so many at least.
const SECONDS_MIN: usize = 60;
/// And so many for each cell, as all of them may be measured at the same time: whoever is told twice a second then
/// misses none.
const SECONDS_OF_CELL: usize = 2;
/// What a cell did longer ago is not what it does now.
const NOW_NS: u64 = 5_000_000_000;

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Nothing was measured yet: files are made, engines are chosen.
    Preparing,
    /// A cell is visited.
    Measuring,
    /// One visit is over, and the next is to begin.
    Between,
    /// The end was told, and the record is being saved.
    Ended,
}

/// A run that is going on.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LiveRun {
    pub(crate) id: Uuid,
    pub(crate) name: Option<String>,
    pub(crate) tags: BTreeMap<String, String>,
    pub(crate) targets: Vec<String>,
    pub(crate) started: Timestamp,
    /// Whether it takes place in a cluster, and this machine is told.
    pub(crate) in_cluster: bool,
    pub(crate) phase: Phase,
    /// Of the run, at the last event that says it.
    pub(crate) elapsed_ns: u64,
    /// Files that are being written before anything is measured; null while none are.
    pub(crate) layout: Option<LiveLayout>,
    /// What the rules expected when it was told the last time, and when that was in the run's time; null where they do
    /// not say.
    pub(crate) remaining_ns: Option<u64>,
    pub(crate) remaining_max_ns: Option<u64>,
    pub(crate) remaining_at_ns: u64,
    pub(crate) slots_done: u32,
    /// Null where what is measured decides how many there will be.
    pub(crate) slots: Option<u32>,
    pub(crate) errors: u64,
    pub(crate) cells: Vec<LiveCell>,
    #[serde(skip)]
    pub(crate) seconds: VecDeque<LiveSecond>,
}

/// Files that are being written.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LiveLayout {
    pub(crate) target: String,
    pub(crate) written_bytes: u64,
    pub(crate) total_bytes: u64,
}

/// A run with its last seconds.
#[derive(Serialize)]
pub(crate) struct WithSeconds<'a> {
    #[serde(flatten)]
    run: &'a LiveRun,
    seconds: &'a VecDeque<LiveSecond>,
}

/// A cell of its plan.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LiveCell {
    pub(crate) target: String,
    /// Where that is, when what was typed does not say it.
    #[serde(skip)]
    pub(crate) place: String,
    pub(crate) workload: String,
    /// What it is called: with its target, where there are several.
    pub(crate) label: String,
    pub(crate) slots_done: u32,
    pub(crate) slots: Option<u32>,
    pub(crate) is_measured: bool,
    /// What it did in the last second of this visit; null when that is long ago.
    pub(crate) now: Option<LiveSecond>,
    /// When its last visit began.
    #[serde(skip)]
    pub(crate) since_ns: u64,
    pub(crate) is_done: bool,
    /// Whether nobody knows how long a visit takes.
    #[serde(skip)]
    pub(crate) is_open_ended: bool,
    /// Half of the 95 % interval, as a share of the rate, and what is wanted.
    pub(crate) precision: Option<f64>,
    pub(crate) precision_wanted: Option<f64>,
    /// The verdict, when the run has come to it.
    pub(crate) word: Option<&'static str>,
}

/// A second of load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LiveSecond {
    pub(crate) cell: usize,
    pub(crate) label: String,
    /// Its start, since the start of the run.
    pub(crate) t_ns: u64,
    pub(crate) length_ns: u64,
    /// Whether it counts, or is load before the measured time.
    pub(crate) measured: bool,
    pub(crate) iops: f64,
    pub(crate) bytes_per_second: f64,
    pub(crate) p99_ns: Option<u64>,
}

impl LiveRun {
    /// A run that has just begun.
    pub(crate) fn new(started: RunStarted) -> Self {
        let mut targets: Vec<String> = Vec::new();
        for cell in &started.plan.cells {
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
        }
        let has_several = targets.len() > 1;
        let of_plan = |plan: &CellPlan| {
            let place = started.environment.place_of(&plan.target).unwrap_or(&plan.target);
            LiveCell::of(plan, place, has_several)
        };
        let cells: Vec<LiveCell> = started.plan.cells.iter().map(of_plan).collect();
        Self {
            id: started.id,
            name: started.name,
            tags: started.tags,
            targets: if targets.is_empty() { started.asked.targets } else { targets },
            started: started.started,
            in_cluster: started.environment.cluster.is_some(),
            phase: Phase::Preparing,
            elapsed_ns: 0,
            layout: None,
            remaining_ns: None,
            remaining_max_ns: None,
            remaining_at_ns: 0,
            slots_done: 0,
            slots: cells.iter().map(|cell| cell.slots).sum(),
            errors: 0,
            cells,
            seconds: VecDeque::new(),
        }
    }

    /// Takes in an event. Events of cells that the plan does not have are ignored.
    pub(crate) fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::SlotStarted { cell, t_ns, .. } => {
                self.elapsed_ns = self.elapsed_ns.max(*t_ns);
                self.phase = Phase::Measuring;
                self.layout = None;
                self.cell(*cell, |cell| (cell.is_measured, cell.since_ns) = (true, *t_ns));
            }
            RunEvent::Interval { cell, interval } => {
                self.elapsed_ns = self.elapsed_ns.max(interval.t_ns.saturating_add(interval.length_ns));
                let Some(label) = self.cells.get(*cell).map(|cell| cell.label.clone()) else { return };
                let Some((iops, bytes_per_second)) = interval.iops().zip(interval.bytes_per_second()) else { return };
                self.seconds.push_back(LiveSecond {
                    cell: *cell,
                    label,
                    t_ns: interval.t_ns,
                    length_ns: interval.length_ns,
                    measured: interval.measured,
                    iops,
                    bytes_per_second,
                    p99_ns: interval.p99_ns,
                });
                let at_once = self.cells.iter().filter(|cell| cell.is_measured).count();
                while self.seconds.len() > SECONDS_MIN.max(SECONDS_OF_CELL * at_once) {
                    self.seconds.pop_front();
                }
            }
            RunEvent::SlotFinished(slot) => {
                self.elapsed_ns = self.elapsed_ns.max(slot.from_ns.saturating_add(slot.elapsed_ns));
                let is_done = !slot.is_cut && slot.purpose != SlotPurpose::Bookend;
                self.slots_done += u32::from(is_done);
                self.errors += slot.errors.iter().map(|error| error.count).sum::<u64>();
                self.cell(slot.cell, |cell| {
                    cell.slots_done += u32::from(is_done);
                    cell.is_measured = false;
                    cell.is_done |= cell.slots.is_some_and(|slots| cell.slots_done >= slots);
                });
                let goes_on = self.cells.iter().any(|cell| cell.is_measured);
                self.phase = if goes_on { Phase::Measuring } else { Phase::Between };
            }
            RunEvent::CellProgress {
                cell,
                precision,
                precision_wanted,
                is_done,
                run_remaining_ns,
                run_remaining_max_ns,
            } => {
                self.cell(*cell, |cell| {
                    (cell.precision, cell.precision_wanted) = (*precision, *precision_wanted);
                    cell.is_done = *is_done;
                });
                // Of what only its amount ends nobody knows how long it can take.
                let has_end = self.cells.iter().all(|cell| cell.is_done || !cell.is_open_ended);
                self.remaining_ns = Some(*run_remaining_ns);
                self.remaining_max_ns = has_end.then_some(*run_remaining_max_ns);
                self.remaining_at_ns = self.elapsed_ns;
            }
            RunEvent::CellFinished { cell, judgement } => {
                self.cell(*cell, |cell| {
                    cell.word = Some(judgement.verdict.as_str());
                    cell.is_done = true;
                });
            }
            RunEvent::Resumed(resumption) => {
                self.elapsed_ns = self.elapsed_ns.max(resumption.t_ns);
                self.cells.iter_mut().for_each(|cell| cell.is_measured = false);
                (self.remaining_ns, self.remaining_max_ns) = (None, None);
                self.phase = Phase::Preparing;
            }
            RunEvent::Finished { elapsed_ns, .. } => {
                self.elapsed_ns = *elapsed_ns;
                self.phase = Phase::Ended;
            }
            RunEvent::LayoutProgress { target, written_bytes, total_bytes } => {
                let (written_bytes, total_bytes) = (*written_bytes, *total_bytes);
                self.layout = Some(LiveLayout { target: target.clone(), written_bytes, total_bytes });
            }
            RunEvent::LayoutFinished { .. } => self.layout = None,
            RunEvent::Started(_)
            | RunEvent::EngineSelected { .. }
            | RunEvent::PhaseProgress { .. }
            | RunEvent::StageProgress { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Found { .. }
            | RunEvent::Warning { .. } => {}
        }
    }

    fn cell(&mut self, cell: usize, change: impl FnOnce(&mut LiveCell)) {
        if let Some(cell) = self.cells.get_mut(cell) {
            change(cell);
        }
    }

    /// The same with its last seconds.
    pub(crate) const fn with_seconds(&self) -> WithSeconds<'_> {
        WithSeconds { run: self, seconds: &self.seconds }
    }

    /// Says what each cell does now: what it did in its last second of this visit, unless the whole run has been silent
    /// for `silent_ns`, or others of it tell of what was later, for too long.
    pub(crate) fn tell_now(&mut self, silent_ns: u64) {
        self.cells.iter_mut().for_each(|cell| cell.now = None);
        if silent_ns > NOW_NS {
            return;
        }
        let from_ns = self.elapsed_ns.saturating_sub(NOW_NS);
        for second in &self.seconds {
            let cell = &mut self.cells[second.cell];
            let is_of_visit = cell.is_measured && second.t_ns >= cell.since_ns;
            if is_of_visit && second.t_ns.saturating_add(second.length_ns) >= from_ns {
                cell.now = Some(second.clone());
            }
        }
    }
}

impl LiveCell {
    fn of(plan: &CellPlan, place: &str, with_target: bool) -> Self {
        let CellPlan { target, workload, stopping, work, .. } = plan;
        Self {
            target: target.clone(),
            place: place.to_owned(),
            workload: workload.clone(),
            label: if with_target { format!("{target} {workload}") } else { workload.clone() },
            slots_done: 0,
            slots: stopping.slots(),
            is_measured: false,
            now: None,
            since_ns: 0,
            is_done: false,
            is_open_ended: work.is_open_ended(),
            precision: None,
            precision_wanted: None,
            word: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_what_only_its_amount_ends_no_run_has_a_longest_time() {
        let text = include_str!("../../../fixtures/records/plimsoll-1.events.ndjson");
        let Some(Ok(RunEvent::Started(started))) = text.lines().map(serde_json::from_str).next() else {
            panic!("a run begins with its start")
        };
        let mut run = LiveRun::new(*started);
        let mut longest = |is_open_ended: bool, is_done: bool| {
            run.cells.iter_mut().for_each(|cell| (cell.is_open_ended, cell.is_done) = (is_open_ended, is_done));
            run.apply(&RunEvent::CellProgress {
                cell: 0,
                precision: None,
                precision_wanted: Some(0.02),
                is_done,
                run_remaining_ns: 5,
                run_remaining_max_ns: 9,
            });
            (run.remaining_ns, run.remaining_max_ns)
        };
        assert_eq!(longest(false, false), (Some(5), Some(9)));
        assert_eq!(longest(true, false), (Some(5), None));
        assert_eq!(longest(true, true), (Some(5), Some(9)));
    }

    #[test]
    fn of_many_cells_at_once_each_has_its_last_second() {
        let text = include_str!("../../../fixtures/records/plimsoll-1.events.ndjson");
        let mut events = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let Some(RunEvent::Started(mut started)) = events.next() else { panic!("a run begins with its start") };
        let (slot, interval) = events.fold((None, None), |(slot, second), event| match event {
            event @ RunEvent::SlotStarted { .. } => (Some(event), second),
            RunEvent::Interval { interval, .. } => (slot, Some(interval)),
            _ => (slot, second),
        });
        let (mut slot, mut interval) = (slot.unwrap(), interval.unwrap());
        let count = SECONDS_MIN + 40;
        started.plan.cells = vec![started.plan.cells[0].clone(); count];
        let mut run = LiveRun::new(*started);
        for index in 0..count {
            let RunEvent::SlotStarted { cell, t_ns, .. } = &mut slot else { panic!("it is the start of a slot") };
            (*cell, *t_ns) = (index, 0);
            run.apply(&slot);
        }
        for second in 0..3 {
            interval.t_ns = second * 1_000_000_000;
            (0..count).for_each(|cell| run.apply(&RunEvent::Interval { cell, interval: interval.clone() }));
        }
        let now = |run: &LiveRun| run.cells.iter().filter(|cell| cell.now.is_some()).count();
        run.tell_now(0);
        assert_eq!(now(&run), count);
        assert_eq!(run.seconds.len(), SECONDS_OF_CELL * count);
        assert!(run.seconds.iter().all(|second| second.t_ns >= 1_000_000_000));
        // One of them hangs, and then all do.
        interval.t_ns = 9_000_000_000;
        (1..count).for_each(|cell| run.apply(&RunEvent::Interval { cell, interval: interval.clone() }));
        run.tell_now(NOW_NS);
        assert!(run.cells[0].now.is_none() && now(&run) == count - 1);
        run.tell_now(NOW_NS + 1);
        assert_eq!(now(&run), 0);
    }
}
