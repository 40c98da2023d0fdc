//! A run of several volumes by an API server that takes its time.

use std::convert::Infallible;

use http::{Method, Request, Response};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::time::sleep;
use tower::service_fn;

use super::*;
use crate::{cluster::test_clusters::answered_by, request::test_runs};

const MS: u64 = 1_000_000;

/// Takes whatever it is sent, and needs 100 ms for that.
async fn answer(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    if request.uri().query().is_some_and(|query| query.contains("watch=")) {
        return pending().await;
    }
    let is_asked = *request.method() == Method::GET;
    let sent = request.into_body().collect_bytes().await.unwrap();
    let answer = if is_asked {
        json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": [] })
    } else {
        sleep(Duration::from_millis(100)).await;
        let object = serde_json::from_slice(&sent).ok().filter(|object: &Value| object.get("metadata").is_some());
        object.unwrap_or_else(|| json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }))
    };
    Ok(Response::new(Body::from(answer.to_string().into_bytes())))
}

#[test]
fn the_times_of_a_volume_have_nothing_of_what_was_sent_for_others() {
    let cluster = answered_by(|| Client::new(service_fn(answer), "default"));
    let run = test_runs::run(&["slow", "fast", "other"], 8);
    let patience = Patience { start: Duration::from_secs(10), cleanup: Duration::from_secs(10) };
    let (stop, mut quiet) = (AtomicBool::new(false), |_: Told<'_>| {});
    let lives = cluster.wait_for(async {
        let facts = async { Ok(Facts::default()) };
        let mut running = Running::begin(&cluster, &run, facts, patience, &mut quiet).await.unwrap();
        running.create(&stop, &mut quiet).await.unwrap();
        let left = running.remove(&stop).await;
        assert!(left.is_empty(), "{left:?}");
        running.lives()
    });
    assert_eq!(lives.len(), 3);
    for life in &lives {
        let seen = |what| life.moments.iter().find(|moment| moment.what == what).and_then(|moment| moment.seen_ns);
        assert_eq!(seen(Happening::ClaimSent), Some(0));
        assert_eq!(life.phases.create_ns, Some(100 * MS), "{}", life.target);
        // Three claims are made and deleted in the same order, each as long after the other.
        assert_eq!(seen(Happening::DeleteSent), Some(300 * MS), "{}", life.target);
    }
}
