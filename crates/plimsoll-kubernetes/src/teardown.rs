//! Taking everything away, and making sure that it is gone: claims, volumes, attachments, pods and the Job.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::VolumeAttachment,
};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams},
};
use plimsoll_record::lifecycle::Happening;
use tokio::time::{Instant, sleep};

use crate::{
    cluster::Cluster,
    error::ClusterError,
    request::{PodRun, RUN_LABEL},
    timeline::Timeline,
    watching::Watching,
};

/// How often to look whether everything is gone.
const PAUSE: Duration = Duration::from_millis(250);

/// Deletes what a run made, and waits until it is gone: no longer than `patience`, and not when asked to stop. Gives
/// what is left, in sentences.
pub(crate) async fn teardown(
    cluster: &Cluster,
    run: &PodRun,
    watching: &mut Watching,
    timeline: &mut Timeline,
    patience: Duration,
    stop: &AtomicBool,
) -> Vec<String> {
    let made: Vec<String> = run.claims().filter(|(_, is_made)| *is_made).map(|(claim, _)| claim).collect();
    let volumes: Vec<String> = made.iter().filter_map(|claim| timeline.volume_of(claim)).map(str::to_owned).collect();
    let mut problems = Vec::new();
    let claims = cluster.here::<PersistentVolumeClaim>();
    for claim in &made {
        timeline.claim_happened(claim, Happening::DeleteSent, watching.now_ns());
        if let Err(error) = claims.delete(claim, &DeleteParams::background()).await
            && !is_missing(&error)
        {
            problems.push(ClusterError::of(format!("delete the claim {claim}"), &error).to_string());
        }
    }
    if let Err(error) = cluster.here::<Job>().delete(&run.name(), &DeleteParams::background()).await
        && !is_missing(&error)
    {
        problems.push(ClusterError::of(format!("delete the Job {}", run.name()), &error).to_string());
    }
    if !problems.is_empty() {
        return problems;
    }
    let deadline = Instant::now() + patience;
    let was_stopped = stop.load(Ordering::Relaxed);
    loop {
        while let Ok(observation) = watching.observations.try_recv() {
            timeline.observe(&observation);
        }
        let left = left(cluster, run, &volumes).await;
        let is_asked_again = !was_stopped && stop.load(Ordering::Relaxed);
        if left.iter().all(|one| one.stays) || Instant::now() > deadline || is_asked_again {
            // What watches deliver of the end comes at its own pace.
            sleep(PAUSE).await;
            while let Ok(observation) = watching.observations.try_recv() {
                timeline.observe(&observation);
            }
            return left.into_iter().map(|one| one.text).collect();
        }
        sleep(PAUSE).await;
    }
}

/// Something that is still there.
struct Left {
    text: String,
    /// Whether it stays by somebody's wish.
    stays: bool,
}

async fn left(cluster: &Cluster, run: &PodRun, volumes: &[String]) -> Vec<Left> {
    let ours = ListParams::default().labels(&format!("{RUN_LABEL}={}", run.id));
    let mut left = Vec::new();
    let mut add = |kind: &str, name: &str, finalizers: &[String]| {
        let waits =
            if finalizers.is_empty() { String::new() } else { format!(", held by {}", finalizers.join(" and ")) };
        left.push(Left { text: format!("{kind} {name} is still there{waits}"), stays: false });
    };
    match cluster.here::<Job>().list(&ours).await {
        Ok(jobs) => jobs.iter().for_each(|job| add("Job", &job.name_any(), job.finalizers())),
        Err(error) => add("Job", &format!("{} (cannot be looked up: {error})", run.name()), &[]),
    }
    if let Ok(pods) = cluster.here::<Pod>().list(&ours).await {
        pods.iter().for_each(|pod| add("pod", &pod.name_any(), pod.finalizers()));
    }
    if let Ok(claims) = cluster.here::<PersistentVolumeClaim>().list(&ours).await {
        claims.iter().for_each(|claim| add("claim", &claim.name_any(), claim.finalizers()));
    }
    // Whoever may not look at volumes has to believe that they go with their claims.
    for name in volumes {
        if let Ok(Some(volume)) = cluster.everywhere::<PersistentVolume>().get_opt(name).await {
            let spec = volume.spec.as_ref();
            if spec.and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Retain") {
                let handle = spec.and_then(|spec| spec.csi.as_ref()).map(|csi| csi.volume_handle.as_str());
                let handle = handle.map(|handle| format!(" and the storage behind it ({handle})")).unwrap_or_default();
                let text =
                    format!("volume {name} stays, because its class retains volumes: remove it{handle} yourself");
                left.push(Left { text, stays: true });
            } else {
                let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("in no phase");
                let waits = volume.finalizers().join(" and ");
                left.push(Left {
                    text: format!("volume {name} is still there: {phase}, held by {waits}"),
                    stays: false,
                });
            }
        }
    }
    if let Ok(attachments) = cluster.everywhere::<VolumeAttachment>().list(&ListParams::default()).await {
        for attachment in attachments {
            if let Some(volume) = &attachment.spec.source.persistent_volume_name
                && volumes.contains(volume)
            {
                let text = format!("volume {volume} is still attached to {}", attachment.spec.node_name);
                left.push(Left { text, stays: false });
            }
        }
    }
    left
}

fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
