//! Plan files: TOML that people write, and everything that follows from it up to the exact plan.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use plimsoll_workload::{
    plan::Plan,
    plan_file::PlanFile,
    certainty::Certainty,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};

fuzz_target!(|text: &str| {
    let Ok(file) = toml::from_str::<PlanFile>(text) else { return };
    let again = toml::to_string(&file).expect("a plan file that was read can be written");
    assert_eq!(toml::from_str::<PlanFile>(&again).as_ref(), Ok(&file), "a written plan file reads back the same");
    if let Some(striping) = &file.stripe
        && let Ok(arrays) = striping.expand()
    {
        let all = striping.devices.len() as u32;
        for (index, array) in arrays.iter().enumerate() {
            let disks: BTreeSet<u32> = array.disks.iter().copied().collect();
            assert!(disks.len() == array.disks.len() && disks.iter().all(|disk| *disk < all), "each disk once");
            assert!(arrays[..index].iter().all(|other| other.name != array.name), "a name for each");
        }
    }
    let workloads: Vec<Workload> =
        file.workloads.into_iter().flat_map(|workload| workload.or(&file.defaults).expand()).collect();
    for kind in [TargetKind::Directory, TargetKind::Directories(3), TargetKind::Device] {
        let size_bytes = (kind == TargetKind::Device).then_some(1 << 30);
        let target = TargetFacts {
            name: "target".into(),
            kind,
            size_bytes,
            free_bytes: Some(1 << 34),
            direct_alignment_bytes: Some(4096),
        };
        let certainty = Certainty {
            precision: file.precision,
            max_time: file.max_time,
            bookend: file.bookend,
            passes: file.passes,
            discard_first: file.discard_first,
            limit: file.limit,
            ..Certainty::of(file.effort.unwrap_or(Effort::Quick))
        };
        let Ok(plan) = Plan::resolve(&[target], &workloads, &certainty, 1) else { continue };
        for cell in plan.cells {
            assert!(!cell.workload.is_empty() && !cell.work.describe().is_empty());
            if let Some(files) = cell.files() {
                assert_eq!(files.files_of(files.jobs - 1).1, files.file_count, "jobs have all files");
            }
            let Some(blocks) = cell.blocks() else { continue };
            let region = blocks.job_region(blocks.jobs - 1);
            let end = region.offset.checked_add(region.length).expect("a region ends");
            assert!(end <= blocks.file_bytes(), "no job leaves its file");
        }
    }
});
