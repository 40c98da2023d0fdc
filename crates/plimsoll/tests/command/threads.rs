//! A machine that has no room for the threads of a run: a sentence, soon, and nothing left behind.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    process::{Command, Stdio},
};

use crate::support::{Place, Said, comes_true, is_root, skip};

/// Somebody without rights; the limit of processes does not bind root.
const NOBODY: u32 = 65534;

#[test]
fn threads_that_cannot_be_started_end_the_run_with_a_sentence() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let root = place.path("");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    for directory in [root, place.data()] {
        chown(directory, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let limited = |arguments: &str| {
        let plimsoll = place.command(arguments);
        let mut command = Command::new("prlimit");
        command.uid(NOBODY).gid(NOBODY).arg("--nproc=5").arg(plimsoll.get_program()).args(plimsoll.get_args());
        command.env_clear().envs(plimsoll.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    if !limited("--version").output().is_ok_and(|output| output.status.success()) {
        return skip("prlimit, or a built program that others may run");
    }
    let mut child = limited("run DATA --rw randread --size 8m --duration 200ms --jobs 64").spawn().unwrap();
    // It takes a fraction of a second; the time is there for the test to fail instead of hanging.
    comes_true(|| child.try_wait().unwrap().is_some());
    let _ = child.kill();
    let said = Said::of(child.wait_with_output().unwrap());
    let error = said.error(5);
    assert!(error.contains("64 threads cannot be started: lower --jobs or --queue-depth"), "{error}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}
