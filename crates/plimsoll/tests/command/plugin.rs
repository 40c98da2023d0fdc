//! The program under the name by which kubectl finds its plugins.

use std::{fs, os::unix::fs::symlink, process::Command};

use serde_json::{Value, json};

use crate::{
    images::registry::Server,
    support::{Place, Said},
};

const CLUSTERS: &str = "
apiVersion: v1
kind: Config
clusters:
- {name: one, cluster: {server: 'http://127.0.0.1:1'}}
- {name: two, cluster: {server: 'http://127.0.0.1:2'}}
users: [{name: u, user: {token: hidden}}]
contexts:
- {name: first, context: {cluster: one, user: u, namespace: mine}}
- {name: second, context: {cluster: two, user: u}}
current-context: first
";

/// A place with the plugin and a file of clusters, none of which is there.
fn place() -> Place {
    let place = Place::new();
    symlink(env!("CARGO_BIN_EXE_plimsoll"), place.path("kubectl-plimsoll")).unwrap();
    fs::write(place.path("config"), CLUSTERS).unwrap();
    place
}

fn plugin(place: &Place, arguments: &str) -> Said {
    let mut command = Command::new(place.path("kubectl-plimsoll"));
    command.args(arguments.split_whitespace()).env_clear().env("HOME", place.path("")).current_dir(place.path(""));
    Said::of(command.output().unwrap())
}

#[test]
fn the_plugin_does_what_plimsoll_kubernetes_does() {
    let place = place();
    let arguments = "run --storage-class a --size 4Gi --rw randread --region 1Gi --seed 7 --dry-run";
    let (ours, theirs) = (place.run(&format!("kubernetes {arguments}")), plugin(&place, arguments));
    assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{}", theirs.stderr);
    // Two runs have two identities.
    let text = |said: &Said| {
        let run = said.stdout.split("plimsoll/run: ").nth(1).unwrap_or_default().lines().next().unwrap_or_default();
        said.stdout.replace(run, "RUN").replace(&run[run.len().saturating_sub(12)..], "RUN")
    };
    assert!(theirs.stdout.contains("kind: Job"), "{}", theirs.stdout);
    assert_eq!(text(&theirs), text(&ours));
    assert_eq!(plugin(&place, "--version").stdout, place.run("--version").stdout);
}

#[test]
fn help_says_what_to_type() {
    let place = place();
    let help = plugin(&place, "--help").stdout;
    assert!(help.contains("Usage: kubectl plimsoll ") && !help.contains("kubernetes discover"), "{help}");
    for command in ["run", "discover", "preflight", "status", "collect", "cleanup", "image"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is not in {help}");
    }
    let help = plugin(&place, "run --help").stdout;
    assert!(help.contains("Usage: kubectl plimsoll run "), "{help}");
    let wrong = plugin(&place, "run --no-such-flag");
    assert!(wrong.code == Some(2) && wrong.stderr.contains("Usage: kubectl plimsoll run"), "{}", wrong.stderr);
}

#[test]
fn flags_about_the_cluster_stand_before_the_command_and_behind_it() {
    let place = place();
    for (arguments, port) in [
        ("--kubeconfig config status", 1),
        ("status --kubeconfig config", 1),
        ("--kubeconfig config --context second status -n x", 2),
        ("--kubeconfig=config status --context=second", 2),
        ("--kubeconfig config --context first discover --context second", 2),
    ] {
        for said in [plugin(&place, arguments), place.run(&format!("kubernetes {arguments}"))] {
            assert!(said.error(6).contains(&format!("127.0.0.1:{port}")), "{arguments}: {}", said.stderr);
        }
    }
}

#[test]
fn the_namespace_is_that_of_the_flag_wherever_it_stands_and_else_the_contexts() {
    let place = place();
    let server = Server::start(|request| {
        let answer = |status: &str, body: &Value| {
            let body = body.to_string();
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        };
        if request.starts_with("GET /version ") {
            let parts = ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"];
            let mut version: Value = parts.into_iter().map(|part| (part.to_owned(), Value::from(""))).collect();
            (version["major"], version["minor"], version["gitVersion"]) = ("1".into(), "34".into(), "v1.34.0".into());
            answer("200 OK", &version)
        } else if request.starts_with("GET /apis ") {
            answer("200 OK", &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}))
        } else {
            answer("403 Forbidden", &json!({}))
        }
    });
    fs::write(place.path("config"), CLUSTERS.replace("127.0.0.1:1", &server.address)).unwrap();
    for (arguments, namespace) in [
        ("status", "mine"),
        ("-n bench status", "bench"),
        ("status --namespace bench", "bench"),
        ("-n other status -n=bench", "bench"),
    ] {
        server.requests.lock().unwrap().clear();
        plugin(&place, &format!("--kubeconfig config {arguments}")).error(6);
        let asked = server.requests.lock().unwrap().join("");
        assert!(asked.contains(&format!("/namespaces/{namespace}/jobs")), "{arguments}: {asked}");
    }
}
