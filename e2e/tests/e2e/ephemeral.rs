//! Volumes that the cluster makes and removes with their pods.

use std::fs;

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, record, told, volumes},
    kubectl::{apply, ask, text},
    namespace::Namespace,
};

/// The rules of docs/kubernetes.md without those that make and remove claims; those of the cluster by a name that
/// belongs to the test.
fn give_rights(space: &Namespace, of_cluster: &str) {
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kubernetes.md")).unwrap();
    let rules: Vec<_> =
        document.split("```yaml").skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect();
    let all = "verbs: [create, get, list, watch, delete]}";
    assert!(rules[0].contains(&format!("[persistentvolumeclaims], {all}")));
    space.apply_text(&rules[0].replace(all, "verbs: [get, list, watch]}"));
    space.bind("default", "plimsoll");
    space.apply_text(&rules[2].replace("{name: plimsoll}", &format!("{{name: {of_cluster}}}")));
    apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": { "name": of_cluster },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": of_cluster },
        "subjects": [{ "kind": "ServiceAccount", "name": "default", "namespace": space.name }],
    }));
}

#[test]
fn who_may_not_create_claims_measures_volumes_that_go_with_their_pods() {
    let space = Namespace::new("ephemeral");
    let (client, config) = (Client::new(&space), space.config_of_account("default"));
    give_rights(&space, "plimsoll-ephemeral");
    let by_account = |arguments: &[&str]| {
        client
            .command(&[arguments, &["--image", place::IMAGE]].concat())
            .env("KUBECONFIG", config.path())
            .output()
            .unwrap()
    };
    let classes = ["--storage-class", "slow,loop-wffc", "--size", "128Mi"];
    let preflight = |more: &[&str]| {
        let mut command = crate::kubectl::plimsoll(&["kubernetes", "preflight", "--image", place::IMAGE]);
        command.args(["--namespace", &space.name]).args(classes).args(more).env("KUBECONFIG", config.path());
        command.output().unwrap()
    };
    let (without, with) = (preflight(&[]), preflight(&["--ephemeral"]));
    let arguments = ["run", "--ephemeral", "--duration", "3s", "--json", "--rw", "randread", "--region", "32MiB"];
    let output = by_account(&[&arguments[..], &classes].concat());
    let _ = ask(&["delete", "clusterrole,clusterrolebinding", "plimsoll-ephemeral"]);

    assert_eq!((without.status.code(), with.status.code()), (Some(1), Some(0)), "{}", told(&with));
    let record = record(&output);
    let lives = record["volumes"].as_array().unwrap();
    assert_eq!(lives.len(), 2);
    for (index, life) in lives.iter().enumerate() {
        assert!(text(life, "/claim").ends_with(&format!("-volume-{index}")), "{life}");
        for (phase, ns) in life["phases"].as_object().unwrap() {
            assert!(ns.is_u64(), "{phase} was not seen: {life}");
        }
    }
    client.assert_nothing_left(&volumes(&record));
}

#[test]
fn a_run_of_several_pods_whose_volumes_go_with_them_is_collected_later() {
    let space = Namespace::new("ephemeral-several");
    let client = Client::new(&space);
    let started =
        client.run(&[&["--storage-class", "slow", "--ephemeral", "--nodes", "2", "--detach"], READS].concat());
    assert!(started.status.success(), "{}", told(&started));
    let id = String::from_utf8(started.stdout).unwrap();
    let collected = record(&Client::new(&space).command(&["collect", id.trim(), "--json"]).output().unwrap());
    let lives = collected["volumes"].as_array().unwrap();
    // Who comes late knows what events tell.
    let is_told = |life: &Value| life["volume"].is_string() && life["phases_by_events"]["provision_ns"].is_u64();
    assert!(lives.len() == 2 && lives.iter().all(is_told), "{lives:?}");
    assert_eq!(collected.pointer("/pods/pods").and_then(Value::as_array).unwrap().len(), 2);
    client.assert_nothing_left(&volumes(&collected));
}
