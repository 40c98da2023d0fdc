//! What volumes are bought as, before there are any: classes say the product, the request the size, nodes the machine.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::{
    core::v1::{Node, PersistentVolume, PersistentVolumeClaim},
    storage::v1::StorageClass,
};
use kube::{ResourceExt as _, api::ListParams};
use plimsoll_catalog::{catalog::Catalog, expectation::Expectation, objects::Objects};
use plimsoll_workload::provisioned::Provisioned;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    error::ClusterError,
    looking::{Blindness, Unseen},
    request::{VolumeAsked, VolumeSource},
};

/// What a volume is bought as.
pub(crate) struct Bought {
    pub(crate) provisioned: Provisioned,
    pub(crate) expectation: Expectation,
    pub(crate) notes: Vec<String>,
}

/// What is expected to be bought for each target, and what is to be said of that.
pub fn bought(
    cluster: &Cluster,
    volumes: &[VolumeAsked],
    node: Option<&str>,
    catalog: &Catalog,
) -> (BTreeMap<String, Provisioned>, BTreeSet<String>) {
    let mut all = BTreeMap::new();
    let mut notes = BTreeSet::new();
    let machines = cluster.wait_for(machines(cluster, node));
    for volume in volumes {
        let found = cluster.wait_for(objects(cluster, volume)).and_then(|items| of(&items, &machines, catalog));
        match found {
            Ok(found) => {
                notes.extend(found.notes.into_iter().map(|note| format!("{}: {note}", volume.target)));
                all.insert(volume.target.clone(), found.provisioned);
            }
            Err(reason) => {
                notes.insert(format!("nothing is expected of {}: {reason}", volume.target));
            }
        }
    }
    (all, notes)
}

/// What a new volume of a class is bought as.
pub(crate) fn of_class(
    class: &StorageClass,
    size_bytes: u64,
    machines: &BTreeSet<String>,
    catalog: &Catalog,
) -> Result<Bought, String> {
    of(&[object("StorageClass", class), volume_to_be(&class.name_any(), size_bytes)], machines, catalog)
}

/// A volume says more than its class: what some drivers buy depends on its size.
fn volume_to_be(class: &str, size_bytes: u64) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": { "name": "volume" },
        "spec": { "storageClassName": class },
        "status": { "capacity": { "storage": size_bytes.to_string() } },
    })
}

/// What the only volume among objects was bought as. A machine counts when it is the only kind, and known.
fn of(items: &[Value], machines: &BTreeSet<String>, catalog: &Catalog) -> Result<Bought, String> {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    let objects = Objects::read("the cluster", &list, catalog).map_err(|error| error.to_string())?;
    let volume = objects.all().iter().find(|described| !described.is_class).ok_or("it is not understood")?;
    let mut notes = volume.notes.clone();
    let mut provisioned = volume.bought.clone()?;
    let alone = Expectation::of(&provisioned, catalog).map_err(|error| error.to_string())?;
    let mut expectation = alone.ok_or("nothing says what was bought")?;
    let names: Vec<&str> = machines.iter().map(String::as_str).collect();
    match names[..] {
        [] => {}
        [machine] => {
            let with = Provisioned { vm: Some(machine.to_owned()), ..provisioned.clone() };
            match Expectation::of(&with, catalog) {
                Ok(Some(both)) => (provisioned, expectation) = (with, both),
                _ => notes.push(format!("what the machine {machine} lets through is not known")),
            }
        }
        _ => notes.push(format!("nodes differ ({}): what they let through is left out", names.join(", "))),
    }
    Ok(Bought { provisioned, expectation, notes })
}

/// The objects that say what a volume is or will be.
async fn objects(cluster: &Cluster, volume: &VolumeAsked) -> Result<Vec<Value>, String> {
    let denied = |what| Unseen::new(what, Blindness::Denied).sentence();
    let class = async |name: String| {
        let class = cluster.everywhere::<StorageClass>().get_opt(&name).await;
        // That there is none is told by whoever makes the volume.
        class.map_err(|_| denied("storageclasses")).map(|class| class.map(|class| object("StorageClass", &class)))
    };
    match &volume.source {
        VolumeSource::Class { class: name, size_bytes } => {
            let mut objects: Vec<Value> = class(name.clone()).await?.into_iter().collect();
            objects.push(volume_to_be(name, *size_bytes));
            Ok(objects)
        }
        VolumeSource::Claim { name } => {
            let claim = cluster.here::<PersistentVolumeClaim>().get(name).await;
            let claim = claim.map_err(|error| ClusterError::of("look at it", &error).to_string())?;
            let spec = claim.spec.clone().unwrap_or_default();
            let mut objects = vec![object("PersistentVolumeClaim", &claim)];
            if let Some(name) = spec.volume_name.filter(|name| !name.is_empty()) {
                let volume = cluster.everywhere::<PersistentVolume>().get(&name).await;
                objects.push(object("PersistentVolume", &volume.map_err(|_| denied("persistentvolumes"))?));
            }
            if let Some(name) = spec.storage_class_name.filter(|name| !name.is_empty()) {
                objects.extend(class(name).await.ok().flatten());
            }
            Ok(objects)
        }
    }
}

/// An object as `kubectl get` prints it: what the API gives for one does not say its kind.
fn object<T: Serialize>(kind: &str, object: &T) -> Value {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    let group = if kind == "StorageClass" { "storage.k8s.io/v1" } else { "v1" };
    (value["apiVersion"], value["kind"]) = (json!(group), json!(kind));
    value
}

/// What the cloud calls the machines that the pod may be on, as far as nodes may be looked at.
async fn machines(cluster: &Cluster, node: Option<&str>) -> BTreeSet<String> {
    const TYPE: &str = "node.kubernetes.io/instance-type";
    const SYSTEM: &str = "kubernetes.io/os";
    let Ok(nodes) = cluster.everywhere::<Node>().list(&ListParams::default()).await else { return BTreeSet::new() };
    let may_be = |one: &&Node| {
        let is_linux = one.labels().get(SYSTEM).is_none_or(|system| system == "linux");
        is_linux && node.is_none_or(|node| one.name_any() == node)
    };
    nodes.iter().filter(may_be).filter_map(|node| node.labels().get(TYPE).cloned()).collect()
}
