//! Others disturb a run: they take its pod away, or the connection to the cluster breaks. Each ends with a record, and a
//! sentence where it is not whole.

use std::{thread, time::Duration};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, record, told, volumes},
    kubectl::{ask, kubectl, list, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
    way::Way,
};

#[test]
fn a_pod_that_is_deleted_leaves_what_it_measured_and_a_sentence() {
    taken_away("deleted-pod", "somebody deleted the pod on", |space, pod| {
        ask(&["--namespace", space, "delete", "pod", pod, "--wait=false"]).unwrap();
    });
}

#[test]
fn a_pod_that_is_deleted_by_force_leaves_what_it_measured_and_a_sentence() {
    taken_away("forced-pod", "somebody deleted the pod on", |space, pod| {
        ask(&["--namespace", space, "delete", "pod", pod, "--force", "--grace-period=0"]).unwrap();
    });
}

#[test]
fn a_pod_that_is_evicted_leaves_what_it_measured_and_a_sentence() {
    taken_away("evicted-pod", "(EvictionByEvictionAPI)", |space, pod| {
        let eviction = json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": pod, "namespace": space },
        });
        let place = format!("/api/v1/namespaces/{space}/pods/{pod}/eviction");
        let output = kubectl(&["create", "--raw", &place, "--filename=-"], &eviction.to_string());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
}

/// Takes the pod of a run away while it measures.
fn taken_away(name: &str, sentence: &str, take: impl Fn(&str, &str)) {
    let space = Namespace::new(name);
    let client = Client::new(&space);
    let going = client.measuring(&["--storage-class", "slow"]);
    take(&space.name, going.pod());
    let node = going.node().to_owned();
    let output = going.output();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    let told = told(&output);
    assert!(told.contains(sentence) && told.contains(&node) && told.contains("what was measured is saved"), "{told}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(record["outcome"], "complete");
    assert!(record["cells"][0]["series"].as_array().unwrap().len() >= 2);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_connection_that_breaks_while_the_volume_is_attached_costs_that_moment_and_no_number() {
    let mut space = Namespace::new("broken-connection");
    let class = space.class(&json!({ "attachDelay": "4s", "readIops": "500" }));
    let client = Client::new(&space);
    let way = Way::open();
    let config = way.config();
    let arguments = ["run", "--image", place::IMAGE, "--storage-class", &class, "--duration", "30s", "--json"];
    let mut command = client.command(&[&arguments[..], READS].concat());
    command.env("KUBECONFIG", config.path());
    let cutting = || {
        until("the volume is about to be attached", SOON_S, || {
            let claims = list(&["--namespace", &space.name, "pvc"])?;
            let volume = claims.first().map(|claim| text(claim, "/spec/volumeName")).unwrap_or_default();
            let attachments = list(&["volumeattachments"])?;
            let is_of = |one: &Value| text(one, "/spec/source/persistentVolumeName") == volume;
            if attachments.iter().any(is_of) { Ok(()) } else { Err(format!("{attachments:?}")) }
        });
        way.cut();
        until("the pod measures", SOON_S, || {
            let pods = list(&["--namespace", &space.name, "pods"])?;
            if text(&pods[0], "/status/phase") == "Running" { Ok(()) } else { Err(format!("{pods:?}")) }
        });
        thread::sleep(Duration::from_secs(8));
        way.mend();
        thread::sleep(Duration::from_secs(10));
        // Once more while the log is followed: its lines come again from the first.
        way.cut();
        thread::sleep(Duration::from_secs(1));
        way.mend();
    };
    let output = thread::scope(|scope| {
        scope.spawn(cutting);
        command.output().unwrap()
    });
    let record = record(&output);
    assert!(told(&output).contains("the watch broke off and began anew"), "{}", told(&output));
    assert_whole(&record, 500.0, 30);
    let life = &record["volumes"][0];
    for phase in ["attach_ns", "start_ns", "ready_ns"] {
        assert_eq!(life["phases"][phase], Value::Null, "{phase}: {life}");
    }
    let moments = life["moments"].as_array().unwrap();
    let attached = moments.iter().find(|moment| moment["what"] == "attached").unwrap();
    assert_eq!(attached["seen_ns"], Value::Null, "that it is attached was found, not seen: {life}");
    for phase in ["create_ns", "provision_ns", "first_io_ns", "detach_ns", "delete_ns"] {
        assert!(life["phases"][phase].is_number(), "{phase}: {life}");
    }
    client.assert_nothing_left(&volumes(&record));
}

/// That each second was counted, and none twice.
pub(crate) fn assert_whole(record: &Value, rate: f64, seconds: usize) {
    assert_eq!(record["outcome"], "complete");
    let cell = &record["cells"][0];
    let series = cell["series"].as_array().unwrap();
    assert!(series.len().abs_diff(seconds) <= 1, "{} seconds", series.len());
    let iops = cell.pointer("/read/iops").and_then(Value::as_f64).unwrap();
    assert!((iops / rate - 1.0).abs() < 0.05, "{iops}");
}
