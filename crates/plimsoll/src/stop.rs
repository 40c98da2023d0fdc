//! Signals. Ctrl-C: the first asks the run to end and save what it has, the second ends the process at once.

use std::{
    fs, io,
    sync::{Arc, atomic::AtomicBool},
};

use rustix::process::Signal;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::exit::Exit;

/// A flag that the signals that mean "stop" set.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let ignored = ignored_signals();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Whoever started us with `nohup`, or in the background of a script, wants these ignored.
        if ignored >> (signal - 1) & 1 == 1 {
            continue;
        }
        // In this order: the first signal sets the flag, the second finds it set.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
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
