//! Runs that are in the cluster, whoever started them: what they do, what came of them, and how they are removed.

use std::{cmp::Reverse, collections::BTreeMap, sync::atomic::AtomicBool, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::{ResourceExt as _, api::ListParams};
use plimsoll_record::summary::Summary;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    cluster::Cluster,
    error::ClusterError,
    manifests::{POD_LABEL, PODS_ANNOTATION, reading},
    request::{MANAGED_BY_LABEL, OURS, PodRun, RUN_LABEL, job_name},
    teardown::{Left, Made, remove},
    timeline::last_words,
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
    /// What its first pod said at its end, which is known also when its log is gone.
    pub summary: Option<Summary>,
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
            let is_first = |pod: &Pod| pod.labels().get(POD_LABEL).is_none_or(|number| number == "0");
            let pod = pods.iter().find(|pod| is_of(pod.labels().get(RUN_LABEL), &job) && is_first(pod));
            let Some(run) = reading::read(&job, &claims) else { continue };
            let (state, detail) = state(&job, pod);
            let created = job.metadata.creation_timestamp.as_ref().map(|time| time.0);
            let last_words = pod.and_then(last_words);
            let summary = last_words.and_then(|words| serde_json::from_str(words).ok());
            runs.push(RunThere { run, created, state, detail, summary, has_pod: pod.is_some() });
        }
        runs.sort_by_key(|there| Reverse(there.run.id));
        Ok(runs)
    })
}

/// The run that the beginning of an id or a Job's name stands for.
pub fn find<T>(runs: Vec<T>, id: fn(&T) -> Uuid, text: &str) -> Result<T, ClusterError> {
    let is_meant = |run: &T| id(run).to_string().starts_with(text) || job_name(id(run)) == text;
    let mut meant: Vec<T> = runs.into_iter().filter(|run| !text.is_empty() && is_meant(run)).collect();
    match meant.len() {
        1 => Ok(meant.remove(0)),
        0 => Err(ClusterError::Usage(format!(
            "no run of this namespace is called \"{text}\": `plimsoll kubernetes status` lists them"
        ))),
        count => Err(ClusterError::Usage(format!("{count} runs begin with \"{text}\": write more of the id"))),
    }
}

/// What there is of a run, also when its Job is gone and something holds the rest.
#[derive(Clone, Debug)]
pub struct Remains {
    made: Made,
}

/// What there is of all runs of the namespace, the latest first.
pub fn remains(cluster: &Cluster) -> Result<Vec<Remains>, ClusterError> {
    cluster.wait_for(async {
        let ours = ListParams::default().labels(&format!("{MANAGED_BY_LABEL}={OURS},{RUN_LABEL}"));
        let failed = |what: &str, error: &kube::Error| {
            ClusterError::of(format!("list the {what} of namespace {}", cluster.namespace()), error)
        };
        let jobs = cluster.here::<Job>().list(&ours).await.map_err(|error| failed("Jobs", &error))?;
        let claims = cluster.here::<PersistentVolumeClaim>().list(&ours).await;
        let claims = claims.map_err(|error| failed("claims", &error))?;
        let pods = cluster.here::<Pod>().list(&ours).await.map_err(|error| failed("pods", &error))?;
        let id = |labels: &BTreeMap<String, String>| labels.get(RUN_LABEL)?.parse::<Uuid>().ok();
        let of_jobs = jobs.iter().filter_map(|job| id(job.labels()));
        let of_pods = pods.iter().filter_map(|pod| id(pod.labels()));
        let of_claims = claims.iter().filter_map(|claim| id(claim.labels()));
        let none = |id| Made { id, job: job_name(id), claims: Vec::new(), volumes: Vec::new() };
        let all = of_jobs.chain(of_pods).chain(of_claims);
        let mut all: BTreeMap<_, _> = all.map(|id| (Reverse(id), none(id))).collect();
        for claim in claims {
            if let Some(made) = id(claim.labels()).and_then(|id| all.get_mut(&Reverse(id))) {
                made.claims.push(claim.name_any());
                made.volumes.extend(claim.spec.and_then(|spec| spec.volume_name));
            }
        }
        Ok(all.into_values().map(|made| Remains { made }).collect())
    })
}

/// Removes all that a run made, and waits until it is gone. Gives what is left.
pub fn cleanup(cluster: &Cluster, remains: &Remains, patience: Duration, stop: &AtomicBool) -> Vec<Left> {
    cluster.wait_for(remove(cluster, &remains.made, patience, stop, &mut || {}))
}

impl Remains {
    /// The run's identity.
    pub const fn id(&self) -> Uuid {
        self.made.id
    }
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
}

fn state(job: &Job, pod: Option<&Pod>) -> (RunState, String) {
    if job.metadata.deletion_timestamp.is_some() {
        return (RunState::Leaving, format!("held by {}", job.finalizers().join(" and ")));
    }
    let conditions = || job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_so = |kind: &str| conditions().find(|one| one.type_ == kind && one.status == "True");
    let node = pod.and_then(|pod| pod.spec.as_ref()?.node_name.clone());
    let others = match job.annotations().get(PODS_ANNOTATION).map(String::as_str) {
        None | Some("1x1") => String::new(),
        Some(pods) => format!(" and others, {} (nodes x pods)", pods.replace('x', " x ")),
    };
    let on_node = node.map(|node| format!("on {node}{others}")).unwrap_or_default();
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
