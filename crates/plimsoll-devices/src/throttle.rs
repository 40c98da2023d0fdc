//! Holding devices back by control groups, in either version of the interface.
//!
//! In version 1 the limits stand in the topmost group that is seen, because what the kernel writes back later is done
//! in it; who is to be held back has to be in that group. In version 2 the topmost group has no limits, and what is
//! written back counts for the group that wrote: there is a group of our own.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

use plimsoll_io::{
    block_device::DeviceNumber,
    mounts::{self, MountEntry},
};

use crate::error::DeviceError;

/// The group of version 2.
const GROUP: &str = "plimsoll-emulate";

/// What a device lets through in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Caps {
    /// Reads per second.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bytes: Option<u64>,
}

/// Where limits are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    version: Version,
    /// The group that has the limits.
    group: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Throttle {
    /// Finds the interface of this machine.
    pub fn find() -> Result<Self, DeviceError> {
        let mounts = mounts::mounts().map_err(|error| DeviceError::NoThrottle(error.to_string()))?;
        Self::among(&mounts)
    }

    fn among(mounts: &[MountEntry]) -> Result<Self, DeviceError> {
        let has = |mount: &&MountEntry, option: &str| mount.options.iter().any(|own| own == option);
        let first = mounts.iter().find(|mount| mount.file_system == "cgroup" && has(mount, "blkio"));
        if let Some(mount) = first {
            let group = mount.mount_point.clone();
            return match group.join("blkio.throttle.read_iops_device").exists() {
                true => Ok(Self { version: Version::One, group }),
                false => Err(DeviceError::NoThrottle(format!("{} has no throttle", group.display()))),
            };
        }
        let second = mounts.iter().filter(|mount| mount.file_system == "cgroup2");
        for mount in second {
            let controllers = fs::read_to_string(mount.mount_point.join("cgroup.controllers")).unwrap_or_default();
            if controllers.split_whitespace().any(|controller| controller == "io") {
                return Ok(Self { version: Version::Two, group: mount.mount_point.join(GROUP) });
            }
        }
        Err(DeviceError::NoThrottle("none has the controller".to_owned()))
    }

    /// Holds a device back.
    pub fn hold(&self, device: DeviceNumber, caps: &Caps) -> Result<(), DeviceError> {
        if self.version == Version::Two {
            self.make_group()?;
        }
        for (file, line) in self.lines(device, caps) {
            let path = self.group.join(file);
            fs::write(&path, line).map_err(DeviceError::file("write a limit to", path))?;
        }
        Ok(())
    }

    /// Lets a device go.
    pub fn release(&self, device: DeviceNumber) -> Result<(), DeviceError> {
        if !self.group.exists() {
            return Ok(());
        }
        for (file, line) in self.lines(device, &Caps::default()) {
            let path = self.group.join(file);
            match fs::write(&path, line) {
                Ok(()) => {}
                // The limits of a device went with it.
                Err(error) if error.raw_os_error() == Some(NO_SUCH_DEVICE) => {}
                Err(error) => return Err(DeviceError::file("write a limit to", path)(error)),
            }
        }
        Ok(())
    }

    /// Whether a device is held back in just this way.
    pub fn holds(&self, device: DeviceNumber, caps: &Caps) -> bool {
        let prefix = format!("{device} ");
        let of_device = |file: &str| {
            let text = fs::read_to_string(self.group.join(file)).unwrap_or_default();
            text.lines().find(|line| line.starts_with(&prefix)).map(str::to_owned)
        };
        self.lines(device, caps).into_iter().all(|(file, line)| match of_device(file) {
            Some(found) => found == line,
            None => line.ends_with(" 0"),
        })
    }

    /// From here on this process, and all that it starts, is held back with the devices.
    pub fn join(&self) -> Result<(), DeviceError> {
        if self.is_member() {
            return Ok(());
        }
        if self.version == Version::Two {
            self.make_group()?;
        }
        let path = self.group.join("cgroup.procs");
        fs::write(&path, process::id().to_string())
            .map_err(DeviceError::file("join the group of emulated disks by", path))
    }

    fn is_member(&self) -> bool {
        let procs = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
        let own = process::id().to_string();
        procs.lines().any(|line| line == own)
    }

    /// Takes the group of our own away, when nobody is in it.
    pub fn clear(&self) {
        if self.version == Version::Two {
            let _ = fs::remove_dir(&self.group);
        }
    }

    fn make_group(&self) -> Result<(), DeviceError> {
        let top = self.group.parent().unwrap_or(Path::new("/sys/fs/cgroup"));
        let control = top.join("cgroup.subtree_control");
        fs::write(&control, "+io").map_err(DeviceError::file("enable limits of devices by", control))?;
        match fs::create_dir(&self.group) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(DeviceError::file("make the control group", &self.group)(error))
            }
            _ => Ok(()),
        }
    }

    /// Which line goes into which file; no limit is 0 in version 1, and `max` in version 2.
    fn lines(&self, device: DeviceNumber, caps: &Caps) -> Vec<(&'static str, String)> {
        let Caps { read_iops, write_iops, read_bytes, write_bytes } = *caps;
        match self.version {
            Version::One => [
                ("blkio.throttle.read_iops_device", read_iops),
                ("blkio.throttle.write_iops_device", write_iops),
                ("blkio.throttle.read_bps_device", read_bytes),
                ("blkio.throttle.write_bps_device", write_bytes),
            ]
            .map(|(file, cap)| (file, format!("{device} {}", cap.unwrap_or(0))))
            .into(),
            Version::Two => {
                let text = |cap: Option<u64>| cap.map_or_else(|| "max".to_owned(), |cap| cap.to_string());
                let [riops, wiops, rbps, wbps] = [read_iops, write_iops, read_bytes, write_bytes].map(text);
                vec![("io.max", format!("{device} rbps={rbps} wbps={wbps} riops={riops} wiops={wiops}"))]
            }
        }
    }
}

/// ENODEV.
const NO_SUCH_DEVICE: i32 = 19;

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(file_system: &str, point: &Path, options: &str) -> MountEntry {
        MountEntry {
            id: 1,
            device: DeviceNumber { major: 0, minor: 1 },
            mount_point: point.to_owned(),
            file_system: file_system.to_owned(),
            source: "cgroup".into(),
            options: options.split(',').map(str::to_owned).collect(),
        }
    }

    const CAPS: Caps =
        Caps { read_iops: Some(500), write_iops: Some(400), read_bytes: Some(25_000_000), write_bytes: None };
    const DEVICE: DeviceNumber = DeviceNumber { major: 7, minor: 3 };

    #[test]
    fn each_limit_of_the_first_version_has_a_file() {
        let tree = tempfile::tempdir().unwrap();
        let blkio = tree.path().join("blkio");
        fs::create_dir(&blkio).unwrap();
        let mounts = [mount("cgroup", &blkio, "rw,blkio")];
        assert!(matches!(Throttle::among(&mounts), Err(DeviceError::NoThrottle(_))), "without files");
        fs::write(blkio.join("blkio.throttle.read_iops_device"), "").unwrap();
        let throttle = Throttle::among(&mounts).unwrap();
        throttle.hold(DEVICE, &CAPS).unwrap();
        let line = |file: &str| fs::read_to_string(blkio.join(format!("blkio.throttle.{file}_device"))).unwrap();
        let all = ["read_iops", "write_iops", "read_bps", "write_bps"].map(line);
        assert_eq!(all, ["7:3 500", "7:3 400", "7:3 25000000", "7:3 0"]);
        assert!(throttle.holds(DEVICE, &CAPS) && !throttle.holds(DEVICE, &Caps { write_iops: None, ..CAPS }));
        throttle.release(DEVICE).unwrap();
        assert_eq!(line("read_iops"), "7:3 0");
        assert!(!throttle.holds(DEVICE, &CAPS));
    }

    #[test]
    fn the_second_version_has_a_group_of_our_own() {
        let tree = tempfile::tempdir().unwrap();
        let mounts = [mount("cgroup", tree.path(), "rw,memory"), mount("cgroup2", tree.path(), "rw")];
        assert!(matches!(Throttle::among(&mounts), Err(DeviceError::NoThrottle(_))), "without the controller");
        fs::write(tree.path().join("cgroup.controllers"), "cpu io memory\n").unwrap();
        let throttle = Throttle::among(&mounts).unwrap();
        throttle.hold(DEVICE, &CAPS).unwrap();
        let group = tree.path().join(GROUP);
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(read(group.join("io.max")), "7:3 rbps=25000000 wbps=max riops=500 wiops=400");
        assert_eq!(read(tree.path().join("cgroup.subtree_control")), "+io");
        assert!(throttle.holds(DEVICE, &CAPS) && !throttle.holds(DEVICE, &Caps { write_iops: None, ..CAPS }));
        throttle.join().unwrap();
        assert_eq!(read(group.join("cgroup.procs")), process::id().to_string());
    }
}
