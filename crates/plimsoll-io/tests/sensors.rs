//! What the kernel's counters say about I/O that is known to the byte: the page cache, and what reached the storage.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{
    fs::{File, OpenOptions},
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::fs::{FileExt, OpenOptionsExt},
    },
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use devices::{LoopDevice, has_loop_devices, unprivileged};
use plimsoll_io::{
    block_device,
    engine::{Engine, EngineSetup, Tag, io_uring::IoUringEngine, linux_aio::LinuxAioEngine, psync::PsyncEngine},
    page_cache::{Residency, ResidencyError, ResidencyMethod, residency},
    process_usage::ProcessIo,
};
use plimsoll_workload::operation::{Operation, OperationKind};
use proptest::{prelude::*, test_runner::TestRunner};
use rustix::fs::{Advice, fadvise};
use support::{deny_system_calls, skipped};
use tempfile::NamedTempFile;

mod devices;
#[expect(dead_code, reason = "the devices and throttles in it are for the tests of engines")]
mod support;

const PAGE: u64 = 4096;
const PAGES: u64 = 256;
const BYTES: u64 = PAGES * PAGE;
const SYS_CACHESTAT: libc::c_long = 451;

/// One test at a time: the counters are those of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A written and synced file beside the build output; `None`, told as skipped, where that is not on a disk.
fn file_on_disk() -> Option<NamedTempFile> {
    let file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if block_device::device_of(file.path()).is_none() {
        skipped("a build directory on a disk");
        return None;
    }
    file.as_file().write_all_at(&vec![7; BYTES as usize], 0).unwrap();
    file.as_file().sync_all().unwrap();
    Some(file)
}

fn drop_cached(file: &File, offset: u64, length: u64) {
    fadvise(file, offset, length.try_into().ok(), Advice::DontNeed).unwrap();
}

fn read_page(file: &File, page: u64) {
    file.read_exact_at(&mut [0; PAGE as usize], page * PAGE).unwrap();
}

fn whole(file: &File) -> Residency {
    residency(file.as_fd(), 0, u64::MAX).unwrap()
}

/// What `mincore` says, on a thread that cannot use `cachestat`; `None` where it cannot be forbidden.
fn by_mincore(file: &File, offset: u64, length: u64) -> Option<Result<Residency, ResidencyError>> {
    let ask = || deny_system_calls(&[SYS_CACHESTAT]).then(|| residency(file.as_fd(), offset, length));
    std::thread::scope(|scope| scope.spawn(ask).join().unwrap())
}

#[test]
fn what_is_written_is_cached_and_dirty_until_synced_and_cached_until_dropped() {
    let _alone = alone();
    let Some(file) = file_on_disk() else { return };
    let file = file.as_file();
    // Only asked pages, none read ahead.
    fadvise(file, 0, None, Advice::Random).unwrap();
    let known = whole(file);
    assert_eq!((known.total_bytes, known.resident_bytes), (BYTES, BYTES));
    if known.method == ResidencyMethod::Cachestat {
        assert_eq!((known.dirty_bytes, known.writeback_bytes), (Some(0), Some(0)));
        file.write_all_at(&[1; 3 * PAGE as usize], PAGE).unwrap();
        // Pages that the kernel keeps together become dirty together.
        let dirty = whole(file).dirty_bytes.unwrap();
        assert!((3 * PAGE..=BYTES).contains(&dirty), "{dirty}");
        file.sync_all().unwrap();
        assert_eq!(whole(file).dirty_bytes, Some(0));
    }
    drop_cached(file, 0, 0);
    assert_eq!(whole(file).resident_bytes, 0);
    read_page(file, 5);
    read_page(file, 6);
    assert_eq!(whole(file).resident_bytes, 2 * PAGE);
    assert_eq!(residency(file.as_fd(), 6 * PAGE, PAGE).unwrap().resident_bytes, PAGE);
    assert_eq!(residency(file.as_fd(), 7 * PAGE, 50 * PAGE).unwrap().resident_bytes, 0);
    assert_eq!(residency(file.as_fd(), 5 * PAGE + 1, 10).unwrap().resident_bytes, 10);
    let beyond = residency(file.as_fd(), BYTES, PAGE).unwrap();
    assert_eq!((beyond.total_bytes, beyond.resident_bytes), (0, 0));
}

#[test]
fn the_old_and_the_new_way_agree_on_any_pages() {
    let _alone = alone();
    let Some(file) = file_on_disk() else { return };
    let file = file.as_file();
    fadvise(file, 0, None, Advice::Random).unwrap();
    let page = 0..PAGES;
    let ways = (prop::collection::vec(page.clone(), 0..40), page.clone(), page.clone(), 0..BYTES);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
    let checked = runner.run(&ways, |(read, first, last, cut)| {
        drop_cached(file, 0, 0);
        read.iter().for_each(|page| read_page(file, *page));
        drop_cached(file, first.min(last) * PAGE, first.abs_diff(last).max(1) * PAGE);
        let all = whole(file);
        prop_assert!(all.resident_bytes <= BYTES && all.resident_bytes.is_multiple_of(PAGE));
        let Some(old) = by_mincore(file, 0, BYTES) else { return Ok(()) };
        let old = old.unwrap();
        prop_assert_eq!(old.method, ResidencyMethod::Mincore);
        prop_assert_eq!((old.total_bytes, old.dirty_bytes), (BYTES, None));
        prop_assert_eq!(old.resident_bytes, all.resident_bytes);
        let cut = cut - cut % PAGE;
        let part = |offset, length| residency(file.as_fd(), offset, length).unwrap().resident_bytes;
        prop_assert_eq!(part(0, cut) + part(cut, BYTES - cut), all.resident_bytes);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn a_file_of_somebody_else_is_not_said_to_be_cached() {
    let _alone = alone();
    if !devices::has(&[]) {
        return;
    }
    let Some(file) = file_on_disk() else { return };
    drop_cached(file.as_file(), 0, 0);
    let read_only = File::open(file.path()).unwrap();
    // Some kernels tell anybody by `cachestat`; that is the truth, and `mincore` would say that all is cached.
    let told = unprivileged(|| residency(read_only.as_fd(), 0, BYTES));
    assert!(matches!(told, Err(ResidencyError::NotPermitted)) || told.is_ok_and(|told| told.resident_bytes == 0));
    let told = unprivileged(|| by_mincore(&read_only, 0, BYTES));
    assert!(told.is_none_or(|told| matches!(told, Err(ResidencyError::NotPermitted))));
}

#[test]
fn a_device_is_cached_by_reads_through_the_page_cache_only() {
    let _alone = alone();
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(BYTES);
    let direct = open(&device.path, libc::O_DIRECT);
    for page in 0..4 {
        run(&mut psync(&direct), OperationKind::Read, page);
    }
    assert_eq!(residency(direct.as_fd(), 0, BYTES).unwrap().resident_bytes, 0);
    let buffered = open(&device.path, 0);
    read_page(&buffered, 9);
    let known = residency(direct.as_fd(), 9 * PAGE, PAGE).unwrap();
    assert_eq!((known.total_bytes, known.resident_bytes), (PAGE, PAGE));
    assert_eq!(by_mincore(&buffered, 9 * PAGE, PAGE).map_or(PAGE, |told| told.unwrap().resident_bytes), PAGE);
}

fn open(path: &Path, flags: i32) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap()
}

fn setup<'a>(files: &'a [BorrowedFd<'a>], sqpoll: bool) -> EngineSetup<'a> {
    EngineSetup { files, queue_depth: 8, buffer_bytes: PAGE as u32, iopoll: false, sqpoll, processors: 2 }
}

fn psync(file: &File) -> PsyncEngine {
    PsyncEngine::new(&setup(&[file.as_fd()], false)).unwrap()
}

/// Every engine that this machine has, by name.
fn engines(file: &File) -> Vec<(&'static str, Box<dyn Engine>)> {
    let mut engines: Vec<(&'static str, Box<dyn Engine>)> = vec![("psync", Box::new(psync(file)))];
    match LinuxAioEngine::new(&setup(&[file.as_fd()], false)) {
        Ok(engine) => engines.push(("libaio", Box::new(engine))),
        Err(unavailable) => skipped(&unavailable.to_string()),
    }
    for (name, sqpoll, registered) in
        [("io_uring", false, true), ("io_uring unregistered", false, false), ("io_uring sqpoll", true, true)]
    {
        match IoUringEngine::new(&setup(&[file.as_fd()], sqpoll)) {
            Ok(mut engine) => {
                if registered {
                    engine.register(1);
                }
                engines.push((name, Box::new(engine)));
            }
            Err(unavailable) => skipped(&unavailable.to_string()),
        }
    }
    engines
}

fn run(engine: &mut dyn Engine, kind: OperationKind, page: u64) {
    engine.submit(Tag(0), Operation { kind, file: 0, length: PAGE as u32, offset: page * PAGE }).unwrap();
    let mut completions = Vec::new();
    engine.wait(1, None, &mut completions).unwrap();
    assert_eq!(completions[0].result, PAGE as i32);
}

/// All pages with one engine, on a thread that has ended when the counters are read.
fn moved_by(file: &File, index: usize, kind: OperationKind) -> (&'static str, ProcessIo) {
    let before = ProcessIo::now().unwrap();
    let work = || {
        let (name, mut engine) = engines(file).swap_remove(index);
        (0..PAGES).for_each(|page| run(&mut *engine, kind, page));
        name
    };
    let name = std::thread::scope(|scope| scope.spawn(work).join().unwrap());
    (name, ProcessIo::now().unwrap().since(&before))
}

/// Whether the kernel counts the bytes of processes; skips otherwise.
fn counts_bytes() -> bool {
    if ProcessIo::now().is_none() {
        skipped("a kernel that counts the bytes of processes (CONFIG_TASK_IO_ACCOUNTING)");
        return false;
    }
    true
}

/// A file has times, which its file system may write a block of now and then.
fn expect_exact_counts(path: &Path, metadata_bytes: u64) {
    let file = open(path, libc::O_DIRECT);
    for index in 0..engines(&file).len() {
        for (kind, read_bytes, write_bytes) in [(OperationKind::Read, BYTES, 0), (OperationKind::Write, 0, BYTES)] {
            let (name, moved) = moved_by(&file, index, kind);
            let written = write_bytes..=write_bytes + metadata_bytes;
            let is_exact = moved.read_bytes == read_bytes && written.contains(&moved.write_bytes);
            assert!(is_exact, "{kind:?} by {name} of {}: {moved:?}", path.display());
        }
    }
}

#[test]
fn every_engine_is_counted_to_the_byte_around_the_page_cache() {
    let _alone = alone();
    let Some(file) = file_on_disk().filter(|_| counts_bytes()) else { return };
    expect_exact_counts(file.path(), PAGE);
    if has_loop_devices(&[]) {
        expect_exact_counts(&LoopDevice::new(BYTES).path, 0);
    }
}

#[test]
fn what_the_page_cache_answers_is_not_counted() {
    let _alone = alone();
    let Some(file) = file_on_disk().filter(|_| counts_bytes()) else { return };
    let file = file.as_file();
    fadvise(file, 0, None, Advice::Random).unwrap();
    for index in 0..engines(file).len() {
        drop_cached(file, 0, 0);
        let (name, cold) = moved_by(file, index, OperationKind::Read);
        let (_, warm) = moved_by(file, index, OperationKind::Read);
        assert_eq!((cold.read_bytes, warm.read_bytes), (BYTES, 0), "{name}");
        let (_, dirtied) = moved_by(file, index, OperationKind::Write);
        assert!((BYTES..=BYTES + PAGE).contains(&dirtied.write_bytes), "{name}: {dirtied:?}");
        file.sync_all().unwrap();
    }
}

/// Whatever would block is handed to worker threads of the kernel, which must count as this process. Here all of it.
#[test]
fn worker_threads_of_the_ring_are_counted() {
    use io_uring::{IoUring, opcode, squeue, types::Fd};
    let _alone = alone();
    let Some(file) = file_on_disk().filter(|_| counts_bytes()) else { return };
    for flags in [0, libc::O_DIRECT] {
        let file = open(file.path(), flags);
        fadvise(&file, 0, None, Advice::Random).unwrap();
        drop_cached(&file, 0, 0);
        let before = ProcessIo::now().unwrap();
        let mut buffers = vec![0_u8; 9 * PAGE as usize];
        let start = buffers.as_ptr().align_offset(PAGE as usize);
        let mut ring = match IoUring::new(8) {
            Ok(ring) => ring,
            Err(error) => return skipped(&format!("io_uring: {error}")),
        };
        for first in (0..PAGES).step_by(8) {
            for slot in 0..8 {
                let buffer = buffers[start + slot * PAGE as usize..].as_mut_ptr();
                let entry = opcode::Read::new(Fd(file.as_raw_fd()), buffer, PAGE as u32)
                    .offset((first + slot as u64) * PAGE)
                    .build()
                    .flags(squeue::Flags::ASYNC);
                // SAFETY: the buffers outlive the wait for all of them below.
                unsafe { ring.submission().push(&entry) }.unwrap();
            }
            ring.submit_and_wait(8).unwrap();
            assert!(ring.completion().map(|done| done.result()).eq([PAGE as i32; 8]));
        }
        let while_they_live = ProcessIo::now().unwrap().since(&before);
        drop(ring);
        assert_eq!(while_they_live.read_bytes, BYTES, "flags {flags}");
        assert_eq!(ProcessIo::now().unwrap().since(&before).read_bytes, BYTES, "flags {flags}, after their end");
    }
}
