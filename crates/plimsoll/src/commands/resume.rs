//! `plimsoll run --resume`: an interrupted run goes on where it was, as it was planned.

use jiff::Timestamp;
use plimsoll_history::{history::HistoryError, journal::Journal, location::HistoryLocation, unfinished::Beginning};
use plimsoll_io::mounts;
use plimsoll_record::{
    environment::TargetKind,
    event::{RunEvent, RunStarted},
    record::{Cell, Record},
};
use plimsoll_report as report;
use plimsoll_run::{objects::FilesAfter, resuming::Resuming, run::RunRequest, same_place};
use plimsoll_workload::{plan::Work, shell_word::quoted};

use super::{
    emulate, history,
    place::{self, Said},
    run, slips, stripe,
};
use crate::{cli::run::RunArguments, environment_variables, printer::Printer, state::State};

/// The rest of a run, what is said when it goes on, and its journal, which nobody else can have meanwhile.
pub(super) fn request(
    text: &str,
    arguments: &RunArguments,
    state: &State,
    printer: Printer,
) -> anyhow::Result<(RunRequest, String, Option<Journal>)> {
    let history = history::open(&state.history)?;
    let id = history.find(text)?;
    let unfinished = history.resumable(id)?;
    let Beginning { started, events } = unfinished.read(id)?;
    let RunStarted { plan, asked, tool, .. } = &started;
    same_place::check_paths(&started)?;
    let place = place::look(&asked.targets, &asked.workloads, Said::default(), state, printer)?;
    if arguments.expect_mount {
        let mut others = asked.targets.iter().filter(|target| !stripe::is_array(target, state));
        others.try_for_each(|path| mounts::expect_mount(path.as_ref()))?;
    }
    let destroy = run::paths("--destroy", &arguments.destroy)?;
    slips::check_paths(&asked.targets, &destroy)?;
    run::check_pinning(&asked.workloads)?;
    let mut warnings = same_place::check(&started, &place.environment, &place.targets)?;
    warnings.extend(emulate::differences(&asked.provisioned, &place.provisioned));
    let this = run::tool();
    if (&this.version, &this.commit) != (&tool.version, &tool.commit) {
        let name = |version: &str, commit: &Option<String>| match commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version.to_owned(),
        };
        let (now, before) = (name(&this.version, &this.commit), name(&tool.version, &tool.commit));
        warnings.push(format!("plimsoll {now} went on with what plimsoll {before} had begun"));
    }
    if arguments.verbose {
        printer.note(report::plan::plan(plan));
    }
    let done = events.iter().filter(|event| matches!(event, RunEvent::SlotFinished(slot) if !slot.is_cut)).count();
    let journal = match &state.directory {
        Some(directory) => {
            let journal = Journal::resume(directory, history.path(), &started, &unfinished)?;
            // Until the journal was there, another process may have gone on with the run, and even ended it.
            if history.unfinished(id)?.as_ref() != Some(&unfinished) {
                let path = journal.path().to_owned();
                journal.finish()?;
                return Err(HistoryError::GoingOn { id, journal: path }.into());
            }
            Some(journal)
        }
        None => None,
    };
    let request = RunRequest {
        destroy: destroy.iter().map(Into::into).collect(),
        files_after: if arguments.keep_files { FilesAfter::Kept } else { FilesAfter::AsBefore },
        state_directory: state.directory.clone(),
        surroundings: environment_variables::surroundings(),
        resuming: Some(Resuming { at: Timestamp::now(), events, warnings }),
        ..RunRequest::new(started)
    };
    let slots = if done == 1 { "slot is" } else { "slots are" };
    Ok((request, format!("going on with run {id}, of which {done} {slots} done"), journal))
}

/// What tells those who follow a run how far it had come.
pub(super) fn slots(resuming: &Resuming) -> Vec<RunEvent> {
    let is_slot = |event: &&RunEvent| matches!(event, RunEvent::SlotStarted { .. } | RunEvent::SlotFinished(_));
    resuming.events.iter().filter(is_slot).cloned().collect()
}

/// The command that goes on with a run that has just been interrupted.
pub(super) fn command(record: &Record, keeps_files: bool, state: &State) -> String {
    let mut command = format!("plimsoll run --resume {}", record.id);
    if keeps_files {
        // The record does not say it, and without it the files would go when the run is done.
        command += " --keep-files";
    }
    let mut flag = |name: &str, path: &str| command += &format!(" {name} {}", quoted(path));
    for target in record.environment.targets.iter().filter(|target| target.kind == TargetKind::Device) {
        let writes = |cell: &Cell| cell.plan.as_ref().is_some_and(Work::writes);
        if record.cells.iter().any(|cell| cell.target == target.name && writes(cell)) {
            flag("--destroy", &target.name);
        }
    }
    if let HistoryLocation::File(path) = &state.history {
        command += &state.history_flag(path);
    }
    command
}
