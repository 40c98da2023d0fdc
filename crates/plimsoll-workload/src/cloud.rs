//! What is to be made in a cloud before anything can be measured there: a machine with disks, a cluster with classes.
//!
//! Pure data in which anything may be absent. Disks, and volumes of classes, are what was bought for a target
//! elsewhere, in the same words, so that what is made is also what a run is held against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::provisioned::Provisioned;

/// What to make in a cloud: `plimsoll generate` writes the scripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Cloud {
    /// What everything is called by, the resource group too: `plimsoll` unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The region, in the words of the provider: `westeurope`, `eu-west-1`, `europe-west4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The zone in it: `1`, `eu-west-1a`, `europe-west4-a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The project, which Google Cloud alone has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The machine that disks are attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Disks of the machine, each by the directory that it is mounted at: `[cloud.disks."/mnt/premium"]`. Of several,
    /// as `disks` says, each is mounted at the directory with its number behind it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub disks: BTreeMap<String, Provisioned>,
    /// The file system that disks get: ext4 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<FileSystem>,
    /// A cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Kubernetes>,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    /// Its size or type: `Standard_D16s_v5`, `m7i.4xlarge`, `n2-standard-16`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub machine_type: Option<String>,
    /// What it starts from: publisher:offer:sku:version in Azure, the path of a public parameter in AWS, an image or
    /// family in Google Cloud. A current Ubuntu with long support, for its processors, unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Who may reach it by SSH, as `203.0.113.7/32`; nobody unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_from: Option<String>,
}

/// A file system that is made on disks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileSystem {
    /// ext4.
    #[default]
    Ext4,
    /// XFS.
    Xfs,
}

/// A cluster of the provider's managed Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Kubernetes {
    /// The version: what the provider takes by itself unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The size or type of its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_type: Option<String>,
    /// How many nodes: two unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// StorageClasses by their names; the size is that of the volume that is measured.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, Provisioned>,
    /// Azure Container Storage, which makes volumes from a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_storage: Option<ContainerStorage>,
}

/// Azure Container Storage in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ContainerStorage {
    /// Its major version, 1 or 2: 2 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What its pool is made of: `Premium_LRS` and other disks with version 1, `azure-local-nvme`,
    /// `azure-temporary-disk`, `elastic-san`.
    #[serde(skip_serializing_if = "Provisioned::is_empty")]
    pub pool: Provisioned,
}

impl FileSystem {
    /// Its name, as of `mkfs` and `mount`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan_file::PlanFile;

    const PLAN: &str = r#"
        presets = ["latency"]
        [cloud]
        region = "westeurope"
        zone = "1"
        [cloud.machine]
        type = "Standard_D16s_v5"
        [cloud.disks."/mnt/v2"]
        sku = "PremiumV2_LRS"
        size = "1Ti"
        iops = 20000
        [cloud.kubernetes.classes.fast]
        sku = "Premium_LRS"
        size = "256Gi"
    "#;

    #[test]
    fn what_to_make_stands_in_a_plan_in_the_words_of_what_was_bought() {
        let plan: PlanFile = toml::from_str(PLAN).unwrap();
        let cloud = plan.cloud.as_ref().unwrap();
        assert_eq!(cloud.disks["/mnt/v2"].iops, Some(20_000));
        assert_eq!(cloud.kubernetes.as_ref().unwrap().classes["fast"].sku.as_deref(), Some("Premium_LRS"));
        let again: PlanFile = toml::from_str(&toml::to_string(&plan).unwrap()).unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn a_misspelt_key_is_refused_by_name() {
        for (text, key) in [("[cloud]\nlocation = \"a\"", "location"), ("[cloud.machine]\nsize = \"a\"", "size")] {
            let error = toml::from_str::<PlanFile>(text).unwrap_err().to_string();
            assert!(error.contains(&format!("unknown field `{key}`")), "{error}");
        }
    }
}
