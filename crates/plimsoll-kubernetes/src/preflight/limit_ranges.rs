//! Limit ranges of a namespace: what they put on a pod that asks for nothing, and what they forbid. Pure.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{LimitRange, LimitRangeItem, Pod},
    apimachinery::pkg::api::resource::Quantity as Written,
};
use kube::ResourceExt as _;
use plimsoll_catalog::quantity::Quantity;

use super::{Check, State};
use crate::{
    manifests::CONTAINER,
    request::{PodRun, VolumeSource},
};

const ABOUT: &str = "LimitRange";

/// What the pod asks for and is limited to, when all limit ranges have had their say.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) cpu: Option<Quantity>,
    pub(super) memory: Option<Quantity>,
    pub(super) cpu_limit: Option<Quantity>,
    /// The range that put a limit of processors on the pod.
    limited_by: Option<String>,
    items: Vec<(String, LimitRangeItem)>,
}

/// A quantity of a map, when it is one.
pub(crate) fn read(quantities: Option<&BTreeMap<String, Written>>, name: &str) -> Option<Quantity> {
    Quantity::read(&quantities?.get(name)?.0)
}

/// What it means that somebody limits the processors of a pod that names no limit.
pub(crate) fn limit_in_words(who: &str, limit: Quantity) -> String {
    format!(
        "{who} limits the pod to {limit} CPU: what is throttled (client.throttled_ns of each cell) measures the limit; \
         say --cpu-limit with as much as is allowed, or have the limit changed"
    )
}

impl Limits {
    pub(super) fn of(run: &PodRun, ranges: &[LimitRange]) -> Self {
        let items: Vec<(String, LimitRangeItem)> = ranges
            .iter()
            .flat_map(|range| {
                let items = range.spec.iter().flat_map(|spec| &spec.limits);
                items.map(|item| (range.name_any(), item.clone()))
            })
            .collect();
        let mut limits = Self {
            cpu: Quantity::read(&run.resources.cpu),
            memory: Quantity::read(&run.resources.memory),
            cpu_limit: run.resources.cpu_limit.as_deref().and_then(Quantity::read),
            limited_by: None,
            items,
        };
        if limits.cpu_limit.is_none() {
            let defaults = limits.items.iter().filter(|(_, item)| item.type_ == "Container");
            // What may be at most is what is put on it where nothing else is said.
            let default =
                |item: &LimitRangeItem| read(item.default.as_ref(), "cpu").or_else(|| read(item.max.as_ref(), "cpu"));
            let found = defaults.filter_map(|(range, item)| Some((range.clone(), default(item)?))).next();
            if let Some((range, limit)) = found {
                limits.limited_by = Some(range);
                limits.cpu_limit = Some(limit);
            }
        }
        limits
    }

    pub(super) fn judge(&self, run: &PodRun) -> Vec<Check> {
        let mut checks = Vec::new();
        if let (Some(range), Some(limit)) = (&self.limited_by, self.cpu_limit) {
            if self.cpu.is_some_and(|cpu| cpu > limit) {
                let text = format!(
                    "{range} limits pods that name no limit to {limit} CPU, less than the {} CPU that the pod asks for: say \
                     --cpu-limit, or less with --cpu",
                    run.resources.cpu
                );
                checks.push(Check::new(State::Fails, ABOUT, text));
            } else {
                checks.push(Check::new(State::Warning, ABOUT, limit_in_words(range, limit)));
            }
        }
        let fails = self.items.iter().flat_map(|(range, item)| self.refusals(range, item, run));
        checks.extend(fails.map(|text| Check::new(State::Fails, ABOUT, text)));
        if checks.is_empty() {
            let text = if self.items.is_empty() { "the namespace has none" } else { "the pod and its claims keep it" };
            checks.push(Check::new(State::Ok, ABOUT, text));
        }
        checks
    }

    /// What one item does not allow.
    fn refusals(&self, range: &str, item: &LimitRangeItem, run: &PodRun) -> Vec<String> {
        let (least, most) = (item.min.as_ref(), item.max.as_ref());
        let mut refusals = Vec::new();
        match item.type_.as_str() {
            "Container" | "Pod" => {
                let asked = [("cpu", self.cpu, self.cpu_limit), ("memory", self.memory, self.memory)];
                for (name, request, limit) in asked {
                    let flag = if name == "cpu" { "--cpu and --cpu-limit" } else { "--memory" };
                    if let (Some(least), Some(request)) = (read(least, name), request)
                        && request < least
                    {
                        refusals.push(format!(
                            "{range} wants at least {least} of {name}, and the pod asks for {request}: say so with {flag}"
                        ));
                    }
                    match (read(most, name), limit) {
                        (Some(most), Some(limit)) if limit > most => refusals.push(format!(
                            "{range} allows {most} of {name}, and the pod is to have {limit}, {} more: say less with \
                             {flag}",
                            limit.minus(most)
                        )),
                        (Some(most), None) => refusals.push(format!(
                            "{range} allows {most} of {name}, and wants every pod to say what it is limited to: say \
                             --cpu-limit {most}"
                        )),
                        _ => {}
                    }
                    if let (Some(ratio), Some(request), Some(limit)) =
                        (read(item.max_limit_request_ratio.as_ref(), name), request, limit)
                        && limit.over(request) > ratio.over(Quantity::of(1))
                    {
                        refusals.push(format!(
                            "{range} allows a limit of {name} of {ratio} times what is asked for, and {limit} is more \
                             than that of {request}: ask for more with {flag}"
                        ));
                    }
                }
            }
            "PersistentVolumeClaim" => {
                for volume in &run.volumes {
                    let VolumeSource::Class { size_bytes, .. } = volume.source else { continue };
                    let size = Quantity::of(size_bytes);
                    let bounds = [
                        (read(least, "storage").filter(|least| size < *least), "at least"),
                        (read(most, "storage").filter(|most| size > *most), "at most"),
                    ];
                    for (bound, word) in bounds {
                        let Some(bound) = bound else { continue };
                        let target = &volume.target;
                        refusals.push(format!(
                            "{range} wants claims of {word} {bound}, and that for {target} is of {size}: say --size \
                             {bound}"
                        ));
                    }
                }
            }
            _ => {}
        }
        refusals
    }
}

/// What admission made of a pod that changes what is measured.
pub(super) fn changes(asked: &Pod, admitted: &Pod) -> Vec<String> {
    let (Some(asked), Some(admitted)) = (&asked.spec, &admitted.spec) else { return Vec::new() };
    let mut changes = Vec::new();
    let others = |spec: &k8s_openapi::api::core::v1::PodSpec| -> Vec<String> {
        let containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
        containers.map(|container| container.name.clone()).filter(|name| name != CONTAINER).collect()
    };
    let added = others(admitted);
    if !added.is_empty() {
        changes.push(format!("{} is put beside the program, and takes of its processors", added.join(" and ")));
    }
    let ours = |spec: &k8s_openapi::api::core::v1::PodSpec| {
        spec.containers.iter().find(|container| container.name == CONTAINER).cloned().unwrap_or_default()
    };
    let (before, after) = (ours(asked), ours(admitted));
    if before.image != after.image {
        changes.push(format!("the image is {}", after.image.as_deref().unwrap_or("none")));
    }
    for name in ["cpu", "memory"] {
        let limit = |container: &k8s_openapi::api::core::v1::Container| {
            read(container.resources.as_ref().and_then(|resources| resources.limits.as_ref()), name)
        };
        match (limit(&before), limit(&after)) {
            (before, Some(after)) if before != Some(after) => {
                changes.push(format!("it is limited to {after} of {name}"));
            }
            _ => {}
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{manifests, request::test_runs::run};

    fn ranges(items: &Value) -> Vec<LimitRange> {
        vec![serde_json::from_value(json!({ "metadata": { "name": "r" }, "spec": { "limits": items } })).unwrap()]
    }

    fn judged(run: &PodRun, items: &Value) -> Vec<(State, String)> {
        let checks = Limits::of(run, &ranges(items)).judge(run);
        checks.into_iter().map(|check| (check.state, check.text)).collect()
    }

    #[test]
    fn a_limit_that_is_put_on_the_pod_is_a_warning() {
        let judged = judged(&run(&["a"], 8), &json!([{ "type": "Container", "default": { "cpu": "1500m" } }]));
        assert_eq!(judged.len(), 1);
        assert!(judged[0].0 == State::Warning && judged[0].1.contains("to 1500m CPU"), "{judged:?}");
    }

    #[test]
    fn a_limit_below_what_is_asked_for_fails() {
        let judged = judged(&run(&["a"], 8), &json!([{ "type": "Container", "default": { "cpu": "100m" } }]));
        assert_eq!(judged[0].0, State::Fails);
    }

    #[test]
    fn nothing_is_put_on_a_pod_that_says_what_it_is_limited_to() {
        let mut asked = run(&["a"], 8);
        asked.resources.cpu_limit = Some("2".to_owned());
        let judged =
            judged(&asked, &json!([{ "type": "Container", "default": { "cpu": "1" }, "max": { "cpu": "2" } }]));
        assert_eq!(judged[0].0, State::Ok, "{judged:?}");
    }

    #[test]
    fn bounds_of_memory_processors_and_claims_are_told_by_how_much() {
        let fails = |items: Value| {
            let judged = judged(&run(&["a", "b"], 8), &items);
            assert!(judged.iter().all(|(state, _)| *state == State::Fails), "{judged:?}");
            judged.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
        };
        assert!(fails(json!([{ "type": "Pod", "max": { "memory": "512Mi" } }])).contains("512Mi more"));
        assert!(fails(json!([{ "type": "Container", "min": { "memory": "2Gi" } }])).contains("at least 2Gi"));
        assert!(fails(json!([{ "type": "Pod", "max": { "cpu": "2" } }])).contains("--cpu-limit 2"));
        let claims = fails(json!([{ "type": "PersistentVolumeClaim", "max": { "storage": "4Gi" } }]));
        assert!(claims.lines().count() == 2 && claims.contains("for b is of 8Gi: say --size 4Gi"), "{claims}");
        let ratio =
            json!([{ "type": "Container", "default": { "cpu": "1" }, "maxLimitRequestRatio": { "cpu": "1.5" } }]);
        let judged = judged(&run(&["a"], 8), &ratio);
        assert!(
            judged.iter().any(|(state, text)| *state == State::Fails && text.contains("1500m times")),
            "{judged:?}"
        );
    }

    #[test]
    fn what_admission_makes_of_a_pod_is_seen() {
        let spec = manifests::job(&run(&["a"], 8)).spec.unwrap().template.spec;
        let asked = Pod { spec, ..Pod::default() };
        assert_eq!(changes(&asked, &asked), Vec::<String>::new());
        let mut value = serde_json::to_value(&asked).unwrap();
        value["spec"]["containers"][0]["resources"]["limits"]["cpu"] = json!("2");
        value["spec"]["containers"][0]["image"] = json!("mirror/plimsoll:1");
        value["spec"]["initContainers"] = json!([{ "name": "proxy", "restartPolicy": "Always" }]);
        let changes = changes(&asked, &serde_json::from_value(value).unwrap()).join("; ");
        for part in ["limited to 2 of cpu", "proxy is put beside", "the image is mirror/plimsoll:1"] {
            assert!(changes.contains(part), "{changes}");
        }
    }
}
