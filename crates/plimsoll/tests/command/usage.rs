//! Bad input: one clear sentence, the right exit code, and nothing touched.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt as _, symlink},
    },
    process::Command,
};

use serde_json::{Value, json};

use crate::support::{Mounted, Place, Said, is_root, names, skip};

#[test]
fn wrong_paths_are_named() {
    let place = Place::new();
    let said = place.run("run ROOT/absent/deep");
    assert!(said.error(3).contains("absent"), "{}", said.stderr);
    for path in ["/dev/absent", "/absent", "/mnt/absent"] {
        // A missing device or mount is not a place to make a file in.
        let said = place.run(&format!("run {path} --rw randread"));
        assert!(said.error(3).contains(path), "{}", said.stderr);
    }
    let said = place.run("run /dev/null --rw randread");
    assert!(said.error(3).contains("/dev/null"), "{}", said.stderr);
    for (path, word) in [("/proc", "procfs"), ("/proc/version", "procfs"), ("/sys", "sysfs"), ("/sys/kernel", "sysfs")]
    {
        let said = place.run(&format!("run {path} --rw randread"));
        assert!(said.error(3).contains(word), "{}", said.stderr);
    }
    symlink("circle", place.path("circle")).unwrap();
    for path in ["ROOT/circle", "ROOT/circle/in"] {
        let said = place.run(&format!("run {path} --rw randread"));
        assert!(said.error(3).contains("symbolic links in a circle"), "{}", said.stderr);
        assert!(!said.stderr.contains("os error"), "{}", said.stderr);
    }
}

#[test]
fn a_value_without_its_sign_is_not_taken_for_a_file_to_make() {
    let place = Place::new();
    for flags in ["--sync dsync", "--buffered false"] {
        let said = place.run(&format!("run DATA --rw write --size 4M --operations 10 {flags}"));
        assert!(said.error(3).contains("write --sync=dsync or --buffered=false with \"=\""), "{}", said.stderr);
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn no_history_and_a_history_contradict_each_other_wherever_they_stand() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --operations 10";
    for line in [
        format!("--no-history {run} --history ROOT/other.db"),
        format!("--history ROOT/other.db {run} --no-history"),
        format!("{run} --history ROOT/other.db --no-history"),
    ] {
        let said = place.run(&line);
        assert!(said.error(2).contains("--no-history"), "{line}: {}", said.stderr);
        assert!(!place.path("other.db").exists(), "{line}");
    }
}

#[test]
fn a_plan_to_be_shown_contradicts_quiet_wherever_that_stands() {
    let place = Place::new();
    for line in ["-q run DATA -v", "run DATA -q -v", "run -v DATA --quiet", "-q run DATA --dashboard"] {
        let said = place.run(&format!("{line} --rw randread --size 4M --operations 10"));
        assert!(said.error(2).contains("cannot be used with"), "{line}: {}", said.stderr);
    }
}

#[test]
fn what_workloads_of_a_plan_have_in_common_does_not_change_what_presets_measure() {
    let place = Place::new();
    for (said, preset) in [("rw = 'write'", "presets = ['latency']\n"), ("phases = 'write'", ""), ("command = 'x'", "")]
    {
        fs::write(place.path("plan.toml"), format!("{preset}[defaults]\nsize = '4M'\n{said}\n")).unwrap();
        let flags = if preset.is_empty() { "--preset latency" } else { "" };
        let refused = place.run(&format!("run DATA --plan ROOT/plan.toml --effort quick {flags}"));
        assert!(refused.error(2).contains("in [defaults] would make every workload of a preset"), "{}", refused.stderr);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn files_of_each_job_need_a_directory() {
    let place = Place::new();
    fs::write(place.path("file"), vec![0; 1 << 20]).unwrap();
    let flags = "--rw randread --jobs 2 --files per-job --operations 10 --size 1M --engine memory";
    assert!(place.run(&format!("run ROOT/file {flags}")).error(2).contains("--files per-job makes files"));
    assert_eq!(place.run(&format!("run ROOT/file DATA {flags}")).code, Some(0));
}

#[test]
fn a_slip_of_the_pen_is_not_measured() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "[defaults]\nsize = '4M'\noperations = 10\n").unwrap();
    for flags in ["--rw randread --operations 10", "--preset latency --effort quick", "--offset 1M --rw randwrite"] {
        let said = place.run(&format!("run ROOT/data/typo {flags}"));
        let error = said.error(3);
        assert!(error.contains("does not exist: check the spelling") && error.contains("--size"), "{error}");
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
    let said = place.run("run ROOT/data/meant --rw randread --size 4M --operations 10");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("meant: new file on "), "{}", said.stdout);
    let record = place.record("run ROOT/data/meant --rw randread --plan ROOT/plan.toml");
    assert_eq!(record["cells"][0]["plan"]["size_bytes"], 4 << 20);
}

#[test]
fn a_file_that_is_still_to_be_made_is_no_second_target_under_another_name() {
    let place = Place::new();
    symlink("data", place.path("link")).unwrap();
    for (first, second) in [("data/new", "./data/new"), ("ROOT/data/new", "data/new"), ("data/new", "link/../data/new")]
    {
        let said = place.run(&format!("run {first} {second} --rw randwrite --verify --size 4M --operations 10"));
        assert!(said.error(2).contains("is given twice"), "{first} {second}: {}", said.stderr);
    }
    let said = place.run("run new ./new --rw randwrite --size 4M --operations 10");
    assert!(said.error(2).contains("target ./new is given twice"), "{}", said.stderr);
    assert!(place.leftovers().is_empty() && !place.path("new").exists());
    // A link leads to the directory of the same file; another name in it is another file.
    let said = place.run("run data/new link/new --rw randwrite --size 4M --operations 10");
    assert!(said.error(2).contains("is given twice"), "{}", said.stderr);
    let said = place.run("run data/new link/other --rw randwrite --size 4M --operations 10");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn a_path_that_is_no_text_is_refused_and_not_replaced() {
    let place = Place::new();
    let odd = OsStr::from_bytes(b"data/od\xff");
    fs::create_dir(place.path("").join(odd)).unwrap();
    let run = |flags: &[&OsStr]| Said::of(place.command("run --rw randread").args(flags).output().unwrap());
    for said in [run(&[odd]), run(&["data".as_ref(), "--destroy".as_ref(), odd])] {
        let error = said.error(2);
        assert!(error.contains(r"od\xFF") && error.contains("not valid UTF-8"), "{error}");
    }
    assert_eq!(fs::read_dir(place.data()).unwrap().count(), 1);
}

#[test]
fn a_run_without_a_target_says_what_to_name() {
    let said = Place::new().run("run");
    assert!(said.error(2).contains("no target"), "{}", said.stderr);
}

#[test]
fn contradictions_are_bad_usage() {
    let place = Place::new();
    for (flags, word) in [
        ("--rw randread --read-percent 50", "randrw"),
        ("--rw read --distribution zipf", "randread"),
        ("--rw randread --arrival poisson", "--rate"),
        ("--rw randread --rate 100 --think-time 1ms", "--think-time"),
        ("--rw randread --jobs 0", "--jobs"),
        ("--rw randread --queue-depth 100000", "--queue-depth"),
        ("--rw randwrite --verify --payload zero", "--verify"),
        ("--preset nonsense", "canonical"),
        ("--preset iops --rw randread", "--rw"),
        ("--rw randread --rate-per job", "--rate"),
        ("--rw randread --engine psync --iopoll", "io_uring"),
        (
            "--rw randread --file-count 10000 --size 1M",
            "--size 1024KiB among 10000 files is less than one block of 4KiB",
        ),
        ("--rw randread --size 1k", "1KiB is smaller than one block of 4KiB"),
        ("--rw randread --io-size 1", "--io-size 1B is smaller than one block of 4096B"),
        ("--rw randread --batch 0", "--batch"),
        ("--rw randread --pin 60000", "60000"),
        ("--rw randread --destroy /dev/null", "/dev/null"),
        ("ROOT/data/. --rw randread", "twice"),
        ("--rw randread --queue-depth 1-4", "whole number"),
        ("--rw randread --block-size 4k,8k,4096", "4KiB"),
        ("--rw randread --jobs 2,2", "twice"),
        ("--preset iops,latency,iops", "twice"),
        ("--rw randread --duration 10s --precision 2%", "--precision"),
        ("--rw randread --phase 1", "--duration"),
        ("--rw randread --tag a=b --tag a=c", "--tag a stands there twice"),
        ("--rw randread --name latest", "choose another name"),
        ("--phases write --iterations 20 --passes 3", "--passes and --iterations contradict each other"),
        ("--engine filecreate --ramp 1s", "leave --ramp out"),
        ("--rw randwrite --verify --distribution uniform", "--distribution exact-once"),
        ("--phases create,delete --verify", "nothing would be checked"),
        ("--rw randread --destroy DATA", "names no device of this run"),
        ("--rw randread --provisioned-iops 5000", "--provisioned-iops says nothing without --sku"),
        ("--rw randread --limit iops=300 --disks 4", "--disks says nothing without --sku"),
        ("--rw randread --sku P10 --vm-share 2", "--vm-share says nothing without --vm"),
        ("--rw randread --sku nosuch --limit iops=300", "no product \"nosuch\""),
        ("--command true --sku nosuch", "no product \"nosuch\""),
        ("--command true --vm nosuch", "no machine size \"nosuch\""),
        ("--rw randread --sku gp2 --disk-size 1Ti --tier Nonsense", "no performance tiers"),
        ("--rw randread --sku gp3 --disk-size 1Ti --on-demand-bursting", "does not burst on demand"),
        ("--rw randread --fsync 1", "--fsync is about writes, and nothing writes"),
        ("--rw write --block-size 4k,64k --write-block-size 8k", "--block-size is of reads"),
        ("--preset latency --batch 8", "--batch 8 needs a --queue-depth"),
        ("--rw read --size 8M --stride 8M", "--stride 8MiB leaves"),
        ("--rw read --block-size 64k --size 8M --stride 8188k", "a single block in the 8MiB"),
        ("--rw read --block-size 1M --size 11M --jobs 4 --stride 2M", "a single block in the 2MiB"),
        ("--rw read --size 8M --jobs 4 --stride 2M", "a single block in the 2MiB that a job has"),
    ] {
        let said = place.run(&format!("run DATA {flags}"));
        assert_eq!(said.code, Some(2), "{flags}: {}", said.stderr);
        assert!(said.stderr.contains(word), "{flags}: {}", said.stderr);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

#[test]
fn what_workloads_of_a_plan_say_is_looked_at_as_flags_and_the_target_leave_it() {
    let place = Place::new();
    for (plan, flags, refused) in [
        ("batch = 4\nqueue_depth = 4", "", None),
        ("batch = 4\nqueue_depth = 4", "--batch 2 --queue-depth 2", None),
        ("batch = 4\nqueue_depth = 4", "--queue-depth 2", Some("--batch 4 needs a --queue-depth")),
        ("stride = '1M'", "", Some("--stride 1MiB leaves")),
        ("stride = '64k'\n[defaults]\nstride = '1M'", "", None),
    ] {
        let plan = format!("[[workload]]\nrw = 'read'\noperations = 20\n{plan}\n");
        fs::write(place.path("plan.toml"), plan).unwrap();
        let said = place.run(&format!("run DATA --plan ROOT/plan.toml --size 1M --no-history {flags}"));
        match refused {
            None => assert_eq!(said.code, Some(0), "{}", said.stderr),
            Some(words) => assert!(said.error(2).contains(words), "{}", said.stderr),
        }
    }
}

#[test]
fn values_that_cannot_be_read_say_how_to_write_them() {
    let place = Place::new();
    for (flags, word) in [
        ("--duration 10", "10s"),
        ("--duration -1s", "\"-1s\" is not a duration"),
        ("--ramp -1s", "\"-1s\" is not a duration"),
        ("--size -1", "\"-1\" is not a size"),
        ("--size -5%", "\"-5%\" is not a percentage"),
        ("--rate -5", "\"-5\" is not a rate"),
        ("--queue-depth -1", "\"-1\" is not a whole number"),
        ("--operations -1", "\"-1\" is not a whole number"),
        ("--batch 99999999999", "\"99999999999\" is not a whole number"),
        ("--block-size 0", "\"0\" is not a block size: it must be above zero"),
        ("--block-size 4k,0", "\"0\" is not a block size: it must be above zero"),
        ("--block-size 4k-6k", "\"4k-6k\" is not a range of block sizes"),
        ("--block-size -4k", "\"-4k\" is not a size"),
        ("--duration --rw", "\"--rw\" is not a duration"),
        ("--block-size 4q", "4k"),
        ("--rate fast", "5000"),
        ("--rw random", "randread"),
        ("--tag x", "KEY=VALUE"),
        ("--distribution zip", "zipf"),
    ] {
        let said = place.run(&format!("run DATA {flags}"));
        assert_eq!(said.code, Some(2));
        assert!(said.stderr.contains(word), "{flags}: {}", said.stderr);
    }
}

#[test]
fn a_plan_that_cannot_be_read_names_the_place() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "[[workload]]\nblocksize = '4k'\n").unwrap();
    let said = place.run("run DATA --plan ROOT/plan.toml");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("blocksize") && said.stderr.contains("line 2"), "{}", said.stderr);
    assert_eq!(place.run("run DATA --plan ROOT/absent.toml").code, Some(2));
}

#[test]
fn a_target_that_no_workload_of_a_plan_is_for_is_refused() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    let plan =
        format!("targets = ['{0}']\n[[workload]]\nrw = 'randread'\ntarget = '{0}'\n", place.path("other").display());
    fs::write(place.path("plan.toml"), plan).unwrap();
    let said = place.run("run DATA --plan ROOT/plan.toml --size 1M --operations 1");
    assert!(said.error(2).contains("nothing would be measured on "), "{}", said.stderr);
    let said = place.run("run --plan ROOT/plan.toml --size 1M --operations 1");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn a_full_disk_is_refused_before_anything_is_written() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::ext4(&place, 32 << 20);
    let said = place.run("run ROOT/mount --rw randread --size 1G");
    assert!(said.error(3).contains("--size"), "{}", said.stderr);
    assert_eq!(names(&mounted.point), ["lost+found"]);
}

#[test]
fn a_missing_mount_is_noticed_when_asked_for() {
    let place = Place::new();
    let said = place.run("run /tmp --rw randread --expect-mount --operations 1");
    if said.code == Some(0) {
        skip("/tmp is a mount of its own here");
        return;
    }
    assert!(said.error(3).contains("root file system"), "{}", said.stderr);
}

/// Runs as this user, below a directory of its own and with what the shell sets before.
fn run_as(user: u32, before: &str, arguments: &str) -> Said {
    // The build directory itself may be closed to others.
    let open = tempfile::tempdir().unwrap();
    // By a process of its own: one that another test starts meanwhile would have the file open for writing.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_plimsoll")).arg(open.path().join("plimsoll")).status();
    assert!(copied.unwrap().success());
    fs::create_dir(open.path().join("data")).unwrap();
    for (name, mode) in [("", 0o755), ("data", 0o777)] {
        fs::set_permissions(open.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let run = format!("{before} exec setpriv --reuid={user} --regid={user} --clear-groups ./plimsoll {arguments}");
    Said::of(Command::new("sh").args(["-c", &run]).env_clear().current_dir(open.path()).output().unwrap())
}

#[test]
fn a_directory_without_permission_is_named() {
    if !is_root() {
        return;
    }
    let said = run_as(65534, "", "run /etc --rw randread --no-history");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.stderr.contains("/etc"), "{}", said.stderr);
}

/// The record of a user who may lock so many KiB. No two tests have the same, as what one locks counts for all.
fn record_within(user: u32, locked_kib: u32, flags: &str) -> Option<Value> {
    let run = format!("run data --rw randread --size 4M {flags} --passes 3 --no-history --json");
    is_root().then(|| {
        let said = run_as(user, &format!("ulimit -l {locked_kib};"), &run);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said.json()
    })
}

#[test]
fn queues_that_do_not_fit_the_locked_memory_limit_have_another_engine_and_the_record_says_why() {
    let Some(record) = record_within(65533, 64, "--operations 2000 --queue-depth 32,1000") else { return };
    let [shallow, deep] = record["cells"].as_array().unwrap().as_slice() else { panic!("{record}") };
    assert_eq!((&shallow["engine"], &deep["engine"]), (&json!("io_uring"), &json!("libaio")));
    let reason = deep["engine_reason"].as_str().unwrap();
    assert!(reason.contains("RLIMIT_MEMLOCK of 65536 bytes"), "{reason}");
}

#[test]
fn registered_buffers_leave_room_for_the_queues_of_all_jobs() {
    // Rings of two pages each, and a page of buffers that fits for half of them.
    let Some(record) = record_within(65532, 640, "--operations 6400 --jobs 64") else { return };
    assert_eq!(record["cells"][0]["engine"], "io_uring", "{}", record["cells"][0]["engine_reason"]);
}

#[test]
fn the_answer_survives_a_reader_that_goes_away() {
    let place = Place::new();
    let mut child = place.command("presets canonical").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn completions_and_doctor_answer() {
    let place = Place::new();
    assert!(place.run("completions bash").stdout.contains("plimsoll"));
    let said = place.run("doctor --json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(place.run("doctor").stdout.contains("io_uring"));
    let diagnosis = said.json();
    assert!(diagnosis["tool"]["version"].is_string());
    assert_eq!(diagnosis["engines"]["psync"], json!({ "usable": true, "reason": null }));
    assert!(diagnosis["io_uring_features"]["iopoll"].is_boolean());
    assert!(diagnosis["environment"]["clock_cost_ns"].as_f64().unwrap() > 0.0);
    assert!(diagnosis["environment"]["machine"]["processors_online"].as_u64().unwrap() > 0);
    let limits = &diagnosis["environment"]["limits"];
    assert!(limits["memlock_bytes"].is_null() || limits["memlock_bytes"].is_u64(), "{limits}");
    assert_eq!(diagnosis["history"], place.path("state/plimsoll/history.db").to_str().unwrap());
    assert!(diagnosis["advice"].as_array().unwrap().iter().all(|advice| advice["about"].is_string()));
}

#[test]
fn help_is_in_groups_and_short_help_is_short() {
    let place = Place::new();
    let (long, short) = (place.run("run --help").stdout, place.run("run -h").stdout);
    let headings = [
        "Workload:",
        "Sets of files, and applications:",
        "Timing:",
        "Engine:",
        "Target and safety:",
        "Output and history:",
    ];
    for help in [&long, &short] {
        let places: Vec<_> = headings.iter().map(|heading| help.find(&format!("\n{heading}\n"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{help}");
        assert!(help.contains("--plan <FILE>") && help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    assert!(short.lines().count() <= 62 && short.contains("--help"), "{short}");
    assert!(long.contains("--distribution") && !short.contains("--distribution"));
    for effort in ["quick", "standard", "thorough"] {
        let line = long.lines().find(|line| line.contains(&format!("- {effort}:"))).unwrap();
        assert!(line.contains(" for each cell"), "{line}");
    }
}

#[test]
fn a_name_that_shows_nothing_is_refused() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "name = ' '\n[[workload]]\nrw = 'randread'\n").unwrap();
    for command in [
        "run DATA --rw randread --size 4M --operations 10 --name=",
        "run DATA --size 4M --operations 10 --plan ROOT/plan.toml",
        "kubernetes lifecycle --storage-class x --name=",
        "import ROOT/plan.toml --name=",
    ] {
        let said = place.run(command);
        assert!(said.error(2).contains("is blank"), "{command}: {}", said.stderr);
    }
    assert!(place.run("import ROOT/plan.toml --name latest").error(2).contains("choose another name"));
}

#[test]
fn escape_sequences_in_names_and_paths_are_shown_and_not_obeyed() {
    let place = Place::new();
    let run = "run DATA --rw randread --size 4M --operations 10";
    for flags in ["--name a\u{1b}[2Jb", "--tag a\u{7}=b", "--tag a=b\u{9b}"] {
        assert!(place.run(&format!("{run} {flags}")).error(2).contains("control character"));
    }
    let evil = "da\u{1b}[31mta";
    fs::create_dir(place.path(evil)).unwrap();
    let measured = place.run(&format!("run {evil} --rw randread --size 4M --operations 10 --verbose"));
    let missing = place.run(&format!("run {evil}/absent/{evil} --rw randread"));
    let said = [measured, place.run("history"), place.run("show"), missing];
    for Said { stdout, stderr, .. } in said {
        let all = stdout + &stderr;
        assert!(all.contains(r"da\u{1b}[31mta"), "{all:?}");
        assert!(all.chars().all(|character| character == '\n' || !character.is_control()), "{all:?}");
    }
}

#[test]
fn a_directory_that_is_missing_is_to_be_made_where_files_or_commands_work_in_it() {
    let place = Place::new();
    for work in [&["--command", "true"][..], &["--phases", "write"]] {
        let mut command = place.command("run ROOT/absent");
        let said = Said::of(command.args(work).output().unwrap());
        assert!(said.error(3).contains("check the spelling, or make the directory"), "{}", said.stderr);
    }
    assert!(!place.path("absent").exists());
}

#[test]
fn what_is_said_of_the_history_in_front_of_another_programs_name_holds() {
    let place = Place::new();
    fs::write(place.data().join("diskspd"), vec![0; 4 << 20]).unwrap();
    let fio = "fio --name=job --directory=DATA --rw=write --size=1M --output=ROOT/told";
    let diskspd = "diskspd -d1 -W0 -Su DATA/diskspd";
    let runs = |flags: &str| place.run(&format!("history --json {flags}")).json().as_array().unwrap().len();
    for (count, line) in (1..).zip([fio, diskspd]) {
        let said = place.run(&format!("--no-history {line}"));
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{line}");
        let said = place.run(&format!("--history ROOT/other.db {line}"));
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{line}");
        assert_eq!((runs(""), runs("--history ROOT/other.db")), (0, count), "{line}");
    }
    assert!(!fs::read_to_string(place.path("told")).unwrap().contains("cannot be written"));
    let said = place.run(&format!("--no-history {diskspd} --history ROOT/mine.db"));
    assert_eq!((said.code, runs("--history ROOT/mine.db")), (Some(0), 1), "what is nearer holds: {}", said.stderr);
}

#[test]
fn a_path_that_cannot_be_cleaned_takes_nothing_from_what_is_told_of_others() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    for directory in ["DATA", "ROOT/other"] {
        let said = place.run(&format!("run {directory} --rw randread --size 4M --operations 10 --keep-files"));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
    let said = place.run("doctor --clean DATA ROOT/absent ROOT/other");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert_eq!(said.stdout.matches("removed ").count(), 2, "{}", said.stdout);
    assert!(said.stderr.starts_with("error: ") && said.stderr.contains("absent"), "{}", said.stderr);
    assert!(place.leftovers().is_empty() && names(&place.path("other")).is_empty());
    assert!(place.run("doctor --clean ROOT/absent").error(3).contains("absent"));
}
