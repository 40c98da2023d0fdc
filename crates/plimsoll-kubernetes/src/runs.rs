//! Runs that are in the cluster, whoever started them: what they do, what came of them, and how they are removed.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
};
use kube::{ResourceExt as _, api::ListParams};
use plimsoll_record::summary::Summary;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    cluster::Cluster,
    error::ClusterError,
    lives::list_snapshots,
    manifests::{POD_LABEL, PODS_ANNOTATION, goes_with_its_pod, lives::LIVES_ANNOTATION, reading},
    request::{ID_END, JOB_PREFIX, MANAGED_BY_LABEL, OURS, PodRun, RUN_LABEL, job_name},
    teardown::{Left, Made, remove},
    timeline::last_words,
    troubles::{JobEnd, Troubles},
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
    /// What its volumes live, of one whose client alone has the results: `10 of slow,fast`.
    pub lives: Option<String>,
    /// What its first pod said at its end, which is known also when its log is gone.
    pub summary: Option<Summary>,
    has_pod: bool,
    /// The numbers of pods that are gone, of several.
    pub(crate) missing: Vec<u32>,
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
            let numbers = pods.iter().filter(|pod| is_of(pod.labels().get(RUN_LABEL), &job));
            let numbers: BTreeSet<&str> =
                numbers.filter_map(|pod| Some(pod.labels().get(POD_LABEL)?.as_str())).collect();
            let is_missing = |number: &u32| !numbers.contains(number.to_string().as_str());
            let missing: Vec<u32> = (1..run.pods.all()).filter(is_missing).collect();
            let lives = job.annotations().get(LIVES_ANNOTATION).cloned();
            // Pods of lives say nothing of the whole.
            let pod = pod.filter(|_| lives.is_none());
            let (state, mut detail) = match &lives {
                Some(lives) => state_of_lives(&job, lives),
                None => state(&job, pod),
            };
            let created = job.metadata.creation_timestamp.as_ref().map(|time| time.0);
            let last_words = pod.and_then(last_words);
            let summary = last_words.and_then(|words| serde_json::from_str(words).ok());
            if !missing.is_empty() {
                detail += &format!(", {} of {} pods are gone", missing.len(), run.pods.all());
            }
            runs.push(RunThere { run, created, state, detail, lives, summary, has_pod: pod.is_some(), missing });
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
        let volumes = cluster.everywhere::<PersistentVolume>().list(&ListParams::default()).await;
        // Whoever may not look at volumes knows of those whose claims are there.
        let volumes = volumes.map(|volumes| volumes.items).unwrap_or_default();
        let snapshots = list_snapshots(cluster, &ours).await;
        let of_snapshots = snapshots.iter().filter_map(|snapshot| id(snapshot.labels()));
        let all = of_jobs.chain(of_pods).chain(of_claims).chain(of_snapshots);
        let mut all: BTreeMap<_, _> = all.map(|id| (Reverse(id), none(id))).collect();
        for claim in claims {
            if let Some(made) = id(claim.labels()).and_then(|id| all.get_mut(&Reverse(id))) {
                if !goes_with_its_pod(&claim) {
                    made.claims.push(claim.name_any());
                }
                made.volumes.extend(claim.spec.and_then(|spec| spec.volume_name));
            }
        }
        for volume in &volumes {
            let Some(job) = job_of(volume, cluster.namespace()) else { continue };
            let known = all.values_mut().find(|made| made.job == job);
            let made = match known {
                Some(made) => made,
                None => {
                    let id = id_of_name(&job);
                    all.entry(Reverse(id)).or_insert_with(|| none(id))
                }
            };
            if !made.volumes.contains(&volume.name_any()) {
                made.volumes.push(volume.name_any());
            }
        }
        Ok(all.into_values().map(|made| Remains { made }).collect())
    })
}

/// The Job that a volume was made for, by the name of its claim, which may be gone.
pub(crate) fn job_of(volume: &PersistentVolume, namespace: &str) -> Option<String> {
    let claim = volume.spec.as_ref()?.claim_ref.as_ref()?;
    let end = claim.name.as_deref()?.strip_prefix(JOB_PREFIX)?.split('-').next()?;
    let is_ours = end.len() == ID_END && end.chars().all(|digit| digit.is_ascii_hexdigit());
    (is_ours && claim.namespace.as_deref() == Some(namespace)).then(|| format!("{JOB_PREFIX}{end}"))
}

/// An id that ends as the name of a Job says; the beginning is not known.
fn id_of_name(job: &str) -> Uuid {
    let end = job.strip_prefix(JOB_PREFIX).and_then(|end| u128::from_str_radix(end, 16).ok());
    Uuid::from_u128(end.unwrap_or(0))
}

/// Removes all that a run made, and waits until it is gone. Gives what is left.
pub fn cleanup(cluster: &Cluster, remains: &Remains, patience: Duration, stop: &AtomicBool) -> Vec<Left> {
    cluster.wait_for(remove(cluster, &remains.made, patience, stop, &mut |_| {}))
}

impl Remains {
    /// The run's identity; that of a run of which only volumes are left ends as it did.
    pub const fn id(&self) -> Uuid {
        self.made.id
    }

    /// What it is called in sentences.
    pub fn name(&self) -> &str {
        &self.made.job
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

/// The pods of lives come and go: only the Job says whether it goes on.
fn state_of_lives(job: &Job, lives: &str) -> (RunState, String) {
    match state(job, None) {
        (RunState::Waiting, _) => (RunState::Running, format!("lives of volumes, {lives}, while its client is there")),
        (state, detail) => (state, format!("lives of volumes, {lives}: {detail}")),
    }
}

fn state(job: &Job, pod: Option<&Pod>) -> (RunState, String) {
    if job.metadata.deletion_timestamp.is_some() {
        return (RunState::Leaving, format!("held by {}", job.finalizers().join(" and ")));
    }
    let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_complete = conditions.any(|one| one.type_ == "Complete" && one.status == "True");
    let node = pod.and_then(|pod| pod.spec.as_ref()?.node_name.clone());
    let others = match job.annotations().get(PODS_ANNOTATION).map(String::as_str) {
        None | Some("1x1") => String::new(),
        Some(pods) => format!(" and others, {} (nodes x pods)", pods.replace('x', " x ")),
    };
    let on_node = node.map(|node| format!("on {node}{others}")).unwrap_or_default();
    if is_complete {
        return (RunState::Done, on_node);
    }
    let job_end = JobEnd::of(Some(job));
    let of_end = |pod: &Pod| Troubles::of_objects(job_end.clone()).of_end(pod, &[]);
    if let Some(end) = &job_end {
        return (RunState::Failed, pod.map_or_else(|| end.sentence(), of_end));
    }
    let phase = pod.and_then(|pod| pod.status.as_ref()?.phase.as_deref());
    match phase {
        Some("Running") => (RunState::Running, on_node),
        Some("Succeeded") => (RunState::Done, on_node),
        Some("Failed") => (RunState::Failed, pod.map(of_end).unwrap_or_default()),
        _ => {
            let trouble = pod.and_then(|pod| Troubles::default().of_start(pod));
            (RunState::Waiting, trouble.map(|trouble| trouble.text).unwrap_or_default())
        }
    }
}
