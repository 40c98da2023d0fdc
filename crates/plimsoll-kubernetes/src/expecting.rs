//! What volumes are bought as, before there are any: classes say the product, the request the size, nodes the machine.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Node;
use kube::{
    ResourceExt as _,
    api::{Api, DynamicObject, ListParams},
    discovery::ApiResource,
};
use plimsoll_catalog::{catalog::Catalog, objects::Objects};
use plimsoll_workload::{provisioned::Provisioned, units::ByteCount};
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    request::{VolumeAsked, VolumeSource},
};

/// What is expected to be bought for each target, and why nothing is expected of others.
pub fn bought(
    cluster: &Cluster,
    volumes: &[VolumeAsked],
    node: Option<&str>,
    catalog: &Catalog,
) -> (BTreeMap<String, Provisioned>, Vec<String>) {
    let (objects, machine) =
        cluster.wait_for(async { (objects(cluster, volumes).await, machine(cluster, node).await) });
    let mut notes = Vec::new();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    let known = match Objects::read("the cluster", &list, catalog) {
        Ok(known) => known,
        Err(error) => return (BTreeMap::new(), vec![format!("nothing is expected of volumes: {error}")]),
    };
    let mut bought = BTreeMap::new();
    for volume in volumes {
        let (name, size) = match &volume.source {
            VolumeSource::Class { class, size_bytes } => (class.clone(), Some(ByteCount(*size_bytes))),
            VolumeSource::Claim { name } => (format!("{}/{name}", cluster.namespace()), None),
        };
        let said = Provisioned { size, vm: machine.clone(), ..Provisioned::default() };
        let found = known.named(&name).map_err(|error| error.to_string());
        match found.and_then(|one| one.completing(&said, catalog)) {
            Ok(one) => {
                bought.insert(volume.target.clone(), said.or(&one));
            }
            Err(reason) => notes.push(format!("nothing is expected of {}: {reason}", volume.target)),
        }
    }
    (bought, notes)
}

/// The classes, claims and volumes, as far as they may be looked at.
async fn objects(cluster: &Cluster, volumes: &[VolumeAsked]) -> Vec<Value> {
    let mut objects: BTreeMap<(&str, String), Value> = BTreeMap::new();
    for volume in volumes {
        let mut class = None;
        match &volume.source {
            VolumeSource::Class { class: name, .. } => class = Some(name.clone()),
            VolumeSource::Claim { name } => {
                let Some(claim) = get(cluster, "v1", "PersistentVolumeClaim", name).await else { continue };
                class = text(&claim, "/spec/storageClassName").or(class);
                if let Some(name) = text(&claim, "/spec/volumeName")
                    && let Some(volume) = get(cluster, "v1", "PersistentVolume", &name).await
                {
                    objects.insert(("PersistentVolume", name), volume);
                }
                objects.insert(("PersistentVolumeClaim", name.clone()), claim);
            }
        }
        if let Some(name) = class
            && let Some(class) = get(cluster, "storage.k8s.io/v1", "StorageClass", &name).await
        {
            objects.insert(("StorageClass", name), class);
        }
    }
    objects.into_values().collect()
}

async fn get(cluster: &Cluster, version: &str, kind: &str, name: &str) -> Option<Value> {
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let resource = ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(group, version, kind));
    let api: Api<DynamicObject> = if kind == "PersistentVolumeClaim" {
        Api::namespaced_with(cluster.client.clone(), cluster.namespace(), &resource)
    } else {
        Api::all_with(cluster.client.clone(), &resource)
    };
    let object = api.get_opt(name).await.ok().flatten()?;
    serde_json::to_value(object).ok()
}

/// What the cloud calls the machine that the pod will be on, when it can only be one kind.
async fn machine(cluster: &Cluster, node: Option<&str>) -> Option<String> {
    const LABEL: &str = "node.kubernetes.io/instance-type";
    let nodes = cluster.everywhere::<Node>().list(&ListParams::default()).await.ok()?;
    let may_be = |one: &&Node| node.is_none_or(|node| one.name_any() == node);
    let kinds: BTreeSet<&String> = nodes.iter().filter(may_be).filter_map(|node| node.labels().get(LABEL)).collect();
    let only = kinds.first().filter(|_| kinds.len() == 1);
    only.map(|kind| (*kind).clone())
}

fn text(object: &Value, path: &str) -> Option<String> {
    object.pointer(path)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
