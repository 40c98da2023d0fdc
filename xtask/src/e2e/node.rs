//! What a node is made of: a container runtime, a kubelet and the CSI driver, each with its own folders, addresses and
//! control groups, so that two of them live on one machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use plimsoll_e2e::place::{self, Node};

use super::{programs, requirements};

/// Addresses of all pods, and the one that pods reach everything else by.
pub(super) const PODS: &str = "10.85.100.0/22";
const GATEWAY: &str = "10.85.100.1";

/// What answers for the kubelet's health, on the node's own address.
const HEALTH_PORT: u16 = 10248;

/// Writes the configuration of a node, and makes its control groups.
pub(super) fn prepare(node: &Node) -> anyhow::Result<()> {
    let folder = node.folder();
    for inner in ["cni", "kubelet/seccomp", "pods"] {
        make_folder(&folder.join(inner))?;
    }
    for (name, content) in [
        ("cni/10-bridge.conflist", network(node)),
        ("containerd.toml", runtime(node)),
        ("kubelet.yaml", kubelet(node)),
        ("kubelet/seccomp/deny-io-uring.json", manifest("deny-io-uring.json")?),
    ] {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
    }
    make_control_groups(node)
}

fn manifest(name: &str) -> anyhow::Result<String> {
    let path = crate::repository().join("e2e/manifests").join(name);
    fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
}

pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("create {}", path.display()))
}

/// The hierarchies of control groups of version 1.
pub(super) fn hierarchies() -> anyhow::Result<Vec<PathBuf>> {
    let root = Path::new("/sys/fs/cgroup");
    let entries = fs::read_dir(root).with_context(|| format!("list {}", root.display()))?;
    let mut hierarchies = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    hierarchies.retain(|path| path.join("cgroup.procs").exists());
    hierarchies.sort();
    Ok(hierarchies)
}

/// A group of its own in every hierarchy: with a shared one, each kubelet would remove the pods of the other.
fn make_control_groups(node: &Node) -> anyhow::Result<()> {
    for hierarchy in hierarchies()? {
        // Where both versions are mounted, this is version 2, which has no controllers then.
        if hierarchy.ends_with("unified") {
            continue;
        }
        let group = hierarchy.join(node.control_group());
        make_folder(&group)?;
        // A group without processors cannot have processes.
        for setting in ["cpuset.cpus", "cpuset.mems"] {
            if hierarchy.join(setting).exists() {
                let value = fs::read_to_string(hierarchy.join(setting)).context("read the processors of all")?;
                let file = group.join(setting);
                fs::write(&file, value).with_context(|| format!("write {}", file.display()))?;
            }
        }
    }
    Ok(())
}

/// Pods of all nodes are on one bridge: the nodes have one network.
fn network(node: &Node) -> String {
    let (folder, pods, prefix) = (node.folder(), node.pods, place::PREFIX);
    let folder = folder.display();
    format!(
        r#"{{"cniVersion": "1.0.0", "name": "{prefix}", "plugins": [
 {{"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
  "ipam": {{"type": "host-local", "dataDir": "{folder}/addresses",
   "ranges": [[{{"subnet": "{PODS}", "rangeStart": "{pods}.1", "rangeEnd": "{pods}.254", "gateway": "{GATEWAY}"}}]],
   "routes": [{{"dst": "0.0.0.0/0"}}]}}}},
 {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"#
    )
}

/// Three settings are for machines that lack something: the right to raise a process's priority, the hierarchy of huge
/// pages, and network namespaces that outlive whoever made them.
fn runtime(node: &Node) -> String {
    let (folder, socket) = (node.folder(), node.runtime_socket());
    let (folder, socket) = (folder.display(), socket.display());
    let (pause, plugins) = (place::PAUSE_IMAGE, requirements::NETWORK_PLUGINS);
    format!(
        r#"version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  tolerate_missing_hugetlb_controller = true
  max_container_log_line_size = -1
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"#
    )
}

/// The node tells its state every second: a volume is mounted only once the node has said that it uses it, which at the
/// usual ten seconds makes every pod wait.
fn kubelet(node: &Node) -> String {
    let keys = place::state().join("keys");
    let (folder, socket) = (node.folder(), node.runtime_socket());
    let (keys, folder, socket) = (keys.display(), folder.display(), socket.display());
    let (name, address, group) = (node.name, node.address, node.control_group());
    format!(
        r#"apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {address}
port: 10250
healthzBindAddress: {address}
healthzPort: {HEALTH_PORT}
tlsCertFile: {keys}/kubelet-{name}.crt
tlsPrivateKeyFile: {keys}/kubelet-{name}.key
authentication:
  anonymous: {{enabled: false}}
  webhook: {{enabled: true}}
  x509: {{clientCAFile: {keys}/ca.crt}}
authorization: {{mode: Webhook}}
containerRuntimeEndpoint: unix://{socket}
cgroupDriver: cgroupfs
cgroupRoot: /{group}
failCgroupV1: false
failSwapOn: false
podLogsDir: {folder}/pods
volumePluginDir: {folder}/volume-plugins
resolvConf: ""
makeIPTablesUtilChains: false
serializeImagePulls: false
maxPods: 100
evictionHard: {{memory.available: 100Mi, nodefs.available: 100Mi, imagefs.available: 100Mi}}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 1s
syncFrequency: 10s
"#
    )
}

/// The container runtime: its name as a component, and its command.
pub(super) fn runtime_line(node: &Node) -> (String, Vec<String>) {
    let configuration = node.folder().join("containerd.toml").display().to_string();
    (format!("containerd-{}", node.name), vec!["containerd".into(), "--config".into(), configuration])
}

pub(super) fn kubelet_line(node: &Node) -> (String, Vec<String>) {
    let folder = node.folder();
    let (folder, keys) = (folder.display(), place::state().join("keys"));
    let command = vec![
        programs::folder().join("kube-all").display().to_string(),
        "kubelet".into(),
        format!("--config={folder}/kubelet.yaml"),
        format!("--kubeconfig={}/{}.conf", keys.display(), node.name),
        format!("--hostname-override={}", node.name),
        format!("--node-ip={}", node.address),
        format!("--root-dir={folder}/kubelet"),
        format!("--cert-dir={folder}/kubelet/pki"),
    ];
    (format!("kubelet-{}", node.name), command)
}

pub(super) fn driver_line(node: &Node) -> (String, Vec<String>) {
    let folder = node.folder();
    let (folder, group) = (folder.display(), node.control_group());
    let command = vec![
        programs::folder().join("csi-loop").display().to_string(),
        format!("--endpoint={}", node.driver_socket().display()),
        format!("--registration-socket={folder}/kubelet/plugins_registry/{}-reg.sock", place::DRIVER),
        format!("--node={}", node.name),
        format!("--pool={}/pool", place::STATE),
        format!("--cgroup={}/{group}", requirements::BLOCK_HIERARCHY),
        format!("--state={folder}/throttles.json"),
    ];
    (format!("csi-{}", node.name), command)
}
