//! Plan files: TOML that people write, and everything that follows from it up to the exact plan.
#![no_main]

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
    let workloads: Vec<Workload> =
        file.workloads.into_iter().flat_map(|workload| workload.or(&file.defaults).expand()).collect();
    for kind in [TargetKind::Directory, TargetKind::Device] {
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
            let region = cell.blocks.job_region(cell.blocks.jobs - 1);
            let end = region.offset.checked_add(region.length).expect("a region ends");
            assert!(end <= cell.blocks.file_bytes(), "no job leaves its file");
            assert!(!cell.blocks.describe().is_empty());
        }
    }
});
