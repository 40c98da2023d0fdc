//! Why a device or file may not be written to: one sentence each that says what, where, and what to do.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use plimsoll_workload::{shell_word::quoted, units::in_one_unit};
use thiserror::Error;

use crate::{
    block_device::{PartitionFacts, special_file},
    mounts::MountError,
    signatures::{self, ReadAt, Signature},
};

/// Why something may not be written to.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The path is no block device.
    #[error("\"{}\" is not a block device: --destroy is for devices only", .0.display())]
    NotADevice(PathBuf),
    /// Nobody permitted to destroy what is on it.
    #[error(
        "\"{}\" would be overwritten, and nothing permits that: if nobody needs what is on it, add --destroy {}",
        .0.display(), word(.0)
    )]
    NotNamed(PathBuf),
    /// The running system is on it.
    #[error("\"{}\" carries the root file system of this machine and is never written to: choose another device", .0.display())]
    BacksRoot(PathBuf),
    /// It, or something on it, is mounted.
    #[error("\"{}\" is in use: {device} is mounted at {}; unmount it with `umount {}`, or choose another device",
        path.display(), mount_point.display(), word(mount_point))]
    Mounted {
        /// The path as given.
        path: PathBuf,
        /// The device, partition or holder that is mounted.
        device: String,
        /// Where.
        mount_point: PathBuf,
    },
    /// It, or something on it, is swap space.
    #[error("\"{}\" is in use: {device} is swap space; stop that with `swapoff {device}`, or choose another device", path.display())]
    Swap {
        /// The path as given.
        path: PathBuf,
        /// The device or partition that is swapped to.
        device: String,
    },
    /// Another device is built on it.
    #[error("\"{}\" is in use: {} stands on it; take that down first (vgchange, mdadm --stop, cryptsetup close, \
             losetup --detach), or choose another device", path.display(), holders.join(", "))]
    Held {
        /// The path as given.
        path: PathBuf,
        /// The devices that stand on it.
        holders: Vec<String>,
    },
    /// Other machines may use it.
    #[error("\"{}\" is in use: {device} is served as the NVMe target {target}; disable that namespace with nvmetcli, or \
             choose another device", path.display())]
    Served {
        /// The path as given.
        path: PathBuf,
        /// The device or partition that is served.
        device: String,
        /// The name of the target.
        target: String,
    },
    /// Something has opened it.
    #[error("\"{}\" is in use{}: stop that first, or choose another device", path.display(), by(user.as_ref()))]
    Busy {
        /// The path as given.
        path: PathBuf,
        /// Which process, if it can be seen.
        user: Option<Process>,
    },
    /// It has partitions or a table for them.
    #[error("\"{}\" is divided: {}; if nobody needs them, `{}` destroys them and all content, then try again",
        path.display(), division(table.as_ref(), partitions), wipe_line(path, table.as_ref(), partitions))]
    Partitioned {
        /// The path as given.
        path: PathBuf,
        /// The table, if one was found.
        table: Option<Signature>,
        /// The partitions that the kernel knows.
        partitions: Vec<Partition>,
    },
    /// It bears the mark of a file system or the like.
    #[error("\"{}\" is not blank: it holds {} (its mark is at byte {}); if nobody needs that, `{}` destroys \
             it and all content, then try again", path.display(), signature.name, signature.offset, erase_line(path, signature))]
    Signed {
        /// The path as given.
        path: PathBuf,
        /// What was found.
        signature: Signature,
    },
    /// The kernel refuses writes.
    #[error("\"{}\" is read-only: make it writable with `blockdev --setrw {}`, or choose another device", .0.display(), word(.0))]
    ReadOnly(PathBuf),
    /// It has less room than the plan needs.
    #[error("\"{}\" has {}: lower --size or --offset, or choose a larger device",
        path.display(), in_one_unit([*size_bytes, *needed_bytes]).join(", but the plan needs "))]
    TooSmall {
        /// The path as given.
        path: PathBuf,
        /// How much it has.
        size_bytes: u64,
        /// How much the plan needs.
        needed_bytes: u64,
    },
    /// It could not be read where a mark may be.
    #[error("\"{}\" cannot be read, so nobody can tell what is on it: check the device (dmesg), or choose another", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It cannot be looked at or opened.
    #[error("\"{}\" cannot be opened: check the path, and run as a user who may write to devices (sudo)", path.display())]
    Inaccessible {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It became something else while it was checked.
    #[error("\"{}\" changed while it was being checked: try again when nothing attaches or detaches devices", .0.display())]
    Changed(PathBuf),
    /// What is in use cannot be found out.
    #[error("whether the device is in use cannot be found out")]
    CannotTell(#[source] MountError),
    /// A file of somebody else.
    #[error("\"{}\" was not made by plimsoll and is never overwritten: choose a path where nothing exists, or a directory", .0.display())]
    ForeignFile(PathBuf),
}

impl Refusal {
    pub(super) fn inaccessible(path: &Path, source: io::Error) -> Self {
        Self::Inaccessible { path: path.to_owned(), source }
    }
}

/// A process that has a device open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// The name of its command.
    pub command: String,
}

fn by(user: Option<&Process>) -> String {
    match user {
        Some(Process { id, command }) => format!(": process {id} ({command}) has it open"),
        None => " by the kernel or a process that cannot be seen from here, another container for example".to_owned(),
    }
}

/// A partition of a device that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its path under /dev.
    pub device: String,
    /// What it holds, when its start bears a known mark.
    pub content: Option<&'static str>,
}

/// A part of a disk as something to read from.
struct Part<'a> {
    disk: &'a File,
    start_bytes: u64,
}

impl ReadAt for Part<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.read_at(buffer, self.start_bytes + offset)
    }
}

impl Partition {
    /// Looks into a partition of an open disk. One that cannot be read is refused with its disk all the same.
    pub(super) fn read(partition: &PartitionFacts, disk: &File) -> Self {
        let part = Part { disk, start_bytes: partition.start_bytes };
        let found = signatures::find(&part, partition.size_bytes).unwrap_or_default();
        Self { device: special_file(&partition.name), content: found.first().map(|signature| signature.name) }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content {
            Some(content) => write!(f, "{} holding {content}", self.device),
            None => f.write_str(&self.device),
        }
    }
}

fn division(table: Option<&Signature>, partitions: &[Partition]) -> String {
    let table = table.map(|table| format!("it has a partition table ({})", table.name));
    let list: Vec<_> = partitions.iter().map(ToString::to_string).collect();
    match (table, list.is_empty()) {
        (Some(table), true) => table,
        (Some(table), false) => format!("{table} with {}", list.join(", ")),
        (None, _) => format!("it has the partitions {}", list.join(", ")),
    }
}

/// A path in a line that a person would type.
fn word(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// What a person would type to erase a mark.
fn erase_line(path: &Path, signature: &Signature) -> String {
    if signature.is_known_to_wipefs() {
        format!("wipefs --all {}", word(path))
    } else {
        format!("dd if=/dev/zero of={} bs=4096 count=1", word(path))
    }
}

/// What a person would type to make the device blank: the partitions first, while they still have names. Where a table
/// is erased, the kernel forgets its partitions by itself.
fn wipe_line(path: &Path, table: Option<&Signature>, partitions: &[Partition]) -> String {
    let mut line = "wipefs --all".to_owned();
    for partition in partitions {
        line += &format!(" {}", partition.device);
    }
    line += &format!(" {}", word(path));
    if table.is_none() {
        line += &format!(" && partx --delete {}", word(path));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_in_lines_to_type() {
        let mount_point = PathBuf::from("/tmp/m 4");
        let mounted = Refusal::Mounted { path: "/dev/sda".into(), device: "/dev/sda1".to_owned(), mount_point };
        assert!(mounted.to_string().contains("mounted at /tmp/m 4; unmount it with `umount '/tmp/m 4'`"), "{mounted}");
        let partition = Partition { device: "/dev/sda1".to_owned(), content: None };
        let line = wipe_line(Path::new("/dev/disk/by-id/a $(x)"), None, &[partition]);
        let quoted = "'/dev/disk/by-id/a $(x)'";
        assert_eq!(line, format!("wipefs --all /dev/sda1 {quoted} && partx --delete {quoted}"));
    }
}
