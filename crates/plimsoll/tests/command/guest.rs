//! Virtual machines for what this machine's kernel may not have: md, device-mapper and LVM, on disks that QEMU holds to
//! what they may do, alone or together.
//!
//! A guest takes about five seconds beside its script. Instructions are translated, so that it works inside of another
//! machine as well, and needs no rights. Its 2 processors do some ten thousand operations a second: limits stay well
//! below that. What it measures is true, as QEMU keeps limits by this machine's clock and the guest has no other.
//!
//! ```ignore
//! let Some(guest) = Guest::with(&[Disk::new("one").iops(500), Disk::new("two").iops(500)]) else { return };
//! let said = guest.run("plimsoll run /dev/disk/by-id/virtio-one --rw randread --json >/results/one.json");
//! assert_eq!(said.code, Some(0), "{}", said.stderr);
//! let record = guest.json("one.json");
//! ```
//!
//! For scripts:
//!
//! - They run as root, by `sh -eu`, in `/root`. Each `run` boots anew; only what is on disks is still there then.
//! - A disk is `/dev/disk/by-id/virtio-SERIAL`, a link to `/dev/vda` and so on in the order of the disks. There is no
//!   udev: no other links are made, and nodes of LVM, device-mapper and md by their tools.
//! - plimsoll is in `PATH`, with the tools that `guest/image.rs` lists and all of busybox. Modules are loaded when
//!   somebody needs them. XFS wants 300 MB, and file systems in memory know no direct I/O.
//! - What lies in `/results` at the end comes back as files, also when the script failed.

mod archive;
mod disks;
mod image;
mod modules;
mod stripes;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use plimsoll_io::clock::{Clock as _, MonotonicClock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Said, skip};

use self::image::Image;

const QEMU: &str = "qemu-system-x86_64";

/// The whole first file system is memory, as is the archive that it is unpacked from.
const MEMORY: &str = "768M";

/// A kernel that panics restarts at once, which QEMU is told not to do: it ends. Nobody is defended against.
const KERNEL_ARGUMENTS: &str = "console=ttyS0 panic=-1 quiet mitigations=off";

/// Ports through which a guest says what is not for its console, and the files that are their other ends.
const PORTS: [(&str, &str); 4] =
    [("stdout", "stdout"), ("stderr", "stderr"), ("results", "results.tar"), ("code", "code")];

/// How long a guest has unless it is told otherwise: several times what scripts take where nothing else is done.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// How long it takes at most until a script begins, and what the console says then. Where others use the processors, a
/// kernel may lose the timer of one while it boots, and stand still: nothing was done, so it is booted again.
const BOOT_LIMIT: Duration = Duration::from_secs(45);
const BEGINS: &str = "guest: the script begins";
const BOOTS_MAX: u32 = 3;

/// A disk of a guest.
#[derive(Clone, Copy)]
pub(crate) struct Disk<'a> {
    serial: &'a str,
    size_bytes: u64,
    limits: Limits,
    group: Option<Group<'a>>,
}

/// What several disks may do together, as those of a virtual machine in a cloud.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    name: &'a str,
    limits: Limits,
}

/// Operations and bytes a second, reads and writes together.
#[derive(Clone, Copy, Default)]
struct Limits {
    iops: Option<u64>,
    bytes: Option<u64>,
}

impl<'a> Disk<'a> {
    /// 256 MiB, which take no place before they are written, and no limits. A serial has at most 20 characters.
    pub(crate) fn new(serial: &'a str) -> Self {
        Self { serial, size_bytes: 256 << 20, limits: Limits::default(), group: None }
    }

    pub(crate) fn size(self, size_bytes: u64) -> Self {
        Self { size_bytes, ..self }
    }

    pub(crate) fn iops(self, iops: u64) -> Self {
        Self { limits: Limits { iops: Some(iops), ..self.limits }, ..self }
    }

    pub(crate) fn bytes(self, bytes: u64) -> Self {
        Self { limits: Limits { bytes: Some(bytes), ..self.limits }, ..self }
    }

    /// Beside what it may do itself.
    pub(crate) fn group(self, group: Group<'a>) -> Self {
        Self { group: Some(group), ..self }
    }
}

impl<'a> Group<'a> {
    pub(crate) fn new(name: &'a str, iops: u64) -> Self {
        Self { name, limits: Limits { iops: Some(iops), bytes: None } }
    }
}

/// A virtual machine that is off: it boots for each script. Its disks are gone when it is dropped.
pub(crate) struct Guest {
    image: &'static Image,
    directory: TempDir,
    groups: BTreeMap<String, Limits>,
    /// QEMU's, of the disks.
    disks: Vec<String>,
}

impl Guest {
    /// `None`, with a word about it, where something is missing that it takes.
    pub(crate) fn with(disks: &[Disk<'_>]) -> Option<Self> {
        let image = image::image().map_err(skip).ok()?;
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut guest = Self { image, directory, groups: BTreeMap::new(), disks: Vec::new() };
        disks.iter().for_each(|disk| guest.add(disk));
        Some(guest)
    }

    fn add(&mut self, disk: &Disk<'_>) {
        // Disks that are one by their serial number are two for QEMU.
        let (serial, number) = (disk.serial, self.disks.len());
        let file = self.path(&format!("{number}.disk"));
        File::create_new(&file).unwrap().set_len(disk.size_bytes).unwrap();
        // What a disk holds is in this machine's memory, and is not waited for: its own disk is not what is measured.
        let cache = json!({"direct": false, "no-flush": true});
        let mut node = json!({"driver": "file", "filename": file, "cache": cache});
        let own = (format!("disk-{number}"), disk.limits);
        let together = disk.group.map(|group| (format!("group-{}", group.name), group.limits));
        for (name, limits) in [Some(own), together].into_iter().flatten() {
            node = json!({"driver": "throttle", "throttle-group": name, "file": node});
            self.groups.insert(name, limits);
        }
        node["node-name"] = json!(format!("node-{number}"));
        self.disks.extend(["-blockdev".to_owned(), node.to_string()]);
        // QEMU counts bytes that are discarded like those that are written: a large disk would take long to format.
        let device = format!("virtio-blk-pci,drive=node-{number},serial={serial},discard=off");
        self.disks.extend(["-device".to_owned(), device]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Boots, runs a script, and turns off. A guest that does not come to an end fails the test with all that it said.
    pub(crate) fn run(&self, script: &str) -> Said {
        self.run_within(TIME_LIMIT, script).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same with another limit, after which the guest is ended.
    pub(crate) fn run_within(&self, time_limit: Duration, script: &str) -> Result<Said, String> {
        // They share the processors: two at a time would both be slow, and measure each other.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);

        fs::write(self.path("script"), script).unwrap();
        let mut boots = 0;
        let status = loop {
            boots += 1;
            let mut machine = Machine(self.command().spawn().unwrap());
            if let Some(status) = machine.wait(time_limit.min(BOOT_LIMIT)) {
                break Some(status);
            }
            if boots == BOOTS_MAX || self.said("console").contains(BEGINS) {
                break machine.wait(time_limit.saturating_sub(BOOT_LIMIT));
            }
        };
        // What a guest says last is the code of its script.
        let Some(code) = status.and_then(|_| self.said("code").trim().parse().ok()) else {
            let end = status.map_or(format!("not done after {time_limit:?}"), |status| status.to_string());
            let said = ["console", "stdout", "stderr"].map(|name| format!("--- {name}\n{}", self.said(name)));
            return Err(format!("a guest: {end}\n{}", said.join("\n")));
        };
        let results = self.path("results");
        let _ = fs::remove_dir_all(&results);
        fs::create_dir(&results).unwrap();
        let unpacked = Command::new("tar").arg("-xf").arg(self.path("results.tar")).arg("-C").arg(&results).status();
        assert!(unpacked.unwrap().success());
        Ok(Said { code: Some(code), stdout: self.said("stdout"), stderr: self.said("stderr") })
    }

    fn command(&self) -> Command {
        // Tests beside it wait for most of their time, and it works for most of its own. The kernel ends it also when
        // the test is killed.
        let mut command = Command::new("nice");
        command.args(["--adjustment=-10", "setpriv", "--pdeathsig", "KILL", QEMU]);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        command.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", MEMORY]);
        command.arg("-kernel").arg(&self.image.kernel).arg("-initrd").arg(&self.image.first_file_system);
        command.args(["-append", KERNEL_ARGUMENTS]);
        command.arg("-fw_cfg").arg(format!("name=opt/script,file={}", self.path("script").display()));
        command.arg("-chardev").arg(format!("file,id=console,path={}", self.path("console").display()));
        command.args(["-serial", "chardev:console", "-device", "virtio-serial-pci"]);
        for (port, file) in PORTS {
            command.arg("-chardev").arg(format!("file,id={port},path={}", self.path(file).display()));
            command.args(["-device", &format!("virtserialport,chardev={port},name={port}")]);
        }
        for (name, limits) in &self.groups {
            let limits = json!({"iops-total": limits.iops.unwrap_or(0), "bps-total": limits.bytes.unwrap_or(0)});
            let object = json!({"qom-type": "throttle-group", "id": name, "limits": limits});
            command.args(["-object", &object.to_string()]);
        }
        command.args(&self.disks);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn said(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }

    /// A file that the last script left in `/results`.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path("results").join(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.text(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// A running QEMU, ended when dropped.
struct Machine(Child);

impl Machine {
    /// `None` when it has not ended in time.
    fn wait(&mut self, time_limit: Duration) -> Option<ExitStatus> {
        let end_ns = MonotonicClock.now_ns() + time_limit.as_nanos() as u64;
        while MonotonicClock.now_ns() < end_ns {
            if let Some(status) = self.0.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
