//! Arrays of disks: what they carry beside one disk, that nothing but blank disks is taken, and that blank disks are
//! given back. What needs drivers that not every kernel has is tried in a guest (`guest::stripes`).

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{
    emulation::take_down,
    support::{Place, Said, has, is_root},
};

/// Disks, and arrays of them; all is taken down when a test ends, also when it panics.
pub(crate) struct Disks<'a> {
    place: &'a Place,
    pub(crate) paths: Vec<String>,
}

impl Drop for Disks<'_> {
    fn drop(&mut self) {
        self.place.run("stripe down");
        take_down(self.place);
    }
}

impl<'a> Disks<'a> {
    pub(crate) fn up(place: &'a Place, arguments: &str) -> Self {
        let said = place.run(&format!("emulate up {arguments} --json"));
        let mut disks = Self { place, paths: Vec::new() };
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let found = said.json()["emulations"][0]["disks"].as_array().unwrap().clone();
        disks.paths = found.iter().map(|disk| disk["device"].as_str().unwrap().to_owned()).collect();
        disks
    }

    /// As `--destroy` takes them.
    pub(crate) fn all(&self) -> String {
        self.paths.join(",")
    }

    /// As a plan takes them.
    fn listed(&self) -> String {
        format!("{:?}", self.paths)
    }

    /// Nothing is on any of them, for the tools of the system either.
    pub(crate) fn assert_blank(&self) {
        for disk in &self.paths {
            assert_eq!(tool("wipefs", &["--noheadings", disk]).trim(), "", "{disk}");
            let name = disk.trim_start_matches("/dev/");
            let partitions = fs::read_dir(format!("/sys/block/{name}")).unwrap().flatten();
            let partitions = partitions.filter(|entry| entry.path().join("partition").exists()).count();
            assert_eq!(partitions, 0, "{disk}");
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        // Of the disk or a partition: loop1 is not loop10.
        let is_of = |source: &str, disk: &str| {
            source.strip_prefix(disk).is_some_and(|rest| !rest.starts_with(char::is_numeric))
        };
        let is_mounted = |disk: &String| mounts.split_whitespace().any(|source| is_of(source, disk));
        assert!(!self.paths.iter().any(is_mounted), "{mounts}");
    }
}

pub(crate) fn tool(program: &str, arguments: &[&str]) -> String {
    let said = Said::of(Command::new(program).args(arguments).output().unwrap());
    assert_eq!(said.code, Some(0), "{program}: {}", said.stderr);
    said.stdout
}

pub(crate) fn down(place: &Place) {
    let said = place.run("stripe down");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

/// A name that no other test has, because arrays of all users are found in one place.
pub(crate) fn name(place: &Place) -> String {
    let root = place.path("");
    format!("t{}", root.file_name().unwrap().to_string_lossy().replace('.', ""))
}

fn iops(record: &Value, cell: usize) -> f64 {
    let of = |direction: &str| record["cells"][cell][direction]["iops"].as_f64();
    of("read").or_else(|| of("write")).unwrap()
}

/// The rate of a cell as a share of what its disks let through, and what each of them did of its even part.
fn rate_and_balance(record: &Value, index: usize) -> (f64, Vec<f64>) {
    let cell = &record["cells"][index];
    let target = cell["target"].as_str().unwrap();
    let array = target.rsplit('/').next().unwrap();
    let count: f64 = array.split('-').nth(1).unwrap().parse().unwrap();
    assert_eq!(cell["limit"]["iops"].as_f64(), Some(500.0 * count), "what all of them are held to");
    let members = cell["device"]["members"].as_array().cloned().unwrap_or_default();
    assert_eq!(members.len(), if count > 1.0 { count as usize } else { 0 }, "{target}");
    let did = |member: &Value| {
        ["read_operations", "write_operations"].map(|key| member[key].as_f64().unwrap()).iter().sum::<f64>()
    };
    let all: f64 = members.iter().map(did).sum();
    let together = did(&cell["device"]);
    assert!(count < 2.0 || (together / all - 1.0).abs() < 0.01, "{target}: {together} of the {all} of all disks");
    (iops(record, index) / (500.0 * count), members.iter().map(|member| did(member) / all * count).collect())
}

/// Whether disks can be made here, and put together. In CI they must be.
pub(crate) fn can_stripe() -> bool {
    is_root() && has(&["sfdisk", "mkfs.ext4", "mkfs.btrfs", "mkfs.xfs"])
}

#[test]
fn each_disk_of_an_array_adds_what_it_has() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=500 --limit iops=500 --limit iops=500 --limit iops=500 --size 768MiB");
    let plan = format!(
        "[stripe]\nname = \"{}\"\ndevices = {}\n[[stripe.array]]\nkind = \"btrfs\"\ndisks = [1, 2, 3, 4]\n\
         [[stripe.array]]\nkind = \"jbod\"\ndisks = [2, 4]\nfile_system = \"ext4\"\n\
         [defaults]\nsize = \"32MiB\"\nqueue_depth = 64\nramp = \"1s\"\nduration = \"2s\"\n\
         [[workload]]\nname = \"read\"\nrw = \"randread\"\n[[workload]]\nname = \"write\"\nrw = \"randwrite\"\n",
        name(&place),
        disks.listed()
    );
    fs::write(place.path("plan.toml"), plan).unwrap();
    let early = place.run("run --plan ROOT/plan.toml --no-history");
    assert!(early.error(2).contains("plimsoll stripe up"), "{}", early.stderr);
    let said = place.run(&format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // Where others use the processors as well, disks wait for work now and then: those are asked again. Of some 1,000
    // operations of a disk, chance may have all 64 that are in flight stand at one: that is no part that was not even.
    let (mut seen, mut is_right) = (Vec::new(), [false; 12]);
    let record = loop {
        let record = place.record("run --plan ROOT/plan.toml --no-history");
        assert_eq!(record["cells"].as_array().unwrap().len(), 12);
        let found: Vec<_> = (0..12).map(|cell| rate_and_balance(&record, cell)).collect();
        let is_fine = |of: &f64, tolerance: f64| (of - 1.0).abs() < tolerance;
        for (is_right, (rate, shares)) in is_right.iter_mut().zip(&found) {
            *is_right |= is_fine(rate, 0.03) && shares.iter().all(|share| is_fine(share, 0.08));
        }
        seen.push(found);
        if is_right == [true; 12] {
            break record;
        }
        assert!(seen.len() < 5, "{seen:?}");
    };
    let array = record.pointer("/environment/targets/3/array").unwrap();
    assert_eq!((array["array"]["kind"].as_str(), array["disks"].as_array().unwrap().len()), (Some("btrfs"), 4));
    down(&place);
    disks.assert_blank();
    for disk in &disks.paths {
        let copies = tool("sh", &["-c", &format!("tr -d '\\0' <{disk} | grep --count --text _BHRfS_M || true")]);
        assert_eq!(copies.trim(), "0", "a copy of what btrfs is known by, on {disk}");
    }
}

#[test]
fn disks_that_are_not_put_together_are_dealt_jobs_that_do_together_what_is_asked_for() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 512MiB");
    let arrays = |rest: &str| {
        let (name, listed) = (name(&place), disks.listed());
        format!("[stripe]\nname = \"{name}\"\ndevices = {listed}\n[[stripe.array]]\nkind = \"jbod\"\n{rest}\n")
    };
    fs::write(place.path("raw.toml"), arrays("")).unwrap();
    let raw = place.run("run --plan ROOT/raw.toml --no-history");
    assert!(raw.error(2).contains("give it a file_system"), "{}", raw.stderr);
    let blocks = "[[workload]]\nrw = \"randrw\"\nverify = true\nqueue_depth = 9\nsize = \"8MiB\"\nduration = \"1s\"\n";
    fs::write(place.path("plan.toml"), arrays("file_system = \"xfs\"") + blocks).unwrap();
    let files = "[[workload]]\nphases = \"write,read\"\n";
    fs::write(place.path("files.toml"), arrays("file_system = \"xfs\"") + files).unwrap();
    let said = place.run(&format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let refused = place.run("run --plan ROOT/files.toml --no-history");
    assert!(refused.error(3).contains("leave jbod out"), "{}", refused.stderr);
    let record = place.record("run --plan ROOT/plan.toml --no-history");
    let blocks = &record["cells"][0]["plan"];
    let of = |key: &str| blocks[key].as_u64();
    assert_eq!((of("jobs"), of("queue_depth"), of("size_bytes")), (Some(2), Some(5), Some(4 << 20)), "{blocks}");
    let members = record["cells"][0]["device"]["members"].as_array().unwrap();
    assert!(
        members.len() == 2 && members.iter().all(|disk| disk["write_operations"].as_u64() > Some(0)),
        "{members:?}"
    );
    assert_eq!(record["cells"][0]["verification"]["mismatches"], 0, "{}", record["cells"][0]);
    // One of the directories is one disk, and nothing is left in any.
    let place_of_one = format!("/run/plimsoll/{}/jbod-2-xfs/1", name(&place));
    assert_eq!(fs::read_dir(&place_of_one).unwrap().count(), 0);
    let one = place.record(&format!("run {place_of_one} --size 4MiB --duration 500ms --no-history"));
    assert_eq!(one["cells"][0]["limit"]["iops"], 50000.0);
    assert_eq!(one["environment"]["targets"][0]["array"]["disks"].as_array().unwrap().len(), 1);
    down(&place);
    disks.assert_blank();
}

#[test]
fn disks_that_share_a_limit_gain_nothing_and_it_is_said_why() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=500 --limit iops=500 --shared-limit iops=500 --size 256MiB");
    let plan = format!(
        "[stripe]\nname = \"{}\"\ndevices = {}\n[[stripe.array]]\nkind = \"btrfs\"\ndisks = [1, 2]\n\
         [[workload]]\nrw = \"randread\"\nsize = \"16MiB\"\nqueue_depth = 64\nramp = \"1s\"\nduration = \"4s\"\n",
        name(&place),
        disks.listed()
    );
    fs::write(place.path("plan.toml"), plan).unwrap();
    let said = place.run(&format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut seen = Vec::new();
    let record = loop {
        let record = place.record("run --plan ROOT/plan.toml --no-history");
        seen.push((iops(&record, 0), iops(&record, 1)));
        if seen.last().is_some_and(|(one, two)| (two / one - 1.0).abs() < 0.03) {
            break record;
        }
        assert!(seen.len() < 3, "{seen:?}");
    };
    assert_eq!(record["cells"][1]["limit"]["operations_by"], "pool");
    let findings = record["cells"][1]["findings"].as_array().unwrap();
    let advice = findings.iter().find(|finding| finding["code"] == "no-gain-from-disks").expect("the advice");
    assert!(advice["text"].as_str().unwrap().contains("something that they share"), "{advice}");
}

#[test]
fn what_some_of_the_disks_share_is_part_of_what_is_expected() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let shared = "--limit iops=500 --shared-limit iops=700 --size 400MiB";
    let two = Disks::up(&place, &format!("--name a --limit iops=500 {shared}"));
    let one = Disks::up(&place, &format!("--name b {shared}"));
    let (devices, all) = ([&two.paths[..], &one.paths[..]].concat(), format!("{},{}", two.all(), one.all()));
    let plan = format!(
        "[stripe]\nname = \"{}\"\ndevices = {devices:?}\n[[stripe.array]]\nkind = \"btrfs\"\n\
         [[stripe.array]]\nkind = \"jbod\"\nfile_system = \"ext4\"\n\
         [[workload]]\nrw = \"randread\"\nsize = \"12MiB\"\nqueue_depth = 24\nramp = \"1s\"\nduration = \"2s\"\n",
        name(&place)
    );
    fs::write(place.path("plan.toml"), plan).unwrap();
    let said = place.run(&format!("stripe up --plan ROOT/plan.toml --destroy {all}"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let record = place.record("run --plan ROOT/plan.toml --no-history");
    // Two of three disks wait for each other, and with a stripe over all of them the third waits too.
    for (cell, limit) in [(0, 1050.0), (1, 1200.0)] {
        assert_eq!(record["cells"][cell]["limit"]["iops"].as_f64(), Some(limit));
        assert_eq!(record["cells"][cell]["limit"]["operations_by"], "pool");
        assert!(iops(&record, cell) < 1.1 * limit, "{} of {limit}", iops(&record, cell));
    }
}

#[test]
fn nothing_is_written_to_disks_that_are_not_blank_not_free_or_not_different() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 256MiB");
    let [one, other] = &disks.paths[..] else { panic!() };
    let up = format!("stripe up --name {} --kind btrfs", name(&place));
    let attempt = |disks: &str| place.run(&format!("{up} --destroy {disks}"));
    let same = attempt(&format!("{one},{one}"));
    assert!(same.error(2).contains("one disk"), "{}", same.stderr);
    let link = place.path("link");
    std::os::unix::fs::symlink(one, &link).unwrap();
    let same = attempt(&format!("{one},{}", link.display()));
    assert!(same.error(2).contains("one disk"), "{}", same.stderr);
    let gone = attempt("/dev/nothing");
    assert!(gone.error(3).contains("no block device"), "{}", gone.stderr);

    tool("mkfs.ext4", &["-q", other]);
    let before = tool("sha256sum", &[one, other]);
    let signed = attempt(&disks.all());
    assert!(signed.error(3).contains("not blank: it holds ext4"), "{}", signed.stderr);
    assert_eq!(tool("sha256sum", &[one, other]), before, "nothing is written, on the blank one neither");
    let point = place.path("mounted");
    fs::create_dir(&point).unwrap();
    tool("mount", &[other, point.to_str().unwrap()]);
    let mounted = attempt(&disks.all());
    tool("umount", &[point.to_str().unwrap()]);
    assert!(mounted.error(3).contains("is mounted at"), "{}", mounted.stderr);
    tool("wipefs", &["--all", "--quiet", other]);

    let loop_on_it = tool("losetup", &["--find", "--show", other]).trim().to_owned();
    let used = attempt(&disks.all());
    tool("losetup", &["--detach", &loop_on_it]);
    assert!(used.error(3).contains("is in use"), "{}", used.stderr);
    // Whoever names the disk of the running system is told so; nothing is opened for writing before that.
    let root = tool("findmnt", &["--noheadings", "--output", "SOURCE", "/"]);
    if Path::new(root.trim()).exists() {
        let root = place.run(&format!("{up} --dry-run --destroy {}", root.trim()));
        assert!(root.error(3).contains("root file system"), "{}", root.stderr);
    }
    disks.assert_blank();
}

#[test]
fn only_what_was_made_is_taken_down() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 512MiB");
    let up = format!("stripe up --name {} --kind none --file-system raw,ext4 --destroy {}", name(&place), disks.all());
    let shown = place.run(&format!("{up} --dry-run"));
    assert!(shown.stdout.contains("mkfs.ext4") && shown.stdout.contains("sfdisk"), "{}", shown.stdout);
    disks.assert_blank();
    let first = place.run(&up);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let again = place.run(&up);
    assert_eq!((again.code, &again.stdout), (Some(0), &first.stdout), "{}", again.stderr);
    let other = place.run(&up.replace("raw,ext4", "ext4"));
    assert!(other.error(2).contains("is up already"), "{}", other.stderr);
    let places = format!("/run/plimsoll/{}", name(&place));
    let (raw, mounted) = (format!("{places}/none-1"), format!("{places}/none-1-ext4"));
    // What was unmounted meanwhile is mounted again.
    tool("umount", &[&mounted]);
    assert_eq!(place.run(&up).code, Some(0));
    tool("mountpoint", &["--quiet", &mounted]);

    tool("mkfs.ext4", &["-q", &raw]);
    let foreign = place.run("stripe down");
    assert!(foreign.error(3).contains("plimsoll did not make"), "{}", foreign.stderr);
    tool("mountpoint", &["--quiet", &mounted]);
    tool("wipefs", &["--all", "--quiet", &raw]);
    let point = place.path("elsewhere");
    fs::create_dir(&point).unwrap();
    tool("mount", &["--bind", &mounted, point.to_str().unwrap()]);
    let used = place.run("stripe down");
    tool("umount", &[point.to_str().unwrap()]);
    assert!(used.error(3).contains("mounted at"), "{}", used.stderr);
    down(&place);
    assert!(!Path::new(&places).exists());
    disks.assert_blank();
}

#[test]
fn file_systems_have_the_geometry_that_was_asked_for() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --size 4GiB");
    let plan = format!(
        "[stripe]\nname = \"{}\"\ndevices = {}\n[[stripe.array]]\nfile_system = \"ext4\"\n\
         cluster_size = [\"4k\", \"8k\", \"16k\", \"32k\", \"64k\"]\n\
         [[stripe.array]]\nfile_system = [\"ext4\", \"xfs\"]\nblock_size = [\"1k\", \"4k\"]\n\
         [[workload]]\nrw = \"randwrite\"\nblock_size = \"16k\"\nsize = \"8MiB\"\nduration = \"1s\"\n",
        name(&place),
        disks.listed()
    );
    fs::write(place.path("plan.toml"), plan).unwrap();
    let said = place.run(&format!("stripe up --plan ROOT/plan.toml --destroy {}", disks.all()));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let device = |array: &str| {
        let place = format!("/run/plimsoll/{}/none-1-{array}", name(&place));
        tool("findmnt", &["--noheadings", "--output", "SOURCE", &place]).trim().to_owned()
    };
    let ext4 = |array: &str, key: &str| {
        let told = tool("dumpe2fs", &["-h", &device(array)]);
        let line = told.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        line.unwrap_or("none").to_owned()
    };
    for (array, cluster) in [
        ("ext4", "none"),
        ("ext4-8KiB", "8192"),
        ("ext4-16KiB", "16384"),
        ("ext4-32KiB", "32768"),
        ("ext4-64KiB", "65536"),
    ] {
        assert_eq!(
            (ext4(array, "Block size:"), ext4(array, "Cluster size:")),
            ("4096".into(), cluster.into()),
            "{array}"
        );
    }
    assert_eq!(ext4("ext4-block-1KiB", "Block size:"), "1024");
    let xfs = tool("xfs_db", &["-r", "-c", "sb 0", "-c", "print blocksize", &device("xfs-block-1KiB")]);
    assert_eq!(xfs.trim(), "blocksize = 1024");
    let record = place.record("run --plan ROOT/plan.toml --no-history");
    assert_eq!(record["cells"].as_array().unwrap().len(), 8);
    assert!((0..8).all(|cell| iops(&record, cell) > 0.0));
    down(&place);
    disks.assert_blank();
}

#[test]
fn whatever_moment_its_maker_is_killed_at_blank_disks_are_given_back() {
    if !can_stripe() {
        return;
    }
    let place = Place::new();
    let disks = Disks::up(&place, "--limit iops=50000 --limit iops=50000 --size 512MiB");
    let name = name(&place);
    let arguments = format!("stripe up --name {name} --kind btrfs,none --file-system ext4 --destroy {}", disks.all());
    let killed_after = |arguments: &str, pause: Duration| {
        let mut child = place.command(arguments);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(pause);
        let was_running = child.try_wait().unwrap().is_none();
        let _ = child.kill();
        child.wait().unwrap();
        was_running
    };
    // In steps shorter than any command takes, until it is done before it is killed.
    let step = Duration::from_millis(12);
    let mut pause = Duration::ZERO;
    let mut rounds = 0;
    while killed_after(&arguments, pause) {
        down(&place);
        disks.assert_blank();
        assert!(!Path::new("/run/plimsoll").join(&name).exists());
        pause += step;
        rounds += 1;
    }
    assert!(rounds > 5, "{rounds}");
    // The same with who takes it down.
    let mut pause = Duration::ZERO;
    while killed_after("stripe down", pause) {
        down(&place);
        disks.assert_blank();
        assert_eq!(place.run(&arguments).code, Some(0));
        pause += step;
    }
    disks.assert_blank();
}
