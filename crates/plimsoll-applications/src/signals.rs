//! Signals to a process that is known by its number and its start, so that nobody gets them who has the number since.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::process_table::Process;

/// Sends a signal to a process, if it is still there and still passes the check. A handle is taken before the check, so
/// that the number cannot become another process in between. One that has ended is fine.
pub(crate) fn signal_if(number: i32, signal: Signal, is_meant: impl Fn() -> bool) {
    let Some(pid) = Pid::from_raw(number) else { return };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) if is_meant() => drop(pidfd_send_signal(&handle, signal)),
        // Kernels before 5.3 have no handles.
        Err(rustix::io::Errno::NOSYS) if is_meant() => drop(kill_process(pid, signal)),
        _ => {}
    }
}

/// Sends a signal to the process that has had this number since this start.
pub(crate) fn signal(number: i32, start_ticks: u64, signal: Signal) {
    signal_if(number, signal, || Process::now(number).is_some_and(|process| process.start_ticks == start_ticks));
}
