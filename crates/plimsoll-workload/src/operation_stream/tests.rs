//! What a stream of operations promises.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::{
    chi_square::{assert_fits, assert_uniform},
    plan::Plan,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    workload::Workload,
};

/// The plan of a workload written as TOML, on a directory with plenty of room.
fn plan(toml: &str) -> BlockPlan {
    try_plan(toml).unwrap_or_else(|error| panic!("{toml}: {error}"))
}

fn try_plan(toml: &str) -> Result<BlockPlan, String> {
    let workload: Workload = toml::from_str(toml).map_err(|error| error.to_string())?;
    let target = TargetFacts {
        name: "/mnt/data".into(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(1 << 50),
        direct_alignment_bytes: Some(512),
    };
    let mut plan = Plan::resolve(&[target], &[workload], &crate::certainty::Certainty::of(Effort::Quick), 7)
        .map_err(|error| error.to_string())?;
    Ok(plan.cells.remove(0).work.into_blocks().unwrap())
}

fn take(stream: &mut OperationStream, count: usize) -> Vec<Operation> {
    (0..count).map(|_| stream.next_operation()).collect()
}

/// Any block workload that can be planned.
fn any_plan() -> impl Strategy<Value = BlockPlan> {
    let rw = prop::sample::select(vec!["read", "write", "randread", "randwrite", "rw", "randrw"]);
    let sizes = prop::sample::select(vec!["4k", "512", "12k", "4k-64k", "4k/60:64k/40", "8k/1:20k/2:512/1"]);
    let distribution = prop::sample::select(vec![
        "uniform",
        "exact-once",
        "zipf:1.1",
        "zipf:0.3",
        "pareto:0.2",
        "normal:20",
        "zoned:60/10:40/90",
    ]);
    let random_percent = prop::option::of(prop::sample::select(vec![0_u8, 1, 30, 70, 100]));
    (rw, sizes.clone(), sizes, distribution, random_percent, 1_u32..4, 130_u64..4000, 0_u64..3, any::<bool>(), 0_u64..3)
        .prop_filter_map("the plan is refused", |(rw, read, write, distribution, random, jobs, size, gap, own, at)| {
            let mut toml = format!("rw = '{rw}'\nblock_size = '{read}'\nwrite_block_size = '{write}'\njobs = {jobs}\n");
            toml += &format!("size = '{}'\noffset = '{}'\n", size * 1536, at * 512);
            let random = random.unwrap_or(if rw.starts_with("rand") { 100 } else { 0 });
            toml += &format!("random_percent = '{random}'\n");
            if random > 0 {
                toml += &format!("distribution = '{distribution}'\n");
            }
            if gap > 0 && !rw.starts_with("rand") {
                toml += &format!("stride = '{}'\n", (64 << 10) * gap);
            }
            if own {
                toml += "files = 'per-job'\n";
            }
            try_plan(&toml).ok()
        })
}

fn sizes_contain(sizes: &BlockSizes, length: u32) -> bool {
    match sizes {
        BlockSizes::One(size) => *size == length,
        BlockSizes::Range { min, max } => (*min..=*max).contains(&length) && length.is_multiple_of(*min),
        BlockSizes::Split(parts) => parts.iter().any(|part| part.bytes == length),
    }
}

#[test]
fn a_loop_over_pieces_of_several_sizes_leaves_none_of_them_out() {
    for (size, sizes, pass) in [
        ("1028k", "8k/50:12k/50", 1028),
        ("1036k", "8k/50:12k/50", 1036),
        ("8236k", "8k/50:12k/50", 8236),
        ("1030k", "8k/50:12k/50", 1028),
        ("1028k", "8k-64k", 1024),
    ] {
        let toml = format!("rw = 'randread'\ndistribution = 'exact-once'\nsize = '{size}'\nblock_size = '{sizes}'");
        let plan = plan(&format!("{toml}\nloops = 1"));
        let mut stream = OperationStream::new(&plan, 0, 7);
        let mut bytes = 0;
        while stream.pass() == 0 {
            bytes += u64::from(stream.next_operation().length);
        }
        assert_eq!((bytes, plan.amount_bytes), (pass << 10, Some(pass << 10)), "{toml}");
    }
}

#[test]
fn the_short_way_draws_what_the_long_one_does() {
    for rw in ["randread", "randwrite"] {
        let plan = plan(&format!("rw = '{rw}'\nblock_size = '12k'\nsize = '1000k'\noffset = '4k'"));
        for lanes in [1, 3] {
            let mut short = OperationStream::lane(&plan, 0, lanes - 1, lanes, 42);
            assert!(matches!(short.order, Order::Uniform { .. }));
            let mut long = OperationStream { order: Order::Drawn, ..short.clone() };
            assert_eq!(take(&mut short, 1000), take(&mut long, 1000));
            short.skip(7);
            long.skip(7);
            assert_eq!(short.next_operation(), long.next_operation());
        }
    }
    let others = [
        "rw = 'randread'\nblock_size = '4k'\ndistribution = 'zipf:1.1'",
        "rw = 'randread'\nblock_size = '4k-8k'",
        "rw = 'randrw'\nblock_size = '4k'",
    ];
    for other in others {
        let plan = plan(&format!("{other}\nsize = '1m'"));
        assert!(matches!(OperationStream::new(&plan, 0, 42).order, Order::Drawn), "{other}");
    }
}

proptest! {
    #[test]
    fn operations_stay_within_the_region_and_are_aligned(plan in any_plan(), seed: u64) {
        for job in 0..plan.jobs {
            let region = plan.job_region(job);
            let mut stream = OperationStream::new(&plan, job, seed);
            for operation in take(&mut stream, 500) {
                let end = operation.offset + u64::from(operation.length);
                prop_assert!(operation.offset >= region.offset, "{operation:?} of {region:?}");
                prop_assert!(end <= region.offset + region.length, "{operation:?} of {region:?}");
                let sizes = match operation.kind {
                    OperationKind::Read => &plan.read_block_sizes,
                    _ => &plan.write_block_sizes,
                };
                let is_cut = plan.random_percent > 0 && plan.distribution == Distribution::ExactOnce;
                let is_shorter = is_cut && (1..sizes.max()).contains(&operation.length);
                prop_assert!(is_shorter || sizes_contain(sizes, operation.length), "{operation:?}");
                prop_assert!(operation.offset.is_multiple_of(512), "{operation:?}");
                let unit = if is_cut { granule(&plan) } else { u64::from(sizes.min()) };
                if plan.random_percent == 100 {
                    prop_assert!((operation.offset - region.offset).is_multiple_of(unit), "{operation:?}");
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_operations_and_another_seed_others(plan in any_plan(), seed: u64) {
        let mut stream = OperationStream::new(&plan, 0, seed);
        let first = take(&mut stream, 300);
        prop_assert_eq!(&first, &take(&mut OperationStream::new(&plan, 0, seed), 300));
        if plan.random_percent == 100 {
            prop_assert_ne!(&first, &take(&mut OperationStream::new(&plan, 0, seed ^ 1), 300));
        }
    }

    #[test]
    fn lanes_share_the_operations_of_their_job(plan in any_plan(), seed: u64, lanes in 1_u32..9) {
        let mut whole = OperationStream::new(&plan, 0, seed);
        let mut parts: Vec<_> = (0..lanes).map(|lane| OperationStream::lane(&plan, 0, lane, lanes, seed)).collect();
        for number in 0..400 {
            let part = &mut parts[number % lanes as usize];
            prop_assert_eq!(whole.pass(), part.pass());
            prop_assert_eq!(whole.next_operation(), part.next_operation());
        }
    }

    #[test]
    fn skipping_equals_performing(
        plan in any_plan(),
        seed: u64,
        lanes in 1_u32..4,
        counts in prop::collection::vec(0_u64..900, 3),
    ) {
        let mut skipping = OperationStream::lane(&plan, 0, lanes - 1, lanes, seed);
        let mut stepping = skipping.clone();
        for count in counts {
            skipping.skip(count);
            take(&mut stepping, count as usize);
            prop_assert_eq!(skipping.pass(), stepping.pass());
            prop_assert_eq!(skipping.next_operation(), stepping.next_operation());
        }
    }
}

/// How often each offset of the shared file, or of each job's file, is visited in one pass of every job.
fn visits(plan: &BlockPlan, lanes: u32) -> HashMap<(u32, u64), u32> {
    let mut visits = HashMap::new();
    for job in 0..plan.jobs {
        let file = if plan.files_in_all() == 1 { 0 } else { job };
        for lane in 0..lanes {
            let mut stream = OperationStream::lane(plan, job, lane, lanes, 99);
            while stream.pass() == 0 {
                *visits.entry((file, stream.next_operation().offset)).or_default() += 1;
            }
        }
    }
    visits
}

#[test]
fn exact_once_visits_every_block_once_a_pass_over_all_jobs_together() {
    for (jobs, files, blocks, count) in [
        (1, "shared", 1000, 1000),
        (4, "shared", 1000, 1000),
        (3, "per-job", 1000, 3000),
        (8, "shared", 51_200, 51_200),
    ] {
        for (verify, lanes) in [(false, 1), (true, 1), (false, 5), (true, 16)] {
            let plan = plan(&format!(
                "rw = 'randrw'\nsize = '{}k'\nfiles = '{files}'\njobs = {jobs}\nverify = {verify}\ndistribution = 'exact-once'",
                4 * blocks
            ));
            let visits = visits(&plan, lanes);
            assert_eq!(visits.len(), count, "{jobs} {files}");
            assert!(visits.values().all(|times| *times == 1));
        }
    }
}

#[test]
fn exact_once_touches_every_byte_once_a_pass_where_sizes_differ() {
    for (sizes, files) in [
        ("block_size = '4k/60:16k/40'", ""),
        ("block_size = '4k-64k'", "jobs = 3"),
        ("block_size = '4k'\nwrite_block_size = '64k'", "files = 'per-job'\njobs = 2"),
        ("block_size = '2k/1:5k/1:9k/3'", "offset = '3k'"),
        ("block_size = '4k/60:16k/40'", "file_count = 4"),
        ("block_size = '4k-64k'", "file_count = 4\nfile_order = 'turns:3'"),
    ] {
        let toml = format!("rw = 'randrw'\nsize = '6M'\ndistribution = 'exact-once'\n{sizes}\n{files}");
        let plan = plan(&toml);
        for lanes in [1, 3] {
            let mut touched = HashMap::<(u32, u16, u64), u32>::new();
            for job in 0..plan.jobs {
                let own = if plan.files_in_all() > plan.file_count { job } else { 0 };
                let space = plan.file_space(job);
                for lane in 0..lanes {
                    let mut stream = OperationStream::lane(&plan, job, lane, lanes, 99);
                    while stream.pass() == 0 {
                        let operation = space.place(stream.next_operation());
                        for at in 0..u64::from(operation.length) / 1024 {
                            let block = operation.offset / 1024 + at;
                            *touched.entry((own, operation.file, block)).or_default() += 1;
                        }
                    }
                }
            }
            assert!(touched.values().all(|times| *times == 1), "{toml}");
            let untouched = (plan.working_set_bytes() / 1024).checked_sub(touched.len() as u64).unwrap();
            // What is left of a job's region is less than what all sizes are multiples of.
            assert!(untouched * 1024 < granule(&plan) * u64::from(plan.jobs), "{toml}: {untouched}");
        }
    }
}

#[test]
fn exact_once_has_the_sizes_that_were_asked_for_at_places_apart() {
    let plan = plan("rw = 'randread'\nsize = '256M'\ndistribution = 'exact-once'\nblock_size = '4k/60:16k/40'");
    let operations = take(&mut OperationStream::new(&plan, 0, 5), 10_000);
    let share = |length: u32| operations.iter().filter(|operation| operation.length == length).count();
    assert!((5900..6100).contains(&share(4096)), "{}", share(4096));
    assert_eq!(share(4096) + share(16384), 10_000, "none is cut");
    let follows = |pair: &[Operation]| pair[1].offset == pair[0].offset + u64::from(pair[0].length);
    assert!(operations.windows(2).filter(|pair| follows(pair)).count() < 10);
}

#[test]
fn exact_once_has_the_size_and_the_share_of_each_direction() {
    for (percent, size, sizes, read, write) in [
        (50, "32M", "block_size = '4k'\nwrite_block_size = '64k'", 4096, 65536),
        (50, "16M", "block_size = '64k'\nwrite_block_size = '4k'", 65536, 4096),
        (80, "64M", "block_size = '48k'\nwrite_block_size = '64k'", 49152, 65536),
        (30, "16M", "block_size = '8k'\nwrite_block_size = '64k'\nfile_count = 4", 8192, 65536),
    ] {
        let toml =
            format!("rw = 'randrw'\nread_percent = {percent}\nsize = '{size}'\ndistribution = 'exact-once'\n{sizes}");
        let plan = plan(&toml);
        let mut stream = OperationStream::new(&plan, 0, 5);
        let mut operations = Vec::new();
        while stream.pass() == 0 {
            operations.push(stream.next_operation());
        }
        let reads = operations.iter().filter(|operation| operation.kind == OperationKind::Read).count();
        let expected = operations.len() as f64 * f64::from(percent) / 100.0;
        // Half of what fits into one stretch, and what is left at the end of the region.
        assert!((reads as f64 - expected).abs() <= 10.0, "{toml}: {reads} of {}", operations.len());
        let odd = operations
            .iter()
            .filter(|operation| operation.length != if operation.kind == OperationKind::Read { read } else { write });
        assert!(odd.count() <= 1, "{toml}: only what is left at the end of the region has another size");
    }
}

#[test]
fn exact_once_keeps_rare_sizes_rare() {
    for (sizes, size, small, share) in [
        ("block_size = '4k/1:1M/99'", "64M", 4096, 0.01),
        ("block_size = '4k/5:1M/95'", "128M", 4096, 0.05),
        ("block_size = '4k/34:252k/33:256k/33'", "64M", 4096, 0.34),
        ("block_size = '4k/2:64k/98'", "1G", 4096, 0.02),
    ] {
        let plan = plan(&format!("rw = 'randread'\nsize = '{size}'\ndistribution = 'exact-once'\n{sizes}"));
        let mut stream = OperationStream::new(&plan, 0, 5);
        let mut operations = Vec::new();
        while stream.pass() == 0 {
            operations.push(stream.next_operation());
        }
        let of_all = |operations: &[Operation]| {
            let rare = operations.iter().filter(|operation| operation.length == small).count();
            rare as f64 / operations.len() as f64
        };
        let (all, first) = (of_all(&operations), of_all(&operations[..50]));
        assert!((all - share).abs() < 0.06 && (first - share).abs() < 0.2, "{sizes}: {all} and {first}");
    }
}

#[test]
fn sequential_jobs_visit_every_block_once_a_pass_in_order() {
    let plan = plan("rw = 'read'\nsize = '4000k'\njobs = 4\nio_size = '40M'");
    let visits = visits(&plan, 1);
    assert_eq!(visits.len(), 1000);
    assert!(visits.values().all(|times| *times == 1));
    let operations = take(&mut OperationStream::new(&plan, 2, 5), 250);
    assert!(operations.windows(2).all(|pair| pair[1].offset == pair[0].offset + 4096));
}

#[test]
fn a_sequential_pass_with_several_sizes_goes_to_the_end_of_the_region() {
    for sizes in ["4k-64k", "4k/50:12k/30:64k/20"] {
        let plan = plan(&format!("rw = 'write'\nsize = '1000k'\nblock_size = '{sizes}'\nloops = 3"));
        let mut stream = OperationStream::new(&plan, 0, 7);
        for pass in 0..3 {
            let mut end = 0;
            while end < 1000 << 10 {
                let operation = take(&mut stream, 1)[0];
                assert_eq!(operation.offset, end, "pass {pass} of {sizes}");
                assert!(sizes_contain(&plan.write_block_sizes, operation.length));
                end += u64::from(operation.length);
            }
            assert_eq!(end, 1000 << 10);
        }
    }
}

#[test]
fn sequential_access_returns_to_the_start_of_the_region_and_keeps_its_stride() {
    let plan = plan("rw = 'write'\nsize = '36k'\noffset = '8k'\nstride = '12k'\noperations = 100");
    let mut stream = OperationStream::new(&plan, 0, 5);
    let offsets: Vec<u64> = take(&mut stream, 5).iter().map(|operation| operation.offset >> 10).collect();
    assert_eq!(offsets, [8, 20, 32, 8, 20]);
    assert_eq!(stream.pass(), 1);
}

#[test]
fn timed_sequential_slots_start_elsewhere_each_and_others_at_the_start() {
    let first = |toml: &str, seed| OperationStream::new(&plan(toml), 0, seed).next_operation().offset;
    let starts: Vec<u64> = (0..100).map(|seed| first("rw = 'read'\nblock_size = '1M'\nsize = '1G'", seed)).collect();
    assert!(starts.iter().all(|start| start.is_multiple_of(1 << 20)));
    assert!(starts.iter().filter(|start| **start == starts[0]).count() < 5);
    for bound in ["operations = 10", "io_size = '1G'", "loops = 1", "verify = true"] {
        assert_eq!(first(&format!("rw = 'read'\nsize = '1G'\n{bound}"), 3), 0, "{bound}");
    }
}

#[test]
fn random_access_in_part_continues_where_the_last_operation_ended() {
    let plan = plan("rw = 'randread'\nrandom_percent = '20'\nsize = '64M'");
    let operations = take(&mut OperationStream::new(&plan, 0, 5), 100_000);
    let touching = operations.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    assert!((79_400..80_600).contains(&touching), "{touching}");
}

#[test]
fn the_share_of_reads_is_the_one_asked_for() {
    for percent in [1, 30, 50, 70, 99] {
        let plan = plan(&format!("rw = 'randrw'\nread_percent = '{percent}'\nsize = '64M'"));
        let mut stream = OperationStream::new(&plan, 0, 5);
        let reads = take(&mut stream, 200_000).iter().filter(|one| one.kind == OperationKind::Read).count() as u64;
        let share = f64::from(percent) / 100.0;
        assert_fits(&[reads, 200_000 - reads], &[share, 1.0 - share], &format!("{percent} % reads"));
    }
}

#[test]
fn block_sizes_occur_with_their_weights_in_each_direction() {
    let plan = plan("rw = 'randrw'\nblock_size = '4k/60:64k/30:128k/10'\nwrite_block_size = '4k-16k'\nsize = '64M'");
    let mut counts: HashMap<(OperationKind, u32), u64> = HashMap::new();
    for operation in take(&mut OperationStream::new(&plan, 0, 5), 400_000) {
        *counts.entry((operation.kind, operation.length >> 10)).or_default() += 1;
    }
    let reads = [4, 64, 128].map(|size| counts.remove(&(OperationKind::Read, size)).unwrap());
    assert_fits(&reads, &[0.6, 0.3, 0.1], "split");
    let writes = [4, 8, 12, 16].map(|size| counts.remove(&(OperationKind::Write, size)).unwrap());
    assert_uniform(&writes, "range");
    assert!(counts.is_empty(), "{counts:?}");
}

#[test]
fn random_places_are_equally_likely_up_to_the_end_of_the_region() {
    let plan = plan("rw = 'randread'\nblock_size = '4k-16k'\nsize = '400k'");
    let mut counts = vec![vec![0_u64; 100]; 4];
    for operation in take(&mut OperationStream::new(&plan, 0, 5), 1_000_000) {
        counts[(operation.length >> 12) as usize - 1][(operation.offset >> 12) as usize] += 1;
    }
    for (extra, places) in counts.iter().enumerate() {
        let (inside, outside) = places.split_at(100 - extra);
        assert_uniform(inside, &format!("{} blocks", extra + 1));
        assert!(outside.iter().all(|count| *count == 0));
    }
}

#[test]
fn jobs_draw_different_operations_but_prefer_the_same_blocks() {
    let plan = plan("rw = 'randread'\ndistribution = 'zipf:1.2'\njobs = 2\nsize = '64M'");
    let [first, second] = [0, 1].map(|job| take(&mut OperationStream::new(&plan, job, 5), 10_000));
    assert_ne!(first, second);
    let hottest = |operations: &[Operation]| {
        let mut counts: HashMap<u64, u32> = HashMap::new();
        operations.iter().for_each(|operation| *counts.entry(operation.offset).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0
    };
    assert_eq!(hottest(&first), hottest(&second));
}
