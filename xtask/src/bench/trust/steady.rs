//! Storage that is steady: a cap is the only limit, so the truth is known to a fraction of a percent.

use plimsoll_record::record::Cell;

use super::{
    Trial,
    plimsoll::{Plimsoll, load_seconds, rate, verdict},
};
use crate::bench::{
    capped_device::{Cap, CappedDevices, HugePages},
    loop_device::Backing,
    off_percent,
};

const OPERATIONS: u64 = 5_000;
/// At 4 KiB the operations bind, at 1 MiB the bytes do.
const BYTES: u64 = 200_000_000;
const DEVICE_BYTES: u64 = 256 << 20;
/// Of 2 MiB: 32 buffers of 1 MiB, and some.
const HUGE_PAGES: u64 = 24;
const OFF_PERCENT_MAX: f64 = 0.5;

/// The canonical set, as it runs when nothing is asked for.
pub(super) fn canonical(trial: &Trial<'_>) -> anyhow::Result<()> {
    let capped = CappedDevices::create(1, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    capped.cap_all(Cap { operations: Some(OPERATIONS), bytes: Some(BYTES) })?;
    let _pages = HugePages::reserve(HUGE_PAGES)?;
    let device = &capped.first().path;
    let mut run = Plimsoll::run_command([device.as_path()], "");
    run.arg("--destroy").arg(device);
    let record = trial.plimsoll.record("canonical", &mut capped.inside(&run), None, |_| Ok(()))?;
    let cells = record.cells.len();
    trial.judge("cells", &cells.to_string(), "6", cells == 6);
    for cell in &record.cells {
        judge(trial, cell, &cell.workload, 120.0);
    }
    trial.note("wall time", &format!("{:.0} s", record.elapsed_ns as f64 / 1e9));
    Ok(())
}

/// One cell, which is measured in one piece.
pub(super) fn single(trial: &Trial<'_>) -> anyhow::Result<()> {
    let capped = CappedDevices::create(1, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    capped.cap_all(Cap::operations(OPERATIONS))?;
    let run = Plimsoll::run_command([capped.first().path.as_path()], "--rw randread --queue-depth 32");
    let record = trial.plimsoll.record("single", &mut capped.inside(&run), None, |_| Ok(()))?;
    let cells = record.cells.len();
    trial.judge("cells", &cells.to_string(), "1", cells == 1);
    record.cells.iter().for_each(|cell| judge(trial, cell, "randread", 150.0));
    Ok(())
}

fn judge(trial: &Trial<'_>, cell: &Cell, name: &str, load_seconds_max: f64) {
    let word = verdict(cell);
    trial.judge(&format!("{name}, verdict"), word, "steady", word == "steady");
    let block_bytes = if name.starts_with("throughput") { 1_048_576.0 } else { 4_096.0 };
    let cap = (OPERATIONS as f64).min(BYTES as f64 / block_bytes);
    let off = off_percent(rate(cell), cap);
    let measured = format!("{:.2} IOPS, {off:.3} % off {cap:.2}", rate(cell));
    trial.judge(
        &format!("{name}, rate"),
        &measured,
        &format!("at most {OFF_PERCENT_MAX} % off"),
        off <= OFF_PERCENT_MAX,
    );
    let seconds = load_seconds(cell);
    let required = format!("at most {load_seconds_max} s");
    trial.judge(&format!("{name}, load"), &format!("{seconds:.1} s"), &required, seconds <= load_seconds_max);
}
