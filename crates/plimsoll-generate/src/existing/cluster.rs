//! A cluster: its nodes, and its StorageClasses as far as they are of the provider.

use std::collections::BTreeMap;

use plimsoll_catalog::{catalog::Catalog, objects::Objects, product::Provider};
use plimsoll_workload::{cloud::Kubernetes, provisioned::Provisioned, units::ByteCount};
use serde::Deserialize;
use serde_json::Value;

use super::{Existing, documents, read_as};
use crate::{
    error::GenerateError,
    setup::decide_product,
    words::{self, OBJECT_LENGTH_MAX},
};

/// The size of the volume that is measured of each class.
const VOLUME: ByteCount = ByteCount(100 << 30);

/// A node, as far as it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The size or type of the machine.
    pub machine: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The zone.
    pub zone: Option<String>,
    /// The version of its kubelet: `v1.34.2`.
    pub version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeObject {
    metadata: Metadata,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    node_info: Info,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Info {
    kubelet_version: Option<String>,
}

/// A cluster, from the JSON of `kubectl get storageclasses,nodes -o json`.
pub fn of_objects(text: &str, provider: Provider, catalog: &Catalog) -> Result<Existing, GenerateError> {
    let mut nodes = Vec::new();
    for document in documents(text)? {
        let items = document.get("items").and_then(Value::as_array).cloned();
        for item in items.unwrap_or_else(|| vec![document]) {
            if item.get("kind").and_then(Value::as_str) == Some("Node") {
                nodes.push(node(&read_as(&item, "a node")?));
            }
        }
    }
    if nodes.is_empty() {
        return of_cluster(&nodes, Vec::new(), provider, catalog);
    }
    let problem = |error: &dyn std::fmt::Display| GenerateError::Existing(error.to_string());
    let objects = Objects::read("the cluster", text, catalog).map_err(|error| problem(&error))?;
    let said = Provisioned { size: Some(VOLUME), ..Provisioned::default() };
    let mut classes = Vec::new();
    for one in objects.all().iter().filter(|one| one.is_class) {
        let name = one.what.trim_start_matches("class ").to_owned();
        classes.push((name, one.completing(&said, catalog)));
    }
    of_cluster(&nodes, classes, provider, catalog)
}

fn node(node: &NodeObject) -> Node {
    let label = |name: &str| node.metadata.labels.get(name).cloned();
    Node {
        machine: label("node.kubernetes.io/instance-type"),
        region: label("topology.kubernetes.io/region"),
        zone: label("topology.kubernetes.io/zone"),
        version: node.status.node_info.kubelet_version.clone(),
    }
}

/// A cluster, from its nodes and from what volumes of its classes are bought as, or why that is not known.
pub fn of_cluster(
    nodes: &[Node],
    classes: Vec<(String, Result<Provisioned, String>)>,
    provider: Provider,
    catalog: &Catalog,
) -> Result<Existing, GenerateError> {
    let mut found = Existing::default();
    let first = nodes.first().ok_or_else(|| {
        GenerateError::Existing(
            "there are no nodes in it: print them with `kubectl get storageclasses,nodes -o json`".into(),
        )
    })?;
    if nodes.iter().any(|node| node.machine != first.machine) {
        found.note("nodes are of several types: this is the first one's");
    }
    if nodes.iter().any(|node| node.zone != first.zone) {
        found.note("nodes are in several zones: this is the first one's, as a volume cannot follow a pod to another");
    }
    found.cloud.zone = first.zone.as_deref().and_then(|zone| own_zone(zone, provider));
    found.cloud.region = first.region.clone().or_else(|| region(first.zone.as_deref()?, provider));
    if provider == Provider::Gcp {
        found.note("nodes do not tell their project: add it, as project = \"my-project\"");
    }
    let mut kubernetes = Kubernetes {
        version: first.version.as_deref().and_then(minor),
        node_type: first.machine.clone(),
        nodes: u32::try_from(nodes.len()).ok(),
        ..Kubernetes::default()
    };
    for (name, bought) in classes {
        match bought {
            Ok(mut bought) => {
                bought.vm = None;
                bought.size = Some(VOLUME);
                let zone = found.cloud.zone.as_deref();
                let place = format!("class {name}");
                let product = decide_product(&place, &mut bought.clone(), provider, zone, catalog);
                match product {
                    Ok("elastic-san") => found.note(format!(
                        "class {name}: it is one of Azure Container Storage, which nobody tells; it is left out"
                    )),
                    Ok(_) => {
                        let own = words::unique(&words::of_class(&name, provider), OBJECT_LENGTH_MAX, |own| {
                            kubernetes.classes.contains_key(own)
                        });
                        if own != name {
                            found.note(format!(
                                "class {name} is {own} here: its own name is the provider's, another's, or none that plans take"
                            ));
                        }
                        kubernetes.classes.insert(own, bought);
                    }
                    Err(error) => found.note(format!("{error}; it is left out")),
                }
            }
            Err(why) => found.note(format!("class {name}: {why}; it is left out")),
        }
    }
    found.cloud.kubernetes = Some(kubernetes);
    Ok(found)
}

/// Azure has the region before the number of a zone, and a zone 0 where there are none.
fn own_zone(zone: &str, provider: Provider) -> Option<String> {
    match provider {
        Provider::Azure => zone.rsplit_once('-').map(|(_, number)| number.to_owned()).filter(|number| number != "0"),
        _ => Some(zone.to_owned()),
    }
}

fn region(zone: &str, provider: Provider) -> Option<String> {
    match provider {
        Provider::Aws => Some(zone.trim_end_matches(|last: char| last.is_ascii_lowercase()).to_owned()),
        _ => zone.rsplit_once('-').map(|(region, _)| region.to_owned()),
    }
}

/// What a new cluster is asked for by: `v1.34.2-gke.1` is 1.34.
fn minor(version: &str) -> Option<String> {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next()?, numbers.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(minor)).then(|| format!("{major}.{minor}"))
}
