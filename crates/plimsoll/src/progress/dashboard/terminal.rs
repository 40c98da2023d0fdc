//! The terminal while the dashboard has it, and how it is given back: whoever ends the process first, and whatever for.
//!
//! Signals of keys stay as they are, so that Ctrl-C is what it is elsewhere; only lines are not waited for, and nothing
//! is echoed. Ctrl-Z and Ctrl-\ are off meanwhile: whoever they return to would have half a screen.

use std::{
    fs::File,
    io::{self, IsTerminal, Write},
    os::fd::{AsFd, OwnedFd},
    panic,
    sync::{
        Mutex, MutexGuard, Once, PoisonError, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

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
    io::Errno,
    process,
    termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios},
};

use crate::printer;

/// What to undo, while there is something.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);
/// Held while something is written, so that nothing comes after the terminal was given back.
static WRITING: Mutex<()> = Mutex::new(());
/// Whether frames still belong on the screen.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS: Once = Once::new();

/// How often, and how long each time, a terminal that takes nothing is waited for.
const PATIENCE: (u32, Duration) = (20, Duration::from_millis(10));

/// The modes of the terminal that keys come from.
struct Taken {
    modes: Option<(OwnedFd, Termios)>,
}

/// A terminal that is drawn on.
pub(super) type Screen = Terminal<CrosstermBackend<Frames>>;

/// Columns and rows of standard error; what is usual where the terminal does not say.
pub(super) fn size() -> Option<(u16, u16)> {
    let size = termios::tcgetwinsize(io::stderr()).ok()?;
    if size.ws_col == 0 || size.ws_row == 0 { Some((80, 24)) } else { Some((size.ws_col, size.ws_row)) }
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
    let keys = keys();
    let modes = keys.as_ref().and_then(|keys| Some((keys.try_clone().ok()?, quiet_modes(keys).ok()?)));
    let keys = keys.filter(|_| modes.is_some());
    printer::hold();
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Taken { modes });
    IS_TAKEN.store(true, Ordering::SeqCst);
    let mut out = Frames(Vec::new());
    let _ = queue!(out, EnterAlternateScreen, Clear(ClearType::All), cursor::Hide).and_then(|()| out.flush());
    keys
}

/// Whether nobody has given it back.
pub(super) fn is_taken() -> bool {
    IS_TAKEN.load(Ordering::SeqCst)
}

/// A blank screen of this size.
pub(super) fn screen(columns: u16, rows: u16) -> io::Result<Screen> {
    let mut out = Frames(Vec::new());
    queue!(out, Clear(ClearType::All))?;
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, rows));
    Terminal::with_options(CrosstermBackend::new(out), TerminalOptions { viewport })
}

/// Gives the terminal back as it was found, and says what was kept back meanwhile. To be called as often as one likes,
/// from anywhere but a handler of a signal.
pub(crate) fn give_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    let writing = writing();
    if writing.is_some() {
        let mut out = Vec::new();
        let _ = queue!(out, ResetColor, cursor::Show, LeaveAlternateScreen);
        write_all(&out);
    }
    if let Some((keys, modes)) = taken.and_then(|taken| taken.modes) {
        let _ = termios::tcsetattr(keys, OptionalActions::Now, &modes);
    }
    // A terminal that takes nothing takes no sentences either, and whoever wants to end must not wait for it.
    if writing.is_some() {
        printer::release();
    }
}

/// Nobody else writes while this is there; `None` when the terminal has stalled.
fn writing() -> Option<MutexGuard<'static, ()>> {
    for _ in 0..PATIENCE.0 {
        match WRITING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(PATIENCE.1),
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

/// Makes keys come one by one and unseen; returns the modes from before.
fn quiet_modes(keys: &OwnedFd) -> rustix::io::Result<Termios> {
    let before = termios::tcgetattr(keys)?;
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    for off in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT, SpecialCodeIndex::VSTOP] {
        modes.special_codes[off] = 0;
    }
    termios::tcsetattr(keys, OptionalActions::Now, &modes)?;
    Ok(before)
}

/// Collects a frame, and writes it at once.
#[derive(Debug)]
pub(super) struct Frames(Vec<u8>);

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        if IS_TAKEN.load(Ordering::SeqCst) {
            write_all(&self.0);
        }
        self.0.clear();
        Ok(())
    }
}

/// Writes without the lock of standard error, which somebody may hold who ends the process. A terminal that is gone is
/// no reason to end a run.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(io::stderr(), bytes) {
            Ok(0) => return,
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
