//! Taking arrays down: everything that bears an identity of theirs, and nothing else.

use std::{collections::BTreeSet, fs, path::Path, thread, time::Duration};

use plimsoll_io::{
    block_device::{self, DeviceNumber, Sysfs},
    mounts::MountEntry,
    write_guard,
};
use plimsoll_workload::array::ArrayKind;

use super::{
    Stripe, StripedArray, facts,
    identity::{self, Whose},
    is_there,
    making::lvm,
    number, real,
};
use crate::{error::DeviceError, marks, notes, tool};

/// How long a tool may outlive who started it before it has opened anything.
const OUTLIVED: Duration = Duration::from_millis(200);
/// How often a device is asked for that programs may look at which look at every new one.
const PATIENCE: u32 = 6;
/// How often, and after what pause, a tool is tried again: a program may have opened what it takes away.
const ATTEMPTS: (u32, Duration) = (50, Duration::from_millis(200));

impl Stripe {
    /// Takes all of it down that there is, and makes sure that its disks are blank. Nothing is touched when somebody
    /// uses one of them for something else, or put something else there.
    pub fn down(&self, state: &Path) -> Result<(), DeviceError> {
        let _lock = notes::lock::<Self>(state)?;
        // Somebody may have taken it down, and made another one, until the lock was had.
        Self::find(state, &self.name)?.take_down(state)
    }

    pub(super) fn take_down(&self, state: &Path) -> Result<(), DeviceError> {
        if !self.is_complete {
            thread::sleep(OUTLIVED);
        }
        let whose = (0..self.disks.len()).map(|index| identity::whose(self, index)).collect::<Result<Vec<_>, _>>()?;
        with_patience(ATTEMPTS.0, || self.show_own_partitions(&whose))?;
        identity::refuse_other_nodes(self)?;
        let own = self.identities();
        self.refuse_foreign_content(&own)?;
        self.refuse_foreign_use()?;
        let volumes = |array: &&StripedArray| array.array.kind == ArrayKind::Lvm;
        self.arrays.iter().filter(volumes).try_for_each(|array| group_is_there(array, &own).map(drop))?;
        if let Err(error) = self.unmount() {
            // What somebody uses stays as it was, with the rest.
            if self.is_complete {
                self.arrays.iter().try_for_each(|array| self.place_missing(array))?;
            }
            return Err(error);
        }
        // From here on there is less than all of it. Where that cannot be written, the rest can be done.
        let _ = notes::write(&Self { is_complete: false, ..self.clone() }, state);
        for array in self.arrays.iter().rev() {
            with_patience(ATTEMPTS.0, || self.take_apart(array, &own))?;
        }
        for member in self.arrays.iter().flat_map(|array| self.member_paths(array)).filter(|path| is_there(path)) {
            marks::erase(&member)?;
        }
        for disk in &self.disks {
            let device = real(&disk.device);
            if !facts(&device)?.partitions.is_empty() {
                with_patience(ATTEMPTS.0, || tool::run("partx", &["--delete", &device.to_string_lossy()]).map(drop))?;
            }
            marks::erase(&device)?;
        }
        self.make_sure()?;
        self.clear_up(state)
    }

    /// Gives it up without touching a disk. What is in its place can be taken down.
    pub fn forget(&self, state: &Path) -> Result<(), DeviceError> {
        let _lock = notes::lock::<Self>(state)?;
        let mounts = identity::mounts()?;
        let targets = self.arrays.iter().flat_map(|array| self.targets(array).into_iter().map(move |at| (at, array)));
        let mounted = targets.into_iter().find(|(at, array)| {
            mounts.iter().any(|mount| mount.mount_point == *at && identity::is_of(mount, self, array))
        });
        if let Some((target, _)) = mounted {
            let used = format!("mounted, so its disks are there: `plimsoll stripe down {}` gives them back", self.name);
            return Err(DeviceError::InUse { device: target.display().to_string(), used });
        }
        self.clear_up(state)
    }

    fn clear_up(&self, state: &Path) -> Result<(), DeviceError> {
        self.remove_places();
        notes::forget(self, state)
    }

    /// What is on partitions that the kernel was not told of is erased as well.
    fn show_own_partitions(&self, whose: &[Whose]) -> Result<(), DeviceError> {
        for (index, (disk, _)) in self.disks.iter().zip(whose).enumerate().filter(|(_, (_, own))| **own == Whose::Ours)
        {
            // One that takes no partitions has nothing on any.
            let is_divided = Sysfs::default().takes_partitions(number(&disk.device)?);
            if is_divided && !self.partitions(index).all(|(_, member)| is_there(&self.member_path(member))) {
                tool::run("partx", &["--update", &real(&disk.device).to_string_lossy()])?;
            }
        }
        Ok(())
    }

    /// All identities that are on its disks, in the forms that they are told in.
    fn identities(&self) -> BTreeSet<String> {
        let of_array = |array: &StripedArray| {
            let file_systems = array.file_systems.iter().map(ToString::to_string);
            let volumes = array.members.iter().map(super::Member::volume_id);
            file_systems.chain(volumes).chain([array.id.to_string()]).collect::<Vec<_>>()
        };
        self.arrays.iter().flat_map(of_array).collect()
    }

    /// Somebody may have mounted an array elsewhere, opened it, or put something of his own on top.
    fn refuse_foreign_use(&self) -> Result<(), DeviceError> {
        let mounts = identity::mounts()?;
        let places: Vec<_> =
            self.arrays.iter().flat_map(|array| self.targets(array).into_iter().map(move |at| (at, array))).collect();
        let in_use =
            |device: &Path, used: String| Err(DeviceError::InUse { device: device.display().to_string(), used });
        self.arrays.iter().try_for_each(|array| identity::refuse_added_disks(self, array))?;
        let own: BTreeSet<DeviceNumber> = self.arrays.iter().flat_map(|array| self.own_devices(array)).collect();
        for disk in &self.disks {
            let above = identity::above(disk)?;
            for mount in &mounts {
                let devices = [Some(mount.device), mount.source_device()];
                if devices.into_iter().flatten().any(|device| above.contains(&device))
                    && !places.iter().any(|(at, array)| *at == mount.mount_point && identity::is_of(mount, self, array))
                {
                    return in_use(&disk.device, format!("mounted at {}", mount.mount_point.display()));
                }
            }
            let holder = above.difference(&own).find(|device| **device != number(&disk.device).unwrap_or(**device));
            if let Some(name) = holder.and_then(|holder| block_device::facts(*holder)).map(|facts| facts.name) {
                return in_use(&disk.device, format!("part of {name}, which plimsoll did not make"));
            }
        }
        for (target, array) in &places {
            if let Some(mount) = identity::mounted_at(&mounts, target)
                && !identity::is_of(mount, self, array)
            {
                let source = mount.source.to_string_lossy();
                return in_use(target, format!("hidden by {source}, which plimsoll did not mount there"));
            }
        }
        // What is mounted is tried by unmounting it; nothing else may have the others opened.
        for array in self.arrays.iter().filter(|array| array.array.is_raw()) {
            for device in self.devices(array).iter().filter(|device| is_there(device)) {
                write_guard::take_own(device, PATIENCE)?;
            }
        }
        Ok(())
    }

    /// The devices that an array is, and those that it is made of.
    fn own_devices(&self, array: &StripedArray) -> Vec<DeviceNumber> {
        let named = self.devices(array).into_iter().chain(self.member_paths(array));
        let named = named.filter_map(|path| DeviceNumber::of_special_file(&path));
        // An md device that the system assembled has a name of its own, and what a killed tool mapped has none in /dev.
        let assembled = self.holders(array).into_iter().filter_map(|path| DeviceNumber::of_special_file(path.as_ref()));
        let is_own = |holder: &DeviceNumber| {
            let mapped = || block_device::facts(*holder).and_then(|facts| facts.mapped_name);
            let is_md = || block_device::facts(*holder).is_some_and(|facts| facts.name.starts_with("md"));
            (array.array.kind == ArrayKind::Md && is_md())
                || mapped().is_some_and(|name| array.mapped_name() == Some(name))
        };
        let assembled = assembled.filter(is_own);
        named.chain(assembled).collect()
    }

    fn refuse_foreign_content(&self, own: &BTreeSet<String>) -> Result<(), DeviceError> {
        let members = self.arrays.iter().flat_map(|array| self.member_paths(array));
        let devices = self.arrays.iter().flat_map(|array| self.devices(array));
        for device in members.chain(devices).filter(|device| is_there(device)) {
            let found = marks::identities(&device)?;
            if !found.is_empty() && found.is_disjoint(own) {
                let found = found.into_iter().collect::<Vec<_>>().join(", ");
                return Err(identity::foreign(&device, format!("something with the identity {found}")));
            }
            let mark = marks::find_in_use(&device)?.into_iter().next();
            // Whoever was killed may have left a part of what has no identity yet, or no more.
            if let Some(mark) = mark.filter(|mark| found.is_empty() && (self.is_complete || !is_made_here(mark.name))) {
                return Err(identity::foreign(&device, mark.name.to_owned()));
            }
        }
        Ok(())
    }

    fn unmount(&self) -> Result<(), DeviceError> {
        let mounts = identity::mounts()?;
        for array in self.arrays.iter().rev() {
            for target in self.targets(array) {
                // Below ours may be what somebody else mounted there.
                let is_own = |mount: &&MountEntry| mount.mount_point == target && identity::is_of(mount, self, array);
                for _ in mounts.iter().filter(is_own) {
                    with_patience(ATTEMPTS.0 / 5, || tool::run("umount", &[&target.to_string_lossy()]).map(drop))
                        .map_err(|error| DeviceError::Opened { target: target.clone(), why: error.to_string() })?;
                }
            }
        }
        Ok(())
    }

    /// Erases the file system of what was put together, and takes that apart.
    fn take_apart(&self, array: &StripedArray, own: &BTreeSet<String>) -> Result<(), DeviceError> {
        if !array.is_assembled() {
            return Ok(());
        }
        for device in self.devices(array).iter().filter(|device| is_there(device)) {
            marks::erase(device)?;
        }
        let name = array.system_name();
        match array.array.kind {
            ArrayKind::Md => {
                for holder in self.holders(array) {
                    tool::run("mdadm", &["--stop", &holder])?;
                }
            }
            ArrayKind::Dm => {
                // Whether or not it has a table, or a name in /dev.
                let known = tool::run("dmsetup", &["info", "--columns", "--noheadings", "--options", "name"])?;
                if known.lines().any(|line| line.trim() == name) {
                    tool::run("dmsetup", &["remove", "--retry", &name])?;
                }
            }
            ArrayKind::Lvm => {
                if group_is_there(array, own)? {
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

/// Whether there is the volume group of an array, which has to be made of what is ours.
fn group_is_there(array: &StripedArray, own: &BTreeSet<String>) -> Result<bool, DeviceError> {
    let name = array.system_name();
    let known = lvm("vgs", &["--noheadings", "--options", "vg_name,pv_uuid"]).told()?;
    let rows = known.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    let volumes: Vec<&str> = rows.filter(|(group, _)| *group == name).map(|(_, id)| id.trim()).collect();
    match volumes.iter().find(|id| !own.contains(**id)) {
        Some(other) => Err(DeviceError::Extended { group: name, volume: (*other).to_owned() }),
        None => Ok(!volumes.is_empty()),
    }
}

/// A program that was just ended may still have something opened, and some look at every device that changes.
fn with_patience(attempts: u32, act: impl Fn() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
    let (_, pause) = ATTEMPTS;
    for _ in 1..attempts {
        match act() {
            Err(DeviceError::Tool { .. }) => thread::sleep(pause),
            done => return done,
        }
    }
    act()
}

/// Whether something of this name is made by the tools that make arrays, and may be torn.
fn is_made_here(mark: &str) -> bool {
    ["ext", "XFS", "btrfs", "Linux RAID", "md", "LVM2 physical volume"].iter().any(|own| mark.starts_with(own))
}
