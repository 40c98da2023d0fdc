//! Ctrl-C and the like. They end a task at once, unless it has something to undo first: then it listens for them.

use std::{
    fs,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use anyhow::{Context as _, bail};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// While there is one of these, signals are but noted.
pub(crate) struct Listening(());

static LISTENERS: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
struct Signals {
    has_come: Arc<AtomicBool>,
    /// A handler stays for good; where nobody listens it does what would be done without one.
    ends_at_once: Arc<AtomicBool>,
}

fn signals() -> &'static Signals {
    static SIGNALS: OnceLock<Signals> = OnceLock::new();
    SIGNALS.get_or_init(Signals::default)
}

/// From now on until the drop, whoever waits has to ask for signals.
pub(crate) fn listen() -> anyhow::Result<Listening> {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    let signals = signals();
    if REGISTERED.set(()).is_ok() {
        // Whoever started us with `nohup` wants us to outlive the terminal.
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| *signal != SIGHUP || !ignores(SIGHUP)) {
            flag::register_conditional_default(signal, Arc::clone(&signals.ends_at_once))
                .and_then(|_| flag::register(signal, Arc::clone(&signals.has_come)))
                .context("listen for signals")?;
        }
    }
    LISTENERS.fetch_add(1, Ordering::Relaxed);
    signals.ends_at_once.store(false, Ordering::Relaxed);
    Ok(Listening(()))
}

impl Drop for Listening {
    fn drop(&mut self) {
        if LISTENERS.fetch_sub(1, Ordering::Relaxed) == 1 {
            signals().ends_at_once.store(true, Ordering::Relaxed);
        }
    }
}

fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Whether somebody wants the end.
pub(crate) fn has_come() -> bool {
    signals().has_come.load(Ordering::Relaxed)
}

/// An error once somebody wants the end.
pub(crate) fn check() -> anyhow::Result<()> {
    if has_come() {
        bail!("interrupted");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        os::unix::process::ExitStatusExt as _,
        process::{Command, Stdio},
    };

    use signal_hook::low_level::raise;

    use super::*;

    /// Signals are for a process, and this one has other tests.
    const PROCESS: &str = "XTASK_TEST_OF_SIGNALS";

    #[test]
    fn a_signal_ends_a_task_only_when_nobody_listens_any_more() {
        if env::var_os(PROCESS).is_some() {
            let (outer, inner) = (listen().unwrap(), listen().unwrap());
            drop(inner);
            raise(SIGINT).unwrap();
            assert!(check().is_err());
            drop(outer);
            raise(SIGTERM).unwrap();
            return;
        }
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", "interruption::tests::a_signal_ends_a_task_only_when_nobody_listens_any_more"]);
        let status = again.env(PROCESS, "1").stdout(Stdio::null()).status().unwrap();
        assert_eq!(status.signal(), Some(SIGTERM));
    }
}
