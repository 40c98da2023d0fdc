//! Runs of the history: listed, downloaded, tagged, named and removed.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use plimsoll_history::{
    history::History,
    summary::{Filter, RunSummary},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    answer::{Answer, Refusal, json, of_type},
    query::Query,
    server::Shared,
};

/// Runs in a list, when nobody says how many.
const RUNS: usize = 100;
/// Runs in a list, however many somebody wants.
const RUNS_MAX: usize = 500;
/// Tags of a run.
const TAGS_MAX: usize = 100;
/// Characters of a key or a value.
const TAG_LENGTH_MAX: usize = 1000;

/// Runs, and how many there are beside them.
#[derive(Serialize)]
struct Listed {
    /// Whether nothing can be changed here.
    is_read_only: bool,
    total: usize,
    runs: Vec<ListedRun>,
}

#[derive(Serialize)]
struct ListedRun {
    #[serde(flatten)]
    run: RunSummary,
    short_id: String,
    baselines: Vec<String>,
}

/// `GET /api/runs`.
pub(crate) fn list(shared: &Shared, query: Option<&str>) -> Answer {
    let query = Query::read(query, &["target", "tag", "text", "limit", "offset"])?;
    let tag = |text: &str| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Refusal::usage(format!("tag={text} is no tag: write it as tag=KEY=VALUE"))),
    };
    let limit = query.number("limit")?.unwrap_or(RUNS);
    if limit > RUNS_MAX {
        return Err(Refusal::usage(format!(
            "limit={limit} is too many: ask for up to {RUNS_MAX} and go on with offset"
        )));
    }
    let filter = Filter {
        target: query.text("target").map(str::to_owned),
        tags: query.all("tag").filter(|text| !text.is_empty()).map(tag).collect::<Result<_, _>>()?,
        text: query.text("text").map(str::to_owned),
        offset: query.number("offset")?.unwrap_or(0),
        limit: Some(limit),
        since: None,
    };
    let history = shared.read_history()?;
    let page = history.page(&filter)?;
    let runs = listed(&history, page.runs)?;
    json(&Listed { is_read_only: shared.settings.read_only, total: page.total, runs })
}

/// `GET /api/runs/ID`.
pub(crate) fn one(shared: &Shared, id: &str) -> Answer {
    let history = shared.read_history()?;
    let run = history.summary(history.find(id)?)?;
    json(&listed(&history, vec![run])?.remove(0))
}

fn listed(history: &History, runs: Vec<RunSummary>) -> Result<Vec<ListedRun>, Refusal> {
    let short_ids = history.short_ids(&runs.iter().map(|run| run.id).collect::<Vec<_>>())?;
    let mut names: BTreeMap<Uuid, Vec<String>> = BTreeMap::new();
    for baseline in history.baselines()? {
        names.entry(baseline.run).or_default().push(baseline.name);
    }
    let runs = runs.into_iter().zip(short_ids).map(|(run, short_id)| {
        let baselines = names.remove(&run.id).unwrap_or_default();
        ListedRun { run, short_id, baselines }
    });
    Ok(runs.collect())
}

/// `GET /api/runs/ID/record`.
pub(crate) fn record(shared: &Shared, id: &str) -> Answer {
    let history = shared.read_history()?;
    let record = history.get(history.find(id)?)?;
    let mut response = of_type("application/json", serde_json::to_vec_pretty(&record)?, StatusCode::OK);
    let disposition = format!("attachment; filename=\"plimsoll-{}.json\"", record.id);
    attach(&mut response, &disposition);
    Ok(response)
}

fn attach(response: &mut Response, disposition: &str) {
    if let Ok(value) = HeaderValue::from_str(disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
}

/// The body that replaces tags.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTags {
    #[serde(alias = "tags")]
    tag: BTreeMap<String, String>,
}

/// `PUT /api/runs/ID/tags`.
pub(crate) fn set_tags(shared: &Shared, id: &str, body: &[u8]) -> Answer {
    let NewTags { tag } = read_body(body, "{\"tag\": {\"KEY\": \"VALUE\"}}")?;
    check_tags(&tag)?;
    let mut history = shared.open_history()?;
    let run = history.find_unmistakable(id)?;
    history.set_tags(run, &tag)?;
    shared.following.look_at_history();
    json(&json!({ "id": run, "tags": tag }))
}

fn check_tags(tags: &BTreeMap<String, String>) -> Result<(), Refusal> {
    if tags.len() > TAGS_MAX {
        return Err(Refusal::usage(format!("{} tags are too many: a run has up to {TAGS_MAX}", tags.len())));
    }
    for (key, value) in tags {
        if key.is_empty() || key.contains('=') {
            return Err(Refusal::usage(format!("\"{key}\" cannot be the key of a tag: use one without \"=\"")));
        }
        if let Some(text) = [key, value].into_iter().find(|text| text.chars().any(char::is_control)) {
            return Err(Refusal::usage(format!("the tag {text:?} has a control character: leave it out")));
        }
        if [key, value].into_iter().any(|text| text.chars().count() > TAG_LENGTH_MAX) {
            return Err(Refusal::usage(format!("a tag is longer than {TAG_LENGTH_MAX} characters: make it shorter")));
        }
    }
    Ok(())
}

/// The body that names a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewBaseline {
    run: String,
}

/// `PUT /api/baselines/NAME`.
pub(crate) fn set_baseline(shared: &Shared, name: &str, body: &[u8]) -> Answer {
    let NewBaseline { run } = read_body(body, "{\"run\": \"ID\"}")?;
    let mut history = shared.open_history()?;
    let run = history.find(&run)?;
    let before = history.set_baseline(name, run)?;
    shared.following.look_at_history();
    json(&json!({ "name": name, "run": run, "before": before }))
}

/// `DELETE /api/baselines/NAME`.
pub(crate) fn unset_baseline(shared: &Shared, name: &str) -> Answer {
    let run = shared.open_history()?.unset_baseline(name)?;
    shared.following.look_at_history();
    json(&json!({ "name": name, "run": run }))
}

/// `DELETE /api/runs/ID`.
pub(crate) fn remove(shared: &Shared, id: &str, query: Option<&str>) -> Answer {
    let query = Query::read(query, &["confirm"])?;
    let mut history = shared.open_history()?;
    let run = history.find_unmistakable(id)?;
    let short = history.short_ids(&[run])?.remove(0);
    if !query.text("confirm").is_some_and(|text| confirms(text, &short, run)) {
        let sentence = format!("to remove a run for good, repeat its short id: add ?confirm={short}");
        return Err(Refusal::new(StatusCode::CONFLICT, sentence));
    }
    history.remove(&[run])?;
    shared.following.look_at_history();
    json(&json!({ "removed": [run] }))
}

/// Whether a text is a beginning of an id that is no other's. A list of many runs has longer ones.
fn confirms(text: &str, short: &str, run: Uuid) -> bool {
    text.len() >= short.len() && run.to_string().starts_with(&text.to_ascii_lowercase())
}

fn read_body<'a, T: Deserialize<'a>>(body: &'a [u8], form: &str) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::usage(format!("the body is not {form}: {error}")))
}

impl Shared {
    /// The history, to look at it.
    pub(crate) fn read_history(&self) -> Result<History, Refusal> {
        Ok(History::read(&self.settings.history)?)
    }

    /// The history, to change it.
    pub(crate) fn open_history(&self) -> Result<History, Refusal> {
        Ok(History::open(&self.settings.history)?)
    }
}
