//! Progress on the whole of a terminal: every cell, the last seconds of one of them, and what has been found.
//!
//! It is drawn on a thread of its own, because a terminal may take nothing for a while, and whoever tells of the run
//! must not wait for it: seconds would be gathered late. The thread sleeps until something happens or a key is pressed,
//! draws a few times a second at most, and now and then when nothing happens, because time passes. While the process
//! is in the background of a shell, the terminal is the shell's.

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
use signal_hook::{
    SigId,
    consts::{SIGTSTP, SIGWINCH},
    low_level,
};

use self::{
    drawing::{LEAST_COLUMNS, LEAST_ROWS, Picture},
    keys::{Key, Keys},
    terminal::Screen,
};
use super::{Progress, bars::Bars, state::ProgressState};
use crate::{
    environment_variables::{self, NO_COLOR},
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
}

/// What both threads know.
struct Shared {
    state: Mutex<ProgressState>,
    /// There when the dashboard was left.
    bars: Mutex<Option<Bars<MonotonicClock>>>,
    /// Set while there is something that no picture shows yet.
    is_stale: AtomicBool,
    /// Set when the run is over.
    is_over: Arc<AtomicBool>,
    /// Set by what asks the run to end.
    stop: Mutex<Option<Arc<AtomicBool>>>,
}

/// The thread that draws.
struct Drawing {
    thread: JoinHandle<()>,
    wake: UnixStream,
    signals: Vec<SigId>,
}

/// The thread's side.
struct Drawer {
    shared: Arc<Shared>,
    woken: UnixStream,
    /// What keys come from.
    tty: Option<OwnedFd>,
    keys: Keys,
    screen: Option<((u16, u16), Screen)>,
    /// The cell of which there are charts; `None` for the one that is being measured.
    chosen: Option<usize>,
    /// Whether the terminal is a shell's for now.
    is_away: bool,
    /// How many lines of what is kept back are known.
    held: usize,
    colour: bool,
    plain: bool,
}

/// Why there can be no dashboard.
pub(super) fn obstacle() -> Option<String> {
    if !io::stderr().is_terminal() {
        return Some("standard error is no terminal".to_owned());
    }
    if !environment_variables::terminal_has_more_than_lines() {
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
            bars: Mutex::new(None),
            is_over: Arc::new(AtomicBool::new(false)),
            stop: Mutex::new(None),
        };
        Self { shared: Arc::new(shared), has_begun: false, drawing: None }
    }
}

impl Progress for Dashboard {
    fn event(&mut self, event: &RunEvent) {
        let mut bars = self.shared.bars();
        if let Some(bars) = bars.as_mut() {
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
            _ => self.shared.go_on_with(&mut bars),
        }
    }

    fn finish(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        if let Some(drawing) = self.drawing.take() {
            drawing.end();
        }
        if let Some(bars) = self.shared.bars().as_mut() {
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

    fn bars(&self) -> MutexGuard<'_, Option<Bars<MonotonicClock>>> {
        self.bars.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on_with(&self, bars: &mut Option<Bars<MonotonicClock>>) {
        let new = Bars::going_on(self.state().clone(), MonotonicClock);
        new.draw();
        *bars = Some(new);
    }

    fn is_stopping(&self) -> bool {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Asks for the end as the first Ctrl-C does.
    fn stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Drawing {
    fn begin(shared: &Arc<Shared>) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let mut drawer = Drawer {
            shared: Arc::clone(shared),
            woken,
            tty: None,
            keys: Keys::default(),
            screen: None,
            chosen: None,
            is_away: false,
            held: 0,
            colour: environment_variables::get(NO_COLOR).is_none(),
            plain: environment_variables::is_other_charset(),
        };
        // Without them, another size is noticed with the next picture, and signals do what they do.
        let mut signals = stop::put_off(&wake).unwrap_or_default();
        signals.extend(low_level::pipe::register(SIGWINCH, wake.try_clone()?).ok());
        let thread = thread::Builder::new().name("dashboard".to_owned()).spawn(move || {
            drawer.tty = terminal::take();
            drawer.work();
            terminal::give_back_at_the_end();
            let shared = Arc::clone(&drawer.shared);
            drop(drawer);
            if !shared.is_over.load(Ordering::SeqCst) {
                shared.go_on_with(&mut shared.bars());
            }
        });
        thread.map(|thread| Self { thread, wake, signals })
    }

    fn wake(&self) {
        // When it takes no more, there is enough in it.
        let _ = (&self.wake).write(&[0]);
    }

    fn end(self) {
        self.wake();
        // If it ended in a panic, that has been told, and the terminal was given back.
        let _ = self.thread.join();
        for signal in self.signals {
            low_level::unregister(signal);
        }
    }
}

impl Drawer {
    fn work(&mut self) {
        let mut drawn_ns = None;
        let mut is_asked = false;
        while !self.shared.is_over.load(Ordering::SeqCst) && (self.is_away || terminal::is_taken()) {
            if let Some(signal) = stop::take_put_off() {
                self.go_away();
                self.drain();
                stop::do_put_off(signal);
                if signal == SIGTSTP {
                    // What lets the process go on may be told to another thread, and a moment later than to this one.
                    wait_for([self.woken.as_fd()], EVERY_NS);
                }
                continue;
            }
            if terminal::is_in_background() {
                self.go_away();
                wait_for([self.woken.as_fd()], AT_REST_NS);
                self.drain();
                continue;
            }
            if self.is_away {
                self.tty = terminal::take();
                (self.is_away, is_asked) = (false, true);
            }
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
                    Key::Stop => self.shared.stop(),
                    Key::Follow => self.chosen = None,
                    Key::Up => self.chosen = Some(at.saturating_sub(1)),
                    Key::Down => self.chosen = Some((at + 1).min(last)),
                    Key::Redraw => self.screen = None,
                }
            }
        }
    }

    /// Leaves the terminal to a shell.
    fn go_away(&mut self) {
        if !self.is_away {
            terminal::lend();
            (self.is_away, self.tty, self.screen) = (true, None, None);
        }
    }

    /// Waits for keys, until something happens or the time is over.
    fn wait(&mut self, ns: u64) -> Vec<Key> {
        let Some(tty) = &self.tty else {
            wait_for([self.woken.as_fd()], ns);
            self.drain();
            return Vec::new();
        };
        let has_begun = self.keys.has_begun();
        let [is_woken, is_pressed] = wait_for([self.woken.as_fd(), tty.as_fd()], if has_begun { KEY_NS } else { ns });
        let mut bytes = [0; 64];
        let length = if is_pressed { rustix::io::read(tty, &mut bytes).unwrap_or(0) } else { 0 };
        self.drain();
        match (is_pressed, length) {
            // Nobody sits there any more.
            (true, 0) => {
                self.tty = None;
                Vec::new()
            }
            (true, length) => self.keys.take_in(&bytes[..length]),
            (false, _) if has_begun && !is_woken => self.keys.give_up().into_iter().collect(),
            (false, _) => Vec::new(),
        }
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
            self.screen = Some((size, terminal::screen(size.0, size.1, &self.shared.is_over)?));
        }
        let picture = self.picture(now_ns);
        match &mut self.screen {
            Some((_, screen)) => screen.draw(|frame| picture.draw(frame.buffer_mut())).map(drop),
            None => Ok(()),
        }
    }

    fn picture(&mut self, now_ns: u64) -> Picture {
        let is_stopping = self.shared.is_stopping();
        let held = printer::held_after(self.held);
        self.held += held.len();
        let mut state = self.shared.state();
        held.iter().flat_map(|said| said.lines()).for_each(|line| state.say(line));
        let details = state.details();
        let chosen = self.chosen.unwrap_or(details.current);
        Picture {
            shown: state.shown(now_ns),
            past: state.past(chosen),
            chosen,
            is_pinned: self.chosen.is_some(),
            keys: match (&self.tty, is_stopping) {
                (_, true) => "stopping; Ctrl-C again ends it at once",
                (None, false) => "Ctrl-C stops",
                (Some(_), false) if details.cells.len() == 1 => "q stop  d bars",
                (Some(_), false) if self.chosen.is_none() => "q stop  d bars  j/k cell",
                (Some(_), false) => "q stop  d bars  j/k cell  f follow",
            },
            details,
            colour: self.colour,
            plain: self.plain,
        }
    }
}

impl Drop for Drawer {
    fn drop(&mut self) {
        stop::put_off_nothing();
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
