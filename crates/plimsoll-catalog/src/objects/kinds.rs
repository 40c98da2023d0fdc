//! The kinds of objects that say something about storage, and what is read of them. All others are left aside.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::KUBECTL;

/// A namespace and a name in it.
pub(super) type Key = (String, String);

/// Objects by their names.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    pub(super) classes: BTreeMap<String, StorageClass>,
    pub(super) attributes_classes: BTreeMap<String, AttributesClass>,
    pub(super) claims: BTreeMap<Key, Claim>,
    pub(super) volumes: BTreeMap<String, Volume>,
    pub(super) pods: BTreeMap<Key, Pod>,
    pub(super) attachments: Vec<Attachment>,
    /// Nodes with the types of their machines.
    pub(super) nodes: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: String,
    uid: Option<String>,
    labels: Texts,
    annotations: Texts,
}

/// A map whose values were written as text, or would have to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(pub(super) BTreeMap<String, String>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StorageClass {
    pub(super) provisioner: String,
    pub(super) parameters: Texts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AttributesClass {
    pub(super) driver_name: String,
    pub(super) parameters: Texts,
}

/// A PersistentVolumeClaim.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Claim {
    metadata: Metadata,
    pub(super) spec: ClaimSpec,
    pub(super) status: ClaimStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaimSpec {
    pub(super) storage_class_name: String,
    pub(super) volume_name: String,
    pub(super) volume_attributes_class_name: String,
    pub(super) resources: Resources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resources {
    pub(super) requests: Texts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaimStatus {
    pub(super) capacity: Texts,
    pub(super) current_volume_attributes_class_name: String,
}

/// A PersistentVolume.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Volume {
    metadata: Metadata,
    pub(super) spec: VolumeSpec,
    status: VolumeStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct VolumeSpec {
    pub(super) capacity: Texts,
    pub(super) storage_class_name: String,
    pub(super) volume_attributes_class_name: String,
    pub(super) claim_ref: Option<ClaimReference>,
    pub(super) csi: Option<Csi>,
    azure_disk: Option<AzureDisk>,
    /// Where it lies, when not by CSI, among all else.
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct VolumeStatus {
    phase: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaimReference {
    name: String,
    namespace: String,
    uid: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Csi {
    driver: String,
    volume_attributes: Texts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AzureDisk {
    caching_mode: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod {
    metadata: Metadata,
    pub(super) spec: PodSpec,
    status: PodStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodSpec {
    pub(super) node_name: String,
    pub(super) volumes: Vec<PodVolume>,
    containers: Vec<Container>,
    init_containers: Vec<Container>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PodStatus {
    phase: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PodVolume {
    pub(super) name: String,
    persistent_volume_claim: Option<ClaimSource>,
    ephemeral: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaimSource {
    claim_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Container {
    volume_mounts: Vec<MountPoint>,
    volume_devices: Vec<MountPoint>,
}

/// Where a container has a volume of its pod.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MountPoint {
    pub(super) name: String,
    #[serde(alias = "mountPath", alias = "devicePath")]
    pub(super) path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attachment {
    spec: AttachmentSpec,
    status: AttachmentStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSpec {
    source: AttachmentSource,
    node_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AttachmentSource {
    persistent_volume_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AttachmentStatus {
    attached: bool,
}

/// Who made a volume, as far as its object tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// A driver, by name.
    Driver(&'a str),
    /// Something that no cloud sells, by the name that its object has for it.
    Other(&'a str),
    /// Nobody knows.
    Unknown,
}

impl Kinds {
    /// The objects of a text, or what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let hint =
            |problem: String| format!("these are no objects of Kubernetes ({problem}): make the file with `{KUBECTL}`");
        let mut kinds = Self::default();
        for mut object in values(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(hint)? {
            strip_nulls(&mut object);
            kinds.add(object, "")?;
        }
        if kinds.classes.is_empty() && kinds.claims.is_empty() && kinds.volumes.is_empty() {
            return Err(format!(
                "there is no StorageClass, PersistentVolumeClaim or PersistentVolume in it: make it with `{KUBECTL}`"
            ));
        }
        Ok(kinds)
    }

    /// Takes an object, or all those of a list, which may have left out the kind of each.
    fn add(&mut self, mut object: Value, kind_of_list: &str) -> Result<(), String> {
        let text = |object: &Value, name: &str| object[name].as_str().unwrap_or_default().to_owned();
        let (kind, version) = (text(&object, "kind"), text(&object, "apiVersion"));
        let kind = if kind.is_empty() { kind_of_list } else { &kind };
        if let Some(items) = object.get_mut("items").and_then(Value::as_array_mut) {
            let of_items = kind.strip_suffix("List").unwrap_or_default();
            return std::mem::take(items).into_iter().try_for_each(|item| self.add(item, of_items));
        }
        let is_core = version.is_empty() || version == "v1";
        let is_of_storage = version.is_empty() || version.starts_with("storage.k8s.io/");
        let name = text(&object["metadata"], "name");
        if name.is_empty() {
            return Ok(());
        }
        let key = (text(&object["metadata"], "namespace"), name.clone());
        match kind {
            "StorageClass" if is_of_storage => drop(self.classes.insert(name, parsed(kind, object)?)),
            "VolumeAttributesClass" if is_of_storage => {
                drop(self.attributes_classes.insert(name, parsed(kind, object)?));
            }
            "VolumeAttachment" if is_of_storage => self.attachments.push(parsed(kind, object)?),
            "PersistentVolumeClaim" if is_core => drop(self.claims.insert(key, parsed(kind, object)?)),
            "PersistentVolume" if is_core => drop(self.volumes.insert(name, parsed(kind, object)?)),
            "Pod" if is_core => drop(self.pods.insert(key, parsed(kind, object)?)),
            "Node" if is_core => {
                let node: Node = parsed(kind, object)?;
                self.nodes.insert(name, node.instance_type());
            }
            _ => {}
        }
        Ok(())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node {
    metadata: Metadata,
}

impl Node {
    fn instance_type(self) -> Option<String> {
        let Texts(mut labels) = self.metadata.labels;
        let names = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
        names.iter().find_map(|name| labels.remove(*name)).filter(|name| !name.is_empty())
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(kind: &str, object: Value) -> Result<T, String> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    serde_json::from_value(object).map_err(|error| format!("{kind} {name}: {error}"))
}

/// The documents of a text. What begins as JSON is that.
fn values(text: &str) -> Result<Vec<Value>, String> {
    if text.trim_start().starts_with(['{', '[']) {
        let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        return documents.collect::<Result<_, _>>().map_err(|error| error.to_string());
    }
    // As many of everything as a text of this length can have; depth and aliases stay bounded.
    let most = text.len().max(1 << 16);
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! {
            max_events: most,
            max_nodes: most,
            max_documents: most,
            max_total_scalar_bytes: most,
        },
    };
    // The first line says what is wrong, the others show where in the text.
    let problem = |text: String| text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    serde_saphyr::from_multiple_with_options(text, options).map_err(|error| problem(error.to_string()))
}

/// What is null is absent.
fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |(name, value): (String, Value)| match value {
            Value::String(text) => Ok((name, text)),
            Value::Number(_) | Value::Bool(_) => Ok((name, value.to_string())),
            _ => Err(D::Error::custom(format!("{name} is no text"))),
        };
        BTreeMap::deserialize(deserializer)?.into_iter().map(text).collect::<Result<_, _>>().map(Self)
    }
}

impl Texts {
    /// The text of this name, unless it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

impl Claim {
    /// Whether the reference of a volume means this very claim, and not one of the same name that is gone.
    fn is_meant_by(&self, reference: &ClaimReference) -> bool {
        self.metadata.uid.is_none() || reference.uid.is_none() || self.metadata.uid == reference.uid
    }
}

impl Volume {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The claim that has it, if there is one; a volume that was released has none.
    pub(super) fn claim(&self, claims: &BTreeMap<Key, Claim>) -> Option<Key> {
        let reference = self.spec.claim_ref.as_ref()?;
        let key = (reference.namespace.clone(), reference.name.clone());
        let is_its = claims.get(&key).is_none_or(|claim| {
            let bound = &claim.spec.volume_name;
            claim.is_meant_by(reference) && (bound.is_empty() || *bound == self.metadata.name)
        });
        let is_over = matches!(self.status.phase.as_str(), "Released" | "Failed");
        Some(key).filter(|(_, name)| is_its && !is_over && !name.is_empty())
    }

    /// What it lies on.
    pub(super) fn source(&self) -> Source<'_> {
        const OTHERS: [&str; 15] = [
            "nfs",
            "local",
            "hostPath",
            "iscsi",
            "fc",
            "rbd",
            "cephfs",
            "cinder",
            "vsphereVolume",
            "flexVolume",
            "glusterfs",
            "portworxVolume",
            "quobyte",
            "scaleIO",
            "storageos",
        ];
        const IN_TREE: [(&str, &str); 3] = [
            ("awsElasticBlockStore", "kubernetes.io/aws-ebs"),
            ("gcePersistentDisk", "kubernetes.io/gce-pd"),
            ("azureFile", "kubernetes.io/azure-file"),
        ];
        if let Some(csi) = &self.spec.csi {
            return Source::Driver(&csi.driver);
        }
        if self.spec.azure_disk.is_some() {
            return Source::Driver("kubernetes.io/azure-disk");
        }
        if let Some((_, driver)) = IN_TREE.iter().find(|(name, _)| self.spec.rest.contains_key(*name)) {
            return Source::Driver(driver);
        }
        OTHERS
            .iter()
            .find(|name| self.spec.rest.contains_key(**name))
            .map_or(Source::Unknown, |name| Source::Other(name))
    }

    /// Whether a provisioner made it as its class says. One that was made by hand only names a class so that claims
    /// find it.
    pub(super) fn is_made_by_class(&self) -> bool {
        match &self.spec.csi {
            Some(csi) => csi.volume_attributes.0.contains_key("storage.kubernetes.io/csiProvisionerIdentity"),
            None => self.metadata.annotations.get("pv.kubernetes.io/provisioned-by").is_some(),
        }
    }

    /// What the driver wrote of how it made it.
    pub(super) fn attributes(&self) -> BTreeMap<String, String> {
        let mut attributes = self.spec.csi.as_ref().map(|csi| csi.volume_attributes.0.clone()).unwrap_or_default();
        if let Some(mode) = self.spec.azure_disk.as_ref().and_then(|disk| disk.caching_mode.clone()) {
            attributes.insert("cachingmode".to_owned(), mode);
        }
        attributes
    }
}

impl Pod {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Whether it has ended, so that its volumes are no longer where it had them.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// The claim of one of its volumes. That of an ephemeral one has the name of the pod before its own.
    pub(super) fn claim(&self, volume: &PodVolume) -> Option<Key> {
        let of_pod = || format!("{}-{}", self.metadata.name, volume.name);
        let named = volume.persistent_volume_claim.as_ref().map(|source| source.claim_name.clone());
        let name = named.or_else(|| volume.ephemeral.as_ref().map(|_| of_pod()))?;
        Some((self.metadata.namespace.clone(), name))
    }

    /// Where its containers have volumes.
    pub(super) fn mount_points(&self) -> impl Iterator<Item = &MountPoint> {
        let containers = self.spec.containers.iter().chain(&self.spec.init_containers);
        containers.flat_map(|container| container.volume_mounts.iter().chain(&container.volume_devices))
    }
}

impl Attachment {
    /// A volume and the node that it is attached to.
    pub(super) fn attached(&self) -> Option<(&str, &str)> {
        let (volume, node) = (&self.spec.source.persistent_volume_name, &self.spec.node_name);
        (self.status.attached && !volume.is_empty() && !node.is_empty()).then_some((volume, node))
    }
}
