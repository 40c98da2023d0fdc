//! What cannot work is refused before anything is made: in one sentence each, as far as the cluster may be looked at.

use k8s_openapi::api::core::v1::Node;
use kube::{
    ResourceExt as _,
    api::{DynamicObject, ListParams},
};
use serde_json::Value;

use super::{Lives, snapshots::SnapshotClass};
use crate::{
    cluster::Cluster,
    discover::other_class,
    error::ClusterError,
    looking::{Blindness, list_of_versions},
    preflight::placement::{NodesFor, nodes_for},
    request::VolumeSource,
    run::facts::Facts,
};

/// Looks at all that was asked beside the first use; gives the class of snapshots of each kind, where one is needed and
/// known.
pub(super) async fn check(
    cluster: &Cluster,
    lives: &Lives,
    facts: &Facts,
) -> Result<Vec<Option<SnapshotClass>>, ClusterError> {
    if let Some(why) = why_not_larger(lives, facts) {
        return Err(ClusterError::Usage(why));
    }
    if lives.moves {
        can_move(cluster, lives).await?;
    }
    let Some(wanted) = &lives.snapshot else { return Ok(vec![None; lives.run.volumes.len()]) };
    let kind = ("snapshot.storage.k8s.io", "VolumeSnapshotClass", "volumesnapshotclasses");
    match list_of_versions(cluster, kind, &["v1"]).await? {
        Ok(classes) => {
            let drivers = (0..lives.run.volumes.len()).map(|kind| facts.class(kind).map(|class| &*class.provisioner));
            let of = |driver| snapshot_class(&classes, wanted.class.as_deref(), driver);
            drivers.map(of).collect::<Result<_, _>>().map_err(ClusterError::Usage)
        }
        Err(unseen) if unseen.why == Blindness::Absent => Err(ClusterError::Usage(
            "the cluster has no snapshots (no volumesnapshotclasses of snapshot.storage.k8s.io): leave --snapshot out, \
             or have the snapshot controller installed"
                .to_owned(),
        )),
        // Whoever may not look finds out when the snapshot is made.
        Err(_) => {
            let named = wanted.class.clone().map(|name| SnapshotClass { name, retains: false });
            Ok(vec![named; lives.run.volumes.len()])
        }
    }
}

/// Why volumes cannot grow as asked.
fn why_not_larger(lives: &Lives, facts: &Facts) -> Option<String> {
    let larger = lives.resize_bytes?;
    for (kind, volume) in lives.run.volumes.iter().enumerate() {
        let VolumeSource::Class { class: name, size_bytes } = &volume.source else { continue };
        if larger <= *size_bytes {
            return Some(format!("--resize has to be larger than --size, as volumes only grow ({})", volume.target));
        }
        if facts.class(kind).is_some_and(|class| class.allow_volume_expansion != Some(true)) {
            return Some(format!(
                "volumes of StorageClass {name} cannot grow (it has no allowVolumeExpansion): leave --resize or the \
                 class out"
            ));
        }
    }
    None
}

async fn can_move(cluster: &Cluster, lives: &Lives) -> Result<(), ClusterError> {
    if let Some(node) = &lives.run.placement.node {
        let text = format!("--failover moves volumes to another node, and --node {node} names one: leave either out");
        return Err(ClusterError::Usage(text));
    }
    match cluster.everywhere::<Node>().list(&ListParams::default()).await {
        Ok(nodes) => {
            let NodesFor { fitting, refusals } = nodes_for(&nodes.items, &lives.run);
            if fitting < 2 {
                let text = format!("--failover takes two nodes, and {fitting} of the cluster's take the pod{refusals}");
                return Err(ClusterError::Usage(text));
            }
            Ok(())
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(()),
        Err(error) => Err(ClusterError::of("list the nodes", &error)),
    }
}

/// The class of snapshots for volumes of a driver: the one that is named, the default, or the only one. `driver` is
/// `None` where that is not known.
fn snapshot_class(
    classes: &[DynamicObject],
    named: Option<&str>,
    driver: Option<&str>,
) -> Result<Option<SnapshotClass>, String> {
    let found = |class: &DynamicObject| {
        let retains = class.data.get("deletionPolicy").and_then(Value::as_str) == Some("Retain");
        Ok(Some(SnapshotClass { name: class.name_any(), retains }))
    };
    let driver_of = |class: &DynamicObject| class.data.get("driver").and_then(Value::as_str).map(str::to_owned);
    if let Some(name) = named {
        let Some(class) = classes.iter().find(|class| class.name_any() == name) else {
            let known: Vec<String> = classes.iter().map(kube::ResourceExt::name_any).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("the cluster has no VolumeSnapshotClass {name}: it has {known}"));
        };
        return match (driver_of(class), driver) {
            (Some(of), Some(driver)) if of != driver => Err(format!(
                "VolumeSnapshotClass {name} is of driver {of}, and volumes are made by {driver}: name another with \
                 --snapshot-class, or measure classes of one driver at a time"
            )),
            _ => found(class),
        };
    }
    let Some(driver) = driver else { return Ok(None) };
    let fitting: Vec<_> = classes.iter().filter(|class| driver_of(class).as_deref() == Some(driver)).collect();
    let default = fitting.iter().find(|class| other_class(class).is_default);
    match (default, fitting.as_slice()) {
        (Some(class), _) | (None, [class]) => found(class),
        (None, []) => Err(format!(
            "the cluster has no VolumeSnapshotClass for driver {driver}: leave --snapshot out, or have one made"
        )),
        (None, several) => {
            let names: Vec<String> = several.iter().map(|class| class.name_any()).collect();
            Err(format!(
                "driver {driver} has several VolumeSnapshotClasses and none is the default: name one of {} with \
                 --snapshot-class",
                names.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn class(name: &str, driver: &str, is_default: bool) -> DynamicObject {
        let key = "snapshot.storage.kubernetes.io/is-default-class";
        serde_json::from_value(json!({
            "apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotClass", "driver": driver,
            "metadata": { "name": name, "annotations": { key: is_default.to_string() } },
        }))
        .unwrap()
    }

    #[test]
    fn the_class_of_snapshots_is_the_named_the_default_or_the_only_one() {
        let classes = [class("a", "d", false), class("b", "d", true), class("c", "e", false)];
        let chosen = |named, driver| snapshot_class(&classes, named, driver).map(|class| class.map(|class| class.name));
        assert_eq!(chosen(None, Some("d")), Ok(Some("b".to_owned())));
        assert_eq!(chosen(None, Some("e")), Ok(Some("c".to_owned())));
        assert_eq!(chosen(Some("a"), Some("d")), Ok(Some("a".to_owned())));
        assert_eq!(chosen(None, None), Ok(None), "the cluster knows");
        assert!(chosen(None, Some("f")).unwrap_err().contains("no VolumeSnapshotClass for driver f"));
        assert!(chosen(Some("c"), Some("d")).unwrap_err().contains("is of driver e"));
        assert!(chosen(Some("x"), Some("d")).unwrap_err().contains("it has a, b, c"));
        let mut kept = class("a", "d", false);
        kept.data["deletionPolicy"] = json!("Retain");
        let is_kept = |class: DynamicObject| snapshot_class(&[class], None, Some("d")).unwrap().unwrap().retains;
        assert!(is_kept(kept) && !is_kept(class("a", "d", false)));
        let two = [class("a", "d", false), class("b", "d", false)];
        assert!(snapshot_class(&two, None, Some("d")).unwrap_err().contains("name one of a, b"));
    }
}
