//! The plan of an application, in words.

use plimsoll_workload::{application::ApplicationPlan, certainty::StoppingRule, units::Span};

use super::iterations;
use crate::printable;

/// Every parameter of an application. All fields are named, so that a new one cannot be forgotten here.
pub(super) fn parameters(stopping: &StoppingRule, plan: &ApplicationPlan) -> Vec<(&'static str, String)> {
    let ApplicationPlan {
        command,
        setup,
        ready,
        prepare,
        verify,
        conclude,
        cleanup,
        timeout_ns,
        settle_ns,
        user,
        threads,
        seed,
        keep_going,
    } = plan;
    let stage = |name, command: &Option<String>| {
        command.as_ref().map(|command| (name, printable::line(command.trim()).into_owned()))
    };
    let before = [stage("setup", setup), stage("ready", ready), stage("prepare", prepare)];
    let after = [stage("verify", verify), stage("conclude", conclude), stage("cleanup", cleanup)];
    let settle = match settle_ns {
        0 => "not waited for".to_owned(),
        ns => format!("until the disk is at rest before each iteration, at most {}", Span { ns: *ns }),
    };
    let others = vec![
        ("settle", settle),
        ("timeout", timeout_ns.map_or_else(|| "none".to_owned(), |ns| format!("{} each", Span { ns }))),
        ("user", user.clone().map_or_else(|| "the one of plimsoll".to_owned(), |user| format!("{user}, not root"))),
        ("iterations", iterations(stopping)),
        ("threads", threads.to_string()),
        ("seed", seed.to_string()),
        ("keep going", if *keep_going { "yes" } else { "no" }.to_owned()),
    ];
    let command = [("command", printable::line(command.trim()).into_owned())];
    before.into_iter().flatten().chain(command).chain(after.into_iter().flatten()).chain(others).collect()
}
