//! Whether a node takes the pod: its state, taints, labels, size, drivers and room for volumes; and whether it has the
//! image. Pure. What other pods leave of a node only the scheduler knows.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::ResourceExt as _;
use plimsoll_catalog::quantity::Quantity;

use super::{Check, State, limit_ranges::read};
use crate::{
    nodes::{NodeFound, is_ready, taint},
    request::{PodRun, Toleration},
};

/// Kubelets name no more images than this by default.
const IMAGES_MAX: usize = 50;

/// The taint of nodes that are cordoned.
const CORDON: &str = "node.kubernetes.io/unschedulable";

/// Where images are that no node can pull.
const LOCAL: &str = "localhost/";

/// Whether nodes take the pod, and have its image. `found` is the same nodes, with their drivers; `volumes` how many
/// volumes of which driver the pod is to have.
pub(super) fn judge(nodes: &[Node], found: &[NodeFound], run: &PodRun, volumes: &BTreeMap<String, u32>) -> Vec<Check> {
    let refusals: Vec<_> = nodes
        .iter()
        .zip(found)
        .map(|(node, found)| refusal(node, run).or_else(|| refusal_of_volumes(found, volumes)))
        .collect();
    let fitting: Vec<&Node> =
        nodes.iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none()).map(|(node, _)| node).collect();
    if fitting.is_empty() {
        return vec![Check::new(State::Fails, "nodes", none_fits(nodes, &refusals, run))];
    }
    let why = grouped(nodes, &refusals);
    let too_few = fitting.len() < run.pods.nodes as usize;
    let asked = if too_few { format!(", and {} are asked for", run.pods.nodes) } else { String::new() };
    let text = format!("{} of {} nodes may take the pod{asked}{why}", fitting.len(), nodes.len());
    let mut checks = vec![Check::new(if too_few { State::Fails } else { State::Ok }, "nodes", text)];
    checks.extend(architectures(&fitting, run));
    checks.push(image(&fitting, run));
    checks
}

/// Why no node takes the pod, when that can be seen from what nodes are.
pub(crate) fn why_none(nodes: &[Node], run: &PodRun) -> Option<String> {
    let refusals: Vec<_> = nodes.iter().map(|node| refusal(node, run)).collect();
    refusals.iter().all(Option::is_some).then(|| none_fits(nodes, &refusals, run))
}

/// Nodes, as far as they take the pod of a run.
#[derive(Clone, Debug)]
pub struct NodesFor {
    /// So many do.
    pub fitting: u32,
    /// Why others do not, to be put behind a sentence.
    pub refusals: String,
}

/// Which nodes take the pod.
pub(crate) fn nodes_for(nodes: &[Node], run: &PodRun) -> NodesFor {
    let refusals: Vec<_> = nodes.iter().map(|node| refusal(node, run)).collect();
    let fitting = refusals.iter().filter(|refusal| refusal.is_none()).count();
    NodesFor { fitting: u32::try_from(fitting).unwrap_or(u32::MAX), refusals: grouped(nodes, &refusals) }
}

/// That no node takes the pod.
fn none_fits(nodes: &[Node], refusals: &[Option<String>], run: &PodRun) -> String {
    match (&run.placement.node, nodes.len()) {
        (_, 0) => "the cluster has no nodes".to_owned(),
        (Some(name), _) if !nodes.iter().any(|node| node.name_any() == *name) => {
            format!("the cluster has no node {name}")
        }
        (_, count) => format!("none of {count} nodes takes the pod{}", grouped(nodes, refusals)),
    }
}

/// The reasons of nodes, each once.
fn grouped(nodes: &[Node], refusals: &[Option<String>]) -> String {
    let mut names = BTreeMap::<&str, Vec<String>>::new();
    for (node, refusal) in nodes.iter().zip(refusals) {
        if let Some(why) = refusal {
            names.entry(why).or_default().push(node.name_any());
        }
    }
    names.iter().map(|(why, names)| format!("; {}: {why}", shortened(names))).collect()
}

/// Why a node does not take the pod.
fn refusal(node: &Node, run: &PodRun) -> Option<String> {
    let placement = &run.placement;
    let label = |name: &str| node.labels().get(name).map(String::as_str);
    if placement.node.as_ref().is_some_and(|name| *name != node.name_any()) {
        return Some("not what --node names".to_owned());
    }
    if !is_ready(node) {
        return Some("not ready".to_owned());
    }
    let cordon = Taint { key: CORDON.to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() };
    let is_cordoned = node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
    if is_cordoned && !is_tolerated(&cordon, &placement.tolerations) {
        return Some("cordoned, which `kubectl uncordon` ends".to_owned());
    }
    let system = "kubernetes.io/os";
    if let Some(other) = label(system).filter(|system| *system != "linux") {
        return Some(format!("runs {other}"));
    }
    let lacking = placement.selector.iter().find(|(name, value)| label(name) != Some(value.as_str()));
    if let Some((name, value)) = lacking {
        return Some(format!("no label {name}={value}"));
    }
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_ref());
    let repels = |one: &&Taint| one.effect != "PreferNoSchedule" && !is_tolerated(one, &placement.tolerations);
    if let Some(one) = taints.into_iter().flatten().find(repels) {
        return Some(format!("taint {}, which --toleration would pass", taint(one)));
    }
    let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
    let per_node = run.pods.per_node;
    for (name, asked) in [("cpu", &run.resources.cpu), ("memory", &run.resources.memory)] {
        let asked = Quantity::read(asked).map(|asked| asked.times(per_node));
        if let (Some(most), Some(asked)) = (read(allocatable, name), asked)
            && asked > most
        {
            let of_several = if per_node > 1 { format!(" for {per_node} of the run") } else { String::new() };
            return Some(format!("{most} of {name} for pods, less than {asked}{of_several}"));
        }
    }
    None
}

fn is_tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|toleration| {
        let is_key = toleration.key.is_empty() || toleration.key == taint.key;
        let is_value =
            toleration.value.as_deref().is_none_or(|value| value == taint.value.as_deref().unwrap_or_default());
        let is_effect = toleration.effect.as_deref().is_none_or(|effect| effect.is_empty() || effect == taint.effect);
        is_key && is_value && is_effect
    })
}

/// Why a node does not take the volumes.
fn refusal_of_volumes(node: &NodeFound, volumes: &BTreeMap<String, u32>) -> Option<String> {
    let drivers = node.drivers.as_ref()?;
    volumes.iter().find_map(|(name, count)| match drivers.iter().find(|driver| driver.name == *name) {
        None => Some(format!("no driver {name}")),
        Some(driver) => {
            let free = driver.volumes_free().filter(|free| free < count)?;
            Some(format!("room for {free} more volumes of {name}, and {count} are needed"))
        }
    })
}

/// What the image has to be made for.
fn architectures(nodes: &[&Node], run: &PodRun) -> Option<Check> {
    const LABEL: &str = "kubernetes.io/arch";
    let of = |node: &&Node| {
        let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
        info.map(|info| info.architecture.clone()).filter(|architecture| !architecture.is_empty())
    };
    let all: BTreeSet<String> = nodes.iter().filter_map(of).collect();
    let names: Vec<&str> = all.iter().map(String::as_str).collect();
    match names[..] {
        [] => None,
        [one] => Some(Check::new(State::Ok, "architecture", format!("the image has to be made for linux/{one}"))),
        _ if run.placement.selector.contains_key(LABEL) => None,
        [first, ..] => {
            let text = format!(
                "nodes are of {}: unless the image is made for all of them, say --node-selector {LABEL}={first}",
                names.join(" and ")
            );
            Some(Check::new(State::Warning, "architecture", text))
        }
    }
}

/// Whether nodes have the image, or have to pull it.
fn image(nodes: &[&Node], run: &PodRun) -> Check {
    const ABOUT: &str = "image";
    let images = |node: &Node| node.status.as_ref().and_then(|status| status.images.clone()).unwrap_or_default();
    let name = run.image.name.as_str();
    let names = aliases(name);
    let has = |node: &&&Node| {
        images(node).iter().flat_map(|image| image.names.iter().flatten()).any(|known| names.contains(known))
    };
    let having = nodes.iter().filter(has).count();
    // A node that names fewer than it may names all.
    let is_certain = nodes.iter().filter(|node| !has(node)).all(|node| images(node).len() < IMAGES_MAX);
    let is_never_pulled = run.image.pull_policy == "Never" || name.starts_with(LOCAL);
    match (having, is_never_pulled) {
        (0, true) => {
            let state = if is_certain { State::Fails } else { State::Warning };
            let text = format!(
                "no node names {name} among its images, and none can pull it: `plimsoll kubernetes image` makes it; \
                 put it on the nodes, or in a registry that --image names"
            );
            Check::new(state, ABOUT, text)
        }
        (having, true) if having < nodes.len() => {
            let without: Vec<String> = nodes.iter().filter(|node| !has(node)).map(|node| node.name_any()).collect();
            let text = format!(
                "{} does not name {name} among its images, and cannot pull it: say --node with one that has it",
                shortened(&without)
            );
            Check::new(State::Warning, ABOUT, text)
        }
        _ if run.image.pull_policy == "Always" => {
            Check::new(State::Ok, ABOUT, format!("{name} is pulled: whether it is there only pulling shows"))
        }
        (having, _) if having == nodes.len() => Check::new(State::Ok, ABOUT, format!("{name} is on all these nodes")),
        (having, _) => {
            let count = nodes.len();
            let text = format!(
                "{name} is on {having} of these {count} nodes, and is pulled elsewhere: whether it is there only \
                 pulling shows"
            );
            Check::new(State::Unknown, ABOUT, text)
        }
    }
}

/// What nodes call an image: short names are those of Docker's registry.
fn aliases(name: &str) -> Vec<String> {
    let first = name.split('/').next().unwrap_or_default();
    let has_registry = name.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    let tagged = if name.rsplit('/').next().is_some_and(|last| last.contains([':', '@'])) {
        name.to_owned()
    } else {
        format!("{name}:latest")
    };
    if has_registry {
        return vec![tagged];
    }
    let library = if name.contains('/') { "" } else { "library/" };
    vec![format!("docker.io/{library}{tagged}"), tagged]
}

fn shortened(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [one, other] => format!("{one}, {other}"),
        [one, other, rest @ ..] => format!("{one}, {other} and {} more", rest.len()),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{nodes::NodeDriver, request::test_runs::run};

    fn node(name: &str, spec: &Value, images: &[&str]) -> Node {
        serde_json::from_value(json!({
            "metadata": { "name": name, "labels": { "kubernetes.io/os": "linux" } },
            "spec": spec,
            "status": {
                "conditions": [{ "type": "Ready", "status": "True" }],
                "allocatable": { "cpu": "1930m", "memory": "4Gi" },
                "images": images.iter().map(|image| json!({ "names": [image] })).collect::<Vec<_>>(),
                "nodeInfo": { "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                    "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "linux",
                    "osImage": "", "systemUUID": "" },
            },
        }))
        .unwrap()
    }

    fn judged(nodes: &[Node], run: &PodRun) -> Vec<Check> {
        judge(nodes, &vec![NodeFound::default(); nodes.len()], run, &BTreeMap::new())
    }

    #[test]
    fn why_nodes_do_not_take_the_pod_is_told() {
        let why = |spec: Value, change: &dyn Fn(&mut PodRun)| {
            let mut run = run(&["a"], 8);
            change(&mut run);
            let check = judged(&[node("n", &spec, &[])], &run).remove(0);
            assert_eq!(check.state, State::Fails, "{}", check.text);
            check.text
        };
        let tainted = json!({ "taints": [{ "key": "gpu", "value": "yes", "effect": "NoSchedule" }] });
        assert!(why(json!({ "unschedulable": true }), &|_| ()).contains("n: cordoned, which `kubectl uncordon` ends"));
        assert!(why(tainted.clone(), &|_| ()).contains("taint gpu=yes:NoSchedule"));
        assert!(why(json!({}), &|run| run.resources.cpu = "2".to_owned()).contains("1930m of cpu"));
        assert!(why(json!({}), &|run| run.placement.node = Some("m".to_owned())).contains("has no node m"));
        let selected = |run: &mut PodRun| {
            run.placement.selector.insert("disk".to_owned(), "ssd".to_owned());
        };
        assert!(why(json!({}), &selected).contains("no label disk=ssd"));
        let several = |run: &mut PodRun| run.pods.per_node = 4;
        assert!(why(json!({}), &several).contains("1930m of cpu for pods, less than 2 for 4 of the run"));
        let mut tolerant = run(&["a"], 8);
        tolerant.placement.tolerations = vec!["gpu".parse().unwrap()];
        assert_eq!(judged(&[node("n", &tainted, &[])], &tolerant)[0].state, State::Ok);
        assert_eq!(judged(&[], &tolerant)[0].state, State::Fails);
        let cordoned =
            json!({ "unschedulable": true, "taints": [{ "key": CORDON, "effect": "NoSchedule", "value": null }] });
        tolerant.placement.tolerations = vec![format!("{CORDON}:NoSchedule").parse().unwrap()];
        assert_eq!(judged(&[node("n", &cordoned, &[])], &tolerant)[0].state, State::Ok);
    }

    #[test]
    fn a_node_without_the_driver_or_without_room_does_not_take_the_volumes() {
        let volumes = BTreeMap::from([("d".to_owned(), 2)]);
        let state = |drivers: Option<Vec<NodeDriver>>| {
            let found = [NodeFound { drivers, ..NodeFound::default() }];
            judge(&[node("n", &json!({}), &[])], &found, &run(&["a"], 8), &volumes)[0].clone()
        };
        let driver = |most: Option<u32>, attached: Option<u32>| {
            Some(vec![NodeDriver { name: "d".to_owned(), volumes_max: most, volumes_attached: attached }])
        };
        assert_eq!(state(None).state, State::Ok, "nobody knows");
        assert!(state(Some(Vec::new())).text.contains("no driver d"));
        assert!(state(driver(Some(16), Some(15))).text.contains("room for 1 more volumes of d, and 2 are needed"));
        assert_eq!(state(driver(Some(16), Some(14))).state, State::Ok);
        assert_eq!(state(driver(None, Some(99))).state, State::Ok);
    }

    #[test]
    fn an_image_that_cannot_be_pulled_has_to_be_there() {
        let mut run = run(&["a"], 8);
        run.image.name = "localhost/plimsoll:1".to_owned();
        let state = |nodes: &[Node], run: &PodRun| judged(nodes, run).pop().unwrap().state;
        let (with, without) = (node("a", &json!({}), &["localhost/plimsoll:1"]), node("b", &json!({}), &["other:1"]));
        let elsewhere = [without.clone()];
        assert_eq!(state(&[with.clone(), without], &run), State::Warning);
        assert_eq!(state(&[with], &run), State::Ok);
        assert_eq!(state(&elsewhere, &run), State::Fails);
        let many = node("c", &json!({}), &["x"; 50]);
        assert_eq!(state(&[many], &run), State::Warning, "a full list may lack it");
        run.image.name = "registry.example.org/plimsoll:1".to_owned();
        assert_eq!(state(&elsewhere, &run), State::Unknown);
        run.image.pull_policy = "Never".to_owned();
        assert_eq!(state(&elsewhere, &run), State::Fails);
    }

    #[test]
    fn short_names_of_images_are_those_of_the_usual_registry() {
        assert_eq!(aliases("plimsoll"), ["docker.io/library/plimsoll:latest", "plimsoll:latest"]);
        assert_eq!(aliases("me/plimsoll:1")[0], "docker.io/me/plimsoll:1");
        assert_eq!(aliases("host:5000/plimsoll"), ["host:5000/plimsoll:latest"]);
    }

    #[test]
    fn nodes_of_several_architectures_are_a_warning_until_one_is_chosen() {
        let mut other = node("b", &json!({}), &[]);
        other.status.as_mut().unwrap().node_info.as_mut().unwrap().architecture = "arm64".to_owned();
        let nodes = [node("a", &json!({}), &[]), other];
        let check = judged(&nodes, &run(&["a"], 8)).remove(1);
        assert_eq!(check.state, State::Warning);
        assert!(check.text.contains("--node-selector kubernetes.io/arch=amd64"), "{}", check.text);
    }
}
