//! Progress on the whole of a terminal: every cell, the last seconds of one of them, and what has been found.
//!
//! It is drawn on a thread of its own, because a terminal may take nothing for a while, and whoever tells of the run
//! must not wait for it: seconds would be gathered late. The thread sleeps until something happens or a key is pressed,
//! draws a few times a second at most, and now and then when nothing happens, because time passes.

use std::{
    io::{self, IsTerminal, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use plimsoll_record::event::RunEvent;
use plimsoll_workload::plan::Plan;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::{SigId, consts::SIGWINCH, low_level};

use self::{
    drawing::{LEAST_COLUMNS, LEAST_ROWS, Picture},
    keys::Key,
    terminal::Screen,
};
use super::{Progress, bars::Bars, state::ProgressState};
use crate::{
    environment_variables::{self, NO_COLOR, TERM},
    printer, stop,
};

mod drawing;
mod keys;
pub(super) mod terminal;

/// The least time between two pictures, unless a key asks for one.
const EVERY_NS: u64 = 250_000_000;
/// The time after which there is a picture although nothing happened: more than the second after which a run tells of
/// its load, so that there is not a picture for either.
const AT_REST_NS: u64 = 1_100_000_000;
/// How long the rest of a key is waited for.
const KEY_NS: u64 = 50_000_000;

/// The dashboard, and the bars that take its place when it is left.
pub(crate) struct Dashboard {
    shared: Arc<Shared>,
    has_begun: bool,
    drawing: Option<Drawing>,
    bars: Option<Bars<MonotonicClock>>,
}

/// What both threads know.
struct Shared {
    state: Mutex<ProgressState>,
    /// Set while there is something that no picture shows yet.
    is_stale: AtomicBool,
    /// Set when the run is over.
    is_over: AtomicBool,
    /// Set by what asks the run to end.
    stop: Mutex<Option<Arc<AtomicBool>>>,
}

/// The thread that draws.
struct Drawing {
    thread: JoinHandle<()>,
    wake: UnixStream,
    resizes: Option<SigId>,
}

/// The thread's side.
struct Drawer {
    shared: Arc<Shared>,
    woken: UnixStream,
    keys: Option<OwnedFd>,
    screen: Option<((u16, u16), Screen)>,
    /// The cell whose seconds are shown; `None` for the one that is being measured.
    chosen: Option<usize>,
    /// Whether a key has asked for the end.
    is_stopping: bool,
    colour: bool,
}

/// Why there can be no dashboard.
pub(super) fn obstacle() -> Option<String> {
    if !io::stderr().is_terminal() {
        return Some("standard error is no terminal".to_owned());
    }
    if environment_variables::get(TERM).is_none_or(|kind| kind == "dumb") {
        return Some("the terminal is none of which each place can be written to, says TERM".to_owned());
    }
    match terminal::size() {
        Some((columns, rows)) if columns < LEAST_COLUMNS || rows < LEAST_ROWS => Some(format!(
            "the terminal has {columns} columns and {rows} rows, and it takes {LEAST_COLUMNS} and {LEAST_ROWS}"
        )),
        Some(_) if terminal::is_in_background() => Some("this runs in the background of a shell".to_owned()),
        Some(_) => None,
        None => Some("the terminal does not tell its size".to_owned()),
    }
}

impl Dashboard {
    /// A dashboard about a run that begins now. The terminal is taken when the run tells that it did: who is refused
    /// sees nothing of it.
    pub(super) fn new(plan: &Plan) -> Self {
        let shared = Shared {
            state: Mutex::new(ProgressState::new(plan, MonotonicClock.now_ns())),
            is_stale: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            stop: Mutex::new(None),
        };
        Self { shared: Arc::new(shared), has_begun: false, drawing: None, bars: None }
    }

    fn go_on_with_bars(&mut self) {
        let bars = Bars::going_on(self.shared.state().clone(), MonotonicClock);
        bars.draw();
        self.bars = Some(bars);
    }
}

impl Progress for Dashboard {
    fn event(&mut self, event: &RunEvent) {
        if let Some(bars) = &mut self.bars {
            bars.event(event);
            return;
        }
        self.shared.state().apply(event, MonotonicClock.now_ns());
        if !self.has_begun {
            self.has_begun = true;
            self.drawing = Drawing::begin(&self.shared).ok();
        }
        match &mut self.drawing {
            Some(drawing) if !drawing.thread.is_finished() => {
                if !self.shared.is_stale.swap(true, Ordering::SeqCst) {
                    drawing.wake();
                }
            }
            _ => self.go_on_with_bars(),
        }
    }

    fn finish(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        if let Some(drawing) = self.drawing.take() {
            drawing.end();
        }
        if let Some(bars) = &mut self.bars {
            bars.finish();
        }
    }

    fn tell_of_stop(&mut self, stop: &Arc<AtomicBool>) {
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(stop));
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopping(&self) -> bool {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Drawing {
    fn begin(shared: &Arc<Shared>) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        // Without it, another size is noticed with the next picture.
        let resizes = low_level::pipe::register(SIGWINCH, wake.try_clone()?).ok();
        let mut drawer = Drawer {
            shared: Arc::clone(shared),
            woken,
            keys: None,
            screen: None,
            chosen: None,
            is_stopping: false,
            colour: environment_variables::get(NO_COLOR).is_none(),
        };
        let thread = thread::Builder::new().name("dashboard".to_owned()).spawn(move || {
            drawer.keys = terminal::take();
            drawer.work();
            terminal::give_back();
        });
        match thread {
            Ok(thread) => Ok(Self { thread, wake, resizes }),
            Err(error) => {
                resizes.map(low_level::unregister);
                Err(error)
            }
        }
    }

    fn wake(&self) {
        // When it takes no more, there is enough in it.
        let _ = (&self.wake).write(&[0]);
    }

    fn end(self) {
        self.wake();
        // If it ended in a panic, that has been told, and the terminal was given back.
        let _ = self.thread.join();
        self.resizes.map(low_level::unregister);
    }
}

impl Drawer {
    fn work(&mut self) {
        let mut drawn_ns = None;
        let mut is_asked = false;
        while !self.shared.is_over.load(Ordering::SeqCst) && terminal::is_taken() {
            let now_ns = MonotonicClock.now_ns();
            let pause_ns = if self.shared.is_stale.load(Ordering::SeqCst) { EVERY_NS } else { AT_REST_NS };
            let due_ns = drawn_ns.map_or(now_ns, |drawn_ns| drawn_ns + pause_ns);
            if is_asked || now_ns >= due_ns {
                self.shared.is_stale.store(false, Ordering::SeqCst);
                // What cannot be drawn now can perhaps be drawn next time.
                let _ = self.draw(now_ns);
                (drawn_ns, is_asked) = (Some(now_ns), false);
                continue;
            }
            let keys = self.wait(due_ns - now_ns);
            is_asked = !keys.is_empty() || self.is_resized();
            for key in keys {
                let (at, last) = self.shared.state().current_and_last();
                let at = self.chosen.unwrap_or(at);
                match key {
                    Key::Leave => return,
                    Key::Stop => {
                        self.is_stopping = true;
                        stop::ask();
                    }
                    Key::Follow => self.chosen = None,
                    Key::Up => self.chosen = Some(at.saturating_sub(1)),
                    Key::Down => self.chosen = Some((at + 1).min(last)),
                }
            }
        }
    }

    /// Waits for keys, until something happens or the time is over.
    fn wait(&mut self, ns: u64) -> Vec<Key> {
        let Some(keys) = &self.keys else {
            wait_for([self.woken.as_fd()], ns);
            self.drain();
            return Vec::new();
        };
        let [_, is_pressed] = wait_for([self.woken.as_fd(), keys.as_fd()], ns);
        let mut bytes = [0; 64];
        let mut length = 0;
        if is_pressed {
            length = rustix::io::read(keys, &mut bytes).unwrap_or(0);
            if length > 0 && keys::is_begun(&bytes[..length]) && wait_for([keys.as_fd()], KEY_NS) == [true] {
                length += rustix::io::read(keys, &mut bytes[length..]).unwrap_or(0);
            }
        }
        self.drain();
        if is_pressed && length == 0 {
            // Nobody sits there any more.
            self.keys = None;
        }
        keys::keys(&bytes[..length])
    }

    /// Forgets how often it was woken.
    fn drain(&self) {
        let mut bytes = [0; 64];
        while (&self.woken).read(&mut bytes).is_ok_and(|length| length > 0) {}
    }

    fn is_resized(&self) -> bool {
        let before = self.screen.as_ref().map(|(size, _)| *size);
        before.is_some() && before != terminal::size()
    }

    fn draw(&mut self, now_ns: u64) -> io::Result<()> {
        let size = terminal::size().unwrap_or((LEAST_COLUMNS, LEAST_ROWS));
        if self.screen.as_ref().is_none_or(|(before, _)| *before != size) {
            self.screen = Some((size, terminal::screen(size.0, size.1)?));
        }
        let picture = self.picture(now_ns);
        match &mut self.screen {
            Some((_, screen)) => screen.draw(|frame| picture.draw(frame.buffer_mut())).map(drop),
            None => Ok(()),
        }
    }

    fn picture(&self, now_ns: u64) -> Picture {
        let is_stopping = self.is_stopping || self.shared.is_stopping();
        let state = self.shared.state();
        let mut details = state.details();
        details.sentences.extend(printer::held().iter().flat_map(|said| said.lines()).map(str::to_owned));
        let chosen = self.chosen.unwrap_or(details.current);
        Picture {
            shown: state.shown(now_ns),
            past: state.past(chosen),
            chosen,
            is_pinned: self.chosen.is_some(),
            keys: match (&self.keys, is_stopping) {
                (_, true) => "stopping; Ctrl-C again ends it at once",
                (None, false) => "Ctrl-C stops",
                (Some(_), false) if details.cells.len() > 1 => "q stop  d bars  j/k cell  f follow",
                (Some(_), false) => "q stop  d bars",
            },
            details,
            colour: self.colour,
            plain: environment_variables::is_other_charset(),
        }
    }
}

/// Waits until something can be read or the time is over; tells what can.
fn wait_for<const FILES: usize>(files: [BorrowedFd<'_>; FILES], ns: u64) -> [bool; FILES] {
    let mut polled = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
    let timeout = Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // A signal is as good a reason to look as any.
    let _ = poll(&mut polled, Some(&timeout));
    polled.map(|file| !file.revents().is_empty())
}
