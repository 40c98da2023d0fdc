//! Runs that are in the cluster, whoever started them: what they do, what came of them, and how they are removed.

use std::{sync::atomic::AtomicBool, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{ResourceExt as _, api::ListParams};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    cluster::Cluster,
    error::ClusterError,
    manifests::reading,
    request::{MANAGED_BY_LABEL, OURS, PodRun, RUN_LABEL},
    teardown::{Made, remove, wait_until_gone},
    troubles::Troubles,
};

/// A run in the cluster.
#[derive(Clone, Debug)]
pub struct RunThere {
    /// What it is.
    pub run: PodRun,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// How far it is.
    pub state: RunState,
    /// What is wrong with it, or where it runs.
    pub detail: String,
    claims: Vec<PersistentVolumeClaim>,
    has_pod: bool,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its pod has not started.
    Waiting,
    /// It measures.
    Running,
    /// It has ended, and its results wait for somebody to collect them.
    Done,
    /// It ended without results.
    Failed,
    /// It is being removed.
    Leaving,
}

impl RunState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Leaving => "leaving",
        }
    }
}

/// The runs of the namespace, the latest first.
pub fn list(cluster: &Cluster) -> Result<Vec<RunThere>, ClusterError> {
    cluster.wait_for(async {
        let ours = ListParams::default().labels(&format!("{MANAGED_BY_LABEL}={OURS},{RUN_LABEL}"));
        let failed = |what: &str, error: &kube::Error| {
            ClusterError::of(format!("list the {what} of namespace {}", cluster.namespace()), error)
        };
        let jobs = cluster.here::<Job>().list(&ours).await.map_err(|error| failed("Jobs", &error))?;
        let claims = cluster.here::<PersistentVolumeClaim>().list(&ours).await;
        let claims = claims.map_err(|error| failed("claims", &error))?.items;
        let pods = cluster.here::<Pod>().list(&ours).await.map_err(|error| failed("pods", &error))?.items;
        let is_of = |labels: Option<&String>, job: &Job| labels == job.labels().get(RUN_LABEL);
        let mut runs: Vec<RunThere> = Vec::new();
        for job in jobs.items {
            let claims: Vec<_> =
                claims.iter().filter(|claim| is_of(claim.labels().get(RUN_LABEL), &job)).cloned().collect();
            let pod = pods.iter().find(|pod| is_of(pod.labels().get(RUN_LABEL), &job));
            let Some(run) = reading::read(&job, &claims) else { continue };
            let (state, detail) = state(&job, pod);
            let created = job.metadata.creation_timestamp.as_ref().map(|time| time.0);
            runs.push(RunThere { run, created, state, detail, claims, has_pod: pod.is_some() });
        }
        runs.sort_by_key(|there| std::cmp::Reverse(there.run.id));
        Ok(runs)
    })
}

/// The run that the beginning of an id or a Job's name stands for.
pub fn find(runs: Vec<RunThere>, text: &str) -> Result<RunThere, ClusterError> {
    let is_meant = |there: &RunThere| there.run.id.to_string().starts_with(text) || there.run.name() == text;
    let mut meant: Vec<RunThere> = runs.into_iter().filter(|there| !text.is_empty() && is_meant(there)).collect();
    match meant.len() {
        1 => Ok(meant.remove(0)),
        0 => Err(ClusterError::Usage(format!(
            "no run of this namespace is called \"{text}\": `plimsoll kubernetes status` lists them"
        ))),
        count => Err(ClusterError::Usage(format!("{count} runs begin with \"{text}\": write more of the id"))),
    }
}

/// Removes all that a run made, and waits until it is gone. Gives what is left, in sentences.
pub fn cleanup(cluster: &Cluster, there: &RunThere, patience: Duration, stop: &AtomicBool) -> Vec<String> {
    let made = there.made();
    cluster.wait_for(async {
        let problems = remove(cluster, &made).await;
        if problems.is_empty() { wait_until_gone(cluster, &made, patience, stop, &mut || {}).await } else { problems }
    })
}

impl RunThere {
    /// Its identity.
    pub const fn id(&self) -> Uuid {
        self.run.id
    }

    /// Why it has no results any more.
    pub(crate) fn why_lost(&self) -> Option<&str> {
        let has_ended = matches!(self.state, RunState::Done | RunState::Failed);
        (has_ended && !self.has_pod).then_some(self.detail.as_str())
    }

    fn made(&self) -> Made {
        let claims = self.run.made_claims();
        let volume = |claim: &PersistentVolumeClaim| claim.spec.as_ref()?.volume_name.clone();
        let volumes = self.claims.iter().filter_map(volume).filter(|name| !name.is_empty()).collect();
        Made { id: self.run.id, job: self.run.name(), claims, volumes }
    }
}

fn state(job: &Job, pod: Option<&Pod>) -> (RunState, String) {
    if job.metadata.deletion_timestamp.is_some() {
        return (RunState::Leaving, format!("held by {}", job.finalizers().join(" and ")));
    }
    let conditions = || job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_so = |kind: &str| conditions().find(|one| one.type_ == kind && one.status == "True");
    let node = pod.and_then(|pod| pod.spec.as_ref()?.node_name.clone());
    let on_node = node.map(|node| format!("on {node}")).unwrap_or_default();
    if is_so("Complete").is_some() {
        return (RunState::Done, on_node);
    }
    if let Some(failed) = is_so("Failed") {
        let why = match pod {
            Some(pod) => Troubles::default().of_end(pod, &[]),
            None => failed.message.clone().unwrap_or_default(),
        };
        return (RunState::Failed, why);
    }
    let phase = pod.and_then(|pod| pod.status.as_ref()?.phase.as_deref());
    match phase {
        Some("Running") => (RunState::Running, on_node),
        Some("Succeeded") => (RunState::Done, on_node),
        Some("Failed") => (RunState::Failed, pod.map(|pod| Troubles::default().of_end(pod, &[])).unwrap_or_default()),
        _ => {
            let trouble = pod.and_then(|pod| Troubles::default().of_start(pod));
            (RunState::Waiting, trouble.map(|trouble| trouble.text).unwrap_or_default())
        }
    }
}
