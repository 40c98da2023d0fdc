//! What the commands do: one module a command, and the line that leads to it.

use std::io;

use clap::CommandFactory;

use crate::{
    cli::{Cli, Command},
    exit::{Exit, OutputLost},
    printer::Printer,
    state::{State, check_named, check_there},
};

mod baseline;
mod browser;
mod catalog;
mod compare;
mod dialect;
pub mod diskspd;
mod doctor;
mod emulate;
mod explain;
mod export;
pub mod fio;
mod generate;
mod history;
mod import;
mod input_file;
mod kubernetes;
mod made;
mod output_file;
mod place;
mod presets;
mod program;
mod record_file;
mod remove;
mod replay;
mod report;
mod resume;
mod run;
mod serve;
mod show;
mod slips;
mod stripe;
mod volumes;

/// Does what the command line says.
pub fn dispatch(cli: Cli, printer: Printer) -> anyhow::Result<Exit> {
    let mut state = State::of(&cli.shared);
    match &cli.command {
        Command::Run(_) => state.prepare(&cli.shared, printer)?,
        Command::Import(_) => state.check_place(&cli.shared, printer),
        Command::Kubernetes(arguments) if arguments.command.keeps_runs() => {
            check_named(&cli.shared)?;
            state.check_place(&cli.shared, printer);
        }
        _ => {}
    }
    // Two are parts of runs that have done it, and the first is timed; the others do it without a word.
    let is_part = matches!(
        cli.command,
        Command::Program(_) | Command::Presets(_) | Command::Fio { .. } | Command::Diskspd { .. }
    );
    let tidied = match &cli.command {
        _ if is_part => Ok(()),
        command if leaves_other_histories(command) => state.tidy_up_to_read(printer),
        _ => state.tidy_up(printer),
    };
    if reads_a_history(&cli.command) {
        // Only now: what was put in order may have made it.
        check_there(&cli.shared)?;
    }
    let mut exit = Exit::Success;
    let answer = match cli.command {
        Command::Run(arguments) => {
            warn(tidied, printer);
            return run::run(&arguments, &state, printer);
        }
        Command::Kubernetes(arguments) => {
            warn(tidied, printer);
            return kubernetes::run(arguments, &state, printer);
        }
        Command::Serve(arguments) => {
            warn(tidied, printer);
            serve::run(&arguments, &state, printer)?;
            return Ok(Exit::Success);
        }
        Command::Program(arguments) => program::run(arguments)?,
        Command::Fio { arguments } => return Ok(fio::main(&arguments, &cli.shared)),
        Command::Diskspd { arguments } => return Ok(diskspd::main(&arguments, &cli.shared)),
        Command::Compare(arguments) => {
            let (answer, ending) = compare::run(&arguments, &state.history, printer)?;
            exit = ending;
            answer
        }
        Command::Explain(arguments) => {
            let (answer, ending) = explain::run(&arguments, &state.history, printer)?;
            exit = ending;
            answer
        }
        Command::Report(arguments) => report::run(&arguments, &state.history, printer)?,
        Command::Import(arguments) => {
            let (answer, ending) = import::import(&arguments, &state.history, printer)?;
            exit = ending;
            answer
        }
        Command::History(arguments) => text(|out| history::run(&arguments, &state.history, out))?,
        Command::Show(arguments) => text(|out| show::run(&arguments, &state.history, out))?,
        Command::Export(arguments) => {
            exit = export::run(&arguments, &state.history, printer)?;
            String::new()
        }
        Command::Remove(arguments) => text(|out| remove::run(&arguments, &state.history, out))?,
        Command::Baseline(arguments) => text(|out| baseline::run(&arguments, &state.history, out))?,
        Command::Presets(arguments) => presets::presets(&arguments, printer)?,
        Command::Catalog(arguments) => catalog::run(&arguments, printer)?,
        Command::Emulate(arguments) => emulate::run(arguments, &state, printer)?,
        Command::Stripe(arguments) => stripe::run(arguments, &state, printer)?,
        Command::Generate(arguments) => generate::run(&arguments, printer)?,
        Command::Replay(arguments) => {
            let (answer, ending) = replay::replay(&arguments, printer)?;
            exit = ending;
            answer
        }
        Command::Doctor(arguments) => {
            let (answer, ending) = doctor::doctor(&arguments, &state, printer)?;
            if arguments.clean {
                // It has just put in order what would be complained about.
                printer.answer(answer).map_err(OutputLost)?;
                return Ok(ending);
            }
            answer
        }
        Command::Completions { shell } => text(|out| {
            clap_complete::generate(shell, &mut Cli::command(), "plimsoll", out);
            Ok(())
        })?,
    };
    // Only now: a command that fails for the same reason has said so.
    warn(tidied, printer);
    printer.answer(answer).map_err(OutputLost)?;
    Ok(exit)
}

/// Whether a command is about runs that are kept, and keeps none.
const fn reads_a_history(command: &Command) -> bool {
    matches!(
        command,
        Command::Compare(_)
            | Command::Explain(_)
            | Command::Report(_)
            | Command::History(_)
            | Command::Show(_)
            | Command::Export(_)
            | Command::Remove(_)
            | Command::Baseline(_)
    )
}

/// Whether a command neither measures nor cleans up: then other histories are no business of it.
const fn leaves_other_histories(command: &Command) -> bool {
    match command {
        Command::Compare(_)
        | Command::Explain(_)
        | Command::Report(_)
        | Command::Import(_)
        | Command::History(_)
        | Command::Show(_)
        | Command::Export(_)
        | Command::Remove(_)
        | Command::Baseline(_)
        | Command::Catalog(_)
        | Command::Emulate(_)
        | Command::Stripe(_)
        | Command::Generate(_)
        | Command::Completions { .. } => true,
        Command::Run(_)
        | Command::Kubernetes(_)
        | Command::Serve(_)
        | Command::Program(_)
        | Command::Fio { .. }
        | Command::Diskspd { .. }
        | Command::Presets(_)
        | Command::Replay(_)
        | Command::Doctor(_) => false,
    }
}

fn warn(tidied: anyhow::Result<()>, printer: Printer) {
    if let Err(error) = tidied {
        printer.warning(format!("{error:#}"));
    }
}

/// Collects what a command writes, so that a failing command answers nothing.
fn text(command: impl FnOnce(&mut dyn io::Write) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut out = Vec::new();
    command(&mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
