//! The proof that the image needs nothing of the system that it runs on: its content becomes the root of a program
//! that measures there, with what a container runtime adds to an image and without.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use plimsoll_image::reading::ImageRead;
use serde_json::Value;

use crate::{child, interruption};

/// Who runs the program where root is not wanted. The number has no name in an empty root.
const USER: u32 = 65532;

/// Turns `$2` into the root of a container of user `$3`, and starts what follows there. All of it happens in name
/// spaces of the shell, so that nothing is left when the program ends, however it ends.
const CONTAINER: &str = r#"
chroot=$1 root=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
[ ! -d /sys/fs/cgroup ] || mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 dev "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
done
if [ "$user" != 0 ]; then
    mount --bind "$root/tmp" "$root/tmp"
    mount -o remount,bind,ro "$root"
    exec setpriv --no-new-privs "$chroot" --userspec="$user:$user" --groups= "$root" "$@"
fi
exec "$chroot" "$root" "$@"
"#;

/// What there is around the program.
#[derive(Clone, Copy)]
enum Surroundings {
    /// Nothing: no `/proc`, no `/dev`.
    Nothing,
    /// What a container runtime gives, for root.
    Container,
    /// The same with a root that cannot be written to, for a user without any rights.
    Restricted,
}

/// Runs all checks and tells which were not possible here.
pub(super) fn prove(archive: &Path) -> anyhow::Result<Vec<String>> {
    let mut skipped = Vec::new();
    let content = fs::read(archive).with_context(|| format!("read {}", archive.display()))?;
    let image = ImageRead::of(&content).with_context(|| format!("{} is no OCI image", archive.display()))?;
    println!("check: every reference of the image has the type, size and digest that it says");
    match child::find("skopeo") {
        Some(skopeo) => have_it_copied(&skopeo, archive)?,
        None => skipped.push("skopeo, which would read the image independently".to_owned()),
    }
    let missing: Vec<_> = ["chroot", "mknod", "mount", "setpriv", "unshare"]
        .into_iter()
        .filter(|tool| child::find(tool).is_none())
        .collect();
    if !rustix::process::geteuid().is_root() {
        skipped.push("root, to run the image in an empty root".to_owned());
    } else if missing.is_empty() {
        run_image(&image)?;
    } else {
        skipped.push(format!("{}, to run the image in an empty root", missing.join(", ")));
    }
    Ok(skipped)
}

/// skopeo checks what it copies against its digest.
fn have_it_copied(skopeo: &Path, archive: &Path) -> anyhow::Result<()> {
    let copy = tempfile::tempdir().context("create a directory for a copy of the image")?;
    let mut command = child::command(&skopeo.to_string_lossy());
    command.args(["copy", "--quiet", "--insecure-policy"]);
    command.arg(format!("oci-archive:{}", archive.display())).arg(format!("dir:{}", copy.path().display()));
    child::output(&mut command)?;
    println!("check: skopeo reads and copies the image");
    Ok(())
}

/// Measures in all surroundings.
fn run_image(image: &ImageRead) -> anyhow::Result<()> {
    // The root is removed on return, not on a signal: so a signal becomes a return.
    let _listening = interruption::listen()?;
    for surroundings in [Surroundings::Nothing, Surroundings::Container, Surroundings::Restricted] {
        let root = EmptyRoot::of(image, surroundings)?;
        let outcome = match surroundings {
            Surroundings::Nothing => root.measure_with_nothing(),
            Surroundings::Container => root.measure_as_root(),
            Surroundings::Restricted => root.measure_restricted(),
        };
        outcome.with_context(|| format!("with {}", surroundings.words()))?;
        println!("check: measured with {}", surroundings.words());
        root.directory.close().context("remove the empty root")?;
    }
    Ok(())
}

impl Surroundings {
    const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing around it, not even /proc and /dev",
            Self::Container => "what a container runtime gives",
            Self::Restricted => "the rights of a restricted container: another user, a root to read only",
        }
    }
}

/// A directory tree that holds the files of an image and what is mounted onto.
struct EmptyRoot {
    directory: tempfile::TempDir,
    entrypoint: String,
    surroundings: Surroundings,
}

impl EmptyRoot {
    fn of(image: &ImageRead, surroundings: Surroundings) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("empty-root-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(crate::repository().join("target"))
            .context("create an empty root")?;
        let root = directory.path();
        image.unpack(root).with_context(|| format!("unpack the image into {}", root.display()))?;
        let mounted: &[&str] = match surroundings {
            Surroundings::Nothing => &[],
            Surroundings::Container | Surroundings::Restricted => &["proc", "sys", "dev"],
        };
        for name in mounted.iter().chain(&["tmp"]) {
            fs::create_dir(directory.path().join(name)).with_context(|| format!("create /{name} in an empty root"))?;
        }
        if matches!(surroundings, Surroundings::Restricted) {
            chown(directory.path().join("tmp"), Some(USER), Some(USER)).context("give /tmp to another user")?;
        }
        Ok(Self { directory, entrypoint: image.entrypoint.clone(), surroundings })
    }

    /// What the program prints when it is started in this root.
    fn output(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let chroot = tool("chroot")?;
        let root = self.directory.path();
        let mut command = match self.surroundings {
            Surroundings::Nothing => {
                let mut command = child::command(&chroot.to_string_lossy());
                command.arg(root);
                command
            }
            Surroundings::Container | Surroundings::Restricted => {
                let mut command = child::command(&tool("unshare")?.to_string_lossy());
                command.args(["--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts"]);
                command.args(["sh", "-euc", CONTAINER, "container"]).args([&chroot, root]);
                let user = if matches!(self.surroundings, Surroundings::Restricted) { USER } else { 0 };
                command.arg(user.to_string());
                command
            }
        };
        command.arg(&self.entrypoint).args(arguments);
        // A runtime gives these two; nothing of our own environment may help.
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        if !matches!(self.surroundings, Surroundings::Nothing) {
            command.env("HOME", "/");
        }
        let output = child::output(&mut command).with_context(|| format!("plimsoll {}", arguments.join(" ")));
        interruption::check()?;
        output
    }

    /// A short run in `/tmp`, which has to give rates and to leave nothing behind. Gives the record's id.
    fn measure(&self, pattern: &str, more: &[&str]) -> anyhow::Result<String> {
        let mut arguments = vec!["run", "/tmp", "--effort", "quick", "--rw", pattern, "--block-size", "4k"];
        arguments.extend(["--size", "16MiB", "--duration", "300ms", "--json"]);
        arguments.extend(more);
        let record: Value = serde_json::from_str(&self.output(&arguments)?).context("parse the record")?;
        let cell = &record["cells"][0];
        let iops = cell["read"]["iops"].as_f64().unwrap_or_default();
        ensure!(iops > 0.0, "a run of {pattern} counted no reads");
        ensure!(cell["errors"].as_u64() == Some(0), "a run of {pattern} has errors: {}", cell["errors"]);
        let left = fs::read_dir(self.directory.path().join("tmp")).context("list /tmp of the empty root")?.count();
        ensure!(left == 0, "a run of {pattern} left {left} entries behind");
        println!("check: {pattern} with {}: {iops:.0} reads per second", cell["engine"]);
        record["id"].as_str().map(str::to_owned).context("the record has no id")
    }

    fn measure_with_nothing(&self) -> anyhow::Result<()> {
        self.output(&["--version"])?;
        self.output(&["doctor"])?;
        self.measure("randread", &["--no-history"])?;
        Ok(())
    }

    fn measure_as_root(&self) -> anyhow::Result<()> {
        let findings = self.output(&["doctor"])?;
        for line in findings.lines() {
            println!("check: doctor: {line}");
        }
        let ids = [self.measure("randread", &[])?, self.measure("randrw", &["--verify"])?];
        let history: Value =
            serde_json::from_str(&self.output(&["history", "--json"])?).context("parse the history")?;
        let kept = |id: &String| history.as_array().is_some_and(|runs| runs.iter().any(|run| run["id"] == id.as_str()));
        ensure!(ids.iter().all(kept), "the history has not both runs: {history}");
        self.output(&["history"])?;
        self.output(&["show", &ids[0]])?;
        Ok(())
    }

    fn measure_restricted(&self) -> anyhow::Result<()> {
        self.output(&["doctor"])?;
        self.measure("randread", &[])?;
        self.measure("randrw", &["--no-history", "--engine", "psync"])?;
        Ok(())
    }
}

fn tool(name: &str) -> anyhow::Result<PathBuf> {
    child::find(name).with_context(|| format!("{name} is not installed"))
}
