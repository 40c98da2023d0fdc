//! `plimsoll kubernetes preflight`: whether a run would work.

use plimsoll_kubernetes::{
    preflight::{Preflight, State, preflight as look},
    request::PodRun,
};
use plimsoll_report::cluster::{CheckRow, checks};

use super::{connect, run};
use crate::{
    cli::kubernetes::PreflightArguments,
    exit::{Exit, OutputLost},
    printer::Printer,
};

/// Deadlines of the Job that is tried: any but none, which the cluster would refuse.
const DEADLINE_S: u32 = 3600;

/// Does `plimsoll kubernetes preflight`.
pub(super) fn preflight(arguments: &PreflightArguments, printer: Printer) -> anyhow::Result<Exit> {
    let run = run::unplanned(&arguments.volumes, &arguments.pod)?;
    let cluster = connect(&arguments.access_to)?;
    let assigns_users = cluster.assigns_users() && !run.runs_as_root;
    let found = look(&cluster, &PodRun { assigns_users, deadline_s: DEADLINE_S, keep_s: DEADLINE_S, ..run })?;
    let answer = if arguments.json {
        serde_json::to_string_pretty(&found)? + "\n"
    } else if arguments.rules {
        found.rules.clone()
    } else {
        text(&found, printer.width())
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(if found.would_work { Exit::Success } else { Exit::Failure })
}

fn text(found: &Preflight, width: usize) -> String {
    let rows: Vec<CheckRow<'_>> = found
        .checks
        .iter()
        .map(|check| CheckRow { state: check.state.as_str(), about: check.about, text: &check.text })
        .collect();
    let mut out = checks(&rows, width);
    let count = |state: State| found.checks.iter().filter(|check| check.state == state).count();
    let who = if found.subject.name.is_empty() { "you" } else { &found.subject.name };
    let place = format!("in namespace {} of a cluster of version {}, for {who}", found.namespace, found.version);
    out += &match (found.would_work, count(State::Fails), count(State::Warning) + count(State::Unknown)) {
        (false, fails, _) => format!("\nA run would not work {place}: see the {fails} above.\n"),
        (true, _, 0) => format!("\nA run would work {place}.\n"),
        (true, _, doubts) => format!("\nA run would work {place}, as far as can be known: see the {doubts} above.\n"),
    };
    if !found.rules.is_empty() {
        out += "\nWhat is missing, for somebody who may give it, by `kubectl auth reconcile -f -`:\n\n";
        out += &found.rules;
    }
    out
}
