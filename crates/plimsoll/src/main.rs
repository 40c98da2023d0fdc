//! `plimsoll`: says how much load a storage really carries.

#![expect(unreachable_pub, reason = "a program has no outside: pub means that other modules use it")]

use std::{env, ffi::OsString, panic, process::ExitCode};

use plimsoll_io::open_files;

use crate::{
    cli::{Cli, SharedArguments},
    exit::Exit,
    printer::Printer,
};

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
    or_bug(work).into()
}

/// What work ends with; a panic has said where by then.
fn or_bug(work: fn() -> Exit) -> Exit {
    panic::catch_unwind(work).unwrap_or_else(|_| {
        Printer::new(true).error(&anyhow::anyhow!("this is a bug in plimsoll: please report it with the lines above"));
        Exit::Bug
    })
}

fn work() -> Exit {
    // Jobs may have thousands of files, and the usual limit is there for programs that keep them in bit sets.
    open_files::allow_most();
    let arguments: Vec<OsString> = env::args_os().collect();
    if let Some(arguments) = commands::fio::arguments(&arguments) {
        return commands::fio::main(arguments, &SharedArguments::default());
    }
    if let Some(arguments) = commands::diskspd::arguments(&arguments) {
        return commands::diskspd::main(arguments, &SharedArguments::default());
    }
    let cli = Cli::of(&arguments);
    let printer = Printer::new(cli.shared.quiet);
    if let Err(error) = stop::outlive_file_size_limit() {
        printer.warning(format!("a limit on the size of files would end plimsoll at once: {error}"));
    }
    match commands::dispatch(cli, printer) {
        Ok(exit) => exit,
        Err(error) => {
            printer.error(&error);
            Exit::of(&error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_as_a_bug() {
        assert_eq!(or_bug(|| panic!("as a test asks for")), Exit::Bug);
        assert_eq!(or_bug(|| Exit::Kernel), Exit::Kernel);
    }
}
