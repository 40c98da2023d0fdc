//! What is created is what clusters with strict rules take.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::request::{self, AccessMode, PodCount, test_runs::pod_run};

fn run(mode: VolumeMode) -> PodRun {
    let classes = ["slow".to_owned(), "fast".to_owned()];
    pod_run(request::volumes(&classes, &[8 << 30], &[], mode, AccessMode::ReadWriteOnce).unwrap())
}

fn pod_of(run: &PodRun) -> Value {
    serde_json::to_value(job(run)).unwrap()["spec"]["template"]["spec"].clone()
}

/// The rules of the level `restricted` of Kubernetes' Pod Security Standards, for pods of Linux.
#[test]
fn the_pod_keeps_the_rules_of_restricted() {
    for mode in [VolumeMode::Filesystem, VolumeMode::Block] {
        let pod = pod_of(&run(mode));
        for key in ["hostNetwork", "hostPID", "hostIPC"] {
            assert!(pod.get(key).is_none(), "{key}");
        }
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        assert!(pod["securityContext"]["runAsUser"].as_i64().unwrap() > 0);
        let security = &pod["containers"][0]["securityContext"];
        assert_eq!(security["allowPrivilegeEscalation"], false);
        assert_eq!(security["capabilities"], json!({ "drop": ["ALL"] }));
        assert!(pod["volumes"].as_array().unwrap().iter().all(|volume| volume.get("persistentVolumeClaim").is_some()));
    }
}

#[test]
fn a_cluster_that_assigns_users_is_left_to_do_so() {
    let pod = pod_of(&PodRun { assigns_users: true, ..run(VolumeMode::Filesystem) });
    for key in ["runAsUser", "runAsGroup", "fsGroup"] {
        assert!(pod["securityContext"].get(key).is_none(), "{key}");
    }
}

#[test]
fn one_container_has_every_volume_and_no_limit_of_processors() {
    let pod = pod_of(&run(VolumeMode::Filesystem));
    assert_eq!(pod["containers"].as_array().unwrap().len(), 1);
    let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
    let paths: Vec<_> = mounts.iter().map(|mount| mount["mountPath"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/volumes/slow", "/volumes/fast"]);
    assert!(pod["containers"][0]["resources"]["limits"].get("cpu").is_none());
    let block = pod_of(&run(VolumeMode::Block));
    assert_eq!(block["containers"][0]["volumeDevices"][1]["devicePath"], "/volumes/fast");
}

fn several() -> PodRun {
    PodRun { pods: PodCount { nodes: 2, per_node: 2, ..PodCount::ONE }, ..run(VolumeMode::Filesystem) }
}

#[test]
fn several_pods_have_volumes_and_places_of_their_own() {
    let run = several();
    let claims = claims(&run, None);
    let names: BTreeSet<_> = claims.iter().map(|claim| claim.metadata.name.clone().unwrap()).collect();
    assert_eq!((claims.len(), names.len()), (8, 8));
    let pods = [
        vec![serde_json::to_value(job(&run)).unwrap()["spec"]["template"].clone()],
        other_pods(&run, None).iter().map(|pod| serde_json::to_value(pod).unwrap()).collect(),
    ]
    .concat();
    let claims_of = |pod: &Value| -> BTreeSet<String> {
        let volumes = pod["spec"]["volumes"].as_array().unwrap().iter();
        volumes
            .filter_map(|volume| volume.pointer("/persistentVolumeClaim/claimName")?.as_str().map(str::to_owned))
            .collect()
    };
    let used: BTreeSet<String> = pods.iter().flat_map(claims_of).collect();
    assert_eq!(used, names);
    let places: Vec<_> = pods.iter().map(|pod| pod["metadata"]["labels"]["plimsoll/place"].as_str().unwrap()).collect();
    assert_eq!(places, ["0", "0", "1", "1"]);
    // Any of a place may be the first that gets a node.
    for (pod, place) in pods.iter().zip(places) {
        for (affinity, operator) in [("podAffinity", "In"), ("podAntiAffinity", "NotIn")] {
            let term = &pod["spec"]["affinity"][affinity]["requiredDuringSchedulingIgnoredDuringExecution"][0];
            let expected = json!({ "key": "plimsoll/place", "operator": operator, "values": [place] });
            assert_eq!(term["labelSelector"]["matchExpressions"][0], expected, "{affinity}");
        }
    }
    let alone = pod_of(&PodRun { pods: PodCount { nodes: 2, ..PodCount::ONE }, ..run });
    assert!(alone["affinity"].get("podAffinity").is_none());
}

#[test]
fn several_pods_have_no_right_but_to_watch_when_they_begin() {
    let run = several();
    let objects = start_objects(&run, None).unwrap();
    let rules = objects.role.rules.unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0].resource_names.as_deref(), Some(&[run.name()][..]));
    assert_eq!(rules[0].verbs, ["get", "list", "watch"]);
    assert_eq!(pod_of(&run)["automountServiceAccountToken"], true);
    // Who begins by the clock, or is alone, has no token.
    let at = StartBy::Time("2026-11-22T12:00:00Z".parse().unwrap());
    let by_clock = PodRun { pods: PodCount { start: at, ..run.pods }, ..run.clone() };
    for quiet in [by_clock, PodRun { pods: PodCount::ONE, ..run }] {
        assert!(start_objects(&quiet, None).is_none());
        assert_eq!(pod_of(&quiet)["automountServiceAccountToken"], false);
    }
}

#[test]
fn several_pods_share_volumes_that_many_may_use() {
    let mut run = several();
    run.volumes.iter_mut().for_each(|volume| volume.access = AccessMode::ReadWriteMany);
    assert_eq!(claims(&run, None).len(), 2);
    assert_eq!(run.claims_of(0), run.claims_of(3));
}

#[test]
fn a_node_is_asked_for_in_a_way_that_lets_volumes_follow() {
    let mut run = run(VolumeMode::Filesystem);
    run.placement.node = Some("node1".to_owned());
    run.placement.tolerations = vec!["dedicated=storage:NoSchedule".parse().unwrap(), "any".parse().unwrap()];
    let pod = pod_of(&run);
    assert!(pod.get("nodeName").is_none());
    let terms = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0";
    assert_eq!(pod.pointer(terms).unwrap()["matchFields"][0]["values"], json!(["node1"]));
    assert_eq!(
        pod["tolerations"],
        json!([
            { "operator": "Equal", "key": "dedicated", "value": "storage", "effect": "NoSchedule" },
            { "operator": "Exists", "key": "any" },
        ])
    );
}

#[test]
fn everything_has_an_end_of_its_own_and_belongs_to_the_job() {
    let run = run(VolumeMode::Filesystem);
    let job = job(&run);
    let spec = job.spec.as_ref().unwrap();
    assert_eq!(spec.ttl_seconds_after_finished, Some(3600));
    // A pod whose own time passes stays with its log; one whose Job's does is deleted.
    let of_pod = spec.template.spec.as_ref().unwrap().active_deadline_seconds;
    assert_eq!((of_pod, spec.active_deadline_seconds), (Some(86400), Some(86400 + 900)));
    let slow = PodRun { start_s: 3600, ..run.clone() };
    assert_eq!(super::job(&slow).spec.unwrap().active_deadline_seconds, Some(86400 + 3660));
    // A suspended Job has no time.
    assert_eq!((spec.backoff_limit, spec.suspend), (Some(0), None));
    for claim in claims(&run, Some(&owner(&job))) {
        assert_eq!(claim.metadata.owner_references.unwrap()[0].name, run.name());
    }
}

#[test]
fn volumes_that_go_with_pods_are_found_by_the_label_of_the_run() {
    let run = PodRun { is_ephemeral: true, ..several() };
    assert_eq!(claims(&run, None), []);
    let pods = other_pods(&run, None);
    for spec in [job(&run).spec.unwrap().template.spec.unwrap(), pods[2].spec.clone().unwrap()] {
        let volume = &serde_json::to_value(spec).unwrap()["volumes"][1];
        let template = &volume["ephemeral"]["volumeClaimTemplate"];
        assert_eq!(template["metadata"]["labels"][RUN_LABEL], run.id.to_string());
        assert_eq!(template["spec"]["storageClassName"], "fast");
        assert!(volume.get("persistentVolumeClaim").is_none());
    }
}
