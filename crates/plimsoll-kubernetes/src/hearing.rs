//! What pods tell of the run, put together: one pod's as it is, several pods' added up.

use jiff::Timestamp;
use plimsoll_record::{
    builder::RecordBuilder,
    cluster::ClusterEnvironment,
    event::RunEvent,
    numbers,
    pods::{OVERLAP_MIN, Pod, PodCell, Pods, SharedVisit, Start},
    record::{Outcome, Record},
};
use plimsoll_run::{findings::FOREIGN_IO, several::Several};
use plimsoll_workload::limit::{Expected, Part, RateLimit};

use crate::{
    error::ClusterError,
    frames::{Line, Message, Reader},
    request::{PodRun, StartBy},
};

/// The exit code of a program that was asked to end.
const INTERRUPTED: u8 = 130;

/// What was heard so far.
pub(crate) struct Hearing {
    /// The targets, with whether all pods have the same one.
    targets: Vec<(String, bool)>,
    /// Whether all pods have the same target, by cell.
    shared_cells: Vec<bool>,
    start: Option<Start>,
    /// How many volumes that are not shared stand side by side, where each has a node to itself.
    side_by_side: Option<u32>,
    shares_files: Option<bool>,
    from: From,
}

/// Whom it is heard from.
enum From {
    /// One pod.
    One {
        builder: Option<Box<RecordBuilder>>,
        /// The record that it told at its end.
        record: Option<Box<Record>>,
    },
    /// Several.
    Several {
        several: Box<Several>,
        /// What each of them did, in the order of their numbers.
        pods: Vec<Option<Pod>>,
    },
}

/// Who tells something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Teller {
    /// Which pod of the run.
    pub(crate) number: usize,
    /// What it is called.
    pub(crate) name: String,
    pub(crate) node: Option<String>,
}

impl Teller {
    fn in_sentences(&self) -> String {
        match &self.node {
            Some(node) => format!("{} on {node}", self.name),
            None => self.name.clone(),
        }
    }
}

/// What a line says beside what happened in the run.
#[derive(Debug)]
pub(crate) enum Heard {
    Nothing,
    /// Something for people.
    Text(String),
    /// The program runs.
    Running {
        at: Timestamp,
    },
    /// The first operation on a volume was done.
    FirstIo {
        volume: usize,
        at: Timestamp,
    },
    /// The pod has told all; whether of a run that was cut short.
    Done {
        is_cut_short: bool,
    },
}

impl Hearing {
    /// Of the pods of a run.
    pub(crate) fn new(run: &PodRun) -> Self {
        let start = match run.pods.start {
            StartBy::Watching => Start::Watched,
            StartBy::Time(_) => Start::Time,
        };
        let target = |index: usize| (run.volumes[index].target.clone(), run.is_shared(index));
        Self {
            targets: (0..run.volumes.len()).map(target).collect(),
            start: Some(start),
            side_by_side: (run.pods.per_node == 1).then_some(run.pods.nodes),
            shares_files: Some(run.shares_files),
            ..Self::of(run.pods.all() as usize, run.pods.are_several())
        }
    }

    /// Of so many pods, of which no more is known; whether the run has several, of which some may be missing here.
    pub(crate) fn of(count: usize, are_several: bool) -> Self {
        let from = if are_several {
            From::Several { several: Box::new(Several::new(count)), pods: vec![None; count] }
        } else {
            From::One { builder: None, record: None }
        };
        Self {
            targets: Vec::new(),
            shared_cells: Vec::new(),
            start: None,
            shares_files: None,
            side_by_side: None,
            from,
        }
    }

    /// Whether the run has begun in any pod.
    pub(crate) fn has_begun(&self) -> bool {
        match &self.from {
            From::One { builder, .. } => builder.is_some(),
            From::Several { several, .. } => several.record().is_some(),
        }
    }

    /// Whether all of it was told once more at the end, so that nothing is missing whatever was lost before.
    pub(crate) const fn is_whole(&self) -> bool {
        matches!(self.from, From::One { record: Some(_), .. })
    }

    /// Takes in a line of a pod's log.
    pub(crate) fn line(
        &mut self,
        teller: &Teller,
        reader: &mut Reader,
        line: String,
        environment: impl Fn() -> Option<ClusterEnvironment>,
        tell: &mut dyn FnMut(&RunEvent),
    ) -> Result<Heard, ClusterError> {
        match reader.line(&line) {
            Line::Part => Ok(Heard::Nothing),
            Line::Text => Ok(Heard::Text(line)),
            Line::Message(message) => self.message(teller, message, environment, tell),
        }
    }

    /// Takes in what a pod told.
    pub(crate) fn message(
        &mut self,
        teller: &Teller,
        message: Message,
        environment: impl Fn() -> Option<ClusterEnvironment>,
        tell: &mut dyn FnMut(&RunEvent),
    ) -> Result<Heard, ClusterError> {
        Ok(match message {
            Message::Running { at, .. } => Heard::Running { at },
            Message::FirstIo { target, at } => {
                let volume = self.targets.iter().position(|(name, _)| *name == target);
                volume.map_or(Heard::Nothing, |volume| Heard::FirstIo { volume, at })
            }
            // It does not grow while it is measured.
            Message::Grown { .. } => Heard::Nothing,
            Message::Event { at, mut event } => {
                if let RunEvent::Started(started) = &mut *event {
                    started.environment.cluster = environment();
                }
                self.event(teller, at, *event, tell);
                Heard::Nothing
            }
            Message::Slot { at, slot } => {
                self.event(teller, at, RunEvent::SlotFinished(slot), tell);
                Heard::Nothing
            }
            Message::Done { record } => {
                let is_cut_short = record.outcome == Outcome::Interrupted;
                match &mut self.from {
                    From::One { record: of_pod, .. } => *of_pod = Some(record),
                    From::Several { .. } => {
                        let node = record.environment.container.as_ref().and_then(|container| container.node.clone());
                        self.done_together(teller, node, record.cells.iter().map(PodCell::of).collect());
                    }
                }
                Heard::Done { is_cut_short }
            }
            Message::DoneTogether { outcome, cells, node } => {
                self.done_together(teller, node, cells);
                Heard::Done { is_cut_short: outcome == Outcome::Interrupted }
            }
            // Somebody asked it to end before there was anything to tell: who, its pod says.
            Message::Failed { exit: INTERRUPTED, .. } => Heard::Done { is_cut_short: true },
            Message::Failed { exit, text } => {
                let text = match self.from {
                    From::One { .. } => text,
                    From::Several { .. } => format!("pod {}: {text}", teller.in_sentences()),
                };
                return Err(ClusterError::InPod { exit, text });
            }
        })
    }

    fn done_together(&mut self, teller: &Teller, node: Option<String>, cells: Vec<PodCell>) {
        if let From::Several { pods, .. } = &mut self.from {
            let (name, node) = (teller.name.clone(), teller.node.clone().or(node));
            pods[teller.number] = Some(Pod { name, node, cells });
        }
    }

    fn event(&mut self, teller: &Teller, at: Timestamp, mut event: RunEvent, tell: &mut dyn FnMut(&RunEvent)) {
        match &mut self.from {
            From::One { builder, .. } => {
                match (&mut *builder, &event) {
                    (None, RunEvent::Started(started)) => {
                        *builder = Some(Box::new(RecordBuilder::new((**started).clone())));
                    }
                    // Whoever told it may have been another program.
                    (Some(builder), event) if event.cell().is_some_and(|cell| cell >= builder.record().cells.len()) => {
                        return;
                    }
                    (Some(builder), event) => builder.apply(event),
                    (None, _) => {}
                }
                tell(&event);
            }
            From::Several { several, .. } => {
                let is_shared = |cells: &[bool], cell: usize| cells.get(cell).copied().unwrap_or(false);
                match &mut event {
                    RunEvent::Started(started) => {
                        let plan = &mut started.plan;
                        let is_shared = |name: &str| self.targets.iter().any(|(target, is)| target == name && *is);
                        self.shared_cells = plan.cells.iter().map(|cell| is_shared(&cell.target)).collect();
                        let own = plan.cells.iter_mut().zip(&self.shared_cells).filter(|(_, is_shared)| !**is_shared);
                        if plan.turn.is_none() {
                            own.for_each(|(cell, _)| {
                                let expected = cell.expected.take().zip(self.side_by_side);
                                cell.expected = expected.map(|(expected, count)| together(expected, count));
                            });
                        }
                    }
                    // What a pod takes for the load of somebody else is that of the other pods.
                    RunEvent::SlotFinished(slot) if is_shared(&self.shared_cells, slot.cell) => slot.foreign = None,
                    RunEvent::Found { cell, finding }
                        if finding.code == FOREIGN_IO && is_shared(&self.shared_cells, *cell) =>
                    {
                        return;
                    }
                    _ => {}
                }
                several.take(teller.number, &teller.in_sentences(), at, &event, tell);
            }
        }
    }

    /// Why numbers of several pods are none of all of them: they did not measure together.
    pub(crate) fn why_not_together(&self) -> Option<ClusterError> {
        match &self.from {
            From::One { .. } => None,
            From::Several { several, .. } => why_apart(several.visits()).map(ClusterError::Run),
        }
    }

    /// The record, of pods of whose lines some may be missing; `None` when the run has not begun.
    pub(crate) fn record(self, lacks_lines: bool, tell: &mut dyn FnMut(&RunEvent)) -> Option<Record> {
        let lacks_something = lacks_lines && !self.is_whole();
        let mut record = self.conclude(tell)?;
        if lacks_something && record.outcome != Outcome::Interrupted {
            record.outcome = Outcome::Lost;
        }
        Some(record)
    }

    fn conclude(self, tell: &mut dyn FnMut(&RunEvent)) -> Option<Record> {
        match self.from {
            From::One { builder, record } => record.map(|record| *record).or_else(|| Some(builder?.finish())),
            From::Several { several, pods } => {
                let (visits, take_turns) = (several.visits().to_vec(), several.take_turns());
                let mut record = several.conclude(tell)?;
                let pods = pods.into_iter().flatten().collect();
                let (start, shared_files) = (self.start, self.shares_files);
                record.pods = Some(Pods { start, take_turns, shared_files, pods, visits });
                Some(record)
            }
        }
    }
}

/// What so many volumes are expected to deliver together: each has its disk and its machine, and all have the pool.
fn together(expected: Expected, count: u32) -> Expected {
    let Expected { mut limit, operations_by, bytes_by, source } = expected;
    let times = |limit: RateLimit, by| if by == Part::Pool { limit } else { limit.times(count.into()) };
    limit.operations = limit.operations.map(|limit| times(limit, operations_by));
    limit.bytes = limit.bytes.map(|limit| times(limit, bytes_by));
    Expected { limit, operations_by, bytes_by, source: format!("{count} times {source}") }
}

/// That visits were made which were not made together.
fn why_apart(visits: &[SharedVisit]) -> Option<String> {
    let apart: Vec<_> = visits.iter().filter(|visit| !visit.is_common()).collect();
    let least = apart.iter().map(|visit| visit.overlap).min_by(f64::total_cmp)?;
    let skew_ns = apart.iter().map(|visit| visit.start_skew_ns).max().unwrap_or(0);
    Some(format!(
        "in {} of {} visits pods measured together for less than {} of the time (once for {} only), which says nothing \
         about all of them: the last began {} after the first; let them watch when to begin, or give them more time \
         with --start-after",
        apart.len(),
        visits.len(),
        numbers::percent(OVERLAP_MIN),
        numbers::percent(least),
        numbers::duration(skew_ns),
    ))
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::limit::Limit;

    use super::*;
    use crate::request::test_runs;

    #[test]
    fn volumes_side_by_side_are_expected_to_deliver_more_than_one_but_for_a_pool() {
        let limit: Limit = "iops=500,bandwidth=100MB".parse().unwrap();
        let (operations_by, bytes_by) = (Part::Disk, Part::Pool);
        let expected = together(Expected { operations_by, bytes_by, ..Expected::given(limit) }, 3);
        assert_eq!(expected.limit, "iops=1500,bandwidth=100MB".parse().unwrap());
        assert_eq!(expected.source, "3 times given");
    }

    #[test]
    fn a_program_that_is_asked_to_end_before_it_measured_has_said_nothing_of_who_asked() {
        let run = test_runs::run(&["slow"], 8);
        let mut hearing = Hearing::new(&run);
        let mut hear = |exit| {
            let message = Message::Failed { exit, text: "it failed".to_owned() };
            hearing.message(&Teller::default(), message, || None, &mut |_| {})
        };
        assert!(matches!(hear(130), Ok(Heard::Done { is_cut_short: true })));
        assert_eq!(hear(3).unwrap_err().to_string(), "it failed");
        assert!(!hearing.has_begun() && !hearing.is_whole());
    }

    #[test]
    fn pods_that_measured_apart_are_refused_by_how_much() {
        let visit = |overlap, start_skew_ns| SharedVisit { cell: 0, round: 0, start_skew_ns, overlap };
        assert_eq!(why_apart(&[visit(0.99, 1_000_000), visit(0.8, 2_000_000_000)]), None);
        let why = why_apart(&[visit(0.99, 1_000_000), visit(0.62, 3_800_000_000)]).unwrap();
        assert!(why.contains("in 1 of 2 visits") && why.contains("62 %") && why.contains("3.80 s"), "{why}");
    }
}
