//! A guess at the container that this process runs in, from the traces that container engines leave inside.

use std::{fs, path::Path};

use plimsoll_record::environment::{ContainerEnvironment, ContainerKind};

use super::Pod;

/// The traces.
#[derive(Clone, Copy, Debug, Default)]
struct Traces<'a> {
    /// /.dockerenv is there.
    docker_file: bool,
    /// /run/.containerenv is there.
    podman_file: bool,
    /// A token for the Kubernetes API is there.
    service_account: bool,
    /// The pod is named by its environment.
    pod_named: bool,
    /// The text of /proc/self/cgroup.
    cgroup: &'a str,
    /// The text of /proc/self/mountinfo.
    mountinfo: &'a str,
    /// What /proc/self/ns/pid leads to.
    process_namespace: &'a str,
}

/// What /proc/self/ns/pid leads to outside of all containers: the kernel gives its first namespaces fixed numbers.
const FIRST_PROCESS_NAMESPACE: &str = "pid:[4026531836]";

/// The container of this process.
pub(super) fn environment(pod: &Pod) -> ContainerEnvironment {
    let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default().to_string_lossy().into_owned();
    let exists = |path| Path::new(path).exists();
    let kind = guess(Traces {
        docker_file: exists("/.dockerenv"),
        podman_file: exists("/run/.containerenv"),
        service_account: exists("/var/run/secrets/kubernetes.io/serviceaccount"),
        pod_named: pod.name.is_some(),
        cgroup: &read("/proc/self/cgroup"),
        mountinfo: &read("/proc/self/mountinfo"),
        process_namespace: &namespace,
    });
    ContainerEnvironment { kind, pod: pod.name.clone(), namespace: pod.namespace.clone(), node: pod.node.clone() }
}

fn guess(traces: Traces<'_>) -> ContainerKind {
    let group = |trace: &str| traces.cgroup.contains(trace);
    // In a namespace the path of the group is hidden. What the engine mounts is not: parts of its own directories are
    // the roots of mounts, and the layers of the root file system.
    let mounted = |trace: &str| traces.mountinfo.lines().any(|line| is_of_container(line) && line.contains(trace));
    if traces.pod_named || traces.service_account || group("kubepods") || mounted("/kubelet/pods/") {
        ContainerKind::Kubernetes
    } else if traces.docker_file || group("/docker") || mounted("/docker/") {
        ContainerKind::Docker
    } else if traces.podman_file || group("libpod") || mounted("/containers/storage/") {
        ContainerKind::Podman
    } else if group("containerd") || mounted("containerd") {
        ContainerKind::Containerd
    } else if group("/lxc") || traces.mountinfo.lines().any(is_in_place_of_kernel) || is_apart(traces.process_namespace)
    {
        ContainerKind::Other
    } else {
        ContainerKind::None
    }
}

/// Whether the processes of this namespace see themselves only. An engine that leaves no other trace, as runc by
/// itself, does that much.
fn is_apart(process_namespace: &str) -> bool {
    !process_namespace.is_empty() && process_namespace != FIRST_PROCESS_NAMESPACE
}

/// Whether a line of mountinfo is about the root file system, or one of the few files that engines mount into every
/// container. On the host of containers their mounts may be visible too, elsewhere.
fn is_of_container(line: &str) -> bool {
    let point = line.split(' ').nth(4);
    matches!(point, Some("/" | "/etc/hosts" | "/etc/hostname" | "/etc/resolv.conf" | "/dev/termination-log"))
}

/// Whether a line of mountinfo is about a file of LXC in the place of one of the kernel. The host has the directory of
/// such files, with no container on it.
fn is_in_place_of_kernel(line: &str) -> bool {
    let point = line.split(' ').nth(4).unwrap_or_default();
    line.contains(" - fuse.lxcfs ") && (point.starts_with("/proc/") || point.starts_with("/sys/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host of many containers: none of it is about itself.
    const HOST: &str = "\
24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
200 24 0:50 / /var/lib/docker/overlay2/8a/merged rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/8a/diff\n\
201 24 0:51 / /var/lib/kubelet/pods/1f/volumes/x rw - tmpfs tmpfs rw\n";

    fn mounted(mountinfo: &str) -> ContainerKind {
        guess(Traces { mountinfo, ..Traces::default() })
    }

    fn grouped(cgroup: &str) -> ContainerKind {
        guess(Traces { cgroup, mountinfo: HOST, ..Traces::default() })
    }

    #[test]
    fn the_host_of_containers_is_none() {
        assert_eq!(mounted(HOST), ContainerKind::None);
        assert_eq!(grouped("0::/user.slice/user-1000.slice/session-3.scope\n"), ContainerKind::None);
        assert_eq!(grouped("0::/init.scope\n"), ContainerKind::None);
    }

    #[test]
    fn the_path_of_the_group_tells_where_it_is_visible() {
        assert_eq!(
            grouped("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1f.scope"),
            ContainerKind::Kubernetes
        );
        assert_eq!(grouped("5:cpu,cpuacct:/docker/4f1c\n"), ContainerKind::Docker);
        assert_eq!(grouped("0::/system.slice/docker-4f1c.scope\n"), ContainerKind::Docker);
        assert_eq!(grouped("0::/machine.slice/libpod-77.scope/container\n"), ContainerKind::Podman);
        assert_eq!(grouped("0::/lxc.payload.web\n"), ContainerKind::Other);
    }

    #[test]
    fn mounts_tell_where_the_group_is_hidden() {
        let docker = "880 700 0:60 / / rw - overlay overlay rw,upperdir=/var/lib/docker/overlay2/8a/diff\n\
                      890 880 8:1 /var/lib/docker/containers/4f/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n";
        assert_eq!(mounted(docker), ContainerKind::Docker);
        let pod = "880 700 0:60 / / rw - overlay overlay rw,upperdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/9/fs\n\
                   890 880 8:1 /var/lib/kubelet/pods/1f/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n";
        assert_eq!(mounted(pod), ContainerKind::Kubernetes);
        assert_eq!(mounted(pod.lines().next().unwrap()), ContainerKind::Containerd);
        let podman = "880 700 0:60 / / rw - overlay overlay rw,upperdir=/home/a/.local/share/containers/storage/overlay/1/diff\n";
        assert_eq!(mounted(podman), ContainerKind::Podman);
    }

    #[test]
    fn files_of_lxc_tell_where_they_stand_for_those_of_the_kernel_and_not_on_the_host() {
        let line = |point: &str| format!("{HOST}90 24 0:48 / {point} rw,nosuid - fuse.lxcfs lxcfs rw,user_id=0\n");
        assert_eq!(mounted(&line("/var/lib/lxcfs")), ContainerKind::None);
        assert_eq!(mounted(&line("/proc/meminfo")), ContainerKind::Other);
        assert_eq!(mounted(&line("/sys/devices/system/cpu")), ContainerKind::Other);
    }

    #[test]
    fn a_container_that_leaves_no_other_trace_has_processes_of_its_own() {
        // A bundle of runc: its root is a directory of the host, its group the root of a namespace.
        let mountinfo = "61 57 8:1 /srv/bundle/rootfs / ro,relatime - ext4 /dev/sda1 rw\n\
                         62 61 0:40 / /proc rw - proc proc rw\n";
        let runc = Traces { mountinfo, cgroup: "0::/\n", ..Traces::default() };
        assert_eq!(guess(Traces { process_namespace: "pid:[4026532281]", ..runc }), ContainerKind::Other);
        assert_eq!(guess(Traces { process_namespace: "pid:[4026531836]", ..runc }), ContainerKind::None);
        let docker = Traces { docker_file: true, process_namespace: "pid:[4026532281]", ..runc };
        assert_eq!(guess(docker), ContainerKind::Docker);
    }

    #[test]
    fn files_and_names_of_the_engines_tell() {
        let none = Traces::default();
        assert_eq!(guess(Traces { docker_file: true, ..none }), ContainerKind::Docker);
        assert_eq!(guess(Traces { podman_file: true, ..none }), ContainerKind::Podman);
        assert_eq!(guess(Traces { docker_file: true, pod_named: true, ..none }), ContainerKind::Kubernetes);
        assert_eq!(guess(Traces { podman_file: true, service_account: true, ..none }), ContainerKind::Kubernetes);
        assert_eq!(guess(none), ContainerKind::None);
    }
}
