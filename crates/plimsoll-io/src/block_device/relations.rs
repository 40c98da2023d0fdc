//! Which devices stand on which: partitions on disks, stripes and logical volumes on their members, loop devices on
//! what backs them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{DeviceNumber, Sysfs, attribute, names, value};
use crate::mounts;

impl Sysfs {
    /// The devices named in a directory of links, `holders` or `slaves`.
    fn linked(directory: &Path) -> Vec<DeviceNumber> {
        names(directory).into_iter().filter_map(|name| value(&directory.join(name), "dev")).collect()
    }

    /// Numbers of loop devices and the block devices behind them. The kernel does not call these holders.
    fn loops_on_devices(&self) -> Vec<(DeviceNumber, DeviceNumber)> {
        let block = self.root.join("block");
        let pair = |name: String| {
            let disk = block.join(name);
            let backing = backing_file(&disk)?;
            Some((value(&disk, "dev")?, DeviceNumber::of_special_file(&backing)?))
        };
        names(&block).into_iter().filter(|name| name.starts_with("loop")).filter_map(pair).collect()
    }

    /// The NVMe targets of this machine that are served to others, with the paths of what they are. They take no device
    /// for themselves alone.
    pub(crate) fn served(&self) -> Vec<(String, PathBuf)> {
        let systems = self.root.join("kernel/config/nvmet/subsystems");
        let of_system = |system: String| {
            let namespaces = systems.join(&system).join("namespaces");
            let is_served = |name: &String| value(&namespaces.join(name), "enable") == Some(1_u32);
            let served = names(&namespaces).into_iter().filter(is_served);
            let paths = served.filter_map(|name| attribute(&namespaces.join(name), "device_path"));
            paths.map(|path| (system.clone(), path.into())).collect::<Vec<_>>()
        };
        names(&systems).into_iter().flat_map(of_system).collect()
    }

    /// The device itself and everything that stands on it: its partitions, their holders, and so on up.
    pub fn above(&self, number: DeviceNumber) -> BTreeSet<DeviceNumber> {
        let loops = self.loops_on_devices();
        closure(number, |device| {
            let mut next: Vec<_> = self.partitions(device).into_iter().map(|partition| partition.number).collect();
            if let Some(directory) = self.directory(device) {
                next.extend(Self::linked(&directory.join("holders")));
            }
            next.extend(loops.iter().filter(|(_, backing)| *backing == device).map(|(disk, _)| *disk));
            next
        })
    }

    /// The device itself and everything that it stands on: its disk, the members of that, and so on down to hardware.
    pub fn below(&self, number: DeviceNumber) -> BTreeSet<DeviceNumber> {
        closure(number, |device| {
            let mut next = self.made_of(device);
            next.extend(self.under_its_file(device));
            next
        })
    }

    /// The disks that a device or its file system is spread over; its own disk, when that is all.
    pub fn spread_over(&self, device: DeviceNumber) -> BTreeSet<DeviceNumber> {
        let below = |device: DeviceNumber| {
            // A partition of what is put together lies on all that this is made of.
            let disk = self.directory(device).map(|directory| Self::disk_directory(&directory));
            disk.map(|disk| Self::linked(&disk.join("slaves"))).unwrap_or_default()
        };
        let all = self.beside_in_btrfs(device).into_iter().flat_map(|device| closure(device, below));
        all.filter(|device| below(*device).is_empty()).filter_map(|device| self.disk_of(device)).collect()
    }

    /// The disks on which is counted what a file system on this device has done: its own, and those of a btrfs that is
    /// on several devices. What is put together in another way is a disk itself.
    pub fn counted_on(&self, device: DeviceNumber) -> BTreeSet<DeviceNumber> {
        self.beside_in_btrfs(device).into_iter().filter_map(|device| self.disk_of(device)).collect()
    }

    /// A device and those that belong to the same btrfs, which is no device itself.
    fn beside_in_btrfs(&self, device: DeviceNumber) -> Vec<DeviceNumber> {
        let file_systems = self.root.join("fs/btrfs");
        let devices =
            names(&file_systems).into_iter().map(|name| Self::linked(&file_systems.join(name).join("devices")));
        devices.into_iter().find(|devices| devices.contains(&device)).unwrap_or_else(|| vec![device])
    }

    /// What two devices have in common of what they stand on; `None` when that is nothing.
    pub fn common(&self, first: DeviceNumber, second: DeviceNumber) -> Option<Common> {
        let parts = [first, second].map(|device| closure(device, |device| self.made_of(device)));
        let below = [first, second].map(|device| self.below(device));
        let lowest = |[one, other]: [BTreeSet<DeviceNumber>; 2]| {
            let mut both: Vec<_> = one.intersection(&other).copied().collect();
            both.sort_by_key(|device| self.below(*device).len());
            both.first().copied()
        };
        lowest(parts).map(Common::Part).or_else(|| lowest(below).map(Common::UnderFiles))
    }

    /// The disk of a partition, the members of what is put together, and the device behind a loop device.
    fn made_of(&self, device: DeviceNumber) -> Vec<DeviceNumber> {
        let Some(directory) = self.directory(device) else { return Vec::new() };
        let mut next = Self::linked(&directory.join("slaves"));
        next.extend(self.disk_of(device));
        let backing = backing_file(&directory);
        next.extend(backing.and_then(|path| DeviceNumber::of_special_file(&path)));
        next
    }

    /// The device that the file behind a loop device lies on.
    fn under_its_file(&self, device: DeviceNumber) -> Option<DeviceNumber> {
        let file = backing_file(&self.directory(device)?)?;
        self.device_of(&file).map(|backing| backing.device)
    }
}

/// The file or device behind a loop device. One at a server is nothing that devices stand on.
fn backing_file(disk: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(attribute(disk, "loop/backing_file")?);
    let mounts = mounts::mounts().unwrap_or_default();
    mounts::is_near(&path, &mounts).then_some(path)
}

/// What two devices have in common: the lowest of the devices that both stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// Both are it, or made of it.
    Part(DeviceNumber),
    /// Files lie on it that at least one of them is, as a loop device.
    UnderFiles(DeviceNumber),
}

/// Everything reached from a start by steps, the start included.
fn closure(start: DeviceNumber, step: impl Fn(DeviceNumber) -> Vec<DeviceNumber>) -> BTreeSet<DeviceNumber> {
    let mut reached = BTreeSet::from([start]);
    let mut waiting = vec![start];
    while let Some(device) = waiting.pop() {
        waiting.extend(step(device).into_iter().filter(|next| reached.insert(*next)));
    }
    reached
}
