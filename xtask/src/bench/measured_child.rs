//! A child process with what it cost: its processor time, its peak memory, and what a device did meanwhile.
//!
//! Processor time is read from `/proc/PID/stat`: at each look, and after the child has ended and before it is reaped.
//! That needs no unsafe code; the kernel gives it in ticks of 10 ms there. Operations are those that the kernel counts
//! for the device in `/sys/class/block/DEVICE/stat`: the same count for every subject, whatever it says of itself.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::child;

/// How often the device's counter and the child's memory are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How much of the start and of the end of a run does not count toward its rate.
const EDGE: Duration = Duration::from_millis(500);

/// A child that has ended.
pub(super) struct Measured {
    pub(super) stdout: String,
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
    /// What went on between the edges of the run; nothing when the run was too short, or no device was counted on.
    pub(super) inside: Option<Inside>,
    /// The highest resident memory that was seen.
    pub(super) resident_bytes_max: u64,
}

/// A child's work without the edges of its run: what it does before and after the load is no part of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Inside {
    /// Operations per second of the device.
    pub(super) iops: f64,
    pub(super) user_ns_per_operation: f64,
    pub(super) system_ns_per_operation: f64,
}

/// What had been done at a time of a run.
#[derive(Clone, Copy)]
struct Mark {
    elapsed: Duration,
    operations: u64,
    user_ns: f64,
    system_ns: f64,
}

/// A look at a child that runs.
pub(super) struct Look {
    /// Since its start.
    pub(super) elapsed: Duration,
    /// Operations that the device completed since then.
    pub(super) device_operations: u64,
}

/// A child that ends with this value: it is asked to, and waited for. One that has been waited for is left alone.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // Not the signal of Ctrl-C, which whoever was started in the background of a script does not hear.
            let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

/// Runs the command to its end. `device` names the block device to count on, as in `zram0`.
pub(super) fn measure(command: &mut Command, device: Option<&str>) -> anyhow::Result<Measured> {
    watch(command, device, |_| Ok(()))
}

/// The same, with something to do at each look. An error of that ends the child, and is the outcome.
pub(super) fn watch(
    command: &mut Command,
    device: Option<&str>,
    mut at_look: impl FnMut(Look) -> anyhow::Result<()>,
) -> anyhow::Result<Measured> {
    let line = child::line(command);
    let counter = device.map(|device| PathBuf::from(format!("/sys/class/block/{device}/stat")));
    let count = || counter.as_deref().map_or(Ok(0), completed_operations);
    let before = count()?;
    let process = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start \"{line}\""))?;
    let mut process = Ending(process);
    let Ending(process) = &mut process;
    let stdout = drain(process.stdout.take().expect("standard output is piped"));
    let stderr = drain(process.stderr.take().expect("standard error is piped"));
    let pid = Pid::from_child(process);

    let started = Instant::now();
    let mut marks = Vec::new();
    let mut resident_bytes_max = 0;
    while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG)
        .context("look for the end of a child")?
        .is_none()
    {
        let (elapsed, operations) = (started.elapsed(), count()?);
        let (user_ns, system_ns) = processor_time(process.id())?;
        marks.push(Mark { elapsed, operations, user_ns, system_ns });
        at_look(Look { elapsed, device_operations: operations - before })?;
        resident_bytes_max = resident_bytes_max.max(resident_bytes_peak(process.id()));
        thread::sleep(LOOK_EVERY);
    }
    let (user_ns, system_ns) = processor_time(process.id())?;
    let status = process.wait().context("wait for a child")?;
    let stdout = stdout.join().expect("reading a pipe does not panic");
    let stderr = stderr.join().expect("reading a pipe does not panic");
    if !status.success() {
        bail!("\"{line}\" ended with {status}: {}", stderr.trim_end());
    }
    Ok(Measured { stdout, user_ns, system_ns, inside: inside(&marks), resident_bytes_max })
}

/// Reads a pipe to its end on a thread, so that neither pipe can fill up and stop the child.
fn drain(mut pipe: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Reads and writes that a device has completed since it appeared.
fn completed_operations(stat: &Path) -> anyhow::Result<u64> {
    let text = fs::read_to_string(stat).with_context(|| format!("read {}", stat.display()))?;
    let field = |index: usize| text.split_whitespace().nth(index).and_then(|field| field.parse::<u64>().ok());
    match (field(0), field(4)) {
        (Some(reads), Some(writes)) => Ok(reads + writes),
        _ => bail!("{} has another form than expected: {text}", stat.display()),
    }
}

/// What was done between the first and the last look that lie inside of the edges.
fn inside(marks: &[Mark]) -> Option<Inside> {
    let end = marks.last()?.elapsed;
    let counts = |mark: &&Mark| mark.elapsed >= EDGE && mark.elapsed + EDGE <= end;
    let (from, to) = (marks.iter().find(counts)?, marks.iter().rev().find(counts)?);
    let operations = (to.operations - from.operations) as f64;
    (operations > 0.0).then(|| Inside {
        iops: operations / (to.elapsed - from.elapsed).as_secs_f64(),
        user_ns_per_operation: (to.user_ns - from.user_ns) / operations,
        system_ns_per_operation: (to.system_ns - from.system_ns) / operations,
    })
}

/// User and system nanoseconds of a process that has not been waited for.
fn processor_time(pid: u32) -> anyhow::Result<(f64, f64)> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
    // The second field is the name in parentheses and may contain anything; user time is field 14, system time 15.
    let (_, fields) = text.rsplit_once(')').with_context(|| format!("parse {path}"))?;
    let tick_ns = 1e9 / rustix::param::clock_ticks_per_second() as f64;
    let field = |index: usize| {
        let ticks = fields.split_whitespace().nth(index).and_then(|field| field.parse::<f64>().ok());
        ticks.map(|ticks| ticks * tick_ns).with_context(|| format!("parse {path}"))
    };
    Ok((field(11)?, field(12)?))
}

/// The kernel's own high-water mark of a living process; 0 when it has ended.
fn resident_bytes_peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_leaves_out_the_edges() {
        let at = |milliseconds: u64, operations: u64, user_ns: f64| Mark {
            elapsed: Duration::from_millis(milliseconds),
            operations,
            user_ns,
            system_ns: 2.0 * user_ns,
        };
        let marks = [
            at(0, 0, 0.0),
            at(400, 0, 9e6),
            at(600, 100, 1e7),
            at(1600, 1100, 1.1e7),
            at(2000, 5000, 5e7),
            at(2200, 5000, 5e7),
        ];
        let expected = Inside { iops: 1000.0, user_ns_per_operation: 1000.0, system_ns_per_operation: 2000.0 };
        assert_eq!(inside(&marks), Some(expected));
        assert_eq!(inside(&marks[..2]), None);
    }

    #[test]
    fn a_child_costs_what_it_computes() {
        let mut command = child::command("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i"]);
        let measured = measure(&mut command, None).unwrap();
        assert_eq!(measured.stdout.trim(), "200000");
        assert!(measured.user_ns + measured.system_ns >= 1e7, "{} ns", measured.user_ns);
        assert!(measured.resident_bytes_max > 100_000);
    }

    #[test]
    fn a_child_ends_when_a_look_fails() {
        let started = Instant::now();
        let outcome = watch(child::command("sleep").arg("600"), None, |look| {
            if look.elapsed > LOOK_EVERY { bail!("enough") } else { Ok(()) }
        });
        assert!(outcome.is_err_and(|error| error.to_string() == "enough"));
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_child_that_fails_is_an_error_with_its_words() {
        let mut command = child::command("sh");
        let Err(error) = measure(command.args(["-c", "echo broken >&2; exit 3"]), None) else {
            panic!("a failing child is an error");
        };
        assert!(error.to_string().contains("broken"), "{error}");
    }
}
