//! What is said of clusters that are not there, or that nobody can ask.

use std::fs;

use crate::support::Place;

const NOBODY: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {token: hidden}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";

#[test]
fn a_cluster_that_does_not_answer_ends_with_its_own_code() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY).unwrap();
    for command in ["discover", "preflight", "preflight --storage-class a --json"] {
        let said = place.run(&format!("kubernetes {command} --kubeconfig ROOT/config"));
        let error = said.error(6);
        assert!(error.contains("127.0.0.1:1") && error.contains("does not answer"), "{error}");
    }
}

#[test]
fn what_is_wrong_with_a_kubeconfig_is_said_without_its_secrets() {
    let place = Place::new();
    fs::write(place.path("config"), NOBODY.replace("{name: c,", "{name: \"c\"c,")).unwrap();
    let said = place.run("kubernetes discover --kubeconfig ROOT/config");
    let error = said.error(2);
    assert!(error.contains("config") && error.contains("line 4"), "{error}");
    assert!(!said.stderr.contains("hidden"), "{}", said.stderr);
}

#[test]
fn preflight_takes_the_flags_of_a_run_and_refuses_what_it_would() {
    let place = Place::new();
    let said = place.run("kubernetes preflight --storage-class a,a");
    assert!(said.error(2).contains("given twice"), "{}", said.stderr);
}
