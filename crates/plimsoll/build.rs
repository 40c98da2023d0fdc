//! Tells the binary which commit it is built from, where that can be known.

use std::process::Command;

fn main() {
    for file in ["HEAD", "refs"] {
        // In a further work tree these lie elsewhere, and watching a file that does not exist builds again each time.
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=PLIMSOLL_COMMIT={commit}");
    }
}

/// What git answers, if there is git and a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
