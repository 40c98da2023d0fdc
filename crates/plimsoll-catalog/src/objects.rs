//! Objects of a Kubernetes cluster, as `kubectl get -o yaml` or `-o json` prints them: which volumes they describe,
//! and what each was bought as.
//!
//! Everything may be absent: a StorageClass alone says a product, a PersistentVolume a size besides, a node a machine.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_workload::provisioned::Provisioned;
use serde::Deserialize;

use crate::{
    catalog::Catalog,
    error::CatalogError,
    quantity,
    storage_class::{self, Volume},
};

/// The objects that say something about storage.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    classes: BTreeMap<String, Object>,
    attributes_classes: BTreeMap<String, Object>,
    claims: Vec<Object>,
    volumes: BTreeMap<String, Object>,
    pods: Vec<Object>,
    attachments: Vec<Object>,
    /// Names of nodes with the types of their machines.
    nodes: BTreeMap<String, Option<String>>,
}

/// A volume, or a class of which there is no volume yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it is, as a person would say: `claim data`, `class managed-csi`.
    pub what: String,
    /// Whether it is a class.
    pub is_class: bool,
    /// What results and runs may call it: its claim, its volume, its class when it is the only volume of that, and
    /// where pods have it. Each name means one volume.
    pub names: BTreeSet<String>,
    /// The paths among the names.
    pub paths: BTreeSet<String>,
    /// What it was bought as, or why that is not known.
    pub bought: Result<Provisioned, String>,
    /// What would have been known, had there been more objects or a greater catalog.
    pub notes: Vec<String>,
}

/// The parts of objects that are read, of all kinds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Object {
    kind: String,
    metadata: Metadata,
    /// Of a list.
    items: Vec<Object>,
    /// Of a class.
    provisioner: Option<String>,
    /// Of a class.
    parameters: Option<BTreeMap<String, String>>,
    spec: Spec,
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: Option<String>,
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    storage_class_name: Option<String>,
    volume_attributes_class_name: Option<String>,
    /// Of a claim.
    volume_name: Option<String>,
    resources: Option<Resources>,
    /// Of a volume.
    capacity: Option<Capacity>,
    claim_ref: Option<Reference>,
    csi: Option<Csi>,
    /// Of an attachment.
    source: Option<AttachmentSource>,
    /// Of an attachment or a pod.
    node_name: Option<String>,
    /// Of a pod.
    volumes: Option<Vec<PodVolume>>,
    containers: Option<Vec<Container>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    current_volume_attributes_class_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Resources {
    requests: Option<Capacity>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Capacity {
    storage: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Reference {
    name: Option<String>,
    namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Csi {
    driver: String,
    volume_attributes: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSource {
    persistent_volume_name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodVolume {
    name: String,
    persistent_volume_claim: Option<ClaimSource>,
    /// The claim of such a volume has the name of the pod before its own.
    ephemeral: Option<Ephemeral>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimSource {
    claim_name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Ephemeral {}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Container {
    volume_mounts: Option<Vec<Mount>>,
    volume_devices: Option<Vec<Device>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Mount {
    name: String,
    mount_path: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Device {
    name: String,
    device_path: String,
}

impl Objects {
    /// The objects of a text: one, a list, or several documents.
    pub fn read(file: &str, text: &str) -> Result<Self, CatalogError> {
        let wrong = |problem: String| CatalogError::File { file: file.to_owned(), problem };
        let objects: Vec<Object> = if text.trim_start().starts_with('{') {
            let one = serde_json::from_str(text);
            vec![one.map_err(|error| wrong(format!("this is no object of Kubernetes: {error}")))?]
        } else {
            // The first line says what is wrong, the others show where in the text.
            let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
            serde_saphyr::from_multiple(text)
                .map_err(|error| wrong(format!("this is no object of Kubernetes: {}", first_line(error.to_string()))))?
        };
        let mut all = Self::default();
        objects.into_iter().for_each(|object| all.add(object));
        if all.classes.is_empty() && all.claims.is_empty() && all.volumes.is_empty() {
            return Err(wrong(
                "there is no StorageClass, PersistentVolumeClaim or PersistentVolume in it: make it with `kubectl get \
                 storageclass,pvc,pv,node -o yaml`"
                    .to_owned(),
            ));
        }
        Ok(all)
    }

    fn add(&mut self, object: Object) {
        object.items.iter().cloned().for_each(|item| self.add(item));
        let name = object.metadata.name.clone();
        match object.kind.as_str() {
            _ if name.is_empty() => {}
            "StorageClass" => drop(self.classes.insert(name, object)),
            "VolumeAttributesClass" => drop(self.attributes_classes.insert(name, object)),
            "PersistentVolumeClaim" => self.claims.push(object),
            "PersistentVolume" => drop(self.volumes.insert(name, object)),
            "Pod" => self.pods.push(object),
            "VolumeAttachment" => self.attachments.push(object),
            "Node" => drop(self.nodes.insert(name, object.instance_type())),
            _ => {}
        }
    }

    /// What they describe: volumes and claims first, then the classes of which there is no volume, or more than one.
    pub fn describe(&self, catalog: &Catalog) -> Vec<Described> {
        let mut described: Vec<(Option<&str>, Described)> = Vec::new();
        for (name, volume) in &self.volumes {
            let spec = &volume.spec;
            let claim = spec.claim_ref.as_ref().and_then(|claim| {
                let is_it = |object: &&Object| {
                    Some(&object.metadata.name) == claim.name.as_ref()
                        && (claim.namespace.is_none() || object.metadata.namespace == claim.namespace)
                };
                self.claims.iter().find(is_it)
            });
            let claim =
                claim.or_else(|| self.claims.iter().find(|claim| claim.spec.volume_name.as_ref() == Some(name)));
            described.push(self.volume(Some(volume), claim, catalog));
        }
        for claim in &self.claims {
            let is_shown = |volume: &Object| {
                claim.spec.volume_name.as_ref() == Some(&volume.metadata.name)
                    || volume.spec.claim_ref.as_ref().is_some_and(|of| {
                        of.name.as_ref() == Some(&claim.metadata.name)
                            && (of.namespace.is_none() || of.namespace == claim.metadata.namespace)
                    })
            };
            if !self.volumes.values().any(is_shown) {
                described.push(self.volume(None, Some(claim), catalog));
            }
        }
        for (name, class) in &self.classes {
            let mut own = described.iter_mut().filter(|(of, _)| *of == Some(name.as_str()));
            match (own.next(), own.next()) {
                (Some((_, only)), None) => drop(only.names.insert(name.clone())),
                _ => {
                    let (bought, notes) = self.bought(Some(class), None, None, catalog);
                    let names = BTreeSet::from([name.clone()]);
                    let (what, paths) = (format!("class {name}"), BTreeSet::new());
                    described.push((None, Described { what, is_class: true, names, paths, bought, notes }));
                }
            }
        }
        let mut described: Vec<Described> = described.into_iter().map(|(_, described)| described).collect();
        drop_ambiguous(&mut described);
        described
    }

    /// A volume with its claim, either of which may not be known, and the name of its class.
    fn volume<'a>(
        &'a self,
        volume: Option<&'a Object>,
        claim: Option<&'a Object>,
        catalog: &Catalog,
    ) -> (Option<&'a str>, Described) {
        let class_of = |object: &'a Object| object.spec.storage_class_name.as_deref().filter(|name| !name.is_empty());
        let class = volume.and_then(class_of).or_else(|| claim.and_then(class_of));
        let (bought, notes) = self.bought(class.and_then(|name| self.classes.get(name)), volume, claim, catalog);
        let reference = volume.and_then(|volume| volume.spec.claim_ref.as_ref());
        let claim_name = claim.map(|claim| &claim.metadata.name).or_else(|| reference?.name.as_ref());
        let namespace =
            claim.and_then(|claim| claim.metadata.namespace.as_ref()).or_else(|| reference?.namespace.as_ref());
        let volume_name = volume.map(|volume| &volume.metadata.name);
        let paths = claim_name.map(|claim| self.paths(claim, namespace)).unwrap_or_default();
        let qualified = claim_name.zip(namespace).map(|(claim, namespace)| format!("{namespace}/{claim}"));
        let what = match (claim_name, volume_name) {
            (Some(claim), _) => format!("claim {claim}"),
            (None, Some(volume)) => format!("volume {volume}"),
            (None, None) => "a volume".to_owned(),
        };
        let names = claim_name.into_iter().chain(volume_name).chain(&qualified).chain(&paths).cloned().collect();
        (class, Described { what, is_class: false, names, paths, bought, notes })
    }

    fn bought(
        &self,
        class: Option<&Object>,
        volume: Option<&Object>,
        claim: Option<&Object>,
        catalog: &Catalog,
    ) -> (Result<Provisioned, String>, Vec<String>) {
        let csi = volume.and_then(|volume| volume.spec.csi.as_ref());
        let provisioner = csi.map(|csi| csi.driver.as_str()).or_else(|| class?.provisioner.as_deref());
        let Some(provisioner) = provisioner.filter(|driver| !driver.is_empty()) else {
            return (Err("nothing says which driver made it: add its StorageClass or PersistentVolume".into()), vec![]);
        };
        let mut notes = Vec::new();
        let attributes = claim
            .and_then(|claim| claim.status.current_volume_attributes_class_name.as_ref())
            .or_else(|| volume?.spec.volume_attributes_class_name.as_ref())
            .or_else(|| claim?.spec.volume_attributes_class_name.as_ref());
        let attributes_class = attributes.and_then(|name| {
            let known = self.attributes_classes.get(name);
            if known.is_none() {
                notes.push(format!("what VolumeAttributesClass {name} says is not known: add it"));
            }
            known
        });
        let capacity = volume
            .and_then(|volume| volume.spec.capacity.as_ref()?.storage.as_ref())
            .or_else(|| claim?.spec.resources.as_ref()?.requests.as_ref()?.storage.as_ref());
        let capacity_bytes = match capacity.map(|text| quantity::whole(text).ok_or(text)).transpose() {
            Ok(bytes) => bytes,
            Err(text) => return (Err(format!("its capacity \"{text}\" is not a quantity, as 8Gi")), notes),
        };
        let instance_type = self.instance_type(volume, claim, &mut notes);
        let parameters = |object: Option<&Object>| object.and_then(|of| of.parameters.clone()).unwrap_or_default();
        let described = Volume {
            provisioner,
            parameters: parameters(class),
            volume_attributes: csi.and_then(|csi| csi.volume_attributes.clone()).unwrap_or_default(),
            attributes_class: parameters(attributes_class),
            capacity_bytes,
            instance_type,
        };
        let bought = match storage_class::provisioned(&described) {
            Ok(Some(mut bought)) => {
                if let Some(vm) = bought.vm.take_if(|vm| catalog.machine(vm, &Provisioned::default()).is_err()) {
                    notes.push(format!("what the machine {vm} lets through is not known: say what it is with --vm"));
                }
                Ok(bought)
            }
            Ok(None) => Err(format!("the catalog does not know what the driver {provisioner} makes")),
            Err(error) => Err(error.to_string()),
        };
        (bought, notes)
    }

    /// The machine of the node that has it, or of all nodes when they are alike.
    fn instance_type<'a>(
        &'a self,
        volume: Option<&Object>,
        claim: Option<&Object>,
        notes: &mut Vec<String>,
    ) -> Option<&'a str> {
        let attached = volume.and_then(|volume| {
            let is_its = |attachment: &&Object| {
                let source = attachment.spec.source.as_ref();
                source.and_then(|source| source.persistent_volume_name.as_ref()) == Some(&volume.metadata.name)
            };
            self.attachments.iter().find(is_its)?.spec.node_name.as_ref()
        });
        let node = attached.or_else(|| {
            let claim = claim?;
            let uses =
                |pod: &&Object| pod.uses(&claim.metadata.name, claim.metadata.namespace.as_ref()).next().is_some();
            self.pods.iter().filter(uses).find_map(|pod| pod.spec.node_name.as_ref())
        });
        if let Some(known) = node.and_then(|node| self.nodes.get(node)) {
            return known.as_deref();
        }
        let mut types: Vec<&str> = self.nodes.values().flatten().map(String::as_str).collect();
        types.sort_unstable();
        types.dedup();
        match types[..] {
            [only] => Some(only),
            [] => None,
            _ => {
                let types = types.join(", ");
                notes.push(format!("its node is not known, and nodes differ ({types}): say the machine with --vm"));
                None
            }
        }
    }

    /// Where pods have a claim.
    fn paths(&self, claim: &str, namespace: Option<&String>) -> BTreeSet<String> {
        let of_pod = |pod: &Object| {
            let own: Vec<&str> = pod.uses(claim, namespace).collect();
            let containers = pod.spec.containers.as_deref().unwrap_or_default();
            let mounts = containers.iter().flat_map(|container| {
                let mounts = container.volume_mounts.iter().flatten().map(|mount| (&mount.name, &mount.mount_path));
                mounts
                    .chain(container.volume_devices.iter().flatten().map(|device| (&device.name, &device.device_path)))
            });
            let is_its = |(name, path): &(&String, &String)| own.contains(&name.as_str()) && !path.is_empty();
            mounts.filter(is_its).map(|(_, path)| path.clone()).collect::<Vec<_>>()
        };
        self.pods.iter().flat_map(of_pod).collect()
    }
}

impl Object {
    fn instance_type(&self) -> Option<String> {
        let labels = self.metadata.labels.as_ref()?;
        let names = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
        names.iter().find_map(|name| labels.get(*name)).filter(|name| !name.is_empty()).cloned()
    }

    /// The names that a pod has for a claim.
    fn uses<'a>(&'a self, claim: &'a str, namespace: Option<&'a String>) -> impl Iterator<Item = &'a str> {
        let is_near =
            namespace.is_none() || self.metadata.namespace.is_none() || self.metadata.namespace.as_ref() == namespace;
        let is_it = move |volume: &&PodVolume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
            (Some(source), _) => source.claim_name == claim,
            (None, Some(_)) => {
                claim.strip_prefix(&self.metadata.name).and_then(|rest| rest.strip_prefix('-')) == Some(&volume.name)
            }
            (None, None) => false,
        };
        let volumes = self.spec.volumes.as_deref().unwrap_or_default();
        volumes.iter().filter(move |volume| is_near && is_it(volume)).map(|volume| volume.name.as_str())
    }
}

/// A name that several have names none of them.
fn drop_ambiguous(described: &mut [Described]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for name in described.iter().flat_map(|described| &described.names) {
        *count.entry(name.clone()).or_default() += 1;
    }
    for described in described {
        described.names.retain(|name| count.get(name) == Some(&1));
        described.paths.retain(|name| count.get(name) == Some(&1));
    }
}

/// The only volume, or the only class where there is no volume.
pub fn only(described: &[Described]) -> Option<&Described> {
    let are_classes = described.iter().all(|described| described.is_class);
    let mut of_kind = described.iter().filter(|described| described.is_class == are_classes);
    of_kind.next().filter(|_| of_kind.next().is_none())
}

/// The volume or class of a name.
pub fn named<'a>(described: &'a [Described], name: &str) -> Result<&'a Described, CatalogError> {
    described.iter().find(|described| described.names.contains(name)).ok_or_else(|| CatalogError::UnknownObject {
        name: name.to_owned(),
        known: shortened(described.iter().flat_map(|described| &described.names).map(String::as_str)),
    })
}

/// Names to choose from: the first of them, where there are many.
pub fn shortened<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const NAMES_MAX: usize = 12;
    let names: BTreeSet<&str> = names.collect();
    let some = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
