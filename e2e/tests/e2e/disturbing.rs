//! Others disturb a run: they take its pod away, or the connection to the cluster breaks. Each ends with a record, and
//! a sentence where it is not whole.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, record, told, volumes},
    kubectl::{ask, kubectl, list, text, variable},
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
    let way = Way::open(place::SERVER);
    let config = way.config("https");
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

/// The API server without encryption, for who looks at what is said.
pub(crate) struct Plain {
    proxy: Child,
    pub(crate) address: String,
}

impl Plain {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(variable("PLIMSOLL_E2E_KUBE_ALL"));
        let mut proxy = command.args(["kubectl", "proxy", "--port=0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.trim().rsplit(' ').next().unwrap().to_owned();
        Self { proxy, address }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// Has the cluster forget what was before now.
fn forget() {
    let list: Value = serde_json::from_str(&ask(&["get", "--raw", "/api/v1/events?limit=1"]).unwrap()).unwrap();
    let body = json!({ "revision": text(&list, "/metadata/resourceVersion") }).to_string();
    let mut etcd = TcpStream::connect("127.0.0.1:2379").unwrap();
    let head = "POST /v3/kv/compaction HTTP/1.0\r\nContent-Type: application/json";
    write!(etcd, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    etcd.read_to_string(&mut answer).unwrap();
    assert!(answer.lines().next().unwrap_or_default().contains(" 200 "), "{answer}");
}

#[test]
fn a_watch_that_would_go_on_where_the_cluster_has_forgotten_begins_anew() {
    let space = Namespace::new("forgotten-events");
    let client = Client::new(&space);
    let plain = Plain::start();
    let way = Way::open(&plain.address);
    let config = way.config("http");
    let arguments = ["run", "--image", place::IMAGE, "--storage-class", "slow", "--duration", "15s", "--json"];
    let mut command = client.command(&[&arguments[..], READS].concat());
    command.env("KUBECONFIG", config.path());
    let going = client.going(command);
    // Of events no API server remembers anything itself.
    ask(&["annotate", "namespace", &space.name, "e2e.test/now=later"]).unwrap();
    forget();
    way.end_watches();
    let output = going.output();
    let record = record(&output);
    assert!(told(&output).contains("events: the watch broke off"), "{}", told(&output));
    assert!(told(&output).contains("The resourceVersion for the provided watch is too old"), "{}", told(&output));
    assert_whole(&record, 500.0, 15);
    client.assert_nothing_left(&volumes(&record));
}

/// That each second was counted, and none twice.
pub(crate) fn assert_whole(record: &Value, rate: f64, seconds: usize) {
    assert_eq!(record["outcome"], "complete");
    let cell = &record["cells"][0];
    let series = cell["series"].as_array().unwrap();
    assert!(series.len().abs_diff(seconds) <= 1, "{} seconds", series.len());
    let iops = cell.pointer("/read/iops").and_then(Value::as_f64).unwrap();
    // How exact the class is, others test alone: here something may be missing, or there twice.
    assert!((iops / rate - 1.0).abs() < 0.2, "{iops}");
}
