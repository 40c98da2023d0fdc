//! Limits of processors that pods got from others than plimsoll. Pure.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use plimsoll_catalog::quantity::Quantity;

use crate::{
    manifests::CONTAINER,
    preflight::limit_ranges::{limit_in_words, read},
};

/// Where limit ranges say what they put on a pod.
const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";

/// That a pod has a limit of processors other than the one that was asked for, whose work it is, and what to do.
pub(super) fn not_asked_for(pod: &Pod, asked: Option<&str>) -> Option<String> {
    let container = pod.spec.as_ref()?.containers.iter().find(|container| container.name == CONTAINER)?;
    let limit = read(container.resources.as_ref()?.limits.as_ref(), "cpu")?;
    if asked.and_then(Quantity::read) == Some(limit) {
        return None;
    }
    let mut said = pod.annotations().get(LIMIT_RANGER).into_iter().flat_map(|text| text.split(';'));
    let is_of_range = said.any(|part| part.contains(" limit for ") && part.contains("cpu"));
    let who = if is_of_range { "a LimitRange of the namespace" } else { "a webhook of the cluster, most likely," };
    Some(limit_in_words(who, limit))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(limits: &serde_json::Value, annotation: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": { "annotations": { LIMIT_RANGER: annotation } },
            "spec": { "containers": [
                { "name": "mesh", "resources": { "limits": { "cpu": "100m" } } },
                { "name": CONTAINER, "resources": { "limits": limits } },
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn a_limit_that_was_asked_for_is_none_to_warn_of() {
        let ranged = "LimitRanger plugin set: cpu limit for container plimsoll";
        assert_eq!(not_asked_for(&pod(&json!({ "memory": "1Gi" }), ranged), None), None);
        assert_eq!(not_asked_for(&pod(&json!({ "cpu": "2" }), ranged), Some("2000m")), None);
    }

    #[test]
    fn a_limit_of_others_is_told_with_whose_it_is() {
        let limited = |annotation| not_asked_for(&pod(&json!({ "cpu": "1500m" }), annotation), None).unwrap();
        let of_range =
            limited("LimitRanger plugin set: memory request for container mesh; cpu limit for container plimsoll");
        assert!(of_range.starts_with("a LimitRange of the namespace limits the pod to 1500m CPU"), "{of_range}");
        assert!(of_range.contains("(client.throttled_ns of each cell)"), "{of_range}");
        for annotation in ["", "LimitRanger plugin set: cpu request for container plimsoll"] {
            let by_webhook = limited(annotation);
            assert!(by_webhook.contains("webhook") && by_webhook.contains("--cpu-limit"), "{by_webhook}");
        }
        let changed = not_asked_for(&pod(&json!({ "cpu": "1" }), ""), Some("2"));
        assert!(changed.is_some(), "another one than was asked for is one that nobody asked for");
    }
}
