//! Arrays of disks, made for a comparison and taken down after it.
//!
//! All arrays of a stripe are there at once, so that a run can visit them in turns: every disk is divided into
//! partitions of one size. Identities are chosen and written down before anything is made, and a disk is ours as long
//! as its table bears the one that was chosen for it: only then is anything on it mounted, measured or erased
//! (`identity.rs`). So whatever moment the maker is killed at, [`Stripe::down`] gives blank disks back, and touches
//! nothing else.

mod checks;
mod geometry;
mod identity;
mod making;
mod taking_down;

use std::path::{Path, PathBuf};

use plimsoll_io::block_device::{self, DeviceNumber};
use plimsoll_workload::{
    array::{Array, ArrayKind, Striping, is_name},
    target_facts,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::making::Step;
use crate::{
    error::{DeviceError, Made},
    notes::{self, Note},
};

/// Where arrays are found: directories that they are mounted at, and links to devices.
const PLACES: &str = "/run/plimsoll";
/// Where partitions begin, and what their sizes are multiples of.
const ALIGNMENT_BYTES: u64 = 1 << 20;

/// Disks, and the arrays that are made of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stripe {
    form: String,
    /// What it is called.
    pub name: String,
    /// Whether all of it is there; otherwise it was not made to the end, or taken down in part.
    pub is_complete: bool,
    /// The disks.
    pub disks: Vec<StripedDisk>,
    /// The arrays.
    pub arrays: Vec<StripedArray>,
}

/// A disk that arrays are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripedDisk {
    /// The path as given.
    pub device: PathBuf,
    /// The serial number, where the disk tells.
    pub serial: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// The group that it has a limit in common with.
    pub group: Option<String>,
    /// The identity of its table of partitions.
    table: Uuid,
}

/// An array, and what of the disks it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripedArray {
    /// What it is.
    pub array: Array,
    /// Its identity.
    id: Uuid,
    members: Vec<Member>,
    /// Those of its file systems: several, when its disks are not put together.
    file_systems: Vec<Uuid>,
}

/// A disk, or a part of one, that belongs to an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    disk: usize,
    partition: u32,
    size_bytes: u64,
    id: Uuid,
}

impl Note for Stripe {
    const MADE: Made = Made("stripe", "stripe");
    const DIRECTORY: &'static str = "stripes";
    const FORM: &'static str = "plimsoll-stripe/1";

    fn name(&self) -> &str {
        &self.name
    }

    fn form(&self) -> &str {
        &self.form
    }

    fn oddity(&self) -> Option<String> {
        let is_whole = |own: &StripedArray| {
            own.members.iter().all(|member| member.disk < self.disks.len() && member.partition > 0)
                && own.members.len() == own.array.disks.len()
                && own.file_systems.len() == own.directories().map_or(1, |count| count as usize)
        };
        let odd = self.arrays.iter().find(|own| !is_name(&own.array.name) || !is_whole(own))?;
        Some(format!("the array \"{}\" has an odd name, or is of disks that are not named", odd.array.name))
    }
}

impl Stripe {
    /// One that is to be made.
    pub fn new(asked: &Striping) -> Result<Self, DeviceError> {
        notes::check_name(asked.name())?;
        let arrays = asked.expand().map_err(|error| DeviceError::Usage(error.to_string()))?;
        let mut disks = checks::disks(&asked.devices)?;
        for (disk, group) in disks.iter_mut().zip(&asked.groups) {
            disk.group = Some(group.clone());
        }
        let of_disk = |disk: usize| arrays.iter().filter(move |array| array.disks.contains(&(disk as u32)));
        let uses = (0..disks.len()).map(|disk| of_disk(disk).count()).max().unwrap_or(0);
        // Members of one array have one size: what is larger would be striped over fewer disks at its end.
        let smallest = disks.iter().min_by_key(|disk| disk.size_bytes);
        let room = smallest.map_or(0, |disk| disk.size_bytes).saturating_sub(2 * ALIGNMENT_BYTES) / uses.max(1) as u64;
        let size_bytes = room / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        if let Some(disk) = smallest {
            checks::sizes(&arrays, disk, uses, size_bytes)?;
        }
        if let Some(device) = asked.unused(&arrays) {
            return Err(DeviceError::Usage(format!("{device} belongs to no array: leave it out, or raise disks")));
        }
        let mut partitions = vec![0_u32; disks.len()];
        let arrays = arrays.into_iter().map(|array| {
            let member = |disk: &u32| {
                let disk = *disk as usize;
                partitions[disk] += 1;
                Member { disk, partition: partitions[disk], size_bytes, id: Uuid::now_v7() }
            };
            let members: Vec<Member> = array.disks.iter().map(member).collect();
            let file_systems = match array.kind {
                ArrayKind::Jbod => members.iter().map(|_| Uuid::now_v7()).collect(),
                _ => vec![Uuid::now_v7()],
            };
            StripedArray { array, id: Uuid::now_v7(), members, file_systems }
        });
        let arrays = arrays.collect();
        Ok(Self { form: Self::FORM.to_owned(), name: asked.name().to_owned(), is_complete: false, disks, arrays })
    }

    /// Whether another process makes some or takes them down, which others wait for.
    pub fn is_locked(state: &Path) -> bool {
        notes::is_locked::<Self>(state)
    }

    /// Those that are there, and those that were not taken down.
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

    /// The directory or device that the whole of an array is measured by.
    pub fn target(&self, array: &StripedArray) -> PathBuf {
        self.place().join(&array.array.name)
    }

    /// Its file systems, or devices: one, unless its disks are not put together. Then that is their directory.
    pub fn targets(&self, array: &StripedArray) -> Vec<PathBuf> {
        target_facts::places(&self.target(array).to_string_lossy(), array.directories())
    }

    /// The array that a target is of, of all stripes, and the disks of it that are behind that target.
    pub fn of_target<'a>(all: &'a [Self], target: &Path) -> Option<(&'a Self, &'a StripedArray, Vec<&'a StripedDisk>)> {
        let is_it = |place: &Path| paths(target).any(|path| path == place);
        let arrays = all.iter().flat_map(|stripe| stripe.arrays.iter().map(move |array| (stripe, array)));
        arrays.into_iter().find_map(|(stripe, array)| {
            let disks = || stripe.disks_of(array);
            if is_it(&stripe.target(array)) {
                return Some((stripe, array, disks().collect()));
            }
            let one = stripe.targets(array).iter().position(|one| is_it(one))?;
            Some((stripe, array, disks().nth(one).into_iter().collect()))
        })
    }

    /// The one that a path is in, of all stripes.
    pub fn around<'a>(all: &'a [Self], target: &Path) -> Option<&'a Self> {
        all.iter().find(|stripe| {
            let places = || stripe.arrays.iter().flat_map(|array| stripe.targets(array));
            places().any(|place| paths(target).any(|path| path.starts_with(&place)))
        })
    }

    /// Whether a path is where arrays are, and nothing else is measured.
    pub fn is_place(target: &Path) -> bool {
        paths(target).any(|path| path.starts_with(PLACES))
    }

    /// The disks that an array is made of.
    pub fn disks_of<'a>(&'a self, array: &'a StripedArray) -> impl Iterator<Item = &'a StripedDisk> {
        array.members.iter().filter_map(|member| self.disks.get(member.disk))
    }

    /// Whether a device is one of its disks.
    pub fn has_disk(&self, device: DeviceNumber) -> bool {
        self.disks.iter().any(|disk| DeviceNumber::of_special_file(&disk.device) == Some(device))
    }

    /// Whether another one is made of the same in the same way.
    fn is_like(&self, other: &Self) -> bool {
        let disk = |disk: &StripedDisk| (disk.device.clone(), disk.group.clone());
        self.disks.iter().map(disk).eq(other.disks.iter().map(disk))
            && self.arrays.iter().map(|own| &own.array).eq(other.arrays.iter().map(|own| &own.array))
    }

    /// Whether it is what is asked for, of the same disks.
    pub fn is_of(&self, asked: &Striping) -> bool {
        let devices = self.disks.iter().map(|disk| disk.device.to_string_lossy());
        let groups = self.disks.iter().filter_map(|disk| disk.group.as_ref());
        devices.eq(asked.devices.iter().map(String::as_str))
            && groups.eq(&asked.groups)
            && asked.expand().is_ok_and(|arrays| self.arrays.iter().map(|own| &own.array).eq(&arrays))
    }

    /// The disk or partition that belongs to an array.
    fn member_path(&self, member: &Member) -> PathBuf {
        let Some(disk) = self.disks.get(member.disk) else { return PathBuf::new() };
        let device = real(&disk.device);
        let name = device.to_string_lossy();
        let between = if name.ends_with(|last: char| last.is_ascii_digit()) { "p" } else { "" };
        PathBuf::from(format!("{name}{between}{}", member.partition))
    }

    fn member_paths(&self, array: &StripedArray) -> Vec<PathBuf> {
        array.members.iter().map(|member| self.member_path(member)).collect()
    }

    /// The devices that bear the file systems of an array, in the order of its targets.
    fn devices(&self, array: &StripedArray) -> Vec<PathBuf> {
        let name = array.system_name();
        match array.array.kind {
            ArrayKind::None | ArrayKind::Jbod => self.member_paths(array),
            ArrayKind::Btrfs => self.member_paths(array).into_iter().take(1).collect(),
            ArrayKind::Md => vec![Path::new("/dev/md").join(name)],
            ArrayKind::Lvm => vec![Path::new("/dev").join(name).join(VOLUME)],
            ArrayKind::Dm => vec![Path::new("/dev/mapper").join(name)],
        }
    }

    /// The directory that targets are in.
    fn place(&self) -> PathBuf {
        Path::new(PLACES).join(&self.name)
    }
}

/// The one volume of a volume group.
const VOLUME: &str = "data";

impl StripedArray {
    /// What the system calls it: the name of an md device, of a volume group, of a mapped device.
    fn system_name(&self) -> String {
        let id = self.id.simple().to_string();
        format!("plimsoll-{}", &id[id.len() - 12..])
    }

    /// Its identity, which no other one has.
    pub const fn id(&self) -> Uuid {
        self.id
    }

    /// How many directories it is, when its disks are not put together.
    pub fn directories(&self) -> Option<u32> {
        (self.array.kind == ArrayKind::Jbod).then_some(self.array.disks.len() as u32)
    }

    /// What the device mapper calls it, where that is what puts disks together. It doubles hyphens within names of LVM.
    fn mapped_name(&self) -> Option<String> {
        let name = self.system_name();
        match self.array.kind {
            ArrayKind::Dm => Some(name),
            ArrayKind::Lvm => Some(format!("{}-{VOLUME}", name.replace('-', "--"))),
            ArrayKind::None | ArrayKind::Jbod | ArrayKind::Md | ArrayKind::Btrfs => None,
        }
    }

    /// The array, where disks are put together by something that is not a file system.
    const fn is_assembled(&self) -> bool {
        matches!(self.array.kind, ArrayKind::Md | ArrayKind::Lvm | ArrayKind::Dm)
    }
}

impl Member {
    /// Its identity in the form that LVM has.
    fn volume_id(&self) -> String {
        let id = self.id.simple().to_string();
        let mut rest = id.as_str();
        let mut parts = Vec::new();
        for length in [6, 4, 4, 4, 4, 4, 6] {
            let (part, after) = rest.split_at(length);
            parts.push(part);
            rest = after;
        }
        parts.join("-")
    }
}

/// A path from the root on, and where it leads; a device's place is a link itself.
fn paths(target: &Path) -> impl Iterator<Item = PathBuf> {
    [std::path::absolute(target).ok(), target.canonicalize().ok()].into_iter().flatten()
}

/// The number of a device that has to be there.
fn number(device: &Path) -> Result<DeviceNumber, DeviceError> {
    DeviceNumber::of_special_file(device).ok_or_else(|| DeviceError::Gone { device: device.to_owned() })
}

/// What the kernel tells about a device that has to be there.
fn facts(device: &Path) -> Result<block_device::DeviceFacts, DeviceError> {
    block_device::facts(number(device)?).ok_or_else(|| DeviceError::Gone { device: device.to_owned() })
}

/// Whether there is a device: a tool that was killed may have left the node of one that is gone.
fn is_there(device: &Path) -> bool {
    facts(device).is_ok()
}

/// The device itself, where a path is a link to it.
fn real(device: &Path) -> PathBuf {
    device.canonicalize().unwrap_or_else(|_| device.to_owned())
}
