//! The write guard on real loop devices: what it refuses, what it says, and that it never writes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{
    fs::{self, File},
    os::unix::fs::{OpenOptionsExt, symlink},
    path::{Path, PathBuf},
    slice,
};

use devices::{Holder, LoopDevice, Mount, attempt, has, has_loop_devices, run, unprivileged};
use plimsoll_io::{
    block_device,
    target::OpenFor,
    write_guard::{GuardedDevice, Refusal, check, foreign_file},
};
use plimsoll_workload::settings::SyncMode;
use support::skipped;

mod devices;
#[expect(dead_code, reason = "only the way to skip is shared with the tests of engines")]
mod support;

const MIB: u64 = 1 << 20;

const READ_WRITE: OpenFor = OpenFor { read: true, write: true, create_new: false, direct: true, sync: SyncMode::None };

/// Asks the guard with and without naming the device, and makes sure that the content stays as it was.
fn refused(device: &LoopDevice, path: &Path) -> (Refusal, Refusal) {
    let before = device.checksum();
    let unnamed = check(path, &[], MIB).unwrap_err();
    let named = check(path, &[path.to_owned()], MIB).unwrap_err();
    assert_eq!(device.checksum(), before, "the guard wrote to {}", path.display());
    (unnamed, named)
}

fn permitted(path: &Path) -> GuardedDevice {
    check(path, &[path.to_owned()], MIB).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Checks that a device is refused for what is on it, in these words, and that the line the message gives makes it
/// blank.
fn is_refused_until_wiped(device: &LoopDevice, words: &str) {
    let (unnamed, named) = refused(device, &device.path);
    assert!(matches!(unnamed, Refusal::NotNamed(_)), "{unnamed}");
    let message = named.to_string();
    assert!(matches!(named, Refusal::Signed { .. } | Refusal::Partitioned { .. }), "{message}");
    let line = format!("wipefs --all {}", device.path.display());
    assert!(message.contains(words) && message.contains(&line) && message.contains("destroys"), "{message}");
    run("wipefs", &[Path::new("--all"), &device.path]);
    permitted(&device.path);
}

#[test]
fn a_blank_device_that_is_named_is_permitted_and_kept_from_others() {
    if !has_loop_devices(&["mkfs.ext4"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    let before = device.checksum();
    let guard = permitted(&device.path);
    assert_eq!((guard.path(), guard.facts().size_bytes), (device.path.as_path(), 16 * MIB));
    guard.open(READ_WRITE).unwrap();
    assert!(matches!(check(&device.path, slice::from_ref(&device.path), MIB), Err(Refusal::Busy { .. })));
    assert!(attempt("mkfs.ext4", &[Path::new("-q"), &device.path], "").is_err(), "mkfs got a guarded device");
    assert_eq!(device.checksum(), before);
    drop(guard);
    permitted(&device.path);
}

#[test]
fn a_device_that_is_not_named_is_refused_even_when_blank() {
    if !has_loop_devices(&[]) {
        return;
    }
    let (device, other) = (LoopDevice::new(4 * MIB), LoopDevice::new(4 * MIB));
    let refusal = check(&device.path, &[other.path.clone(), "/nowhere".into()], MIB).unwrap_err();
    assert!(refusal.to_string().contains(&format!("add --destroy {}", device.path.display())), "{refusal}");
}

#[test]
fn naming_a_device_by_another_of_its_names_counts() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(4 * MIB);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("by-id");
    symlink(&device.path, &link).unwrap();
    drop(check(&device.path, slice::from_ref(&link), MIB).unwrap());
    drop(check(&link, slice::from_ref(&device.path), MIB).unwrap());
}

#[test]
fn a_mounted_device_is_refused() {
    if !has_loop_devices(&["mkfs.ext4", "mount"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let mount = Mount::of(&device.path);
    // The mount itself writes now and then, so only a quiet one can be compared.
    run("mount", &[Path::new("--options"), Path::new("remount,ro"), &mount.path]);
    let (unnamed, named) = refused(&device, &device.path);
    for refusal in [unnamed, named] {
        assert!(matches!(refusal, Refusal::Mounted { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&format!("umount '{}'", mount.path.display())), "{refusal}");
    }
}

#[test]
fn a_mounted_btrfs_is_refused_although_it_has_device_numbers_of_its_own() {
    if !has_loop_devices(&["mkfs.btrfs", "mount"]) {
        return;
    }
    let device = LoopDevice::new(128 * MIB);
    run("mkfs.btrfs", &[Path::new("-q"), &device.path]);
    let mount = Mount::of(&device.path);
    run("mount", &[Path::new("--options"), Path::new("remount,ro"), &mount.path]);
    assert!(matches!(refused(&device, &device.path).1, Refusal::Mounted { .. }));
}

#[test]
fn every_device_of_a_mounted_file_system_is_in_use_although_mounts_name_only_one() {
    if !has_loop_devices(&["mkfs.btrfs", "mount"]) {
        return;
    }
    let (device, other) = (LoopDevice::new(128 * MIB), LoopDevice::new(128 * MIB));
    run("mkfs.btrfs", &[Path::new("-q"), Path::new("-draid0"), &device.path, &other.path]);
    let mount = Mount::of(&device.path);
    run("mount", &[Path::new("--options"), Path::new("remount,ro"), &mount.path]);
    let refusal = refused(&other, &other.path).1;
    assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
}

#[test]
fn a_device_mounted_in_another_container_is_refused() {
    if !has_loop_devices(&["mkfs.ext4", "mount", "unshare", "wipefs"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    run("mkfs.ext4", &[Path::new("-q"), &device.path]);
    let folder = tempfile::tempdir().unwrap();
    let Some(holder) = Holder::of_hidden_mount(&device.path, folder.path()) else {
        return skipped("mount namespaces");
    };
    assert!(matches!(refused(&device, &device.path).1, Refusal::Busy { .. }));
    // Neither the table of mounts of this process nor, after this, any mark shows it: only the kernel knows.
    run("wipefs", &[Path::new("--all"), Path::new("--force"), &device.path]);
    let refusal = refused(&device, &device.path).1;
    assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
    drop(holder);
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused() {
    if !has_loop_devices(&["mkfs.ext4", "mount", "addpart"]) {
        return;
    }
    let device = LoopDevice::new(32 * MIB);
    let Some(part) = device.add_partition(MIB, 16 * MIB) else { return skipped("partitions of loop devices") };
    run("mkfs.ext4", &[Path::new("-q"), &part]);
    let mount = Mount::new(&["--options", "ro", part.to_str().unwrap()]);
    for path in [&device.path, &part] {
        let refusal = refused(&device, path).1;
        assert!(matches!(refusal, Refusal::Mounted { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&format!("{} is mounted", part.display())), "{refusal}");
    }
    drop(mount);
}

#[test]
fn swap_space_in_use_is_refused() {
    if !has_loop_devices(&["mkswap", "swapon", "swapoff"]) {
        return;
    }
    struct Swap<'a>(&'a Path);
    impl Drop for Swap<'_> {
        fn drop(&mut self) {
            let _ = attempt("swapoff", &[self.0], "");
        }
    }
    let device = LoopDevice::new(16 * MIB);
    run("mkswap", &[&device.path]);
    if attempt("swapon", &[Path::new("--priority"), Path::new("0"), &device.path], "").is_err() {
        return skipped("swap in the kernel");
    }
    let swap = Swap(&device.path);
    for refusal in <[Refusal; 2]>::from(refused(&device, &device.path)) {
        assert!(matches!(refusal, Refusal::Swap { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&format!("swapoff {}", device.path.display())), "{refusal}");
    }
    drop(swap);
}

#[test]
fn a_device_with_a_loop_device_on_it_is_refused() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    let upper = LoopDevice::on_device(&device.path);
    let refusal = refused(&device, &device.path).1;
    assert!(matches!(refusal, Refusal::Held { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&format!("{} stands on it", upper.path.display())), "{refusal}");
}

#[test]
fn a_device_that_another_process_has_for_itself_is_refused_and_the_process_named() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(4 * MIB);
    for flags in [libc::O_EXCL, 0] {
        let file = File::options().read(true).write(true).custom_flags(flags).open(&device.path).unwrap();
        let holder = Holder::of(file);
        let refusal = refused(&device, &device.path).1;
        assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
        assert!(refusal.to_string().contains(&format!("process {} (sleep)", holder.id())), "{refusal}");
    }
    let exclusive_reader = File::options().read(true).custom_flags(libc::O_EXCL).open(&device.path).unwrap();
    let holder = Holder::of(exclusive_reader);
    assert!(matches!(refused(&device, &device.path).1, Refusal::Busy { .. }));
    drop(holder);
    let reader = Holder::of(File::open(&device.path).unwrap());
    permitted(&device.path);
    drop(reader);
}

#[test]
fn a_device_that_somebody_writes_to_by_a_name_outside_of_dev_is_refused() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(4 * MIB);
    // As a container has it that was given the device by another name.
    let directory = tempfile::tempdir().unwrap();
    let node = directory.path().join("disk");
    run("cp", &[Path::new("--archive"), &device.path, &node]);
    let opened = match File::options().read(true).write(true).open(&node) {
        Ok(file) => file,
        Err(error) => return skipped(&format!("a directory for temporary files that may have devices: {error}")),
    };
    let holder = Holder::of(opened);
    let refusal = refused(&device, &device.path).1;
    assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&format!("process {} (sleep)", holder.id())), "{refusal}");
}

#[test]
fn the_device_of_the_root_file_system_is_refused_before_it_is_opened() {
    if !has(&[]) {
        return;
    }
    let Some(root) = block_device::device_of(Path::new("/")) else { return skipped("a root file system on a device") };
    let sysfs = block_device::Sysfs::default();
    for number in sysfs.below(root.device) {
        let path = PathBuf::from(format!("/dev/{}", sysfs.facts(number).unwrap().name));
        // A user who may not open the device is told the same, so it is not opened to find out.
        unprivileged(|| {
            assert!(File::open(&path).is_err());
            for destroy in [vec![], vec![path.clone()]] {
                let refusal = check(&path, &destroy, MIB).unwrap_err();
                assert!(matches!(refusal, Refusal::BacksRoot(_)), "{refusal}");
                assert!(refusal.to_string().contains("root file system"), "{refusal}");
            }
        });
    }
}

/// Writes a partition table of which the kernel is not told.
fn divide(device: &LoopDevice, table: &str) {
    attempt("sfdisk", &["--quiet", "--no-reread", "--no-tell-kernel", device.path.to_str().unwrap()], table).unwrap();
}

#[test]
fn partition_tables_are_refused() {
    if !has_loop_devices(&["sfdisk", "parted", "wipefs"]) {
        return;
    }
    for (label, words) in [("dos", "partition table (MBR)"), ("gpt", "partition table (GPT)")] {
        let device = LoopDevice::new(16 * MIB);
        divide(&device, &format!("label: {label}\n,8M\n"));
        is_refused_until_wiped(&device, words);
    }
    let device = LoopDevice::with(16 * MIB, &["--sector-size", "4096"]);
    run("parted", &["--script", device.path.to_str().unwrap(), "mklabel", "gpt"]);
    is_refused_until_wiped(&device, "partition table (GPT)");
    let device = LoopDevice::new(16 * MIB);
    run("parted", &["--script", device.path.to_str().unwrap(), "mklabel", "msdos"]);
    is_refused_until_wiped(&device, "partition table (empty MBR)");
}

#[test]
fn partitions_are_refused_without_a_table_too_and_told_with_what_they_hold() {
    if !has_loop_devices(&["mkfs.ext4", "addpart", "wipefs", "partx"]) {
        return;
    }
    let device = LoopDevice::new(32 * MIB);
    let Some(part) = device.add_partition(MIB, 16 * MIB) else { return skipped("partitions of loop devices") };
    // A partition is a device of its own: naming its disk does not name it.
    let refusal = check(&part, slice::from_ref(&device.path), MIB).unwrap_err();
    assert!(matches!(refusal, Refusal::NotNamed(_)), "{refusal}");
    drop(permitted(&part));
    run("mkfs.ext4", &[Path::new("-q"), &part]);
    let message = refused(&device, &part).1.to_string();
    assert!(message.contains("ext4") && message.contains(&format!("wipefs --all {}", part.display())), "{message}");
    let message = refused(&device, &device.path).1.to_string();
    let disk = device.path.display();
    let line = format!("wipefs --all {} {disk} && partx --delete {disk}", part.display());
    assert!(message.contains(&format!("{} holding ext4", part.display())) && message.contains(&line), "{message}");
    run("sh", &["-c", &line]);
    permitted(&device.path);
}

#[test]
fn a_backup_table_at_the_end_is_refused_when_the_start_was_lost() {
    if !has_loop_devices(&["sfdisk", "wipefs"]) {
        return;
    }
    let device = LoopDevice::new(16 * MIB);
    divide(&device, "label: gpt\n,8M\n");
    device.write_at(0, &vec![0; MIB as usize]);
    is_refused_until_wiped(&device, "partition table (backup GPT)");
}

#[test]
fn an_ext4_is_refused() {
    if has_loop_devices(&["mkfs.ext4", "wipefs"]) {
        let device = LoopDevice::new(16 * MIB);
        run("mkfs.ext4", &[Path::new("-q"), &device.path]);
        is_refused_until_wiped(&device, "ext4");
    }
}

#[test]
fn older_ext_file_systems_are_refused() {
    if has_loop_devices(&["mke2fs", "wipefs"]) {
        for kind in ["ext2", "ext3"] {
            let device = LoopDevice::new(16 * MIB);
            run("mke2fs", &["-q", "-t", kind, device.path.to_str().unwrap()]);
            is_refused_until_wiped(&device, kind);
        }
    }
}

#[test]
fn an_xfs_is_refused() {
    if has_loop_devices(&["mkfs.xfs", "wipefs"]) {
        let device = LoopDevice::new(320 * MIB);
        run("mkfs.xfs", &[Path::new("-q"), &device.path]);
        is_refused_until_wiped(&device, "XFS");
    }
}

#[test]
fn a_btrfs_is_refused() {
    if has_loop_devices(&["mkfs.btrfs", "wipefs"]) {
        let device = LoopDevice::new(128 * MIB);
        run("mkfs.btrfs", &[Path::new("-q"), &device.path]);
        is_refused_until_wiped(&device, "btrfs");
    }
}

#[test]
fn a_minix_file_system_is_refused_whatever_its_version() {
    if has_loop_devices(&["mkfs.minix", "wipefs"]) {
        for options in [&["-1", "-n", "14"][..], &["-1", "-n", "30"], &["-2", "-n", "14"], &["-2", "-n", "30"], &["-3"]]
        {
            let device = LoopDevice::new(16 * MIB);
            run("mkfs.minix", &[options, &[device.path.to_str().unwrap()]].concat());
            is_refused_until_wiped(&device, "Minix");
        }
    }
}

#[test]
fn an_lvm_physical_volume_is_refused() {
    if has_loop_devices(&["pvcreate", "wipefs"]) {
        let device = LoopDevice::new(16 * MIB);
        let path = device.path.to_str().unwrap();
        // Only this device is shown to it.
        run("pvcreate", &["--yes", "--devices", path, path]);
        is_refused_until_wiped(&device, "LVM2 physical volume");
    }
}

#[test]
fn swap_space_is_refused_for_every_page_size() {
    if has_loop_devices(&["mkswap", "wipefs"]) {
        for page_bytes in [4096, 8192, 16_384, 65_536] {
            let device = LoopDevice::new(16 * MIB);
            run("mkswap", &["--pagesize", &page_bytes.to_string(), device.path.to_str().unwrap()]);
            is_refused_until_wiped(&device, "swap");
        }
    }
}

/// A superblock of version 1 of a mirror with one disk, as md(4) and the kernel's md_p.h describe it.
fn raid_superblock(sector: u64) -> Vec<u8> {
    let mut block = vec![0; 512];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0xa92b_4efc_u32.to_le_bytes());
    put(4, &1_u32.to_le_bytes());
    put(16, b"sixteen bytes id");
    put(32, b"machine:0");
    put(72, &1_u32.to_le_bytes()); // level
    put(92, &1_u32.to_le_bytes()); // disks
    put(144, &sector.to_le_bytes());
    put(220, &1_u32.to_le_bytes()); // roles that follow
    // The sum of all words but the sum itself, over the 256 bytes and the one role.
    let words = block[..258].chunks(4).map(|word| {
        let mut padded = [0; 4];
        padded[..word.len()].copy_from_slice(word);
        u64::from(u32::from_le_bytes(padded))
    });
    let sum: u64 = words.sum();
    let folded = (sum & 0xffff_ffff) + (sum >> 32);
    block[216..220].copy_from_slice(&(folded as u32).to_le_bytes());
    block
}

#[test]
fn members_of_a_linux_raid_are_refused_for_every_version() {
    if !has_loop_devices(&["wipefs"]) {
        return;
    }
    let size = 16 * MIB;
    for (version, offset) in [("1.0", size - 8192), ("1.1", 0), ("1.2", 4096)] {
        let device = LoopDevice::new(size);
        device.write_at(offset, &raid_superblock(offset / 512));
        is_refused_until_wiped(&device, &format!("Linux RAID {version}"));
    }
    let device = LoopDevice::new(size);
    let mut old = vec![0; 4096];
    old[..4].copy_from_slice(&0xa92b_4efc_u32.to_ne_bytes());
    old[8..12].copy_from_slice(&90_u32.to_ne_bytes());
    device.write_at(size - 65_536, &old);
    is_refused_until_wiped(&device, "Linux RAID 0.90");
}

#[test]
fn a_device_that_was_used_like_a_tape_is_refused_until_its_archive_is_erased() {
    if !has_loop_devices(&["tar", "sh"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("photo"), vec![7; 10_000]).unwrap();
    for format in ["ustar", "pax", "gnu"] {
        let device = LoopDevice::new(MIB);
        let (form, path) = (format!("--format={format}"), device.path.to_str().unwrap());
        run("tar", &["-C", folder.path().to_str().unwrap(), &form, "-cf", path, "photo"]);
        let message = refused(&device, &device.path).1.to_string();
        assert!(message.contains("holds tar archive (its mark is at byte 257)"), "{message}");
        let line = message.split('`').nth(1).unwrap();
        run("sh", &["-c", line]);
        permitted(&device.path);
    }
}

#[test]
fn a_device_that_is_too_small_or_read_only_is_refused() {
    if !has_loop_devices(&[]) {
        return;
    }
    let device = LoopDevice::new(4 * MIB);
    let before = device.checksum();
    let refusal = check(&device.path, slice::from_ref(&device.path), 4 * MIB + 1).unwrap_err();
    assert!(matches!(refusal, Refusal::TooSmall { .. }), "{refusal}");
    assert!(refusal.to_string().contains("has 4194304B, but the plan needs 4194305B"), "{refusal}");
    drop(check(&device.path, slice::from_ref(&device.path), 4 * MIB).unwrap());
    assert_eq!(device.checksum(), before);

    let device = LoopDevice::with(4 * MIB, &["--read-only"]);
    let refusal = refused(&device, &device.path).1;
    assert!(matches!(refusal, Refusal::ReadOnly(_)), "{refusal}");
}

#[test]
fn what_is_no_device_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let named = [file.path().to_owned()];
    assert!(matches!(check(file.path(), &named, 0), Err(Refusal::NotADevice(_))));
    assert!(matches!(check(Path::new("/dev/null"), &["/dev/null".into()], 0), Err(Refusal::NotADevice(_))));
    assert!(matches!(check(Path::new("/nowhere"), &["/nowhere".into()], 0), Err(Refusal::Inaccessible { .. })));
}

#[test]
fn a_file_that_plimsoll_did_not_make_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link, new) = (folder.path().join("data"), folder.path().join("link"), folder.path().join("new"));
    fs::write(&file, "precious").unwrap();
    symlink(&file, &link).unwrap();
    let message = foreign_file(&file, |_| false).unwrap_err().to_string();
    assert!(message.contains("not made by plimsoll") && message.contains("choose a path"), "{message}");
    assert!(foreign_file(&link, |_| true).is_err(), "a link may lead anywhere");
    assert!(foreign_file(folder.path(), |_| true).is_err());
    foreign_file(&file, |path| path == file).unwrap();
    foreign_file(&new, |_| false).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}
