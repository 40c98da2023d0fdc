//! What matters of applications, as text.

use std::collections::BTreeSet;

use plimsoll_record::record::Cell;
use plimsoll_workload::application::ApplicationPlan;

use super::{Aspect, IN_TURNS};

pub(super) fn aspects(cell: &Cell, plan: &ApplicationPlan) -> [(Aspect, String); 4] {
    // Every field is named, so that a new parameter does not compile until somebody decides whether it matters.
    let ApplicationPlan {
        command,
        setup,
        ready: _,
        prepare,
        verify: _,
        conclude,
        cleanup: _,
        timeout_ns: _,
        settle_ns,
        user: _,
        threads,
        seed: _,
        keep_going: _,
    } = plan;
    let commands = [setup.as_deref(), prepare.as_deref(), Some(command.as_str()), conclude.as_deref()];
    let commands: Vec<&str> = commands.into_iter().flatten().map(str::trim).collect();
    // How long it may take hardly matters; what is still to be written matters more than many a disk does.
    let settling = if *settle_ns == 0 { "not waited for" } else { "waited for" };
    [
        (Aspect::Pattern, commands.join("; ")),
        (Aspect::Jobs, threads.to_string()),
        (Aspect::Company, company(cell)),
        (Aspect::Settling, settling.to_owned()),
    ]
}

/// Who had the machine: each target that shares it has a part of the processors, and all parts in turn.
fn company(cell: &Cell) -> String {
    if cell.phase.is_none() {
        return IN_TURNS.to_owned();
    }
    let iterations = cell.application.iter().flat_map(|application| &application.iterations);
    let parts: BTreeSet<&[u32]> = iterations.map(|iteration| iteration.cpus.as_slice()).collect();
    format!("one of {} at the same time", parts.len())
}
