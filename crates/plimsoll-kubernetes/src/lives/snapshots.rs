//! VolumeSnapshots, of which not every cluster has the kind.

use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams},
};
use plimsoll_catalog::quantity::Quantity;
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

/// How large a volume made of it has to be at least, as far as it says.
pub(super) fn restore_bytes(snapshot: &DynamicObject) -> Option<u64> {
    Quantity::read(snapshot.data.pointer("/status/restoreSize")?.as_str()?)?.whole()
}

/// What is wrong with it.
pub(super) fn trouble(snapshot: &DynamicObject) -> Option<&str> {
    snapshot.data.pointer("/status/error/message")?.as_str()
}

/// The snapshots that are there of runs. Whoever may not look at them has made none, and so in a cluster without them.
pub(crate) async fn list(cluster: &Cluster, ours: &ListParams) -> Vec<DynamicObject> {
    here(cluster).list(ours).await.map(|list| list.items).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn snapshot(status: &Value) -> DynamicObject {
        let metadata = json!({ "name": "s" });
        serde_json::from_value(json!({ "metadata": metadata, "status": status })).unwrap()
    }

    #[test]
    fn a_snapshot_says_how_large_volumes_made_of_it_have_to_be() {
        assert_eq!(restore_bytes(&snapshot(&json!({ "restoreSize": "50Gi" }))), Some(50 << 30));
        assert_eq!(restore_bytes(&snapshot(&json!({ "readyToUse": true }))), None);
    }
}
