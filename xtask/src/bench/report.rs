//! `cargo xtask bench report`: how long a report of a hundred runs takes, how long it is, and how soon a browser shows
//! it.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::{Bar, judge, median, serve::numbered};
use crate::{child, interruption, page};

/// Runs in the report.
const RUNS: usize = 100;
/// Measured seconds of each cell: six of them are 90 seconds of series.
const CELL_TIME: &str = "15s";
/// How often the report is written, and how often it is opened.
const REPEATS: usize = 5;

pub(super) fn run() -> anyhow::Result<()> {
    let directory = tempfile::Builder::new()
        .prefix("report-")
        .tempdir_in(crate::repository().join("target"))
        .context("create a directory for records")?;
    let (binary, place) = (crate::repository().join("target/release/plimsoll"), directory.path());
    println!("measuring what the runs are copies of");
    let record = record(&binary, place)?;
    let runs: Vec<Value> = (0..RUNS).map(|number| numbered(&record, number)).collect();
    let records = Value::from(runs).to_string();
    let (input, output) = (place.join("runs.json"), place.join("report.html"));
    fs::write(&input, &records).context("write the records")?;
    println!("{RUNS} runs of {} cells, {:.1} MB of JSON", cells(&record), records.len() as f64 / 1e6);
    let (mut times, mut shown) = (Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        interruption::check()?;
        times.push(written_s(&binary, &input, &output)?);
    }
    let length = fs::metadata(&output).context("look at the report")?.len();
    let opened = page::opened(&output, REPEATS)?;
    shown.extend(opened.iter().map(Duration::as_secs_f64));
    let met = [
        judge(&format!("writing it, median of {REPEATS}"), median(times), " s", Bar::AtMost(2.0)),
        judge("its length", length as f64 / 1e6, " MB", Bar::AtMost(2.0)),
        judge(&format!("interactive in Chromium, median of {REPEATS}"), median(shown), " s", Bar::AtMost(1.0)),
    ];
    if met.contains(&false) { bail!("a bar was missed") } else { Ok(()) }
}

fn cells(record: &Value) -> usize {
    record["cells"].as_array().map_or(0, Vec::len)
}

/// The canonical loads, really done, with series as long as those of real runs.
fn record(binary: &Path, place: &Path) -> anyhow::Result<Value> {
    let mut command = child::command(&binary.to_string_lossy());
    command.arg("run").arg(place).args(["--preset", "canonical", "--size", "256m", "--duration", CELL_TIME]);
    command.args(["--json", "--no-history", "--quiet"]);
    serde_json::from_str(&child::output(&mut command)?).context("read the record of a run")
}

/// How long it takes until the report is there.
fn written_s(binary: &Path, input: &Path, output: &Path) -> anyhow::Result<f64> {
    let mut command = child::command(&binary.to_string_lossy());
    command.arg("report").arg(input).arg("-o").arg(output).args(["--force", "--quiet"]);
    let started = Instant::now();
    child::output(&mut command)?;
    Ok(started.elapsed().as_secs_f64())
}
