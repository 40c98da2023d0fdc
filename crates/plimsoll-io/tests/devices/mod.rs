//! What tests of targets and of the write guard share: loop devices with file systems on them, mounts, processes that
//! hold a device, users without rights. All of it disappears with its test.

#![allow(clippy::allow_attributes, dead_code, reason = "each test binary uses its own part of this")]

use std::{
    ffi::OsStr,
    fs::{self, File},
    hash::{DefaultHasher, Hasher},
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::{NamedTempFile, TempDir};

use crate::support::skipped;

/// Whether this is root and all of these programs are there; skips otherwise.
pub(crate) fn has(programs: &[&str]) -> bool {
    if !rustix::process::geteuid().is_root() {
        skipped("root");
        return false;
    }
    let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];
    for program in programs {
        if !folders.iter().any(|folder| Path::new(folder).join(program).exists()) {
            skipped(program);
            return false;
        }
    }
    true
}

/// Whether loop devices can be made here; skips otherwise.
pub(crate) fn has_loop_devices(programs: &[&str]) -> bool {
    if !Path::new("/dev/loop-control").exists() {
        skipped("loop devices");
        return false;
    }
    has(&[&["losetup"], programs].concat())
}

/// Runs a program to its end and gives what it printed, or what it complained about.
pub(crate) fn attempt<S: AsRef<OsStr>>(program: &str, arguments: &[S], input: &str) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Runs a program that must succeed. A device that was in use a moment ago is tried again: a process that another test
/// is just starting holds copies of all descriptors until it becomes another program.
pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> String {
    let mut patience = 50;
    loop {
        match attempt(program, arguments, "") {
            Ok(output) => return output,
            Err(complaint) if patience > 0 && (complaint.contains("in use") || complaint.contains("busy")) => {
                patience -= 1;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(complaint) => panic!("{program}: {complaint}"),
        }
    }
}

/// A loop device on a temporary file. The kernel itself detaches it when the last user closes it, so it is gone after
/// a panic and after `kill -9` too.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
    keeper: Option<File>,
    image: NamedTempFile,
}

impl LoopDevice {
    pub(crate) fn new(size_bytes: u64) -> Self {
        Self::with(size_bytes, &[])
    }

    /// A loop device with more arguments for `losetup`.
    pub(crate) fn with(size_bytes: u64, arguments: &[&str]) -> Self {
        let image = NamedTempFile::new().unwrap();
        image.as_file().set_len(size_bytes).unwrap();
        let backing = image.path().to_owned();
        Self::on(image, &backing, arguments)
    }

    /// A loop device on a block device.
    pub(crate) fn on_device(device: &Path) -> Self {
        Self::on(NamedTempFile::new().unwrap(), device, &[])
    }

    fn on(image: NamedTempFile, backing: &Path, arguments: &[&str]) -> Self {
        let path = attach(backing, arguments);
        let keeper = File::open(&path).unwrap();
        remove_partitions(&path);
        // With the device open, detaching is put off until it is closed.
        run("losetup", &[Path::new("--detach"), &path]);
        Self { path, keeper: Some(keeper), image }
    }

    /// The file behind it.
    pub(crate) fn image(&self) -> &Path {
        self.image.path()
    }

    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) {
        let device = File::options().write(true).open(&self.path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&device, bytes, offset).unwrap();
        device.sync_all().unwrap();
    }

    /// Stands for the whole content.
    pub(crate) fn checksum(&self) -> u64 {
        let mut device = File::open(&self.path).unwrap();
        let (mut hasher, mut buffer) = (DefaultHasher::new(), vec![0; 1 << 20]);
        loop {
            match device.read(&mut buffer).unwrap() {
                0 => return hasher.finish(),
                count => hasher.write(&buffer[..count]),
            }
        }
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    /// Makes a partition known to the kernel without a table on the disk; `None` where it has no partitions.
    pub(crate) fn add_partition(&self, start_bytes: u64, size_bytes: u64) -> Option<PathBuf> {
        let sectors = [start_bytes / 512, size_bytes / 512].map(|count| count.to_string());
        run("addpart", &[self.path.to_str().unwrap(), "1", &sectors[0], &sectors[1]]);
        let part = PathBuf::from(format!("{}p1", self.path.display()));
        part.exists().then_some(part)
    }
}

/// Other tests look for a free device at the same moment, so losing the race is no failure.
fn attach(image: &Path, arguments: &[&str]) -> PathBuf {
    let mut all: Vec<&OsStr> = ["--find", "--show"].iter().chain(arguments).map(OsStr::new).collect();
    all.push(image.as_os_str());
    let mut complaint = String::new();
    for _ in 0..50 {
        match attempt("losetup", &all, "") {
            Ok(device) => return device.trim().into(),
            Err(why) => complaint = why,
        }
    }
    panic!("losetup: {complaint}");
}

/// Partitions would stay with the device, for its next user to find.
fn remove_partitions(device: &Path) {
    let name = device.file_name().unwrap().to_str().unwrap();
    for entry in fs::read_dir(Path::new("/sys/block").join(name)).into_iter().flatten().flatten() {
        if let Ok(number) = fs::read_to_string(entry.path().join("partition")) {
            let _ = attempt("delpart", &[device.to_str().unwrap(), number.trim()], "");
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        remove_partitions(&self.path);
        self.keeper = None;
    }
}

/// A mount in a temporary directory, unmounted with its test.
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
    folder: TempDir,
}

impl Mount {
    /// Mounts with the arguments of `mount`, to which the place is added.
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mount point");
        fs::create_dir(&path).unwrap();
        let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        all.push(path.as_os_str());
        run("mount", &all);
        Self { path, folder }
    }

    pub(crate) fn of(device: &Path) -> Self {
        Self::new(&[device.to_str().unwrap()])
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = attempt("umount", &[Path::new("--lazy"), &self.path], "");
    }
}

/// A process that keeps a descriptor open and does nothing else, and ends by itself if nobody ends it.
pub(crate) struct Holder(Child);

impl Holder {
    /// A process that holds this file as its standard input.
    pub(crate) fn of(file: File) -> Self {
        let child = Command::new("/bin/sleep").arg("60").stdin(file).spawn().unwrap();
        Self(child)
    }

    /// A process in a mount namespace of its own, where it mounts the device read-only; `None` where that is denied.
    pub(crate) fn of_hidden_mount(device: &Path, place: &Path) -> Option<Self> {
        let script = "mount -o ro \"$0\" \"$1\" && echo ready && exec sleep 60";
        let mut child = Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .args([device, place])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut answer = [0; 5];
        let is_ready = child.stdout.take().unwrap().read_exact(&mut answer).is_ok();
        let holder = Self(child);
        is_ready.then_some(holder)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does something as a user without any rights, on a thread of its own: on Linux each thread has its own user.
pub(crate) fn unprivileged<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use rustix::process::{Gid, Uid};
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_res_gid(group, group, group).unwrap();
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}
