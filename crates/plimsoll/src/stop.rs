//! Signals. Ctrl-C: the first asks the run to end and save what it has, the second ends the process at once.

use std::{
    fs, io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use rustix::process::Signal;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
    low_level,
};

use crate::exit::Exit;

/// Signals that follow each other this closely are one wish: `timeout`, and shells, tell a process and then its group.
const ONE_WISH_NS: u64 = 500_000_000;

/// A flag that the signals that mean "stop" set.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    // Whoever started us with `nohup`, or in the background of a script, wants these ignored.
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
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
                Some(at_ns) if now_ns - at_ns >= ONE_WISH_NS => low_level::exit(Exit::Interrupted as i32),
                Some(_) => {}
            }
        }
    })?;
    Ok(stop)
}

/// Makes a file that grows beyond the limit of this process (`ulimit -f`) an error like others, which is told and after
/// which things are put in order, instead of the end of the process.
pub fn outlive_file_size_limit() -> io::Result<()> {
    flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false))).map(drop)
}

/// The signals that were ignored when the program was started, as bits: number 1 is the lowest.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
