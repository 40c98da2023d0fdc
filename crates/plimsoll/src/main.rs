//! `plimsoll`: says how much load a storage really carries.

#![expect(unreachable_pub, reason = "a program has no outside: pub means that other modules use it")]

use std::process::ExitCode;

use clap::Parser;

use crate::{cli::Cli, exit::Exit, printer::Printer};

mod cli;
mod commands;
mod environment_variables;
mod exit;
mod printer;
mod progress;
mod saving;
mod state;
mod stop;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let printer = Printer::new(cli.shared.quiet);
    if let Err(error) = stop::outlive_file_size_limit() {
        printer.warning(format!("a limit on the size of files would end plimsoll at once: {error}"));
    }
    match commands::dispatch(cli, printer) {
        Ok(exit) => exit.into(),
        Err(error) => {
            printer.error(&error);
            Exit::of(&error).into()
        }
    }
}
