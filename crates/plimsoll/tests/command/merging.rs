//! `plimsoll kubernetes merge`: what pods told in logs that somebody has kept.

use std::fs;

use plimsoll_kubernetes::frames::{Line, Message, Reader, Writer};
use plimsoll_record::pods::PodCell;

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

/// What the same pod would have told as one of several: only there, a pod makes places of its own for its targets.
fn as_one_of(log: &str, number: u32, count: u32) -> String {
    let (mut reader, mut writer, mut lines) = (Reader::default(), Writer::default(), String::new());
    for line in log.lines() {
        let Line::Message(message) = reader.line(line) else { continue };
        lines += &writer.lines(&match message {
            Message::Running { at, run, .. } => Message::Running { at, run, number, count },
            Message::Done { record } => Message::DoneTogether {
                outcome: record.outcome,
                cells: record.cells.iter().map(PodCell::of).collect(),
                node: None,
            },
            other => other,
        });
    }
    lines
}

/// The lines of a log without the last one.
fn cut(log: &str, lines: usize) -> String {
    log.lines().take(lines).map(|line| format!("{line}\n")).collect()
}

fn reads(said: &Said) -> u64 {
    said.json()["cells"][0]["read"]["operations"].as_u64().unwrap()
}

#[test]
fn logs_of_several_pods_are_one_run_and_that_of_one_is_what_it_measured() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    fs::write(place.path("alone.log"), &log_of_pod).unwrap();
    let one = place.run("kubernetes merge alone.log --json");
    assert_eq!(one.code, Some(0), "{}", one.stderr);
    assert!(one.json().get("pods").is_none());
    fs::write(place.path("a.log"), as_one_of(&log_of_pod, 0, 2)).unwrap();
    // As those keep logs who collect them: with a time before each line.
    let second = as_one_of(&log_of_pod, 1, 2);
    let stamped: String = second.lines().map(|line| format!("2026-11-22T12:00:00.5Z {line}\n")).collect();
    fs::write(place.path("b.log"), stamped).unwrap();
    let both = place.run("kubernetes merge b.log a.log --json");
    assert_eq!(both.code, Some(0), "{}", both.stderr);
    assert_eq!(reads(&both), 2 * reads(&one));
    let pods = both.json()["pods"]["pods"].clone();
    assert_eq!((&pods[0]["name"], &pods[1]["name"]), (&"a".into(), &"b".into()));
    assert_eq!(both.json()["pods"]["visits"][0]["overlap"], 1.0);
    // It is a run of the history.
    assert!(place.run("show 01a20451").stdout.contains("randread"));
}

#[test]
fn a_record_that_says_less_does_not_replace_that_of_the_history() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    let (first, second) = (as_one_of(&log_of_pod, 0, 2), as_one_of(&log_of_pod, 1, 2));
    fs::write(place.path("beginning.log"), cut(&first, first.lines().count() / 2)).unwrap();
    fs::write(place.path("a.log"), first).unwrap();
    fs::write(place.path("b.log"), second).unwrap();
    let kept = || {
        let record = place.run("show 01a20451 --json").json();
        (record["outcome"].clone(), record["pods"]["pods"].as_array().unwrap().len())
    };
    let stays = "in the history says more than this one, and stays";
    for (logs, is_kept, expected) in [
        ("beginning.log", true, ("lost".into(), 0)),
        ("a.log", true, ("lost".into(), 1)),
        ("beginning.log", false, ("lost".into(), 1)),
        ("a.log b.log", true, ("complete".into(), 2)),
        ("b.log", false, ("complete".into(), 2)),
        ("b.log a.log", true, ("complete".into(), 2)),
    ] {
        let said = place.run(&format!("kubernetes merge {logs}"));
        assert_eq!((!said.stderr.contains(stays), kept()), (is_kept, expected), "{logs}: {}", said.stderr);
    }
}

#[test]
fn logs_that_are_not_those_of_all_pods_are_no_whole_run() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    let [first, second] = [0, 1].map(|number| as_one_of(&log_of_pod, number, 3));
    fs::write(place.path("a.log"), &first).unwrap();
    fs::write(place.path("b.log"), &second).unwrap();
    let missing = place.run("kubernetes merge b.log --json");
    assert_eq!(missing.code, Some(6));
    assert!(missing.stderr.contains("2 of 3 pods have no log here"), "{}", missing.stderr);
    assert!(missing.stderr.contains("name those of pod 0, 2 too"), "{}", missing.stderr);
    assert_eq!(missing.json()["outcome"], "lost");
    // Nothing of it is counted twice.
    let twice = place.run("kubernetes merge a.log b.log a.log");
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("a and a are logs of the same pod"), "{}", twice.stderr);
    // What several pods told in one file: one after the other, and as it came.
    let mixed: String =
        first.lines().zip(second.lines()).map(|(one, other)| format!("[a] {one}\n[b] {other}\n")).collect();
    for (name, text) in [("after.log", first + &second), ("mixed.log", mixed)] {
        fs::write(place.path(name), text).unwrap();
        let said = place.run(&format!("kubernetes merge {name}"));
        assert_eq!(said.code, Some(2), "{name}");
        assert!(said.stderr.contains("has what several pods told"), "{}", said.stderr);
    }
}

#[test]
fn what_a_log_lacks_is_said() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    let count = log_of_pod.lines().count();
    fs::write(place.path("cut.log"), cut(&log_of_pod, 3)).unwrap();
    fs::write(place.path("empty.log"), "nothing of ours\n").unwrap();
    let text = place.run("kubernetes merge cut.log");
    assert_eq!(text.code, Some(6), "{}", text.stderr);
    assert!(text.stderr.contains("cut: the end of the run is not in it"), "{}", text.stderr);
    assert!(text.stderr.contains("not all that the pods had to tell was heard"), "{}", text.stderr);
    assert!(text.stdout.contains("nobody told how it ended"), "{}", text.stdout);
    let json = place.run("kubernetes merge cut.log --json");
    assert_eq!((json.code, &json.json()["outcome"]), (Some(6), &"lost".into()));
    let empty = place.run("kubernetes merge empty.log");
    assert_ne!(empty.code, Some(0));
    assert!(empty.stderr.contains("empty: the beginning of what a pod tells is not in it"), "{}", empty.stderr);
    fs::write(place.path("other.log"), log(&place, OTHER)).unwrap();
    fs::write(place.path("whole.log"), &log_of_pod).unwrap();
    fs::write(place.path("tail.log"), log_of_pod.lines().nth(count - 1).unwrap()).unwrap();
    let tail = place.run("kubernetes merge whole.log tail.log");
    assert_eq!(tail.code, Some(0), "{}", tail.stderr);
    assert!(tail.stderr.contains("tail: the beginning of what a pod tells is not in it"), "{}", tail.stderr);
    let mixed = place.run("kubernetes merge whole.log other.log");
    assert_eq!(mixed.code, Some(2));
    assert!(mixed.stderr.contains("are logs of different runs"), "{}", mixed.stderr);
    let missing = place.run("kubernetes merge no-such.log");
    assert!(missing.stderr.contains("open no-such.log"), "{}", missing.stderr);
}

#[test]
fn numbers_of_all_pods_are_not_complete_without_a_line_of_one() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    fs::write(place.path("a.log"), as_one_of(&log_of_pod, 0, 2)).unwrap();
    let second = as_one_of(&log_of_pod, 1, 2);
    let lines: Vec<&str> = second.lines().collect();
    let (before, after) = lines.split_at(lines.len() / 2);
    fs::write(place.path("b.log"), [before, &after[1..]].concat().join("\n") + "\n").unwrap();
    let said = place.run("kubernetes merge a.log b.log --json");
    assert_eq!((said.code, &said.json()["outcome"]), (Some(6), &"lost".into()), "{}", said.stderr);
    assert!(said.stderr.contains("b: missing lines: 1"), "{}", said.stderr);
}

#[test]
fn a_log_is_read_in_whatever_bytes_it_was_kept() {
    let place = Place::new();
    let log_of_pod = log(&place, RUN);
    let latin = [&b"caf\xE9\n"[..], log_of_pod.as_bytes(), b"caf\xE9\n"].concat();
    let windows: Vec<u16> = format!("\u{FEFF}{}", log_of_pod.replace('\n', "\r\n")).encode_utf16().collect();
    fs::write(place.path("latin.log"), latin).unwrap();
    fs::write(place.path("little.log"), windows.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<_>>())
        .unwrap();
    fs::write(place.path("big.log"), windows.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>()).unwrap();
    for name in ["latin.log", "little.log", "big.log"] {
        let said = place.run(&format!("kubernetes merge {name}"));
        assert_eq!((said.code, said.stdout.contains("randread")), (Some(0), true), "{name}: {}", said.stderr);
    }
    let output = place.command("kubernetes merge -").stdin(fs::File::open(place.path("latin.log")).unwrap()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
