//! `--background`: the machine is loaded while it is measured, and no longer.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Place, Said, comes_true, skip};

/// A load with a child of its own, which tells the numbers of both.
const LOAD: &str = "sleep 600 & echo $$ $! > numbers; wait";

/// What loads the machine, once it does.
fn load(place: &Place) -> Vec<i32> {
    let mut numbers = Vec::<i32>::new();
    let has_begun = comes_true(|| {
        let text = fs::read_to_string(place.path("numbers")).unwrap_or_default();
        numbers = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
        numbers.len() == 2
    });
    assert!(has_begun, "the load never began");
    numbers
}

/// Whether a process is there and no zombie.
fn lives(process: i32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// A run of a minute with the load.
fn start(place: &Place) -> (Child, Vec<i32>) {
    let mut run = place.command("run DATA --rw randread --size 4M --duration 60s --ramp 0s --background");
    let child = run.arg(LOAD).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let numbers = load(place);
    assert!(numbers.iter().all(|process| lives(*process)), "{numbers:?}");
    (child, numbers)
}

#[test]
fn the_load_lasts_as_long_as_the_run_and_is_told() {
    let place = Place::new();
    let mut run = place.command("run DATA --rw randread --size 4M --duration 500ms --ramp 0s --background");
    let said = Said::of(run.arg(LOAD).output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!load(&place).into_iter().any(lives));
    assert!(said.stdout.contains("sleep 600"), "{}", said.stdout);
    if Path::new("/proc/pressure/cpu").exists() {
        assert!(said.stdout.contains("\npressure "), "{}", said.stdout);
    } else {
        skip("this kernel does not tell pressure");
    }
    assert!(!said.stdout.contains("background command ended"), "{}", said.stdout);
    let shown = place.run("show latest --json");
    assert_eq!(shown.json()["asked"]["background"], LOAD, "{}", shown.stderr);
}

#[test]
fn the_load_ends_with_a_run_that_is_interrupted_or_killed() {
    for signal in [Signal::TERM, Signal::KILL] {
        let place = Place::new();
        let (mut child, numbers) = start(&place);
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        let have_ended = comes_true(|| !numbers.iter().any(|process| lives(*process)));
        assert!(have_ended, "{signal:?}: {numbers:?}");
    }
}

#[test]
fn a_load_that_ends_early_is_a_warning_and_one_that_never_began_an_error() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "background = 'sleep 0.3; exit 9'\n[[workload]]\nrw = 'randread'\n").unwrap();
    let run = "run DATA --plan ROOT/plan.toml --size 4M --duration 800ms --ramp 0s";
    let record = place.record(run);
    let warning = record["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("the background command ended ") && warning.contains("exit status 9"), "{warning}");
    let said = place.run(&format!("{run} --background /no/such/command"));
    assert!(said.error(2).contains("\"/no/such/command\" ended at once (exit status 127)"), "{}", said.stderr);
    assert_eq!(place.leftovers(), Vec::<String>::new());
    assert_eq!(place.run("history --json").json().as_array().unwrap().len(), 1, "only the first run");
}
