//! What others did with disks of a stripe, or with emulated ones: nothing of theirs is lost.

use std::{fs, io::Read as _, os::unix::fs::symlink, path::Path, process::Stdio};

use crate::{
    interruption::{interruption, wait_until_journalled},
    striping::{Disks, can_stripe, down, name, tool},
    support::{InMemory, Place, Said, is_root},
};

/// A stripe of one disk with an array that is a directory and one that is a device, and their places.
fn two_arrays(place: &Place, disk: &str) -> (String, String) {
    let up = format!("stripe up --name {} --kind none --file-system ext4,raw --destroy {disk}", name(place));
    let said = place.run(&up);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let places = format!("/run/plimsoll/{}", name(place));
    (format!("{places}/none-1-ext4"), format!("{places}/none-1"))
}

fn made(place: &Place, up: &str) {
    let said = place.run(up);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

/// Does what may have to wait: what a ring had opened is closed a moment after its process has ended, and programs look
/// at partitions.
fn patiently(command: &str) {
    tool("sh", &["-c", &format!("for _ in $(seq 50); do {command} && exit; sleep 0.1; done; exit 1")]);
}

#[test]
fn what_somebody_put_there_is_refused_as_often_as_it_is_asked() {
    if !can_stripe() {
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
    patiently(&format!("partx --delete {disk}"));
    tool("wipefs", &["--all", "--quiet", disk]);
}

#[test]
fn another_disk_or_another_file_system_is_neither_measured_nor_taken_down() {
    if !can_stripe() {
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
    assert!(place.run("stripe list").stdout.contains("not in its place"));
    let load = "--rw randread --size 4MiB --duration 1s --no-history";
    let run = (format!("run {mounted} {load}"), 3, 2);
    let fio = (format!("fio --name=a --directory={mounted} --rw=read --size=4M --runtime=1s --no-history"), 1, 1);
    let diskspd = (format!("diskspd -c4M -d1 {mounted}/a.dat"), 3, 2);
    for (words, not_in_place, unknown) in [run, fio, diskspd] {
        let said = place.run(&words);
        assert_eq!(said.code, Some(not_in_place), "{words}: {}", said.stderr);
        assert!(said.stderr.contains("brings it back"), "{words}: {}", said.stderr);
        // Nor is what others made, whoever is asked.
        let said = Said::of(place.command(&words).env("XDG_STATE_HOME", place.path("none")).output().unwrap());
        assert_eq!(said.code, Some(unknown), "{words}: {}", said.stderr);
        assert!(said.stderr.contains("no array that is known"), "{words}: {}", said.stderr);
        assert_eq!(fs::read_dir(&mounted).unwrap().count(), 0, "nothing is written below");
    }

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
    // One of the same size that is blank, whose taking down would give nothing back, or has something of others, which
    // nobody is told to erase.
    let other = place.path("other.img");
    let other = other.to_str().unwrap();
    for content in ["true", "mkfs.ext4 -q -F"] {
        fs::File::create(other).unwrap().set_len(256 << 20).unwrap();
        tool("sh", &["-c", &format!("{content} {other}")]);
        tool("losetup", &["--detach", disk]);
        tool("losetup", &[disk, other]);
        let said = place.run("stripe down");
        tool("losetup", &["--detach", disk]);
        tool("losetup", &["--direct-io=on", disk, file.trim()]);
        assert!(said.error(3).contains("--forget") && !said.stderr.contains("wipefs"), "{}", said.stderr);
    }
    // The kernel does not know its partitions any more.
    down(&place);
    disks.assert_blank();
    let whole = tool("sh", &["-c", &format!("head -c 64M {disk} | strings | grep -c plimsoll || true")]);
    assert_eq!(whole.trim(), "0", "no label is left within");
}

#[test]
fn an_emulated_disk_whose_partition_is_mounted_stays() {
    if !can_stripe() {
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
    let again = format!("/sys/block/{}/loop/backing_file", disk.trim_start_matches("/dev/"));
    drop(disks);
    // Unless another test has the number by now.
    assert!(Path::new(&again).exists() || !Path::new(&part).exists(), "its partition goes with it");
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
        Said::of(command.env("XDG_STATE_HOME", place.path("link")).output().unwrap())
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

#[test]
fn what_has_the_name_of_a_partition_or_of_a_place_is_not_written_over() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 256MiB");
    let disk = disks.paths[0].as_str();
    // A file in /dev, where the first partition will be.
    let node = format!("{disk}p1");
    fs::write(&node, "precious").unwrap();
    let up = format!("stripe up --name {} --kind none --file-system ext4,raw --destroy {disk}", name(&place));
    let said = place.run(&up);
    let kept = fs::read_to_string(&node);
    fs::remove_file(&node).unwrap();
    assert!(said.error(3).contains("move it away"), "{}", said.stderr);
    assert_eq!(kept.unwrap(), "precious");
    disks.assert_blank();

    let (_, raw) = two_arrays(&place, disk);
    fs::remove_file(&raw).unwrap();
    fs::write(&raw, "precious").unwrap();
    let said = place.run(&up);
    assert!(said.error(3).contains("leads elsewhere"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&raw).unwrap(), "precious");
    fs::remove_file(&raw).unwrap();
    made(&place, &up);
    let forgotten = place.run(&format!("stripe down {} --forget", name(&place)));
    assert!(forgotten.error(3).contains("mounted, so its disks are there"), "{}", forgotten.stderr);
    down(&place);
    disks.assert_blank();
    for (arguments, words) in [("--size 0", "too small for a disk"), ("--name x.json", "no .json at the end")] {
        let said = place.run(&format!("emulate up --limit iops=1 {arguments}"));
        assert!(said.error(2).contains(words), "{}", said.stderr);
    }
}

#[test]
fn what_is_used_stays_as_it_was_and_so_does_what_lies_below() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 256MiB");
    let up = format!("stripe up --name {} --kind jbod --file-system ext4 --destroy {}", name(&place), disks.all());
    made(&place, &up);
    let array = format!("/run/plimsoll/{}/jbod-2-ext4", name(&place));
    let load = "--rw randread --size 4MiB --duration 500ms --no-history";
    // Opened by somebody: nothing changes.
    let file = fs::File::create(format!("{array}/0/opened")).unwrap();
    let said = place.run("stripe down");
    assert!(said.error(3).contains("is used"), "{}", said.stderr);
    drop(file);
    fs::remove_file(format!("{array}/0/opened")).unwrap();
    // By any of its names, from anywhere.
    let mut command = place.command(&format!("run ./jbod-2-ext4 {load} --json"));
    let said = Said::of(command.current_dir(Path::new(&array).parent().unwrap()).output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["cells"][0]["plan"]["dealt"]["disks"], 2, "{}", said.stdout);
    // A file on it is one like any other, and what only looks like a place is none.
    let file = place.run(&format!("run {array}/0/file {load}"));
    assert_eq!(file.code, Some(0), "{}", file.stderr);
    let none = place.run(&format!("run /run/plimsoll/{} {load}", name(&place)));
    assert!(none.error(2).contains("is no array that is known here"), "{}", none.stderr);
    // One of its disks is not where it was.
    patiently(&format!("umount {array}/1"));
    let said = place.run(&format!("run {array} {load}"));
    assert!(said.error(3).contains("brings it back"), "{}", said.stderr);
    made(&place, &up);
    // Somebody else's, below ours.
    patiently(&format!("umount {array}/1"));
    tool("mount", &["--types", "tmpfs", "none", &format!("{array}/1")]);
    fs::write(format!("{array}/1/precious"), "").unwrap();
    tool("mount", &[&format!("{}p1", disks.paths[1]), &format!("{array}/1")]);
    down(&place);
    let is_kept = Path::new(&format!("{array}/1/precious")).exists();
    tool("umount", &[&format!("{array}/1")]);
    assert!(is_kept);
    fs::remove_dir_all(Path::new(&array).parent().unwrap()).unwrap();
    disks.assert_blank();
}

#[test]
fn a_run_goes_on_on_the_disks_that_it_began_on_alone() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 256MiB");
    let plan = |devices: &[&str]| {
        format!(
            "[stripe]\nname = \"{}\"\ndevices = {devices:?}\n[[stripe.array]]\nkind = \"jbod\"\nfile_system = \"ext4\"\n\
             [[workload]]\nrw = \"randread\"\nsize = \"8MiB\"\nduration = \"20s\"\n",
            name(&place)
        )
    };
    let [one, other] = &disks.paths[..] else { panic!() };
    fs::write(place.path("plan.toml"), plan(&[one, other])).unwrap();
    fs::write(place.path("others.toml"), plan(&[other, one])).unwrap();
    made(&place, &format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    let said = place.run("run --plan ROOT/others.toml");
    assert!(said.error(2).contains("is there with other disks"), "{}", said.stderr);
    let mut child =
        place.command("run --plan ROOT/plan.toml").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_journalled(&place.path("state"));
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), interruption()).unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    let id = text.split("--resume ").nth(1).and_then(|rest| rest.split('`').next()).unwrap_or_else(|| panic!("{text}"));
    let below = format!("/run/plimsoll/{}/jbod-2-ext4/1", name(&place));
    patiently(&format!("umount {below}"));
    let said = place.run(&format!("run --resume {id}"));
    assert!(said.error(3).contains("brings it back"), "{}", said.stderr);
    assert_eq!(fs::read_dir(&below).unwrap().count(), 0, "nothing is written below");
    down(&place);
    // What is made anew of the same is another one.
    made(&place, &format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    let said = place.run(&format!("run --resume {id}"));
    assert!(said.error(3).contains("taken down since"), "{}", said.stderr);
    down(&place);
}

#[test]
fn arrays_on_a_full_file_system_are_taken_down() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let _memory = InMemory::new(&place, "size=64M");
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 512MiB --directory ROOT/data");
    let kinds = "--kind jbod --file-system ext4";
    made(&place, &format!("stripe up --name {} {kinds} --destroy {}", name(&place), disks.all()));
    let array = format!("/run/plimsoll/{}/jbod-2-ext4", name(&place));
    let run = place.run(&format!("run {array} --rw randread --size 200MiB --duration 1s --no-history"));
    assert!(run.error(3).contains("what it lies on takes no more"), "{}", run.stderr);
    let filled = fs::write(place.path("data/filling"), vec![1; 64 << 20]);
    assert!(filled.is_err(), "it is full");
    down(&place);
    disks.assert_blank();
}

#[test]
fn a_disk_that_somebody_added_to_a_btrfs_is_not_measured_and_keeps_it_up() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --limit iops=50000 --size 256MiB");
    let [one, other, added] = &disks.paths[..] else { panic!() };
    let up = format!("stripe up --name {} --kind btrfs --destroy {one},{other}", name(&place));
    made(&place, &up);
    let array = format!("/run/plimsoll/{}/btrfs-2", name(&place));
    tool("btrfs", &["device", "add", "-f", added, &array]);
    for arguments in
        [format!("run {array} --rw randread --size 4MiB --duration 500ms --no-history"), "stripe down".into()]
    {
        let said = place.run(&arguments);
        assert!(said.error(3).contains("which plimsoll did not add"), "{}", said.stderr);
    }
    tool("btrfs", &["device", "remove", added, &array]);
    down(&place);
    disks.assert_blank();
}

#[test]
fn a_part_of_somebody_elses_mounted_btrfs_is_in_use_and_nobody_is_told_to_erase_it() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 256MiB");
    let [one, other] = &disks.paths[..] else { panic!() };
    made(&place, &format!("stripe up --name {} --kind none --file-system raw --destroy {one}", name(&place)));
    let raw = format!("/run/plimsoll/{}/none-1", name(&place));
    tool("mkfs.btrfs", &["--quiet", "--nodiscard", &fs::canonicalize(&raw).unwrap().to_string_lossy(), other]);
    let point = place.path("mounted");
    fs::create_dir(&point).unwrap();
    tool("mount", &[other, point.to_str().unwrap()]);
    let said = place.run("stripe down");
    assert!(said.error(3).contains("in use") && !said.stderr.contains("wipefs"), "{}", said.stderr);
    patiently(&format!("umount {}", point.display()));
    // By now it may be erased.
    let said = place.run("stripe down");
    assert!(said.error(3).contains("wipefs"), "{}", said.stderr);
    tool("wipefs", &["--all", "--quiet", &raw, other]);
    down(&place);
    disks.assert_blank();
}

#[test]
fn one_note_that_cannot_be_read_keeps_no_other_from_being_listed_or_taken_down() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 256MiB");
    let up = format!("stripe up --name {} --kind none --destroy {}", name(&place), disks.all());
    made(&place, &up);
    let dry = place.run(&format!("{up} --dry-run"));
    assert!(dry.code == Some(0) && dry.stdout.is_empty() && dry.stderr.contains("is up"), "{}", dry.stderr);

    let note = place.path("state/plimsoll/stripes/odd.json");
    fs::write(&note, "{}").unwrap();
    let listed = place.run("stripe list");
    assert!(listed.code == Some(0) && listed.stdout.contains("none-1"), "{}{}", listed.stdout, listed.stderr);
    assert!(listed.stderr.contains("odd.json is not what plimsoll writes"), "{}", listed.stderr);
    // What is not known to be free is not touched.
    assert!(place.run("emulate down").error(5).contains("odd.json"));
    let said = place.run("stripe down");
    assert!(said.error(5).contains("odd.json") && said.stderr.contains("blank again"), "{}", said.stderr);
    disks.assert_blank();
    fs::remove_file(note).unwrap();
}

#[test]
fn a_note_whose_arrays_would_be_elsewhere_is_not_followed() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 256MiB");
    made(&place, &format!("stripe up --name {} --kind none --destroy {}", name(&place), disks.all()));
    let note = place.path(&format!("state/plimsoll/stripes/{}.json", name(&place)));
    let whole = fs::read_to_string(&note).unwrap();
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let odd = whole.replace("\"none-1\"", &format!("\"{}\"", elsewhere.display()));
    for odd in [odd, whole.replace("\"disk\": 0", "\"disk\": 1")] {
        assert_ne!(odd, whole);
        fs::write(&note, odd).unwrap();
        let said = place.run("stripe down");
        assert!(said.error(5).contains("is not what plimsoll writes"), "{}", said.stderr);
    }
    assert!(elsewhere.exists());
    fs::write(&note, whole).unwrap();
    down(&place);
    disks.assert_blank();
}
