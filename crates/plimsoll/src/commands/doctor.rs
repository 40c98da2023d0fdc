//! `plimsoll doctor`: what this machine can do, what would disturb a measurement, and what earlier runs left behind.

use std::{fmt::Write, path::Path};

use plimsoll_history::location::HistoryLocation;
use plimsoll_io::{clock, probe};
use plimsoll_record::environment::Environment;
use plimsoll_report::plan::{self, DoctorRow};
use plimsoll_run::{
    machine::{self, Pod},
    objects::leftovers,
};
use plimsoll_workload::settings::EngineChoice;
use serde::Serialize;

use crate::{cli::DoctorArguments, exit::LeftoverError, printer::Printer, state::State};

/// One line of a diagnosis.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    value: String,
    advice: Option<String>,
}

fn row(name: &'static str, value: impl Into<String>) -> Row {
    Row { name, value: value.into(), advice: None }
}

fn advised(name: &'static str, value: impl Into<String>, advice: Option<&str>) -> Row {
    Row { name, value: value.into(), advice: advice.map(str::to_owned) }
}

/// Does `plimsoll doctor`.
pub fn doctor(arguments: &DoctorArguments, state: &State, printer: Printer) -> anyhow::Result<String> {
    if arguments.clean {
        return clean(arguments, printer);
    }
    let environment = machine::gather(&[], &Pod::default());
    let rows = diagnose(&environment, state);
    if arguments.json {
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    let rows: Vec<_> =
        rows.iter().map(|row| DoctorRow { name: row.name, value: &row.value, advice: row.advice.as_deref() }).collect();
    Ok(plan::doctor(&rows, printer.width()))
}

fn diagnose(environment: &Environment, state: &State) -> Vec<Row> {
    let machine = &environment.machine;
    let mut rows = vec![
        row("plimsoll", env!("CARGO_PKG_VERSION")),
        advised(
            "build",
            if cfg!(debug_assertions) { "debug" } else { "release" },
            cfg!(debug_assertions).then_some("numbers of a debug build are too low: build with --release"),
        ),
        row(
            "kernel",
            [&machine.kernel_release, &machine.architecture].map(|part| part.as_deref().unwrap_or("unknown")).join(" "),
        ),
    ];
    for (name, choice) in
        [("io_uring", EngineChoice::IoUring), ("libaio", EngineChoice::Libaio), ("psync", EngineChoice::Psync)]
    {
        rows.push(match probe::select(choice) {
            Ok(_) => row(name, "works"),
            Err(error) => Row { name, value: "cannot be used".to_owned(), advice: Some(error.reason) },
        });
    }
    let cost_ns = clock::clock_cost_ns();
    rows.push(advised(
        "clock",
        format!("{cost_ns:.0} ns a reading ({})", machine.clock_source.as_deref().unwrap_or("unknown source")),
        (cost_ns > 100.0).then_some("a slow clock lowers the highest rates: prefer clocksource tsc or kvm-clock"),
    ));
    let governor = machine.governor.as_deref();
    rows.push(advised(
        "governor",
        governor.unwrap_or("not visible"),
        governor
            .is_some_and(|name| name != "performance")
            .then_some("latencies include waking up slow processors: set the governor to performance while measuring"),
    ));
    let quota = environment.cgroup.as_ref().and_then(|cgroup| cgroup.cpu_quota_processors);
    rows.push(advised(
        "cpu quota",
        quota.map_or_else(|| "none".to_owned(), |quota| format!("{quota:.2} processors")),
        quota.map(|_| "a quota stalls the load generator when it is used up: lift it while measuring"),
    ));
    let memlock = environment.limits.memlock_bytes;
    rows.push(row("memlock", memlock.map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} KiB", bytes / 1024))));
    if let (Some(used), Some(most)) = (environment.limits.aio_nr, environment.limits.aio_max_nr) {
        rows.push(advised(
            "aio requests",
            format!("{used} of {most} in use"),
            (used + 4096 > most).then_some("libaio may be refused: raise fs.aio-max-nr"),
        ));
    }
    rows.push(match (&state.history, &state.directory) {
        (HistoryLocation::File(path), _) => row("history", path.display().to_string()),
        (HistoryLocation::None, Some(_)) => row("history", "off"),
        (HistoryLocation::None, None) => Row {
            name: "history",
            value: "off".to_owned(),
            advice: Some("neither XDG_STATE_HOME nor HOME is set: name a file with --history".to_owned()),
        },
    });
    rows
}

fn clean(arguments: &DoctorArguments, printer: Printer) -> anyhow::Result<String> {
    let mut text = String::new();
    let here = [Path::new(".").to_owned()];
    let paths = if arguments.paths.is_empty() { &here[..] } else { &arguments.paths[..] };
    for path in paths {
        let sweep = leftovers::clean(path).map_err(|source| LeftoverError { path: path.clone(), source })?;
        for removed in &sweep.removed {
            writeln!(text, "removed {} ({} bytes) of run {}", removed.path.display(), removed.bytes, removed.run)?;
        }
        for left in &sweep.left {
            printer.warning(format!("left {}: {}", left.path.display(), left.reason));
        }
    }
    if text.is_empty() {
        text.push_str("nothing to remove\n");
    }
    Ok(text)
}
