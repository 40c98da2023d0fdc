//! Starting other programs: commands in the repository, with errors that name them.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// A command that runs in the root of the repository.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(crate::repository());
    command
}

/// `cargo` with these arguments, in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = command("cargo");
    command.args(arguments);
    command
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

/// Observes the lines that a child writes, until it has closed its output and ended. One that takes longer than it may
/// is ended with its whole group, which has to be its own. So is one whose end somebody wants, and ourselves after it.
pub(crate) fn watch(mut child: Child, most: Duration, observe: &mut dyn FnMut(&str)) -> anyhow::Result<ExitStatus> {
    const LOOK: Duration = Duration::from_millis(200);
    const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
    let stdout = child.stdout.take().context("its output is not piped")?;
    let (sender, lines) = mpsc::channel();
    // Whoever left the group may hold the output open for longer: nobody waits for the reader.
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    // Ctrl-C does not reach a group of its own.
    let (signal, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for (index, number) in SIGNALS.into_iter().enumerate() {
        flag::register_conditional_default(number, Arc::clone(&is_over)).context("listen for signals")?;
        flag::register_usize(number, Arc::clone(&signal), index + 1).context("listen for signals")?;
    }
    let end = Instant::now() + most;
    let ended = loop {
        if Instant::now() > end {
            break Err(anyhow!("not done after {} s: ended", most.as_secs()));
        }
        match lines.recv_timeout(LOOK) {
            Ok(Ok(line)) => observe(&line),
            Ok(Err(error)) => break Err(error).context("read what it says"),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) if signal.load(Ordering::Relaxed) != 0 => break Err(anyhow!("interrupted")),
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    if ended.is_err() {
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    }
    let status = child.wait().context("wait for its end")?;
    is_over.store(true, Ordering::Relaxed);
    if let Some(index) = signal.load(Ordering::Relaxed).checked_sub(1) {
        signal_hook::low_level::emulate_default_handler(SIGNALS[index]).context("end as a signal wants")?;
    }
    ended.map(|()| status)
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
    fn what_children_worked_is_counted() {
        let before = cpu_time();
        run(command("sh").args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"])).unwrap();
        assert!(cpu_time() > before);
    }
}
