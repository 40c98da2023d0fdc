//! Documents, as reports have them: of runs of the history, and of one that is going on.

use axum::http::StatusCode;
use plimsoll_history::journal::following;
use plimsoll_record::{
    record::{NOT_RUN, Outcome, Record},
    results::Severity,
};
use plimsoll_report::{
    comparison::Wishes,
    document::{Contents, Document, DocumentError, Note},
};
use plimsoll_workload::{error_chain::chain, provisioned::Provisioning};
use uuid::Uuid;

use super::{
    answer::{Answer, Refusal, of_type},
    query::Query,
    server::Shared,
};

/// Runs of a report.
const RUNS_MAX: usize = 200;

/// `GET /api/report`.
pub(crate) fn report(shared: &Shared, query: Option<&str>) -> Answer {
    let query = Query::read(query, &["runs", "reference", "title"])?;
    let runs: Vec<&str> = query.all("runs").flat_map(|runs| runs.split(',')).filter(|run| !run.is_empty()).collect();
    if runs.is_empty() {
        return Err(Refusal::usage("no run is named: add runs=ID, or several with commas between them"));
    }
    if runs.len() > RUNS_MAX {
        return Err(Refusal::usage(format!("{} runs are too many for a report: name up to {RUNS_MAX}", runs.len())));
    }
    let history = shared.read_history()?;
    let records = runs.iter().map(|run| history.get(history.find(run)?)).collect::<Result<Vec<Record>, _>>()?;
    let (title, reference) = (query.text("title").map(str::to_owned), query.text("reference").map(str::to_owned));
    answer(&document(shared, title, &records, reference)?)
}

fn document(
    shared: &Shared,
    title: Option<String>,
    records: &[Record],
    reference: Option<String>,
) -> Result<Document, Refusal> {
    let nothing_said = Provisioning::default();
    // A report is made without them as well.
    let baselines = shared.read_history().and_then(|history| Ok(history.baselines()?)).unwrap_or_default();
    let baselines: Vec<(String, Uuid)> = baselines.into_iter().map(|baseline| (baseline.name, baseline.run)).collect();
    let subjects: Vec<(&Record, &Provisioning)> = records.iter().map(|record| (record, &nothing_said)).collect();
    let contents = Contents {
        title,
        subjects: &subjects,
        wishes: Wishes { reference, ..Wishes::default() },
        catalog: &shared.settings.catalog,
        claims: None,
        baselines: &baselines,
        created: (shared.settings.now)(),
        version: shared.settings.tool.version.clone(),
    };
    let document = Document::of(contents).map_err(|error: DocumentError| Refusal::usage(chain(&error)))?;
    // It is not sent, so that it may be of any length.
    Ok(document.for_page(&records.iter().collect::<Vec<_>>(), usize::MAX))
}

/// `GET /api/live/ID`.
pub(crate) fn live(shared: &Shared, id: &str) -> Answer {
    let gone = || {
        let sentence = format!("run {id} is not going on here: /api/live lists those that are");
        Refusal::new(StatusCode::NOT_FOUND, sentence)
    };
    let run: Uuid = id.parse().map_err(|_| gone())?;
    let directory = shared.settings.state_directory.as_deref().ok_or_else(gone)?;
    let record = following::so_far(directory, run).map_err(|error| Refusal::failure(&error))?.ok_or_else(gone)?;
    let goes_on = record.outcome == Outcome::Lost && shared.following.look().runs.iter().any(|live| live.id == run);
    let mut document = document(shared, None, &[if goes_on { going_on(record) } else { record }], None)?;
    if goes_on {
        let text = "this run is going on: these are its numbers so far, and what they mean is said at its end";
        document.findings.insert(0, Note { severity: Severity::Info, text: text.to_owned() });
    }
    answer(&document)
}

fn answer(document: &Document) -> Answer {
    Ok(of_type("application/json", document.json()?, StatusCode::OK))
}

/// The record of a run whose end nobody has told, because it is still to come.
fn going_on(mut record: Record) -> Record {
    record.outcome = Outcome::Complete;
    for cell in record.cells.iter_mut().filter(|cell| cell.verdict.is_none()) {
        cell.verdict_reason = Some(format!("{NOT_RUN}: its first slot is still to come or not done yet"));
    }
    record
}
