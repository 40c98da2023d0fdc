//! Watches that break off, from what kube delivers then.

use std::collections::VecDeque;

use futures_util::stream;
use kube::core::Status;
use serde_json::json;
use tokio::runtime::Builder;

use super::*;

type Delivered = Vec<watcher::Result<watcher::Event<Pod>>>;

fn pod(name: &str) -> Pod {
    serde_json::from_value(json!({ "metadata": { "name": name, "uid": format!("uid of {name}") } })).unwrap()
}

fn refused(code: u16) -> watcher::Result<watcher::Event<Pod>> {
    let status = Status { code, message: "too old resource version: 5 (7)".to_owned(), ..Status::default() };
    Err(watcher::Error::WatchError(status.boxed()))
}

/// What is observed of pods whose watches deliver this, each after the one before has broken off: the name, and whether
/// it was there already, and is gone. With how the first began, and what broke off.
fn observed(streams: Vec<Delivered>) -> (Vec<(String, bool, bool)>, Beginning, Option<String>) {
    let (observations, mut observed) = unbounded_channel();
    let (beginnings, mut begun) = unbounded_channel();
    let (breaking, breaks) = unbounded_channel();
    let watch = Watch { origin: Instant::now(), observations, beginnings, breaks: breaking };
    let mut streams = VecDeque::from(streams);
    let begin = move || stream::iter(streams.pop_front().unwrap_or_default()).boxed();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let is_ours = |pod: &Pod| !pod.name_any().starts_with("other");
    runtime.block_on(watch.forward("pods", begin, is_ours, |pod| Seen::Pod(Box::new(pod))));
    let mut all = Vec::new();
    while let Ok(Observation { is_initial, is_deleted, seen: Seen::Pod(pod), .. }) = observed.try_recv() {
        all.push((pod.name_any(), is_initial, is_deleted));
    }
    let (_, never) = unbounded_channel();
    let (origin, denied) = (Instant::now(), BTreeSet::new());
    let mut watching = Watching { origin, observations: never, tasks: Vec::new(), denied, breaks };
    (all, begun.try_recv().unwrap().1, watching.breaks())
}

#[test]
fn what_a_list_lacks_that_was_there_before_the_break_is_gone_nobody_knows_since_when() {
    let before = vec![
        Ok(watcher::Event::Init),
        Ok(watcher::Event::InitApply(pod("listed"))),
        Ok(watcher::Event::InitDone),
        Ok(watcher::Event::Apply(pod("made"))),
        Ok(watcher::Event::Apply(pod("stays"))),
        Ok(watcher::Event::Delete(pod("made"))),
        refused(410),
    ];
    let after = vec![
        Ok(watcher::Event::Init),
        Ok(watcher::Event::InitApply(pod("stays"))),
        Ok(watcher::Event::InitApply(pod("new"))),
        Ok(watcher::Event::InitDone),
        Ok(watcher::Event::Apply(pod("new"))),
    ];
    let (all, beginning, breaks) = observed(vec![before, after]);
    let all: Vec<_> =
        all.iter().map(|(name, is_initial, is_deleted)| (name.as_str(), *is_initial, *is_deleted)).collect();
    assert_eq!(
        all,
        [
            ("listed", true, false),
            ("made", false, false),
            ("stays", false, false),
            ("made", false, true),
            ("stays", true, false),
            ("new", true, false),
            ("listed", true, true),
            ("new", false, false),
        ]
    );
    assert!(matches!(beginning, Beginning::Watched));
    let breaks = breaks.unwrap();
    assert!(breaks.starts_with("pods: the watch broke off") && breaks.contains("too old"), "{breaks}");
}

#[test]
fn what_becomes_ours_was_there_before() {
    let mut bound = pod("ours");
    bound.metadata.uid = pod("other").metadata.uid;
    let events = vec![
        Ok(watcher::Event::Init),
        Ok(watcher::Event::InitApply(pod("other"))),
        Ok(watcher::Event::InitDone),
        Ok(watcher::Event::Apply(bound.clone())),
        Ok(watcher::Event::Apply(bound)),
        Ok(watcher::Event::Delete(pod("other"))),
    ];
    let (all, ..) = observed(vec![events]);
    let all: Vec<_> =
        all.iter().map(|(name, is_initial, is_deleted)| (name.as_str(), *is_initial, *is_deleted)).collect();
    assert_eq!(all, [("ours", true, false), ("ours", false, false), ("other", false, true)]);
}

#[test]
fn who_is_denied_a_watch_that_went_well_before_asks_again() {
    let begun = || vec![Ok(watcher::Event::Init), Ok(watcher::Event::InitDone)];
    let mut denied = begun();
    denied.push(refused(403));
    let mut again = begun();
    again.push(Ok(watcher::Event::Apply(pod("p"))));
    assert_eq!(observed(vec![denied, again]).0, [("p".to_owned(), false, false)]);
    let (all, beginning, breaks) = observed(vec![vec![refused(403)], begun()]);
    assert_eq!((all, breaks), (Vec::new(), None));
    assert!(matches!(beginning, Beginning::Denied));
}

#[test]
fn of_all_volumes_of_a_cluster_those_of_the_run_are_kept() {
    let names = Names { beginning: "plimsoll-1".to_owned(), claims: vec!["data".to_owned()] };
    let is_ours = |claim: serde_json::Value| {
        let volume = json!({ "metadata": { "name": "v" }, "spec": { "claimRef": claim } });
        names.have_volume("bench", &serde_json::from_value(volume).unwrap())
    };
    assert!(is_ours(json!({ "namespace": "bench", "name": "plimsoll-1-fast" })));
    assert!(is_ours(json!({ "namespace": "bench", "name": "data" })));
    assert!(!is_ours(json!({ "namespace": "production", "name": "data" })));
    assert!(!is_ours(json!({ "namespace": "bench", "name": "data-2" })));
    assert!(!is_ours(json!(null)));
}
