//! What matters of applications, as text.

use plimsoll_record::record::{Cell, Record};
use plimsoll_workload::application::ApplicationPlan;

use super::{Aspect, company};

pub(super) fn aspects(record: &Record, cell: &Cell, plan: &ApplicationPlan) -> [(Aspect, String); 4] {
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
        (Aspect::Company, company(record, cell)),
        (Aspect::Settling, settling.to_owned()),
    ]
}
