//! What pods tell of the run, put together: one pod's as it is, several pods' added up.

use jiff::Timestamp;
use plimsoll_record::{
    builder::RecordBuilder,
    cluster::ClusterEnvironment,
    event::RunEvent,
    numbers,
    pods::{OVERLAP_MIN, Pod, Pods, SharedVisit, Start},
    record::{Outcome, Record},
};
use plimsoll_run::several::Several;

use super::{Told, member::Member};
use crate::{
    error::ClusterError,
    frames::{Line, Message},
    request::{PodRun, StartBy},
};

/// What was heard so far.
pub(super) enum Hearing {
    /// Of one pod.
    One {
        builder: Option<Box<RecordBuilder>>,
        /// The record that it told at its end.
        record: Option<Box<Record>>,
    },
    /// Of several.
    Several {
        several: Box<Several>,
        /// What each of them did, in the order of their numbers.
        pods: Vec<Option<Pod>>,
    },
}

/// What a line says beside what happened in the run.
pub(super) enum Heard {
    Nothing,
    /// The program runs.
    Running {
        at: Timestamp,
    },
    /// The first operation on a volume was done.
    FirstIo {
        volume: usize,
        at: Timestamp,
    },
    /// The pod tells what it has, because it was asked to end.
    CutShort,
}

impl Hearing {
    pub(super) fn new(run: &PodRun) -> Self {
        if run.pods.are_several() {
            let count = run.pods.all() as usize;
            Self::Several { several: Box::new(Several::new(count)), pods: vec![None; count] }
        } else {
            Self::One { builder: None, record: None }
        }
    }

    /// Whether the run has begun in any pod.
    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::One { builder, .. } => builder.is_some(),
            Self::Several { several, .. } => several.record().is_some(),
        }
    }

    /// Takes in a line of a pod's log.
    pub(super) fn line(
        &mut self,
        run: &PodRun,
        (number, member): (u32, &mut Member),
        line: String,
        environment: impl Fn() -> ClusterEnvironment,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Heard, ClusterError> {
        let message = match member.reader.line(&line) {
            Line::Part => return Ok(Heard::Nothing),
            Line::Text => {
                member.keep_line(line);
                return Ok(Heard::Nothing);
            }
            Line::Message(message) => message,
        };
        match message {
            Message::Running { at } => return Ok(Heard::Running { at }),
            Message::FirstIo { target, at } => {
                let volume = run.volumes.iter().position(|volume| volume.target == target);
                return Ok(volume.map_or(Heard::Nothing, |volume| Heard::FirstIo { volume, at }));
            }
            Message::Event { at, mut event } => {
                if let RunEvent::Started(started) = &mut *event {
                    started.environment.cluster = Some(environment());
                }
                self.event(run, (number, member), at, *event, tell);
            }
            Message::Done { record } => {
                member.is_done = true;
                let is_cut_short = record.outcome == Outcome::Interrupted;
                match self {
                    Self::One { record: of_pod, .. } => *of_pod = Some(record),
                    Self::Several { pods, .. } => {
                        let node = member.node().map(str::to_owned);
                        pods[number as usize] = Some(Pod::of(member.name(), node, &record));
                    }
                }
                if is_cut_short {
                    return Ok(Heard::CutShort);
                }
            }
            Message::Failed { exit, text } => {
                let text = match member.node().filter(|_| run.pods.are_several()) {
                    Some(node) => format!("pod {} on {node}: {text}", member.name()),
                    None => text,
                };
                return Err(ClusterError::InPod { exit, text });
            }
        }
        Ok(Heard::Nothing)
    }

    fn event(
        &mut self,
        run: &PodRun,
        (number, member): (u32, &Member),
        at: Timestamp,
        mut event: RunEvent,
        tell: &mut dyn FnMut(Told<'_>),
    ) {
        match self {
            Self::One { builder, .. } => {
                match (&mut *builder, &event) {
                    (None, RunEvent::Started(started)) => {
                        *builder = Some(Box::new(RecordBuilder::new((**started).clone())));
                    }
                    (Some(builder), event) => builder.apply(event),
                    (None, _) => {}
                }
                tell(Told::Event(&event));
            }
            Self::Several { several, .. } => {
                if let RunEvent::Started(started) = &mut event {
                    // What was bought is a volume's; of several volumes together nothing was said.
                    for cell in &mut started.plan.cells {
                        let volume = run.volumes.iter().position(|volume| volume.target == cell.target);
                        if !volume.is_some_and(|volume| run.is_shared(volume)) {
                            cell.expected = None;
                        }
                    }
                }
                let name = member.node().map_or_else(|| member.name(), |node| format!("{} on {node}", member.name()));
                several.take(number as usize, &name, at, &event, &mut |event| tell(Told::Event(event)));
            }
        }
    }

    /// Why numbers of several pods are none of all of them: they did not measure together.
    pub(super) fn why_not_together(&self) -> Option<ClusterError> {
        match self {
            Self::One { .. } => None,
            Self::Several { several, .. } => why_apart(several.visits()).map(ClusterError::Run),
        }
    }

    /// The record; `None` when the run has not begun.
    pub(super) fn record(self, run: &PodRun, tell: &mut dyn FnMut(&RunEvent)) -> Option<Record> {
        match self {
            Self::One { builder, record } => record.map(|record| *record).or_else(|| Some(builder?.finish())),
            Self::Several { several, pods } => {
                let start = match run.pods.start {
                    StartBy::Watching => Start::Watched,
                    StartBy::Time(_) => Start::Time,
                };
                let visits = several.visits().to_vec();
                let mut record = several.conclude(tell)?;
                record.pods = Some(Pods { start, pods: pods.into_iter().flatten().collect(), visits });
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
