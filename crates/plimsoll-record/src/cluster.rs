//! The cluster that a run took place in: its nodes, and the volumes that were measured.

use serde::{Deserialize, Serialize};

/// A cluster of Kubernetes, as far as it told. What it keeps to itself is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClusterEnvironment {
    /// Its version, as the API server tells it: `v1.36.1`.
    pub version: Option<String>,
    /// The namespace of the pods.
    pub namespace: String,
    /// The image that the pods ran.
    pub image: String,
    /// The nodes that pods ran on.
    pub nodes: Vec<NodeEnvironment>,
    /// One entry for each target.
    pub volumes: Vec<VolumeEnvironment>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct NodeEnvironment {
    /// Its name.
    pub name: String,
    /// What its cloud calls machines of this size.
    pub instance_type: Option<String>,
    /// Where it is.
    pub region: Option<String>,
    /// The part of the region that it is in.
    pub zone: Option<String>,
    /// The version of its kubelet.
    pub kubelet_version: Option<String>,
    /// Its container runtime with version: `containerd://1.7.20` for example.
    pub container_runtime: Option<String>,
    /// Its operating system, as it describes itself.
    pub operating_system: Option<String>,
}

/// A volume, as the cluster knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct VolumeEnvironment {
    /// The target that it was.
    pub target: String,
    /// The StorageClass.
    pub class: Option<String>,
    /// The claim.
    pub claim: String,
    /// Whether the claim was there before the run, and stays.
    pub is_kept: bool,
    /// The PersistentVolume.
    pub volume: Option<String>,
    /// The driver: `disk.csi.azure.com` for example.
    pub driver: Option<String>,
    /// What the driver calls the volume.
    pub handle: Option<String>,
    /// Its capacity.
    pub size_bytes: Option<u64>,
    /// `Filesystem` or `Block`.
    pub mode: Option<String>,
    /// `ReadWriteOnce` and the like.
    pub access_modes: Vec<String>,
    /// What happens to the volume when its claim is deleted: `Delete` or `Retain`.
    pub reclaim_policy: Option<String>,
    /// The mount options of the volume.
    pub mount_options: Vec<String>,
}
