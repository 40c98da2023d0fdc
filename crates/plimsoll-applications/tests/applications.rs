//! What an application costs: fake ones, of which it is known.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    fs,
    path::Path,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use plimsoll_applications::application::{Application, Places, StageError, Timed};
use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    cpu,
};
use plimsoll_workload::application::{ApplicationPlan, Stage};
use uuid::Uuid;

/// What becomes a child of this process is taken in by whoever runs a command, so they take turns.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn plan(command: &str) -> ApplicationPlan {
    ApplicationPlan {
        command: command.to_owned(),
        setup: None,
        ready: None,
        prepare: None,
        verify: None,
        conclude: None,
        cleanup: None,
        timeout_ns: None,
        settle_ns: 0,
        user: None,
        threads: 1,
        seed: 1,
        keep_going: false,
    }
}

fn application(plan: &ApplicationPlan, place: &Path) -> Application {
    let make = |name: &str| {
        let path = place.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    };
    let places = Places {
        target_dir: make("target"),
        run_dir: make("run"),
        logs: make("logs"),
        dataset: make("dataset"),
        device: None,
        user: None,
        environment: Vec::new(),
    };
    Application::new(plan, Uuid::now_v7(), "a target", places).unwrap()
}

fn time(application: &mut Application) -> Result<Timed, StageError> {
    application.time(1, &AtomicBool::new(false), &mut |_| {})
}

/// Times a command again and again until a time is what it is due to be: on a busy machine most take longer.
fn assert_some(plan: &ApplicationPlan, is_due: impl Fn(&Timed) -> bool) {
    let place = tempfile::tempdir().unwrap();
    let mut application = application(plan, place.path());
    let mut timed = Vec::new();
    while !timed.last().is_some_and(&is_due) {
        assert!(timed.len() < 100, "{timed:?}");
        timed.push(time(&mut application).unwrap());
    }
}

#[test]
fn sleep_takes_its_time_and_no_processor() {
    let _alone = alone();
    assert_some(&plan("sleep 0.2"), |timed| {
        assert!(timed.elapsed_ns >= 200_000_000, "{timed:?}");
        timed.elapsed_ns < 205_000_000 && timed.usage.user_ns < 5_000_000
    });
}

/// A program that computes until it has used so much processor time, by its own count.
const BUSY: &str = "perl -e 'while ((times)[0] < 1) { for (my $i = 0; $i < 10000; $i++) {} }'";

#[test]
fn a_busy_loop_costs_what_it_says() {
    let _alone = alone();
    assert_some(&plan(BUSY), |timed| (970_000_000..1_030_000_000).contains(&timed.usage.user_ns));
}

#[test]
fn a_daemon_is_counted_while_the_command_runs_and_ends_with_the_application() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    // It leaves the session of what started it, as servers do, before the command is timed.
    let setup = "setsid sh -c 'echo $$ >$RUN_DIR/daemon; exec perl -e \"for (;;) {}\"' &
        until [ -s $RUN_DIR/daemon ]; do sleep 0.01; done";
    // Until the daemon has used half a second, by the kernel's count in hundredths.
    let command = "used() { cut -d ' ' -f 14 /proc/$(cat $RUN_DIR/daemon)/stat; }
        from=$(used); until [ $(($(used) - from)) -ge 50 ]; do sleep 0.05; done";
    let plan = ApplicationPlan { setup: Some(setup.to_owned()), ..plan(command) };
    let mut application = application(&plan, place.path());
    application.set_up(&AtomicBool::new(false), &mut |_| {}).unwrap();
    let timed = time(&mut application).unwrap();
    assert!((500_000_000..timed.elapsed_ns + 50_000_000).contains(&timed.servers.user_ns), "{timed:?}");
    assert!(timed.usage.user_ns < timed.servers.user_ns / 2, "{timed:?}");
    let daemon = fs::read_to_string(place.path().join("run/daemon")).unwrap();
    let stat = format!("/proc/{}/stat", daemon.trim());
    assert!(fs::exists(&stat).unwrap());
    application.close(false).unwrap();
    assert!(!fs::exists(&stat).unwrap());
}

#[test]
fn a_daemon_that_the_command_leaves_behind_is_counted_until_its_end() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    // Its parent is gone at once, and the command ends when it has ended.
    let command = format!(
        "cat >busy <<'END'\n{BUSY}; touch over\nEND\n(setsid sh busy &); until [ -e over ]; do sleep 0.05; done"
    );
    let mut application = application(&plan(&command), place.path());
    let timed = time(&mut application).unwrap();
    assert!((970_000_000..1_060_000_000).contains(&timed.servers.user_ns), "{timed:?}");
}

#[test]
fn orphans_that_nobody_saw_are_counted_and_taken_away() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    // Each takes some milliseconds, and is over before anybody looks, or soon after.
    let brief = "for i in $(seq 100); do (perl -e 'for (1..100000) {}' & echo $! >>$RUN_DIR/brief); done; sleep 0.5";
    let mut application = application(&plan(brief), place.path());
    let timed = time(&mut application).unwrap();
    application.close(false).unwrap();
    let brief = fs::read_to_string(place.path().join("run/brief")).unwrap();
    let is_left = |pid: &&str| fs::exists(format!("/proc/{pid}/stat")).unwrap();
    assert_eq!(brief.lines().filter(is_left).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(timed.servers.user_ns + timed.servers.system_ns > 100_000_000, "{timed:?}");
}

#[test]
fn a_daemon_that_hides_ends_where_nobody_else_can_have_left_it() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let mut foreign = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let daemon = place.path().join("daemon");
    // Nothing of it tells whose it is: neither its session, nor its environment, nor its directory.
    let command = format!(
        "cd /; env -i setsid -f sh -c 'echo $$ >{0}; exec sleep 600'; until [ -s {0} ]; do sleep 0.01; done",
        daemon.display()
    );
    let mut application = application(&plan(&command), place.path());
    application.be_alone();
    time(&mut application).unwrap();
    let stat = format!("/proc/{}/stat", fs::read_to_string(&daemon).unwrap().trim());
    assert!(fs::exists(&stat).unwrap());
    application.close(false).unwrap();
    let is_there = foreign.try_wait().unwrap().is_none();
    foreign.kill().unwrap();
    foreign.wait().unwrap();
    assert!(is_there && !fs::exists(&stat).unwrap(), "what was there before stays, and nothing else does");
}

#[test]
fn what_was_not_started_by_a_command_is_neither_counted_nor_ended() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let (file, go) = (place.path().join("foreign"), place.path().join("go"));
    let (file_name, go_name) = (file.display(), go.display());
    // It loses its parent while the command runs, and becomes a child of this process, which takes in orphans.
    let busy = format!("perl -e 'for (;;) {{}}' & echo $! >{file_name}; until [ -e {go_name} ]; do sleep 0.01; done");
    let mut foreign = std::process::Command::new("sh").args(["-c", &busy]).spawn().unwrap();
    let command = format!(
        "until [ -s {file_name} ]; do sleep 0.01; done; touch {go_name}; orphan=$(cat {file_name}); \
         until [ $(cut -d ' ' -f 4 /proc/$orphan/stat) = $PPID ]; do sleep 0.01; done; sleep 0.5"
    );
    let mut application = application(&plan(&command), place.path());
    let timed = time(&mut application).unwrap();
    assert_eq!((timed.servers.user_ns, timed.servers.system_ns), (0, 0), "{timed:?}");
    application.close(false).unwrap();
    let orphan: i32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    let stat = fs::read_to_string(format!("/proc/{orphan}/stat")).unwrap();
    assert!(!stat.contains(") Z "), "{stat}");
    rustix::process::kill_process(rustix::process::Pid::from_raw(orphan).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
    foreign.wait().unwrap();
}

#[test]
fn commands_are_kept_on_their_processors_and_who_times_them_is_not() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let before = cpu::allowed().unwrap();
    let last = *before.last().unwrap();
    let mut application = application(&plan("grep ^Cpus_allowed_list: /proc/self/status >$FIGURES"), place.path());
    application.keep_on(&[last]).unwrap();
    time(&mut application).unwrap();
    assert_eq!(application.figures().unwrap(), format!("Cpus_allowed_list:\t{last}\n"));
    assert_eq!(cpu::allowed().unwrap(), before);
}

#[test]
fn memory_is_that_of_the_command_and_not_of_who_starts_it() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let of = |command: &str| time(&mut application(&plan(command), place.path())).unwrap().max_resident_bytes;
    assert_eq!(of("true"), None);
    let large = of("perl -e 'my $all = \"x\" x (300 << 20); sleep 0'").unwrap();
    assert!((300 << 20..800 << 20).contains(&large), "{large}");
}

#[test]
fn what_asks_a_terminal_is_told_that_there_is_none() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    assert!(matches!(time(&mut application(&plan("read x </dev/tty"), place.path())), Err(StageError::Failed { .. })));
}

#[test]
fn figures_are_read_from_a_file_and_from_nothing_else() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    for command in
        ["ln -s /etc/passwd $FIGURES", "mkfifo $FIGURES", "mkdir $FIGURES", "yes 'a 1 s' | head -c 99999 >$FIGURES"]
    {
        let mut application = application(&plan(command), place.path());
        time(&mut application).unwrap();
        assert!(matches!(application.figures(), Err(StageError::Figures(_))), "{command}");
        let _ = fs::remove_dir_all(place.path().join("run"));
    }
}

#[test]
fn commands_know_where_they_work_and_tell_figures() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let command = r#"[ "$PWD" = "$TARGET_DIR" ] && [ -d "$DATASET" ] && echo "rows $ITERATION /s" > "$FIGURES" &&
        echo "$TARGET_NAME $SEED $THREADS" > seen"#;
    let mut application = application(&plan(command), place.path());
    time(&mut application).unwrap();
    assert_eq!(application.figures().unwrap(), "rows 1 /s\n");
    assert_eq!(fs::read_to_string(place.path().join("target/seen")).unwrap(), "a target 1 1\n");
}

#[test]
fn a_command_that_fails_says_how_and_its_last_words() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let mut application = application(&plan("echo beginning; echo 'no room' >&2; exit 3"), place.path());
    let error = time(&mut application).unwrap_err();
    assert_eq!(error.to_string(), "run failed (exit status 3): beginning; no room");
    assert_eq!(error.output(), "beginning\nno room");
}

#[test]
fn what_all_iterations_and_their_servers_say_is_bounded_as_one() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    // More than is kept, by a server that the first iteration has left behind and that goes on in the second.
    let prepare = "[ $ITERATION != 1 ] || {
            (until [ -e $RUN_DIR/second ]; do sleep 0.01; done
            head -c 80000000 /dev/zero; touch $RUN_DIR/said; sleep 600) & }";
    let command = "[ $ITERATION != 2 ] || { touch $RUN_DIR/second; until [ -e $RUN_DIR/said ]; do sleep 0.01; done; }
            head -c 30000000 /dev/zero; sleep 0.3; echo done; [ $ITERATION != 4 ]";
    let plan = ApplicationPlan { prepare: Some(prepare.to_owned()), ..plan(command) };
    let mut application = application(&plan, place.path());
    let stop = AtomicBool::new(false);
    for iteration in 1..=4 {
        application.stage(Stage::Prepare, iteration, &stop, &mut |_| {}).unwrap();
        let timed = application.time(iteration, &stop, &mut |_| {});
        let logs = fs::read_dir(place.path().join("logs")).unwrap();
        let kept: u64 = logs.map(|log| log.unwrap().metadata().unwrap().len()).sum();
        assert!(kept < 65 << 20, "{kept} bytes after iteration {iteration}");
        assert_eq!(timed.is_ok(), iteration < 4);
        assert!(timed.map_or_else(|error| error.output().ends_with("done"), |_| true));
    }
}

#[test]
fn what_takes_too_long_or_is_stopped_ends_with_all_that_it_started() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    // It does not listen, and neither does its child.
    let deaf = "trap '' TERM; (trap '' TERM; echo $$ > $RUN_DIR/shell; sleep 600; sleep 600) & wait; sleep 600";
    let timeout = ApplicationPlan { timeout_ns: Some(2_000_000_000), ..plan(deaf) };
    let mut late = application(&timeout, place.path());
    let began_ns = MonotonicClock.now_ns();
    assert!(matches!(time(&mut late), Err(StageError::TimedOut { stage: Stage::Run, .. })));
    assert!(MonotonicClock.now_ns() - began_ns < 20_000_000_000);
    let shell = fs::read_to_string(place.path().join("run/shell")).unwrap();
    assert!(!fs::exists(format!("/proc/{}/stat", shell.trim())).unwrap());
    let mut stopped = application(&plan("sleep 600"), place.path());
    let stop = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        });
        stopped.time(1, &stop, &mut |_| {})
    });
    assert!(matches!(ended, Err(StageError::Stopped)));
}

#[test]
fn a_server_is_asked_until_it_is_ready_and_the_cleanup_is_done_whatever_happened() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let plan = ApplicationPlan {
        setup: Some("(sleep 0.3; touch $RUN_DIR/up) &".to_owned()),
        ready: Some("[ -e $RUN_DIR/up ]".to_owned()),
        cleanup: Some("touch $RUN_DIR/cleaned".to_owned()),
        ..plan("true")
    };
    let mut ready = application(&plan, place.path());
    ready.set_up(&AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(place.path().join("run/up").exists());
    drop(ready);
    assert!(place.path().join("run/cleaned").exists());
    let never = ApplicationPlan { ready: Some("false".to_owned()), timeout_ns: Some(200_000_000), ..plan };
    let mut never = application(&never, place.path());
    let error = never.set_up(&AtomicBool::new(false), &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("ready was not done after"), "{error}");
}
