//! What files a plan needs of a target.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use plimsoll_io::mounts;
use plimsoll_workload::{
    file_space::FileSpace,
    payload::Payload,
    plan::{BlockPlan, CellPlan, Plan},
    settings::{EngineChoice, FileSharing, Layout},
    target_facts::{self, TargetKind},
    verification,
};

use super::{directories, is_device};
use crate::run::RunError;

/// Files of one target that must be there before the first slot.
#[derive(Default)]
pub(super) struct Wanted(pub(super) BTreeMap<FileKey, WantedFile>);

/// Which file of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileKey {
    /// One in plimsoll's own directory: by what is in it at first, on which the speed depends; by the cell that it
    /// belongs to, when it verifies; by the job that it belongs to, unless all share it; and by its number among
    /// those.
    Own { layout: Layout, payload: Option<Payload>, cell: Option<usize>, job: Option<u32>, number: u32 },
    /// One that has a name.
    Named(String),
}

/// What a file must be.
pub(super) struct WantedFile {
    pub(super) bytes: u64,
    pub(super) layout: Layout,
    /// What is in it when it is laid out, in blocks of so many bytes.
    pub(super) payload: Payload,
    pub(super) block_bytes: usize,
    pub(super) is_written_to: bool,
    /// What a verified file contains.
    pub(super) stamps: Option<Stamps>,
}

/// The blocks of a verified file.
#[derive(Clone, Copy)]
pub(super) struct Stamps {
    seed: u64,
    pub(super) block_bytes: u32,
    space: FileSpace,
    /// The number of the file in that space.
    file: u16,
}

/// What a cell uses of its target's files, job by job.
pub(super) fn file_keys(plan: &BlockPlan, cell: usize) -> Vec<FileKey> {
    if !plan.file_names.is_empty() {
        return plan.file_names.iter().map(FileKey::Named).collect();
    }
    // A verified cell has files of its own, because it must know every byte of them.
    let cell = plan.verify.then_some(cell);
    let of = |job: Option<u32>| {
        let own = move |number| {
            let (layout, payload) = content(plan);
            FileKey::Own { layout, payload: payload.cloned(), cell, job, number }
        };
        (0..plan.file_count).map(own)
    };
    match plan.files {
        FileSharing::Shared => of(None).collect(),
        FileSharing::PerJob => (0..plan.jobs).flat_map(|job| of(Some(job))).collect(),
    }
}

/// Whether there are files to be made for a cell before its slots.
fn has_files(blocks: &BlockPlan) -> bool {
    blocks.engine != EngineChoice::Memory && blocks.name_operation().is_none()
}

/// What is in a workload's files before its slots.
fn content(blocks: &BlockPlan) -> (Layout, Option<&Payload>) {
    (blocks.layout, (blocks.layout == Layout::Written).then_some(&blocks.payload))
}

/// Refuses a file that one workload wants to find as another does not: a first write would be told as an overwrite, or
/// the other way around. In a directory, only files that have names can be such; those hold what the first workload
/// that has them writes.
pub(crate) fn check_layouts(
    plan: &Plan,
    kind: impl Fn(&str) -> TargetKind,
    is_foreign: impl Fn(&str) -> bool,
) -> Result<(), RunError> {
    let mut all = BTreeMap::new();
    for cell in &plan.cells {
        let target = cell.target.as_str();
        let Some(blocks) = cell.blocks().filter(|blocks| has_files(blocks)) else { continue };
        let of_target = plan.cells.iter().filter(|other| other.target == target).filter_map(CellPlan::blocks);
        if of_target.filter(|blocks| has_files(blocks)).all(|other| content(other) == content(blocks)) {
            continue;
        }
        let (names, own, instead): (Vec<_>, _, _) = match kind(target) {
            TargetKind::Device => continue,
            TargetKind::File => (vec![None], content(blocks), "name a directory, where each has files of its own"),
            TargetKind::Directory | TargetKind::Directories(_) => {
                let names = blocks.file_names.iter().map(Some).collect();
                (names, (blocks.layout, None), "give each file_names of its own")
            }
        };
        for name in names {
            let file = name.as_ref().map_or_else(|| target.to_owned(), |name| format!("{target}/{name}"));
            let first = *all.entry((target, name)).or_insert(own);
            // What others made is never laid out.
            if first != own && !is_foreign(&file) {
                let wanted = [first, own].map(|(layout, payload)| match payload {
                    Some(payload) if first.0 == own.0 => format!("filled with payload {payload}"),
                    _ => layout.to_string(),
                });
                return Err(RunError::TwoLayouts { file, wanted, instead });
            }
        }
    }
    Ok(())
}

/// Whether no other cell uses the files of a cell that verifies. Only such a cell asks.
pub(super) fn has_files_alone(plan: &Plan, index: usize) -> bool {
    let cell = &plan.cells[index];
    let Some(blocks) = cell.blocks() else { return false };
    let keys = file_keys(blocks, index);
    let others = plan.cells.iter().enumerate().filter(|(other, of)| *other != index && of.target == cell.target);
    let others = others.filter_map(|(other, of)| Some((other, of.blocks()?)));
    !blocks.verify || others.flat_map(|(other, blocks)| file_keys(blocks, other)).all(|key| !keys.contains(&key))
}

impl Wanted {
    /// Files that this process fills, as its number says where they are verified.
    pub(super) fn of(plan: &Plan, target: &str, writer: u64) -> Self {
        let mut wanted = Self::default();
        for (index, cell) in plan.cells.iter().enumerate() {
            let Some(blocks) = cell.blocks().filter(|blocks| cell.target == target && has_files(blocks)) else {
                continue;
            };
            for (position, key) in file_keys(blocks, index).into_iter().enumerate() {
                let job = position as u32 / blocks.file_count;
                let stamps = Stamps {
                    seed: verification::seed_of(writer, blocks, index, job),
                    block_bytes: blocks.block_size_bytes_max,
                    space: blocks.file_space(job),
                    file: (position as u32 % blocks.file_count) as u16,
                };
                let file = wanted.0.entry(key).or_insert(WantedFile {
                    bytes: 0,
                    layout: blocks.layout,
                    payload: blocks.payload.clone(),
                    block_bytes: blocks.block_size_bytes_max as usize,
                    is_written_to: false,
                    stamps: None,
                });
                file.bytes = file.bytes.max(blocks.file_bytes());
                file.is_written_to |= blocks.writes();
                file.stamps = file.stamps.or(blocks.verify.then_some(stamps));
                // Of a file that is there, which is taken as it is, all find what one of them needs.
                file.layout = file.layout.min(blocks.layout);
            }
        }
        wanted
    }
}

impl WantedFile {
    /// Whether anything is to be found in it.
    pub(super) fn is_read(&self) -> bool {
        self.layout == Layout::Written
    }

    /// Whether it is taken as it is by those who read it, and nobody writes it or has to know what is in it.
    pub(super) const fn is_only_read(&self) -> bool {
        !self.is_written_to && self.stamps.is_none()
    }
}

impl Stamps {
    /// Fills a stretch of the file with blocks of generation 0.
    pub(super) fn stamp_all(&self, buffer: &mut [u8], offset: u64) {
        for (index, chunk) in buffer.chunks_mut(self.block_bytes as usize).enumerate() {
            let at = offset + index as u64 * u64::from(self.block_bytes);
            if let Some(place) = self.space.position(self.file, at)
                && chunk.len() == self.block_bytes as usize
            {
                verification::stamp(chunk, self.seed, place, 0);
            }
        }
    }
}

/// A file that is made before the first slot.
pub(crate) struct NewFile {
    pub(crate) directory: PathBuf,
    /// What is put into it, or finds room when it grows.
    pub(crate) bytes: u64,
}

/// Files that a plan reads and writes and that are not there yet. What is there has its room already.
pub(crate) fn new_files(plan: &Plan) -> Vec<NewFile> {
    let targets: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.target.as_str()).collect();
    targets.into_iter().filter(|target| !is_device(target)).flat_map(|target| new_files_of(plan, target)).collect()
}

fn new_files_of(plan: &Plan, target: &str) -> Vec<NewFile> {
    let path = Path::new(target);
    let places = target_facts::places(target, directories(plan, target));
    let new = |(key, file): (FileKey, WantedFile)| {
        let is_own = matches!(key, FileKey::Own { .. });
        let bytes = if is_own || file.layout != Layout::Empty { file.bytes } else { 0 };
        let (directory, is_there) = match key {
            _ if !path.is_dir() => (mounts::parent_of(path).to_owned(), path.exists()),
            FileKey::Named(name) => (path.to_owned(), path.join(name).exists()),
            FileKey::Own { job, .. } => (places[job.unwrap_or(0) as usize % places.len()].clone(), false),
        };
        (!is_there).then_some(NewFile { directory, bytes })
    };
    let mut new: Vec<NewFile> = Wanted::of(plan, target, 0).0.into_iter().filter_map(new).collect();
    if !path.is_dir() {
        // All of its workloads have the one file.
        let bytes = new.iter().map(|file| file.bytes).max();
        new.truncate(1);
        new.iter_mut().zip(bytes).for_each(|(file, bytes)| file.bytes = bytes);
    }
    new
}

/// What the files of a target that is an empty directory take, all together, when all of them are written.
pub(crate) fn bytes_of_files(plan: &Plan, target: &str) -> u64 {
    Wanted::of(plan, target, 0).0.into_values().fold(0, |bytes, file| bytes.saturating_add(file.bytes))
}
