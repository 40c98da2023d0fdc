//! Whether what was made is what was asked for: chunks, widths, blocks and clusters, read back from what is there.

use std::path::Path;

use plimsoll_workload::array::{ArrayKind, FileSystem};

use super::{Stripe, StripedArray, VOLUME, facts, making};
use crate::{error::DeviceError, tool};

/// Reads the geometry of all arrays back.
pub(super) fn check(stripe: &Stripe) -> Result<(), DeviceError> {
    for own in &stripe.arrays {
        let devices = stripe.devices(own);
        for device in &devices {
            of_array(stripe, own, device)?;
            of_file_system(own, device)?;
        }
    }
    Ok(())
}

/// What is compared: a name for it, what it is, and what it should be.
type Compared = (&'static str, Option<u64>, u64);

fn of_array(stripe: &Stripe, own: &StripedArray, device: &Path) -> Result<(), DeviceError> {
    let (chunk, count) = (own.array.chunk_bytes, own.members.len() as u64);
    let compared: Vec<Compared> = match own.array.kind {
        ArrayKind::None | ArrayKind::Jbod => Vec::new(),
        ArrayKind::Md => {
            let name = facts(device)?.name;
            let value = |attribute: &str| {
                let text = std::fs::read_to_string(format!("/sys/block/{name}/md/{attribute}")).ok()?;
                text.split_whitespace().next()?.parse().ok()
            };
            vec![("a chunk of", value("chunk_size"), chunk), ("disks:", value("raid_disks"), count)]
        }
        ArrayKind::Lvm => {
            let report = ["--noheadings", "--nosuffix", "--units", "b", "--options", "stripes,stripe_size"];
            let volume = format!("{}/{VOLUME}", own.system_name());
            let told = making::lvm("lvs", &[&report[..], &[&volume]].concat()).told()?;
            let mut values = told.split_whitespace().map(|value| value.parse().ok());
            let (stripes, size) = (values.next().flatten(), values.next().flatten());
            let disks = ("disks:", stripes, count);
            if count == 1 { vec![disks] } else { vec![disks, ("a chunk of", size, chunk)] }
        }
        ArrayKind::Dm => {
            let told = tool::run("dmsetup", &["table", &own.system_name()])?;
            let mut words = told.split_whitespace().skip(3).map(|word| word.parse::<u64>().ok());
            let (disks, sectors) = (words.next().flatten(), words.next().flatten());
            let bytes = sectors.map(|sectors| sectors * 512);
            vec![("disks:", disks, count), ("a chunk of", bytes, chunk)]
        }
        ArrayKind::Btrfs => {
            let file_system = Path::new("/sys/fs/btrfs").join(own.file_systems[0].to_string());
            let entries = |name: &str| std::fs::read_dir(file_system.join(name)).ok().map(|found| found.count() as u64);
            let is_striped = count == 1 || file_system.join("allocation/data/raid0").exists();
            vec![("disks:", entries("devices"), count), ("RAID 0:", Some(is_striped.into()), 1)]
        }
    };
    judge(stripe.targets(own).first().map_or(device, |target| target.as_path()), &compared)
}

fn of_file_system(own: &StripedArray, device: &Path) -> Result<(), DeviceError> {
    let array = &own.array;
    let name = device.to_string_lossy();
    let block = array.block_bytes.unwrap_or(1);
    let width = own.members.len() as u64;
    let stride = if own.is_assembled() { array.chunk_bytes / block } else { 0 };
    let compared: Vec<Compared> = match array.file_system {
        FileSystem::Raw | FileSystem::Btrfs => Vec::new(),
        FileSystem::Ext4 => {
            let told = tool::run("dumpe2fs", &["-h", &name])?;
            let value = |key: &str| {
                let line = told.lines().find_map(|line| line.strip_prefix(key))?;
                line.trim_start_matches(':').trim().parse().ok()
            };
            let cluster = array.cluster_bytes.unwrap_or(block);
            let mut compared = vec![("blocks of", value("Block size"), block)];
            if cluster > block {
                compared.push(("clusters of", value("Cluster size"), cluster));
            }
            if stride > 0 {
                compared.push(("a stride of", value("RAID stride"), stride));
                compared.push(("a stripe width of", value("RAID stripe width"), stride * width));
            }
            compared
        }
        FileSystem::Xfs => {
            let print = ["-r", "-c", "sb 0", "-c", "print blocksize unit width", &name];
            let told = tool::run("xfs_db", &print)?;
            let value = |key: &str| {
                told.lines().find_map(|line| line.split_once(" = ").filter(|(own, _)| *own == key)?.1.parse().ok())
            };
            let mut compared = vec![("blocks of", value("blocksize"), block)];
            if stride > 0 {
                compared.push(("a stripe unit of", value("unit"), stride));
                compared.push(("a stripe width of", value("width"), stride * width));
            }
            compared
        }
    };
    judge(device, &compared)
}

fn judge(path: &Path, compared: &[Compared]) -> Result<(), DeviceError> {
    let differs = compared.iter().find(|(_, is, asked)| *is != Some(*asked));
    differs.map_or(Ok(()), |(what, is, asked)| {
        Err(DeviceError::Geometry {
            path: path.to_owned(),
            what,
            is: is.map_or_else(|| "nothing".to_owned(), |value| value.to_string()),
            asked: asked.to_string(),
        })
    })
}
