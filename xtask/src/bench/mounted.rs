//! A file system on a device or in memory, unmounted on drop.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use anyhow::Context as _;

use crate::child;

/// The file system, at its place.
pub(super) struct Mounted {
    pub(super) place: PathBuf,
    is_mounted: bool,
}

impl Mounted {
    /// A new ext4 on the device, mounted in a directory of its own in `directory`.
    pub(super) fn on(device: &Path, directory: &Path) -> anyhow::Result<Self> {
        child::output(child::command("mkfs.ext4").args(["-q", "-F"]).arg(device))?;
        Self::mount(child::command("mount").arg(device), directory)
    }

    /// A file system in memory, mounted in a directory of its own in `directory`.
    pub(super) fn in_memory(directory: &Path) -> anyhow::Result<Self> {
        Self::mount(child::command("mount").args(["-t", "tmpfs", "plimsoll"]), directory)
    }

    /// Runs the command, which lacks only the place.
    fn mount(command: &mut Command, directory: &Path) -> anyhow::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let place = directory.join(format!("mounted-{}-{number}", process::id()));
        fs::create_dir(&place).with_context(|| format!("create {}", place.display()))?;
        let mut mounted = Self { place, is_mounted: false };
        child::output(command.arg(&mounted.place))?;
        mounted.is_mounted = true;
        Ok(mounted)
    }

    fn unmount(&self) -> anyhow::Result<()> {
        child::run(child::command("umount").arg(&self.place))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let mut unmounted = if self.is_mounted { self.unmount() } else { Ok(()) };
        // What a program that died has left open is closed soon.
        for _ in 0..20 {
            if unmounted.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(500));
            unmounted = self.unmount();
        }
        if let Err(error) = unmounted.and_then(|()| Ok(fs::remove_dir(&self.place)?)) {
            eprintln!("remove {}: {error:#}", self.place.display());
        }
    }
}
