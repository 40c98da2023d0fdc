//! A command that loads the machine on purpose while a run measures, and that ends with the run, however that ends.
//!
//! Command and guardian are a process group of their own. The guardian, a shell, reads from a pipe that only this
//! process can write to: when this process ends without a word, the kernel closes the pipe, and the guardian ends the
//! group with all that the command has started. A signal at the death of a parent would reach the command alone.

use std::{
    io,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use plimsoll_io::{
    clock::{Clock, MonotonicClock},
    open_files,
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use thiserror::Error;

/// A command that fails within this time of its start is refused: most often it is misspelt.
const FAILS_AT_ONCE: Duration = Duration::from_millis(200);
/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for the end of its input, deaf to the signal that asks the group to end.
const GUARDIAN: &str = "trap '' HUP INT TERM; read -r _; kill -s KILL 0";

/// Why there is no load in the background.
#[derive(Debug, Error)]
pub enum BackgroundError {
    /// There is no shell, or no room for another process.
    #[error("start the background command with sh")]
    Start(#[source] io::Error),
    /// It failed at once.
    #[error("the background command \"{command}\" ended at once ({how}): run it by itself to see why")]
    Failed {
        /// The command.
        command: String,
        /// Exit status or signal.
        how: String,
    },
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When, by the monotonic clock.
    pub at_ns: u64,
    /// Exit status or signal, in words.
    pub how: String,
    failed: bool,
}

/// A command in the background; ended when dropped.
#[derive(Debug)]
pub struct Background {
    /// The leader of the group, whose number therefore belongs to the group until the guardian is waited for.
    guardian: Child,
    command: Child,
    end: Receiver<Ended>,
    watch: Option<JoinHandle<()>>,
    ended: Option<Ended>,
}

impl Background {
    /// Starts a command as a shell reads it, without input and with its output discarded.
    pub fn start(text: &str) -> Result<Self, BackgroundError> {
        let mut guardian = shell(GUARDIAN, 0, Stdio::piped())?;
        let command = match shell(text, guardian.id().cast_signed(), Stdio::null()) {
            Ok(command) => command,
            Err(error) => {
                let _ = guardian.kill().and_then(|()| guardian.wait());
                return Err(error);
            }
        };
        let (tell, end) = channel();
        let mut background = Self { guardian, command, end, watch: None, ended: None };
        let command = Pid::from_child(&background.command);
        let watch = thread::Builder::new().name("background".to_owned()).spawn(move || {
            // A receiver that is gone is one that needs no answer.
            let _ = tell.send(end_of(command));
        });
        background.watch = Some(watch.map_err(BackgroundError::Start)?);
        if background.wait(FAILS_AT_ONCE)
            && let Some(ended) = background.ended.take_if(|ended| ended.failed)
        {
            return Err(BackgroundError::Failed { command: text.to_owned(), how: ended.how });
        }
        Ok(background)
    }

    /// How the command ended, if it has.
    pub fn ended(&mut self) -> Option<&Ended> {
        self.wait(Duration::ZERO);
        self.ended.as_ref()
    }

    /// Whether the command has ended after this time.
    fn wait(&mut self, time: Duration) -> bool {
        if self.ended.is_none() {
            match self.end.recv_timeout(time) {
                Ok(ended) => self.ended = Some(ended),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        true
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let group = Pid::from_child(&self.guardian);
        let _ = kill_process_group(group, Signal::TERM);
        self.wait(GRACE);
        // What the command has started and left behind, and the guardian.
        let _ = kill_process_group(group, Signal::KILL);
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
        let _ = self.command.wait();
        let _ = self.guardian.wait();
    }
}

/// A shell in a process group, or in a new one of its own.
fn shell(text: &str, group: i32, input: Stdio) -> Result<Child, BackgroundError> {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    shell.args(["-c", text]).stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).process_group(group);
    open_files::begins_as_we_did(&mut shell);
    shell.spawn().map_err(BackgroundError::Start)
}

/// Waits for the end of a child, and leaves it to be waited for: that would add what it has read and written to the
/// counters of this process, in the middle of a slot.
fn end_of(child: Pid) -> Ended {
    let status = loop {
        match waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            status => break status.ok().flatten(),
        }
    };
    let code = status.as_ref().and_then(rustix::process::WaitIdStatus::exit_status);
    let signal = status.as_ref().and_then(rustix::process::WaitIdStatus::terminating_signal);
    let how = match (code, signal) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "nobody knows how".to_owned(),
    };
    Ended { at_ns: MonotonicClock.now_ns(), how, failed: code != Some(0) }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// Waits until a command has written its number.
    fn number(file: &Path) -> i32 {
        for _ in 0..1000 {
            if let Ok(number) = fs::read_to_string(file).unwrap_or_default().trim().parse() {
                return number;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the command never began");
    }

    /// Whether a process is there and no zombie.
    fn lives(process: i32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }

    #[test]
    fn all_that_a_command_started_ends_with_it() {
        let place = tempfile::tempdir().unwrap();
        let (shell, child) = (place.path().join("shell"), place.path().join("child"));
        let text = format!("sleep 600 & echo $! > {}; echo $$ > {}; wait", child.display(), shell.display());
        let mut background = Background::start(&text).unwrap();
        let processes = [number(&shell), number(&child), background.guardian.id().cast_signed()];
        assert!(processes.iter().all(|process| lives(*process)), "{processes:?}");
        assert_eq!(background.ended(), None);
        drop(background);
        // Nobody waits for what the command has started: the kernel ends it when it comes to it.
        let end_ns = MonotonicClock.now_ns() + 60_000_000_000;
        while processes.iter().any(|process| lives(*process)) {
            assert!(MonotonicClock.now_ns() < end_ns, "{processes:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_does_not_listen_is_ended_all_the_same() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("shell");
        let deaf = format!("trap '' TERM; echo $$ > {}; while :; do sleep 600; done", file.display());
        let background = Background::start(&deaf).unwrap();
        let shell = number(&file);
        drop(background);
        assert!(!lives(shell));
    }

    #[test]
    fn without_the_pipe_the_guardian_ends_the_group() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("child");
        let text = format!("sleep 600 & echo $! > {}; wait", file.display());
        let mut background = Background::start(&text).unwrap();
        let child = number(&file);
        // The kernel does this when this process is killed.
        drop(background.guardian.stdin.take());
        background.guardian.wait().unwrap();
        for _ in 0..1000 {
            if !lives(child) {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!lives(child));
        // Its group is gone, so there is nothing to be ended any more, and its number is free.
        background.watch.take().unwrap().join().unwrap();
        background.command.wait().unwrap();
        std::mem::forget(background);
    }

    #[test]
    fn a_command_that_fails_at_once_is_refused_and_one_that_is_done_early_is_told() {
        let error = Background::start("exit 3").unwrap_err().to_string();
        assert!(error.contains("\"exit 3\" ended at once (exit status 3)"), "{error}");
        let mut done = Background::start("exit 0").unwrap();
        assert_eq!(done.ended().map(|ended| ended.how.as_str()), Some("exit status 0"));
        let mut killed = Background::start("sleep 0.3; kill -s KILL $$").unwrap();
        assert_eq!(killed.ended(), None);
        assert!(killed.wait(Duration::from_secs(60)));
        assert_eq!(killed.ended().map(|ended| ended.how.as_str()), Some("signal 9"));
    }
}
