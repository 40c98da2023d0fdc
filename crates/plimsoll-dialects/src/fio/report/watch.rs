//! A run that goes on: fio's line of progress, and a record of what there is so far for a report meanwhile. A fold of
//! the run's events; it knows no other time than theirs.

use std::fmt::Write as _;

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_record::{
    builder::RecordBuilder,
    event::RunEvent,
    record::{Cell, Record},
    results::{DirectionResult, Interval},
};
use plimsoll_workload::plan::{BlockPlan, CellPlan, Plan};

use super::{
    normal::Notation,
    seconds::Rate,
    words::{self, Prefixes, Unit, short},
};
use crate::fio::{job::Jobs, lowering::CellOf};

/// Longer estimates are none.
const LONGEST_NS: f64 = 1e18;

/// What is known of a run that goes on.
#[derive(Clone, Debug)]
pub struct Watch<'a> {
    jobs: &'a Jobs,
    cells: &'a [CellOf],
    builder: Option<RecordBuilder>,
    plan: Vec<CellPlan>,
    visits: Vec<Visit>,
    /// What the rules expect of the rest of the run, where they decide.
    expected: Option<Expected>,
}

#[derive(Clone, Copy, Debug)]
struct Expected {
    at_ns: u64,
    left_ns: u64,
}

/// How far a cell is.
#[derive(Clone, Debug, Default)]
struct Visit {
    course: Course,
    round: u32,
    began_ns: u64,
    ramp_ns: u64,
    measured_ns: Option<u64>,
    /// The end of the last second that was heard of.
    until_ns: u64,
    /// Operations and bytes of the slot, ramp included.
    operations: u64,
    bytes: u64,
    read: Rate,
    write: Rate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Course {
    #[default]
    Waiting,
    Running,
    Over,
}

impl<'a> Watch<'a> {
    /// A run that has not begun; `cells` are those of the plan, in its order.
    pub const fn new(jobs: &'a Jobs, cells: &'a [CellOf]) -> Self {
        Self { jobs, cells, builder: None, plan: Vec::new(), visits: Vec::new(), expected: None }
    }

    /// Takes in an event.
    pub fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Started(started) = event {
            let Plan { cells, .. } = started.plan.clone();
            self.visits = vec![Visit::default(); cells.len()];
            self.plan = cells;
            self.builder = Some(RecordBuilder::new((**started).clone()));
        }
        if let Some(builder) = &mut self.builder {
            builder.apply(event);
        }
        match event {
            RunEvent::SlotStarted { cell, round, t_ns, ramp_ns, measured_ns, .. } => {
                let Some(visit) = self.visits.get_mut(*cell) else { return };
                *visit = Visit {
                    course: Course::Running,
                    round: *round,
                    began_ns: *t_ns,
                    until_ns: *t_ns,
                    ramp_ns: *ramp_ns,
                    measured_ns: *measured_ns,
                    ..Visit::default()
                };
            }
            RunEvent::Interval { cell, interval } => {
                if let Some(visit) = self.visits.get_mut(*cell) {
                    visit.add(interval);
                }
            }
            RunEvent::SlotFinished(slot) => {
                if let Some(visit) = self.visits.get_mut(slot.cell) {
                    visit.course = Course::Over;
                }
            }
            RunEvent::CellProgress { run_remaining_ns, .. } => {
                self.expected = Some(Expected { at_ns: self.time_ns(), left_ns: *run_remaining_ns });
            }
            _ => {}
        }
    }

    /// The time since the start of the run until which all that runs has been heard of.
    pub fn time_ns(&self) -> u64 {
        let heard_ns = self.running().map(|(_, visit)| visit.until_ns).min();
        heard_ns.unwrap_or_else(|| self.builder.as_ref().map_or(0, |builder| builder.record().elapsed_ns))
    }

    /// The record of what was done until now, in which nothing is finished. Latencies are those of slots that are over:
    /// of one that goes on the events do not tell them.
    pub fn record(&self) -> Option<Record> {
        let mut record = self.builder.as_ref()?.record().clone();
        for (cell, visit) in record.cells.iter_mut().zip(&self.visits) {
            if visit.course == Course::Running {
                add_running(cell, visit.round);
            }
            // Nothing of it is an error yet.
            if cell.verdict.is_none() {
                cell.verdict_reason = None;
            }
        }
        Some(record)
    }

    /// How long the run will go on, as far as that can be told.
    pub fn left_ns(&self) -> Option<u64> {
        if self.plan.iter().any(|cell| cell.phase.is_none()) {
            let expected = self.expected?;
            return Some(expected.left_ns.saturating_sub(self.time_ns().saturating_sub(expected.at_ns)));
        }
        let mut phases: Vec<u32> = self.plan.iter().filter_map(|cell| cell.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        let of_phase = |phase: u32| -> Option<u64> {
            let cells = self.plan.iter().zip(&self.visits).filter(|(plan, _)| plan.phase == Some(phase));
            cells.map(|(plan, visit)| visit.left_ns(blocks(plan))).try_fold(0, |most, left| Some(left?.max(most)))
        };
        phases.into_iter().map(of_phase).try_fold(0_u64, |sum, left| Some(sum.saturating_add(left?)))
    }

    /// fio's line of progress, without anything that moves the cursor.
    pub fn line(&self) -> String {
        let (mut threads, mut files) = (0, 0);
        let mut rates = [Rate::default(); 2];
        for (plan, visit) in self.running() {
            threads += blocks(plan).jobs;
            files += blocks(plan).jobs.saturating_mul(blocks(plan).file_count);
            rates = [rates[0].plus(visit.read), rates[1].plus(visit.write)];
        }
        let mut line = format!("Jobs: {threads} (f={files})");
        let Some(left_ns) = self.left_ns().filter(|_| threads > 0) else { return line };
        let elapsed_ns = self.time_ns();
        let is_ramping = self.running().all(|(_, visit)| visit.is_in_ramp());
        let share = if is_ramping {
            "-.-%".to_owned()
        } else {
            format!("{:.1}%", elapsed_ns as f64 / elapsed_ns.saturating_add(left_ns).max(1) as f64 * 100.0)
        };
        write!(line, ": [{}][{share}]", self.letters()).expect("a string takes all");
        line += &self.rates(rates);
        write!(line, "[eta {}]", words::clock(left_ns.div_ceil(1_000_000_000))).expect("a string takes all");
        line
    }

    fn running(&self) -> impl Iterator<Item = (&CellPlan, &Visit)> {
        self.plan.iter().zip(&self.visits).filter(|(_, visit)| visit.course == Course::Running)
    }

    /// A letter for what each thread is doing, with how many do the same: `R(1),_(2)`.
    fn letters(&self) -> String {
        let mut threads: Vec<(CellOf, char, u32)> = Vec::new();
        for ((plan, visit), of) in self.plan.iter().zip(&self.visits).zip(self.cells) {
            threads.push((*of, visit.letter(plan), blocks(plan).jobs));
        }
        threads.sort_by_key(|(of, ..)| (of.job, of.clone));
        let mut told: Vec<(char, u32)> = Vec::new();
        for (_, letter, count) in threads {
            match told.last_mut().filter(|(last, _)| *last == letter) {
                Some((_, sum)) => *sum = sum.saturating_add(count),
                None => told.push((letter, count)),
            }
        }
        told.iter().map(|(letter, count)| format!("{letter}({count})")).collect::<Vec<_>>().join(",")
    }

    /// `[r=684MiB/s][r=175k IOPS]`; nothing when nothing was done in the last second.
    fn rates(&self, rates: [Rate; 2]) -> String {
        let Some(job) = self.jobs.jobs.first() else { return String::new() };
        let notation = Notation::of(&job.settings.report);
        let done = || ["r", "w"].into_iter().zip(rates).filter(|(_, rate)| rate.operations > 0.0 || rate.bytes > 0.0);
        if done().next().is_none() {
            return String::new();
        }
        let list = |of: &dyn Fn(Rate) -> String| -> String {
            done().map(|(name, rate)| format!("{name}={}", of(rate))).collect::<Vec<_>>().join(",")
        };
        let bytes = list(&|rate| notation.rate(rate.bytes as u64));
        let operations = list(&|rate| short(rate.operations as u64, 4, Prefixes::Decimal, Unit::None));
        format!("[{bytes}][{operations} IOPS]")
    }
}

/// What a cell of fio does, which has jobs of blocks and no others.
fn blocks(plan: &CellPlan) -> &BlockPlan {
    plan.blocks().expect("jobs of fio are of blocks")
}

impl Visit {
    fn add(&mut self, interval: &Interval) {
        let Interval { t_ns, length_ns, read_operations, write_operations, read_bytes, write_bytes, .. } = *interval;
        self.until_ns = self.until_ns.max(t_ns.saturating_add(length_ns));
        self.operations = self.operations.saturating_add(read_operations).saturating_add(write_operations);
        self.bytes = self.bytes.saturating_add(read_bytes).saturating_add(write_bytes);
        self.read = Rate::of(read_operations, read_bytes, length_ns.max(1));
        self.write = Rate::of(write_operations, write_bytes, length_ns.max(1));
    }

    const fn is_in_ramp(&self) -> bool {
        self.until_ns < self.began_ns.saturating_add(self.ramp_ns)
    }

    fn letter(&self, plan: &CellPlan) -> char {
        match self.course {
            Course::Waiting => 'P',
            Course::Over => '_',
            Course::Running if self.is_in_ramp() => '/',
            Course::Running => {
                let letter = match (blocks(plan).reads(), blocks(plan).writes()) {
                    (true, true) => 'm',
                    (false, true) => 'w',
                    _ => 'r',
                };
                if blocks(plan).random_percent > 0 { letter } else { letter.to_ascii_uppercase() }
            }
        }
    }

    /// How long the cell will take from now on; what ends it first counts.
    fn left_ns(&self, plan: &BlockPlan) -> Option<u64> {
        match self.course {
            Course::Over => Some(0),
            Course::Waiting => {
                plan.slot_ns.map(|slot_ns| slot_ns.saturating_add(plan.ramp_ns).saturating_add(plan.start_delay_ns))
            }
            Course::Running => {
                let passed_ns = self.until_ns.saturating_sub(self.began_ns);
                let by_time = self.measured_ns.map(|ns| ns.saturating_add(self.ramp_ns).saturating_sub(passed_ns));
                let share = |done: u64, all: Option<u64>| all.map(|all| done as f64 / all.max(1) as f64);
                let share = share(self.bytes, plan.amount_bytes).or_else(|| share(self.operations, plan.operations));
                let by_amount = share.map(|share| passed_ns as f64 * (1.0 - share).max(0.0) / share);
                let by_amount = by_amount.filter(|left| *left < LONGEST_NS).map(|left| left as u64);
                by_time.into_iter().chain(by_amount).min()
            }
        }
    }
}

/// Adds to a cell what the seconds of a slot that goes on tell.
fn add_running(cell: &mut Cell, round: u32) {
    let seconds = || cell.series.iter().filter(|second| second.round == round && second.measured);
    let elapsed_ns = seconds().map(|second| second.length_ns).sum::<u64>();
    let reads = seconds().map(|second| (second.read_operations, second.read_bytes)).collect::<Vec<_>>();
    let writes = seconds().map(|second| (second.write_operations, second.write_bytes)).collect::<Vec<_>>();
    for (result, seconds) in [(&mut cell.read, reads), (&mut cell.write, writes)] {
        let operations = seconds.iter().map(|(operations, _)| operations).sum::<u64>();
        let bytes = seconds.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if operations > 0 {
            let before = result.take();
            let sum = |of: fn(&DirectionResult) -> u64| before.as_ref().map_or(0, of);
            let (operations, bytes) = (operations + sum(|of| of.operations), bytes + sum(|of| of.bytes));
            let elapsed_ns = elapsed_ns + sum(|of| of.elapsed_ns);
            let histogram = before.map_or_else(LatencyHistogram::coarse, |before| before.histogram);
            *result = Some(DirectionResult::new(operations, bytes, elapsed_ns, histogram));
        }
    }
}
