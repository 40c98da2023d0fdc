//! A process of the cluster. What it takes to stop it, and to start it again as it was, is in a file.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use crate::place;

/// How long a process may take to end. One that waits for a throttled disk does not end at once.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// A process, told from a later one that has the same id by when it started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Process {
    pid: i32,
    /// In ticks since the machine started.
    started: u64,
}

impl Process {
    /// The process that has this id now.
    pub fn of(pid: i32) -> anyhow::Result<Self> {
        let (_, started) = state_and_start(pid).with_context(|| format!("process {pid} is gone"))?;
        Ok(Self { pid, started })
    }

    /// Whether it has not ended. One that nobody has waited for has.
    pub fn is_running(self) -> bool {
        state_and_start(self.pid).is_some_and(|(state, started)| started == self.started && !matches!(state, 'Z' | 'X'))
    }

    /// Its id.
    pub fn id(self) -> i32 {
        self.pid
    }

    /// Sends a signal, unless it has ended.
    pub fn signal(self, signal: Signal) -> anyhow::Result<()> {
        let pid = Pid::from_raw(self.pid).with_context(|| format!("{} is no id of a process", self.pid))?;
        if self.is_running() {
            match rustix::process::kill_process(pid, signal) {
                // It has ended in between.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(error).with_context(|| format!("send a signal to process {}", self.pid)),
            }
        }
        Ok(())
    }

    /// Waits until it has ended.
    pub fn wait(self) -> anyhow::Result<()> {
        let deadline = Instant::now() + END_TIMEOUT;
        while self.is_running() {
            if Instant::now() > deadline {
                bail!("process {} has not ended in {} s", self.pid, END_TIMEOUT.as_secs());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

/// The state and the start of a process, from the third and the 22nd field of its `stat`. The second is its name in
/// parentheses, and may have any character.
fn state_and_start(pid: i32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// A component of the cluster.
#[derive(Debug, Serialize, Deserialize)]
pub struct Component {
    name: String,
    command: Vec<String>,
    process: Process,
}

impl Component {
    /// Starts a component in the cluster's network.
    pub fn start(name: &str, command: Vec<String>) -> anyhow::Result<Self> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(Self::log(name))
            .with_context(|| format!("open the log of {name}"))?;
        let mut nsenter = Command::new("nsenter");
        // Not "ip netns exec", which hides the control groups.
        nsenter.arg(format!("--net={}", place::network_namespace().display())).arg("--").args(&command);
        nsenter.current_dir("/").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // Ctrl-C is for whoever waits for the cluster; it ends its components itself.
        nsenter.process_group(0);
        let child = nsenter.spawn().with_context(|| format!("start {name}: nsenter {}", command.join(" ")))?;
        let process = Process::of(child.id().cast_signed())?;
        let component = Self { name: name.to_owned(), command, process };
        component.save()?;
        Ok(component)
    }

    /// A component that has been started by whomever.
    pub fn load(name: &str) -> anyhow::Result<Self> {
        let path = Self::record(name);
        let text = fs::read_to_string(&path).with_context(|| {
            format!("there is no component {name}; there are: {}", Self::names().unwrap_or_default().join(", "))
        })?;
        serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))
    }

    /// The names of all components.
    pub fn names() -> anyhow::Result<Vec<String>> {
        let folder = place::state().join("components");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(".json").map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&self) -> anyhow::Result<()> {
        self.process.signal(Signal::KILL)?;
        self.process.wait().with_context(|| format!("wait for the end of {}", self.name))
    }

    /// Starts it as it was, after [`Component::kill`].
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        if self.process.is_running() {
            bail!("{} is running as process {}", self.name, self.process.id());
        }
        *self = Self::start(&self.name, self.command.clone())?;
        Ok(())
    }

    /// The file with what it printed.
    pub fn log(name: &str) -> PathBuf {
        place::state().join("logs").join(format!("{name}.log"))
    }

    fn record(name: &str) -> PathBuf {
        place::state().join("components").join(format!("{name}.json"))
    }

    /// Writes beside and renames: half a record would be of no process.
    fn save(&self) -> anyhow::Result<()> {
        let path = Self::record(&self.name);
        let unfinished = path.with_extension("unfinished");
        let text = serde_json::to_string(self)?;
        let write = || fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, &path));
        write().with_context(|| format!("write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_not_taken_for_one_that_runs() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id().cast_signed()).unwrap();
        assert!(process.is_running());
        process.signal(Signal::KILL).unwrap();
        process.wait().unwrap();
        child.wait().unwrap();
        assert!(!process.is_running());
    }

    #[test]
    fn a_process_that_started_at_another_time_is_another_one() {
        let mut own = Process::of(std::process::id().cast_signed()).unwrap();
        assert!(own.is_running());
        own.started += 1;
        assert!(!own.is_running());
    }
}
