//! Creating a run's objects, and saying to several pods when they begin: each says that it is ready, and all are told
//! one moment by an object that they watch.

#[cfg(test)]
mod tests;

use std::{fmt::Debug, time::Duration};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        core::v1::{ConfigMap, Node, Pod},
        rbac::v1::{Role, RoleBinding},
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Api, Resource, ResourceExt as _,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use plimsoll_record::numbers;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{NodesFor, Told};
use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    manifests::{self, GATE, START_KEY},
    preflight::placement,
    request::PodRun,
};

/// From when pods are told until they begin: long enough for all to have heard.
const LEAD: SignedDuration = SignedDuration::from_secs(3);

/// By how much clocks may differ that are taken for the same.
const CLOCKS_MAX: SignedDuration = SignedDuration::from_secs(1);

/// How far the cluster's clock is ahead of the one here: it gave an object this time, which has whole seconds, between
/// two moments here. Zero where they may be the same.
fn ahead_by(created: Timestamp, before: Timestamp, after: Timestamp) -> SignedDuration {
    let least = created.duration_since(after);
    let most = created.duration_since(before) + SignedDuration::from_secs(1);
    let are_the_same = least < CLOCKS_MAX && most > -CLOCKS_MAX;
    if are_the_same { SignedDuration::ZERO } else { (least + most) / 2 }
}

/// How long a request is tried again that may succeed a little later, and how often.
const TRYING: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(250);

/// Creates an object, and tries that again for a while where it may succeed a little later; adds to `delays` that it
/// did.
pub(crate) async fn create<K>(
    cluster: &Cluster,
    kind: &str,
    object: &K,
    delays: &mut Vec<String>,
) -> Result<K, ClusterError>
where
    K: Resource<Scope = NamespaceResourceScope> + Clone + Serialize + DeserializeOwned + Debug,
    K::DynamicType: Default,
{
    let (objects, name) = (cluster.here::<K>(), object.name_any());
    let (what, until) = (format!("create the {kind} {name}"), Instant::now() + TRYING);
    let created = persist(&what, until, delays, async || try_to_create(&objects, object).await).await;
    created.map_err(|error| not_created(cluster, kind, &name, &error))
}

/// Sends a request until there is an answer that waiting would not change, or no time left; adds to `delays` that this
/// took several, as the times of volumes include it.
pub(crate) async fn persist<T>(
    what: &str,
    until: Instant,
    delays: &mut Vec<String>,
    request: impl AsyncFn() -> Result<T, kube::Error>,
) -> Result<T, kube::Error> {
    let (began, mut trouble) = (Instant::now(), None);
    loop {
        match request().await {
            Err(error) if may_pass(&error) && Instant::now() < until => {
                trouble = Some(error);
                sleep(PAUSE).await;
            }
            answer => {
                delays.extend(trouble.map(|trouble| delay(what, began.elapsed(), &trouble)));
                return answer;
            }
        }
    }
}

fn delay(what: &str, took: Duration, last: &kube::Error) -> String {
    let took = numbers::duration(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    let what = format!("the cluster took {took} and several requests to {what}");
    ClusterError::of(format!("{what}, which the times of volumes include"), last).to_string()
}

/// Creates an object, whose name nobody else has: one that is there comes from a request that was sent again.
pub(crate) async fn try_to_create<K>(objects: &Api<K>, object: &K) -> Result<K, kube::Error>
where
    K: Resource + Clone + Serialize + DeserializeOwned + Debug,
{
    let parameters = PostParams { field_manager: Some("plimsoll".to_owned()), ..PostParams::default() };
    match objects.create(&parameters, object).await {
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {
            match objects.get(&object.name_any()).await {
                // Who may create it need not be one who may look at it.
                Err(kube::Error::Api(status)) if status.code == 403 => Ok(object.clone()),
                answer => answer,
            }
        }
        answer => answer,
    }
}

/// That an object was not created.
pub(crate) fn not_created(cluster: &Cluster, kind: &str, name: &str, error: &kube::Error) -> ClusterError {
    ClusterError::of(format!("create the {kind} {name} in namespace {}", cluster.namespace()), error)
}

/// Creates the object that says when pods begin, where they watch one.
pub(super) async fn create_start(
    cluster: &Cluster,
    run: &PodRun,
    owner: &OwnerReference,
    delays: &mut Vec<String>,
) -> Result<(), ClusterError> {
    if let Some(objects) = manifests::start_objects(run, Some(owner)) {
        create::<ConfigMap>(cluster, "ConfigMap", &objects.start, delays).await?;
        create::<Role>(cluster, "Role", &objects.role, delays).await?;
        create::<RoleBinding>(cluster, "RoleBinding", &objects.binding, delays).await?;
    }
    Ok(())
}

/// The nodes that take a pod of the run; `None` when nodes may not be looked at.
pub fn nodes_for(cluster: &Cluster, run: &PodRun) -> Result<Option<NodesFor>, ClusterError> {
    let nodes = cluster.everywhere::<Node>();
    match cluster.wait_for(nodes.list(&ListParams::default())) {
        Ok(nodes) => Ok(Some(placement::nodes_for(&nodes.items, run))),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(ClusterError::of("list the nodes", &error)),
    }
}

/// Whether the objects that pods watch may be made here; asked in dry runs.
pub fn may_be_watched(cluster: &Cluster, run: &PodRun) -> Result<(), ClusterError> {
    let Some(objects) = manifests::start_objects(run, None) else { return Ok(()) };
    cluster.wait_for(async {
        let parameters = PostParams { dry_run: true, ..PostParams::default() };
        let refused = |kind: &str, error: &kube::Error| {
            ClusterError::of(format!("create a {kind} in namespace {}", cluster.namespace()), error)
        };
        let start = cluster.here::<ConfigMap>().create(&parameters, &objects.start).await;
        start.map_err(|error| refused("ConfigMap", &error))?;
        let role = cluster.here::<Role>().create(&parameters, &objects.role).await;
        role.map_err(|error| refused("Role", &error))?;
        match cluster.here::<RoleBinding>().create(&parameters, &objects.binding).await {
            // Whoever has to have the rights of the Role that is bound is asked for it, and a dry run has made none.
            // That the rights are there is what the answer about the Role said.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            answer => answer.map(drop).map_err(|error| refused("RoleBinding", &error)),
        }
    })
}

/// Lets the scheduler look at a pod, as far as that is ours: others may hold it by gates of their own. `false` when it
/// has to be tried again.
pub(super) async fn release(pods: &Api<Pod>, name: &str) -> Result<bool, ClusterError> {
    let patch = Patch::Strategic(json!({ "spec": { "schedulingGates": [{ "$patch": "delete", "name": GATE }] } }));
    match pods.patch(name, &PatchParams::default(), &patch).await {
        Ok(_) => Ok(true),
        Err(error) if may_pass(&error) => Ok(false),
        Err(error) => Err(ClusterError::of(format!("let the pod {name} be scheduled"), &error)),
    }
}

/// Whether pods have been told when to begin.
pub(super) async fn has_begun(cluster: &Cluster, run: &PodRun) -> bool {
    if !manifests::watches(run) {
        return true;
    }
    let start = cluster.here::<ConfigMap>().get_opt(&run.name()).await.ok().flatten();
    start.and_then(|start| start.data).is_some_and(|data| data.contains_key(START_KEY))
}

/// How far the cluster's clock is ahead of the one here: it is asked to make an object, and not to keep it. Zero where
/// it does not say.
async fn ahead(cluster: &Cluster, name: &str) -> SignedDuration {
    let metadata = ObjectMeta { name: Some(format!("{name}-clock")), ..ObjectMeta::default() };
    let parameters = PostParams { dry_run: true, ..PostParams::default() };
    let before = Timestamp::now();
    let made = cluster.here().create(&parameters, &ConfigMap { metadata, ..ConfigMap::default() }).await;
    let created = made.ok().and_then(|made| made.metadata.creation_timestamp);
    created.map_or(SignedDuration::ZERO, |created| ahead_by(created.0, before, Timestamp::now()))
}

/// Tells all pods when they begin, by the cluster's clock; `false` when that has to be tried again.
pub(super) async fn begin(
    cluster: &Cluster,
    run: &PodRun,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<bool, ClusterError> {
    let name = run.name();
    let ahead = ahead(cluster, &name).await;
    let at = Timestamp::now() + ahead + LEAD;
    let patch = Patch::Merge(json!({ "data": { START_KEY: at.to_string() } }));
    match cluster.here::<ConfigMap>().patch(&name, &PatchParams::default(), &patch).await {
        Ok(_) => {
            if !ahead.is_zero() {
                let by = numbers::duration(u64::try_from(ahead.unsigned_abs().as_nanos()).unwrap_or(u64::MAX));
                let direction = if ahead.is_positive() { "behind" } else { "ahead of" };
                tell(Told::Note(format!("the clock of this machine is about {by} {direction} that of the cluster")));
            }
            tell(Told::Note(format!("{} pods are ready and begin together", run.pods.all())));
            Ok(true)
        }
        Err(error) if may_pass(&error) => Ok(false),
        Err(error) => Err(ClusterError::of(format!("say in the ConfigMap {name} when pods begin"), &error)),
    }
}
