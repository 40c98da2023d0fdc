//! Sets of files: what is measured of them, and that nothing of them stays.

use std::{fs, process::Stdio, thread, time::Duration};

use rustix::{
    fs::statvfs,
    process::{Pid, Signal, kill_process},
};
use serde_json::Value;

use crate::{
    capped_disk::CappedDisk,
    interruption::interruption,
    support::{InMemory, Mounted, Place, comes_true, is_root, names, skip},
};

const PHASES: [&str; 23] = [
    "create",
    "write",
    "write_read",
    "append",
    "overwrite",
    "read",
    "stat",
    "open",
    "list",
    "list_long",
    "find",
    "rename",
    "rename_cross",
    "link",
    "symlink",
    "set_xattr",
    "get_xattr",
    "truncate",
    "delete",
    "mkdir",
    "rmdir",
    "read_append",
    "log",
];

/// What a phase of the first cell did.
fn phase<'a>(record: &'a Value, name: &str) -> &'a Value {
    let phases = record["cells"][0]["files"]["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["phase"] == name).unwrap_or_else(|| panic!("{name} is not there"))
}

#[test]
fn every_phase_is_in_the_table_and_in_the_record_and_nothing_stays() {
    let place = Place::new();
    let phases = PHASES.join(",");
    let run = format!("run DATA --phases {phases} --file-count 50 --file-size 1k-20k --files-per-directory 7 --jobs 3");
    let said = place.run(&format!("{run} --iterations 3 --seed 7"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for name in PHASES {
        let row = said.stdout.lines().find(|line| line.split_whitespace().any(|word| word == name));
        assert!(row.is_some(), "{name} is missing:\n{}", said.stdout);
    }
    let record = place.run("show latest --json").json();
    for name in PHASES {
        let directions = &record["cells"][0][name];
        let due = if name == "list" { 3 * 8 } else { 150 };
        assert_eq!(directions["operations"], due, "{name}");
        let jobs = phase(&record, name)["job_operations"].as_array().unwrap();
        assert_eq!(jobs.iter().map(|job| job.as_u64().unwrap()).sum::<u64>(), due, "{name}");
        assert!(directions["iops_low"].is_f64() && directions["iops"].as_f64() > Some(0.0), "{name}");
        assert!(!directions["histogram"].is_null(), "{name}");
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_seed_makes_the_same_files_on_every_target_and_for_every_number_of_jobs() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    let run =
        "--phases write,read --file-count 40 --file-size gamma:9k --files-per-directory 9 --iterations 2 --verify";
    let record = place.record(&format!("run DATA other {run} --jobs 1,2,7 --seed 11"));
    let cells = record["cells"].as_array().unwrap();
    let sums: Vec<_> = cells.iter().map(|cell| cell["files"]["tree_sha256"].as_str().unwrap()).collect();
    assert_eq!(sums.len(), 6);
    assert!(sums.iter().all(|sum| *sum == sums[0] && sum.len() == 64), "{sums:?}");
    assert!(cells.iter().all(|cell| cell["verification"]["mismatches"] == 0));
    let other = place.record(&format!("run DATA {run} --seed 12"));
    assert_ne!(other["cells"][0]["files"]["tree_sha256"], sums[0]);
}

#[test]
fn files_that_are_kept_have_the_checksum_of_the_record_and_are_removed_when_that_is_asked_for() {
    let place = Place::new();
    let run = "run DATA --phases write --file-count 30 --file-size 1-9000 --files-per-directory 4 --iterations 2";
    let record = place.record(&format!("{run} --verify --keep-files"));
    let kept = fs::read_dir(place.data()).unwrap().next().unwrap().unwrap().path().join("tree-0");
    let theirs = std::process::Command::new("sh")
        .args(["-c", "find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"])
        .current_dir(kept)
        .output()
        .unwrap();
    let theirs = String::from_utf8(theirs.stdout).unwrap();
    assert_eq!(theirs.split_whitespace().next(), record["cells"][0]["files"]["tree_sha256"].as_str());
    assert_eq!(place.run("doctor --clean DATA").code, Some(0));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_run_that_was_interrupted_goes_on_with_the_iterations_that_are_missing() {
    let place = Place::new();
    let run = "run DATA --phases write,read --file-count 400 --file-sync file --iterations 12 --json";
    let mut child = place.command(run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journalled = || {
        let state = place.path("state");
        let mut open = vec![state];
        while let Some(path) = open.pop() {
            match fs::read_dir(&path) {
                Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
                Err(_) if fs::read_to_string(&path).is_ok_and(|text| text.contains("\"event\":\"slot_finished\"")) => {
                    return true;
                }
                Err(_) => {}
            }
        }
        false
    };
    while !journalled() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let said = place.run("run --resume latest --json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let record = said.json();
    assert_eq!((&record["outcome"], &record["cells"][0]["rounds_done"]), (&"complete".into(), &12.into()));
    assert_eq!(record["cells"][0]["write"]["operations"], 4800);
    let samples = phase(&record, "read")["samples"].as_array().unwrap();
    let rounds: Vec<u64> = samples.iter().map(|sample| sample["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, (0..12).collect::<Vec<u64>>());
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_mix_shows_each_of_its_steps() {
    let place = Place::new();
    let run = "run DATA --mix delete,write,read*3,append:4k --file-count 50 --jobs 2 --duration 400ms --iterations 3";
    let said = place.run(run);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let record = place.run("show latest --json").json();
    let operations = |key: &str| record["cells"][0][key]["operations"].as_u64().unwrap();
    let steps = ["delete", "write", "read", "append"];
    assert_eq!(steps.iter().map(|step| operations(step)).sum::<u64>(), operations("mix"));
    for step in steps {
        assert!(said.stdout.lines().any(|line| line.split_whitespace().any(|word| word == step)), "{}", said.stdout);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_done_is_refused_in_one_sentence() {
    let place = Place::new();
    fs::write(place.path("file"), vec![0; 1 << 20]).unwrap();
    for (arguments, code, sentence) in [
        ("DATA --phases write --queue-depth 8", 2, "--queue-depth means nothing for a set of files"),
        ("DATA --phases write --rw randread", 2, "--rw means nothing for a set of files"),
        ("DATA --phases fly", 2, "\"fly\" is not a phase: choose one of create, write"),
        ("DATA --phases write,write", 2, "\"write\" is listed twice"),
        ("DATA --rw randread --file-sync file", 2, "--file-sync is about sets of files"),
        ("DATA --phases write --file-count 3 --jobs 4", 2, "3 files are too few for 4 jobs"),
        ("DATA --phases write --file-size 1000T", 3, "lower --file-count or --file-size"),
        ("DATA --phases write --file-size gamma", 2, "\"\" is not a size"),
        ("DATA --phases write --block-size 4k-8k", 2, "in blocks of one size"),
        ("DATA --phases write --iterations 0", 2, "--iterations 0 is out of range"),
        ("DATA --phases write --verify --payload zero", 2, "--verify needs a random payload"),
        ("DATA --phases read --cache warm --buffered=false", 2, "that --cache warm fills"),
        ("DATA --phases mix", 2, "the phase mix needs --mix"),
        ("DATA --phases write --mix read", 2, "add it to --phases"),
        ("DATA --phases read,mix --mix read", 2, "leave it out of --phases"),
        ("DATA --phases mix,read --mix write", 2, "make it the last of the phases"),
        ("DATA --mix read:4k", 2, "takes no size"),
        ("DATA --mix read,write --file-sync reverse", 2, "a mix has none"),
        ("DATA --phases write,append,read --verify", 2, "--verify does not know what append leaves"),
        ("DATA --phases write,overwrite,read --verify", 2, "--verify cannot notice that an overwrite is lost"),
        ("DATA --mix read,read_append --verify", 2, "--verify does not know what read_append leaves"),
        ("DATA --phases write --cache cold", 2, "no phase reads what was there"),
        ("DATA --phases read,stat --file-sync file", 2, "no phase changes files"),
        ("DATA --phases create,delete --block-size 4k", 2, "--block-size is about what is in files"),
        ("DATA --phases append --file-count 1000000 --block-size 1G", 3, "--block-size if files are appended to"),
        ("file --phases write", 3, "a set of files needs a directory"),
        ("DATA --preset k8s-io --phases write", 2, "would make every workload of a preset or plan the same"),
    ] {
        let said = place.run(&format!("run {arguments}"));
        assert!(said.error(code).contains(sentence), "{arguments}: {}", said.stderr);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_file_system_without_inodes_for_all_files_is_told_before_any_is_made() {
    if !is_root() {
        return skip("mounting needs the rights of root");
    }
    let place = Place::new();
    let _memory = InMemory::new(&place, "nr_inodes=100");
    let said = place.run("run DATA --phases create --file-count 200");
    assert!(said.error(3).contains("no inodes for the test files"), "{}", said.stderr);
    assert!(said.stderr.contains("200 needed") && said.stderr.contains("use fewer files"), "{}", said.stderr);
    // A fifth is left to others, and what stays until the end is added up.
    let said = place.run("run DATA --phases create --file-count 90");
    assert!(said.error(3).contains("of which a fifth is left to others"), "{}", said.stderr);
    let one = "[[workload]]\nphases = 'stat'\nfile_count = 50\nfile_size = 10\n";
    fs::write(place.path("two.toml"), format!("{one}name = 'a'\n{one}name = 'b'\n")).unwrap();
    let said = place.run("run DATA --plan ROOT/two.toml --no-history");
    assert!(said.error(3).contains("100 needed"), "{}", said.stderr);
    let said = place.run("run DATA --phases create,delete --file-count 50 --iterations 1 --no-history");
    let announced = "on each target up to 50 files and directories, with 0 B in them";
    assert!(said.code == Some(0) && said.stderr.contains(announced), "{}{}", said.stderr, said.stdout);
}

#[test]
fn files_whose_names_are_operated_on_are_told_to_have_no_inodes_before_any_is_made() {
    if !is_root() {
        return skip("mounting needs the rights of root");
    }
    let place = Place::new();
    // With inodes for a file in each 4 KiB.
    let mounted = Mounted::ext4(&place, 64 << 20);
    let free = || statvfs(&mounted.point).unwrap().f_favail;
    let before = free();
    for engine in ["filecreate", "filestat", "filedelete"] {
        for files in ["--file-count 100000", "--file-count 25000 --jobs 4 --files per-job"] {
            let said = place.run(&format!("run ROOT/mount --engine {engine} {files} --passes 1 --no-history"));
            let wanted = format!("100000 needed, {before} free, of which a fifth is left to others");
            assert!(said.error(3).contains(&wanted), "{engine}: {}", said.stderr);
            assert_eq!(said.stderr.lines().count(), 1, "nothing was announced: {}", said.stderr);
        }
    }
    assert_eq!((free(), names(&mounted.point)), (before, vec!["lost+found".to_owned()]));
    let said = place.run("run ROOT/mount --engine filecreate --file-count 100 --passes 1 --no-history");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn all_that_is_there_at_the_same_time_is_to_have_room() {
    if !is_root() {
        return skip("mounting needs the rights of root");
    }
    let place = Place::new();
    let _memory = InMemory::new(&place, "nr_inodes=200,size=8M");
    let plan = |workloads: &[&str]| {
        let each = workloads.iter().map(|workload| format!("[[workload]]\n{}\n", workload.replace("; ", "\n")));
        fs::write(place.path("plan.toml"), each.collect::<String>()).unwrap();
        place.run("run DATA --plan ROOT/plan.toml --passes 1 --no-history")
    };
    let statted = "engine = 'filestat'; file_count = 100; operations = 100";
    let set = "phases = 'stat'; file_count = 80; file_size = 10";
    let read = "rw = 'randread'; buffered = true; size = '5M'; operations = 10; block_size = '4k'";
    let said = plan(&[statted, set]);
    assert!(said.error(3).contains("180 needed"), "{}", said.stderr);
    // What is read beside them has room of its own.
    let large = "engine = 'filestat'; file_count = 100; size = '4M'; operations = 100";
    assert_eq!(plan(&[large]).code, Some(0));
    let said = plan(&[large, read]);
    let error = said.error(3);
    assert!(error.contains("no space for the test files") && error.contains("needed"), "{error}");
    let said = plan(&[&format!("{statted}; jobs = 2"), read]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn what_a_run_left_that_was_killed_is_in_the_way_of_no_other() {
    if !is_root() {
        return skip("mounting needs the rights of root");
    }
    let place = Place::new();
    let _memory = InMemory::new(&place, "nr_inodes=200");
    let asked = "run DATA --engine filestat --file-count 100 --no-history --duration 30s";
    let mut killed = place.command(asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let made = || fs::read_dir(place.data()).unwrap().flatten().map(|entry| fs::read_dir(entry.path()));
    assert!(comes_true(|| made().flatten().any(|files| files.count() >= 100)));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let said = place.run("run DATA --engine filestat --file-count 120 --no-history --operations 120 --passes 1");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn the_table_that_another_program_would_have_written_reads_back_as_the_same_rates() {
    let place = Place::new();
    let shapes = "--file-size 10k --file-count 20 --iterations 2 --name disk --phases write,read,write_read";
    let record = place.record(&format!("run DATA {shapes}"));
    let table = place.run("export latest --format files").stdout;
    let mut lines = table.lines();
    let head = "\"Run name\",\"Date\",\"File count\",\"File size\",\"Iterations\",\"Write (Mb/s)\",\"Read (Mb/s)\",\"Write/Read (Mb/s)\"";
    assert_eq!(lines.next(), Some(head));
    assert!(lines.next().unwrap().contains("\"20\",\"10kb\",\"2\","), "{table}");
    fs::write(place.path("table.csv"), &table).unwrap();
    let imported = place.run("import table.csv --json").json();
    let told = &imported["cells"][0]["told"];
    let files = if told.is_null() { &imported[0]["cells"][0]["told"] } else { told };
    let rate = |name: &str| phase(&record, name)["operation_time_bytes_per_second"].as_f64().unwrap();
    for (name, key) in [("write", "write"), ("read", "read"), ("write_read", "write_read")] {
        let text = files.to_string();
        let key = format!("\"{key}_bytes_per_second\":");
        let told = text.split(&key).nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap();
        let ratio = told.parse::<f64>().unwrap() / rate(name);
        assert!((ratio - 1.0).abs() < 1e-5, "{name}: {ratio} in {text}");
    }
}

#[test]
fn ctrl_c_and_kill_9_in_any_phase_leave_nothing_behind() {
    thread::scope(|scope| {
        for part in PHASES.chunks(12) {
            scope.spawn(move || part.iter().for_each(|name| interrupted(name)));
        }
    });
}

fn interrupted(name: &str) {
    for (signal, delay_ms) in [(Signal::KILL, 200), (Signal::KILL, 700), (interruption(), 250)] {
        let place = Place::new();
        fs::write(place.data().join("f1"), "theirs").unwrap();
        let arguments =
            format!("run DATA --phases {name} --file-count 5000 --files-per-directory 50 --iterations 10000");
        let mut command = place.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if signal != Signal::KILL {
            // Before it is at work nobody has promised anything.
            assert!((0..3000).any(|_| {
                thread::sleep(Duration::from_millis(10));
                place.leftovers().len() > 1
            }));
        }
        thread::sleep(Duration::from_millis(delay_ms));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        if signal == Signal::KILL {
            place.run("history");
        } else {
            assert_eq!(status.code(), Some(130), "{name}");
            let record = place.run("show latest --json").json();
            assert_eq!(record["outcome"], "interrupted", "{name}");
        }
        assert_eq!(place.leftovers(), ["f1"], "{name} ended by {signal:?} after {delay_ms} ms");
    }
}

#[test]
fn what_others_put_among_the_files_stays() {
    let place = Place::new();
    let mut command = place.command("run DATA --phases write,stat --file-count 2000 --iterations 100000");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let own = (0..1000).find_map(|_| {
        thread::sleep(Duration::from_millis(10));
        let found = fs::read_dir(place.data()).unwrap().flatten().map(|entry| entry.path().join("tree-0"));
        found.filter(|path| path.is_dir()).find(|_| true)
    });
    let theirs = own.unwrap().join("theirs.txt");
    fs::write(&theirs, "theirs").unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    place.run("history");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(fs::read_dir(theirs.parent().unwrap()).unwrap().count(), 1, "all else is gone");
}

/// The limit of the disk shows in what is made durable and in what is read from there, and in nothing else.
#[test]
fn a_limited_disk_shows_where_files_reach_it() {
    let place = Place::new();
    let (Some(_fast), Some(_slow)) = (CappedDisk::new(&place, "fast", 500), CappedDisk::new(&place, "slow", 120))
    else {
        return;
    };
    let rate = |record: &Value, cell: usize, phase: &str| record["cells"][cell][phase]["iops"].as_f64().unwrap();
    let run = "--file-size 10k --file-count 200 --iterations 2 --duration 3s";
    // Whatever else writes to the disks of this machine, both get their share of it.
    let synced = place.record(&format!("run fast slow --phases write,read,write_read --file-sync file {run}"));
    let ratio = rate(&synced, 0, "write") / rate(&synced, 1, "write");
    assert!((3.4..5.0).contains(&ratio), "500 to 120 are 4.2, and files had {ratio:.2}");
    // From the page cache neither disk is noticed.
    assert!(rate(&synced, 1, "read") > 3.0 * 120.0, "{}", rate(&synced, 1, "read"));
    let harmonic = 1.0 / (1.0 / rate(&synced, 0, "write") + 1.0 / rate(&synced, 0, "read"));
    let both = rate(&synced, 0, "write_read") / harmonic;
    assert!((0.8..1.25).contains(&both), "writing and reading at once is {both:.2} of both after each other");
    let cached = &phase(&synced, "read")["cached"];
    let share = cached["resident_bytes"].as_f64().unwrap() / cached["total_bytes"].as_f64().unwrap();
    assert!(share > 0.5, "the kernel lets go of what was written as it likes, but not of most of it: {share}");
    let findings = synced["cells"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "files-read-from-cache-read"), "{findings:?}");

    let unsynced = place.record(&format!("run fast --phases write {run}"));
    let gain = rate(&unsynced, 0, "write") / rate(&synced, 0, "write");
    assert!(gain >= 10.0, "not to sync makes it {gain:.1} times as fast");
    let codes = unsynced["cells"][0]["findings"].as_array().unwrap();
    assert!(codes.iter().any(|finding| finding["code"] == "files-not-durable"), "{codes:?}");

    // Long enough that what a throttle lets through at once does not matter.
    let run = "--file-size 10k --file-count 2500 --iterations 1";
    let cold = place.record(&format!("run fast --phases read --cache cold {run}"));
    // The kernel may keep a page that somebody holds at that moment.
    let cached = &phase(&cold, "read")["cached"];
    let share = cached["resident_bytes"].as_f64().unwrap() / cached["total_bytes"].as_f64().unwrap();
    assert!(share < 0.001, "what was dropped is not read from the cache: {share}");
    assert!(rate(&cold, 0, "read") <= 500.0 * 1.05, "{}", rate(&cold, 0, "read"));
    let warm = place.record(&format!("run fast --phases read --cache warm {run}"));
    assert!(rate(&warm, 0, "read") >= 3.0 * 500.0, "{}", rate(&warm, 0, "read"));
}
