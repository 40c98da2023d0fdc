//! What decides: etcd, the API server, the controllers and the scheduler, and the sidecars of the CSI driver.

use std::path::{Path, PathBuf};

use plimsoll_e2e::place::{self, NODES};

use super::{node, programs};

/// Addresses of services.
const SERVICES: &str = "10.96.0.0/16";

const ETCD: &str = "http://127.0.0.1:2379";
const ETCD_PEER: &str = "http://127.0.0.1:2380";

/// A component: its name, and the program with its arguments.
pub(super) type Line = (&'static str, Vec<String>);

fn key(name: &str) -> String {
    place::state().join("keys").join(name).display().to_string()
}

fn kube_all(component: &str, arguments: &[String]) -> Vec<String> {
    let program = programs::folder().join("kube-all").display().to_string();
    [program, component.to_owned()].into_iter().chain(arguments.iter().cloned()).collect()
}

/// What everything is kept in. It dies with the cluster, so nothing waits for a disk.
pub(super) fn etcd() -> Line {
    let arguments = [
        format!("--data-dir={}", place::state().join("etcd").display()),
        format!("--listen-client-urls={ETCD}"),
        format!("--advertise-client-urls={ETCD}"),
        format!("--listen-peer-urls={ETCD_PEER}"),
        format!("--initial-advertise-peer-urls={ETCD_PEER}"),
        format!("--initial-cluster=default={ETCD_PEER}"),
        "--unsafe-no-fsync".into(),
        "--log-level=warn".into(),
    ];
    ("etcd", kube_all("etcd", &arguments))
}

pub(super) fn api_server() -> Line {
    let (address, port) = place::SERVER.split_once(':').expect("the server has a port");
    let arguments = [
        format!("--etcd-servers={ETCD}"),
        format!("--bind-address={address}"),
        format!("--advertise-address={address}"),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", key("apiserver.crt")),
        format!("--tls-private-key-file={}", key("apiserver.key")),
        format!("--client-ca-file={}", key("ca.crt")),
        format!("--kubelet-client-certificate={}", key("admin.crt")),
        format!("--kubelet-client-key={}", key("admin.key")),
        format!("--kubelet-certificate-authority={}", key("ca.crt")),
        "--kubelet-preferred-address-types=InternalIP".into(),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        format!("--service-account-key-file={}", key("service-accounts.pub")),
        format!("--service-account-signing-key-file={}", key("service-accounts.key")),
        format!("--service-cluster-ip-range={SERVICES}"),
        "--authorization-mode=Node,RBAC".into(),
        "--enable-admission-plugins=NodeRestriction".into(),
        "--allow-privileged=true".into(),
    ];
    ("kube-apiserver", kube_all("kube-apiserver", &arguments))
}

/// The flags by which a component reaches the API server, and by which it answers on this machine only.
fn client(conf: &str) -> Vec<String> {
    ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"]
        .map(|flag| format!("{flag}={}", key(conf)))
        .into_iter()
        .chain(["--bind-address=127.0.0.1".into(), "--leader-elect=false".into()])
        .collect()
}

pub(super) fn controllers() -> [Line; 2] {
    let mut manager = client("controller-manager.conf");
    manager.extend([
        format!("--service-account-private-key-file={}", key("service-accounts.key")),
        format!("--root-ca-file={}", key("ca.crt")),
        "--use-service-account-credentials=true".into(),
    ]);
    [
        ("kube-controller-manager", kube_all("kube-controller-manager", &manager)),
        ("kube-scheduler", kube_all("kube-scheduler", &client("scheduler.conf"))),
    ]
}

/// One is enough: all nodes have the machine's network. It writes no settings of the kernel, hence the zeros.
pub(super) fn proxy() -> Line {
    let arguments = [
        format!("--kubeconfig={}", key("admin.conf")),
        format!("--hostname-override={}", NODES[0].name),
        "--proxy-mode=iptables".into(),
        format!("--cluster-cidr={}", node::PODS),
        format!("--bind-address={}", NODES[0].address),
        "--healthz-bind-address=127.0.0.1:10256".into(),
        "--metrics-bind-address=127.0.0.1:10249".into(),
        "--conntrack-max-per-core=0".into(),
        "--conntrack-tcp-timeout-established=0".into(),
        "--conntrack-tcp-timeout-close-wait=0".into(),
    ];
    ("kube-proxy", kube_all("kube-proxy", &arguments))
}

/// The controller of the CSI driver.
pub(super) const DRIVER: &str = "csi-controller";

/// Where it answers.
pub(super) fn driver_socket() -> PathBuf {
    place::state().join("csi.sock")
}

/// The controller of the CSI driver. Its sidecars end when it does, so it is not the process of a node.
pub(super) fn driver() -> Line {
    let command = vec![
        programs::folder().join("csi-loop").display().to_string(),
        format!("--endpoint={}", driver_socket().display()),
        format!("--pool={}/pool", place::STATE),
    ];
    (DRIVER, command)
}

/// The sidecars of the controller. What fails is tried again soon: tests have drivers fail on purpose.
pub(super) fn sidecars() -> Vec<Line> {
    let socket = format!("--csi-address={}", driver_socket().display());
    let admin = format!("--kubeconfig={}", key("admin.conf"));
    let retry = ["--retry-interval-start=250ms", "--retry-interval-max=4s"];
    let sidecar = |name: &'static str, port: u16, more: &[&str]| -> Line {
        let program = programs::folder().join(name).display().to_string();
        let mut command = vec![program, admin.clone(), "-v=3".into(), format!("--http-endpoint=127.0.0.1:{port}")];
        command.extend(more.iter().map(ToString::to_string));
        (name, command)
    };
    let mut lines = vec![
        sidecar("csi-provisioner", 9801, &[&["--leader-election=false", &socket], &retry[..]].concat()),
        sidecar("csi-attacher", 9802, &[&["--leader-election=false", &socket], &retry[..]].concat()),
        sidecar("csi-resizer", 9803, &[&["--leader-election=false", &socket], &retry[..]].concat()),
        sidecar("csi-snapshotter", 9804, &["--leader-election=false", &socket]),
        sidecar("snapshot-controller", 9805, &["--leader-election=false"]),
    ];
    // Delays that tests ask for are longer than the patience of seconds that sidecars have.
    for (_, command) in lines.iter_mut().take(2) {
        command.push("--timeout=60s".into());
    }
    lines
}

/// Writes certificates, keys and kubeconfigs, and gives the command for it.
pub(super) fn make_keys() -> Vec<String> {
    let nodes: Vec<_> = NODES.iter().map(|node| format!("{}={}", node.name, node.address)).collect();
    let folder = place::state().join("keys").display().to_string();
    kube_all(
        "pki",
        &[format!("--folder={folder}"), format!("--server={}", place::SERVER), format!("--nodes={}", nodes.join(","))],
    )
}

/// `kubectl` of the cluster, by whoever may do everything.
pub(super) fn kubectl(arguments: &[&str]) -> Vec<String> {
    let mut all = vec![format!("--kubeconfig={}", place::kubeconfig().display())];
    all.extend(arguments.iter().map(ToString::to_string));
    kube_all("kubectl", &all)
}

/// The program of the container runtime's client for one node, and where the programs are that the driver needs.
pub(super) fn runtime_client(socket: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = vec!["ctr".to_owned(), "--address".into(), socket.display().to_string()];
    command.extend(["--namespace".to_owned(), "k8s.io".into()]);
    command.extend(arguments.iter().map(ToString::to_string));
    command
}
