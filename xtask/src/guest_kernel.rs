//! The kernel that guests of tests boot: Debian's for clouds, which has md, device-mapper and virtio as modules. It is
//! unpacked into the folder of the build and never installed: nothing of this machine boots it.

use std::fs;

use anyhow::{Context as _, ensure};

use crate::child;

/// Depends on the newest one.
const NEWEST: &str = "linux-image-cloud-amd64";

/// Where it goes: `boot/vmlinuz-*` and `lib/modules/*` are below.
pub(crate) const FOLDER: &str = "target/guest";

/// Whether it is there; half of it never is.
pub(crate) fn is_there() -> bool {
    crate::repository().join(FOLDER).exists()
}

/// Downloads and unpacks it. Only the download asks the network, and apt checks what comes.
pub(crate) fn fetch() -> anyhow::Result<()> {
    ensure!(cfg!(target_arch = "x86_64"), "guests are x86-64, as is this kernel");
    let shown = child::output(child::command("apt-cache").args(["show", "--no-all-versions", NEWEST]))?;
    let package = dependency(&shown).with_context(|| format!("no image among the dependencies of {NEWEST}"))?;
    let target = crate::repository().join("target");
    fs::create_dir_all(&target).context("make the folder of the build")?;
    let part = tempfile::Builder::new().prefix("guest-").tempdir_in(&target).context("make a folder")?;
    // As root, apt would fetch as a user who may not write there, and warns that it does not.
    let flags = ["-o", "APT::Sandbox::User=root", "download", "-q", package];
    child::output(child::command("apt-get").args(flags).current_dir(part.path()))?;
    let file = fs::read_dir(part.path())?.next().context("apt-get downloaded nothing")??.path();
    let tree = part.path().join("tree");
    child::output(child::command("dpkg-deb").arg("-x").args([&file, &tree]))?;
    fs::rename(&tree, crate::repository().join(FOLDER)).context("put it where it belongs")
}

/// The image that a package depends on, in what apt shows of that.
fn dependency(shown: &str) -> Option<&str> {
    let depends = shown.lines().find_map(|line| line.strip_prefix("Depends: "))?;
    let mut names = depends.split(',').filter_map(|one| one.split_whitespace().next());
    names.find(|name| name.starts_with("linux-image-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_is_found_among_other_dependencies() {
        let shown = "Package: linux-image-cloud-amd64\nVersion: 6.1.4-1\n\
            Depends: linux-base (>= 4.3), linux-image-6.1.0-4-cloud-amd64 (= 6.1.4-1)\nSize: 1500";
        assert_eq!(dependency(shown), Some("linux-image-6.1.0-4-cloud-amd64"));
        assert_eq!(dependency("Package: linux-image-cloud-amd64\nSize: 1500"), None);
    }
}
