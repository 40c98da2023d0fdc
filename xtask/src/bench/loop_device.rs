//! A loop device over a file of its own, both removed on drop.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use anyhow::{Context as _, bail};

use crate::child;

/// As long as any request of a benchmark.
const REQUEST_KB_MAX: u64 = 4096;

/// How the device reaches its file.
#[derive(Clone, Copy)]
pub(super) enum Backing {
    /// Around the page cache: as fast as the disk below.
    Direct,
    /// Through it: as fast as memory, whatever the disk below does. For caps that are to be what limits.
    Cached,
}

/// The device. `path` is empty while it has not been made yet.
pub(super) struct LoopDevice {
    file: PathBuf,
    pub(super) path: PathBuf,
    /// Its number, as control groups name it: `7:3`.
    pub(super) number: String,
    /// The scheduler that it had, when it has been given another.
    scheduler_before: Option<String>,
}

impl LoopDevice {
    /// A device over a file of `size_bytes` in `directory`, written from end to end: random bytes count as blank.
    pub(super) fn create(directory: &Path, size_bytes: u64, backing: Backing) -> anyhow::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            bail!("a loop device needs root");
        }
        let file = directory.join(format!("loop-{}-{}.bin", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        // From here on a failure drops the value, which removes what has been made.
        let mut device = Self { file, path: PathBuf::new(), number: String::new(), scheduler_before: None };
        fill(&device.file, size_bytes).with_context(|| format!("write {}", device.file.display()))?;
        let mut losetup = child::command("losetup");
        if matches!(backing, Backing::Direct) {
            losetup.arg("--direct-io=on");
        }
        losetup.args(["--find", "--show"]).arg(&device.file);
        device.path = child::output(&mut losetup)?.trim().into();
        let dev = Path::new("/sys/class/block").join(device.name()).join("dev");
        device.number = fs::read_to_string(&dev).with_context(|| format!("read {}", dev.display()))?.trim().into();
        allow_long_requests(&device.queue())?;
        Ok(device)
    }

    /// Lets it hold a thousand requests. By itself it holds 128, and kernels have been seen to deliver little more than
    /// half of a cap in operations to a deeper ring: what finds no place is handed to threads, behind the throttle.
    pub(super) fn deepen_queue(&mut self) -> anyhow::Result<()> {
        let write = |file: &Path, value: &str| {
            fs::write(file, value).with_context(|| format!("write \"{value}\" to {}", file.display()))
        };
        let scheduler = self.queue().join("scheduler");
        let schedulers = fs::read_to_string(&scheduler).with_context(|| format!("read {}", scheduler.display()))?;
        // Only with a scheduler may there be more requests than the device takes at once.
        write(&scheduler, "mq-deadline")?;
        self.scheduler_before = schedulers.split(['[', ']']).nth(1).map(str::to_owned);
        write(&self.queue().join("nr_requests"), "1024")
    }

    fn queue(&self) -> PathBuf {
        Path::new("/sys/class/block").join(self.name()).join("queue")
    }

    /// The name of the device, as in `loop3`.
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let mut failed = Vec::new();
        if let Some(scheduler) = &self.scheduler_before {
            failed.extend(fs::write(self.queue().join("scheduler"), scheduler).err().map(Into::into));
        }
        if !self.path.as_os_str().is_empty() {
            failed.extend(child::run(child::command("losetup").arg("--detach").arg(&self.path)).err());
        }
        if self.file.exists() {
            failed.extend(fs::remove_file(&self.file).err().map(Into::into));
        }
        for error in failed {
            eprintln!("remove a loop device: {error:#}");
        }
    }
}

/// Lets a request be as long as the device can take, see [`super::capped_device::HugePages`].
fn allow_long_requests(queue: &Path) -> anyhow::Result<()> {
    let longest = queue.join("max_hw_sectors_kb");
    let longest = fs::read_to_string(&longest).with_context(|| format!("read {}", longest.display()))?;
    let longest_kb: u64 = longest.trim().parse().context("parse max_hw_sectors_kb")?;
    let allowed = queue.join("max_sectors_kb");
    fs::write(&allowed, longest_kb.min(REQUEST_KB_MAX).to_string())
        .with_context(|| format!("write {}", allowed.display()))
}

/// Writes bytes that neither compress nor repeat.
fn fill(path: &Path, size_bytes: u64) -> anyhow::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..size_bytes / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes())?;
    }
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}
