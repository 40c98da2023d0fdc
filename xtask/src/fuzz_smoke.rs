//! `cargo xtask fuzz-smoke`: coverage-guided fuzzing of every parser of foreign input, for a short time.
//!
//! The targets under `fuzz/` have the layout of cargo-fuzz, which wants a nightly compiler. What it needs nightly for
//! is the address sanitizer; the coverage counters alone can be asked of the pinned stable compiler, and are here.

use std::{
    env, fs,
    num::NonZero,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use anyhow::{Context as _, bail};

use crate::child;

/// Makes the compiler count edges and trace compares in the form that libFuzzer reads.
const COVERAGE_FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// Fixtures of tests that are inputs to start from as well, by target.
const FIXTURES: &[(&str, &str)] = &[("record", "fixtures/records")];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Seconds for each target.
    #[arg(long, default_value_t = 10)]
    pub(crate) seconds: u32,
    /// Only these targets; all when none is named.
    targets: Vec<String>,
}

impl Arguments {
    /// All targets for so long.
    pub(crate) const fn all(seconds: u32) -> Self {
        Self { seconds, targets: Vec::new() }
    }
}

pub(crate) fn run(arguments: &Arguments, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    if child::find(&compiler).is_none() {
        if env::var_os("CI").is_some() {
            bail!("fuzzing needs a C++ compiler: install g++");
        }
        observe("skipped: fuzzing: there is no C++ compiler, which libFuzzer needs");
        return Ok(());
    }
    let directory = crate::repository().join("fuzz");
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).context("read fuzz/Cargo.toml")?;
    let all = targets(&manifest)?;
    let chosen: Vec<_> = if arguments.targets.is_empty() { all } else { arguments.targets.clone() };

    // An explicit target keeps build scripts and procedural macros free of the counters.
    let triple = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    let mut build = child::cargo(&["build", "--release", "--target", &triple]);
    build.current_dir(&directory).env("RUSTFLAGS", COVERAGE_FLAGS).env("CARGO_TARGET_DIR", directory.join("target"));
    child::run(&mut build)?;

    let programs = directory.join("target").join(&triple).join("release");
    let failed = on_all_processors(&chosen, |target| {
        let outcome = fuzz(&directory, &programs.join(target), target, arguments.seconds);
        outcome.err().map(|error| format!("{error:#}"))
    });
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(())
}

/// Does something with each of a list, as many at a time as there are processors, and gives what came of it.
fn on_all_processors<T: Sync, R: Send>(list: &[T], work: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let take = || std::iter::from_fn(|| list.get(next.fetch_add(1, Ordering::Relaxed)));
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..processors).map(|_| scope.spawn(|| take().filter_map(&work).collect::<Vec<R>>())).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("fuzzing does not panic")).collect()
    })
}

/// The names of the binaries of a manifest.
fn targets(manifest: &str) -> anyhow::Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse().context("parse fuzz/Cargo.toml")?;
    let binaries = manifest.get("bin").and_then(toml::Value::as_array).context("fuzz/Cargo.toml lists no [[bin]]")?;
    Ok(binaries.iter().filter_map(|binary| Some(binary.get("name")?.as_str()?.to_owned())).collect())
}

fn fuzz(directory: &Path, program: &Path, target: &str, seconds: u32) -> anyhow::Result<()> {
    // What a run finds worth keeping goes to the corpus, which git ignores; seeds are ours and are only read.
    let (corpus, artifacts) = (directory.join("corpus").join(target), directory.join("artifacts").join(target));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let mut command = child::command(&program.to_string_lossy());
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-timeout=10", "-print_final_stats=1"])
        .arg(&corpus);
    let fixtures =
        FIXTURES.iter().filter(|(name, _)| *name == target).map(|(_, folder)| crate::repository().join(folder));
    command.args(fixtures.chain([directory.join("seeds").join(target)]).filter(|folder| folder.is_dir()));
    let output = command.output().with_context(|| format!("start {}", program.display()))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        eprintln!("{report}");
        bail!("fuzz target {target} failed; its input is in {}", written_input(&report).unwrap_or("the output above"));
    }
    let Some(executions) = executions(&report).filter(|count| *count > 0) else {
        eprintln!("{report}");
        bail!("fuzz target {target} executed nothing that it tells of");
    };
    println!("fuzz-smoke: {target}: {executions} executions in {seconds} s");
    Ok(())
}

/// The count in libFuzzer's `stat::number_of_executed_units: N`.
fn executions(report: &str) -> Option<u64> {
    report.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?.trim().parse().ok()
}

/// The file in libFuzzer's `Test unit written to FILE`.
fn written_input(report: &str) -> Option<&str> {
    report.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, file)| file.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_a_list_is_done_once() {
        let list: Vec<u32> = (0..100).collect();
        let mut done = on_all_processors(&list, |number| (*number % 2 == 0).then_some(*number));
        done.sort_unstable();
        assert_eq!(done, (0..100).step_by(2).collect::<Vec<_>>());
    }

    #[test]
    fn every_binary_is_a_target() {
        let manifest = "[[bin]]\nname = \"one\"\n[[bin]]\nname = \"two\"\n";
        assert_eq!(targets(manifest).unwrap(), ["one", "two"]);
        assert!(targets("[package]\n").is_err());
    }

    #[test]
    fn the_report_tells_how_much_ran_and_what_failed() {
        let report = "x\nstat::number_of_executed_units: 881\nartifact; Test unit written to a/crash-1\n";
        assert_eq!((executions(report), written_input(report)), (Some(881), Some("a/crash-1")));
    }
}
