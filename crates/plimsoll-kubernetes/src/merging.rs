//! What pods told, from logs that somebody has kept: the same record as of who followed them.

use std::{
    io::{self, BufRead},
    num::NonZero,
    sync::{Mutex, PoisonError, mpsc::sync_channel},
    thread,
};

use plimsoll_record::{event::RunEvent, record::Record};

use crate::{
    error::ClusterError,
    frames::{Line, MARK, Message, Reader},
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

/// What one log says.
struct Read {
    messages: Vec<Message>,
    lost: u64,
}

/// Puts the logs of a run's pods together. Logs are read by several threads, and each is forgotten when it is added.
/// Fails where a log cannot be read, or is that of a pod that could not do the run.
pub fn merge(logs: Vec<Log>, tell: &mut dyn FnMut(&RunEvent)) -> Result<Merged, ClusterError> {
    let mut hearing = Hearing::of(logs.len());
    let (mut warnings, mut run) = (Vec::new(), None);
    let names: Vec<String> = logs.iter().map(|log| log.name.clone()).collect();
    let logs = Mutex::new(logs.into_iter().enumerate());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        // As many as are being read: whoever is ahead waits.
        let (sender, read) = sync_channel(threads);
        for _ in 0..threads {
            let (sender, logs) = (sender.clone(), &logs);
            scope.spawn(move || {
                loop {
                    let next = logs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, log)) = next else { return };
                    if sender.send((number, messages(log.lines))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (number, read) in read {
            let name = names[number].clone();
            let Read { messages, lost } = read.map_err(|error| ClusterError::Usage(format!("read {name}: {error}")))?;
            let teller = Teller { number, name, node: None };
            let mut is_whole = false;
            for message in messages {
                if let Message::Event { event, .. } = &message
                    && let RunEvent::Started(started) = &**event
                {
                    let (of, first) = run.get_or_insert_with(|| (started.id, teller.name.clone()));
                    if *of != started.id {
                        let text = format!("{first} and {} are logs of different runs: name those of one", teller.name);
                        return Err(ClusterError::Usage(text));
                    }
                }
                let heard = hearing.message(&teller, message, || None, tell)?;
                is_whole |= matches!(heard, Heard::Done { .. });
            }
            if lost > 0 {
                warnings.push(format!("{}: {lost} lines are missing", teller.name));
            }
            if !is_whole {
                warnings.push(format!("{}: the end of the run is not in it", teller.name));
            }
        }
        Ok(())
    })?;
    let error = hearing.why_not_together();
    Ok(Merged { record: hearing.record(tell), warnings, error })
}

/// What a pod told, by its log.
fn messages(lines: Box<dyn BufRead + Send>) -> io::Result<Read> {
    let (mut reader, mut messages) = (Reader::default(), Vec::new());
    for line in lines.lines() {
        let line = line?;
        // Who keeps logs puts times and names before their lines.
        let Some(at) = line.find(MARK) else { continue };
        if let Line::Message(message) = reader.line(&line[at..]) {
            messages.push(message);
        }
    }
    Ok(Read { messages, lost: reader.lost() })
}
