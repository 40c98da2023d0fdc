//! What the machine must have. All that is missing is told at once.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};
use plimsoll_e2e::place;

use crate::{child, dist};

/// Programs, each with the Debian package that has it.
const PROGRAMS: &[(&str, &str)] = &[
    ("conntrack", "conntrack"),
    ("containerd", "containerd"),
    ("ctr", "containerd"),
    ("ip", "iproute2"),
    ("iptables", "iptables"),
    ("losetup", "util-linux"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("nsenter", "util-linux"),
    ("runc", "runc"),
    ("sysctl", "procps"),
];

/// Where Debian's containernetworking-plugins are.
pub(crate) const NETWORK_PLUGINS: &str = "/usr/lib/cni";

/// The hierarchy that limits containers' I/O.
pub(super) const BLOCK_HIERARCHY: &str = "/sys/fs/cgroup/blkio";

/// Kubernetes is built in the repository; images of nodes and volumes are files in the folder of the state. On a full
/// disk every test waits for its whole time.
const FREE_BYTES: u64 = 6 << 30;

/// An error that names everything that is missing.
pub(super) fn check() -> anyhow::Result<()> {
    let mut missing = Vec::new();
    if !rustix::process::geteuid().is_root() {
        missing.push("root".to_owned());
    }
    let absent = PROGRAMS.iter().filter(|(program, _)| child::find(program).is_none());
    missing.extend(absent.map(|(program, package)| format!("the program {program} (Debian package {package})")));
    if !Path::new(NETWORK_PLUGINS).join("bridge").exists() {
        missing.push(format!("{NETWORK_PLUGINS}/bridge (Debian package containernetworking-plugins)"));
    }
    if !Path::new(BLOCK_HIERARCHY).join("cgroup.procs").exists() {
        missing.push(format!("version 1 of control groups with {BLOCK_HIERARCHY}"));
    }
    for place in [&*crate::repository(), place::state()] {
        // The state is not there yet.
        let there = place.ancestors().find(|folder| folder.exists()).unwrap_or(place);
        let free_bytes = crate::free_bytes(there)?;
        if free_bytes < FREE_BYTES {
            let [needed, free] = [FREE_BYTES, free_bytes].map(|bytes| bytes as f64 / (1_u64 << 30) as f64);
            missing.push(format!("{needed:.1} GiB of disk for {}, of which {free:.1} are free", place.display()));
        }
    }
    for check in [check_go, dist::check_c_library] {
        if let Err(error) = check() {
            missing.push(format!("{error:#}"));
        }
    }
    if !missing.is_empty() {
        bail!("the machine lacks {}", missing.join("; "));
    }
    Ok(())
}

/// Debian's Go may be older than what the module of the cluster asks for.
fn check_go() -> anyhow::Result<()> {
    let manifest = crate::repository().join("e2e/cluster/go.mod");
    let manifest = fs::read_to_string(&manifest).with_context(|| format!("read {}", manifest.display()))?;
    let needed = manifest.lines().find_map(|line| line.strip_prefix("go ")).context("e2e/cluster/go.mod has no go")?;
    if child::find("go").is_none() {
        bail!("Go {needed}, of which there is none");
    }
    // Not in the folder of the module: an old one fails there without saying what it is.
    let found = child::output(child::command("go").args(["env", "GOVERSION"]))?;
    let found = found.trim().trim_start_matches("go");
    if version(found) < version(needed) {
        bail!("Go {needed}, as this one is {found}");
    }
    Ok(())
}

/// `1.26.8` as numbers that compare.
fn version(text: &str) -> Vec<u32> {
    text.split(|character: char| !character.is_ascii_digit()).map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(version("1.9.1") < version("1.26.0"));
        assert!(version("1.26.8") > version("1.26.0"));
        assert!(version("1.19rc1") < version("1.26.0"));
    }
}
