//! Whether disks are those that a stripe was made of, and what is on them is what it made.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use plimsoll_io::{
    block_device::{self, DeviceNumber, PartitionFacts, Sysfs},
    mounts::{self, MountEntry},
    signatures::SignatureKind,
    write_guard,
};
use plimsoll_workload::{
    array::{ArrayKind, FileSystem},
    serial_number,
    units::ByteCount,
};
use serde::Deserialize;

use super::{Member, Stripe, StripedArray, StripedDisk, facts, real};
use crate::{error::DeviceError, marks, tool};

/// What a disk is to a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// It bears the table that was made for it, and nothing of others.
    Ours,
    /// Nothing is on it, or a torn table of ours.
    Blank,
}

/// A table of partitions, as `sfdisk` tells it.
#[derive(Deserialize)]
struct Told {
    partitiontable: Table,
}

#[derive(Deserialize)]
struct Table {
    #[serde(default)]
    partitions: Vec<Partition>,
}

#[derive(Deserialize)]
struct Partition {
    uuid: Option<String>,
}

/// What a disk is, of which nothing else may be true.
pub(super) fn whose(stripe: &Stripe, index: usize) -> Result<Whose, DeviceError> {
    let disk = &stripe.disks[index];
    refuse_another(stripe, disk)?;
    let device = real(&disk.device);
    let foreign = |found: String| foreign(&disk.device, found);
    let found = marks::identities(&device)?;
    let marks = marks::find_in_use(&device)?;
    // Nothing tells a disk without a serial number that lost its table from one that came in its place.
    if stripe.is_complete && disk.serial.is_none() && !found.contains(&disk.table.to_string()) {
        let is = marks.first().map_or_else(|| "no table".to_owned(), |mark| mark.name.to_owned());
        return Err(another(stripe, disk, is, format!("the table {}", disk.table)));
    }
    if let Some(mark) = marks.iter().find(|mark| mark.kind != SignatureKind::PartitionTable) {
        return Err(foreign(mark.name.to_owned()));
    }
    if found.contains(&disk.table.to_string()) {
        let known: BTreeSet<String> = stripe.partitions(index).map(|(_, member)| member.id.to_string()).collect();
        let told = tool::run("sfdisk", &["--json", &device.to_string_lossy()])?;
        let told: Told = serde_json::from_str(&told).map_err(|error| foreign(format!("an odd table ({error})")))?;
        let ids = told.partitiontable.partitions.into_iter().map(|own| own.uuid.unwrap_or_default().to_lowercase());
        return match ids.into_iter().find(|id| !known.contains(id)) {
            Some(id) => Err(foreign(format!("the partition {id}"))),
            None => Ok(Whose::Ours),
        };
    }
    match (found.into_iter().next(), marks.first()) {
        (None, None) => Ok(Whose::Blank),
        // Whoever made it was killed between one half of it and the other.
        (None, Some(mark)) if !stripe.is_complete && mark.name.contains("GPT") => Ok(Whose::Blank),
        (Some(id), _) => Err(foreign(format!("a table with the identity {id}"))),
        (None, Some(mark)) => Err(foreign(mark.name.to_owned())),
    }
}

/// Why a device with something of somebody else is left alone. Nobody is told how to erase what is used: of a file
/// system on several devices, only the kernel knows that it is mounted.
pub(super) fn foreign(device: &Path, found: String) -> DeviceError {
    match write_guard::take_own(device, 1) {
        Ok(_) => DeviceError::Foreign { device: device.to_owned(), found },
        Err(refusal) => refusal.into(),
    }
}

/// Names in /dev may be those of other disks by now.
fn refuse_another(stripe: &Stripe, disk: &StripedDisk) -> Result<(), DeviceError> {
    let facts = facts(&disk.device)?;
    let other = |is, was| Err(another(stripe, disk, is, was));
    if facts.size_bytes != disk.size_bytes {
        return other(ByteCount(facts.size_bytes).to_string(), ByteCount(disk.size_bytes).to_string());
    }
    if !serial_number::is_noted(disk.serial.as_deref(), facts.serial.as_deref()) {
        let serial = |serial: Option<String>| serial.unwrap_or_else(|| "no serial number".to_owned());
        return other(serial(facts.serial), serial(disk.serial.clone()));
    }
    Ok(())
}

fn another(stripe: &Stripe, disk: &StripedDisk, is: String, was: String) -> DeviceError {
    DeviceError::OtherDisk { device: disk.device.clone(), is, was, name: stripe.name.clone() }
}

/// Every disk has to be one of ours.
pub(super) fn refuse_others(stripe: &Stripe) -> Result<(), DeviceError> {
    for (index, disk) in stripe.disks.iter().enumerate() {
        if whose(stripe, index)? != Whose::Ours {
            return Err(DeviceError::Foreign {
                device: disk.device.clone(),
                found: "nothing any more, or what has no mark".to_owned(),
            });
        }
    }
    Ok(())
}

/// Tells the kernel of partitions that it does not look for itself.
pub(super) fn show_partitions(stripe: &Stripe) -> Result<(), DeviceError> {
    for (index, disk) in stripe.disks.iter().enumerate() {
        let is_there = |member: &Member| super::is_there(&stripe.member_path(member));
        if !stripe.partitions(index).all(|(_, member)| is_there(member)) {
            tool::run("partx", &["--update", &real(&disk.device).to_string_lossy()])?;
        }
    }
    Ok(())
}

/// What is called as a partition of a disk has to be that partition: a node in /dev may be left of another one, and
/// somebody may have made a file of that name.
pub(super) fn refuse_other_nodes(stripe: &Stripe) -> Result<(), DeviceError> {
    for (index, disk) in stripe.disks.iter().enumerate() {
        let known = facts(&real(&disk.device))?.partitions;
        for (_, member) in stripe.partitions(index) {
            let path = stripe.member_path(member);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let number = DeviceNumber::of_special_file(&path);
            let is_it = |partition: &PartitionFacts| {
                Some(partition.number) == number
                    && partition.size_bytes == member.size_bytes
                    && path.file_name().is_some_and(|name| *name == *partition.name)
            };
            if !known.iter().any(is_it) {
                let found = format!("what is no partition of {}", disk.device.display());
                return Err(DeviceError::Misplaced { path, found });
            }
        }
    }
    Ok(())
}

/// What is on the devices of an array has to be what was made there.
pub(super) fn refuse_other_file_systems(stripe: &Stripe, array: &StripedArray) -> Result<(), DeviceError> {
    for (position, device) in stripe.devices(array).iter().enumerate() {
        let found = marks::identities(device)?;
        let wanted = array.file_systems.get(position).map(ToString::to_string).unwrap_or_default();
        let is_fine = match array.array.file_system {
            FileSystem::Raw => found.is_empty(),
            _ => found.contains(&wanted),
        };
        if !is_fine {
            let found = found.into_iter().next().unwrap_or_else(|| "nothing that has a mark".to_owned());
            return Err(DeviceError::Foreign { device: device.clone(), found });
        }
    }
    Ok(())
}

/// Whether all targets of an array lead to it. What somebody else mounted there is refused.
fn is_in_place(stripe: &Stripe, array: &StripedArray) -> Result<bool, DeviceError> {
    for at in 0..stripe.targets(array).len() {
        if !is_target_in_place(stripe, array, at)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same of one of them.
pub(super) fn is_target_in_place(stripe: &Stripe, array: &StripedArray, at: usize) -> Result<bool, DeviceError> {
    let (targets, devices) = (stripe.targets(array), stripe.devices(array));
    let (Some(target), Some(device)) = (targets.get(at), devices.get(at)) else { return Ok(false) };
    if array.array.is_raw() {
        return match target.symlink_metadata() {
            Err(_) => Ok(false),
            Ok(_) if real(target) == real(device) => Ok(true),
            Ok(_) => {
                let found = "what leads elsewhere than to the array".to_owned();
                Err(DeviceError::Misplaced { path: target.clone(), found })
            }
        };
    }
    match mounted_at(&mounts()?, target) {
        None => Ok(false),
        Some(mount) if is_of(mount, stripe, array) => Ok(true),
        Some(mount) => {
            let used = format!("hidden by {}, which plimsoll did not mount there", mount.source.to_string_lossy());
            Err(DeviceError::InUse { device: target.display().to_string(), used })
        }
    }
}

/// A disk that somebody added to a btrfs bears a part of what is measured.
pub(super) fn refuse_added_disks(stripe: &Stripe, array: &StripedArray) -> Result<(), DeviceError> {
    if array.array.kind != ArrayKind::Btrfs {
        return Ok(());
    }
    let own: Vec<DeviceNumber> =
        stripe.disks_of(array).filter_map(|disk| DeviceNumber::of_special_file(&disk.device)).collect();
    let member = stripe.devices(array).into_iter().find_map(|path| DeviceNumber::of_special_file(&path));
    let spread = member.map(block_device::spread_over).unwrap_or_default();
    let added = spread.into_iter().find(|disk| !own.contains(disk)).and_then(block_device::facts);
    added.map_or(Ok(()), |disk| {
        let used = format!("spread over {} too, which plimsoll did not add", disk.name);
        Err(DeviceError::InUse { device: stripe.target(array).display().to_string(), used })
    })
}

/// What is mounted at a place, uppermost.
pub(super) fn mounted_at<'a>(mounts: &'a [MountEntry], target: &Path) -> Option<&'a MountEntry> {
    mounts.iter().rfind(|mount| mount.mount_point == target)
}

/// Whether a mount is that of an array.
pub(super) fn is_of(mount: &MountEntry, stripe: &Stripe, array: &StripedArray) -> bool {
    let own: Vec<DeviceNumber> = stripe
        .devices(array)
        .into_iter()
        .chain(stripe.member_paths(array))
        .filter_map(|path: PathBuf| DeviceNumber::of_special_file(&path))
        .collect();
    [Some(mount.device), mount.source_device()].into_iter().flatten().any(|device| own.contains(&device))
}

/// Everything that stands on a disk.
pub(super) fn above(disk: &StripedDisk) -> Result<BTreeSet<DeviceNumber>, DeviceError> {
    Ok(Sysfs::default().above(super::number(&disk.device)?))
}

pub(super) fn mounts() -> Result<Vec<MountEntry>, DeviceError> {
    mounts::mounts().map_err(|error| DeviceError::Usage(error.to_string()))
}

impl Stripe {
    /// Whether an array leads to its disks at the moment.
    pub fn has(&self, array: &StripedArray) -> bool {
        is_in_place(self, array).unwrap_or(false)
    }

    /// Whether all of it is there and in its place, so that it can be measured.
    pub fn in_place(&self) -> Result<(), DeviceError> {
        if !self.is_complete {
            return Err(DeviceError::Unfinished { name: self.name.clone() });
        }
        refuse_others(self)?;
        refuse_other_nodes(self)?;
        for array in &self.arrays {
            refuse_added_disks(self, array)?;
            if !is_in_place(self, array)? {
                let target = self.targets(array).into_iter().next().unwrap_or_default();
                return Err(DeviceError::NotInPlace { target, name: self.name.clone() });
            }
        }
        Ok(())
    }
}
