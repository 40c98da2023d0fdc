//! A loop device with a rate cap, for whoever is put into its control group; all of it is removed on drop.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{self, Command},
};

use anyhow::{Context as _, bail};

use crate::child;

/// As long as any request of a benchmark.
const REQUEST_KB_MAX: u64 = 4096;

/// What a cap counts.
#[derive(Clone, Copy)]
pub(super) enum Cap {
    /// Reads per second.
    Operations(u64),
    /// Bytes read per second.
    Bytes(u64),
}

/// Which version of control groups has the controller for block I/O.
#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

/// The device, its backing file and its control group. Fields that are empty have not been made yet.
pub(super) struct CappedDevice {
    file: PathBuf,
    pub(super) device: PathBuf,
    group: PathBuf,
    version: Version,
    number: String,
}

impl CappedDevice {
    /// A device over a file of `size_bytes` in `directory`, written from end to end.
    pub(super) fn create(directory: &Path, size_bytes: u64) -> anyhow::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            bail!("a loop device and a control group need root");
        }
        let (version, groups) = controller().context("find a control group with a block I/O controller")?;
        // From here on a failure drops the value, which removes what has been made.
        let mut capped = Self {
            file: directory.join(format!("capped-{}.bin", process::id())),
            device: PathBuf::new(),
            group: PathBuf::new(),
            version,
            number: String::new(),
        };
        fill(&capped.file, size_bytes).with_context(|| format!("write {}", capped.file.display()))?;
        let mut losetup = child::command("losetup");
        losetup.args(["--direct-io=on", "--find", "--show"]).arg(&capped.file);
        capped.device = child::output(&mut losetup)?.trim().into();
        let name = capped.device.file_name().context("losetup names no device")?.to_owned();
        let facts = Path::new("/sys/class/block").join(name);
        let dev = facts.join("dev");
        capped.number = fs::read_to_string(&dev).with_context(|| format!("read {}", dev.display()))?.trim().into();
        allow_long_requests(&facts.join("queue"))?;
        let group = groups.join(format!("plimsoll-bench-{}", process::id()));
        fs::create_dir(&group).with_context(|| format!("create {}", group.display()))?;
        capped.group = group;
        Ok(capped)
    }

    /// The name of the device, as in `loop3`.
    pub(super) fn name(&self) -> String {
        self.device.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Replaces the cap.
    pub(super) fn cap(&self, cap: Cap) -> anyhow::Result<()> {
        let number = &self.number;
        let settings = match (self.version, cap) {
            (Version::One, Cap::Operations(rate)) => vec![
                ("blkio.throttle.read_bps_device", format!("{number} 0")),
                ("blkio.throttle.read_iops_device", format!("{number} {rate}")),
            ],
            (Version::One, Cap::Bytes(rate)) => vec![
                ("blkio.throttle.read_iops_device", format!("{number} 0")),
                ("blkio.throttle.read_bps_device", format!("{number} {rate}")),
            ],
            (Version::Two, Cap::Operations(rate)) => vec![("io.max", format!("{number} rbps=max riops={rate}"))],
            (Version::Two, Cap::Bytes(rate)) => vec![("io.max", format!("{number} rbps={rate} riops=max"))],
        };
        for (file, value) in settings {
            let file = self.group.join(file);
            fs::write(&file, &value).with_context(|| format!("write \"{value}\" to {}", file.display()))?;
        }
        Ok(())
    }

    /// The command inside of the control group: a shell enters it and becomes the command.
    pub(super) fn inside(&self, command: &Command) -> Command {
        let mut shell = child::command("sh");
        shell.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.group.join("cgroup.procs"));
        shell.arg(command.get_program()).args(command.get_args());
        shell
    }
}

impl Drop for CappedDevice {
    fn drop(&mut self) {
        let mut failed = Vec::new();
        if !self.device.as_os_str().is_empty() {
            failed.extend(child::run(child::command("losetup").arg("--detach").arg(&self.device)).err());
        }
        if !self.group.as_os_str().is_empty() {
            failed.extend(fs::remove_dir(&self.group).err().map(Into::into));
        }
        if self.file.exists() {
            failed.extend(fs::remove_file(&self.file).err().map(Into::into));
        }
        for error in failed {
            eprintln!("remove a capped device: {error:#}");
        }
    }
}

/// Lets a request be as long as the device can take, see [`HugePages`].
fn allow_long_requests(queue: &Path) -> anyhow::Result<()> {
    let longest = queue.join("max_hw_sectors_kb");
    let longest = fs::read_to_string(&longest).with_context(|| format!("read {}", longest.display()))?;
    let longest_kb: u64 = longest.trim().parse().context("parse max_hw_sectors_kb")?;
    let allowed = queue.join("max_sectors_kb");
    fs::write(&allowed, longest_kb.min(REQUEST_KB_MAX).to_string())
        .with_context(|| format!("write {}", allowed.display()))
}

/// Huge pages for the buffers of programs that ask for them; the number there was before is restored on drop.
///
/// A request of many scattered pages is split, and passes the throttle again for each part. Kernels have been seen to
/// charge its bytes again then, which halves a cap in bytes. Buffers in huge pages are never scattered.
pub(super) struct HugePages {
    before: String,
}

const HUGE_PAGES: &str = "/proc/sys/vm/nr_hugepages";

impl HugePages {
    /// Adds so many.
    pub(super) fn reserve(pages: u64) -> anyhow::Result<Self> {
        let before = fs::read_to_string(HUGE_PAGES).with_context(|| format!("read {HUGE_PAGES}"))?;
        let count: u64 = before.trim().parse().with_context(|| format!("parse {HUGE_PAGES}"))?;
        let reserved = Self { before };
        fs::write(HUGE_PAGES, (count + pages).to_string()).with_context(|| format!("write {HUGE_PAGES}"))?;
        Ok(reserved)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        if let Err(error) = fs::write(HUGE_PAGES, &self.before) {
            eprintln!("restore {HUGE_PAGES}: {error}");
        }
    }
}

/// Where groups with a controller for block I/O are made. Where both versions are mounted, version 1 has it.
fn controller() -> Option<(Version, PathBuf)> {
    let one = Path::new("/sys/fs/cgroup/blkio");
    if one.join("cgroup.procs").exists() {
        return Some((Version::One, one.into()));
    }
    let two = Path::new("/sys/fs/cgroup");
    let controllers = fs::read_to_string(two.join("cgroup.subtree_control")).ok()?;
    controllers.split_whitespace().any(|name| name == "io").then(|| (Version::Two, two.into()))
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
