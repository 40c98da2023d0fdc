//! What pods told, from logs that somebody has kept: the same record as of who followed them.

use std::io::BufRead;

use plimsoll_record::{event::RunEvent, record::Record};

use crate::{
    error::ClusterError,
    frames::{MARK, Reader},
    hearing::{Heard, Hearing, Teller},
};

/// A log of a pod.
pub struct Log {
    /// What the pod is called.
    pub name: String,
    /// Its lines.
    pub lines: Box<dyn BufRead>,
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

/// Puts the logs of a run's pods together, one log after the other: each is forgotten when it is read. Fails where a
/// log cannot be read, or is that of a pod that could not do the run.
pub fn merge(logs: Vec<Log>, tell: &mut dyn FnMut(&RunEvent)) -> Result<Merged, ClusterError> {
    let mut hearing = Hearing::of(logs.len());
    let mut warnings = Vec::new();
    for (number, Log { name, lines }) in logs.into_iter().enumerate() {
        let (mut reader, mut is_whole) = (Reader::default(), false);
        let teller = Teller { number, name, node: None };
        for line in lines.lines() {
            let line = line.map_err(|error| ClusterError::Usage(format!("read {}: {error}", teller.name)))?;
            // Who keeps logs puts times and names before their lines.
            let line = line.find(MARK).map_or(line.clone(), |at| line[at..].to_owned());
            let heard = hearing.line(&teller, &mut reader, line, || None, tell)?;
            is_whole |= matches!(heard, Heard::Done { .. });
        }
        if reader.lost() > 0 {
            warnings.push(format!("{}: {} lines are missing", teller.name, reader.lost()));
        }
        if !is_whole {
            warnings.push(format!("{}: the end of the run is not in it", teller.name));
        }
    }
    let error = hearing.why_not_together();
    Ok(Merged { record: hearing.record(tell), warnings, error })
}
