//! Loop devices: disks that are files.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use plimsoll_io::block_device::{self, DeviceNumber};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{error::DeviceError, tool};

const SYS_BLOCK: &str = "/sys/block";
/// How often, and after what pause, a device is looked for that was taken away.
const LOOKS: (u32, Duration) = (100, Duration::from_millis(50));

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileId {
    /// The number of the device that it is on, as `stat` has it.
    pub holder: u64,
    /// Its number there.
    pub inode: u64,
    /// The boot of the machine in which the device has that number; notes that are older do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<Uuid>,
}

impl FileId {
    /// The one of a file that is there.
    pub(crate) fn of(file: &Path) -> io::Result<Self> {
        let facts = fs::metadata(file)?;
        Ok(Self { holder: facts.dev(), inode: facts.ino(), boot: boot() })
    }

    /// What it is now, if a file is it: many devices have another number with each boot. What stays is the file's own
    /// number, and its size.
    pub(crate) fn now(self, file: &Path, size_bytes: u64) -> Self {
        let is_it = |facts: &fs::Metadata| facts.ino() == self.inode && facts.is_file() && facts.len() == size_bytes;
        let is_earlier = self.boot.is_some() && self.boot != boot();
        let is_there = || fs::symlink_metadata(file).is_ok_and(|facts| is_it(&facts));
        if is_earlier && is_there() { Self::of(file).unwrap_or(self) } else { self }
    }

    /// Whether a file of such a size is it.
    pub(crate) fn is(self, file: &Path, size_bytes: u64) -> bool {
        Self::of(file).is_ok_and(|there| there.told() == self.now(file, size_bytes).told())
    }

    /// The same as `losetup` tells it.
    fn told(self) -> (u64, DeviceNumber) {
        (self.inode, DeviceNumber::from_raw(self.holder))
    }
}

/// Changes with every boot of the machine.
fn boot() -> Option<Uuid> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().parse().ok()
}

/// A loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    /// `/dev/loop3`.
    pub path: PathBuf,
    /// Its number.
    pub number: DeviceNumber,
    /// Where in what it is made of it begins.
    pub offset_bytes: u64,
}

impl LoopDevice {
    /// Makes a disk of a file or of another disk, past the page cache: of all of it, or of so many bytes from some
    /// place on.
    pub fn attach(file: &Path, part: Option<(u64, u64)>) -> Result<Self, DeviceError> {
        let name = file.to_string_lossy();
        let (offset_bytes, size_bytes) = part.unwrap_or((0, 0));
        let (offset, size) = (format!("--offset={offset_bytes}"), format!("--sizelimit={size_bytes}"));
        let part = [offset.as_str(), size.as_str()];
        let part = if size_bytes == 0 { &[][..] } else { &part };
        let said = tool::run("losetup", &[&["--find", "--show", "--direct-io=on"], part, &[&name]].concat())?;
        let path = PathBuf::from(said.trim());
        let number = DeviceNumber::of_special_file(&path).ok_or_else(|| DeviceError::Tool {
            tool: "losetup".to_owned(),
            why: format!("made {}, which is no block device", path.display()),
        })?;
        Ok(Self { path, number, offset_bytes })
    }

    /// The devices that are made of a file: of this very one, and not of one with its name in another container. Where
    /// it was moved to, its identity tells; where nobody can tell, as of a file that is gone, its name.
    pub fn of_file(file: &Path, identity: Option<FileId>) -> Result<Vec<Self>, DeviceError> {
        let known = identity.or_else(|| FileId::of(file).ok()).map(FileId::told);
        let told = told()?;
        let entries = fs::read_dir(SYS_BLOCK).map_err(DeviceError::file("list", SYS_BLOCK))?;
        let mut devices = Vec::new();
        for entry in entries.flatten() {
            let Ok(backing) = fs::read_to_string(entry.path().join("loop/backing_file")) else { continue };
            // The kernel says so when somebody removed the file meanwhile.
            let backing = backing.trim_end_matches('\n').trim_end_matches(" (deleted)");
            let number = fs::read_to_string(entry.path().join("dev")).ok().and_then(|text| text.trim().parse().ok());
            let device = Path::new("/dev").join(entry.file_name());
            let is_it = match (told.get(&device), known) {
                (Some(told), Some(known)) => *told == known && (identity.is_some() || Path::new(backing) == file),
                _ => Path::new(backing) == file,
            };
            if let Some(number) = number.filter(|_| is_it) {
                let offset_bytes = fs::read_to_string(entry.path().join("loop/offset")).ok();
                let offset_bytes = offset_bytes.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
                devices.push(Self { path: device, number, offset_bytes });
            }
        }
        Ok(devices)
    }

    /// Whether a loop device is a disk at the moment.
    pub(crate) fn is_attached(device: &Path) -> bool {
        let name = device.file_name().unwrap_or_default();
        Path::new(SYS_BLOCK).join(name).join("loop/backing_file").exists()
    }

    /// Takes the disk away; the file stays.
    pub fn detach(&self) -> Result<(), DeviceError> {
        // Partitions would stay, and be those of the next disk of that number.
        if block_device::facts(self.number).is_some_and(|facts| !facts.partitions.is_empty()) {
            tool::run("partx", &["--delete", &self.path.to_string_lossy()])?;
        }
        tool::run("losetup", &["--detach", &self.path.to_string_lossy()])?;
        // The kernel waits for the last one that has it opened, and does not say so.
        let (looks, pause) = LOOKS;
        for _ in 0..looks {
            if !Self::is_attached(&self.path) {
                return Ok(());
            }
            thread::sleep(pause);
        }
        let used = "opened by somebody, and goes when that ends; its file is still there".to_owned();
        Err(DeviceError::InUse { device: self.path.display().to_string(), used })
    }
}

/// What all loop devices are made of, where it can be told.
fn told() -> Result<BTreeMap<PathBuf, (u64, DeviceNumber)>, DeviceError> {
    let told = tool::run("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-INO,BACK-MAJ:MIN"])?;
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some((PathBuf::from(words.next()?), (words.next()?.parse().ok()?, words.next()?.parse().ok()?)))
    };
    Ok(told.lines().filter_map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_boot_a_file_is_known_by_its_own_number_and_its_size_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        let is = FileId::of(file.path()).unwrap();
        assert!(is.is(file.path(), 4096));
        let renumbered = FileId { holder: is.holder + 1, ..is };
        assert!(!renumbered.is(file.path(), 4096), "in the same boot it is another file");
        assert!(!FileId { boot: None, ..renumbered }.is(file.path(), 4096), "where nobody knows, too");
        let earlier = FileId { boot: Some(Uuid::nil()), ..renumbered };
        assert!(earlier.is(file.path(), 4096));
        assert_eq!(earlier.now(file.path(), 4096), is);
        assert!(!earlier.is(file.path(), 8192), "of another size");
        assert!(!FileId { inode: is.inode + 1, ..earlier }.is(file.path(), 4096));
        let note = format!(r#"{{"holder":{},"inode":{}}}"#, is.holder, is.inode);
        let noted: FileId = serde_json::from_str(&note).unwrap();
        assert!(noted.is(file.path(), 4096), "a note without a boot");
    }
}
