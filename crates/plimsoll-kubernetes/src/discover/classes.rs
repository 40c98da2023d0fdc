//! StorageClasses, with what the catalog expects of a volume of each. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::storage::v1::StorageClass;
use kube::ResourceExt as _;
use plimsoll_catalog::{catalog::Catalog, ceiling::Load};
use plimsoll_workload::{
    limit::{Part, RateLimit},
    provisioned::Provisioned,
};
use serde::Serialize;

use crate::{
    expecting::{self, Bought},
    nodes::NodeFound,
};

/// Whether a class is the one that is taken when nobody names one.
const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// The same as it was before, which the API server still goes by.
const DEFAULT_BETA: &str = "storageclass.beta.kubernetes.io/is-default-class";

/// Random reads of 4 KiB, by which operations are told.
const SMALL: Load = Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false };

/// Sequential reads of 1 MiB, by which bytes are told.
const LARGE: Load = Load { read_share: 1.0, operation_bytes: 1_048_576.0, is_sequential: true };

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Whether it is taken when nobody names one.
    pub is_default: bool,
    /// Who makes its volumes.
    pub provisioner: String,
    /// Whether they are made when a pod uses them, `WaitForFirstConsumer`, or at once, `Immediate`.
    pub binding_mode: String,
    /// Whether they go with their claims, `Delete`, or stay, `Retain`.
    pub reclaim_policy: String,
    /// Whether they can grow.
    pub can_grow: bool,
    /// What they are mounted with.
    pub mount_options: Vec<String>,
    /// What the driver is told.
    pub parameters: BTreeMap<String, String>,
    /// What a volume should deliver; `None` when nobody says.
    pub expected: Option<Expected>,
    /// Why nothing is expected.
    pub unexpected: Option<String>,
}

/// What a volume of a class should deliver.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// What was bought.
    pub provisioned: Provisioned,
    /// What the ceilings are of, storage first: `P30`, `Standard_D16s_v5`.
    pub parts: Vec<String>,
    /// Random reads of 4 KiB in a second, in the long run.
    pub iops: Option<f64>,
    /// The same for a while.
    pub iops_burst: Option<f64>,
    /// Which part binds them.
    pub iops_by: Part,
    /// Bytes in a second of sequential reads of 1 MiB, in the long run.
    pub bytes_per_second: Option<f64>,
    /// The same for a while.
    pub bytes_per_second_burst: Option<f64>,
    /// Which part binds them.
    pub bytes_per_second_by: Part,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

/// The types of the machines that volumes can be used on.
pub(crate) fn machines(nodes: &[NodeFound]) -> BTreeSet<String> {
    let nodes = nodes.iter().filter(|node| node.operating_system.as_deref().is_none_or(|system| system == "linux"));
    nodes.filter_map(|node| node.instance_type.clone()).collect()
}

/// Classes, with what is expected of volumes of a size.
pub(crate) fn describe(
    classes: &[StorageClass],
    size_bytes: u64,
    machines: &BTreeSet<String>,
    catalog: &Catalog,
) -> Vec<Class> {
    let one = |class: &StorageClass| {
        let (expected, unexpected) = match expected(class, size_bytes, machines, catalog) {
            Ok(expected) => (Some(expected), None),
            Err(why) => (None, Some(why)),
        };
        let or = |text: &Option<String>, default: &str| text.clone().unwrap_or_else(|| default.to_owned());
        Class {
            name: class.name_any(),
            is_default: is_default(class),
            provisioner: class.provisioner.clone(),
            binding_mode: or(&class.volume_binding_mode, "Immediate"),
            reclaim_policy: or(&class.reclaim_policy, "Delete"),
            can_grow: class.allow_volume_expansion.unwrap_or(false),
            mount_options: class.mount_options.clone().unwrap_or_default(),
            parameters: class.parameters.clone().unwrap_or_default(),
            expected,
            unexpected,
        }
    };
    classes.iter().map(one).collect()
}

/// Whether a class is taken when nobody names one.
pub(crate) fn is_default(class: &StorageClass) -> bool {
    [DEFAULT, DEFAULT_BETA].iter().any(|key| class.annotations().get(*key).is_some_and(|value| value == "true"))
}

fn expected(
    class: &StorageClass,
    size_bytes: u64,
    machines: &BTreeSet<String>,
    catalog: &Catalog,
) -> Result<Expected, String> {
    let Bought { provisioned, expectation, mut notes } = expecting::of_class(class, size_bytes, machines, catalog)?;
    let (small, large) = (expectation.for_load(SMALL), expectation.for_load(LARGE));
    notes.extend(expectation.notes.iter().cloned());
    notes.extend(
        expectation
            .host_cache
            .as_ref()
            .map(|cache| format!("host caching is {}: what it holds is answered beside these limits", cache.caching)),
    );
    let burst = |limit: Option<RateLimit>| limit.and_then(|limit| limit.burst);
    Ok(Expected {
        provisioned,
        parts: expectation.parts.iter().map(|part| part.name.clone()).collect(),
        iops: small.limit.operations.map(|limit| limit.sustained),
        iops_burst: burst(small.limit.operations),
        iops_by: small.operations_by,
        bytes_per_second: large.limit.bytes.map(|limit| limit.sustained),
        bytes_per_second_burst: burst(large.limit.bytes),
        bytes_per_second_by: large.bytes_by,
        notes,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use serde_json::json;

    use super::*;

    fn class(value: &Value) -> StorageClass {
        serde_json::from_value(value.clone()).unwrap()
    }

    fn one(value: &Value, gib: u64, machines: &[&str]) -> Class {
        let machines = machines.iter().map(|name| (*name).to_owned()).collect();
        describe(&[class(value)], gib << 30, &machines, &Catalog::default()).remove(0)
    }

    fn premium() -> Value {
        json!({
            "metadata": { "name": "managed-csi-premium", "annotations": { DEFAULT: "true" } },
            "provisioner": "disk.csi.azure.com",
            "parameters": { "skuname": "Premium_LRS" },
            "allowVolumeExpansion": true,
            "volumeBindingMode": "WaitForFirstConsumer",
        })
    }

    #[test]
    fn the_default_class_is_known_by_either_of_its_annotations() {
        let is_marked = |key: &str, value: &str| {
            let annotations = json!({ key: value });
            is_default(&class(&json!({ "metadata": { "annotations": annotations }, "provisioner": "d" })))
        };
        assert!(is_marked(DEFAULT, "true") && is_marked(DEFAULT_BETA, "true"));
        assert!(!is_marked(DEFAULT, "false") && !is_marked("other", "true"));
    }

    #[test]
    fn what_is_expected_depends_on_the_size() {
        let iops = |gib: u64| one(&premium(), gib, &[]).expected.unwrap().iops;
        assert_eq!((iops(8), iops(1024)), (Some(120.0), Some(5000.0)));
        let described = one(&premium(), 1024, &[]);
        assert_eq!(described.reclaim_policy, "Delete", "what the API server takes for granted");
        assert!(described.is_default && described.can_grow);
        assert!(described.expected.unwrap().notes.iter().any(|note| note.contains("host caching is ReadOnly")));
    }

    #[test]
    fn a_machine_binds_where_all_nodes_are_alike_and_is_left_out_where_they_differ() {
        let small = one(&premium(), 2048, &["Standard_D2s_v3"]).expected.unwrap();
        assert_eq!((small.iops, small.iops_by), (Some(3200.0), Part::Vm));
        let unlike = one(&premium(), 2048, &["Standard_D2s_v3", "Standard_D16s_v5"]).expected.unwrap();
        assert_eq!(unlike.iops, Some(7500.0));
        assert!(unlike.notes.iter().any(|note| note.contains("nodes differ")), "{:?}", unlike.notes);
        let unknown = one(&premium(), 2048, &["Standard_X1"]).expected.unwrap();
        assert!(unknown.notes.iter().any(|note| note.contains("Standard_X1")), "{:?}", unknown.notes);
    }

    #[test]
    fn of_a_driver_that_the_catalog_does_not_know_nothing_is_expected_and_it_says_so() {
        let described = one(&json!({ "metadata": { "name": "x" }, "provisioner": "x.csi.test" }), 8, &[]);
        assert_eq!(described.expected, None);
        assert!(described.unexpected.unwrap().contains("x.csi.test"));
    }
}
