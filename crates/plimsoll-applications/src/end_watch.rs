//! Noticing when a command ends, whatever else is being done at that moment: looking at processes takes a while.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use plimsoll_io::clock::{Clock, MonotonicClock};
use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};

/// A thread that waits for the end of one command.
#[derive(Debug)]
pub(crate) struct EndWatch {
    command: Sender<Pid>,
    end_ns: Receiver<u64>,
}

impl EndWatch {
    /// Gets ready, before the command begins: threads take a moment for that.
    pub(crate) fn start() -> io::Result<Self> {
        let ((command, commands), (tell, end_ns)) = (channel(), channel());
        thread::Builder::new().name("end-watch".to_owned()).spawn(move || {
            // There is none when it could not be started.
            let Ok(command) = commands.recv() else { return };
            // Whoever wants to know how it ended still finds it.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(command), options), Err(Errno::INTR)) {}
            let _ = tell.send(MonotonicClock.now_ns());
        })?;
        Ok(Self { command, end_ns })
    }

    /// Says which command it is, a child of this process.
    pub(crate) fn begin(&self, command: Pid) {
        let _ = self.command.send(command);
    }

    /// When the command has ended, if it does within this time.
    pub(crate) fn ended_within(&self, time: Duration) -> Option<u64> {
        match self.end_ns.recv_timeout(time) {
            Ok(end_ns) => Some(end_ns),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(MonotonicClock.now_ns()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::process_table::Process;

    #[test]
    fn an_end_is_when_it_happened_and_not_when_somebody_asks() {
        let watch = EndWatch::start().unwrap();
        let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        watch.begin(Pid::from_child(&child));
        assert_eq!(watch.ended_within(Duration::from_millis(1)), None);
        let before_ns = MonotonicClock.now_ns();
        drop(child.stdin.take());
        while Process::now(child.id().cast_signed()).is_some_and(|process| process.state != 'Z') {
            thread::sleep(Duration::from_millis(1));
        }
        // Somebody looks at processes meanwhile.
        thread::sleep(Duration::from_secs(1));
        let asked_ns = MonotonicClock.now_ns();
        let end_ns = watch.ended_within(Duration::ZERO).unwrap();
        assert!((before_ns..asked_ns).contains(&end_ns), "{before_ns} {end_ns} {asked_ns}");
        assert!(child.wait().unwrap().success());
    }
}
