//! What a namespace puts on pods that did not ask for it.

use serde_json::json;

use crate::{
    client::{Client, READS, record, told, volumes},
    kubectl::apply,
    namespace::Namespace,
};

#[test]
fn a_limit_of_processors_that_nobody_asked_for_is_told_and_recorded() {
    let space = Namespace::new("limit-range");
    let client = Client::new(&space);
    apply(&json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": { "name": "usual", "namespace": space.name },
        "spec": { "limits": [{ "type": "Container", "default": { "cpu": "1500m" } }] },
    }));
    let measured = |more: &[&str]| {
        let output = client.run(&[&["--storage-class", "slow", "--duration", "2s", "--json"], READS, more].concat());
        (record(&output), told(&output))
    };
    let about_limits = "a LimitRange of the namespace limits the pod to 1500m CPU";
    let (record, said) = measured(&[]);
    assert!(said.contains(about_limits), "{said}");
    let warnings = record["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|one| one.as_str().unwrap().starts_with(about_limits)), "{warnings:?}");
    client.assert_nothing_left(&volumes(&record));
    // Who chooses a limit has it, and needs no warning.
    let (record, said) = measured(&["--cpu-limit", "2"]);
    assert!(!said.contains("limits the pod"), "{said}");
    client.assert_nothing_left(&volumes(&record));
}
