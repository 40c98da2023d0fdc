//! What is refused before anything is made.

use std::{path::Path, ptr};

use plimsoll_io::{
    block_device::{self, DeviceFacts},
    probe::{EngineKind, EngineUnavailable},
};
use plimsoll_workload::{
    plan::{BlockPlan, CellPlan, Plan},
    settings::EngineChoice,
};

use super::cells_of;
use crate::run::RunError;

/// Refuses to verify what nobody knows. To find such blocks wrong would be a false alarm, and the worst there is.
pub(crate) fn check_verification(
    plan: &Plan,
    is_directory: impl Fn(&str) -> bool,
    is_foreign: impl Fn(&str) -> bool,
) -> Result<(), RunError> {
    let blocks = plan.cells.iter().filter_map(|cell| Some((cell, cell.blocks()?)));
    for (cell, blocks) in blocks.filter(|(_, blocks)| blocks.verify) {
        let target = cell.target.as_str();
        let files: Vec<String> = match blocks.file_names.is_empty() {
            true => vec![target.to_owned()],
            false => blocks.file_names.iter().map(|name| format!("{target}/{name}")).collect(),
        };
        let problem = if blocks.engine == EngineChoice::Memory {
            "is not touched by the memory engine, which keeps nothing that could be verified: leave --verify out, or \
             choose another engine"
        } else if !is_directory(target) && cells_of(plan, target).count() > 1 {
            "would be written by several workloads in turn, and each would take the blocks of the others for damage: \
             verify one workload at a time, or name a directory, where each has files of its own"
        } else if others_write_its_files(plan, cell, blocks) {
            "has files that several workloads would write in turn, and each would take the blocks of the others for \
             damage: verify one workload at a time, or give each file_names of its own"
        } else if !blocks.writes() && files.iter().any(|file| is_foreign(file)) {
            "was not written by plimsoll, so nobody knows what --verify should find there: leave --verify out, or name \
             a directory or a new file, which are written first"
        } else {
            continue;
        };
        return Err(RunError::Unverifiable { target: target.to_owned(), problem });
    }
    Ok(())
}

/// Whether a cell takes turns with others that write to its files by their names.
fn others_write_its_files(plan: &Plan, cell: &CellPlan, blocks: &BlockPlan) -> bool {
    let others = cells_of(plan, &cell.target).filter(|other| !ptr::eq(*other, cell) && other.phase.is_none());
    let mut others = others.filter_map(CellPlan::blocks).filter(|other| other.writes());
    let is_own = |name: String| blocks.file_names.iter().any(|own| own == name);
    cell.phase.is_none() && others.any(|other| other.file_names.iter().any(is_own))
}

/// Refuses to poll where the kernel is known to have nothing to poll. Without a disk to ask, the engine finds out.
pub(super) fn check_polling(target: &str) -> Result<(), EngineUnavailable> {
    let backing = block_device::device_of(Path::new(target));
    match backing.and_then(|backing| block_device::facts(backing.disk)) {
        Some(DeviceFacts { disk, polled_queues: Some(false), .. }) => Err(EngineUnavailable {
            kind: EngineKind::IoUring,
            reason: format!(
                "--iopoll needs queues that can be polled, and the disk {disk} of \"{target}\" has none \
                 (/sys/block/{disk}/queue/io_poll is 0): leave --iopoll out, or load the disk's driver with queues for \
                 polling (nvme.poll_queues=N)"
            ),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use plimsoll_workload::{
        certainty::Certainty,
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
    };

    use super::*;

    #[test]
    fn named_files_of_others_are_not_verified_when_they_are_only_read() {
        let directory = TargetFacts {
            name: "data".to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(1 << 30),
            direct_alignment_bytes: Some(512),
        };
        let check = |rw: &str| {
            let workload =
                format!("rw = '{rw}'\nverify = true\nfile_count = 2\nfile_names = ['new', 'old']\nsize = '2M'");
            let workloads = [toml::from_str(&workload).unwrap()];
            let plan =
                Plan::resolve(slice::from_ref(&directory), &workloads, &Certainty::of(Effort::Quick), 7).unwrap();
            check_verification(&plan, |_| true, |file| file == "data/old").map_err(|error| error.to_string())
        };
        assert!(check("randread").unwrap_err().contains("was not written by plimsoll"));
        assert_eq!(check("randwrite"), Ok(()));
    }
}
