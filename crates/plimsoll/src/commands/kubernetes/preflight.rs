//! `plimsoll kubernetes preflight`: whether a run would work.

use plimsoll_kubernetes::preflight::{Preflight, State, preflight as look};
use plimsoll_report::sheets::{CheckRow, checks};

use super::{
    connect,
    run::{self, several},
};
use crate::{
    cli::kubernetes::PreflightArguments,
    exit::{Exit, OutputLost},
    printer::Printer,
};

/// Does `plimsoll kubernetes preflight`.
pub(super) fn preflight(arguments: &PreflightArguments, printer: Printer) -> anyhow::Result<Exit> {
    let volumes = run::named(&arguments.volumes)?;
    several::check_turns(&arguments.pod, volumes.len())?;
    let cluster = connect(&arguments.cluster)?;
    let mut asked = run::unplanned(volumes, &arguments.volumes, &arguments.pod, Some(&cluster));
    several::fit(&cluster, &mut asked, &arguments.pod)?;
    let found = look(&cluster, &asked)?;
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
    let is_doubtful = found.checks.iter().any(|check| matches!(check.state, State::Warning | State::Unknown));
    let who = if found.subject.name.is_empty() { "you" } else { &found.subject.name };
    let place = format!("in namespace {} of a cluster of version {}, for {who}", found.namespace, found.version);
    let conclusion = match (found.would_work, is_doubtful) {
        (false, _) => format!("A run would not work {place}: see what fails."),
        (true, true) => format!("A run would work {place}, as far as can be known: see what is not ok."),
        (true, false) => format!("A run would work {place}."),
    };
    let mut out = checks(&rows, &conclusion, width);
    if !found.rules.is_empty() {
        out += "\nWhat is missing, for somebody who may give it, by `kubectl auth reconcile -f -`:\n\n";
        out += &found.rules;
    }
    out
}
