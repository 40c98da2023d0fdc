//! What a path stands for as a target: real directories, files, devices and file systems of every awkward kind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{
    fs::{self, File},
    io::{ErrorKind, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{FileExt, PermissionsExt, symlink},
    },
    path::Path,
};

use devices::{LoopDevice, Mount, attempt, has, has_loop_devices, run, unprivileged};
use plimsoll_io::{
    block_device::{DeviceNumber, Transport, device_of, facts as device_facts, stat},
    mounts::{expect_mount, mount_of},
    target::{OpenFor, TargetError, facts, facts_of_files, open, space},
};
use plimsoll_workload::{settings::SyncMode, target_facts::TargetKind};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_getfl, mknodat};
use support::skipped;

mod devices;
#[expect(dead_code, reason = "only the way to skip is shared with the tests of engines")]
mod support;

const MIB: u64 = 1 << 20;

const READ: OpenFor = OpenFor { read: true, write: false, create_new: false, direct: false, sync: SyncMode::None };
const WRITE: OpenFor = OpenFor { write: true, ..READ };
const CREATE: OpenFor = OpenFor { create_new: true, ..WRITE };

/// What is said about a path that cannot be used.
fn complaint(path: &Path) -> String {
    let message = facts(path).unwrap_err().to_string();
    assert!(message.contains(&format!("\"{}\"", path.display())), "names the path: {message}");
    message
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_directory_tells_its_room_and_nothing_is_left_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let found = facts(folder.path()).unwrap();
    assert_eq!((found.kind, found.size_bytes), (TargetKind::Directory, None));
    assert_eq!(found.name, folder.path().to_str().unwrap());
    assert!(found.free_bytes.unwrap() > 0);
    assert!(is_empty(folder.path()));
}

#[test]
fn files_existing_and_to_be_made_are_targets() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    fs::write(&old, vec![7; 10_000]).unwrap();
    let found = facts(&old).unwrap();
    assert_eq!((found.kind, found.size_bytes, found.free_bytes), (TargetKind::File, Some(10_000), None));
    let found = facts(&new).unwrap();
    assert_eq!((found.kind, found.size_bytes), (TargetKind::File, None));
    assert!(found.free_bytes.unwrap() > 0);
    assert!(!new.exists());
}

#[test]
fn paths_that_lead_nowhere_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "").unwrap();
    symlink("gone", at("link")).unwrap();
    assert!(complaint(&at("no/such/file")).contains("create the directory"));
    assert!(complaint(&at("no-such-directory/")).contains("create the directory"));
    assert!(complaint(&at("file/below")).contains("not a directory"));
    assert!(complaint(&at("link")).contains("symbolic link"));
    assert!(matches!(facts(Path::new("")), Err(TargetError::Missing(_))));
}

#[test]
fn a_directory_that_was_removed_under_who_is_in_it_is_said_to_be_gone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("gone");
    fs::create_dir(&at).unwrap();
    let inside = File::open(&at).unwrap();
    fs::remove_dir(&at).unwrap();
    // As the working directory of a process would.
    let path = format!("/proc/self/fd/{}", inside.as_raw_fd());
    for path in [Path::new(&path), &Path::new(&path).join("new")] {
        let message = facts(path).unwrap_err().to_string();
        assert!(message.contains("was removed") && message.contains("(cd)"), "{message}");
    }
}

#[test]
fn pipes_sockets_and_character_devices_are_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, words) in
        [(pipe.as_path(), "a pipe"), (&socket, "a socket"), (Path::new("/dev/null"), "a character device")]
    {
        assert!(complaint(path).contains(&format!("is {words}")), "{words}");
        assert!(matches!(open(path, READ), Err(TargetError::Unsuitable { .. })), "{words}");
        assert!(matches!(open(path, WRITE), Err(TargetError::Unsuitable { .. })), "{words}");
    }
    assert!(matches!(open(folder.path(), READ), Err(TargetError::Unsuitable { .. })));
}

#[test]
fn a_missing_permission_is_told_as_such() {
    if !has(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (open_to_all, file) = (folder.path().join("open"), folder.path().join("file"));
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(&file, "mine").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    unprivileged(|| {
        assert!(complaint(folder.path()).contains("no permission to create files in"));
        assert!(
            facts(&folder.path().join("new")).unwrap_err().to_string().contains("no permission to create files in")
        );
        assert!(complaint(&file).contains("no permission to read"));
        assert!(matches!(open(&file, WRITE), Err(TargetError::NoPermission { wish: "write to", .. })));
        facts(&open_to_all).unwrap();
    });
}

#[test]
fn a_file_system_mounted_read_only_is_told_as_such() {
    if !has(&["mount"]) {
        return;
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "ro", "none"]);
    assert!(complaint(&mount.path).contains("remount it writable"));
    assert!(matches!(facts(&mount.path.join("new")), Err(TargetError::ReadOnly(_))));
    assert!(matches!(open(&mount.path.join("new"), CREATE), Err(TargetError::ReadOnly(_))));
}

#[test]
fn files_that_are_there_are_told_of_where_nothing_can_be_made() {
    if !has(&[]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["one", "two", "secret"] {
        fs::write(folder.path().join(name), vec![7; 10_000]).unwrap();
    }
    fs::set_permissions(folder.path().join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    let of = |names: &[&str]| facts_of_files(folder.path(), &mut names.iter().map(ToString::to_string));
    unprivileged(|| {
        assert!(matches!(facts(folder.path()), Err(TargetError::NoPermission { .. })));
        let found = of(&["one", "two"]).unwrap().unwrap();
        assert_eq!((found.kind, found.size_bytes, found.free_bytes), (TargetKind::Directory, None, None));
        assert_eq!(found.direct_alignment_bytes, facts(&folder.path().join("one")).unwrap().direct_alignment_bytes);
        assert_eq!(of(&["one", "three"]).unwrap(), None);
        assert!(matches!(of(&["one", "secret"]), Err(TargetError::NoPermission { wish: "read", .. })));
    });
}

#[test]
fn file_systems_in_memory_have_no_direct_io() {
    if !has(&["mount"]) {
        return;
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=8m,nr_inodes=3", "none"]);
    let found = facts(&mount.path).unwrap();
    assert_eq!((found.direct_alignment_bytes, found.free_bytes), (None, Some(8 * MIB)));
    assert_eq!(device_of(&mount.path), None);
    fs::write(mount.path.join("one"), "").unwrap();
    assert_eq!(facts(&mount.path.join("one")).unwrap().direct_alignment_bytes, None);
    fs::write(mount.path.join("two"), "").unwrap();
    assert_eq!(space(&mount.path).unwrap().free_inodes, Some(0));
    assert!(complaint(&mount.path).contains("no free inodes"));
}

#[test]
fn a_full_file_system_says_that_nothing_is_free() {
    if !has_loop_devices(&["mkfs.ext4", "mount"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let mount = Mount::of(&device.path);
    let reserved = facts(&mount.path).unwrap().free_bytes.unwrap();
    let everything = rustix::fs::statvfs(&mount.path).unwrap();
    assert!(reserved < everything.f_bfree * everything.f_frsize, "what is reserved for root is not free for users");
    let mut file = File::create(mount.path.join("filler")).unwrap();
    let block = vec![1; 65_536];
    let error = loop {
        match file.write_all(&block) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let found = facts(&mount.path).unwrap();
    assert_eq!((found.free_bytes, found.direct_alignment_bytes), (Some(0), Some(512)));
}

#[test]
fn a_device_is_found_through_a_link_and_keeps_the_name_it_was_given() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(8 * MIB);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("scsi-0ABC");
    symlink(&device.path, &link).unwrap();
    let found = facts(&link).unwrap();
    assert_eq!((found.kind, found.size_bytes, found.free_bytes), (TargetKind::Device, Some(8 * MIB), None));
    assert_eq!((found.name.as_str(), found.direct_alignment_bytes), (link.to_str().unwrap(), Some(512)));

    let number = DeviceNumber::of_special_file(&link).unwrap();
    assert_eq!(device_of(&link).unwrap().device, number);
    let known = device_facts(number).unwrap();
    assert_eq!((known.name.as_str(), known.transport, known.size_bytes), (device.name(), Transport::Loop, 8 * MIB));
    assert_eq!(known.backing_file.as_deref(), device.image().to_str());
    assert_eq!((known.logical_block_bytes, known.read_only, known.partition), (Some(512), false, None));
}

#[test]
fn a_device_of_larger_blocks_asks_for_larger_alignment() {
    if !has_loop_devices(&["mkfs.ext4", "mount"]) {
        return;
    }
    let device = LoopDevice::with(16 * MIB, &["--sector-size", "4096"]);
    assert_eq!(facts(&device.path).unwrap().direct_alignment_bytes, Some(4096));
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let mount = Mount::of(&device.path);
    assert_eq!(facts(&mount.path).unwrap().direct_alignment_bytes, Some(4096));
}

#[test]
fn a_device_that_is_not_set_up_is_told_as_such() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(0);
    assert!(complaint(&device.path).contains("no medium or is not set up"));
}

#[test]
fn the_alignment_told_is_the_smallest_that_the_file_system_takes() {
    if !has_loop_devices(&["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mount"]) {
        return;
    }
    for (make, size, alignment) in
        [("mkfs.ext4", 32 * MIB, 512), ("mkfs.xfs", 320 * MIB, 512), ("mkfs.btrfs", 128 * MIB, 4096)]
    {
        let device = LoopDevice::new(size);
        run(make, &[Path::new("-q"), &device.path]);
        let mount = Mount::of(&device.path);
        assert_eq!(facts(&mount.path).unwrap().direct_alignment_bytes, Some(alignment), "{make}");
        let file = mount.path.join("file");
        fs::write(&file, vec![1; 65_536]).unwrap();
        assert_eq!(facts(&file).unwrap().direct_alignment_bytes, Some(alignment), "{make}");
        let number = DeviceNumber::of_special_file(&device.path).unwrap();
        assert_eq!(device_of(&file).unwrap().disk, number, "{make}");
        assert_eq!(device_of(&mount.path.join("to be made")).unwrap().disk, number, "{make}");
        let holder = mount_of(&file).unwrap();
        assert_eq!((holder.mount_point.as_path(), holder.source.as_os_str()), (&*mount.path, device.path.as_os_str()));
        assert_eq!(holder.file_system, make.trim_start_matches("mkfs."));
        expect_mount(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let left: Vec<_> = fs::read_dir(&mount.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "lost+found"), "{make}: {left:?}");
    }
}

#[test]
fn an_overlay_stands_on_the_device_of_its_upper_directory() {
    if !has_loop_devices(&["mkfs.ext4", "mount"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let base = Mount::of(&device.path);
    // Options of mounts cannot hold blanks unescaped, so the layers get a link without any.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("base");
    symlink(&base.path, &link).unwrap();
    for layer in ["lower", "upper", "work"] {
        fs::create_dir(base.path.join(layer)).unwrap();
    }
    let at = |layer: &str| format!("{}dir={}", layer, link.join(layer).display());
    let options = ["lower", "upper", "work"].map(at).join(",");
    let place = folder.path().join("merged");
    fs::create_dir(&place).unwrap();
    let arguments = ["-t", "overlay", "-o", &options, "overlay", place.to_str().unwrap()];
    if attempt("mount", &arguments, "").is_err() {
        return skipped("overlays in the kernel");
    }
    let number = DeviceNumber::of_special_file(&device.path).unwrap();
    let found = device_of(&place).map(|backing| backing.device);
    let usable = facts(&place);
    run("umount", &[&place]);
    assert_eq!(found, Some(number));
    assert_eq!(usable.unwrap().direct_alignment_bytes, Some(512));
}

#[test]
fn an_empty_mount_point_is_not_taken_for_the_mount() {
    let folder = tempfile::tempdir().unwrap();
    if mount_of(folder.path()).unwrap().mount_point != Path::new("/") {
        return skipped("a temporary directory on the root file system");
    }
    let message = expect_mount(folder.path()).unwrap_err().to_string();
    assert!(message.contains(folder.path().to_str().unwrap()) && message.contains("mount the storage"), "{message}");
}

#[test]
fn opening_keeps_to_what_it_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let made = open(&file, OpenFor { sync: SyncMode::DataSync, ..CREATE }).unwrap();
    assert!(fcntl_getfl(&made).unwrap().contains(OFlags::DSYNC | OFlags::RDWR));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    File::from(made).write_all_at(b"kept", 0).unwrap();
    assert!(open(&file, CREATE).unwrap_err().to_string().contains("does not overwrite"));
    let read = open(&file, READ).unwrap();
    assert!(!fcntl_getfl(&read).unwrap().intersects(OFlags::WRONLY | OFlags::RDWR));
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert!(matches!(open(&folder.path().join("gone"), READ), Err(TargetError::Missing(_))));
}

#[test]
fn a_device_opened_for_writing_is_kept_from_others_and_one_in_use_can_still_be_read() {
    if !has_loop_devices(&["mkfs.ext4", "mount"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    let held = open(&device.path, WRITE).unwrap();
    assert!(open(&device.path, WRITE).unwrap_err().to_string().contains("in use"));
    assert!(attempt("mkfs.ext4", &[Path::new("-q"), &device.path], "").is_err());
    drop(held);
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let mount = Mount::of(&device.path);
    assert!(matches!(open(&device.path, WRITE), Err(TargetError::Busy(_))));
    open(&device.path, OpenFor { direct: true, ..READ }).unwrap();
    drop(mount);
}

#[test]
fn the_counters_of_a_device_count_its_reads() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(8 * MIB);
    let number = DeviceNumber::of_special_file(&device.path).unwrap();
    let before = stat(number).unwrap();
    // The checksum reads all of it, and nothing of it has been read before.
    device.checksum();
    let between = stat(number).unwrap().since(&before);
    assert!(between.read_bytes >= 7 * MIB && between.read_operations > 0, "{between:?}");
    assert_eq!(between.write_bytes, 0);
}
