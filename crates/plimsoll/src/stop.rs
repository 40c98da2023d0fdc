//! Ctrl-C: the first asks the run to end and save what it has, the second ends the process at once.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

use crate::exit::Exit;

/// A flag that the signals that mean "stop" set.
pub fn on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal sets the flag, the second finds it set.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
