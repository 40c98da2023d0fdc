//! A namespace for one test. When it is dropped, all that the test made goes, and volumes that stay fail the test.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
};

use plimsoll_e2e::place;
use serde_json::{Value, json};

use crate::{
    kubectl::{apply, ask, get, kubectl, list, text},
    waiting::until,
};

/// A row of `plimsoll export --format csv`: what is in which column.
pub(crate) type Row = BTreeMap<String, String>;

/// How long anything takes at most that is not slow on purpose.
pub(crate) const SOON_S: u64 = 60;

/// The namespace, and classes of volumes, which have none.
pub(crate) struct Namespace {
    pub(crate) name: String,
    classes: Vec<String>,
}

impl Namespace {
    /// A new one. Names of tests are unique in the cluster.
    pub(crate) fn new(name: &str) -> Self {
        apply(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }));
        let namespace = Self { name: name.to_owned(), classes: Vec::new() };
        // Pods are refused until the controllers have made it.
        until("the account of a new namespace", SOON_S, || namespace.get("serviceaccount", "default"));
        namespace
    }

    /// A class of volumes with these parameters of the driver, named after the namespace.
    pub(crate) fn class(&mut self, parameters: &Value) -> String {
        self.class_with(parameters, "Immediate")
    }

    /// The same, which binds when the cluster says or when a pod comes.
    pub(crate) fn class_with(&mut self, parameters: &Value, binding: &str) -> String {
        self.class_of(parameters, binding, "Delete")
    }

    /// A class whose volumes stay until somebody removes them: the test does.
    pub(crate) fn retaining_class(&mut self) -> String {
        self.class_of(&json!({}), "Immediate", "Retain")
    }

    fn class_of(&mut self, parameters: &Value, binding: &str, reclaiming: &str) -> String {
        let name = format!("{}-{}", self.name, self.classes.len());
        apply(&json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
            "provisioner": place::DRIVER, "parameters": parameters, "reclaimPolicy": reclaiming,
            "allowVolumeExpansion": true, "volumeBindingMode": binding,
        }));
        self.classes.push(name.clone());
        name
    }

    /// A claim of a file system of this size that one node may have.
    pub(crate) fn claim(&self, name: &str, class: &str, size: &str) {
        self.claim_with(name, class, size, &json!({ "accessModes": ["ReadWriteOnce"] }));
    }

    /// A claim whose `spec` has more than class and size.
    pub(crate) fn claim_with(&self, name: &str, class: &str, size: &str, more: &Value) {
        let mut spec = json!({ "storageClassName": class, "resources": { "requests": { "storage": size } } });
        for (key, value) in more.as_object().into_iter().flatten() {
            spec[key.as_str()] = value.clone();
        }
        apply(&json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": { "name": name, "namespace": self.name }, "spec": spec,
        }));
    }

    /// A pod that only has a volume, at `/data`, on any node or a certain one.
    pub(crate) fn holder(&self, name: &str, claim: &str, node: Option<&str>) {
        self.pod(name, &[(claim, "/data")], node, &json!({ "image": place::PAUSE_IMAGE }));
    }

    /// A pod that runs plimsoll once, with its volume at `/data`.
    pub(crate) fn plimsoll(&self, name: &str, claim: &str, arguments: &[&str]) {
        self.pod(name, &[(claim, "/data")], None, &container(arguments));
    }

    /// A pod of one container, which has these volumes at these places and whatever else `container` says.
    pub(crate) fn pod(&self, name: &str, volumes: &[(&str, &str)], node: Option<&str>, container: &Value) {
        let spec = json!({ "containers": [with_volumes("main", volumes, container)], "volumes": of_claims(volumes) });
        self.pod_of(name, node, spec);
    }

    /// A pod whose containers and volumes are these.
    fn pod_of(&self, name: &str, node: Option<&str>, mut spec: Value) {
        spec["restartPolicy"] = json!("Never");
        spec["dnsPolicy"] = json!("Default");
        spec["terminationGracePeriodSeconds"] = json!(1);
        if let Some(node) = node {
            spec["nodeSelector"] = json!({ "kubernetes.io/hostname": node });
        }
        apply(&json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": self.name }, "spec": spec,
        }));
    }

    /// Creates objects of the namespace, as documents show them.
    pub(crate) fn apply_text(&self, yaml: &str) {
        let output = kubectl(&["apply", "--namespace", &self.name, "--filename=-"], yaml);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Gives an account of the namespace a role of it.
    pub(crate) fn bind(&self, account: &str, role: &str) {
        apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": { "name": format!("{account}-{role}"), "namespace": self.name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role },
            "subjects": [{ "kind": "ServiceAccount", "name": account, "namespace": self.name }],
        }));
    }

    /// A kubeconfig of an account, which may do nothing but what it was given.
    pub(crate) fn config_of_account(&self, account: &str) -> tempfile::NamedTempFile {
        let token = ask(&["--namespace", &self.name, "create", "token", account]).unwrap();
        let admin = ask(&["config", "view", "--raw", "--flatten", "--output=json"]).unwrap();
        let mut config: Value = serde_json::from_str(&admin).unwrap();
        config["users"] = json!([{ "name": account, "user": { "token": token.trim() } }]);
        config["contexts"][0]["context"]["user"] = json!(account);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), config.to_string()).unwrap();
        file
    }

    /// An object of the namespace.
    pub(crate) fn get(&self, kind: &str, name: &str) -> Result<Value, String> {
        get(&["--namespace", &self.name, kind, name])
    }

    /// Waits for a phase of a pod or a claim, such as `Running` or `Bound`; gives the object.
    pub(crate) fn wait_for_phase(&self, kind: &str, name: &str, phase: &str, seconds: u64) -> Value {
        until(&format!("{kind} {name} is {phase}"), seconds, || {
            let object = self.get(kind, name)?;
            if text(&object, "/status/phase") == phase {
                return Ok(object);
            }
            Err(format!("its status is {}; events: {}", object["status"], self.events(name).join(" / ")))
        })
    }

    /// What the cluster has said about an object.
    pub(crate) fn events(&self, name: &str) -> Vec<String> {
        let field = format!("--field-selector=involvedObject.name={name}");
        let events = list(&["--namespace", &self.name, "events", &field]).unwrap_or_default();
        events.iter().map(|event| format!("{}: {}", text(event, "/reason"), text(event, "/message"))).collect()
    }

    /// Waits for an event whose reason and message have this in them.
    pub(crate) fn wait_for_event(&self, name: &str, part: &str) {
        until(&format!("an event of {name} with {part:?}"), SOON_S, || {
            let events = self.events(name);
            if events.iter().any(|event| event.contains(part)) { Ok(()) } else { Err(events.join(" / ")) }
        });
    }

    /// Has a pod of plimsoll measure its volumes, and gives what it measured: a row for each cell.
    pub(crate) fn measured(&self, name: &str, volumes: &[(&str, &str)], container: &Value) -> Vec<Row> {
        // One at a time: what two of them do to one disk at once is not what either of them is about.
        static MEASURING: Mutex<()> = Mutex::new(());
        let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
        self.measure(name, volumes, container);
        self.rows(name, 2 * SOON_S)
    }

    /// A pod of plimsoll that measures and then prints what it measured. The runtime may lose the end of a long record,
    /// see e2e/README.md. So an init container measures, into a history, and the container behind it prints rows.
    pub(crate) fn measure(&self, name: &str, volumes: &[(&str, &str)], container: &Value) {
        let history = [("history", "/history")];
        let of_history = ["--history", "/history/history.db"];
        let all = [volumes, &history].concat();
        let mut measuring = with_volumes("measure", &all, container);
        measuring["args"].as_array_mut().unwrap().extend(of_history.map(Value::from));
        let rows = self::container(&[&["export", "--format", "csv"][..], &of_history].concat());
        let mut spec = json!({
            "initContainers": [measuring], "containers": [with_volumes("main", &history, &rows)],
            "volumes": of_claims(volumes),
        });
        spec["volumes"].as_array_mut().unwrap().push(json!({ "name": "history", "emptyDir": {} }));
        self.pod_of(name, None, spec);
    }

    /// Waits until a pod of [`Self::measure`] has begun.
    pub(crate) fn wait_until_it_measures(&self, pod: &str) {
        until(&format!("pod {pod} measures"), SOON_S, || {
            let object = self.get("pod", pod)?;
            let is_running = object.pointer("/status/initContainerStatuses/0/state/running").is_some();
            if is_running { Ok(()) } else { Err(object["status"].to_string()) }
        });
    }

    /// What a pod of [`Self::measure`] measured.
    pub(crate) fn rows(&self, pod: &str, seconds: u64) -> Vec<Row> {
        until(&format!("pod {pod} ends"), seconds, || {
            let object = self.get("pod", pod)?;
            match text(&object, "/status/phase") {
                "Succeeded" => Ok(()),
                "Failed" => panic!("pod {pod} failed: {:?}", self.log_of(pod, "measure")),
                _ => Err(format!("{}; events: {}", object["status"], self.events(pod).join(" / "))),
            }
        });
        let log = self.log(pod);
        csv::Reader::from_reader(log.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
    }

    /// What a pod has printed.
    pub(crate) fn log(&self, pod: &str) -> String {
        self.log_of(pod, "main").unwrap()
    }

    fn log_of(&self, pod: &str, container: &str) -> Result<String, String> {
        ask(&["--namespace", &self.name, "logs", pod, "--container", container])
    }

    /// Where the machine has the volume of a running pod: a test may look into it and put something there.
    pub(crate) fn path_of(&self, pod: &str, claim: &str) -> PathBuf {
        let pod = self.get("pod", pod).unwrap();
        let volume = self.volume_of(claim);
        Path::new(place::STATE)
            .join(text(&pod, "/spec/nodeName"))
            .join("kubelet/pods")
            .join(text(&pod, "/metadata/uid"))
            .join("volumes/kubernetes.io~csi")
            .join(volume)
            .join("mount")
    }

    /// The name of a bound claim's volume.
    pub(crate) fn volume_of(&self, claim: &str) -> String {
        text(&self.get("pvc", claim).unwrap(), "/spec/volumeName").to_owned()
    }

    /// Changes an object of the namespace.
    pub(crate) fn patch(&self, kind: &str, name: &str, patch: &Value) -> Result<(), String> {
        let patch = patch.to_string();
        ask(&["--namespace", &self.name, "patch", kind, name, "--type=merge", "--patch", &patch]).map(drop)
    }

    /// Deletes an object and waits until it is gone.
    pub(crate) fn delete(&self, kind: &str, name: &str) {
        let timeout = format!("--timeout={SOON_S}s");
        ask(&["--namespace", &self.name, "delete", kind, name, "--ignore-not-found", &timeout]).unwrap();
    }

    /// For runs by somebody who may not look at volumes: such a client cannot wait until they are gone.
    pub(crate) fn wait_until_volumes_are_gone(&self) {
        until("its volumes are gone", SOON_S, || {
            let volumes = list(&["pv"])?;
            let is_there = volumes.iter().any(|volume| text(volume, "/spec/claimRef/namespace") == self.name);
            if is_there { Err("they are there".to_owned()) } else { Ok(()) }
        });
    }

    /// Removes everything, and says what stays.
    fn remove(&self) -> Result<(), String> {
        let of_ours = |volume: &Value| text(volume, "/spec/claimRef/namespace") == self.name;
        let volumes = list(&["pv"])?;
        let names: Vec<_> =
            volumes.iter().filter(|volume| of_ours(volume)).map(|v| text(v, "/metadata/name")).collect();
        ask(&["delete", "namespace", &self.name, "--ignore-not-found", "--timeout=120s"])?;
        for class in &self.classes {
            ask(&["delete", "storageclass", class, "--ignore-not-found"])?;
        }
        for name in names {
            let output = kubectl(&["wait", "--for=delete", "--timeout=60s", &format!("pv/{name}")], "");
            if !output.status.success() {
                return Err(format!("volume {name} stays: {}", String::from_utf8_lossy(&output.stderr)));
            }
            let file = place::volumes().join(format!("{name}.img"));
            if file.exists() {
                return Err(format!("the volume is gone, and its file {} stays", file.display()));
            }
        }
        Ok(())
    }
}

/// A container that has these volumes at these places, and whatever else `container` says.
fn with_volumes(name: &str, volumes: &[(&str, &str)], container: &Value) -> Value {
    let mut full = json!({ "name": name, "imagePullPolicy": "Never" });
    full["volumeMounts"] = volumes.iter().map(|(name, place)| json!({ "name": name, "mountPath": place })).collect();
    for (key, value) in container.as_object().into_iter().flatten() {
        full[key.as_str()] = value.clone();
    }
    full
}

/// The volumes of a pod that has these claims.
fn of_claims(volumes: &[(&str, &str)]) -> Value {
    let of_claim =
        |&(claim, _): &(&str, &str)| json!({ "name": claim, "persistentVolumeClaim": { "claimName": claim } });
    volumes.iter().map(of_claim).collect()
}

/// A container that runs plimsoll once.
pub(crate) fn container(arguments: &[&str]) -> Value {
    json!({ "image": place::IMAGE, "args": arguments })
}

impl Drop for Namespace {
    fn drop(&mut self) {
        match self.remove() {
            Err(error) if thread::panicking() => eprintln!("remove namespace {}: {error}", self.name),
            Err(error) => panic!("remove namespace {}: {error}", self.name),
            Ok(()) => {}
        }
    }
}
