//! From a workload of commands as asked to its plan.

use super::{PlanError, Work, files};
use crate::{
    application::ApplicationPlan,
    certainty::{Certainty, StoppingRule},
    limits,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
    units::Span,
    workload::Workload,
};

/// How long the storage may take to come to rest when nothing is said.
const SETTLE: Span = Span::from_seconds(60);

/// Parameters that mean something only with a command, by the names of their flags.
const OF_APPLICATIONS_ALONE: &[&str] = &[
    "command",
    "setup",
    "ready",
    "prepare",
    "verify-command",
    "conclude",
    "cleanup",
    "warmup",
    "timeout",
    "settle",
    "user",
];

/// Those that mean something with a command too.
const OF_APPLICATIONS_TOO: &[&str] = &["name", "target", "iterations", "jobs", "seed", "keep-going"];

/// How often a command is timed when nothing is said.
const fn usual_iterations(effort: Effort) -> u32 {
    match effort {
        Effort::Quick => 3,
        Effort::Standard => 5,
        Effort::Thorough => 10,
    }
}

/// Refuses what only the other kinds of workload have, for one that reads or writes blocks.
pub(super) fn check_blocks(workload: &Workload) -> Result<(), PlanError> {
    let problem = |flag: String| match flag.as_str() {
        "iterations" => Some("--iterations is about --phases and --command: say --passes".to_owned()),
        flag if files::is_of_files_alone(flag) => {
            Some(format!("--{flag} is about sets of files: say with --phases what to do"))
        }
        flag if OF_APPLICATIONS_ALONE.contains(&flag) => {
            Some(format!("--{flag} is about an application: say with --command what to time"))
        }
        _ => None,
    };
    match workload.asked().find_map(problem) {
        Some(problem) => Err(PlanError::Contradiction { workload: name_of(workload), problem }),
        None => Ok(()),
    }
}

fn name_of(workload: &Workload) -> String {
    let rw = || workload.rw.map(|rw| rw.as_str().to_owned());
    workload.name.clone().or_else(rw).unwrap_or_else(|| "unnamed".to_owned())
}

pub(super) fn resolve(
    target: &TargetFacts,
    workload: &Workload,
    certainty: &Certainty,
    seed: u64,
) -> Result<Option<(StoppingRule, Work)>, PlanError> {
    let Some(command) = workload.command.clone() else { return Ok(None) };
    let named = workload.name.clone();
    let refused = |problem: String| PlanError::Contradiction {
        workload: named.clone().unwrap_or_else(|| "command".to_owned()),
        problem,
    };
    let is_foreign = |flag: &String| ![OF_APPLICATIONS_ALONE, OF_APPLICATIONS_TOO].concat().contains(&&**flag);
    if let Some(flag) = workload.asked().find(is_foreign) {
        return Err(refused(format!("--{flag} means nothing for a command: leave it or --command out")));
    }
    if target.kind != TargetKind::Directory {
        let problem = "a command needs a directory to work in: name one".to_owned();
        return Err(PlanError::Target { target: target.name.clone(), problem });
    }
    if command.trim().is_empty() {
        return Err(refused("--command is empty: say what to time".to_owned()));
    }
    if workload.timeout == Some(Span { ns: 0 }) {
        return Err(refused("--timeout 0 leaves no time for the command".to_owned()));
    }
    let threads = workload.jobs.as_ref().and_then(|jobs| jobs.values().first().copied()).unwrap_or(1);
    if !(1..=limits::JOBS_MAX).contains(&threads) {
        return Err(refused(format!("--jobs {threads} is out of range: choose 1 to {}", limits::JOBS_MAX)));
    }
    let iterations = workload.iterations.unwrap_or_else(|| usual_iterations(certainty.effort));
    let warmup = workload.warmup.unwrap_or(0);
    let in_range = |count: u32| count <= 1_000_000;
    if iterations == 0 || !in_range(iterations) || !in_range(warmup) {
        return Err(refused("--iterations has to be 1 to 1000000, and --warmup at most as many".to_owned()));
    }
    if certainty.passes.is_some() && (workload.iterations.is_some() || workload.warmup.is_some()) {
        return Err(refused("--passes and --iterations or --warmup contradict each other: choose one".to_owned()));
    }
    let plan = ApplicationPlan {
        command,
        setup: workload.setup.clone(),
        ready: workload.ready.clone(),
        prepare: workload.prepare.clone(),
        verify: workload.verify_command.clone(),
        conclude: workload.conclude.clone(),
        cleanup: workload.cleanup.clone(),
        timeout_ns: workload.timeout.map(|time| time.ns),
        settle_ns: workload.settle.unwrap_or(SETTLE).ns,
        user: workload.user.clone(),
        threads,
        seed: workload.seed.unwrap_or(seed),
        keep_going: workload.keep_going.unwrap_or(false),
    };
    let stopping = match certainty.passes {
        Some(slots) => StoppingRule::Fixed { slots, discarded: certainty.discard_first.unwrap_or(0) },
        None => StoppingRule::Fixed { slots: iterations + warmup, discarded: warmup },
    };
    Ok(Some((stopping, Work::Application(plan))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    fn plan(workload: Workload, kind: TargetKind) -> Result<Plan, String> {
        let name = "/mnt/a".to_owned();
        let target = TargetFacts {
            name,
            kind,
            size_bytes: Some(1 << 30),
            free_bytes: Some(1 << 40),
            direct_alignment_bytes: Some(512),
        };
        Plan::resolve(&[target], &[workload], &Certainty::of(Effort::Standard), 7).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_is_timed_five_times_after_its_warm_up() {
        let workload = Workload { command: Some("true".to_owned()), warmup: Some(1), ..Workload::default() };
        let plan = plan(workload, TargetKind::Directory).unwrap();
        let [cell] = plan.cells.as_slice() else { panic!("one cell") };
        assert_eq!((cell.workload.as_str(), cell.stopping), ("true", StoppingRule::Fixed { slots: 6, discarded: 1 }));
        let application = cell.application().unwrap();
        assert_eq!((application.timeout_ns, application.settle_ns, application.seed), (None, 60_000_000_000, 7));
        let text = serde_json::to_string(&cell.work).unwrap();
        assert_eq!(serde_json::from_str::<Work>(&text).unwrap(), cell.work);
    }

    #[test]
    fn what_a_command_does_not_have_is_refused_and_so_is_what_only_it_has() {
        let command = || Workload { command: Some("true".to_owned()), ..Workload::default() };
        let error = |workload| plan(workload, TargetKind::Directory).unwrap_err();
        let direct = error(Workload { buffered: Some(false), ..command() });
        assert!(direct.ends_with("--buffered means nothing for a command: leave it or --command out"), "{direct}");
        let alone = error(Workload { prepare: Some("true".to_owned()), ..Workload::default() });
        assert!(alone.ends_with("--prepare is about an application: say with --command what to time"), "{alone}");
        let phases = Workload { prepare: Some("true".to_owned()), phases: "write".parse().ok(), ..Workload::default() };
        assert!(error(phases).contains("--prepare means nothing for a set of files"));
        assert!(error(Workload { iterations: Some(3), ..Workload::default() }).contains("say --passes"));
        assert!(error(Workload { command: Some(" \n".to_owned()), ..command() }).contains("--command is empty"));
        assert!(error(Workload { iterations: Some(0), ..command() }).contains("--iterations has to be"));
        assert!(plan(command(), TargetKind::Device).unwrap_err().contains("needs a directory"));
    }
}
