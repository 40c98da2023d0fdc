//! Starting other programs: commands in the repository, with errors that name them.

use std::{
    env,
    io::{self, BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::interruption;

/// A command that runs in the root of the repository.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(crate::repository());
    command
}

/// `cargo` with these arguments, in the root of the repository. What it builds is looked for in `target/`.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = command("cargo");
    command.args(arguments).env("CARGO_TARGET_DIR", target());
    command
}

/// A command with the same words, environment and directory, which gives way to whatever else wants the processors.
pub(crate) fn giving_way(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        nice.current_dir(directory);
    }
    nice
}

/// Where cargo puts what it builds, whatever else somebody's environment says.
pub(crate) fn target() -> PathBuf {
    crate::repository().join("target")
}

/// Words of a command that are shown.
const WORDS_MAX: usize = 40;

/// The command as one would type it, or its beginning.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let mut line = words.take(WORDS_MAX).map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    if let Some(more) = (command.get_args().len() + 1).checked_sub(WORDS_MAX).filter(|more| *more > 0) {
        line += &format!(" ... ({more} words more)");
    }
    line
}

/// Processor time of all processes that were started here and have ended, and of theirs; zero where it cannot be read.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // What stands before the last parenthesis is a name, in which blanks may be.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Runs to the end with our own output, and fails when the command fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("start \"{}\"", line(command)))?;
    succeeded(command, status)
}

/// A command that runs with our own output beside what else is done.
pub(crate) struct Started {
    command: Command,
    child: Child,
}

/// Starts a command, to be waited for later.
pub(crate) fn start(mut command: Command) -> anyhow::Result<Started> {
    let child = command.spawn().with_context(|| format!("start \"{}\"", line(&command)))?;
    Ok(Started { command, child })
}

impl Started {
    /// Waits for the end, and fails when the command fails. Only then it counts to the processor time of children.
    pub(crate) fn wait(mut self) -> anyhow::Result<()> {
        let status = self.child.wait().with_context(|| format!("wait for \"{}\"", line(&self.command)))?;
        succeeded(&self.command, status)
    }
}

fn succeeded(command: &Command, status: ExitStatus) -> anyhow::Result<()> {
    if !status.success() {
        bail!("\"{}\" ended with {status}", line(command));
    }
    Ok(())
}

/// Runs to the end and gives standard output; standard error is part of the error when the command fails.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("start \"{}\"", line(command)))?;
    if !output.status.success() {
        bail!(
            "\"{}\" ended with {}: {}",
            line(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("output of \"{}\" is not UTF-8", line(command)))
}

/// Runs a command and observes the lines that it writes, until it has closed its output and ended; fails when the
/// command fails. One that takes longer than it may is ended, and so is one whose end somebody wants.
pub(crate) fn watch(command: &mut Command, most: Duration, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    const LOOK: Duration = Duration::from_millis(200);
    let _listening = interruption::listen()?;
    // A group of its own, so that all of it can be ended. Ctrl-C does not reach it.
    let child = command.stdout(Stdio::piped()).process_group(0).spawn();
    let mut child = child.with_context(|| format!("start \"{}\"", line(command)))?;
    let stdout = child.stdout.take().expect("standard output is piped");
    let (sender, receiver) = mpsc::channel();
    // Whoever left the group may hold the output open for longer: nobody waits for the reader.
    thread::spawn(move || {
        for line in lines(stdout) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let end = Instant::now() + most;
    let ended = loop {
        if interruption::has_come() {
            break Err(anyhow!("interrupted"));
        }
        if Instant::now() > end {
            break Err(anyhow!("not done after {} s: ended", most.as_secs()));
        }
        match receiver.recv_timeout(LOOK) {
            Ok(Ok(line)) => observe(&line),
            Ok(Err(error)) => break Err(error).context("read what it says"),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    if ended.is_err() {
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    }
    let status = child.wait().context("wait for its end")?;
    ended.and_then(|()| succeeded(command, status))
}

/// The lines of an output, whatever bytes are in them.
pub(crate) fn lines(output: impl io::Read) -> impl Iterator<Item = io::Result<String>> {
    BufReader::new(output).split(b'\n').map(|line| Ok(String::from_utf8_lossy(&line?).into_owned()))
}

/// Where a program is, by `PATH` and the directories of system programs that an ordinary user's `PATH` leaves out.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    env::split_paths(&path).chain(system).map(|directory| directory.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_observed_and_what_takes_too_long_is_ended() {
        let mut seen = Vec::new();
        let mut observe = |line: &str| seen.push(line.to_owned());
        let mut shell = |script: &str, most| watch(command("sh").args(["-c", script]), most, &mut observe);
        shell("printf 'a\\377\\nb'", Duration::from_secs(60)).unwrap();
        let error = shell("echo c; exit 3", Duration::from_secs(60)).unwrap_err().to_string();
        assert!(error.contains("ended with exit status: 3"), "{error}");
        assert_eq!(shell("sleep 60", Duration::ZERO).unwrap_err().to_string(), "not done after 0 s: ended");
        assert_eq!(seen, ["a\u{fffd}", "b", "c"]);
    }

    #[test]
    fn a_command_that_gives_way_is_the_same_with_a_lower_priority() {
        let nice = |command: &mut Command| output(command).unwrap().trim().parse::<i32>().unwrap();
        let mut shell = command("sh");
        shell.args(["-c", "test \"$GIVES\" = way && nice"]).env("GIVES", "way");
        let here = nice(&mut shell);
        assert_eq!(nice(&mut giving_way(&shell)), (here + 10).min(19));
    }

    #[test]
    fn what_children_worked_is_counted() {
        let before = cpu_time();
        run(command("sh").args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"])).unwrap();
        assert!(cpu_time() > before);
    }

    #[test]
    fn cargo_builds_where_the_result_is_looked_for() {
        let cargo = cargo(&["build"]);
        let target = cargo.get_envs().find(|(name, _)| *name == "CARGO_TARGET_DIR").and_then(|(_, value)| value);
        assert_eq!(target, Some(crate::repository().join("target").as_os_str()));
    }
}
