//! Taking in files: records of plimsoll's own, and what other programs told.

use serde_json::json;

use super::{
    answer::{Answer, Refusal, json},
    query::Query,
    server::Shared,
};

/// What a file is called that was sent without a name.
const NAMELESS: &str = "upload";

/// `POST /api/import`.
pub(crate) fn import(shared: &Shared, query: Option<&str>, body: &[u8]) -> Answer {
    let query = Query::read(query, &["name"])?;
    let name = query.text("name").unwrap_or(NAMELESS);
    if name.chars().any(char::is_control) {
        return Err(Refusal::usage(format!("the name {name:?} has a control character: leave it out")));
    }
    let records = (shared.settings.read_file)(name, body).map_err(Refusal::usage)?;
    let mut history = shared.open_history()?;
    for record in &records {
        // A record that says more of the same run stays.
        history.save_unless_less(record)?;
    }
    shared.following.look_at_history();
    json(&json!({ "runs": records.iter().map(|record| record.id).collect::<Vec<_>>() }))
}
