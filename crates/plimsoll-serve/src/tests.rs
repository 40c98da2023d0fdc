//! Every route and every refusal, asked without a network.

use std::{
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use futures_util::StreamExt;
use plimsoll_catalog::catalog::Catalog;
use plimsoll_history::{history::History, journal::Journal};
use plimsoll_record::{
    event::{RunEvent, RunStarted},
    record::{Record, Tool},
    upgrade,
};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;
use uuid::Uuid;

use super::server::{Settings, router};

mod who_may_ask;

/// What the clock of a server says.
const NOW: &str = "2030-01-01T00:00:00Z";

/// A server with a state directory of its own.
struct Place {
    directory: TempDir,
    router: Router,
}

/// What it answered.
struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The sentence of a refusal.
    fn error(&self, status: StatusCode) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        self.json()["error"].as_str().expect("a refusal is a sentence").to_owned()
    }
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/records").join(name);
    fs::read_to_string(path).unwrap()
}

fn id(number: u32) -> Uuid {
    Uuid::from_u128(0x0199_c0de_0000_7000_8000_0000_0000_0000 + (u128::from(number) << 80))
}

fn record(number: u32) -> Record {
    let mut record = upgrade::read(&fixture("plimsoll-1.json")).unwrap();
    record.id = id(number);
    record.started = record.started.checked_add(jiff::SignedDuration::from_secs(number.into())).unwrap();
    record.name = Some(format!("Run {number}"));
    record.tags = [("number".to_owned(), number.to_string())].into();
    record
}

fn events() -> (RunStarted, Vec<RunEvent>) {
    let text = fixture("plimsoll-1.events.ndjson");
    let mut events = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let Some(RunEvent::Started(started)) = events.next() else { panic!("a run begins with its start") };
    (*started, events.collect())
}

fn settings(directory: &Path) -> Settings {
    Settings {
        history: directory.join("history.db"),
        state_directory: Some(directory.to_owned()),
        catalog: Catalog::default(),
        token: None,
        read_only: false,
        tool: Tool { version: "1.2.3".to_owned(), commit: None, profile: "debug".to_owned() },
        now: || NOW.parse().unwrap(),
        read_file: Box::new(|name, bytes| {
            let text = String::from_utf8_lossy(bytes);
            upgrade::read(&text).map(|record| vec![record]).map_err(|error| format!("{name}: {error}"))
        }),
    }
}

/// Writes to a journal, so many seconds ago.
fn append(journal: &mut Journal, events: &[RunEvent], seconds_ago: i64) {
    events.iter().for_each(|event| journal.append(event).unwrap());
    let written = NOW.parse::<jiff::Timestamp>().unwrap() - jiff::SignedDuration::from_secs(seconds_ago);
    fs::File::options().write(true).open(journal.path()).unwrap().set_modified(written.into()).unwrap();
}

impl Place {
    /// A server on loopback with so many runs.
    fn new(runs: u32) -> Self {
        Self::with(runs, "127.0.0.1:7457", |_| {})
    }

    fn with(runs: u32, address: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = settings(directory.path());
        if runs > 0 {
            let mut history = History::open(&settings.history).unwrap();
            (1..=runs).for_each(|number| history.save(&record(number)).unwrap());
        }
        change(&mut settings);
        let router = router(address.parse().unwrap(), settings).unwrap();
        Self { directory, router }
    }

    fn history(&self) -> History {
        History::read(&self.directory.path().join("history.db")).unwrap()
    }

    async fn send(&self, request: Request<Body>) -> Answered {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        Answered { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str) -> Answered {
        self.send(request(Method::GET, path, &[]).body(Body::empty()).unwrap()).await
    }

    /// Changes something as the page does.
    async fn write(&self, method: Method, path: &str, body: impl Into<Body>) -> Answered {
        self.send(request(method, path, &[("x-plimsoll", "1")]).body(body.into()).unwrap()).await
    }
}

fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> axum::http::request::Builder {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header(header::HOST, "localhost:7457");
    }
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// The names of the runs in a list.
fn names(answered: &Answered) -> Vec<String> {
    let list = answered.json();
    list["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn runs_are_listed_the_newest_first_and_found_by_what_names_them() {
    let place = Place::new(5);
    History::open(&place.directory.path().join("history.db")).unwrap().set_baseline("before", id(2)).unwrap();
    let all = place.get("/api/runs").await;
    assert_eq!(names(&all), ["Run 5", "Run 4", "Run 3", "Run 2", "Run 1"]);
    let first = &all.json()["runs"][0];
    assert!(id(5).to_string().starts_with(first["short_id"].as_str().unwrap()), "{first}");
    assert!(first["cells"][0]["verdict"].is_string(), "{first}");
    assert_eq!(all.json()["runs"][3]["baselines"], serde_json::json!(["before"]));
    let some = place.get("/api/runs?limit=2&offset=1").await;
    assert_eq!((names(&some), some.json()["total"].as_u64()), (vec!["Run 4".to_owned(), "Run 3".to_owned()], Some(5)));
    let target = record(1).cells[0].target.clone();
    for (query, count) in [
        ("text=run%203".to_owned(), 1),
        ("text=RUN".to_owned(), 5),
        (format!("text={}", &id(3).to_string()[..9]), 5),
        (format!("text={}", &id(3).to_string()[..14]), 1),
        ("text=nothing-is-called-so".to_owned(), 0),
        (format!("text={}", record(1).cells[0].workload[..4].to_uppercase()), 5),
        (format!("target={target}"), 5),
        ("target=/nowhere".to_owned(), 0),
        ("tag=number%3D3".to_owned(), 1),
        ("tag=number=3&tag=number=4".to_owned(), 0),
    ] {
        let found = place.get(&format!("/api/runs?{query}")).await;
        assert_eq!(found.json()["total"].as_u64(), Some(count), "{query}");
    }
    for query in ["limit=x", "limit=1001", "tag=x", "color=red"] {
        let error = place.get(&format!("/api/runs?{query}")).await.error(StatusCode::BAD_REQUEST);
        assert!(error.contains(query.split('=').next().unwrap()), "{error}");
    }
    assert_eq!(Place::new(0).get("/api/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn one_run_is_told_as_it_is_in_the_list() {
    let place = Place::new(2);
    let list = place.get("/api/runs").await.json();
    assert_eq!(list["is_read_only"], false);
    for named in [id(2).to_string(), "latest".to_owned(), "Run%202".to_owned()] {
        assert_eq!(place.get(&format!("/api/runs/{named}")).await.json(), list["runs"][0], "{named}");
    }
    let error = place.get(&format!("/api/runs/{}", id(3))).await.error(StatusCode::NOT_FOUND);
    assert!(error.contains(&id(3).to_string()), "{error}");
}

#[tokio::test]
async fn a_report_is_the_document_of_the_runs_that_are_named() {
    let place = Place::new(3);
    let report = place.get("/api/report?runs=latest,Run%201&title=Mine&reference=B").await;
    let document = report.json();
    assert_eq!((&document["schema"], &document["title"]), (&"plimsoll-report/1".into(), &"Mine".into()));
    assert_eq!(document["runs"][0]["id"], id(3).to_string());
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    assert_eq!(document["comparisons"][0]["reference"], "B");
    place.get("/api/report").await.error(StatusCode::BAD_REQUEST);
    place.get("/api/report?runs=abcdef12").await.error(StatusCode::NOT_FOUND);
    place.get("/api/report?runs=latest,latest").await.error(StatusCode::BAD_REQUEST);
    place.get("/api/report?runs=latest,Run%201&reference=Z").await.error(StatusCode::BAD_REQUEST);
    let many = vec!["latest"; 201].join(",");
    assert!(place.get(&format!("/api/report?runs={many}")).await.error(StatusCode::BAD_REQUEST).contains("201"));
}

#[tokio::test]
async fn a_record_is_downloaded_whole() {
    let place = Place::new(2);
    let download = place.get(&format!("/api/runs/{}/record", id(1))).await;
    assert_eq!(upgrade::read(&download.body).unwrap(), record(1));
    let disposition = download.headers[header::CONTENT_DISPOSITION].to_str().unwrap();
    assert_eq!(disposition, format!("attachment; filename=\"plimsoll-{}.json\"", id(1)));
    place.get("/api/runs/abcdef12/record").await.error(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn tags_are_replaced_and_what_is_no_tag_is_refused() {
    let place = Place::new(1);
    let path = format!("/api/runs/{}/tags", id(1));
    let set = place.write(Method::PUT, &path, r#"{"tag": {"host": "b", "note": "x y"}}"#).await;
    assert_eq!((set.status, &set.json()["tags"]["host"]), (StatusCode::OK, &"b".into()));
    assert_eq!(place.history().get(id(1)).unwrap().tags["note"], "x y");
    assert_eq!(place.get("/api/runs?tag=host=b").await.json()["total"], 1);
    for body in [
        "",
        "{}",
        "{\"tag\": {\"a\": 1}}",
        "{\"tag\": {\"\": \"a\"}}",
        "{\"tag\": {\"a=b\": \"c\"}}",
        "{\"tag\": {\"a\": \"b\\nc\"}}",
        "{\"tag\": {}, \"name\": \"x\"}",
    ] {
        place.write(Method::PUT, &path, body).await.error(StatusCode::BAD_REQUEST);
    }
    place.write(Method::PUT, &path, "x".repeat((1 << 20) + 1)).await.error(StatusCode::PAYLOAD_TOO_LARGE);
    place.write(Method::PUT, "/api/runs/abcdef12/tags", r#"{"tag": {}}"#).await.error(StatusCode::NOT_FOUND);
    assert_eq!(place.history().get(id(1)).unwrap().tags.len(), 2);
}

#[tokio::test]
async fn baselines_are_set_and_taken_away() {
    let place = Place::new(2);
    let body = format!("{{\"run\": \"{}\"}}", id(1));
    let set = place.write(Method::PUT, "/api/baselines/before", body).await;
    assert_eq!((set.status, &set.json()["before"]), (StatusCode::OK, &Value::Null));
    assert_eq!(place.history().baseline("before").unwrap(), Some(id(1)));
    let again = place.write(Method::PUT, "/api/baselines/before", r#"{"run": "latest"}"#).await;
    assert_eq!(again.json()["before"], id(1).to_string());
    place.write(Method::PUT, "/api/baselines/latest", r#"{"run": "latest"}"#).await.error(StatusCode::BAD_REQUEST);
    place.write(Method::PUT, "/api/baselines/x", r#"{"run": "abcdef12"}"#).await.error(StatusCode::NOT_FOUND);
    place.write(Method::PUT, "/api/baselines/x", "[]").await.error(StatusCode::BAD_REQUEST);
    assert_eq!(place.write(Method::DELETE, "/api/baselines/before", "").await.status, StatusCode::OK);
    place.write(Method::DELETE, "/api/baselines/before", "").await.error(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_run_is_removed_only_when_its_short_id_is_repeated_and_never_as_a_baseline() {
    let place = Place::new(2);
    let path = format!("/api/runs/{}", id(1));
    let sentence = place.write(Method::DELETE, &path, "").await.error(StatusCode::CONFLICT);
    let short = sentence.rsplit('=').next().unwrap().to_owned();
    assert!(id(1).to_string().starts_with(&short), "{sentence}");
    for wrong in ["0199c0de", &id(2).to_string(), "", "x"] {
        place.write(Method::DELETE, &format!("{path}?confirm={wrong}"), "").await.error(StatusCode::CONFLICT);
    }
    History::open(&place.directory.path().join("history.db")).unwrap().set_baseline("before", id(1)).unwrap();
    let sentence = place.write(Method::DELETE, &format!("{path}?confirm={short}"), "").await;
    assert!(sentence.error(StatusCode::CONFLICT).contains("baseline"));
    place.write(Method::DELETE, "/api/baselines/before", "").await;
    let removed = place.write(Method::DELETE, &format!("{path}?confirm={short}"), "").await;
    assert_eq!((removed.status, &removed.json()["removed"][0]), (StatusCode::OK, &id(1).to_string().into()));
    assert!(!place.history().contains(id(1)).unwrap());
    place.write(Method::DELETE, &format!("{path}?confirm={short}"), "").await.error(StatusCode::NOT_FOUND);
    let name = place.write(Method::DELETE, "/api/runs/Run%202?confirm=0199", "").await;
    assert!(name.error(StatusCode::BAD_REQUEST).contains("name"));
}

#[tokio::test]
async fn a_record_is_imported_as_it_is_and_what_nobody_knows_is_refused() {
    let place = Place::new(0);
    let text = serde_json::to_string(&record(7)).unwrap();
    let imported = place.write(Method::POST, "/api/import?name=x.json", text).await;
    assert_eq!(imported.json()["runs"][0], id(7).to_string());
    assert_eq!(place.history().get(id(7)).unwrap(), record(7));
    // What is known stays as it is, with what its user has made of it.
    place.write(Method::PUT, &format!("/api/runs/{}/tags", id(7)), r#"{"tag": {"mine": "1"}}"#).await;
    let forged = Record { name: Some("forged".to_owned()), ..record(7) };
    let imported = place.write(Method::POST, "/api/import", serde_json::to_string(&forged).unwrap()).await.json();
    assert_eq!((&imported["runs"], &imported["known"]), (&serde_json::json!([id(7)]), &serde_json::json!([id(7)])));
    let kept = place.get("/api/runs/latest").await.json();
    assert_eq!((&kept["name"], &kept["tags"]), (&"Run 7".into(), &serde_json::json!({ "mine": "1" })));
    let later = Record { id: id(8), started: "2030-01-03T00:00:00Z".parse().unwrap(), ..record(8) };
    let later = serde_json::to_string(&later).unwrap();
    let error = place.write(Method::POST, "/api/import", later).await.error(StatusCode::BAD_REQUEST);
    assert!(error.contains("2030-01-03") && error.contains("still to come"), "{error}");
    let error = place.write(Method::POST, "/api/import?name=x.txt", "hello").await.error(StatusCode::BAD_REQUEST);
    assert!(error.contains("x.txt"), "{error}");
    place.write(Method::POST, "/api/import?name=a%0Ab", "{}").await.error(StatusCode::BAD_REQUEST);
    let long = vec![b' '; (64 << 20) + 1];
    let error = place.write(Method::POST, "/api/import", long).await.error(StatusCode::PAYLOAD_TOO_LARGE);
    assert!(error.contains("64 MiB"), "{error}");
}

#[tokio::test]
async fn one_file_is_taken_in_at_a_time_also_when_its_sender_went_away() {
    let (begun, begins) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let (goes_on, running) = (Mutex::new(goes_on), AtomicU32::new(0));
    let place = Place::with(0, "127.0.0.1:7457", |settings| {
        settings.read_file = Box::new(move |_, _| {
            begun.send(running.fetch_add(1, Ordering::SeqCst)).unwrap();
            goes_on.lock().unwrap().recv().unwrap();
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(Vec::new())
        });
    });
    let import = || {
        let request = request(Method::POST, "/api/import", &[("x-plimsoll", "1")]);
        tokio::spawn(place.router.clone().oneshot(request.body(Body::empty()).unwrap()))
    };
    // Whoever can go on has gone on, also where work is done that waits.
    let turns = async || {
        for _ in 0..10 {
            tokio::task::yield_now().await;
            tokio::task::spawn_blocking(|| {}).await.unwrap();
        }
    };
    let first = import();
    turns().await;
    assert_eq!(begins.recv().unwrap(), 0);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let second = import();
    turns().await;
    (0..2).for_each(|_| go_on.send(()).unwrap());
    assert_eq!(second.await.unwrap().unwrap().status(), StatusCode::OK);
    assert_eq!(begins.recv().unwrap(), 0, "it began while the one before was read");
}

#[tokio::test]
async fn a_run_that_is_going_on_is_shown_with_what_it_has_so_far() {
    let place = Place::new(0);
    assert_eq!(place.get("/api/live").await.json()["runs"], serde_json::json!([]));
    let (started, events) = events();
    let mut journal = Journal::create(place.directory.path(), &place.directory.path().join("h"), &started).unwrap();
    let target = "/mnt/data".to_owned();
    journal.append(&RunEvent::LayoutProgress { target, written_bytes: 1, total_bytes: 3 }).unwrap();
    let layout = place.get("/api/live").await.json()["runs"][0]["layout"].clone();
    assert_eq!(layout, serde_json::json!({ "target": "/mnt/data", "written_bytes": 1, "total_bytes": 3 }));
    let finished = events.iter().position(|event| matches!(event, RunEvent::SlotFinished(_))).unwrap();
    events[..=finished].iter().for_each(|event| journal.append(event).unwrap());
    let live = place.get("/api/live").await.json();
    let run = &live["runs"][0];
    assert_eq!((&run["id"], &run["phase"]), (&started.id.to_string().into(), &"between".into()));
    assert_eq!(run["layout"], Value::Null);
    assert_eq!((&run["slots_done"], run["cells"].as_array().unwrap().len()), (&1.into(), started.plan.cells.len()));
    assert!(run.get("seconds").is_none() && run["targets"][0].is_string(), "{run}");
    let document = place.get(&format!("/api/live/{}", started.id)).await.json();
    assert_eq!(document["runs"][0]["id"], started.id.to_string());
    assert!(document["findings"][0]["text"].as_str().unwrap().contains("going on"), "{}", document["findings"]);
    assert_eq!(document["runs"][0]["ended"], Value::Null);
    place.get(&format!("/api/live/{}", id(1))).await.error(StatusCode::NOT_FOUND);
    place.get("/api/live/x").await.error(StatusCode::NOT_FOUND);
    let metrics = place.get("/metrics").await.body;
    assert!(metrics.contains("\nplimsoll_live_runs 1\n"), "{metrics}");
    // Whose process is gone is not going on, and is in the history with what it had.
    drop(journal);
    assert_eq!(place.get("/api/live").await.json()["runs"], serde_json::json!([]));
    let lost = History::read(&place.directory.path().join("h")).unwrap().get(started.id).unwrap();
    assert_eq!(lost.outcome, plimsoll_record::record::Outcome::Lost);
    place.get(&format!("/api/live/{}", started.id)).await.error(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn events_begin_with_the_whole_state_and_tell_of_changes() {
    let place = Place::new(1);
    let request = request(Method::GET, "/api/events", &[]).body(Body::empty()).unwrap();
    let response = place.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut stream = response.into_body().into_data_stream();
    let mut next = async || String::from_utf8(stream.next().await.unwrap().unwrap().to_vec()).unwrap();
    let live = next().await;
    assert!(
        live.contains("event: live\n") && live.contains("retry: 1000\n") && live.contains("{\"runs\":[]}"),
        "{live}"
    );
    let runs = next().await;
    assert!(runs.contains("event: runs\n") && runs.contains("\"total\":1"), "{runs}");
    place.write(Method::PUT, &format!("/api/runs/{}/tags", id(1)), r#"{"tag": {}}"#).await;
    let runs = next().await;
    assert!(runs.contains("event: runs\n") && runs.contains("\"revision\":2"), "{runs}");
}

#[tokio::test]
async fn metrics_tell_of_the_latest_run_of_each_target_and_workload() {
    let place = Place::new(3);
    let answered = place.get("/metrics").await;
    assert_eq!(answered.headers[header::CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    let text = answered.body;
    assert!(text.contains("\nplimsoll_history_runs 3\n"), "{text}");
    assert!(text.contains("plimsoll_build_info{version=\"1.2.3\",commit=\"\"} 1\n"), "{text}");
    assert!(text.contains(&id(3).to_string()) && !text.contains(&id(1).to_string()), "{text}");
    let mut series: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for name in ["operations_per_second", "bytes_per_second", "latency_seconds", "run_timestamp_seconds", "verdict"] {
        assert!(series.iter().any(|line| line.starts_with(&format!("plimsoll_{name}{{"))), "{name}:\n{text}");
    }
    let of_run = series.iter().filter(|line| line.contains("run=\""));
    assert!(
        of_run.clone().all(|line| line.starts_with("plimsoll_run_timestamp_seconds{")) && of_run.count() > 0,
        "{text}"
    );
    series.iter_mut().for_each(|line| *line = line.rsplit_once(' ').unwrap().0);
    let count = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), count, "no series is told twice");
    assert_eq!(place.get("/metrics").await.body, text, "what was kept says the same");
}

#[tokio::test]
async fn what_a_run_told_long_ago_is_not_what_it_does_now() {
    let place = Place::new(0);
    let (started, events) = events();
    let mut journal = Journal::create(place.directory.path(), &place.directory.path().join("h"), &started).unwrap();
    let second = events.iter().position(|event| matches!(event, RunEvent::Interval { .. })).unwrap();
    let now = async || {
        let live = place.get("/api/live").await.json();
        let cells = live["runs"][0]["cells"].as_array().unwrap().clone();
        let is_told = cells.iter().any(|cell| cell["now"]["iops"].is_number());
        let metrics = place.get("/metrics").await.body;
        assert_eq!(metrics.contains("\nplimsoll_live_operations_per_second{"), is_told, "{metrics}");
        assert!(metrics.contains("\nplimsoll_live_runs 1\n"), "{metrics}");
        is_told
    };
    append(&mut journal, &events[..=second], 6);
    assert!(!now().await);
    append(&mut journal, &events[second..=second], 5);
    assert!(now().await);
}

#[tokio::test]
async fn a_history_that_cannot_be_read_takes_nothing_from_what_is_going_on() {
    let place = Place::new(0);
    fs::write(place.directory.path().join("history.db"), "no database").unwrap();
    let (started, events) = events();
    let mut journal = Journal::create(place.directory.path(), &place.directory.path().join("h"), &started).unwrap();
    let second = events.iter().position(|event| matches!(event, RunEvent::Interval { .. })).unwrap();
    append(&mut journal, &events[..=second], 0);
    let metrics = place.get("/metrics").await.body;
    assert!(
        metrics.contains("\nplimsoll_history_readable 0\n") && !metrics.contains("plimsoll_history_runs"),
        "{metrics}"
    );
    assert!(metrics.contains("plimsoll_live_operations_per_second{"), "{metrics}");
    place.get("/api/runs").await.error(StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn every_answer_says_what_browsers_may_not() {
    let place = Place::new(0);
    for path in ["/", "/api/runs", "/nothing", "/api/report"] {
        let headers = place.get(path).await.headers;
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["x-frame-options"], "DENY", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    }
    let page = place.get("/").await;
    assert_eq!(page.status, StatusCode::OK);
    match plimsoll_page::served() {
        Ok(template) => assert_eq!(page.body, template),
        Err(error) => assert!(page.body.contains(&error.to_string()), "{}", page.body),
    }
}

#[tokio::test]
async fn other_places_are_not_there_and_other_methods_not_allowed() {
    let place = Place::new(1);
    for path in ["/nothing", "/api", "/api/runs/", "/api/runs/x/y", "/index.html"] {
        place.get(path).await.error(StatusCode::NOT_FOUND);
    }
    for (method, path) in [
        (Method::POST, "/"),
        (Method::POST, "/api/runs"),
        (Method::GET, "/api/import"),
        (Method::PUT, "/api/runs/x"),
        (Method::POST, "/api/runs/x/tags"),
        (Method::GET, "/api/baselines/x"),
        (Method::DELETE, "/metrics"),
        (Method::OPTIONS, "/api/runs"),
    ] {
        let answered = place.send(request(method.clone(), path, &[]).body(Body::empty()).unwrap()).await;
        answered.error(StatusCode::METHOD_NOT_ALLOWED);
    }
}
