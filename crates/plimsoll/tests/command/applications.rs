//! Applications: what is told of commands that are timed, and that nothing of them stays.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    interruption::interruption,
    support::{Mounted, Place, Said, comes_true, is_root, names, skip},
};

/// A directory to measure, and one for what is not measured, with a path that is short enough for sockets.
pub(crate) struct Desk {
    pub(crate) place: Place,
    pub(crate) elsewhere: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self { place: Place::new(), elsewhere: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command("run");
        let data = self.place.data();
        let words = arguments.iter().map(|word| if *word == "DATA" { data.to_str().unwrap() } else { word });
        command.args(words).env("TMPDIR", self.elsewhere.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub(crate) fn record(&self) -> Value {
        self.place.run("show latest --json").json()
    }

    /// Nothing of a run is where it worked, but for what was there before.
    pub(crate) fn assert_only(&self, theirs: &[&str]) {
        assert_eq!(self.place.leftovers(), theirs);
        assert_eq!(names(self.elsewhere.path()), Vec::<String>::new());
    }
}

pub(crate) fn iterations(cell: &Value) -> &Vec<Value> {
    cell["application"]["iterations"].as_array().unwrap()
}

#[test]
fn targets_take_turns_and_each_iteration_is_told() {
    let desk = Desk::new();
    fs::create_dir(desk.place.path("other")).unwrap();
    let said = desk.run(&[
        "DATA",
        "other",
        "--command",
        // So long that there are 20 looks on any machine.
        "sleep 2; echo \"rows $ITERATION /s\" > $FIGURES",
        "--iterations",
        "4",
        "--warmup",
        "1",
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for word in ["warm-up 1", "median", "mean, 95 %", "rows/s", "waiting"] {
        assert!(said.stdout.contains(word), "{word} is missing:\n{}", said.stdout);
    }
    let record = desk.record();
    let cells = record["cells"].as_array().unwrap();
    let began =
        |cell: usize| iterations(&cells[cell]).iter().map(|of| of["from_ns"].as_u64().unwrap()).collect::<Vec<_>>();
    let (ours, theirs) = (began(0), began(1));
    assert_eq!((ours.len(), theirs.len()), (5, 5));
    // Between two of one target there is one of the other, in whichever order they are.
    for (ours, theirs) in ours.windows(2).zip(theirs.windows(2)) {
        assert!(ours[0].max(theirs[0]) < ours[1].min(theirs[1]), "{ours:?} {theirs:?}");
    }
    for cell in cells {
        assert_eq!((&cell["kind"], &cell["application"]["bound_by"]), (&"application".into(), &"waiting".into()));
        let counted = iterations(cell).iter().filter(|of| of["counted"] == true).count();
        assert_eq!((counted, &cell["application"]["elapsed_ns"]["count"]), (4, &4.into()));
        let mean = cell["application"]["rate"]["spread"]["mean"].as_f64().unwrap();
        assert!((mean - 3.5).abs() < 1e-9, "the warm-up does not count: {mean}");
    }
    desk.assert_only(&[]);
}

#[test]
fn side_by_side_each_target_has_processors_of_its_own_and_the_others_next() {
    let desk = Desk::new();
    if thread::available_parallelism().unwrap().get() < 2 {
        return skip("two targets at the same time need two processors");
    }
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let memory_name = memory.path().to_str().unwrap();
    // Neither ends before the other has begun.
    let command = "touch $DATASET/$ITERATION-$$; until [ $(ls $DATASET | grep -c ^$ITERATION-) = 2 ]; do sleep 0.01; \
                   done; all=$(grep ^Cpus_allowed: /proc/self/status | tr -s ':,\t' ' '); \
                   echo mask $((0x${all##* })) > $FIGURES; kill -0 $(cat $RUN_DIR/server)";
    let setup = "sleep 600 & echo $! > $RUN_DIR/server";
    let prepare = "grep ^Cpus_allowed: /proc/$(cat $RUN_DIR/server)/status";
    // What the server may use when the command runs is what the command may.
    let verify =
        "diff <(grep ^Cpus_allowed: /proc/self/status) <(grep ^Cpus_allowed: /proc/$(cat $RUN_DIR/server)/status)";
    let verify = format!("bash -c '{verify}'");
    let said = desk.run(&[
        "DATA",
        memory_name,
        "--parallel",
        "--command",
        command,
        "--setup",
        setup,
        "--prepare",
        prepare,
        "--verify-command",
        &verify,
        "--iterations",
        "2",
        "--settle",
        "0",
        "--timeout",
        "1m",
    ]);
    assert_eq!(said.code, Some(0), "{}{}", said.stderr, said.stdout);
    assert!(said.stdout.contains("measured at the same time in one run"), "{}", said.stdout);
    let record = desk.record();
    let [ours, theirs] = [0, 1].map(|cell| iterations(&record["cells"][cell]).clone());
    let number = |of: &Value, what: &str| of[what].as_u64().unwrap();
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let apart_ns = number(ours, "from_ns").abs_diff(number(theirs, "from_ns"));
        assert!(apart_ns < number(ours, "elapsed_ns"), "they overlap: {apart_ns}");
        assert_ne!(ours["cpus"], theirs["cpus"]);
    }
    assert_eq!((&ours[0]["cpus"], &ours[1]["cpus"]), (&theirs[1]["cpus"], &theirs[0]["cpus"]), "they swap");
    for iteration in ours.iter().chain(&theirs).filter(|_| cfg!(target_endian = "little")) {
        let cpus = iteration["cpus"].as_array().unwrap().iter().map(|cpu| cpu.as_u64().unwrap());
        let mask: u64 = cpus.filter(|cpu| *cpu < 32).map(|cpu| 1 << cpu).sum();
        assert_eq!(iteration["figures"][0]["value"].as_f64(), Some(mask as f64));
    }
    // One that ends leaves the others alone.
    let verify = "case $TARGET_DIR in /dev/shm*) exit 1;; esac";
    let alone = ["--parallel", "--command", "sleep 0.1", "--verify-command", verify];
    let alone = [&alone[..], &["--iterations", "4", "--settle", "0"]].concat();
    let said = desk.run(&[&["DATA", memory_name], alone.as_slice()].concat());
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.code == Some(5) && text.contains("at the same time until another ended"), "{}", said.stdout);
    // What both would share tells nothing of either.
    fs::create_dir(desk.place.path("other")).unwrap();
    let refused = desk.run(&["DATA", "other", "--parallel", "--command", "true"]);
    assert!(refused.error(2).contains("on the same disk"), "{}", refused.stderr);
    desk.assert_only(&[]);
    assert_eq!(names(memory.path()), Vec::<String>::new());
}

#[test]
fn a_command_beside_a_preset_is_one_more_workload_and_flags_are_for_those_that_have_them() {
    let desk = Desk::new();
    let blocks = ["--preset", "latency", "--size", "1M", "--duration", "50ms", "--queue-depth", "2"];
    let command = ["--command", "sleep 0.01", "--iterations", "2", "--settle", "0"];
    let said = desk.run(&[&["DATA"], blocks.as_slice(), command.as_slice()].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stderr, said.stdout);
    let record = desk.record();
    let [blocks @ .., application] = record["cells"].as_array().unwrap().as_slice() else { panic!("no cells") };
    assert!(!blocks.is_empty() && blocks.iter().all(|cell| cell["plan"]["queue_depth"] == 2));
    assert_eq!(iterations(application).len(), 2);
    let refused = desk.run(&["DATA", "--preset", "latency", "--iterations", "2"]);
    assert!(refused.error(2).contains("--iterations is about --phases and --command: say --passes"));
}

#[test]
fn an_iteration_that_is_not_verified_does_not_count() {
    let desk = Desk::new();
    let verify = "echo 'rows are missing' >&2; [ $ITERATION != 2 ]";
    let arguments =
        ["DATA", "--command", "sleep 0.01", "--verify-command", verify, "--iterations", "4", "--keep-going"];
    let said = desk.run(&arguments);
    assert_eq!(said.code, Some(5), "{}", said.stdout);
    assert!(said.stdout.contains("verify failed (exit status 1): rows are missing"), "{}", said.stdout);
    let told = desk.record();
    let all = iterations(&told["cells"][0]);
    assert_eq!((all.len(), &told["cells"][0]["application"]["elapsed_ns"]["count"]), (4, &3.into()));
    assert_eq!((&all[1]["counted"], &all[1]["output"]), (&false.into(), &"rows are missing".into()));
    let rows = desk.place.run("export latest --format iterations").stdout;
    let rows: Vec<&str> = rows.lines().collect();
    assert!(rows.len() == 5 && rows[0].contains("\"real_s\",\"user_s\",\"sys_s\""), "{rows:?}");
    assert!(rows[2].contains("\"2\",\"false\",\"verify failed (exit status 1): rows are missing\""), "{rows:?}");
    // Without that flag nothing follows.
    let said = desk.run(&arguments[..7]);
    assert_eq!((said.code, iterations(&desk.record()["cells"][0]).len()), (Some(5), 2), "{}", said.stdout);
    desk.assert_only(&[]);
}

#[test]
fn a_user_whom_nobody_knows_is_refused_before_anything_is_made() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let beside = "[[workload]]\nrw = 'randread'\nsize = '4M'\noperations = 10\n";
    let command = "[[workload]]\ncommand = 'true'\nuser = 'nosuch'\niterations = 1\n";
    fs::write(place.path("plan.toml"), format!("{beside}{command}")).unwrap();
    for asked in ["--command true --user nosuch", "--plan ROOT/plan.toml"] {
        let said = place.run(&format!("run DATA {asked}"));
        assert!(said.error(2).contains("--user nosuch: there is no such user"), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "nothing was announced: {}", said.stderr);
        assert_eq!(place.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn each_user_has_directories_of_its_own() {
    if !is_root() {
        return skip("only root lends rights to others");
    }
    let desk = Desk::new();
    for path in [&desk.place.path(""), desk.elsewhere.path(), &desk.place.data()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let workload = |user: &str| {
        let owns = "for of in . $RUN_DIR $DATASET; do [ $(stat -c %u $of) = $(id -u) ] || exit 1; done; touch $DATASET/x; [ -z \"$TOKEN\" ]";
        format!("[[workload]]\nname = '{user}'\ncommand = '{owns}'\nuser = '{user}'\niterations = 1\n")
    };
    let plan = format!("targets = ['data']\n{}{}", workload("nobody"), workload("daemon"));
    fs::write(desk.place.path("plan.toml"), plan).unwrap();
    // And nothing of what the environment keeps for root alone.
    let said = Said::of(desk.command(&["--plan", "plan.toml"]).env("TOKEN", "secret").output().unwrap());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    desk.assert_only(&[]);
}

#[test]
fn what_is_missing_is_one_sentence_and_nothing_begins() {
    let desk = Desk::new();
    let setup = "command -v no-such-server || { echo 'no-such-server is missing: install the package it'; exit 127; }";
    let said = desk.run(&["DATA", "--command", "touch began", "--setup", setup]);
    let error = said.error(5);
    assert!(
        error.ends_with("setup failed (exit status 127): no-such-server is missing: install the package it"),
        "{error}"
    );
    desk.assert_only(&[]);
    for (arguments, problem) in [
        (["DATA", "--command", " "], "--command is empty"),
        (["DATA", "--conclude", "true"], "--conclude is about an application"),
        (["FILE", "--command", "true"], "needs a directory"),
    ] {
        fs::write(desk.place.path("FILE"), "theirs").unwrap();
        let arguments = arguments.map(|word| if word == "FILE" { "FILE" } else { word });
        let said = desk.run(&arguments);
        assert!(said.stderr.contains(problem) && said.code != Some(0), "{}", said.stderr);
    }
}

/// The processes that have the id of a run in their environment, or are what a test started.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Waits until a file has what was written to it.
fn content(path: &Path) -> String {
    let mut text = String::new();
    let is_written = comes_true(|| {
        text = fs::read_to_string(path).unwrap_or_default();
        text.ends_with('\n')
    });
    assert!(is_written, "{path:?} was never written");
    text
}

#[test]
fn ctrl_c_and_kill_9_in_any_stage_leave_no_process_and_no_file() {
    for stage in ["setup", "ready", "prepare", "command", "verify-command", "conclude"] {
        for signal in [Signal::KILL, interruption()] {
            interrupted(stage, signal);
        }
    }
}

/// Ends a run while a stage of it hangs, beside a server that has left its session and does not listen.
fn interrupted(stage: &str, signal: Signal) {
    let desk = Desk::new();
    fs::write(desk.place.data().join("f1"), "theirs").unwrap();
    let notes = desk.place.path("notes");
    fs::create_dir(&notes).unwrap();
    let (server, hung) = (notes.join("server"), notes.join("hung"));
    let setup = format!("mkdir data; : >data/table; setsid perl -e '{}' &", server_script(&server));
    let hang = format!("echo $$ > {}; sleep 600", hung.display());
    let mut arguments = vec!["DATA".to_owned()];
    let stages = ["setup", "ready", "prepare", "command", "verify-command", "conclude"];
    for name in stages {
        let text = match name {
            "setup" if name == stage => format!("{setup} {hang}"),
            "setup" => setup.clone(),
            name if name == stage => hang.clone(),
            _ => "true".to_owned(),
        };
        arguments.extend([format!("--{name}"), text]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = desk.start(&arguments);
    let processes = [content(&server), content(&hung)];
    kill_process(Pid::from_child(&child), signal).unwrap();
    let status = child.wait().unwrap();
    if signal == Signal::KILL {
        // The guardian ends them at once; the next command removes what they had.
        let have_ended = comes_true(|| !processes.iter().any(|process| lives(process)));
        assert!(have_ended, "{stage}: {processes:?} live after {signal:?}");
        desk.place.run("history");
    } else {
        assert_eq!(status.code(), Some(130), "{stage}");
    }
    assert!(!processes.iter().any(|process| lives(process)), "{stage}: {processes:?} live after {signal:?}");
    desk.assert_only(&["f1"]);
}

/// A server that does not listen, and writes over its environment as those do that have a title.
fn server_script(number: &Path) -> String {
    format!(
        "$SIG{{TERM}} = \"IGNORE\"; $0 = \"x\" x 8000; open(F, \">\", \"{}\"); print F \"$$\\n\"; close(F); sleep(600)",
        number.display()
    )
}

#[test]
fn what_commands_mount_is_unmounted_and_what_it_leads_to_stays() {
    if !is_root() {
        return skip("only root mounts");
    }
    let desk = Desk::new();
    fs::create_dir_all(desk.place.path("theirs/deep")).unwrap();
    fs::write(desk.place.path("theirs/deep/file"), "theirs").unwrap();
    let command = format!(
        "mkdir bound memory; mount --bind {} bound; mount -t tmpfs none memory; touch memory/file",
        desk.place.path("theirs").display()
    );
    let said = desk.run(&["DATA", "--command", &command, "--iterations", "1"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert_eq!(fs::read_to_string(desk.place.path("theirs/deep/file")).unwrap(), "theirs");
    desk.assert_only(&[]);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(desk.place.data().to_str().unwrap()), "{mounts}");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_server_that_is_never_ready() {
    let desk = Desk::new();
    let asked = desk.place.path("asked");
    let ready = format!("echo asked >>{}; false", asked.display());
    let mut child = desk.start(&["DATA", "--command", "true", "--ready", &ready]);
    content(&asked);
    kill_process(Pid::from_child(&child), interruption()).unwrap();
    let ended = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap().is_some()
    });
    assert!(ended, "it waits on");
    desk.assert_only(&[]);
}

#[test]
fn the_next_command_ends_what_nobody_watched() {
    let desk = Desk::new();
    let server = desk.place.path("server");
    let setup = format!("setsid perl -e '{}' &", server_script(&server));
    let began = desk.place.path("began");
    let command = format!("echo began > {}; sleep 600", began.display());
    let arguments = ["DATA", "--setup", &setup, "--command", &command];
    let mut child = desk.start(&arguments);
    let process = content(&server);
    content(&began);
    // The guardian first, and then the run.
    let children = |parent: u32| {
        let pids = names(Path::new("/proc")).into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let of = move |pid: &String| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.split(' ').nth(1) == Some(&parent.to_string()))
        };
        pids.filter(of).collect::<Vec<_>>()
    };
    let is_guardian = |pid: &String| {
        fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().contains("PLIMSOLL_PROCESS")
    };
    for guardian in children(child.id()).into_iter().filter(is_guardian) {
        kill_process(Pid::from_raw(guardian.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    assert!(lives(&process));
    desk.place.run("history");
    assert!(!lives(&process));
    desk.assert_only(&[]);
}

/// What `time` told of two databases being restored, five times each.
fn told_times() -> String {
    let restores = |name: &str, minutes: [u32; 5]| {
        let times = minutes.iter().enumerate().map(|(index, minutes)| {
            format!("{name} {}\n\nreal\t{minutes}m10.505s\nuser\t92m14.391s\nsys\t1m23.157s\n\n", index + 1)
        });
        times.collect::<String>()
    };
    restores("Import hdd", [190, 191, 194, 199, 194]) + &restores("Import ssd", [183, 185, 205, 188, 197])
}

#[test]
fn times_that_were_told_and_those_that_were_measured_make_the_same_table_and_sentence() {
    let desk = Desk::new();
    fs::create_dir(desk.place.path("other")).unwrap();
    fs::write(desk.place.path("times.txt"), told_times()).unwrap();
    assert_eq!(desk.place.run("import times.txt").code, Some(0));
    let told = desk.place.run("show latest").stdout;
    let said = desk.run(&["DATA", "other", "--command", "sleep 0.05", "--iterations", "5"]);
    let measured = said.stdout;
    // The heads of the columns, the labels of the rows, and the words of the sentence.
    for text in [&told, &measured] {
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("application")).collect();
        let heads: Vec<&str> = lines[0].split_whitespace().take(5).collect();
        assert_eq!(heads, ["application", "iteration", "real", "user", "system"], "{text}");
        let labels = ["1", "2", "3", "4", "5", "min", "mean", "median", "max", "mean,"];
        let rows = |rows: &[&str]| -> Vec<bool> {
            let of = |(label, row): (&&str, &&str)| row.split_whitespace().any(|word| word == *label);
            labels.iter().zip(rows).map(of).collect()
        };
        assert_eq!(rows(&lines[2..12]), [true; 10], "{text}");
        assert_eq!(rows(&lines[12..22]), [true; 10], "{text}");
        let sentence = text.lines().find(|line| line.contains("B against A")).unwrap_or_else(|| panic!("{text}"));
        assert!(sentence.starts_with("B against A, "), "{sentence}");
        let claim = |line: &&str| {
            line.contains("no difference found") || line.contains("B's time is") || line.contains("equal")
        };
        assert!(text.lines().any(|line| claim(&line)), "{text}");
    }
}

/// Both at once, as each takes the time between two lines.
#[test]
fn where_nobody_can_redraw_lines_tell_of_waiting_and_of_a_long_command() {
    let desk = Desk::new();
    let waiting = "DATA --engine memory --rw randread --size 4M --duration 100ms --ramp 0s --start-delay 6s";
    let waiting = desk.command(&waiting.split(' ').collect::<Vec<_>>()).stderr(Stdio::piped()).spawn().unwrap();
    let long = desk.run(&["DATA", "--command", "sleep 6", "--iterations", "1", "--settle", "0"]);
    let waiting = Said::of(waiting.wait_with_output().unwrap());
    for (said, words) in [(&waiting, " before the next slot"), (&long, ": timing sleep")] {
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let tells = |line: &str| line.contains(" s in, ") && line.contains(words);
        assert!(said.stderr.lines().any(tells), "{words}: {}", said.stderr);
    }
}

#[test]
fn what_cannot_be_removed_is_named_with_the_reason_and_is_no_success() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let mounted = Mounted::ext4(&place, 64 << 20);
    let point = mounted.point.display();
    fs::write(
        place.path("plan.toml"),
        "[[workload]]\ncommand = 'echo > held; chattr +i held'\niterations = 1\nsettle = '0s'\n",
    )
    .unwrap();
    let run = place.run(&format!("run {point} --plan plan.toml"));
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("could not be removed (held: Operation not permitted"), "{}{}", run.stdout, run.stderr);
    let said = place.run(&format!("doctor --clean {point}"));
    assert_eq!(said.code, Some(5), "{}", said.stderr);
    assert_eq!(said.stdout, "nothing was removed\n");
    assert!(said.stderr.contains("could not be removed (held: Operation not permitted"), "{}", said.stderr);
    let freed = Command::new("chattr").args(["-R", "-i"]).arg(&mounted.point).status().unwrap();
    assert!(freed.success());
    let said = place.run(&format!("doctor --clean {point}"));
    assert_eq!((said.code, said.stderr.lines().count()), (Some(0), 1), "{}", said.stderr);
}

#[test]
fn commands_may_have_as_many_files_open_as_whoever_started_plimsoll() {
    let place = Place::new();
    let limited = |command: &Command| {
        let mut limited = Command::new("prlimit");
        limited.arg("--nofile=256:1024").arg(command.get_program()).args(command.get_args());
        limited.env("XDG_STATE_HOME", place.path("state")).current_dir(place.path("")).stdin(Stdio::null());
        limited.output().map(Said::of)
    };
    let count = "ulimit -n > \"$PLACE/timed\"; test \"$(ulimit -Hn)\" = 1024";
    let count = count.replace("$PLACE", place.path("").to_str().unwrap());
    let mut timed = place.command("run DATA --iterations 1 --settle 0s --command");
    let Ok(said) = limited(timed.arg(count)) else { return skip("prlimit is not installed") };
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut loaded = place.command("run DATA --rw randread --size 4M --duration 300ms --ramp 0s --background");
    let said = limited(loaded.arg("ulimit -n > loading; exec sleep 60")).unwrap();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for file in ["timed", "loading"] {
        assert_eq!(fs::read_to_string(place.path(file)).unwrap(), "256\n", "{file}");
    }
    let mut emulated = place.command("emulate exec -- sh -c");
    let said = limited(emulated.arg("ulimit -n")).unwrap();
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "256\n"), "{}", said.stderr);
}
