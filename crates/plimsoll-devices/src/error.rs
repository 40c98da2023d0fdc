//! Why storage could not be made or taken down. Each message says what to do.

use std::{io, path::PathBuf};

use plimsoll_io::write_guard::Refusal;
use plimsoll_workload::shell_word::quoted;
use thiserror::Error;

/// Why storage could not be made or taken down.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// What was asked cannot be.
    #[error("{0}")]
    Usage(String),
    /// It is there already.
    #[error("{} \"{name}\" is up already: end it with `plimsoll {} down {name}`, or name another with --name", made.0, made.1)]
    Exists {
        /// What it is.
        made: Made,
        /// Its name.
        name: String,
    },
    /// It was not made to the end, or taken down in part.
    #[error(
        "the stripe \"{name}\" is not all there: `plimsoll stripe down {name}` takes down what there is of it, then try again"
    )]
    Unfinished {
        /// Its name.
        name: String,
    },
    /// Its targets are not where they were.
    #[error("{} of the stripe \"{name}\" is not there, as after a boot: `plimsoll stripe up` with the same plan brings it back", target.display())]
    NotInPlace {
        /// The target.
        target: PathBuf,
        /// The stripe.
        name: String,
    },
    /// A disk of the same name is another one.
    #[error("{} is not the disk that it was: it has {is}, and had {was}; attach that one again, or give it up with \
             `plimsoll stripe down {name} --forget`", device.display())]
    OtherDisk {
        /// The path.
        device: PathBuf,
        /// What it has.
        is: String,
        /// What it had.
        was: String,
        /// The stripe.
        name: String,
    },
    /// There is none of that name.
    #[error("there is no {} \"{name}\": `plimsoll {} list` shows those that are up", made.0, made.1)]
    Unknown {
        /// What there is none of.
        made: Made,
        /// What was asked for.
        name: String,
    },
    /// Somebody uses it.
    #[error("{device} is {used}: end that first, nothing was changed")]
    InUse {
        /// The device.
        device: String,
        /// How: `mounted at /mnt`, `part of md0`.
        used: String,
    },
    /// A device is not there.
    #[error("{} is no block device, or is not there any more: check the path, and that the disk is attached", device.display())]
    Gone {
        /// The device.
        device: PathBuf,
    },
    /// Two paths lead to one disk.
    #[error("{} and {} are one disk{}: name each disk once", one.display(), other.display(), by_what(by.as_deref()))]
    Same {
        /// A path.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
        /// What both tell: `serial number X`.
        by: Option<String>,
    },
    /// Making it failed, and taking down what was made failed too.
    #[error("{first}; what was made by then is still there ({why}): `plimsoll {command}` takes it down")]
    Left {
        /// Why it was not made.
        first: Box<DeviceError>,
        /// Why it was not taken down.
        why: Box<DeviceError>,
        /// What takes it down.
        command: String,
    },
    /// The kernel cannot hold devices back here.
    #[error(
        "no control group can hold a device back here ({0}): mount /sys/fs/cgroup with the controller blkio (version 1) \
         or io (version 2), and run as root outside of containers"
    )]
    NoThrottle(String),
    /// Devices are made and taken down by root alone.
    #[error("this needs root, as {} can be written by root alone: run it as root", path.display())]
    NotRoot {
        /// Where things are written down that were made.
        path: PathBuf,
    },
    /// A device may not be written to.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The kernel cannot put disks together in this way, or has no such file system.
    #[error("the kernel has no {what} here: load it with `modprobe {module}`, or leave {kind} out")]
    NoDriver {
        /// The driver: `md driver for RAID 0`.
        what: &'static str,
        /// Its module.
        module: &'static str,
        /// What needs it: `md`.
        kind: String,
    },
    /// What was made is not what was asked for.
    #[error("{} has {what} {is}, and {asked} was asked for: the tools here decide otherwise, so ask for that", path.display())]
    Geometry {
        /// The device or directory.
        path: PathBuf,
        /// What differs: `a chunk of`.
        what: &'static str,
        /// What it is.
        is: String,
        /// What it should be.
        asked: String,
    },
    /// A device holds what plimsoll did not put there.
    #[error("{} holds {found}, which plimsoll did not make: nothing on it is touched; save what is needed of it, and \
             `wipefs --all {}` makes it blank", device.display(), quoted(&device.to_string_lossy()))]
    Foreign {
        /// The device.
        device: PathBuf,
        /// What is on it.
        found: String,
    },
    /// Somebody gave a volume group of ours a volume.
    #[error(
        "the volume group {group} has the physical volume {volume}, which plimsoll did not add: nothing was taken \
             down; move what is on it away (`pvmove`) and take it out (`vgreduce`) first"
    )]
    Extended {
        /// The group.
        group: String,
        /// The volume's identity.
        volume: String,
    },
    /// Something else is where a part of a stripe belongs.
    #[error("{} is {found}: move it away, it is left as it is", path.display())]
    Misplaced {
        /// Where.
        path: PathBuf,
        /// What it is.
        found: String,
    },
    /// A mark cannot be erased.
    #[error("{} still holds {found} after all marks were erased: look at it with `wipefs {}`",
        device.display(), quoted(&device.to_string_lossy()))]
    NotClean {
        /// The device.
        device: PathBuf,
        /// What is on it.
        found: String,
    },
    /// A disk does not take what would make it blank.
    #[error("{} cannot be made blank: mend what is wrong with it, as a full file system that it is a file of; or \
             `plimsoll stripe down NAME --forget` gives its stripe up, and leaves what is on it", device.display())]
    NotTaken {
        /// The device.
        device: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is mounted is used.
    #[error("{} is used: end that, then `plimsoll stripe down` once more, which goes on where it was ({why})", target.display())]
    Opened {
        /// Where it is mounted.
        target: PathBuf,
        /// What `umount` said.
        why: String,
    },
    /// A tool is missing.
    #[error("{tool} is not installed: the package is {}", package(tool))]
    NoTool {
        /// The tool: `losetup`.
        tool: String,
    },
    /// A tool failed.
    #[error("{tool} {why}")]
    Tool {
        /// The tool: `losetup`.
        tool: String,
        /// What it said.
        why: String,
    },
    /// A file could not be written, read or removed.
    #[error("{doing} {}", path.display())]
    File {
        /// What was done: `write`.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is written down of something that was made is not what is written.
    #[error("{} is not what plimsoll writes ({why}): look into it; once it is removed, nothing takes down what it is \
             of, and disks keep what is on them", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// Where a tool comes from, by the names that most distributions have in common.
fn package(tool: &str) -> &str {
    match tool {
        "lvm" => "lvm2",
        "mkfs.ext4" | "dumpe2fs" => "e2fsprogs",
        "mkfs.xfs" | "xfs_db" => "xfsprogs",
        "mkfs.btrfs" | "btrfs" => "btrfs-progs",
        "sfdisk" => "fdisk or util-linux",
        "blkid" | "wipefs" | "partx" | "losetup" | "mount" | "umount" => "util-linux",
        tool => tool,
    }
}

fn by_what(by: Option<&str>) -> String {
    by.map(|by| format!(" by their {by}")).unwrap_or_default()
}

/// What can be made: what it is called, and the command that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made(pub &'static str, pub &'static str);

impl DeviceError {
    /// What went wrong first.
    pub fn first(&self) -> &Self {
        if let Self::Left { first, .. } = self { first.first() } else { self }
    }

    /// This error, with what is left because taking it down failed too, and the command that does it later.
    pub(crate) fn and_then_left(self, taken_down: Result<(), Self>, command: &str) -> Self {
        match taken_down {
            Ok(()) => self,
            Err(why) => Self::Left { first: Box::new(self), why: Box::new(why), command: command.to_owned() },
        }
    }

    /// An error of a file.
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
    /// An error of a file of which nobody but root can be the writer.
    pub(crate) fn file_of_root(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotRoot { path },
            _ => Self::File { doing, path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_write_what_is_root_s_is_told_that_it_takes_root() {
        let of = |kind: io::ErrorKind| DeviceError::file_of_root("lock", "/var/lib/plimsoll")(kind.into()).to_string();
        let denied = of(io::ErrorKind::PermissionDenied);
        assert!(denied.starts_with("this needs root") && denied.ends_with("run it as root"), "{denied}");
        assert_eq!(of(io::ErrorKind::StorageFull), "lock /var/lib/plimsoll");
    }
}
