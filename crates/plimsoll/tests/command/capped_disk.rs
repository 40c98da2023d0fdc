//! A file system on a disk whose I/O is limited.

use std::{fs, path::Path};

use crate::support::{LoopDevice, Place, Said, is_root, skip};

/// A disk whose I/O is limited whoever does it: the journal of a file system is written by a thread of the kernel.
pub(crate) struct CappedDisk {
    point: std::path::PathBuf,
    device: LoopDevice,
}

const THROTTLE: &str = "/sys/fs/cgroup/blkio/blkio.throttle";

impl CappedDisk {
    /// 256 MiB of ext4. `None`, with a word about it, where I/O cannot be limited.
    pub(crate) fn new(place: &Place, name: &str, iops: u64) -> Option<Self> {
        if !is_root() || !Path::new(&format!("{THROTTLE}.write_iops_device")).exists() {
            skip("only root limits devices, and only by control groups of version 1");
            return None;
        }
        let device = LoopDevice::new(256 << 20);
        let point = place.path(name);
        fs::create_dir(&point).unwrap();
        let run = |program: &str, arguments: &[&str]| {
            let said = Said::of(std::process::Command::new(program).args(arguments).output().unwrap());
            assert_eq!(said.code, Some(0), "{program}: {}", said.stderr);
        };
        run("losetup", &["--direct-io=on", device.name()]);
        run("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device.name()]);
        run("mount", &[device.name(), point.to_str().unwrap()]);
        let disk = Self { point, device };
        disk.limit(iops);
        Some(disk)
    }

    /// No limit is 0.
    fn limit(&self, iops: u64) {
        use std::os::unix::fs::MetadataExt;
        let number = fs::metadata(&self.device.path).unwrap().rdev();
        for direction in ["read", "write"] {
            let value = format!("{}:{} {iops}", rustix::fs::major(number), rustix::fs::minor(number));
            let _ = fs::write(format!("{THROTTLE}.{direction}_iops_device"), value);
        }
    }
}

impl Drop for CappedDisk {
    fn drop(&mut self) {
        self.limit(0);
        let _ = std::process::Command::new("umount").arg("--lazy").arg(&self.point).status();
    }
}
