//! What verification finds on a storage that does not keep what it was given.

use plimsoll_io::engine::memory::{ErrorScript, Fault, MemoryScript, MemoryStore};
use plimsoll_record::verification::VerificationResult;
use plimsoll_workload::{target_facts::TargetKind, verification};

use super::{MILLISECOND, plan, plan_on, run};

fn verified(faults: Vec<Fault>) -> VerificationResult {
    let script =
        MemoryScript { latency_ns: 10_000, faults, store: Some(MemoryStore::new()), ..MemoryScript::default() };
    run(&plan("rw = 'randwrite'\nverify = true\nqueue_depth = 16\nsize = '4M'\nloops = 2"), script)
        .verification
        .unwrap()
}

#[test]
fn intact_data_verifies() {
    let result = verified(Vec::new());
    assert_eq!((result.blocks_checked, result.mismatches), (1024, 0), "{:?}", result.examples);
    // Sixteen at a time take 10 us.
    let latencies = result.read_back_histogram.unwrap();
    assert_eq!((latencies.count(), latencies.min_ns(), latencies.max_ns()), (1024, Some(10_000), Some(10_000)));
    assert_eq!(result.read_back_ns, 1024 / 16 * 10_000);
}

#[test]
fn a_flipped_byte_is_found_and_its_offset_named() {
    // The 2000th write lies in the second pass, so nothing overwrites it.
    let result = verified(vec![Fault::FlipByte { nth: 2000, byte: 1000 }]);
    assert_eq!(result.mismatches, 1);
    assert!(result.examples[0].starts_with("corrupt at offset "), "{:?}", result.examples);
    let offset: u64 = result.examples[0].split([' ', ':']).nth(3).unwrap().parse().unwrap();
    assert_eq!(offset % 4096, 1000);
}

#[test]
fn of_several_files_the_one_is_named_and_the_place_in_it() {
    let faults = vec![Fault::FlipByte { nth: 6, byte: 1000 }];
    let script =
        MemoryScript { latency_ns: 10_000, faults, store: Some(MemoryStore::new()), ..MemoryScript::default() };
    let of_four = |text: &str| plan_on(TargetKind::Directory, &format!("{text}\nfile_count = 4\nsize = '4M'"));
    let result = run(&of_four("rw = 'write'\nverify = true\nloops = 1"), script).verification.unwrap();
    // The sixth block is the second one of the second file.
    assert_eq!(result.mismatches, 1);
    assert!(result.examples[0].starts_with("corrupt in file 1 at offset 5096: "), "{:?}", result.examples);
    let script = MemoryScript {
        latency_ns: MILLISECOND,
        errors: Some(ErrorScript { every: 100, errno: 5 }),
        ..MemoryScript::default()
    };
    let done = run(&of_four("rw = 'read'\noperations = 100"), script.clone());
    let first = &done.tally.errors[0];
    assert_eq!((first.first_file, first.first_offset), (Some(3), 24 * 4096));
    let alone = run(&plan("rw = 'read'\noperations = 100"), script);
    assert_eq!((alone.tally.errors[0].first_file, alone.tally.errors[0].first_offset), (None, 99 * 4096));
}

#[test]
fn a_lost_write_is_found() {
    let result = verified(vec![Fault::LoseWrite { nth: 2000 }]);
    assert_eq!(result.mismatches, 1);
    assert!(result.examples[0].starts_with("lost-write at offset "), "{:?}", result.examples);
}

#[test]
fn a_write_that_failed_is_no_lost_write() {
    let errors = Some(ErrorScript { every: 10, errno: 5 });
    let script =
        MemoryScript { latency_ns: 10_000, errors, store: Some(MemoryStore::new()), ..MemoryScript::default() };
    let plan = plan("rw = 'randwrite'\nverify = true\nqueue_depth = 16\nsize = '4M'\nloops = 2\nkeep_going = true");
    let result = run(&plan, script).verification.unwrap();
    // Reads fail as well, and every tenth block or so was not written again.
    assert!(result.mismatches > 50 && result.blocks_read_back < 1000, "{result:?}");
    assert!(result.examples.iter().all(|text| text.starts_with("unreadable at offset ")), "{:?}", result.examples);
}

#[test]
fn a_misdirected_write_is_found_at_both_places() {
    let result = verified(vec![Fault::MisdirectWrite { nth: 2000, offset: 0 }]);
    assert_eq!(result.mismatches, 2, "{:?}", result.examples);
    assert!(result.examples.iter().any(|text| text.starts_with("misdirected at offset 0")), "{:?}", result.examples);
    assert!(result.examples.iter().any(|text| text.starts_with("lost-write at offset ")), "{:?}", result.examples);
}

#[test]
fn reads_of_a_mixed_workload_are_checked_as_they_come() {
    let store = MemoryStore::new();
    let plan = plan("rw = 'randrw'\nverify = true\nqueue_depth = 16\nsize = '1M'\noperations = 5000");
    for block in 0..256_u64 {
        let mut buffer = vec![0; 4096];
        verification::stamp(&mut buffer, plan.seed, block * 4096, 0);
        store.write(block * 4096, &buffer);
    }
    let script = MemoryScript { latency_ns: 10_000, store: Some(store), ..MemoryScript::default() };
    let result = run(&plan, script).verification.unwrap();
    assert_eq!(result.mismatches, 0, "{:?}", result.examples);
    assert!(result.blocks_checked > 1000, "{}", result.blocks_checked);
}
