//! What stays in the cluster when a run is over is said, with what holds it.

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    client::{Client, READS, told, volumes},
    kubectl::{ask, list, text},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

#[test]
fn a_volume_that_its_class_retains_is_named_with_the_storage_behind_it() {
    let mut space = Namespace::new("retained-volume");
    let class = space.retaining_class();
    let client = Client::new(&space);
    let output = client.run(&[&["--storage-class", &class, "--duration", "2s", "--json"], READS].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    let volume = volumes(&record)[0];
    let handle = text(&record, "/environment/cluster/volumes/0/handle");
    let sentence = format!("volume {volume} stays, because its class retains volumes: remove it and the storage");
    assert!(told(&output).contains(&sentence) && told(&output).contains(handle), "{}", told(&output));
    // All else is gone, and what was said is true.
    assert_eq!(list(&["--namespace", &space.name, "jobs,pods,pvc"]).unwrap(), Vec::<Value>::new());
    assert!(place::volumes().join(format!("{volume}.img")).exists());
    let delete = r#"{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}"#;
    ask(&["patch", "pv", volume, "--patch", delete]).unwrap();
    until("the volume is gone", SOON_S, || {
        let there = list(&["pv"])?;
        if there.iter().all(|pv| text(pv, "/metadata/name") != volume) { Ok(()) } else { Err(volume.to_owned()) }
    });
    client.assert_nothing_left(&[volume]);
}

/// Keeps a claim or a volume from going, until it is dropped.
struct Hold<'a> {
    space: &'a Namespace,
    kind: &'a str,
    name: &'a str,
}

impl<'a> Hold<'a> {
    const FINALIZER: &'static str = "e2e.test/hold";

    fn on(space: &'a Namespace, kind: &'a str, name: &'a str) -> Self {
        let mut finalizers = space.get(kind, name).unwrap()["metadata"]["finalizers"].clone();
        finalizers.as_array_mut().unwrap().push(json!(Self::FINALIZER));
        space.patch(kind, name, &json!({ "metadata": { "finalizers": finalizers } })).unwrap();
        Self { space, kind, name }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let finalizers = json!({ "metadata": { "finalizers": null } });
        if let Err(error) = self.space.patch(self.kind, self.name, &finalizers) {
            eprintln!("{error}");
        }
    }
}

#[test]
fn a_claim_that_a_finalizer_holds_is_reported_until_nobody_holds_it() {
    let space = Namespace::new("held-claim");
    let client = Client::new(&space);
    let arguments = ["run", "--storage-class", "loop", "--duration", "15s", "--cleanup-timeout", "10s", "--json"];
    let going = client.going(client.command(&[&arguments[..], &["--image", place::IMAGE], READS].concat()));
    let claims = list(&["--namespace", &space.name, "pvc"]).unwrap();
    let (claim, volume) = (text(&claims[0], "/metadata/name"), text(&claims[0], "/spec/volumeName"));
    let hold = Hold::on(&space, "pvc", claim);
    let output = going.output();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    let held = format!("claim {claim} is still there, held by {}", Hold::FINALIZER);
    assert!(told(&output).contains(&held), "{}", told(&output));
    // What was measured is whole all the same.
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["outcome"], "complete");
    let cleanup = |run: &str| client.command(&["cleanup", run, "--cleanup-timeout", "3s"]).output().unwrap();
    let still = cleanup("--all");
    assert_eq!(still.status.code(), Some(6), "{}", told(&still));
    assert!(told(&still).contains(&held), "{}", told(&still));
    drop(hold);
    let gone = client.command(&["cleanup", "--all"]).output().unwrap();
    assert!(gone.status.success(), "{}", told(&gone));
    until("the volume goes with its claim", SOON_S, || {
        let there = list(&["pv"])?;
        if there.iter().all(|pv| text(pv, "/metadata/name") != volume) { Ok(()) } else { Err(volume.to_owned()) }
    });
    client.assert_nothing_left(&[volume]);
}

#[test]
fn a_volume_that_is_held_when_its_claim_is_gone_is_not_forgotten() {
    let space = Namespace::new("held-volume");
    let client = Client::new(&space);
    let arguments = ["run", "--storage-class", "loop", "--duration", "15s", "--cleanup-timeout", "10s"];
    let going = client.going(client.command(&[&arguments[..], &["--image", place::IMAGE], READS].concat()));
    let claims = list(&["--namespace", &space.name, "pvc"]).unwrap();
    let volume = text(&claims[0], "/spec/volumeName");
    let hold = Hold::on(&space, "pv", volume);
    let output = going.output();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert_eq!(list(&["--namespace", &space.name, "jobs,pods,pvc"]).unwrap(), Vec::<Value>::new());
    let still = client.command(&["cleanup", "--all", "--cleanup-timeout", "3s"]).output().unwrap();
    assert_eq!(still.status.code(), Some(6), "{}", told(&still));
    assert!(told(&still).contains(volume) && told(&still).contains(Hold::FINALIZER), "{}", told(&still));
    drop(hold);
    let gone = client.command(&["cleanup", "--all"]).output().unwrap();
    assert!(gone.status.success(), "{}", told(&gone));
    client.assert_nothing_left(&[volume]);
}

#[test]
fn what_somebody_created_from_a_dry_run_is_removed_by_cleanup() {
    let space = Namespace::new("applied-by-hand");
    let client = Client::new(&space);
    let run = ["run", "--image", place::IMAGE, "--storage-class", "loop", "--nodes", "2", "--dry-run"];
    let printed = client.command(&[&run[..], READS].concat()).output().unwrap();
    assert!(printed.status.success(), "{}", told(&printed));
    space.apply_text(&String::from_utf8(printed.stdout).unwrap());
    assert_eq!(list(&["--namespace", &space.name, "roles"]).unwrap().len(), 1);
    let gone = client.command(&["cleanup", "--all"]).output().unwrap();
    assert!(gone.status.success(), "{}", told(&gone));
    client.assert_nothing_left(&[]);
}
