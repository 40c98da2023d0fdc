//! Child processes that have ended: how, and what they used of the machine.

use std::{fmt, io, mem::MaybeUninit, process::Command};

use rustix::{
    io::Errno,
    process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal},
};

use crate::process_usage::{nanoseconds, own_usage};

/// What a child used, and all of its own children that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildUsage {
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Most memory that one of them had.
    pub max_resident_bytes: u64,
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes written to storage, or to the page cache.
    pub written_bytes: u64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl Ended {
    /// Whether it says that all went well.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit status {status}"),
            Self::Killed(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// Has a command begin in a session of its own: without a terminal, so that what asks there fails instead of waiting.
pub fn begins_session(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: what runs between fork and exec is this system call alone, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from));
    }
}

/// Has a command end when this process does, however that ends: what it was to make, nobody would take down.
pub fn ends_with_us(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let us = getpid();
    let end_with_us = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before that was said.
        if getppid() == Some(us) { Ok(()) } else { Err(io::Error::from(Errno::SRCH)) }
    };
    // SAFETY: what runs between fork and exec are these two system calls alone; they allocate nothing and take no lock.
    unsafe {
        command.pre_exec(end_with_us);
    }
}

/// Most memory that this process has had so far. What it starts begins with that as its own, by the kernel's count.
pub fn own_resident_bytes_max() -> u64 {
    own_usage().ru_maxrss.unsigned_abs() * 1024
}

/// Takes the end of a child, if it has ended; `None` while it runs.
///
/// # Errors
/// When it is no child of this process.
pub fn reap(child: Pid) -> io::Result<Option<(Ended, ChildUsage)>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let reaped = loop {
        // SAFETY: both pointers are to memory for what is written there, which lives until the call returns.
        let result =
            unsafe { libc::wait4(child.as_raw_nonzero().get(), &raw mut status, libc::WNOHANG, usage.as_mut_ptr()) };
        match result {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            pid => break pid,
        }
    };
    if reaped == 0 {
        return Ok(None);
    }
    // SAFETY: it was zeroed, which is a valid value of all of its fields, and the call has filled it.
    let usage = unsafe { usage.assume_init() };
    let ended = if libc::WIFSIGNALED(status) {
        Ended::Killed(libc::WTERMSIG(status))
    } else {
        Ended::Exited(libc::WEXITSTATUS(status))
    };
    // The kernel tells memory in KiB, and I/O in sectors.
    let usage = ChildUsage {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        max_resident_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
        read_bytes: usage.ru_inblock.unsigned_abs() * 512,
        written_bytes: usage.ru_oublock.unsigned_abs() * 512,
    };
    Ok(Some((ended, usage)))
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    fn end_of(script: &str) -> (Ended, ChildUsage) {
        #[expect(clippy::zombie_processes, reason = "it is waited for below, by its number")]
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        for _ in 0..60_000 {
            if let Some(end) = reap(pid).unwrap() {
                assert!(reap(pid).is_err(), "an end is there once");
                return end;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("it never ended");
    }

    #[test]
    fn an_end_says_how_and_what_was_used() {
        assert_eq!(end_of("exit 7").0, Ended::Exited(7));
        let (killed, _) = end_of("kill -s KILL $$");
        assert_eq!((killed, killed.to_string()), (Ended::Killed(9), "signal 9".to_owned()));
        let (done, usage) = end_of("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
        assert!(done.is_success() && usage.user_ns > 1_000_000 && usage.max_resident_bytes > 100_000, "{usage:?}");
    }
}
