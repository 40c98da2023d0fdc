//! What tests of real storage need and take down again: loop devices, throttles, denied system calls.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

/// Says what a test could not have, and fails it where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
#[expect(clippy::print_stderr, reason = "what was skipped is told to whoever runs the tests")]
pub(crate) fn skipped(missing: &str) {
    eprintln!("skipped: {missing}");
    assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: {missing}");
}

/// A loop device on a file, with direct I/O; detached when dropped.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
}

impl LoopDevice {
    /// Attaches one, or says what is missing.
    pub(crate) fn attach(file: &Path) -> Option<Self> {
        let attached = Command::new("losetup").args(["--find", "--show", "--direct-io=on"]).arg(file).output();
        match attached {
            Ok(output) if output.status.success() => {
                let path = String::from_utf8(output.stdout).unwrap();
                Some(Self { path: path.trim().into() })
            }
            Ok(output) => {
                skipped(&format!("a loop device: {}", String::from_utf8_lossy(&output.stderr).trim()));
                None
            }
            Err(error) => {
                skipped(&format!("losetup: {error}"));
                None
            }
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.path).status();
        assert!(detached.is_ok_and(|status| status.success()), "detach {}", self.path.display());
    }
}

/// A cgroup whose threads read from a device at a limited rate; removed when dropped.
pub(crate) struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// Makes one, or says what is missing.
    pub(crate) fn reads_per_second(device: &LoopDevice, rate: u32) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("plimsoll-test-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let group = Path::new("/sys/fs/cgroup/blkio").join(name);
        if let Err(error) = fs::create_dir(&group) {
            skipped(&format!("a cgroup of blkio: {error}"));
            return None;
        }
        let throttle = Self { group };
        let number = fs::metadata(&device.path).unwrap().rdev();
        let limit = format!("{}:{} {rate}", libc::major(number), libc::minor(number));
        if let Err(error) = fs::write(throttle.group.join("blkio.throttle.read_iops_device"), limit) {
            skipped(&format!("blkio.throttle: {error}"));
            return None;
        }
        Some(throttle)
    }

    /// Moves this thread, alone, into the cgroup.
    pub(crate) fn apply_to_this_thread(&self) {
        fs::write(self.group.join("tasks"), rustix::thread::gettid().as_raw_nonzero().to_string()).unwrap();
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // Threads that were in it have ended; one that still lives is moved out first.
        if fs::remove_dir(&self.group).is_err() {
            for task in fs::read_to_string(self.group.join("tasks")).unwrap_or_default().lines() {
                let _ = fs::write("/sys/fs/cgroup/blkio/tasks", task);
            }
            let _ = fs::remove_dir(&self.group);
        }
    }
}

/// Makes system calls fail with `EPERM` for the rest of this thread, as container profiles do; whether that worked.
pub(crate) fn deny_system_calls(calls: &[libc::c_long]) -> bool {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let statement = |code: u16, k: u32| libc::sock_filter { code, jt: 0, jf: 0, k };
    // The number of the system call is the first word of what the filter sees.
    let mut program = vec![statement(LOAD, 0)];
    for call in calls {
        program.push(libc::sock_filter { code: JUMP_EQUAL, jt: 0, jf: 1, k: *call as u32 });
        program.push(statement(RETURN, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32));
    }
    program.push(statement(RETURN, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the call takes numbers only and limits what this thread may gain.
    let limited = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the program and its description live until the call returns, which copies them.
    let denied = limited && unsafe { libc::syscall(libc::SYS_seccomp, mode, 0, &raw const filter) } == 0;
    if !denied {
        skipped(&format!("seccomp filters: {}", io::Error::last_os_error()));
    }
    denied
}

/// Gives up all that root may do, for the rest of this thread.
pub(crate) fn drop_capabilities() {
    /// `_LINUX_CAPABILITY_VERSION_3`.
    const VERSION: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION, 0];
    let none: [u32; 6] = [0; 6];
    // SAFETY: both have the kernel's layout for this version and live until the call returns.
    let dropped = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    assert_eq!(dropped, 0, "{}", io::Error::last_os_error());
}
