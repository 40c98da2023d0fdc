//! Starting the cluster. Whatever goes wrong or is interrupted on the way, dropping it removes it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use plimsoll_e2e::{
    component::{Component, Process},
    place::{self, NODES},
};

use super::{control_plane, node, programs, removal};
use crate::{child, interruption};

/// What a component may take until it answers. All of them together take a quarter of a minute on two processors.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// How much of a log is shown when a component does not come up.
const LOG_LINES: usize = 15;

/// A cluster that is removed on drop.
pub(super) struct Cluster {
    is_ours: bool,
    owner: Option<removal::Owner>,
}

impl Cluster {
    /// Removes what is left of an earlier one, and starts a new one.
    pub(super) fn up() -> anyhow::Result<Self> {
        removal::refuse_if_owned()?;
        if place::state().exists() || place::network_namespace().exists() {
            println!("e2e: removing the cluster before");
            removal::remove()?;
        }
        let started = Instant::now();
        // From here on a failure drops the value, which removes what has been made.
        let mut cluster = Self { is_ours: true, owner: None };
        for inner in ["components", "logs", "pool"] {
            node::make_folder(&place::state().join(inner))?;
        }
        removal::remember_what_is_there()?;
        cluster.owner = Some(removal::own()?);
        start().context("start the cluster")?;
        println!("e2e: two nodes are ready after {:.1} s", started.elapsed().as_secs_f64());
        Ok(cluster)
    }

    /// Leaves it to `cargo xtask e2e down`.
    pub(super) fn leave_running(mut self) {
        self.is_ours = false;
    }

    /// Removes it, and says what could not be removed.
    pub(super) fn remove(mut self) -> anyhow::Result<()> {
        self.is_ours = false;
        removal::remove()
    }

    /// Copies the logs to where they outlive the cluster.
    pub(super) fn keep_logs(&self) {
        let to = crate::repository().join("target/e2e/logs");
        let copy = || -> io::Result<()> {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(place::state().join("logs"))? {
                let from = entry?.path();
                fs::copy(&from, to.join(from.file_name().unwrap_or_default()))?;
            }
            Ok(())
        };
        match copy() {
            Ok(()) => println!("e2e: what the components said is in {}", to.display()),
            Err(error) => eprintln!("e2e: keep the logs: {error}"),
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !self.is_ours {
            return;
        }
        self.keep_logs();
        if let Err(error) = removal::remove() {
            eprintln!("e2e: {error:#}");
        }
    }
}

fn start() -> anyhow::Result<()> {
    make_network()?;
    run(&control_plane::make_keys())?;
    start_component(control_plane::etcd())?;
    start_component(control_plane::api_server())?;
    // Runtimes need no API server, and take their images meanwhile.
    for node in &NODES {
        node::prepare(node)?;
        start_component(node::runtime_line(node))?;
    }
    import_images()?;
    wait_for("kube-apiserver", &kubectl(&["get", "--raw", "/readyz"]), "ok")?;
    for line in control_plane::controllers() {
        start_component(line)?;
    }
    // The types are known before anything is created that has them.
    let mut definitions = kubectl(&["apply", "--server-side"]);
    for file in programs::snapshot_definitions()? {
        definitions.push(format!("--filename={}", file.display()));
    }
    run(&definitions)?;
    start_component(control_plane::proxy())?;
    run(&apply("lab.yaml"))?;
    start_component(control_plane::driver())?;
    let socket = control_plane::driver_socket().display().to_string();
    wait_for("csi-controller", &["test".into(), "-S".into(), socket], "")?;
    for line in control_plane::sidecars() {
        start_component(line)?;
    }
    wait_for("kube-apiserver", &kubectl(&["get", "--namespace=default", "serviceaccount", "default"]), "default")?;
    wait_for("kube-apiserver", &apply("snapshots.yaml"), "")?;
    // One after the other: every kubelet listens for device plugins at the same place, and fails when another takes it
    // between removing what was there and listening.
    for node in &NODES {
        start_component(node::driver_line(node))?;
        start_component(node::kubelet_line(node))?;
        let ready = r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
        let kubelet = format!("kubelet-{}", node.name);
        wait_for(&kubelet, &kubectl(&["get", "node", node.name, "--output", ready]), "True")?;
        let drivers = "jsonpath={.spec.drivers[*].name}";
        wait_for(&kubelet, &kubectl(&["get", "csinode", node.name, "--output", drivers]), place::DRIVER)?;
    }
    all_run()
}

/// A network of its own: what the cluster does to addresses, routes and rules ends with it.
fn make_network() -> anyhow::Result<()> {
    child::output(child::command("ip").args(["netns", "add", place::NETWORK_NAMESPACE]))?;
    run(&["ip", "link", "set", "lo", "up"].map(String::from))?;
    let (server, _) = place::SERVER.split_once(':').expect("the server has a port");
    for address in NODES.iter().map(|node| node.address).chain([server]) {
        run(&["ip", "address", "replace", &format!("{address}/32"), "dev", "lo"].map(String::from))?;
    }
    // There is no way out, and services need one to be looked up at all.
    run(&["ip", "route", "replace", "10.96.0.0/16", "dev", "lo"].map(String::from))?;
    run(&["sysctl", "--quiet", "--write", "net.ipv4.ip_forward=1"].map(String::from))
}

/// Hands all images to all nodes.
pub(super) fn import_images() -> anyhow::Result<()> {
    for node in &NODES {
        let socket = node.runtime_socket();
        let runtime = format!("containerd-{}", node.name);
        wait_for(&runtime, &control_plane::runtime_client(&socket, &["version"]), "")?;
        for image in ["pause", "plimsoll"] {
            let archive = programs::images().join(format!("{image}.tar")).display().to_string();
            run(&control_plane::runtime_client(&socket, &["images", "import", &archive]))?;
        }
    }
    Ok(())
}

fn kubectl(arguments: &[&str]) -> Vec<String> {
    control_plane::kubectl(arguments)
}

fn apply(manifest: &str) -> Vec<String> {
    let path = crate::repository().join("e2e/manifests").join(manifest).display().to_string();
    kubectl(&["apply", "--filename", &path])
}

fn start_component((name, command): (impl AsRef<str>, Vec<String>)) -> anyhow::Result<()> {
    interruption::check()?;
    Component::start(name.as_ref(), command)?;
    Ok(())
}

/// A command in the cluster's network.
pub(super) fn inside(words: &[String]) -> Command {
    let mut command = child::command("nsenter");
    command.arg(format!("--net={}", place::network_namespace().display())).arg("--").args(words);
    command
}

fn run(words: &[String]) -> anyhow::Result<()> {
    child::output(&mut inside(words)).map(drop)
}

/// Asks again and again, until the answer has this in it, somebody wants the end, or a component has ended.
fn wait_for(component: &str, question: &[String], answer: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        interruption::check()?;
        let error = match child::output(&mut inside(question)) {
            Ok(output) if output.contains(answer) => return Ok(()),
            Ok(output) => anyhow::anyhow!("the answer is {:?}, without {answer:?}", output.trim()),
            Err(error) => error,
        };
        all_run()?;
        if Instant::now() > deadline {
            let log = last_lines(&Component::log(component));
            return Err(error)
                .with_context(|| format!("{component} does not come up; the end of what it said:\n{log}"));
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// An error that shows the log of the first component that has ended.
fn all_run() -> anyhow::Result<()> {
    for name in Component::names()? {
        if !Component::load(&name)?.process().is_running() {
            bail!("{name} has ended; the end of what it said:\n{}", last_lines(&Component::log(&name)));
        }
    }
    Ok(())
}

fn last_lines(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

/// The process that this program is.
pub(super) fn own_process() -> anyhow::Result<Process> {
    Process::of(std::process::id().cast_signed())
}

/// The file that says whose cluster it is.
pub(super) fn owner() -> PathBuf {
    place::state().join("owner.json")
}
