//! What the commands of other programs' languages have in common: their arguments, what lies where they point, and what
//! is to be run for a plan that they became.

use std::{collections::HashSet, ffi::OsString, fs, os::unix::fs::MetadataExt as _, path::Path};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_catalog::expectation;
use plimsoll_dialects::{
    found::{Found, FoundKind},
    problem::Problems,
};
use plimsoll_io::target;
use plimsoll_record::{event::RunStarted, record::Asked};
use plimsoll_run::{
    objects::FilesAfter,
    run::{RunError, RunRequest},
    target_facts,
};
use plimsoll_workload::{
    certainty::Certainty,
    file_names::FileNames,
    plan::{Plan, PlanError},
    plan_file::PlanFile,
    settings::Effort,
    workload::Workload,
};
use uuid::Uuid;

use super::{
    catalog,
    place::{self, Place, Said},
    run::{check_pinning, random_seed, tool},
};
use crate::{cli::SharedArguments, environment_variables, printer::Printer, state::State};

/// The arguments for a program, when plimsoll was called by its name, or as `plimsoll NAME`.
pub(super) fn arguments<'a>(all: &'a [OsString], name: &str) -> Option<&'a [OsString]> {
    let (program, rest) = all.split_first()?;
    if Path::new(program).file_name().is_some_and(|called| called == name) {
        return Some(rest);
    }
    rest.split_first().filter(|(command, _)| *command == name).map(|(_, rest)| rest)
}

/// The arguments as text.
pub(super) fn words(arguments: &[OsString]) -> anyhow::Result<Vec<String>> {
    let words = arguments.iter().map(|word| {
        word.to_str().map(str::to_owned).with_context(|| format!("{word:?} is not valid UTF-8: write it another way"))
    });
    words.collect()
}

/// What stands in front of a program's name holds as long as its own arguments say nothing of a history.
pub(super) fn take_defaults(
    history: &mut Option<String>,
    is_without_history: &mut bool,
    defaults: &SharedArguments,
) -> anyhow::Result<()> {
    if history.is_some() || *is_without_history {
        return Ok(());
    }
    *is_without_history = defaults.no_history;
    let words = defaults.history.as_ref().map(|path| words(&[path.into()])).transpose()?;
    *history = words.and_then(|mut words| words.pop());
    Ok(())
}

/// Finds the state that is named, and puts it in order. Who reads the output of another program is told nothing of what
/// earlier runs left behind.
pub(super) fn begin(history: Option<&str>, is_without_history: bool, printer: Printer) -> anyhow::Result<State> {
    let shared = SharedArguments { history: history.map(Into::into), no_history: is_without_history, quiet: true };
    let mut state = State::of(&shared);
    state.prepare(&shared, printer)?;
    let _ = state.tidy_up(Printer::new(true));
    Ok(state)
}

/// What is not quite as the other program does it, each once.
pub(super) fn notes(all: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    let mut told = HashSet::new();
    all.into_iter().map(|note| note.to_string()).filter(|note| told.insert(note.clone())).collect()
}

pub(super) fn tell(problems: &Problems, printer: Printer) {
    for problem in &problems.0 {
        printer.error(&anyhow::anyhow!("{problem}"));
    }
}

/// An error of a plan in the words of who wrote something else: flags of plans and what they are called there.
pub(super) fn in_other_words(error: anyhow::Error, words: &[(&str, &str)]) -> anyhow::Error {
    if !error.is::<PlanError>() && !error.is::<RunError>() {
        return error;
    }
    let text = words.iter().fold(format!("{error:#}"), |text, (flag, option)| text.replace(flag, option));
    anyhow::anyhow!("{text}")
}

/// What lies at a path.
pub(super) fn look(path: &str) -> Option<Found> {
    let metadata = fs::metadata(path).ok()?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        let free = rustix::fs::statvfs(path).map_or(0, |facts| facts.f_bavail.saturating_mul(facts.f_frsize));
        return Some(Found { kind: FoundKind::Directory, size_bytes: free });
    }
    if kind.is_file() {
        return Some(Found { kind: FoundKind::File, size_bytes: metadata.len() });
    }
    let facts = target::facts(Path::new(path)).ok();
    match facts.and_then(|facts| facts.size_bytes) {
        Some(size_bytes) => Some(Found { kind: FoundKind::Device, size_bytes }),
        None => Some(Found { kind: FoundKind::Other, size_bytes: 0 }),
    }
}

/// A native plan, with what it says differently as comments.
pub(super) fn plan_text(plan: &PlanFile, notes: &[String]) -> anyhow::Result<String> {
    let comments: String = notes.iter().map(|note| format!("# {note}\n")).collect();
    Ok(comments + &toml::to_string(plan).context("write the plan")?)
}

/// What is to be run for a plan.
pub(super) fn request(
    plan_file: &PlanFile,
    dialect: &str,
    files_after: FilesAfter,
    state: &State,
    printer: Printer,
) -> anyhow::Result<RunRequest> {
    let Place { mut targets, environment, provisioned } =
        place::look(&plan_file.targets, &plan_file.workloads, Said::default(), state, printer)?;
    for (target, path) in targets.iter_mut().zip(&plan_file.targets) {
        // Files that are there need no more room.
        target.free_bytes = target.free_bytes.map(|free| free.saturating_add(held_bytes(plan_file, path)));
    }
    let certainty = Certainty { max_time: plan_file.max_time, ..Certainty::of(Effort::Standard) };
    let workloads: Vec<Workload> = plan_file.workloads.clone();
    check_pinning(&workloads).context("a processor is named that is not there")?;
    let mut plan = Plan::resolve(&targets, &workloads, &certainty, random_seed()?)?;
    let expected = catalog::read(None)
        .and_then(|catalog| Ok(expectation::expect(&mut plan, &provisioned, &environment, &catalog)?));
    match expected {
        Ok(notes) => notes.iter().for_each(|note| printer.note(note)),
        // Whoever speaks another language cannot say otherwise what was bought.
        Err(error) => printer.warning(format!("nothing is expected of the storage: {error:#}")),
    }
    let started = RunStarted {
        id: Uuid::now_v7(),
        started: Timestamp::now(),
        tool: tool(),
        name: None,
        tags: [("dialect".to_owned(), dialect.to_owned())].into(),
        environment,
        plan,
        asked: Asked { targets: plan_file.targets.clone(), workloads, provisioned, ..Asked::of(certainty) },
    };
    Ok(RunRequest {
        destroy: plan_file.destroy.iter().map(Into::into).collect(),
        files_after,
        state_directory: state.directory.clone(),
        surroundings: environment_variables::surroundings(),
        ..RunRequest::new(started)
    })
}

/// Bytes of the files of a plan that are in a directory already.
fn held_bytes(plan: &PlanFile, directory: &str) -> u64 {
    let workloads = plan.workloads.iter().filter(|workload| workload.target.as_deref() == Some(directory));
    // Holes need no room as long as nothing is written into them.
    let counts_holes = workloads.clone().all(target_facts::only_reads_named_files);
    let mut names: Vec<String> =
        workloads.filter_map(|workload| workload.file_names.as_ref()).flat_map(FileNames::iter).collect();
    names.sort_unstable();
    names.dedup();
    let held = |facts: fs::Metadata| (facts.blocks() * 512).max(if counts_holes { facts.len() } else { 0 });
    names.iter().map(|name| fs::metadata(Path::new(directory).join(name)).map_or(0, held)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_note_is_told_once_in_the_order_of_the_first() {
        assert_eq!(notes(["b", "a", "b", "c", "a"]), ["b", "a", "c"]);
    }
}
