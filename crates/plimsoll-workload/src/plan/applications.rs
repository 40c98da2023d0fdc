//! From a workload of commands as asked to its plan.

use super::{CellPlan, PlanError, Work, files};
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
    "parallel",
    "timeout",
    "settle",
    "user",
];

/// Those of them that say what is done, and so belong to one command. The others can be said of several.
const OF_ONE_COMMAND: &[&str] = &["command", "setup", "ready", "prepare", "verify-command", "conclude", "cleanup"];

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

/// Whether a parameter, by its flag, means something to an application.
pub(super) fn has(flag: &str) -> bool {
    OF_APPLICATIONS_TOO.contains(&flag) || is_of_applications_alone(flag)
}

/// Whether it is one that only applications have.
fn is_of_applications_alone(flag: &str) -> bool {
    OF_APPLICATIONS_ALONE.contains(&flag)
}

/// Whether it says what one application does.
pub(super) fn is_of_one_command(flag: &str) -> bool {
    OF_ONE_COMMAND.contains(&flag)
}

/// Why a parameter means nothing to a workload that reads or writes blocks; `None` of one that does.
pub(super) fn why_not_of_blocks(flag: &str) -> Option<String> {
    match flag {
        "iterations" => Some("--iterations is about --phases and --command: say --passes".to_owned()),
        flag if files::is_of_files_alone(flag) => {
            Some(format!("--{flag} is about sets of files: say with --phases what to do"))
        }
        flag if is_of_applications_alone(flag) => {
            Some(format!("--{flag} is about an application: say with --command what to time"))
        }
        _ => None,
    }
}

/// Refuses what only the other kinds of workload have, for one that reads or writes blocks.
pub(super) fn check_blocks(workload: &Workload) -> Result<(), PlanError> {
    match workload.asked().find_map(|flag| why_not_of_blocks(&flag)) {
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
    if let Some(flag) = workload.asked().find(|flag| !has(flag)) {
        let beside = match flag.as_str() {
            "rw" | "phases" => ", or say with --preset what to measure beside it",
            _ => "",
        };
        return Err(refused(format!("--{flag} means nothing for a command: leave it or --command out{beside}")));
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

/// Has the cells of each workload that asks for it timed at the same time, as a phase of their own. Targets swap their
/// processors with each iteration, so all have had all of them after as many iterations as there are targets.
pub(super) fn put_side_by_side(
    cells: &mut [CellPlan],
    workload_of: &[usize],
    workloads: &[Workload],
    certainty: &Certainty,
) -> Result<(), PlanError> {
    let asked = workloads.iter().enumerate().filter(|(_, workload)| workload.parallel == Some(true));
    for (index, workload) in asked {
        let refused = |problem: String| PlanError::Contradiction {
            workload: workload.name.clone().unwrap_or_else(|| "command".to_owned()),
            problem,
        };
        if workloads.iter().any(|workload| workload.phase.is_some()) {
            return Err(refused("--parallel makes phases of its own: leave it or --phase out".to_owned()));
        }
        let count = workload_of.iter().filter(|workload| **workload == index).count() as u32;
        if count == 1 {
            return Err(refused("--parallel needs another target to be timed at the same time: name two".to_owned()));
        }
        let own = cells.iter_mut().zip(workload_of).filter(|(_, workload)| **workload == index);
        for (cell, _) in own {
            cell.phase = Some(index as u32);
            let StoppingRule::Fixed { slots, discarded } = &mut cell.stopping else { continue };
            let counted = slots.saturating_sub(*discarded);
            let even = counted.next_multiple_of(count);
            if even != counted && (workload.iterations.is_some() || certainty.passes.is_some()) {
                return Err(refused(format!(
                    "{counted} iterations with --parallel and {count} targets: these swap their processors, so that \
                     each has all equally often after a multiple of {count}: choose {even}"
                )));
            }
            *slots = *discarded + even;
        }
    }
    Ok(())
}

/// Refuses how sure rates are to be where none is measured until it is.
pub(super) fn check_certainty(cells: &[CellPlan], certainty: &Certainty) -> Result<(), PlanError> {
    if cells.iter().any(|cell| cell.blocks().is_some()) {
        return Ok(());
    }
    if certainty.precision.is_some() {
        return Err(PlanError::Certainty(
            "--precision means nothing for commands and sets of files: --iterations says how often they are done, so \
             leave it out",
        ));
    }
    if certainty.bookend {
        return Err(PlanError::Certainty(
            "--bookend means nothing for commands and sets of files: --iterations says how often they are done, so \
             leave it out",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{plan::Plan, settings::ReadWrite};

    fn target(name: &str, kind: TargetKind) -> TargetFacts {
        TargetFacts {
            name: name.to_owned(),
            kind,
            size_bytes: Some(1 << 30),
            free_bytes: Some(1 << 40),
            direct_alignment_bytes: Some(512),
        }
    }

    fn plan(workload: Workload, kind: TargetKind) -> Result<Plan, String> {
        let certainty = Certainty::of(Effort::Standard);
        Plan::resolve(&[target("/mnt/a", kind)], &[workload], &certainty, 7).map_err(|error| error.to_string())
    }

    #[test]
    fn how_sure_a_rate_is_to_be_means_nothing_for_a_command_or_files() {
        let command = Workload { command: Some("true".to_owned()), ..Workload::default() };
        let files = Workload { phases: Some("write,read".parse().unwrap()), ..Workload::default() };
        let precise = Certainty { precision: Some("1%".parse().unwrap()), ..Certainty::of(Effort::Standard) };
        let bookend = Certainty { bookend: true, ..Certainty::of(Effort::Standard) };
        for (flag, certainty) in [("--precision", precise), ("--bookend", bookend)] {
            let refusal = |workloads: &[Workload]| {
                let targets = [target("/mnt/a", TargetKind::Directory)];
                Plan::resolve(&targets, workloads, &certainty, 7).map_err(|error| error.to_string())
            };
            for workload in [&command, &files] {
                let text = refusal(std::slice::from_ref(workload)).unwrap_err();
                let due = format!("{flag} means nothing for commands and sets of files: --iterations says how often");
                assert!(text.starts_with(&due), "{text}");
            }
            let text = refusal(&[Workload { duration: Some("10s".parse().unwrap()), ..Workload::default() }]);
            assert!(text.unwrap_err().contains("duration or amount"));
            assert!(refusal(&[command.clone(), Workload::default()]).is_ok(), "it is for the other workload");
        }
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

    #[test]
    fn side_by_side_targets_have_all_processors_equally_often() {
        let targets: Vec<_> = ["/mnt/a", "/mnt/b"].map(|name| target(name, TargetKind::Directory)).into();
        let workload = |iterations, phase| Workload {
            command: Some("true".to_owned()),
            parallel: Some(true),
            warmup: Some(1),
            iterations,
            phase,
            ..Workload::default()
        };
        let synthetic = || Workload { rw: Some(ReadWrite::RandRead), ..Workload::default() };
        let of = |targets: &[TargetFacts], workloads: &[Workload]| {
            Plan::resolve(targets, workloads, &Certainty::of(Effort::Standard), 7).map_err(|error| error.to_string())
        };
        let plan = of(&targets, &[synthetic(), workload(None, None), workload(Some(4), None)]).unwrap();
        let phases: Vec<_> = plan.cells.iter().map(|cell| (cell.phase, cell.stopping.slots())).collect();
        let expected = [(None, None), (Some(1), Some(7)), (Some(2), Some(5))];
        assert_eq!(phases, [expected, expected].concat());
        let why = of(&targets, &[workload(Some(5), None)]).unwrap_err();
        assert!(why.contains("5 iterations with --parallel and 2 targets") && why.ends_with("choose 6"), "{why}");
        assert!(of(&targets[..1], &[workload(None, None)]).unwrap_err().contains("name two"));
        let sets = Workload { phase: Some(1), duration: "1s".parse().ok(), ..synthetic() };
        assert!(of(&targets, &[sets, workload(None, None)]).is_err());
    }
}
