//! The terminal while the dashboard has it, and how it is given back: at the end, to a shell that stops the process,
//! and before a signal or a panic ends it. After what nobody can catch (`kill -9`, an abort), `reset` does it.
//!
//! Signals of keys stay as they are, so that Ctrl-C is what it is elsewhere; only lines are not waited for, and nothing
//! is echoed. Ctrl-Z and Ctrl-\ are off meanwhile: a run that stands still measures nothing, and where no shell is
//! (`kubectl exec`) nobody could make it go on.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    panic,
    sync::{
        Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use ratatui::{
    Terminal, TerminalOptions, Viewport,
    backend::CrosstermBackend,
    crossterm::{
        cursor, queue,
        style::ResetColor,
        terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen},
    },
    layout::Rect,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::OFlags,
    io::Errno,
    process,
    termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios},
};

use crate::{printer, stop};

/// The modes from before of the terminal that keys come from, while others are set.
static MODES: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);
/// Held while something is written, so that nothing comes after the terminal was given back.
static WRITING: Mutex<()> = Mutex::new(());
/// Whether frames still belong on the screen.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// The terminal of standard error, opened once more so that it is written to without waiting.
static OUT: OnceLock<Option<File>> = OnceLock::new();
static PANICS: Once = Once::new();

/// How long a terminal that takes nothing is waited for where somebody else waits.
const PATIENCE_NS: u64 = 200_000_000;
/// How often it is looked meanwhile whether it is still worth while.
const LOOK: Duration = Duration::from_millis(10);
/// More is not drawn: sizes that nobody can read would take memory without bound.
const SIZE_MAX: (u16, u16) = (512, 256);

/// So that what is pasted comes with marks around it, and the same off again.
const MARK_PASTES: &[u8] = b"\x1b[?2004h";
const MARK_NO_PASTES: &[u8] = b"\x1b[?2004l";

/// A terminal that is drawn on.
pub(super) type Screen = Terminal<CrosstermBackend<Frames>>;

/// Columns and rows of standard error; what is usual where the terminal does not say.
pub(super) fn size() -> Option<(u16, u16)> {
    let size = termios::tcgetwinsize(io::stderr()).ok()?;
    let is_told = size.ws_col > 0 && size.ws_row > 0;
    Some(if is_told { (size.ws_col.min(SIZE_MAX.0), size.ws_row.min(SIZE_MAX.1)) } else { (80, 24) })
}

/// Whether the shell has put this process into the background, where asking for other modes would stop it.
pub(super) fn is_in_background() -> bool {
    termios::tcgetpgrp(io::stderr()).is_ok_and(|group| group != process::getpgrp())
}

/// Takes the terminal, and gives what keys can be read from; `None` where there are none.
pub(super) fn take() -> Option<OwnedFd> {
    PANICS.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
    OUT.get_or_init(|| {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        File::options().write(true).custom_flags(flags).open("/proc/self/fd/2").ok()
    });
    let keys = keys().filter(|keys| set_quiet_modes(keys).is_ok());
    printer::hold();
    IS_TAKEN.store(true, Ordering::SeqCst);
    let mut out = Vec::new();
    let _ = queue!(out, EnterAlternateScreen, Clear(ClearType::All), cursor::Hide);
    out.extend_from_slice(MARK_PASTES);
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write_all(&out, while_patient());
    keys
}

/// Whether nobody has given it back.
pub(super) fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::SeqCst)
}

/// A blank screen of this size, until all is over.
pub(super) fn screen(columns: u16, rows: u16, is_over: &Arc<AtomicBool>) -> io::Result<Screen> {
    let mut out = Frames { bytes: Vec::new(), is_over: Arc::clone(is_over) };
    queue!(out, Clear(ClearType::All))?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    Terminal::with_options(CrosstermBackend::new(out), TerminalOptions { viewport })
}

/// Gives the terminal back as it was found, and says what was kept back meanwhile. To be called as often as one likes,
/// from anywhere but a handler of a signal. A terminal that takes nothing takes no sentences either, and whoever wants
/// to end does not wait for it.
pub(crate) fn give_back() {
    if undo(while_patient()) {
        printer::release();
    }
}

/// The same at the end, where there is nothing left to do but to tell the result: the terminal is waited for, until a
/// signal wants the end.
pub(super) fn give_back_at_the_end() {
    undo(|| !stop::has_put_off());
    printer::release();
}

/// Leaves the terminal to a shell, for a while.
pub(super) fn lend() {
    undo(while_patient());
}

/// Undoes what [`take`] did; whether that was there to be undone, and all of it is.
fn undo(goes_on: impl Fn() -> bool) -> bool {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return false;
    }
    // First, because writing may take until somebody ends the process. In the background the terminal is a shell's,
    // which has modes of its own, and asking for others would stop the process; they are kept until it comes back.
    if !is_in_background()
        && let Some((keys, modes)) = MODES.lock().unwrap_or_else(PoisonError::into_inner).take()
    {
        let _ = termios::tcsetattr(keys, OptionalActions::Now, &modes);
    }
    let Some(_writing) = writing() else { return false };
    // Cleared, because some terminals have no alternate screen to leave.
    let mut out = MARK_NO_PASTES.to_vec();
    let _ = queue!(out, ResetColor, cursor::MoveTo(0, 0), Clear(ClearType::All), cursor::Show, LeaveAlternateScreen);
    write_all(&out, goes_on)
}

/// True for as long as a terminal is waited for by somebody who has better to do.
fn while_patient() -> impl Fn() -> bool {
    let until_ns = MonotonicClock.now_ns() + PATIENCE_NS;
    move || MonotonicClock.now_ns() < until_ns
}

/// Nobody else writes while this is there; `None` when the terminal has stalled.
fn writing() -> Option<MutexGuard<'static, ()>> {
    let is_patient = while_patient();
    while is_patient() {
        match WRITING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
        }
    }
    None
}

/// What keys come from: standard input, or the terminal of the session when that is something else.
fn keys() -> Option<OwnedFd> {
    if io::stdin().is_terminal() {
        io::stdin().as_fd().try_clone_to_owned().ok()
    } else {
        File::open("/dev/tty").ok().map(OwnedFd::from)
    }
}

/// Makes keys come one by one and unseen.
fn set_quiet_modes(keys: &OwnedFd) -> rustix::io::Result<()> {
    let mut kept = MODES.lock().unwrap_or_else(PoisonError::into_inner);
    let (keys, before) = match kept.take() {
        Some(before) => before,
        None => (keys.try_clone().map_err(|_| Errno::MFILE)?, termios::tcgetattr(keys)?),
    };
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    for off in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT, SpecialCodeIndex::VSTOP] {
        modes.special_codes[off] = 0;
    }
    termios::tcsetattr(&keys, OptionalActions::Now, &modes)?;
    *kept = Some((keys, before));
    Ok(())
}

/// Collects a frame, and writes it at once.
#[derive(Debug)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    is_over: Arc<AtomicBool>,
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        if IS_TAKEN.load(Ordering::SeqCst) {
            // A frame is broken off for what everything is drawn anew after, if ever.
            write_all(&self.bytes, || {
                IS_TAKEN.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst) && !stop::has_put_off()
            });
        }
        self.bytes.clear();
        Ok(())
    }
}

/// Writes without the lock of standard error, which somebody may hold who ends the process, for as long as it is worth
/// while to wait for the terminal; whether all was written. A terminal that is gone is no reason to end a run.
fn write_all(mut bytes: &[u8], goes_on: impl Fn() -> bool) -> bool {
    let stderr = io::stderr();
    let out = OUT.get().and_then(Option::as_ref).map_or(stderr.as_fd(), AsFd::as_fd);
    while !bytes.is_empty() {
        match rustix::io::write(out, bytes) {
            Ok(0) => return false,
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if goes_on() => {
                let look = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
                let _ = poll(&mut [PollFd::from_borrowed_fd(out, PollFlags::OUT)], Some(&look));
            }
            Err(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
