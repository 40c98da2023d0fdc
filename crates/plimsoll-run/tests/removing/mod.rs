//! How test objects are removed: in an order that every file system takes, and nothing of others with them.

use std::{
    ffi::CStr,
    fs,
    mem::MaybeUninit,
    os::{fd::AsFd, unix::fs::symlink},
    path::Path,
};

use plimsoll_run::objects::{
    TestObjects, WantedNames,
    leftovers::{LeftReason, sweep_directory},
};
use plimsoll_workload::file_names::FileNames;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::{Mount, Scene, abandon, owner, support::skipped};

#[test]
fn the_marker_of_a_directory_is_closed_before_the_directory_is_removed() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(40), None);
    let live = objects.create_directory(&scene.target()).unwrap().path().to_owned();
    let (dead, _) = abandon(&scene.target(), 41);
    // An empty marker: its owner died before it wrote one.
    let unfinished = scene.target().join("plimsoll-01991234-5678-7abc-8def-0123456789ae");
    fs::create_dir(&unfinished).unwrap();
    fs::write(unfinished.join(".plimsoll"), "").unwrap();

    let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, scene.target(), WatchFlags::DELETE).unwrap();
    for directory in [&live, &dead, &unfinished] {
        inotify::add_watch(&watch, directory, WatchFlags::DELETE | WatchFlags::CLOSE_WRITE).unwrap();
    }
    assert!(objects.remove().left.is_empty());
    sweep_directory(&scene.target()).unwrap();

    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&watch, &mut buffer);
    let mut is_open = false;
    let mut removed = 0;
    while let Ok(event) = reader.next() {
        let name = event.file_name().map_or("", |name: &CStr| name.to_str().unwrap());
        match event.events() {
            ReadFlags::DELETE if name == ".plimsoll" => is_open = true,
            ReadFlags::CLOSE_WRITE if name == ".plimsoll" => is_open = false,
            events if events.contains(ReadFlags::DELETE | ReadFlags::ISDIR) => {
                assert!(!is_open, "{name} is removed with its marker open");
                removed += 1;
            }
            _ => {}
        }
    }
    assert_eq!(removed, 3);
    scene.assert_clean("after all is removed");
}

#[test]
fn the_marker_of_named_files_goes_with_the_last_of_them_that_a_later_run_removes() {
    let scene = Scene::new();
    let names = |names: &[&str]| FileNames::of(names.iter().map(|name| (*name).to_owned()));
    let (all, one) = (names(&["first", "second"]), names(&["first"]));
    let create = |run, names: &FileNames| {
        let mut objects = TestObjects::new(owner(run), None);
        objects.create_names(&scene.target(), &[WantedNames { names, bytes: 4, takes_what_is_there: false }]).unwrap();
        objects
    };
    let markers = || fs::read_dir(scene.target()).unwrap().filter(is_marker_of_names).count();
    let mut objects = create(42, &all);
    for name in ["first", "second"] {
        fs::write(scene.target().join(name), "ours").unwrap();
    }
    assert_eq!(objects.keep().0.len(), 1);
    drop(objects);
    drop(create(43, &one));
    assert!(!scene.target().join("first").exists() && scene.target().join("second").exists());
    assert_eq!(markers(), 1, "of the file that is still there");
    drop(create(44, &all));
    assert_eq!(markers(), 0);
    scene.assert_clean("after the last file is removed");
}

fn is_marker_of_names(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("names-")))
}

#[test]
fn a_marker_of_named_files_that_finds_no_room_leaves_nothing() {
    let scene = Scene::new();
    let place = scene.root.path().join("small");
    fs::create_dir(&place).unwrap();
    let Some(mount) = Mount::tmpfs(&place, 8 << 10) else { return };
    // No two of them differ by a number alone, so that each takes room of its own.
    let names =
        FileNames::of((0_u64..2000).map(|number| format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
    let mut objects = TestObjects::new(owner(45), None);
    let wanted = WantedNames { names: &names, bytes: 4, takes_what_is_there: false };
    objects.create_names(&mount.point, &[wanted]).unwrap_err();
    assert_eq!(fs::read_dir(&mount.point).unwrap().count(), 0);
}

#[test]
fn a_path_that_leads_to_another_file_by_now_is_not_written_to() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(47), None);
    let file = objects.create_file(&scene.target().join("made.img"), 0).unwrap().path;
    let directory = objects.create_directory(&scene.target()).unwrap();
    directory.create_file(0).unwrap();
    let check = |path: &Path| objects.check_opened(path, fs::File::open(path).unwrap().as_fd());
    let victim = scene.target().join("notes.txt");
    for path in [&file, &directory.file_path(0), &victim] {
        check(path).unwrap();
    }

    let moved = scene.target().join("moved");
    fs::rename(&file, &moved).unwrap();
    symlink(&victim, &file).unwrap();
    let error = check(&file).unwrap_err();
    assert!(error.to_string().contains("is no longer the file that plimsoll made"), "{error}");
    fs::remove_file(&file).unwrap();
    fs::hard_link(&victim, &file).unwrap();
    check(&file).unwrap_err();
    fs::rename(&moved, &file).unwrap();
    check(&file).unwrap();

    fs::rename(directory.path(), &moved).unwrap();
    fs::create_dir(directory.path()).unwrap();
    symlink(&victim, directory.file_path(0)).unwrap();
    check(&directory.file_path(0)).unwrap_err();
    fs::remove_dir_all(directory.path()).unwrap();
    fs::rename(&moved, directory.path()).unwrap();
    drop(objects);
    scene.assert_clean("after all is where it was");
}

#[test]
fn what_is_mounted_in_the_directory_of_another_user_stays() {
    let scene = Scene::new();
    let (dead, _) = abandon(&scene.target(), 46);
    let point = dead.join("work-0/mounted");
    fs::create_dir_all(&point).unwrap();
    let Some(mount) = Mount::tmpfs(&point, 8 << 10) else { return };
    fs::write(point.join("theirs"), "").unwrap();
    if std::os::unix::fs::chown(dead.join(".plimsoll"), Some(65534), None).is_err() {
        return skipped("only root gives files away");
    }
    let left = sweep_directory(&scene.target()).unwrap().left;
    assert!(left.iter().any(|left| left.path == dead && matches!(left.reason, LeftReason::Foreign)), "{left:?}");
    assert!(point.join("theirs").exists());
    std::os::unix::fs::chown(dead.join(".plimsoll"), Some(rustix::process::geteuid().as_raw()), None).unwrap();
    std::mem::forget(mount);
    sweep_directory(&scene.target()).unwrap();
    scene.assert_clean("after this user's own mount is gone with its directory");
}
