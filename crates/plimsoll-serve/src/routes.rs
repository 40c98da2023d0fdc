//! What is answered where.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, RawQuery, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::{from_fn_with_state, map_response},
    response::{IntoResponse, Response},
    routing::{delete, get, post, put},
};
use serde_json::json;

use super::{
    access::{self, Access},
    answer::{Answer, Refusal, away, json, of_type},
    events, importing, metrics, page, reports, runs,
    server::Shared,
};

/// The longest file that is taken in.
const FILE_BYTES_MAX: usize = 64 << 20;
/// The longest of other bodies.
const BODY_BYTES_MAX: usize = 1 << 20;

/// Who sends a body more slowly is not waited for.
const BODY_TIME_MAX: Duration = Duration::from_secs(300);

/// What every answer says to browsers.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
];
/// What data is to a browser that opens it: nothing that runs.
const POLICY_OF_DATA: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

type Server = State<Arc<Shared>>;

pub(crate) fn router(access: Arc<Access>, shared: Arc<Shared>) -> Router {
    let writing = || from_fn_with_state(Arc::clone(&access), access::check_writing);
    Router::new()
        .route("/", get(page::page))
        .route("/metrics", get(get_metrics))
        .route("/api/runs", get(list))
        .route("/api/report", get(report))
        .route("/api/live", get(live))
        .route("/api/live/{id}", get(live_report))
        .route("/api/events", get(follow))
        .route("/api/runs/{id}/record", get(record))
        .route("/api/runs/{id}/tags", put(set_tags).route_layer(writing()))
        .route("/api/runs/{id}", get(one))
        .route("/api/runs/{id}", delete(remove).route_layer(writing()))
        .route("/api/baselines/{name}", put(set_baseline).delete(unset_baseline).route_layer(writing()))
        .route("/api/import", post(import).route_layer(writing()))
        .fallback(nothing_here)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(access, access::check))
        .layer(map_response(finish))
        .with_state(shared)
}

async fn list(State(shared): Server, RawQuery(query): RawQuery) -> Answer {
    away(move || runs::list(&shared, query.as_deref())).await
}

async fn one(State(shared): Server, Path(id): Path<String>) -> Answer {
    away(move || runs::one(&shared, &id)).await
}

async fn report(State(shared): Server, RawQuery(query): RawQuery) -> Answer {
    away(move || reports::report(&shared, query.as_deref())).await
}

async fn live(State(shared): Server) -> Answer {
    away(move || json(&json!({ "runs": shared.following.look().runs }))).await
}

async fn live_report(State(shared): Server, Path(id): Path<String>) -> Answer {
    away(move || reports::live(&shared, &id)).await
}

async fn follow(State(shared): Server) -> Answer {
    events::events(shared).await
}

async fn record(State(shared): Server, Path(id): Path<String>) -> Answer {
    away(move || runs::record(&shared, &id)).await
}

async fn get_metrics(State(shared): Server) -> Answer {
    let text = away(move || Ok(metrics::text(&shared))).await?;
    Ok(of_type(metrics::CONTENT_TYPE, text, StatusCode::OK))
}

async fn set_tags(State(shared): Server, Path(id): Path<String>, body: Body) -> Answer {
    let body = read(body, BODY_BYTES_MAX).await?;
    away(move || runs::set_tags(&shared, &id, &body)).await
}

async fn remove(State(shared): Server, Path(id): Path<String>, RawQuery(query): RawQuery) -> Answer {
    away(move || runs::remove(&shared, &id, query.as_deref())).await
}

async fn set_baseline(State(shared): Server, Path(name): Path<String>, body: Body) -> Answer {
    let body = read(body, BODY_BYTES_MAX).await?;
    away(move || runs::set_baseline(&shared, &name, &body)).await
}

async fn unset_baseline(State(shared): Server, Path(name): Path<String>) -> Answer {
    away(move || runs::unset_baseline(&shared, &name)).await
}

async fn import(State(shared): Server, RawQuery(query): RawQuery, body: Body) -> Answer {
    let body = read(body, FILE_BYTES_MAX).await?;
    // One at a time: a file becomes many times as much memory while it is read.
    let one = shared.importing.clone().lock_owned().await;
    away(move || {
        // It is over when the file was taken in, and not when who sent it goes away.
        let _one = one;
        importing::import(&shared, query.as_deref(), &body)
    })
    .await
}

async fn read(body: Body, bytes_max: usize) -> Result<Vec<u8>, Refusal> {
    let too_slow = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come to its end: send it again");
    let bytes = tokio::time::timeout(BODY_TIME_MAX, to_bytes(body, bytes_max)).await.map_err(too_slow)?;
    let too_long = |_| {
        let sentence = format!("the body is longer than {} MiB, or was cut off", bytes_max >> 20);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
    };
    Ok(bytes.map_err(too_long)?.into())
}

async fn nothing_here() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing here: see docs/serving.md for what there is")
}

async fn no_such_method() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this is not asked that way: see docs/serving.md for how")
}

/// What every answer has, and a sentence for refusals that were made elsewhere.
async fn finish(mut response: Response) -> Response {
    let is_json = |response: &Response| {
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
    };
    let status = response.status();
    if (status.is_client_error() || status.is_server_error()) && !is_json(&response) {
        response = Refusal::new(status, status.canonical_reason().unwrap_or("refused").to_lowercase()).into_response();
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let policy = response.headers_mut().entry(header::CONTENT_SECURITY_POLICY);
    policy.or_insert(HeaderValue::from_static(POLICY_OF_DATA));
    response
}
