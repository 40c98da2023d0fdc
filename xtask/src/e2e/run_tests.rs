//! Running the tests in the cluster that is up, in its network.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use anyhow::{Context as _, bail};
use plimsoll_e2e::place;

use super::{cluster, programs};
use crate::child;

/// Tests at the same time. They wait most of the time, for pods and for storage that is throttled.
const THREADS: &str = "--test-threads=4";

/// Those that disturb others are all in this module, and run one by one.
const ALONE: &str = "alone::";
const ONE_THREAD: &str = "--test-threads=1";

const PACKAGE: [&str; 5] = ["test", "--package", "plimsoll-e2e", "--features", "cluster"];

/// Builds them where there is a registry: the network of the cluster has none.
pub(super) fn build() -> anyhow::Result<()> {
    child::run(child::cargo(&PACKAGE).arg("--no-run"))
}

/// Runs them all, or those whose names contain `filter`, and hands each line of output on. First those that may run at
/// the same time; then, one by one, those that disturb others.
pub(super) fn run(full: bool, filter: Option<&str>, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let (alone, together): (Vec<_>, Vec<_>) = names(filter)?.into_iter().partition(|name| name.starts_with(ALONE));
    if together.is_empty() && alone.is_empty() {
        bail!("no test has {:?} in its name", filter.unwrap_or_default());
    }
    let mut failures = Vec::new();
    for (threads, names) in [(THREADS, together), (ONE_THREAD, alone)] {
        if !names.is_empty() {
            failures.extend(run_named(full, threads, &names, observe).err());
        }
        super::check_interruption()?;
    }
    failures.into_iter().next().map_or(Ok(()), Err)
}

/// The names of tests.
fn names(filter: Option<&str>) -> anyhow::Result<Vec<String>> {
    let mut cargo = child::cargo(&PACKAGE);
    cargo.args(["--quiet", "--test", "e2e", "--", "--list", "--format", "terse"]).args(filter);
    let list = child::output(&mut cargo).context("list the tests")?;
    Ok(list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn run_named(full: bool, threads: &str, names: &[String], observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let mut words: Vec<String> = vec!["cargo".into()];
    words.extend(PACKAGE.map(String::from));
    let how = ["--test", "e2e", "--offline", "--", "--show-output", threads, "--exact"];
    words.extend(how.map(String::from));
    words.extend_from_slice(names);
    let mut command = cluster::inside(&words);
    set_variables(&mut command, full);
    // A group of its own, so that all of it can be ended.
    let mut tests = command.stdout(Stdio::piped()).process_group(0).spawn().context("start the tests")?;
    let stdout = tests.stdout.take().expect("standard output is piped");
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    loop {
        match lines.recv_timeout(Duration::from_millis(200)) {
            Ok(line) => observe(&line),
            Err(RecvTimeoutError::Timeout) if super::interrupted() => {
                let group = rustix::process::Pid::from_child(&tests);
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                tests.wait().context("wait for the tests")?;
                bail!("interrupted");
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    reader.join().map_err(|_| anyhow::anyhow!("the reader of the tests' output panicked"))?;
    let status = tests.wait().context("wait for the tests")?;
    if !status.success() {
        bail!("the end-to-end tests ended with {status}");
    }
    Ok(())
}

/// What `e2e/README.md` says that tests are told.
fn set_variables(command: &mut Command, full: bool) {
    command.env("KUBECONFIG", place::kubeconfig());
    command.env("PLIMSOLL_E2E_BINARY", programs::folder().join("plimsoll"));
    command.env("PLIMSOLL_E2E_KUBE_ALL", programs::folder().join("kube-all"));
    command.env("PLIMSOLL_E2E_IMAGE", place::IMAGE);
    command.env("PLIMSOLL_E2E_STATE", place::STATE);
    if full {
        command.env("PLIMSOLL_E2E_FULL", "1");
    }
}
