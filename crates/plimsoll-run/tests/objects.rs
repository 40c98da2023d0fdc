//! What plimsoll promises about the files it makes: none of them stays, and nothing else is touched, whatever
//! happens.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod copying;
mod removing;
mod sharing;
mod silence;
mod support;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Read},
    ops::ControlFlow,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{MetadataExt, symlink},
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use plimsoll_applications::user::User;
use plimsoll_io::clock::{MonotonicClock, Precision, sleep_until_ns};
use plimsoll_run::{
    layout::{LayoutError, LayoutFile, check_room, lay_out, random_content},
    objects::{
        ObjectError, Owner, Provenance, TestObjects,
        leftovers::{LeftReason, clean, sweep, sweep_directory},
    },
};
use plimsoll_workload::{plan::room::Room, random::Draws};
use support::{Mount, output_of};
use tempfile::TempDir;
use uuid::Uuid;

/// Tells the re-executed test program what to do, and where.
const ROLE: &str = "PLIMSOLL_TEST_ROLE";
const PLACE: &str = "PLIMSOLL_TEST_PLACE";

/// A directory target among things of somebody else, and a state directory.
struct Scene {
    root: TempDir,
    foreign: BTreeMap<PathBuf, String>,
    _alone: MutexGuard<'static, ()>,
}

/// One test at a time: a process that is just being started holds copies of all descriptors, and so of the locks of
/// other tests, until it becomes another program.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scene {
    fn new() -> Self {
        let alone = alone();
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("target");
        let write = |path: &str, text: &str| {
            let path = target.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("notes.txt", "mine");
        write("data-0", "named as plimsoll names its own");
        write("plimsoll-notes/data-0", "a directory with a similar name");
        write("plimsoll-01991234-5678-7abc-8def-0123456789ab/data-0", "without a marker");
        write("plimsoll-01991234-5678-7abc-8def-0123456789ac/.plimsoll", "not a marker");
        write("foreign.img", "a file target that was there before");
        write("foreign.img.plimsoll", "not a marker either");
        write("empty.plimsoll", "");
        symlink(root.path(), target.join("plimsoll-01991234-5678-7abc-8def-0123456789ad")).unwrap();
        symlink("nowhere", target.join("link.plimsoll")).unwrap();
        let mut scene = Self { root, foreign: BTreeMap::new(), _alone: alone };
        scene.foreign = scene.tree();
        scene
    }

    fn target(&self) -> PathBuf {
        self.root.path().join("target")
    }

    fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// All paths below the target, with what makes them what they are.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        tree(&self.target())
    }

    #[track_caller]
    fn assert_clean(&self, when: &str) {
        assert_eq!(self.tree(), self.foreign, "{when}");
    }

    #[track_caller]
    fn assert_no_lists(&self, when: &str) {
        let lists = fs::read_dir(self.state().join("objects")).map_or(0, Iterator::count);
        assert_eq!(lists, 0, "{when}");
    }

    fn spawn(&self, role: &str) -> OtherProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "what_the_other_process_does", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(PLACE, self.root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut other = OtherProcess { child, output };
        let mut line = String::new();
        // The test harness has a few words of its own to say first.
        while !line.contains("ready") {
            line.clear();
            assert!(other.output.read_line(&mut line).unwrap() > 0, "the other process ended before it was ready");
        }
        other
    }
}

/// This program, started a second time; killed when dropped.
struct OtherProcess {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl OtherProcess {
    fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tree(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let content = if facts.is_file() { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
            if facts.is_dir() {
                directories.push(path.clone());
            }
            found.insert(path, format!("{} {:o} {} {content}", facts.ino(), facts.mode(), facts.len()));
        }
    }
    found
}

fn owner(run: u128) -> Owner {
    Owner::this_process(Uuid::from_u128(run))
}

fn pause_us(microseconds: u64) {
    use plimsoll_io::clock::Clock;
    sleep_until_ns(MonotonicClock.now_ns() + microseconds * 1000, Precision::Sleep);
}

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Makes all kinds of objects in a target and fills them.
fn make(objects: &mut TestObjects, target: &Path, file: &str, bytes: u64) {
    let directory = objects.create_directory(target).unwrap();
    let file = objects.create_file(&target.join(file), bytes).unwrap();
    assert_eq!(file.provenance, Provenance::Created);
    let mut files = vec![LayoutFile { path: file.path, bytes }];
    for index in 0..3 {
        directory.create_file(index).unwrap();
        files.push(LayoutFile { path: directory.file_path(index), bytes });
    }
    let foreign = objects.create_file(&target.join("foreign.img"), bytes).unwrap();
    assert_eq!(foreign.provenance, Provenance::Foreign);
    lay_out(&files, objects, &random_content(1), &mut go_on, &AtomicBool::new(false)).unwrap();
    objects.note_layout(&files[0].path, true);
}

/// Not a test of its own: what this program does when a test starts it a second time.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test talks to the process it starts")]
fn what_the_other_process_does() {
    let (Some(role), Some(place)) = (std::env::var_os(ROLE), std::env::var_os(PLACE)) else {
        return;
    };
    let place = PathBuf::from(place);
    let (target, state) = (place.join("target"), place.join("state"));
    let pid = std::process::id();
    match role.to_str().unwrap() {
        "wait" => {
            let mut objects = TestObjects::new(owner(u128::from(pid)), Some(&state));
            make(&mut objects, &target, "made.img", 4096);
            println!("ready");
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            pause_us(60_000_000);
        }
        // Makes and removes for as long as it lives; half of the time small files, so that kills hit the making too.
        "churn" => {
            println!("ready");
            for round in 0_u64.. {
                let run = (u128::from(pid) << 64) | u128::from(round);
                let mut objects = TestObjects::new(owner(run), Some(&state));
                assert_eq!(objects.warnings(), &[] as &[String]);
                make(&mut objects, &target, &format!("made-{pid}.img"), 4097 + round % 2 * (2 << 20));
                let sweep = objects.remove();
                assert!(sweep.left.is_empty(), "{:?}", sweep.left);
                assert_eq!(sweep.removed.len(), 2);
            }
        }
        role => panic!("there is no role {role}"),
    }
}

#[test]
fn after_kill_9_at_any_moment_the_next_command_leaves_nothing_and_touches_nothing_else() {
    let scene = Scene::new();
    let mut leftovers = 0;
    for moment in 0..50 {
        let other = scene.spawn("churn");
        pause_us(Draws::new(20, moment).below(25_000));
        drop(other);
        let when = format!("kill {moment}");
        // Every second time by looking where the objects are, as when the state directory is lost.
        let swept = if moment % 2 == 0 {
            sweep(&scene.state()).unwrap()
        } else {
            let swept = sweep_directory(&scene.target()).unwrap();
            sweep(&scene.state()).unwrap();
            swept
        };
        leftovers += swept.removed.len();
        scene.assert_clean(&when);
        scene.assert_no_lists(&when);
        for left in swept.left {
            assert!(matches!(left.reason, LeftReason::Foreign), "{when}: {left:?}");
            assert!(scene.foreign.contains_key(&left.path), "{when}: {left:?}");
        }
    }
    // Were the processes always killed between two runs, nothing would have been tested.
    assert!(leftovers >= 25, "{leftovers} leftovers");
}

#[test]
fn live_processes_in_one_directory_do_not_sweep_each_other() {
    let scene = Scene::new();
    let mut others: Vec<_> = (0..2).map(|_| scene.spawn("churn")).collect();
    for _ in 0..300 {
        sweep(&scene.state()).unwrap();
        sweep_directory(&scene.target()).unwrap();
        clean(&scene.target()).unwrap();
        pause_us(2000);
    }
    assert!(others.iter_mut().all(OtherProcess::is_alive), "a live process lost its objects");
    drop(others);
    sweep(&scene.state()).unwrap();
    scene.assert_clean("after both are dead");
}

#[test]
fn objects_of_a_live_process_stay_until_it_is_dead() {
    let scene = Scene::new();
    let other = scene.spawn("wait");
    let before = scene.tree();
    assert!(before.len() > scene.foreign.len());
    assert!(sweep(&scene.state()).unwrap().removed.is_empty());
    assert!(sweep_directory(&scene.target()).unwrap().removed.is_empty());
    let cleaned = clean(&scene.target()).unwrap();
    assert!(cleaned.removed.is_empty());
    let in_use = cleaned.left.iter().filter(|left| matches!(left.reason, LeftReason::InUse(_)));
    assert_eq!(in_use.count(), 2);
    let error = TestObjects::new(owner(1), None).create_file(&scene.target().join("made.img"), 0).unwrap_err();
    assert!(matches!(error, ObjectError::InUse { .. }), "{error}");
    assert!(error.to_string().contains(&other.child.id().to_string()), "{error}");
    let error = TestObjects::new(owner(1), None).share_file(&scene.target().join("made.img"), 1).unwrap_err();
    assert!(matches!(error, ObjectError::InUse { .. }), "it may be filled and removed at any time: {error}");
    assert_eq!(scene.tree(), before);
    drop(other);
    assert_eq!(sweep(&scene.state()).unwrap().removed.len(), 2);
    scene.assert_clean("after it is dead");
}

#[test]
fn objects_vanish_when_the_run_ends_or_fails() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(2), Some(&scene.state()));
    make(&mut objects, &scene.target(), "made.img", 4096);
    let failing = std::panic::AssertUnwindSafe(move || {
        let _objects = objects;
        panic!("a worker failed");
    });
    assert!(std::panic::catch_unwind(failing).is_err());
    scene.assert_clean("after a panic");
    scene.assert_no_lists("after a panic");
}

#[test]
fn one_directory_given_twice_gets_two_and_one_file_given_twice_is_one() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(3), Some(&scene.state()));
    let first = objects.create_directory(&scene.target()).unwrap();
    let second = objects.create_directory(&scene.target()).unwrap();
    assert_ne!(first.path(), second.path());
    let path = scene.target().join("made.img");
    for _ in 0..2 {
        assert_eq!(objects.create_file(&path, 4096).unwrap().provenance, Provenance::Created);
    }
    assert_eq!(objects.remove().removed.len(), 3);
    scene.assert_clean("after the end");
}

#[test]
fn kept_objects_stay_until_they_are_cleaned_and_a_kept_file_can_be_used_again() {
    let scene = Scene::new();
    let path = scene.target().join("made.img");
    let mut objects = TestObjects::new(owner(4), Some(&scene.state()));
    make(&mut objects, &scene.target(), "made.img", 4096);
    assert_eq!(objects.keep().0.len(), 2);
    drop(objects);
    scene.assert_no_lists("after the end of a run that kept its files");
    let kept = scene.tree();
    sweep(&scene.state()).unwrap();
    let swept = sweep_directory(&scene.target()).unwrap();
    assert!(swept.removed.is_empty() && swept.left.iter().all(|left| scene.foreign.contains_key(&left.path)));
    assert_eq!(scene.tree(), kept);

    let mut again = TestObjects::new(owner(5), Some(&scene.state()));
    assert_eq!(again.create_file(&path, 4096).unwrap().provenance, Provenance::Kept);
    drop(again);
    assert_eq!(scene.tree(), kept);

    // Somebody puts a file of their own in the place of the kept one: it is theirs, although the marker is still there.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    copying::assert_foreign(&clean(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    fs::remove_file(&path).unwrap();
    assert_eq!(clean(&scene.target()).unwrap().removed.len(), 1);
    scene.assert_clean("after a clean");
}

#[test]
fn an_object_is_cleaned_by_its_own_path_too() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(7), None);
    make(&mut objects, &scene.target(), "made.img", 4096);
    objects.keep().1.unwrap();
    drop(objects);
    assert_eq!(clean(&scene.target().join("made.img")).unwrap().removed.len(), 1);
    let directory = scene.target().join(format!("plimsoll-{}", Uuid::from_u128(7)));
    assert_eq!(clean(&directory).unwrap().removed.len(), 1);
    scene.assert_clean("after both were cleaned");
    assert!(clean(&scene.target().join("missing")).is_err());
    let foreign = clean(&scene.target().join("foreign.img")).unwrap();
    assert!(foreign.removed.is_empty());
}

/// Leaves a test directory and a test file behind, as a killed run does.
fn abandon(target: &Path, run: u128) -> (PathBuf, PathBuf) {
    let mut objects = TestObjects::new(owner(run), None);
    make(&mut objects, target, "made.img", 4096);
    objects.keep().1.unwrap();
    drop(objects);
    let directory = target.join(format!("plimsoll-{}", Uuid::from_u128(run)));
    for marker in [directory.join(".plimsoll"), target.join("made.img.plimsoll")] {
        let text = fs::read_to_string(&marker).unwrap().replace("\"kept\": true", "\"kept\": false");
        fs::write(&marker, text).unwrap();
    }
    (directory, target.join("made.img"))
}

#[test]
fn symbolic_links_in_the_place_of_our_files_lead_nowhere() {
    let scene = Scene::new();
    let victim = scene.root.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("data-0"), "precious").unwrap();
    fs::write(victim.join(".plimsoll"), "precious").unwrap();
    let precious = tree(&victim);
    let (directory, file) = abandon(&scene.target(), 8);

    // A data file, the file target and the marker of a second run become links.
    fs::remove_file(directory.join("data-1")).unwrap();
    symlink(victim.join("data-0"), directory.join("data-1")).unwrap();
    fs::remove_file(&file).unwrap();
    symlink(victim.join("data-0"), &file).unwrap();
    let linked = scene.target().join(format!("plimsoll-{}", Uuid::from_u128(9)));
    fs::create_dir(&linked).unwrap();
    symlink(victim.join(".plimsoll"), linked.join(".plimsoll")).unwrap();
    // The whole directory is a link to one that has a marker which names it.
    let marked = scene.root.path().join("marked");
    fs::create_dir(&marked).unwrap();
    fs::copy(directory.join(".plimsoll"), marked.join(".plimsoll")).unwrap();
    fs::write(marked.join("data-0"), "precious").unwrap();
    let whole = scene.target().join(format!("plimsoll-{}-1", Uuid::from_u128(8)));
    symlink(&marked, &whole).unwrap();
    let precious_too = tree(&marked);

    for _ in 0..2 {
        sweep_directory(&scene.target()).unwrap();
        clean(&scene.target()).unwrap();
        assert_eq!((tree(&victim), tree(&marked)), (precious.clone(), precious_too.clone()));
    }
    for link in [directory.join("data-1"), file, linked.join(".plimsoll"), whole] {
        assert!(link.is_symlink(), "{}", link.display());
        fs::remove_file(link).unwrap();
    }
    fs::remove_dir(directory).unwrap();
    fs::remove_dir(linked).unwrap();
    scene.assert_clean("after the links were removed by hand");
}

#[test]
fn foreign_files_among_ours_stay_and_ours_go() {
    let scene = Scene::new();
    let (directory, _) = abandon(&scene.target(), 10);
    fs::write(directory.join("notes"), "mine").unwrap();
    fs::create_dir(directory.join("data-7")).unwrap();
    let swept = sweep_directory(&scene.target()).unwrap();
    let is_removed = |path: &Path| swept.removed.iter().any(|removed| removed.path == path);
    assert!(is_removed(&directory.join("data-0")) && !is_removed(&directory), "{:?}", swept.removed);
    assert!(swept.left.iter().any(|left| left.path == directory && matches!(left.reason, LeftReason::Foreign)));
    let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["data-7", "notes"]);
    fs::remove_dir_all(directory).unwrap();
    scene.assert_clean("besides that directory");
}

#[test]
fn a_large_file_goes_whole_and_another_name_of_it_keeps_its_content() {
    const BYTES: u64 = (5 << 30) + 4096;
    let scene = Scene::new();
    for is_linked in [false, true] {
        let mut objects = TestObjects::new(owner(1), None);
        let directory = objects.create_directory(&scene.target()).unwrap();
        directory.create_file(0).unwrap().set_len(BYTES).unwrap();
        let link = scene.root.path().join("link");
        if is_linked {
            fs::hard_link(directory.file_path(0), &link).unwrap();
        }
        let sweep = objects.remove();
        assert_eq!((sweep.removed.len(), sweep.removed[0].bytes, sweep.left.len()), (1, BYTES, 0));
        assert!(!directory.path().exists());
        assert!(!is_linked || fs::metadata(&link).unwrap().len() == BYTES);
    }
}

#[test]
fn what_another_machine_made_is_removed_only_when_it_is_named() {
    let scene = Scene::new();
    let (directory, _) = abandon(&scene.target(), 11);
    let here = owner(0);
    for marker in [directory.join(".plimsoll"), scene.target().join("made.img.plimsoll")] {
        let text = fs::read_to_string(&marker).unwrap();
        let text = text.replace(&here.boot_id, "another boot").replace(&format!("\"{}\"", here.host), "\"elsewhere\"");
        fs::write(&marker, text).unwrap();
    }
    let swept = sweep_directory(&scene.target()).unwrap();
    assert!(swept.removed.is_empty());
    let elsewhere = swept.left.iter().filter(|left| matches!(left.reason, LeftReason::OtherMachine { .. }));
    assert_eq!(elsewhere.count(), 2);
    assert_eq!(clean(&scene.target()).unwrap().removed.len(), 2);
    scene.assert_clean("after a clean");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_a_warning() {
    let scene = Scene::new();
    fs::write(scene.state(), "a file").unwrap();
    let mut objects = TestObjects::new(owner(12), Some(&scene.state()));
    assert!(objects.warnings()[0].contains("doctor --clean"), "{:?}", objects.warnings());
    make(&mut objects, &scene.target(), "made.img", 4096);
    assert_eq!(objects.remove().removed.len(), 2);
    scene.assert_clean("after the end");
}

#[test]
fn a_file_whose_name_is_not_text_is_made_and_removed() {
    let scene = Scene::new();
    let name = OsString::from_vec(b"made-\xff.img".to_vec());
    let mut objects = TestObjects::new(owner(13), Some(&scene.state()));
    let made = objects.create_file(&scene.target().join(&name), 0).unwrap();
    assert_eq!(made.path.file_name().unwrap().as_bytes(), name.as_bytes());
    assert_eq!(objects.warnings().len(), 1, "it cannot be listed");
    objects.remove();
    scene.assert_clean("after the end");
}

#[test]
fn a_file_without_a_name_or_a_directory_is_refused_with_a_sentence() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(14), Some(&scene.state()));
    assert!(matches!(objects.create_file(Path::new("/"), 0), Err(ObjectError::NoFileName { .. })));
    assert!(matches!(objects.create_file(&scene.target().join("no/such/file"), 0), Err(ObjectError::Create { .. })));
    let error = objects.create_file(&scene.target().join("empty"), 0).unwrap_err();
    assert!(matches!(error, ObjectError::MarkerInTheWay { .. }), "{error}");
    drop(objects);
    scene.assert_clean("after the refusals");
}

#[test]
fn laid_out_files_have_no_unwritten_extents() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let image = directory.path().join("image");
    let point = directory.path().join("point");
    fs::create_dir(&point).unwrap();
    let Some(mount) = Mount::ext4(&image, &point, 64 << 20) else {
        return;
    };
    let path = mount.point.join("data");
    fs::File::create(&path).unwrap();
    let files = [LayoutFile { path: path.clone(), bytes: (9 << 20) + 5000 }];
    let objects = TestObjects::new(owner(14), None);
    lay_out(&files, &objects, &random_content(3), &mut go_on, &AtomicBool::new(false)).unwrap();
    let Some(extents) = output_of(Command::new("filefrag").arg("-v").arg(&path)) else {
        return;
    };
    assert!(extents.contains("last") && !extents.contains("unwritten"), "{extents}");
    // The tool does tell: space that was only reserved is shown as such.
    let reserved = mount.point.join("reserved");
    output_of(Command::new("fallocate").args(["-l", "1M"]).arg(&reserved)).unwrap();
    let extents = output_of(Command::new("filefrag").arg("-v").arg(&reserved)).unwrap();
    assert!(extents.contains("unwritten"), "{extents}");
}

#[test]
fn what_a_user_gets_is_the_directory_that_was_made_wherever_its_path_leads_by_then() {
    let scene = Scene::new();
    let mut objects = TestObjects::new(owner(16), None);
    let directory = objects.create_directory(&scene.target()).unwrap();
    let (moved, victim) = (scene.target().join("moved"), scene.target().join("victim"));
    fs::create_dir_all(victim.join("work-0")).unwrap();
    fs::rename(directory.path(), &moved).unwrap();
    symlink(&victim, directory.path()).unwrap();
    // This user's own number, so that nobody has to be root, and a group that only root gives.
    let (id, group) = (rustix::process::getuid(), rustix::process::Gid::from_raw(65534));
    if directory.create_work(0, Some(User { id, group })).is_err() {
        return support::skipped("only root gives directories away");
    }
    assert_eq!(moved.join("work-0").metadata().unwrap().gid(), 65534);
    assert_ne!(victim.join("work-0").metadata().unwrap().gid(), 65534);
}

#[test]
fn a_full_file_system_is_one_sentence_and_leaves_nothing() {
    let _alone = alone();
    let root = tempfile::tempdir().unwrap();
    let (ext4, tmpfs) = (root.path().join("ext4"), root.path().join("tmpfs"));
    fs::create_dir(&ext4).unwrap();
    fs::create_dir(&tmpfs).unwrap();
    let mounts = [Mount::ext4(&root.path().join("image"), &ext4, 32 << 20), Mount::tmpfs(&tmpfs, 8 << 20)];
    for mount in mounts.into_iter().flatten() {
        let before = tree(&mount.point);
        let mut objects = TestObjects::new(owner(15), Some(&root.path().join("state")));
        let directory = objects.create_directory(&mount.point).unwrap();
        directory.create_file(0).unwrap();
        directory.create_file(1).unwrap();
        let file = |index, bytes| LayoutFile { path: directory.file_path(index), bytes };
        let no_space = |error: LayoutError| {
            assert!(matches!(error, LayoutError::NoSpace { .. }), "{error}");
            assert!(error.to_string().contains("free some space"), "{error}");
        };
        let stop = AtomicBool::new(false);
        // Known before anything is written.
        let refused = lay_out(&[file(0, 1 << 30)], &objects, &random_content(1), &mut go_on, &stop);
        no_space(refused.unwrap_err());
        let many = |_: &[&Path], _| Room { content_bytes: 0, names: 10_000 };
        assert!(matches!(check_room(&[&mount.point], many), Err(LayoutError::NoInodes { .. })));
        // Files that have a byte each take more than that.
        let whole = |_: &[&Path], block_bytes: u64| Room { content_bytes: 64_000 * block_bytes, names: 1 };
        no_space(check_room(&[&mount.point], whole).unwrap_err());
        // Somebody else takes the space after it was checked: the first file is being written then.
        let thief = mount.point.join("thief");
        let take = |_: usize, _: u64, _: &mut [u8]| {
            let _ = fs::write(&thief, vec![1; 64 << 20]);
        };
        lay_out(&[file(0, 1 << 20)], &objects, &take, &mut go_on, &stop).unwrap();
        let files = [file(0, 1 << 20), file(1, 2 << 20)];
        no_space(lay_out(&files, &objects, &random_content(1), &mut go_on, &stop).unwrap_err());
        fs::remove_file(thief).unwrap();
        assert_eq!(objects.remove().removed.len(), 1);
        assert_eq!(tree(&mount.point).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    }
}
