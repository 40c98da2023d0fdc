//! How much room sets of files take of a target: all that stay until the end of the run, and one of the others.

use super::{CellPlan, Plan, PlanError};
use crate::{file_set::FilePlan, target_facts::TargetFacts, units::in_one_unit};

/// What sets of files have at most at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of their content.
    pub content_bytes: u64,
    /// Files and directories.
    pub names: u64,
}

impl Plan {
    /// What the sets of files on a target take of it.
    pub fn room(&self, target: &str) -> Room {
        room(&self.cells, target)
    }
}

fn room(cells: &[CellPlan], target: &str) -> Room {
    let most = |count: fn(&FilePlan) -> u64| {
        let sets = || cells.iter().filter(|cell| cell.target == target).filter_map(CellPlan::files);
        let stays = sets().filter(|set| set.stays()).map(count).fold(0, u64::saturating_add);
        let others = sets().filter(|set| !set.stays()).map(count).max().unwrap_or(0);
        stays.saturating_add(others)
    };
    Room {
        content_bytes: most(FilePlan::content_bytes),
        names: most(|set| u64::from(set.file_count) + u64::from(set.directory_count())),
    }
}

/// Refuses sets of more bytes than are free.
pub(super) fn check(targets: &[TargetFacts], cells: &[CellPlan]) -> Result<(), PlanError> {
    for target in targets {
        let needed = room(cells, &target.name).content_bytes;
        if let Some(free) = target.free_bytes.filter(|free| needed > *free) {
            let [free, needed] = in_one_unit([free, needed]);
            let problem = format!(
                "{free} is free but the files need {needed} at the same time: lower --file-count or --file-size, or do \
                 fewer workloads in a run"
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
        let room = plan(&four, 70 << 10).unwrap().room("/mnt/a");
        assert_eq!(room, Room { content_bytes: 70 << 10, names: 10 + 22 + 40 });
        let why = plan(&four, (70 << 10) - 1).unwrap_err();
        assert!(why.contains("is free but the files need") && why.contains("at the same time"), "{why}");
        // The five warm cells of this one keep what they read.
        let honest = preset::find("k8s-io-honest").unwrap().workloads(Effort::Standard);
        let largest = 5 * 100 * (1 << 20);
        assert!(plan(&honest, 1 << 40).unwrap().room("/mnt/a").content_bytes > 2 * largest);
        assert!(plan(&honest, largest + (200 << 20)).is_err());
    }

    #[test]
    fn files_that_stay_empty_need_no_bytes() {
        let content_bytes = |phases: &str| {
            let workload = sets(&[&format!("phases = '{phases}'\nfile_count = 10\nfile_size = '1k'")]);
            plan(&workload, 1 << 20).unwrap().room("/mnt/a").content_bytes
        };
        for empty in ["create,stat,delete", "create", "mkdir,rmdir"] {
            assert_eq!(content_bytes(empty), 0, "{empty}");
        }
        for filled in ["create,write", "stat", "create,read", "create,delete,stat", "delete", "create,append"] {
            assert_eq!(content_bytes(filled), 10 << 10, "{filled}");
        }
    }
}
