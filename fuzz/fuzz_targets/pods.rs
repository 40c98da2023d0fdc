//! What several pods tell, as logs that somebody kept have it: lines of a pod's number, milliseconds of its clock, and
//! an event of its run.
#![no_main]

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use libfuzzer_sys::fuzz_target;
use plimsoll_record::{
    environment::Environment,
    event::{RunEvent, RunStarted},
    record::{Asked, Tool},
};
use plimsoll_run::several::Several;
use plimsoll_workload::{
    certainty::Certainty,
    plan::Plan,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
};

/// How many pods there are.
const PODS: usize = 2;

fuzz_target!(|text: &str| {
    for turn in [None, Some(0)] {
        check(text, turn);
    }
});

fn check(text: &str, turn: Option<u32>) {
    let mut several = Several::new(PODS);
    for (number, started) in (0..PODS).zip(std::iter::repeat_with(|| started(turn))) {
        several.take(number, "pod", Timestamp::UNIX_EPOCH, &RunEvent::Started(Box::new(started)), &mut |_| {});
    }
    for (number, at, event) in text.lines().filter_map(told) {
        several.take(number, "pod", at, &event, &mut |_| {});
    }
    for visit in several.visits() {
        assert!((0.0..=1.0).contains(&visit.overlap), "{visit:?}");
    }
    let record = several.conclude(&mut |_| {}).expect("it has begun");
    let json = serde_json::to_string(&record).expect("records become text");
    let read = plimsoll_record::upgrade::read(&json).expect("records are read back");
    assert_eq!(serde_json::to_string(&read).expect("records become text"), json);
}

fn told(line: &str) -> Option<(usize, Timestamp, RunEvent)> {
    let mut words = line.splitn(3, ' ');
    let number: usize = words.next()?.parse().ok()?;
    let at = Timestamp::from_millisecond(words.next()?.parse().ok()?).ok()?;
    let event: RunEvent = serde_json::from_str(words.next()?).ok()?;
    // That of the first line decides what there is to be done.
    (number < PODS && !matches!(event, RunEvent::Started(_))).then_some((number, at, event))
}

/// A run of two cells.
fn started(turn: Option<u32>) -> RunStarted {
    let workloads = ["rw = \"randread\"\nsize = \"1MiB\"", "rw = \"randwrite\"\nsize = \"1MiB\""];
    let workloads: Vec<_> = workloads.iter().map(|text| toml::from_str(text).expect("it is a workload")).collect();
    let target = TargetFacts {
        name: "slow".to_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(1 << 30),
        direct_alignment_bytes: Some(512),
    };
    let certainty = Certainty::of(Effort::Quick);
    let mut plan = Plan::resolve(&[target], &workloads, &certainty, 7).expect("it can be done");
    plan.turn = turn;
    RunStarted {
        id: "0199c0de-7a3e-7000-8000-0000000000a1".parse().expect("it is an id"),
        started: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1),
        tool: Tool { version: "0".to_owned(), commit: None, profile: "release".to_owned() },
        name: None,
        tags: BTreeMap::new(),
        asked: Asked::of(certainty),
        plan,
        environment: Environment::default(),
    }
}
