//! `cargo xtask bench start`: how long plimsoll takes to start, how much memory it holds, how large it is.

use std::{fs, path::Path, time::Instant};

use anyhow::{Context as _, bail};

use super::{Bar, judge, measured_child::measure, median};
use crate::{child, interruption};

const STARTS: u32 = 51;
const MEBIBYTE: f64 = 1_048_576.0;

pub(super) fn run() -> anyhow::Result<()> {
    let binary = crate::repository().join("target/release/plimsoll");
    let mut met = judge("start", start_milliseconds(&binary)?, " ms", Bar::AtMost(20.0));
    met &= judge("resident, 8 jobs x depth 64 x 4 KiB", resident_mebibytes(&binary)?, " MiB", Bar::AtMost(32.0));
    let size = |path: &Path| fs::metadata(path).map(|metadata| metadata.len() as f64 / MEBIBYTE);
    met &= judge("release binary", size(&binary).context("stat the binary")?, " MiB", Bar::AtMost(25.0));
    let distributed = crate::repository().join("target/distribution/plimsoll");
    match size(&distributed) {
        Ok(size) => met &= judge("static binary", size, " MiB", Bar::AtMost(25.0)),
        Err(_) => println!("not judged: the static binary, which cargo xtask dist makes"),
    }
    if met { Ok(()) } else { bail!("a bar was missed") }
}

/// The median time from asking for the process to its end, when all it does is tell its version.
fn start_milliseconds(binary: &Path) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        interruption::check()?;
        let started = Instant::now();
        child::output(child::command(&binary.to_string_lossy()).arg("--version"))?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

fn resident_mebibytes(binary: &Path) -> anyhow::Result<f64> {
    let directory = tempfile::Builder::new()
        .prefix("resident-")
        .tempdir_in(crate::repository().join("target"))
        .context("create a directory to measure")?;
    let mut command = child::command(&binary.to_string_lossy());
    command.arg("run").arg(directory.path());
    command.args(["--rw", "randread", "--size", "64MiB", "--jobs", "8", "--queue-depth", "64", "--block-size", "4k"]);
    command.args(["--duration", "3s", "--json", "--no-history", "--quiet"]);
    Ok(measure(&mut command, None)?.resident_bytes_max as f64 / MEBIBYTE)
}
