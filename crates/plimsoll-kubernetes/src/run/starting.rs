//! Creating a run's objects, and saying to several pods when they begin: each says that it is ready, and all are told
//! one moment by an object that they watch.

use std::fmt::Debug;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        core::v1::{ConfigMap, Node},
        rbac::v1::{Role, RoleBinding},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Resource, ResourceExt as _,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::{NodesFor, Told};
use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    manifests::{self, START_KEY},
    preflight::placement,
    request::PodRun,
};

/// From when pods are told until they begin: long enough for all to have heard.
const LEAD: SignedDuration = SignedDuration::from_secs(3);

/// Creates an object, whose name nobody else has: one that is there comes from a request that was sent again.
pub(super) async fn create<K>(cluster: &Cluster, kind: &str, object: &K) -> Result<K, ClusterError>
where
    K: Resource<Scope = NamespaceResourceScope> + Clone + Serialize + DeserializeOwned + Debug,
    K::DynamicType: Default,
{
    let parameters = PostParams { field_manager: Some("plimsoll".to_owned()), ..PostParams::default() };
    let name = object.name_any();
    let doing = || format!("create the {kind} {name} in namespace {}", cluster.namespace());
    let objects = cluster.here::<K>();
    match objects.create(&parameters, object).await {
        Ok(created) => Ok(created),
        Err(kube::Error::Api(status)) if status.code == 409 => {
            objects.get(&name).await.map_err(|error| ClusterError::of(doing(), &error))
        }
        Err(error) => Err(ClusterError::of(doing(), &error)),
    }
}

/// Creates the object that says when pods begin, where they watch one.
pub(super) async fn create_start(cluster: &Cluster, run: &PodRun, owner: &OwnerReference) -> Result<(), ClusterError> {
    if let Some(objects) = manifests::start_objects(run, Some(owner)) {
        create::<ConfigMap>(cluster, "ConfigMap", &objects.start).await?;
        create::<Role>(cluster, "Role", &objects.role).await?;
        create::<RoleBinding>(cluster, "RoleBinding", &objects.binding).await?;
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
        let binding = cluster.here::<RoleBinding>().create(&parameters, &objects.binding).await;
        binding.map_err(|error| refused("RoleBinding", &error))?;
        Ok(())
    })
}

/// Whether pods have been told when to begin.
pub(super) async fn has_begun(cluster: &Cluster, run: &PodRun) -> bool {
    if !manifests::watches(run) {
        return true;
    }
    let start = cluster.here::<ConfigMap>().get_opt(&run.name()).await.ok().flatten();
    start.and_then(|start| start.data).is_some_and(|data| data.contains_key(START_KEY))
}

/// Tells all pods when they begin; `false` when that has to be tried again.
pub(super) async fn begin(
    cluster: &Cluster,
    run: &PodRun,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<bool, ClusterError> {
    let name = run.name();
    let at = Timestamp::now() + LEAD;
    let patch = Patch::Merge(json!({ "data": { START_KEY: at.to_string() } }));
    match cluster.here::<ConfigMap>().patch(&name, &PatchParams::default(), &patch).await {
        Ok(_) => {
            tell(Told::Note(format!("{} pods are ready and begin together", run.pods.all())));
            Ok(true)
        }
        Err(error) if may_pass(&error) => Ok(false),
        Err(error) => Err(ClusterError::of(format!("say in the ConfigMap {name} when pods begin"), &error)),
    }
}
