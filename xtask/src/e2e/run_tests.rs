//! Running the tests in the cluster that is up, in its network.

use std::{process::Command, time::Duration};

use anyhow::{Context as _, bail};
use plimsoll_e2e::place;

use super::{cluster, programs};
use crate::{child, interruption};

/// Tests at the same time. They wait most of the time, for pods and for storage that is throttled.
const THREADS: &str = "--test-threads=4";

/// Those that disturb others are all in this module, and run one by one.
const ALONE: &str = "alone::";
const ONE_THREAD: &str = "--test-threads=1";

/// How long tests may take together: each waits for a bounded time.
const TESTS_MAX: Duration = Duration::from_secs(3 * 3600);

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
        interruption::check()?;
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
    child::watch(&mut command, TESTS_MAX, observe).context("the end-to-end tests")
}

/// What `e2e/README.md` says that tests are told.
fn set_variables(command: &mut Command, full: bool) {
    command.env("CARGO_TARGET_DIR", child::target()).env("KUBECONFIG", place::kubeconfig());
    command.env("PLIMSOLL_E2E_BINARY", programs::folder().join("plimsoll"));
    command.env("PLIMSOLL_E2E_KUBE_ALL", programs::folder().join("kube-all"));
    command.env("PLIMSOLL_E2E_IMAGE", place::IMAGE);
    command.env("PLIMSOLL_E2E_STATE", place::STATE);
    if full {
        command.env("PLIMSOLL_E2E_FULL", "1");
    }
}
