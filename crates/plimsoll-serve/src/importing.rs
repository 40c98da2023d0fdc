//! Taking in files: records of plimsoll's own, and what other programs told.

use jiff::{SignedDuration, Timestamp};
use plimsoll_history::history::Kept;
use plimsoll_record::record::Record;
use serde_json::json;

use super::{
    answer::{Answer, Refusal, json},
    query::Query,
    server::Shared,
};

/// What a file is called that was sent without a name.
const NAMELESS: &str = "upload";

/// Clocks of other machines may be ahead by so much. What is later would be the latest run for good.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Refuses records of runs that have not begun yet.
pub fn check_begun(name: &str, records: &[Record], now: Timestamp) -> Result<(), String> {
    match records.iter().find(|record| record.started.duration_since(now) > AHEAD_MAX) {
        Some(record) => Err(format!("{name}: run {} began on {}, which is still to come", record.id, record.started)),
        None => Ok(()),
    }
}

/// `POST /api/import`.
pub(crate) fn import(shared: &Shared, query: Option<&str>, body: &[u8]) -> Answer {
    let query = Query::read(query, &["name"])?;
    let name = query.text("name").unwrap_or(NAMELESS);
    if name.chars().any(char::is_control) {
        return Err(Refusal::usage(format!("the name {name:?} has a control character: leave it out")));
    }
    let records = (shared.settings.read_file)(name, body).map_err(Refusal::usage)?;
    check_begun(name, &records, (shared.settings.now)()).map_err(Refusal::usage)?;
    let mut history = shared.open_history()?;
    let mut known = Vec::new();
    for record in &records {
        if history.save_unless_known(record)? == Kept::Former {
            known.push(record.id);
        }
    }
    shared.following.look_at_history();
    let runs: Vec<_> = records.iter().map(|record| record.id).collect();
    json(&json!({ "runs": runs, "known": known }))
}
