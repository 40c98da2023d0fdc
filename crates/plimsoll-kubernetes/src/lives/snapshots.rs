//! VolumeSnapshots, of which not every cluster has the kind.

use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams},
};
use serde_json::Value;

use crate::cluster::Cluster;

/// The snapshots of the namespace.
pub(super) fn here(cluster: &Cluster) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: "snapshot.storage.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "snapshot.storage.k8s.io/v1".to_owned(),
        kind: "VolumeSnapshot".to_owned(),
        plural: "volumesnapshots".to_owned(),
    };
    Api::namespaced_with(cluster.client.clone(), cluster.namespace(), &resource)
}

/// Whether a snapshot can be used.
pub(super) fn is_ready(snapshot: &DynamicObject) -> bool {
    snapshot.data.pointer("/status/readyToUse") == Some(&Value::Bool(true))
}

/// What is wrong with it.
pub(super) fn trouble(snapshot: &DynamicObject) -> Option<&str> {
    snapshot.data.pointer("/status/error/message")?.as_str()
}

/// The snapshots that are there of runs. Whoever may not look at them has made none, and so in a cluster without them.
pub(crate) async fn list(cluster: &Cluster, ours: &ListParams) -> Vec<DynamicObject> {
    here(cluster).list(ours).await.map(|list| list.items).unwrap_or_default()
}
