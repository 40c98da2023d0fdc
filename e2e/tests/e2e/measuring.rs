//! `plimsoll kubernetes run` and what follows it: one command from a claim to the last byte, and nothing left behind.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, assert_no_stray_files, record, told, volumes},
    kubectl::{apply, is_full, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

pub(crate) fn phase_s(record: &Value, index: usize, phase: &str) -> f64 {
    let ns = record["volumes"][index]["phases"][phase].as_f64();
    ns.unwrap_or_else(|| panic!("{phase} was not seen: {}", record["volumes"][index])) / 1e9
}

fn read_iops(record: &Value, target: &str) -> f64 {
    let cells = record["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["target"] == target).unwrap();
    cell.pointer("/read/iops").and_then(Value::as_f64).unwrap()
}

fn assert_near(rate: f64, cap: f64, share: f64) {
    assert!((rate / cap - 1.0).abs() <= share, "{rate} is not {cap}");
}

#[test]
fn one_command_compares_three_classes_and_leaves_nothing() {
    let space = Namespace::new("compare-classes");
    let client = Client::new(&space);
    let plan = client.history.path().join("plan.toml");
    let limits = client.history.path().join("limits.toml");
    fs::write(
        &limits,
        "[[disk]]\nname = \"silver\"\nlimit = \"iops=500\"\nsource = \"the class\"\n\
         [[disk]]\nname = \"gold\"\nlimit = \"iops=5000\"\nsource = \"the class\"\n",
    )
    .unwrap();
    fs::write(
        &plan,
        "[provisioned.targets.slow]\nsku = \"silver\"\n[provisioned.targets.fast]\nsku = \"gold\"\n\
         [[workload]]\nrw = \"randread\"\nqueue_depth = 16\nsize = \"64MiB\"\n",
    )
    .unwrap();
    let (plan, limits) = (plan.to_str().unwrap(), limits.to_str().unwrap());
    // Whether rates of volumes that take turns last, and so hit what was bought, is known after ten minutes.
    let (time, verdict, hit) = if is_full() { ("30m", "steady", "disk") } else { ("4m", "short", "unknown") };
    let classes = ["--storage-class", "slow,fast,free", "--size", "128Mi"];
    let record = client.record(&[&classes[..], &["--plan", plan, "--limits", limits, "--max-time", time]].concat());
    for (target, cap) in [("slow", 500.0), ("fast", 5000.0)] {
        assert_near(read_iops(&record, target), cap, 0.02);
        let cell = record["cells"].as_array().unwrap().iter().find(|cell| cell["target"] == target).unwrap();
        assert_eq!(cell.pointer("/limit/iops").and_then(Value::as_f64), Some(cap));
        // Whoever shares the processors can be in the way, which is then said.
        if cell["verdict"] != "client-limited" {
            assert_eq!(cell["verdict"], verdict, "{target}: {}", cell["findings"]);
            assert_eq!(cell.pointer("/limit/hit").and_then(Value::as_str), Some(hit), "{target}");
        }
    }
    assert!(read_iops(&record, "free") > 5500.0);
    let names: Vec<_> = record["volumes"].as_array().unwrap().iter().map(|life| text(life, "/target")).collect();
    assert_eq!(names, ["slow", "fast", "free"]);
    for index in 0..3 {
        let phases = ["create_ns", "provision_ns", "bind_ns", "schedule_ns", "attach_ns", "mount_ns", "start_ns"];
        let rest = ["first_io_ns", "ready_ns", "detach_ns", "delete_ns"];
        for phase in phases.iter().chain(&rest) {
            assert!(phase_s(&record, index, phase) < 60.0);
        }
        let ready_s = phase_s(&record, index, "ready_ns");
        assert!(phase_s(&record, index, "attach_ns") + phase_s(&record, index, "mount_ns") < ready_s);
    }
    // One pod had all of them.
    assert_eq!(record.pointer("/environment/cluster/nodes").and_then(Value::as_array).unwrap().len(), 1);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_volume_that_does_what_was_bought_is_steady_at_its_limit() {
    let space = Namespace::new("steady-limit");
    let client = Client::new(&space);
    let limits = client.history.path().join("limits.toml");
    fs::write(&limits, "[[disk]]\nname = \"silver\"\nlimit = \"iops=500\"\nsource = \"the class\"\n").unwrap();
    let bought =
        ["--storage-class", "slow", "--sku", "silver", "--limits", limits.to_str().unwrap(), "--max-time", "4m"];
    // Whoever shares the processors can make any one run uneven, which is then said of it: one of three has to be even.
    let mut records = (0..3).map(|_| client.record(&[&bought[..], READS].concat()));
    let record = records.find(|record| record["cells"][0]["verdict"] == "steady").unwrap();
    assert_near(read_iops(&record, "slow"), 500.0, 0.02);
    let cell = &record["cells"][0];
    assert_eq!(cell.pointer("/limit/iops").and_then(Value::as_f64), Some(500.0));
    assert_eq!(cell.pointer("/limit/hit").and_then(Value::as_str), Some("disk"));
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_device_is_measured_as_root_and_refused_with_advice_otherwise() {
    let space = Namespace::new("block-mode");
    let client = Client::new(&space);
    let arguments = ["--storage-class", "slow", "--size", "64Mi", "--mode", "block", "--rw", "randwrite"];
    let arguments = [&arguments[..], &["--queue-depth", "16", "--duration", "5s"]].concat();
    let refused = client.run(&arguments);
    assert_eq!(refused.status.code(), Some(3), "{}", told(&refused));
    assert!(told(&refused).contains("--run-as-root"), "{}", told(&refused));
    let record = client.record(&[&arguments[..], &["--run-as-root"]].concat());
    let rate = record.pointer("/cells/0/write/iops").and_then(Value::as_f64).unwrap();
    assert_near(rate, 500.0, 0.02);
    assert_eq!(record.pointer("/environment/targets/0/kind").and_then(Value::as_str), Some("device"));
    client.assert_nothing_left(&volumes(&record));
}

/// The Role of docs/kubernetes.md, and nothing else, in a namespace that enforces `restricted`.
#[test]
fn the_documented_role_is_enough_where_pods_are_restricted() {
    let space = Namespace::new("restricted-namespace");
    apply(&json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": space.name, "labels": { "pod-security.kubernetes.io/enforce": "restricted" },
        },
    }));
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubernetes.md")).unwrap();
    let role = document.split("```yaml").nth(1).unwrap().split("```").next().unwrap();
    space.apply_text(role);
    let (client, config) = (Client::new(&space), space.config_of_account("default"));
    space.bind("default", "plimsoll");
    let profile = "Localhost:deny-io-uring.json";
    let mut command = client.command(&["run", "--image", place::IMAGE, "--storage-class", "slow", "--json"]);
    command.args(READS).args(["--duration", "5s", "--seccomp", profile]).env("KUBECONFIG", config.path());
    let output = command.output().unwrap();
    let record = record(&output);
    assert_near(read_iops(&record, "slow"), 500.0, 0.02);
    let cell = &record["cells"][0];
    assert_eq!(cell["engine"], "libaio", "{}", cell["engine_reason"]);
    assert!(text(cell, "/engine_reason").contains("io_uring"), "{}", cell["engine_reason"]);
    // What such a user may not look at is said, and not made up.
    assert!(told(&output).contains("volumeattachments may not be watched"), "{}", told(&output));
    assert_eq!(record["volumes"][0]["phases"]["detach_ns"], Value::Null);
    assert!(phase_s(&record, 0, "attach_ns") > 0.0);
    space.wait_until_volumes_are_gone();
    client.assert_nothing_left(&[]);
}

#[test]
fn what_a_killed_client_leaves_is_removed_by_cleanup() {
    let space = Namespace::new("killed-client");
    let client = Client::new(&space);
    // Moments of a run that takes eight seconds until it measures, in an order that repeats.
    let moments = if is_full() { 30 } else { 4 };
    for index in 0..moments {
        let arguments = ["run", "--image", place::IMAGE, "--storage-class", "loop,slow", "--duration", "20s"];
        let mut child = client.command(&[&arguments[..], READS].concat()).spawn().unwrap();
        thread::sleep(Duration::from_millis(index * 7919 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = client.command(&["cleanup", "--all"]).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        client.assert_nothing_left(&[]);
    }
    assert_no_stray_files();
}

#[test]
fn a_run_that_was_left_alone_is_the_same_for_everyone_who_collects_it() {
    let space = Namespace::new("left-alone");
    let (first, second) = (Client::new(&space), Client::new(&space));
    let output = first.run(&[&["--storage-class", "slow", "--detach", "--duration", "5s"], READS].concat());
    assert!(output.status.success(), "{}", told(&output));
    let id = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let status = second.command(&["status", "--json"]).output().unwrap();
    let runs: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((text(&runs, "/0/id"), text(&runs, "/0/state")), (id.as_str(), "running"));
    let collect = |client: &Client<'_>, more: &[&str]| {
        record(&client.command(&[&["collect", &id, "--json"], more].concat()).output().unwrap())
    };
    let there = [collect(&first, &["--leave"]), collect(&second, &["--leave"])];
    // Kubernetes has it in short, with or without the log.
    let short = until("the run is done", SOON_S, || {
        let status = first.command(&["status", "--json"]).output().unwrap();
        let runs: Value = serde_json::from_slice(&status.stdout).unwrap();
        if text(&runs, "/0/state") == "done" { Ok(runs[0]["summary"].clone()) } else { Err(runs.to_string()) }
    });
    assert_eq!(short.pointer("/cells/0/read/iops"), there[0].pointer("/cells/0/read/iops"));
    assert_eq!(there[0], there[1]);
    assert_near(read_iops(&there[0], "slow"), 500.0, 0.02);
    // Whoever takes it away has the same numbers.
    let last = collect(&second, &[]);
    assert_eq!(last["cells"], there[0]["cells"]);
    second.assert_nothing_left(&volumes(&last));
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_leaves_nothing() {
    let space = Namespace::new("interrupted-run");
    let client = Client::new(&space);
    let going = client.measuring(&["--storage-class", "slow"]);
    going.interrupt();
    let output = going.output();
    assert_eq!(output.status.code(), Some(130), "{}", told(&output));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["outcome"], "interrupted");
    assert!(record["cells"][0]["series"].as_array().unwrap().len() >= 2);
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_class_that_is_not_there_is_refused_with_those_that_are() {
    let space = Namespace::new("no-class");
    let output = Client::new(&space).run(&[&["--storage-class", "slwo"], READS].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("no StorageClass slwo") && told(&output).contains("slow"), "{}", told(&output));
}

#[test]
fn a_quota_that_is_too_small_is_told_at_once() {
    let space = Namespace::new("quota-exceeded");
    let client = Client::new(&space);
    apply(&json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "small", "namespace": space.name },
        "spec": { "hard": { "limits.memory": "512Mi" } },
    }));
    until("the quota holds", SOON_S, || {
        let quota = space.get("resourcequota", "small")?;
        if quota["status"]["hard"].is_object() { Ok(()) } else { Err(quota.to_string()) }
    });
    let started = Instant::now();
    let output = client.run(&[&["--storage-class", "slow"], READS].concat());
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(told(&output).contains("exceeded quota: small") && told(&output).contains("--memory"), "{}", told(&output));
    assert!(started.elapsed() < Duration::from_secs(SOON_S));
    client.assert_nothing_left(&[]);
}

#[test]
fn provisioning_that_fails_three_times_is_counted_and_the_run_goes_well() {
    let mut space = Namespace::new("provisioning-retries");
    let class = space.class(&json!({ "provisionFailures": "3", "readIops": "500" }));
    let client = Client::new(&space);
    let record = client.record(&[&["--storage-class", &class, "--duration", "5s"], READS].concat());
    assert_near(read_iops(&record, &class), 500.0, 0.02);
    let failures = record["volumes"][0]["failures"].as_array().unwrap();
    let failed: i64 = failures
        .iter()
        .filter(|failure| failure["reason"] == "ProvisioningFailed")
        .map(|failure| failure["count"].as_i64().unwrap())
        .sum();
    assert_eq!(failed, 3, "{failures:?}");
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_claim_that_another_node_has_is_told_as_that() {
    let space = Namespace::new("claim-in-use");
    let client = Client::new(&space);
    space.claim("data", "loop-wffc", "128Mi");
    space.holder("holder", "data", Some("node1"));
    space.wait_for_phase("pod", "holder", "Running", SOON_S);
    let arguments = ["--pvc", "data", "--node", "node2", "--start-timeout", "20s", "--rw", "randread"];
    let output = client.run(&arguments);
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(told(&output).contains("Multi-Attach"), "{}", told(&output));
    // Where it is, it can be measured beside the other pod, and stays.
    let arguments = ["--pvc", "data", "--fs-group", "10001", "--node", "node1", "--rw", "randread"];
    let record = client.record(&[&arguments[..], &["--region", "32MiB", "--duration", "2s"]].concat());
    assert!(read_iops(&record, "data") > 0.0);
    assert_eq!(text(&space.get("pvc", "data").unwrap(), "/status/phase"), "Bound");
}

#[test]
fn a_pod_that_needs_more_memory_than_it_may_have_is_told_as_that() {
    let space = Namespace::new("out-of-memory");
    let client = Client::new(&space);
    let arguments = ["--storage-class", "free", "--size", "512Mi", "--rw", "randread", "--region", "256MiB"];
    let hungry = ["--block-size", "4MiB", "--queue-depth", "32", "--duration", "5s", "--memory", "64Mi"];
    let output = client.run(&[&arguments[..], &hungry].concat());
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(told(&output).contains("OOMKilled") && told(&output).contains("--memory"), "{}", told(&output));
    client.assert_nothing_left(&[]);
}
