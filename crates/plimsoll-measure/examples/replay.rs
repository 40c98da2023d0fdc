//! Measures traces of rates as if they were storages, and prints one line of JSON each.
//!
//! `replay [--mode single|matrix] [--cells N] [--seed N] [--limits FILE] [--bookend SECONDS] TRACE.csv|DIRECTORY...`
//!
//! `replay --compare A.csv B.csv [--seed N]` tells how many times as fast B is.
//!
//! A trace has the header `t_s,ops` and a row a second. Limits map the name of a trace to its sustained rate, burst
//! rate and bucket.

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use plimsoll_measure::{
    allowance::Allowance,
    replay::{ReplayPlan, replay, replay_pair},
};
use serde_json::json;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut plan = ReplayPlan { cells: 12, ..ReplayPlan::default() };
    let mut limits = BTreeMap::new();
    let mut traces = Vec::new();
    let mut pairs = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--mode" => plan.cells = if value()? == "single" { 1 } else { 12 },
            "--cells" => plan.cells = value()?.parse()?,
            "--seed" => plan.seed = value()?.parse()?,
            "--effort" => plan.effort = serde_json::from_value(value()?.into())?,
            "--bookend" => plan.bookend_ns = Some(value()?.parse::<u64>()? * 1_000_000_000),
            "--limits" => limits = read_limits(&value()?)?,
            "--compare" => {
                let pair = [PathBuf::from(value()?), PathBuf::from(value()?)];
                pairs.push(pair);
            }
            path => traces.extend(traces_in(Path::new(path))?),
        }
    }
    let mut output = io::stdout().lock();
    for (index, [first, second]) in pairs.iter().enumerate() {
        let seed = plan.seed.wrapping_add(index as u64);
        writeln!(output, "{}", compare(&read_trace(first)?, &read_trace(second)?, seed))?;
    }
    for (index, path) in traces.iter().enumerate() {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut plan = plan.clone();
        // Each trace has an order of its own.
        plan.seed = plan.seed.wrapping_add(index as u64);
        plan.allowances.extend(limits.get(&id).copied());
        writeln!(output, "{}", answer(&id, &read_trace(path)?, &plan))?;
    }
    Ok(())
}

fn compare(first: &[f64], second: &[f64], seed: u64) -> serde_json::Value {
    let answer = replay_pair(first, second, seed);
    let ratio = answer.map(|answer| answer.ratio);
    json!({
        "ratio": ratio.map(|ratio| ratio.ratio),
        "lo": ratio.map(|ratio| ratio.low),
        "hi": ratio.map(|ratio| ratio.high),
        "different": ratio.is_some_and(|ratio| ratio.differs()),
        "detectable": ratio.map(|ratio| ratio.detectable),
        "cost_s": answer.map(|answer| answer.load_ns as f64 / 1e9),
    })
}

fn answer(id: &str, trace: &[f64], plan: &ReplayPlan) -> serde_json::Value {
    let answer = replay(trace, plan);
    let estimate = answer.estimate;
    json!({
        "id": id,
        "verdict": answer.verdict,
        "est": estimate.map(|estimate| estimate.rate),
        "lo": estimate.and_then(|estimate| estimate.low()),
        "hi": estimate.and_then(|estimate| estimate.high()),
        "cost_s": answer.load_ns as f64 / 1e9,
        "grade": answer.stability.and_then(|stability| stability.grade),
        "flags": answer.flags(),
    })
}

fn read_limits(path: &str) -> Result<BTreeMap<String, Allowance>, Failure> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

fn traces_in(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut traces = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            traces.push(path);
        }
    }
    traces.sort();
    Ok(traces)
}

fn read_trace(path: &Path) -> Result<Vec<f64>, Failure> {
    let text = fs::read_to_string(path)?;
    let rate = |line: &str| -> Result<f64, Failure> {
        let column = line.split(',').nth(1).ok_or(format!("{}: a row has two columns", path.display()))?;
        Ok(column.trim().parse()?)
    };
    text.lines().skip(1).filter(|line| !line.is_empty()).map(rate).collect()
}
