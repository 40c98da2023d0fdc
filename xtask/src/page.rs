//! `cargo xtask page`: the page of `ui/`. Its lock files, its types, its checks and its tests; then what reports look
//! like in a real browser.
//!
//! Where there is no npm it is skipped, but not in CI.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::child;

/// How long the tests in a browser may take together: each is bounded too, and what is said of it then says more.
const IN_BROWSER_MAX: Duration = Duration::from_secs(15 * 60);

/// Where the page is, and where the tests are that need a browser.
const FOLDERS: [&str; 2] = ["ui", "ui/browser"];

pub(crate) fn run() -> anyhow::Result<()> {
    child::run(&mut child::cargo(&["build", "--release"]))?;
    check(&crate::repository().join("target/release/plimsoll"), &mut |line| println!("{line}"))
}

/// Everything about the page, with the binary that writes and serves it. Lines with the results of tests are like
/// cargo's.
pub(crate) fn check(binary: &Path, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    if child::find("npm").is_none() {
        if env::var_os("CI").is_some() {
            bail!("npm is missing: the page is neither built nor tested");
        }
        observe("skipped: the page, because there is no npm");
        return Ok(());
    }
    for folder in FOLDERS {
        let lock = format!("{folder}/package-lock.json");
        let text = fs::read_to_string(crate::repository().join(&lock)).with_context(|| format!("read {lock}"))?;
        if text.contains("\"resolved\"") {
            bail!("{lock} names where packages came from: make it anew with the .npmrc beside it");
        }
        child::output(npm(folder).args(["ci", "--prefer-offline", "--ignore-scripts"]))?;
    }
    types()?;
    child::output(npm("ui").args(["run", "check"]))?;
    unit_tests(observe)?;
    in_browser(binary, observe)
}

/// How long a browser took each time until a report could be used.
pub(crate) fn opened(report: &Path, times: usize) -> anyhow::Result<Vec<Duration>> {
    child::output(npm("ui/browser").args(["ci", "--prefer-offline", "--ignore-scripts"]))?;
    let mut command = child::command("node");
    command.current_dir(crate::repository().join("ui/browser")).arg("opened.js").arg(report).arg(times.to_string());
    let milliseconds = child::output(&mut command)?;
    let read = |line: &str| Ok(Duration::from_millis(line.trim().parse().with_context(|| format!("read {line:?}"))?));
    milliseconds.lines().map(read).collect()
}

fn npm(folder: &str) -> Command {
    let mut command = child::command("npm");
    command.current_dir(crate::repository().join(folder));
    command
}

/// The types are those of the schema of reports.
fn types() -> anyhow::Result<()> {
    const TYPES: &str = "ui/src/report.d.ts";
    let made = child::output(npm("ui").args(["run", "--silent", "types"]))?;
    let found = fs::read_to_string(crate::repository().join(TYPES)).with_context(|| format!("read {TYPES}"))?;
    if made != found {
        bail!("{TYPES} is stale: run `npm run --silent types > src/report.d.ts` in ui and commit the result");
    }
    Ok(())
}

fn unit_tests(observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let mut command = npm("ui");
    let output = command.args(["test", "--silent", "--", "--reporter=json"]).stdin(Stdio::null()).output();
    let output = output.context("start the tests of the page")?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let answer: Value = answer.find('{').and_then(|at| serde_json::from_str(&answer[at..]).ok()).unwrap_or_default();
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (passed, failed) = (count("numPassedTests"), count("numFailedTests"));
    let word = if output.status.success() { "ok" } else { "FAILED" };
    observe(&format!("test result: {word}. {passed} passed; {failed} failed; 0 ignored (ui)"));
    if !output.status.success() || passed == 0 {
        bail!("the tests of the page failed: {}{}", answer, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn in_browser(binary: &Path, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let mut command = npm("ui/browser");
    command.args(["test", "--silent"]).env("PLIMSOLL", binary).stdin(Stdio::null());
    child::watch(&mut command, IN_BROWSER_MAX, observe).context("the tests in a browser")
}
