//! What the cluster itself promises to the other tests.

use std::ops::Range;

use plimsoll_e2e::place::{self, NODES};
use serde_json::{Value, json};

use crate::{
    kubectl::{get, kubectl, list, plimsoll, text},
    namespace::{Namespace, container},
};

/// How far a measured rate may be from the one that the class sets.
const TOLERANCE: f64 = 0.02;

#[test]
fn two_nodes_are_ready_and_have_the_driver() {
    let nodes = list(&["nodes"]).unwrap();
    let names: Vec<_> = nodes.iter().map(|node| text(node, "/metadata/name")).collect();
    assert_eq!(names, NODES.map(|node| node.name));
    for node in &nodes {
        let conditions = node["status"]["conditions"].as_array().unwrap();
        assert!(conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True"));
        assert_eq!(drivers(text(node, "/metadata/name")).unwrap(), [place::DRIVER]);
    }
}

/// The names of the drivers that are registered on a node.
pub(crate) fn drivers(node: &str) -> Result<Vec<String>, String> {
    let registered = get(&["csinode", node])?;
    let drivers = registered.pointer("/spec/drivers").and_then(Value::as_array).into_iter().flatten();
    Ok(drivers.map(|driver| text(driver, "/name").to_owned()).collect())
}

#[test]
fn kubectl_is_as_new_as_the_cluster() {
    let output = kubectl(&["version", "--output=json"], "");
    let versions: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(text(&versions, "/clientVersion/gitVersion"), text(&versions, "/serverVersion/gitVersion"));
    assert!(text(&versions, "/serverVersion/gitVersion").starts_with("v1."), "{versions}");
}

#[test]
fn the_client_and_the_image_are_one_binary() {
    let client = plimsoll(&["--version"]).output().unwrap();
    assert!(client.status.success());
    let space = Namespace::new("one-binary");
    space.claim("data", "loop", "32Mi");
    space.plimsoll("version", "data", &["--version"]);
    space.wait_for_phase("pod", "version", "Succeeded", 60);
    assert_eq!(space.log("version"), String::from_utf8(client.stdout).unwrap());
}

#[test]
fn a_slow_class_lets_five_hundred_reads_a_second_through() {
    measures("slow", "randread", 500.0);
}

#[test]
fn a_slow_class_lets_five_hundred_writes_a_second_through() {
    measures("slow", "randwrite", 500.0);
}

#[test]
fn a_fast_class_lets_five_thousand_reads_a_second_through() {
    measures("fast", "randread", 5000.0);
}

#[test]
fn a_free_class_is_not_held_back() {
    measures_within("free", "randread", 6000.0..f64::INFINITY);
}

#[test]
fn a_pod_can_be_denied_io_uring() {
    let space = Namespace::new("deny-io-uring");
    space.claim("data", "loop", "64Mi");
    let container = json!({
        "image": place::IMAGE,
        "args": ["run", "/data", "--rw", "randread", "--size", "16MiB", "--duration", "1s"],
        "securityContext": { "seccompProfile": { "type": "Localhost", "localhostProfile": "deny-io-uring.json" } },
    });
    let rows = space.measured("measure", &[("data", "/data")], &container);
    assert_eq!(rows[0]["engine"], "libaio");
}

fn measures(class: &str, access: &str, iops: f64) {
    measures_within(class, access, iops * (1.0 - TOLERANCE)..iops * (1.0 + TOLERANCE));
}

/// Others on the machine may spoil one time; a wrong limit is wrong each time.
fn measures_within(class: &str, access: &str, iops: Range<f64>) {
    let mut measured = Vec::new();
    let is_within = (0..3).any(|_| {
        let rate = rate(class, access);
        measured.push(rate);
        iops.contains(&rate)
    });
    assert!(is_within, "{measured:?} operations a second, which is not within {iops:?}");
}

/// What plimsoll measures in a pod with a volume of this class.
fn rate(class: &str, access: &str) -> f64 {
    let space = Namespace::new(&format!("rate-{class}-{access}"));
    space.claim("data", class, "256Mi");
    let arguments = ["run", "/data", "--rw", access, "--block-size", "4k", "--queue-depth", "16", "--size", "64MiB"];
    let how = ["--ramp", "1s", "--duration", "6s"];
    let rows = space.measured("measure", &[("data", "/data")], &container(&[&arguments[..], &how].concat()));
    let side = if access == "randread" { "read" } else { "write" };
    rows[0][&format!("{side}_operations_per_second")].parse().unwrap()
}
