//! `plimsoll kubernetes agent`: what the program in a pod does.

use std::{
    fs::{self, OpenOptions},
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
    thread,
    time::Duration,
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};

use crate::support::Place;

const PLAN: &str = "targets = [\"slow\"]\npasses = 1\n[[workload]]\nrw = \"randread\"\nduration = \"60s\"\n";

#[test]
fn a_pod_that_is_asked_to_end_before_it_measures_says_so_and_ends() {
    let place = Place::new();
    // Whoever opens one waits for somebody on its other side: a volume that is not there yet.
    mknodat(CWD, place.path("slow"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let mut agent = place.command("kubernetes agent --run 01a20451-96fb-7259-8ace-7b5e21365415");
    let mut child = agent.env("PLIMSOLL_PLAN", PLAN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut log = String::new();
    said.read_line(&mut log).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    // A thread of the agent hears of it.
    thread::sleep(Duration::from_millis(500));
    drop(OpenOptions::new().write(true).open(place.path("slow")).unwrap());
    said.read_to_string(&mut log).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{log}");
    fs::write(place.path("pod.log"), log).unwrap();
    let told = place.run("kubernetes merge pod.log");
    assert!(told.stderr.contains("interrupted before anything was measured"), "{}", told.stderr);
}

#[test]
fn what_a_pod_says_names_the_flags_of_whoever_asked_for_it() {
    let place = Place::new();
    fs::create_dir(place.path("slow")).unwrap();
    // The first does not fit, nor do the second ones together.
    let one = "[[workload]]\nrw = \"write\"\nverify = true\n";
    let plans =
        [format!("{one}size = \"1000TiB\"\n"), format!("{one}size = \"{}\"\n", most_of_what_is_free(&place)).repeat(2)];
    for plan in plans {
        let mut agent = place.command("kubernetes agent --run 01a20451-96fb-7259-8ace-7b5e21365415");
        let output = agent.env("PLIMSOLL_PLAN", format!("targets = [\"slow\"]\n{plan}")).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
        fs::write(place.path("pod.log"), output.stdout).unwrap();
        let told = place.run("kubernetes merge pod.log --json");
        let all = [told.stdout, told.stderr].concat();
        assert!(all.contains("lower --region") && !all.contains("--size"), "{all}");
    }
}

/// More than half of it.
fn most_of_what_is_free(place: &Place) -> String {
    let facts = rustix::fs::statvfs(place.path("slow")).unwrap();
    format!("{}MiB", (facts.f_bavail * facts.f_frsize * 6 / 10) >> 20)
}
