//! Jobs that run other programs on volumes: what plimsoll cannot do itself, on Windows and with databases.
//!
//! They are printed and never created. Each is a Job whose state says how the program ended: it fails with the exit
//! code of the program, and a pod that was driven from its node is replaced instead.

pub mod diskspd;
pub mod sql_restore;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::{
    manifests::toleration,
    request::{Toleration, quantity},
};

/// The volume that is measured.
#[derive(Clone, Debug)]
pub enum Volume {
    /// A new one for each pod, which goes with it.
    Class {
        /// Of this class.
        class: String,
        /// How large.
        size_bytes: u64,
    },
    /// One that is there and stays.
    Claim(String),
}

/// What the Jobs have in common.
#[derive(Clone, Debug)]
pub struct ForeignJob {
    /// The name of the Job.
    pub name: String,
    /// The volume to measure.
    pub volume: Volume,
    /// The image with the program.
    pub image: String,
    /// Secrets to pull it with.
    pub pull_secrets: Vec<String>,
    /// Taints that nodes may have.
    pub tolerations: Vec<Toleration>,
    /// How long the Job stays after its end, with its log and its volumes.
    pub keep_s: u32,
}

/// The label by which pods keep away from each other's nodes, so that none disturbs the other.
const KIND_LABEL: &str = "plimsoll/foreign-job";

/// The name of the volume in pods.
const VOLUME: &str = "measured";

impl ForeignJob {
    /// The Job of a pod that this is the rest of.
    fn job(&self, pods: u32, container: &str, mut pod: Value) -> Value {
        let labels = json!({ "app.kubernetes.io/name": self.name, KIND_LABEL: container });
        pod["restartPolicy"] = json!("Never");
        pod["automountServiceAccountToken"] = json!(false);
        pod["affinity"] = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchExpressions": [{ "key": KIND_LABEL, "operator": "Exists" }] },
        }] } });
        if !self.tolerations.is_empty() {
            pod["tolerations"] = self.tolerations.iter().map(toleration).collect();
        }
        if !self.pull_secrets.is_empty() {
            pod["imagePullSecrets"] = self.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
        }
        if let Some(volumes) = pod["volumes"].as_array_mut() {
            volumes.insert(0, self.volume());
        }
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": self.name, "labels": labels },
            "spec": {
                "completions": pods,
                "parallelism": pods,
                "backoffLimit": 0,
                "ttlSecondsAfterFinished": self.keep_s,
                "podFailurePolicy": { "rules": [
                    { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
                    { "action": "FailJob", "onExitCodes": {
                        "containerName": container, "operator": "NotIn", "values": [0],
                    } },
                ] },
                "template": { "metadata": { "labels": labels }, "spec": pod },
            },
        })
    }

    fn volume(&self) -> Value {
        match &self.volume {
            Volume::Claim(claim) => json!({ "name": VOLUME, "persistentVolumeClaim": { "claimName": claim } }),
            Volume::Class { class, size_bytes } => json!({
                "name": VOLUME,
                "ephemeral": { "volumeClaimTemplate": { "spec": {
                    "storageClassName": class,
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": quantity(*size_bytes) } },
                } } },
            }),
        }
    }
}
