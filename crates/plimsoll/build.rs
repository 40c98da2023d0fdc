//! Tells the binary which commit it is built from, where that can be known.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs");
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    if let Ok(output) = commit
        && output.status.success()
    {
        println!("cargo::rustc-env=PLIMSOLL_COMMIT={}", String::from_utf8_lossy(&output.stdout).trim());
    }
}
