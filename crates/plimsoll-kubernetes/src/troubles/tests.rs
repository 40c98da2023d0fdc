//! Sentences about pods that do not start or do not end well, from objects as clusters write them.

use serde_json::{Value, json};

use super::*;

fn pod(status: &Value) -> Pod {
    let pod = json!({ "metadata": { "name": "p" }, "spec": { "containers": [], "nodeName": "n1" }, "status": status });
    serde_json::from_value(pod).unwrap()
}

fn container(state: &Value) -> Value {
    json!({ "containerStatuses": [{
        "name": "plimsoll", "image": "registry.example/plimsoll:1", "imageID": "", "ready": false, "restartCount": 0,
        "state": state,
    }] })
}

fn troubles(kind: &str, reason: &str, message: &str) -> Troubles {
    let mut troubles = Troubles::default();
    let event = json!({
        "metadata": { "name": "p.18e9d4e38423cd15" }, "involvedObject": { "kind": kind, "name": "c" },
        "type": "Warning", "reason": reason, "message": message, "count": 4,
    });
    troubles.observe(&serde_json::from_value(event).unwrap());
    troubles
}

#[test]
fn an_image_that_is_nowhere_is_final_and_says_how_to_make_it() {
    let waiting = json!({ "waiting": { "reason": "ImagePullBackOff", "message": "Back-off pulling image" } });
    let trouble = Troubles::default().of_start(&pod(&container(&waiting))).unwrap();
    assert!(trouble.is_final);
    for part in ["registry.example/plimsoll:1", "ImagePullBackOff", "Back-off", "--image"] {
        assert!(trouble.text.contains(part), "{part}: {}", trouble.text);
    }
}

#[test]
fn a_pod_that_merely_waits_has_no_trouble() {
    let waiting = json!({ "waiting": { "reason": "ContainerCreating" } });
    assert_eq!(Troubles::default().of_start(&pod(&container(&waiting))), None);
    assert_eq!(Troubles::default().of_job(), None);
}

#[test]
fn a_quota_keeps_the_job_from_making_its_pod() {
    let message = "pods \"x\" is forbidden: exceeded quota: q, requested: limits.memory=1Gi, used: 0, limited: 512Mi";
    let trouble = troubles("Job", "FailedCreate", message).of_job().unwrap();
    assert!(trouble.is_final && trouble.text.contains("exceeded quota: q") && trouble.text.contains("--memory"));
}

#[test]
fn what_may_mend_itself_is_told_with_how_often_it_happened() {
    let mut waiting = pod(&json!({}));
    waiting.spec.as_mut().unwrap().node_name = None;
    let text = |kind, reason, message| {
        let trouble = troubles(kind, reason, message).of_start(&waiting).unwrap();
        assert!(!trouble.is_final);
        trouble.text
    };
    assert_eq!(
        text("PersistentVolumeClaim", "ProvisioningFailed", "rpc error: code = Unavailable desc = no room."),
        "the volume of claim c is not made (4 times): rpc error: code = Unavailable desc = no room"
    );
    assert!(text("Pod", "FailedScheduling", "0/2 nodes are available").starts_with("no node takes the pod (4 times)"));
    assert!(text("Pod", "FailedAttachVolume", "Multi-Attach error").starts_with("a volume is not attached"));
}

#[test]
fn a_program_that_needed_too_much_memory_is_told_from_others() {
    let ended = json!({ "terminated": { "reason": "OOMKilled", "exitCode": 137 } });
    let text = Troubles::default().of_end(&pod(&container(&ended)), &[]);
    assert!(text.contains("OOMKilled") && text.contains("n1") && text.contains("--memory"), "{text}");
    let ended = json!({ "terminated": { "reason": "Error", "exitCode": 3 } });
    let words = ["error: no room".to_owned()];
    let text = Troubles::default().of_end(&pod(&container(&ended)), &words);
    assert!(text.contains("code 3") && text.contains("error: no room"), "{text}");
}

#[test]
fn evictions_and_disruptions_say_who_did_it() {
    let evicted = json!({ "phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory." });
    assert!(Troubles::default().of_end(&pod(&evicted), &[]).contains("(Evicted): The node was low on resource"));
    let drained = json!({ "conditions": [{
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "by a drain",
    }] });
    assert!(Troubles::default().of_end(&pod(&drained), &[]).contains("(EvictionByEvictionAPI): by a drain"));
}

#[test]
fn a_pod_that_somebody_deleted_is_told_from_one_that_failed() {
    let ended = json!({ "terminated": { "reason": "Error", "exitCode": 130 } });
    let mut deleted = pod(&container(&ended));
    deleted.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-11-21T01:40:00Z")).unwrap());
    let text = Troubles::default().of_end(&deleted, &[]);
    assert!(text.starts_with("somebody deleted the pod on n1"), "{text}");
    let message = "Job was active longer than specified deadline";
    let text = troubles("Job", "DeadlineExceeded", message).of_end(&deleted, &[]);
    assert!(text.contains(message) && text.contains("--deadline"), "{text}");
}

#[test]
fn a_pod_without_a_node_says_which_nodes_are_cordoned() {
    let said = "0/2 nodes are available: 2 node(s) were unschedulable.";
    let unschedulable = json!({ "conditions": [
        { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said },
    ] });
    let mut waiting = pod(&unschedulable);
    waiting.spec.as_mut().unwrap().node_name = None;
    let mut troubles = troubles("Pod", "FailedScheduling", said);
    let text = troubles.of_start(&waiting).unwrap().text;
    assert!(text.contains("2 node(s) were unschedulable: `kubectl uncordon`"), "{text}");
    troubles.of_nodes = Some("none of 2 nodes takes the pod; n1, n2: cordoned".to_owned());
    assert_eq!(troubles.of_start(&waiting).unwrap().text, "none of 2 nodes takes the pod; n1, n2: cordoned");
    // Once it has a node, what the scheduler said before is past.
    assert_eq!(troubles.of_start(&pod(&json!({}))), None);
}
