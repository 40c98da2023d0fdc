//! Many volumes from claim to gone, without measuring.

use std::process::Stdio;

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, record, told, volumes},
    disturbing::Plain,
    kubectl::{list, plimsoll, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
    way::Way,
};

/// The uses of a kind of one target's volumes.
fn uses<'a>(record: &'a Value, target: &str, used_as: &str) -> Vec<&'a Value> {
    let is_one = |life: &&Value| {
        let found = life.get("used_as").map_or("first", |used_as| used_as.as_str().unwrap());
        life["target"] == target && found == used_as
    };
    record["volumes"].as_array().unwrap().iter().filter(is_one).collect()
}

fn phase_ms(life: &Value, phase: &str) -> u64 {
    let ns = &life["phases"][format!("{phase}_ns")];
    ns.as_u64().unwrap_or_else(|| panic!("no {phase} in {life}")) / 1_000_000
}

#[test]
fn volumes_of_two_classes_live_in_turns_and_are_gone_afterwards() {
    let mut space = Namespace::new("lives");
    let slow = space.class(&json!({ "attachDelay": "2500ms" }));
    let client = Client::new(&space);
    let classes = format!("{slow},loop-wffc");
    let arguments = ["--storage-class", &classes, "--size", "32Mi", "--count", "2", "--concurrency", "2"];
    let found = record(&client.lifecycle(&arguments));
    assert_eq!(found["outcome"], "complete");
    for target in [slow.as_str(), "loop-wffc"] {
        let (first, again) = (uses(&found, target, "first"), uses(&found, target, "again"));
        assert_eq!((first.len(), again.len()), (2, 2), "{found}");
        for life in &first {
            for phase in ["create", "provision", "bind", "mount", "first_io", "ready", "detach", "delete"] {
                phase_ms(life, phase);
            }
        }
        for (first, again) in first.iter().zip(&again) {
            // The same volume on the same node, which was not made again.
            assert_eq!((&first["volume"], &first["node"]), (&again["volume"], &again["node"]));
            assert_eq!((&again["phases"]["provision_ns"], &again["phases"]["delete_ns"]), (&Value::Null, &Value::Null));
            assert!(phase_ms(again, "ready") >= phase_ms(again, "attach") + phase_ms(again, "mount"));
        }
    }
    for life in uses(&found, &slow, "first").iter().chain(&uses(&found, &slow, "again")) {
        let attach = phase_ms(life, "attach");
        // The watch may tell of the beginning a little late.
        assert!((2400..SOON_S * 1000).contains(&attach), "{attach} ms: {life}");
    }
    // Classes take turns.
    let mut order: Vec<_> = found["volumes"].as_array().unwrap().iter().map(|life| text(life, "/target")).collect();
    order.dedup();
    assert_eq!(order, [slow.as_str(), "loop-wffc", slow.as_str(), "loop-wffc"]);
    client.assert_nothing_left(&volumes(&found));
    // What was kept can be read again, and says of what it is the median.
    let history = client.history.path().join("history.db").display().to_string();
    let run = |arguments: &[&str]| {
        let output = plimsoll(arguments).args(["--history", &history]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), told(&output))
    };
    let (code, shown, _) = run(&["show", "latest"]);
    // A title may be broken after any word.
    assert!(code == Some(0) && shown.contains(&format!("{slow}, mounted")), "{shown}");
    let (code, listed, _) = run(&["history"]);
    assert!(code == Some(0) && listed.contains("loop-wffc"), "{listed}");
    let (code, _, refused) = run(&["compare", "latest"]);
    assert!(code == Some(2) && refused.contains("measured no rates"), "{refused}");
}

#[test]
fn a_volume_is_grown_copied_twice_and_taken_to_another_node() {
    let mut space = Namespace::new("lives-of-all-kinds");
    let class = space.class(&json!({ "csi.storage.k8s.io/fstype": "xfs" }));
    let client = Client::new(&space);
    let asked = ["--snapshot", "--clone", "--failover", "--resize", "640Mi", "--snapshot-class", "loop"];
    let arguments = ["--storage-class", &class, "--size", "320Mi", "--count", "1"];
    let found = record(&client.lifecycle(&[&arguments[..], &asked].concat()));
    let one = |used_as: &str| uses(&found, &class, used_as)[0];
    let (first, again, moved) = (one("first"), one("again"), one("moved"));
    for phase in ["resize", "grow", "snapshot", "delete"] {
        assert!(phase_ms(first, phase) < SOON_S * 1000, "{first}");
    }
    assert_eq!((&again["volume"], &moved["volume"]), (&first["volume"], &first["volume"]));
    assert!(again["node"] == first["node"] && moved["node"] != first["node"], "{found}");
    // Detaching there and attaching here are parts of the way.
    let parts = phase_ms(again, "detach") + phase_ms(moved, "attach");
    assert!(phase_ms(moved, "ready") >= parts, "{parts} ms: {moved}");
    for copy in [one("restored"), one("cloned")] {
        assert_ne!(copy["volume"], first["volume"]);
        for phase in ["provision", "attach", "mount", "ready", "delete"] {
            phase_ms(copy, phase);
        }
    }
    client.assert_nothing_left(&volumes(&found));
}

#[test]
fn a_life_that_fails_is_counted_and_others_go_on() {
    let mut space = Namespace::new("failing-lives");
    let broken = space.class(&json!({ "provisionFailures": "100000" }));
    let client = Client::new(&space);
    let classes = format!("{broken},loop");
    let arguments = ["--storage-class", &classes, "--size", "32Mi", "--count", "1", "--start-timeout", "40s"];
    let output = client.lifecycle(&[&arguments[..], &["--concurrency", "2"]].concat());
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["outcome"], "failed");
    let failed = uses(&found, &broken, "first")[0];
    let why = text(failed, "/failed");
    assert!(why.contains("not made within 40 s") && why.contains("provisionFailures: call"), "{why}");
    assert!(told(&output).contains(why), "{}", told(&output));
    assert!(uses(&found, &broken, "again").is_empty());
    let whole = uses(&found, "loop", "first")[0];
    assert_eq!(whole.get("failed"), None);
    phase_ms(whole, "delete");
    assert_eq!(uses(&found, "loop", "again").len(), 1);
    client.assert_nothing_left(&[text(whole, "/volume")]);
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_made() {
    let space = Namespace::new("lives-refused");
    let client = Client::new(&space);
    let refused = |arguments: &[&str]| {
        let output = client.lifecycle(&[&["--storage-class", "loop", "--size", "64Mi"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        told(&output)
    };
    assert!(refused(&["--resize", "32Mi"]).contains("only grow"));
    assert!(refused(&["--failover", "--node", "node1"]).contains("leave either out"));
    assert!(refused(&["--failover", "-l", "kubernetes.io/hostname=node1"]).contains("takes two nodes"));
    assert!(refused(&["--snapshot", "--snapshot-class", "none"]).contains("no VolumeSnapshotClass none: it has loop"));
    client.assert_nothing_left(&[]);
}

#[test]
fn cleanup_removes_what_a_killed_client_left() {
    let space = Namespace::new("lives-killed");
    let client = Client::new(&space);
    let arguments = ["lifecycle", "--image", place::IMAGE, "--storage-class", "loop", "--size", "32Mi", "--snapshot"];
    let mut command = client.command(&[&arguments[..], &["--snapshot-class", "loop", "--count", "5"]].concat());
    let mut going = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("there is a snapshot", 2 * SOON_S, || {
        let snapshots = list(&["--namespace", &space.name, "volumesnapshots"])?;
        if snapshots.is_empty() { Err("none".to_owned()) } else { Ok(()) }
    });
    going.kill().unwrap();
    going.wait().unwrap();
    let job = list(&["--namespace", &space.name, "jobs"]).unwrap().remove(0);
    let job = text(&job, "/metadata/name");
    let status = client.command(&["status"]).env("COLUMNS", "160").output().unwrap();
    let shown = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(shown.contains("running") && shown.contains("lives of volumes, 5 of loop"), "{shown}");
    let collected = client.command(&["collect", job]).output().unwrap();
    assert_eq!(collected.status.code(), Some(2), "{}", told(&collected));
    assert!(told(&collected).contains("nothing to collect"), "{}", told(&collected));
    let cleaned = client.command(&["cleanup", job]).output().unwrap();
    assert!(cleaned.status.success(), "{}", told(&cleaned));
    client.assert_nothing_left(&[]);
    let is_ours = |content: &Value| text(content, "/spec/volumeSnapshotRef/namespace") == space.name;
    until("the copy behind the snapshot is gone", SOON_S, || {
        let left: Vec<_> = list(&["volumesnapshotcontents"])?.into_iter().filter(is_ours).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
}

#[test]
fn ctrl_c_ends_all_lives_and_keeps_what_there_was() {
    let space = Namespace::new("lives-interrupted");
    let client = Client::new(&space);
    let arguments = ["lifecycle", "--image", place::IMAGE, "--storage-class", "loop", "--size", "32Mi", "--json"];
    let going = client.going(client.command(&[&arguments[..], &["--count", "50"]].concat()));
    going.interrupt();
    let output = going.output();
    assert_eq!(output.status.code(), Some(130), "{}", told(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["outcome"], "interrupted");
    assert!(!found["volumes"].as_array().unwrap().is_empty());
    client.assert_nothing_left(&volumes(&found));
}

#[test]
fn lives_end_when_their_deadline_passes_and_what_there_was_is_kept() {
    let space = Namespace::new("lives-late");
    let client = Client::new(&space);
    let arguments = ["--storage-class", "loop", "--size", "32Mi", "--count", "50", "--deadline", "20s"];
    let output = client.lifecycle(&arguments);
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["outcome"], "interrupted");
    let warning = text(&found, "/warnings/0");
    assert!(warning.contains(" of 50 lives of volumes were over") && warning.contains("--deadline"), "{warning}");
    assert!(!uses(&found, "loop", "again").is_empty(), "{found}");
    client.assert_nothing_left(&volumes(&found));
}

#[test]
fn whoever_removes_the_run_ends_its_lives() {
    let space = Namespace::new("lives-removed");
    let client = Client::new(&space);
    let arguments = ["lifecycle", "--image", place::IMAGE, "--storage-class", "loop", "--size", "32Mi", "--json"];
    let going = client.going(client.command(&[&arguments[..], &["--count", "50", "--concurrency", "2"]].concat()));
    let cleanup = client.command(&["cleanup", "--all"]).output().unwrap();
    assert!(cleanup.status.success(), "{}", told(&cleanup));
    let output = going.output();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(text(&found, "/warnings/0").contains("the Job of the run was deleted"), "{}", found["warnings"]);
    // None is taken for one that failed.
    let failed = |life: &&Value| life["failed"].is_string();
    assert!(found["volumes"].as_array().unwrap().iter().find(failed).is_none(), "{found}");
    client.assert_nothing_left(&volumes(&found));
}

#[test]
fn who_may_not_create_pods_is_told_before_anything_is_made() {
    let space = Namespace::new("lives-without-pods");
    let (client, config) = (Client::new(&space), space.config_of_account("default"));
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubernetes.md")).unwrap();
    let role = document.split("```yaml").nth(1).unwrap().split("```").next().unwrap();
    let (required, _) = role.split_once("[pods], verbs: [create]").expect("of the Role, that is a rule");
    space.apply_text(&required[..required.rfind('\n').unwrap()]);
    space.bind("default", "plimsoll");
    let arguments = ["lifecycle", "--image", place::IMAGE, "--storage-class", "loop"];
    let output = client.command(&arguments).env("KUBECONFIG", config.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(
        told(&output).contains("create pods in namespace") && told(&output).contains("preflight"),
        "{}",
        told(&output)
    );
    client.assert_nothing_left(&[]);
}

#[test]
fn a_request_that_is_lost_costs_no_life() {
    let space = Namespace::new("lost-requests");
    let client = Client::new(&space);
    let plain = Plain::start();
    let way = Way::open(&plain.address);
    way.lose_every_other();
    let config = way.config("http");
    let arguments = ["--storage-class", "loop", "--size", "32Mi", "--count", "2", "--concurrency", "2", "--snapshot"];
    let lifecycle = ["lifecycle", "--image", place::IMAGE, "--json"];
    let mut command = client.command(&[&lifecycle[..], &arguments].concat());
    let output = command.env("KUBECONFIG", config.path()).output().unwrap();
    let found = record(&output);
    assert_eq!(found["outcome"], "complete", "{}", told(&output));
    assert_eq!(uses(&found, "loop", "restored").len(), 2);
    assert!(told(&output).contains("several requests to create the claim"), "{}", told(&output));
    // A Job, and of each life two claims, three pods and a snapshot, each asked for twice.
    assert!(way.made() >= 2 * (1 + 2 * 6), "{}", way.made());
    client.assert_nothing_left(&volumes(&found));
}
