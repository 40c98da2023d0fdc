//! Ctrl-C and kill -9: what was measured is saved, and nothing is left behind.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Frozen, InMemory, Mounted, Place, Said, comes_true, is_root};

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn start(place: &Place, arguments: &str) -> Child {
    place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ctrl-C, unless whoever started the tests has it ignored, as for a job in the background: plimsoll leaves it so.
pub(crate) fn interruption() -> Signal {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    let is_ignored = u64::from_str_radix(mask, 16).unwrap() >> 1 & 1 == 1;
    if is_ignored { Signal::TERM } else { Signal::INT }
}

/// Waits until the run has made its files, so that a signal finds it at work.
fn wait_until_at_work(place: &Place) {
    assert!(comes_true(|| !place.leftovers().is_empty()), "the run never began");
}

/// Waits until the journal of a run holds a second that counts: it is written by a thread of its own.
pub(crate) fn wait_until_journalled(state: &Path) {
    let has_second = |path: &Path| {
        let is_journal = path.extension().is_some_and(|extension| extension == "ndjson");
        let counts = |line: &str| line.contains("\"event\":\"interval\"") && line.contains("\"measured\":true");
        is_journal && fs::read_to_string(path).is_ok_and(|text| text.lines().any(counts))
    };
    let is_journalled = comes_true(|| files_below(state).iter().any(|path| has_second(path)));
    assert!(is_journalled, "no journal holds a second that counts");
}

/// All files of a directory and of those in it.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn an_interrupted_run_saves_what_it_has_and_cleans_up() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randread --size 8M --duration 60s --json");
    wait_until_journalled(&place.path("state"));
    signal(&child, interruption());
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let record = said.json();
    assert_eq!(record["outcome"], "interrupted");
    assert!(record["cells"][0]["read"]["operations"].as_u64().unwrap() > 0);
    let elapsed_ns = record["cells"][0]["read"]["elapsed_ns"].as_u64().unwrap();
    assert!((500_000_000..10_000_000_000).contains(&elapsed_ns), "{elapsed_ns}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
    let id = record["id"].as_str().unwrap();
    assert_eq!(place.run(&format!("show {id} --json")).json(), record);
}

#[test]
fn blocks_that_an_interruption_leaves_unread_are_not_called_sound() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randwrite --verify --size 8M --duration 60s --ramp 0s");
    wait_until_journalled(&place.path("state"));
    signal(&child, interruption());
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    // All of them, because the layout wrote what the load did not.
    assert!(said.stdout.contains("none of 2,048 blocks was read back"), "{}", said.stdout);
    let record = place.run("show --json").json();
    let verification = &record["cells"][0]["verification"];
    assert_eq!((&verification["blocks_checked"], &verification["blocks_left"]), (&json!(0), &json!(2048)));
}

#[test]
fn a_cell_that_an_interruption_left_out_is_not_run_everywhere() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randread --block-size 4k,8k --size 4M --duration 60s --ramp 0s");
    wait_until_journalled(&place.path("state"));
    signal(&child, interruption());
    let said = Said::of(child.wait_with_output().unwrap());
    let lines = |end: &str| said.stdout.lines().filter(|line| line.trim_end().ends_with(end)).count();
    assert_eq!((lines("  short"), lines("  not run")), (1, 1), "{}", said.stdout);
    assert!(said.stdout.contains("not run = the run was interrupted before"), "{}", said.stdout);
    let record = place.run("show --json").json();
    let cells = record["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["rounds_done"] == 0), "{record}");
    let left_out = cells.iter().find(|cell| cell["verdict"] == Value::Null).unwrap();
    assert!(left_out["verdict_reason"].as_str().unwrap().starts_with("not run: the run was"), "{left_out}");
    let cut = cells.iter().find(|cell| cell["verdict"] == "short").unwrap();
    assert_eq!(cut["verdict_reason"], Value::Null);
    assert!(said.stdout.contains("slots done: 0 of 12, and a part of one"), "{}", said.stdout);
    let listed = place.run("history --json").json();
    let verdicts: Vec<_> = listed[0]["cells"].as_array().unwrap().iter().map(|cell| &cell["verdict"]).collect();
    assert!(verdicts.contains(&&Value::Null) && verdicts.contains(&&json!("short")), "{verdicts:?}");
}

#[test]
fn an_interruption_is_told_once_with_the_id_of_what_is_saved() {
    let place = Place::new();
    for (flags, sentence) in [
        ("", "interrupted; the partial record is saved as "),
        ("--json", "interrupted; the partial record is saved as "),
        ("--json --no-history", "interrupted; the partial record is saved nowhere"),
    ] {
        let child = start(&place, &format!("run DATA --rw randread --size 4M --duration 60s {flags}"));
        wait_until_at_work(&place);
        thread::sleep(Duration::from_millis(300));
        signal(&child, interruption());
        let said = Said::of(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(130), "{}", said.stderr);
        assert_eq!(said.stderr.matches("interrupted").count(), 1, "{}", said.stderr);
        let told = said.stderr.lines().find_map(|line| line.strip_prefix(sentence)).unwrap();
        if flags.contains("--json") {
            assert_eq!(said.json()["outcome"], "interrupted");
        }
        if !flags.contains("--no-history") {
            assert_eq!(place.run(&format!("show {told} --json")).json()["id"], told);
        }
    }
}

#[test]
fn an_interruption_while_files_are_written_removes_them() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randread --size 1G --duration 60s");
    wait_until_at_work(&place);
    signal(&child, Signal::TERM);
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_second_interruption_ends_a_run_and_leaves_the_rest_to_the_next_command() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randread --size 1G --duration 60s");
    wait_until_at_work(&place);
    thread::sleep(Duration::from_millis(300));
    signal(&child, interruption());
    thread::sleep(Duration::from_millis(2));
    signal(&child, interruption());
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let said = place.run("history --json");
    assert_eq!(place.leftovers(), Vec::<String>::new());
    assert_eq!(said.json().as_array().unwrap().len(), 1, "what happened is not forgotten");
}

#[test]
fn a_killed_run_leaves_nothing_to_the_next_command() {
    let place = Place::new();
    fs::write(place.data().join("precious"), "mine").unwrap();
    // Fifty moments from the first milliseconds to well into the measurement.
    let mut whole = 0;
    for moment in 0..50_u64 {
        let mut child = start(&place, "run DATA --rw randrw --size 4M --duration 400ms --ramp 0s --json");
        thread::sleep(Duration::from_millis(moment * 37 % 500));
        signal(&child, Signal::KILL);
        whole += usize::from(child.wait().unwrap().success());
        let said = place.run("history --json");
        assert_eq!(said.code, Some(0), "moment {moment}: {}", said.stderr);
        assert_eq!(place.leftovers(), ["precious"], "moment {moment}");
        said.json();
    }
    assert!(whole < 50, "no run was killed in time");
    for entry in fs::read_dir(place.path("state/plimsoll")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let left: Vec<_> = fs::read_dir(&path).unwrap().collect();
            assert!(left.is_empty(), "{} holds {left:?}", path.display());
        }
    }
    assert_eq!(fs::read_to_string(place.data().join("precious")).unwrap(), "mine");
}

#[test]
fn a_killed_run_goes_into_the_history_it_was_meant_for() {
    let place = Place::new();
    let mut child = start(&place, "run DATA --rw randread --size 4M --duration 60s --history new/mine.db");
    wait_until_journalled(&place.path("state"));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    // Whoever only reads another history is not told of it.
    for command in ["history --json", "history --json --history ROOT/another.db", "history --no-history"] {
        let said = place.run(command);
        assert!(!said.stderr.contains("recovered") && !said.stderr.contains("mine.db"), "{command}: {}", said.stderr);
    }
    let said = place.run("history --json --history ROOT/new/mine.db");
    let [_, show, ..] = said.stderr.split('`').collect::<Vec<_>>()[..] else { panic!("{}", said.stderr) };
    let shown = place.run(show.strip_prefix("plimsoll ").unwrap());
    assert_eq!(shown.code, Some(0), "what is told to be typed works as it is: {show}: {}", shown.stderr);
    let runs = place.run("history --json --history ROOT/new/mine.db").json();
    assert_eq!(runs.as_array().unwrap().len(), 1);
    assert_eq!(runs[0]["outcome"], "lost");
}

#[test]
fn a_run_that_its_history_does_not_take_is_told_until_it_is_given_up() {
    let place = Place::new();
    let mut child = start(&place, "run DATA --rw randread --size 4M --duration 60s --history mine.db");
    wait_until_journalled(&place.path("state"));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    fs::write(place.path("mine.db"), "this is no database any more").unwrap();
    for _ in 0..2 {
        let said = place.run("doctor");
        assert!(said.stderr.contains(".ndjson") && said.stderr.contains("plimsoll doctor --clean"), "{}", said.stderr);
        assert!(said.stderr.contains("mine.db is no history of plimsoll"), "{}", said.stderr);
    }
    let said = place.run("doctor --clean DATA");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(said.stdout.starts_with("set aside "), "{}", said.stdout);
    assert_eq!(place.run("doctor").stderr, "");
    assert_eq!(place.run("doctor --clean DATA").stdout, "nothing to remove\n");
}

#[test]
fn doctor_names_the_history_that_killed_runs_wait_for() {
    let place = Place::new();
    assert_eq!(place.run("doctor --json").json()["waiting"], json!([]));
    let mut child = start(&place, "run DATA --rw randread --size 4M --duration 60s --history far/mine.db");
    wait_until_journalled(&place.path("state"));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    fs::remove_dir_all(place.path("far")).unwrap();
    let said = place.run("doctor").stdout;
    assert!(said.contains("lost runs") && said.contains("waiting: 1 for ") && said.contains("far/mine.db"), "{said}");
    assert_eq!(place.run("doctor --json").json()["waiting"][0]["runs"], 1);
    // As it says.
    let said = place.run("run DATA --rw randread --size 4M --operations 100 --history far/mine.db");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let runs = place.run("history --json --history far/mine.db").json();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
    assert_eq!(place.run("doctor --json").json()["waiting"], json!([]));
}

#[test]
fn a_journal_that_makes_no_sense_is_set_aside_with_a_word() {
    let place = Place::new();
    let runs = place.path("state/plimsoll/runs");
    fs::create_dir_all(&runs).unwrap();
    fs::write(runs.join("lost.ndjson"), "no journal\n").unwrap();
    let said = place.run("doctor");
    assert!(said.stderr.contains("a run is lost") && said.stderr.contains("lost.damaged"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(runs.join("lost.damaged")).unwrap(), "no journal\n");
    assert_eq!(place.run("doctor").stderr, "");
}

#[test]
fn a_run_whose_journal_does_not_fit_is_not_taken_for_one_that_is_gone() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let full = InMemory::new(&place, "size=256k");
    let command = |arguments: &str| {
        let mut command = place.command(arguments);
        command.env("XDG_STATE_HOME", place.path("data/state"));
        command
    };
    fs::create_dir(place.path("disk")).unwrap();
    let error = place.path("error");
    let child = command("run ROOT/disk --rw randread --size 4M --duration 60s --ramp 0s --history ROOT/h.db")
        .stdout(Stdio::null())
        .stderr(File::create(&error).unwrap())
        .spawn()
        .unwrap();
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "ndjson");
    // A disk that is full before the first line keeps the journal from being begun.
    wait_until_journalled(&place.path("data"));
    fs::write(place.path("data/rest"), vec![0; 1 << 20]).unwrap_err();
    let warnings = || fs::read_to_string(&error).unwrap();
    assert!(comes_true(|| warnings().contains("write the journal of the run")), "{}", warnings());
    let said = Said::of(command("history --history ROOT/h.db").output().unwrap());
    assert!(!said.stderr.contains("recovered"), "{}", said.stderr);
    signal(&child, interruption());
    let code = child.wait_with_output().unwrap().status.code();
    assert_eq!(code, Some(130));
    let warnings = warnings();
    assert_eq!(warnings.matches("write the journal of the run").count(), 1, "{warnings}");
    assert!(warnings.contains("--resume"), "{warnings}");
    assert!(!files_below(&place.path("data")).iter().any(is_journal));
    drop(full);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_like_others() {
    let place = Place::new();
    for rw in ["randread", "randwrite"] {
        let mut limited = Command::new("prlimit");
        let command = place.command(&format!("run DATA --rw {rw} --size 8M --duration 300ms --ramp 0s"));
        limited.arg("--fsize=1000000").arg(command.get_program()).args(command.get_args());
        limited.env("XDG_STATE_HOME", place.path("state"));
        let said = Said::of(limited.output().unwrap());
        assert!(said.error(3).contains("too large"), "{}", said.stderr);
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_state_directory_that_stalls_costs_no_second_and_no_interruption() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::ext4(&place, 64 << 20);
    // Files, because a process that waits for the disk closes a pipe only when the disk answers.
    let (out, error) = (place.path("out.json"), place.path("error"));
    let mut child = place
        .command("run DATA --rw randread --size 4M --duration 60s --ramp 0s --json")
        .env("XDG_STATE_HOME", mounted.point.join("state"))
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&error).unwrap())
        .spawn()
        .unwrap();
    wait_until_journalled(&mounted.point);
    let frozen = Frozen::new(&mounted.point);
    thread::sleep(Duration::from_secs(7));
    signal(&child, interruption());
    let mut record = None;
    comes_true(|| {
        record = serde_json::from_str::<Value>(&fs::read_to_string(&out).unwrap()).ok();
        record.is_some()
    });
    drop(frozen);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = fs::read_to_string(&error).unwrap();
    let record = record.unwrap_or_else(|| panic!("no answer while the disk was stalled: {said}"));
    assert!(said.contains("does not answer"), "{said}");
    let series = record["cells"][0]["series"].as_array().unwrap();
    assert!(series.len() >= 7, "{}", series.len());
    let reads = |second: &Value| second["read_operations"].as_u64().unwrap();
    assert_eq!(series.iter().map(reads).sum::<u64>(), record["cells"][0]["read"]["operations"].as_u64().unwrap());
    assert!(series.iter().take(7).all(|second| reads(second) > 0), "{series:?}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
    let later = place.command("history --json").env("XDG_STATE_HOME", mounted.point.join("state")).output().unwrap();
    let runs = Said::of(later).json();
    assert_eq!((&runs[0]["id"], runs.as_array().unwrap().len()), (&record["id"], 1), "what had reached the journal");
}

#[test]
fn a_search_for_a_latency_that_is_interrupted_is_not_said_to_be_missing_in_the_history() {
    let place = Place::new();
    let job = "--name=job --directory=DATA --rw=randread --size=4M --direct=1 --iodepth=64 --time_based --runtime=60";
    let child = start(&place, &format!("fio {job} --latency_target=1s --latency_window=30s"));
    wait_until_at_work(&place);
    thread::sleep(Duration::from_millis(1500));
    signal(&child, interruption());
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(128), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("job: ") && !said.stdout.contains("history"), "{}", said.stdout);
}
