//! Tests that disturb the whole cluster, or measure what others would disturb. `cargo xtask e2e` runs them one after
//! the other, when all others are done.

use std::{thread, time::Duration};

use plimsoll_e2e::{
    component::Component,
    place::{self, NODES},
};
use serde_json::json;

use crate::{
    client::{Client, READS, record, told, volumes},
    disturbing::assert_whole,
    kubectl::{ask, is_full},
    lab::drivers,
    measuring::phase_s,
    namespace::{Namespace, SOON_S, container},
    waiting::until,
};

/// Nodes that take no new pods, until it is dropped.
struct Cordon(Vec<String>);

impl Cordon {
    fn of(nodes: &[&str]) -> Self {
        let cordon = Self(nodes.iter().map(ToString::to_string).collect());
        cordon.say("cordon").unwrap();
        cordon
    }

    fn say(&self, what: &str) -> Result<String, String> {
        let names: Vec<_> = self.0.iter().map(String::as_str).collect();
        ask(&[&[what], &names[..]].concat())
    }
}

impl Drop for Cordon {
    fn drop(&mut self) {
        if let Err(error) = self.say("uncordon") {
            eprintln!("{error}");
        }
    }
}

#[test]
fn a_run_that_cordoned_nodes_do_not_take_names_them() {
    let space = Namespace::new("cordoned-nodes");
    let client = Client::new(&space);
    let _cordon = Cordon::of(&["node1", "node2"]);
    for class in ["loop", "loop-wffc"] {
        let output = client.run(&[&["--storage-class", class, "--start-timeout", "13s"], READS].concat());
        assert_eq!(output.status.code(), Some(6), "{}", told(&output));
        let told = told(&output);
        let why = "none of 2 nodes takes the pod; node1, node2: cordoned, which `kubectl uncordon` ends";
        assert!(told.contains(&format!("waiting: {why}")), "{told}");
        assert!(told.contains(&format!("has not started within 13 s: {why}")), "{told}");
        client.assert_nothing_left(&[]);
    }
}

#[test]
fn a_node_that_is_cordoned_lets_a_run_on_it_go_on() {
    let space = Namespace::new("cordoned-while-measuring");
    let client = Client::new(&space);
    let arguments = ["run", "--storage-class", "slow", "--duration", "15s", "--json", "--image", place::IMAGE];
    let going = client.going(client.command(&[&arguments[..], READS].concat()));
    let cordon = Cordon::of(&[going.node()]);
    let record = record(&going.output());
    drop(cordon);
    assert_whole(&record, 500.0, 15);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_run_outlives_an_api_server_that_is_killed() {
    let said = outlives("api-server-restart", |_| "kube-apiserver".to_owned());
    assert!(said.contains("the watch broke off and began anew"), "{said}");
}

#[test]
fn a_run_outlives_a_kubelet_that_is_killed() {
    outlives("kubelet-restart", |node| format!("kubelet-{node}"));
}

/// Kills a component while a run measures on a node, and starts it again. Gives what the run said.
fn outlives(name: &str, component: impl Fn(&str) -> String) -> String {
    let space = Namespace::new(name);
    let client = Client::new(&space);
    let arguments = ["run", "--storage-class", "slow", "--duration", "15s", "--json", "--image", place::IMAGE];
    let going = client.going(client.command(&[&arguments[..], READS].concat()));
    let mut component = Component::load(&component(going.node())).unwrap();
    component.kill().unwrap();
    thread::sleep(Duration::from_secs(3));
    component.start_again().unwrap();
    let output = going.output();
    until("the nodes are ready again", SOON_S, || {
        ask(&["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=1s"]).map(drop)
    });
    let record = record(&output);
    assert_whole(&record, 500.0, 15);
    // What was before and after was seen.
    for phase in ["provision_ns", "attach_ns", "mount_ns", "ready_ns", "detach_ns", "delete_ns"] {
        assert!(record["volumes"][0]["phases"][phase].is_number(), "{phase}: {}", record["volumes"][0]);
    }
    client.assert_nothing_left(&volumes(&record));
    told(&output)
}

#[test]
fn a_throttle_outlives_the_driver() {
    let space = Namespace::new("driver-restart");
    space.claim("data", "slow", "128Mi");
    space.claim("more", "slow", "128Mi");
    let seconds = if is_full() { "60s" } else { "12s" };
    let arguments = ["run", "/data", "--rw", "randread", "--queue-depth", "16", "--size", "32MiB"];
    let container = container(&[&arguments[..], &["--duration", seconds]].concat());
    space.measure("before", &[("data", "/data")], &container);
    space.wait_until_it_measures("before");
    for node in NODES {
        let mut driver = Component::load(&format!("csi-{}", node.name)).unwrap();
        driver.kill().unwrap();
        driver.start_again().unwrap();
    }
    // A new container has a new control group, which the new process has to find.
    space.measure("after", &[("more", "/data")], &container);
    for pod in ["before", "after"] {
        let rows = space.rows(pod, 3 * SOON_S);
        let rate: f64 = rows[0]["read_operations_per_second"].parse().unwrap();
        assert!((rate / 500.0 - 1.0).abs() < 0.05, "{rate}");
    }
    for node in NODES {
        until("the driver is registered again", SOON_S, || {
            let drivers = drivers(node.name)?;
            if drivers.iter().any(|driver| driver == place::DRIVER) { Ok(()) } else { Err(format!("{drivers:?}")) }
        });
    }
}

#[test]
fn attaching_that_takes_three_seconds_shows_in_its_phase_and_in_no_other() {
    for (name, binding) in [("attach-late", "WaitForFirstConsumer"), ("attach-now", "Immediate")] {
        let mut space = Namespace::new(name);
        let delayed = space.class_with(&json!({ "attachDelay": "3s" }), binding);
        let plain = space.class_with(&json!({}), binding);
        let client = Client::new(&space);
        let classes = format!("{delayed},{plain}");
        let record = client.record(&[&["--storage-class", &classes, "--duration", "1s"], READS].concat());
        let attach_s = phase_s(&record, 0, "attach_ns");
        assert!((attach_s - 3.0).abs() <= 0.3, "{attach_s}");
        // The controller attaches one volume at a time, so the other may have to wait for it: not on its own account.
        for phase in ["create_ns", "provision_ns", "bind_ns", "start_ns", "first_io_ns"] {
            assert!(phase_s(&record, 0, phase) < 2.5, "{phase}: {}", record["volumes"][0]);
        }
        for life in record["volumes"].as_array().unwrap() {
            // Only phases that both kinds of clocks tell can disagree.
            assert_eq!(life["disagreements"], json!([]), "{life}");
        }
        client.assert_nothing_left(&volumes(&record));
    }
}
