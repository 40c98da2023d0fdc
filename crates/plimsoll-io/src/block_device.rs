//! What the kernel tells about block devices, read from sysfs: identity, geometry, queue, transport, relations.
//!
//! Nothing here opens a device. [`Sysfs`] can be pointed at a tree of files instead of /sys, which is how relations
//! that a test machine does not have are tested.

use std::{
    collections::BTreeSet,
    fmt, fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    str::FromStr,
};

use plimsoll_workload::serial_number;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::{counters::DiskCounters, relations::Common, transport::Transport};
use crate::mounts;

mod counters;
mod relations;
mod transport;

/// Sysfs counts sizes in sectors of this many bytes, whatever the device's own blocks are.
pub(crate) const SYSFS_SECTOR_BYTES: u64 = 512;

/// The number by which the kernel knows a device, however it is named: `8:16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver. Zero for file systems without a block device.
    pub major: u32,
    /// The device of that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Splits the number that `stat` gives.
    pub fn from_raw(number: u64) -> Self {
        Self { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
    }

    /// The device that a path (symbolic links followed) stands for; `None` when it is no block device.
    pub fn of_special_file(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        metadata.file_type().is_block_device().then(|| Self::from_raw(metadata.rdev()))
    }

    /// Whether this is the number of a file system without a block device of its own.
    pub const fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = || {
            let (major, minor) = text.trim().split_once(':')?;
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        };
        number().ok_or("a device number is written MAJOR:MINOR, as 8:16")
    }
}

impl Serialize for DeviceNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeviceNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// A partition of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionFacts {
    /// Its device number.
    pub number: DeviceNumber,
    /// The kernel's name: `sda1`.
    pub name: String,
    /// Where it starts on the disk.
    pub start_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
}

/// What the kernel tells about a block device. What it keeps to itself is `None`: "not known", never "none".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The number of the device itself, which may be a partition.
    pub number: DeviceNumber,
    /// The kernel's name of the device itself: `sda1`.
    pub name: String,
    /// The number of the whole disk.
    pub disk_number: DeviceNumber,
    /// The kernel's name of the whole disk: `sda`.
    pub disk: String,
    /// Which partition of the disk this is; `None` for the whole disk.
    pub partition: Option<u32>,
    /// Size of the disk or partition. Zero when there is no medium.
    pub size_bytes: u64,
    /// Whether the kernel refuses writes.
    pub read_only: bool,
    /// How the disk is attached.
    pub transport: Transport,
    /// The vendor, as SCSI disks tell.
    pub vendor: Option<String>,
    /// The model, as the disk tells.
    pub model: Option<String>,
    /// The serial number, as the disk tells. That of an NVMe controller, and which of its namespaces the disk is.
    pub serial: Option<String>,
    /// The world-wide name, or the UUID of a device-mapper or md device.
    pub wwid: Option<String>,
    /// The name given to a device-mapper device: `vg-data`.
    pub mapped_name: Option<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// The unit that the device is addressed in.
    pub logical_block_bytes: Option<u32>,
    /// The unit that the device can write without reading first.
    pub physical_block_bytes: Option<u32>,
    /// The smallest request without a penalty: a chunk, on stripes.
    pub minimum_io_bytes: Option<u32>,
    /// The request size that the device likes best: a whole stripe, for example.
    pub optimal_io_bytes: Option<u32>,
    /// The largest request that the kernel sends; longer operations are split.
    pub request_bytes_max: Option<u64>,
    /// How far the page cache reads ahead.
    pub read_ahead_bytes: Option<u64>,
    /// The scheduler in use.
    pub scheduler: Option<String>,
    /// Whether the kernel takes it for a spinning disk.
    pub rotational: Option<bool>,
    /// How many requests the kernel queues.
    pub queue_requests_max: Option<u32>,
    /// Whether the disk has queues that can be polled for completions.
    pub polled_queues: Option<bool>,
    /// The cache mode that the kernel assumes: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// The largest single discard; zero when the device has no discard.
    pub discard_bytes_max: Option<u64>,
    /// The zone model: `none`, `host-aware` or `host-managed`.
    pub zoned: Option<String>,
    /// Kernel names of devices built on this one.
    pub holders: Vec<String>,
    /// Kernel names of devices that this one is built on.
    pub slaves: Vec<String>,
    /// Partitions of the disk; empty for a partition.
    pub partitions: Vec<PartitionFacts>,
}

/// The block device behind a path, and its whole disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackingDevice {
    /// The disk or partition.
    pub device: DeviceNumber,
    /// The whole disk: the same, when there is no partition.
    pub disk: DeviceNumber,
}

/// A tree of files in the form of /sys.
#[derive(Clone, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    fn default() -> Self {
        Self::at("/sys")
    }
}

/// The trimmed text of an attribute; `None` when it is missing or empty.
pub(crate) fn attribute(directory: &Path, name: &str) -> Option<String> {
    let bytes = fs::read(directory.join(name)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn value<T: FromStr>(directory: &Path, name: &str) -> Option<T> {
    attribute(directory, name)?.parse().ok()
}

fn file_name(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names in a directory, sorted; none when there is no such directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The active one of the schedulers that the kernel offers: `[none] mq-deadline`.
fn active_scheduler(text: &str) -> Option<String> {
    match text.split_once('[') {
        Some((_, rest)) => Some(rest.split(']').next()?.to_owned()),
        None => text.split_whitespace().next().map(str::to_owned),
    }
}

/// The serial number page of a SCSI disk: two bytes, a length, and text.
fn scsi_serial(device: &Path) -> Option<String> {
    let page = fs::read(device.join("vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// The path under /dev that a kernel name has: slashes in it are written as exclamation marks in sysfs.
pub(crate) fn special_file(name: &str) -> String {
    format!("/dev/{}", name.replace('!', "/"))
}

impl Sysfs {
    /// A tree at another place than /sys.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory of a block device.
    pub(crate) fn directory(&self, number: DeviceNumber) -> Option<PathBuf> {
        fs::canonicalize(self.root.join("dev/block").join(number.to_string())).ok()
    }

    /// The directory of the whole disk to which a device belongs.
    fn disk_directory(directory: &Path) -> PathBuf {
        if directory.join("partition").exists() {
            mounts::parent_of(directory).to_owned()
        } else {
            directory.to_owned()
        }
    }

    /// The number of the whole disk to which a device belongs.
    pub fn disk_of(&self, number: DeviceNumber) -> Option<DeviceNumber> {
        value(&Self::disk_directory(&self.directory(number)?), "dev")
    }

    /// Size of a device; `None` when there is no such device.
    pub(crate) fn size_bytes(&self, number: DeviceNumber) -> Option<u64> {
        Some(value::<u64>(&self.directory(number)?, "size")?.saturating_mul(SYSFS_SECTOR_BYTES))
    }

    /// The unit that a device is addressed in.
    pub(crate) fn logical_block_bytes(&self, number: DeviceNumber) -> Option<u32> {
        value(&Self::disk_directory(&self.directory(number)?), "queue/logical_block_size")
    }

    /// Partitions of a disk, in the order they lie on it.
    pub fn partitions(&self, disk: DeviceNumber) -> Vec<PartitionFacts> {
        let Some(directory) = self.directory(disk) else { return Vec::new() };
        let mut partitions: Vec<_> = names(&directory)
            .into_iter()
            .map(|name| directory.join(name))
            .filter(|part| part.join("partition").exists())
            .filter_map(|part| {
                Some(PartitionFacts {
                    number: value(&part, "dev")?,
                    name: file_name(&part),
                    start_bytes: value::<u64>(&part, "start")?.saturating_mul(SYSFS_SECTOR_BYTES),
                    size_bytes: value::<u64>(&part, "size")?.saturating_mul(SYSFS_SECTOR_BYTES),
                })
            })
            .collect();
        partitions.sort_by_key(|partition| partition.start_bytes);
        partitions
    }

    /// Whether a disk can have partitions, which those of the device mapper cannot. Kernels say so by how many.
    pub fn takes_partitions(&self, disk: DeviceNumber) -> bool {
        self.directory(disk).and_then(|directory| value::<u32>(&directory, "ext_range")).is_none_or(|most| most > 1)
    }

    /// All that is known of a device; `None` when the kernel has no such block device.
    pub fn facts(&self, number: DeviceNumber) -> Option<DeviceFacts> {
        let directory = self.directory(number)?;
        let disk = Self::disk_directory(&directory);
        let (queue, device) = (disk.join("queue"), disk.join("device"));
        let nonzero = |name| value::<u32>(&queue, name).filter(|bytes| *bytes > 0);
        let kibibytes = |name| Some(value::<u64>(&queue, name)?.saturating_mul(1024));
        let first = |places: &[(&Path, &str)]| places.iter().find_map(|(directory, name)| attribute(directory, name));
        Some(DeviceFacts {
            number,
            name: file_name(&directory),
            disk_number: value(&disk, "dev")?,
            disk: file_name(&disk),
            partition: value(&directory, "partition"),
            size_bytes: value::<u64>(&directory, "size")?.saturating_mul(SYSFS_SECTOR_BYTES),
            read_only: value::<u32>(&directory, "ro").is_some_and(|flag| flag != 0),
            transport: Transport::of(&disk),
            // PCI and virtio devices have a number there, not a name.
            vendor: attribute(&device, "vendor").filter(|vendor| !vendor.starts_with("0x")),
            model: first(&[(&device, "model"), (&device, "name")]),
            serial: first(&[(&disk, "serial"), (&device, "serial")])
                .or_else(|| scsi_serial(&device))
                .map(|serial| serial_number::of_namespace(serial, value(&disk, "nsid"))),
            wwid: first(&[(&disk, "wwid"), (&device, "wwid"), (&disk, "dm/uuid"), (&disk, "md/uuid")]),
            mapped_name: attribute(&disk, "dm/name"),
            backing_file: attribute(&disk, "loop/backing_file"),
            logical_block_bytes: nonzero("logical_block_size"),
            physical_block_bytes: nonzero("physical_block_size"),
            minimum_io_bytes: nonzero("minimum_io_size"),
            optimal_io_bytes: nonzero("optimal_io_size"),
            request_bytes_max: kibibytes("max_sectors_kb"),
            read_ahead_bytes: kibibytes("read_ahead_kb"),
            scheduler: attribute(&queue, "scheduler").and_then(|text| active_scheduler(&text)),
            rotational: value::<u32>(&queue, "rotational").map(|flag| flag != 0),
            queue_requests_max: value(&queue, "nr_requests"),
            polled_queues: value::<u32>(&queue, "io_poll").map(|flag| flag != 0),
            write_cache: attribute(&queue, "write_cache"),
            discard_bytes_max: value(&queue, "discard_max_bytes"),
            zoned: attribute(&queue, "zoned"),
            holders: names(&directory.join("holders")),
            slaves: names(&disk.join("slaves")),
            partitions: self.partitions(number),
        })
    }

    /// The counters of a disk or partition; `None` when the kernel has no such device.
    pub fn stat(&self, number: DeviceNumber) -> Option<DiskCounters> {
        DiskCounters::parse(&attribute(&self.directory(number)?, "stat")?)
    }

    /// The block device behind a path, existing or to be made: the device itself when it is one, otherwise the one
    /// that holds its file system. `None` for file systems in memory, over the network, or over several devices that
    /// do not tell.
    pub fn device_of(&self, path: &Path) -> Option<BackingDevice> {
        let device = match DeviceNumber::of_special_file(path) {
            Some(number) => number,
            None => self.device_of_file_system(path, 0)?,
        };
        Some(BackingDevice { device, disk: self.disk_of(device)? })
    }

    fn device_of_file_system(&self, path: &Path, depth: u32) -> Option<DeviceNumber> {
        let metadata = fs::metadata(path).or_else(|_| fs::metadata(mounts::parent_of(path))).ok()?;
        let number = DeviceNumber::from_raw(metadata.dev());
        if !number.is_anonymous() && self.directory(number).is_some() {
            return Some(number);
        }
        let entry = mounts::entry_of(path).ok()?;
        let source = entry.source_device();
        if source.is_some() || !entry.file_system.starts_with("overlay") {
            return source;
        }
        // Writes to an overlay go to its upper directory, which this process may not be able to see. Overlays can
        // stand on overlays, but the kernel allows two of them only.
        let upper = Path::new(entry.option("upperdir")?);
        if depth < 4 { self.device_of_file_system(upper, depth + 1) } else { None }
    }
}

/// All that the kernel tells about a device; `None` when it has no such block device.
pub fn facts(number: DeviceNumber) -> Option<DeviceFacts> {
    Sysfs::default().facts(number)
}

/// The counters of a disk or partition; `None` when the kernel has no such device.
pub fn stat(number: DeviceNumber) -> Option<DiskCounters> {
    Sysfs::default().stat(number)
}

/// The disks that a device or its file system is spread over; its own disk, when that is all.
pub fn spread_over(device: DeviceNumber) -> BTreeSet<DeviceNumber> {
    Sysfs::default().spread_over(device)
}

/// The disks on which is counted what a file system on a device has done: see [`Sysfs::counted_on`].
pub fn counted_on(device: DeviceNumber) -> BTreeSet<DeviceNumber> {
    Sysfs::default().counted_on(device)
}

/// What two devices have in common: see [`Sysfs::common`].
pub fn common(first: DeviceNumber, second: DeviceNumber) -> Option<Common> {
    Sysfs::default().common(first, second)
}

/// The block device behind a path: see [`Sysfs::device_of`].
pub fn device_of(path: &Path) -> Option<BackingDevice> {
    Sysfs::default().device_of(path)
}

#[cfg(test)]
pub(crate) mod tests;
