//! Taking everything away, and making sure that it is gone: claims, volumes, attachments, pods and the Job.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        batch::v1::Job,
        core::v1::{ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod},
        rbac::v1::{Role, RoleBinding},
        storage::v1::VolumeAttachment,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Resource, ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams},
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout_at};
use uuid::Uuid;

use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    lives::list_snapshots,
    request::RUN_LABEL,
    run::stopping::{LAST_WORDS, unless_stopped},
    runs::job_of,
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
/// meanwhile. Whoever was asked before does not wait long for a cluster that does not answer. Gives what is left.
/// Tells `each` which claim is about to be deleted, and of none at each look at what is there.
pub(crate) async fn remove(
    cluster: &Cluster,
    made: &Made,
    patience: Duration,
    stop: &AtomicBool,
    each: &mut dyn FnMut(Option<&str>),
) -> Vec<Left> {
    let deadline = Instant::now() + patience;
    let was_stopped = stop.load(Ordering::Relaxed);
    let answered_by = || if was_stopped { deadline.min(Instant::now() + LAST_WORDS) } else { deadline };
    let is_over = |by: Instant| Instant::now() > by || (!was_stopped && stop.load(Ordering::Relaxed));
    let mut by = answered_by();
    let awaited = unless_stopped(stop, timeout_at(by, awaited(cluster, made))).await;
    let mut awaited = awaited.and_then(Result::ok).unwrap_or_default();
    loop {
        match unless_stopped(stop, timeout_at(by, delete(cluster, made, each))).await {
            Some(Ok(Ok(()))) => break,
            // What cannot be deleted now may be when the API server is back.
            Some(Ok(Err(failed))) if failed.may_pass && !is_over(by) => sleep(PAUSE).await,
            Some(Ok(Err(failed))) => return failed.problems,
            Some(Err(_)) | None => return vec![Left::unknown(made)],
        }
    }
    by = answered_by();
    let mut known: Option<(Instant, Vec<Left>)> = None;
    loop {
        each(None);
        let Some(Ok((mut left, is_known))) =
            unless_stopped(stop, timeout_at(by, left(cluster, made, &mut awaited))).await
        else {
            // Time may be over in the middle of a look at a cluster that answers.
            let known = known.filter(|(at, _)| at.elapsed() < LAST_WORDS);
            return known.map_or_else(|| vec![Left::unknown(made)], |(_, left)| left);
        };
        if is_known {
            by = answered_by();
            known = Some((Instant::now(), left.clone()));
        }
        if left.iter().all(|one| one.stays) || is_over(by) || is_over(deadline) {
            // What watches deliver of the end comes at its own pace.
            sleep(PAUSE).await;
            each(None);
            left.extend(awaited.iter().map(|claim| Left::may_come(claim, made)));
            return left;
        }
        sleep(PAUSE).await;
    }
}

/// The claims whose volumes are being made: whoever makes one goes on when its claim is deleted.
async fn awaited(cluster: &Cluster, made: &Made) -> Vec<String> {
    const PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
    let claims = cluster.here::<PersistentVolumeClaim>().list(&ours(made)).await;
    let is_awaited = |claim: &PersistentVolumeClaim| {
        let has_volume = claim.spec.as_ref().is_some_and(|spec| spec.volume_name.is_some());
        !has_volume && claim.annotations().contains_key(PROVISIONER)
    };
    let claims = claims.map(|claims| claims.items).unwrap_or_default();
    claims.iter().filter(|claim| is_awaited(claim)).map(PersistentVolumeClaim::name_any).collect()
}

/// What could not be deleted.
struct NotDeleted {
    problems: Vec<Left>,
    /// Whether trying again may help.
    may_pass: bool,
}

/// Deletes what a run made, the claims first.
async fn delete(cluster: &Cluster, made: &Made, each: &mut dyn FnMut(Option<&str>)) -> Result<(), NotDeleted> {
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
        each(Some(claim));
        if let Err(error) = claims.delete(claim, &DeleteParams::background()).await {
            note(format!("claim {claim}"), &error);
        }
    }
    if let Err(error) = cluster.here::<Job>().delete(&made.job, &DeleteParams::background()).await {
        note(format!("Job {}", made.job), &error);
    }
    delete_ownerless::<Pod>(cluster, made, "pod", &mut note).await;
    delete_ownerless::<ConfigMap>(cluster, made, "ConfigMap", &mut note).await;
    delete_ownerless::<RoleBinding>(cluster, made, "RoleBinding", &mut note).await;
    delete_ownerless::<Role>(cluster, made, "Role", &mut note).await;
    if failed.problems.is_empty() { Ok(()) } else { Err(failed) }
}

/// Deletes what does not go with the Job, because somebody created it from what was printed.
async fn delete_ownerless<K>(cluster: &Cluster, made: &Made, kind: &str, note: &mut impl FnMut(String, &kube::Error))
where
    K: Resource<Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug,
    K::DynamicType: Default,
{
    let objects = cluster.here::<K>();
    // What cannot be looked at is told when all is looked for.
    let Ok(found) = objects.list(&ours(made)).await else { return };
    for name in found.iter().filter(|object| object.owner_references().is_empty()).map(K::name_any) {
        if let Err(error) = objects.delete(&name, &DeleteParams::background()).await {
            note(format!("{kind} {name}"), &error);
        }
    }
}

fn ours(made: &Made) -> ListParams {
    ListParams::default().labels(&format!("{RUN_LABEL}={}", made.id))
}

/// Something that is still there.
#[derive(Clone, Debug)]
pub struct Left {
    /// What, and why.
    pub text: String,
    /// Whether waiting is of no use: it stays by somebody's wish, or may come when nobody knows.
    pub stays: bool,
}

impl Left {
    /// Of what the cluster does not answer about.
    fn unknown(made: &Made) -> Self {
        let Made { id, job, .. } = made;
        let text = format!(
            "Job {job} and what belongs to it may still be there, because the cluster did not answer in time: \
             `plimsoll kubernetes cleanup {id}` removes them"
        );
        Self { text, stays: false }
    }

    /// Of a claim that was deleted while its volume was being made.
    fn may_come(claim: &str, made: &Made) -> Self {
        let job = &made.job;
        let text = format!(
            "claim {claim} was deleted while its volume was being made, which may still come: \
             `plimsoll kubernetes cleanup {job}` looks for it"
        );
        Self { text, stays: true }
    }

    fn still_there(what: &str, name: &str, finalizers: &[String]) -> Self {
        let held =
            if finalizers.is_empty() { String::new() } else { format!(", held by {}", finalizers.join(" and ")) };
        Self { text: format!("{what} {name} is still there{held}"), stays: false }
    }
}

/// What is still there, and whether the cluster said all of it. Claims whose volumes have come are awaited no longer.
async fn left(cluster: &Cluster, made: &Made, awaited: &mut Vec<String>) -> (Vec<Left>, bool) {
    let ours = ours(made);
    let (mut left, mut is_known) = (Vec::new(), true);
    let mut unknown = |what: &str, error: &kube::Error| {
        is_known = false;
        let text = format!("{what} of the run may still be there: {}", ClusterError::of("look for them", error));
        Left { text, stays: false }
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
    let of_snapshot =
        |snapshot: &DynamicObject| Left::still_there("VolumeSnapshot", &snapshot.name_any(), snapshot.finalizers());
    left.extend(list_snapshots(cluster, &ours).await.iter().map(of_snapshot));
    // Whoever may not look at these has made none.
    left.extend(beginnings(cluster, &ours).await);
    // Whoever may not look at volumes has to believe that they go with their claims.
    let mut volumes = made.volumes.clone();
    match cluster.everywhere::<PersistentVolume>().list(&ListParams::default()).await {
        Ok(found) => {
            // One may come when its claim is gone.
            let is_ours = |volume: &PersistentVolume| {
                made.volumes.contains(&volume.name_any())
                    || job_of(volume, cluster.namespace()).as_ref() == Some(&made.job)
            };
            for volume in found.iter().filter(|volume| is_ours(volume)) {
                let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref()?.name.as_ref());
                awaited.retain(|awaited| Some(awaited) != claim);
                left.push(of_volume(&volume.name_any(), volume));
                volumes.push(volume.name_any());
            }
        }
        Err(error) if is_denied(&error) => {}
        Err(error) => left.push(unknown("volumes", &error)),
    }
    match cluster.everywhere::<VolumeAttachment>().list(&ListParams::default()).await {
        Ok(attachments) => {
            let volume_of = |attachment: &VolumeAttachment| attachment.spec.source.persistent_volume_name.clone();
            for attachment in attachments {
                if let Some(volume) = volume_of(&attachment).filter(|volume| volumes.contains(volume)) {
                    let text = format!("volume {volume} is still attached to {}", attachment.spec.node_name);
                    left.push(Left { text, stays: false });
                }
            }
        }
        Err(error) if is_denied(&error) => {}
        Err(error) => left.push(unknown("attachments", &error)),
    }
    (left, is_known)
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

fn is_denied(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Method, Request, Response};
    use kube::{Client, client::Body};
    use serde_json::{Value, json};
    use tower::service_fn;

    use super::*;
    use crate::{cluster::test_clusters::answered_by, request::test_runs::run};

    /// Removes a run of a claim, which goes at once. Gives what is left.
    fn left_of(claim: &Value, volumes: &Value) -> Vec<Left> {
        let (claims, volumes) = (json!([claim]), volumes.clone());
        let is_deleted = std::sync::Arc::new(AtomicBool::new(false));
        let service = service_fn(move |request: Request<Body>| {
            let (is_asked, path) = (*request.method() == Method::GET, request.uri().path());
            is_deleted.fetch_or(!is_asked, Ordering::Relaxed);
            let items = match path.rsplit('/').next() {
                Some("persistentvolumeclaims") if !is_deleted.load(Ordering::Relaxed) => claims.clone(),
                Some("persistentvolumes") => volumes.clone(),
                _ => json!([]),
            };
            let answer = match is_asked {
                true => json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items }),
                false => json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" }),
            };
            async move { Ok::<_, Infallible>(Response::new(Body::from(answer.to_string().into_bytes()))) }
        });
        let cluster = answered_by(|| Client::new(service, "default"));
        let run = run(&["slow"], 8);
        let made = Made { id: run.id, job: run.name(), claims: run.made_claims(), volumes: Vec::new() };
        let stop = AtomicBool::new(false);
        cluster.wait_for(remove(&cluster, &made, Duration::from_secs(5), &stop, &mut |_| {}))
    }

    fn claim(annotations: &Value) -> Value {
        let metadata = json!({ "name": run(&["slow"], 8).claim(0, 0), "annotations": annotations });
        json!({ "metadata": metadata, "spec": {}, "status": { "phase": "Pending" } })
    }

    fn volume(name: &str, claim: &str) -> Value {
        let claim = json!({ "namespace": "default", "name": claim });
        let spec = json!({ "persistentVolumeReclaimPolicy": "Retain", "claimRef": claim });
        json!({ "metadata": { "name": name }, "spec": spec, "status": { "phase": "Released" } })
    }

    #[test]
    fn a_volume_that_comes_when_its_claim_is_deleted_is_not_forgotten() {
        let texts = |annotations: &Value, volumes: &Value| {
            let left = left_of(&claim(annotations), volumes);
            left.into_iter().map(|left| left.text).collect::<Vec<_>>()
        };
        let being_made = json!({ "volume.kubernetes.io/storage-provisioner": "d" });
        let volumes = json!([volume("pvc-1", &run(&["slow"], 8).claim(0, 0)), volume("pvc-2", "data")]);
        let came = texts(&being_made, &volumes);
        assert!(came.len() == 1 && came[0].starts_with("volume pvc-1 stays"), "{came:?}");
        let comes = texts(&being_made, &json!([]));
        assert!(comes.len() == 1 && comes[0].contains("which may still come: `plimsoll kube"), "{comes:?}");
        assert_eq!(texts(&json!({}), &json!([])), Vec::<String>::new());
    }
}
