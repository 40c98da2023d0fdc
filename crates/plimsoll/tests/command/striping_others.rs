//! What others did with disks of a stripe, or with emulated ones: nothing of theirs is lost.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::{
    striping::{Disks, down, name, tool},
    support::{Place, is_root},
};

/// A stripe of one disk with an array that is a directory and one that is a device, and their places.
fn two_arrays(place: &Place, disk: &str) -> (String, String) {
    let up = format!("stripe up --name {} --kind none --file-system ext4,raw --destroy {disk}", name(place));
    let said = place.run(&up);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let places = format!("/run/plimsoll/{}", name(place));
    (format!("{places}/none-1-ext4"), format!("{places}/none-1"))
}

#[test]
fn what_somebody_put_there_is_refused_as_often_as_it_is_asked() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 256MiB");
    let (mounted, raw) = two_arrays(&place, &disks.all());
    fs::write(place.path("data/kept"), "kept").unwrap();
    tool("tar", &["--create", "--file", &raw, "--directory", place.data().to_str().unwrap(), "kept"]);
    for _ in 0..2 {
        let said = place.run("stripe down");
        assert!(said.error(3).contains("holds tar archive"), "{}", said.stderr);
        tool("mountpoint", &["--quiet", &mounted]);
    }
    assert_eq!(tool("tar", &["--list", "--file", &raw]).trim(), "kept");
    tool("dd", &["if=/dev/zero", &format!("of={raw}"), "bs=64k", "count=1", "status=none", "conv=fsync"]);
    down(&place);

    // A partition that plimsoll did not make.
    let (_, _) = two_arrays(&place, &disks.all());
    let disk = disks.paths[0].as_str();
    tool("umount", &[&mounted]);
    tool("sfdisk", &["--quiet", "--no-reread", "--no-tell-kernel", "--delete", disk, "1"]);
    let append = format!("echo start=2048,size=20480 | sfdisk --quiet --append --no-reread --no-tell-kernel {disk}");
    tool("sh", &["-c", &append]);
    for _ in 0..2 {
        let said = place.run("stripe down");
        assert!(said.error(3).contains("holds the partition"), "{}", said.stderr);
    }
    let forgotten = place.run(&format!("stripe down {} --forget", name(&place)));
    assert_eq!(forgotten.code, Some(0), "{}", forgotten.stderr);
    assert!(tool("blkid", &["--probe", disk]).contains("gpt"), "what is there stays");
    tool("partx", &["--delete", disk]);
    tool("wipefs", &["--all", "--quiet", disk]);
}

#[test]
fn another_disk_or_another_file_system_is_neither_measured_nor_taken_down() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 256MiB");
    let (mounted, raw) = two_arrays(&place, &disks.all());
    let second = place.run(&format!("stripe up --name {}b --kind none --destroy {}", name(&place), disks.all()));
    assert!(second.error(3).contains("a disk of the stripe"), "{}", second.stderr);
    let early = place.run("emulate down");
    assert!(early.error(3).contains("plimsoll stripe down"), "{}", early.stderr);

    tool("umount", &[&mounted]);
    let load = "--rw randread --size 4MiB --duration 1s --no-history";
    let said = place.run(&format!("run {mounted} {load}"));
    assert!(said.error(3).contains("brings it back"), "{}", said.stderr);

    // Another disk has the name, as after a boot.
    let disk = disks.paths[0].as_str();
    let file =
        fs::read_to_string(format!("/sys/block/{}/loop/backing_file", disk.trim_start_matches("/dev/"))).unwrap();
    tool("losetup", &["--detach", disk]);
    fs::File::create(place.path("other.img")).unwrap().set_len(300 << 20).unwrap();
    tool("losetup", &[disk, place.path("other.img").to_str().unwrap()]);
    let attempts = [
        place.run(&format!("run {raw} --rw randwrite --destroy {raw} --size 4MiB --duration 1s --no-history")),
        place.run("stripe down"),
    ];
    let is_blank = tool("cmp", &["--bytes", "1000000", disk, "/dev/zero"]);
    tool("losetup", &["--detach", disk]);
    tool("losetup", &["--direct-io=on", disk, file.trim()]);
    assert_eq!(is_blank, "", "nothing was written");
    for said in attempts {
        assert!(said.error(3).contains("not the disk that it was"), "{}", said.stderr);
    }
    // The kernel does not know its partitions any more.
    down(&place);
    disks.assert_blank();
    let whole = tool("sh", &["-c", &format!("head -c 64M {disk} | strings | grep -c plimsoll || true")]);
    assert_eq!(whole.trim(), "0", "no label is left within");
}

#[test]
fn an_emulated_disk_whose_partition_is_mounted_stays() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 64MiB");
    let disk = disks.paths[0].as_str();
    tool("sh", &["-c", &format!("echo start=2048 | sfdisk --quiet --label gpt --no-tell-kernel {disk}")]);
    tool("partx", &["--update", disk]);
    let part = format!("{disk}p1");
    tool("mkfs.ext4", &["-q", &part]);
    let point = place.path("mounted");
    fs::create_dir(&point).unwrap();
    tool("mount", &[&part, point.to_str().unwrap()]);
    let said = place.run("emulate down");
    tool("umount", &[point.to_str().unwrap()]);
    assert!(said.error(3).contains("mounted at"), "{}", said.stderr);
    tool("partx", &["--delete", disk]);
}

#[test]
fn an_emulation_behind_a_link_is_taken_down_whole() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("real")).unwrap();
    symlink(place.path("real"), place.path("link")).unwrap();
    let run = |arguments: &str| {
        let mut command = place.command(arguments);
        crate::support::Said::of(command.env("XDG_STATE_HOME", place.path("link")).output().unwrap())
    };
    let said = run("emulate up --limit iops=100 --size 16MiB --json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let device = said.json()["emulations"][0]["disks"][0]["device"].as_str().unwrap().to_owned();
    let said = run("emulate down");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let backing = format!("/sys/block/{}/loop/backing_file", device.trim_start_matches("/dev/"));
    let is_ours = fs::read_to_string(&backing).is_ok_and(|file| file.contains(place.path("real").to_str().unwrap()));
    assert!(!is_ours && Path::new(&device).exists());
}
