//! What phases do with files, on a real file system.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_files::{
    phase::PhaseOutcome,
    set::{FileSet, SetError},
};
use plimsoll_workload::{
    file_set::{CacheState, FilePhase, FilePlan, FileSync, PhaseEnd},
    file_sizes::FileSizes,
    payload::Payload,
    pinning::Pinning,
    settings::SyncMode,
};

fn plan(phases: &str) -> FilePlan {
    FilePlan {
        phases: phases.parse().unwrap(),
        mix: None,
        file_count: 60,
        file_size: "1-9000".parse::<FileSizes>().unwrap(),
        files_per_directory: Some(7),
        jobs: 1,
        block_size_bytes: 4096,
        buffered: true,
        sync: SyncMode::None,
        file_sync: FileSync::None,
        cache: CacheState::AsIs,
        phase_end: PhaseEnd::All,
        phase_limit_ns: None,
        payload: Payload::default(),
        verify: true,
        seed: 42,
        pin: Pinning::None,
        keep_going: false,
    }
}

fn open(directory: &Path, plan: &FilePlan) -> FileSet {
    FileSet::new(fs::File::open(directory).unwrap().into(), plan).unwrap()
}

fn phase(set: &mut FileSet, phase: FilePhase) -> PhaseOutcome {
    let stop = AtomicBool::new(false);
    set.prepare(phase, &stop).unwrap();
    let outcome = set.run(phase, &stop, &mut |_| {}).unwrap();
    set.restore(phase, &outcome, &stop).unwrap();
    outcome
}

/// Paths of regular files below a directory, with their lengths.
fn files(directory: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let facts = entry.path().symlink_metadata().unwrap();
            if facts.is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path().strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
                found.push((path, facts.len()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_phase_is_done_with_every_file_by_any_number_of_jobs() {
    for jobs in [1, 4, 60] {
        for word in FilePhase::WORDS.iter().filter(|word| **word != "mix") {
            let of: FilePhase = word.parse().unwrap();
            for file_sync in FileSync::WORDS {
                let place = tempfile::tempdir().unwrap();
                let plan = FilePlan { jobs, file_sync: file_sync.parse().unwrap(), ..plan(word) };
                let mut set = open(place.path(), &plan);
                let done = phase(&mut set, of);
                let due = if of == FilePhase::List { u64::from(plan.directory_count()) } else { 60 };
                assert_eq!(done.operations(), due, "{word} {file_sync} {jobs} {:?}", done.errors);
                // A name that is passed by has no latency.
                let (timed, least) = (done.times.operations.count(), if of == FilePhase::Find { 1 } else { due });
                assert!((least..=due).contains(&timed), "{word} {file_sync}: {timed}");
                assert!(jobs > 1 || of != FilePhase::Find || timed < due, "some of these names are passed by: {timed}");
                assert!(done.errors.is_empty() && !done.is_cut, "{word} {file_sync} {:?}", done.errors);
                assert_eq!(done.job_operations.len(), jobs as usize);
                assert!(done.first_done_operations <= due, "{word}");
                let calls: u64 = done.times.calls().map(|(_, histogram)| histogram.count()).sum();
                assert!(calls >= due || of == FilePhase::Find, "{word}");
                let total = plan.total_bytes();
                let bytes = match of {
                    FilePhase::Write | FilePhase::WriteRead | FilePhase::Overwrite | FilePhase::Read => total,
                    FilePhase::Append | FilePhase::Log => 60 * 4096,
                    FilePhase::ReadAppend => total + 60 * 4096,
                    _ => 0,
                };
                assert_eq!(done.bytes, bytes, "{word}");
                let blocks: u64 = (0..60).map(|file| plan.sizes().size(file).div_ceil(4096)).sum();
                assert_eq!(done.checked_blocks, if of.reads() { blocks } else { 0 }, "{word}");
                let (there, length) = match of {
                    FilePhase::Create | FilePhase::Truncate => (60, 0),
                    FilePhase::Delete | FilePhase::Mkdir | FilePhase::Rmdir => (0, 0),
                    FilePhase::Append | FilePhase::ReadAppend => (60, total + 60 * 4096),
                    FilePhase::Log => (61, total + 60 * 4096),
                    _ => (60, total),
                };
                let found = files(place.path());
                assert_eq!(found.len(), there, "{word} {found:?}");
                assert_eq!(found.iter().map(|(_, bytes)| bytes).sum::<u64>(), length, "{word}");
                set.finish(&AtomicBool::new(false)).unwrap();
                let stays = !of.needs_new_files();
                assert_eq!(files(place.path()).len(), if stays { there } else { 0 }, "{word}");
            }
        }
    }
}

#[test]
fn a_seed_makes_the_same_tree_for_every_number_of_jobs_and_the_checksum_is_that_of_coreutils() {
    let mut sums = Vec::new();
    for jobs in [1, 3, 16] {
        let place = tempfile::tempdir().unwrap();
        let mut set = open(place.path(), &FilePlan { jobs, ..plan("write") });
        assert_eq!(set.checksum(&AtomicBool::new(false)).unwrap(), None);
        phase(&mut set, FilePhase::Write);
        sums.push(set.checksum(&AtomicBool::new(false)).unwrap().unwrap());
        let theirs = Command::new("sh")
            .args(["-c", "find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"])
            .current_dir(place.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(theirs.stdout).unwrap(), format!("{}  -\n", sums[0]));
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]));
    let place = tempfile::tempdir().unwrap();
    let mut set = open(place.path(), &FilePlan { seed: 43, ..plan("write") });
    phase(&mut set, FilePhase::Write);
    assert_ne!(set.checksum(&AtomicBool::new(false)).unwrap().unwrap(), sums[0]);
}

#[test]
fn files_that_were_damaged_are_found() {
    let place = tempfile::tempdir().unwrap();
    let mut set =
        open(place.path(), &FilePlan { keep_going: true, file_size: FileSizes::One(9000), ..plan("write,read") });
    phase(&mut set, FilePhase::Write);
    let path = place.path().join("d1/f8");
    let mut content = fs::read(&path).unwrap();
    content[5000] ^= 1;
    fs::write(&path, &content).unwrap();
    fs::write(place.path().join("d0/f3"), &content[..100]).unwrap();
    let done = phase(&mut set, FilePhase::Read);
    let errors: Vec<_> = done.errors.iter().map(|error| (error.operation.as_str(), error.first_file)).collect();
    assert_eq!(errors, [("verify", 3)], "{:?}", done.errors);
    assert_eq!(done.errors[0].count, 2);
    assert_eq!(done.operations(), 58);
    let without = FilePlan { verify: false, keep_going: true, file_size: FileSizes::One(9000), ..plan("write,read") };
    let place = tempfile::tempdir().unwrap();
    let mut set = open(place.path(), &without);
    phase(&mut set, FilePhase::Write);
    fs::write(place.path().join("d0/f3"), &content[..100]).unwrap();
    let done = phase(&mut set, FilePhase::Read);
    assert_eq!(done.errors[0].error, "a file is too short");
    assert_eq!(done.errors[0].example.as_deref(), Some("100 bytes instead of 9000"));
}

#[test]
fn an_error_ends_a_phase_unless_it_is_to_go_on() {
    for keep_going in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let mut set = open(place.path(), &FilePlan { keep_going, ..plan("write,stat") });
        phase(&mut set, FilePhase::Write);
        fs::remove_file(place.path().join("d0/f4")).unwrap();
        let done = phase(&mut set, FilePhase::Stat);
        assert_eq!(done.operations(), if keep_going { 59 } else { 4 });
        assert_eq!((done.is_cut, done.is_over_time), (!keep_going, false));
        assert_eq!(
            (done.errors[0].operation.as_str(), done.errors[0].count, done.errors[0].first_file),
            ("stat", 1, 4)
        );
        assert!(done.errors[0].error.contains("No such file"), "{:?}", done.errors);
    }
}

#[test]
fn what_a_limit_cuts_is_what_the_next_phase_works_with() {
    let place = tempfile::tempdir().unwrap();
    let limited = FilePlan { phase_limit_ns: Some(1), jobs: 4, ..plan("write,read,delete") };
    let mut set = open(place.path(), &limited);
    let written = phase(&mut set, FilePhase::Write);
    assert!(written.is_cut && written.is_over_time && written.operations() < 60, "{:?}", written.job_operations);
    let there = files(place.path()).len() as u64;
    assert_eq!((there, set.operations(FilePhase::Read)), (written.operations(), written.operations()));
    let read = phase(&mut set, FilePhase::Read);
    assert!(read.errors.is_empty(), "{:?}", read.errors);
}

#[test]
fn a_stonewall_ends_all_jobs_with_the_first() {
    let place = tempfile::tempdir().unwrap();
    let plan = FilePlan { phase_end: PhaseEnd::Stonewall, jobs: 2, file_count: 3001, ..plan("write") };
    let mut set = open(place.path(), &FilePlan { verify: false, file_size: FileSizes::One(10), ..plan });
    let done = phase(&mut set, FilePhase::Write);
    assert!(done.job_operations.iter().any(|operations| *operations >= 1500), "{:?}", done.job_operations);
    assert!(done.first_done_ns <= done.elapsed_ns && done.first_done_operations <= done.operations());
}

#[test]
fn nothing_is_done_when_the_run_is_to_stop() {
    let place = tempfile::tempdir().unwrap();
    let limited = FilePlan { phase_limit_ns: Some(60_000_000_000), ..plan("write") };
    let mut set = open(place.path(), &limited);
    let stop = AtomicBool::new(false);
    set.prepare(FilePhase::Write, &stop).unwrap();
    stop.store(true, Ordering::Relaxed);
    let done = set.run(FilePhase::Write, &stop, &mut |_| {}).unwrap();
    assert_eq!((done.operations(), done.is_cut, done.errors.len()), (0, true, 0));
    assert!(!done.is_over_time);
}

#[test]
fn the_cache_is_as_cold_or_as_warm_as_was_asked_for() {
    // tmpfs is nothing but cache.
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let stop = AtomicBool::new(false);
    for (cache, due) in [(CacheState::Cold, 0), (CacheState::Warm, 60 * 8192)] {
        let plan = FilePlan { cache, file_size: FileSizes::One(8192), ..plan("write,read") };
        let mut set = open(place.path(), &plan);
        phase(&mut set, FilePhase::Write);
        set.prepare(FilePhase::Read, &stop).unwrap();
        let cached = set.make_cached(&stop).unwrap();
        assert_eq!((cached.total_bytes, cached.resident_bytes), (60 * 8192, Some(due)), "{cached:?}");
    }
}

#[test]
fn a_directory_that_is_full_of_other_things_is_an_error_that_says_so() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("f0")).unwrap();
    let mut set = open(place.path(), &FilePlan { files_per_directory: None, ..plan("read") });
    let error = set.prepare(FilePhase::Read, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, SetError::Preparation { phase: FilePhase::Read, .. }), "{error}");
    assert!(error.to_string().contains("open failed: Is a directory"), "{error}");
    assert!(place.path().join("f0").is_dir(), "what is not ours stays");
}

#[test]
fn a_mix_does_its_steps_in_their_shares_and_finds_its_files() {
    let place = tempfile::tempdir().unwrap();
    let mix = "delete,write,read_append:700*2,read|stat*4,log:100";
    let plan = FilePlan {
        mix: Some(mix.parse().unwrap()),
        jobs: 3,
        verify: false,
        phase_limit_ns: Some(300_000_000),
        ..plan("mix")
    };
    let mut set = open(place.path(), &plan);
    for _ in 0..2 {
        let done = phase(&mut set, FilePhase::Mix);
        assert!(done.errors.is_empty(), "{:?}", done.errors);
        let count = |of: FilePhase| {
            let part = done.parts.iter().find(|part| part.phase == of).unwrap();
            assert_eq!(part.latencies.count(), part.job_operations.iter().sum::<u64>());
            assert_eq!(part.job_operations.len(), 3);
            part.latencies.count() as f64
        };
        let flows = count(FilePhase::Log);
        assert!(flows > 20.0, "{flows}");
        let near = |value: f64, due: f64, what: &str| {
            assert!((value - due).abs() <= 3.0 + 0.2 * due, "{what}: {value} instead of {due}");
        };
        near(count(FilePhase::Delete), flows, "delete");
        near(count(FilePhase::Write), flows, "write");
        near(count(FilePhase::ReadAppend), 2.0 * flows, "read_append");
        near(count(FilePhase::Read), 2.0 * flows, "read");
        near(count(FilePhase::Stat), 2.0 * flows, "stat");
        assert_eq!(done.parts.iter().map(|part| part.latencies.count()).sum::<u64>(), done.operations());
        assert!(!done.is_cut);
        set.finish(&AtomicBool::new(false)).unwrap();
        assert_eq!(files(place.path()).len(), 0);
    }
}

#[test]
fn a_mix_that_only_removes_ends_when_nothing_is_left() {
    let place = tempfile::tempdir().unwrap();
    let mix = Some("delete".parse().unwrap());
    let plan = FilePlan { mix, verify: false, phase_limit_ns: Some(60_000_000_000), jobs: 2, ..plan("mix") };
    let done = phase(&mut open(place.path(), &plan), FilePhase::Mix);
    assert_eq!(done.operations(), 60);
}

#[test]
fn a_mix_that_appends_nothing_is_verified_and_finds_a_file_that_is_too_short() {
    let place = tempfile::tempdir().unwrap();
    let (mix, file_size) = (Some("read,stat".parse().unwrap()), FileSizes::One(9000));
    let plan = FilePlan { mix, file_size, keep_going: true, phase_limit_ns: Some(200_000_000), ..plan("mix") };
    let stop = AtomicBool::new(false);
    let mut set = open(place.path(), &plan);
    set.prepare(FilePhase::Mix, &stop).unwrap();
    let whole = set.run(FilePhase::Mix, &stop, &mut |_| {}).unwrap();
    assert!(whole.checked_blocks > 0 && whole.errors.is_empty(), "{:?}", whole.errors);
    for (path, _) in files(place.path()) {
        fs::File::options().write(true).open(place.path().join(path)).unwrap().set_len(4096).unwrap();
    }
    let short = set.run(FilePhase::Mix, &stop, &mut |_| {}).unwrap();
    assert!(!short.errors.is_empty(), "{} were read", short.operations());
}

#[test]
fn a_mix_that_changes_nothing_finds_the_files_of_the_iteration_before_and_adds_none() {
    let place = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let numbers = || {
        use std::os::unix::fs::MetadataExt;
        let number = |path: &Path| place.path().join(path).metadata().unwrap().ino();
        files(place.path()).into_iter().map(|(path, _)| number(Path::new(&path))).collect::<Vec<_>>()
    };
    let visits = |mix: &str| {
        let mix = Some(mix.parse().unwrap());
        let plan = FilePlan { mix, phase_limit_ns: Some(20_000_000), jobs: 2, ..plan("mix") };
        let mut set = open(place.path(), &plan);
        let visit = |set: &mut FileSet| {
            assert!(phase(set, FilePhase::Mix).operations() > 0);
            let (numbers, sum) = (numbers(), set.checksum(&stop).unwrap());
            set.finish(&stop).unwrap();
            (numbers, sum)
        };
        (visit(&mut set), visit(&mut set))
    };
    let ((first, sum), (second, _)) = visits("read,stat,open");
    assert_eq!((first.len(), &first), (60, &second));
    let other = tempfile::tempdir().unwrap();
    let mut written = open(other.path(), &plan("write"));
    phase(&mut written, FilePhase::Write);
    assert_eq!(sum, written.checksum(&stop).unwrap(), "nothing but the files");
    fs::remove_dir_all(place.path()).unwrap();
    fs::create_dir(place.path()).unwrap();
    let ((_, sum), (files, _)) = visits("read,overwrite");
    assert_eq!((files.len(), sum), (60, None), "which files a mix leaves whole nobody knows");
}
