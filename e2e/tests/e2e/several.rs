//! Several pods that measure at the same time: they begin together, and are one record.

use plimsoll_e2e::place;
use serde_json::Value;

use crate::{
    client::{Client, record, told, volumes},
    namespace::Namespace,
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
    let record = client.record(&[&["--storage-class", "slow", "--nodes", "2"], READS].concat());
    assert_together(&record, &["node1", "node2"]);
    // Each has a volume of its own, which is capped.
    let rate = record.pointer("/cells/0/read/iops").and_then(Value::as_f64).unwrap();
    assert!((rate / 1000.0 - 1.0).abs() < 0.1, "{rate}");
    let names = volumes(&record);
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    assert_eq!(record.pointer("/pods/start").and_then(Value::as_str), Some("watched"));
    client.assert_nothing_left(&names);
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
