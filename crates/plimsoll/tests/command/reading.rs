//! Files that are there and are only read: nothing has to be written for it, and nobody has to be kept away.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::{
    fio::fio,
    support::{Mounted, Place, Said, is_root, names},
};

const MIB: u64 = 1 << 20;

/// Runs fio's options on a file, for their JSON.
fn job(place: &Place, file: &Path, options: &[&str]) -> Said {
    let file = format!("--filename={}", file.display());
    fio(place, &[&["--name=a", &file, "--output-format=json", "--direct=1"], options].concat())
}

fn operations(said: &Said) -> u64 {
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{}", said.stdout);
    said.json()["jobs"][0]["read"]["total_ios"].as_u64().unwrap()
}

/// A mounted file system that can only be read, with a file of somebody, and one that plimsoll laid out and kept.
fn read_only(place: &Place) -> Mounted {
    let mounted = Mounted::ext4(place, 64 << 20);
    fs::write(mounted.point.join("big"), vec![7; MIB as usize]).unwrap();
    let said = job(place, &mounted.point.join("kept"), &["--rw=read", "--size=1m", "--bs=64k"]);
    assert_eq!(operations(&said), 16);
    mounted.make_read_only();
    mounted
}

#[test]
fn files_on_a_read_only_file_system_are_read_and_nothing_else_is_done_there() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = read_only(&place);
    let before = names(&mounted.point);
    assert_eq!(before, ["big", "kept", "kept.plimsoll", "lost+found"]);
    for name in ["big", "kept"] {
        let file = mounted.point.join(name);
        for more in [&["--rw=read"][..], &["--rw=randread", "--readonly"], &["--rw=read", "--unlink=1"]] {
            assert_eq!(operations(&job(&place, &file, &[more, &["--bs=64k"]].concat())), 16, "{name} {more:?}");
        }
        let record = place.record(&format!("run {} --rw read --block-size 64k --loops 1", file.display()));
        assert_eq!(record["cells"][0]["read"]["operations"], 16, "{name}");
        let point = mounted.point.display();
        let plan = format!(
            "targets = [\"{point}\"]\n[[workloads]]\nrw = \"read\"\nfile_names = [\"{name}\"]\nsize = \"1MiB\"\n\
             block_size = \"64k\"\nloops = 1\n"
        );
        fs::write(place.path("plan.toml"), plan).unwrap();
        let record = place.record("run --plan ROOT/plan.toml");
        assert_eq!(record["cells"][0]["read"]["operations"], 16, "{name}");
        assert!(record["warnings"].as_array().is_none_or(Vec::is_empty), "{}", record["warnings"]);
    }
    assert_eq!(names(&mounted.point), before);
}

#[test]
fn what_would_write_or_lay_out_on_a_read_only_file_system_is_refused() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = read_only(&place);
    let before = names(&mounted.point);
    let file = |name: &str| mounted.point.join(name);
    for (name, options) in [
        ("big", &["--rw=write", "--bs=64k"][..]),
        ("kept", &["--rw=randrw", "--bs=64k"]),
        ("new", &["--rw=read", "--size=1m", "--bs=64k"]),
        ("kept", &["--rw=read", "--size=2m", "--bs=64k"]),
    ] {
        let said = job(&place, &file(name), options);
        assert_eq!(said.code, Some(1), "{name} {options:?}");
        assert!(said.stderr.contains("is read-only: remount it writable"), "{name} {options:?}: {}", said.stderr);
        assert_eq!(said.json()["jobs"][0]["error"], 30, "{name} {options:?}");
    }
    // Only its owner may lengthen it.
    let said = job(&place, &file("big"), &["--rw=read", "--size=2m", "--bs=64k"]);
    assert!(said.stderr.contains("has 1048576 bytes, and 2097152 are to be read"), "{}", said.stderr);
    let said = place.run(&format!("run {} --rw read --size 1M --duration 1s", mounted.point.display()));
    assert!(said.error(3).contains("is read-only: remount it writable"), "{}", said.stderr);
    assert_eq!(names(&mounted.point), before);
}

#[test]
fn a_file_with_holes_is_read_where_there_is_no_room_to_fill_them() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::ext4(&place, 32 << 20);
    let file = mounted.point.join("sparse");
    fs::File::create(&file).unwrap().set_len(256 * MIB).unwrap();
    assert_eq!(operations(&job(&place, &file, &["--rw=read", "--bs=1m"])), 256);
    let said = job(&place, &mounted.point.join("new"), &["--rw=read", "--bs=1m", "--size=256m"]);
    assert_eq!(said.json()["jobs"][0]["error"], 28, "{}", said.stderr);
    assert_eq!(names(&mounted.point), ["lost+found", "sparse"]);
}

/// A reader that goes on until it is dropped.
struct Reader {
    child: Child,
    /// Kept, because a report that nobody takes is an error.
    _output: BufReader<ChildStdout>,
}

impl Reader {
    /// Begins to read, and comes back when reading has begun.
    fn begin(place: &Place, file: &Path) -> Self {
        let mut command: Command = place.command("fio --name=a --rw=randread --bs=4k --time_based --runtime=60");
        command.args(["--output-format=json", "--status-interval=1"]).arg(format!("--filename={}", file.display()));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with('{'), "{line}");
        Self { child, _output: output }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_kept_file_is_read_by_several_at_once_and_written_or_removed_by_none_of_them() {
    let place = Place::new();
    let file = place.data().join("kept");
    assert_eq!(operations(&job(&place, &file, &["--rw=read", "--size=1m", "--bs=64k"])), 16);
    let before = fs::read(&file).unwrap();
    let reader = Reader::begin(&place, &file);
    assert_eq!(operations(&job(&place, &file, &["--rw=read", "--bs=64k"])), 16);
    for options in [&["--rw=write", "--bs=64k"][..], &["--rw=read", "--size=2m", "--bs=64k"]] {
        let said = job(&place, &file, options);
        assert_eq!(said.code, Some(1), "{options:?}");
        assert!(said.stderr.contains("is in use by another plimsoll: wait for it"), "{options:?}: {}", said.stderr);
    }
    let cleaned = place.run("doctor --clean DATA/kept");
    assert!(
        format!("{}{}", cleaned.stdout, cleaned.stderr).contains("in use by another plimsoll"),
        "{}",
        cleaned.stdout
    );
    assert_eq!(fs::read(&file).unwrap(), before);
    drop(reader);
    assert_eq!(operations(&job(&place, &file, &["--rw=read", "--size=2m", "--bs=64k"])), 32);
    assert_eq!(place.run("doctor --clean DATA/kept").code, Some(0));
    assert_eq!(place.leftovers(), [""; 0]);
}
