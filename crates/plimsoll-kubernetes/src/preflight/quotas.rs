//! Quotas of a namespace, and whether a run fits what is left of them. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ResourceQuota, ResourceQuotaSpec};
use kube::ResourceExt as _;
use plimsoll_catalog::quantity::Quantity;

use super::{
    Check, State,
    limit_ranges::{Limits, read},
};
use crate::request::{PodRun, VolumeSource};

const ABOUT: &str = "quota";

/// What a quota of these names asks every pod to say.
const TO_BE_SAID: [&str; 6] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/// What a run takes, by the names that quotas have for it: of its pods, and of all else.
struct Demand {
    of_pod: BTreeMap<String, Quantity>,
    of_others: BTreeMap<String, Quantity>,
}

impl Demand {
    fn of(run: &PodRun, limits: &Limits) -> Self {
        let one = Quantity::of(1);
        let of_pod = [
            ("pods", Some(one)),
            ("count/pods", Some(one)),
            ("cpu", limits.cpu),
            ("requests.cpu", limits.cpu),
            ("limits.cpu", limits.cpu_limit),
            ("memory", limits.memory),
            ("requests.memory", limits.memory),
            ("limits.memory", limits.memory),
        ];
        let all = run.pods.all();
        let of_pod =
            of_pod.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.times(all)))).collect();
        let mut of_others = BTreeMap::from([("count/jobs.batch".to_owned(), one)]);
        let mut add = |name: String, value: Quantity| {
            let sum = of_others.entry(name).or_default();
            *sum = sum.plus(value);
        };
        for (index, _) in run.claims() {
            let VolumeSource::Class { class, size_bytes } = &run.volumes[index].source else { continue };
            let size = Quantity::of(*size_bytes);
            add("persistentvolumeclaims".to_owned(), one);
            add("count/persistentvolumeclaims".to_owned(), one);
            add("requests.storage".to_owned(), size);
            add(format!("{class}.storageclass.storage.k8s.io/requests.storage"), size);
            add(format!("{class}.storageclass.storage.k8s.io/persistentvolumeclaims"), one);
        }
        Self { of_pod, of_others }
    }
}

/// Whether what a run takes fits.
pub(super) fn judge(quotas: &[ResourceQuota], run: &PodRun, limits: &Limits) -> Vec<Check> {
    if quotas.is_empty() {
        return vec![Check::new(State::Ok, ABOUT, "the namespace has none")];
    }
    let demand = Demand::of(run, limits);
    quotas.iter().flat_map(|quota| one(quota, run, &demand)).collect()
}

fn one(quota: &ResourceQuota, run: &PodRun, demand: &Demand) -> Vec<Check> {
    let name = quota.name_any();
    let spec = quota.spec.clone().unwrap_or_default();
    let status = quota.status.as_ref();
    let hard = status.and_then(|status| status.hard.as_ref()).or(spec.hard.as_ref());
    let used = status.and_then(|status| status.used.as_ref());
    let is_of_pods = is_scoped(&spec);
    let is_of_this_pod = !is_of_pods || matches_pod(&spec, run);
    let mut checks = Vec::new();
    let mut fitting = Vec::new();
    for resource in hard.into_iter().flat_map(BTreeMap::keys) {
        let of_pod = demand.of_pod.get(resource).filter(|_| is_of_this_pod);
        let asked = of_pod.or_else(|| demand.of_others.get(resource).filter(|_| !is_of_pods));
        let Some(asked) = asked.copied() else {
            if is_of_this_pod && TO_BE_SAID.contains(&resource.as_str()) {
                let text = format!("{name} counts {resource}, so that every pod has to name one: say --cpu-limit");
                checks.push(Check::new(State::Fails, ABOUT, text));
            }
            continue;
        };
        let Some(most) = read(hard, resource) else { continue };
        let left = most.minus(read(used, resource).unwrap_or_default());
        if asked > left {
            let text = format!(
                "{name} has {} of {most} {resource} left, and a run takes {asked}, {} too much: {}",
                left.max(Quantity::default()),
                asked.minus(left),
                advice(resource)
            );
            checks.push(Check::new(State::Fails, ABOUT, text));
        } else {
            fitting.push(format!("{resource} {asked} of {left}"));
        }
    }
    if checks.is_empty() {
        let text = match fitting.is_empty() {
            true => format!("{name} is about nothing that a run takes"),
            false => format!("a run fits what {name} has left: {}", fitting.join(", ")),
        };
        checks.push(Check::new(State::Ok, ABOUT, text));
    }
    checks
}

/// What to do about what does not fit.
fn advice(resource: &str) -> &'static str {
    if resource.ends_with("requests.storage") {
        "ask for smaller volumes with --size, or have the quota raised"
    } else if resource.ends_with("persistentvolumeclaims") {
        "measure fewer volumes at a time, or have the quota raised"
    } else if resource.ends_with("cpu") {
        "ask for less with --cpu or --cpu-limit, or have the quota raised"
    } else if resource.ends_with("memory") {
        "ask for less with --memory, or have the quota raised"
    } else {
        "remove what is not needed, or have the quota raised"
    }
}

fn is_scoped(spec: &ResourceQuotaSpec) -> bool {
    let is_said = spec.scopes.as_ref().is_some_and(|scopes| !scopes.is_empty());
    is_said || spec.scope_selector.as_ref().and_then(|selector| selector.match_expressions.as_ref()).is_some()
}

/// Whether the pod of a run is one of those that a quota counts.
fn matches_pod(spec: &ResourceQuotaSpec, run: &PodRun) -> bool {
    let class = run.placement.priority_class.as_deref();
    let is_in = |scope: &str, operator: &str, values: &[String]| match scope {
        // It has a deadline.
        "Terminating" | "NotBestEffort" => true,
        "PriorityClass" => {
            let is_named = class.is_some_and(|class| values.iter().any(|value| value == class));
            match operator {
                "In" => is_named,
                "NotIn" => !is_named,
                "DoesNotExist" => class.is_none(),
                _ => class.is_some(),
            }
        }
        _ => false,
    };
    let plain = spec.scopes.iter().flatten().all(|scope| is_in(scope, "Exists", &[]));
    let selector = spec.scope_selector.as_ref().and_then(|selector| selector.match_expressions.as_ref());
    plain
        && selector.into_iter().flatten().all(|expression| {
            is_in(&expression.scope_name, &expression.operator, expression.values.as_deref().unwrap_or_default())
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::request::{AccessMode, PodCount, test_runs::run};

    fn judged(run: &PodRun, spec: &Value, used: &Value) -> Vec<(State, String)> {
        let quota =
            json!({ "metadata": { "name": "q" }, "spec": spec, "status": { "hard": spec["hard"], "used": used } });
        let quotas = [serde_json::from_value(quota).unwrap()];
        let checks = judge(&quotas, run, &Limits::of(run, &[]));
        checks.into_iter().map(|check| (check.state, check.text)).collect()
    }

    #[test]
    fn what_does_not_fit_is_told_by_how_much() {
        let spec = json!({ "hard": { "requests.storage": "20Gi", "persistentvolumeclaims": "4" } });
        let judged = judged(&run(&["a", "b"], 8), &spec, &json!({ "requests.storage": "10Gi" }));
        assert_eq!(judged.len(), 1);
        assert_eq!(judged[0].0, State::Fails);
        assert!(judged[0].1.contains("10Gi of 20Gi requests.storage left, and a run takes 16Gi, 6Gi too much"));
    }

    #[test]
    fn what_fits_says_what_is_left() {
        let spec = json!({ "hard": { "pods": "3", "requests.cpu": "2", "services": "1",
            "a.storageclass.storage.k8s.io/persistentvolumeclaims": "1" } });
        let judged = judged(&run(&["a"], 8), &spec, &json!({ "pods": "2", "requests.cpu": "1500m" }));
        assert_eq!(judged[0].0, State::Ok);
        assert!(judged[0].1.contains("pods 1 of 1") && judged[0].1.contains("requests.cpu 500m of 500m"), "{judged:?}");
    }

    #[test]
    fn several_pods_take_several_times_as_much() {
        let mut run = run(&["a"], 8);
        run.pods = PodCount { nodes: 3, per_node: 1, ..PodCount::ONE };
        let spec = json!({ "hard": { "pods": "2", "requests.storage": "20Gi" } });
        let judged = judged(&run, &spec, &json!({}));
        let told = |part: &str| judged.iter().any(|(state, text)| *state == State::Fails && text.contains(part));
        assert!(told("a run takes 3") && told("a run takes 24Gi"), "{judged:?}");
        run.volumes[0].access = AccessMode::ReadWriteMany;
        assert_eq!(Demand::of(&run, &Limits::of(&run, &[])).of_others["requests.storage"], Quantity::of(8 << 30));
    }

    #[test]
    fn a_class_that_may_not_be_used_is_no_storage_of_the_others() {
        let spec = json!({ "hard": { "gold.storageclass.storage.k8s.io/requests.storage": "0" } });
        assert_eq!(judged(&run(&["a"], 8), &spec, &json!({}))[0].0, State::Ok);
        assert_eq!(judged(&run(&["gold"], 8), &spec, &json!({}))[0].0, State::Fails);
    }

    #[test]
    fn a_quota_of_limits_wants_a_limit_to_be_named() {
        let spec = json!({ "hard": { "limits.cpu": "4" } });
        let mut asked = run(&["a"], 8);
        assert!(judged(&asked, &spec, &json!({}))[0].1.contains("say --cpu-limit"));
        asked.resources.cpu_limit = Some("2".to_owned());
        assert_eq!(judged(&asked, &spec, &json!({}))[0].0, State::Ok);
    }

    #[test]
    fn quotas_of_other_pods_do_not_matter() {
        let hard = json!({ "pods": "0" });
        let state = |spec: Value, run: &PodRun| judged(run, &spec, &json!({}))[0].0;
        let usual = run(&["a"], 8);
        let mut urgent = usual.clone();
        urgent.placement.priority_class = Some("urgent".to_owned());
        assert_eq!(state(json!({ "hard": hard, "scopes": ["NotTerminating"] }), &usual), State::Ok);
        assert_eq!(state(json!({ "hard": hard, "scopes": ["BestEffort"] }), &usual), State::Ok);
        assert_eq!(state(json!({ "hard": hard, "scopes": ["Terminating"] }), &usual), State::Fails);
        let selector = json!({ "hard": hard, "scopeSelector": { "matchExpressions": [
            { "scopeName": "PriorityClass", "operator": "In", "values": ["urgent"] }] } });
        assert_eq!(state(selector.clone(), &usual), State::Ok);
        assert_eq!(state(selector, &urgent), State::Fails);
    }
}
