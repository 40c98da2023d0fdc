//! Nodes as far as they matter to volumes: what machines they are, whether they take pods, and how many volumes more.
//! Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    core::v1::{Node, Taint},
    storage::v1::{CSINode, VolumeAttachment},
};
use kube::ResourceExt as _;
use serde::Serialize;

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeFound {
    /// Its name.
    pub name: String,
    /// Whether it says that it is ready.
    pub is_ready: bool,
    /// Whether the scheduler may choose it.
    pub is_schedulable: bool,
    /// The type of the machine.
    pub instance_type: Option<String>,
    /// The zone.
    pub zone: Option<String>,
    /// The operating system: `linux`, `windows`.
    pub operating_system: Option<String>,
    /// The architecture, as images name it: `amd64`.
    pub architecture: Option<String>,
    /// The distribution.
    pub system: Option<String>,
    /// The kernel.
    pub kernel: Option<String>,
    /// The version of its kubelet.
    pub kubelet: Option<String>,
    /// What runs its containers, with the version.
    pub container_runtime: Option<String>,
    /// What keeps pods away that do not tolerate it: `key=value:effect`.
    pub taints: Vec<String>,
    /// Its drivers, with how many volumes they take; `None` when that may not be looked at.
    pub drivers: Option<Vec<NodeDriver>>,
}

/// A driver on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeDriver {
    /// The driver.
    pub name: String,
    /// How many volumes the node takes; `None` when the driver names no limit.
    pub volumes_max: Option<u32>,
    /// How many are attached; `None` when that may not be looked at.
    pub volumes_attached: Option<u32>,
}

impl NodeDriver {
    /// How many volumes more the node takes, when that is limited and known.
    pub fn volumes_free(&self) -> Option<u32> {
        Some(self.volumes_max?.saturating_sub(self.volumes_attached?))
    }
}

/// Nodes, with what is known of their drivers.
pub(crate) fn describe(
    nodes: &[Node],
    csi_nodes: Option<&[CSINode]>,
    attachments: Option<&[VolumeAttachment]>,
) -> Vec<NodeFound> {
    let mut attached = BTreeMap::<(&str, &str), u32>::new();
    for attachment in attachments.unwrap_or_default() {
        *attached.entry((&attachment.spec.node_name, &attachment.spec.attacher)).or_default() += 1;
    }
    let drivers = |node: &str| {
        let of_node = csi_nodes?.iter().find(|csi_node| csi_node.name_any() == node);
        let drivers = of_node.into_iter().flat_map(|csi_node| &csi_node.spec.drivers).map(|driver| NodeDriver {
            name: driver.name.clone(),
            volumes_max: driver.allocatable.as_ref().and_then(|most| u32::try_from(most.count?).ok()),
            volumes_attached: attachments.map(|_| attached.get(&(node, driver.name.as_str())).copied().unwrap_or(0)),
        });
        Some(drivers.collect())
    };
    nodes.iter().map(|node| NodeFound { drivers: drivers(&node.name_any()), ..one(node) }).collect()
}

fn one(node: &Node) -> NodeFound {
    let label = |name: &str| node.labels().get(name).cloned();
    let status = node.status.as_ref();
    let info = status.and_then(|status| status.node_info.as_ref());
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let spec = node.spec.as_ref();
    NodeFound {
        name: node.name_any(),
        is_ready: is_ready(node),
        is_schedulable: spec.is_none_or(|spec| spec.unschedulable != Some(true)),
        instance_type: label("node.kubernetes.io/instance-type"),
        zone: label("topology.kubernetes.io/zone"),
        operating_system: info.and_then(|info| text(&info.operating_system)),
        architecture: info.and_then(|info| text(&info.architecture)),
        system: info.and_then(|info| text(&info.os_image)),
        kernel: info.and_then(|info| text(&info.kernel_version)),
        kubelet: info.and_then(|info| text(&info.kubelet_version)),
        container_runtime: info.and_then(|info| text(&info.container_runtime_version)),
        taints: spec.and_then(|spec| spec.taints.as_ref()).into_iter().flatten().map(taint).collect(),
        drivers: None,
    }
}

/// Whether a node says that it is ready.
pub(crate) fn is_ready(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// A taint as `kubectl taint` writes it.
pub(crate) fn taint(taint: &Taint) -> String {
    let value = taint.value.as_deref().filter(|value| !value.is_empty()).map(|value| format!("={value}"));
    format!("{}{}:{}", taint.key, value.unwrap_or_default(), taint.effect)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn free_slots_are_those_that_nothing_is_attached_to() {
        let nodes = [serde_json::from_value::<Node>(json!({
            "metadata": { "name": "a", "labels": { "node.kubernetes.io/instance-type": "m5.large" } },
            "spec": { "unschedulable": true, "taints": [{ "key": "k", "effect": "NoSchedule" },
                { "key": "k", "value": "v", "effect": "NoExecute" }] },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }], "nodeInfo": {
                "architecture": "arm64", "bootID": "", "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12", "kubeProxyVersion": "", "kubeletVersion": "v1.33.2", "machineID": "",
                "operatingSystem": "linux", "osImage": "x", "systemUUID": "" } },
        }))
        .unwrap()];
        let csi_nodes = [serde_json::from_value::<CSINode>(json!({
            "metadata": { "name": "a" },
            "spec": { "drivers": [{ "name": "d", "nodeID": "a", "allocatable": { "count": 25 } },
                { "name": "e", "nodeID": "a" }] },
        }))
        .unwrap()];
        let attachment = |node: &str| {
            serde_json::from_value::<VolumeAttachment>(json!({
                "metadata": {}, "spec": { "attacher": "d", "nodeName": node, "source": {} },
            }))
            .unwrap()
        };
        let attachments = [attachment("a"), attachment("b"), attachment("a")];
        let node = describe(&nodes, Some(&csi_nodes), Some(&attachments)).remove(0);
        let drivers = node.drivers.as_ref().unwrap();
        assert_eq!(drivers[0].volumes_free(), Some(23));
        assert_eq!(drivers[1].volumes_free(), None, "a driver without a limit");
        assert!(node.is_ready && !node.is_schedulable);
        assert_eq!(node.taints, ["k:NoSchedule", "k=v:NoExecute"]);
        assert_eq!((node.instance_type.as_deref(), node.architecture.as_deref()), (Some("m5.large"), Some("arm64")));
        let blind = describe(&nodes, Some(&csi_nodes), None).remove(0);
        assert_eq!(blind.drivers.unwrap()[0].volumes_free(), None);
        assert_eq!(describe(&nodes, None, None)[0].drivers, None);
    }
}
