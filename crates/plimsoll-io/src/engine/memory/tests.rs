//! Promises of the scripted storage, exact to the nanosecond.

use plimsoll_workload::operation::{Operation, OperationKind};

use super::{ErrorScript, Fault, MemoryEngine, MemoryScript, MemoryStore, Stall};
use crate::{
    clock::{Clock, VirtualClock},
    engine::{Completion, Engine, Tag},
};

const BLOCK: u32 = 4096;

fn operation(kind: OperationKind, block: u64) -> Operation {
    let length = if kind.is_sync() { 0 } else { BLOCK };
    Operation { kind, file: 0, length, offset: block * u64::from(BLOCK) }
}

fn engine(script: MemoryScript) -> (MemoryEngine, VirtualClock) {
    let clock = VirtualClock::at(0);
    (MemoryEngine::scripted(8, BLOCK, clock.clone(), script).unwrap(), clock)
}

fn wait(engine: &mut MemoryEngine, at_least: usize, deadline_ns: Option<u64>) -> Vec<Completion> {
    let mut completions = Vec::new();
    engine.wait(at_least, deadline_ns, &mut completions).unwrap();
    completions
}

/// One operation from submission to result.
fn perform(engine: &mut MemoryEngine, kind: OperationKind, block: u64, fill: u8) -> i32 {
    engine.buffer(Tag(0)).fill(fill);
    engine.submit(Tag(0), operation(kind, block)).unwrap();
    wait(engine, 1, None)[0].result
}

#[test]
fn an_instant_engine_answers_at_once_with_the_length() {
    let mut engine = MemoryEngine::instant(2, BLOCK).unwrap();
    engine.submit(Tag(0), operation(OperationKind::Read, 7)).unwrap();
    engine.submit(Tag(1), operation(OperationKind::Sync, 0)).unwrap();
    let expected = [(Tag(0), BLOCK as i32), (Tag(1), 0)].map(|(tag, result)| Completion { tag, result });
    assert_eq!(wait(&mut engine, 1, None), expected);
    assert_eq!(wait(&mut engine, 1, None), []);
}

#[test]
fn waiting_moves_the_clock_to_the_next_result_and_no_further() {
    let (mut engine, clock) = engine(MemoryScript { latency_ns: 100, ..MemoryScript::default() });
    engine.submit(Tag(0), operation(OperationKind::Read, 0)).unwrap();
    clock.advance_to(30);
    engine.submit(Tag(1), operation(OperationKind::Read, 1)).unwrap();
    assert_eq!(wait(&mut engine, 0, None), []);
    assert_eq!(clock.now_ns(), 30);
    assert_eq!(wait(&mut engine, 1, None).iter().map(|completion| completion.tag).collect::<Vec<_>>(), [Tag(0)]);
    assert_eq!(clock.now_ns(), 100);
    assert_eq!(wait(&mut engine, 5, None).len(), 1);
    assert_eq!(clock.now_ns(), 130);
}

#[test]
fn a_deadline_ends_the_wait_exactly() {
    let (mut engine, clock) = engine(MemoryScript { latency_ns: 100, ..MemoryScript::default() });
    assert_eq!(wait(&mut engine, 1, Some(40)), []);
    assert_eq!(clock.now_ns(), 40, "with nothing in flight the deadline is what is waited for");
    engine.submit(Tag(0), operation(OperationKind::Write, 0)).unwrap();
    assert_eq!(wait(&mut engine, 1, Some(139)), []);
    assert_eq!(clock.now_ns(), 139);
    assert_eq!(wait(&mut engine, 1, Some(140)).len(), 1, "an operation that ends at the deadline is in time");
    assert_eq!(wait(&mut engine, 0, Some(500)), []);
    assert_eq!(clock.now_ns(), 140, "zero completions are never waited for");
}

#[test]
fn one_server_of_200_us_gives_5000_operations_per_second_at_any_depth() {
    let (mut engine, clock) = engine(MemoryScript { latency_ns: 200_000, servers: Some(1), ..MemoryScript::default() });
    let mut free: Vec<Tag> = (0..8).map(Tag).collect();
    let mut ended = 0;
    while clock.now_ns() < 1_000_000_000 {
        for tag in free.drain(..) {
            engine.submit(tag, operation(OperationKind::Read, 0)).unwrap();
        }
        let completions = wait(&mut engine, 1, None);
        ended += completions.len();
        free.extend(completions.iter().map(|completion| completion.tag));
    }
    assert_eq!(ended, 5000);
}

#[test]
fn everything_in_flight_or_arriving_ends_after_a_stall() {
    let stalls = vec![Stall { from_ns: 50, length_ns: 1000 }];
    let (mut engine, clock) = engine(MemoryScript { latency_ns: 100, stalls, ..MemoryScript::default() });
    engine.submit(Tag(0), operation(OperationKind::Read, 0)).unwrap();
    clock.advance_to(500);
    engine.submit(Tag(1), operation(OperationKind::Read, 1)).unwrap();
    assert_eq!(wait(&mut engine, 1, None).len(), 1);
    assert_eq!(clock.now_ns(), 1100, "half done before, half after");
    assert_eq!(wait(&mut engine, 1, None).len(), 1);
    assert_eq!(clock.now_ns(), 1150);
}

#[test]
fn every_third_operation_fails_as_scripted() {
    let errors = Some(ErrorScript { every: 3, errno: 5 });
    let (mut engine, _) = engine(MemoryScript { latency_ns: 1, errors, ..MemoryScript::default() });
    let results: Vec<i32> = (0..6).map(|block| perform(&mut engine, OperationKind::Read, block, 0)).collect();
    assert_eq!(results, [4096, 4096, -5, 4096, 4096, -5]);
}

#[test]
fn a_short_transfer_moves_half_the_bytes() {
    let store = MemoryStore::new();
    let script =
        MemoryScript { latency_ns: 1, short_every: Some(2), store: Some(store.clone()), ..MemoryScript::default() };
    let (mut engine, _) = engine(script);
    assert_eq!(perform(&mut engine, OperationKind::Write, 0, 1), 4096);
    assert_eq!(perform(&mut engine, OperationKind::Write, 1, 1), 2048);
    let mut bytes = [9; 8192];
    store.read(0, &mut bytes);
    assert!(bytes[..6144].iter().all(|byte| *byte == 1) && bytes[6144..].iter().all(|byte| *byte == 0));
}

#[test]
fn the_three_silent_faults_are_done_and_nothing_else() {
    let store = MemoryStore::new();
    let faults = vec![
        Fault::FlipByte { nth: 1, byte: 100 },
        Fault::LoseWrite { nth: 2 },
        Fault::MisdirectWrite { nth: 4, offset: 9 * u64::from(BLOCK) },
    ];
    let script = MemoryScript { latency_ns: 1, faults, store: Some(store), ..MemoryScript::default() };
    let (mut engine, _) = engine(script);
    for block in 0..4 {
        assert_eq!(perform(&mut engine, OperationKind::Write, block, block as u8 + 1), 4096);
    }
    let mut blocks = Vec::new();
    for block in [0, 1, 2, 3, 9] {
        assert_eq!(perform(&mut engine, OperationKind::Read, block, 0xee), 4096);
        blocks.push(engine.buffer(Tag(0)).to_vec());
    }
    let wrong: Vec<usize> = (0..4096).filter(|i| blocks[0][*i] != 1).collect();
    assert_eq!((wrong, blocks[0][100]), (vec![100], !1));
    for (block, byte) in [(1, 0), (2, 3), (3, 0), (4, 4)] {
        assert!(blocks[block].iter().all(|content| *content == byte), "{block}");
    }
}

#[test]
fn a_read_that_ends_after_a_write_sees_it() {
    let script = MemoryScript { latency_ns: 10, store: Some(MemoryStore::new()), ..MemoryScript::default() };
    let (mut engine, clock) = engine(script);
    engine.buffer(Tag(0)).fill(7);
    engine.submit(Tag(0), operation(OperationKind::Write, 0)).unwrap();
    clock.advance_to(1);
    engine.submit(Tag(1), operation(OperationKind::Read, 0)).unwrap();
    assert_eq!(wait(&mut engine, 2, None).len(), 2);
    assert!(engine.buffer(Tag(1)).iter().all(|byte| *byte == 7));
}
