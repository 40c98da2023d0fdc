//! `plimsoll kubernetes merge`: what pods told in logs that somebody has kept.

use std::fs;

use crate::support::{Place, Said};

/// What the program in a pod is handed.
const PLAN: &str = "targets = [\"data\"]\npasses = 1\n[[workload]]\nrw = \"randread\"\nengine = \"memory\"\n\
                    size = \"1MiB\"\nduration = \"2s\"\n";

const RUN: &str = "01a20451-96fb-7259-8ace-7b5e21365415";
const OTHER: &str = "01a20451-96fb-7259-8ace-7b5e21365416";

/// What a pod of a run told that measured.
fn log(place: &Place, run: &str) -> String {
    let mut agent = place.command(&format!("kubernetes agent --run {run}"));
    let output = agent.env("PLIMSOLL_PLAN", PLAN).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn reads(said: &Said) -> u64 {
    said.json()["cells"][0]["read"]["operations"].as_u64().unwrap()
}

#[test]
fn logs_of_several_pods_are_one_run_and_that_of_one_is_what_it_measured() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    // As those keep logs who collect them: with a time before each line.
    let stamped: String = log_of_pod.lines().map(|line| format!("2026-11-22T12:00:00.5Z {line}\n")).collect();
    fs::write(place.path("a.log"), &log_of_pod).unwrap();
    fs::write(place.path("b.log"), stamped).unwrap();
    let one = place.run("kubernetes merge a.log --json");
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert!(one.json().get("pods").is_none());
    let both = place.run("kubernetes merge a.log b.log --json");
    assert_eq!(both.code, Some(0), "{}", both.stderr);
    assert_eq!(reads(&both), 2 * reads(&one));
    let pods = both.json()["pods"]["pods"].clone();
    assert_eq!((&pods[0]["name"], &pods[1]["name"]), (&"a".into(), &"b".into()));
    assert_eq!(both.json()["pods"]["visits"][0]["overlap"], 1.0);
    // It is a run of the history.
    assert!(place.run("show 01a20451").stdout.contains("randread"));
}

#[test]
fn what_a_log_lacks_is_said() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    let lines: Vec<_> = log_of_pod.lines().collect();
    fs::write(place.path("cut.log"), lines[..lines.len() / 2].join("\n")).unwrap();
    fs::write(place.path("empty.log"), "nothing of ours\n").unwrap();
    let cut = place.run("kubernetes merge cut.log --json");
    assert!(cut.stderr.contains("cut: the end of the run is not in it"), "{}", cut.stderr);
    assert_eq!(cut.json()["outcome"], "lost");
    let empty = place.run("kubernetes merge empty.log");
    assert_ne!(empty.code, Some(0));
    let other = log(&place, OTHER);
    fs::write(place.path("other.log"), other).unwrap();
    fs::write(place.path("whole.log"), lines.join("\n")).unwrap();
    let mixed = place.run("kubernetes merge whole.log other.log");
    assert_eq!(mixed.code, Some(2));
    assert!(mixed.stderr.contains("are logs of different runs"), "{}", mixed.stderr);
    let missing = place.run("kubernetes merge no-such.log");
    assert!(missing.stderr.contains("open no-such.log"), "{}", missing.stderr);
}
