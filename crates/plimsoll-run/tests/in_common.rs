//! Two machines, here threads, that do the same run on the same files.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Barrier, Mutex, atomic::AtomicBool},
    thread,
};

use jiff::Timestamp;
use plimsoll_io::target;
use plimsoll_record::{
    environment::Environment,
    event::{RunEvent, RunStarted},
    record::{Asked, Outcome, Record, Tool},
};
use plimsoll_run::{
    objects::in_common::CommonFiles,
    run::{RunError, RunRequest, run},
};
use plimsoll_workload::{certainty::Certainty, plan::Plan, settings::Effort, workload::Workload};
use uuid::Uuid;

const BYTES: u64 = 1 << 20;

/// What one of the machines is to do in a directory.
fn request(place: &Path, number: u32, rw: &str) -> RunRequest {
    let workload = format!(
        "rw = \"{rw}\"\nsize = {BYTES}\nfile_count = 2\nengine = \"psync\"\nbuffered = true\nduration = \"1s\"\n"
    );
    let workload: Workload = toml::from_str(&workload).unwrap();
    let certainty = Certainty { passes: Some(1), ..Certainty::of(Effort::Quick) };
    let started = RunStarted {
        id: Uuid::from_u128(7),
        started: "2026-11-22T09:30:00Z".parse().unwrap(),
        tool: Tool { version: String::new(), commit: None, profile: String::new() },
        name: None,
        tags: BTreeMap::new(),
        asked: Asked::of(certainty),
        plan: Plan::resolve(&[target::facts(place).unwrap()], &[workload], &certainty, 42).unwrap(),
        environment: Environment::default(),
    };
    RunRequest { common: Some(CommonFiles { number, until: None }), ..RunRequest::new(started) }
}

/// All files below a directory, with their lengths.
fn files(place: &Path) -> Vec<(String, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push((path.file_name().unwrap().to_str().unwrap().to_owned(), path.metadata().unwrap().len()));
        }
    }
    files.sort();
    files
}

fn does(request: RunRequest, stop: &AtomicBool) -> (Result<Record, RunError>, bool) {
    let mut has_filled = false;
    let record = run(request, stop, &mut |event| has_filled |= matches!(event, RunEvent::LayoutFinished { .. }));
    (record, has_filled)
}

#[test]
fn one_machine_fills_the_files_of_all_and_they_are_gone_when_all_are_done() {
    for rw in ["randread", "randwrite"] {
        let place = tempfile::tempdir().unwrap();
        let (all_ready, there) = (Arc::new(Barrier::new(2)), Arc::new(Mutex::new(Vec::new())));
        let machine = |number: u32| {
            let mut request = request(place.path(), number, rw);
            let (all_ready, there, place) = (all_ready.clone(), there.clone(), place.path().to_owned());
            request.start = Some(Box::new(move || {
                all_ready.wait();
                if number == 1 {
                    *there.lock().unwrap() = files(&place);
                }
                Ok(Some(Timestamp::now()))
            }));
            request
        };
        // Whichever comes first.
        let (first, second) = (machine(1), machine(0));
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(|| does(first, &AtomicBool::new(false)));
            let second = scope.spawn(|| does(second, &AtomicBool::new(false)));
            (first.join().unwrap(), second.join().unwrap())
        });
        assert_eq!((first.1, second.1), (false, true), "the first machine fills, and no other does");
        for record in [first.0.unwrap(), second.0.unwrap()] {
            assert_eq!(record.outcome, Outcome::Complete);
            let cell = &record.cells[0];
            let did = if rw == "randread" { &cell.read } else { &cell.write };
            assert!(did.as_ref().unwrap().operations > 0 && cell.errors == 0);
        }
        let there = there.lock().unwrap().clone();
        let data: Vec<_> =
            there.iter().filter(|(name, _)| name.starts_with("data-")).map(|(_, bytes)| *bytes).collect();
        assert_eq!(data, [BYTES / 2, BYTES / 2], "all use the same files: {there:?}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left");
    }
}

#[test]
fn who_waits_for_files_that_never_come_ends_when_asked_to_or_when_the_run_begins() {
    let place = tempfile::tempdir().unwrap();
    let (stopped, going) = (AtomicBool::new(true), AtomicBool::new(false));
    let record = does(request(place.path(), 1, "randread"), &stopped).0.unwrap();
    assert_eq!(record.outcome, Outcome::Interrupted);
    let mut late = request(place.path(), 1, "randread");
    late.common = Some(CommonFiles { number: 1, until: Some(Timestamp::UNIX_EPOCH) });
    let error = does(late, &going).0.unwrap_err();
    assert!(error.to_string().contains("--start-after"), "{error}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
