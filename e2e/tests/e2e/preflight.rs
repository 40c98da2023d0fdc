//! What `plimsoll kubernetes preflight` and `discover` say of the cluster, and that they leave it as it is.

use std::process::{Command, Output};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    kubectl::{apply, ask, kubectl, list, plimsoll, text},
    namespace::Namespace,
};

/// `plimsoll kubernetes` in a namespace, with the image that is on the nodes where it matters.
fn command(space: &Namespace, arguments: &[&str]) -> Command {
    let mut command = plimsoll(&["kubernetes"]);
    command.args(arguments);
    if arguments[0] == "preflight" {
        command.args(["--image", place::IMAGE]);
    }
    command.args(["--namespace", &space.name]);
    command
}

fn answer(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// What fails, in one text.
fn failures(answer: &Value) -> String {
    let checks = answer["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "fails");
    checks.map(|check| format!("{}: {}\n", text(check, "/about"), text(check, "/text"))).collect()
}

#[test]
fn preflight_says_that_a_run_would_work_and_makes_nothing() {
    let space = Namespace::new("preflight-works");
    let output =
        command(&space, &["preflight", "--storage-class", "loop", "--size", "64Mi", "--json"]).output().unwrap();
    let answer = answer(&output);
    assert_eq!((output.status.code(), &answer["would_work"]), (Some(0), &json!(true)), "{}", failures(&answer));
    let admitted = answer["checks"].as_array().unwrap().iter().filter(|check| check["about"] == "dry run");
    assert_eq!(admitted.count(), 3, "the Job, its pod and the claim were tried: {}", answer["checks"]);
    assert_eq!(list(&["--namespace", &space.name, "jobs,pods,persistentvolumeclaims"]).unwrap(), Vec::<Value>::new());
}

#[test]
fn the_rules_that_preflight_prints_are_what_is_missing() {
    let space = Namespace::new("preflight-rights");
    let config = space.config_of_account("default");
    let preflight = |more: &[&str]| {
        let arguments = [&["preflight", "--storage-class", "loop", "--size", "64Mi"], more].concat();
        command(&space, &arguments).env("KUBECONFIG", config.path()).output().unwrap()
    };
    let before = preflight(&["--rules"]);
    assert_eq!(before.status.code(), Some(1));
    let rules = String::from_utf8_lossy(&before.stdout).into_owned();
    let reconciled = kubectl(&["auth", "reconcile", "--filename=-"], &rules);
    assert!(reconciled.status.success(), "{}\n{rules}", String::from_utf8_lossy(&reconciled.stderr));
    let after = preflight(&["--json"]);
    // They are of the cluster, and stay when the namespace goes.
    let _ = ask(&["delete", "clusterrole,clusterrolebinding", &format!("plimsoll-{}", space.name)]);
    let answer = answer(&after);
    assert_eq!(after.status.code(), Some(0), "{}", failures(&answer));
    assert_eq!(answer["rules"], "");
}

#[test]
fn preflight_says_by_how_much_a_quota_is_too_small() {
    let space = Namespace::new("preflight-quota");
    apply(&json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": { "name": "small", "namespace": space.name },
        "spec": { "hard": { "requests.storage": "100Mi" } },
    }));
    let arguments = ["preflight", "--storage-class", "loop,free", "--size", "64Mi", "--json"];
    let output = command(&space, &arguments).output().unwrap();
    let failures = failures(&answer(&output));
    assert_eq!(output.status.code(), Some(1));
    assert!(failures.contains("a run takes 128Mi, 28Mi too much"), "{failures}");
}

#[test]
fn discover_lists_what_may_be_seen_and_names_the_rest() {
    let space = Namespace::new("discover");
    let found = answer(&command(&space, &["discover", "--json"]).output().unwrap());
    let classes = found["storage_classes"].as_array().unwrap();
    assert!(classes.iter().any(|class| class["name"] == "loop" && class["provisioner"] == place::DRIVER));
    assert_eq!(text(&found, "/nodes/0/drivers/0/name"), place::DRIVER);
    let config = space.config_of_account("default");
    let output = command(&space, &["discover", "--json"]).env("KUBECONFIG", config.path()).output().unwrap();
    let blind = answer(&output);
    assert_eq!((output.status.code(), &blind["storage_classes"]), (Some(0), &Value::Null));
    let unseen = blind["unseen"].as_array().unwrap();
    assert!(unseen.iter().any(|one| one["what"] == "storageclasses" && one["why"] == "denied"), "{unseen:?}");
}
