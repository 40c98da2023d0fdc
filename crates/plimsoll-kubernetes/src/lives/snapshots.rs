//! VolumeSnapshots, of which not every cluster has the kind.

use std::collections::BTreeSet;

use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams},
};
use plimsoll_catalog::quantity::Quantity;
use serde_json::Value;

use crate::{cluster::Cluster, teardown::Left};

/// A class of snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotClass {
    pub(super) name: String,
    /// Whether what snapshots are of stays when they are gone, as far as is known.
    pub(super) retains: bool,
}

/// What becomes of snapshots, said before they are made.
pub(super) fn warning(classes: &[Option<SnapshotClass>]) -> Option<String> {
    let names: BTreeSet<&str> =
        classes.iter().flatten().filter(|class| class.retains).map(|class| class.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "VolumeSnapshotClass {} retains snapshots: they and the storage behind them stay, and are to be removed by \
             hand",
            names.join(" and ")
        )
    })
}

/// That the storage behind a snapshot stays, with its content as far as that is known.
pub(super) fn stays(class: &SnapshotClass, snapshot: &str, content: Option<&str>) -> Option<Left> {
    let what = match content {
        Some(content) => format!("VolumeSnapshotContent {content} stays"),
        None => format!("the VolumeSnapshotContent of snapshot {snapshot} may stay"),
    };
    let why = format!("because VolumeSnapshotClass {} retains snapshots", class.name);
    let text = format!("{what}, {why}: remove it and the storage behind it yourself");
    class.retains.then_some(Left { text, stays: true })
}

/// What a snapshot is to the cluster, once it is bound.
pub(super) fn content(snapshot: &DynamicObject) -> Option<&str> {
    snapshot.data.pointer("/status/boundVolumeSnapshotContentName")?.as_str()
}

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

    #[test]
    fn snapshots_that_their_class_retains_are_told_before_and_after() {
        let class = |name: &str, retains| SnapshotClass { name: name.to_owned(), retains };
        assert_eq!(warning(&[None, Some(class("goes", false))]), None);
        let classes = [class("kept", true), class("goes", false), class("kept", true)].map(Some);
        assert!(warning(&classes).unwrap().starts_with("VolumeSnapshotClass kept retains snapshots"));
        let bound = snapshot(&json!({ "boundVolumeSnapshotContentName": "snapcontent-1" }));
        let left = stays(&class("kept", true), "s", content(&bound)).unwrap();
        assert!(left.stays && left.text.starts_with("VolumeSnapshotContent snapcontent-1 stays"), "{}", left.text);
        let left = stays(&class("kept", true), "s", None).unwrap();
        assert!(left.text.starts_with("the VolumeSnapshotContent of snapshot s may stay"), "{}", left.text);
        assert!(stays(&class("goes", false), "s", content(&bound)).is_none());
    }
}
