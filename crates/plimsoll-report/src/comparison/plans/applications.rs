//! What matters of applications, as text.

use plimsoll_workload::application::ApplicationPlan;

use super::Aspect;

pub(super) fn aspects(plan: &ApplicationPlan) -> [(Aspect, String); 2] {
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
        settle_ns: _,
        user: _,
        threads,
        seed: _,
        keep_going: _,
    } = plan;
    let commands = [setup.as_deref(), prepare.as_deref(), Some(command.as_str()), conclude.as_deref()];
    let commands: Vec<&str> = commands.into_iter().flatten().map(str::trim).collect();
    [(Aspect::Pattern, commands.join("; ")), (Aspect::Jobs, threads.to_string())]
}
