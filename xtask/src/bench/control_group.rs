//! A control group for whoever is put into it, with one controller; removed on drop.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use anyhow::{Context as _, bail};

use crate::child;

/// Which version of control groups a controller belongs to.
#[derive(Clone, Copy)]
pub(super) enum Version {
    One,
    Two,
}

/// What a group controls.
#[derive(Clone, Copy)]
pub(super) enum Controller {
    /// Rates of block devices.
    Block,
    /// Processor time.
    Processor,
}

impl Controller {
    /// What each version calls it.
    const fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Block, Version::One) => "blkio",
            (Self::Block, Version::Two) => "io",
            (Self::Processor, _) => "cpu",
        }
    }

    /// Where groups with it are made. Where both versions are mounted, version 1 has it.
    fn place(self) -> Option<(Version, PathBuf)> {
        let root = Path::new("/sys/fs/cgroup");
        let one = root.join(self.name(Version::One));
        if one.join("cgroup.procs").exists() {
            return Some((Version::One, one));
        }
        let controllers = fs::read_to_string(root.join("cgroup.subtree_control")).ok()?;
        let is_there = controllers.split_whitespace().any(|name| name == self.name(Version::Two));
        is_there.then(|| (Version::Two, root.into()))
    }
}

/// The group.
pub(super) struct ControlGroup {
    path: PathBuf,
    pub(super) version: Version,
}

impl ControlGroup {
    pub(super) fn create(controller: Controller) -> anyhow::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            bail!("a control group needs root");
        }
        let (version, place) = controller
            .place()
            .with_context(|| format!("find a control group with the controller {}", controller.name(Version::Two)))?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = place.join(format!("plimsoll-bench-{}-{number}", process::id()));
        fs::create_dir(&path).with_context(|| format!("create {}", path.display()))?;
        Ok(Self { path, version })
    }

    /// Writes one of its settings.
    pub(super) fn set(&self, setting: &str, value: &str) -> anyhow::Result<()> {
        let file = self.path.join(setting);
        fs::write(&file, value).with_context(|| format!("write \"{value}\" to {}", file.display()))
    }

    /// The command inside of the group: a shell enters it and becomes the command.
    pub(super) fn inside(&self, command: &Command) -> Command {
        let mut shell = child::command("sh");
        shell.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.path.join("cgroup.procs"));
        shell.arg(command.get_program()).args(command.get_args());
        shell
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.path) {
            eprintln!("remove {}: {error}", self.path.display());
        }
    }
}
