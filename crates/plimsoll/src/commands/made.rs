//! What `plimsoll emulate` and `plimsoll stripe` have in common: they make things, write them down, and take them down
//! again.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use plimsoll_devices::error::DeviceError;
use signal_hook::low_level;

use crate::{exit::Exit, printer::Printer, state::State, stop};

/// Where it is written down.
pub(super) fn directory(state: &State) -> anyhow::Result<&Path> {
    state.directory.as_deref().context("there is no place to write down what is made: set HOME or XDG_STATE_HOME")
}

/// Says why nothing happens for a while.
pub(super) fn tell_of_wait(is_locked: bool, printer: Printer) {
    if is_locked {
        printer.note("another plimsoll is making something of the kind or taking it down: waiting for it");
    }
}

/// Has Ctrl-C say what to do about what is half made or half gone, before it ends the process as ever.
pub(super) fn tell_when_interrupted(command: &'static str, printer: Printer) -> anyhow::Result<()> {
    stop::on_first_signal(move || {
        let (list, down) = (format!("plimsoll {command} list"), format!("plimsoll {command} down"));
        printer.error(&anyhow!("interrupted: `{list}` shows what is there by now, and `{down}` takes it down"));
        low_level::exit(Exit::Interrupted as i32);
    })?;
    Ok(())
}

/// What each of several answers. One that fails keeps no other from its turn; what the others answered is said too.
pub(super) fn one_by_one(
    answers: impl Iterator<Item = Result<String, DeviceError>>,
    printer: Printer,
) -> anyhow::Result<String> {
    let (mut told, mut failed) = (String::new(), None);
    for answer in answers {
        match answer {
            Ok(answer) => told += &answer,
            Err(error) if failed.is_none() => failed = Some(error),
            Err(error) => printer.error(&error.into()),
        }
    }
    let Some(error) = failed else { return Ok(told) };
    told.lines().for_each(|line| printer.note(line));
    Err(error.into())
}
