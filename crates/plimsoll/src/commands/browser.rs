//! Showing something in the user's browser. That it cannot be shown takes nothing from what was done.

use std::{
    ffi::OsStr,
    process::{Command, Stdio},
    thread,
};

use plimsoll_io::open_files;

use crate::printer::Printer;

/// Shows a file that was written.
pub(super) fn open(path: &OsStr, printer: Printer) {
    if let Some(reason) = failure(path) {
        printer.warning(format!("{} is written and could not be shown: {reason}", path.display()));
    }
}

/// Shows an address, and does not wait for that.
pub(super) fn open_beside(address: String, printer: Printer) {
    // Whoever cannot start a thread for it is told the address all the same.
    let _ = thread::Builder::new().name("browser".to_owned()).spawn(move || {
        if let Some(reason) = failure(OsStr::new(&address)) {
            printer.warning(format!("{address} could not be shown: {reason}"));
        }
    });
}

/// Why something could not be shown.
fn failure(what: &OsStr) -> Option<String> {
    let quiet = [Stdio::null(), Stdio::null(), Stdio::null()];
    let [input, output, errors] = quiet;
    let mut command = Command::new("xdg-open");
    open_files::begins_as_we_did(&mut command);
    match command.arg(what).stdin(input).stdout(output).stderr(errors).status() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("xdg-open ended with {status}")),
        Err(error) => Some(format!("xdg-open: {error}")),
    }
}
