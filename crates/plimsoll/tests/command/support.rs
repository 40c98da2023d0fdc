//! The program under test in a home of its own, and loop devices that vanish.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// Waits half a minute at most for something to become true, and says whether it did.
pub(crate) fn comes_true(mut is_so: impl FnMut() -> bool) -> bool {
    for _ in 0..3000 {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// A place to run plimsoll in: its own state directory and a directory to measure.
pub(crate) struct Place {
    root: TempDir,
}

/// What the program said and how it ended.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        // Not in a tmpfs, which may know no direct I/O.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(root.path().join("data")).unwrap();
        Self { root }
    }

    /// The directory to measure.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The program with these arguments, separated by blanks; `DATA` stands for the directory to measure.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        let data = self.data();
        let root = self.root.path();
        command
            .args(arguments.split_whitespace().map(|argument| {
                argument.replace("DATA", data.to_str().unwrap()).replace("ROOT", root.to_str().unwrap())
            }))
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", self.root.path())
            .env("XDG_STATE_HOME", self.root.path().join("state"))
            .current_dir(self.root.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Runs with `--json` and parses what comes.
    pub(crate) fn record(&self, arguments: &str) -> Value {
        let said = self.run(&format!("{arguments} --json"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said.json()
    }

    /// What lies in the measured directory.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        names(&self.data())
    }
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The one sentence on standard error, when the program refused.
    pub(crate) fn error(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        let errors: Vec<_> = self.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "{}", self.stderr);
        errors[0]
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether loop devices and the like can be made here. In CI they must be.
pub(crate) fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip("loop devices need root");
    }
    root
}

/// Whether these programs are installed. In CI they must be.
pub(crate) fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| Command::new(program).arg("--version").output().is_err());
    if let Some(program) = missing {
        skip(&format!("{program} is not installed"));
    }
    missing.is_none()
}

/// Says that a test is skipped, and why. Never in CI.
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a test asks for CI and says what it left out")]
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "CI must not skip: {why}");
    println!("skipped: {why}");
}

/// A loop device over a file, removed when dropped.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
    pub(crate) backing: PathBuf,
    _directory: TempDir,
}

impl LoopDevice {
    pub(crate) fn new(bytes: u64) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let backing = directory.path().join("disk");
        File::create(&backing).unwrap().set_len(bytes).unwrap();
        let output = Command::new("losetup").args(["--find", "--show"]).arg(&backing).output().unwrap();
        assert!(output.status.success(), "losetup: {}", String::from_utf8_lossy(&output.stderr));
        let path = String::from_utf8(output.stdout).unwrap().trim().into();
        Self { path, backing, _directory: directory }
    }

    /// The path as text.
    pub(crate) fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

/// A mounted file system, unmounted when dropped.
pub(crate) struct Mounted {
    pub(crate) point: PathBuf,
    device: LoopDevice,
}

impl Mounted {
    pub(crate) fn ext4(place: &Place, bytes: u64) -> Self {
        Self::new("mkfs.ext4", place, bytes)
    }

    pub(crate) fn btrfs(place: &Place, bytes: u64) -> Self {
        Self::new("mkfs.btrfs", place, bytes)
    }

    fn new(maker: &str, place: &Place, bytes: u64) -> Self {
        let device = LoopDevice::new(bytes);
        let point = place.path("mount");
        fs::create_dir(&point).unwrap();
        let made = Command::new(maker).arg("-q").arg(&device.path).status().unwrap();
        assert!(made.success());
        let mounted = Self { point, device };
        mounted.mount();
        mounted
    }

    pub(crate) fn mount(&self) {
        let mounted = Command::new("mount").arg(&self.device.path).arg(&self.point).status().unwrap();
        assert!(mounted.success());
    }

    pub(crate) fn unmount(&self) {
        let unmounted = Command::new("umount").arg(&self.point).output().unwrap();
        assert!(unmounted.status.success(), "{}", String::from_utf8_lossy(&unmounted.stderr));
    }

    /// From now on nothing can be written there.
    pub(crate) fn make_read_only(&self) {
        let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.point).status().unwrap();
        assert!(remounted.success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A process that a test killed may hold a file for a moment more.
        let _ = Command::new("umount").arg("--lazy").arg(&self.point).status();
    }
}

/// A frozen file system, thawed when dropped.
pub(crate) struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    pub(crate) fn new(point: &'a Path) -> Self {
        assert!(Command::new("fsfreeze").arg("--freeze").arg(point).status().unwrap().success());
        Self(point)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = Command::new("fsfreeze").arg("--unfreeze").arg(self.0).status();
    }
}

/// A control group that bounds rates of devices for whoever is in it; removed when dropped.
pub(crate) struct RateGroup {
    path: PathBuf,
}

impl RateGroup {
    /// `None`, with a word about it, where there are no such groups.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let path = Path::new("/sys/fs/cgroup/blkio").join(format!("plimsoll-test-{}-{name}", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => Some(Self { path }),
            Err(error) => {
                skip(&format!("a control group of blkio: {error}"));
                None
            }
        }
    }

    /// Bounds a device by one setting: `read_iops`, `write_bps` and so on.
    pub(crate) fn limit(&self, device: &Path, setting: &str, rate: u64) {
        let number = fs::metadata(device).unwrap().rdev();
        let value = format!("{}:{} {rate}", rustix::fs::major(number), rustix::fs::minor(number));
        fs::write(self.path.join(format!("blkio.throttle.{setting}_device")), value).unwrap();
    }

    /// Runs a command in the group.
    pub(crate) fn run(&self, command: &Command) -> Said {
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.path);
        inside.arg(command.get_program()).args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = command.get_current_dir() {
            inside.current_dir(directory);
        }
        Said::of(inside.output().unwrap())
    }
}

impl Drop for RateGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// A file system in memory over the place's directory, gone when dropped.
pub(crate) struct InMemory(PathBuf);

impl InMemory {
    pub(crate) fn new(place: &Place, options: &str) -> Self {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(place.data()).status();
        assert!(mounted.unwrap().success());
        Self(place.data())
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
