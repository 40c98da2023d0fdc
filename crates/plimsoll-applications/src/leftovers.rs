//! Ending what a run that is gone has left running. Each process that a run starts has its id in its environment, and
//! so has what such a process starts.

use std::{fs, thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use uuid::Uuid;

/// The variable that has the id of the run.
pub(crate) const RUN_VARIABLE: &str = "PLIMSOLL_RUN";
/// How often is looked for processes that are new or have not ended yet.
const LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Ends all processes of a run by force, and waits until they are gone. Returns how many there were.
pub fn end_processes_of(run: Uuid) -> usize {
    let mut ended = 0;
    for look in 0..LOOKS {
        let processes = processes_of(run);
        if processes.is_empty() {
            break;
        }
        if look == 0 {
            ended = processes.len();
        }
        for process in processes {
            // One that is gone by now is fine.
            let _ = kill_process(process, Signal::KILL);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    ended
}

/// The processes that have the id of the run in their environment, as far as this user may look.
fn processes_of(run: Uuid) -> Vec<Pid> {
    let wanted = format!("{RUN_VARIABLE}={run}");
    let own = std::process::id().cast_signed();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_of_run = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    numbers.filter(|pid| *pid != own && is_of_run(pid)).filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_has_the_id_of_a_run_ends_and_nothing_else_does() {
        let (run, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let start = |run: Uuid| Command::new("sleep").arg("600").env(RUN_VARIABLE, run.to_string()).spawn().unwrap();
        let (mut ours, mut theirs) = (start(run), start(other));
        let watched = thread::spawn(move || ours.wait().unwrap());
        while processes_of(run).is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(end_processes_of(run), 1);
        assert!(!watched.join().unwrap().success());
        assert!(theirs.try_wait().unwrap().is_none());
        theirs.kill().unwrap();
        theirs.wait().unwrap();
        assert_eq!(end_processes_of(run), 0);
    }
}
