//! Taking arrays down: everything that bears an identity of theirs, and nothing else.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use plimsoll_io::{
    block_device::{self, Sysfs},
    mounts::{self, MountEntry},
    write_guard,
};
use plimsoll_workload::array::ArrayKind;

use super::{Stripe, StripedArray, facts, making::lvm, number, real};
use crate::{error::DeviceError, marks, notes, tool};

/// How long a tool may outlive who started it before it has opened anything.
const OUTLIVED: Duration = Duration::from_millis(200);
/// How often a device is asked for that programs may look at which look at every new one.
const PATIENCE: u32 = 6;

impl Stripe {
    /// Takes all of it down that there is, and makes sure that its disks are blank. Nothing is touched when somebody
    /// uses one of them for something else, or put something else there.
    pub fn down(&self, state: &Path) -> Result<(), DeviceError> {
        let mounts = mounts::mounts().map_err(|error| DeviceError::Usage(error.to_string()))?;
        self.refuse_foreign_use(&mounts)?;
        let own = self.identities();
        self.refuse_foreign_content(&own)?;
        self.unmount(&mounts)?;
        if !self.is_complete {
            thread::sleep(OUTLIVED);
        }
        // From here on there may be less than all of it.
        notes::write(&Self { is_complete: false, ..self.clone() }, state)?;
        for array in self.arrays.iter().rev() {
            self.take_apart(array, &own)?;
        }
        for array in &self.arrays {
            for member in self.member_paths(array).iter().filter(|path| path.exists()) {
                self.blank(member, &own)?;
            }
        }
        for disk in &self.disks {
            let device = &disk.device;
            if facts(device)?.partitions.iter().any(|_| disk.table.is_some()) {
                // It takes the last letters of a link's name for the number of a partition.
                tool::run("partx", &["--delete", &real(device).to_string_lossy()])?;
            }
            self.blank(device, &own)?;
        }
        self.make_sure()?;
        self.remove_places();
        notes::forget(self, state)
    }

    /// All identities that are on its disks, in the forms that they are told in.
    fn identities(&self) -> BTreeSet<String> {
        let tables = self.disks.iter().filter_map(|disk| disk.table).map(|id| id.to_string());
        let arrays = self.arrays.iter().flat_map(|array| {
            let file_systems = array.file_systems.iter().map(ToString::to_string);
            let volumes = array.members.iter().map(super::Member::volume_id);
            file_systems.chain(volumes).chain([array.id.to_string()])
        });
        tables.chain(arrays).collect()
    }

    /// Somebody may have mounted an array elsewhere, or put something of his own on top.
    fn refuse_foreign_use(&self, mounts: &[MountEntry]) -> Result<(), DeviceError> {
        let targets: Vec<PathBuf> = self.arrays.iter().flat_map(|array| self.targets(array)).collect();
        let sysfs = Sysfs::default();
        for disk in &self.disks {
            let above = sysfs.above(number(&disk.device)?);
            let is_of_disk = |mount: &&MountEntry| {
                [Some(mount.device), mount.source_device()].into_iter().flatten().any(|device| above.contains(&device))
            };
            let is_foreign = |mount: &&MountEntry| !targets.contains(&mount.mount_point);
            if let Some(mount) = mounts.iter().filter(is_of_disk).find(is_foreign) {
                let used = format!("mounted at {}", mount.mount_point.display());
                return Err(DeviceError::InUse { device: disk.device.display().to_string(), used });
            }
        }
        Ok(())
    }

    fn refuse_foreign_content(&self, own: &BTreeSet<String>) -> Result<(), DeviceError> {
        let disks = self.disks.iter().map(|disk| disk.device.clone());
        let members = self.arrays.iter().flat_map(|array| self.member_paths(array));
        let devices = self.arrays.iter().flat_map(|array| self.devices(array));
        for device in disks.chain(members).chain(devices).filter(|device| device.exists()) {
            let found = marks::identities(&device)?;
            if !found.is_empty() && found.is_disjoint(own) {
                let found = found.into_iter().collect::<Vec<_>>().join(", ");
                return Err(DeviceError::Foreign { device, found: format!("something with the identity {found}") });
            }
        }
        Ok(())
    }

    fn unmount(&self, mounts: &[MountEntry]) -> Result<(), DeviceError> {
        for target in self.arrays.iter().rev().flat_map(|array| self.targets(array)) {
            for mount in mounts.iter().filter(|mount| mount.mount_point == target) {
                let name = target.to_string_lossy();
                tool::run("umount", &[&name]).map_err(|error| DeviceError::InUse {
                    device: name.clone().into_owned(),
                    used: format!("a mounted {} that somebody uses ({error})", mount.file_system),
                })?;
            }
        }
        Ok(())
    }

    /// Erases the file system of what was put together, and takes that apart.
    fn take_apart(&self, array: &StripedArray, own: &BTreeSet<String>) -> Result<(), DeviceError> {
        if !array.is_assembled() {
            return Ok(());
        }
        for device in self.devices(array).iter().filter(|device| device.exists()) {
            write_guard::take_own(device, PATIENCE)?;
            self.blank(device, own)?;
        }
        let name = array.system_name();
        match array.array.kind {
            ArrayKind::Md => {
                for holder in self.holders(array) {
                    tool::run("mdadm", &["--stop", &holder])?;
                }
            }
            ArrayKind::Dm => {
                for _ in self.holders(array) {
                    // One device, however many members it holds.
                    if Path::new("/dev/mapper").join(&name).exists() {
                        tool::run("dmsetup", &["remove", "--retry", &name])?;
                    }
                }
            }
            ArrayKind::Lvm => {
                let known = lvm("vgs", &["--noheadings", "--options", "vg_name"]).told()?;
                if known.lines().any(|line| line.trim() == name) {
                    lvm("vgremove", &["--quiet", "--force", "--yes", &name]).told()?;
                }
            }
            ArrayKind::None | ArrayKind::Jbod | ArrayKind::Btrfs => {}
        }
        Ok(())
    }

    /// The devices that stand on the members of an array.
    pub(super) fn holders(&self, array: &StripedArray) -> BTreeSet<String> {
        let members = self.member_paths(array).into_iter();
        let facts = members.filter_map(|path| block_device::facts(number(&path).ok()?));
        facts.flat_map(|facts| facts.holders).map(|name| format!("/dev/{name}")).collect()
    }

    /// Erases the marks on a device, when they are our own.
    fn blank(&self, device: &Path, own: &BTreeSet<String>) -> Result<(), DeviceError> {
        let found = marks::identities(device)?;
        let is_own = !found.is_disjoint(own);
        let marks = marks::find(device)?;
        let Some(mark) = marks.first() else { return Ok(()) };
        // What has no identity any more is what was left of ours, unless all of ours was there a moment ago.
        if !is_own && (self.is_complete || !found.is_empty()) {
            return Err(DeviceError::Foreign { device: device.to_owned(), found: format!("{} of its own", mark.name) });
        }
        marks::erase(device)
    }

    /// What is promised: disks on which nothing is found.
    fn make_sure(&self) -> Result<(), DeviceError> {
        for disk in &self.disks {
            let device = disk.device.clone();
            if let Some(mark) = marks::find(&device)?.into_iter().next() {
                return Err(DeviceError::NotClean { device, found: mark.name.to_owned() });
            }
            if let Some(partition) = facts(&device)?.partitions.into_iter().next() {
                return Err(DeviceError::NotClean { device, found: format!("the partition {}", partition.name) });
            }
        }
        Ok(())
    }

    /// Links and empty directories; what somebody else put there stays.
    fn remove_places(&self) {
        for target in self.arrays.iter().flat_map(|array| self.targets(array)) {
            let is_link = target.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
            let _ = if is_link { fs::remove_file(&target) } else { fs::remove_dir(&target) };
            if target.parent().is_some_and(|parent| parent != self.place()) {
                let _ = target.parent().map(fs::remove_dir);
            }
        }
        let _ = fs::remove_dir(self.place());
        let _ = self.place().parent().map(fs::remove_dir);
    }
}
