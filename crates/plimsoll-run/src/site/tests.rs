//! Targets that somebody changes while a run makes them ready.

use std::{
    collections::HashSet,
    fs, mem,
    os::unix::fs::{FileExt, symlink},
};

use plimsoll_workload::{certainty::Certainty, settings::Effort, workload::Workload};

use super::*;

const READS: &str = "rw = 'randread'\nsize = '1M'\n";
const WRITES: &str = "rw = 'randwrite'\nsize = '1M'\n";

/// With these lines in workloads that are otherwise alike.
fn open_with(path: &Path, lines: &[&str], emit: &mut dyn FnMut(RunEvent)) -> Result<Sites, RunError> {
    open_all_with(&[path], lines, emit)
}

fn open_all_with(paths: &[&Path], lines: &[&str], emit: &mut dyn FnMut(RunEvent)) -> Result<Sites, RunError> {
    let workload = "engine = \"psync\"\nbuffered = true\nduration = \"1s\"\n";
    let workloads = lines.iter().map(|line| toml::from_str(&format!("{workload}{line}")).unwrap());
    let workloads: Vec<Workload> = workloads.collect();
    let facts: Vec<_> = paths.iter().map(|path| target::facts(path).unwrap()).collect();
    let plan = Plan::resolve(&facts, &workloads, &Certainty::of(Effort::Quick), 42).unwrap();
    let run = Uuid::from_u128(1);
    let making =
        Making { run, goes_on: false, writer: 0, files_after: FilesAfter::Kept, state_directory: None, common: None };
    Sites::open(&plan, Sites::guard(&plan, &[])?, making, &AtomicBool::new(false), emit)
}

/// What is told of a kept file comes after it was taken and before it is filled anew; the end of that before it is
/// opened to be written.
#[test]
fn a_file_whose_directory_is_exchanged_meanwhile_is_neither_filled_nor_used() {
    let is_found: fn(&RunEvent) -> bool = |event| matches!(event, RunEvent::Found { .. });
    let is_filled: fn(&RunEvent) -> bool = |event| matches!(event, RunEvent::LayoutFinished { .. });
    for (lines, is_moment) in [(READS, is_found), (WRITES, is_found), (WRITES, is_filled)] {
        let root = tempfile::tempdir().unwrap();
        let [shared, moved, victim] = ["shared", "moved", "victim"].map(|name| root.path().join(name));
        let path = shared.join("data");
        fs::create_dir(&shared).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("data"), "precious").unwrap();
        open_with(&path, &[READS], &mut |_| {}).unwrap().close(&mut |_| {});
        let mut is_exchanged = false;
        let exchange = &mut |event| {
            if is_moment(&event) && !mem::replace(&mut is_exchanged, true) {
                fs::rename(&shared, &moved).unwrap();
                symlink(&victim, &shared).unwrap();
            }
        };
        let Err(error) = open_with(&path, &[lines], exchange) else { panic!("it was opened") };
        assert!(is_exchanged && error.to_string().contains("no longer the file that plimsoll made"), "{error}");
        assert_eq!(fs::read(victim.join("data")).unwrap(), b"precious");
        assert_eq!(moved.join("data").metadata().unwrap().len(), 1 << 20);
    }
}

#[test]
fn a_kept_file_is_read_as_it_is_and_laid_out_anew_where_it_is_written_but_no_shorter() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap().join("data");
    let facts = || path.metadata().map(|facts| (facts.len(), facts.modified().unwrap())).unwrap();
    let open = |lines: &str| {
        let (mut told, mut written_bytes) = (String::new(), 0);
        let sites = open_with(&path, &[lines], &mut |event| match event {
            RunEvent::Found { finding, .. } => told = finding.text,
            RunEvent::LayoutFinished { written_bytes: bytes, .. } => written_bytes = bytes,
            _ => {}
        });
        sites.unwrap().close(&mut |_| {});
        (told, written_bytes)
    };
    assert_eq!(open(WRITES), (String::new(), 1 << 20));
    let made = facts();
    for size in ["", "size = '512K'"] {
        let (told, written_bytes) = open(&format!("rw = 'randread'\n{size}"));
        assert!(told.contains("kept: its content is what was left there"), "{told}");
        assert_eq!((written_bytes, facts()), (0, made));
    }
    let (told, written_bytes) = open("rw = 'randwrite'\nsize = '512K'");
    assert!(told.contains("kept: its content was written anew"), "{told}");
    assert_eq!((written_bytes, facts().0), (512 << 10, 1 << 20));
    let written = facts();
    assert!(open("rw = 'randread'").0.contains("kept"), "it is kept again");
    assert_eq!(facts(), written);
}

#[test]
fn a_kept_file_in_which_nothing_was_written_is_laid_out_before_it_is_read() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap().join("data");
    let written_bytes = |lines: &str| {
        let mut written_bytes = 0;
        let sites = open_with(&path, &[lines], &mut |event| {
            if let RunEvent::LayoutFinished { written_bytes: bytes, .. } = event {
                written_bytes = bytes;
            }
        });
        sites.unwrap().close(&mut |_| {});
        written_bytes
    };
    assert_eq!(written_bytes(&format!("{WRITES}layout = 'allocated'")), 0);
    assert_eq!(written_bytes(READS), 1 << 20);
    assert_eq!(written_bytes(READS), 0);
}

#[test]
fn files_for_reads_hold_what_writes_of_the_workload_would() {
    let root = tempfile::tempdir().unwrap();
    let payloads = ["random", "zero", "pattern:0xabcdef", "compressible:75", "duplicate:50"];
    let lines = payloads.map(|payload| format!("{READS}payload = '{payload}'\nblock_size = '8KiB'"));
    let sites = open_with(root.path(), &lines.each_ref().map(String::as_str), &mut |_| {}).unwrap();
    let [random, zero, pattern, compressible, duplicate] = [0, 1, 2, 3, 4].map(|cell| {
        let file = fs::File::from(sites.files(cell)[0].try_clone_to_owned().unwrap());
        let mut content = vec![1; 1 << 20];
        file.read_exact_at(&mut content, 0).unwrap();
        content
    });
    let different = |content: &[u8]| content.chunks(8 << 10).collect::<HashSet<_>>().len();
    let zeros = |content: &[u8]| content.iter().filter(|byte| **byte == 0).count();
    assert_eq!((different(&random), different(&compressible)), (128, 128));
    assert!(zeros(&random) < 1 << 14);
    assert_eq!(zeros(&zero), 1 << 20);
    assert!(pattern.chunks(8 << 10).all(|block| block.iter().eq([0xab, 0xcd, 0xef].iter().cycle().take(8 << 10))));
    assert!(compressible.chunks(4 << 10).all(|chunk| chunk[1 << 10..].iter().all(|byte| *byte == 0)));
    assert!((40..110).contains(&different(&duplicate)), "{}", different(&duplicate));
    sites.close(&mut |_| {});
}

#[test]
fn targets_of_one_file_system_are_to_fit_together() {
    let root = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| root.path().join(name));
    paths.iter().for_each(|path| fs::create_dir(path).unwrap());
    let [a, b] = paths.each_ref().map(|path| &**path);
    let free_bytes = target::facts(a).unwrap().free_bytes.unwrap();
    // Nothing is written here, should it be allowed.
    let lines = format!("rw = 'randwrite'\nlayout = 'empty'\nsize = '{}MiB'\n", (free_bytes >> 20) / 3 * 2);
    open_all_with(&[a], &[&lines], &mut |_| {}).unwrap();
    let Err(error) = open_all_with(&[a, b], &[&lines], &mut |_| {}) else { panic!("there is no room for both") };
    assert!(matches!(error, RunError::Layout(layout::LayoutError::NoSpace { .. })), "{error}");
}
