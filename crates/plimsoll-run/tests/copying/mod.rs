//! What somebody copies into a file that plimsoll made is theirs, though it is the same file.

use std::{fs, io::Write, path::Path};

use plimsoll_run::objects::{
    Provenance, TestObjects, is_foreign_file,
    leftovers::{LeftReason, Sweep, clean, sweep, sweep_directory},
};

use super::{Scene, make, owner, pause_us};

/// One object was found, and is not what plimsoll made.
#[track_caller]
pub(crate) fn assert_foreign(sweep: &Sweep) {
    assert!(sweep.removed.is_empty(), "{:?}", sweep.removed);
    let foreign: Vec<_> = sweep.left.iter().filter(|left| left.path.ends_with("made.img")).collect();
    assert!(matches!(foreign[..], [left] if matches!(left.reason, LeftReason::Foreign)), "{:?}", sweep.left);
}

/// As `cp` and `dd` do it.
fn copy_into(path: &Path, content: &[u8]) {
    // The clock that files are dated by ticks a hundred times a second or more.
    pause_us(30_000);
    fs::OpenOptions::new().write(true).truncate(true).open(path).unwrap().write_all(content).unwrap();
}

#[test]
fn what_somebody_copied_into_a_kept_file_is_neither_written_nor_removed() {
    let scene = Scene::new();
    let path = scene.target().join("made.img");
    let new = |run| TestObjects::new(owner(run), None);
    let checks: [fn(&Path, TestObjects); 3] = [
        |path, mut objects| {
            assert_eq!(objects.create_file(path, 4096).unwrap().provenance, Provenance::Foreign);
        },
        |path, mut objects| {
            assert!(objects.share_file(path, 100).unwrap().is_none(), "its marker is to go first");
            assert_eq!(objects.create_file(path, 4096).unwrap().provenance, Provenance::Foreign);
            assert_eq!(objects.share_file(path, 100).unwrap().unwrap().provenance, Provenance::Foreign);
        },
        |path, _| assert_foreign(&clean(path).unwrap()),
    ];
    for check in checks {
        for bytes in [100, 4096, 5000] {
            let mut objects = new(1);
            make(&mut objects, &scene.target(), "made.img", 4096);
            objects.keep().1.unwrap();
            drop(objects);
            assert!(!is_foreign_file(&path));
            copy_into(&path, &vec![7; bytes]);
            assert!(is_foreign_file(&path));
            check(&path, new(2));
            assert_eq!(fs::read(&path).unwrap(), vec![7; bytes]);
            assert!(!scene.target().join("made.img.plimsoll").exists());
            fs::remove_file(&path).unwrap();
            clean(&scene.target()).unwrap();
            scene.assert_clean("after all that was ours is gone");
        }
    }
}

#[test]
fn what_somebody_copied_into_a_file_of_a_killed_run_stays() {
    let scene = Scene::new();
    let path = scene.target().join("made.img");
    let sweeps: [fn(&Scene) -> Sweep; 3] = [
        |scene| sweep(&scene.state()).unwrap(),
        |scene| sweep_directory(&scene.target()).unwrap(),
        |scene| clean(&scene.target().join("made.img")).unwrap(),
    ];
    for look in sweeps {
        for bytes in [100, 5000] {
            drop(scene.spawn("wait"));
            // The directory beside it is gone then.
            for entry in fs::read_dir(scene.target()).unwrap() {
                let directory = entry.unwrap().path();
                if directory.join("data-2").exists() {
                    fs::remove_dir_all(directory).unwrap();
                }
            }
            copy_into(&path, &vec![7; bytes]);
            assert_foreign(&look(&scene));
            assert_eq!(fs::read(&path).unwrap(), vec![7; bytes]);
            sweep(&scene.state()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), vec![7; bytes]);
            fs::remove_file(&path).unwrap();
            scene.assert_clean("after it was removed by hand");
        }
    }
}

#[test]
fn a_kept_file_that_a_later_run_wrote_to_is_kept_again_and_no_shorter() {
    let scene = Scene::new();
    let path = scene.target().join("made.img");
    let mut objects = TestObjects::new(owner(1), None);
    make(&mut objects, &scene.target(), "made.img", 4096);
    objects.keep().1.unwrap();
    drop(objects);
    for (run, bytes) in [(2, 512), (3, 9000), (4, 512)] {
        let mut objects = TestObjects::new(owner(run), None);
        assert_eq!(objects.create_file(&path, bytes).unwrap().provenance, Provenance::Kept);
        pause_us(30_000);
        fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(&vec![7; bytes as usize]).unwrap();
        let opened = fs::File::open(&path).unwrap();
        objects.check_opened(&path, std::os::fd::AsFd::as_fd(&opened)).unwrap();
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 9000);
    assert_eq!(clean(&path).unwrap().removed[0].bytes, 9000);
    clean(&scene.target()).unwrap();
    scene.assert_clean("after it was cleaned");
}
