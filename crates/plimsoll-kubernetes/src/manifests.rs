//! The objects of a run, as they are created and as `--dry-run` shows them.
//!
//! All of them belong to one Job: whoever deletes it, or lets it come to its end of life, has the cluster delete the
//! rest. The Job is created first and is never suspended, so that its time runs whatever becomes of the client. It
//! starts the first pod; where several measure, the others are made beside it, each with claims and a place of its own.

pub(crate) mod lives;
pub mod reading;
#[cfg(test)]
mod tests;
pub mod texts;

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, PersistentVolumeClaim, Pod},
        rbac::v1::{Role, RoleBinding},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use serde_json::{Value, json};

use self::texts::literal;
use crate::request::{
    MANAGED_BY_LABEL, OURS, PodRun, RUN_LABEL, Seccomp, StartBy, Toleration, USER, VOLUMES, VolumeAsked, VolumeMode,
    VolumeSource, quantity, volume_name,
};

/// The environment variable that has the plan.
pub const PLAN_VARIABLE: &str = "PLIMSOLL_PLAN";

/// The environment variable that has the user's own limits.
pub const LIMITS_VARIABLE: &str = "PLIMSOLL_LIMITS";

/// The environment variable that has the number of the pod, of several.
pub const POD_VARIABLE: &str = "PLIMSOLL_POD";

/// The environment variable that has how many pods there are, of several.
pub const PODS_VARIABLE: &str = "PLIMSOLL_PODS";

/// The environment variable that has the time of day at which several pods begin, where none tells them.
pub const START_VARIABLE: &str = "PLIMSOLL_START";

/// The environment variable that is there when several pods take turns.
pub const TURNS_VARIABLE: &str = "PLIMSOLL_TAKE_TURNS";

/// The environment variable that is set where several pods use the same files.
pub const SHARED_FILE_VARIABLE: &str = "PLIMSOLL_SHARED_FILE";

/// What is there when the program is ready to begin; several pods have the names of their volumes beside it.
pub const READY_FILE: &str = "/run/plimsoll-pod/ready";

/// Where Kubernetes looks for what a container says at its end, and how much of it it keeps.
pub const LAST_WORDS_FILE: &str = "/dev/termination-log";
/// See [`LAST_WORDS_FILE`].
pub const LAST_WORDS_BYTES_MAX: usize = 4096;

/// The entry of the object that pods watch, which has the time of day at which they begin.
pub const START_KEY: &str = "start";

/// Which of a run's pods it is.
pub(crate) const POD_LABEL: &str = "plimsoll/pod";

/// What pods on the same node have in common.
const PLACE_LABEL: &str = "plimsoll/place";

/// How many pods a run has, as the Job says it.
pub(crate) const PODS_ANNOTATION: &str = "plimsoll/pods";

/// The container of the program.
pub(crate) const CONTAINER: &str = "plimsoll";

/// The volume in which the program says that it is ready.
const READY_VOLUME: &str = "ready";

/// The account of pods: the one that every namespace has.
const ACCOUNT: &str = "default";

/// What keeps the scheduler from looking at the pod.
pub(crate) const GATE: &str = "plimsoll/claims";

/// What the program has left to end the run and tell what it has, when the pod is to end.
const GRACE_S: u32 = 30;

/// What the Job has at least beyond the time of its pod, which begins on a node: a Job whose time passes deletes its
/// pod, and with that the log, and a pod whose time passes stays.
const START_S: u64 = 15 * 60;

/// What it has beyond the time that a pod may take to start, for ending.
const END_S: u64 = 60;

fn job_deadline_s(run: &PodRun) -> u64 {
    u64::from(run.deadline_s) + START_S.max(u64::from(run.start_s) + END_S)
}

/// The Job that everything belongs to, with its pod.
pub fn job(run: &PodRun) -> Job {
    let pods = format!("{}x{}", run.pods.nodes, run.pods.per_node);
    from_json(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": run.name(), "labels": labels(run), "annotations": { PODS_ANNOTATION: pods } },
        "spec": {
            "completions": 1,
            "parallelism": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": job_deadline_s(run),
            "ttlSecondsAfterFinished": run.keep_s,
            "template": { "metadata": { "labels": pod_labels(run, 0), "annotations": annotations() }, "spec": pod(run, 0) },
        },
    }))
}

/// The pods beside the Job's own.
pub fn other_pods(run: &PodRun, owner: Option<&OwnerReference>) -> Vec<Pod> {
    let one = |index: u32| {
        let mut pod: Pod = from_json(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": run.pod_name(index), "labels": pod_labels(run, index), "annotations": annotations(),
            },
            "spec": pod(run, index),
        }));
        pod.metadata.owner_references = owner.map(|owner| vec![owner.clone()]);
        pod
    };
    (1..run.pods.all()).map(one).collect()
}

/// The claims that are made for the run, where the cluster does not make them with pods.
pub fn claims(run: &PodRun, owner: Option<&OwnerReference>) -> Vec<PersistentVolumeClaim> {
    let claim = |(index, name): (usize, String)| {
        let spec = claim_spec(&run.volumes[index]).filter(|_| !run.is_ephemeral)?;
        let mut claim: PersistentVolumeClaim = from_json(json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": { "name": name, "labels": labels(run) },
            "spec": spec,
        }));
        claim.metadata.owner_references = owner.map(|owner| vec![owner.clone()]);
        Some(claim)
    };
    run.claims().into_iter().filter_map(claim).collect()
}

/// What a claim of a new volume asks for; `None` of a claim that is there.
fn claim_spec(volume: &VolumeAsked) -> Option<Value> {
    let VolumeSource::Class { class, size_bytes } = &volume.source else { return None };
    Some(json!({
        "storageClassName": class,
        "accessModes": [volume.access.as_str()],
        "volumeMode": volume.mode.as_str(),
        "resources": { "requests": { "storage": quantity(*size_bytes) } },
    }))
}

/// Whether the cluster made a claim with a pod, and removes it with that.
pub(crate) fn goes_with_its_pod(claim: &PersistentVolumeClaim) -> bool {
    claim.metadata.owner_references.iter().flatten().any(|owner| owner.kind == "Pod")
}

/// The object that says when several pods begin, and what lets them look at it.
#[derive(Clone, Debug)]
pub struct StartObjects {
    /// Empty until all are ready.
    pub start: ConfigMap,
    /// The right to look at it.
    pub role: Role,
    /// Given to the account of the pods.
    pub binding: RoleBinding,
}

/// What several pods that watch need; `None` where they do not.
pub fn start_objects(run: &PodRun, owner: Option<&OwnerReference>) -> Option<StartObjects> {
    if !watches(run) {
        return None;
    }
    let owners: Vec<&OwnerReference> = owner.into_iter().collect();
    let metadata = json!({ "name": run.name(), "labels": labels(run), "ownerReferences": owners });
    let group = "rbac.authorization.k8s.io";
    let api = format!("{group}/v1");
    Some(StartObjects {
        start: from_json(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })),
        role: from_json(json!({
            "apiVersion": api, "kind": "Role", "metadata": metadata,
            "rules": [{
                "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [run.name()],
                "verbs": ["get", "list", "watch"],
            }],
        })),
        binding: from_json(json!({
            "apiVersion": api, "kind": "RoleBinding", "metadata": metadata,
            "roleRef": { "apiGroup": group, "kind": "Role", "name": run.name() },
            "subjects": [{ "kind": "ServiceAccount", "name": ACCOUNT }],
        })),
    })
}

/// Whether pods watch an object.
pub(crate) fn watches(run: &PodRun) -> bool {
    run.pods.are_several() && run.pods.start == StartBy::Watching
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

fn pod_labels(run: &PodRun, index: u32) -> Value {
    let mut labels = labels(run);
    if run.pods.are_several() {
        labels[POD_LABEL] = json!(index.to_string());
        labels[PLACE_LABEL] = json!((index / run.pods.per_node).to_string());
    }
    labels
}

/// Nothing moves a pod while it measures.
fn annotations() -> Value {
    json!({
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
        "linkerd.io/inject": "disabled",
    })
}

fn pod(run: &PodRun, index: u32) -> Value {
    let mut spec = json!({
        "restartPolicy": "Never",
        "activeDeadlineSeconds": run.deadline_s,
        "automountServiceAccountToken": watches(run),
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": GRACE_S,
        "nodeSelector": selector(run),
        "securityContext": pod_security(run),
        // The scheduler looks at a pod whose claims are not bound only now and then: it is to look when they are.
        "schedulingGates": [{ "name": GATE }],
        "containers": [container(run, index)],
        "volumes": (0..run.volumes.len()).map(|volume| pod_volume(run, index, volume)).collect::<Vec<_>>(),
    });
    if run.pods.are_several() {
        spec["volumes"].as_array_mut().into_iter().for_each(|volumes| {
            volumes.push(json!({ "name": READY_VOLUME, "emptyDir": { "sizeLimit": "1Mi" } }));
        });
        spec["affinity"] = apart(run, index);
    }
    if let Some(node) = &run.placement.node {
        // Not spec.nodeName, which passes the scheduler by: nobody would then choose a node for the volumes.
        spec["affinity"]["nodeAffinity"] = json!({ "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": [node] }] }],
        } });
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

fn pod_volume(run: &PodRun, pod: u32, index: usize) -> Value {
    let name = volume_name(index);
    match claim_spec(&run.volumes[index]).filter(|_| run.is_ephemeral) {
        Some(spec) => {
            let template = json!({ "metadata": { "labels": labels(run) }, "spec": spec });
            json!({ "name": name, "ephemeral": { "volumeClaimTemplate": template } })
        }
        None => json!({ "name": name, "persistentVolumeClaim": { "claimName": run.claim(pod, index) } }),
    }
}

/// As many pods on each of as many nodes as asked, without having to know nodes: a pod is where others of its place
/// are, and where none of another place is.
fn apart(run: &PodRun, index: u32) -> Value {
    let place = (index / run.pods.per_node).to_string();
    let term = |operator: &str| {
        json!({
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {
                "matchLabels": { RUN_LABEL: run.id.to_string() },
                "matchExpressions": [{ "key": PLACE_LABEL, "operator": operator, "values": [place] }],
            },
        })
    };
    let required = |operator| json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term(operator)] });
    let mut affinity = json!({ "podAntiAffinity": required("NotIn") });
    // The scheduler lets the first in that comes, as it is of its own place: which that is, nobody knows before.
    if run.pods.per_node > 1 {
        affinity["podAffinity"] = required("In");
    }
    affinity
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
        let user = if run.runs_as_root { 0 } else { run.user.unwrap_or(USER) };
        (context["runAsUser"], context["runAsGroup"]) = (json!(user), json!(user));
        // Every file of every volume gets this group, which may write. What was there before is not to be changed so.
        let are_new = (0..run.volumes.len()).all(|index| run.is_made(index));
        if let Some(group) = run.file_group.or(are_new.then_some(user)) {
            context["fsGroup"] = json!(group);
        }
    }
    context
}

fn container(run: &PodRun, pod: u32) -> Value {
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
            { "name": PLAN_VARIABLE, "value": literal(&run.plan) },
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
        variables.push(json!({ "name": LIMITS_VARIABLE, "value": literal(limits) }));
    }
    if run.pods.are_several() {
        be_one_of_several(&mut container, run, pod);
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

/// A pod of several says when it is ready, and learns when to begin.
fn be_one_of_several(container: &mut Value, run: &PodRun, pod: u32) {
    let mut variables = vec![
        json!({ "name": POD_VARIABLE, "value": pod.to_string() }),
        json!({ "name": PODS_VARIABLE, "value": run.pods.all().to_string() }),
    ];
    if let StartBy::Time(at) = run.pods.start {
        variables.push(json!({ "name": START_VARIABLE, "value": at.to_string() }));
    }
    if run.pods.take_turns {
        variables.push(json!({ "name": TURNS_VARIABLE, "value": "1" }));
    }
    if run.shares_files {
        variables.push(json!({ "name": SHARED_FILE_VARIABLE, "value": "1" }));
    }
    container["env"].as_array_mut().into_iter().for_each(|all| all.append(&mut variables));
    let folder = READY_FILE.rsplit_once('/').map_or("/", |(folder, _)| folder);
    container["volumeMounts"] = json!([{ "name": READY_VOLUME, "mountPath": folder }]);
    container["startupProbe"] = json!({
        "exec": { "command": ["/plimsoll", "kubernetes", "ready"] },
        "periodSeconds": 1,
        // However long it takes to fill files: the run has a deadline.
        "failureThreshold": run.deadline_s.max(1),
        "timeoutSeconds": 10,
    });
}

pub(crate) fn toleration(toleration: &Toleration) -> Value {
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
