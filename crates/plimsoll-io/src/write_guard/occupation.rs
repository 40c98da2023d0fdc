//! Whether anything uses a device: mounts, swap, devices built on it, processes.

use std::{
    cell::LazyCell,
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process,
};

use super::refusal::{Process, Refusal};
use crate::{
    block_device::{DeviceNumber, Sysfs, special_file},
    mounts::{MountEntry, SwapArea, parse_mountinfo},
};

/// File systems on which special files are found besides those below /dev, and that wait for nobody.
const LOCAL: &[&str] = &["tmpfs", "devtmpfs", "overlay", "ext4", "xfs", "btrfs"];

/// All that is known about the use of devices at one moment.
pub(super) struct Surroundings<'a> {
    pub(super) sysfs: &'a Sysfs,
    pub(super) mounts: &'a [MountEntry],
    pub(super) swap_areas: &'a [SwapArea],
    /// The device that holds the root directory, where the table of mounts does not name it.
    pub(super) root: Option<DeviceNumber>,
}

impl Surroundings<'_> {
    /// Refuses a device on which, through however many layers, something stands that is in use.
    pub(super) fn refuse_use(&self, path: &Path, number: DeviceNumber) -> Result<(), Refusal> {
        let (above, below) = (self.sysfs.above(number), self.sysfs.below(number));
        if self.root_devices().iter().any(|root| above.contains(root) || self.sysfs.below(*root).contains(&number)) {
            return Err(Refusal::BacksRoot(path.to_owned()));
        }
        for mount in self.mounts {
            let device =
                [Some(mount.device), mount.source_device()].into_iter().flatten().find(|it| above.contains(it));
            if let Some(device) = device {
                let mount_point = mount.mount_point.clone();
                return Err(Refusal::Mounted { path: path.to_owned(), device: self.name(device), mount_point });
            }
        }
        for area in self.swap_areas.iter().filter(|area| !area.is_file) {
            if DeviceNumber::of_special_file(&area.path).is_some_and(|device| above.contains(&device)) {
                return Err(Refusal::Swap { path: path.to_owned(), device: area.path.display().to_string() });
            }
        }
        for (target, device) in self.sysfs.served() {
            // What is elsewhere is a file, perhaps of a server.
            let number = device.starts_with("/dev").then(|| DeviceNumber::of_special_file(&device)).flatten();
            if number.is_some_and(|number| above.contains(&number) || below.contains(&number)) {
                let (path, device) = (path.to_owned(), device.display().to_string());
                return Err(Refusal::Served { path, device, target });
            }
        }
        let own: BTreeSet<_> =
            self.sysfs.partitions(number).into_iter().map(|partition| partition.number).chain([number]).collect();
        let holders: Vec<_> = above.difference(&own).map(|device| self.name(*device)).collect();
        if holders.is_empty() { Ok(()) } else { Err(Refusal::Held { path: path.to_owned(), holders }) }
    }

    /// The devices that hold the root file system, as far as it has any.
    fn root_devices(&self) -> BTreeSet<DeviceNumber> {
        let roots = self.mounts.iter().filter(|mount| mount.mount_point == Path::new("/"));
        let mut devices: BTreeSet<_> =
            roots.flat_map(|root| [Some(root.device), root.source_device()]).flatten().collect();
        devices.extend(self.root);
        devices.retain(|device| !device.is_anonymous());
        devices
    }

    fn name(&self, number: DeviceNumber) -> String {
        self.sysfs.facts(number).map_or_else(|| number.to_string(), |facts| special_file(&facts.name))
    }
}

/// A process other than this one that has one of the devices open for writing. The kernel allows that beside a claim
/// for exclusive use: virtual machines and databases on raw disks often make none. Processes of other users and of
/// other containers can be seen by root only.
pub(super) fn other_writer(devices: &BTreeSet<DeviceNumber>) -> Option<Process> {
    let is_writer = |process: &Path, descriptor: &str| {
        let text = fs::read_to_string(process.join("fdinfo").join(descriptor)).unwrap_or_default();
        let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        // The lowest two bits are zero for reading only.
        flags.is_some_and(|flags| flags & 3 != 0)
    };
    openers(|process, descriptor, device| {
        devices.contains(&device) && !process.ends_with(process::id().to_string()) && is_writer(process, descriptor)
    })
}

/// A process that has the device open in any way, this one included: for the message when the kernel says it is busy.
pub(super) fn any_opener(number: DeviceNumber) -> Option<Process> {
    openers(|_, _, device| device == number)
}

/// The first process with a descriptor of a block device that is `wanted`.
fn openers(wanted: impl Fn(&Path, &str, DeviceNumber) -> bool) -> Option<Process> {
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((id, entry.path()))
    });
    for (id, process) in processes {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let mounts = LazyCell::new(|| fs::read(process.join("mountinfo")).map(|text| parse_mountinfo(&text)));
        let is_wanted = descriptors.into_iter().any(|entry| {
            let name = entry.file_name();
            let link: PathBuf = entry.path();
            // Asking about a file of an unreachable server may never return, so only what is certainly near is looked
            // at. In a container, a device may be anywhere.
            let is_near = fs::read_link(&link).is_ok_and(|file| {
                file.starts_with("/dev") || file.is_absolute() && has_devices(&process, &name, mounts.as_deref().ok())
            });
            is_near
                && DeviceNumber::of_special_file(&link)
                    .is_some_and(|device| wanted(&process, &name.to_string_lossy(), device))
        });
        if is_wanted {
            let command = fs::read_to_string(process.join("comm")).unwrap_or_default();
            return Some(Process { id, command: command.trim().to_owned() });
        }
    }
    None
}

/// Whether a descriptor of a process is of a mount that special files are in, and that asks no server.
fn has_devices(process: &Path, descriptor: &OsStr, mounts: Option<&[MountEntry]>) -> bool {
    let text = fs::read_to_string(process.join("fdinfo").join(descriptor)).unwrap_or_default();
    let id: Option<u64> = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    let mount = mounts.into_iter().flatten().find(|mount| Some(mount.id) == id);
    mount.is_some_and(|mount| LOCAL.contains(&mount.file_system.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        block_device::tests::{MadeUpTree, number},
        mounts::parse_mountinfo,
    };

    fn refusal(tree: &MadeUpTree, mounts: &str, device: &str) -> Result<(), Refusal> {
        let mounts = parse_mountinfo(mounts.as_bytes());
        let surroundings = Surroundings { sysfs: &tree.sysfs(), mounts: &mounts, swap_areas: &[], root: None };
        surroundings.refuse_use(Path::new("/dev/it"), number(device))
    }

    #[test]
    fn a_root_file_system_on_a_stack_protects_every_layer_of_it() {
        let tree = MadeUpTree::new();
        let mounts = "27 1 252:0 / / rw - ext4 /dev/mapper/vg-data rw\n";
        for device in ["252:0", "9:0", "8:2", "8:0", "259:0"] {
            assert!(matches!(refusal(&tree, mounts, device), Err(Refusal::BacksRoot(_))), "{device}");
        }
        refusal(&tree, mounts, "8:1").unwrap();
    }

    #[test]
    fn a_mount_protects_every_layer_beneath_it() {
        let tree = MadeUpTree::new();
        let mounts = "27 1 252:0 / /data rw - ext4 /dev/mapper/vg-data rw\n";
        for device in ["252:0", "9:0", "8:2", "8:0", "259:0"] {
            let message = refusal(&tree, mounts, device).unwrap_err().to_string();
            assert!(message.contains("/dev/dm-0 is mounted at /data; unmount it with `umount /data`"), "{message}");
        }
        refusal(&tree, mounts, "8:1").unwrap();
    }

    #[test]
    fn a_device_that_others_stand_on_is_held_even_when_nothing_is_mounted() {
        let tree = MadeUpTree::new();
        let message = refusal(&tree, "", "8:0").unwrap_err().to_string();
        assert!(message.contains("/dev/md0, /dev/dm-0 stands on it"), "{message}");
        refusal(&tree, "", "252:0").unwrap();
        refusal(&tree, "", "8:1").unwrap();
    }

    #[test]
    fn a_mounted_partition_protects_its_disk_and_not_its_neighbour() {
        let tree = MadeUpTree::new();
        let mounts = "27 1 8:1 / /boot rw - ext4 /dev/sda1 rw\n";
        assert!(matches!(refusal(&tree, mounts, "8:0"), Err(Refusal::Mounted { .. })));
        assert!(matches!(refusal(&tree, mounts, "8:1"), Err(Refusal::Mounted { .. })));
        assert!(matches!(refusal(&tree, mounts, "8:2"), Err(Refusal::Held { .. })));
    }
}
