//! Sentences about pods that do not start or do not end well, from objects as clusters write them.

use k8s_openapi::api::batch::v1::Job;
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
fn a_job_that_is_refused_for_the_moment_is_waited_for_a_while() {
    let is_final = |message: &str| troubles("Job", "FailedCreate", message).of_job().unwrap().is_final;
    for lasting in [
        "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": seccompProfile",
        "pods \"x\" is forbidden: no PriorityClass with name high was found",
        "admission webhook \"policy.example.org\" denied the request: images come from registry.example.org",
    ] {
        assert!(is_final(lasting), "{lasting}");
    }
    let passing = [
        "Internal error occurred: failed calling webhook \"w\": Post \"https://w.svc\": connection refused",
        "pods \"x\" is forbidden: error looking up service account n/default: serviceaccount \"default\" not found",
        "pods \"x\" is forbidden: status unknown for quota: q, resources: pods",
        "pods \"x\" is forbidden: not yet ready to handle request",
    ];
    passing.iter().for_each(|message| assert!(!is_final(message), "{message}"));
    let mut troubles = Troubles::default();
    // Every pod that is refused has another name, and each refusal an event of its own.
    let mut refuse = |second: u32| {
        let event = json!({
            "metadata": { "name": format!("j.{second}") }, "involvedObject": { "kind": "Job", "name": "j" },
            "type": "Warning", "reason": "FailedCreate", "message": passing[0], "count": 1,
            "firstTimestamp": format!("2026-11-21T01:40:{second:02}Z"),
            "lastTimestamp": format!("2026-11-21T01:40:{second:02}Z"),
        });
        troubles.observe(&serde_json::from_value(event).unwrap());
        troubles.of_job().unwrap().is_final
    };
    assert_eq!([1, 3, 7, 15, 31].map(&mut refuse), [false, false, false, false, true]);
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
}

/// A Job with a condition that is true.
fn job(condition: &str, reason: &str, message: &str) -> Job {
    let condition = json!({ "type": condition, "status": "True", "reason": reason, "message": message });
    let status = json!({ "conditions": [{ "type": "Suspended", "status": "False" }, condition] });
    serde_json::from_value(json!({ "metadata": { "name": "j" }, "status": status })).unwrap()
}

const LATE: &str = "the deadline of the run has passed, and the cluster ended it on n1: allow more with --deadline";

#[test]
fn a_deadline_is_the_same_sentence_whoever_says_that_it_has_passed() {
    let ended = container(&json!({ "terminated": { "reason": "Error", "exitCode": 130 } }));
    let mut deleted = pod(&ended);
    deleted.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-11-21T01:40:00Z")).unwrap());
    let message = "Job was active longer than specified deadline";
    let of_event = troubles("Job", "DeadlineExceeded", message);
    assert_eq!(of_event.of_end(&deleted, &[]), LATE);
    for condition in ["FailureTarget", "Failed"] {
        let of_job = Troubles::of_objects(JobEnd::of(Some(&job(condition, "DeadlineExceeded", message))));
        assert_eq!(of_job.of_end(&deleted, &[]), LATE);
        // Also when the pod is gone, or never was there.
        assert_eq!(of_job.of_end(&pod(&json!({})), &[]), LATE);
        let trouble = of_job.of_job().unwrap();
        assert!(trouble.is_final);
        assert_eq!(trouble.text, LATE.replace(" on n1", ""));
    }
    // The pod's own time is up: its Job only knows that it failed.
    let of_job = Troubles::of_objects(JobEnd::of(Some(&job("Failed", "BackoffLimitExceeded", "too often."))));
    let mut late = ended;
    (late["phase"], late["reason"]) = (json!("Failed"), json!("DeadlineExceeded"));
    assert_eq!(of_job.of_end(&pod(&late), &[]), LATE);
}

#[test]
fn a_job_that_failed_without_a_pod_to_say_why_is_told_at_once() {
    let failed = Troubles::of_objects(JobEnd::of(Some(&job("Failed", "BackoffLimitExceeded", "too often."))));
    let trouble = failed.of_job().unwrap();
    assert!(trouble.is_final && trouble.text.contains("failed (BackoffLimitExceeded, too often)"), "{}", trouble.text);
    // Where there is a pod, that says more.
    let oom = pod(&container(&json!({ "terminated": { "reason": "OOMKilled", "exitCode": 137 } })));
    assert!(failed.of_end(&oom, &[]).contains("OOMKilled"));
    assert_eq!(Troubles::of_objects(Some(JobEnd::Late)).of_end(&oom, &[]), failed.of_end(&oom, &[]));
}

#[test]
fn a_job_that_goes_on_or_is_done_is_no_trouble_and_one_that_is_deleted_is() {
    assert_eq!(JobEnd::of(Some(&Job::default())), None);
    for condition in ["SuccessCriteriaMet", "Complete"] {
        assert_eq!(JobEnd::of(Some(&job(condition, "CompletionsReached", "Reached expected number"))), None);
    }
    let mut leaving = Job::default();
    leaving.metadata.deletion_timestamp = Some(serde_json::from_value(json!("2026-11-21T01:40:00Z")).unwrap());
    for job in [None, Some(&leaving)] {
        let troubles = Troubles::of_objects(JobEnd::of(job));
        assert!(troubles.of_job().unwrap().text.starts_with("the Job of the run was deleted, and its pod with it"));
        let text = troubles.of_end(&pod(&json!({})), &[]);
        assert!(text.starts_with("the Job of the run was deleted, and its pod on n1 with it"), "{text}");
    }
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

#[test]
fn what_a_node_says_of_a_pod_that_it_does_not_take_is_told() {
    let pod = json!({ "metadata": { "name": "p" }, "spec": { "nodeName": "n1", "containers": [] },
        "status": { "phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu." } });
    let pod: Pod = serde_json::from_value(pod).unwrap();
    let text = Troubles::default().of_end(&pod, &[]);
    assert_eq!(text, "the pod failed on n1 (OutOfcpu): Node didn't have enough resource: cpu");
}
