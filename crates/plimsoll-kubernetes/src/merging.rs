//! What pods told, from logs that somebody has kept: the same record as of who followed them.

use std::{
    collections::HashMap,
    io::BufRead,
    num::NonZero,
    sync::{Mutex, PoisonError, mpsc::sync_channel},
    thread,
};

use plimsoll_record::{
    event::RunEvent,
    record::{Outcome, Record},
};
use uuid::Uuid;

use crate::{
    error::ClusterError,
    frames::{self, Line, MARK, Message, Reader},
    hearing::{Heard, Hearing, Teller},
};

/// A log of a pod.
pub struct Log {
    /// What the pod is called.
    pub name: String,
    /// Its lines.
    pub lines: Box<dyn BufRead + Send>,
}

/// What logs say together.
#[derive(Debug)]
pub struct Merged {
    /// The record; `None` when no log has the beginning of a run.
    pub record: Option<Record>,
    /// What the logs lack, in sentences.
    pub warnings: Vec<String>,
    /// Why the record says nothing about all pods.
    pub error: Option<ClusterError>,
}

/// A log that is being read.
struct Reading {
    log: Log,
    reader: Reader,
    /// The checksums of its lines by their numbers.
    checksums: HashMap<u64, u32>,
}

/// A log of which it is known whose it is.
struct Begun {
    run: Uuid,
    /// Which pod, of how many.
    number: u32,
    count: u32,
    log: Reading,
}

/// Puts the logs of a run's pods together. Logs are read by several threads, and each is forgotten when it is added.
///
/// # Errors
/// Where a log cannot be read, or is that of a pod that could not do the run; where logs are of different runs, two of
/// the same pod, or one of several pods.
pub fn merge(logs: Vec<Log>, tell: &mut dyn FnMut(&RunEvent)) -> Result<Merged, ClusterError> {
    let (mut warnings, mut begun) = (Vec::new(), Vec::new());
    for log in logs {
        let mut log = Reading { log, reader: Reader::default(), checksums: HashMap::new() };
        match log.next()? {
            Some(Message::Running { run, number, count, .. }) => begun.push(Begun { run, number, count, log }),
            _ => {
                let name = log.name();
                warnings.push(format!("{name}: the beginning of what a pod tells is not in it: it is left out"));
            }
        }
    }
    begun.sort_by_key(|begun| begun.number);
    check(&begun)?;
    let missing = missing(&begun);
    let mut was_interrupted = false;
    let mut lacks_lines = false;
    let are_several = begun.first().is_some_and(|begun| begun.count > 1);
    let mut hearing = Hearing::of(begun.len().max(1), are_several);
    let logs = Mutex::new(begun.into_iter().map(|begun| begun.log).enumerate());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        // As many as are being read: whoever is ahead waits.
        let (sender, read) = sync_channel(threads);
        for _ in 0..threads {
            let (sender, logs) = (sender.clone(), &logs);
            scope.spawn(move || {
                loop {
                    let next = logs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, mut log)) = next else { return };
                    let messages = log.rest();
                    if sender.send((number, log, messages)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (number, log, messages) in read {
            let teller = Teller { number, name: log.name().to_owned(), node: None };
            let mut is_whole = false;
            for message in messages? {
                let heard = hearing.message(&teller, message, || None, tell)?;
                is_whole |= matches!(heard, Heard::Done { .. });
                was_interrupted |= matches!(heard, Heard::Done { is_cut_short: true });
            }
            let lost = log.reader.lost();
            lacks_lines |= lost > 0;
            if lost > 0 {
                warnings.push(format!("{}: missing lines: {lost}", teller.name));
            }
            if !is_whole {
                warnings.push(format!("{}: the end of the run is not in it", teller.name));
            }
        }
        Ok(())
    })?;
    let apart = hearing.why_not_together();
    let mut record = hearing.record(lacks_lines, tell);
    if missing.is_some() {
        record.iter_mut().for_each(|record| record.outcome = Outcome::Lost);
    }
    let before = (record.is_none() && was_interrupted).then_some(ClusterError::Interrupted);
    Ok(Merged { record, warnings, error: missing.map(ClusterError::Run).or(apart).or(before) })
}

/// Fails unless logs are those of different pods of one run.
fn check(begun: &[Begun]) -> Result<(), ClusterError> {
    for pair in begun.windows(2) {
        let [first, second] = pair else { continue };
        let (one, other) = (first.log.name(), second.log.name());
        if first.run != second.run {
            let text = format!("{one} and {other} are logs of different runs: name those of one");
            return Err(ClusterError::Usage(text));
        }
        if first.number == second.number {
            let text = format!("{one} and {other} are logs of the same pod: name one of them");
            return Err(ClusterError::Usage(text));
        }
    }
    Ok(())
}

/// That pods of the run have no log here.
fn missing(begun: &[Begun]) -> Option<String> {
    let count = begun.first()?.count;
    let is_there = |number: &u32| begun.iter().any(|begun| begun.number == *number);
    let mut missing = (0..count).filter(|number| !is_there(number)).map(|number| number.to_string());
    let names: Vec<String> = missing.by_ref().take(10).collect();
    let more = if missing.next().is_some() { " and others" } else { "" };
    // A log says how many there are, and may say anything.
    let number = (count as usize).saturating_sub(begun.len()).max(names.len());
    (!names.is_empty()).then(|| {
        format!(
            "{number} of {count} pods have no log here, which says nothing about all of them: name those of pod \
             {}{more} too (pods are counted from 0)",
            names.join(", "),
        )
    })
}

impl Reading {
    fn name(&self) -> &str {
        &self.log.name
    }

    /// What the pod told next; `None` at the end.
    fn next(&mut self) -> Result<Option<Message>, ClusterError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.log.lines.read_until(b'\n', &mut line);
            let length = read.map_err(|error| ClusterError::Usage(format!("read {}: {error}", self.name())))?;
            if length == 0 {
                return Ok(None);
            }
            // Lines of others may be anything.
            let line = String::from_utf8_lossy(&line);
            // Who keeps logs puts times and names before their lines.
            let Some(at) = line.find(MARK) else { continue };
            let line = &line[at..];
            if let Some((number, checksum)) = frames::identity(line)
                && *self.checksums.entry(number).or_insert(checksum) != checksum
            {
                return Err(ClusterError::Usage(format!(
                    "{} has what several pods told: put the log of each pod into a file of its own, as `kubectl logs \
                     POD` prints it",
                    self.name()
                )));
            }
            if let Line::Message(message) = self.reader.line(line) {
                return Ok(Some(message));
            }
        }
    }

    /// All that follows.
    fn rest(&mut self) -> Result<Vec<Message>, ClusterError> {
        std::iter::from_fn(|| self.next().transpose()).collect()
    }
}
