//! What cannot fit into a volume is refused where that is known first: by the client, or by the program in the pod.

use serde_json::{Value, json};

use crate::{
    client::{Client, told},
    kubectl::{list, text},
    namespace::{Namespace, SOON_S},
};

/// What anybody has made in a namespace, or had made: events outlive it by an hour.
fn events(space: &Namespace) -> Vec<String> {
    let reason = |event: &Value| format!("{}: {}", text(event, "/reason"), text(event, "/message"));
    list(&["--namespace", &space.name, "events"]).unwrap().iter().map(reason).collect()
}

#[test]
fn a_region_that_is_larger_than_the_volume_is_refused_and_nothing_is_made() {
    let space = Namespace::new("larger-region");
    let client = Client::new(&space);
    for mode in ["filesystem", "block"] {
        let volume = ["--storage-class", "free", "--size", "64Mi", "--mode", mode];
        let refused = client.run(&[&volume[..], &["--rw", "randread", "--region", "65MiB"]].concat());
        assert_eq!(refused.status.code(), Some(3), "{}", told(&refused));
        assert!(told(&refused).contains("lower --region"), "{}", told(&refused));
    }
    client.assert_nothing_left(&[]);
    let events = events(&space);
    assert!(events.is_empty(), "{events:?}");
}

#[test]
fn the_device_of_a_claim_is_as_large_as_the_claim_says() {
    let space = Namespace::new("device-of-claim");
    let client = Client::new(&space);
    space.claim_with("disk", "loop", "64Mi", &json!({ "accessModes": ["ReadWriteOnce"], "volumeMode": "Block" }));
    space.wait_for_phase("pvc", "disk", "Bound", SOON_S);
    let arguments = ["--pvc", "disk", "--mode", "block", "--rw", "randread", "--region", "65MiB"];
    let refused = client.run(&arguments);
    assert_eq!(refused.status.code(), Some(3), "{}", told(&refused));
    assert!(
        told(&refused).contains("it has 64MiB but offset and size need 65MiB: lower --region"),
        "{}",
        told(&refused)
    );
    let writes = client.run(&["--pvc", "disk", "--mode", "block", "--rw", "randwrite", "--region", "32MiB"]);
    assert_eq!(writes.status.code(), Some(3), "{}", told(&writes));
    assert!(
        told(&writes).contains("nothing permits that") && told(&writes).contains("--destroy disk"),
        "{}",
        told(&writes)
    );
    let events = events(&space);
    assert!(!events.iter().any(|event| event.contains("pod")), "{events:?}");
}

#[test]
fn what_a_file_system_leaves_too_little_room_for_is_refused_in_the_pod_by_the_flag_of_the_client() {
    let space = Namespace::new("less-than-the-volume");
    let client = Client::new(&space);
    // As much as the volume, of which the file system keeps some.
    let whole = ["--storage-class", "free", "--size", "128Mi", "--rw", "randread", "--region", "128MiB"];
    let refused = client.run(&whole);
    assert_eq!(refused.status.code(), Some(3), "{}", told(&refused));
    let said = told(&refused);
    assert!(said.contains("is free but the files need 128.00MiB: lower --region"), "{said}");
    client.assert_nothing_left(&[]);
}
