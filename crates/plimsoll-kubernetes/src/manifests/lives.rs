//! The objects of lives of volumes: a Job that everything belongs to and whose own pod only waits, and for each life
//! claims, pods that use them one after the other, and a snapshot. Names begin with the Job's and the life's number.

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{PersistentVolumeClaim, Pod},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::api::DynamicObject;
use serde_json::{Value, json};

use super::{annotations, from_json, labels, pod};
use crate::{
    lives::Lives,
    request::{PodCount, PodRun, VolumeSource, quantity},
};

/// What lives are of, by which their Job is known.
pub(crate) const LIVES_ANNOTATION: &str = "plimsoll/lives";

/// What the volume is called in the pod.
const TARGET: &str = "volume";

/// Where a pod goes.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Wherever pods of the run may.
    Any,
    /// To this node.
    On(String),
    /// To another.
    NotOn(String),
}

/// What a new volume has in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// Nothing.
    None,
    /// What was in another claim's volume.
    Claim(&'a str),
    /// What a snapshot has.
    Snapshot(&'a str),
}

/// A pod of a life.
#[derive(Clone, Debug)]
pub(crate) struct PodOfLife<'a> {
    pub(crate) name: &'a str,
    pub(crate) claim: &'a str,
    pub(crate) kind: usize,
    /// What the volume is known by.
    pub(crate) mark: String,
    /// Whether it is in the volume already.
    pub(crate) is_marked: bool,
    pub(crate) place: Place,
}

/// The Job that everything belongs to. Its pod lasts as long as it may.
pub(crate) fn job(lives: &Lives) -> Job {
    let run = PodRun { volumes: Vec::new(), ..one(lives) };
    let mut spec = pod(&run, 0);
    ungate(&mut spec);
    spec["containers"][0]["args"] = json!(["kubernetes", "live", "--run", run.id.to_string()]);
    spec["containers"][0]["resources"] = json!({
        "requests": { "cpu": "10m", "memory": "64Mi" }, "limits": { "memory": "64Mi" },
    });
    let targets: Vec<&str> = lives.run.volumes.iter().map(|volume| volume.target.as_str()).collect();
    let of = json!({ LIVES_ANNOTATION: format!("{} of {}", lives.count, targets.join(",")) });
    from_json(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": run.name(), "labels": labels(&run), "annotations": of },
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": run.deadline_s,
            "ttlSecondsAfterFinished": run.keep_s,
            "template": { "metadata": { "labels": labels(&run), "annotations": annotations() }, "spec": spec },
        },
    }))
}

/// A claim of the volume of a kind, as large as said.
pub(crate) fn claim(
    lives: &Lives,
    (name, kind): (&str, usize),
    size_bytes: u64,
    content: Content<'_>,
    owner: &OwnerReference,
) -> PersistentVolumeClaim {
    let volume = &lives.run.volumes[kind];
    let class = match &volume.source {
        VolumeSource::Class { class, .. } => Some(class),
        VolumeSource::Claim { .. } => None,
    };
    let mut spec = json!({
        "storageClassName": class,
        "accessModes": [volume.access.as_str()],
        "volumeMode": volume.mode.as_str(),
        "resources": { "requests": { "storage": quantity(size_bytes) } },
    });
    match content {
        Content::None => {}
        Content::Claim(name) => spec["dataSource"] = json!({ "kind": "PersistentVolumeClaim", "name": name }),
        Content::Snapshot(name) => {
            spec["dataSource"] =
                json!({ "apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": name });
        }
    }
    from_json(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata(lives, name, owner), "spec": spec,
    }))
}

/// A pod that uses a volume until it is ended.
pub(crate) fn pod_of_life(lives: &Lives, asked: &PodOfLife<'_>, owner: &OwnerReference) -> Pod {
    let mut volume = lives.run.volumes[asked.kind].clone();
    volume.target = TARGET.to_owned();
    let mut spec = pod(&PodRun { volumes: vec![volume], ..one(lives) }, 0);
    ungate(&mut spec);
    spec["volumes"][0]["persistentVolumeClaim"]["claimName"] = json!(asked.claim);
    let run = lives.run.id.to_string();
    let mut arguments = vec!["kubernetes", "live", "--run", &run, "--target", TARGET, "--mark", &asked.mark];
    arguments.extend(asked.is_marked.then_some("--find"));
    spec["containers"][0]["args"] = json!(arguments);
    let on = |operator: &str, node: &str| {
        json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [
            { "matchFields": [{ "key": "metadata.name", "operator": operator, "values": [node] }] },
        ] } })
    };
    match &asked.place {
        Place::Any => {}
        Place::On(node) => spec["affinity"]["nodeAffinity"] = on("In", node),
        Place::NotOn(node) => spec["affinity"]["nodeAffinity"] = on("NotIn", node),
    }
    let mut metadata = metadata(lives, asked.name, owner);
    metadata["annotations"] = annotations();
    from_json(json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec }))
}

/// A snapshot of a claim's volume.
pub(crate) fn snapshot(
    lives: &Lives,
    name: &str,
    claim: &str,
    class: Option<&str>,
    owner: &OwnerReference,
) -> DynamicObject {
    let mut spec = json!({ "source": { "persistentVolumeClaimName": claim } });
    if let Some(class) = class {
        spec["volumeSnapshotClassName"] = json!(class);
    }
    from_json(json!({
        "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot",
        "metadata": metadata(lives, name, owner), "spec": spec,
    }))
}

fn metadata(lives: &Lives, name: &str, owner: &OwnerReference) -> Value {
    json!({ "name": name, "labels": labels(&lives.run), "ownerReferences": [owner] })
}

/// A run of one pod, which waits for nobody.
fn one(lives: &Lives) -> PodRun {
    PodRun { pods: PodCount::ONE, plan: String::new(), limits: None, ..lives.run.clone() }
}

/// Claims are bound before pods are made, or by them.
fn ungate(spec: &mut Value) {
    if let Some(spec) = spec.as_object_mut() {
        spec.remove("schedulingGates");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lives::test_lives::lives, manifests::reading};

    fn owner() -> OwnerReference {
        OwnerReference { name: "the-job".to_owned(), ..OwnerReference::default() }
    }

    fn pod_at(place: Place, is_marked: bool) -> Value {
        let (name, claim) = ("plimsoll-1-0-first", "plimsoll-1-0-data");
        let asked = PodOfLife { name, claim, kind: 0, mark: "1-0".to_owned(), is_marked, place };
        serde_json::to_value(pod_of_life(&lives(&["slow"]), &asked, &owner())).unwrap()
    }

    #[test]
    fn a_pod_has_its_claim_and_goes_where_it_is_to() {
        let pod = pod_at(Place::Any, false);
        assert_eq!(pod.pointer("/spec/volumes/0/persistentVolumeClaim/claimName"), Some(&json!("plimsoll-1-0-data")));
        assert_eq!(pod.pointer("/metadata/ownerReferences/0/name"), Some(&json!("the-job")));
        assert!(pod.pointer("/spec/schedulingGates").is_none() && pod.pointer("/spec/affinity").is_none(), "{pod}");
        let arguments = |pod: &Value| pod.pointer("/spec/containers/0/args").unwrap().to_string();
        assert!(!arguments(&pod).contains("--find"));
        let node = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0\
                    /matchFields/0";
        let there = pod_at(Place::On("n1".to_owned()), true);
        assert!(arguments(&there).contains("--find"));
        assert_eq!(there.pointer(node).unwrap()["operator"], "In");
        assert_eq!(pod_at(Place::NotOn("n1".to_owned()), true).pointer(node).unwrap()["operator"], "NotIn");
    }

    #[test]
    fn a_copy_names_what_it_is_of() {
        let lives = lives(&["slow"]);
        let source = |content| {
            let claim = claim(&lives, ("c", 0), 1 << 30, content, &owner());
            serde_json::to_value(claim).unwrap().pointer("/spec/dataSource").cloned()
        };
        assert_eq!(source(Content::None), None);
        assert_eq!(source(Content::Claim("data")).unwrap()["kind"], "PersistentVolumeClaim");
        let of_snapshot = source(Content::Snapshot("then")).unwrap();
        assert_eq!((&of_snapshot["name"], &of_snapshot["kind"]), (&json!("then"), &json!("VolumeSnapshot")));
    }

    #[test]
    fn the_job_waits_with_little_and_has_no_volume() {
        let lives = lives(&["slow", "fast"]);
        let job = job(&lives);
        let there = reading::read(&job, &[]).unwrap();
        assert_eq!((there.id, there.volumes.len()), (lives.run.id, 0));
        assert_eq!(job.metadata.annotations.unwrap()[LIVES_ANNOTATION], "2 of slow,fast");
    }
}
