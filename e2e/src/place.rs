//! Names and places of the one cluster. All that it makes on the machine is named by one of these, so that what a run
//! left behind that was killed can be told from what is not ours.

use std::path::{Path, PathBuf};

/// All state: volumes, keys, logs. Short, as paths of sockets have at most 107 bytes; and on a disk, as volumes are.
pub const STATE: &str = "/var/lib/plimsoll-e2e";

/// The network namespace that everything is in.
pub const NETWORK_NAMESPACE: &str = "plimsoll-e2e";

/// Whatever else needs a name on the machine begins so: control groups, networks of pods.
pub const PREFIX: &str = "plimsoll-e2e";

/// The CSI driver.
pub const DRIVER: &str = "loop.csi.test";

/// The image of plimsoll on both nodes. It is on no registry, so `imagePullPolicy` is `Never`.
pub const IMAGE: &str = "localhost/plimsoll:e2e";

/// The image that holds a pod's namespaces.
pub const PAUSE_IMAGE: &str = "localhost/pause:e2e";

/// The API server, on an address that pods reach.
pub const SERVER: &str = "10.85.0.10:6443";

/// A node of the cluster.
#[derive(Clone, Copy)]
pub struct Node {
    /// Its name in Kubernetes.
    pub name: &'static str,
    /// Its address.
    pub address: &'static str,
    /// The addresses of its pods, without the last number.
    pub pods: &'static str,
}

/// The nodes.
pub const NODES: [Node; 2] = [
    Node { name: "node1", address: "10.85.0.11", pods: "10.85.101" },
    Node { name: "node2", address: "10.85.0.12", pods: "10.85.102" },
];

impl Node {
    /// Where its state is.
    pub fn folder(&self) -> PathBuf {
        state().join(self.name)
    }

    /// Its control group, in every hierarchy.
    pub fn control_group(&self) -> String {
        format!("{PREFIX}-{}", self.name)
    }

    /// The socket of its container runtime.
    pub fn runtime_socket(&self) -> PathBuf {
        self.folder().join("c.sock")
    }

    /// The socket of the CSI driver on it.
    pub fn driver_socket(&self) -> PathBuf {
        self.folder().join("kubelet/plugins").join(DRIVER).join("csi.sock")
    }
}

/// The folder of all state.
pub fn state() -> &'static Path {
    Path::new(STATE)
}

/// The kubeconfig of a user who may do everything.
pub fn kubeconfig() -> PathBuf {
    state().join("keys/admin.conf")
}

/// The folder that has a file for each volume.
pub fn volumes() -> PathBuf {
    state().join("pool/volumes")
}

/// The network namespace as a file.
pub fn network_namespace() -> PathBuf {
    Path::new("/run/netns").join(NETWORK_NAMESPACE)
}
