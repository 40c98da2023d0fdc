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
use plimsoll_run::several::Several;

use crate::{
    error::ClusterError,
    frames::{Line, Message, Reader},
    request::{PodRun, StartBy},
};

/// What was heard so far.
pub(crate) struct Hearing {
    /// The targets, with whether all pods have the same one.
    targets: Vec<(String, bool)>,
    start: Option<Start>,
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
            ..Self::of(run.pods.all() as usize)
        }
    }

    /// Of so many pods, of which no more is known.
    pub(crate) fn of(count: usize) -> Self {
        let from = if count > 1 {
            From::Several { several: Box::new(Several::new(count)), pods: vec![None; count] }
        } else {
            From::One { builder: None, record: None }
        };
        Self { targets: Vec::new(), start: None, from }
    }

    /// Whether the run has begun in any pod.
    pub(crate) fn has_begun(&self) -> bool {
        match &self.from {
            From::One { builder, .. } => builder.is_some(),
            From::Several { several, .. } => several.record().is_some(),
        }
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
            Message::Running { at } => Heard::Running { at },
            Message::FirstIo { target, at } => {
                let volume = self.targets.iter().position(|(name, _)| *name == target);
                volume.map_or(Heard::Nothing, |volume| Heard::FirstIo { volume, at })
            }
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
                    (Some(builder), event) => builder.apply(event),
                    (None, _) => {}
                }
                tell(&event);
            }
            From::Several { several, .. } => {
                if let RunEvent::Started(started) = &mut event {
                    // What was bought is a volume's; of several volumes together nothing was said.
                    for cell in &mut started.plan.cells {
                        let is_shared = |(name, is_shared): &(String, bool)| *name == cell.target && *is_shared;
                        if !self.targets.iter().any(is_shared) {
                            cell.expected = None;
                        }
                    }
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

    /// The record; `None` when the run has not begun.
    pub(crate) fn record(self, tell: &mut dyn FnMut(&RunEvent)) -> Option<Record> {
        match self.from {
            From::One { builder, record } => record.map(|record| *record).or_else(|| Some(builder?.finish())),
            From::Several { several, pods } => {
                let visits = several.visits().to_vec();
                let mut record = several.conclude(tell)?;
                let pods = pods.into_iter().flatten().collect();
                record.pods = Some(Pods { start: self.start, pods, visits });
                Some(record)
            }
        }
    }
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
    use super::*;

    #[test]
    fn pods_that_measured_apart_are_refused_by_how_much() {
        let visit = |overlap, start_skew_ns| SharedVisit { cell: 0, round: 0, start_skew_ns, overlap };
        assert_eq!(why_apart(&[visit(0.99, 1_000_000), visit(0.8, 2_000_000_000)]), None);
        let why = why_apart(&[visit(0.99, 1_000_000), visit(0.62, 3_800_000_000)]).unwrap();
        assert!(why.contains("in 1 of 2 visits") && why.contains("62 %") && why.contains("3.80 s"), "{why}");
    }
}
