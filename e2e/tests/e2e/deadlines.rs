//! Runs whose time is over before they are: what was measured is kept, and why it is not more is the same sentence
//! everywhere.

use std::{
    process::Output,
    time::{Duration, Instant},
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, told, volumes},
    kubectl::{list, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

/// What is said of a run on a node, or of one that was on none.
fn sentence(node: Option<&str>) -> String {
    let on = node.map(|node| format!(" on {node}")).unwrap_or_default();
    format!("the deadline of the run has passed, and the cluster ended it{on}: allow more with --deadline")
}

/// That a command ended with that sentence and with what had been measured until then.
fn assert_kept(output: &Output, node: &str) -> Value {
    let said = told(output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains(&sentence(Some(node))) && said.contains("what was measured is saved"), "{said}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["outcome"], "interrupted");
    assert!(record["cells"][0]["series"].as_array().unwrap().len() >= 2, "{record}");
    record
}

/// The Job of a namespace.
fn job(space: &Namespace) -> String {
    let jobs = list(&["--namespace", &space.name, "jobs"]).unwrap();
    text(&jobs[0], "/metadata/name").to_owned()
}

/// Has the time of a Job pass, whatever its pod still had.
fn end_time(space: &Namespace) {
    space.patch("job", &job(space), &json!({ "spec": { "activeDeadlineSeconds": 1 } })).unwrap();
}

/// What `status` says of the only run there, once it has failed.
fn failed(client: &Client<'_>) -> Value {
    until("the run has failed", 2 * SOON_S, || {
        let status = client.command(&["status", "--json"]).output().unwrap();
        let runs: Value = serde_json::from_slice(&status.stdout).unwrap();
        if text(&runs, "/0/state") == "failed" { Ok(runs[0].clone()) } else { Err(runs.to_string()) }
    })
}

/// Leaves a run going on, for so long at most; gives its id and where it measures.
fn leave(space: &Namespace, client: &Client<'_>, deadline: &str) -> (String, String) {
    let run = ["--storage-class", "slow", "--duration", "5m", "--detach", "--deadline", deadline];
    let output = client.run(&[&run[..], READS].concat());
    assert!(output.status.success(), "{}", told(&output));
    let pods = list(&["--namespace", &space.name, "pods"]).unwrap();
    (String::from_utf8(output.stdout).unwrap().trim().to_owned(), text(&pods[0], "/spec/nodeName").to_owned())
}

#[test]
fn a_run_whose_time_is_over_while_it_is_followed_tells_what_it_had() {
    let space = Namespace::new("late-run");
    let client = Client::new(&space);
    let going = client.measuring(&["--storage-class", "slow", "--deadline", "25s"]);
    let node = going.node().to_owned();
    let record = assert_kept(&going.output(), &node);
    client.assert_nothing_left(&volumes(&record));
}

/// Whoever may not look at events has nothing but the Job to say why it deleted its pod.
#[test]
fn a_job_whose_time_is_over_is_told_from_somebody_who_deletes_pods() {
    let space = Namespace::new("late-job");
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubernetes.md")).unwrap();
    let role = document.split("```yaml").nth(1).unwrap().split("```").next().unwrap();
    let without_events: Vec<&str> = role.lines().filter(|line| !line.contains("[events]")).collect();
    assert!(without_events.len() < role.lines().count());
    space.apply_text(&without_events.join("\n"));
    let (client, config) = (Client::new(&space), space.config_of_account("default"));
    space.bind("default", "plimsoll");
    let run = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--duration", "5m", "--json"];
    let mut command = client.command(&[&run[..], READS].concat());
    command.env("KUBECONFIG", config.path());
    let going = client.going(command);
    end_time(&space);
    let node = going.node().to_owned();
    let output = going.output();
    assert!(told(&output).contains("events may not be watched here"), "{}", told(&output));
    let record = assert_kept(&output, &node);
    space.wait_until_volumes_are_gone();
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_run_whose_time_is_over_before_its_pod_has_a_node_says_so_at_once() {
    let space = Namespace::new("late-start");
    let client = Client::new(&space);
    let run = ["run", "--image", place::IMAGE, "--storage-class", "loop", "--node-selector", "none=here"];
    let child = client.command(&[&run[..], READS].concat());
    let (output, took) = std::thread::scope(|scope| {
        let mut child = child;
        let running = scope.spawn(move || child.output().unwrap());
        until("the pod waits", SOON_S, || {
            let pods = list(&["--namespace", &space.name, "pods"])?;
            let is_waiting = pods.first().is_some_and(|pod| pod.to_string().contains("Unschedulable"));
            if is_waiting { Ok(()) } else { Err(format!("{pods:?}")) }
        });
        end_time(&space);
        let began = Instant::now();
        let output = running.join().unwrap();
        (output, began.elapsed())
    });
    let said = told(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains(&(sentence(None) + "; until then the pod had not started")), "{said}");
    assert!(took < Duration::from_secs(30), "{took:?}");
    client.assert_nothing_left(&[]);
}

#[test]
fn a_run_that_was_left_alone_past_its_time_is_collected_with_what_it_had() {
    let space = Namespace::new("late-alone");
    let client = Client::new(&space);
    let (id, node) = leave(&space, &client, "25s");
    let there = failed(&client);
    assert_eq!(text(&there, "/detail"), sentence(Some(&node)));
    // The pod says it in short too.
    assert!(there.pointer("/summary/cells/0/read/iops").and_then(Value::as_f64).is_some(), "{there}");
    let collect = |more: &[&str]| client.command(&[&["collect", &id, "--json"], more].concat()).output().unwrap();
    let record = assert_kept(&collect(&["--leave"]), &node);
    // It is there until somebody takes it away.
    assert_eq!(assert_kept(&collect(&[]), &node)["cells"], record["cells"]);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_run_whose_pod_went_when_its_time_was_over_says_why_there_is_nothing_to_collect() {
    let space = Namespace::new("late-gone");
    let client = Client::new(&space);
    let (id, _) = leave(&space, &client, "1h");
    end_time(&space);
    until("the pod is gone", 2 * SOON_S, || {
        let pods = list(&["--namespace", &space.name, "pods"])?;
        if pods.is_empty() { Ok(()) } else { Err(format!("{pods:?}")) }
    });
    assert_eq!(text(&failed(&client), "/detail"), sentence(None));
    let output = client.command(&["collect", &id]).output().unwrap();
    let said = told(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("its pod with the results is gone") && said.contains(&sentence(None)), "{said}");
    let gone = client.command(&["cleanup", &id]).output().unwrap();
    assert!(gone.status.success(), "{}", told(&gone));
    client.assert_nothing_left(&[]);
}
