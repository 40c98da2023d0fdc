//! What has to be so before anything is made: disks that are whole, different and may be written to, and a kernel and
//! tools that can do what is asked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use plimsoll_io::{
    block_device::{DeviceFacts, Sysfs},
    write_guard::{self, GuardedDevice},
};
use plimsoll_workload::{
    array::{Array, ArrayKind, FileSystem},
    shell_word::quoted,
    units::ByteCount,
};
use uuid::Uuid;

use super::{Stripe, StripedDisk, facts, number};
use crate::{error::DeviceError, tool};

/// Less than this is no part of a disk that says anything.
const PART_BYTES_MIN: u64 = 16 << 20;
/// What `mkfs.xfs` and `mkfs.btrfs` insist on.
const XFS_BYTES_MIN: u64 = 300 << 20;
const BTRFS_BYTES_MIN: u64 = 125 << 20;

/// The disks of these paths. They differ, in number and in what they tell of themselves: one disk may have several
/// paths.
pub(super) fn disks(devices: &[String]) -> Result<Vec<StripedDisk>, DeviceError> {
    let mut known = Vec::new();
    let mut disks: Vec<StripedDisk> = Vec::new();
    for device in devices {
        let path = Path::new(device);
        let facts = facts(path)?;
        if let Some(partition) = facts.partition {
            return Err(DeviceError::Usage(format!(
                "{device} is partition {partition} of {}: a stripe is made of whole disks",
                facts.disk
            )));
        }
        if facts.size_bytes == 0 {
            return Err(DeviceError::Gone { device: path.to_owned() });
        }
        refuse_undivided(&Sysfs::default(), device, &facts)?;
        if let Some((other, by)) = known.iter().find_map(|(other, known)| Some((other, same(known, &facts)?))) {
            return Err(DeviceError::Same { one: path.to_owned(), other: PathBuf::from(other), by });
        }
        disks.push(StripedDisk {
            device: path.to_owned(),
            serial: facts.serial.clone(),
            size_bytes: facts.size_bytes,
            group: None,
            table: Uuid::now_v7(),
        });
        known.push((device, facts));
    }
    Ok(disks)
}

/// Every disk of a stripe is divided, also one with a single array on it.
fn refuse_undivided(sysfs: &Sysfs, device: &str, facts: &DeviceFacts) -> Result<(), DeviceError> {
    if sysfs.takes_partitions(facts.number) {
        return Ok(());
    }
    let what = facts.mapped_name.as_ref().map_or_else(|| facts.name.clone(), |name| format!("{name} ({})", facts.name));
    Err(DeviceError::Usage(format!(
        "{device} is {what}, which takes no partitions, and a stripe divides its disks: take disks that are not mapped, \
         or measure this one as it is with `plimsoll run {}`",
        quoted(device)
    )))
}

/// By what two disks are one: by their number alone, or by what both tell of themselves. World-wide names tell more
/// than serial numbers, which are those of a whole target on some systems; two serial numbers are two disks on any.
fn same(one: &DeviceFacts, other: &DeviceFacts) -> Option<Option<String>> {
    if one.number == other.number {
        return Some(None);
    }
    let equal = |one: &Option<String>, other: &Option<String>| Some(one.as_ref()? == other.as_ref()?);
    let (name, serial) = (equal(&one.wwid, &other.wwid), equal(&one.serial, &other.serial));
    match (name, serial) {
        (Some(true), None | Some(true)) => one.wwid.as_ref().map(|name| Some(format!("world-wide name {name}"))),
        (None, Some(true)) => one.serial.as_ref().map(|serial| Some(format!("serial number {serial}"))),
        _ => None,
    }
}

/// Whether arrays have room: so many share a disk, of which each gets a part.
pub(super) fn sizes(arrays: &[Array], disk: &StripedDisk, uses: usize, part_bytes: u64) -> Result<(), DeviceError> {
    let needs = |array: &Array| match array.file_system {
        FileSystem::Raw => PART_BYTES_MIN,
        FileSystem::Ext4 => 2 * PART_BYTES_MIN,
        FileSystem::Xfs => XFS_BYTES_MIN.div_ceil(if array.kind.is_apart() { 1 } else { array.disks.len() as u64 }),
        FileSystem::Btrfs => BTRFS_BYTES_MIN,
    };
    let short = arrays.iter().find(|array| part_bytes < needs(array));
    short.map_or(Ok(()), |array| {
        let shared = if uses > 1 { format!(" beside {} more", uses - 1) } else { String::new() };
        Err(DeviceError::Usage(format!(
            "\"{}\" needs {} of {}, and gets {}{shared}: take larger disks, or ask for fewer arrays",
            array.name,
            ByteCount(needs(array)),
            disk.device.display(),
            ByteCount(part_bytes)
        )))
    })
}

/// Asks the write guard about all disks at the same time: either all of them may be written to, or nothing is written.
/// They are nobody else's as long as what this gives lives.
pub(super) fn guard(
    stripe: &Stripe,
    others: &[Stripe],
    destroy: &[PathBuf],
) -> Result<Vec<GuardedDevice>, DeviceError> {
    for disk in &stripe.disks {
        let number = number(&disk.device)?;
        if let Some(other) = others.iter().find(|other| other.has_disk(number)) {
            let used = format!("a disk of the stripe \"{0}\" (`plimsoll stripe down {0}`)", other.name);
            return Err(DeviceError::InUse { device: disk.device.display().to_string(), used });
        }
    }
    let guards = stripe.disks.iter().map(|disk| write_guard::check(&disk.device, destroy, 1));
    Ok(guards.collect::<Result<_, _>>()?)
}

/// Whether the kernel and the tools can do what is asked.
pub(super) fn means(stripe: &Stripe) -> Result<(), DeviceError> {
    let mut tools = vec!["blkid", "wipefs", "sfdisk", "partx"];
    for own in &stripe.arrays {
        let array = &own.array;
        tools.extend(match array.kind {
            ArrayKind::Md => &["mdadm"][..],
            ArrayKind::Lvm => &["lvm"],
            ArrayKind::Dm => &["dmsetup"],
            ArrayKind::Btrfs | ArrayKind::None | ArrayKind::Jbod => &[],
        });
        tools.extend(match array.file_system {
            FileSystem::Raw => &[][..],
            FileSystem::Ext4 => &["mkfs.ext4", "dumpe2fs"],
            FileSystem::Xfs => &["mkfs.xfs", "xfs_db"],
            FileSystem::Btrfs => &["mkfs.btrfs", "btrfs"],
        });
        let kind = array.kind.as_str();
        match array.kind {
            ArrayKind::Md => driver("md driver for RAID 0", "raid0", kind, || Path::new("/proc/mdstat").exists())?,
            ArrayKind::Lvm | ArrayKind::Dm => {
                driver("device mapper", "dm_mod", kind, || has_line("/proc/misc", "device-mapper"))?;
            }
            ArrayKind::Btrfs | ArrayKind::None | ArrayKind::Jbod => {}
        }
        let known = |name: &'static str| move || has_line("/proc/filesystems", name);
        let name = array.file_system.as_str();
        match array.file_system {
            FileSystem::Raw => {}
            FileSystem::Ext4 => driver("ext4 file system", "ext4", name, known("ext4"))?,
            FileSystem::Xfs => driver("XFS file system", "xfs", name, known("xfs"))?,
            FileSystem::Btrfs => driver("btrfs file system", "btrfs", name, known("btrfs"))?,
        }
    }
    let missing = tools.into_iter().find(|tool| !tool::is_installed(tool));
    missing.map_or(Ok(()), |tool| Err(DeviceError::NoTool { tool: tool.to_owned() }))
}

/// A driver that is there, or that its module brings.
fn driver(
    what: &'static str,
    module: &'static str,
    kind: &str,
    is_there: impl Fn() -> bool,
) -> Result<(), DeviceError> {
    if is_there() {
        return Ok(());
    }
    // Why not is told by the driver's absence.
    let _ = tool::run("modprobe", &["-q", module]);
    if is_there() { Ok(()) } else { Err(DeviceError::NoDriver { what, module, kind: kind.to_owned() }) }
}

/// Whether a line of a file ends with a word.
fn has_line(file: &str, word: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().next_back() == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of disks of these attributes, `wwid` and `serial`, of which an empty one is not told.
    fn told(disks: &[(&str, &str)]) -> Vec<DeviceFacts> {
        let tree = tempfile::tempdir().unwrap();
        let facts = |(index, (wwid, serial)): (usize, &(&str, &str))| {
            let disk = tree.path().join(format!("dev/block/8:{index}"));
            fs::create_dir_all(&disk).unwrap();
            let dev = format!("8:{index}");
            for (name, text) in [("dev", dev.as_str()), ("size", "2048"), ("wwid", wwid), ("serial", serial)] {
                fs::write(disk.join(name), text).unwrap();
            }
            Sysfs::at(tree.path()).facts(dev.parse().unwrap()).unwrap()
        };
        disks.iter().enumerate().map(facts).collect()
    }

    #[test]
    fn a_disk_that_takes_no_partitions_is_refused_with_what_to_do() {
        let tree = tempfile::tempdir().unwrap();
        let disk = tree.path().join("dev/block/252:3");
        fs::create_dir_all(disk.join("dm")).unwrap();
        for (name, text) in [("dev", "252:3"), ("size", "2048"), ("ext_range", "1"), ("dm/name", "vg-data")] {
            fs::write(disk.join(name), text).unwrap();
        }
        let sysfs = Sysfs::at(tree.path());
        let facts = sysfs.facts("252:3".parse().unwrap()).unwrap();
        let refusal = refuse_undivided(&sysfs, "/dev/vg/data", &facts).unwrap_err().to_string();
        assert!(refusal.starts_with("/dev/vg/data is vg-data (252:3), which takes no partitions"), "{refusal}");
        fs::write(disk.join("ext_range"), "256").unwrap();
        refuse_undivided(&sysfs, "/dev/vg/data", &facts).unwrap();
    }

    #[test]
    fn two_paths_of_one_disk_are_one_and_two_disks_of_one_target_are_two() {
        let by = |one, other| {
            let facts = told(&[one, other]);
            same(&facts[0], &facts[1]).map(Option::unwrap)
        };
        assert_eq!(by(("naa.1", ""), ("naa.1", "")).unwrap(), "world-wide name naa.1");
        assert_eq!(by(("naa.1", "x"), ("naa.1", "x")).unwrap(), "world-wide name naa.1");
        assert_eq!(by(("", "x"), ("", "x")).unwrap(), "serial number x");
        assert_eq!(by(("", "x"), ("naa.1", "x")).unwrap(), "serial number x");
        assert_eq!(by(("naa.1", "x"), ("naa.2", "x")), None, "of one target");
        assert_eq!(by(("t10.MAKER MODEL", "x"), ("t10.MAKER MODEL", "y")), None, "names that are those of a model");
        assert_eq!(by(("naa.1", "x"), ("naa.2", "y")), None);
        assert_eq!(by(("", ""), ("", "")), None);
        let facts = told(&[("", "")]);
        assert_eq!(same(&facts[0], &facts[0]), Some(None));
    }
}
