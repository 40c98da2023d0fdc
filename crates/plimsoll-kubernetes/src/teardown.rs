//! Taking everything away, and making sure that it is gone: claims, volumes, attachments, pods and the Job.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod},
        rbac::v1::{Role, RoleBinding},
        storage::v1::VolumeAttachment,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams},
};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    request::RUN_LABEL,
};

/// How often to look whether everything is gone.
const PAUSE: Duration = Duration::from_millis(250);

/// What a run made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) id: Uuid,
    /// The Job.
    pub(crate) job: String,
    /// The claims, without those that were there before.
    pub(crate) claims: Vec<String>,
    /// Their volumes, as far as they are known.
    pub(crate) volumes: Vec<String>,
}

/// Deletes what a run made, and waits until it is gone: no longer than `patience`, and not when asked to stop
/// meanwhile. Gives what is left.
pub(crate) async fn remove(
    cluster: &Cluster,
    made: &Made,
    patience: Duration,
    stop: &AtomicBool,
    each: &mut dyn FnMut(),
) -> Vec<Left> {
    let deadline = Instant::now() + patience;
    let was_stopped = stop.load(Ordering::Relaxed);
    let is_over = || Instant::now() > deadline || (!was_stopped && stop.load(Ordering::Relaxed));
    loop {
        match delete(cluster, made).await {
            Ok(()) => break,
            // What cannot be deleted now may be when the API server is back.
            Err(failed) if !failed.may_pass || is_over() => return failed.problems,
            Err(_) => sleep(PAUSE).await,
        }
    }
    loop {
        each();
        let left = left(cluster, made).await;
        if left.iter().all(|one| one.stays) || is_over() {
            // What watches deliver of the end comes at its own pace.
            sleep(PAUSE).await;
            each();
            return left;
        }
        sleep(PAUSE).await;
    }
}

/// What could not be deleted.
struct NotDeleted {
    problems: Vec<Left>,
    /// Whether trying again may help.
    may_pass: bool,
}

/// Deletes what a run made, the claims first.
async fn delete(cluster: &Cluster, made: &Made) -> Result<(), NotDeleted> {
    let mut failed = NotDeleted { problems: Vec::new(), may_pass: false };
    let mut note = |what: String, error: &kube::Error| {
        if !is_missing(error) {
            failed.may_pass |= may_pass(error);
            let text = ClusterError::of(format!("delete the {what}"), error).to_string();
            failed.problems.push(Left { text, stays: false });
        }
    };
    let claims = cluster.here::<PersistentVolumeClaim>();
    for claim in &made.claims {
        if let Err(error) = claims.delete(claim, &DeleteParams::background()).await {
            note(format!("claim {claim}"), &error);
        }
    }
    if let Err(error) = cluster.here::<Job>().delete(&made.job, &DeleteParams::background()).await {
        note(format!("Job {}", made.job), &error);
    }
    if failed.problems.is_empty() { Ok(()) } else { Err(failed) }
}

/// Something that is still there.
#[derive(Clone, Debug)]
pub struct Left {
    /// What, and why.
    pub text: String,
    /// Whether it stays by somebody's wish.
    pub stays: bool,
}

impl Left {
    fn still_there(what: &str, name: &str, finalizers: &[String]) -> Self {
        let held =
            if finalizers.is_empty() { String::new() } else { format!(", held by {}", finalizers.join(" and ")) };
        Self { text: format!("{what} {name} is still there{held}"), stays: false }
    }
}

async fn left(cluster: &Cluster, made: &Made) -> Vec<Left> {
    let ours = ListParams::default().labels(&format!("{RUN_LABEL}={}", made.id));
    let mut left = Vec::new();
    let unknown = |what: &str, error: &kube::Error| Left {
        text: format!("{what} of the run may still be there: {}", ClusterError::of("look for them", error)),
        stays: false,
    };
    match cluster.here::<Job>().list(&ours).await {
        Ok(jobs) => left.extend(jobs.iter().map(|job| Left::still_there("Job", &job.name_any(), job.finalizers()))),
        Err(error) => left.push(unknown("Jobs", &error)),
    }
    match cluster.here::<Pod>().list(&ours).await {
        Ok(pods) => left.extend(pods.iter().map(|pod| Left::still_there("pod", &pod.name_any(), pod.finalizers()))),
        Err(error) => left.push(unknown("pods", &error)),
    }
    match cluster.here::<PersistentVolumeClaim>().list(&ours).await {
        Ok(claims) => {
            left.extend(claims.iter().map(|claim| Left::still_there("claim", &claim.name_any(), claim.finalizers())));
        }
        Err(error) => left.push(unknown("claims", &error)),
    }
    // Whoever may not look at these has made none.
    left.extend(beginnings(cluster, &ours).await);
    // Whoever may not look at volumes has to believe that they go with their claims.
    for name in &made.volumes {
        if let Ok(Some(volume)) = cluster.everywhere::<PersistentVolume>().get_opt(name).await {
            left.push(of_volume(name, &volume));
        }
    }
    if let Ok(attachments) = cluster.everywhere::<VolumeAttachment>().list(&ListParams::default()).await {
        let volume_of = |attachment: &VolumeAttachment| attachment.spec.source.persistent_volume_name.clone();
        for attachment in attachments {
            if let Some(volume) = volume_of(&attachment).filter(|volume| made.volumes.contains(volume)) {
                let text = format!("volume {volume} is still attached to {}", attachment.spec.node_name);
                left.push(Left { text, stays: false });
            }
        }
    }
    left
}

/// What says to several pods when they begin.
async fn beginnings(cluster: &Cluster, ours: &ListParams) -> Vec<Left> {
    let mut left = Vec::new();
    let mut add = |kind: &str, metadata: &ObjectMeta| {
        let finalizers = metadata.finalizers.clone().unwrap_or_default();
        left.push(Left::still_there(kind, metadata.name.as_deref().unwrap_or_default(), &finalizers));
    };
    if let Ok(starts) = cluster.here::<ConfigMap>().list(ours).await {
        starts.iter().for_each(|start| add("ConfigMap", &start.metadata));
    }
    if let Ok(roles) = cluster.here::<Role>().list(ours).await {
        roles.iter().for_each(|role| add("Role", &role.metadata));
    }
    if let Ok(bindings) = cluster.here::<RoleBinding>().list(ours).await {
        bindings.iter().for_each(|binding| add("RoleBinding", &binding.metadata));
    }
    left
}

fn of_volume(name: &str, volume: &PersistentVolume) -> Left {
    let spec = volume.spec.as_ref();
    if spec.and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Retain") {
        let handle = spec.and_then(|spec| spec.csi.as_ref()).map(|csi| csi.volume_handle.as_str());
        let handle = handle.map(|handle| format!(" and the storage behind it ({handle})")).unwrap_or_default();
        let text = format!("volume {name} stays, because its class retains volumes: remove it{handle} yourself");
        return Left { text, stays: true };
    }
    let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("in no phase");
    Left::still_there(&format!("{} volume", phase.to_lowercase()), name, volume.finalizers())
}

fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
