//! `plimsoll run` on directories and files.

use std::{fs, os::unix::fs::MetadataExt, process::Command};

use serde_json::Value;

use crate::support::{Mounted, Place, Said, has, is_root, names};

const SHORT: &str = "--size 16M --duration 300ms --ramp 50ms";

fn cell(record: &Value, index: usize) -> &Value {
    &record["cells"][index]
}

#[test]
fn a_directory_is_measured_and_nothing_is_left() {
    let place = Place::new();
    let record = place.record(&format!("run DATA --rw randread --queue-depth 8 {SHORT}"));
    assert_eq!(record["schema"], "plimsoll/1");
    assert_eq!(record["outcome"], "complete");
    let cell = cell(&record, 0);
    assert_eq!(cell["kind"], "blocks");
    assert_eq!(cell["verdict"], "short");
    assert!(cell["read"]["iops"].as_f64().unwrap() > 0.0);
    assert_eq!(cell["read"]["iops_low"], Value::Null);
    assert!(cell["read"]["interval_reason"].is_string());
    assert_eq!(cell["write"], Value::Null);
    assert_eq!(cell["errors"], 0);
    let read = &cell["read"];
    assert_eq!(read["bytes"].as_u64().unwrap(), read["operations"].as_u64().unwrap() * 4096);
    assert_eq!(read["elapsed_ns"], 300_000_000);
    // The kernel counts in ticks, which on a busy machine may all have met the one or the other.
    let processor = |of: &str| cell["cpu"][of].as_f64().unwrap();
    assert!(processor("user_ns_per_operation") + processor("system_ns_per_operation") > 0.0);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn the_canonical_set_runs_without_flags() {
    let place = Place::new();
    let said = place.run("run DATA --size 32M --duration 200ms --ramp 20ms");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for word in ["latency", "iops", "throughput", "read", "write"] {
        assert!(said.stdout.contains(word), "{word} is missing in\n{}", said.stdout);
    }
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
}

#[test]
fn a_narrow_terminal_gets_a_narrow_table() {
    let place = Place::new();
    let output =
        place.command("run DATA --size 32M --duration 200ms --ramp 20ms").env("COLUMNS", "60").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
}

#[test]
fn several_targets_and_values_make_a_sweep_of_cells() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    let record =
        place.record(&format!("run DATA ROOT/other --rw randread --block-size 4k,16k --queue-depth 1,4 {SHORT}"));
    let cells = record["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        assert!(cell["read"]["operations"].as_u64().unwrap() > 0, "{cell}");
    }
    assert_eq!(names(&place.path("other")), Vec::<String>::new());
}

#[test]
fn cells_that_differ_in_one_flag_say_which() {
    let place = Place::new();
    fs::write(
        place.path("plan.toml"),
        "[defaults]\nrw = 'randwrite'\nsize = '4M'\noperations = 20\n[[workload]]\n[[workload]]\nfsync = 1\n\
         [[workload]]\nbuffered = true\n",
    )
    .unwrap();
    let record = place.record("run DATA --plan ROOT/plan.toml");
    let names: Vec<_> = record["cells"].as_array().unwrap().iter().map(|cell| cell["workload"].clone()).collect();
    let label = "randwrite 4KiB QD1";
    assert_eq!(names, [label.to_owned(), format!("{label} fsync 1"), format!("{label} buffered")]);
}

#[test]
fn the_same_seed_writes_the_same_bytes_on_every_engine() {
    let place = Place::new();
    let mut contents = Vec::new();
    for engine in ["io_uring", "libaio", "psync"] {
        let file = format!("ROOT/{engine}.dat");
        let record = place.record(&format!(
            "run {file} --engine {engine} --rw randwrite --distribution exact-once --size 4M --loops 1 --queue-depth 4 \
             --seed 7 --keep-files --payload pattern:0x5a"
        ));
        assert_eq!(cell(&record, 0)["write"]["operations"], 1024);
        assert_eq!(cell(&record, 0)["engine"], engine);
        contents.push(fs::read(place.path(&format!("{engine}.dat"))).unwrap());
    }
    assert!(contents.iter().all(|content| content.iter().all(|byte| *byte == 0x5a)));
}

#[test]
fn the_time_that_a_run_takes_is_told_before_it_begins() {
    let place = Place::new();
    let said = place.run("run DATA --rw randread --size 4M --duration 100ms --ramp 500ms");
    let first = said.stderr.lines().next().unwrap();
    assert_eq!(first, "1 cell, 600 ms: 100 ms of measuring, 500 ms of ramps; test files are written first");
    assert_eq!(place.run("run DATA --rw randread --size 4M --duration 100ms --quiet").stderr, "");
}

#[test]
fn amounts_end_a_run_exactly() {
    let place = Place::new();
    let record = place.record("run DATA --rw write --block-size 64k --size 8M --io-size 4M --queue-depth 4");
    assert_eq!(cell(&record, 0)["write"]["bytes"], 4 << 20);
    let record = place.record("run DATA --rw randrw --read-percent 70 --size 8M --operations 5000 --queue-depth 4");
    let reads = cell(&record, 0)["read"]["operations"].as_u64().unwrap();
    let writes = cell(&record, 0)["write"]["operations"].as_u64().unwrap();
    assert_eq!(reads + writes, 5000);
    assert!((3300..=3700).contains(&reads), "{reads}");
}

#[test]
fn jobs_may_share_a_file_or_have_one_each() {
    let place = Place::new();
    for files in ["shared", "per-job"] {
        let record = place.record(&format!("run DATA --rw randrw --jobs 3 --files {files} --size 8M --operations 999"));
        let plan = &cell(&record, 0)["plan"];
        assert_eq!((plan["files"].as_str(), plan["jobs"].as_u64()), (Some(files), Some(3)));
    }
}

#[test]
fn an_open_loop_says_how_it_kept_its_times() {
    let place = Place::new();
    let record = place.record("run DATA --engine memory --rw randread --rate 5k --size 8M --duration 1s --ramp 100ms");
    let findings = cell(&record, 0)["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "storage-not-touched"), "{findings:?}");
    let open_loop = &cell(&record, 0)["open_loop"];
    let intended = open_loop["intended"].as_u64().unwrap();
    assert!((4990..=5010).contains(&intended), "{open_loop}");
}

#[test]
fn workloads_find_files_as_they_asked_for_whatever_order_they_are_in() {
    let (grow, read) = ("rw = 'randwrite'\nlayout = 'empty'\n", "rw = 'randread'\n");
    for workloads in [[grow, read], [read, grow]] {
        let place = Place::new();
        let workloads: Vec<String> = workloads.iter().map(|workload| format!("[[workloads]]\n{workload}")).collect();
        let defaults = "[defaults]\nsize = '8M'\noperations = 1\n";
        fs::write(place.path("plan.toml"), format!("keep_files = true\n{defaults}{}", workloads.concat())).unwrap();
        let said = place.run("run DATA --plan ROOT/plan.toml");
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let kept = fs::read_dir(place.data()).unwrap().map(|entry| entry.unwrap().path());
        let files = kept.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).unwrap());
        let files = files.map(|entry| entry.unwrap().metadata().unwrap()).filter(|facts| facts.blocks() > 0);
        let mut bytes: Vec<u64> = files.map(|facts| facts.blocks() * 512).filter(|bytes| *bytes >= 4096).collect();
        bytes.sort_unstable();
        assert!(matches!(bytes[..], [.., few, many] if few < 4 << 20 && many >= 8 << 20), "{bytes:?}");
        assert_eq!(place.run("doctor --clean DATA").code, Some(0));
        // One file for both cannot be what each of them asked for.
        let said = place.run("run ROOT/data/one --plan ROOT/plan.toml");
        let error = said.error(2);
        assert!(error.contains("data/one\"") && error.contains("empty") && error.contains("written"), "{error}");
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_plan_file_says_what_flags_say() {
    let place = Place::new();
    fs::write(
        place.path("plan.toml"),
        format!(
            "targets = [{:?}]\nname = 'from plan'\ntags = {{ disk = 'P30' }}\n[defaults]\nsize = '8M'\noperations = 100\n\
             [[workload]]\nname = 'one'\nrw = 'randread'\n[[workload]]\nname = 'two'\nrw = 'write'\nblock_size = '64k'\n",
            place.data()
        ),
    )
    .unwrap();
    let record = place.record("run --plan ROOT/plan.toml --tag owner=me");
    assert_eq!(record["name"], "from plan");
    assert_eq!((record["tags"]["disk"].as_str(), record["tags"]["owner"].as_str()), (Some("P30"), Some("me")));
    assert_eq!(cell(&record, 0)["workload"], "one");
    assert_eq!(cell(&record, 1)["write"]["bytes"], 100 * 65536);
}

#[test]
fn rates_stand_beside_the_limit_that_was_given() {
    let place = Place::new();
    let run = "run DATA --engine memory --rw randread --rate 5k --size 8M --duration 1s --ramp 0s";
    let record = place.record(&format!("{run} --limit iops=500,burst-iops=6k,bucket=1M,bandwidth=40MB"));
    assert_eq!(record["asked"]["limit"], "iops=500,burst-iops=6000,bucket=1000000,bandwidth=40MB");
    let limit = &cell(&record, 0)["limit"];
    assert_eq!((limit["iops"].as_f64(), limit["burst_iops"].as_f64()), (Some(500.0), Some(6000.0)));
    assert_eq!((&limit["source"], &limit["hit"]), (&"given".into(), &"unknown".into()));
    fs::write(place.path("plan.toml"), "limit = 'iops=10000'\n[[workload]]\nrw = 'randread'\n").unwrap();
    let run = run.replace("--rw randread", "--plan ROOT/plan.toml");
    for (flag, share) in [("", "50 %"), ("--limit iops=20k", "25 %")] {
        let said = place.run(&format!("{run} {flag}"));
        assert!(said.stdout.contains("of limit") && said.stdout.contains(share), "{}", said.stdout);
    }
    assert!(place.run(&format!("{run} --limit fast")).error(2).contains("write it as iops=3000"));
}

#[test]
fn a_cell_for_which_there_was_no_time_says_so_beside_its_name_and_when_compared() {
    let place = Place::new();
    let run = "run DATA --rw randread --block-size 4k,8k --size 4M --duration 1s --ramp 0s";
    let whole = place.record(run);
    let said = place.run(&format!("{run} --max-time 1900ms"));
    let why = "the time given with --max-time was over before its first slot";
    assert!(said.stdout.contains(&format!("not run = {why}")), "{}", said.stdout);
    let part = place.run("show --json").json();
    assert_eq!(part["outcome"], "complete");
    let left_out: Vec<_> = part["cells"].as_array().unwrap().iter().filter(|cell| cell["rounds_done"] == 0).collect();
    assert_eq!(left_out.len(), 1, "{part}");
    assert_eq!(
        (&left_out[0]["verdict"], &left_out[0]["verdict_reason"]),
        (&Value::Null, &format!("not run: {why}").into())
    );
    let compared = place.run(&format!("compare {} {}", whole["id"], part["id"]).replace('"', ""));
    assert!(compared.stdout.contains(&format!("B not run: {why}")), "{}{}", compared.stdout, compared.stderr);
}

#[test]
fn a_run_for_which_there_was_no_time_at_all_is_refused_however_its_cells_end() {
    let place = Place::new();
    for flags in ["--duration 1s", "--operations 10"] {
        let said = place.run(&format!("run DATA --rw randread --size 4M {flags} --max-time 1us"));
        assert!(said.error(2).contains("--max-time 1us"), "{}", said.stderr);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn a_preset_shows_as_a_plan_that_runs() {
    let place = Place::new();
    let said = place.run("presets dbench");
    assert_eq!(said.code, Some(0));
    fs::write(place.path("dbench.toml"), &said.stdout).unwrap();
    let record = place.record("run DATA --plan ROOT/dbench.toml --size 16M --duration 50ms --ramp 0s --jobs 1");
    let cells = record["cells"].as_array().unwrap().len();
    assert!(cells > 3);
    let mut piped = place.command("run DATA --plan - --size 16M --duration 50ms --ramp 0s --jobs 1 --json");
    piped.stdin(fs::File::open(place.path("dbench.toml")).unwrap());
    let record = Said::of(piped.output().unwrap()).json();
    assert_eq!(record["cells"].as_array().unwrap().len(), cells);
}

#[test]
fn a_foreign_file_is_read_but_never_written() {
    let place = Place::new();
    let file = place.path("precious.dat");
    fs::write(&file, vec![7_u8; 1 << 20]).unwrap();
    let record = place.record("run ROOT/precious.dat --rw randread --operations 100");
    assert_eq!(cell(&record, 0)["read"]["operations"], 100);
    let said = place.run("run ROOT/precious.dat --rw randwrite --operations 100");
    assert!(said.error(3).contains("precious.dat"), "{}", said.stderr);
    assert_eq!(fs::read(&file).unwrap(), vec![7_u8; 1 << 20]);
}

#[test]
fn a_file_that_an_earlier_run_kept_is_said_to_be_used_again() {
    let place = Place::new();
    let first = place.record("run ROOT/kept.dat --rw randwrite --size 4M --operations 10 --keep-files");
    assert!(!cell(&first, 0)["findings"].to_string().contains("an earlier run kept"));
    let said = place.run("run ROOT/kept.dat --rw randread --operations 10");
    assert!(said.stdout.contains("that an earlier run kept"), "{}", said.stdout);
    assert!(place.path("kept.dat").exists());
}

#[test]
fn kept_files_stay_until_they_are_cleaned() {
    let place = Place::new();
    place.record("run DATA --rw randread --size 4M --operations 10 --keep-files");
    let kept = place.leftovers();
    assert_eq!(kept.len(), 1, "{kept:?}");
    // The next command leaves them alone.
    place.run("history");
    assert_eq!(place.leftovers(), kept);
    let said = place.run(&format!("doctor --clean DATA/{}", kept[0]));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("removed"), "{}", said.stdout);
    assert_eq!(place.leftovers(), Vec::<String>::new());
    place.record("run DATA --rw randread --size 4M --operations 10 --keep-files");
    let cleaned = place.run("doctor --clean DATA --json").json();
    assert_eq!(cleaned["removed"][0]["size_bytes"], 4 << 20);
    assert_eq!((cleaned["removed"].as_array().unwrap().len(), cleaned["left"].as_array().unwrap().len()), (1, 0));
}

#[test]
fn runs_are_remembered_and_shown_again() {
    let place = Place::new();
    let record = place.record("run DATA --rw randread --size 4M --operations 100 --name first");
    let id = record["id"].as_str().unwrap();
    let listed = place.run("history");
    assert!(listed.stdout.contains("first"), "{}{}", listed.stdout, listed.stderr);
    let shown = place.run(&format!("show {} --json", &id[..13]));
    assert_eq!(shown.json(), record);
    assert_eq!(place.run("run DATA --rw randread --size 4M --operations 100 --no-history").code, Some(0));
    assert_eq!(place.run("history").stdout.matches("DATA").count(), listed.stdout.matches("DATA").count());
}

#[test]
fn a_history_that_cannot_be_written_never_fails_a_run() {
    let place = Place::new();
    fs::create_dir_all(place.path("state/plimsoll")).unwrap();
    fs::write(place.path("state/plimsoll/history.db"), "this is not a database").unwrap();
    let said = place.run("run DATA --rw randread --size 4M --operations 100");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("warning: "), "{}", said.stderr);
    assert_eq!(place.run("history").code, Some(7));
}

#[test]
fn iometers_access_specifications_are_presets() {
    let place = Place::new();
    let text = "Version 1.1.0 \n'Access specification name,default assignment\n\tDatabase,DISK\n'size,% of size,% reads,% \
                random,delay,burst,align,reply\n\t8192,100,67,100,0,1,4096,0\nVersion 1.1.0 \n";
    std::fs::write(place.path("lab.icf"), text).unwrap();
    let shown = place.run("presets ROOT/lab.icf");
    assert!(
        shown.stdout.contains("block_size = \"8KiB\"") && shown.stdout.contains("name = \"Database\""),
        "{}{}",
        shown.stdout,
        shown.stderr
    );
    assert!(shown.stderr.contains("align 4096"), "{}", shown.stderr);
    let run = "run DATA --preset ROOT/lab.icf --size 1M --duration 100ms --passes 1 --engine psync --json";
    let record = place.run(run).json();
    assert_eq!(record["cells"][0]["workload"], "Database");
    assert_eq!(record["cells"][0]["plan"]["read_percent"], 67);
    let missing = place.run("run DATA --preset ROOT/none.icf");
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("there is no file"), "{}", missing.stderr);
    let all = place.run("presets iometer-file-server").stdout;
    assert!(all.contains("block_size = \"512B/10:1KiB/5:2KiB/5:4KiB/60:8KiB/2:16KiB/4:32KiB/4:64KiB/10\""), "{all}");
}

#[test]
fn a_file_system_can_be_unmounted_as_soon_as_a_run_has_ended() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::ext4(&place, 64 << 20);
    for _ in 0..3 {
        let said = place.run("run ROOT/mount --rw randwrite --size 4M --queue-depth 16 --operations 200");
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        mounted.unmount();
        mounted.mount();
    }
}

#[test]
fn subvolumes_of_one_btrfs_are_to_have_room_for_all_that_is_made_in_them() {
    if !is_root() || !has(&["mkfs.btrfs", "btrfs"]) {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::btrfs(&place, 512 << 20);
    for name in ["a", "b"] {
        let made = Command::new("btrfs").args(["subvolume", "create"]).arg(mounted.point.join(name)).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    let free = rustix::fs::statvfs(&mounted.point).unwrap();
    let size = ((free.f_bavail * free.f_frsize) >> 20) / 3 * 2;
    let work = format!("--rw randwrite --size {size}M --operations 1 --no-history");
    let said = place.run(&format!("run ROOT/mount/a ROOT/mount/b {work}"));
    assert!(said.error(3).contains(&format!("{}MiB needed", 2 * size)), "{}", said.stderr);
    let said = place.run(&format!("run ROOT/mount/a {work}"));
    assert_eq!(said.code, Some(0), "there is room for one: {}", said.stderr);
}
