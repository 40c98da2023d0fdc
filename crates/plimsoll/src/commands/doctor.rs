//! `plimsoll doctor`: what this machine can do, what would disturb a measurement, and what earlier runs left behind.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};

use plimsoll_history::{history, journal, location::HistoryLocation};
use plimsoll_io::{
    probe::{self, Queues},
    ring::RingSetup,
};
use plimsoll_record::{environment::Environment, record::Tool};
use plimsoll_report::{
    plan::{self, DoctorRow},
    printable,
};
use plimsoll_run::{
    machine::{self, Pod},
    objects::leftovers::{self, LeftReason},
};
use plimsoll_workload::{error_chain::chain, settings::EngineChoice};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    cli::DoctorArguments,
    exit::{Exit, LeftoverError},
    printer::Printer,
    state::State,
};

/// All that was found, for programs: numbers are numbers, and the environment is described as in a record.
#[derive(Serialize)]
struct Diagnosis {
    tool: Tool,
    environment: Environment,
    engines: BTreeMap<&'static str, EngineState>,
    io_uring_features: IoUringFeatureStates,
    /// The history's file; null when there is none.
    history: Option<PathBuf>,
    /// Where journals of runs and lists of their files are; null when there is no place for them.
    state_directory: Option<PathBuf>,
    /// Runs that had ended without a word and are in no history, because theirs is not there.
    waiting: Vec<WaitingRuns>,
    advice: Vec<Advice>,
}

/// Runs that wait for a history.
#[derive(Serialize)]
struct WaitingRuns {
    history: PathBuf,
    runs: usize,
}

/// Whether an engine works.
#[derive(Serialize)]
struct EngineState {
    usable: bool,
    /// Why not.
    reason: Option<String>,
}

/// What the `io_uring` of this machine can do.
#[derive(Serialize)]
struct IoUringFeatureStates {
    iopoll: bool,
    sqpoll: bool,
    single_issuer: bool,
    defer_taskrun: bool,
    coop_taskrun: bool,
    registered_buffers: bool,
}

impl WaitingRuns {
    fn of((history, runs): (PathBuf, usize)) -> Self {
        Self { history, runs }
    }
}

/// What is said of [`WaitingRuns`] has this name.
const LOST_RUNS: &str = "lost runs";

/// What to do about something.
#[derive(Serialize)]
struct Advice {
    about: &'static str,
    text: String,
}

/// Does `plimsoll doctor`.
pub fn doctor(arguments: &DoctorArguments, state: &State, printer: Printer) -> anyhow::Result<(String, Exit)> {
    if arguments.clean {
        return clean(arguments, state, printer);
    }
    let diagnosis = diagnose(state);
    if arguments.json {
        return Ok((serde_json::to_string_pretty(&diagnosis)? + "\n", Exit::Success));
    }
    let values = values(&diagnosis);
    let advice = |name| diagnosis.advice.iter().find(|advice| advice.about == name);
    let rows: Vec<_> = values
        .iter()
        .map(|(name, value)| DoctorRow { name, value, advice: advice(*name).map(|advice| advice.text.as_str()) })
        .collect();
    Ok((plan::doctor(&rows, printer.width()), Exit::Success))
}

fn diagnose(state: &State) -> Diagnosis {
    let choices =
        [("io_uring", EngineChoice::IoUring), ("libaio", EngineChoice::Libaio), ("psync", EngineChoice::Psync)];
    let engines = choices
        .map(|(name, choice)| {
            let reason = probe::select(choice, &Queues::one(RingSetup::plain(1))).err().map(|error| error.reason);
            (name, EngineState { usable: reason.is_none(), reason })
        })
        .into();
    let features = probe::features();
    let io_uring_features = IoUringFeatureStates {
        iopoll: features.iopoll,
        sqpoll: features.sqpoll,
        single_issuer: features.single_issuer,
        defer_taskrun: features.defer_taskrun,
        coop_taskrun: features.coop_taskrun,
        registered_buffers: features.unavailable.is_none() && features.registered_buffers_denied.is_none(),
    };
    let history = match &state.history {
        HistoryLocation::File(path) => Some(path.clone()),
        HistoryLocation::None => None,
    };
    let mut diagnosis = Diagnosis {
        tool: super::run::tool(),
        environment: machine::gather(&[], &Pod::default()),
        engines,
        io_uring_features,
        history,
        state_directory: state.directory.clone(),
        waiting: state.directory.as_deref().map(journal::waiting).into_iter().flatten().map(WaitingRuns::of).collect(),
        advice: Vec::new(),
    };
    diagnosis.advice = advice(&diagnosis);
    diagnosis
}

/// What is worth doing before numbers are trusted.
fn advice(diagnosis: &Diagnosis) -> Vec<Advice> {
    let Diagnosis { tool, environment, engines, history, state_directory, waiting, .. } = diagnosis;
    let mut advice = Vec::new();
    let mut advise = |about, text: &str| advice.push(Advice { about, text: text.to_owned() });
    if tool.profile == "debug" {
        advise("build", "numbers of a debug build are too low: build with --release");
    }
    for (name, engine) in engines {
        if let Some(reason) = &engine.reason {
            advise(name, reason);
        }
    }
    if environment.clock_cost_ns.is_some_and(|cost_ns| cost_ns > 100.0) {
        advise("clock", "a slow clock lowers the highest rates: prefer clocksource tsc or kvm-clock");
    }
    if environment.machine.governor.as_ref().is_some_and(|name| name != "performance") {
        advise(
            "governor",
            "latencies include waking up slow processors: set the governor to performance while measuring",
        );
    }
    if quota(environment).is_some() {
        advise("cpu quota", "a quota stalls the load generator when it is used up: lift it while measuring");
    }
    if let (Some(used), Some(most)) = (environment.limits.aio_nr, environment.limits.aio_max_nr)
        && used + 4096 > most
    {
        advise("aio requests", "libaio may be refused: raise fs.aio-max-nr");
    }
    if let Some(Err(error)) = history.as_deref().map(history::check_writable) {
        advise("history", &format!("runs are not kept: {}", chain(&error)));
    }
    if history.is_none() && state_directory.is_none() {
        advise("history", "neither XDG_STATE_HOME nor HOME is set: name a file with --history");
    }
    if !waiting.is_empty() {
        advise(
            LOST_RUNS,
            "the directory of their history is not there, or was made anew: mount its file system, or keep any run there \
             with --history, and the next command recovers them",
        );
    }
    advice
}

fn quota(environment: &Environment) -> Option<f64> {
    environment.cgroup.as_ref().and_then(|cgroup| cgroup.cpu_quota_processors)
}

/// The same for people: names and values.
fn values(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let Diagnosis { tool, environment, engines, history, waiting, .. } = diagnosis;
    let Environment { machine, limits, .. } = environment;
    let mut values = vec![
        ("plimsoll", tool.version.clone()),
        ("build", tool.profile.clone()),
        (
            "kernel",
            [&machine.kernel_release, &machine.architecture].map(|part| part.as_deref().unwrap_or("unknown")).join(" "),
        ),
    ];
    for (name, engine) in engines {
        values.push((name, if engine.usable { "works" } else { "cannot be used" }.to_owned()));
    }
    let source = machine.clock_source.as_deref().unwrap_or("unknown source");
    let cost = environment.clock_cost_ns.map(|cost_ns| format!("{cost_ns:.0} ns a reading ({source})"));
    values.push(("clock", cost.unwrap_or_else(|| source.to_owned())));
    values.push(("governor", machine.governor.clone().unwrap_or_else(|| "not visible".to_owned())));
    values.push((
        "cpu quota",
        quota(environment).map_or_else(|| "none".to_owned(), |quota| format!("{quota:.2} processors")),
    ));
    let memlock = limits.memlock_bytes.map(|bytes| format!("{} KiB", bytes / 1024));
    values.push(("memlock", memlock.unwrap_or_else(|| "unlimited".to_owned())));
    if let (Some(used), Some(most)) = (limits.aio_nr, limits.aio_max_nr) {
        values.push(("aio requests", format!("{used} of {most} in use")));
    }
    values.push(("history", history.as_ref().map_or_else(|| "off".to_owned(), |path| path.display().to_string())));
    if !waiting.is_empty() {
        let runs = |WaitingRuns { history, runs }: &WaitingRuns| format!("{runs} for {}", history.display());
        values.push((LOST_RUNS, format!("waiting: {}", waiting.iter().map(runs).collect::<Vec<_>>().join(", "))));
    }
    values
}

/// What `--clean` did, for programs.
#[derive(Serialize)]
struct Cleaned {
    removed: Vec<RemovedObject>,
    left: Vec<LeftObject>,
    /// Journals of runs that could not be put into their histories, where they are now.
    set_aside: Vec<PathBuf>,
}

#[derive(Serialize)]
struct RemovedObject {
    path: PathBuf,
    size_bytes: u64,
    run: Uuid,
}

#[derive(Serialize)]
struct LeftObject {
    path: PathBuf,
    reason: String,
}

fn clean(arguments: &DoctorArguments, state: &State, printer: Printer) -> anyhow::Result<(String, Exit)> {
    let mut exit = Exit::Success;
    let (set_aside, problems) = state.set_aside_journals();
    let mut cleaned = Cleaned { removed: Vec::new(), left: Vec::new(), set_aside };
    // What can be put in order is, whatever is wrong with the rest.
    let mut problems: Vec<anyhow::Error> = problems.into_iter().map(Into::into).collect();
    let here = [Path::new(".").to_owned()];
    let paths = if arguments.paths.is_empty() { &here[..] } else { &arguments.paths[..] };
    for path in paths {
        let sweep = match leftovers::clean(path) {
            Ok(sweep) => sweep,
            Err(source) => {
                problems.push(LeftoverError { path: path.clone(), source }.into());
                continue;
            }
        };
        let removed = sweep.removed.into_iter();
        cleaned.removed.extend(removed.map(|object| RemovedObject {
            path: object.path,
            size_bytes: object.bytes,
            run: object.run,
        }));
        if sweep.left.iter().any(|left| matches!(left.reason, LeftReason::Failed(_) | LeftReason::Silent)) {
            exit = Exit::Io;
        }
        let left = sweep.left.into_iter();
        cleaned.left.extend(left.map(|object| LeftObject { path: object.path, reason: object.reason.to_string() }));
    }
    let is_nothing = cleaned.removed.is_empty() && cleaned.left.is_empty() && cleaned.set_aside.is_empty();
    if is_nothing && let Some(last) = problems.pop() {
        problems.iter().for_each(|problem| printer.error(problem));
        return Err(last);
    }
    for problem in &problems {
        printer.error(problem);
        exit = Exit::of(problem);
    }
    for LeftObject { path, reason } in &cleaned.left {
        printer.warning(format!("left {}: {reason}", path.display()));
    }
    if arguments.json {
        return Ok((serde_json::to_string_pretty(&cleaned)? + "\n", exit));
    }
    let mut text = String::new();
    for RemovedObject { path, size_bytes, run } in &cleaned.removed {
        let path = path.display().to_string();
        writeln!(text, "removed {} ({size_bytes} bytes) of run {run}", printable::line(&path))?;
    }
    for path in &cleaned.set_aside {
        let path = path.display().to_string();
        writeln!(text, "set aside {}: its run could not be put into its history", printable::line(&path))?;
    }
    if text.is_empty() && !cleaned.left.is_empty() {
        text.push_str("nothing was removed\n");
    } else if text.is_empty() && problems.is_empty() {
        text.push_str("nothing to remove");
        if arguments.paths.is_empty() {
            text.push_str(" here: name the directories that runs worked in (plimsoll doctor --clean DIRECTORY)");
        }
        text.push('\n');
    }
    Ok((text, exit))
}
