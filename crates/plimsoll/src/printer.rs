//! The only place that prints: the answer to standard output, everything else to standard error.

use std::{
    fmt,
    io::{self, BufWriter, IsTerminal, Write},
    sync::{Mutex, PoisonError},
};

use indicatif::{ProgressBar, WeakProgressBar};
use plimsoll_report::{printable, table::Style};
use plimsoll_workload::error_chain::chain;

use crate::{
    environment_variables::{self, COLUMNS, NO_COLOR},
    exit::OutputLost,
};

/// What is kept back while something else has the whole terminal.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// What has the last lines of the terminal.
static BARS: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Says what is said from now on above these lines, for as long as they are there.
pub fn say_above(bars: &ProgressBar) {
    *BARS.lock().unwrap_or_else(PoisonError::into_inner) = Some(bars.downgrade());
}

/// Keeps back what is said from now on.
pub fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// What is kept back after so many others, if anything is.
pub fn held_after(known: usize) -> Vec<String> {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.iter().flatten().skip(known).cloned().collect()
}

/// Says what was kept back, and nothing is any more.
pub fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    for line in held.into_iter().flatten() {
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

/// How to talk to the person or program outside.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    quiet: bool,
    /// Whether warnings are kept back as well.
    only_errors: bool,
}

impl Printer {
    /// A printer; a quiet one shows answers, warnings and errors only.
    pub const fn new(quiet: bool) -> Self {
        Self { quiet, only_errors: false }
    }

    /// A printer for whoever takes every word on standard error for a failure.
    pub const fn for_programs() -> Self {
        Self { quiet: true, only_errors: true }
    }

    /// Prints the answer. A reader that has gone away, as in `| head`, is no error.
    pub fn answer(self, text: impl fmt::Display) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match write!(out, "{text}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Prints an answer of any length while it is made.
    pub fn pour(self, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = write(&mut out).and_then(|()| Ok(out.flush().map_err(OutputLost)?));
        let is_gone = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        };
        match written {
            Err(error) if error.chain().any(is_gone) => Ok(()),
            written => written,
        }
    }

    /// Says something in passing.
    pub fn note(self, text: impl fmt::Display) {
        if !self.quiet {
            Self::say("", &text);
        }
    }

    /// Says that something is not as it should be.
    pub fn warning(self, text: impl fmt::Display) {
        if !self.only_errors {
            Self::say("warning: ", &text);
        }
    }

    /// Says why the program ends, with all causes in one sentence.
    pub fn error(self, error: &anyhow::Error) {
        Self::say("error: ", &chain(error.as_ref()));
    }

    fn say(prefix: &str, text: &dyn fmt::Display) {
        let line = format!("{prefix}{}", printable::lines(&text.to_string()));
        if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            held.push(line);
            return;
        }
        let bars = BARS.lock().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(WeakProgressBar::upgrade);
        // When even standard error is gone there is nobody left to tell.
        let say = || drop(writeln!(io::stderr().lock(), "{line}"));
        bars.map_or_else(say, |bars| bars.suspend(say));
    }

    /// Whether progress may be shown at all.
    pub const fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Columns to fit the answer into.
    pub fn width(self) -> usize {
        let columns = environment_variables::get(COLUMNS).and_then(|text| text.to_str()?.parse().ok());
        let terminal = || {
            rustix::termios::tcgetwinsize(io::stdout())
                .ok()
                .map(|size| usize::from(size.ws_col))
                .filter(|width| *width > 0)
        };
        // Sentences in longer lines are hard to read; who says so wants the tables whole.
        columns.map_or_else(|| terminal().unwrap_or(100).clamp(40, 160), |columns: usize| columns.clamp(40, 400))
    }

    /// How the answer may look.
    pub fn style(self) -> Style {
        let is_plain = environment_variables::get(NO_COLOR).is_some();
        let is_plain = is_plain || !environment_variables::terminal_has_more_than_lines();
        Style { colour: io::stdout().is_terminal() && !is_plain }
    }
}
