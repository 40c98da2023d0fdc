//! How much room files take of a target that there are many of: of their sets, and of cells whose operations are about
//! names, all that stay until the end of the run, and one of the others.

mod named;

use std::collections::{BTreeMap, BTreeSet};

use super::{CellPlan, Plan, PlanError};
use crate::{
    file_set::{FilePhase, FilePlan, Precondition},
    target_facts::TargetFacts,
    units::in_one_unit,
};

/// What there is of files at most at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes of their content.
    pub content_bytes: u64,
    /// Files and directories.
    pub names: u64,
}

impl Plan {
    /// What the sets of files on targets take of the file system that these share, where each file takes whole blocks
    /// of so many bytes.
    pub fn room(&self, is_there: impl Fn(&str) -> bool, block_bytes: u64) -> Room {
        room(&self.cells, is_there, block_bytes)
    }

    /// The same with files whose names are operated on. `has_file` tells whether a target has one of that name already.
    pub fn room_with_names(
        &self,
        is_there: impl Fn(&str) -> bool,
        has_file: impl Fn(&str, &str) -> bool,
        block_bytes: u64,
    ) -> Room {
        let mut of_names: BTreeMap<&str, Vec<&CellPlan>> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| is_there(&cell.target)) {
            if cell.blocks().is_some_and(|blocks| blocks.name_operation().is_some()) {
                of_names.entry(&cell.target).or_default().push(cell);
            }
        }
        let names = of_names
            .into_iter()
            .flat_map(|(target, cells)| named::of_target(&cells, |name| has_file(target, name), block_bytes));
        most(&sets(&self.cells, is_there, block_bytes).chain(names).collect::<Vec<_>>())
    }
}

impl Room {
    /// The same with one more file, of so many bytes.
    #[must_use]
    pub const fn and_file(self, bytes: u64, block_bytes: u64) -> Self {
        let content_bytes = self.content_bytes.saturating_add(whole_blocks(bytes, block_bytes));
        Self { content_bytes, names: self.names + 1 }
    }
}

/// What bytes take where a file has whole blocks.
const fn whole_blocks(bytes: u64, block_bytes: u64) -> u64 {
    let block_bytes = if block_bytes == 0 { 1 } else { block_bytes };
    bytes.div_ceil(block_bytes).saturating_mul(block_bytes)
}

fn room(cells: &[CellPlan], is_there: impl Fn(&str) -> bool, block_bytes: u64) -> Room {
    most(&sets(cells, is_there, block_bytes).collect::<Vec<_>>())
}

/// Whether each set stays, and what it takes.
fn sets(cells: &[CellPlan], is_there: impl Fn(&str) -> bool, block_bytes: u64) -> impl Iterator<Item = (bool, Room)> {
    let sets = cells.iter().filter(move |cell| is_there(&cell.target)).filter_map(CellPlan::files);
    sets.map(move |set| (set.stays(), of_set(set, block_bytes)))
}

/// What is there at the same time of what stays, and of what does not.
fn most(all: &[(bool, Room)]) -> Room {
    let most = |count: fn(&Room) -> u64| {
        let of = |stays: bool| all.iter().filter(move |one| one.0 == stays).map(move |(_, room)| count(room));
        of(true).fold(of(false).max().unwrap_or(0), u64::saturating_add)
    };
    Room { content_bytes: most(|room| room.content_bytes), names: most(|room| room.names) }
}

/// What there is of a set after a phase, or is made for one.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct There {
    files: bool,
    /// Whether they have their content.
    is_filled: bool,
    /// Blocks that were appended to each.
    appended: u64,
    /// Whether as many blocks are in the log.
    is_logged: bool,
    /// Whether there are as many directories.
    directories: bool,
    /// Whether each has a link, which is a file of its own.
    links: bool,
}

impl There {
    /// What a phase finds, and what there is at its end, or was before it removed it.
    fn during(mut self, phase: FilePhase) -> Self {
        (self.is_logged, self.links) = (false, false);
        match phase.precondition() {
            Precondition::Absent => (self.files, self.is_filled, self.appended) = (false, false, 0),
            Precondition::Present if self.files => {}
            Precondition::Filled if self.files && self.is_filled => {}
            Precondition::Present | Precondition::Filled => {
                (self.files, self.is_filled, self.appended) = (true, true, 0);
            }
            Precondition::NoDirectories | Precondition::Directories => self.directories = true,
        }
        match phase {
            FilePhase::Create => self.files = true,
            FilePhase::Write | FilePhase::WriteRead => (self.files, self.is_filled) = (true, true),
            FilePhase::Append | FilePhase::ReadAppend => self.appended += 1,
            FilePhase::Log => self.is_logged = true,
            FilePhase::Symlink => self.links = true,
            _ => {}
        }
        self
    }

    const fn after(mut self, phase: FilePhase) -> Self {
        match phase {
            FilePhase::Delete => self.files = false,
            FilePhase::Truncate => (self.is_filled, self.appended) = (false, 0),
            FilePhase::Rmdir => self.directories = false,
            _ => {}
        }
        self
    }
}

/// How much a mix appends nobody knows before.
fn of_set(set: &FilePlan, block_bytes: u64) -> Room {
    let phases = set.phases.as_slice();
    let mut there = There::default();
    // Most of these have the same bytes, and of very many files it takes a while to add them up.
    let mut contents = BTreeSet::new();
    let mut names = 0;
    let (files, appended_bytes) = (u64::from(set.file_count), u64::from(set.block_size_bytes));
    for phase in phases {
        there = there.during(*phase);
        let kinds = [there.files, there.directories, there.links].into_iter().filter(|is_there| *is_there).count();
        names = names.max(files * kinds as u64 + u64::from(there.is_logged));
        contents.insert((there.files && there.is_filled, there.appended, there.is_logged));
        there = there.after(*phase);
    }
    let whole = |bytes: u64| whole_blocks(bytes, block_bytes);
    let sizes = set.sizes();
    let content_bytes = contents.into_iter().map(|(is_filled, appended, is_logged)| {
        let takes = |bytes: u64| whole(if is_filled { bytes } else { 0 }.saturating_add(appended * appended_bytes));
        let log_bytes = if is_logged { files * appended_bytes } else { 0 };
        sizes.total_of(files, takes).saturating_add(log_bytes)
    });
    let directories = u64::from(set.directory_count()) + set.directories_above().count() as u64;
    let moved = u64::from(phases.contains(&FilePhase::RenameCross));
    Room { content_bytes: content_bytes.max().unwrap_or(0), names: names + directories + moved }
}

/// Refuses sets of more bytes than are free.
pub(super) fn check(targets: &[TargetFacts], cells: &[CellPlan]) -> Result<(), PlanError> {
    for target in targets {
        let needed = room(cells, |name| name == target.name, 1).content_bytes;
        if let Some(free) = target.free_bytes.filter(|free| needed > *free) {
            let [free, needed] = in_one_unit([free, needed]);
            let problem = format!(
                "{free} is free but the files need {needed} at the same time: lower --file-count or --file-size, or \
                 --block-size if files are appended to, or do fewer workloads in a run"
            );
            return Err(PlanError::Target { target: target.name.clone(), problem });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{certainty::Certainty, preset, settings::Effort, target_facts::TargetKind, workload::Workload};

    fn plan(workloads: &[Workload], free_bytes: u64) -> Result<Plan, String> {
        let target = TargetFacts {
            name: "/mnt/a".to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(free_bytes),
            direct_alignment_bytes: Some(512),
        };
        Plan::resolve(&[target], workloads, &Certainty::of(Effort::Standard), 7).map_err(|error| error.to_string())
    }

    fn sets(texts: &[&str]) -> Vec<Workload> {
        texts.iter().map(|text| toml::from_str(text).unwrap()).collect()
    }

    #[test]
    fn sets_that_stay_are_added_up_and_of_the_others_the_largest() {
        let four = sets(&[
            "name = 'a'\nphases = 'read'\nfile_count = 10\nfile_size = '1k'",
            "name = 'b'\nphases = 'stat,read'\nfile_count = 20\nfile_size = '1k'\nfiles_per_directory = 10",
            "name = 'c'\nphases = 'write,read,delete'\nfile_count = 30\nfile_size = '1k'",
            "name = 'd'\nphases = 'write'\nfile_count = 40\nfile_size = '1k'",
        ]);
        let room = plan(&four, 70 << 10).unwrap().room(|target| target == "/mnt/a", 1);
        assert_eq!(room, Room { content_bytes: 70 << 10, names: 10 + 22 + 40 });
        let mut twice = plan(&four, 70 << 10).unwrap();
        let beside = twice.cells.iter().cloned().map(|cell| CellPlan { target: "/mnt/b".to_owned(), ..cell });
        let beside: Vec<_> = beside.collect();
        twice.cells.extend(beside);
        let both = Room { content_bytes: (2 * 30 + 40) << 10, names: 2 * (10 + 22) + 40 };
        assert_eq!(twice.room(|_| true, 1), both, "of both targets a set that ends is there at a time");
        let why = plan(&four, (70 << 10) - 1).unwrap_err();
        assert!(why.contains("is free but the files need") && why.contains("at the same time"), "{why}");
        // The five warm cells of this one keep what they read.
        let honest = preset::find("k8s-io-honest").unwrap().workloads(Effort::Standard);
        let largest = 5 * 100 * (1 << 20);
        assert!(plan(&honest, 1 << 40).unwrap().room(|target| target == "/mnt/a", 1).content_bytes > 2 * largest);
        assert!(plan(&honest, largest + (200 << 20)).is_err());
    }

    #[test]
    fn files_that_stay_empty_need_no_bytes() {
        let content_bytes = |phases: &str| {
            let workload = sets(&[&format!("phases = '{phases}'\nfile_count = 10\nfile_size = '1k'")]);
            plan(&workload, 1 << 20).unwrap().room(|target| target == "/mnt/a", 1).content_bytes
        };
        for empty in ["create,stat,delete", "create", "mkdir,rmdir"] {
            assert_eq!(content_bytes(empty), 0, "{empty}");
        }
        for filled in ["create,write", "stat", "create,read", "create,delete,stat", "delete"] {
            assert_eq!(content_bytes(filled), 10 << 10, "{filled}");
        }
    }

    #[test]
    fn what_phases_add_to_files_and_make_beside_them_needs_room_too() {
        let room = |phases: &str, block_bytes: u64| {
            let shape = "file_count = 10\nfile_size = '1k'\nblock_size = '8k'";
            let workload = sets(&[&format!("phases = '{phases}'\n{shape}")]);
            let Room { content_bytes, names } =
                plan(&workload, 1 << 20).unwrap().room(|target| target == "/mnt/a", block_bytes);
            (content_bytes >> 10, names)
        };
        for (phases, bytes, whole_blocks, names) in [
            ("write,stat", 10, 40, 10),
            ("create,append", 80, 80, 10),
            ("write,append,read_append,read", 170, 200, 10),
            ("write,append,delete", 90, 120, 10),
            ("append,truncate,read", 90, 120, 10),
            ("write,log,append", 90, 120, 11),
            ("write,symlink,link", 10, 40, 20),
            ("mkdir,rmdir", 0, 0, 10),
            ("write,mkdir,symlink", 10, 40, 30),
            ("rename_cross", 10, 40, 11),
        ] {
            assert_eq!(room(phases, 1), (bytes, names), "{phases}");
            assert_eq!(room(phases, 4096), (whole_blocks, names), "{phases}");
        }
        let appended = sets(&["phases = 'append'\nfile_count = 10\nfile_size = '1k'"]);
        let why = plan(&appended, 1 << 20).unwrap_err();
        assert!(why.contains("1024KiB is free but the files need 10250KiB") && why.contains("--block-size"), "{why}");
    }
}
