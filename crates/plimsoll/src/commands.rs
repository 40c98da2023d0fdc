//! What the commands do: one module a command, and the line that leads to it.

use std::{io, path::PathBuf};

use clap::CommandFactory;
use plimsoll_history::location::HistoryLocation;

use crate::{
    cli::{Cli, Command, SharedArguments},
    environment_variables,
    exit::{Exit, OutputLost},
    printer::Printer,
};

mod baseline;
mod doctor;
mod export;
mod history;
mod presets;
mod remove;
mod run;
mod show;

/// Where this invocation finds and leaves its state.
pub struct State {
    /// The history.
    pub history: HistoryLocation,
    /// Journals of running runs and lists of their files; `None` when there is no place for state.
    pub directory: Option<PathBuf>,
}

impl State {
    fn of(arguments: &SharedArguments) -> Self {
        let directory = environment_variables::state_directory();
        let history = match (&arguments.history, &directory) {
            (Some(file), _) => HistoryLocation::File(file.clone()),
            (None, Some(directory)) if !arguments.no_history => HistoryLocation::in_state_directory(directory),
            (None, _) => HistoryLocation::None,
        };
        Self { history, directory }
    }
}

/// Does what the command line says.
pub fn dispatch(cli: Cli, printer: Printer) -> anyhow::Result<Exit> {
    let state = State::of(&cli.shared);
    doctor::tidy_up(&state, printer);
    let answer = match cli.command {
        Command::Run(arguments) => return run::run(&arguments, &state, printer),
        Command::History(arguments) => text(|out| history::run(&arguments, &state.history, out))?,
        Command::Show(arguments) => text(|out| show::run(&arguments, &state.history, out))?,
        Command::Export(arguments) => text(|out| export::run(&arguments, &state.history, out))?,
        Command::Remove(arguments) => text(|out| remove::run(&arguments, &state.history, out))?,
        Command::Baseline(arguments) => text(|out| baseline::run(&arguments, &state.history, out))?,
        Command::Presets(arguments) => presets::presets(&arguments, printer)?,
        Command::Doctor(arguments) => doctor::doctor(&arguments, &state, printer)?,
        Command::Completions { shell } => text(|out| {
            clap_complete::generate(shell, &mut Cli::command(), "plimsoll", out);
            Ok(())
        })?,
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(Exit::Success)
}

/// Collects what a command writes, so that a failing command answers nothing.
fn text(command: impl FnOnce(&mut dyn io::Write) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut out = Vec::new();
    command(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
