//! What presets promise.

use std::collections::HashSet;

use super::*;
use crate::{
    file_set::{CacheState, FileSync},
    plan::{BlockPlan, CellPlan, Plan},
    plan_file::PlanFile,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
};

fn cells(name: &str, effort: Effort) -> Vec<CellPlan> {
    let target = TargetFacts {
        name: "/mnt/data".into(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(100 * GIB),
        direct_alignment_bytes: Some(512),
    };
    Plan::resolve(&[target], &find(name).unwrap().workloads(effort), &crate::certainty::Certainty::of(effort), 7)
        .unwrap()
        .cells
}

fn plans(name: &str) -> Vec<(String, BlockPlan)> {
    let blocks = |cell: CellPlan| Some((cell.workload, cell.work.into_blocks()?));
    cells(name, Effort::Standard).into_iter().map(|cell| blocks(cell).unwrap()).collect()
}

#[test]
fn every_preset_can_be_planned_and_its_cells_have_names_of_their_own() {
    for preset in PRESETS {
        for effort in [Effort::Quick, Effort::Standard] {
            let cells = cells(preset.name, effort);
            let names: HashSet<&str> = cells.iter().map(|cell| cell.workload.as_str()).collect();
            assert_eq!(names.len(), preset.cells(), "{}", preset.name);
        }
    }
}

#[test]
fn every_preset_can_be_written_as_a_plan_file() {
    for preset in PRESETS {
        let file = PlanFile { workloads: preset.workloads(Effort::Standard), ..PlanFile::default() };
        let text = toml::to_string(&file).unwrap();
        assert_eq!(toml::from_str::<PlanFile>(&text).unwrap(), file, "{text}");
    }
}

#[test]
fn an_unknown_preset_is_answered_with_the_known_ones() {
    let error = find("mssql").unwrap_err().to_string();
    assert!(PRESETS.iter().all(|preset| error.contains(preset.name)), "{error}");
}

#[test]
fn canonical_asks_for_latency_iops_and_throughput_and_leaves_the_size_open() {
    let workloads = find("canonical").unwrap().workloads(Effort::Standard);
    assert!(workloads.iter().all(|workload| workload.size.is_none() && workload.duration.is_none()));
    let shapes: Vec<_> = plans("canonical")
        .into_iter()
        .map(|(name, plan)| (name, plan.read_percent, plan.block_size_bytes_max, plan.queue_depth, plan.jobs))
        .collect();
    let due = [
        ("latency-read", 100, 4096, 1),
        ("latency-write", 0, 4096, 1),
        ("iops-read", 100, 4096, 64),
        ("iops-write", 0, 4096, 64),
        ("throughput-read", 100, 1 << 20, 32),
        ("throughput-write", 0, 1 << 20, 32),
    ];
    assert_eq!(shapes, due.map(|(name, reads, block, depth)| (name.to_owned(), reads, block, depth, 1)));
    let parts: Vec<_> = ["latency", "iops", "throughput"].iter().flat_map(|name| plans(name)).collect();
    assert!(parts.iter().map(|part| &part.0).eq(due.map(|(name, ..)| name.to_owned()).iter()));
    assert!(parts.iter().all(|(_, plan)| plan.size_bytes == 30 * GIB));
}

#[test]
fn mssql_16k_has_eight_jobs_on_one_file_of_800_mib() {
    let reads: Vec<u8> = plans("mssql-16k").iter().map(|(_, plan)| plan.read_percent).collect();
    assert_eq!(reads, [100, 0, 50]);
    for (_, plan) in plans("mssql-16k") {
        assert_eq!((plan.block_size_bytes_max, plan.queue_depth, plan.jobs), (16_384, 16, 8));
        assert_eq!((plan.files_in_all(), plan.file_bytes(), plan.buffered), (1, 838_860_800, false));
    }
}

#[test]
fn diskspd_default_writes_half_through_for_two_minutes() {
    let (_, plan) = plans("diskspd-default").remove(0);
    assert_eq!((plan.read_percent, plan.random_percent, plan.block_size_bytes_max), (50, 100, 4096));
    assert_eq!((plan.jobs, plan.queue_depth, plan.size_bytes), (8, 8, GIB));
    assert_eq!((plan.sync, plan.buffered), (SyncMode::DataSync, false));
    assert_eq!((plan.ramp_ns, plan.slot_ns), (5_000_000_000, Some(120_000_000_000)));
}

#[test]
fn menus_for_kubernetes_volumes_are_complete() {
    let (dbench, kbench) = (plans("dbench"), plans("kbench"));
    assert_eq!((dbench.len(), kbench.len()), (9, 12));
    assert!(dbench.iter().all(|(_, plan)| plan.size_bytes == 2 * GIB && plan.files_in_all() == 1));
    assert!(kbench.iter().all(|(_, plan)| plan.size_bytes == 30 * GIB && plan.jobs == 1));
    assert_eq!(dbench[8].1.read_percent, 75);
    let sequential = kbench.iter().filter(|(_, plan)| plan.random_percent == 0).count();
    assert_eq!(sequential, 6);
}

#[test]
fn k8s_io_has_the_five_shapes_and_what_each_phase_writes_in_all() {
    let shapes: Vec<_> = cells("k8s-io", Effort::Standard)
        .into_iter()
        .map(|cell| {
            let files = cell.files().unwrap();
            assert_eq!((files.jobs, files.buffered, files.payload.to_string()), (1, true, "zero".to_owned()));
            assert_eq!((files.file_sync, files.cache), (FileSync::File, CacheState::AsIs));
            assert_eq!(files.phases.to_string(), "write,read,write_read");
            let iterations = u64::from(cell.stopping.slots().unwrap());
            (files.file_count, files.file_size.to_string(), iterations, files.total_bytes() * iterations)
        })
        .collect();
    let mib = 1 << 20;
    let due = [
        (1000, "10KiB".to_owned(), 10, 102_400_000),
        (100, "100KiB".to_owned(), 10, 102_400_000),
        (10, "1MiB".to_owned(), 10, 100 * mib),
        (5, "10MiB".to_owned(), 2, 100 * mib),
        (5, "100MiB".to_owned(), 1, 500 * mib),
    ];
    assert_eq!(shapes, due);
}
