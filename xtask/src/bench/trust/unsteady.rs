//! Storage that is not steady: caps that change while plimsoll measures.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use plimsoll_workload::random::{Purpose, derive_seed};

use super::{
    Trial,
    plimsoll::{Plimsoll, rate, verdict},
};
use crate::bench::{
    capped_device::{Cap, CappedDevices},
    loop_device::Backing,
    off_percent,
};

const DEVICE_BYTES: u64 = 64 << 20;
const REPETITIONS: u64 = 3;

const BURST: u64 = 3_500;
const SUSTAINED: u64 = 120;
const BURST_LENGTH: Duration = Duration::from_secs(8);
/// Whoever opens a device reads a little of it; load is more than that.
const OPERATIONS_OF_LOAD: u64 = 100;

/// A burst that lasts eight seconds from the first operation. It ends in another part of a second each time.
pub(super) fn burst(trial: &Trial<'_>) -> anyhow::Result<()> {
    let capped = CappedDevices::create(1, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    for repetition in 0..REPETITIONS {
        capped.cap_all(Cap::operations(BURST))?;
        let length = BURST_LENGTH + Duration::from_millis(300) * repetition as u32;
        let run = Plimsoll::run_command([capped.first().path.as_path()], "--rw randread --queue-depth 32");
        let (mut load_since, mut lowered_ns) = (None, None);
        let name = format!("burst-{repetition}");
        let device = capped.first().name();
        let record = trial.plimsoll.record(&name, &mut capped.inside(&run), Some(&device), |look| {
            if load_since.is_none() && look.device_operations >= OPERATIONS_OF_LOAD {
                // The operations so far took their time too.
                let so_far = Duration::from_secs_f64(look.device_operations as f64 / BURST as f64);
                load_since = Some(look.elapsed.saturating_sub(so_far));
            }
            if lowered_ns.is_none() && load_since.is_some_and(|since| look.elapsed >= since + length) {
                capped.cap_all(Cap::operations(SUSTAINED))?;
                lowered_ns = Some(SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?.as_nanos());
            }
            Ok(())
        })?;
        let cell = record.cells.first().context("the record has no cell")?;
        let word = verdict(cell);
        trial.judge(&format!("run {repetition}, verdict"), word, "burst", word == "burst");
        let Some(seen) = cell.burst else { continue };
        for (what, value, truth) in
            [("burst", seen.burst_iops, BURST as f64), ("sustained", seen.sustained_iops, SUSTAINED as f64)]
        {
            let off = off_percent(value, truth);
            let measured = format!("{value:.1} IOPS, {off:.2} % off {truth}");
            trial.judge(&format!("run {repetition}, {what} rate"), &measured, "at most 3 % off", off <= 3.0);
        }
        let lowered_ns = lowered_ns.context("the cap was not lowered")? as i128 - record.started.as_nanosecond();
        let ends = seen.cliff_after_ns.zip(seen.cliff_before_ns).context("the record has no cliff")?;
        let off = cliff_off_seconds(lowered_ns, ends);
        let seconds = [i128::from(ends.0), i128::from(ends.1), lowered_ns].map(|ns| ns as f64 / 1e9);
        let measured = format!("{:.2} to {:.2} s, was {:.2} s", seconds[0], seconds[1], seconds[2]);
        trial.judge(&format!("run {repetition}, cliff"), &measured, "at most 1 s off", off <= 1.0);
    }
    Ok(())
}

/// Runs with a catalog entry.
const RUNS: u32 = 20;
/// How long a bucket of the catalog's entry lasts: some runs end before it is empty, some go on long after.
const BUCKET: Duration = Duration::from_secs(30);
/// Runs last from so many seconds to so many.
const RUN_SECONDS: (u32, u32) = (15, 150);

/// A disk that a catalog knows: a burst until its bucket is empty. A run that ends before it is gone must not take the
/// burst for what lasts, and one that goes on must tell what lasts.
pub(super) fn catalog_burst(trial: &Trial<'_>) -> anyhow::Result<()> {
    let directory = crate::repository().join("target");
    let capped = CappedDevices::create(1, &directory, DEVICE_BYTES, Backing::Cached)?;
    let bucket = (BURST - SUSTAINED) * BUCKET.as_secs();
    let limits = trial.plimsoll.keep(
        "limits.toml",
        &format!(
            "[[disk]]\nname = \"small\"\nlimit = \"iops={SUSTAINED},burst-iops={BURST},bucket={bucket}\"\n\
             source = \"this check\"\n"
        ),
    )?;
    for run in 0..RUNS {
        capped.cap_all(Cap::operations(BURST))?;
        let (shortest, longest) = RUN_SECONDS;
        // The same lengths whenever it is run.
        let seconds = shortest + (derive_seed(0, Purpose::Schedule, run.into()) % u64::from(longest - shortest)) as u32;
        let arguments =
            format!("--rw randread --queue-depth 32 --max-time {seconds}s --sku small --limits {}", limits.display());
        let command = Plimsoll::run_command([capped.first().path.as_path()], &arguments);
        let device = capped.first().name();
        let mut is_empty = false;
        let record = trial.plimsoll.record(
            &format!("catalog-burst-{run}"),
            &mut capped.inside(&command),
            Some(&device),
            |look| {
                // What is above the sustained rate is spent, by the operations that the device did.
                let earned = SUSTAINED as f64 * look.elapsed.as_secs_f64();
                if !is_empty && look.device_operations as f64 - earned >= bucket as f64 {
                    capped.cap_all(Cap::operations(SUSTAINED))?;
                    is_empty = true;
                }
                Ok(())
            },
        )?;
        let cell = record.cells.first().context("the record has no cell")?;
        let word = verdict(cell);
        let rate = cell.estimate.map_or(f64::NAN, |estimate| estimate.iops);
        let off = off_percent(rate, SUSTAINED as f64);
        let state = if is_empty { "empty" } else { "not empty" };
        // With an empty bucket the lasting rate may be claimed as what it is.
        let is_right = word == "burst" || is_empty && word == "steady" && off <= 3.0;
        let name = format!("run {run}, {seconds} s, {state}, verdict");
        trial.judge(&name, word, "burst", is_right);
        let measured = format!("{rate:.1} IOPS, {off:.2} % off {SUSTAINED}");
        trial.judge(&format!("run {run}, lasting rate"), &measured, "at most 3 % off", off <= 3.0);
    }
    Ok(())
}

/// How far a moment is from the stretch in which it is said to lie.
fn cliff_off_seconds(moment_ns: i128, (after_ns, before_ns): (u64, u64)) -> f64 {
    let off_ns = (i128::from(after_ns) - moment_ns).max(moment_ns - i128::from(before_ns)).max(0);
    off_ns as f64 / 1e9
}

/// Caps that take turns, every few seconds.
const LEVELS: [u64; 2] = [100, 100_000];
const DWELLS: [u64; 3] = [2, 3, 5];
/// Both are long enough for a claim, so that none is a decision: of a cell alone one may be made after 138 s, of one
/// whose visits were asked for after 120 s of them.
const ARRANGEMENTS: [(&str, &str, usize); 2] = [
    ("alone", "--rw randread --queue-depth 32 --max-time 150s", 1),
    ("in turns", "--rw randread --queue-depth 16,32 --passes 31 --duration 4s --ramp 500ms", 2),
];

/// A cap that is now one level, now the other.
pub(super) fn alternating(trial: &Trial<'_>) -> anyhow::Result<()> {
    let capped = CappedDevices::create(1, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    for (arrangement, arguments, cells) in ARRANGEMENTS {
        for dwell in DWELLS {
            let run = Plimsoll::run_command([capped.first().path.as_path()], arguments);
            let mut level_before = None;
            let name = format!("{}-{dwell}", arrangement.replace(' ', "-"));
            let record = trial.plimsoll.record(&name, &mut capped.inside(&run), None, |look| {
                let level = LEVELS[(look.elapsed.as_secs() / dwell % 2) as usize];
                if level_before.replace(level) != Some(level) {
                    capped.cap_all(Cap::operations(level))?;
                }
                Ok(())
            })?;
            let words: Vec<&str> = record.cells.iter().map(verdict).collect();
            let rates: Vec<String> = record.cells.iter().map(|cell| format!("{:.0}", rate(cell))).collect();
            let is_met = words.len() == cells && words.iter().all(|word| matches!(*word, "unstable" | "drifting"));
            let measured = format!("{} ({} IOPS)", words.join(", "), rates.join(", "));
            trial.judge(&format!("{arrangement}, every {dwell} s"), &measured, "unstable or drifting", is_met);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_within_the_stretch_is_not_off() {
        let stretch = (8_000_000_000, 9_000_000_000);
        for (moment_ns, off) in [(8_500_000_000, 0.0), (7_500_000_000, 0.5), (11_000_000_000, 2.0)] {
            assert!((cliff_off_seconds(moment_ns, stretch) - off).abs() < 1e-9);
        }
    }
}
