//! The cluster does not answer any more, and nobody says so: what was measured is not lost, and who wants to end can.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use plimsoll_e2e::place;

use crate::{
    client::{Client, READS, record, told, volumes},
    disturbing::assert_whole,
    kubectl::{list, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
    way::Way,
};

/// A run by a way.
fn by_way(client: &Client<'_>, way: &Way, seconds: &str) -> (Command, tempfile::NamedTempFile) {
    let config = way.config("https");
    let arguments = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--duration", seconds, "--json"];
    let mut command = client.command(&[&arguments[..], READS].concat());
    command.env("KUBECONFIG", config.path());
    (command, config)
}

/// Waits until the pod of a run has ended.
fn wait_for_end(space: &Namespace) {
    until("the pod has ended", 2 * SOON_S, || {
        let pods = list(&["--namespace", &space.name, "pods"])?;
        match pods.first() {
            Some(pod) if text(pod, "/status/phase") == "Succeeded" => Ok(()),
            _ => Err(format!("{pods:?}")),
        }
    });
}

#[test]
fn connections_that_go_silent_while_a_run_measures_cost_no_number() {
    let space = Namespace::new("silent-connections");
    let client = Client::new(&space);
    let way = Way::open(place::SERVER);
    let (command, _config) = by_way(&client, &way, "20s");
    let going = client.going(command);
    way.hush();
    let record = record(&going.output());
    assert_whole(&record, 500.0, 20);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn ctrl_c_on_silent_connections_takes_what_a_run_that_has_ended_measured() {
    let space = Namespace::new("silent-end");
    let client = Client::new(&space);
    let way = Way::open(place::SERVER);
    let (command, _config) = by_way(&client, &way, "12s");
    let going = client.going(command);
    way.hush();
    wait_for_end(&space);
    going.interrupt();
    let output = going.output();
    let record = record(&output);
    assert!(told(&output).contains("ending the run in the cluster"), "{}", told(&output));
    assert_whole(&record, 500.0, 12);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn ctrl_c_without_a_cluster_ends_the_client_and_leaves_the_run() {
    let space = Namespace::new("no-answer");
    let client = Client::new(&space);
    let way = Way::open(place::SERVER);
    let (command, _config) = by_way(&client, &way, "20s");
    let going = client.going(command);
    way.block();
    going.interrupt();
    let began = Instant::now();
    let output = going.output();
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
    let said = told(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("ending the run in the cluster"), "{said}");
    assert!(said.contains("the cluster does not answer, so the run was not ended; the run goes on"), "{said}");
    let id = said.split("`plimsoll kubernetes collect ").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    let record = record(&client.command(&["collect", id, "--json"]).output().unwrap());
    assert_whole(&record, 500.0, 20);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_pod_that_has_just_started_ends_soon_after_ctrl_c() {
    let space = Namespace::new("early-end");
    let client = Client::new(&space);
    let arguments = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--duration", "5m", "--json"];
    let going = client.starting(client.command(&[&arguments[..], READS].concat()));
    thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    going.interrupt();
    let output = going.output();
    assert_eq!(output.status.code(), Some(130), "{}", told(&output));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    client.assert_nothing_left(&[]);
}

#[test]
fn ctrl_c_while_a_run_is_collected_says_that_it_goes_on() {
    let space = Namespace::new("collecting-ends");
    let client = Client::new(&space);
    let output = client.run(&[&["--storage-class", "slow", "--duration", "5m", "--detach"], READS].concat());
    let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(output.status.success(), "{}", told(&output));
    let going = client.going(client.command(&["collect", &id]));
    let second = client.going(client.command(&["collect", &id]));
    for collecting in [going, second] {
        collecting.interrupt();
        let output = collecting.output();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(130), "{said}");
        let sentence = format!("interrupted; the run goes on: `plimsoll kubernetes collect {id}` gets its results");
        assert!(said.contains(&sentence), "{said}");
        assert!(!said.contains("saved") && !said.contains("File exists"), "{said}");
    }
    let cleaned = client.command(&["cleanup", &id]).output().unwrap();
    assert!(cleaned.status.success(), "{}", told(&cleaned));
    client.assert_nothing_left(&[]);
}
