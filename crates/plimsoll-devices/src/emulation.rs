//! Disks that are held to limits, to rehearse a comparison before paying for it: loop devices of files.
//!
//! An [`Emulation`] is written down before each step that makes something, so that whatever there is of it can be taken
//! down.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use plimsoll_io::{block_device::DeviceNumber, write_guard};
use plimsoll_workload::{limit::Limit, provisioned::Provisioned};
use serde::{Deserialize, Serialize};

use crate::{
    error::{DeviceError, Made},
    loops::{FileId, LoopDevice},
    notes::{self, Note},
    stripe::Stripe,
    throttle::{Caps, Throttle},
};

/// How a directory is called that is made for files in one that somebody named.
const PREFIX: &str = "plimsoll-";
/// How often a device is asked for that programs may look at which look at every new one.
const PATIENCE: u32 = 6;

/// Disks that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emulation {
    form: String,
    /// What it is called.
    pub name: String,
    /// The disks.
    pub disks: Vec<Disk>,
    /// What they are parts of, when they share a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedDisk>,
}

/// A disk of which others are parts: what it lets through, they get together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedDisk {
    /// The file that it is made of.
    pub file: PathBuf,
    /// Which file that is, once it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<FileId>,
    /// What it lets through.
    pub caps: Caps,
    /// The same, as it was said.
    pub limit: Limit,
}

/// A disk that is held to limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// What it stands for: `P30`, `iops=500`.
    pub name: String,
    /// What would be bought for it.
    pub stands_for: Provisioned,
    /// The file that it is made of.
    pub file: PathBuf,
    /// Which file that is, once it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<FileId>,
    /// The size of that.
    pub size_bytes: u64,
    /// What it lets through.
    pub caps: Caps,
    /// The device, once it is there.
    pub device: Option<PathBuf>,
}

impl Emulation {
    /// One that is to be made.
    pub fn new(name: &str, disks: Vec<Disk>, shared: Option<SharedDisk>) -> Result<Self, DeviceError> {
        check_name(name)?;
        Ok(Self { form: Self::FORM.to_owned(), name: name.to_owned(), disks, shared })
    }

    /// Makes its disks. When one cannot be made, none is left.
    pub fn up(mut self, state: &Path, throttle: &Throttle) -> Result<Self, DeviceError> {
        let _lock = notes::lock::<Self>(state)?;
        if notes::path::<Self>(state, &self.name).exists() {
            return Err(DeviceError::Exists { made: Self::MADE, name: self.name });
        }
        // All that is in it is removed again, so it has to be our own.
        if let Some(directory) = self.directories().find(|directory| directory.exists()) {
            let directory = directory.display();
            return Err(DeviceError::Usage(format!(
                "{directory} exists, and nothing is overwritten: remove it, or name another --directory"
            )));
        }
        if let Err(error) = self.make(state, throttle) {
            let taken_down = self.take_down(state, throttle).map(drop);
            return Err(error.and_then_left(taken_down, &format!("emulate down {}", self.name)));
        }
        Ok(self)
    }

    fn make(&mut self, state: &Path, throttle: &Throttle) -> Result<(), DeviceError> {
        notes::write(self, state)?;
        let mut whole = None;
        let size_bytes = self.size_bytes();
        if let Some(shared) = &mut self.shared {
            shared.file_id = Some(make_file(&shared.file, size_bytes)?);
        }
        if let Some(shared) = &self.shared {
            notes::write(self, state)?;
            let device = LoopDevice::attach(&shared.file, None)?;
            throttle.hold(device.number, &shared.caps)?;
            whole = Some(device);
        }
        for index in 0..self.disks.len() {
            let Disk { file, size_bytes, caps, .. } = self.disks[index].clone();
            let device = match &whole {
                Some(whole) => LoopDevice::attach(&whole.path, Some((self.offset(index), size_bytes)))?,
                None => {
                    self.disks[index].file_id = Some(make_file(&file, size_bytes)?);
                    notes::write(self, state)?;
                    LoopDevice::attach(&file, None)?
                }
            };
            throttle.hold(device.number, &caps)?;
            self.disks[index].device = Some(device.path);
            notes::write(self, state)?;
        }
        Ok(())
    }

    /// Takes its disks down, as far as there are any. Nothing is touched when one of them is used. Returns the files
    /// that were not where they had been made, and stay wherever they are.
    pub fn down(&self, state: &Path, throttle: &Throttle) -> Result<Vec<PathBuf>, DeviceError> {
        let _lock = notes::lock::<Self>(state)?;
        // Somebody may have taken it down, and made another one, until the lock was had.
        Self::find(state, &self.name)?.take_down(state, throttle)
    }

    fn take_down(&self, state: &Path, throttle: &Throttle) -> Result<Vec<PathBuf>, DeviceError> {
        let mut devices = Vec::new();
        for (index, disk) in self.disks.iter().enumerate() {
            devices.push((disk, self.devices_of(index)?));
        }
        let stripes = Stripe::all(state)?;
        let is_complete = self.disks.iter().all(|disk| disk.device.is_some());
        let patience = if is_complete { PATIENCE } else { 10 * PATIENCE };
        for device in devices.iter().flat_map(|(_, devices)| devices) {
            if let Some(stripe) = stripes.iter().find(|stripe| stripe.has_disk(device.number)) {
                let used = format!("a disk of the stripe \"{0}\" (`plimsoll stripe down {0}`)", stripe.name);
                return Err(DeviceError::InUse { device: device.path.display().to_string(), used });
            }
            // Of partitions and of what stands on them too.
            write_guard::check_unused(&device.path, patience)?;
        }
        let mut moved = Vec::new();
        for (disk, devices) in &devices {
            take_away(devices, throttle)?;
            moved.extend(remove_file(&disk.file, disk.file_id, disk.size_bytes)?);
        }
        if let Some(shared) = &self.shared {
            take_away(&self.shared_devices(shared)?, throttle)?;
            moved.extend(remove_file(&shared.file, shared.file_id, self.size_bytes())?);
        }
        // The directory is removed when nothing else is in it.
        for directory in self.directories() {
            let _ = fs::remove_dir(directory);
        }
        notes::forget(self, state)?;
        let others = Self::all(state).unwrap_or_default();
        for disk in &self.disks {
            // What somebody else took away is still held back, and so is whatever has its number. That may be an
            // emulated disk with limits of its own.
            if let Some(number) = disk.device.as_deref().and_then(DeviceNumber::of_special_file)
                && Self::disk_of(&others, number).is_none()
                && throttle.holds(number, &disk.caps)
            {
                throttle.release(number)?;
            }
        }
        if others.is_empty() {
            throttle.clear();
        }
        Ok(moved)
    }

    /// The devices that a disk is.
    fn devices_of(&self, index: usize) -> Result<Vec<LoopDevice>, DeviceError> {
        let Some(shared) = &self.shared else {
            let disk = &self.disks[index];
            return devices_of_file(&disk.file, disk.file_id, disk.size_bytes);
        };
        let mut devices = Vec::new();
        for whole in self.shared_devices(shared)? {
            let parts = LoopDevice::of_file(&whole.path, None)?.into_iter();
            devices.extend(parts.filter(|part| part.offset_bytes == self.offset(index)));
        }
        Ok(devices)
    }

    /// The devices that the disk is of which others are parts.
    fn shared_devices(&self, shared: &SharedDisk) -> Result<Vec<LoopDevice>, DeviceError> {
        devices_of_file(&shared.file, shared.file_id, self.size_bytes())
    }

    /// The size of all disks together.
    fn size_bytes(&self) -> u64 {
        self.offset(self.disks.len())
    }

    /// Where a disk begins that is a part of one.
    fn offset(&self, index: usize) -> u64 {
        self.disks[..index].iter().map(|disk| disk.size_bytes).fold(0, u64::saturating_add)
    }

    /// The files that are made for it.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let shared = self.shared.iter().map(|shared| shared.file.as_path());
        self.disks.iter().map(|disk| disk.file.as_path()).chain(shared)
    }

    /// Whether a file is called like one that is made for it, in a directory that is.
    fn is_file(&self, file: &Path) -> bool {
        let directory = file.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
        (directory == self.name || directory.strip_prefix(PREFIX) == Some(&self.name))
            && file.is_absolute()
            && file.extension().is_some_and(|end| end == "img")
    }

    /// Where files of its disks are.
    fn directories(&self) -> impl Iterator<Item = &Path> {
        self.disks.iter().filter_map(|disk| disk.file.parent())
    }

    /// Has limits written again: the group that has them may be another one than when they were written, and nobody
    /// else's limits are to be those of its disks. Returns the disks that are not there.
    pub fn hold(&self, throttle: &Throttle) -> Result<Vec<&Disk>, DeviceError> {
        if let Some(shared) = &self.shared {
            for device in self.shared_devices(shared)? {
                throttle.hold(device.number, &shared.caps)?;
            }
        }
        let mut gone = Vec::new();
        for (index, disk) in self.disks.iter().enumerate() {
            let devices = self.devices_of(index)?;
            devices.iter().try_for_each(|device| throttle.hold(device.number, &disk.caps))?;
            gone.extend(devices.is_empty().then_some(disk));
        }
        Ok(gone)
    }

    /// Whether another process makes some or takes them down, which others wait for.
    pub fn is_locked(state: &Path) -> bool {
        notes::is_locked::<Self>(state)
    }

    /// Those that are up, and those that were not taken down.
    pub fn all(state: &Path) -> Result<Vec<Self>, DeviceError> {
        notes::all(state)
    }

    /// The same as far as they can be read, and why the others cannot.
    pub fn readable(state: &Path) -> Result<(Vec<Self>, Vec<DeviceError>), DeviceError> {
        notes::readable(state)
    }

    /// The one of this name.
    pub fn find(state: &Path, name: &str) -> Result<Self, DeviceError> {
        notes::find(state, name)
    }

    /// Whether one of its disks is there, as it was made.
    pub fn has(&self, index: usize) -> bool {
        let device = self.disks.get(index).and_then(|disk| disk.device.as_deref());
        let number = device.and_then(DeviceNumber::of_special_file);
        number.is_some_and(|number| self.is_disk(index, number))
    }

    fn is_disk(&self, index: usize, device: DeviceNumber) -> bool {
        self.disks[index].device.as_deref().and_then(DeviceNumber::of_special_file) == Some(device)
            // The number may be that of another disk by now.
            && self.devices_of(index).is_ok_and(|own| own.iter().any(|own| own.number == device))
    }

    /// The disk that is this device, of all emulations, and the one that it is of.
    pub fn disk_of(all: &[Self], device: DeviceNumber) -> Option<(&Self, &Disk)> {
        all.iter().find_map(|emulation| {
            let index = (0..emulation.disks.len()).find(|index| emulation.is_disk(*index, device))?;
            Some((emulation, &emulation.disks[index]))
        })
    }
}

impl Note for Emulation {
    const MADE: Made = Made("emulation", "emulate");
    const DIRECTORY: &'static str = "emulations";
    const FORM: &'static str = "plimsoll-emulation/1";

    fn name(&self) -> &str {
        &self.name
    }

    fn form(&self) -> &str {
        &self.form
    }

    fn oddity(&self) -> Option<String> {
        let odd = self.files().find(|file| !self.is_file(file))?;
        Some(format!("{} is no place for the file of a disk", odd.display()))
    }
}

fn make_file(file: &Path, size_bytes: u64) -> Result<FileId, DeviceError> {
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory).map_err(DeviceError::file("make the directory", directory))?;
    }
    let made = fs::File::create_new(file).and_then(|made| made.set_len(size_bytes)).and_then(|()| FileId::of(file));
    made.map_err(DeviceError::file("make the file of a disk,", file))
}

/// Removes a file of ours. One that was moved stays where it is, and so does what is in its place, which is returned
/// then.
fn remove_file(file: &Path, id: Option<FileId>, size_bytes: u64) -> Result<Option<PathBuf>, DeviceError> {
    if id.is_some_and(|id| !id.is(file, size_bytes)) {
        return Ok(Some(file.to_owned()));
    }
    notes::remove(file).map(|()| None)
}

fn devices_of_file(file: &Path, id: Option<FileId>, size_bytes: u64) -> Result<Vec<LoopDevice>, DeviceError> {
    LoopDevice::of_file(file, id.map(|id| id.now(file, size_bytes)))
}

fn take_away(devices: &[LoopDevice], throttle: &Throttle) -> Result<(), DeviceError> {
    devices.iter().try_for_each(|device| {
        throttle.release(device.number)?;
        device.detach()
    })
}

/// Whether an emulation can have a name.
pub fn check_name(name: &str) -> Result<(), DeviceError> {
    notes::check_name(name)
}

/// A path that may not be there yet, as the kernel tells it: without links and `..`.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let there =
        path.ancestors().find_map(|parent| Some((parent.canonicalize().ok()?, path.strip_prefix(parent).ok()?)));
    match there {
        Some((there, rest)) if rest.components().all(|part| matches!(part, Component::Normal(_))) => {
            Ok(there.join(rest))
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "a path with .. whose directories are not there")),
    }
}

/// Where the files of an emulation are: in a directory of their own, of the one that is named or of the state.
pub fn directory(named: Option<&Path>, state: &Path, name: &str) -> PathBuf {
    match named {
        Some(named) => named.join(format!("{PREFIX}{name}")),
        None => state.join(Emulation::DIRECTORY).join(name),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn files_are_removed_after_a_boot_that_numbers_devices_anew_and_what_is_in_their_places_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("1.img");
        let id = make_file(&file, 4096).unwrap();
        let earlier = FileId { holder: id.holder + 1, boot: Some(Uuid::nil()), ..id };
        fs::write(directory.path().join("2.img"), "kept").unwrap();
        assert_eq!(remove_file(&directory.path().join("2.img"), Some(earlier), 4096).unwrap().iter().count(), 1);
        assert_eq!(remove_file(&file, Some(earlier), 4096).unwrap(), None);
        assert!(!file.exists() && directory.path().join("2.img").exists());
    }
}
