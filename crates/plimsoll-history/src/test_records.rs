//! Records and events for tests: those of the golden run, under other ids.

use std::{fs, path::Path};

use plimsoll_record::{
    event::{RunEvent, RunStarted},
    record::Record,
    upgrade,
};
use uuid::Uuid;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The golden record as run `number`; later numbers began later, a second apart.
pub(crate) fn record(number: u32) -> Record {
    let mut record = upgrade::read(&fixture("plimsoll-1.json")).expect("the golden record can be read");
    record.id = id(number);
    record.started = record.started.checked_add(jiff::SignedDuration::from_secs(number.into())).expect("in range");
    record
}

/// The events of the golden run as run `number`.
pub(crate) fn events(number: u32) -> (RunStarted, Vec<RunEvent>) {
    let text = fixture("plimsoll-1.events.ndjson");
    let mut events = text.lines().map(|line| serde_json::from_str(line).expect("an event is one line of JSON"));
    let Some(RunEvent::Started(started)) = events.next() else { panic!("a run begins with its start") };
    let mut started = *started;
    started.id = id(number);
    started.started = record(number).started;
    (started, events.collect())
}

/// An id as of version 7, a second after that of the number before.
pub(crate) fn id(number: u32) -> Uuid {
    let milliseconds = 0x0199_c0de_0000_u64 + u64::from(number) * 1000;
    let tail = u128::from(number) | (0x7000_8000_u128 << 48);
    Uuid::from_u128((u128::from(milliseconds) << 80) | tail)
}
