//! Disks that let as much through as what is sold: what is measured on them, and that nothing of them is left.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, kill_process};
use serde_json::Value;

use crate::{
    interruption::interruption,
    support::{Place, Said, has, is_root, names},
};

/// Takes down what a test made, also when it panics.
pub(crate) struct Up<'a>(pub(crate) &'a Place);

impl Drop for Up<'_> {
    fn drop(&mut self) {
        take_down(self.0);
    }
}

/// Rings keep what they read open for a moment after their process has ended.
pub(crate) fn take_down(place: &Place) {
    for _ in 0..50 {
        if place.run("emulate down").code == Some(0) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    assert!(thread::panicking(), "emulated disks are left: {}", place.run("emulate down").stderr);
}

fn up<'a>(place: &'a Place, arguments: &str) -> (Up<'a>, Vec<String>) {
    let said = place.run(&format!("emulate up {arguments} --json"));
    let guard = Up(place);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let disks = said.json()["emulations"][0]["disks"].as_array().unwrap().clone();
    (guard, disks.iter().map(|disk| disk["device"].as_str().unwrap().to_owned()).collect())
}

/// Nothing of the emulation is left: no device, no file, no note.
fn assert_gone(place: &Place) {
    let state = place.path("state/plimsoll/emulations");
    let left = if state.exists() { names(&state) } else { Vec::new() };
    assert!(left.is_empty(), "{left:?}");
    let said = Said::of(Command::new("losetup").arg("--all").output().unwrap());
    assert!(!said.stdout.contains(state.to_str().unwrap()), "{}", said.stdout);
}

#[test]
fn a_run_on_an_emulated_disk_gets_what_it_lets_through() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, disks) = up(&place, "--limit iops=500,bandwidth=20MB --sku P10 --size 64MiB");
    let [p10, limited] = &disks[..] else { panic!("{disks:?}") };
    let load = "--rw randread --queue-depth 16 --ramp 1s --duration 4s --no-history";
    let record = place.record(&format!("run {limited} {load}"));
    let iops = record.pointer("/cells/0/read/iops").and_then(Value::as_f64).unwrap();
    assert!((iops / 500.0 - 1.0).abs() < 0.03, "{iops}");
    let sustained = record.pointer("/cells/0/limit/iops").and_then(Value::as_f64);
    assert_eq!(sustained, Some(500.0), "it stands beside what it is held to");
    // Reads and writes are held back apart: a mix stands beside what that comes to.
    let mix = "--rw randrw --read-percent 75 --queue-depth 16 --ramp 1s --duration 2s --no-history";
    let mixed = place.record(&format!("run {limited} --destroy {limited} {mix}"));
    let limit = mixed.pointer("/cells/0/limit/iops").and_then(Value::as_f64).unwrap();
    assert!((limit / (500.0 / 0.75) - 1.0).abs() < 1e-9, "{limit}");
    let plan = place.record(&format!("run {p10} --rw randread --duration 1s --no-history"));
    let said = &plan["asked"]["provisioned"]["targets"][p10.as_str()]["sku"];
    assert_eq!(said, "P10");
    // Whatever language it is asked for in.
    let fio = format!("fio --name=a --filename={limited} --rw=randread --direct=1 --runtime=1s --time_based");
    let diskspd = format!("diskspd -b4K -r -d1 -Sh {limited}");
    for words in [fio, diskspd] {
        let said = place.run(&words);
        assert_eq!(said.code, Some(0), "{words}: {}", said.stderr);
        let record = place.record("show latest");
        assert_eq!(record.pointer("/cells/0/limit/iops").and_then(Value::as_f64), Some(500.0), "{words}");
        let said = &record["asked"]["provisioned"]["targets"][limited.as_str()];
        assert_eq!(said["emulated"], true, "{words}");
    }
}

#[test]
fn two_disks_of_the_catalog_differ_as_they_do_in_a_cloud() {
    if !is_root() || !has(&["fio"]) {
        return;
    }
    let place = Place::new();
    let (_up, disks) = up(&place, "--sku P2,P40 --size 128MiB");
    // The fast disk takes a processor: where others want that too, it does less, and both are asked again.
    let mut ratios = Vec::new();
    while ratios.len() < 3 {
        let ratio = ratio_of_mixes(&place, &disks);
        ratios.push(ratio);
        if (ratio / 62.5 - 1.0).abs() < 0.03 {
            return;
        }
    }
    panic!("{ratios:?}");
}

/// How many times as much the second disk does of the mix that a published comparison ran.
fn ratio_of_mixes(place: &Place, disks: &[String]) -> f64 {
    let mut command = place.command("emulate exec -- fio");
    command.args([
        "--output-format=json",
        "--direct=1",
        "--ioengine=libaio",
        "--bs=16k",
        "--iodepth=16",
        "--numjobs=8",
    ]);
    command.args(["--rw=randrw", "--time_based", "--ramp_time=2", "--runtime=12", "--group_reporting"]);
    for disk in disks {
        let name = Path::new(disk).file_name().unwrap().to_string_lossy().into_owned();
        command.args([format!("--name={name}"), format!("--filename={disk}"), "--new_group".to_owned()]);
    }
    let said = Said::of(command.output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let jobs = said.json()["jobs"].as_array().unwrap().clone();
    // Rates are by the time until the last of the 128 operations in flight has ended, which the slow disk needs a
    // second for. Operations are counted in the time that both have.
    let of = |job: &Value| ["read", "write"].map(|direction| job[direction]["total_ios"].as_f64().unwrap());
    let [small, large] = [of(&jobs[0]), of(&jobs[1])];
    (large[0] + large[1]) / (small[0] + small[1])
}

#[test]
fn nothing_is_overwritten_and_nothing_that_is_used_is_taken_down() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    for (arguments, word) in [
        ("--sku P30 --name ../x", "no name"),
        ("--sku Premum_LRS", "did you mean"),
        ("--sku Premium_LRS", "--disk-size"),
    ] {
        let said = place.run(&format!("emulate up {arguments}"));
        assert!(said.error(2).contains(word), "{}", said.stderr);
    }
    fs::create_dir(place.path("plimsoll-disks")).unwrap();
    let said = place.run("emulate up --sku P30 --directory ROOT");
    assert!(said.error(2).contains("nothing is overwritten"), "{}", said.stderr);
    let (_up, disks) = up(&place, "--limit iops=50000 --size 64MiB");
    assert!(place.run("emulate up --sku P30").error(2).contains("is up already"));
    let point = place.path("mounted");
    fs::create_dir(&point).unwrap();
    let tool = |program: &str, arguments: &[&str]| {
        let said = Said::of(Command::new(program).args(arguments).output().unwrap());
        assert_eq!(said.code, Some(0), "{program}: {}", said.stderr);
    };
    tool("mkfs.ext4", &["-q", &disks[0]]);
    tool("mount", &[&disks[0], point.to_str().unwrap()]);
    let refused = place.run("emulate down");
    tool("umount", &[point.to_str().unwrap()]);
    assert!(refused.error(3).contains("mounted at"), "{}", refused.stderr);
    assert_eq!(place.run("emulate down").code, Some(0));
    assert_gone(&place);
    assert!(place.run("emulate down disks").error(2).contains("there is no emulation"));
}

#[test]
fn whatever_a_killed_maker_left_is_taken_down() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _up = Up(&place);
    for step in 0..12 {
        let mut child = place.command("emulate up --limit iops=500 --limit iops=500 --limit iops=500 --size 16MiB");
        let mut child = child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(8 * step));
        let _ = child.kill();
        child.wait().unwrap();
        let said = place.run("emulate down");
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert_gone(&place);
    }
}

#[test]
fn who_waits_for_another_one_says_so() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, _) = up(&place, "--limit iops=500 --size 1MiB");
    let other = fs::File::open(place.path("state/plimsoll/emulations.lock")).unwrap();
    other.lock().unwrap();
    let mut waiting = place.command("emulate down").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(waiting.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("waiting for it"), "{line}");
    assert!(waiting.try_wait().unwrap().is_none());
    // Ctrl-C says what to do about what is there.
    let stopped = place.command("emulate down").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut stopped = stopped.unwrap();
    BufReader::new(stopped.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    kill_process(Pid::from_child(&stopped), interruption()).unwrap();
    let said = Said::of(stopped.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(said.stderr.contains("interrupted: `plimsoll emulate list` shows"), "{}", said.stderr);
    drop(other);
    assert_eq!(Said::of(waiting.wait_with_output().unwrap()).code, Some(0));
    assert_gone(&place);
}

#[test]
fn files_that_were_moved_and_what_is_in_their_places_stay_when_disks_are_taken_down() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    for arguments in ["--limit iops=500 --limit iops=600 --size 16MiB", "--limit iops=500 --shared-limit iops=400"] {
        let (_up, disks) = up(&place, arguments);
        let directory = place.path("state/plimsoll/emulations/disks");
        let file = directory.join(&names(&directory)[0]);
        let moved = place.path("moved.img");
        fs::rename(&file, &moved).unwrap();
        fs::write(&file, "kept").unwrap();
        let listed = place.run("emulate list");
        assert!(disks.iter().all(|disk| listed.stdout.contains(disk)), "{}", listed.stdout);
        let said = place.run("emulate down");
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let left = Said::of(Command::new("losetup").arg("--all").output().unwrap()).stdout;
        assert!(!left.contains(moved.to_str().unwrap()), "{left}");
        assert!(moved.exists());
        assert!(said.stderr.contains("was moved or removed by somebody"), "{}", said.stderr);
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        fs::remove_dir_all(place.path("state/plimsoll/emulations")).unwrap();
        fs::remove_file(moved).unwrap();
    }
}

#[test]
fn a_disk_that_somebody_took_away_is_listed_as_gone() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, disks) = up(&place, "--limit iops=500 --limit iops=600 --size 16MiB");
    let said = Said::of(Command::new("losetup").args(["--detach", &disks[0]]).output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // Whoever has it opened for a moment keeps it for so long.
    let mut lists = (0..50).map(|_| {
        thread::sleep(Duration::from_millis(100));
        place.run("emulate list").stdout
    });
    let listed = lists.find(|listed| listed.contains("gone")).unwrap();
    let has = |disk: &String| listed.contains(&format!("{disk} "));
    assert!(has(&disks[1]) && !has(&disks[0]), "{listed}");
    assert_eq!(place.run("emulate down").code, Some(0));
    assert_gone(&place);
}

#[test]
fn a_command_is_held_back_whatever_became_of_the_limits() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, disks) = up(&place, "--limit iops=500 --limit iops=600 --size 16MiB");
    let tool = |program: &str, arguments: &[&str]| {
        let said = Said::of(Command::new(program).args(arguments).output().unwrap());
        assert_eq!(said.code, Some(0), "{program}: {}", said.stderr);
    };
    let read = format!("emulate exec -- dd if={} of=/dev/null bs=4k count=1000 iflag=direct", disks[0]);
    let seconds = || {
        let said = place.run(&read);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let (before, _) = said.stderr.rsplit_once(" s, ").unwrap();
        (before.rsplit(' ').next().unwrap().parse::<f64>().unwrap(), said.stderr)
    };
    assert!(seconds().0 > 1.5);
    let number = fs::read_to_string(format!("/sys/block/{}/dev", disks[0].trim_start_matches("/dev/"))).unwrap();
    let number = number.trim();
    let first = Path::new("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device");
    let lifted = match first.exists() {
        true => fs::write(first, format!("{number} 0")),
        false => fs::write("/sys/fs/cgroup/plimsoll-emulate/io.max", format!("{number} riops=max")),
    };
    lifted.unwrap();
    tool("losetup", &["--detach", &disks[1]]);
    let (lasted, said) = seconds();
    assert!(lasted > 1.5, "{lasted}");
    assert!(said.contains("the disk iops=600 of \"disks\" is not there"), "{said}");
}

#[test]
fn a_disk_that_somebody_has_opened_stays_and_one_of_somebody_elses_is_let_go() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, disks) = up(&place, "--limit iops=321 --size 16MiB");
    let opened = fs::File::open(&disks[0]).unwrap();
    let said = place.run("emulate down");
    assert!(said.error(3).contains("has it open") || said.stderr.contains("in use"), "{}", said.stderr);
    drop(opened);

    let number = fs::read_to_string(format!("/sys/block/{}/dev", disks[0].trim_start_matches("/dev/"))).unwrap();
    let number = number.trim();
    let limits = || {
        let files = ["blkio/blkio.throttle.read_iops_device", "plimsoll-emulate/io.max"];
        let text = files.map(|file| fs::read_to_string(Path::new("/sys/fs/cgroup").join(file)).unwrap_or_default());
        text.concat().lines().any(|line| line.starts_with(&format!("{number} ")) && line.contains("321"))
    };
    assert!(limits());
    let other = place.path("other.img");
    fs::File::create(&other).unwrap().set_len(16 << 20).unwrap();
    let losetup = |arguments: &[&str]| {
        let said = Said::of(Command::new("losetup").args(arguments).output().unwrap());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    };
    losetup(&["--detach", &disks[0]]);
    losetup(&[&disks[0], other.to_str().unwrap()]);
    let said = place.run("emulate down");
    let is_held = limits();
    losetup(&["--detach", &disks[0]]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!is_held, "what is somebody else's is held back");
    assert_gone(&place);
}

#[test]
fn a_note_that_names_files_of_others_removes_none() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (_up, _) = up(&place, "--limit iops=500 --size 16MiB");
    let note = place.path("state/plimsoll/emulations/disks.json");
    let whole = fs::read_to_string(&note).unwrap();
    let kept = place.path("kept.img");
    fs::write(&kept, "kept").unwrap();
    let mut odd: Value = serde_json::from_str(&whole).unwrap();
    odd["disks"][0]["file"] = kept.to_str().unwrap().into();
    odd["disks"][0].as_object_mut().unwrap().remove("file_id");
    fs::write(&note, odd.to_string()).unwrap();
    let said = place.run("emulate down");
    assert!(said.error(5).contains("no place for the file of a disk"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    fs::write(&note, whole).unwrap();
    assert_eq!(place.run("emulate down").code, Some(0));
    assert_gone(&place);
}
