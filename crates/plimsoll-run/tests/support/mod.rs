//! What tests of real file systems need and take down again.

use std::{
    ffi::CString,
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use rustix::{
    fs::{Mode, OFlags},
    mount::{MountFlags, mount},
};

/// Says what a test could not have, and fails it where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
#[expect(clippy::print_stderr, reason = "what was skipped is told to whoever runs the tests")]
pub(crate) fn skipped(missing: &str) {
    eprintln!("skipped: {missing}");
    assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: {missing}");
}

/// Runs a program; says what is missing when it cannot be run or fails.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            skipped(&format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()));
            None
        }
        Err(error) => {
            skipped(&format!("{name}: {error}"));
            None
        }
    }
}

/// A small mounted file system; unmounted when dropped.
#[derive(Debug)]
pub(crate) struct Mount {
    pub(crate) point: PathBuf,
}

impl Mount {
    /// Mounts an image file with an ext4 of `bytes` on `directory`.
    pub(crate) fn ext4(image: &Path, directory: &Path, bytes: u64) -> Option<Self> {
        std::fs::File::create(image).unwrap().set_len(bytes).unwrap();
        output_of(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0", "-N", "64"]).arg(image))?;
        output_of(Command::new("mount").args(["-o", "loop"]).args([image, directory]))?;
        Some(Self { point: directory.into() })
    }

    /// Mounts a tmpfs of `bytes` on `directory`.
    pub(crate) fn tmpfs(directory: &Path, bytes: u64) -> Option<Self> {
        let options = format!("size={bytes},nr_inodes=64");
        output_of(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(directory))?;
        Some(Self { point: directory.into() })
    }

    /// Mounts a file system on `directory` that answers nothing, until the descriptor is closed.
    pub(crate) fn silent(directory: &Path) -> Option<(OwnedFd, Self)> {
        let server = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", server.as_raw_fd());
        let options = CString::new(options).unwrap();
        mount("silent", directory, "fuse", MountFlags::NODEV, Some(options.as_c_str())).ok()?;
        Some((server, Self { point: directory.into() }))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Whoever was held up there is let go a moment after the server is gone.
        let unmount = || Command::new("umount").arg(&self.point).status().is_ok_and(|status| status.success());
        let is_unmounted = (0..100).any(|attempt| {
            thread::sleep(Duration::from_millis(if attempt == 0 { 0 } else { 100 }));
            unmount()
        });
        assert!(is_unmounted || thread::panicking(), "unmount {}", self.point.display());
    }
}
