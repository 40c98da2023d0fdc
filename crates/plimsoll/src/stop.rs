//! Signals. Ctrl-C: the first asks the run to end and save what it has, the second ends the process at once. One asks
//! for a report meanwhile.

use std::{
    fs, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1},
    flag,
    iterator::Signals,
    low_level,
};

use crate::{exit::Exit, progress};

/// Signals that follow each other this closely are one wish: `timeout`, and shells, tell a process and then its group.
const ONE_WISH_NS: u64 = 500_000_000;

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
            match first_ns {
                None => {
                    first_ns = Some(now_ns);
                    told.store(true, Ordering::Relaxed);
                }
                Some(at_ns) if now_ns - at_ns >= ONE_WISH_NS => {
                    progress::give_terminal_back();
                    low_level::exit(Exit::Interrupted as i32)
                }
                Some(_) => {}
            }
        }
    })?;
    Ok(stop)
}

/// Asks for the end as Ctrl-C does, with a signal that is taken as that one is, and that fewer shells have ignored.
pub fn ask() {
    // A process may always send signals to itself.
    let _ = kill_process(getpid(), Signal::TERM);
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
