//! What may be said of records side by side.

use plimsoll_measure::random::Random;
use plimsoll_record::{
    environment::{CloudEnvironment, CloudProvider},
    event::RunEvent,
    judgement::Burst,
    record::{Cell, Outcome as Ending},
};
use plimsoll_workload::{
    plan::{BlockPlan, Dealt, Pacing, Work},
    settings::{Arrival, EngineChoice, FileSharing, ReadWrite},
    workload::Workload,
};
use uuid::Uuid;

use super::{
    expectation::{Judged, Standing},
    *,
};
use crate::{
    style::Style,
    test_records::{Story, workloads},
};

mod applications;
mod expectations;
mod file_sets;
mod not_judged;
mod one_piece;
mod open_loops;
mod phases;
mod shown;

const PLAIN: Style = Style { colour: false };

/// Noise with this standard deviation around 1.
/// The plan of a cell, to change it.
fn plan(cell: &mut Cell) -> &mut BlockPlan {
    cell.plan.as_mut().and_then(Work::blocks_mut).expect("cells of these tests are plimsoll's own")
}

fn noise(random: &mut Random, deviation: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| random.unit()).sum();
    1.0 + deviation * (sum - 6.0)
}

/// A run of these workloads on these targets, twelve visits each; a target is as many times as fast as the first one
/// would be. Each pass has a level of its own that all cells share.
fn run(targets: &[(&str, f64)], workloads: &[Workload], rates: &[(u64, u64)], deviation: f64, seed: u64) -> Record {
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let mut story = Story::new(&names, workloads);
    for round in 0..12 {
        let pass = 1.0 + 0.2 * Random::at(seed, &[round]).unit();
        for (target, (_, factor)) in targets.iter().enumerate() {
            for (workload, (iops, latency_ns)) in rates.iter().enumerate() {
                let cell = target * rates.len() + workload;
                let level = pass * factor * noise(&mut Random::at(seed, &[round, cell as u64]), deviation);
                let rate = (*iops as f64 * level) as u64;
                let slot = story.slot(cell, round as u32, rate, (*latency_ns as f64 / level) as u64);
                story.tell(&RunEvent::SlotFinished(Box::new(slot)));
            }
        }
    }
    let mut record = story.end(120_000_000_000, Ending::Complete);
    record.cells.iter_mut().for_each(|cell| cell.verdict = Some(Verdict::Steady));
    record.id = Uuid::from_u128(0x0199_c0de_7a3e_7000_8000_0000_0000_0000 + (u128::from(seed) << 80));
    record
}

/// Two workloads on one directory, without the shared ups and downs.
fn alone(target: &str, factor: f64, deviation: f64, seed: u64) -> Record {
    let mut story = Story::new(&[target], &workloads("canonical")[..2]);
    for (cell, (iops, latency_ns)) in [(5_000.0, 600_000.0), (4_000.0, 740_000.0)].into_iter().enumerate() {
        for round in 0..12 {
            let level = factor * noise(&mut Random::at(seed, &[round, cell as u64]), deviation);
            let slot = story.slot(cell, round as u32, (iops * level) as u64, (latency_ns / level) as u64);
            story.tell(&RunEvent::SlotFinished(Box::new(slot)));
        }
    }
    let mut record = story.end(120_000_000_000, Ending::Complete);
    record.cells.iter_mut().for_each(|cell| cell.verdict = Some(Verdict::Steady));
    record.id = Uuid::from_u128(0x0199_c0de_7a3e_7000_8000_0000_0000_0000 + (u128::from(seed) << 80));
    record
}

fn two_targets(ratio: f64, seed: u64) -> Record {
    run(
        &[("/mnt/a", 1.0), ("/mnt/b", ratio)],
        &workloads("canonical")[..2],
        &[(5_000, 600_000), (4_000, 740_000)],
        0.02,
        seed,
    )
}

/// Two targets that are as fast as each other, with forty workloads.
fn many_equals(seed: u64) -> Record {
    let workloads: Vec<Workload> = (1..=40)
        .map(|depth| Workload { queue_depth: Some(depth.to_string().parse().unwrap()), ..workloads("iops")[0].clone() })
        .map(|workload| Workload { name: None, ..workload })
        .collect();
    let rates: Vec<(u64, u64)> = workloads.iter().map(|_| (5_000, 600_000)).collect();
    run(&[("/mnt/a", 1.0), ("/mnt/b", 1.0)], &workloads, &rates, 0.03, seed)
}

fn compare(records: &[&Record]) -> Comparison {
    Comparison::of(records, &Wishes::default()).unwrap()
}

fn iops(comparison: &Comparison, cell: usize) -> Compared {
    comparison.pairs[0].cells[cell].metrics[0].compared.unwrap()
}

fn expecting(texts: &[&str]) -> Wishes {
    Wishes { expectations: texts.iter().map(|text| text.parse().unwrap()).collect(), ..Wishes::default() }
}

#[test]
fn targets_of_one_run_are_compared_in_blocks_of_two_passes() {
    let found: Vec<Compared> = (0..200).map(|seed| iops(&compare(&[&two_targets(1.1, seed)]), 0)).collect();
    assert!(found.iter().all(|found| (found.method, found.values) == (Method::PairedBlocks, [6, 6])));
    assert!(found.iter().all(|found| found.different && found.ranks.is_some_and(|ranks| ranks.differs())));
    // The ups and downs of the machine, of 20 %, are not in the intervals.
    assert!(found.iter().all(|found| found.ratio.high - found.ratio.low < 0.12));
    let covered = found.iter().filter(|found| found.ratio.low < 1.1 && 1.1 < found.ratio.high).count();
    assert!((180..=199).contains(&covered), "{covered} of 200");
}

#[test]
fn runs_at_different_times_are_compared_by_how_their_visits_scatter() {
    let (first, second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.2, 0.02, 2));
    let comparison = compare(&[&first, &second]);
    let found = iops(&comparison, 0);
    assert_eq!((found.method, found.values), (Method::UnpairedVisits, [12, 12]));
    assert!(found.different && found.ratio.low < 1.2 && 1.2 < found.ratio.high, "{found:?}");
    let p50 = comparison.pairs[0].cells[0].metrics[2].compared.unwrap();
    assert!(p50.different && p50.conclusion == Conclusion::Lower, "{p50:?}");
    assert!(!comparison.pairs[0].in_one_run);
}

#[test]
fn a_machine_that_was_loaded_on_purpose_is_not_compared_with_an_idle_one_unawares() {
    let (first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.2, 0.02, 2));
    second.asked.background = Some("stress --cpu 2".to_owned());
    let error = Comparison::of(&[&first, &second], &Wishes::default()).unwrap_err().to_string();
    assert!(error.contains("background (A none, B stress --cpu 2)"), "{error}");
    assert!(error.contains("--despite background compares"), "{error}");
    let wishes = Wishes { despite: vec!["background".parse().unwrap()], ..Wishes::default() };
    let comparison = Comparison::of(&[&first, &second], &wishes).unwrap();
    assert!(iops(&comparison, 0).different);
    assert_eq!(comparison.pairs[0].confounded.len(), 1);
    let mut both = first;
    both.asked.background.clone_from(&second.asked.background);
    assert!(compare(&[&both, &second]).pairs[0].confounded.is_empty());
}

#[test]
fn what_one_side_did_not_run_is_told_with_its_reason_and_not_compared() {
    let whole = alone("/mnt/a", 1.0, 0.02, 1);
    let mut story = Story::new(&["/mnt/a"], &workloads("canonical")[..2]);
    story.measure(0, 5_000, 600_000);
    let mut part = story.end(20_000_000_000, Ending::Interrupted);
    part.id = Uuid::from_u128(7);
    let comparison = compare(&[&whole, &part]);
    let cell = &comparison.pairs[0].cells[1];
    assert_eq!(cell.sentence, "B not run: the run was interrupted before its first slot was done");
    assert!(cell.metrics.iter().all(|metric| metric.compared.is_none() && metric.value.is_none()));
    let json = serde_json::to_value(cell).unwrap();
    assert_eq!((&json["verdict"], json.get("reference_not_run")), (&serde_json::Value::Null, None));
    assert_eq!(json["not_run"], "the run was interrupted before its first slot was done");
    for text in [text::text(&comparison, 100, PLAIN), text::markdown(&comparison)] {
        assert!(text.contains("B not run: the run was interrupted"), "{text}");
    }
    assert!(!comparison.pairs[0].cells[0].sentence.contains("not run"));
}

#[test]
fn swapping_the_sides_inverts_every_ratio() {
    for seed in 0..20 {
        let (first, second) = (alone("/mnt/a", 1.0, 0.05, seed), alone("/mnt/b", 1.3, 0.05, seed + 100));
        let both = two_targets(1.2, seed);
        let swap = |records: &[&Record], reference: &str| {
            let wishes = Wishes { reference: Some(reference.to_owned()), ..Wishes::default() };
            Comparison::of(records, &wishes).unwrap()
        };
        for (one, other) in [
            (compare(&[&first, &second]), compare(&[&second, &first])),
            (compare(&[&first, &second]), swap(&[&first, &second], "B")),
            (compare(&[&both]), swap(&[&both], "/mnt/b")),
        ] {
            let metrics = |comparison: &Comparison| -> Vec<Compared> {
                let cells = comparison.pairs[0].cells.iter();
                cells.flat_map(|cell| &cell.metrics).filter_map(|metric| metric.compared).collect()
            };
            let (ones, others) = (metrics(&one), metrics(&other));
            assert!(ones.len() >= 6 && ones.len() == others.len());
            for (one, other) in ones.iter().zip(&others) {
                let products = [
                    one.ratio.ratio * other.ratio.ratio,
                    one.ratio.low * other.ratio.high,
                    one.ratio.high * other.ratio.low,
                ];
                assert!(products.iter().all(|product| (product - 1.0).abs() < 1e-12), "{products:?}");
                assert_eq!(one.conclusion, other.conclusion.inverted());
                assert_eq!(one.different, other.different);
            }
        }
    }
}

#[test]
fn a_storage_rarely_differs_from_itself_and_ten_percent_are_always_found() {
    let differs = |comparison: Comparison| {
        comparison.pairs[0].cells.iter().any(|cell| cell.headline().unwrap().compared.unwrap().different)
    };
    let (mut false_ones, mut found) = (0, 0);
    for seed in 0..200 {
        let (first, second) = (alone("/mnt/a", 1.0, 0.03, seed), alone("/mnt/a", 1.0, 0.03, seed + 1000));
        false_ones += usize::from(differs(compare(&[&first, &second])));
        false_ones += usize::from(differs(compare(&[&two_targets(1.0, seed)])));
        found += usize::from(differs(compare(&[&two_targets(1.1, seed)])));
    }
    // Of 400 comparisons of two cells each, any one may be wrong in a twentieth.
    assert!(false_ones <= 20, "{false_ones} of 400");
    assert_eq!(found, 200);
}

#[test]
fn among_many_equals_a_difference_may_be_chance_and_is_not_claimed() {
    let comparison = compare(&[&many_equals(3)]);
    let cells = &comparison.pairs[0].cells;
    let by_chance = cells.iter().filter(|cell| cell.sentence.contains("may be chance among 40 comparisons")).count();
    assert!(by_chance > 0, "one in twenty looks different");
    assert!(!cells.iter().any(|cell| cell.headline().unwrap().compared.unwrap().different));
    for cell in cells {
        let [iops, throughput] = [0, 1].map(|metric| cell.metrics[metric].compared.unwrap());
        assert_eq!(iops.different, throughput.different, "bytes say what operations say");
    }
}

#[test]
fn one_visit_far_off_is_told_by_the_ranks() {
    let mut record = two_targets(1.1, 1);
    let read = record.cells[2].slots[4].read.as_mut().unwrap();
    read.operations *= 5;
    let sentence = &compare(&[&record]).pairs[0].cells[0].sentence;
    assert!(
        sentence.starts_with("no difference found;") && sentence.ends_with("by ranks alone there is one"),
        "{sentence}"
    );
}

#[test]
fn failed_operations_make_a_side_doubtful() {
    let mut record = two_targets(1.1, 1);
    record.cells[2].errors = 3;
    record.outcome = Ending::Interrupted;
    let comparison = compare(&[&record]);
    assert!(comparison.pairs[0].cells[0].sentence.starts_with("B with errors: B is "));
    assert!(comparison.sides[0].description.ends_with(", interrupted"), "{}", comparison.sides[0].description);
}

#[test]
fn plans_that_differ_in_what_matters_are_not_compared_and_what_differs_is_named() {
    let first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/a", 1.1, 0.02, 2);
    plan(&mut second.cells[1]).write_block_sizes = "64k".parse().unwrap();
    second.cells[1].engine = EngineChoice::Psync;
    // What writes contain and how large they are is nothing to reads.
    plan(&mut second.cells[0]).write_block_sizes = "64k".parse().unwrap();
    let comparison = compare(&[&first, &second]);
    let cells = &comparison.pairs[0].cells;
    assert!(cells[0].differs_in.is_empty() && cells[0].metrics[0].compared.is_some());
    assert_eq!(cells[1].sentence, "not compared: block size (A 4KiB, B 64KiB) and engine (A io_uring, B psync) differ");
    assert!(cells[1].metrics.iter().all(|metric| metric.compared.is_none() && metric.reason.is_some()));
    let wishes = Wishes { despite: vec![Aspect::BlockSize, Aspect::Engine], ..Wishes::default() };
    let comparison = Comparison::of(&[&first, &second], &wishes).unwrap();
    assert!(comparison.pairs[0].cells[1].metrics[0].compared.is_some());
    assert_eq!(comparison.pairs[0].confounded.len(), 2, "{:?}", comparison.pairs[0].confounded);
}

#[test]
fn each_aspect_that_matters_is_seen() {
    type Change = fn(&mut Cell);
    let changes: [(Aspect, Change); 14] = [
        (Aspect::Pattern, |cell| plan(cell).read_percent = 50),
        (Aspect::QueueDepth, |cell| plan(cell).queue_depth = 2),
        (Aspect::Jobs, |cell| plan(cell).jobs = 2),
        (Aspect::WorkingSet, |cell| plan(cell).size_bytes *= 2),
        (Aspect::Offset, |cell| plan(cell).offset_bytes = 4096),
        (Aspect::Stride, |cell| plan(cell).gap_bytes = 4096),
        (Aspect::Distribution, |cell| plan(cell).distribution = "zipf:1.2".parse().unwrap()),
        (Aspect::CacheMode, |cell| plan(cell).buffered = true),
        (Aspect::Durability, |cell| plan(cell).fsync_every = 1),
        (Aspect::ThinkTime, |cell| plan(cell).think_time_ns = 1000),
        (Aspect::Rate, |cell| {
            plan(cell).pacing = Pacing::Open {
                arrival: Arrival::Fixed,
                operations_per_second_per_job: Some(5.0),
                bytes_per_second_per_job: None,
            }
        }),
        (Aspect::Payload, |cell| plan(cell).payload = "zero".parse().unwrap()),
        (Aspect::Verification, |cell| plan(cell).verify = true),
        (Aspect::Polling, |cell| plan(cell).iopoll = true),
    ];
    let record = alone("/mnt/a", 1.0, 0.02, 1);
    let cell = &record.cells[1];
    for (aspect, change) in changes {
        let mut changed = cell.clone();
        change(&mut changed);
        let found: Vec<Aspect> =
            plans::differences([&record; 2], [cell, &changed]).into_iter().map(|(aspect, _)| aspect).collect();
        assert!(found.contains(&aspect), "{aspect:?}: {found:?}");
    }
    let mut reads = cell.clone();
    plan(&mut reads).read_percent = 100;
    let found: Vec<Aspect> =
        plans::differences([&record; 2], [cell, &reads]).into_iter().map(|(aspect, _)| aspect).collect();
    assert_eq!(found, [Aspect::Pattern], "how writes are made says nothing of reads");
    let mut changed = cell.clone();
    let plan = plan(&mut changed);
    (plan.seed, plan.slot_ns, plan.size_bytes) = (7, None, plan.size_bytes / 100 * 101);
    assert_eq!(
        plans::differences([&record; 2], [cell, &changed]),
        [],
        "neither seeds nor a percent of the size matter"
    );
}

#[test]
fn what_is_dealt_among_disks_unevenly_differs_in_what_is_in_flight_and_in_nothing_else() {
    let record = alone("/mnt/a", 1.0, 0.02, 1);
    let mut whole = record.cells[1].clone();
    (plan(&mut whole).jobs, plan(&mut whole).queue_depth) = (8, 16);
    let on = |disks: u32, jobs: u32, queue_depth: u32| {
        let mut cell = whole.clone();
        let plan = plan(&mut cell);
        plan.dealt = Some(Dealt { disks, jobs: 8, queue_depth: 16, files: plan.files });
        (plan.jobs, plan.queue_depth, plan.files) = (jobs, queue_depth, FileSharing::PerJob);
        plan.size_bytes /= u64::from(jobs);
        plans::differences([&record; 2], [&whole, &cell])
    };
    assert_eq!(on(2, 8, 16), []);
    let expected = Difference::new("queue depth", "16".to_owned(), "135 over all jobs".to_owned());
    assert_eq!(on(3, 9, 15), [(Aspect::QueueDepth, expected)]);
}

#[test]
fn a_comparison_of_nothing_is_refused_with_what_to_do() {
    let refused = |records: &[&Record], wishes: &Wishes| Comparison::of(records, wishes).unwrap_err().to_string();
    let first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/a", 1.0, 0.02, 2);
    assert!(refused(&[&first], &Wishes::default()).contains("one target only"));
    assert!(refused(&[&first, &first], &Wishes::default()).contains("named twice"));
    assert!(refused(&[], &Wishes::default()).contains("name two runs"));
    let wishes = Wishes { reference: Some("Z".to_owned()), ..Wishes::default() };
    assert!(refused(&[&first, &second], &wishes).contains("A (/mnt/a), B (/mnt/a)"));
    second.cells.iter_mut().for_each(|cell| plan(cell).queue_depth += 1);
    let text = refused(&[&first, &second], &Wishes::default());
    assert!(text.contains("queue depth (A 1, B 2) differs; --despite queue-depth"), "{text}");
    second.cells.iter_mut().for_each(|cell| cell.workload += " else");
    assert!(refused(&[&first, &second], &Wishes::default()).starts_with("no workload in common: A has latency-read"));
}

#[test]
fn a_letter_names_its_side_whatever_targets_are_called() {
    let (first, second) = (alone("B", 1.0, 0.02, 1), alone("b", 1.0, 0.02, 2));
    let reference = |text: &str| {
        let wishes = Wishes { reference: Some(text.to_owned()), ..Wishes::default() };
        Comparison::of(&[&first, &second], &wishes).map(|comparison| comparison.reference)
    };
    assert_eq!(["A", "B", "b"].map(reference), ["A", "B", "B"].map(|letter| Ok(letter.to_owned())));
    let first = alone("b", 1.0, 0.02, 1);
    let error = Comparison::of(&[&first, &second], &Wishes { reference: Some("b".to_owned()), ..Wishes::default() });
    assert!(error.unwrap_err().to_string().contains("name one by its letter"));
}

#[test]
fn workloads_are_matched_by_name_then_by_what_they_do_and_the_rest_is_named() {
    let first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/a", 1.0, 0.02, 2);
    second.cells[0].workload = "reads".to_owned();
    let comparison = compare(&[&first, &second]);
    let labels: Vec<String> = comparison.pairs[0].cells.iter().map(CellPair::label).collect();
    assert_eq!(labels, ["latency-read / reads", "latency-write"]);
    second.cells.remove(0);
    let comparison = compare(&[&first, &second]);
    assert_eq!(comparison.pairs[0].only_in_reference, ["latency-read"]);
}

#[test]
fn runs_of_the_same_targets_are_compared_target_by_target() {
    let (first, mut second) = (two_targets(1.5, 1), two_targets(1.5, 2));
    let comparison = compare(&[&first, &second]);
    assert_eq!((comparison.sides.len(), comparison.pairs[0].cells.len()), (2, 4));
    assert_eq!(comparison.pairs[0].cells[2].label(), "/mnt/b latency-read");
    assert!(!comparison.pairs[0].cells.iter().any(|cell| cell.headline().unwrap().compared.unwrap().different));
    // Otherwise every target is a side of its own.
    second.cells.retain(|cell| cell.target == "/mnt/b");
    let comparison = compare(&[&first, &second]);
    assert_eq!(comparison.sides.iter().map(|side| side.letter.as_str()).collect::<Vec<_>>(), ["A", "B", "C"]);
    assert_eq!(comparison.pairs.iter().map(|pair| pair.in_one_run).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn what_else_differs_between_runs_is_listed() {
    let first = alone("/mnt/a", 1.0, 0.02, 1);
    let mut second = alone("/mnt/a", 1.0, 0.02, 2);
    assert_eq!(compare(&[&first, &second]).pairs[0].confounded, []);
    second.environment.machine.kernel_release = Some("6.1.0".to_owned());
    second.environment.machine.memory_bytes = first.environment.machine.memory_bytes.map(|bytes| bytes - 100_000);
    second.environment.machine.hostname = Some("only known here".to_owned());
    let target = &mut second.environment.targets[0];
    target.mount.as_mut().unwrap().options = "rw,noatime".to_owned();
    target.device.as_mut().unwrap().size_bytes = Some(200 << 30);
    target.device.as_mut().unwrap().serial = Some("another".to_owned());
    let comparison = compare(&[&first, &second]);
    let text = text::text(&comparison, 160, PLAIN);
    assert!(
        text.contains(
            "confounded: kernel (A 6.12.0, B 6.1.0), size (A 100 GiB, B 200 GiB) and mount options (A relatime, B noatime) \
             also differ"
        ),
        "{text}"
    );
}

#[test]
fn another_kind_of_machine_is_said_once() {
    let cloud = |instance_type: &str, zone: &str| {
        Some(CloudEnvironment {
            provider: CloudProvider::Aws,
            instance_type: Some(instance_type.to_owned()),
            region: Some("us-west-2".to_owned()),
            zone: Some(zone.to_owned()),
            disks: Vec::new(),
        })
    };
    let (mut first, mut second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 1.0, 0.02, 2));
    let confounded = |first: &Record, second: &Record| {
        let pair = compare(&[first, second]).pairs.remove(0);
        pair.confounded.into_iter().map(|difference| difference.text(["A", "B"])).collect::<Vec<_>>()
    };
    first.environment.cloud = cloud("m5.large", "us-west-2a");
    assert_eq!(confounded(&first, &second), Vec::<String>::new(), "what is known of one side only is no difference");
    second.environment.cloud = cloud("m5.xlarge", "us-west-2b");
    let zone = "zone (A us-west-2a, B us-west-2b)";
    assert_eq!(confounded(&first, &second), ["instance type (A m5.large, B m5.xlarge)", zone]);
    first.environment.machine.product = Some("Amazon EC2 m5.large".to_owned());
    second.environment.machine.product = Some("Amazon EC2 m5.xlarge".to_owned());
    let machine = "machine type (A Amazon EC2 m5.large, B Amazon EC2 m5.xlarge)";
    assert_eq!(confounded(&first, &second), [machine, zone]);
}

#[test]
fn a_percentile_that_not_every_visit_supports_is_no_claim() {
    let mut record = two_targets(1.2, 1);
    let comparison = compare(&[&record]);
    let p99 = &comparison.pairs[0].cells[0].metrics[3];
    assert!(p99.metric == Metric::P99 && p99.compared.is_some());
    record.cells[0].slots[4].read.as_mut().unwrap().latency_ns.p99 = None;
    let comparison = compare(&[&record]);
    let p99 = &comparison.pairs[0].cells[0].metrics[3];
    assert_eq!((p99.compared, p99.reason.as_deref()), (None, Some("some visits had too few operations")));
    assert!(p99.value.is_some(), "the number itself is known");
}

#[test]
fn visits_that_do_not_count_are_left_out_of_their_blocks() {
    let mut record = two_targets(1.2, 1);
    let first = iops(&compare(&[&record]), 0);
    record.cells[0].slots[0].counted = false;
    assert_eq!(iops(&compare(&[&record]), 0).values, [5, 5]);
    record.cells[2].slots[3].counted = false;
    // Of few blocks each pass is a value, also those whose block is not whole.
    let found = iops(&compare(&[&record]), 0);
    assert_eq!((found.method, found.values), (Method::PairedPasses, [10, 10]));
    assert!((found.ratio.ratio / first.ratio.ratio - 1.0).abs() < 0.02);
    record.cells[0].slots.iter_mut().skip(5).for_each(|slot| slot.counted = false);
    // One block is too few; the visits that are left are compared as they are.
    let found = iops(&compare(&[&record]), 0);
    assert_eq!((found.method, found.values), (Method::UnpairedVisits, [4, 11]));
}

#[test]
fn the_last_of_an_odd_number_of_passes_counts_where_each_is_a_value() {
    let mut record = two_targets(1.2, 1);
    record.cells.iter_mut().for_each(|cell| cell.slots.truncate(5));
    let found = iops(&compare(&[&record]), 0);
    assert_eq!((found.method, found.values), (Method::PairedPasses, [5, 5]));
}

#[test]
fn cells_in_one_piece_are_compared_by_their_intervals() {
    let (mut first, mut second) = (alone("/mnt/a", 1.0, 0.0, 1), alone("/mnt/a", 1.2, 0.0, 2));
    for record in [&mut first, &mut second] {
        for cell in &mut record.cells {
            cell.slots.truncate(1);
        }
        let read = record.cells[0].read.as_mut().unwrap();
        (read.iops_low, read.iops_high) = (Some(read.iops * 0.99), Some(read.iops * 1.01));
    }
    let comparison = compare(&[&first, &second]);
    let found = iops(&comparison, 0);
    assert_eq!((found.method, found.values), (Method::UnpairedIntervals, [1, 1]));
    assert!(found.different && found.ratio.low < 1.2 && 1.2 < found.ratio.high, "{found:?}");
    let throughput = comparison.pairs[0].cells[0].metrics[1].compared.unwrap();
    assert!((throughput.ratio.low / found.ratio.low - 1.0).abs() < 1e-9);
    assert!(comparison.pairs[0].cells[1].sentence.contains("no claim: measured too briefly"));

    let burst = Burst {
        burst_iops: 3000.0,
        sustained_iops: 500.0,
        cliff_after_ns: None,
        cliff_before_ns: None,
        bucket_operations: None,
        predicted: true,
    };
    [&mut first, &mut second].into_iter().for_each(|record| record.cells[1].burst = Some(burst));
    let sentence = compare(&[&first, &second]).pairs[0].cells[1].sentence.clone();
    assert!(sentence.contains("no claim: a burst that is predicted to end"), "{sentence}");
}

#[test]
fn turns_are_paired_also_where_a_pass_ends_with_what_the_next_one_begins_with() {
    let mut record = two_targets(1.1, 1);
    let workload = record.cells[0].workload.clone();
    record.cells.retain(|cell| cell.workload == workload);
    for (index, cell) in record.cells.iter_mut().enumerate() {
        for slot in &mut cell.slots {
            // A B, B A: without ramps, every second visit follows one of the same target.
            let place = if slot.round % 2 == 0 { index } else { 1 - index } as u64;
            slot.ramp_ns = 0;
            slot.from_ns = (u64::from(slot.round) * 2 + place) * slot.elapsed_ns;
        }
    }
    let found = iops(&compare(&[&record]), 0);
    assert_eq!((found.method, found.values), (Method::PairedBlocks, [6, 6]));
}

#[test]
fn json_says_what_every_number_rests_on() {
    let (first, second) = (alone("/mnt/a", 1.0, 0.02, 1), alone("/mnt/a", 0.8, 0.02, 2));
    let comparison = Comparison::of(&[&first, &second], &expecting(&["iops<-5%"])).unwrap();
    let json = serde_json::to_value(&comparison).unwrap();
    let metric = &json["pairs"][0]["cells"][0]["metrics"][0];
    assert_eq!((&json["schema"], &metric["metric"]), (&"plimsoll-comparison/1".into(), &"iops".into()));
    let compared = &metric["compared"];
    for field in ["ratio", "low", "high", "p_value", "detectable"] {
        assert!(compared[field].is_f64(), "{field}: {compared}");
    }
    assert_eq!((&compared["method"], &compared["different"]), (&"unpaired-visits".into(), &true.into()));
    assert_eq!((&json["expectations"][0]["result"], &compared["conclusion"]), (&"breached".into(), &"lower".into()));
}
