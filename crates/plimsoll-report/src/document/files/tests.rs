//! What is shown of sets of files.

use plimsoll_catalog::catalog::Catalog;
use plimsoll_record::{
    files::{CachedFiles, SlotPhase},
    record::Outcome,
    told,
};
use plimsoll_workload::{provisioned::Provisioning, workload::Workload};

use super::*;
use crate::test_records::{self, Story};

/// A row of a file benchmark, in MB/s.
fn row(count: u64, size_bytes: u64, write: f64, read: f64) -> Measured {
    Measured::Files(told::Files {
        count,
        size_bytes,
        iterations: 10,
        write_bytes_per_second: write * 1e6,
        read_bytes_per_second: read * 1e6,
        write_read_bytes_per_second: write * 1e6,
    })
}

/// Three options with two lengths, the longer one first.
fn rows_of_a_post() -> Record {
    let (large, small) = ("5 files of 100MiB", "1000 files of 10KiB");
    test_records::told(&[
        ("disk-premium", large, row(5, 100 << 20, 24.8, 1503.0)),
        ("disk-premium", small, row(1000, 10 << 10, 0.409, 141.0)),
        ("share", large, row(5, 100 << 20, 69.3, 100.5)),
        ("share", small, row(1000, 10 << 10, 0.247, 0.442)),
        ("blob", small, row(1000, 10 << 10, 1.23, 146.0)),
    ])
}

fn explained(record: &Record, said: &str) -> Explanation {
    let said: Provisioning = toml::from_str(said).unwrap();
    Explanation::of(&[(record, &said)], &Catalog::default()).unwrap()
}

fn targets(class: &FileClass) -> Vec<&str> {
    class.rows.iter().map(|row| row.target.as_str()).collect()
}

#[test]
fn rows_of_one_length_are_a_class_and_the_shortest_files_come_first() {
    let classes = of(&[&rows_of_a_post()], None);
    let sizes: Vec<u64> = classes.iter().map(|class| class.size_bytes).collect();
    assert_eq!(sizes, [10 << 10, 100 << 20]);
    assert_eq!(
        (targets(&classes[0]), targets(&classes[1])),
        (vec!["disk-premium", "share", "blob"], vec!["disk-premium", "share"])
    );
    let blob = &classes[0].rows[2];
    let phases: Vec<(&str, f64)> =
        blob.phases.iter().map(|phase| (phase.name.as_str(), phase.files_per_second.round())).collect();
    assert_eq!((blob.files, phases), (1000, vec![("write", 120.0), ("read", 14258.0), ("write+read", 120.0)]));
    assert!(blob.phases.iter().all(|phase| phase.interval.is_none() && phase.cached.is_none()));
    let title = "files of 10 KiB: write is fastest on blob, 4.98x of share (no intervals); read is fastest on blob, \
                 330x of share (no intervals)";
    assert_eq!(classes[0].title, title);
}

#[test]
fn what_a_cache_answered_is_told_apart_with_the_reason() {
    let record = rows_of_a_post();
    let explanation = explained(&record, "[targets.disk-premium]\nsku = 'P4'");
    let classes = of(&[&record], Some(&explanation));
    let cached = |class: &FileClass, phase: &str| -> Vec<Option<String>> {
        let of = |row: &FileRow| row.phases.iter().find(|view| view.name == phase).unwrap().cached.clone();
        class.rows.iter().map(of).collect()
    };
    let reads = cached(&classes[0], "read");
    let reason = reads[0].as_deref().unwrap();
    assert!(
        reason.starts_with("the page cache answered: 13,770 files/s are above the 3,500 files/s of P4"),
        "{reason}"
    );
    assert!(!reason.contains(';') && reads[1].is_none(), "{reads:?}");
    // Nothing is said of what was bought for the third, which is as fast as the first.
    assert!(reads[2].as_deref().unwrap().starts_with("as fast as others"), "{reads:?}");
    assert_eq!(cached(&classes[0], "write"), [None, None, None]);
    assert!(classes[0].title.contains("read 43.2 files/s on share; read: a cache answered 2 of 3"));
    assert!(
        classes[1].title.contains("read 0.958 files/s on share; read: a cache answered 1 of 2"),
        "{}",
        classes[1].title
    );
}

#[test]
fn an_explanation_of_another_run_says_nothing() {
    let record = rows_of_a_post();
    let mut explanation = explained(&record, "[targets.disk-premium]\nsku = 'P4'");
    explanation.runs[0].id = uuid::Uuid::nil();
    assert_eq!(of(&[&record], Some(&explanation)), of(&[&record], None));
}

/// A run of these settings, three iterations on each target, so many files a second.
fn run(settings: &str, targets: &[(&str, u64)], held: u64) -> Record {
    let workload: Workload = toml::from_str(&format!("file_count = 100\niterations = 3\n{settings}")).unwrap();
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let mut story = Story::new(&names, &[workload]);
    for (cell, (_, rate)) in targets.iter().enumerate() {
        for round in 0..3 {
            story.files(cell, round, |phase| {
                let cached = CachedFiles {
                    method: Some("cachestat".to_owned()),
                    total_bytes: 100,
                    resident_bytes: Some(held),
                    reason: None,
                };
                let of = test_records::phase(phase, rate + u64::from(round));
                SlotPhase { cached: phase.reads().then_some(cached), ..of }
            });
        }
    }
    story.end(54_000_000_000, Outcome::Complete)
}

fn views(class: &FileClass, row: usize) -> Vec<(&str, Option<&str>)> {
    class.rows[row].phases.iter().map(|phase| (phase.name.as_str(), phase.cached.as_deref())).collect()
}

#[test]
fn measured_phases_have_intervals_and_say_what_was_in_memory() {
    let settings = "file_size = '4k'\nphases = 'write,stat,read,delete'\nfile_sync = 'file'";
    let record = run(settings, &[("/mnt/a", 5000), ("/mnt/b", 1000)], 98);
    let [class] = &of(&[&record], None)[..] else { panic!("one class") };
    assert_eq!((class.size_bytes, class.rows[0].files, targets(class)), (4096, 100, vec!["/mnt/a", "/mnt/b"]));
    let held = Some("the page cache held 98 % of the files when they were read");
    let changed = Some("memory took what was changed: nothing was synced");
    assert_eq!(views(class, 0), [("write", None), ("stat", None), ("read", held), ("delete", changed)]);
    let [write, stat, ..] = &class.rows[0].phases[..] else { panic!() };
    assert!(write.interval.is_some_and(|[low, high]| low < write.files_per_second && write.files_per_second < high));
    assert!(write.bytes_per_second.is_some() && stat.bytes_per_second.is_none());
    assert_eq!(
        class.title,
        "files of 4 KiB: write is fastest on /mnt/a, 5.00x of /mnt/b; read: a cache answered 2 of 2"
    );
}

#[test]
fn cold_files_were_read_from_the_storage_and_unsynced_ones_are_in_memory() {
    let cold = run("file_size = '4k'\nphases = 'write,read'\nfile_sync = 'none'", &[("/mnt/a", 900)], 1);
    let class = &of(&[&cold], None)[0];
    assert_eq!(
        views(class, 0),
        [("write", Some("the page cache took what was written: nothing was synced")), ("read", None)]
    );
    assert_eq!(class.title, "files of 4 KiB: write: a cache answered it; read 901 files/s");
    let direct =
        run("file_size = '4k'\nphases = 'write'\nfile_sync = 'none'\nbuffered = false", &[("/mnt/a", 900)], 98);
    assert_eq!(views(&of(&[&direct], None)[0], 0), [("write", None)]);
    let names =
        run("file_size = 0\nphases = 'create,stat'\nfile_sync = 'file'", &[("/mnt/a", 900), ("/mnt/b", 899)], 0);
    assert_eq!(of(&[&names], None)[0].title, "empty files: no sure difference in create between 2 targets");
}

#[test]
fn sets_of_one_target_are_told_apart_by_what_differs() {
    let first = run("file_size = '4k'\nphases = 'write'", &[("/mnt/a", 900)], 0);
    let mut second = first.clone();
    second.cells[0].workload = "other".to_owned();
    second.id = uuid::Uuid::from_u128(7);
    let classes = of(&[&first, &second], None);
    assert_eq!(targets(&classes[0]), ["/mnt/a 100 x 4KiB", "/mnt/a other"]);
    second.cells[0].workload.clone_from(&first.cells[0].workload);
    second.name = Some("again".to_owned());
    assert_eq!(targets(&of(&[&first, &second], None)[0]), ["/mnt/a, 0199c0de-7a3e", "/mnt/a, again"]);
}

#[test]
fn what_changes_files_without_a_sync_is_in_memory_whatever_it_changes() {
    let settings = "file_size = '4k'\nphases = 'write,stat,delete'\nfile_sync = 'none'";
    let record = run(settings, &[("/mnt/a", 292_000), ("/mnt/b", 1000)], 0);
    let class = &of(&[&record], None)[0];
    let reason = Some("memory took what was changed: nothing was synced");
    let written = Some("the page cache took what was written: nothing was synced");
    assert_eq!(views(class, 0), [("write", written), ("stat", None), ("delete", reason)]);
    // Names are in memory also where content is not.
    let direct = run(&format!("{settings}\nbuffered = false"), &[("/mnt/a", 292_000)], 0);
    assert_eq!(views(&of(&[&direct], None)[0], 0), [("write", None), ("stat", None), ("delete", reason)]);
}

#[test]
fn what_was_looked_up_without_asking_the_disk_is_of_memory() {
    let mut record = run("file_size = '4k'\nphases = 'write,stat'\nfile_sync = 'file'", &[("/mnt/a", 832_000)], 0);
    let mut asked = |each: Option<f64>| {
        let stat = &mut record.cells[0].files.as_mut().unwrap().phases[1];
        stat.device_operations_per_operation = each;
        views(&of(&[&record], None)[0], 0)[1].1.map(str::to_owned)
    };
    assert_eq!(asked(Some(0.001)).as_deref(), Some("memory answered: the disk was asked 0.001 times for each"));
    assert_eq!([asked(Some(1.0)), asked(None)], [None, None], "where no disk is seen nobody knows");
}

#[test]
fn what_is_nearly_as_fast_as_a_cache_is_no_best_either() {
    let row_of = |target, read| (target, "5 files of 100MiB", row(5, 100 << 20, 24.8, read));
    let record = test_records::told(&[row_of("disk", 1503.0), row_of("blobfuse", 1478.0), row_of("share", 71.7)]);
    let explanation = explained(&record, "[targets.disk]\nsku = 'P4'");
    let class = &of(&[&record], Some(&explanation))[0];
    let reads: Vec<bool> = class.rows.iter().map(|row| row.phases[1].cached.is_some()).collect();
    assert_eq!(reads, [true, true, false]);
    assert!(class.title.contains("read: a cache answered 2 of 3"), "{}", class.title);
}

#[test]
fn targets_without_a_difference_between_them_are_the_fastest_together() {
    let settings = "file_size = '4k'\nphases = 'write'\nfile_sync = 'file'";
    let targets = [("/mnt/a", 5000), ("/mnt/b", 5000), ("/mnt/c", 1000)];
    let title = of(&[&run(settings, &targets, 0)], None)[0].title.clone();
    let due = "files of 4 KiB: write is fastest on /mnt/a and /mnt/b, without a difference found between them, \
               5.00x of /mnt/c";
    assert_eq!(title, due);
    let large = "5 files of 100MiB";
    let told = ["disk", "share"].map(|target| (target, large, row(5, 100 << 20, 24.8, 100.0)));
    let slower = ("blob", large, row(5, 100 << 20, 12.4, 50.0));
    let title = of(&[&test_records::told(&[told[0].clone(), told[1].clone(), slower])], None)[0].title.clone();
    let due =
        "read is fastest on disk and share, without a difference found between them, 2.00x of blob (no intervals)";
    assert!(title.ends_with(due), "{title}");
}

#[test]
fn who_is_behind_the_surely_slower_is_not_the_fastest_however_little_is_sure_of_it() {
    let told = test_records::told(&["a", "b", "c"].map(|target| (target, "5 files of 4KiB", row(5, 4096, 1.0, 1.0))));
    let mut rows = of(&[&told], None).remove(0).rows;
    let rates = [(5000.0, [4900.0, 5100.0]), (1000.0, [950.0, 1050.0]), (800.0, [50.0, 9000.0])];
    for (row, (rate, interval)) in rows.iter_mut().zip(rates) {
        (row.phases[0].files_per_second, row.phases[0].interval) = (rate, Some(interval));
    }
    assert_eq!(of_phase("write", &rows), ["write is fastest on a, 5.00x of b, with no sure order to c"]);
}
