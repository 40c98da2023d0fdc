//! What a cluster has to make volumes with, and what is expected of them. It only looks.

pub mod classes;

use std::collections::BTreeMap;

use k8s_openapi::api::{
    core::v1::Node,
    storage::v1::{CSIDriver, CSINode, StorageClass, VolumeAttachment},
};
use kube::{ResourceExt as _, api::DynamicObject};
use plimsoll_catalog::catalog::Catalog;
use serde::Serialize;
use serde_json::Value;

use self::classes::Class;
use crate::{
    cluster::Cluster,
    error::ClusterError,
    looking::{Seen, Unseen, list, list_of_versions},
    nodes::{self, NodeFound},
};

/// What was found. What may not be looked at is `None`, and in `unseen`.
#[derive(Clone, Debug, Serialize)]
pub struct Discovered {
    /// The version of the API server.
    pub version: String,
    /// How large the volumes are that something is expected of.
    pub size_bytes: u64,
    /// What volumes can be asked for by.
    pub storage_classes: Option<Vec<Class>>,
    /// What makes them.
    pub drivers: Option<Vec<Driver>>,
    /// What they can be changed to.
    pub volume_attributes_classes: Option<Vec<OtherClass>>,
    /// How they can be kept as they are.
    pub volume_snapshot_classes: Option<Vec<OtherClass>>,
    /// Where they can be used.
    pub nodes: Option<Vec<NodeFound>>,
    /// What could not be seen.
    pub unseen: Vec<Unseen>,
}

/// A CSI driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Driver {
    /// Its name.
    pub name: String,
    /// Whether volumes are attached to nodes before they are mounted.
    pub attaches: bool,
    /// How volumes get the group of the pod: `None`, `File` or `ReadWriteOnceWithFSType`.
    pub fs_group_policy: String,
    /// `Persistent`, `Ephemeral` or both.
    pub modes: Vec<String>,
    /// Whether it tells how much room it has, so that the scheduler looks for it.
    pub tells_capacity: bool,
}

/// A class of attributes or of snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherClass {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: String,
    /// Whether it is what is taken when nobody names one.
    pub is_default: bool,
    /// What the driver is told.
    pub parameters: BTreeMap<String, String>,
}

/// Looks at the cluster.
pub fn discover(cluster: &Cluster, size_bytes: u64, catalog: &Catalog) -> Result<Discovered, ClusterError> {
    cluster.wait_for(async {
        let storage_classes = list(cluster.everywhere::<StorageClass>(), "storageclasses").await?;
        let drivers = list(cluster.everywhere::<CSIDriver>(), "csidrivers").await?;
        let attributes = ("storage.k8s.io", "VolumeAttributesClass", "volumeattributesclasses");
        let attributes = list_of_versions(cluster, attributes, &["v1", "v1beta1"]).await?;
        let snapshots = ("snapshot.storage.k8s.io", "VolumeSnapshotClass", "volumesnapshotclasses");
        let snapshots = list_of_versions(cluster, snapshots, &["v1", "v1beta1"]).await?;
        let nodes = list(cluster.everywhere::<Node>(), "nodes").await?;
        let csi_nodes = list(cluster.everywhere::<CSINode>(), "csinodes").await?;
        let attachments = list(cluster.everywhere::<VolumeAttachment>(), "volumeattachments").await?;
        let mut unseen = Vec::new();
        let nodes = visible(nodes, &mut unseen);
        let csi_nodes = visible(csi_nodes, &mut unseen);
        let attachments = visible(attachments, &mut unseen);
        let nodes = nodes.map(|nodes| nodes::describe(&nodes, csi_nodes.as_deref(), attachments.as_deref()));
        let machines = classes::machines(nodes.as_deref().unwrap_or_default());
        let other = |classes: Vec<DynamicObject>| classes.iter().map(other_class).collect();
        Ok(Discovered {
            version: cluster.version().to_owned(),
            size_bytes,
            storage_classes: visible(storage_classes, &mut unseen)
                .map(|classes| classes::describe(&classes, size_bytes, &machines, catalog)),
            drivers: visible(drivers, &mut unseen).map(|drivers| drivers.iter().map(driver).collect()),
            volume_attributes_classes: visible(attributes, &mut unseen).map(other),
            volume_snapshot_classes: visible(snapshots, &mut unseen).map(other),
            nodes,
            unseen,
        })
    })
}

/// What can be seen; what cannot is noted.
pub(crate) fn visible<T>(seen: Seen<T>, unseen: &mut Vec<Unseen>) -> Option<T> {
    seen.map_err(|one| unseen.push(one)).ok()
}

fn driver(driver: &CSIDriver) -> Driver {
    let spec = &driver.spec;
    let or = |text: &Option<String>, default: &str| text.clone().unwrap_or_else(|| default.to_owned());
    Driver {
        name: driver.name_any(),
        // What the API server takes for granted.
        attaches: spec.attach_required.unwrap_or(true),
        fs_group_policy: or(&spec.fs_group_policy, "ReadWriteOnceWithFSType"),
        modes: spec.volume_lifecycle_modes.clone().unwrap_or_else(|| vec!["Persistent".to_owned()]),
        tells_capacity: spec.storage_capacity.unwrap_or(false),
    }
}

/// A class whose kind not every cluster has, or not in this version.
pub(crate) fn other_class(class: &DynamicObject) -> OtherClass {
    let text = |name: &str| class.data.get(name).and_then(Value::as_str);
    let default = "snapshot.storage.kubernetes.io/is-default-class";
    let parameters = class.data.get("parameters").and_then(Value::as_object);
    OtherClass {
        name: class.name_any(),
        driver: text("driverName").or_else(|| text("driver")).unwrap_or_default().to_owned(),
        is_default: class.annotations().get(default).is_some_and(|value| value == "true"),
        parameters: parameters
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_driver_leaves_out_is_what_the_api_server_takes_for_granted() {
        let told = |spec: Value| driver(&serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap());
        let bare = told(json!({}));
        assert!(bare.attaches && !bare.tells_capacity && bare.modes == ["Persistent"]);
        let file = told(json!({ "attachRequired": false, "fsGroupPolicy": "None", "storageCapacity": true }));
        assert!(!file.attaches && file.tells_capacity && file.fs_group_policy == "None");
    }

    #[test]
    fn classes_of_snapshots_and_of_attributes_name_their_drivers_differently() {
        let class = |value: Value| other_class(&serde_json::from_value(value).unwrap());
        let attributes = class(json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": { "name": "fast" },
            "driverName": "ebs.csi.aws.com", "parameters": { "iops": "9000" },
        }));
        assert_eq!((attributes.driver.as_str(), attributes.is_default), ("ebs.csi.aws.com", false));
        assert_eq!(attributes.parameters["iops"], "9000");
        let snapshots = class(json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "driver": "d",
            "metadata": { "name": "s", "annotations": { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
        }));
        assert_eq!((snapshots.driver.as_str(), snapshots.is_default), ("d", true));
    }
}
