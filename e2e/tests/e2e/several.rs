//! Several pods that measure at the same time: they begin together, and are one record.

use std::{
    fs::{self, OpenOptions},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, record, told, volumes},
    kubectl::{list, plimsoll, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

/// Reads of several pods, for two visits of five seconds.
const READS: &[&str] =
    &["--rw", "randread", "--queue-depth", "16", "--region", "32MiB", "--size", "128Mi", "--effort", "quick"];

fn of_pods<'a>(record: &'a Value, pointer: &str) -> Vec<&'a Value> {
    let pods = record.pointer("/pods/pods").and_then(Value::as_array).unwrap();
    pods.iter().map(|pod| pod.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is not in {pod}"))).collect()
}

fn sum(values: &[&Value]) -> u64 {
    values.iter().map(|value| value.as_u64().unwrap()).sum()
}

/// Operations in the histogram of a cell's reads.
fn timed(cell: &Value) -> u64 {
    sum(&cell.pointer("/read/histogram/counts").and_then(Value::as_array).unwrap().iter().collect::<Vec<_>>())
}

/// That the pods of a record began within 50 ms, measured together, and were added up.
fn assert_together(record: &Value, nodes: &[&str]) {
    let visits = record.pointer("/pods/visits").and_then(Value::as_array).unwrap();
    assert_eq!(visits.len(), 2);
    for visit in visits {
        assert!(visit["start_skew_ns"].as_u64().unwrap() <= 50_000_000, "{visit}");
        assert!(visit["overlap"].as_f64().unwrap() >= 0.95, "{visit}");
    }
    let mut found: Vec<_> = of_pods(record, "/node").into_iter().map(|node| node.as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, nodes);
    let cell = &record["cells"][0];
    assert_eq!(cell["read"]["operations"], sum(&of_pods(record, "/cells/0/read/operations")));
    assert_eq!(timed(cell), sum(&of_pods(record, "/cells/0/read/timed")));
}

#[test]
fn two_pods_on_two_nodes_begin_together_and_their_volumes_are_added_up() {
    let space = Namespace::new("two-nodes");
    let client = Client::new(&space);
    let limits = client.history.path().join("limits.toml");
    fs::write(&limits, "[[disk]]\nname = \"silver\"\nlimit = \"iops=500\"\nsource = \"the class\"\n").unwrap();
    let bought = ["--storage-class", "slow", "--nodes", "2", "--sku", "silver", "--limits", limits.to_str().unwrap()];
    let record = client.record(&[&bought[..], READS].concat());
    assert_together(&record, &["node1", "node2"]);
    // Each has a volume of its own, which is capped.
    let rate = record.pointer("/cells/0/read/iops").and_then(Value::as_f64).unwrap();
    assert!((rate / 1000.0 - 1.0).abs() < 0.1, "{rate}");
    assert_eq!(record.pointer("/cells/0/limit/iops").and_then(Value::as_f64), Some(1000.0));
    let names = volumes(&record);
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    assert_eq!(record.pointer("/pods/start").and_then(Value::as_str), Some("watched"));
    client.assert_nothing_left(&names);
}

#[test]
fn with_the_documented_role_pods_are_told_when_to_begin() {
    let space = Namespace::new("several-with-role");
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubernetes.md")).unwrap();
    space.apply_text(document.split("```yaml").nth(1).unwrap().split("```").next().unwrap());
    let (client, config) = (Client::new(&space), space.config_of_account("default"));
    space.bind("default", "plimsoll");
    let mut command = client.command(&["run", "--image", place::IMAGE, "--storage-class", "loop", "--nodes", "2"]);
    let output = command.args(READS).args(["--json"]).env("KUBECONFIG", config.path()).output().unwrap();
    let record = record(&output);
    assert_eq!(record.pointer("/pods/start").and_then(Value::as_str), Some("watched"), "{}", told(&output));
    space.wait_until_volumes_are_gone();
    client.assert_nothing_left(&[]);
}

#[test]
fn two_pods_on_two_nodes_share_a_volume_that_both_may_use() {
    let space = Namespace::new("two-nodes-shared");
    let client = Client::new(&space);
    let shared = ["--storage-class", "shared", "--access", "rwx", "--nodes", "2"];
    let record = client.record(&[&shared[..], READS].concat());
    assert_together(&record, &["node1", "node2"]);
    assert_eq!(volumes(&record).len(), 1);
    client.assert_nothing_left(&volumes(&record));
}

/// When a class was measured, from and until, since the start of the run.
fn visits_of(record: &Value, target: &str) -> Vec<(u64, u64)> {
    let cells = record["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["target"] == target).unwrap();
    let slots = cell["slots"].as_array().unwrap().iter();
    let time = |slot: &Value, field: &str| slot[field].as_u64().unwrap();
    slots.map(|slot| (time(slot, "from_ns"), time(slot, "from_ns") + time(slot, "elapsed_ns"))).collect()
}

#[test]
fn two_nodes_take_turns_so_that_node_is_not_confused_with_storage() {
    let space = Namespace::new("taking-turns");
    let client = Client::new(&space);
    let record = client.record(&[&["--storage-class", "slow,fast", "--parallel"], READS].concat());
    for (index, (target, cap)) in [("slow", 500.0), ("fast", 5000.0)].into_iter().enumerate() {
        let rate = record.pointer(&format!("/cells/{index}/read/iops")).and_then(Value::as_f64).unwrap();
        // Twice the limit would be both nodes at once.
        assert!((rate / cap - 1.0).abs() < 0.2, "{target}: {rate}");
        // Both nodes measured it, which makes twice the visits, and never at the same time.
        let visits = visits_of(&record, target);
        assert_eq!(visits.len(), 4, "{target}");
        assert!(visits.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{target}: {visits:?}");
        let of_pods = of_pods(&record, &format!("/cells/{index}/read/operations"));
        let all = record.pointer(&format!("/cells/{index}/read/operations")).unwrap();
        assert!(of_pods.iter().all(|of_pod| of_pod.as_u64().unwrap() > 0));
        assert_eq!(*all, sum(&of_pods));
    }
    // While one node measured one class, the other measured the other.
    let (slow, fast) = (visits_of(&record, "slow"), visits_of(&record, "fast"));
    for ((from, to), (other_from, other_to)) in slow.iter().zip(&fast) {
        assert!(from.max(other_from) < to.min(other_to), "{slow:?} {fast:?}");
    }
    assert_eq!(record.pointer("/pods/take_turns"), Some(&Value::Bool(true)));
    let mut nodes: Vec<_> = of_pods(&record, "/node").into_iter().map(|node| node.as_str().unwrap()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["node1", "node2"]);
    assert_eq!(volumes(&record).len(), 4);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn two_pods_on_two_nodes_write_and_read_one_file() {
    let space = Namespace::new("two-nodes-one-file");
    let client = Client::new(&space);
    space.claim_with("both", "shared", "128Mi", &json!({ "accessModes": ["ReadWriteMany"] }));
    let kept = ["--pvc", "both", "--nodes", "2", "--shared-file", "--fs-group", "10001"];
    // The volume has no room for a file of each.
    let mixed = ["--rw", "randrw", "--region", "80MiB", "--queue-depth", "4", "--effort", "quick"];
    let record = client.record(&[&kept[..], &mixed].concat());
    assert_together(&record, &["node1", "node2"]);
    let written = &record["cells"][0]["write"]["operations"];
    assert_eq!(written, sum(&of_pods(&record, "/cells/0/write/operations")));
    assert_eq!(record.pointer("/pods/shared_files"), Some(&json!(true)));
    // Nothing is left in the volume.
    space.holder("holder", "both", None);
    space.wait_for_phase("pod", "holder", "Running", SOON_S);
    let there = fs::read_dir(space.path_of("holder", "both")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(there.filter(|name| name != "lost+found").collect::<Vec<_>>(), [""; 0]);
    let refused = client.run(&[&["--storage-class", "shared", "--nodes", "2", "--shared-file"], &mixed[..]].concat());
    assert!(told(&refused).contains("--access rwx"), "{}", told(&refused));
}

#[test]
fn pods_that_cannot_be_told_begin_by_the_clock() {
    let space = Namespace::new("by-the-clock");
    let client = Client::new(&space);
    let pods = ["--storage-class", "loop", "--nodes", "2", "--pods-per-node", "2", "--start-after", "40s"];
    let record = client.record(&[&pods[..], READS].concat());
    assert_together(&record, &["node1", "node1", "node2", "node2"]);
    assert_eq!(record.pointer("/pods/start").and_then(Value::as_str), Some("time"));
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn how_many_pods_have_started_is_told_while_others_have_not() {
    let mut space = Namespace::new("several-slow");
    // The controller attaches one volume after the other.
    let class = space.class_with(&json!({ "attachDelay": "7s" }), "WaitForFirstConsumer");
    let client = Client::new(&space);
    let output = client.run(&[&["--storage-class", &class, "--nodes", "2", "--json"], READS].concat());
    let said = told(&output);
    assert!(said.contains("1 of 2 pods has started, "), "{said}");
    assert!(said.contains("2 pods are ready and begin together"), "{said}");
    client.assert_nothing_left(&volumes(&record(&output)));
}

#[test]
fn more_nodes_than_there_are_are_refused_before_anything_is_made() {
    let space = Namespace::new("too-many-nodes");
    let client = Client::new(&space);
    let output = client.run(&[&["--storage-class", "loop", "--nodes", "3"], READS].concat());
    assert!(!output.status.success());
    assert!(told(&output).contains("3 nodes are asked for, and 2 take a pod"), "{}", told(&output));
    client.assert_nothing_left(&[]);
}

#[test]
fn a_detached_run_of_several_pods_is_collected_later() {
    let space = Namespace::new("several-detached");
    let client = Client::new(&space);
    let all = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--all-nodes", "--detach"];
    let output = client.command(&[&all[..], READS].concat()).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let id = String::from_utf8(output.stdout).unwrap();
    let other = Client::new(&space);
    let collected = record(&other.command(&["collect", id.trim(), "--json"]).output().unwrap());
    assert_together(&collected, &["node1", "node2"]);
    client.assert_nothing_left(&volumes(&collected));
}

/// Has the nodes keep the end of what pods of a namespace told, as they do of long logs. Gives how many logs that were.
fn throw_beginnings_of_logs_away(namespace: &str) -> usize {
    let mut logs = 0;
    for node in place::NODES {
        let pods = fs::read_dir(node.folder().join("pods")).unwrap().map(|entry| entry.unwrap());
        let of_namespace = pods.filter(|pod| pod.file_name().to_string_lossy().starts_with(&format!("{namespace}_")));
        for pod in of_namespace {
            let log = pod.path().join("plimsoll/0.log");
            let text = fs::read_to_string(&log).unwrap();
            let (_, kept) = text.split_at(text.len() / 4);
            fs::write(&log, &kept[kept.find('\n').unwrap() + 1..]).unwrap();
            logs += 1;
        }
    }
    logs
}

/// A run that was left alone is over, in so many pods. Gives its id.
fn left_alone_until_it_is_over(client: &Client<'_>, namespace: &str, nodes: usize) -> String {
    let nodes_text = nodes.to_string();
    let run = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--nodes", &nodes_text, "--detach"];
    let output = client.command(&[&run[..], READS].concat()).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    until("all pods are done", SOON_S, || {
        let pods = list(&["--namespace", namespace, "pods"])?;
        let phases: Vec<_> = pods.iter().map(|pod| text(pod, "/status/phase")).collect();
        if phases == vec!["Succeeded"; nodes] { Ok(()) } else { Err(format!("{phases:?}")) }
    });
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_pod_that_is_deleted_while_all_measure_costs_no_other_its_numbers() {
    let space = Namespace::new("one-deleted");
    let client = Client::new(&space);
    let run = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--nodes", "2", "--json"];
    let going = client.starting(client.command(&[&run[..], &["--passes", "9", "--duration", "2s"], READS].concat()));
    let pods = list(&["--namespace", &space.name, "pods"]).unwrap();
    let second = pods.iter().map(|pod| text(pod, "/metadata/name")).find(|name| name.ends_with("-pod-1")).unwrap();
    // Until both have made a visit or more.
    thread::sleep(Duration::from_secs(12));
    space.delete("pod", second);
    let output = going.output();
    let said = told(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("asking the other pods to end"), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["outcome"], "interrupted");
    let visits = |pod: &Value| pod.pointer("/cells/0/read/operations").and_then(Value::as_u64).unwrap_or(0);
    let pods = found.pointer("/pods/pods").and_then(Value::as_array).unwrap();
    assert!(pods.len() == 2 && pods.iter().all(|pod| visits(pod) > 500), "{pods:?}");
    client.assert_nothing_left(&volumes(&found));
}

#[test]
fn a_run_of_which_a_pod_is_gone_is_collected_at_once_as_far_as_it_is_there() {
    let space = Namespace::new("one-missing");
    let client = Client::new(&space);
    let id = left_alone_until_it_is_over(&client, &space.name, 2);
    let pods = list(&["--namespace", &space.name, "pods"]).unwrap();
    let second = pods.iter().map(|pod| text(pod, "/metadata/name")).find(|name| name.ends_with("-pod-1")).unwrap();
    space.delete("pod", second);
    let status = client.command(&["status"]).output().unwrap();
    let status = String::from_utf8_lossy(&status.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("1 of 2 pods are gone") && status.contains("its first pod alone"), "{status}");
    let began = Instant::now();
    let collected = client.command(&["collect", &id, "--json"]).output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(collected.status.code(), Some(6), "{}", told(&collected));
    assert!(told(&collected).contains("1 of the 2 pods of the run are gone"), "{}", told(&collected));
    let found: Value = serde_json::from_slice(&collected.stdout).unwrap();
    assert_eq!((&found["outcome"], found["pods"]["pods"].as_array().map(Vec::len)), (&"lost".into(), Some(1)));
    client.assert_nothing_left(&[]);
}

#[test]
fn a_run_stays_until_somebody_has_its_results() {
    let space = Namespace::new("nobody-has-it");
    let client = Client::new(&space);
    let id = left_alone_until_it_is_over(&client, &space.name, 1);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut collect = plimsoll(&["kubernetes", "collect", &id, "--json", "--no-history"]);
    let lost = collect.args(["--namespace", &space.name]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(lost.status.code(), Some(5), "{}", told(&lost));
    let again = client.command(&["collect", &id, "--json"]).output().unwrap();
    assert_eq!(record(&again)["outcome"], "complete");
    client.assert_nothing_left(&[]);
}

#[test]
fn what_nodes_no_longer_have_of_logs_is_told_and_rates_in_short_stay() {
    let space = Namespace::new("logs-cut");
    let client = Client::new(&space);
    let id = left_alone_until_it_is_over(&client, &space.name, 2);
    assert_eq!(throw_beginnings_of_logs_away(&space.name), 2);
    let collected = client.command(&["collect", &id]).output().unwrap();
    assert_eq!(collected.status.code(), Some(6), "{}", told(&collected));
    let said = told(&collected);
    assert!(said.contains("no longer had the beginning of their logs"), "{said}");
    assert!(said.contains("what pods told is gone") && said.contains("plimsoll kubernetes status"), "{said}");
    let status = client.command(&["status", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert!(status[0]["summary"].is_object(), "{status}");
    let cleaned = client.command(&["cleanup", &id]).output().unwrap();
    assert!(cleaned.status.success(), "{}", told(&cleaned));
    client.assert_nothing_left(&[]);
}

#[test]
fn one_pod_tells_all_once_more_at_its_end_so_that_its_whole_log_is_not_needed() {
    let space = Namespace::new("log-cut");
    let client = Client::new(&space);
    let id = left_alone_until_it_is_over(&client, &space.name, 1);
    assert_eq!(throw_beginnings_of_logs_away(&space.name), 1);
    let output = client.command(&["collect", &id, "--json"]).output().unwrap();
    let collected = record(&output);
    assert_eq!(collected["outcome"], "complete");
    assert!(collected.pointer("/cells/0/read/iops").and_then(Value::as_f64).unwrap() > 400.0);
    assert!(!told(&output).contains("missing"), "{}", told(&output));
    client.assert_nothing_left(&volumes(&collected));
}
