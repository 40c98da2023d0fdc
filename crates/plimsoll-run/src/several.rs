//! A run that several machines did at the same time, put together from what each of them told: seconds and slots are
//! added up over the time that all of them measured in, and judged like those of one. Of machines that take turns
//! nothing is added up.

mod apart;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use plimsoll_measure::session::{Purpose, Session};
use plimsoll_record::{
    builder::RecordBuilder,
    event::{RunEvent, RunStarted, SlotPurpose, SlotResult},
    judgement,
    pods::SharedVisit,
    record::{Outcome, Record},
    results::{Finding, Interval},
};
use plimsoll_workload::{plan::Plan, settings::EngineChoice};

use self::apart::Apart;
use crate::{judging, run::Story};

/// What is known so far.
pub struct Several {
    members: Vec<Member>,
    together: Option<Together>,
}

/// One machine.
#[derive(Clone, Debug, Default)]
struct Member {
    /// What it is called in sentences.
    name: String,
    /// The time of day at which its run began, in nanoseconds, as its slots tell.
    zero_ns: Option<i128>,
    ended: Option<(u64, Outcome)>,
}

/// What all of them do.
struct Together {
    plan: Plan,
    builder: RecordBuilder,
    session: Session,
    /// The time of day at which the run began.
    zero_ns: Option<i128>,
    /// By cell and round.
    open: BTreeMap<(usize, u32), Visit>,
    done: Vec<SharedVisit>,
    /// What they did one after the other, of machines that take turns.
    apart: Option<Apart>,
}

/// A visit that is being made.
#[derive(Default)]
struct Visit {
    parts: Vec<Part>,
    /// Seconds that were told: each the sum over all.
    seconds: Vec<Interval>,
    /// The results that have come, added up.
    sum: Option<SlotResult>,
    started: usize,
    finished: usize,
}

/// What one machine does in a visit.
#[derive(Clone, Debug, Default)]
struct Part {
    /// The time of day at which its run began.
    zero_ns: i128,
    started_ns: Option<i128>,
    /// Its seconds before that of the machine that began last.
    ahead: usize,
    seconds: Vec<Interval>,
    /// The measured time, by the time of day.
    measured_ns: Option<(i128, i128)>,
}

impl Several {
    /// So many machines, none of which has told anything.
    pub fn new(count: usize) -> Self {
        Self { members: vec![Member::default(); count], together: None }
    }

    /// Takes in what a machine told of its run, and when, by its own clock; hands on what that means for all of them.
    pub fn take(
        &mut self,
        member: usize,
        name: &str,
        at: Timestamp,
        event: &RunEvent,
        tell: &mut dyn FnMut(&RunEvent),
    ) {
        let of = &mut self.members[member];
        of.name.clear();
        of.name.push_str(name);
        match event {
            RunEvent::Started(started) => {
                if self.together.is_none() {
                    self.together = Some(Together::new((**started).clone(), self.members.len()));
                    tell(event);
                }
                return;
            }
            RunEvent::Finished { elapsed_ns, outcome } => of.ended = Some((*elapsed_ns, *outcome)),
            // Between the moment that is told and the telling there is next to nothing.
            RunEvent::SlotStarted { t_ns, .. } => {
                let zero_ns = at.as_nanosecond() - i128::from(*t_ns);
                of.zero_ns = Some(of.zero_ns.map_or(zero_ns, |known| known.min(zero_ns)));
            }
            _ => {}
        }
        let Self { members, together } = self;
        if let Some(together) = together {
            let mut told = Vec::new();
            together.take(member, members, event, &mut told);
            for event in told {
                if together.apart.is_none() || !Apart::keeps(&event) {
                    together.builder.apply(&event);
                }
                tell(&event);
            }
        }
    }

    /// Whether all have ended.
    pub fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.ended.is_some())
    }

    /// The record so far.
    pub fn record(&self) -> Option<&Record> {
        self.together.as_ref().map(|together| together.builder.record())
    }

    /// The visits that all have made.
    pub fn visits(&self) -> &[SharedVisit] {
        self.together.as_ref().map(|together| together.done.as_slice()).unwrap_or_default()
    }

    /// Whether they take turns, so that nothing is added up.
    pub fn take_turns(&self) -> bool {
        self.together.as_ref().is_some_and(|together| together.apart.is_some())
    }

    /// What may be said of it, when nothing more is told; `None` when nothing was.
    pub fn conclude(self, tell: &mut dyn FnMut(&RunEvent)) -> Option<Record> {
        let is_over = self.is_over();
        let Self { members, together } = self;
        let Together { plan, mut builder, mut session, apart, .. } = together?;
        apart.into_iter().for_each(|apart| apart.fold(&plan, &mut builder, &mut session));
        let mut story = Story { builder, on_event: tell };
        story.conclude(&mut session);
        let ends = || members.iter().filter_map(|member| member.ended);
        let has = |outcome| ends().any(|(_, ended)| ended == outcome);
        let outcome = match () {
            () if !is_over => Outcome::Lost,
            () if has(Outcome::Failed) => Outcome::Failed,
            () if has(Outcome::Interrupted) => Outcome::Interrupted,
            () => Outcome::Complete,
        };
        let longest_ns = ends().map(|(elapsed_ns, _)| elapsed_ns).max();
        let elapsed_ns = longest_ns.unwrap_or(0).max(story.builder.record().elapsed_ns);
        if is_over {
            story.tell(&RunEvent::Finished { elapsed_ns, outcome });
        }
        Some(story.builder.finish())
    }
}

impl Together {
    fn new(mut started: RunStarted, machines: usize) -> Self {
        let apart = Apart::of(&mut started.plan, machines);
        let plan = started.plan.clone();
        let session = Session::new(judgement::session_plan(&plan));
        Self {
            plan,
            builder: RecordBuilder::new(started),
            session,
            zero_ns: None,
            open: BTreeMap::new(),
            done: Vec::new(),
            apart,
        }
    }

    fn take(&mut self, member: usize, members: &[Member], event: &RunEvent, told: &mut Vec<RunEvent>) {
        // Whoever told it may have been another program.
        if event.cell().is_some_and(|cell| cell >= self.plan.cells.len()) {
            return;
        }
        let is_first = member == 0;
        if let (Some(apart), Some(own_ns)) = (&mut self.apart, members[member].zero_ns) {
            let group_ns = *self.zero_ns.get_or_insert(own_ns);
            let time = |t_ns: u64| since(group_ns, own_ns + i128::from(t_ns));
            if let Some(event) = apart.take(member, event, time) {
                told.push(event);
                return;
            }
        }
        match event {
            RunEvent::SlotStarted { cell, round, t_ns, ramp_ns, measured_ns, purpose } => {
                let Some(zero_ns) = members[member].zero_ns else { return };
                let group_ns = *self.zero_ns.get_or_insert(zero_ns);
                let visit = self.visit(*cell, *round, members.len());
                let part = &mut visit.parts[member];
                (part.zero_ns, part.started_ns) = (zero_ns, Some(zero_ns + i128::from(*t_ns)));
                visit.started += 1;
                if visit.started == members.len() {
                    let latest_ns = visit.align();
                    told.push(RunEvent::SlotStarted {
                        cell: *cell,
                        round: *round,
                        t_ns: since(group_ns, latest_ns),
                        ramp_ns: *ramp_ns,
                        measured_ns: *measured_ns,
                        purpose: *purpose,
                    });
                    self.tell_seconds(*cell, *round, told);
                }
            }
            RunEvent::Interval { cell, interval } => {
                let visit = self.visit(*cell, interval.round, members.len());
                visit.parts[member].seconds.push(interval.clone());
                self.tell_seconds(*cell, interval.round, told);
            }
            RunEvent::SlotFinished(slot) => {
                let Some(zero_ns) = members[member].zero_ns else { return };
                let from_ns = zero_ns + i128::from(slot.from_ns);
                let visit = self.visit(slot.cell, slot.round, members.len());
                visit.parts[member].measured_ns = Some((from_ns, from_ns + i128::from(slot.elapsed_ns)));
                visit.finished += 1;
                match &mut visit.sum {
                    Some(sum) => sum.join(slot),
                    none => *none = Some((**slot).clone()),
                }
                if visit.finished == members.len() {
                    self.finish_visit(slot.cell, slot.round, told);
                }
            }
            RunEvent::Found { cell, finding } => {
                let teller = format!("{}: ", members[member].name);
                // The first that says it speaks for all, and its last word counts, until it is said of all together.
                let is_of_other = |known: &Finding| known.code == finding.code && !known.text.starts_with(&teller);
                if !self.builder.record().cells[*cell].findings.iter().any(is_of_other) {
                    let finding = Finding { text: teller + &finding.text, ..finding.clone() };
                    told.push(RunEvent::Found { cell: *cell, finding });
                }
            }
            RunEvent::Warning { text } => {
                told.push(RunEvent::Warning { text: format!("{}: {text}", members[member].name) });
            }
            RunEvent::EngineSelected { cell, engine, reason } => {
                match self.builder.record().cells.get(*cell).map(|cell| cell.engine) {
                    // The one that tells it first.
                    Some(EngineChoice::Auto) => told.push(event.clone()),
                    Some(known) if known != *engine => {
                        let name = &members[member].name;
                        let text = format!("{name} uses another engine than others: {reason}");
                        told.push(RunEvent::Warning { text });
                    }
                    _ => {}
                }
            }
            RunEvent::LayoutProgress { .. }
            | RunEvent::PhaseProgress { .. }
            | RunEvent::StageProgress { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::LayoutFinished { .. }
            | RunEvent::CellProgress { .. }
                if is_first =>
            {
                told.push(event.clone());
            }
            // Each judges its own numbers; those of all are judged at the end.
            _ => {}
        }
    }

    fn visit(&mut self, cell: usize, round: u32, count: usize) -> &mut Visit {
        let new = || Visit { parts: vec![Part::default(); count], ..Visit::default() };
        self.open.entry((cell, round)).or_insert_with(new)
    }

    /// Tells the seconds that have come from all.
    fn tell_seconds(&mut self, cell: usize, round: u32, told: &mut Vec<RunEvent>) {
        let Some(zero_ns) = self.zero_ns else { return };
        let Some(visit) = self.open.get_mut(&(cell, round)) else { return };
        while let Some(interval) = visit.next_second(zero_ns) {
            visit.seconds.push(interval.clone());
            told.push(RunEvent::Interval { cell, interval });
        }
    }

    /// All have made the visit: what they did together.
    fn finish_visit(&mut self, cell: usize, round: u32, told: &mut Vec<RunEvent>) {
        let zero_ns = self.zero_ns.unwrap_or_default();
        let Some(visit) = self.open.remove(&(cell, round)) else { return };
        let Some((shared, mut slot)) = visit.finish(cell, round, zero_ns) else { return };
        if !shared.is_common() && slot.purpose == SlotPurpose::Measured {
            slot.purpose = SlotPurpose::Discarded;
        }
        self.done.push(shared);
        judge(&mut self.session, &self.plan, &slot, &visit.seconds);
        told.push(RunEvent::SlotFinished(Box::new(slot)));
    }
}

/// Hands a visit to what judges them all. A last look at a target tells of what each machine had claimed, which is
/// nothing that is judged here.
fn judge(session: &mut Session, plan: &Plan, slot: &SlotResult, seconds: &[Interval]) {
    let purpose = match slot.purpose {
        SlotPurpose::Measured => Some(Purpose::Measure),
        SlotPurpose::Discarded => Some(Purpose::Discard),
        SlotPurpose::Bookend => None,
    };
    if let Some(purpose) = purpose {
        let t_ns = slot.from_ns.saturating_sub(slot.ramp_ns);
        session.resume(slot.cell, purpose, t_ns, judging::visit(slot, seconds.iter()));
    }
    if !judging::may_go_on(&plan.cells[slot.cell].work, slot) {
        session.abandon(slot.cell);
    }
}

impl Visit {
    /// All have begun: how many seconds each was ahead of the last one, whose beginning is given back.
    fn align(&mut self) -> i128 {
        const SECOND_NS: i128 = 1_000_000_000;
        let latest_ns = self.parts.iter().filter_map(|part| part.started_ns).max().unwrap_or_default();
        for part in &mut self.parts {
            let ahead_ns = latest_ns - part.started_ns.unwrap_or(latest_ns);
            part.ahead = usize::try_from((ahead_ns + SECOND_NS / 2) / SECOND_NS).unwrap_or(usize::MAX);
        }
        latest_ns
    }

    /// The next second that all have, added up, of a run that began at this time of day.
    fn next_second(&self, zero_ns: i128) -> Option<Interval> {
        if self.started < self.parts.len() {
            return None;
        }
        let index = self.seconds.len();
        let second = |part: &Part| {
            let mut second = part.seconds.get(index.checked_add(part.ahead)?)?.clone();
            second.t_ns = since(zero_ns, part.zero_ns + i128::from(second.t_ns));
            Some(second)
        };
        let mut parts = self.parts.iter();
        let mut sum = second(parts.next()?)?;
        for part in parts {
            join_seconds(&mut sum, &second(part)?);
        }
        Some(sum)
    }

    /// What all did together in the time that all measured in.
    fn finish(&self, cell: usize, round: u32, zero_ns: i128) -> Option<(SharedVisit, SlotResult)> {
        let mut slot = self.sum.clone()?;
        let measured: Vec<(i128, i128)> = self.parts.iter().filter_map(|part| part.measured_ns).collect();
        let (first_ns, from_ns) =
            (measured.iter().map(|(from, _)| *from).min()?, measured.iter().map(|(from, _)| *from).max()?);
        let to_ns = measured.iter().map(|(_, to)| *to).min()?;
        let longest_ns = measured.iter().map(|(from, to)| to - from).max()?;
        let overlap = (to_ns - from_ns).max(0) as f64 / longest_ns.max(1) as f64;
        let start_skew_ns = u64::try_from(from_ns - first_ns).unwrap_or(0);
        let counts = || self.parts.iter().map(|part| part.seconds.iter().filter(|second| second.measured).count());
        let common: Vec<&Interval> = self.seconds.iter().filter(|second| second.measured).collect();
        slot.from_ns = since(zero_ns, from_ns);
        if counts().all(|count| count == common.len()) {
            // All of what each measured lies in the common time, but for the edges.
            let lengths_ns: i128 = measured.iter().map(|(from, to)| to - from).sum();
            slot.elapsed_ns = u64::try_from(lengths_ns / measured.len() as i128).unwrap_or(0);
        } else {
            restrict(&mut slot, &common);
        }
        Some((SharedVisit { cell, round, start_skew_ns, overlap }, slot))
    }
}

/// Makes the rates of a slot those of these seconds.
fn restrict(slot: &mut SlotResult, seconds: &[&Interval]) {
    let sum = |of: fn(&Interval) -> u64| seconds.iter().map(|second| of(second)).sum::<u64>();
    slot.elapsed_ns = sum(|second| second.length_ns);
    let (reads, writes) = (sum(|second| second.read_operations), sum(|second| second.write_operations));
    let (read_bytes, written_bytes) = (sum(|second| second.read_bytes), sum(|second| second.write_bytes));
    let syncs = sum(|second| second.sync_operations);
    let of =
        [(&mut slot.read, reads, read_bytes), (&mut slot.write, writes, written_bytes), (&mut slot.sync, syncs, 0)];
    for (direction, operations, bytes) in of {
        if let Some(direction) = direction {
            (direction.operations, direction.bytes) = (operations, bytes);
        }
    }
    slot.seconds.clear();
}

/// Adds the same second of another machine. Percentiles of several cannot be added up, so a second of several has none;
/// its longest latency is that of all.
fn join_seconds(sum: &mut Interval, other: &Interval) {
    let means = [mean(sum, other, true), mean(sum, other, false)];
    sum.t_ns = sum.t_ns.max(other.t_ns);
    sum.length_ns = sum.length_ns.max(other.length_ns);
    sum.measured &= other.measured;
    sum.read_operations += other.read_operations;
    sum.read_bytes += other.read_bytes;
    sum.write_operations += other.write_operations;
    sum.write_bytes += other.write_bytes;
    sum.sync_operations += other.sync_operations;
    let has_any = sum.read_operations + sum.write_operations + sum.sync_operations > 0;
    sum.stalled = (sum.stalled || other.stalled) && !has_any;
    (sum.p50_ns, sum.p99_ns) = (None, None);
    sum.max_ns = sum.max_ns.max(other.max_ns);
    [sum.read_mean_ns, sum.write_mean_ns] = means;
    let ticks = sum.tick_operations.len().max(other.tick_operations.len());
    sum.tick_operations.resize(ticks, 0);
    sum.tick_operations.iter_mut().zip(&other.tick_operations).for_each(|(sum, tick)| *sum += tick);
}

/// The mean latency of the reads, or the writes, of both.
fn mean(sum: &Interval, other: &Interval, reads: bool) -> Option<u64> {
    let of = |second: &Interval| {
        let (operations, mean_ns) = if reads {
            (second.read_operations, second.read_mean_ns)
        } else {
            (second.write_operations, second.write_mean_ns)
        };
        mean_ns.map(|mean_ns| (u128::from(operations.max(1)), u128::from(mean_ns)))
    };
    match (of(sum), of(other)) {
        (Some((a, a_ns)), Some((b, b_ns))) => u64::try_from((a * a_ns + b * b_ns) / (a + b)).ok(),
        (a, b) => a.or(b).and_then(|(_, mean_ns)| u64::try_from(mean_ns).ok()),
    }
}

/// A time of day since the start of the run.
fn since(zero_ns: i128, at_ns: i128) -> u64 {
    u64::try_from(at_ns - zero_ns).unwrap_or(0)
}
