//! Where an invocation finds and leaves its state: the history, journals of running runs, lists of their files. What
//! every command begins with is here too: what dead runs left behind is put in order.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use plimsoll_history::{
    history::{self, HistoryError},
    journal::{self, Recovered, Recovery, Rest},
    location::HistoryLocation,
};
use plimsoll_run::objects::leftovers::{self, Left, LeftReason, Sweep};
use plimsoll_workload::{error_chain::chain, shell_word::quoted};
use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::{cli::SharedArguments, environment_variables, printer::Printer};

/// Where this invocation finds and leaves its state.
pub struct State {
    /// The history.
    pub history: HistoryLocation,
    /// Journals of running runs and lists of their files; `None` when there is no place for state.
    pub directory: Option<PathBuf>,
}

impl State {
    /// The state that the arguments and the environment name.
    pub fn of(arguments: &SharedArguments) -> Self {
        let directory = environment_variables::state_directory();
        let history = match (&arguments.history, &directory) {
            (Some(file), _) => HistoryLocation::File(file.clone()),
            (None, Some(directory)) if !arguments.no_history => HistoryLocation::in_state_directory(directory),
            (None, _) => HistoryLocation::None,
        };
        Self { history, directory }
    }

    /// Makes the directory for a run. When that cannot be, one warning says so, and the run goes without.
    pub fn prepare(&mut self, arguments: &SharedArguments, printer: Printer) -> anyhow::Result<()> {
        check_named(arguments)?;
        self.check_place(arguments, printer);
        let Some(directory) = self.directory.take() else { return Ok(()) };
        let Err(error) = make(&directory) else {
            self.directory = Some(directory);
            return Ok(());
        };
        let lost = if self.history == HistoryLocation::in_state_directory(&directory) {
            self.history = HistoryLocation::None;
            "this run is not kept in the history"
        } else {
            "nothing of this run is kept should it be killed"
        };
        printer.warning(format!(
            "the state directory {} cannot be used ({error}): {lost}, and test files that a kill leaves behind are \
             found only by the next run in the same place or by plimsoll doctor --clean",
            directory.display()
        ));
        Ok(())
    }

    /// Warns when there is no place for a history that nobody has declined.
    pub fn check_place(&self, arguments: &SharedArguments, printer: Printer) {
        if self.directory.is_none() && self.history == HistoryLocation::None && !arguments.no_history {
            printer.warning(
                "neither XDG_STATE_HOME nor HOME is set, so there is no history and nothing is kept in one: set one of \
                 them, or name a file with --history",
            );
        }
    }

    /// Removes files of dead runs, and saves their records as far as they got. All that can be done is done; the first
    /// of the problems is returned.
    pub fn tidy_up(&self, printer: Printer) -> anyhow::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let swept = sweep(directory, printer);
        let recovered = self.recover(directory, None, printer);
        swept.and(recovered)
    }

    /// The same for a command that reads a history: of another one than that of the state directory nothing is put in
    /// order but the history that is read, and without any nothing at all.
    pub fn tidy_up_to_read(&self, printer: Printer) -> anyhow::Result<()> {
        let (Some(directory), HistoryLocation::File(path)) = (&self.directory, &self.history) else { return Ok(()) };
        if self.history == HistoryLocation::in_state_directory(directory) {
            let swept = sweep(directory, printer);
            let recovered = self.recover(directory, Some(path), printer);
            return swept.and(recovered);
        }
        self.recover(directory, Some(path), printer)
    }

    fn recover(&self, directory: &Path, only: Option<&Path>, printer: Printer) -> anyhow::Result<()> {
        if self.history == HistoryLocation::None {
            return Ok(());
        }
        let Recovery { runs, set_aside, problems, .. } = journal::recover_into(directory, only);
        runs.iter().for_each(|run| printer.note(self.recovered_in_words(run)));
        for aside in set_aside {
            printer
                .warning(format!("a run is lost: its journal is damaged from the first line on: {}", aside.display()));
        }
        problems.into_iter().next().map_or(Ok(()), |problem| Err(problem).context("recover earlier runs"))
    }

    fn recovered_in_words(&self, Recovered { run, history, has_ended, rest }: &Recovered) -> String {
        let place = self.history_flag(history);
        let what = if *has_ended {
            format!("saved run {run}, which had ended and was not in its history yet")
        } else {
            format!("recovered run {run}, which had ended without a word")
        };
        let goes_on = match rest {
            Rest::Resumable => format!(", and `plimsoll run --resume {run}{place}` goes on with it"),
            Rest::InCluster => {
                format!(", and `plimsoll kubernetes collect {run}{place}` gets the rest, while it is there")
            }
            Rest::Nowhere => String::new(),
        };
        format!("{what}: `plimsoll show {run}{place}` shows it{goes_on}")
    }

    /// What a command that is told of has at its end to find a history: nothing for that of the state directory.
    pub fn history_flag(&self, history: &Path) -> String {
        let own = self.directory.as_deref().map(HistoryLocation::in_state_directory);
        if own == Some(HistoryLocation::File(history.to_owned())) {
            return String::new();
        }
        format!(" --history {}", quoted(&history.to_string_lossy()))
    }

    /// Gives up the runs that cannot be put into their histories. Returns where their journals are now, and why others
    /// stay where they are.
    pub fn set_aside_journals(&self) -> (Vec<PathBuf>, Vec<HistoryError>) {
        match (&self.history, &self.directory) {
            (HistoryLocation::File(_), Some(directory)) => journal::set_aside(directory),
            _ => (Vec::new(), Vec::new()),
        }
    }
}

/// Refuses a history that is named and cannot be one. That is no history that fails but a slip, and told at the end it
/// would cost what was measured, and leave a journal that nothing ever takes.
pub fn check_named(arguments: &SharedArguments) -> anyhow::Result<()> {
    match arguments.history.as_deref().map_or(Ok(()), history::check_writable) {
        // A file that is there and cannot be read is told with the same code as by who only reads it.
        Err(error @ (HistoryError::Damaged { .. } | HistoryError::Foreign { .. } | HistoryError::Newer { .. })) => {
            Err(error.into())
        }
        // What cannot be saved at the end is a warning then.
        Err(error) if error.is_of_disk() => Ok(()),
        checked => checked.map_err(|error| anyhow!(chain(&error))),
    }
}

/// Refuses a history that is named to be read and is not there: it is no empty one, but a slip.
pub fn check_there(arguments: &SharedArguments) -> Result<(), HistoryError> {
    // A path that nobody can follow is told with its reason when it is opened.
    match arguments.history.as_deref() {
        Some(path) if matches!(path.try_exists(), Ok(false)) => Err(HistoryError::Missing { path: path.to_owned() }),
        _ => Ok(()),
    }
}

/// Removes files of dead runs.
fn sweep(directory: &Path, printer: Printer) -> anyhow::Result<()> {
    let swept = leftovers::sweep(directory).with_context(|| {
        format!("look for what earlier runs left behind in the state directory {}", directory.display())
    });
    swept.map(|swept| told(&swept).for_each(|line| printer.note(line)))
}

/// What is said of what dead runs left behind. What is foreign has lost its mark, and is told of once.
fn told(swept: &Sweep) -> impl Iterator<Item = String> {
    let removed = swept.removed.iter();
    let removed =
        removed.map(|removed| format!("removed {}, left behind by run {}", removed.path.display(), removed.run));
    let is_told = |left: &&Left| matches!(left.reason, LeftReason::Silent | LeftReason::Foreign);
    let left = swept.left.iter().filter(is_told);
    removed.chain(
        left.map(|Left { path, reason }| format!("{}, left behind by an earlier run, stays: {reason}", path.display())),
    )
}

/// Makes a directory that files can be made in.
fn make(directory: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    Ok(accessat(CWD, directory, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_stays_because_something_else_was_put_into_it_is_told_of() {
        let left = |path: &str, reason| Left { path: path.into(), reason };
        let left = vec![left("/d/v.img", LeftReason::Foreign), left("/d/k.img", LeftReason::Kept)];
        let told: Vec<String> = told(&Sweep { left, ..Sweep::default() }).collect();
        assert!(matches!(&told[..], [line] if line.starts_with("/d/v.img, left behind")), "{told:?}");
    }

    #[test]
    fn only_the_history_of_the_state_directory_is_found_without_a_flag() {
        let directory = PathBuf::from("/state/plimsoll");
        let HistoryLocation::File(own) = HistoryLocation::in_state_directory(&directory) else { panic!("a file") };
        for history in [HistoryLocation::File(own.clone()), HistoryLocation::File("h.db".into())] {
            let state = State { history, directory: Some(directory.clone()) };
            assert_eq!(state.history_flag(&own), "");
            assert_eq!(state.history_flag(Path::new("/home/my h.db")), " --history '/home/my h.db'");
        }
        let nowhere = State { history: HistoryLocation::File("h.db".into()), directory: None };
        assert_eq!(nowhere.history_flag(Path::new("h.db")), " --history h.db");
    }

    #[test]
    fn only_a_run_whose_end_nobody_told_had_ended_without_a_word() {
        let state = State { history: HistoryLocation::File("h.db".into()), directory: None };
        let said = |has_ended| {
            let history = PathBuf::from("h.db");
            let run = uuid::Uuid::nil();
            state.recovered_in_words(&Recovered { run, history, has_ended, rest: Rest::Nowhere })
        };
        assert!(said(false).contains("which had ended without a word: `plimsoll show"), "{}", said(false));
        assert!(
            said(true).contains("which had ended and was not in its history yet: `plimsoll show"),
            "{}",
            said(true)
        );
    }
}
