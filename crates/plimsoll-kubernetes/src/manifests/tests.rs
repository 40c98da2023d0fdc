//! What is created is what clusters with strict rules take.

use serde_json::Value;

use super::*;
use crate::request::{self, AccessMode, test_runs::pod_run};

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
    assert_eq!((spec.ttl_seconds_after_finished, spec.active_deadline_seconds), (Some(3600), Some(86400)));
    // A suspended Job has no time.
    assert_eq!((spec.backoff_limit, spec.suspend), (Some(0), None));
    for claim in claims(&run, Some(&owner(&job))) {
        assert_eq!(claim.metadata.owner_references.unwrap()[0].name, run.name());
    }
}
