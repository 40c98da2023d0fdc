//! How test objects are removed: in an order that every file system takes, and nothing of others with them.

use std::{ffi::CStr, fs, mem::MaybeUninit};

use plimsoll_run::objects::TestObjects;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::{Scene, abandon, owner};

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
    plimsoll_run::objects::leftovers::sweep_directory(&scene.target()).unwrap();

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
