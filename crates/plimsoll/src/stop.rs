//! Signals. Ctrl-C: the first asks the run to end and save what it has, the second ends the process at once. One asks
//! for a report meanwhile. Others that end or stop the process wait until the terminal is given back.

use std::{
    fs, io,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use rustix::process::Signal;
use signal_hook::{
    SigId,
    consts::{SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2},
    flag,
    iterator::Signals,
    low_level,
};

use crate::{exit::Exit, progress};

/// Signals that follow each other this closely are one wish: `timeout`, and shells, tell a process and then its group.
const ONE_WISH_NS: u64 = 500_000_000;

/// The number of the last signal that was put off, or zero.
static PUT_OFF: AtomicUsize = AtomicUsize::new(0);
/// Whether none is: signals do at once what they do.
static AT_ONCE: AtomicBool = AtomicBool::new(true);

/// A flag that the signals that mean "stop" set.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // Whoever started us with `nohup`, or in the background of a script, wants these ignored.
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !was_ignored(*signal));
    let mut signals = Signals::new(wanted)?;
    let told = Arc::clone(&stop);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first_ns = None;
        for _ in &mut signals {
            let now_ns = MonotonicClock.now_ns();
            // A key of the dashboard may have been the first.
            let is_first = !told.swap(true, Ordering::Relaxed);
            match first_ns {
                None if is_first => first_ns = Some(now_ns),
                Some(at_ns) if now_ns - at_ns < ONE_WISH_NS => {}
                _ => {
                    progress::give_terminal_back();
                    low_level::exit(Exit::Interrupted as i32)
                }
            }
        }
    })?;
    Ok(stop)
}

/// Puts off what signals do that end or stop the process, and wakes whoever has the terminal to give it back before.
/// The same for the one by which it goes on.
pub fn put_off(wake: &UnixStream) -> io::Result<Vec<SigId>> {
    AT_ONCE.store(false, Ordering::SeqCst);
    let mut registered = Vec::new();
    for signal in [SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGCONT].into_iter().filter(|one| !was_ignored(*one)) {
        // It stays: a signal with a handler does nothing else.
        flag::register_conditional_default(signal, &AT_ONCE)?;
        registered.push(flag::register_usize(signal, &PUT_OFF, signal as usize)?);
        registered.push(low_level::pipe::register(signal, wake.try_clone()?)?);
    }
    Ok(registered)
}

/// Whether a signal waits for the terminal to be given back.
pub fn has_put_off() -> bool {
    PUT_OFF.load(Ordering::SeqCst) > 0
}

/// The signal that waits, which does not any more.
pub fn take_put_off() -> Option<i32> {
    Some(PUT_OFF.swap(0, Ordering::SeqCst) as i32).filter(|signal| *signal > 0)
}

/// Does what a signal does that was put off: the process ends, or stops until it is told to go on.
pub fn do_put_off(signal: i32) {
    // Only signals were put off of which that is known.
    let _ = low_level::emulate_default_handler(signal);
}

/// Puts off nothing more.
pub fn put_off_nothing() {
    AT_ONCE.store(true, Ordering::SeqCst);
    if let Some(signal) = take_put_off() {
        do_put_off(signal);
    }
}

/// Does something when the first of the signals comes that mean "stop"; the second ends the process at once.
pub fn on_first_signal(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !was_ignored(*signal));
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut signals = signals.forever();
        if signals.next().is_some() {
            stop();
        }
        if signals.next().is_some() {
            low_level::exit(Exit::Success as i32);
        }
    })?;
    Ok(())
}

/// Lets Ctrl-C's signal end a run although a shell started it in the background of a script, with that signal ignored.
/// To be called before [`on_signals`].
pub fn heed_interrupts_in_background() -> io::Result<()> {
    if !was_ignored(SIGINT) {
        return Ok(());
    }
    // A signal with a handler is no longer ignored; this one does nothing.
    flag::register(SIGINT, Arc::new(AtomicBool::new(false))).map(drop)
}

/// A flag that the signal sets by which people ask for a report meanwhile.
pub fn on_report_request() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    flag::register(SIGUSR1, Arc::clone(&asked))?;
    Ok(asked)
}

/// Makes a file that grows beyond the limit of this process (`ulimit -f`) an error like others, which is told and after
/// which things are put in order, instead of the end of the process.
pub fn outlive_file_size_limit() -> io::Result<()> {
    flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false))).map(drop)
}

/// Whether a signal has been ignored since the program was started.
fn was_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // As bits: number 1 is the lowest.
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}
