//! Files that were there before: who reads them shares them, and who writes or removes one has it alone.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use plimsoll_run::objects::{
    ObjectError, Provenance, TestObjects,
    leftovers::{LeftReason, clean, sweep_directory},
};

use super::{Scene, abandon, make, owner, support::skipped};

#[test]
fn a_file_that_was_there_is_shared_by_those_who_read_it_and_had_alone_by_who_writes_it() {
    let scene = Scene::new();
    let (path, foreign) = (scene.target().join("made.img"), scene.target().join("foreign.img"));
    let new = |run| TestObjects::new(owner(run), Some(&scene.state()));
    let share = |objects: &mut TestObjects, path: &Path, bytes| {
        objects.share_file(path, bytes).map(|file| file.map(|file| file.provenance))
    };
    assert_eq!(share(&mut new(4), &path, 0).unwrap(), None, "it is not there");
    let mut objects = new(4);
    make(&mut objects, &scene.target(), "made.img", 4096);
    objects.keep().1.unwrap();
    drop(objects);
    let kept = scene.tree();

    let (mut first, mut second, mut writer) = (new(5), new(6), new(7));
    for reader in [&mut first, &mut second] {
        for _ in 0..2 {
            assert_eq!(share(reader, &path, 4096).unwrap(), Some(Provenance::Kept));
            assert_eq!(share(reader, &foreign, 1).unwrap(), Some(Provenance::Foreign));
        }
        assert_eq!(share(reader, &foreign, 4096).unwrap(), None, "it is too short");
        assert_eq!(reader.keep().0, [""; 0].map(PathBuf::from), "there is nothing to keep that it made");
    }
    assert_eq!(share(&mut new(8), &path, 4097).unwrap(), None, "it is too short");
    let is_in_use = |writer: &mut TestObjects| {
        let error = writer.create_file(&path, 0).unwrap_err();
        // Who made it is not who uses it.
        assert!(
            error.to_string().ends_with("in use by another plimsoll: wait for it, or name another file"),
            "{error}"
        );
        assert!(matches!(clean(&path).unwrap().left[0].reason, LeftReason::InUse(_)));
        sweep_directory(&scene.target()).unwrap();
    };
    is_in_use(&mut writer);
    drop(first);
    is_in_use(&mut writer);
    assert!(second.remove().removed.is_empty());
    assert_eq!(writer.create_file(&path, 0).unwrap().provenance, Provenance::Kept);
    assert!(matches!(share(&mut new(8), &path, 1), Err(ObjectError::InUse { .. })));
    drop(writer);

    // A run that reads it and writes it, too, has it alone.
    let mut both = new(9);
    assert_eq!(share(&mut both, &path, 1).unwrap(), Some(Provenance::Kept));
    assert_eq!(both.create_file(&path, 0).unwrap().provenance, Provenance::Kept);
    assert!(matches!(share(&mut new(8), &path, 1), Err(ObjectError::InUse { .. })));
    drop(both);
    assert_eq!(scene.tree(), kept);
    clean(&scene.target()).unwrap();

    abandon(&scene.target(), 10);
    assert_eq!(share(&mut new(11), &path, 1).unwrap(), None, "what a dead run left may be half of a file");
    sweep_directory(&scene.target()).unwrap();
    scene.assert_clean("after all of it");
}

/// Does something as a user without any rights, on a thread of its own: on Linux each thread has its own user.
fn unprivileged<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use rustix::process::{Gid, Uid};
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    let become_and_work = || {
        rustix::thread::set_thread_groups(&[]).unwrap();
        rustix::thread::set_thread_res_gid(group, group, group).unwrap();
        rustix::thread::set_thread_res_uid(user, user, user).unwrap();
        work()
    };
    std::thread::scope(|scope| scope.spawn(become_and_work).join().unwrap())
}

#[test]
fn what_root_kept_is_read_by_another_user_beside_others() {
    let scene = Scene::new();
    if !rustix::process::geteuid().is_root() {
        return skipped("only root becomes another user");
    }
    let path = scene.target().join("made.img");
    let mut objects = TestObjects::new(owner(30), None);
    make(&mut objects, &scene.target(), "made.img", 4096);
    objects.keep().1.unwrap();
    drop(objects);
    let marker = scene.target().join("made.img.plimsoll");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(scene.root.path(), 0o755);
    // What the test program leaves out of the rights of what it makes is no part of this.
    assert_eq!(marker.metadata().unwrap().mode(), path.metadata().unwrap().mode());
    let share = || {
        let mut objects = TestObjects::new(owner(31), None);
        let file = objects.share_file(&path, 4096).unwrap().map(|file| file.provenance);
        let writer = TestObjects::new(owner(32), None).create_file(&path, 0);
        (file, matches!(writer, Err(ObjectError::Create { .. })), objects)
    };
    mode(&marker, 0o644);
    let (file, is_refused, reader) = unprivileged(share);
    assert_eq!((file, is_refused), (Some(Provenance::Kept), true));
    assert!(matches!(clean(&path).unwrap().left[0].reason, LeftReason::InUse(_)));
    drop(reader);
    // As markers were before.
    mode(&marker, 0o600);
    let (file, is_refused, reader) = unprivileged(share);
    assert_eq!((file, is_refused), (Some(Provenance::Foreign), true));
    drop(reader);
    clean(&scene.target()).unwrap();
    scene.assert_clean("after root cleaned it");
}

#[test]
fn a_file_that_is_made_and_removed_is_never_taken_for_one_that_was_there() {
    let scene = Scene::new();
    let path = scene.target().join("made.img");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                drop(TestObjects::new(owner(1), None).create_file(&path, 0).unwrap());
            }
        });
        let read = || {
            let mut in_use = 0;
            let mut taken = None;
            for _ in 0..20_000 {
                match TestObjects::new(owner(2), None).share_file(&path, 0) {
                    Err(ObjectError::InUse { .. }) if in_use < 20 => in_use += 1,
                    Err(ObjectError::InUse { .. }) => break,
                    Ok(None) => {}
                    other => taken = Some(other),
                }
            }
            taken
        };
        let readers: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
        let taken: Vec<_> = readers.into_iter().filter_map(|reader| reader.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(taken.is_empty(), "{taken:?}");
    });
    scene.assert_clean("after both are done");
}
