//! Arrays: disks put together in one way, and the file system on them. What a plan asks for in `[stripe]`, and what
//! that stands for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    limit::Limit,
    settings::words,
    sweep::Sweep,
    units::{ByteCount, ValueError},
};

/// The blocks that the makers of file systems take.
const EXT4_BLOCKS: (u64, u64) = (1 << 10, 64 << 10);
const XFS_BLOCKS: (u64, u64) = (512, 64 << 10);
/// The largest cluster of ext4.
const EXT4_CLUSTER_MAX: u64 = 256 << 20;
/// The chunk of an array of which none is said: what most clouds recommend, and all that btrfs has.
const CHUNK_BYTES: u64 = 64 << 10;
/// The block that ext4 and XFS take by themselves, which is as large as a page.
const BLOCK_BYTES: u64 = 4 << 10;
/// The cluster sizes of the preset: what file systems of Windows call allocation units.
const CLUSTERS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
/// The disk count on which the preset asks again what one disk said about cluster sizes.
const CONFIRM_DISKS: u32 = 3;
/// A disk is divided into no more parts than a usual table of partitions has room for.
const ARRAYS_MAX: usize = 128;
/// Disk counts of the preset.
const DISK_COUNTS: [u32; 3] = [2, 3, 4];

words! {
    /// How disks are put together.
    ArrayKind("a kind of array") {
        /// Not at all: one disk.
        None = "none",
        /// RAID 0 of the kernel's md driver.
        Md = "md",
        /// A striped logical volume of LVM.
        Lvm = "lvm",
        /// A striped device of the device mapper, without metadata.
        Dm = "dm",
        /// RAID 0 of btrfs, which is a file system as well.
        Btrfs = "btrfs",
        /// Not at all, but all disks are loaded at once, each by a job of its own.
        Jbod = "jbod",
    }
}

words! {
    /// What is on an array.
    FileSystem("a file system") {
        /// Nothing: the device itself is measured.
        Raw = "raw",
        /// ext4.
        Ext4 = "ext4",
        /// XFS.
        Xfs = "xfs",
        /// btrfs.
        Btrfs = "btrfs",
    }
}

words! {
    /// Which disks an array is made of, when they belong to groups that have a limit in common.
    Placement("a placement") {
        /// The first ones, as they are listed.
        InOrder = "in-order",
        /// All from one group.
        Together = "together",
        /// From as many groups as there are, in turns.
        Apart = "apart",
    }
}

words! {
    /// A list of arrays that answers a question.
    ArrayPreset("a preset of arrays") {
        /// Cluster sizes on one disk, and confirmed on three; two, three and four disks; kinds side by side; two disks
        /// of one group and of two.
        Matrix = "matrix",
    }
}

impl ArrayKind {
    /// Whether its disks are left as they are, side by side.
    pub const fn is_apart(self) -> bool {
        matches!(self, Self::None | Self::Jbod)
    }
}

/// What is to be put together: `[stripe]` of a plan file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Striping {
    /// What it is called; `stripe` when it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whole disks, by names that stay: those in /dev/disk/by-id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// For each of them the group that it has a limit in common with: a controller, a storage account, a backing disk.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// What the disks of a group get together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub group_limits: BTreeMap<String, Limit>,
    /// A list of arrays, besides those below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<ArrayPreset>,
    /// The kinds that the preset sets side by side; it makes disk counts and confirmations with the first one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<ArrayKind>,
    /// The arrays.
    #[serde(rename = "array", alias = "arrays", skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ArrayAsked>,
}

/// Arrays as asked for: lists span the product of their values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ArrayAsked {
    /// What it is called; otherwise by what it is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How disks are put together: none, md, lvm, dm, btrfs or jbod. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Sweep<ArrayKind>>,
    /// Of how many disks. Default: all; one of the kind none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disks: Option<Sweep<u32>>,
    /// Which of them: in-order, together or apart. Default: in-order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Sweep<Placement>>,
    /// How much goes to one disk before the next has its turn. Default: 64KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Sweep<ByteCount>>,
    /// What is on it: raw, ext4, xfs or btrfs. The kind btrfs is one itself. Default: raw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system: Option<Sweep<FileSystem>>,
    /// The block of the file system. Default: 4KiB for ext4 and xfs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<Sweep<ByteCount>>,
    /// What ext4 gives out at once (bigalloc); as large as a block, it gives out blocks. Default: a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_size: Option<Sweep<ByteCount>>,
}

/// An array, with all decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Array {
    /// What it is called among its like.
    pub name: String,
    /// How its disks are put together.
    pub kind: ArrayKind,
    /// Which of the devices it is made of, counted from zero.
    pub disks: Vec<u32>,
    /// Why it is those.
    pub placement: Placement,
    /// How much goes to one disk before the next has its turn.
    pub chunk_bytes: u64,
    /// What is on it.
    pub file_system: FileSystem,
    /// The block of the file system, where it has one that can be chosen.
    pub block_bytes: Option<u64>,
    /// What the file system gives out at once, where that can be chosen.
    pub cluster_bytes: Option<u64>,
}

/// Whether something that is made can be called so: what has the name of a directory, and needs no quotes.
pub fn is_name(name: &str) -> bool {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(is_fine)
}

impl Striping {
    /// The name that it has, said or not.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("stripe")
    }

    /// The arrays that are asked for, each once.
    ///
    /// # Errors
    /// When one of them cannot be, or none is asked for.
    pub fn expand(&self) -> Result<Vec<Array>, ValueError> {
        if !self.groups.is_empty() && self.groups.len() != self.devices.len() {
            return Err(ValueError::new(format!(
                "groups has {} entries for {} devices: give each device its group, in the same order",
                self.groups.len(),
                self.devices.len()
            )));
        }
        if self.groups.iter().any(|group| group.trim().is_empty()) {
            return Err(ValueError::new("groups has a group without a name: give each device one"));
        }
        if !self.kinds.is_empty() && self.preset.is_none() {
            return Err(ValueError::new(
                "kinds is of the preset: add preset = \"matrix\", or say kind in [[stripe.array]]",
            ));
        }
        if let Some(unknown) = self.group_limits.keys().find(|group| !self.groups.contains(group)) {
            return Err(ValueError::new(format!("group_limits has \"{unknown}\", which is the group of no device")));
        }
        let preset = self.preset.map(|preset| match preset {
            ArrayPreset::Matrix => self.matrix(),
        });
        let mut arrays: Vec<Array> = Vec::new();
        for asked in preset.iter().flatten().chain(&self.arrays) {
            for array in self.product(asked)? {
                match arrays.iter().find(|known| known.name == array.name) {
                    Some(known) if *known == array => {}
                    Some(known) => {
                        let name = &known.name;
                        return Err(ValueError::new(format!("two different arrays are called \"{name}\": rename one")));
                    }
                    None => arrays.push(array),
                }
            }
        }
        if arrays.len() > ARRAYS_MAX {
            return Err(too_many());
        }
        if arrays.is_empty() {
            return Err(ValueError::new("no array is asked for: add [[stripe.array]], or preset = \"matrix\""));
        }
        Ok(arrays)
    }

    /// A device that none of these arrays is made of.
    pub fn unused(&self, arrays: &[Array]) -> Option<&str> {
        let is_used = |index: usize| arrays.iter().any(|array| array.disks.contains(&(index as u32)));
        self.devices.iter().enumerate().find(|(index, _)| !is_used(*index)).map(|(_, device)| device.as_str())
    }

    /// What the source of the matrix measured, as far as there are disks for it.
    fn matrix(&self) -> Vec<ArrayAsked> {
        let kinds = match self.kinds.as_slice() {
            [] => &[ArrayKind::Md, ArrayKind::Lvm, ArrayKind::Dm, ArrayKind::Btrfs, ArrayKind::Jbod][..],
            kinds => kinds,
        };
        let count = self.devices.len() as u32;
        let clusters = Sweep::of(CLUSTERS.map(ByteCount));
        let ext4 = || Some(Sweep::one(FileSystem::Ext4));
        let on = |kind: ArrayKind| ext4().filter(|_| kind != ArrayKind::Btrfs);
        // The kind btrfs has no clusters to choose.
        let confirming = kinds.iter().find(|kind| **kind != ArrayKind::Btrfs).filter(|_| count >= CONFIRM_DISKS);
        let mut arrays = vec![ArrayAsked {
            kind: Some(Sweep::one(ArrayKind::None)),
            file_system: ext4(),
            cluster_size: Some(clusters.clone()),
            ..ArrayAsked::default()
        }];
        arrays.extend(confirming.map(|kind| ArrayAsked {
            kind: Some(Sweep::one(*kind)),
            disks: Some(Sweep::one(CONFIRM_DISKS)),
            file_system: ext4(),
            cluster_size: Some(clusters),
            ..ArrayAsked::default()
        }));
        for disks in DISK_COUNTS.into_iter().filter(|disks| *disks <= count) {
            arrays.extend(kinds.iter().map(|kind| ArrayAsked {
                kind: Some(Sweep::one(*kind)),
                disks: Some(Sweep::one(disks)),
                file_system: on(*kind),
                ..ArrayAsked::default()
            }));
        }
        let groups: BTreeSet<&String> = self.groups.iter().collect();
        if groups.len() > 1 {
            let pair = |placement| ArrayAsked {
                kind: kinds.first().map(|kind| Sweep::one(*kind)),
                disks: Some(Sweep::one(2)),
                placement: Some(Sweep::one(placement)),
                file_system: kinds.first().and_then(|kind| on(*kind)),
                ..ArrayAsked::default()
            };
            let has_two = groups.iter().any(|group| self.groups.iter().filter(|own| own == group).count() > 1);
            arrays.extend(has_two.then(|| pair(Placement::Together)));
            arrays.push(pair(Placement::Apart));
        }
        arrays
    }

    /// Each array of a product.
    fn product(&self, asked: &ArrayAsked) -> Result<Vec<Array>, ValueError> {
        let kinds = values(asked.kind.as_ref(), ArrayKind::None);
        let placements = values(asked.placement.as_ref(), Placement::InOrder);
        let file_systems = values(asked.file_system.as_ref(), FileSystem::Raw);
        check_meaning(asked, &kinds, &file_systems)?;
        let chunks = values(asked.chunk.as_ref(), ByteCount(CHUNK_BYTES));
        let blocks = optional(asked.block_size.as_ref());
        let clusters = optional(asked.cluster_size.as_ref());
        let lengths = [kinds.len(), placements.len(), chunks.len(), file_systems.len(), blocks.len(), clusters.len()];
        let disks = asked.disks.as_ref().map_or(1, |disks| disks.values().len());
        if lengths.iter().fold(disks, |product, length| product.saturating_mul(*length)) > 8 * ARRAYS_MAX {
            return Err(too_many());
        }
        let mut arrays: Vec<Array> = Vec::new();
        for kind in kinds {
            let all = if kind == ArrayKind::None { 1 } else { self.devices.len() as u32 };
            for count in values(asked.disks.as_ref(), all) {
                for placement in &placements {
                    for (chunk, file_system) in pairs(&chunks, &file_systems) {
                        for (block, cluster) in pairs(&blocks, &clusters) {
                            let disks = self.choose(count, *placement)?;
                            let array = Array {
                                name: String::new(),
                                kind,
                                disks,
                                placement: *placement,
                                chunk_bytes: chunk.0,
                                file_system,
                                block_bytes: block.map(|size| size.0),
                                cluster_bytes: cluster.map(|size| size.0),
                            };
                            let array = array.decided()?;
                            if !arrays.contains(&array) {
                                arrays.push(array);
                            }
                        }
                    }
                }
            }
        }
        let is_alone = arrays.len() == 1;
        for array in &mut arrays {
            array.name = match &asked.name {
                Some(name) if is_alone => name.clone(),
                Some(name) => format!("{name}-{}", array.derived_name()),
                None => array.derived_name(),
            };
            if !is_name(&array.name) {
                let name = &array.name;
                return Err(ValueError::new(format!(
                    "\"{name}\" is no name of an array: use up to 64 letters, digits and - _ ."
                )));
            }
        }
        Ok(arrays)
    }

    /// So many disks, by their places in the list.
    fn choose(&self, count: u32, placement: Placement) -> Result<Vec<u32>, ValueError> {
        let there = self.devices.len() as u32;
        if count == 0 {
            return Err(ValueError::new("an array of 0 disks is asked for: take 1 or more".to_owned()));
        }
        if count > there {
            return Err(ValueError::new(format!(
                "an array of {count} disks is asked for and {there} are listed: change disks, or add to devices"
            )));
        }
        let all = || 0..there;
        if placement == Placement::InOrder {
            return Ok(all().take(count as usize).collect());
        }
        let group = |index: u32| self.groups.get(index as usize).map_or("", String::as_str);
        let mut groups: Vec<&str> = Vec::new();
        for index in all() {
            if !groups.contains(&group(index)) {
                groups.push(group(index));
            }
        }
        if groups.len() < 2 {
            return Err(ValueError::new(format!(
                "placement = \"{placement}\" means nothing without two groups: say with groups which disks have a \
                 limit in common, and which have another"
            )));
        }
        let of = |name: &str| all().filter(|index| group(*index) == name).collect::<Vec<u32>>();
        if placement == Placement::Together {
            let whole = groups.iter().map(|name| of(name)).find(|disks| disks.len() >= count as usize);
            let whole = whole.map(|disks| disks.into_iter().take(count as usize).collect());
            return whole.ok_or_else(|| ValueError::new(format!("no group has {count} disks to put together")));
        }
        let by_group: Vec<Vec<u32>> = groups.iter().map(|name| of(name)).collect();
        let longest = by_group.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| by_group.iter().filter_map(move |disks| disks.get(turn).copied()));
        Ok(turns.take(count as usize).collect())
    }
}

impl Array {
    /// Whether a device and not a directory is measured.
    pub const fn is_raw(&self) -> bool {
        matches!(self.file_system, FileSystem::Raw)
    }

    /// With what follows from the rest, or why it cannot be.
    fn decided(mut self) -> Result<Self, ValueError> {
        let refuse = |what: String| Err(ValueError::new(what));
        let is_power = |bytes: u64| bytes.is_power_of_two();
        if self.kind == ArrayKind::None && self.disks.len() > 1 {
            let count = self.disks.len();
            return refuse(format!(
                "an array of {count} disks has a kind: choose md, lvm, dm, btrfs or jbod, not none"
            ));
        }
        if self.kind == ArrayKind::Btrfs {
            self.file_system = FileSystem::Btrfs;
            if self.chunk_bytes != CHUNK_BYTES {
                return refuse(
                    "the chunk of btrfs is always 64KiB: leave chunk out, or choose another kind".to_owned(),
                );
            }
        }
        if self.kind.is_apart() {
            // No disk waits for its turn.
            self.chunk_bytes = CHUNK_BYTES;
        }
        if !is_power(self.chunk_bytes) || self.chunk_bytes < BLOCK_BYTES {
            let chunk = ByteCount(self.chunk_bytes);
            return refuse(format!("a chunk of {chunk} cannot be: choose a power of two from 4KiB up"));
        }
        if let Some(bytes) =
            [self.block_bytes, self.cluster_bytes].into_iter().flatten().find(|bytes| !is_power(*bytes))
        {
            return refuse(format!("a block or cluster of {} cannot be: choose a power of two", ByteCount(bytes)));
        }
        if self.kind == ArrayKind::Jbod && self.is_raw() {
            return refuse(
                "jobs are dealt among the disks of jbod by files: give it a file_system, as ext4 or xfs".to_owned(),
            );
        }
        let sizes = match self.file_system {
            FileSystem::Ext4 => Some((EXT4_BLOCKS, EXT4_CLUSTER_MAX)),
            FileSystem::Xfs => Some((XFS_BLOCKS, u64::MAX)),
            FileSystem::Raw | FileSystem::Btrfs => None,
        };
        if let (Some(((least, most), _)), Some(block)) = (sizes, self.block_bytes)
            && !(least..=most).contains(&block)
        {
            let (system, block) = (self.file_system, ByteCount(block));
            let (least, most) = (ByteCount(least), ByteCount(most));
            return refuse(format!("{system} has no blocks of {block}: choose from {least} to {most}"));
        }
        if let (Some((_, most)), Some(cluster)) = (sizes, self.cluster_bytes)
            && cluster > most
        {
            let (cluster, most) = (ByteCount(cluster), ByteCount(most));
            return refuse(format!("a cluster of {cluster} cannot be: choose up to {most}"));
        }
        match self.file_system {
            FileSystem::Ext4 => {
                let block = self.block_bytes.unwrap_or(BLOCK_BYTES);
                let cluster = self.cluster_bytes.unwrap_or(block);
                if cluster < block {
                    let (block, cluster) = (ByteCount(block), ByteCount(cluster));
                    return refuse(format!("a cluster of {cluster} is smaller than a block of {block}: raise it"));
                }
                (self.block_bytes, self.cluster_bytes) = (Some(block), Some(cluster));
            }
            FileSystem::Xfs => {
                self.block_bytes = Some(self.block_bytes.unwrap_or(BLOCK_BYTES));
                self.cluster_bytes = None;
            }
            // What has no blocks to choose is asked for beside others in the same product.
            FileSystem::Raw | FileSystem::Btrfs => (self.block_bytes, self.cluster_bytes) = (None, None),
        }
        Ok(self)
    }

    /// What it is made of, as a name: `md-4-ext4-32KiB`. What is usual is left out.
    fn derived_name(&self) -> String {
        let mut name = format!("{}-{}", self.kind, self.disks.len());
        let size = |bytes: u64| format!("-{}", ByteCount(bytes));
        if self.placement != Placement::InOrder {
            name += &format!("-{}", self.placement);
        }
        if self.chunk_bytes != CHUNK_BYTES {
            name += &format!("-chunk{}", size(self.chunk_bytes));
        }
        if self.kind != ArrayKind::Btrfs && !self.is_raw() {
            name += &format!("-{}", self.file_system);
        }
        if let Some(block) = self.block_bytes.filter(|block| *block != BLOCK_BYTES) {
            name += &format!("-block{}", size(block));
        }
        if let Some(cluster) = self.cluster_bytes.filter(|cluster| Some(*cluster) != self.block_bytes) {
            name += &size(cluster);
        }
        name
    }
}

/// Refuses what says nothing of any array of a product.
fn check_meaning(asked: &ArrayAsked, kinds: &[ArrayKind], file_systems: &[FileSystem]) -> Result<(), ValueError> {
    let are_all = |kind: fn(ArrayKind) -> bool| asked.kind.is_some() && kinds.iter().all(|own| kind(*own));
    let is_btrfs = are_all(|kind| kind == ArrayKind::Btrfs);
    let of_others = if asked.file_system.is_some() { file_systems } else { &[] };
    if let Some(other) = of_others.iter().find(|other| is_btrfs && **other != FileSystem::Btrfs) {
        return Err(ValueError::new(format!(
            "the kind btrfs is a file system itself, and {other} is asked for: leave file_system out, or choose another \
             kind"
        )));
    }
    if asked.chunk.is_some() && are_all(ArrayKind::is_apart) {
        return Err(ValueError::new(
            "chunk means nothing to disks that are left side by side (none, jbod): leave it out, or choose another kind",
        ));
    }
    let has = |wanted: &[FileSystem]| !is_btrfs && file_systems.iter().any(|own| wanted.contains(own));
    if asked.block_size.is_some() && !has(&[FileSystem::Ext4, FileSystem::Xfs]) {
        return Err(ValueError::new("block_size is of ext4 and xfs: leave it out, or say file_system = \"ext4\""));
    }
    if asked.cluster_size.is_some() && !has(&[FileSystem::Ext4]) {
        return Err(ValueError::new("cluster_size is of ext4: leave it out, or say file_system = \"ext4\""));
    }
    Ok(())
}

fn too_many() -> ValueError {
    ValueError::new(format!("more than {ARRAYS_MAX} arrays are asked for: shorten the lists, or make several stripes"))
}

fn values<T: Clone>(asked: Option<&Sweep<T>>, usual: T) -> Vec<T> {
    asked.map_or_else(|| vec![usual], |sweep| sweep.values().to_vec())
}

fn optional<T: Clone>(asked: Option<&Sweep<T>>) -> Vec<Option<T>> {
    asked.map_or_else(|| vec![None], |sweep| sweep.values().iter().cloned().map(Some).collect())
}

fn pairs<A: Clone, B: Clone>(first: &[A], second: &[B]) -> Vec<(A, B)> {
    first.iter().flat_map(|one| second.iter().map(move |other| (one.clone(), other.clone()))).collect()
}

#[cfg(test)]
mod tests;
