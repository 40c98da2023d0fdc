//! The objects of a run, as they are created and as `--dry-run` shows them.
//!
//! All of them belong to one Job: whoever deletes it, or lets it come to its end of life, has the cluster delete the
//! rest. The Job is created first and is never suspended, so that its time runs whatever becomes of the client.

pub mod reading;
#[cfg(test)]
mod tests;

use k8s_openapi::{
    api::{batch::v1::Job, core::v1::PersistentVolumeClaim},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use serde_json::{Value, json};

use crate::request::{
    MANAGED_BY_LABEL, OURS, PodRun, RUN_LABEL, Seccomp, Toleration, USER, VOLUMES, VolumeMode, VolumeSource, quantity,
};

/// The environment variable that has the plan.
pub const PLAN_VARIABLE: &str = "PLIMSOLL_PLAN";

/// The environment variable that has the user's own limits.
pub const LIMITS_VARIABLE: &str = "PLIMSOLL_LIMITS";

/// The container of the program.
pub(crate) const CONTAINER: &str = "plimsoll";

/// What keeps the scheduler from looking at the pod.
const GATE: &str = "plimsoll/claims";

/// What the program has left to end the run and tell what it has, when the pod is to end.
const GRACE_S: u32 = 30;

/// The Job that everything belongs to, with its pod.
pub fn job(run: &PodRun) -> Job {
    from_json(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": run.name(), "labels": labels(run) },
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": run.deadline_s,
            "ttlSecondsAfterFinished": run.keep_s,
            "template": { "metadata": { "labels": labels(run), "annotations": annotations() }, "spec": pod(run) },
        },
    }))
}

/// The claims that are made for the run.
pub fn claims(run: &PodRun, owner: Option<&OwnerReference>) -> Vec<PersistentVolumeClaim> {
    let claim = |(index, volume): (usize, &crate::request::VolumeAsked)| {
        let VolumeSource::Class { class, size_bytes } = &volume.source else { return None };
        let mut claim: PersistentVolumeClaim = from_json(json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": { "name": run.claim(index), "labels": labels(run) },
            "spec": {
                "storageClassName": class,
                "accessModes": [volume.access.as_str()],
                "volumeMode": volume.mode.as_str(),
                "resources": { "requests": { "storage": quantity(*size_bytes) } },
            },
        }));
        claim.metadata.owner_references = owner.map(|owner| vec![owner.clone()]);
        Some(claim)
    };
    run.volumes.iter().enumerate().filter_map(claim).collect()
}

/// The reference to the Job that objects of the run have.
pub(crate) fn owner(job: &Job) -> OwnerReference {
    OwnerReference {
        api_version: "batch/v1".to_owned(),
        kind: "Job".to_owned(),
        name: job.metadata.name.clone().unwrap_or_default(),
        uid: job.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

fn labels(run: &PodRun) -> Value {
    json!({
        "app.kubernetes.io/name": "plimsoll",
        MANAGED_BY_LABEL: OURS,
        RUN_LABEL: run.id.to_string(),
        // What a mesh puts beside the program would take its processors and keep the pod from ending.
        "sidecar.istio.io/inject": "false",
    })
}

/// Nothing moves a pod while it measures.
fn annotations() -> Value {
    json!({
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
        "linkerd.io/inject": "disabled",
    })
}

fn pod(run: &PodRun) -> Value {
    let mut spec = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": GRACE_S,
        "nodeSelector": selector(run),
        "securityContext": pod_security(run),
        // The scheduler looks at a pod whose claims are not bound only now and then: it is to look when they are.
        "schedulingGates": [{ "name": GATE }],
        "containers": [container(run)],
        "volumes": (0..run.volumes.len()).map(|index| json!({
            "name": volume_name(index),
            "persistentVolumeClaim": { "claimName": run.claim(index) },
        })).collect::<Vec<_>>(),
    });
    if let Some(node) = &run.placement.node {
        // Not spec.nodeName, which passes the scheduler by: nobody would then choose a node for the volumes.
        spec["affinity"] = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] }],
        } } });
    }
    if !run.placement.tolerations.is_empty() {
        spec["tolerations"] = run.placement.tolerations.iter().map(toleration).collect();
    }
    if let Some(class) = &run.placement.priority_class {
        spec["priorityClassName"] = json!(class);
    }
    if !run.image.pull_secrets.is_empty() {
        spec["imagePullSecrets"] = run.image.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
    }
    spec
}

fn selector(run: &PodRun) -> Value {
    let mut selector = json!({ "kubernetes.io/os": "linux" });
    for (key, value) in &run.placement.selector {
        selector[key] = json!(value);
    }
    selector
}

/// What the level `restricted` asks of pods.
fn pod_security(run: &PodRun) -> Value {
    let profile = match &run.resources.seccomp {
        Seccomp::RuntimeDefault => json!({ "type": "RuntimeDefault" }),
        Seccomp::Unconfined => json!({ "type": "Unconfined" }),
        Seccomp::Localhost(file) => json!({ "type": "Localhost", "localhostProfile": file }),
    };
    let mut context = json!({
        "runAsNonRoot": !run.runs_as_root,
        "seccompProfile": profile,
        // Changing the owner of every file of a large volume takes longer than many a run.
        "fsGroupChangePolicy": "OnRootMismatch",
    });
    if !run.assigns_users {
        for key in ["runAsUser", "runAsGroup", "fsGroup"] {
            context[key] = json!(if run.runs_as_root { 0 } else { USER });
        }
    }
    context
}

fn container(run: &PodRun) -> Value {
    let field = |name: &str, path: &str| json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } });
    let mut limits = json!({ "memory": run.resources.memory });
    if let Some(cpu) = &run.resources.cpu_limit {
        limits["cpu"] = json!(cpu);
    }
    let mut container = json!({
        "name": CONTAINER,
        "image": run.image.name,
        "imagePullPolicy": run.image.pull_policy,
        "args": ["kubernetes", "agent", "--run", run.id.to_string()],
        "workingDir": VOLUMES,
        "env": [
            { "name": PLAN_VARIABLE, "value": run.plan },
            field("POD_NAME", "metadata.name"),
            field("POD_NAMESPACE", "metadata.namespace"),
            field("NODE_NAME", "spec.nodeName"),
        ],
        "resources": { "requests": { "cpu": run.resources.cpu, "memory": run.resources.memory }, "limits": limits },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
    });
    if let (Some(limits), Some(variables)) = (&run.limits, container["env"].as_array_mut()) {
        variables.push(json!({ "name": LIMITS_VARIABLE, "value": limits }));
    }
    for (index, volume) in run.volumes.iter().enumerate() {
        let path = format!("{VOLUMES}/{}", volume.target);
        let (list, entry) = match volume.mode {
            VolumeMode::Filesystem => ("volumeMounts", json!({ "name": volume_name(index), "mountPath": path })),
            VolumeMode::Block => ("volumeDevices", json!({ "name": volume_name(index), "devicePath": path })),
        };
        match container[list].as_array_mut() {
            Some(entries) => entries.push(entry),
            None => container[list] = json!([entry]),
        }
    }
    container
}

fn volume_name(index: usize) -> String {
    format!("volume-{index}")
}

fn toleration(toleration: &Toleration) -> Value {
    let mut value = json!({ "operator": if toleration.value.is_some() { "Equal" } else { "Exists" } });
    let parts =
        [("key", Some(&toleration.key)), ("value", toleration.value.as_ref()), ("effect", toleration.effect.as_ref())];
    for (name, part) in parts {
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            value[name] = json!(part);
        }
    }
    value
}

fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("objects are written as their types say")
}
