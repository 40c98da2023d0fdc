//! Following, with answers of an API server as they come when it is away, starts, or says no.

use std::{
    convert::Infallible,
    future::pending,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tower::service_fn;

use super::*;

const DEADLINE: Duration = Duration::from_secs(3600);

/// What an API server does about a request.
enum Answer {
    Json(u16, Value),
    Text(&'static str),
    /// So much of it, and then silence.
    Beginning(&'static str),
    /// It keeps silent.
    Nothing,
}

/// What an answer carries.
struct Carried {
    text: Option<Bytes>,
    goes_on: bool,
}

impl http_body::Body for Carried {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.text.take() {
            Some(text) => Poll::Ready(Some(Ok(Frame::data(text)))),
            None if self.goes_on => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// The pod: it has ended.
fn ended() -> Answer {
    pod(&json!({ "terminated": { "exitCode": 0 } }))
}

/// The pod in a state.
fn pod(state: &Value) -> Answer {
    let states = json!([{ "name": "plimsoll", "state": state }]);
    let status = json!({ "containerStatuses": states });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "pod" }, "status": status });
    Answer::Json(200, pod)
}

fn refused(code: u16, message: &str) -> Answer {
    let reason = if code == 404 { "NotFound" } else { "Whatever" };
    let mut status = json!({ "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason });
    (status["code"], status["message"]) = (json!(code), json!(message));
    Answer::Json(code, status)
}

/// Follows a pod by an API server that answers, by the time since the beginning and whether the log is asked for. Gives
/// the lines, the end, and how long it took.
async fn follow_by(
    answer: impl Fn(Duration, bool) -> Answer + Send + Sync + 'static,
) -> (Vec<String>, Followed, Duration) {
    follow_in_doubt(answer, Duration::MAX).await
}

/// The same, where somebody knows after a while that there should be something new.
async fn follow_in_doubt(
    answer: impl Fn(Duration, bool) -> Answer + Send + Sync + 'static,
    doubt_after: Duration,
) -> (Vec<String>, Followed, Duration) {
    let began = Instant::now();
    let answer = Arc::new(answer);
    let service = service_fn(move |request: Request<Body>| {
        let answer = answer(began.elapsed(), request.uri().path().ends_with("/log"));
        async move {
            let (code, text, goes_on) = match answer {
                Answer::Json(code, value) => (code, value.to_string(), false),
                Answer::Text(text) => (200, text.to_owned(), false),
                Answer::Beginning(text) => (200, text.to_owned(), true),
                Answer::Nothing => pending().await,
            };
            let status = StatusCode::from_u16(code).unwrap();
            let response =
                Response::builder().status(status).body(Carried { text: Some(text.into()), goes_on }).unwrap();
            Ok::<_, Infallible>(response)
        }
    });
    let pods = Api::namespaced(Client::new(service, "default"), "default");
    let (sender, mut followed) = unbounded_channel();
    let doubt = Arc::new(Notify::new());
    let from = FromPod { number: 0, deadline: DEADLINE, doubt: Arc::clone(&doubt), sender };
    let doubting = tokio::spawn(async move {
        sleep(doubt_after).await;
        doubt.notify_one();
    });
    let following = follow(pods, "pod".to_owned(), from);
    let mut lines = Vec::new();
    let end = loop {
        match followed.recv().await.unwrap().1 {
            Followed::Line(line) => lines.push(line),
            end => break end,
        }
    };
    following.await.unwrap();
    doubting.abort();
    (lines, end, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_away_for_half_an_hour_costs_nothing() {
    let away = Duration::from_secs(1800);
    for code in [429, 500, 502, 503, 504] {
        let (lines, end, _) = follow_by(move |since, is_log| match is_log {
            _ if since < away => refused(code, "later"),
            true => Answer::Text("one\ntwo\n"),
            false => ended(),
        })
        .await;
        assert!(matches!(end, Followed::End), "{code}: {end:?}");
        assert_eq!(lines, ["one", "two"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_keeps_silent_is_asked_again() {
    let silences = Mutex::new([3, 3]);
    let (lines, end, took) = follow_by(move |_, is_log| {
        let mut silences = silences.lock().unwrap();
        let left = &mut silences[usize::from(is_log)];
        if *left > 0 {
            *left -= 1;
            return Answer::Nothing;
        }
        if is_log { Answer::Text("one\n") } else { ended() }
    })
    .await;
    assert!(matches!(end, Followed::End), "{end:?}");
    assert_eq!(lines, ["one"]);
    assert!(took < Duration::from_secs(240), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_ends_it_when_it_lasts_and_is_told_in_a_sentence() {
    let forbidden = "pods \"pod\" is forbidden: User \"eve\" cannot get resource \"pods/log\"";
    let (lines, end, took) = follow_by(move |_, is_log| if is_log { refused(403, forbidden) } else { ended() }).await;
    let Followed::Failed(error) = end else { panic!("{end:?}") };
    let text = error.to_string();
    assert!(text.starts_with("read the log of the pod pod: pods \"pod\" is forbidden"), "{text}");
    assert!(text.ends_with("`plimsoll kubernetes preflight` prints the rules that are missing"), "{text}");
    assert!(!text.contains("Status"), "{text}");
    assert!(lines.is_empty() && took < Duration::from_secs(30), "{took:?}");

    // An API server that starts does not know yet who may do what.
    let (lines, end, _) = follow_by(move |since, is_log| match is_log {
        _ if since < Duration::from_secs(5) => refused(403, forbidden),
        true => Answer::Text("one\n"),
        false => ended(),
    })
    .await;
    assert!(matches!(end, Followed::End), "{end:?}");
    assert_eq!(lines, ["one"]);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_gone_has_told_all_and_a_cluster_that_is_gone_is_given_up_after_the_deadline() {
    let (_, end, took) = follow_by(|_, _| refused(404, "pods \"pod\" not found")).await;
    assert!(matches!(end, Followed::End), "{end:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");

    for silent in [true, false] {
        let answer = move |_, _| if silent { Answer::Nothing } else { refused(503, "later") };
        let (_, end, took) = follow_by(answer).await;
        assert!(matches!(end, Followed::Failed(ClusterError::Unreachable { .. })), "{end:?}");
        assert!(took > DEADLINE, "{took:?}");
    }
}

#[test]
fn a_log_that_has_nothing_new_is_read_again_less_and_less_often() {
    let mut silence = Silence::default();
    assert_eq!(silence.patience(), SILENCE);
    silence.was_silent(5);
    assert_eq!(silence.patience(), SILENCE, "it had lines");
    silence.was_silent(5);
    assert_eq!(silence.patience(), 2 * SILENCE);
    (0..40).for_each(|_| silence.was_silent(5));
    assert_eq!(silence.patience(), SILENCE_MAX);
    silence.was_silent(6);
    assert_eq!(silence.patience(), SILENCE);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_goes_silent_is_opened_again_and_at_once_when_there_should_be_more() {
    for (doubt_after, least_s, most_s) in [(Duration::MAX, 30, 40), (Duration::from_secs(12), 15, 18)] {
        let answer = |since: Duration, is_log: bool| match (since.as_secs() < 10, is_log) {
            (true, true) => Answer::Beginning("one\n"),
            (false, true) => Answer::Text("one\ntwo\n"),
            (true, false) => pod(&json!({ "running": {} })),
            (false, false) => ended(),
        };
        let (lines, end, took) = follow_in_doubt(answer, doubt_after).await;
        assert!(matches!(end, Followed::End), "{end:?}");
        assert_eq!(lines, ["one", "one", "two"], "readers know each line by its number");
        assert!((least_s..most_s).contains(&took.as_secs()), "{took:?}");
    }
}
