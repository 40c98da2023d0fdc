//! What a plan promises.

use proptest::prelude::*;

use super::*;
use crate::{
    certainty::Certainty,
    target_facts::{TargetFacts, TargetKind},
    units::Span,
    verification::seed_of,
    workload::Workload,
};

pub(super) fn directory() -> TargetFacts {
    TargetFacts {
        name: "/mnt/data".into(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(100 << 30),
        direct_alignment_bytes: Some(512),
    }
}

fn device(size_bytes: u64) -> TargetFacts {
    TargetFacts { kind: TargetKind::Device, size_bytes: Some(size_bytes), free_bytes: None, ..directory() }
}

pub(super) fn one(target: &TargetFacts, workload: &Workload) -> Result<CellPlan, PlanError> {
    Plan::resolve(std::slice::from_ref(target), std::slice::from_ref(workload), &Certainty::of(Effort::Quick), 7)
        .map(|mut plan| plan.cells.remove(0))
}

#[test]
fn an_empty_workload_becomes_a_whole_plan() {
    let cell = one(&directory(), &Workload::default()).unwrap();
    assert_eq!(cell.workload, "read 4KiB QD1");
    assert_eq!(cell.blocks().unwrap().size_bytes, 512 << 20);
    assert_eq!((cell.stopping, cell.blocks().unwrap().slot_ns), (StoppingRule::Sure, None));
}

#[test]
fn duration_is_measured_time_over_all_slots() {
    let workload = Workload { duration: Some(Span::from_seconds(12)), ..Workload::default() };
    let alone = one(&directory(), &workload).unwrap();
    assert_eq!((alone.stopping.slots(), alone.blocks().unwrap().slot_ns), (Some(1), Some(12_000_000_000)));
    let targets = [directory(), device(1 << 30)];
    let plan = Plan::resolve(&targets, &[workload], &Certainty::of(Effort::Quick), 7).unwrap();
    for cell in plan.cells {
        assert_eq!(u64::from(cell.stopping.slots().unwrap()) * cell.blocks().unwrap().slot_ns.unwrap(), 12_000_000_000);
    }
}

#[test]
fn without_a_duration_the_rules_decide_when_a_cell_is_done() {
    let timed = Workload { duration: Some(Span::from_seconds(10)), ..Workload::default() };
    let plan = Plan::resolve(&[directory()], &[Workload::default(), timed], &Certainty::of(Effort::Standard), 7);
    let cells = plan.unwrap().cells;
    assert_eq!((cells[0].stopping, cells[0].blocks().unwrap().slot_ns), (StoppingRule::Sure, None));
    assert_eq!(cells[1].stopping, StoppingRule::Fixed { slots: 2, discarded: 0 });
}

#[test]
fn passes_are_slots_of_the_duration_each() {
    let certainty = Certainty { passes: Some(2), discard_first: Some(1), ..Certainty::of(Effort::Standard) };
    let hour = Workload { duration: Some(Span::from_seconds(3600)), ..Workload::default() };
    let plan = Plan::resolve(&[directory()], &[hour.clone(), hour], &certainty, 7).unwrap();
    for cell in plan.cells {
        assert_eq!(cell.stopping, StoppingRule::Fixed { slots: 2, discarded: 1 });
        assert_eq!(cell.blocks().unwrap().slot_ns, Some(3_600_000_000_000));
    }
}

#[test]
fn contradictions_are_refused_with_a_way_out() {
    let with = |change: fn(&mut Workload)| {
        let mut workload = Workload::default();
        change(&mut workload);
        one(&directory(), &workload).unwrap_err().to_string()
    };
    assert!(with(|w| w.read_percent = Some("70".parse().unwrap())).contains("--rw rw"));
    assert!(with(|w| w.distribution = Some(Distribution::Uniform)).contains("randread"));
    let verified = with(|w| {
        (w.rw, w.verify, w.distribution) = (Some(ReadWrite::RandWrite), Some(true), Some(Distribution::Uniform));
    });
    assert!(verified.contains("--distribution exact-once"), "{verified}");
    assert!(with(|w| w.arrival = Some(Arrival::Poisson)).contains("--rate"));
    assert!(with(|w| w.queue_depth = Some("0".parse().unwrap())).contains("1 to"));
    assert!(with(|w| w.size = Some("200G".parse().unwrap())).contains("free"));
    assert!(
        with(|w| w.io_size = Some("1".parse().unwrap())).contains("--io-size 1B is smaller than one block of 4096B")
    );
    assert!(
        with(|w| w.size = Some("4KB".parse().unwrap())).contains("--size 4000B is smaller than one block of 4096B")
    );
    assert!(with(|w| w.duration = Some(Span::default())).contains("measures nothing"));
    assert!(with(|w| w.block_size = Some("1000".parse().unwrap())).contains("multiple of 512"));
    let rate = with(|w| w.rate = Some("200M".parse().unwrap()));
    assert!(rate.contains("--rate 200000000/s is 200000000 operations a second") && rate.contains("200MiB"), "{rate}");
}

#[test]
fn jobs_verify_only_what_no_other_job_writes() {
    let plan = |rw: ReadWrite, apart: &str| {
        one(
            &directory(),
            &Workload {
                rw: Some(rw),
                verify: Some(true),
                jobs: Some("2".parse().unwrap()),
                size: Some("1M".parse().unwrap()),
                offset_increment: Some(apart.parse().unwrap()),
                ..Workload::default()
            },
        )
        .map(drop)
        .map_err(|error| error.to_string())
    };
    assert!(plan(ReadWrite::RandWrite, "0").unwrap_err().contains("--offset-increment of at least --size"));
    assert!(plan(ReadWrite::RandRw, "512K").unwrap_err().contains("--offset-increment of at least --size"));
    assert!(plan(ReadWrite::RandWrite, "1026K").unwrap_err().contains("multiple of the block size"));
    assert_eq!(plan(ReadWrite::RandWrite, "1M"), Ok(()));
    assert_eq!(plan(ReadWrite::RandRead, "0"), Ok(()), "what is only read is as it was laid out");
}

#[test]
fn files_of_cells_and_jobs_are_verified_by_seeds_of_their_own() {
    let workload = Workload {
        rw: Some(ReadWrite::RandWrite),
        verify: Some(true),
        jobs: Some("2".parse().unwrap()),
        ..Workload::default()
    };
    let plan = |files| {
        let workload = Workload { files: Some(files), ..workload.clone() };
        one(&directory(), &workload).unwrap().work.into_blocks().unwrap()
    };
    let (shared, apart) = (plan(FileSharing::Shared), plan(FileSharing::PerJob));
    assert_eq!(seed_of(9, &shared, 0, 0), seed_of(9, &shared, 0, 1), "they are parts of one file");
    assert_ne!(seed_of(9, &apart, 0, 0), seed_of(9, &apart, 0, 1));
    assert_ne!(seed_of(9, &shared, 0, 0), seed_of(9, &shared, 1, 0));
    assert_ne!(seed_of(9, &shared, 0, 0), seed_of(8, &shared, 0, 0), "another process may have written there before");
}

#[test]
fn loops_are_passes_over_what_all_jobs_have() {
    let amount = |text: &str| {
        let workload: Workload = toml::from_str(&format!("{text}\nsize = '1M'\nloops = 3")).unwrap();
        one(&directory(), &workload).unwrap().work.into_blocks().unwrap().amount_bytes.unwrap()
    };
    assert_eq!(amount("rw = 'write'\njobs = 4"), 3 << 20);
    assert_eq!(amount("rw = 'write'\njobs = 4\noffset_increment = '1M'"), 12 << 20);
    assert_eq!(amount("rw = 'write'\njobs = 4\nfiles = 'per-job'"), 12 << 20);
    assert_eq!(amount("rw = 'randread'\njobs = 4"), 3 << 20, "the region that they share");
    assert_eq!(amount("rw = 'read'\nstride = '64k'"), 3 * 16 * 4096);
    assert_eq!(amount("rw = 'read'\nstride = '64k'\nwrite_block_size = '64k'"), 3 * 16 * 4096, "nothing writes");
}

#[test]
fn strides_are_of_what_is_sequential_and_of_one_file_after_another() {
    let resolved = |text: &str| one(&directory(), &toml::from_str(&format!("{text}\nstride = '64k'")).unwrap());
    for text in
        ["rw = 'read'", "rw = 'randread'\nrandom_percent = 0", "rw = 'read'\nfile_count = 4\nfile_order = 'sequential'"]
    {
        let gap = resolved(text).unwrap().work.into_blocks().unwrap().gap_bytes;
        assert_eq!(gap, 60 << 10, "{text}");
    }
    for (text, way_out) in [
        ("rw = 'randread'", "use --rw read"),
        ("rw = 'read'\nrandom_percent = 100", "use --rw read"),
        ("rw = 'read'\nfile_count = 4", "--file-order sequential"),
    ] {
        let error = resolved(text).unwrap_err().to_string();
        assert!(error.contains(way_out), "{text}: {error}");
    }
}

#[test]
fn a_region_behind_the_end_is_the_fault_of_the_offset_where_no_size_was_asked_for() {
    let resolved = |text: &str| one(&device(4 << 20), &toml::from_str(text).unwrap()).unwrap_err().to_string();
    assert!(resolved("rw = 'randread'\noffset = '2G'").ends_with("lower --offset"));
    assert!(resolved("rw = 'randread'\nsize = '8M'").ends_with("lower --size or --offset"));
}

#[test]
fn passes_of_jobs_end_with_their_parts() {
    let text =
        "rw = 'randwrite'\ndistribution = 'exact-once'\nblock_size = '4k-64k'\njobs = 3\nsize = '640k'\nloops = 2";
    let plan = one(&directory(), &toml::from_str(text).unwrap()).unwrap().work.into_blocks().unwrap();
    let total = plan.amount_bytes.unwrap();
    let amounts: Vec<u64> = (0..3).map(|job| plan.job_amount(total / 4096, job) * 4096).collect();
    let regions: Vec<u64> = (0..3).map(|job| 2 * plan.job_region(job).length).collect();
    assert_eq!(amounts, regions);
    assert_eq!((total, amounts.iter().sum()), (1280 << 10, total));
}

#[test]
fn psync_starts_only_as_many_threads_as_a_machine_may_have() {
    let workload = |engine: EngineChoice, verify: bool| Workload {
        rw: Some(ReadWrite::RandWrite),
        engine: Some(engine),
        verify: Some(verify),
        jobs: Some("64".parse().unwrap()),
        queue_depth: Some("65".parse().unwrap()),
        ..Workload::default()
    };
    let error = one(&directory(), &workload(EngineChoice::Psync, false)).unwrap_err().to_string();
    assert!(error.contains("--jobs 64 x --queue-depth 65 is more than 4096: lower --queue-depth or --jobs"), "{error}");
    // Engines that queue need a thread for each job, and so does psync when it verifies.
    one(&directory(), &workload(EngineChoice::IoUring, false)).unwrap();
    one(&directory(), &workload(EngineChoice::Psync, true)).unwrap();
}

#[test]
fn a_device_too_small_for_the_size_is_refused() {
    let workload = Workload { size: Some("1GiB".parse().unwrap()), ..Workload::default() };
    assert!(one(&device(1 << 20), &workload).unwrap_err().to_string().contains("1MiB"));
}

#[test]
fn sequential_jobs_on_a_shared_file_get_parts_of_their_own() {
    let workload =
        Workload { jobs: Some("3".parse().unwrap()), size: Some("10M".parse().unwrap()), ..Workload::default() };
    let plan = one(&directory(), &workload).unwrap().work.into_blocks().unwrap();
    let regions: Vec<_> = (0..3).map(|job| plan.job_region(job)).collect();
    assert!(regions.windows(2).all(|pair| pair[0].offset + pair[0].length == pair[1].offset));
    assert!(regions[2].offset + regions[2].length <= 10 << 20);
}

proptest! {
    #[test]
    fn shares_add_up(total: u64, parts in 1_u32..500) {
        let sum: u128 = (0..parts).map(|index| u128::from(share(total, index, parts))).sum();
        prop_assert_eq!(sum, u128::from(total));
    }
}

#[test]
fn percentages_of_a_device_are_of_its_size() {
    let workload =
        Workload { size: Some("25%".parse().unwrap()), offset: Some("50%".parse().unwrap()), ..Workload::default() };
    let plan = one(&device(1 << 30), &workload).unwrap().work.into_blocks().unwrap();
    assert_eq!((plan.offset_bytes, plan.size_bytes), (512 << 20, 256 << 20));
    // Most disks have no round size.
    let workload = Workload { offset: Some("10%".parse().unwrap()), ..workload };
    let plan = one(&device(1_000_204_886_016), &workload).unwrap().work.into_blocks().unwrap();
    assert_eq!(plan.offset_bytes, 1_000_204_886_016 / 10 / 512 * 512);
}

#[test]
fn every_workload_of_a_plan_has_a_name_of_its_own_that_is_the_same_on_all_targets() {
    let plain = Workload { size: Some("1G".parse().unwrap()), ..Workload::default() };
    let buffered = Workload { buffered: Some(true), ..plain.clone() };
    let twice = Workload { name: Some("twice".to_owned()), ..plain.clone() };
    let workloads = [plain.clone(), buffered, twice.clone(), twice, plain];
    let targets = [directory(), TargetFacts { name: "/dev/sdb".into(), ..device(4 << 30) }];
    let plan = Plan::resolve(&targets, &workloads, &Certainty::of(Effort::Quick), 7).unwrap();
    let names: Vec<_> = plan.cells.iter().map(|cell| cell.workload.as_str()).collect();
    let due = ["read 4KiB QD1", "read 4KiB QD1 buffered", "twice", "twice #2", "read 4KiB QD1 #2"];
    assert_eq!(names, [due, due].concat());
}

#[test]
fn a_workload_has_one_name_also_where_it_is_dealt_among_disks() {
    let disks = TargetFacts { name: "/mnt/disks".into(), kind: TargetKind::Directories(4), ..directory() };
    let workload: Workload = toml::from_str("rw = 'randread'\nqueue_depth = 64").unwrap();
    let plan = Plan::resolve(&[disks, directory()], &[workload], &Certainty::of(Effort::Quick), 7).unwrap();
    let [dealt, whole] = &plan.cells[..] else { panic!("two cells") };
    assert_eq!((dealt.workload.as_str(), whole.workload.as_str()), ("randread 4KiB QD64", "randread 4KiB QD64"));
    let [dealt, whole] = [dealt, whole].map(|cell| cell.blocks().unwrap());
    assert_eq!((dealt.jobs, dealt.queue_depth, dealt.size_bytes), (4, 16, 128 << 20), "a fourth for each disk");
    assert_eq!((dealt.dealt.unwrap().disks, whole.dealt), (4, None));
}
