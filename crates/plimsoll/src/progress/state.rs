//! What is known of a running run: a fold of its events, and the words for it. Pure: the time is handed in.

use std::collections::VecDeque;

use plimsoll_measure::verdict::Verdict;
use plimsoll_record::{
    event::{RunEvent, SlotResult},
    numbers,
    results::Interval,
};
use plimsoll_report::printable;
use plimsoll_workload::{
    application::Stage,
    file_set::FilePhase,
    plan::{CellPlan, Plan},
};

use self::{
    rates::{Rates, Second},
    remaining::{Expected, Remaining},
};

pub(crate) mod details;
pub(crate) mod rates;
mod remaining;

/// How many seconds of load are kept of each cell: more than fit into a line of most terminals.
const SECONDS_KEPT: usize = 240;

/// What is left at the end of a slot and is shorter than this is part of the second before it.
const SECOND_LEAST_NS: u64 = 500_000_000;

/// A cell that nothing is heard of for so long, while others tell of theirs, is over or stands still.
const SILENCE_NS: u64 = 3_000_000_000;

/// How many sentences are kept.
const SENTENCES_KEPT: usize = 16;

/// A run as far as its events have told.
#[derive(Clone, Debug)]
pub(crate) struct ProgressState {
    started_ns: u64,
    name: Option<String>,
    cells: Vec<CellProgress>,
    /// The last sentences about the run.
    sentences: VecDeque<String>,
    /// Operations that failed in slots that are over, and how many of these there are.
    errors: u64,
    slots_over: u32,
    targets: usize,
    targets_laid_out: usize,
    /// The cell of the last visit that began alone, or first of several.
    current: usize,
    activity: Activity,
    /// What the session expects; absent where slots end by their amounts, which it knows less of.
    expected: Option<Expected>,
}

/// A cell of the plan, and what is left of it.
#[derive(Clone, Debug)]
struct CellProgress {
    target: String,
    workload: String,
    /// What it is called, with its target where there are several: nothing that a terminal would act on.
    label: String,
    /// The phase of the plan that it belongs to, with the cells that run at the same time.
    phase: Option<u32>,
    /// Slots of the plan; `None` when the rules decide.
    rounds: Option<u32>,
    rounds_left: u32,
    /// The last visit that began, and when; when its time is over, and when a second of it was told last.
    round: u32,
    began_ns: u64,
    ends_ns: u64,
    heard_ns: Option<u64>,
    /// How sure the rate is, and should be.
    precision: Option<f64>,
    precision_wanted: Option<f64>,
    is_done: bool,
    start_delay_ns: u64,
    ramp_ns: u64,
    /// Measured time of a slot; `None` when an amount may end it, so that nobody knows.
    slot_ns: Option<u64>,
    ends_by_amount: bool,
    /// Whether nothing else ends its slots.
    is_open_ended: bool,
    /// Whether slots have a time and no seconds of load: files as sets, and applications.
    is_timed: bool,
    keep_going: bool,
    /// What it did in the last second, or in its last slot when that is over.
    latest: Option<Rates>,
    /// Whether that second was one of a ramp.
    is_ramp: bool,
    /// The last measured seconds of load, the latest at the end.
    seconds: VecDeque<Second>,
    /// What its last slots took, where it is timed.
    slots_ns: VecDeque<u64>,
    /// Visits that are over.
    slots_done: u32,
    errors: u64,
    verdict: Option<Verdict>,
}

/// What the run is doing.
#[derive(Clone, Debug)]
enum Activity {
    Preparing,
    Layout {
        target: String,
        written_bytes: u64,
        total_bytes: u64,
        from_ns: u64,
        from_bytes: u64,
    },
    /// Slots that began together, most often one.
    Slots {
        cells: Vec<usize>,
        from_ns: u64,
        /// What of it is being done, where that is known.
        part: Option<PartShown>,
    },
    /// An application on its target before the first slot.
    SettingUp(usize),
    Between,
    /// Nothing, until it is time for the next slot.
    Waiting {
        from_ns: u64,
        until_ns: u64,
    },
    Finished,
}

/// What of a slot is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartShown {
    /// A phase of a set of files, and how far it is.
    Phase { phase: FilePhase, done: u64, total: u64 },
    /// A stage of an application.
    Stage(Stage),
}

/// What there is to show.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shown {
    /// What the run is doing, in words.
    pub(crate) phase: String,
    /// How long it has been going on.
    pub(crate) elapsed_ns: u64,
    /// How long it will go on.
    pub(crate) remaining: Remaining,
    /// What the cell did when it was last heard of.
    pub(crate) rates: Option<Rates>,
}

impl CellProgress {
    fn of(plan: &CellPlan, with_target: bool) -> Self {
        let work = &plan.work;
        let place = if with_target { format!(" on {}", plan.target) } else { String::new() };
        Self {
            target: plan.target.clone(),
            workload: plan.workload.clone(),
            label: printable::line(&format!("{}{place}", plan.workload)).into_owned(),
            phase: plan.phase,
            rounds: plan.stopping.slots(),
            rounds_left: plan.stopping.slots().unwrap_or(0),
            round: 0,
            began_ns: 0,
            ends_ns: u64::MAX,
            heard_ns: None,
            precision: None,
            precision_wanted: None,
            is_done: false,
            start_delay_ns: work.start_delay_ns(),
            ramp_ns: work.ramp_ns(),
            slot_ns: work.slot_ns().filter(|_| !work.ends_by_amount()),
            ends_by_amount: work.ends_by_amount(),
            is_open_ended: work.is_open_ended(),
            is_timed: work.blocks().is_none(),
            keep_going: work.keeps_going(),
            latest: None,
            is_ramp: false,
            seconds: VecDeque::new(),
            slots_ns: VecDeque::new(),
            slots_done: 0,
            errors: 0,
            verdict: None,
        }
    }

    /// Takes in that a visit began, and how long it is to be measured.
    fn begin(&mut self, round: u32, measured_ns: Option<u64>, now_ns: u64) {
        self.rounds_left = self.rounds.unwrap_or(0).saturating_sub(round + 1);
        (self.round, self.began_ns) = (round, now_ns);
        let delay_ns = if round == 0 { self.start_delay_ns } else { 0 };
        let known_ns = measured_ns.filter(|_| !self.ends_by_amount);
        self.ends_ns = known_ns.map_or(u64::MAX, |measured_ns| now_ns + delay_ns + self.ramp_ns + measured_ns);
        self.heard_ns = None;
        self.is_ramp = self.ramp_ns > 0;
    }

    /// Takes in a second of load.
    fn take_in(&mut self, interval: &Interval, now_ns: u64) {
        self.heard_ns = Some(now_ns);
        let Some(rates) = Rates::of(interval) else { return };
        self.is_ramp = !interval.measured;
        if self.is_ramp {
            self.latest = Some(rates);
            return;
        }
        let second = Second { round: interval.round, length_ns: interval.length_ns, rates };
        match self.seconds.back_mut() {
            Some(last) if second.length_ns < SECOND_LEAST_NS && last.round == second.round => last.lengthen(&second),
            _ => keep(&mut self.seconds, SECONDS_KEPT, Some(second)),
        }
        self.latest = self.seconds.back().map(|second| second.rates);
    }

    /// Whether its visit is still going on, as far as can be told from outside.
    fn goes_on(&self, now_ns: u64) -> bool {
        now_ns < self.ends_ns && self.heard_ns.is_none_or(|heard_ns| now_ns < heard_ns.saturating_add(SILENCE_NS))
    }
}

impl ProgressState {
    /// A run that begins now.
    pub(crate) fn new(plan: &Plan, now_ns: u64) -> Self {
        let mut targets: Vec<&str> = plan.cells.iter().map(|cell| cell.target.as_str()).collect();
        targets.sort_unstable();
        targets.dedup();
        Self {
            started_ns: now_ns,
            name: None,
            sentences: VecDeque::new(),
            errors: 0,
            slots_over: 0,
            cells: plan.cells.iter().map(|cell| CellProgress::of(cell, targets.len() > 1)).collect(),
            targets: targets.len(),
            targets_laid_out: 0,
            current: 0,
            activity: Activity::Preparing,
            expected: Expected::of(plan, now_ns),
        }
    }

    /// Takes in an event that happened now. Events of cells that the plan does not have are ignored.
    pub(crate) fn apply(&mut self, event: &RunEvent, now_ns: u64) {
        match event {
            RunEvent::LayoutProgress { target, written_bytes, total_bytes } => {
                self.lay_out(target, *written_bytes, *total_bytes, now_ns);
            }
            RunEvent::LayoutFinished { .. } => {
                self.targets_laid_out += 1;
                self.activity = Activity::Preparing;
            }
            RunEvent::SlotStarted { cell, round, measured_ns, .. } => {
                if let Some(progress) = self.cells.get_mut(*cell) {
                    progress.begin(*round, *measured_ns, now_ns);
                    match &mut self.activity {
                        Activity::Slots { cells, .. } => cells.push(*cell),
                        _ => {
                            self.let_time_pass(now_ns);
                            self.current = *cell;
                            self.activity = Activity::Slots { cells: vec![*cell], from_ns: now_ns, part: None }
                        }
                    }
                }
            }
            RunEvent::Interval { cell, interval } => {
                if let Some(progress) = self.cells.get_mut(*cell) {
                    progress.take_in(interval, now_ns);
                    self.pass_over_ended(*cell, now_ns);
                }
            }
            RunEvent::PhaseProgress { phase, done, total, .. } => {
                if let Activity::Slots { part, .. } = &mut self.activity {
                    *part = Some(PartShown::Phase { phase: *phase, done: *done, total: *total });
                }
            }
            RunEvent::StageProgress { cell, stage } => match &mut self.activity {
                Activity::Slots { part, .. } => *part = Some(PartShown::Stage(*stage)),
                _ if *cell < self.cells.len() => self.activity = Activity::SettingUp(*cell),
                _ => {}
            },
            RunEvent::Waiting { left_ns } => {
                self.let_time_pass(now_ns);
                let from_ns = if let Activity::Waiting { from_ns, .. } = self.activity { from_ns } else { now_ns };
                self.activity = Activity::Waiting { from_ns, until_ns: now_ns.saturating_add(*left_ns) };
            }
            RunEvent::SlotFinished(slot) => {
                self.count(slot);
                self.end_slot(slot, now_ns);
            }
            RunEvent::CellProgress {
                cell,
                precision,
                precision_wanted,
                is_done,
                run_remaining_ns,
                run_remaining_max_ns,
            } => {
                if let Some(progress) = self.cells.get_mut(*cell) {
                    (progress.precision, progress.precision_wanted) = (*precision, *precision_wanted);
                    progress.is_done = *is_done;
                }
                self.expected = self.expected.map(|_| Expected {
                    left_ns: *run_remaining_ns,
                    left_max_ns: *run_remaining_max_ns,
                    at_ns: now_ns,
                });
            }
            RunEvent::Resumed(_) => self.activity = Activity::Preparing,
            RunEvent::Finished { .. } => self.activity = Activity::Finished,
            RunEvent::Started(started) => self.name.clone_from(&started.name),
            RunEvent::Found { cell, finding } => self.find(*cell, finding),
            RunEvent::Warning { text } => self.say(&format!("warning: {text}")),
            RunEvent::CellFinished { cell, judgement } => {
                if let Some(progress) = self.cells.get_mut(*cell) {
                    progress.verdict = Some(judgement.verdict);
                }
            }
            RunEvent::EngineSelected { .. } => {}
        }
    }

    fn lay_out(&mut self, target: &str, written_bytes: u64, total_bytes: u64, now_ns: u64) {
        // The rate counts from what was first heard of this target.
        let (from_ns, from_bytes) = match &self.activity {
            Activity::Layout { target: known, from_ns, from_bytes, .. } if known == target => (*from_ns, *from_bytes),
            _ => (now_ns, written_bytes),
        };
        self.activity = Activity::Layout { target: target.to_owned(), written_bytes, total_bytes, from_ns, from_bytes };
    }

    /// Of slots that began together, those that are over before others are not what is being done any more.
    fn pass_over_ended(&mut self, heard: usize, now_ns: u64) {
        let Activity::Slots { cells, .. } = &mut self.activity else { return };
        if !cells.contains(&heard) {
            cells.push(heard);
        }
        let goes_on = |cell: &usize| self.cells[*cell].goes_on(now_ns);
        if cells.iter().any(goes_on) {
            cells.retain(goes_on);
        }
        if !cells.contains(&self.current) {
            self.current = cells[0];
        }
    }

    fn end_slot(&mut self, slot: &SlotResult, now_ns: u64) {
        self.let_slots_end(now_ns);
        self.activity = Activity::Between;
        let Some(progress) = self.cells.get_mut(slot.cell) else { return };
        if !slot.phases.is_empty() || slot.application.is_some() {
            // The next one will take about as long.
            progress.slot_ns = Some(now_ns.saturating_sub(progress.began_ns));
        }
        if !progress.keep_going && !slot.errors.is_empty() {
            // A cell that met an error is not visited again.
            progress.rounds_left = 0;
        }
    }

    /// What there is to show now.
    pub(crate) fn shown(&self, now_ns: u64) -> Shown {
        Shown {
            phase: printable::line(&self.activity_in_words(now_ns)).into_owned(),
            elapsed_ns: now_ns.saturating_sub(self.started_ns),
            remaining: self.remaining(now_ns),
            rates: match &self.activity {
                Activity::Slots { cells, .. } => {
                    cells.iter().filter_map(|cell| self.cells[*cell].latest).reduce(Rates::with)
                }
                _ => None,
            },
        }
    }

    fn activity_in_words(&self, now_ns: u64) -> String {
        match &self.activity {
            Activity::Preparing => "preparing".to_owned(),
            Activity::Layout { target, written_bytes, total_bytes, .. } => format!(
                "writing test files in {target}, {} of {}",
                numbers::bytes(*written_bytes),
                numbers::bytes(*total_bytes)
            ),
            Activity::SettingUp(cell) => {
                let cell = &self.cells[*cell];
                format!("setting up {} on {}", cell.workload, cell.target)
            }
            Activity::Slots { cells, from_ns, part } => {
                let (index, others) = cells.split_first().expect("a slot has a cell");
                let cell = &self.cells[*index];
                let is_ramp = now_ns.saturating_sub(*from_ns) < cell.ramp_ns;
                let doing = match part {
                    _ if is_ramp => "ramp of".to_owned(),
                    None => "measuring".to_owned(),
                    Some(PartShown::Stage(stage)) => in_words(*stage).to_owned(),
                    Some(PartShown::Phase { phase, done, total }) => {
                        let of = if *total > 0 { format!(" of {}", numbers::count(*total)) } else { String::new() };
                        format!("{phase} {}{of},", numbers::count(*done))
                    }
                };
                let place = if self.targets > 1 { format!(" on {}", cell.target) } else { String::new() };
                let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
                let rounds = cell.rounds.map_or_else(String::new, |rounds| format!(" of {rounds}"));
                format!(
                    "{doing} {}{place}{others}, cell {} of {}, round {}{rounds}{}",
                    cell.workload,
                    index + 1,
                    self.cells.len(),
                    cell.round + 1,
                    self.certainty_in_words(cell)
                )
            }
            Activity::Between => "between slots".to_owned(),
            Activity::Waiting { until_ns, .. } => {
                format!("waiting {} before the next slot", numbers::clock(until_ns.saturating_sub(now_ns)))
            }
            Activity::Finished => "finishing".to_owned(),
        }
    }
}

/// Adds what comes, and forgets the oldest.
fn keep<T>(kept: &mut VecDeque<T>, most: usize, more: Option<T>) {
    kept.extend(more);
    while kept.len() > most {
        kept.pop_front();
    }
}

/// What a stage of an application does, before its name.
const fn in_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Setup | Stage::Ready => "setting up",
        Stage::Prepare => "preparing",
        Stage::Settle => "waiting for the disk to rest before",
        Stage::Run => "timing",
        Stage::Verify => "verifying",
        Stage::Conclude => "concluding",
        Stage::Cleanup => "cleaning up",
    }
}

impl ProgressState {
    /// How sure the cell is by now, and how many cells are: `, +-3.1 % of 2 %, 2 cells done`.
    fn certainty_in_words(&self, cell: &CellProgress) -> String {
        let Some(wanted) = cell.precision_wanted else { return String::new() };
        let reached = cell.precision.map_or_else(String::new, |precision| {
            format!(", +-{} (wanted {})", numbers::percent(precision), numbers::percent(wanted))
        });
        match self.cells.iter().filter(|cell| cell.is_done).count() {
            0 => reached,
            done => format!("{reached}, {done} done"),
        }
    }
}

impl Shown {
    /// How much of the run is done, in thousandths of the time that it is expected to take.
    pub(crate) fn done_per_mille(&self) -> u64 {
        if self.remaining.is_unknown() {
            return 0;
        }
        let total_ns = self.elapsed_ns.saturating_add(self.remaining.ns).max(1);
        (u128::from(self.elapsed_ns) * 1000 / u128::from(total_ns)) as u64
    }

    /// Elapsed and remaining time: `12 s in, 1m 50s left`.
    pub(crate) fn times(&self) -> String {
        let Remaining { ns, at_least, at_most_ns } = self.remaining;
        if self.remaining.is_unknown() {
            return format!("{} in, time left unknown", numbers::clock(self.elapsed_ns));
        }
        let hedge = match (at_least, at_most_ns) {
            (true, _) => "at least ",
            (false, Some(_)) => "about ",
            (false, None) => "",
        };
        let most = at_most_ns.map_or_else(String::new, |ns| format!(" ({} at most)", numbers::clock(ns)));
        format!("{} in, {hedge}{} left{most}", numbers::clock(self.elapsed_ns), numbers::clock(ns))
    }

    /// The rates of the current cell: `9,812 IOPS, 40.2 MB/s, p99 210 us`. Empty while there are none.
    pub(crate) fn rates(&self) -> String {
        let Some(rates) = self.rates else { return String::new() };
        format!(
            "{} IOPS, {} {}, p99 {}",
            numbers::iops(rates.iops),
            rates.throughput(),
            numbers::THROUGHPUT_UNIT,
            numbers::or_absent(rates.p99_ns, |ns| numbers::latency_in_text(ns as f64))
        )
    }
}

#[cfg(test)]
mod tests;
