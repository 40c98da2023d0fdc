//! Storages side by side: those that are alike, and those that differ by a tenth.

use std::{path::Path, thread};

use anyhow::Context as _;
use plimsoll_record::record::Record;
use serde_json::Value;

use super::{
    Trial,
    plimsoll::{Plimsoll, Said},
};
use crate::bench::{
    capped_device::{Cap, CappedDevices},
    loop_device::Backing,
};

const DEVICE_BYTES: u64 = 64 << 20;
/// Twelve visits make six blocks of four, of which each is a value.
const VISITS: &str = "--rw randread --queue-depth 32 --passes 12 --duration 1s --ramp 500ms";

const BATCHES: usize = 5;
const AT_A_TIME: usize = 8;
const SAME_CAP: u64 = 2_000;
const SIGNIFICANT_MAX: usize = 5;

const PAIRS: u64 = 10;
const DIFFERENT_RATIO: f64 = 1.10;
/// One operation more or less in all visits of a side: a cap without any noise leaves intervals without any width.
const ROUNDING: f64 = 1e-4;

/// What `plimsoll compare` says of the rates of two sides.
struct Answer {
    ratio: f64,
    low: f64,
    high: f64,
    /// Whether it claims a difference.
    is_claimed: bool,
}

impl Answer {
    /// Of the first cell's first number, which is the rate.
    fn of(said: &Said) -> anyhow::Result<Self> {
        let comparison: Value =
            serde_json::from_str(&said.stdout).with_context(|| format!("read a comparison: {}", said.stderr))?;
        let metric = comparison.pointer("/pairs/0/cells/0/metrics/0").context("the comparison has no number")?;
        anyhow::ensure!(metric["metric"] == "iops", "the first number is not the rate: {}", metric["metric"]);
        let compared = &metric["compared"];
        let number = |name: &str| compared[name].as_f64().with_context(|| format!("find {name} in {metric}"));
        let is_claimed = compared["different"].as_bool().context("find whether sides differ")?;
        Ok(Self { ratio: number("ratio")?, low: number("low")?, high: number("high")?, is_claimed })
    }

    fn holds(&self, ratio: f64) -> bool {
        self.low <= ratio * (1.0 + ROUNDING) && ratio * (1.0 - ROUNDING) <= self.high
    }
}

/// Compares runs, or the targets of one, and keeps the answer.
fn compare(trial: &Trial<'_>, name: &str, runs: &[&Path]) -> anyhow::Result<Answer> {
    let mut command = Plimsoll::command("compare");
    let said = trial.plimsoll.say(command.args(runs).arg("--json"))?;
    trial.plimsoll.keep(name, &said.stdout)?;
    Answer::of(&said)
}

/// Forty loops with the same cap, eight at a time: once eight in turns in one run, once eight runs at once. Each loop
/// is compared with the next of its eight, and the last with the first: forty comparisons, of which two may seem
/// different by chance.
pub(super) fn same(trial: &Trial<'_>) -> anyhow::Result<()> {
    let (mut in_turns, mut at_once) = (Vec::new(), Vec::new());
    for batch in 0..BATCHES {
        let directory = crate::repository().join("target");
        let capped = CappedDevices::create(AT_A_TIME, &directory, DEVICE_BYTES, Backing::Cached)?;
        capped.cap_all(Cap::operations(SAME_CAP))?;
        let paths = || capped.devices.iter().map(|device| device.path.as_path());

        let mut run = capped.inside(&Plimsoll::run_command(paths(), VISITS));
        let record = trial.plimsoll.record(&format!("turns-{batch}"), &mut run, None, |_| Ok(()))?;
        for first in 0..AT_A_TIME {
            let pair = of_targets(&record, [first, (first + 1) % AT_A_TIME]);
            let name = format!("turns-{batch}-pair-{first}");
            let path = trial.plimsoll.keep(&name, &serde_json::to_string(&pair)?)?;
            in_turns.push(compare(trial, &format!("{name}-compared"), &[&path])?);
        }

        let names: Vec<String> = (0..AT_A_TIME).map(|side| format!("once-{batch}-{side}")).collect();
        let plimsoll = &trial.plimsoll;
        let outcomes: Vec<anyhow::Result<Record>> = thread::scope(|scope| {
            let runs = paths().zip(&names).map(|(path, name)| {
                let mut run = capped.inside(&Plimsoll::run_command([path], VISITS));
                scope.spawn(move || plimsoll.record(name, &mut run, None, |_| Ok(())))
            });
            let runs: Vec<_> = runs.collect();
            runs.into_iter().map(|run| run.join().expect("a run does not panic")).collect()
        });
        outcomes.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        for first in 0..AT_A_TIME {
            let sides = [first, (first + 1) % AT_A_TIME].map(|side| plimsoll.path(&names[side]));
            let name = format!("once-{batch}-pair-{first}-compared");
            at_once.push(compare(trial, &name, &[&sides[0], &sides[1]])?);
        }
    }
    for (arrangement, answers) in [("in turns", in_turns), ("at once", at_once)] {
        let count = |is_such: fn(&Answer) -> bool| answers.iter().filter(|answer| is_such(answer)).count();
        let required = format!("at most {SIGNIFICANT_MAX}");
        let claimed = count(|answer| answer.is_claimed);
        let measured = format!("{claimed} of {}", answers.len());
        trial.judge(&format!("{arrangement}, differences claimed"), &measured, &required, claimed <= SIGNIFICANT_MAX);
        let apart = count(|answer| !answer.holds(1.0));
        let measured = format!("{apart} of {}", answers.len());
        trial.judge(&format!("{arrangement}, intervals without 1"), &measured, &required, apart <= SIGNIFICANT_MAX);
        let widest = answers.iter().map(|answer| (answer.ratio - 1.0).abs()).fold(0.0, f64::max);
        trial.note(&format!("{arrangement}, ratio farthest from 1"), &format!("{:.3} % off", widest * 100.0));
    }
    Ok(())
}

/// The record as it would be, had it these two targets only.
fn of_targets(record: &Record, targets: [usize; 2]) -> Record {
    let names = targets.map(|target| record.asked.targets[target].clone());
    let mut pair = record.clone();
    pair.cells.retain(|cell| names.contains(&cell.target));
    pair.asked.targets.retain(|target| names.contains(target));
    pair
}

/// Ten pairs of which the second may do a tenth more, each pair with rates of its own.
pub(super) fn different(trial: &Trial<'_>) -> anyhow::Result<()> {
    let capped = CappedDevices::create(2, &crate::repository().join("target"), DEVICE_BYTES, Backing::Cached)?;
    let [first, second] = capped.devices.as_slice() else { unreachable!("two devices were made") };
    let mut answers = Vec::new();
    for pair in 0..PAIRS {
        let operations = 1_000 + 100 * pair;
        capped.cap(first, Cap::operations(operations))?;
        capped.cap(second, Cap::operations(operations * 11 / 10))?;
        let paths = [&first.path, &second.path].map(std::path::PathBuf::as_path);
        let mut run = capped.inside(&Plimsoll::run_command(paths, VISITS));
        let name = format!("pair-{pair}");
        trial.plimsoll.record(&name, &mut run, None, |_| Ok(()))?;
        let path = trial.plimsoll.path(&name);
        let answer = compare(trial, &format!("{name}-compared"), &[&path])?;
        let measured = format!("{:.4} [{:.4}, {:.4}]", answer.ratio, answer.low, answer.high);
        trial.note(&format!("{operations} and {} IOPS", operations * 11 / 10), &measured);
        answers.push(answer);
    }
    let found = answers.iter().filter(|answer| answer.is_claimed && answer.ratio > 1.0).count() as u64;
    trial.judge("differences found", &format!("{found} of {PAIRS}"), &format!("{PAIRS}"), found == PAIRS);
    let holding = answers.iter().filter(|answer| answer.holds(DIFFERENT_RATIO)).count() as u64;
    let measured = format!("{holding} of {PAIRS}");
    trial.judge("intervals with 1.10", &measured, "at least 9", holding >= 9);
    Ok(())
}
