//! Whether the classes of a run are there, and what their volumes will do. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::storage::v1::{CSIDriver, StorageClass};
use kube::ResourceExt as _;

use super::{Check, State};
use crate::{
    discover::classes::is_default,
    request::{PodRun, VolumeSource},
};

const ABOUT: &str = "class";

/// What a class names when nobody makes volumes for it.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The classes that a run makes volumes of, each once.
fn asked(run: &PodRun) -> Vec<&str> {
    let mut names = Vec::new();
    for volume in &run.volumes {
        if let VolumeSource::Class { class, .. } = &volume.source
            && !names.contains(&class.as_str())
        {
            names.push(class);
        }
    }
    names
}

/// Whether volumes can be made of the classes of a run.
pub(super) fn judge(classes: &[StorageClass], drivers: Option<&[CSIDriver]>, run: &PodRun) -> Vec<Check> {
    let known: Vec<String> = classes.iter().map(marked).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let asked = asked(run);
    if asked.is_empty() && !run.volumes.is_empty() {
        return Vec::new();
    }
    if asked.is_empty() {
        let text = format!("none is named, so that nothing is said about volumes: the cluster has {known}");
        return vec![Check::new(State::Unknown, ABOUT, text)];
    }
    asked
        .into_iter()
        .map(|name| match classes.iter().find(|class| class.name_any() == name) {
            Some(class) => one(name, class, drivers),
            None => Check::new(State::Fails, ABOUT, format!("the cluster has no StorageClass {name}: it has {known}")),
        })
        .collect()
}

fn one(name: &str, class: &StorageClass, drivers: Option<&[CSIDriver]>) -> Check {
    let provisioner = class.provisioner.as_str();
    if provisioner == NO_PROVISIONER {
        let text = format!(
            "nobody makes volumes of {name}: claims wait for volumes that are made by hand, of which one has to be free"
        );
        return Check::new(State::Warning, ABOUT, text);
    }
    let is_retained = class.reclaim_policy.as_deref() == Some("Retain");
    if is_retained {
        let text = format!(
            "{name} retains volumes: they and the storage behind them stay after a run, and are to be removed by hand"
        );
        return Check::new(State::Warning, ABOUT, text);
    }
    let is_registered = drivers.is_none_or(|drivers| drivers.iter().any(|driver| driver.name_any() == provisioner));
    if provisioner.contains(".csi.") && !is_registered {
        let text = format!("{name} is of the driver {provisioner}, which the cluster does not have");
        return Check::new(State::Warning, ABOUT, text);
    }
    let when = match class.volume_binding_mode.as_deref() {
        Some("WaitForFirstConsumer") => "when the pod needs it",
        _ => "at once",
    };
    Check::new(State::Ok, ABOUT, format!("{name} is there: {provisioner} makes a volume {when}"))
}

fn marked(class: &StorageClass) -> String {
    format!("{}{}", class.name_any(), if is_default(class) { " (default)" } else { "" })
}

/// How many volumes of which driver of CSI the pod is to have.
pub(super) fn volumes_of_drivers(
    classes: &[StorageClass],
    drivers: &[CSIDriver],
    run: &PodRun,
) -> BTreeMap<String, u32> {
    let mut volumes = BTreeMap::new();
    for (index, volume) in run.volumes.iter().enumerate() {
        let VolumeSource::Class { class: name, .. } = &volume.source else { continue };
        let class = classes.iter().find(|class| class.name_any() == *name);
        // Others than those of CSI are not listed with nodes.
        let driver = class.and_then(|class| drivers.iter().find(|driver| driver.name_any() == class.provisioner));
        if let Some(driver) = driver {
            *volumes.entry(driver.name_any()).or_default() += if run.is_shared(index) { 1 } else { run.pods.per_node };
        }
    }
    volumes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::request::test_runs::run;

    fn class(name: &str, rest: &Value) -> StorageClass {
        let mut value = json!({ "metadata": { "name": name }, "provisioner": "d.csi.test" });
        value.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        serde_json::from_value(value).unwrap()
    }

    fn driver(name: &str) -> CSIDriver {
        serde_json::from_value(json!({ "metadata": { "name": name }, "spec": {} })).unwrap()
    }

    #[test]
    fn a_class_that_is_not_there_fails_and_the_others_are_named() {
        let checks = judge(&[class("a", &json!({})), class("b", &json!({}))], None, &run(&["c"], 8));
        assert_eq!(checks[0].state, State::Fails);
        assert!(checks[0].text.ends_with("it has a, b"));
        assert_eq!(judge(&[class("a", &json!({}))], None, &run(&[], 8))[0].state, State::Unknown);
    }

    #[test]
    fn volumes_that_stay_or_that_nobody_makes_are_warnings() {
        let state = |rest: Value| judge(&[class("a", &rest)], Some(&[driver("d.csi.test")]), &run(&["a"], 8))[0].state;
        assert_eq!(state(json!({ "volumeBindingMode": "WaitForFirstConsumer" })), State::Ok);
        assert_eq!(state(json!({ "reclaimPolicy": "Retain" })), State::Warning);
        assert_eq!(state(json!({ "provisioner": "kubernetes.io/no-provisioner" })), State::Warning);
        assert_eq!(state(json!({ "provisioner": "gone.csi.test" })), State::Warning);
        assert_eq!(state(json!({ "provisioner": "rancher.io/local-path" })), State::Ok, "no driver of CSI");
    }

    #[test]
    fn volumes_are_counted_by_their_drivers() {
        let classes = [class("a", &json!({})), class("b", &json!({})), class("c", &json!({ "provisioner": "x" }))];
        let volumes = volumes_of_drivers(&classes, &[driver("d.csi.test")], &run(&["a", "b", "c"], 8));
        assert_eq!(volumes, BTreeMap::from([("d.csi.test".to_owned(), 2)]));
    }
}
