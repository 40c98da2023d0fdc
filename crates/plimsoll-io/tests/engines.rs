//! What every engine promises, on real files and, as root, on real loop devices.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod support;

use std::{
    fs::{File, OpenOptions},
    io::{IoSliceMut, pipe},
    os::{
        fd::AsFd,
        unix::fs::{FileExt, OpenOptionsExt},
    },
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Mutex,
    thread,
};

use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    engine::{
        Completion, Engine, EngineSetup, Tag, io_uring::IoUringEngine, linux_aio::LinuxAioEngine, psync::PsyncEngine,
    },
    probe::{self, EngineKind, EngineUnavailable, Queues, SelectedEngine},
    ring::RingSetup,
};
use plimsoll_workload::{
    operation::{Operation, OperationKind},
    settings::EngineChoice,
};
use proptest::{prelude::*, test_runner::TestRunner};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use support::{LoopDevice, Throttle, deny_system_calls, drop_capabilities, skipped};
use tempfile::NamedTempFile;

const BLOCK: u32 = 4096;
const BLOCKS: u64 = 64;
const DEPTH: u32 = 8;

/// An engine in each way it can be set up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    IoUring,
    IoUringUnregistered,
    IoUringWithSubmissionThread,
    Libaio,
    Psync,
}

const VARIANTS: [Variant; 5] = [
    Variant::IoUring,
    Variant::IoUringUnregistered,
    Variant::IoUringWithSubmissionThread,
    Variant::Libaio,
    Variant::Psync,
];

impl Variant {
    fn build(self, file: impl AsFd) -> Option<Box<dyn Engine>> {
        self.build_with(file, DEPTH, BLOCK)
    }

    fn build_with(self, file: impl AsFd, queue_depth: u32, buffer_bytes: u32) -> Option<Box<dyn Engine>> {
        let setup = EngineSetup {
            files: &[file.as_fd()],
            queue_depth,
            buffer_bytes,
            iopoll: false,
            sqpoll: self == Self::IoUringWithSubmissionThread,
            processors: 2,
        };
        let built: Result<Box<dyn Engine>, _> = match self {
            Self::Libaio => LinuxAioEngine::new(&setup).map(|engine| Box::new(engine) as _),
            Self::Psync => PsyncEngine::new(&setup).map(|engine| Box::new(engine) as _),
            _ => IoUringEngine::new(&setup).map(|engine| Box::new(engine) as _),
        };
        let mut engine = built.map_err(|unavailable| skipped(&unavailable.to_string())).ok()?;
        if self != Self::IoUringUnregistered {
            engine.register(1);
        }
        Some(engine)
    }
}

fn operation(kind: OperationKind, block: u64) -> Operation {
    let length = if kind.is_sync() { 0 } else { BLOCK };
    Operation { kind, file: 0, length, offset: block * u64::from(BLOCK) }
}

fn wait(engine: &mut dyn Engine, at_least: usize, deadline_ns: Option<u64>) -> Vec<Completion> {
    let mut completions = Vec::new();
    engine.wait(at_least, deadline_ns, &mut completions).unwrap();
    completions
}

fn result_of(completions: &[Completion], tag: u16) -> i32 {
    let results: Vec<i32> = completions.iter().filter(|done| done.tag == Tag(tag)).map(|done| done.result).collect();
    assert_eq!(results.len(), 1, "each operation completes once: {completions:?}");
    results[0]
}

/// A file of `BLOCKS` zeroed blocks beside the build output, where direct I/O usually works.
fn new_file() -> NamedTempFile {
    let file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.as_file().write_all_at(&vec![0; (BLOCKS * u64::from(BLOCK)) as usize], 0).unwrap();
    file
}

/// Opens with direct I/O where the file system has it.
fn open(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.clone().custom_flags(libc::O_DIRECT).open(path).or_else(|_| options.open(path)).unwrap()
}

fn contents(path: &Path) -> Vec<u8> {
    let mut bytes = vec![0; (BLOCKS * u64::from(BLOCK)) as usize];
    // Through the same kind of descriptor, so that a cache of a device does not answer.
    let file = OpenOptions::new().read(true).open(path).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// One step of the random script: a kind, a block, and the byte that a write fills it with.
type Step = (OperationKind, u64, u8);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![
        8 => Just(OperationKind::Read),
        8 => Just(OperationKind::Write),
        1 => Just(OperationKind::Sync),
        1 => Just(OperationKind::DataSync),
    ];
    prop::collection::vec((kind, 0..BLOCKS, 1_u8..), 1..120)
}

/// Runs a script at full depth, waiting only where two operations would race, and compares with plain memory.
fn run_script(engine: &mut dyn Engine, model: &mut [u8], script: &[Step]) -> Result<(), TestCaseError> {
    let mut in_flight: Vec<Option<Step>> = vec![None; DEPTH as usize];
    let range = |block: u64| block as usize * BLOCK as usize..(block + 1) as usize * BLOCK as usize;
    let reap = |engine: &mut dyn Engine, in_flight: &mut Vec<Option<Step>>, model: &mut [u8], at_least| {
        for done in wait(engine, at_least, None) {
            let step = in_flight[usize::from(done.tag.0)].take();
            let (kind, block, fill) = step.expect("only what is in flight completes");
            prop_assert_eq!(done.result, if kind.is_sync() { 0 } else { BLOCK as i32 });
            match kind {
                OperationKind::Write => model[range(block)].fill(fill),
                OperationKind::Read => prop_assert!(engine.buffer(done.tag)[..] == model[range(block)]),
                _ => {}
            }
        }
        Ok(())
    };
    for step in script {
        let races = |other: &Step| other.1 == step.1 && (other.0, step.0) != (OperationKind::Read, OperationKind::Read);
        while in_flight.iter().flatten().any(races) || in_flight.iter().all(Option::is_some) {
            reap(engine, &mut in_flight, model, 1)?;
        }
        let free = in_flight.iter().position(Option::is_none).expect("there was room");
        let tag = Tag(free as u16);
        engine.buffer(tag).fill(if step.0 == OperationKind::Write { step.2 } else { 0xee });
        engine.submit(tag, operation(step.0, step.1)).unwrap();
        in_flight[free] = Some(*step);
    }
    reap(engine, &mut in_flight, model, DEPTH as usize)?;
    prop_assert!(in_flight.iter().all(Option::is_none));
    Ok(())
}

fn engines_agree_with_plain_memory(path: &Path, cases: u32) {
    for variant in VARIANTS {
        if variant.build(open(path)).is_none() {
            continue;
        }
        TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
            .run(&steps(), |script| {
                let mut engine = variant.build(open(path)).expect("it could be built just now");
                let mut model = contents(path);
                run_script(engine.as_mut(), &mut model, &script)?;
                prop_assert!(contents(path) == model);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{variant:?}: {error}"));
    }
}

#[test]
fn random_operations_on_a_file_leave_what_plain_calls_leave() {
    let file = new_file();
    engines_agree_with_plain_memory(file.path(), 24);
}

#[test]
fn random_operations_on_a_loop_device_leave_what_plain_calls_leave() {
    let file = new_file();
    if let Some(device) = LoopDevice::attach(file.path()) {
        engines_agree_with_plain_memory(&device.path, 8);
    }
}

#[test]
fn every_operation_of_a_full_queue_completes_once_however_often_it_is_refilled() {
    let file = new_file();
    for variant in VARIANTS {
        let Some(mut engine) = variant.build_with(open(file.path()), 128, BLOCK) else { continue };
        let mut free: Vec<Tag> = (0..128).map(Tag).collect();
        let (mut submitted, mut done) = (0, 0);
        while done < 2000 {
            while submitted < 2000
                && let Some(tag) = free.pop()
            {
                engine.submit(tag, operation(OperationKind::Read, submitted % BLOCKS)).unwrap();
                submitted += 1;
            }
            let in_flight = 128 - free.len();
            let completions = wait(engine.as_mut(), 32, None);
            assert!(completions.len() >= in_flight.min(32), "{variant:?}: {} of {in_flight}", completions.len());
            done += completions.len();
            for completion in completions {
                assert_eq!(completion.result, BLOCK as i32, "{variant:?}");
                assert!(!free.contains(&completion.tag), "{variant:?}: completed twice");
                free.push(completion.tag);
            }
        }
        assert_eq!((done, free.len()), (2000, 128), "{variant:?}");
        assert_eq!(wait(engine.as_mut(), 1, None), [], "{variant:?}: nothing is left to wait for");
    }
}

#[test]
fn short_results_and_errors_come_back_as_they_are_and_spare_the_others() {
    let file = new_file();
    file.as_file().set_len(BLOCKS * u64::from(BLOCK) + 512).unwrap();
    let direct = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(file.path());
    for variant in VARIANTS {
        let Some(mut engine) = variant.build(file.as_file()) else { continue };
        engine.submit(Tag(0), operation(OperationKind::Read, BLOCKS)).unwrap();
        engine.submit(Tag(1), operation(OperationKind::Read, BLOCKS + 5)).unwrap();
        engine.submit(Tag(2), operation(OperationKind::Read, 0)).unwrap();
        let completions = wait(engine.as_mut(), 3, None);
        let results = [0, 1, 2].map(|tag| result_of(&completions, tag));
        assert_eq!(results, [512, 0, 4096], "{variant:?}");

        let Ok(direct) = &direct else { continue };
        let Some(mut engine) = variant.build(direct) else { continue };
        for (tag, offset) in [(0, 0), (1, 1), (2, 4096)] {
            let operation = Operation { kind: OperationKind::Read, file: 0, length: BLOCK, offset };
            engine.submit(Tag(tag), operation).unwrap();
        }
        let completions = wait(engine.as_mut(), 3, None);
        let results = [0, 1, 2].map(|tag| result_of(&completions, tag));
        assert_eq!(results, [4096, -libc::EINVAL, 4096], "{variant:?}: an offset that is not aligned");
    }
}

#[test]
fn a_target_opened_for_reading_refuses_writes_with_a_result() {
    let file = new_file();
    let read_only = File::open(file.path()).unwrap();
    for variant in VARIANTS {
        let Some(mut engine) = variant.build(&read_only) else { continue };
        engine.submit(Tag(3), operation(OperationKind::Write, 0)).unwrap();
        assert_eq!(result_of(&wait(engine.as_mut(), 1, None), 3), -libc::EBADF, "{variant:?}");
    }
}

#[test]
fn with_nothing_in_flight_a_wait_lasts_until_its_deadline_or_not_at_all() {
    let file = new_file();
    for variant in VARIANTS {
        let Some(mut engine) = variant.build(file.as_file()) else { continue };
        assert_eq!(wait(engine.as_mut(), 1, None), []);
        let deadline_ns = MonotonicClock.now_ns() + 3_000_000;
        assert_eq!(wait(engine.as_mut(), 0, Some(deadline_ns)), []);
        assert_eq!(wait(engine.as_mut(), 1, Some(deadline_ns)), []);
        assert!(MonotonicClock.now_ns() >= deadline_ns, "{variant:?}");
    }
}

#[test]
fn a_deadline_ends_the_wait_for_a_device_that_is_slower() {
    let file = new_file();
    let Some(device) = LoopDevice::attach(file.path()) else { return };
    for variant in [Variant::IoUring, Variant::IoUringUnregistered, Variant::Libaio] {
        let Some(throttle) = Throttle::reads_per_second(&device, 10) else { return };
        // The throttle is of the cgroup of a thread, so a thread of its own moves into it.
        thread::scope(|scope| {
            scope.spawn(|| {
                throttle.apply_to_this_thread();
                let Some(mut engine) = variant.build(open(&device.path)) else { return };
                for tag in 0..8 {
                    engine.submit(Tag(tag), operation(OperationKind::Read, u64::from(tag))).unwrap();
                }
                let deadline_ns = MonotonicClock.now_ns() + 60_000_000;
                let early = wait(engine.as_mut(), 8, Some(deadline_ns));
                let late_ns = MonotonicClock.now_ns().checked_sub(deadline_ns).expect("not before the deadline");
                assert!(early.len() < 8, "{variant:?}: eight reads at 10 per second take longer");
                assert!(late_ns < 400_000_000, "{variant:?}: {late_ns} ns late");
                let rest = wait(engine.as_mut(), 8, None);
                assert_eq!(early.len() + rest.len(), 8, "{variant:?}");
            });
        });
    }
}

/// A file system in memory takes no operations that must not wait; those on disks mostly do.
#[test]
fn a_target_that_makes_every_operation_wait_is_told_of_and_served() {
    let told = |engine: &dyn Engine| engine.notes().iter().any(|note| note.contains("RWF_NOWAIT"));
    let takes_nowait = |file: &File| {
        preadv2(file, &mut [IoSliceMut::new(&mut [0])], 0, ReadWriteFlags::NOWAIT) != Err(Errno::OPNOTSUPP)
    };
    let (in_memory, on_disk) = (NamedTempFile::new_in("/dev/shm").unwrap(), new_file());
    if takes_nowait(in_memory.as_file()) {
        return skipped("a file system that makes every operation wait: /dev/shm does not");
    }
    in_memory.as_file().write_all_at(&[7; BLOCK as usize], u64::from(BLOCK)).unwrap();
    for variant in [Variant::IoUring, Variant::IoUringUnregistered, Variant::IoUringWithSubmissionThread] {
        let Some(mut engine) = variant.build(in_memory.as_file()) else { continue };
        assert!(told(engine.as_ref()), "{variant:?}");
        engine.buffer(Tag(1)).fill(8);
        engine.submit(Tag(0), operation(OperationKind::Read, 1)).unwrap();
        engine.submit(Tag(1), operation(OperationKind::Write, 2)).unwrap();
        engine.submit(Tag(2), operation(OperationKind::Sync, 0)).unwrap();
        let completions = wait(engine.as_mut(), 3, None);
        let results = [0, 1, 2].map(|tag| result_of(&completions, tag));
        assert_eq!(results, [BLOCK as i32, BLOCK as i32, 0], "{variant:?}");
        assert_eq!(engine.buffer(Tag(0)), [7; BLOCK as usize], "{variant:?}");
        let mut written = [0; BLOCK as usize];
        in_memory.as_file().read_exact_at(&mut written, 2 * u64::from(BLOCK)).unwrap();
        assert_eq!(written, [8; BLOCK as usize], "{variant:?}");
        in_memory.as_file().write_all_at(&[0; BLOCK as usize], 2 * u64::from(BLOCK)).unwrap();

        // Who only writes learns the same.
        for (file, expected) in [(&in_memory, true), (&on_disk, !takes_nowait(on_disk.as_file()))] {
            let for_writing = OpenOptions::new().write(true).open(file.path()).unwrap();
            let Some(engine) = variant.build(for_writing) else { continue };
            assert_eq!(told(engine.as_ref()), expected, "{variant:?}: {}", file.path().display());
        }
    }
}

/// The thread may have been pinned since: its processors now are not those that the kernel has.
#[test]
fn a_ring_spreads_operations_over_the_processors_that_it_was_told_of() {
    let in_memory = NamedTempFile::new_in("/dev/shm").unwrap();
    let (files, queue_depth, buffer_bytes) = (&[in_memory.as_file().as_fd()], DEPTH, BLOCK);
    for (processors, expected) in [(1, true), (2, true), (3, false), (64, false)] {
        let setup = EngineSetup { files, queue_depth, buffer_bytes, iopoll: false, sqpoll: false, processors };
        let engine = match IoUringEngine::new(&setup) {
            Ok(engine) => engine,
            Err(unavailable) => return skipped(&unavailable.to_string()),
        };
        let Some(note) = engine.notes().iter().find(|note| note.contains("IOSQE_ASYNC")) else {
            return skipped("a file system that makes every operation wait: /dev/shm does not");
        };
        assert_eq!(note.contains("once they end more than 3 us apart"), expected, "{processors}: {note}");
    }
}

#[test]
fn a_polling_ring_still_syncs_and_says_when_the_device_cannot_be_polled() {
    let file = new_file();
    let target = open(file.path());
    let setup = EngineSetup {
        files: &[target.as_fd()],
        queue_depth: DEPTH,
        buffer_bytes: BLOCK,
        iopoll: true,
        sqpoll: false,
        processors: 2,
    };
    let Some(mut engine) = IoUringEngine::new(&setup).map_err(|error| skipped(&error.to_string())).ok() else { return };
    engine.register(1);
    engine.submit(Tag(0), operation(OperationKind::Sync, 0)).unwrap();
    engine.submit(Tag(1), operation(OperationKind::Read, 0)).unwrap();
    let completions = wait(&mut engine, 2, Some(MonotonicClock.now_ns() + 1_000_000_000));
    assert_eq!(result_of(&completions, 0), 0);
    assert!([BLOCK as i32, -libc::EOPNOTSUPP].contains(&result_of(&completions, 1)), "{completions:?}");
}

#[test]
fn an_engine_dropped_with_operations_in_flight_leaves_none_behind() {
    for variant in [Variant::IoUring, Variant::IoUringUnregistered, Variant::IoUringWithSubmissionThread] {
        let (reader, _writer) = pipe().unwrap();
        let Some(mut engine) = variant.build(&reader) else { continue };
        // Reads of a pipe that nobody writes to never end by themselves.
        for tag in 0..4 {
            engine.submit(Tag(tag), operation(OperationKind::Read, 0)).unwrap();
        }
        assert_eq!(wait(engine.as_mut(), 1, Some(MonotonicClock.now_ns() + 1_000_000)), [], "{variant:?}");
        engine.submit(Tag(4), operation(OperationKind::Read, 0)).unwrap();
        let start_ns = MonotonicClock.now_ns();
        drop(engine);
        let elapsed_ns = MonotonicClock.now_ns() - start_ns;
        assert!(elapsed_ns < 5_000_000_000, "{variant:?}: dropped after {elapsed_ns} ns");
    }
    let file = new_file();
    let mut engine = Variant::Libaio.build(open(file.path())).unwrap();
    for tag in 0..8 {
        engine.submit(Tag(tag), operation(OperationKind::Write, 0)).unwrap();
    }
    drop(engine);
}

#[test]
fn the_buffer_of_an_operation_in_flight_is_out_of_reach() {
    let file = new_file();
    for variant in VARIANTS {
        let Some(mut engine) = variant.build(file.as_file()) else { continue };
        engine.submit(Tag(0), operation(OperationKind::Read, 0)).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| engine.buffer(Tag(0)).len())).is_err(), "{variant:?}");
        let again = catch_unwind(AssertUnwindSafe(|| engine.submit(Tag(0), operation(OperationKind::Read, 0))));
        assert!(again.is_err(), "{variant:?}");
        let long = Operation { kind: OperationKind::Read, file: 0, length: BLOCK + 1, offset: 0 };
        assert!(catch_unwind(AssertUnwindSafe(|| engine.submit(Tag(1), long))).is_err(), "{variant:?}");
    }
}

#[test]
fn a_thread_can_build_more_rings_than_it_may_register() {
    let file = new_file();
    for _ in 0..40 {
        let Some(mut engine) = Variant::IoUring.build(file.as_file()) else { return };
        engine.submit(Tag(0), operation(OperationKind::Read, 0)).unwrap();
        assert_eq!(wait(engine.as_mut(), 1, None).len(), 1);
    }
}

/// Held by tests without capabilities, which share what this user may lock.
static LOCKED_MEMORY: Mutex<()> = Mutex::new(());

/// How many bytes processes without capabilities may lock; `None` when it takes too many to come to that.
fn locked_memory_limit() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
    let limit = limit.filter(|limit| *limit <= 64 << 20);
    if limit.is_none() {
        skipped("a limit of locked memory of at most 64 MiB");
    }
    limit
}

/// What is selected without capabilities, one after the other, for rings whose entries alone take so many eighths of
/// what may be locked.
fn chosen_for<const N: usize>(
    limit: u64,
    choice: EngineChoice,
    eighths: [u32; N],
) -> [Result<SelectedEngine, EngineUnavailable>; N] {
    let depth = 1 << (limit / 8 / 64).ilog2().min(14);
    let all = (limit / (u64::from(depth) * 64)) as u32;
    let selected = thread::spawn(move || {
        drop_capabilities();
        eighths.map(|eighths| {
            let mut queues = Queues::default();
            queues.add(choice, RingSetup::plain(depth), (all * eighths / 8).max(1));
            probe::select(choice, &queues)
        })
    });
    selected.join().unwrap()
}

#[test]
fn rings_beyond_the_locked_memory_limit_are_replaced_and_the_reason_names_it() {
    let Some(limit) = locked_memory_limit() else { return };
    let _alone = LOCKED_MEMORY.lock();
    let [one, all] = chosen_for(limit, EngineChoice::Auto, [1, 8]).map(Result::unwrap);
    if one.kind != EngineKind::IoUring {
        return skipped(&one.reason);
    }
    // So many operations may be more than fs.aio-max-nr allows, too.
    assert_ne!(all.kind, EngineKind::IoUring, "{}", all.reason);
    let limit = format!("RLIMIT_MEMLOCK of {limit} bytes");
    assert!(all.reason.contains("io_uring_setup: ") && all.reason.contains(&limit), "{}", all.reason);
}

#[test]
fn memory_of_closed_rings_is_waited_for() {
    let Some(limit) = locked_memory_limit() else { return };
    if let Err(unavailable) = probe::select(EngineChoice::IoUring, &Queues::one(RingSetup::plain(1))) {
        return skipped(&unavailable.reason);
    }
    let _alone = LOCKED_MEMORY.lock();
    // With their results they take more than half of it: not all can be had twice in a row at once.
    let selected = chosen_for(limit, EngineChoice::IoUring, [4; 20]);
    assert!(selected.iter().all(Result::is_ok), "{selected:?}");
}

#[test]
fn buffers_beyond_the_locked_memory_limit_are_used_unregistered_with_a_note() {
    let Some(limit) = locked_memory_limit() else { return };
    let _alone = LOCKED_MEMORY.lock();
    let file = new_file();
    thread::spawn(move || {
        drop_capabilities();
        let buffer_bytes = 1 << 20;
        let queue_depth = (limit / buffer_bytes + 4) as u32;
        let setup = Variant::IoUring.build_with(file.as_file(), queue_depth, buffer_bytes as u32);
        let Some(mut engine) = setup else { return };
        let notes = engine.notes().join("\n");
        assert!(notes.contains("RLIMIT_MEMLOCK") && notes.contains(&limit.to_string()), "{notes}");
        engine.submit(Tag(0), operation(OperationKind::Read, 0)).unwrap();
        assert_eq!(result_of(&wait(engine.as_mut(), 1, None), 0), BLOCK as i32);
    })
    .join()
    .unwrap();
}

/// What is selected on a thread that may not make these system calls.
fn selected_without(
    calls: &'static [libc::c_long],
    choice: EngineChoice,
) -> Option<Result<(EngineKind, String), String>> {
    let selected = thread::spawn(move || {
        deny_system_calls(calls).then(|| {
            let selected = probe::select(choice, &Queues::one(RingSetup::plain(DEPTH)));
            selected.map(|selected| (selected.kind, selected.reason)).map_err(|error| error.to_string())
        })
    });
    selected.join().unwrap()
}

#[test]
fn where_io_uring_is_denied_libaio_is_used_and_the_reason_says_so() {
    let Some(selected) = selected_without(&[libc::SYS_io_uring_setup], EngineChoice::Auto) else { return };
    let (kind, reason) = selected.unwrap();
    assert_eq!(kind, EngineKind::Libaio, "{reason}");
    assert!(reason.starts_with("libaio, because io_uring cannot be used: io_uring_setup: "), "{reason}");
    assert!(reason.contains("seccomp") && reason.contains("kernel.io_uring_disabled"), "{reason}");
}

#[test]
fn where_only_entering_a_ring_is_denied_the_probe_finds_out() {
    let Some(selected) = selected_without(&[libc::SYS_io_uring_enter], EngineChoice::Auto) else { return };
    let (kind, reason) = selected.unwrap();
    assert_eq!(kind, EngineKind::Libaio);
    assert!(reason.contains("io_uring_enter: "), "{reason}");
}

#[test]
fn where_both_are_denied_psync_is_used_and_the_reason_names_both() {
    let calls = &[libc::SYS_io_uring_setup, libc::SYS_io_setup];
    let Some(selected) = selected_without(calls, EngineChoice::Auto) else { return };
    let (kind, reason) = selected.unwrap();
    assert_eq!(kind, EngineKind::Psync);
    assert!(reason.contains("io_uring cannot be used") && reason.contains("libaio cannot be used"), "{reason}");
}

#[test]
fn where_only_the_use_of_a_context_is_denied_the_probe_finds_out() {
    for (call, name) in [(libc::SYS_io_submit, "io_submit: "), (libc::SYS_io_getevents, "io_getevents: ")] {
        let calls: &'static [_] = vec![libc::SYS_io_uring_setup, call].leak();
        let Some(selected) = selected_without(calls, EngineChoice::Auto) else { return };
        let (kind, reason) = selected.unwrap();
        assert_eq!(kind, EngineKind::Psync, "{reason}");
        assert!(reason.contains(name), "{reason}");
    }
}

#[test]
fn a_denied_engine_that_was_asked_for_is_an_error_with_the_cause() {
    let Some(selected) = selected_without(&[libc::SYS_io_uring_setup], EngineChoice::IoUring) else { return };
    let error = selected.unwrap_err();
    assert!(error.starts_with("engine io_uring cannot be used: ") && error.contains("seccomp"), "{error}");
}

#[test]
fn the_features_of_a_denied_ring_are_none_and_say_why() {
    let features = thread::spawn(|| deny_system_calls(&[libc::SYS_io_uring_setup]).then(probe::features));
    let Some(features) = features.join().unwrap() else { return };
    assert!(features.unavailable.is_some() && !features.deadlines && !features.registered_ring);
}
