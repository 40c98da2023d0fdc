//! Tests that disturb the whole cluster. `cargo xtask e2e` runs them one after the other, when all others are done.

use std::{thread, time::Duration};

use plimsoll_e2e::{component::Component, place};

use crate::{
    client::{Client, READS, record, told, volumes},
    disturbing::assert_whole,
    kubectl::ask,
    namespace::{Namespace, SOON_S},
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
