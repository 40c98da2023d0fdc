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
            "has files that several workloads would write, in turn or at the same time, and each would take the \
             blocks of the others for damage: verify one workload at a time, or give each file_names of its own"
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

/// Whether others write to a cell's files by their names between its own writes: in turns, or in its phase at the same
/// moment. Those of a phase may have parts of a file of their own. What other phases write comes before or after all
/// that is checked.
fn others_write_its_files(plan: &Plan, cell: &CellPlan, blocks: &BlockPlan) -> bool {
    let others = cells_of(plan, &cell.target).filter(|other| !ptr::eq(*other, cell) && other.phase == cell.phase);
    let own = blocks.file_region();
    let mut others = others.filter_map(CellPlan::blocks).filter(|other| {
        let region = other.file_region();
        let is_apart = region.offset >= own.offset + own.length || own.offset >= region.offset + region.length;
        other.writes() && !(cell.phase.is_some() && is_apart)
    });
    let is_own = |name: String| blocks.file_names.iter().any(|own| own == name);
    others.any(|other| other.file_names.iter().any(is_own))
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
    use plimsoll_workload::{
        certainty::Certainty,
        settings::Effort,
        target_facts::{TargetFacts, TargetKind},
    };

    use super::*;

    /// What a directory is told of these workloads on files of which one was there before.
    fn check(workloads: &[String]) -> Result<(), String> {
        let directory = TargetFacts {
            name: "data".to_owned(),
            kind: TargetKind::Directory,
            size_bytes: None,
            free_bytes: Some(1 << 30),
            direct_alignment_bytes: Some(512),
        };
        let workloads: Vec<_> = workloads.iter().map(|text| toml::from_str(text).unwrap()).collect();
        let plan = Plan::resolve(&[directory], &workloads, &Certainty::of(Effort::Quick), 7).unwrap();
        check_verification(&plan, |_| true, |file| file == "data/old").map_err(|error| error.to_string())
    }

    #[test]
    fn named_files_of_others_are_not_verified_when_they_are_only_read() {
        let of = |rw| format!("rw = '{rw}'\nverify = true\nfile_count = 2\nfile_names = ['new', 'old']\nsize = '2M'");
        assert!(check(&[of("randread")]).unwrap_err().contains("was not written by plimsoll"));
        assert_eq!(check(&[of("randwrite")]), Ok(()));
    }

    #[test]
    fn what_others_write_between_ones_own_writes_is_not_called_damage() {
        // Phase and start in the file of the one that verifies, and of the other.
        let check = |own: (&str, &str), other: (&str, &str), rw: &str| {
            let of = |rw: &str, (phase, offset): (&str, &str)| {
                format!("rw = '{rw}'\nfile_names = ['f']\nsize = '2M'\nduration = '1s'\noffset = '{offset}'\n{phase}\n")
            };
            check(&[of("randwrite", own) + "verify = true\nname = 'own'", of(rw, other)])
        };
        let (first, second) = ("phase = 1", "phase = 2");
        for (own, other) in [(("", "0"), ("", "0")), ((first, "0"), (first, "0")), ((first, "1M"), (first, "0"))] {
            let told = check(own, other, "randwrite").unwrap_err();
            assert!(told.contains("would take the blocks of the others"), "{told}");
            assert_eq!(check(own, other, "randread"), Ok(()));
        }
        assert_eq!(check((first, "0"), (second, "0"), "randwrite"), Ok(()));
        assert_eq!(check((first, "2M"), (first, "0"), "randwrite"), Ok(()));
    }
}
