//! The terminal after a panic, on one of its own.

use std::{
    env,
    process::{Command, Stdio},
    thread,
};

/// Names no other test, and tells this one that it runs on a terminal of its own.
const AMID_IT: &str = "amid-it";

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    if env::args().any(|argument| argument == AMID_IT) {
        super::take();
        crate::printer::Printer::new(false).warning("said meanwhile");
        thread::spawn(|| panic!("{AMID_IT}")).join().unwrap_err();
        assert!(!super::is_taken());
        return;
    }
    let this = env::current_exe().unwrap();
    let name = thread::current().name().unwrap().to_owned();
    let run = format!("{} --exact --nocapture --test-threads 2 {name} {AMID_IT}", this.display());
    let line = format!("echo modes=$(stty -g); {run} 1>&2; echo code=$?; echo modes=$(stty -g)");
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).env("SHELL", "/bin/sh");
    let said = script.stdin(Stdio::null()).output().unwrap();
    let seen = String::from_utf8_lossy(&said.stdout).into_owned();
    let place = |what: &str| seen.find(what).unwrap_or_else(|| panic!("{what:?}: {seen:?}"));
    let places = ["\u{1b}[?1049h", "\u{1b}[?1049l", "warning: said meanwhile", AMID_IT, "code=0"].map(place);
    assert!(places.is_sorted(), "{seen:?}");
    let modes: Vec<&str> = seen.lines().filter_map(|line| line.trim().strip_prefix("modes=")).collect();
    assert!(modes.len() == 2 && modes[0] == modes[1], "{modes:?}");
}
