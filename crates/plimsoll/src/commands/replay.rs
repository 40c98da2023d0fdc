//! `plimsoll replay`: what the rules of a run would say of a recorded or invented storage.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use plimsoll_measure::{
    allowance::Allowance,
    replay::{self, ReplayPlan, trace::Trace},
};
use plimsoll_record::judgement;
use plimsoll_report::replay::{self as table, TraceRow};
use plimsoll_workload::{
    certainty::{BOOKEND, Certainty, Precision},
    limit::{Limit, RateLimit},
};

use super::input_file;
use crate::{
    cli::replay::{Mode, ReplayArguments},
    exit::Exit,
    printer::Printer,
};

/// A file of this size is no trace: it would hold the seconds of half a year.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Judges traces, or compares two.
pub fn replay(arguments: &ReplayArguments, printer: Printer) -> anyhow::Result<(String, Exit)> {
    if let [first, second] = arguments.compare.as_slice() {
        return Ok((compare(first, second, arguments, printer)?, Exit::Success));
    }
    let plan = plan(arguments)?;
    let limits = arguments.limits.as_deref().map(limits).transpose()?.unwrap_or_default();
    let paths = paths(arguments)?;
    let ids: Vec<String> = paths.iter().map(|path| id(path)).collect();
    if let Some(unknown) = limits.keys().find(|id| !ids.contains(id)) {
        printer
            .warning(format!("no trace is called {unknown}, which has a limit: an id is a file's name without .csv"));
    }
    let mut answers = Vec::new();
    let mut exit = Exit::Success;
    for (path, id) in paths.iter().zip(ids) {
        let mut plan = plan.clone();
        plan.allowances.extend(limits.get(&id));
        match read(path) {
            Ok(trace) => answers.push((id, replay::replay(&trace.rates, &plan))),
            // The other traces of a directory have answers all the same.
            Err(error) => {
                printer.error(&error);
                exit = Exit::Usage;
            }
        }
    }
    let rows: Vec<_> = answers.iter().map(|(id, answer)| TraceRow { id, answer }).collect();
    let text = match (arguments.json, rows.as_slice()) {
        (true, rows) => table::trace_lines(rows),
        (false, []) => String::new(),
        (false, rows) => table::traces(rows, printer.width()),
    };
    Ok((text, exit))
}

/// How every trace is measured.
fn plan(arguments: &ReplayArguments) -> anyhow::Result<ReplayPlan> {
    let certainty =
        Certainty { precision: arguments.precision, bookend: arguments.bookend, ..Certainty::of(arguments.effort) };
    certainty.check()?;
    Ok(ReplayPlan {
        cells: if arguments.mode == Mode::Single { 1 } else { arguments.cells.into() },
        effort: judgement::effort(certainty.effort),
        precision: certainty.precision.map(Precision::get),
        seed: arguments.seed,
        bookend_ns: certainty.bookend.then_some(BOOKEND.ns),
        allowances: arguments.limit.as_ref().map(allowances).transpose()?.unwrap_or_default(),
    })
}

fn allowances(limit: &Limit) -> anyhow::Result<Vec<Allowance>> {
    if limit.bytes.is_some() {
        bail!("--limit {limit}: a trace has operations and no bytes: give iops, burst-iops and bucket");
    }
    let allowances = judgement::allowances_of(limit);
    if allowances.is_empty() {
        bail!("--limit {limit}: only a limit with a burst matters to a trace: add burst-iops and bucket");
    }
    Ok(allowances)
}

/// Reads what is known of each trace.
fn limits(path: &Path) -> anyhow::Result<BTreeMap<String, Allowance>> {
    let text = input_file::text(path).context("read the limits")?;
    let limits: BTreeMap<String, RateLimit> =
        serde_json::from_str(&text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let allowance = |(id, limit): (String, RateLimit)| {
        let limit = Limit { operations: Some(limit), ..Limit::default() };
        match judgement::allowances_of(&limit).pop() {
            Some(allowance) => Ok((id, allowance)),
            None => bail!("{}: the limit of {id} has no bucket: add it", path.display()),
        }
    };
    limits.into_iter().map(allowance).collect()
}

/// The traces to judge, in the order of their ids.
fn paths(arguments: &ReplayArguments) -> anyhow::Result<Vec<PathBuf>> {
    let Some(directory) = &arguments.traces else { return Ok(arguments.trace.iter().cloned().collect()) };
    let mut paths = Vec::new();
    let entries = fs::read_dir(directory).with_context(|| format!("read the directory {}", directory.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("read the directory {}", directory.display()))?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.extension().is_some_and(|extension| extension == "csv") && !is_hidden {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        bail!("{} has no *.csv: a trace is a file of that name", directory.display());
    }
    paths.sort_by_key(|path| id(path));
    Ok(paths)
}

/// What a trace is called: its file's name without the extension.
fn id(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn read(path: &Path) -> anyhow::Result<Trace> {
    let mut content = Vec::new();
    let mut file = File::open(path).with_context(|| format!("read the trace {}", path.display()))?.take(FILE_BYTES_MAX);
    file.read_to_end(&mut content).with_context(|| format!("read the trace {}", path.display()))?;
    if file.limit() == 0 {
        bail!("{} is too long for a trace", path.display());
    }
    let text = String::from_utf8(content).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        anyhow!("{}, line {line}: this is no text in UTF-8", path.display())
    })?;
    text.parse().map_err(|error| anyhow!("{}, {error}", path.display()))
}

fn compare(first: &Path, second: &Path, arguments: &ReplayArguments, printer: Printer) -> anyhow::Result<String> {
    let answer = replay::replay_pair(&read(first)?.rates, &read(second)?.rates, arguments.seed);
    let names = [first, second].map(|path| path.display().to_string());
    let names = names.each_ref().map(String::as_str);
    Ok(match arguments.json {
        true => table::pair_line(names, answer.as_ref()),
        false => table::pair(names, answer.as_ref(), printer.width()),
    })
}
