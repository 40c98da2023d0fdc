//! `cargo xtask ci`: everything a change must pass, in one build profile so that nothing is compiled twice.
//!
//! Every step runs even when an earlier one failed, until somebody wants the end. The last line sums up the tests.

use std::{
    convert::Infallible,
    mem,
    num::NonZero,
    path::Path,
    process::Stdio,
    sync::mpsc::{self, Sender},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};

use crate::{child, codegen, dist, e2e, fuzz_smoke, interruption, page, tidy};

/// Seconds for each fuzz target.
const FUZZ_SECONDS: u32 = 5;

/// A step that has run.
struct Step {
    name: &'static str,
    elapsed: Duration,
    /// Of all processes that it started and that ended: two processors that were busy have twice the time of the clock.
    cpu: Duration,
    /// A disk that fills up makes other steps fail than the one that filled it.
    free_bytes: Option<u64>,
    outcome: anyhow::Result<()>,
}

pub(crate) fn run() -> anyhow::Result<()> {
    let mut counts = TestCounts::default();
    let mut steps = Vec::new();
    let mut step = |name: &'static str, action: &mut dyn FnMut() -> anyhow::Result<()>| {
        if interruption::has_come() {
            return;
        }
        println!("--- {name}");
        let (started, cpu_before) = (Instant::now(), child::cpu_time());
        let outcome = action();
        if let Err(error) = &outcome {
            eprintln!("{name}: {error:#}");
        }
        let free_bytes = crate::free_bytes(crate::repository()).ok();
        let cpu = child::cpu_time().saturating_sub(cpu_before);
        steps.push(Step { name, elapsed: started.elapsed(), cpu, free_bytes, outcome });
    };

    step("format", &mut || child::run(&mut child::cargo(&["fmt", "--all", "--check"])));
    step("tidy", &mut tidy::run);
    step("codegen", &mut || codegen::run(&codegen::Arguments { check: true }));
    // The one release build: what is distributed is what is tried, and what pods of the end-to-end tests run. Much of
    // it is the linker's, on one processor; meanwhile the others fuzz and build the tests. That build gives way to it:
    // what is left of it when the tests are built would have one processor wait.
    let mut build = Some(dist::Build::begin_for_ci());
    let fuzzing = fuzz_smoke::Arguments::all(FUZZ_SECONDS);
    step("fuzz-smoke", &mut || fuzz_smoke::run(&fuzzing, &mut |line| counts.show(line)));
    step("build of tests", &mut || {
        child::run(&mut child::giving_way(&child::cargo(&["test", "--workspace", "--no-run"])))
    });
    let mut distribution = None;
    step("dist", &mut || {
        let build = build.take().expect("a step runs once")?;
        distribution = Some(dist::for_ci(build, &mut |line| counts.show(line))?);
        Ok(())
    });
    let distribution = || distribution.as_ref().context("there is no release build");
    step("image in empty roots", &mut || distribution()?.prove(&mut |line| counts.show(line)));
    step("release smoke run", &mut || smoke_run(&distribution()?.binary));
    step("page", &mut || page::check(&distribution()?.binary, &mut |line| counts.show(line)));
    let mut lints = Err(anyhow!("the tests did not begin"));
    step("test, clippy beside", &mut || {
        let tests;
        (tests, lints) = test(&mut counts);
        tests
    });
    step("clippy", &mut || mem::replace(&mut lints, Ok(())));
    step("e2e", &mut || e2e::for_ci(&mut |line| counts.show(line)));
    close(&steps, &counts).and_then(|()| interruption::check())
}

/// Those that boot virtual machines, one of which runs at a time.
const GUESTS: &str = "guest::";

/// The tests of the workspace, counted, and what clippy says. Tests in virtual machines have a turn of their own beside
/// all others: in one with them, whoever waits for a machine to be free would keep others from running. Most tests wait
/// for most of their time, for storage that is throttled and for what lasts a second: clippy has what they leave of the
/// processors.
fn test(counts: &mut TestCounts) -> (anyhow::Result<()>, anyhow::Result<()>) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) + 1;
    // Cargo lets one build at a time into a directory: tests begin before examples and clippy may.
    let (is_built, all_are_built) = mpsc::channel();
    let guests_are_built = is_built.clone();
    thread::scope(|scope| {
        let guests = scope.spawn(move || {
            // All packages, as below: for one alone cargo chooses other features, and builds once more.
            let words = ["--workspace", "--test", "command", "--", "--test-threads=1", GUESTS];
            collect(&words, guests_are_built)
        });
        let beside = scope.spawn(move || {
            let (ignored, _) = mpsc::channel();
            let Err(_) = all_are_built.recv();
            let examples = collect(&["--workspace", "--doc", "--no-fail-fast", "--"], ignored);
            (examples, clippy())
        });
        let threads = format!("--test-threads={threads}");
        let words = ["--workspace", "--tests", "--no-fail-fast", "--", &threads, "--skip", GUESTS];
        let others = cargo_test(&words, is_built, &mut |line| counts.show(line));
        let guests = guests.join().expect("reading lines does not panic");
        let (examples, clippy) = beside.join().expect("reading lines does not panic");
        let mut tests = others;
        for (outcome, lines) in [guests, examples] {
            lines.iter().for_each(|line| counts.show(line));
            tests = tests.and(outcome);
        }
        (tests, clippy)
    })
}

/// Runs tests whose lines are shown later, not among those of others.
fn collect(words: &[&str], is_built: Sender<Infallible>) -> (anyhow::Result<()>, Vec<String>) {
    let mut lines = Vec::new();
    let outcome = cargo_test(words, is_built, &mut |line| lines.push(line.to_owned()));
    (outcome, lines)
}

/// Runs `cargo test`. Whoever waits for `is_built` hears that it is gone with the first line, which tells of a test.
/// `--show-output` lets through what skipped tests say.
fn cargo_test(words: &[&str], is_built: Sender<Infallible>, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let mut command = child::cargo(&["test"]);
    command.args(words).arg("--show-output");
    let mut tests = command.stdout(Stdio::piped()).spawn().context("start cargo test")?;
    let stdout = tests.stdout.take().expect("standard output is piped");
    let mut is_built = Some(is_built);
    for line in child::lines(stdout) {
        drop(is_built.take());
        observe(&line.context("read the output of cargo test")?);
    }
    let status = tests.wait().context("wait for cargo test")?;
    if !status.success() {
        bail!("cargo test ended with {status}");
    }
    Ok(())
}

/// What clippy says is the error.
fn clippy() -> anyhow::Result<()> {
    // The end-to-end tests are no part of the workspace's tests, as they need a cluster, but of what is looked at.
    let words = ["clippy", "--quiet", "--workspace", "--all-targets", "--features", "plimsoll-e2e/cluster"];
    let mut command = child::cargo(&words);
    child::output(&mut child::giving_way(command.args(["--", "-D", "warnings"]))).map(drop)
}

/// The release binary measures a directory and answers with a record.
fn smoke_run(binary: &Path) -> anyhow::Result<()> {
    let directory = tempfile::Builder::new()
        .prefix("smoke-")
        .tempdir_in(crate::repository().join("target"))
        .context("create a directory to measure")?;
    let mut command = child::command(&binary.to_string_lossy());
    command.arg("run").arg(directory.path());
    command.args(["--rw", "randread", "--size", "16MiB", "--duration", "500ms", "--no-history", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&child::output(&mut command)?).context("parse the record")?;
    let iops = record.pointer("/cells/0/read/iops").and_then(serde_json::Value::as_f64).unwrap_or_default();
    if record["schema"] != "plimsoll/1" || iops <= 0.0 {
        bail!("the record of a smoke run has schema {} and {iops} IOPS", record["schema"]);
    }
    let left = std::fs::read_dir(directory.path()).context("list the measured directory")?.count();
    if left > 0 {
        bail!("the smoke run left {left} entries in the directory that it measured");
    }
    println!("release smoke run: {iops:.0} reads per second");
    Ok(())
}

fn close(steps: &[Step], counts: &TestCounts) -> anyhow::Result<()> {
    println!("---");
    for step in steps {
        let word = if step.outcome.is_ok() { "ok" } else { "FAILED" };
        let free = step.free_bytes.map_or("-".to_owned(), |bytes| format!("{:.1} GB", bytes as f64 / 1e9));
        let [elapsed, cpu] = [step.elapsed, step.cpu].map(|time| time.as_secs_f64());
        println!("{elapsed:>8.1} s  {cpu:>8.1} s of CPU  {word:<6}  {free:>8} free  {}", step.name);
    }
    let total: Duration = steps.iter().map(|step| step.elapsed).sum();
    println!("{:>8.1} s  in all", total.as_secs_f64());
    let failed: Vec<_> = steps.iter().filter(|step| step.outcome.is_err()).map(|step| step.name).collect();
    for step in steps {
        if let Err(error) = &step.outcome {
            println!("{}: {error:#}", step.name);
        }
    }
    for line in counts.result_lines.iter().chain(&counts.failures) {
        println!("{line}");
    }
    println!("{}", counts.summary());
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// What the test runner's output adds up to.
#[derive(Default)]
struct TestCounts {
    /// As the test runner counts: a test that skips has passed.
    passed: u64,
    failed: u64,
    skipped_tests: u64,
    /// Whatever is no single test.
    skipped_others: u64,
    result_lines: Vec<String>,
    /// What was said of tests that failed, which is said once more at the end: the start of long output is often lost.
    failures: Vec<String>,
    section: Section,
    /// Whether the test whose output this is has said that it skips something.
    has_skipped: bool,
}

/// Lines about tests that failed which are said once more.
const FAILURES_MAX: usize = 300;

/// Where in the output of a test runner a line stands.
#[derive(Default, PartialEq, Eq)]
enum Section {
    /// In none: between the results of tests.
    #[default]
    Outside,
    Successes,
    Failures,
}

impl TestCounts {
    /// Takes a line of output, and prints it where it is worth that.
    fn show(&mut self, line: &str) {
        if self.observe(line) {
            println!("{line}");
        }
    }

    /// Takes a line of output; tells whether it is worth showing. Output of tests that passed is not, except for skips.
    fn observe(&mut self, line: &str) -> bool {
        if line.starts_with("skipped: ") {
            match self.section {
                Section::Outside => self.skipped_others += 1,
                Section::Successes => {
                    self.skipped_tests += u64::from(!self.has_skipped);
                    self.has_skipped = true;
                }
                // A test that failed because it may not skip says so too.
                Section::Failures => {}
            }
            return true;
        }
        if line.starts_with("---- ") && line.ends_with(" stdout ----") {
            self.has_skipped = false;
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            self.section = Section::Outside;
            self.passed += count_before(result, "passed");
            self.failed += count_before(result, "failed");
            self.result_lines.push(line.to_owned());
            return true;
        }
        match line {
            "successes:" => self.section = Section::Successes,
            "failures:" => self.section = Section::Failures,
            _ => {}
        }
        if self.section == Section::Failures && self.failures.len() < FAILURES_MAX {
            self.failures.push(line.to_owned());
        }
        self.section != Section::Successes
    }

    /// The last line of a run.
    fn summary(&self) -> String {
        let passed = self.passed.saturating_sub(self.skipped_tests);
        format!("{passed} passed, {} failed, {} skipped", self.failed, self.skipped_tests + self.skipped_others)
    }
}

/// The number in front of a word, as in `12 passed; 0 failed`.
fn count_before(text: &str, word: &str) -> u64 {
    let mut previous = "";
    for part in text.split([' ', ';', '.']).filter(|part| !part.is_empty()) {
        if part == word {
            return previous.parse().unwrap_or(0);
        }
        previous = part;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "running 3 tests\ntest a ... ok\n\nsuccesses:\n\n---- a stdout ----\nskipped: a loop device\n\
        chatter\nskipped: root\n\nsuccesses:\n    a\n\n\
        test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
        test b ... FAILED\nfailures:\n---- b stdout ----\nwhy\nskipped: root\n\
        test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";

    #[test]
    fn results_of_all_test_binaries_are_summed_and_skips_are_not_passes() {
        let mut counts = TestCounts::default();
        OUTPUT.lines().for_each(|line| {
            counts.observe(line);
        });
        assert_eq!(counts.summary(), "6 passed, 1 failed, 1 skipped");
        assert_eq!(counts.result_lines.len(), 2);
    }

    #[test]
    fn what_is_skipped_as_a_whole_is_counted_and_is_no_test() {
        let mut counts = TestCounts::default();
        for line in ["skipped: the page", "test result: ok. 2 passed; 0 failed", "skipped: the end-to-end tests"] {
            counts.observe(line);
        }
        assert_eq!(counts.summary(), "2 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn what_passing_tests_print_is_hidden_and_what_failing_tests_print_is_shown() {
        let mut counts = TestCounts::default();
        let shown: Vec<_> = OUTPUT.lines().filter(|line| counts.observe(line)).collect();
        assert!(shown.contains(&"skipped: a loop device") && shown.contains(&"why"));
        assert!(!shown.contains(&"chatter"));
        assert_eq!(counts.failures, ["failures:", "---- b stdout ----", "why"]);
    }
}
