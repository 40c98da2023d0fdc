//! What `plimsoll emulate` and `plimsoll stripe` have in common: they make things, write them down, and take them down
//! again.

use std::path::Path;

use anyhow::Context as _;
use plimsoll_devices::error::DeviceError;

use crate::{printer::Printer, state::State};

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

/// What each of several answers. What had an answer before one failed is said too.
pub(super) fn one_by_one(
    answers: impl Iterator<Item = Result<String, DeviceError>>,
    printer: Printer,
) -> anyhow::Result<String> {
    let mut told = String::new();
    for answer in answers {
        match answer {
            Ok(answer) => told += &answer,
            Err(error) => {
                told.lines().for_each(|line| printer.note(line));
                return Err(error.into());
            }
        }
    }
    Ok(told)
}
