//! The tasks of this repository: `cargo xtask TASK`. One file a task; `ci` is what every change must pass.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person who started it")]
#![expect(clippy::disallowed_methods, reason = "tasks time themselves and read what cargo and CI set")]

mod bench;
mod child;
mod ci;
mod codegen;
mod dist;
mod e2e;
mod fuzz_smoke;
mod guest_kernel;
mod interruption;
mod page;
mod setup;
mod tidy;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::Parser;

/// Tasks of the plimsoll repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Everything a change must pass; lists every failure, not only the first.
    Ci,
    /// The rules of ARCHITECTURE.md and CONTRIBUTING.md that a machine can check.
    Tidy,
    /// Writes the generated documents.
    Codegen(codegen::Arguments),
    /// Compares plimsoll with its peers and with its own bars.
    #[command(subcommand)]
    Bench(bench::Benchmark),
    /// Feeds the parsers of foreign input with generated input for a short time.
    FuzzSmoke(fuzz_smoke::Arguments),
    /// Builds the static binary and the container image made of it.
    Dist(dist::Arguments),
    /// Checks the page of reports, and tests it in a browser.
    Page,
    /// Starts a cluster of two nodes, runs the tests that need one, and removes it.
    E2e(e2e::Arguments),
    /// Installs the Debian packages that tests need, or says which are missing.
    Setup,
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Ci => ci::run(),
        Task::Tidy => tidy::run(),
        Task::Codegen(arguments) => codegen::run(&arguments),
        Task::Bench(benchmark) => bench::run(&benchmark),
        Task::FuzzSmoke(arguments) => fuzz_smoke::run(&arguments, &mut |line| println!("{line}")),
        Task::Dist(arguments) => dist::run(&arguments),
        Task::E2e(arguments) => e2e::run(&arguments),
        Task::Page => page::run(),
        Task::Setup => setup::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Where the repository is.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask stands in the repository").to_owned()
}

/// What may be written yet on the file system of a path.
fn free_bytes(path: impl AsRef<Path>) -> anyhow::Result<u64> {
    let path = path.as_ref();
    let room = rustix::fs::statvfs(path).with_context(|| format!("ask how much is free at {}", path.display()))?;
    Ok(room.f_bavail * room.f_frsize)
}
