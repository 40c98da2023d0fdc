//! Lives of volumes from what watches of a cluster deliver, as its objects are written.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const MS: u64 = 1_000_000;

/// When the claim was sent, in the names of events: 1795200000 seconds.
const SENT_NS: i128 = 1_795_200_000_000_000_000;

fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn at(at_ms: u64, seen: Seen) -> Observation {
    Observation { at_ns: at_ms * MS, is_initial: false, is_deleted: false, seen }
}

fn gone(at_ms: u64, seen: Seen) -> Observation {
    Observation { is_deleted: true, ..at(at_ms, seen) }
}

fn claim(node: Option<&str>, volume: Option<&str>) -> Seen {
    let annotations = node.map(|node| json!({ "volume.kubernetes.io/selected-node": node }));
    Seen::Claim(from_json(json!({
        "metadata": { "name": "c", "annotations": annotations },
        "spec": { "volumeName": volume },
        "status": { "phase": if volume.is_some() { "Bound" } else { "Pending" } },
    })))
}

fn volume() -> Seen {
    Seen::Volume(from_json(json!({ "metadata": { "name": "pvc-1" } })))
}

fn attachment(attached: bool, is_leaving: bool) -> Seen {
    Seen::Attachment(from_json(json!({
        "metadata": { "name": "va", "deletionTimestamp": is_leaving.then_some("2026-11-21T01:40:00Z") },
        "spec": { "attacher": "d", "nodeName": "n1", "source": { "persistentVolumeName": "pvc-1" } },
        "status": { "attached": attached },
    })))
}

fn pod(node: Option<&str>, conditions: &[&str], state: Option<&str>) -> Seen {
    let conditions: Vec<_> = conditions.iter().map(|name| json!({ "type": name, "status": "True" })).collect();
    let state =
        state.map(|state| json!({ state: if state == "terminated" { json!({ "exitCode": 0 }) } else { json!({}) } }));
    let status =
        json!({ "name": "plimsoll", "image": "i", "imageID": "i", "ready": false, "restartCount": 0, "state": state });
    Seen::Pod(from_json(json!({
        "metadata": { "name": "p" },
        "spec": {
            "containers": [],
            "nodeName": node,
            "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }],
        },
        "status": { "conditions": conditions, "containerStatuses": [status] },
    })))
}

/// An event whose name tells when it happened.
fn event(kind: &str, name: &str, reason: &str, message: &str, told_ms: i128) -> Seen {
    let is_warning = reason.contains("Failed");
    Seen::Event(from_json(json!({
        "metadata": { "name": format!("{name}.{:x}", SENT_NS + told_ms * 1_000_000) },
        "involvedObject": { "kind": kind, "name": name },
        "reason": reason,
        "message": message,
        "type": if is_warning { "Warning" } else { "Normal" },
        "count": 3,
    })))
}

/// The life of a volume of a class that waits for a consumer, on a cluster of 1.36.
fn waiting_class() -> Vec<Observation> {
    let attached = "AttachVolume.Attach succeeded for volume \"pvc-1\" ";
    vec![
        at(110, claim(None, None)),
        at(120, pod(None, &[], None)),
        at(200, claim(Some("n1"), None)),
        at(230, event("PersistentVolumeClaim", "c", "Provisioning", "", 215)),
        at(700, volume()),
        at(710, event("PersistentVolumeClaim", "c", "ProvisioningSucceeded", "", 705)),
        at(750, claim(Some("n1"), Some("pvc-1"))),
        at(1000, pod(Some("n1"), &["PodScheduled"], None)),
        at(1040, attachment(false, false)),
        at(4040, attachment(true, false)),
        at(4400, event("Pod", "p", "SuccessfulAttachVolume", attached, 4390)),
        at(5000, pod(Some("n1"), &["PodScheduled", "PodReadyToStartContainers"], None)),
        at(5020, event("Pod", "p", "Pulled", "", 5010)),
        at(5300, pod(Some("n1"), &["PodScheduled", "PodReadyToStartContainers"], Some("running"))),
        at(5310, event("Pod", "p", "Started", "", 5290)),
        at(9000, pod(Some("n1"), &["PodScheduled"], Some("terminated"))),
        at(9100, attachment(true, true)),
        gone(9600, attachment(true, true)),
        gone(9900, claim(Some("n1"), Some("pvc-1"))),
        gone(10_500, volume()),
    ]
}

fn timeline(observations: &[Observation]) -> Timeline {
    let mut timeline = Timeline::new(36, "bench");
    timeline.begin(Some(100 * MS), Timestamp::from_nanosecond(SENT_NS).unwrap());
    timeline.claim_happened("c", Happening::ClaimAccepted, 105 * MS);
    observations.iter().for_each(|observation| timeline.observe(observation));
    let told = |ms: i128| Timestamp::from_nanosecond(SENT_NS + ms * 1_000_000).unwrap();
    timeline.told(&["c".to_owned()], Happening::Running, told(5300), Some(5400 * MS));
    timeline.told(&["c".to_owned()], Happening::FirstIo, told(5320), Some(5410 * MS));
    timeline.claim_happened("c", Happening::DeleteSent, 9000 * MS);
    timeline
}

#[test]
fn each_phase_of_a_waiting_class_is_the_difference_of_what_was_seen() {
    let life = timeline(&waiting_class()).life("slow", "c");
    let ms = |ms: u64| Some(ms * MS);
    assert_eq!(
        life.phases,
        plimsoll_record::lifecycle::Phases {
            create_ns: ms(5),
            provision_ns: ms(500),
            bind_ns: ms(550),
            schedule_ns: ms(880),
            attach_ns: ms(3000),
            mount_ns: ms(960),
            start_ns: ms(300),
            first_io_ns: ms(20),
            // Seen to have started after 5.2 s, and 30 ms later by the node's clock.
            ready_ns: ms(5230),
            detach_ns: ms(500),
            delete_ns: ms(1500),
            ..plimsoll_record::lifecycle::Phases::default()
        }
    );
    assert_eq!(life.phases_by_events.provision_ns, ms(490));
    assert_eq!(life.phases_by_events.start_ns, ms(280));
    assert_eq!(life.phases_by_events.mount_ns, ms(620));
    assert_eq!((life.volume.as_deref(), life.node.as_deref()), (Some("pvc-1"), Some("n1")));
    assert_eq!((life.disagreements, life.failures), (vec![], vec![]));
}

#[test]
fn before_1_36_volumes_are_mounted_at_the_latest_when_the_image_is_there() {
    let mut timeline = Timeline::new(35, "bench");
    timeline.begin(Some(0), Timestamp::from_nanosecond(SENT_NS).unwrap());
    waiting_class().iter().for_each(|observation| timeline.observe(observation));
    let life = timeline.life("slow", "c");
    assert_eq!(life.phases.mount_ns, Some(980 * MS));
}

#[test]
fn who_may_not_look_at_attachments_knows_what_the_pod_is_told() {
    let without = |observation: &Observation| !matches!(observation.seen, Seen::Attachment(_));
    let observations: Vec<_> = waiting_class().into_iter().filter(without).collect();
    let life = timeline(&observations).life("slow", "c");
    assert_eq!(life.phases.attach_ns, Some(3400 * MS));
    assert_eq!(life.phases.mount_ns, Some(600 * MS));
    assert_eq!(life.phases.detach_ns, None);
}

#[test]
fn what_was_there_before_or_is_listed_again_has_no_time() {
    let observations: Vec<_> = waiting_class()
        .into_iter()
        .map(|observation| Observation { is_initial: !matches!(observation.seen, Seen::Event(_)), ..observation })
        .collect();
    let life = timeline(&observations).life("slow", "c");
    assert_eq!((life.phases.bind_ns, life.phases.attach_ns, life.phases.detach_ns), (None, None, None));
    assert_eq!(life.phases_by_events.provision_ns, Some(490 * MS));
    // It happened all the same.
    assert!(life.moments.iter().any(|moment| moment.what == Happening::Attached && moment.seen_ns.is_none()));
}

#[test]
fn failures_are_kept_with_their_count_and_belong_to_the_volume_that_they_name() {
    let mut observations = waiting_class();
    let message = "rpc error: code = Unavailable";
    observations.push(at(300, event("PersistentVolumeClaim", "c", "ProvisioningFailed", message, 300)));
    observations.push(at(310, event("Pod", "p", "FailedAttachVolume", "volume \"pvc-2\" is elsewhere", 310)));
    // Another claim of the same pod, which has the volume that the second failure names.
    observations.push(at(
        310,
        Seen::Claim(from_json(json!({
            "metadata": { "name": "other" }, "spec": { "volumeName": "pvc-2" }, "status": { "phase": "Bound" },
        }))),
    ));
    let failures = timeline(&observations).life("slow", "c").failures;
    let failure = Failure { reason: "ProvisioningFailed".to_owned(), message: message.to_owned(), count: 3 };
    assert_eq!(failures, [failure]);
}

#[test]
fn clocks_that_do_not_agree_are_flagged() {
    let mut observations = waiting_class();
    // The driver's clock says that it took two seconds more.
    observations.retain(|observation| {
        !matches!(&observation.seen, Seen::Event(event) if event.reason.as_deref() == Some("ProvisioningSucceeded"))
    });
    observations.push(at(710, event("PersistentVolumeClaim", "c", "ProvisioningSucceeded", "", 2705)));
    let life = timeline(&observations).life("slow", "c");
    let expected = plimsoll_record::lifecycle::Disagreement {
        phase: "provision".to_owned(),
        seen_ns: 500 * MS,
        told_ns: 2490 * MS,
    };
    assert_eq!(life.disagreements, [expected]);
}

#[test]
fn times_in_the_names_of_events_are_read_and_other_names_have_none() {
    let time = |name: &str| time_of(&from_json(json!({ "metadata": { "name": name }, "involvedObject": {} })));
    assert_eq!(time("pod-1.a.18e9d4e38423cd15").unwrap().as_nanosecond(), 1_795_200_000_123_456_789);
    for name in ["x.5f0c2e1a-uuid", "x", "x.", "x.0000000000000001", "x.zzzzzzzzzzzzzzzz", ""] {
        assert_eq!(time(name), None, "{name}");
    }
}

proptest! {
    #[test]
    fn the_order_in_which_watches_deliver_changes_nothing(
        order in Just((0..20_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let observations = waiting_class();
        let shuffled: Vec<_> = order.iter().map(|index| observations[*index].clone()).collect();
        let life = |observations: &[Observation]| timeline(observations).life("slow", "c");
        prop_assert_eq!(life(&shuffled), life(&observations));
    }
}

/// A claim that the cluster makes with its pod is timed by when it came and when it was to go, which nobody here asked.
#[test]
fn a_claim_of_a_pod_is_made_and_removed_by_the_cluster() {
    let claim = |phase: &str, is_leaving: bool| {
        Seen::Claim(from_json(json!({
            "metadata": {
                "name": "p-volume-0",
                "ownerReferences": [{ "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u" }],
                "deletionTimestamp": is_leaving.then_some("2026-11-21T01:40:00Z"),
            },
            "spec": { "volumeName": "pvc-1" },
            "status": { "phase": phase },
        })))
    };
    let pod = Seen::Pod(from_json(json!({
        "metadata": { "name": "p" },
        "spec": { "containers": [], "nodeName": "n1", "volumes": [{ "name": "volume-0", "ephemeral": {} }] },
    })));
    let mut timeline = Timeline::new(36, "bench");
    timeline.begin(Some(0), Timestamp::from_nanosecond(SENT_NS).unwrap());
    for observation in [
        at(100, pod),
        at(120, claim("Pending", false)),
        at(300, volume()),
        at(350, claim("Bound", false)),
        at(900, claim("Bound", true)),
        gone(950, claim("Bound", true)),
        gone(1000, volume()),
    ] {
        timeline.observe(&observation);
    }
    let life = timeline.life("slow", "p-volume-0");
    assert_eq!((life.node.as_deref(), life.volume.as_deref()), (Some("n1"), Some("pvc-1")));
    assert_eq!((life.phases.create_ns, life.phases.delete_ns), (Some(120 * MS), Some(100 * MS)));
}

#[test]
fn what_somebody_put_beside_the_program_is_not_the_program() {
    let pod = |own: &str| -> Pod {
        let status = |name: &str, state: &str| {
            let of_state = if state == "terminated" { json!({ "exitCode": 0 }) } else { json!({}) };
            json!({ "name": name, "image": "i", "imageID": "i", "ready": false, "restartCount": 0, "state": { state: of_state } })
        };
        let statuses = [status("proxy", "terminated"), status("plimsoll", own)];
        from_json(json!({ "metadata": {}, "status": { "containerStatuses": statuses } }))
    };
    assert!(!has_started(&pod("waiting")) && !has_ended(&pod("running")));
    assert!(has_started(&pod("running")) && has_ended(&pod("terminated")));
}

#[test]
fn when_what_is_beside_the_program_started_says_nothing_about_it() {
    let started = |path: &str, told_ms: i128| {
        let Seen::Event(mut event) = event("Pod", "p", "Started", "", told_ms) else { panic!("it is an event") };
        event.involved_object.field_path = Some(path.to_owned());
        Seen::Event(event)
    };
    let life = |events: &[(&str, i128)]| {
        let mut all = vec![at(120, pod(Some("n1"), &[], None)), at(130, claim(None, None))];
        all.extend(events.iter().map(|(path, told_ms)| at(5000, started(path, *told_ms))));
        let life = timeline(&all).life("slow", "c");
        life.moments.iter().find(|moment| moment.what == Happening::Started).and_then(|moment| moment.told_ns)
    };
    let (beside, own) = ("spec.containers{proxy}", "spec.containers{plimsoll}");
    assert_eq!(life(&[(beside, 900), ("spec.initContainers{setup}", 800)]), None);
    assert_eq!(life(&[(beside, 900), (own, 1200)]), Some(1_200_000_000));
}

#[test]
fn a_claim_that_was_there_before_gets_the_volume_that_is_bound_to_it_meanwhile() {
    let bound = |name: &str, namespace: &str, phase: &str| {
        Seen::Volume(from_json(json!({
            "metadata": { "name": name },
            "spec": { "claimRef": { "namespace": namespace, "name": "c" } },
            "status": { "phase": phase },
        })))
    };
    let life = |volumes: Vec<Seen>| {
        let mut timeline = Timeline::new(36, "bench");
        timeline.begin(Some(0), Timestamp::from_nanosecond(SENT_NS).unwrap());
        timeline.observe(&Observation { is_initial: true, ..at(0, claim(None, None)) });
        volumes.into_iter().for_each(|volume| timeline.observe(&at(700, volume)));
        for observation in [
            at(1000, pod(Some("n1"), &["PodScheduled"], None)),
            at(1040, attachment(false, false)),
            at(4040, attachment(true, false)),
            at(5000, pod(Some("n1"), &["PodScheduled", "PodReadyToStartContainers"], None)),
        ] {
            timeline.observe(&observation);
        }
        assert!(!timeline.is_bound("c"), "the claim has not said so");
        timeline.life("slow", "c")
    };
    let found = life(vec![bound("pvc-9", "other", "Bound"), bound("pvc-1", "bench", "Bound")]);
    assert_eq!(found.volume.as_deref(), Some("pvc-1"));
    assert_eq!((found.phases.attach_ns, found.phases.mount_ns), (Some(3000 * MS), Some(960 * MS)));
    assert_eq!(life(vec![bound("pvc-9", "other", "Bound"), bound("pvc-8", "bench", "Released")]).volume, None);
}
