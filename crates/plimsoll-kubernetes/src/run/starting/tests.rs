//! Creating objects by an API server that is away for a moment, or says no, and letting pods go.

use std::{collections::VecDeque, convert::Infallible, sync::Mutex};

use http::{Request, Response, StatusCode};
use kube::{Client, client::Body};
use serde_json::Value;
use tower::service_fn;

use super::*;
use crate::cluster::test_clusters::answered_by;

/// Creates a ConfigMap by an API server that gives these answers, the last of them again and again. Gives what comes
/// of it, the requests, and what is told of delays.
fn create_by(answers: &[(u16, &str)]) -> (Result<ConfigMap, ClusterError>, Vec<String>, Vec<String>) {
    let answers: VecDeque<(u16, String)> = answers.iter().map(|(code, text)| (*code, (*text).to_owned())).collect();
    let (answers, requests) = (Mutex::new(answers), std::sync::Arc::new(Mutex::new(Vec::new())));
    let asked = std::sync::Arc::clone(&requests);
    let service = service_fn(move |request: Request<Body>| {
        asked.lock().unwrap().push(request.method().to_string());
        let mut answers = answers.lock().unwrap();
        let (code, text) = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        let body = match code {
            200 | 201 => json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": text } }),
            _ => {
                let reason = if code == 409 { "AlreadyExists" } else { "x" };
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
                    "message": text })
            }
        };
        async move {
            let status = StatusCode::from_u16(code).unwrap();
            Ok::<_, Infallible>(
                Response::builder().status(status).body(Body::from(body.to_string().into_bytes())).unwrap(),
            )
        }
    });
    let cluster = answered_by(|| Client::new(service, "default"));
    let object: Value = json!({ "metadata": { "name": "mine" } });
    let (object, mut delays) = (serde_json::from_value(object).unwrap(), Vec::new());
    let created = cluster.wait_for(create(&cluster, "ConfigMap", &object, &mut delays));
    drop(cluster);
    let requests = requests.lock().unwrap().clone();
    (created, requests, delays)
}

#[test]
fn what_an_api_server_refuses_for_a_moment_is_created_all_the_same() {
    let (created, requests, delays) = create_by(&[(500, "etcd has no leader"), (503, "starting"), (201, "mine")]);
    assert_eq!(created.unwrap().name_any(), "mine");
    assert_eq!(requests, ["POST", "POST", "POST"]);
    let delay = "the cluster took 500 ms and several requests to create the ConfigMap mine, which the times of \
                 volumes include: starting";
    assert_eq!(delays, [delay]);
    let (_, _, delays) = create_by(&[(201, "mine")]);
    assert!(delays.is_empty(), "{delays:?}");
    // The first request was heard, and its answer lost.
    let (created, requests, _) = create_by(&[(504, "no answer"), (409, "exists"), (200, "mine")]);
    assert_eq!(created.unwrap().name_any(), "mine");
    assert_eq!(requests, ["POST", "POST", "GET"]);
    // Not everybody who may create an object may look at it.
    let (created, requests, _) = create_by(&[(504, "no answer"), (409, "exists"), (403, "cannot get")]);
    assert_eq!(created.unwrap().name_any(), "mine");
    assert_eq!(requests, ["POST", "POST", "GET"]);
}

#[test]
fn what_an_api_server_does_not_want_is_told_at_once_and_what_lasts_after_a_while() {
    let (created, requests, _) = create_by(&[(403, "configmaps is forbidden: User \"eve\" cannot create it")]);
    let text = created.unwrap_err().to_string();
    assert!(text.starts_with("create the ConfigMap mine in namespace default: configmaps is forbidden"), "{text}");
    assert_eq!(requests.len(), 1);
    let (created, requests, _) = create_by(&[(500, "etcd has no leader")]);
    let text = created.unwrap_err().to_string();
    assert!(text.starts_with("create the ConfigMap mine in namespace default: etcd has no leader"), "{text}");
    assert!(requests.len() > 10, "{}", requests.len());
}

#[test]
fn clocks_differ_where_no_moment_between_can_have_been_that_of_the_cluster() {
    let at = |seconds: &str| -> Timestamp { format!("2026-11-23T12:00:{seconds}Z").parse().unwrap() };
    let created = at("30");
    // Times of objects have whole seconds: it may have been 30.999.
    for (before, after) in [("30.000", "30.100"), ("30.900", "31.000"), ("31.500", "31.900"), ("29.000", "29.500")] {
        assert_eq!(ahead_by(created, at(before), at(after)), SignedDuration::ZERO, "{before} {after}");
    }
    // An answer that took long says little.
    assert_eq!(ahead_by(created, at("02"), at("58")), SignedDuration::ZERO);
    assert_eq!(ahead_by(created, at("10.200"), at("10.300")), SignedDuration::from_millis(20_250));
    assert_eq!(ahead_by(created, at("50.200"), at("50.300")), SignedDuration::from_millis(-19_750));
}

#[test]
fn a_pod_is_let_go_without_touching_what_others_hold_it_by() {
    let (told, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let service = service_fn(move |request: Request<Body>| {
        let told = told.clone();
        async move {
            let (parts, body) = request.into_parts();
            let kind = parts.headers["content-type"].to_str().unwrap().to_owned();
            let patch: Value = serde_json::from_slice(&body.collect_bytes().await.unwrap()).unwrap();
            told.send((kind, patch)).unwrap();
            let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" } });
            Ok::<_, Infallible>(Response::new(Body::from(pod.to_string().into_bytes())))
        }
    });
    let cluster = answered_by(|| Client::new(service, "default"));
    assert!(cluster.wait_for(release(&cluster.here(), "p")).unwrap());
    let (kind, patch) = asked.try_recv().unwrap();
    assert_eq!(kind, "application/strategic-merge-patch+json");
    assert_eq!(patch, json!({ "spec": { "schedulingGates": [{ "$patch": "delete", "name": "plimsoll/claims" }] } }));
}
