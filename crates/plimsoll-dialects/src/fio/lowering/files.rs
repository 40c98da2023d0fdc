//! Which files a clone of a job uses: names as fio makes them, in one directory, or a device.

use std::collections::HashMap;

use plimsoll_workload::{
    file_names::FileNames,
    file_sizes::FileSizes,
    file_space::FileOrder,
    settings::{FileSharing, Layout},
    units::{ByteCount, Extent},
    workload::Workload,
};

use super::amount::Amount;
use crate::fio::{
    job::Job,
    settings::{Checksum, Engine, FileService, Preallocation},
};
use crate::{
    found::{Found, FoundKind, Look},
    problem::Wrong,
};

/// How much of what is free is filled, where all of it is to be: file systems need some of it for themselves.
const FILLED_PERCENT: u64 = 98;

/// The files of a clone on one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileSet {
    /// The directory, or the device.
    pub(super) target: String,
    /// Names in the directory; none of a device.
    pub(super) names: Vec<String>,
    /// Bytes of the device, or of the shortest file that is there; none where one is missing.
    pub(super) size_bytes: Option<u64>,
    /// Whether the files that are there have several sizes.
    pub(super) sizes_differ: bool,
    /// Bytes that are free for each file, where they are to take all of them.
    pub(super) free_bytes: Option<u64>,
    /// How many files and devices the clone has on all its targets.
    pub(super) all: u64,
    /// How often each of them is named: fio takes it for so many files.
    pub(super) repeats: u64,
}

impl FileSet {
    /// All files of a clone, target by target.
    pub(super) fn all_of(job: &Job, clone: u32, look: &Look<'_>) -> Result<Vec<Self>, Wrong> {
        let files = &job.settings.files;
        let is_named = !files.names.is_empty();
        if !is_named && files.count == 1 && look(&job.section).is_some_and(|found| found.kind == FoundKind::Device) {
            return Self::of_paths(std::slice::from_ref(&job.section), look);
        }
        let paths = Self::paths(job, clone);
        let mut sets = Self::of_paths(&paths, look)?;
        if job.settings.engine.is_of_names() && sets.iter().any(|set| set.repeats > 1) {
            return Err(Wrong::new("files are named twice").instead("name each once"));
        }
        if let Some(missing) = paths.iter().find(|path| !files.may_create && look(path).is_none()) {
            let wrong = Wrong::new(format!("{missing} is missing, and allow_file_create=0"));
            return Err(wrong.instead("make the file, or leave allow_file_create out"));
        }
        for set in sets.iter_mut().filter(|set| files.fills_device && !set.names.is_empty()) {
            let free = look(&set.target).map_or(0, |found| found.size_bytes) / 100 * FILLED_PERCENT;
            set.free_bytes = Some(free / set.count() / u64::from(job.settings.course.clones));
        }
        Ok(sets)
    }

    fn paths(job: &Job, clone: u32) -> Vec<String> {
        let files = &job.settings.files;
        if !files.names.is_empty() {
            let directory = files.directories.first();
            return files.names.iter().map(|name| joined(directory, name)).collect();
        }
        let directory = match files.directories.len() {
            0 => None,
            count => files.directories.get(clone as usize % count),
        };
        let name = |file| file_name(&files.format, &job.section, clone, file);
        (0..files.count).map(|file| joined(directory, &name(file))).collect()
    }

    fn of_paths(paths: &[String], look: &Look<'_>) -> Result<Vec<Self>, Wrong> {
        let mut sets: Vec<Self> = Vec::new();
        let mut times = HashMap::new();
        for path in paths {
            *times.entry(path).or_insert(0_u64) += 1;
        }
        let all = times.len() as u64;
        let repeats = paths.first().map_or(1, |path| times[path]);
        if let Some(path) = paths.iter().find(|path| times[path] != repeats) {
            return Err(Wrong::new(format!("{path} is named {} times, and another {repeats} times", times[path]))
                .instead("name each file as often as the others"));
        }
        for path in paths {
            let Some(_) = times.remove(path) else { continue };
            let found = usable(path, look)?;
            let is_device = found.is_some_and(|found| found.kind == FoundKind::Device);
            let (directory, name) = directory_and_name(path);
            let target = if is_device { path } else { directory };
            let index = sets.iter().position(|set| set.target == target).unwrap_or_else(|| {
                let (target, names, size_bytes) = (target.to_owned(), Vec::new(), Some(u64::MAX));
                sets.push(Self { target, names, size_bytes, sizes_differ: false, free_bytes: None, all, repeats });
                sets.len() - 1
            });
            let set = &mut sets[index];
            let is_first = set.size_bytes == Some(u64::MAX);
            set.sizes_differ |= !is_first && set.size_bytes != found.map(|found| found.size_bytes);
            set.size_bytes = set.size_bytes.zip(found).map(|(least, found)| least.min(found.size_bytes));
            if !is_device {
                set.names.push(name.to_owned());
            }
        }
        Ok(sets)
    }

    /// How many files and devices these are.
    pub(super) fn count(&self) -> u64 {
        self.names.len().max(1) as u64
    }

    /// What these are of an amount that is meant for all.
    pub(super) fn share(&self, amount: u64) -> u64 {
        let share = u128::from(amount) * u128::from(self.count()) / u128::from(self.all.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// The parts of a path.
pub(super) fn directory_and_name(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
        None => (".", path),
    }
}

/// What lies at a path of a job, if anything does.
fn usable(path: &str, look: &Look<'_>) -> Result<Option<Found>, Wrong> {
    let found = look(path);
    match found.map(|found| found.kind) {
        None if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => {
            Err(Wrong::new(format!("there is no device {path}"))
                .instead("attach it, or name another; a file of that name would be in memory"))
        }
        Some(FoundKind::Directory) => {
            Err(Wrong::new(format!("{path} is a directory")).instead("name it with directory="))
        }
        Some(FoundKind::Other) => {
            Err(Wrong::new(format!("{path} is neither a file nor a block device"))
                .instead("name a file or a block device"))
        }
        Some(FoundKind::File | FoundKind::Device) | None => Ok(found),
    }
}

/// Whether the directory of some files is part of their names, and not one that has to be there.
pub(super) fn is_in_names(job: &Job, target: &str) -> bool {
    let is_below = |directory: &String| {
        let rest = target.strip_prefix(directory.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    };
    match &*job.settings.files.directories {
        [] => true,
        directories => directories.iter().any(is_below),
    }
}

/// A path in a directory, as fio puts it together.
fn joined(directory: Option<&String>, name: &str) -> String {
    match directory {
        Some(directory) => format!("{}/{}", directory.trim_end_matches('/'), name.trim_start_matches('/')),
        None => name.to_owned(),
    }
}

/// The name of a file that has none of its own. Keywords may be written in any case.
fn file_name(format: &str, job: &str, clone: u32, file: u32) -> String {
    let keywords = [
        // A section may be called like a path, whose slashes lead into directories.
        ("$jobname", job.to_owned()),
        ("$jobnum", clone.to_string()),
        ("$filenum", file.to_string()),
        ("$clientuid", String::new()),
    ];
    let mut out = String::new();
    let mut rest = format;
    while let Some(character) = rest.chars().next() {
        let keyword = keywords
            .iter()
            .find(|(keyword, _)| rest.get(..keyword.len()).is_some_and(|start| start.eq_ignore_ascii_case(keyword)));
        match keyword {
            Some((keyword, value)) => {
                out += value;
                rest = &rest[keyword.len()..];
            }
            None => {
                out.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    out
}

/// Puts the files of clones on one target into their workload, with regions that lie so far apart where they share
/// files.
pub(super) fn put(job: &Job, sets: &[FileSet], amount: &Amount, apart_bytes: u64, workload: &mut Workload) {
    let files = &job.settings.files;
    workload.offset = Some(Extent::Bytes(ByteCount(amount.offset_bytes)));
    workload.size = Some(Extent::Bytes(ByteCount(amount.region_bytes)));
    let is_shared = sets.iter().all(|set| set.names == sets[0].names);
    if is_shared {
        workload.offset_increment = (sets.len() > 1).then_some(ByteCount(apart_bytes));
    } else {
        workload.files = Some(FileSharing::PerJob);
    }
    if !sets[0].names.is_empty() {
        let parts = if is_shared { &sets[..1] } else { sets };
        workload.file_names = Some(FileNames::of(parts.iter().flat_map(|set| set.names.iter().cloned())));
        workload.file_count = Some(sets[0].names.len() as u32);
        workload.file_size = amount.file_bytes.map(FileSizes::One);
        workload.layout = Some(layout(job));
    }
    if sets[0].names.len() > 1 {
        workload.file_order = Some(match &files.service {
            // With holes in it, the sequence is one through all files.
            _ if workload.stride.is_some() => FileOrder::Sequential,
            FileService::Sequential => FileOrder::Sequential,
            FileService::RoundRobin { operations } | FileService::Random { operations } => {
                (*operations).try_into().map_or_else(|_| FileOrder::default(), FileOrder::Turns)
            }
            FileService::Drawn(_) => FileOrder::default(),
        });
    }
}

/// Lets workloads that share files find them alike: fio makes each file once, before the first job, with all that one
/// of its jobs needs in it.
pub(super) fn make_each_once(workloads: &mut [&mut Workload]) {
    let mut most: HashMap<(Option<String>, String), Layout> = HashMap::new();
    let are_alike = |workloads: &[&mut Workload]| {
        let mut layouts = workloads.iter().filter_map(|workload| workload.layout);
        layouts.next().is_none_or(|first| layouts.all(|layout| layout == first))
    };
    // Files of one workload are alike too, so what one needs goes on to others that share another with it.
    let mut goes_on = !are_alike(workloads);
    while goes_on {
        goes_on = false;
        for workload in &mut *workloads {
            let (Some(layout), Some(names)) = (workload.layout, &workload.file_names) else { continue };
            let key = |name| (workload.target.clone(), name);
            let found =
                names.iter().filter_map(|name| most.get(&key(name))).fold(layout, |most, layout| most.min(*layout));
            for name in names.iter() {
                goes_on |= most.insert(key(name), found) != Some(found);
            }
            workload.layout = Some(found);
        }
    }
}

/// Whether fio gives files that a job needs their length before any job runs.
pub(super) fn have_length(job: &Job) -> bool {
    let files = &job.settings.files;
    let is_longer = !matches!(files.preallocation, Preallocation::None | Preallocation::Keep);
    let is_made = is_longer && !files.fills_device || files.is_laid_out || job.settings.pattern.direction.reads;
    is_made && !files.is_created_on_open && job.settings.engine != Engine::Null
}

fn layout(job: &Job) -> Layout {
    let files = &job.settings.files;
    // A mapping needs a file with all its pages.
    let is_mapped = job.settings.engine == Engine::Mmap;
    // What is checked is known from the first pass on.
    let content = &job.settings.content;
    let is_checked = content.verify.is_some_and(|checksum| checksum != Checksum::Null) && content.has_verify_phase;
    match files.preallocation {
        _ if is_mapped || is_checked || files.is_laid_out || job.settings.pattern.direction.reads => Layout::Written,
        _ if files.is_created_on_open => Layout::Empty,
        Preallocation::None | Preallocation::Truncate => Layout::Empty,
        Preallocation::Native | Preallocation::Posix | Preallocation::Keep => Layout::Allocated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_as_fio_makes_them() {
        assert_eq!(file_name("$jobname.$jobnum.$filenum", "a b", 1, 12), "a b.1.12");
        assert_eq!(file_name("x$JOBNUM-$fileNum$", "/dev/x", 0, 3), "x0-3$");
        assert_eq!(file_name("$jobname.$jobnum.$filenum", "sub/job", 0, 0), "sub/job.0.0");
    }
}
